// The element types as integers of the same order.
#pragma once
#include <stdint.h>
#include <string.h>

#include "backend/cpu/kernels/table.h"

#define ASC_INLINE inline __attribute__((always_inline))

namespace asc::cpu::ASC_ISA {
namespace {

ASC_INLINE int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
ASC_INLINE int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }
ASC_INLINE int bit_length(uint64_t x) { return x ? 64 - __builtin_clzll(x) : 0; }

template <class K>
constexpr K kMaxKey = static_cast<K>((uint64_t{1} << (8 * sizeof(K) - 1)) - 1);

template <class T>
constexpr bool kIsFloat = false;
template <>
constexpr bool kIsFloat<float> = true;
template <>
constexpr bool kIsFloat<double> = true;
template <>
constexpr bool kIsFloat<Half> = true;
template <>
constexpr bool kIsFloat<BHalf> = true;

template <int Bytes>
struct IntOf;
template <>
struct IntOf<1> {
    using type = int8_t;
    using wide = int32_t;
};
template <>
struct IntOf<2> {
    using type = int16_t;
    using wide = int32_t;
};
template <>
struct IntOf<4> {
    using type = int32_t;
    using wide = int32_t;
};
template <>
struct IntOf<8> {
    using type = int64_t;
    using wide = int64_t;
};

// Bits of +inf.
template <class T>
constexpr int64_t kInfBits = 0;
template <>
constexpr int64_t kInfBits<float> = 0x7f800000;
template <>
constexpr int64_t kInfBits<double> = 0x7ff0000000000000;
template <>
constexpr int64_t kInfBits<Half> = 0x7c00;
template <>
constexpr int64_t kInfBits<BHalf> = 0x7f80;

// An element type as integers: U is its bit pattern, keys and ranks are signed and ordered.
template <class T>
struct Order {
    using K = typename IntOf<sizeof(T)>::type;
    static constexpr K kTop = kMaxKey<K>;
    static constexpr bool kFloat = kIsFloat<T>;
    static constexpr K kInf = static_cast<K>(kInfBits<T>);
    static constexpr K kNan = static_cast<K>(kInf + (kInf & -kInf) / 2);
    static constexpr K kShift = static_cast<K>(kTop - kInf);  // how many negative NaNs there are
    static constexpr K kZero = static_cast<K>(-kShift);       // key of +0; -0 comes just before

    static constexpr bool is_unsigned() {
        if constexpr (kFloat) {
            return false;
        } else {
            return static_cast<T>(-1) > static_cast<T>(0);
        }
    }
    static ASC_INLINE K magnitude_first(K x) {
        return static_cast<K>(x ^ ((x >> (8 * sizeof(K) - 1)) & kTop));
    }
    // A bijection; negative NaNs wrap round to the top, above the positive ones.
    static ASC_INLINE K to_key(K x) {
        if constexpr (kFloat) {
            K k;
            __builtin_sub_overflow(magnitude_first(x), kShift, &k);
            return k;
        } else if constexpr (is_unsigned()) {
            return static_cast<K>(x ^ (-kTop - 1));
        } else {
            return x;
        }
    }
    static ASC_INLINE K from_key(K k) {
        if constexpr (kFloat) {
            K m;
            __builtin_add_overflow(k, kShift, &m);
            return magnitude_first(m);
        } else {
            return to_key(k);
        }
    }
    // Equal elements have equal ranks: both zeros are 0, every NaN is kNan. Zero bits at the end
    // of a float stay zero, so that rounded values need few bits.
    static ASC_INLINE K rank(K x) {
        if constexpr (kFloat) {
            const K mag = static_cast<K>(x & kTop);
            const K sign = static_cast<K>(x >> (8 * sizeof(K) - 1));
            return mag > kInf ? kNan : static_cast<K>((mag ^ sign) - sign);
        } else {
            return to_key(x);
        }
    }
};

}  // namespace
}  // namespace asc::cpu::ASC_ISA
