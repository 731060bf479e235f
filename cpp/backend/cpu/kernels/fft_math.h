// Complex numbers as pairs of vectors, and the transforms of a few of them in registers.
//
// Included by fft.cpp; everything lives in the unnamed namespace of the instruction set.
#pragma once
#include "backend/cpu/kernels/lane.h"

#define ASC_UNROLL _Pragma("GCC unroll 16")
#define ASC_INLINE inline __attribute__((always_inline))

namespace asc::cpu::ASC_ISA {
namespace {

// The largest prime factor that has a butterfly; lengths with larger ones go by convolution.
constexpr int kMaxRadix = kFftMaxRadix;

// One complex number for each lane.
template <class T>
struct Number {
    Vec<T> re, im;
};
template <class T>
ASC_INLINE Number<T> operator+(Number<T> a, Number<T> b) {
    return {a.re + b.re, a.im + b.im};
}
template <class T>
ASC_INLINE Number<T> operator-(Number<T> a, Number<T> b) {
    return {a.re - b.re, a.im - b.im};
}
template <class T>
ASC_INLINE Number<T> operator*(Number<T> a, Number<T> b) {
    return {multiply_add(a.re, b.re, -(a.im * b.im)), multiply_add(a.re, b.im, a.im * b.re)};
}
// -i a
template <class T>
ASC_INLINE Number<T> turned(Number<T> a) {
    return {a.im, -a.re};
}

// Split: the real parts of all lanes, then the imaginary ones.
template <class T>
ASC_INLINE Number<T> load_split(const T* p) {
    return {load(p), load(p + kLanes<T>)};
}
template <class T>
ASC_INLINE void store(T* p, Vec<T> v) {
    __builtin_memcpy(p, &v, sizeof(v));
}
template <class T>
ASC_INLINE void store_split(T* p, Number<T> x) {
    store(p, x.re);
    store(p + kLanes<T>, x.im);
}

template <class V>
inline V even_elements(V a, V b) {
    constexpr int kElements = sizeof(V) / sizeof(a[0]);
    if constexpr (kElements == 16)
        return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28,
                                       30);
    else if constexpr (kElements == 8)
        return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14);
    else if constexpr (kElements == 4)
        return __builtin_shufflevector(a, b, 0, 2, 4, 6);
    else
        return __builtin_shufflevector(a, b, 0, 2);
}
template <class V>
inline V odd_elements(V a, V b) {
    constexpr int kElements = sizeof(V) / sizeof(a[0]);
    if constexpr (kElements == 16)
        return __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29,
                                       31);
    else if constexpr (kElements == 8)
        return __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15);
    else if constexpr (kElements == 4)
        return __builtin_shufflevector(a, b, 1, 3, 5, 7);
    else
        return __builtin_shufflevector(a, b, 1, 3);
}
template <class V>
inline V reversed(V a) {
    constexpr int kElements = sizeof(V) / sizeof(a[0]);
    if constexpr (kElements == 16)
        return __builtin_shufflevector(a, a, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    else if constexpr (kElements == 8)
        return __builtin_shufflevector(a, a, 7, 6, 5, 4, 3, 2, 1, 0);
    else if constexpr (kElements == 4)
        return __builtin_shufflevector(a, a, 3, 2, 1, 0);
    else
        return __builtin_shufflevector(a, a, 1, 0);
}

// Interleaved: (re, im) of one lane after another, as in an array.
template <class T>
ASC_INLINE Number<T> load_interleaved(const T* p) {
    const Vec<T> a = load(p), b = load(p + kLanes<T>);
    return {even_elements(a, b), odd_elements(a, b)};
}
template <class T>
ASC_INLINE void store_interleaved(T* p, Number<T> x) {
    store(p, interleave_low(x.re, x.im));
    store(p + kLanes<T>, interleave_high(x.re, x.im));
}

// kLanes vectors as the rows of a square, which becomes its transpose: interleaving rows i and
// i + half, log2(kLanes) times.
template <class T>
ASC_INLINE void transpose(Vec<T>* rows) {
    constexpr int kHalf = kLanes<T> / 2;
    for (int step = kLanes<T>; step > 1; step /= 2) {
        Vec<T> next[kLanes<T>];
        ASC_UNROLL for (int i = 0; i < kHalf; ++i) {
            next[2 * i] = interleave_low(rows[i], rows[i + kHalf]);
            next[2 * i + 1] = interleave_high(rows[i], rows[i + kHalf]);
        }
        ASC_UNROLL for (int i = 0; i < kLanes<T>; ++i) rows[i] = next[i];
    }
}

// ---- butterflies: x[k] = sum over j of x[j] * exp(-2 pi i j k / R), in place

template <class T>
ASC_INLINE void butterfly2(Number<T>& a, Number<T>& b) {
    const Number<T> sum = a + b;
    b = a - b;
    a = sum;
}

// Of a, b, c, d; the results in this order of registers.
template <class T>
ASC_INLINE void butterfly4(Number<T>& a, Number<T>& b, Number<T>& c, Number<T>& d) {
    const Number<T> p = a + c, q = a - c, r = b + d, s = turned(b - d);
    a = p + r;
    b = q + s;
    c = p - r;
    d = q - s;
}

template <class T>
ASC_INLINE void butterfly8(Number<T>* x) {
    butterfly2(x[0], x[4]);
    butterfly2(x[1], x[5]);
    butterfly2(x[2], x[6]);
    butterfly2(x[3], x[7]);
    const Vec<T> half = broadcast(static_cast<T>(0.70710678118654752440L));
    const Number<T> a = x[5], b = x[7];
    x[5] = {(a.re + a.im) * half, (a.im - a.re) * half};
    x[6] = turned(x[6]);
    x[7] = {(b.im - b.re) * half, (b.re + b.im) * -half};
    butterfly4(x[0], x[1], x[2], x[3]);
    butterfly4(x[4], x[5], x[6], x[7]);
    const Number<T> y1 = x[4], y2 = x[1], y3 = x[5], y4 = x[2], y5 = x[6], y6 = x[3];
    x[1] = y1;
    x[2] = y2;
    x[3] = y3;
    x[4] = y4;
    x[5] = y5;
    x[6] = y6;
}

// Of an odd number r; roots[j] and roots[r + j] are the cosine and the sine of 2 pi j / r. Sums and
// differences of x[j] and x[r - j] meet real factors only. Several chains keep long sums accurate.
template <int kChains, class T>
ASC_INLINE void butterfly_odd(Number<T>* x, int r, const T* roots) {
    const int half = r / 2;
    Number<T> plus[kMaxRadix / 2 + kChains], minus[kMaxRadix / 2 + kChains];
    for (int j = 0; j < half; ++j) {
        plus[j] = x[j + 1] + x[r - j - 1];
        minus[j] = x[j + 1] - x[r - j - 1];
    }
    for (int j = half; j % kChains != 0; ++j) plus[j] = minus[j] = Number<T>{};
    const auto sum = [](const Number<T>* chain) __attribute__((always_inline)) {
        if constexpr (kChains == 1)
            return chain[0];
        else
            return (chain[0] + chain[1]) + (chain[2] + chain[3]);
    };
    Number<T> total[kChains] = {x[0]};
    for (int j = 0; j < half; j += kChains)
        ASC_UNROLL for (int c = 0; c < kChains; ++c) total[c] = total[c] + plus[j + c];
    for (int k = 1; k <= half; ++k) {
        Number<T> even[kChains] = {x[0]}, odd[kChains] = {};
        for (int j = 0, jk = k; j < half; j += kChains) {
            ASC_UNROLL for (int c = 0; c < kChains; ++c) {
                const Vec<T> cosine = broadcast(roots[jk]), sine = broadcast(roots[r + jk]);
                even[c] = {multiply_add(cosine, plus[j + c].re, even[c].re),
                           multiply_add(cosine, plus[j + c].im, even[c].im)};
                odd[c] = {multiply_add(sine, minus[j + c].re, odd[c].re),
                          multiply_add(sine, minus[j + c].im, odd[c].im)};
                jk = jk + k >= r ? jk + k - r : jk + k;
            }
        }
        const Number<T> cosines = sum(even), sines = turned(sum(odd));
        x[k] = cosines + sines;
        x[r - k] = cosines - sines;
    }
    x[0] = sum(total);
}

template <class T, int R>
ASC_INLINE void butterfly(Number<T>* x, const T* roots) {
    if constexpr (R == 2)
        butterfly2(x[0], x[1]);
    else if constexpr (R == 4)
        butterfly4(x[0], x[1], x[2], x[3]);
    else if constexpr (R == 8)
        butterfly8(x);
    else
        butterfly_odd<1>(x, R, roots);
}

}  // namespace
}  // namespace asc::cpu::ASC_ISA
