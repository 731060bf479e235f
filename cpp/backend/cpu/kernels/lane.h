// What the kernel files share: vector loops, packed bits of a block of elements, bit casts.
//
// Included inside no namespace; everything lives in the unnamed namespace of the instruction
// set, so that an object file defines nothing another one could pick up.
#pragma once
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "backend/cpu/kernels/table.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

// The loop that follows may be vectorised although dst may be the same array as a source.
#if defined(__clang__)
#define ASC_VECTOR_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define ASC_VECTOR_LOOP _Pragma("GCC ivdep")
#endif

#if defined(__FMA__) || defined(__aarch64__)
#define ASC_HAS_FMA 1
#else
#define ASC_HAS_FMA 0
#endif

namespace asc::cpu::ASC_ISA {
namespace {

#if defined(__AVX512BW__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

// Elements of a block of scratch on the stack.
constexpr int64_t kBlock = 256;

template <int Bytes>
struct UIntOf;
template <>
struct UIntOf<1> {
    using type = uint8_t;
};
template <>
struct UIntOf<2> {
    using type = uint16_t;
};
template <>
struct UIntOf<4> {
    using type = uint32_t;
};
template <>
struct UIntOf<8> {
    using type = uint64_t;
};
template <class T>
using UInt = typename UIntOf<sizeof(T)>::type;

template <class T>
constexpr bool kIsFloat = static_cast<T>(0.5) != static_cast<T>(0);
template <class T>
constexpr bool kIsSigned = static_cast<T>(-1) < static_cast<T>(0);
template <class A, class B>
constexpr bool kSame = false;
template <class A>
constexpr bool kSame<A, A> = true;

// Unaligned words of memory that may be of any type.
using Word __attribute__((aligned(1), may_alias)) = uint64_t;

template <class T>
inline UInt<T> bits_of(T x) {
    return __builtin_bit_cast(UInt<T>, x);
}
inline float float_of(uint32_t x) { return __builtin_bit_cast(float, x); }
inline double float_of(uint64_t x) { return __builtin_bit_cast(double, x); }

template <class T>
inline int64_t min_of(T a, int64_t b) {
    return a < b ? a : b;
}

constexpr int64_t words(int64_t bits) { return (bits + 63) / 64; }

template <class T>
inline void fill_value(T* dst, T value, int64_t n) {
    for (int64_t i = 0; i < n; ++i) dst[i] = value;
}

template <class T>
struct Lanes {
    typedef T type __attribute__((vector_size(kVectorBytes)));
};
template <class T>
using Vec = typename Lanes<T>::type;
template <class T>
constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));

template <class T>
inline Vec<T> load(const T* p) {
    Vec<T> v;
    __builtin_memcpy(&v, p, sizeof(v));
    return v;
}
template <class T>
inline Vec<T> broadcast(T x) {
    return x - Vec<T>{};  // not x + 0, which loses the sign of -0
}

// a * b + c, rounded once where the instruction set can.
inline Vec<float> multiply_add(Vec<float> a, Vec<float> b, Vec<float> c) {
#if defined(__AVX512F__)
    return (Vec<float>)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__FMA__)
    return (Vec<float>)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#elif defined(__aarch64__)
    return (Vec<float>)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
#else
    return a * b + c;
#endif
}
inline Vec<double> multiply_add(Vec<double> a, Vec<double> b, Vec<double> c) {
#if defined(__AVX512F__)
    return (Vec<double>)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(__FMA__)
    return (Vec<double>)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#elif defined(__aarch64__)
    return (Vec<double>)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
#else
    return a * b + c;
#endif
}

// The elements of a and b in turn: those of their first halves, or of their second halves.
template <class V>
inline V interleave_low(V a, V b) {
    constexpr int kElements = sizeof(V) / sizeof(a[0]);
    if constexpr (kElements == 16)
        return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7,
                                       23);
    else if constexpr (kElements == 8)
        return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
    else if constexpr (kElements == 4)
        return __builtin_shufflevector(a, b, 0, 4, 1, 5);
    else
        return __builtin_shufflevector(a, b, 0, 2);
}
template <class V>
inline V interleave_high(V a, V b) {
    constexpr int kElements = sizeof(V) / sizeof(a[0]);
    if constexpr (kElements == 16)
        return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30,
                                       15, 31);
    else if constexpr (kElements == 8)
        return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
    else if constexpr (kElements == 4)
        return __builtin_shufflevector(a, b, 2, 6, 3, 7);
    else
        return __builtin_shufflevector(a, b, 1, 3);
}

enum class Cmp { Equal = 0, Less = 1, LessEqual = 2 };

#if !defined(__AVX512BW__)
// Bit k of the result is the sign of lane k of a comparison's mask.
template <int Bytes, class M>
inline uint64_t sign_bits(M mask) {
#if defined(__AVX2__)
    const __m256i m = __builtin_bit_cast(__m256i, mask);
    if constexpr (Bytes == 1) return static_cast<uint32_t>(_mm256_movemask_epi8(m));
    if constexpr (Bytes == 2) {
        const auto x = static_cast<uint32_t>(
            _mm256_movemask_epi8(_mm256_packs_epi16(m, _mm256_setzero_si256())));
        return (x & 0xff) | (x >> 8 & 0xff00);
    }
    if constexpr (Bytes == 4)
        return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(m)));
    if constexpr (Bytes == 8)
        return static_cast<uint32_t>(_mm256_movemask_pd(_mm256_castsi256_pd(m)));
#elif defined(__SSE2__)
    const __m128i m = __builtin_bit_cast(__m128i, mask);
    if constexpr (Bytes == 1) return static_cast<uint32_t>(_mm_movemask_epi8(m));
    if constexpr (Bytes == 2)
        return static_cast<uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(m, _mm_setzero_si128())));
    if constexpr (Bytes == 4) return static_cast<uint32_t>(_mm_movemask_ps(_mm_castsi128_ps(m)));
    if constexpr (Bytes == 8) return static_cast<uint32_t>(_mm_movemask_pd(_mm_castsi128_pd(m)));
#elif defined(__aarch64__)
    if constexpr (Bytes == 1) {
        constexpr uint8x16_t kWeights = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
        const uint8x16_t m = vandq_u8(__builtin_bit_cast(uint8x16_t, mask), kWeights);
        return vaddv_u8(vget_low_u8(m)) | static_cast<uint32_t>(vaddv_u8(vget_high_u8(m))) << 8;
    }
    if constexpr (Bytes == 2) {
        constexpr uint16x8_t kWeights = {1, 2, 4, 8, 16, 32, 64, 128};
        return vaddvq_u16(vandq_u16(__builtin_bit_cast(uint16x8_t, mask), kWeights));
    }
    if constexpr (Bytes == 4) {
        constexpr uint32x4_t kWeights = {1, 2, 4, 8};
        return vaddvq_u32(vandq_u32(__builtin_bit_cast(uint32x4_t, mask), kWeights));
    }
    if constexpr (Bytes == 8) {
        const auto m = __builtin_bit_cast(uint64x2_t, mask);
        return (m[0] & 1) | (m[1] & 2);
    }
#else
    uint64_t bits = 0;
    for (int i = 0; i < kVectorBytes / Bytes; ++i) bits |= static_cast<uint64_t>(mask[i] & 1) << i;
    return bits;
#endif
}
#endif

// Bit k of the result: lane k of a compares with lane k of b.
template <Cmp C, class T>
inline uint64_t compare_bits(Vec<T> a, Vec<T> b) {
#if defined(__AVX512BW__)
    constexpr int kInt = static_cast<int>(C);
    // The quiet ordered predicates.
    constexpr int kFloat = C == Cmp::Equal ? _CMP_EQ_OQ : C == Cmp::Less ? _CMP_LT_OQ : _CMP_LE_OQ;
    if constexpr (kSame<T, float>) {
        return _mm512_cmp_ps_mask(a, b, kFloat);
    } else if constexpr (kSame<T, double>) {
        return _mm512_cmp_pd_mask(a, b, kFloat);
    } else {
        const __m512i x = __builtin_bit_cast(__m512i, a);
        const __m512i y = __builtin_bit_cast(__m512i, b);
        if constexpr (kIsSigned<T>) {
            if constexpr (sizeof(T) == 1) return _mm512_cmp_epi8_mask(x, y, kInt);
            if constexpr (sizeof(T) == 2) return _mm512_cmp_epi16_mask(x, y, kInt);
            if constexpr (sizeof(T) == 4) return _mm512_cmp_epi32_mask(x, y, kInt);
            if constexpr (sizeof(T) == 8) return _mm512_cmp_epi64_mask(x, y, kInt);
        } else {
            if constexpr (sizeof(T) == 1) return _mm512_cmp_epu8_mask(x, y, kInt);
            if constexpr (sizeof(T) == 2) return _mm512_cmp_epu16_mask(x, y, kInt);
            if constexpr (sizeof(T) == 4) return _mm512_cmp_epu32_mask(x, y, kInt);
            if constexpr (sizeof(T) == 8) return _mm512_cmp_epu64_mask(x, y, kInt);
        }
    }
#else
    if constexpr (C == Cmp::Equal) return sign_bits<sizeof(T)>(a == b);
    if constexpr (C == Cmp::Less) return sign_bits<sizeof(T)>(a < b);
    if constexpr (C == Cmp::LessEqual) return sign_bits<sizeof(T)>(a <= b);
#endif
}

// dst: a bit for each of n elements, `bits` giving those of one vector, all flipped by `flip`.
template <class T, class F>
inline void pack_words(uint64_t* dst, const T* a, int64_t n, uint64_t flip, F bits) {
    const auto word = [&](const T* p) __attribute__((always_inline)) {
        uint64_t w = 0;
        for (int k = 0; k < 64; k += kLanes<T>) w |= bits(load(p + k)) << k;
        return w ^ flip;
    };
    for (; n >= 64; n -= 64, a += 64) *dst++ = word(a);
    if (n > 0) {
        T rest[64] = {};
        memcpy(rest, a, static_cast<size_t>(n) * sizeof(T));
        *dst = word(rest);
    }
}
template <class T, class F>
inline void pack_words2(uint64_t* dst, const T* a, const T* b, int64_t n, uint64_t flip, F bits) {
    const auto word = [&](const T* p, const T* q) __attribute__((always_inline)) {
        uint64_t w = 0;
        for (int k = 0; k < 64; k += kLanes<T>) w |= bits(load(p + k), load(q + k)) << k;
        return w ^ flip;
    };
    for (; n >= 64; n -= 64, a += 64, b += 64) *dst++ = word(a, b);
    if (n > 0) {
        T rest[2][64] = {};
        memcpy(rest[0], a, static_cast<size_t>(n) * sizeof(T));
        memcpy(rest[1], b, static_cast<size_t>(n) * sizeof(T));
        *dst = word(rest[0], rest[1]);
    }
}

// The 64 bits of w as bytes of 0 and 1.
inline void unpack_word(uint8_t* bytes, uint64_t w) {
#if defined(__AVX512BW__)
    _mm512_storeu_si512(bytes, _mm512_maskz_set1_epi8(w, 1));
#else
    for (int k = 0; k < 8; ++k) {
        // Copies the byte eight times, keeps bit j of copy j, brings it to bit 0.
        uint64_t x = (w >> (8 * k) & 0xff) * 0x0101010101010101u & 0x8040201008040201u;
        x = (x + 0x7f7f7f7f7f7f7f7fu) >> 7 & 0x0101010101010101u;
        memcpy(bytes + 8 * k, &x, 8);
    }
#endif
}

// Bit k of the result: byte k of 64 is not zero.
inline uint64_t pack_word(const uint8_t* bytes) {
    uint64_t w = 0;
    for (int k = 0; k < 64; k += kLanes<uint8_t>)
        w |= compare_bits<Cmp::Equal, uint8_t>(load(bytes + k), Vec<uint8_t>{}) << k;
    return ~w;
}

}  // namespace
}  // namespace asc::cpu::ASC_ISA
