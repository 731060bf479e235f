// What the vector math functions share: bit casts, selects, multiply-add, exact sums and products.
//
// Everything is a branch-free scalar function that compilers vectorise when it stands in a loop.
// An element's bits depend on its own value only: the same code runs in the body and in the tail.
#pragma once
#include <stdint.h>

#define ASC_MATH_INLINE inline __attribute__((always_inline))

namespace asc::cpu::ASC_ISA {
namespace {

#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define ASC_HAS_FMA 1
#else
#define ASC_HAS_FMA 0
#endif

constexpr double kInf = __builtin_inf();
constexpr double kNan = __builtin_nan("");
// Adding it rounds to an integer, whose two's complement is then in the low bits.
constexpr double kRound = 0x1.8p52;
constexpr float kRoundF = 0x1.8p23f;

ASC_MATH_INLINE uint64_t bits(double x) { return __builtin_bit_cast(uint64_t, x); }
ASC_MATH_INLINE uint32_t bits(float x) { return __builtin_bit_cast(uint32_t, x); }
ASC_MATH_INLINE double from_bits(uint64_t b) { return __builtin_bit_cast(double, b); }
ASC_MATH_INLINE float from_bits(uint32_t b) { return __builtin_bit_cast(float, b); }

constexpr uint64_t kSign64 = uint64_t{1} << 63;
constexpr uint32_t kSign32 = uint32_t{1} << 31;

ASC_MATH_INLINE double absolute(double x) { return from_bits(bits(x) & ~kSign64); }
ASC_MATH_INLINE float absolute(float x) { return from_bits(bits(x) & ~kSign32); }
ASC_MATH_INLINE uint64_t sign_of(double x) { return bits(x) & kSign64; }
ASC_MATH_INLINE uint32_t sign_of(float x) { return bits(x) & kSign32; }
ASC_MATH_INLINE double flip(double x, uint64_t sign) { return from_bits(bits(x) ^ sign); }
ASC_MATH_INLINE float flip(float x, uint32_t sign) { return from_bits(bits(x) ^ sign); }
ASC_MATH_INLINE double with_sign(double magnitude, double x) {
    return from_bits((bits(magnitude) & ~kSign64) | sign_of(x));
}
ASC_MATH_INLINE float with_sign(float magnitude, float x) {
    return from_bits((bits(magnitude) & ~kSign32) | sign_of(x));
}

ASC_MATH_INLINE double root(double x) { return __builtin_sqrt(x); }
ASC_MATH_INLINE float root(float x) { return __builtin_sqrtf(x); }
ASC_MATH_INLINE double round_even(double x) { return __builtin_rint(x); }
ASC_MATH_INLINE float round_even(float x) { return __builtin_rintf(x); }

// All ones where x is negative. Selecting by masks of bits keeps compilers from splitting a loop's
// body into paths, each with its own division.
ASC_MATH_INLINE uint64_t negative_mask(double x) {
    return static_cast<uint64_t>(static_cast<int64_t>(bits(x)) >> 63);
}
ASC_MATH_INLINE uint32_t negative_mask(float x) {
    return static_cast<uint32_t>(static_cast<int32_t>(bits(x)) >> 31);
}
template <class T, class Mask>
ASC_MATH_INLINE T masked(T x, Mask m) {
    return from_bits(bits(x) & m);
}
template <class T, class Mask>
ASC_MATH_INLINE T select(Mask m, T a, T b) {
    return from_bits((bits(a) & m) | (bits(b) & ~m));
}

// a * b + c: one rounding where the hardware can, two elsewhere.
ASC_MATH_INLINE double mul_add(double a, double b, double c) {
#if ASC_HAS_FMA
    return __builtin_fma(a, b, c);
#else
    return a * b + c;
#endif
}
ASC_MATH_INLINE float mul_add(float a, float b, float c) {
#if ASC_HAS_FMA
    return __builtin_fmaf(a, b, c);
#else
    return a * b + c;
#endif
}

// x and its powers 2, 4 and 8.
template <class T>
struct Powers {
    T x1, x2, x4, x8;
};

template <class T>
ASC_MATH_INLINE T by_halves(const Powers<T>&, T c0) {
    return c0;
}
template <class T>
ASC_MATH_INLINE T by_halves(const Powers<T>& p, T c0, T c1) {
    return mul_add(p.x1, c1, c0);
}
template <class T, class... C>
ASC_MATH_INLINE T by_halves(const Powers<T>& p, T c0, T c1, T c2, C... rest);
template <class T, class... C>
ASC_MATH_INLINE T from_fourth(const Powers<T>& p, T c0, T c1, T c2, T c3, C... rest) {
    return mul_add(p.x4, by_halves(p, rest...), by_halves(p, c0, c1, c2, c3));
}
template <class T, class... C>
ASC_MATH_INLINE T from_eighth(const Powers<T>& p, T c0, T c1, T c2, T c3, T c4, T c5, T c6, T c7,
                              C... rest) {
    return mul_add(p.x8, by_halves(p, rest...), by_halves(p, c0, c1, c2, c3, c4, c5, c6, c7));
}
template <class T, class... C>
ASC_MATH_INLINE T by_halves(const Powers<T>& p, T c0, T c1, T c2, C... rest) {
    constexpr int n = 3 + sizeof...(rest);
    if constexpr (n <= 4) {
        return mul_add(p.x2, by_halves(p, c2, rest...), by_halves(p, c0, c1));
    } else if constexpr (n <= 8) {
        return from_fourth(p, c0, c1, c2, rest...);
    } else {
        return from_eighth(p, c0, c1, c2, rest...);
    }
}

// c0 + c1 x + c2 x^2 + ... by halves (Estrin): shorter chains of dependent operations than Horner.
template <class T, class... C>
ASC_MATH_INLINE T polynomial(T x, C... c) {
    const T x2 = x * x, x4 = x2 * x2;
    return by_halves(Powers<T>{x, x2, x4, x4 * x4}, static_cast<T>(c)...);
}

// The unevaluated sum of a number and a much smaller one.
template <class T>
struct Pair {
    T hi, lo;
};
using DD = Pair<double>;

// a + b exactly, for |a| >= |b| or a == 0 (Dekker).
template <class T>
ASC_MATH_INLINE Pair<T> fast_sum(T a, T b) {
    const T s = a + b;
    return {s, b - (s - a)};
}

// a + b exactly (Knuth).
template <class T>
ASC_MATH_INLINE Pair<T> exact_sum(T a, T b) {
    const T s = a + b;
    const T v = s - a;
    return {s, (a - (s - v)) + (b - v)};
}

// a * b exactly, where nothing over- or underflows (Dekker's splitting where there is no FMA).
ASC_MATH_INLINE DD exact_product(double a, double b) {
    const double p = a * b;
#if ASC_HAS_FMA
    return {p, __builtin_fma(a, b, -p)};
#else
    const double split = 0x1p27 + 1;
    const double ta = a * split, tb = b * split;
    const double ah = ta - (ta - a), bh = tb - (tb - b);
    const double al = a - ah, bl = b - bh;
    return {p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
#endif
}

ASC_MATH_INLINE Pair<float> exact_product(float a, float b) {
    const float p = a * b;
#if ASC_HAS_FMA
    return {p, __builtin_fmaf(a, b, -p)};
#else
    return {p, static_cast<float>(static_cast<double>(a) * b - p)};
#endif
}

// c - a * b with one rounding, or as good as one where a * b is close to c.
ASC_MATH_INLINE double residual(double c, double a, double b) {
#if ASC_HAS_FMA
    return __builtin_fma(-a, b, c);
#else
    const DD p = exact_product(a, b);
    return (c - p.hi) - p.lo;
#endif
}
ASC_MATH_INLINE float residual(float c, float a, float b) {
#if ASC_HAS_FMA
    return __builtin_fmaf(-a, b, c);
#else
    return static_cast<float>(c - static_cast<double>(a) * b);
#endif
}

// a b for pairs.
template <class T>
ASC_MATH_INLINE Pair<T> product(Pair<T> a, Pair<T> b) {
    const Pair<T> p = exact_product(a.hi, b.hi);
    return {p.hi, mul_add(a.hi, b.lo, mul_add(a.lo, b.hi, p.lo))};
}

// n / d for pairs.
template <class T>
ASC_MATH_INLINE Pair<T> quotient(Pair<T> n, Pair<T> d) {
    const T inverse = 1 / d.hi;
    const T q = n.hi * inverse;
    const T rest = residual(n.hi, q, d.hi) + (n.lo - q * d.lo);
    return {q, rest * inverse};
}

// 1 / x to about 12 % for a positive normal x: exponent negated, mantissa linear. Finite at 0.
ASC_MATH_INLINE double rough_inverse(double x) { return from_bits(0x7fde6238502484bau - bits(x)); }
ASC_MATH_INLINE float rough_inverse(float x) { return from_bits(0x7ef311c3u - bits(x)); }

// sqrt(x) as a pair; the low part needs a few bits only.
template <class T>
ASC_MATH_INLINE Pair<T> root(Pair<T> x) {
    const T s = root(x.hi);
    return {s, T(0.5) * (residual(x.hi, s, s) + x.lo) * rough_inverse(s)};
}

// 2^k for an integer k in [-1022, 1023], or [-126, 127].
ASC_MATH_INLINE double power_of_two(double k) { return from_bits(bits(k + (kRound + 1023)) << 52); }
ASC_MATH_INLINE float power_of_two(float k) { return from_bits(bits(k + (kRoundF + 127)) << 23); }

template <class T>
constexpr T kRounder = sizeof(T) == 4 ? T(kRoundF) : T(kRound);

// x 2^k for an integer k of twice that range, rounded once if x is normal.
template <class T>
ASC_MATH_INLINE T scale(T x, T k) {
    const T half = mul_add(k, T(0.5), kRounder<T>) - kRounder<T>;
    return x * power_of_two(half) * power_of_two(k - half);
}

// The same where x and the result are normal: k is added to the exponent.
ASC_MATH_INLINE double scale_normal(double x, double k) {
    return from_bits(bits(x) + (bits(k + kRound) << 52));
}
ASC_MATH_INLINE float scale_normal(float x, float k) {
    return from_bits(bits(x) + (bits(k + kRoundF) << 23));
}

template <class T>
ASC_MATH_INLINE T clamp(T x, T lo, T hi) {
    const T y = x < lo ? lo : x;
    return y > hi ? hi : y;
}

// e^x = 2^k (1 + head + rest).
template <class T>
struct ExpParts {
    T k, head, rest;
};

// x = m 2^e with m in [sqrt(1/2), sqrt(2)), for a normal positive x.
template <class T>
struct Scaled {
    T m, e;
    T down;  // 2^(1 - e), 0 for the largest e
};
ASC_MATH_INLINE Scaled<double> split_exponent(double x) {
    const uint64_t root_half = 0x3fe6a09e667f3bcdu;
    const uint64_t shifted = bits(x) + (0x3ff0000000000000u - root_half);
    const uint64_t biased = shifted >> 52;
    return {from_bits((shifted & 0x000fffffffffffffu) + root_half),
            from_bits(biased | 0x4330000000000000u) - (0x1p52 + 1023),
            from_bits((2047 - biased) << 52)};
}
ASC_MATH_INLINE Scaled<float> split_exponent(float x) {
    const uint32_t root_half = 0x3f3504f3u;
    const uint32_t shifted = bits(x) + (0x3f800000u - root_half);
    const uint32_t biased = shifted >> 23;
    return {from_bits((shifted & 0x007fffffu) + root_half),
            static_cast<float>(static_cast<int32_t>(biased)) - 127.0f,
            from_bits((255 - biased) << 23)};
}

// Which arguments a function is for: the usual ones need no care, and get the same bits with it.
enum class Domain { Usual, Any };

// The same for any positive x: subnormal ones are scaled first.
template <Domain D = Domain::Any, class T>
ASC_MATH_INLINE Scaled<T> split(T x) {
    if constexpr (D == Domain::Usual) {
        return split_exponent(x);
    } else {
        const T least = sizeof(T) == 4 ? T(0x1p-126) : T(0x1p-1022);
        const T digits = sizeof(T) == 4 ? 24 : 53;
        const bool tiny = x < least;
        const Scaled<T> v = split_exponent(tiny ? x * (sizeof(T) == 4 ? T(0x1p24) : T(0x1p53)) : x);
        return {v.m, tiny ? v.e - digits : v.e, v.down};
    }
}

// The special values of every logarithm.
template <Domain D, class T>
ASC_MATH_INLINE T log_special(T x, T y) {
    if constexpr (D == Domain::Usual) return y;
    const T inf = static_cast<T>(kInf);
    const T at_edge = x == 0 ? -inf : x < 0 ? static_cast<T>(kNan) : y;
    return x < inf ? at_edge : x;
}

// Usual for a logarithm: positive, normal and finite.
ASC_MATH_INLINE bool usual_log(double x) {
    return bits(x) - 0x0010000000000000u < 0x7fe0000000000000u;
}
ASC_MATH_INLINE bool usual_log(float x) { return bits(x) - 0x00800000u < 0x7f000000u; }

// x^y from |x|^y: the sign and the standard's table of special cases.
template <class T>
ASC_MATH_INLINE T pow_special(T x, T y, T magnitude) {
    const T inf = static_cast<T>(kInf), nan = static_cast<T>(kNan);
    const T a = absolute(x);
    const T at_zero = y > 0 ? T{0} : inf;
    const T at_inf = y > 0 ? inf : T{0};
    const T m = a == 0 ? at_zero : a == inf ? at_inf : magnitude;
    const T half = T(0.5) * y;
    const bool integer = round_even(y) == y;
    const bool odd = integer && round_even(half) != half;
    const T signed_m = odd ? with_sign(m, x) : m;
    const bool undefined = x < 0 && a < inf && !integer;
    const T r = undefined || !(x == x) || !(y == y) ? nan : signed_m;
    return y == 0 || x == 1 ? T{1} : r;
}

}  // namespace
}  // namespace asc::cpu::ASC_ISA
