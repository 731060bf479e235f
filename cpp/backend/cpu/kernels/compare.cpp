// Comparisons and classifications, whose results are packed bits.
#include "backend/cpu/kernels/lane.h"

namespace asc::cpu::ASC_ISA {
namespace {

// dst = a C b, flipped by `flip`; bit 0 of scalars belongs to a.
template <class T, Cmp C>
void compare_loop(uint64_t* dst, const T* a, const T* b, int64_t n, unsigned scalars,
                  uint64_t flip) {
    if (scalars == 3) {
        const uint64_t one = compare_bits<C, T>(broadcast(*a), broadcast(*b)) & 1;
        fill_value(dst, (0 - one) ^ flip, words(n));
    } else if (scalars == 2) {
        const Vec<T> y = broadcast(*b);
        pack_words(dst, a, n, flip, [&](Vec<T> x) { return compare_bits<C, T>(x, y); });
    } else if (scalars == 1) {
        const Vec<T> x = broadcast(*a);
        pack_words(dst, b, n, flip, [&](Vec<T> y) { return compare_bits<C, T>(x, y); });
    } else {
        pack_words2(dst, a, b, n, flip,
                    [](Vec<T> x, Vec<T> y) { return compare_bits<C, T>(x, y); });
    }
}

template <class T, Cmp C, bool Swap, bool Negate>
void compare(void* dst, const void* const* src, int64_t n, unsigned scalars) {
    const unsigned swapped = scalars >> 1 | (scalars & 1) << 1;
    compare_loop<T, C>(static_cast<uint64_t*>(dst), static_cast<const T*>(src[Swap ? 1 : 0]),
                       static_cast<const T*>(src[Swap ? 0 : 1]), n, Swap ? swapped : scalars,
                       Negate ? ~uint64_t{0} : 0);
}

// A classification of floats by their bits without the sign, compared with those of infinity.
template <class T, Cmp C, bool Swap>
void classify(void* out, const void* const* src, int64_t n, unsigned scalars) {
    using U = UInt<T>;
    uint64_t* dst = static_cast<uint64_t*>(out);
    const U* a = static_cast<const U*>(src[0]);
    const Vec<U> infinity = broadcast(bits_of(static_cast<T>(__builtin_inf())));
    const Vec<U> size = broadcast(static_cast<U>(static_cast<U>(~U{0}) >> 1));
    const auto bits = [&](Vec<U> x) {
        return Swap ? compare_bits<C, U>(infinity, x & size)
                    : compare_bits<C, U>(x & size, infinity);
    };
    if (scalars & 1) return fill_value(dst, 0 - (bits(broadcast(*a)) & 1), words(n));
    pack_words(dst, a, n, 0, bits);
}

template <class T>
void sign_bit(void* out, const void* const* src, int64_t n, unsigned scalars) {
    const T zero = 0;
    const void* const operands[] = {src[0], &zero};
    compare<T, Cmp::Less, false, false>(out, operands, n, (scalars & 1) | 2);
}

template <bool Value>
void constant(void* out, const void* const*, int64_t n, unsigned) {
    memset(out, Value ? 0xff : 0, static_cast<size_t>(words(n)) * 8);
}

struct Row {
    KernelTable& table;
    DType dtype;
    ElementwiseFn& operator[](Op op) { return table.elementwise[index(op)][index(dtype)]; }
};

template <class T>
void fill_integer(KernelTable& table, DType dtype) {
    Row t{table, dtype};
    // Equality does not depend on the sign.
    t[Op::Equal] = compare<UInt<T>, Cmp::Equal, false, false>;
    t[Op::NotEqual] = compare<UInt<T>, Cmp::Equal, false, true>;
    t[Op::Less] = compare<T, Cmp::Less, false, false>;
    t[Op::Greater] = compare<T, Cmp::Less, true, false>;
    t[Op::LessEqual] = compare<T, Cmp::Less, true, true>;
    t[Op::GreaterEqual] = compare<T, Cmp::Less, false, true>;
    t[Op::IsFinite] = constant<true>;
    t[Op::IsInf] = t[Op::IsNan] = constant<false>;
}

template <class T, class Signed>
void fill_float(KernelTable& table, DType dtype) {
    Row t{table, dtype};
    t[Op::Equal] = compare<T, Cmp::Equal, false, false>;
    t[Op::NotEqual] = compare<T, Cmp::Equal, false, true>;
    t[Op::Less] = compare<T, Cmp::Less, false, false>;
    t[Op::Greater] = compare<T, Cmp::Less, true, false>;
    t[Op::LessEqual] = compare<T, Cmp::LessEqual, false, false>;
    t[Op::GreaterEqual] = compare<T, Cmp::LessEqual, true, false>;
    t[Op::IsFinite] = classify<T, Cmp::Less, false>;
    t[Op::IsInf] = classify<T, Cmp::Equal, false>;
    t[Op::IsNan] = classify<T, Cmp::Less, true>;
    t[Op::SignBit] = sign_bit<Signed>;
}

}  // namespace

void fill_compare(KernelTable& t) {
    fill_integer<int8_t>(t, DType::Int8);
    fill_integer<int16_t>(t, DType::Int16);
    fill_integer<int32_t>(t, DType::Int32);
    fill_integer<int64_t>(t, DType::Int64);
    fill_integer<uint8_t>(t, DType::UInt8);
    fill_integer<uint16_t>(t, DType::UInt16);
    fill_integer<uint32_t>(t, DType::UInt32);
    fill_integer<uint64_t>(t, DType::UInt64);
    fill_float<float, int32_t>(t, DType::Float32);
    fill_float<double, int64_t>(t, DType::Float64);
}

}  // namespace asc::cpu::ASC_ISA
