// Square roots, and quotients by one divisor, with the bits that the processor's own would have:
// by multiplication, because its unit for them takes 2 to 4 times as long a vector.
#pragma once
#if defined(__AVX512F__)
#include <immintrin.h>
#include <stdint.h>

namespace asc::cpu::ASC_ISA {
namespace {

struct WideFloat {
    using V = __m512;
    static constexpr int kLanes = 16, kRootSteps = 1, kCorrections = 1;
    static V load(const float* p) { return _mm512_loadu_ps(p); }
    static void store(float* p, V v) { _mm512_storeu_ps(p, v); }
    static V splat(float x) { return _mm512_set1_ps(x); }
    static V product_plus(V a, V b, V c) { return _mm512_fmadd_ps(a, b, c); }
    static V product_minus(V a, V b, V c) { return _mm512_fmsub_ps(a, b, c); }
    static V minus_product(V a, V b, V c) { return _mm512_fnmadd_ps(a, b, c); }  // c - a b
    static V root(V x) { return _mm512_sqrt_ps(x); }
    static V inverse_root(V x) { return _mm512_rsqrt14_ps(x); }  // error 2^-14
    // Which elements are at least 2^-40 and less than 2^40 in size; `drop` shifts the sign away.
    static uint32_t moderate(V x, bool drop) {
        const __m512i bits = _mm512_slli_epi32(_mm512_castps_si512(x), drop);
        const __m512i least = _mm512_set1_epi32((127 - 40) << (23 + drop));
        const __m512i range = _mm512_set1_epi32(80 << (23 + drop));
        return _mm512_cmplt_epu32_mask(_mm512_sub_epi32(bits, least), range);
    }
    static uint32_t zeros(V x) { return _mm512_cmp_ps_mask(x, V{}, _CMP_EQ_OQ); }
    static constexpr uint32_t kAll = 0xffff;
};
struct WideDouble {
    using V = __m512d;
    static constexpr int kLanes = 8, kRootSteps = 2, kCorrections = 2;
    static V load(const double* p) { return _mm512_loadu_pd(p); }
    static void store(double* p, V v) { _mm512_storeu_pd(p, v); }
    static V splat(double x) { return _mm512_set1_pd(x); }
    static V product_plus(V a, V b, V c) { return _mm512_fmadd_pd(a, b, c); }
    static V product_minus(V a, V b, V c) { return _mm512_fmsub_pd(a, b, c); }
    static V minus_product(V a, V b, V c) { return _mm512_fnmadd_pd(a, b, c); }
    static V root(V x) { return _mm512_sqrt_pd(x); }
    static V inverse_root(V x) { return _mm512_rsqrt14_pd(x); }
    // 2^-400 to 2^400.
    static uint32_t moderate(V x, bool drop) {
        const __m512i bits = _mm512_slli_epi64(_mm512_castpd_si512(x), drop);
        const __m512i least = _mm512_set1_epi64((1023ll - 400) << (52 + drop));
        const __m512i range = _mm512_set1_epi64(800ll << (52 + drop));
        return _mm512_cmplt_epu64_mask(_mm512_sub_epi64(bits, least), range);
    }
    static uint32_t zeros(V x) { return _mm512_cmp_pd_mask(x, V{}, _CMP_EQ_OQ); }
    static constexpr uint32_t kAll = 0xff;
};
inline WideFloat wide(float) { return {}; }
inline WideDouble wide(double) { return {}; }

// Newton's iteration for the root g and half its inverse h, then one rounding of g + d / (2 g) with
// the exact difference d = x - g^2. Its error before rounding, less than 2^-47 in float and 2^-103
// in double, decides all but a few known arguments, which are tested.
template <class W>
typename W::V usual_root(typename W::V x) {
    const auto half = W::splat(0.5), y = W::inverse_root(x);
    auto g = x * y, h = y * half;
    for (int i = 0; i < W::kRootSteps; ++i) {
        const auto r = W::minus_product(g, h, half);
        g = W::product_plus(g, r, g);
        h = W::product_plus(h, r, h);
    }
    return W::product_plus(W::minus_product(g, g, x), h, g);
}

// x / divisor from the rounded inverse: what a quotient leaves over corrects it. Where the quotient
// is at most one unit off, that is exact and the result is rounded like a division (Markstein,
// Computation of Elementary Functions on the IBM RISC System/6000 Processor, 1990), so a first
// correction may go ahead; all hard cases of float are right without. Zeros keep their signs if
// divisor > 0.
template <class W>
typename W::V usual_quotient(typename W::V x, typename W::V divisor, typename W::V inverse) {
    auto q = x * inverse;
    for (int i = 0; i < W::kCorrections; ++i)
        q = W::minus_product(W::product_minus(q, divisor, x), inverse, q);
    return q;
}

// dst[i] = usual(src[i]) for pairs of vectors that are moderate, any(src[i]) for others.
template <class T, bool kSigned, class Usual, class Any>
int64_t by_pairs(T* dst, const T* src, int64_t n, Usual usual, Any any) {
    using W = decltype(wide(T()));
    constexpr int L = W::kLanes;
    int64_t i = 0;
    for (; i + 2 * L <= n; i += 2 * L) {
        const auto a = W::load(src + i), b = W::load(src + i + L);
        uint32_t found = W::moderate(a, kSigned) & W::moderate(b, kSigned);
        if (kSigned && found != W::kAll)
            found = (W::moderate(a, true) | W::zeros(a)) & (W::moderate(b, true) | W::zeros(b));
        if (found == W::kAll) {
            W::store(dst + i, usual(a));
            W::store(dst + i + L, usual(b));
        } else {
            W::store(dst + i, any(a));
            W::store(dst + i + L, any(b));
        }
    }
    return i;
}

template <class T>
void roots(T* dst, const T* src, int64_t n) {
    using W = decltype(wide(T()));
    using V = typename W::V;
    int64_t i = by_pairs<T, false>(
        dst, src, n, [](V x) { return usual_root<W>(x); }, [](V x) { return W::root(x); });
    for (; i < n; ++i) dst[i] = static_cast<T>(__builtin_sqrt(src[i]));
}

template <class T>
void quotients(T* dst, const T* src, T divisor, int64_t n) {
    using W = decltype(wide(T()));
    using V = typename W::V;
    const V d = W::splat(divisor), inverse = W::splat(1 / divisor);
    int64_t i = 0;
    if (W::moderate(d, false) == W::kAll)
        i = by_pairs<T, true>(
            dst, src, n, [=](V x) { return usual_quotient<W>(x, d, inverse); },
            [=](V x) { return x / d; });
    for (; i < n; ++i) dst[i] = src[i] / divisor;
}

}  // namespace
}  // namespace asc::cpu::ASC_ISA
#endif
