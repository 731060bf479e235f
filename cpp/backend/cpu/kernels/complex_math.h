// Complex elementary functions of one element, for use inside the kernels.
//
// Everything is written over a working type V: `double` computes complex64, whose operands and
// products are exact in it, and `Wide` (an unevaluated sum of two doubles) computes complex128.
// Each function has three parts:
//   in_domain(a, b)  where the straight path holds: finite, no overflow, no lost zero;
//   fast(a, b)       the straight path: no branches, no calls, so that loops over it vectorise;
//   slow(a, b)       everything else: special values, extreme magnitudes, scaled by powers of two.
// The series below are Chebyshev interpolants of the named functions.
#pragma once
#include "backend/cpu/kernels/lane.h"

#define ASC_INLINE [[gnu::always_inline]] inline

namespace asc::cpu::ASC_ISA {
namespace {

using Cd = Complex<double>;

constexpr double kInf = __builtin_inf();
constexpr double kNan = __builtin_nan("");
constexpr double kPi = 0x1.921fb54442d18p+1;
constexpr double kHalfPi = 0x1.921fb54442d18p+0;

// ---- doubles -------------------------------------------------------------------------------

// a * b + c, in one rounding where the hardware has it.
ASC_INLINE double mad(double a, double b, double c) {
#if ASC_HAS_FMA
    return __builtin_fma(a, b, c);
#else
    return a * b + c;
#endif
}

ASC_INLINE uint64_t to_bits(double x) { return __builtin_bit_cast(uint64_t, x); }
ASC_INLINE double from_bits(uint64_t x) { return __builtin_bit_cast(double, x); }
ASC_INLINE double abs_of(double x) { return __builtin_fabs(x); }
ASC_INLINE double with_sign(double x, double s) { return __builtin_copysign(x, s); }
ASC_INLINE double greater(double a, double b) { return a > b ? a : b; }
ASC_INLINE bool is_nan(double x) { return x != x; }
ASC_INLINE bool is_inf(double x) { return abs_of(x) == kInf; }
ASC_INLINE bool is_finite(double x) { return abs_of(x) < kInf; }

// 2**k for -1022 <= k <= 1023.
ASC_INLINE double pow2(int64_t k) { return from_bits(static_cast<uint64_t>(k + 1023) << 52); }
// The exponent of the leading bit of a finite nonzero x.
inline int exponent(double x) {
    int e;
    (void)frexp(x, &e);
    return e - 1;
}

// The nearest integer of |x| < 2**50, as a double and in the low bits of `bits`.
struct Rounded {
    double value;
    uint64_t bits;
};
ASC_INLINE Rounded round_to_int(double x) {
    constexpr double kMagic = 0x1.8p52;
    const double t = x + kMagic;
    return {t - kMagic, to_bits(t)};
}
// 2**k from the bits of round_to_int.
ASC_INLINE double pow2_of_bits(uint64_t bits) { return from_bits((bits + 1023) << 52); }

ASC_INLINE double horner(double, double c) { return c; }
template <class... Rest>
ASC_INLINE double horner(double x, double c, Rest... rest) {
    return mad(horner(x, rest...), x, c);
}

// ---- Wide: sums of two doubles (Dekker, Knuth) ---------------------------------------------

struct Wide {
    double hi, lo;
};

template <class V>
constexpr bool kIsWide = false;
template <>
constexpr bool kIsWide<Wide> = true;

// a + b exactly, where |a| >= |b| or a == 0.
ASC_INLINE Wide quick_two_sum(double a, double b) {
    const double s = a + b;
    return {s, b - (s - a)};
}
ASC_INLINE Wide two_sum(double a, double b) {
    const double s = a + b, t = s - a;
    return {s, (a - (s - t)) + (b - t)};
}
ASC_INLINE Wide two_prod(double a, double b) {
    const double p = a * b;
#if ASC_HAS_FMA
    return {p, mad(a, b, -p)};
#else
    constexpr double kSplit = 0x1p27 + 1;
    const double ta = a * kSplit, tb = b * kSplit;
    const double ah = ta - (ta - a), bh = tb - (tb - b);
    const double al = a - ah, bl = b - bh;
    return {p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
#endif
}

// The same names for both working types.
ASC_INLINE double add(double a, double b) { return a + b; }
ASC_INLINE double mul(double a, double b) { return a * b; }
ASC_INLINE double div(double a, double b) { return a / b; }
ASC_INLINE double root(double a) { return __builtin_sqrt(a); }
ASC_INLINE double neg(double a) { return -a; }
ASC_INLINE double high(double a) { return a; }
ASC_INLINE double value(double a) { return a; }
ASC_INLINE double product(double a, double b) { return a * b; }
ASC_INLINE double pick(bool c, double a, double b) { return c ? a : b; }

ASC_INLINE Wide add(Wide a, Wide b) {
    const Wide s = two_sum(a.hi, b.hi);
    return quick_two_sum(s.hi, s.lo + (a.lo + b.lo));
}
ASC_INLINE Wide mul(Wide a, Wide b) {
    const Wide p = two_prod(a.hi, b.hi);
    return quick_two_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}
ASC_INLINE Wide div(Wide a, Wide b) {
    const double q = a.hi / b.hi;
    const Wide p = two_prod(q, b.hi);
    const double r = ((a.hi - p.hi) - p.lo) + a.lo - q * b.lo;
    return quick_two_sum(q, r / b.hi);
}
ASC_INLINE Wide root(Wide a) {
    const double s = __builtin_sqrt(a.hi);
    const Wide p = two_prod(s, s);
    const double r = ((a.hi - p.hi) - p.lo) + a.lo;
    return quick_two_sum(s, s > 0 ? r / (s + s) : 0.0);
}
ASC_INLINE Wide neg(Wide a) { return {-a.hi, -a.lo}; }
ASC_INLINE double high(Wide a) { return a.hi; }
ASC_INLINE double value(Wide a) { return a.hi + a.lo; }
// a * b rounded, with the sign of a zero product.
ASC_INLINE double product(Wide a, Wide b) {
    const double p = a.hi * b.hi;
    const double r = mad(a.hi, b.hi, a.hi * b.lo + a.lo * b.hi);
    return p == 0 ? p : r;
}
ASC_INLINE Wide pick(bool c, Wide a, Wide b) { return {c ? a.hi : b.hi, c ? a.lo : b.lo}; }

// hi + lo as the working type.
template <class V>
ASC_INLINE V make(double hi, double lo = 0) {
    if constexpr (kIsWide<V>)
        return {hi, lo};
    else
        return hi;
}
template <class V>
ASC_INLINE V sum_of(double a, double b) {
    if constexpr (kIsWide<V>)
        return two_sum(a, b);
    else
        return a + b;
}
template <class V>
ASC_INLINE V product_of(double a, double b) {
    if constexpr (kIsWide<V>)
        return two_prod(a, b);
    else
        return a * b;
}
// v times a power of two.
ASC_INLINE double scale(double v, double p) { return v * p; }
ASC_INLINE Wide scale(Wide v, double p) { return {v.hi * p, v.lo * p}; }
// v with its sign flipped where the top bit of `mask` is set.
ASC_INLINE double flip(double v, uint64_t mask) {
    return from_bits(to_bits(v) ^ (mask & (1ull << 63)));
}
ASC_INLINE Wide flip(Wide v, uint64_t mask) { return {flip(v.hi, mask), flip(v.lo, mask)}; }
ASC_INLINE double magnitude(double v) { return abs_of(v); }
ASC_INLINE Wide magnitude(Wide v) { return flip(v, to_bits(v.hi)); }

template <class V>
ASC_INLINE V half_pi() {
    return make<V>(kHalfPi, 0x1.1a62633145c07p-54);
}

// ---- exp, sinh, cosh of a real number ------------------------------------------------------

// exp(a) = 2**k (1 + (c + s)) with s odd and c even in the reduced argument.
template <class V>
struct ExpParts {
    V s, c;
    Rounded k;
};

constexpr double kLn2Hi = 0x1.62e42fefa2000p-1;    // 40 bits: products with k are exact
constexpr double kLn2Mid = 0x1.9ef35793c6000p-41;  // 40 bits
constexpr double kLn2Lo = 0x1.673007e5ed5e8p-81;
constexpr Wide kLn2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};

// |a| < 5000.
template <class V>
ASC_INLINE ExpParts<V> exp_parts(double a) {
    const Rounded k = round_to_int(a * 0x1.71547652b82fep+0);
    const double t = a - k.value * kLn2Hi;
    if constexpr (kIsWide<V>) {
        Wide r = two_sum(t, -(k.value * kLn2Mid));
        r.lo -= k.value * kLn2Lo;
        const double x = r.hi, z = x * x;
        const double s =
            horner(z, 0x1.5555555555555p-3, 0x1.1111111111111p-7, 0x1.a01a01a0195e6p-13,
                   0x1.71de3a5af94e9p-19, 0x1.ae642ad2afd38p-26, 0x1.61c2c1ba3877dp-33);
        const double c =
            horner(z, 0x1.0p-1, 0x1.5555555555555p-5, 0x1.6c16c16c16c18p-10, 0x1.a01a01a0191d2p-16,
                   0x1.27e4fb7cbe08bp-22, 0x1.1eed6fdc1593bp-29, 0x1.945010c2120e3p-37);
        return {quick_two_sum(x, mad(x * z, s, r.lo)), quick_two_sum(z * c, x * r.lo), k};
    } else {
        const double x = t - k.value * (kLn2Mid + kLn2Lo), z = x * x;
        const double s = horner(z, 0x1.5555555554f1dp-3, 0x1.1111111768fe9p-7,
                                0x1.a019c0eb54207p-13, 0x1.72b16531008bdp-19);
        const double c =
            horner(z, 0x1.0000000000001p-1, 0x1.5555555553b6cp-5, 0x1.6c16c1794e1dcp-10,
                   0x1.a019b621f9d08p-16, 0x1.2894f52583578p-22);
        return {mad(x * z, s, x), z * c, k};
    }
}

template <class V>
ASC_INLINE V exp_mantissa(const ExpParts<V>& e) {
    return add(make<V>(1), add(e.s, e.c));
}

// exp(a) - 1, |a| < 680.
template <class V>
ASC_INLINE V expm1_of(const ExpParts<V>& e) {
    const double p = pow2_of_bits(e.k.bits);
    return add(sum_of<V>(p, -1), scale(add(e.s, e.c), p));
}

template <class V>
struct Hyper {
    V sinh, cosh;
};

// |a| < 680. With exp(a) = 2**k (ch + sh): sinh(a) = sh C + ch S, cosh(a) = ch C + sh S, where
// C = cosh(k ln 2) and S = sinh(k ln 2), which keeps sinh exact near 0.
template <class V>
ASC_INLINE Hyper<V> hyper(double a) {
    const ExpParts<V> e = exp_parts<V>(a);
    const double up = 0.5 * pow2_of_bits(e.k.bits), down = 0.5 * pow2_of_bits(-e.k.bits);
    const V C = sum_of<V>(up, down), S = sum_of<V>(up, -down);
    const V ch = add(make<V>(1), e.c);
    V sinh = add(mul(ch, S), mul(e.s, C));
    sinh = pick(a == 0, make<V>(a, a), sinh);  // -0 + -0 keeps the sign
    return {sinh, add(mul(ch, C), mul(e.s, S))};
}

// ---- sin, cos of a real number -------------------------------------------------------------

// b = r + quadrant * pi / 2, |r| <= pi / 4.
template <class V>
struct Angle {
    V r;
    uint64_t quadrant;
};

// |b| < 2**20: pi / 2 in parts of 33 bits, so that products with the quadrant are exact.
template <class V>
ASC_INLINE Angle<V> reduce_small(double b) {
    constexpr double kP1 = 0x1.921fb544p+0, kP2 = 0x1.0b4611a6p-34, kP3 = 0x1.3198a2ep-69,
                     kP4 = 0x1.b839a252049c1p-104;
    const Rounded k = round_to_int(b * 0x1.45f306dc9c883p-1);
    const double t = b - k.value * kP1;
    if constexpr (kIsWide<V>) {
        const Wide u = two_sum(t, -(k.value * kP2));
        const Wide v = two_sum(u.hi, -(k.value * kP3));
        return {quick_two_sum(v.hi, v.lo + (u.lo - k.value * kP4)), k.bits};
    } else {
        return {(t - k.value * kP2) - k.value * kP3, k.bits};
    }
}

// 2 / pi in binary, after 64 zero bits.
constexpr uint64_t kTwoOverPi[] = {0x0,
                                   0xa2f9836e4e441529,
                                   0xfc2757d1f534ddc0,
                                   0xdb6295993c439041,
                                   0xfe5163abdebbc561,
                                   0xb7246e3a424dd2e0,
                                   0x06492eea09d1921c,
                                   0xfe1deb1cb129a73e,
                                   0xe88235f52ebb4484,
                                   0xe99c7026b45f7e41,
                                   0x3991d639835339f4,
                                   0x9c845f8bbdf9283b,
                                   0x1ff897ffde05980f,
                                   0xef2f118b5a0a6d1f,
                                   0x6d367ecf27cb09b7,
                                   0x4f463f669e5fea2d,
                                   0x7527bac7ebe5f17b,
                                   0x3d0739f78a5292ea,
                                   0x6bfb5fb11f8d5d08,
                                   0x56033046fc7b6bab,
                                   0xf0cfbc209af4361d};

// 64 bits of kTwoOverPi from bit `at`.
inline uint64_t two_over_pi_bits(int at) {
    const int w = at / 64, s = at % 64;
    return s == 0 ? kTwoOverPi[w] : kTwoOverPi[w] << s | kTwoOverPi[w + 1] >> (64 - s);
}

// Any finite |b| >= 2**20 (Payne and Hanek): b * 2 / pi modulo 4 to 190 bits after the point.
inline Angle<Wide> reduce_big(double b) {
    const uint64_t bits = to_bits(b);
    const int e = static_cast<int>(bits >> 52 & 0x7ff) - 1075;
    const uint64_t m = (bits & ((1ull << 52) - 1)) | 1ull << 52;
    const int at = 64 + e - 2;  // the first bit whose weight in b * 2 / pi is below 4
    using U128 = unsigned __int128;
    U128 p = static_cast<U128>(two_over_pi_bits(at + 128)) * m;
    uint64_t w2 = static_cast<uint64_t>(p);
    p = static_cast<U128>(two_over_pi_bits(at + 64)) * m + (p >> 64);
    uint64_t w1 = static_cast<uint64_t>(p);
    uint64_t w0 = two_over_pi_bits(at) * m + static_cast<uint64_t>(p >> 64);
    uint64_t quadrant = w0 >> 62;
    w0 = w0 << 2 | w1 >> 62;
    w1 = w1 << 2 | w2 >> 62;
    w2 <<= 2;
    const bool round_up = w0 >> 63;
    if (round_up) {  // the fraction is >= 1/2: count from the next quadrant down
        quadrant++;
        w2 = ~w2 + 1;
        w1 = ~w1 + (w2 == 0);
        w0 = ~w0 + (w2 == 0 && w1 == 0);
    }
    int shift = 0;
    while (w0 >> 63 == 0 && shift < 128) {
        const int s = w0 == 0 ? 64 : __builtin_clzll(w0);
        w0 = s == 64 ? w1 : w0 << s | w1 >> (64 - s);
        w1 = s == 64 ? w2 : w1 << s | w2 >> (64 - s);
        w2 = s == 64 ? 0 : w2 << s;
        shift += s;
    }
    const double hi = ldexp(static_cast<double>(w0 >> 11), -53 - shift);
    const double lo = ldexp(static_cast<double>((w0 & 0x7ff) << 42 | w1 >> 22), -106 - shift);
    Wide r = mul(quick_two_sum(hi, lo), half_pi<Wide>());
    if (round_up != (b < 0)) r = neg(r);
    return {r, b < 0 ? -quadrant : quadrant};
}

template <class V>
struct Circular {
    V sin, cos;
    V versine;  // 1 - cos, exact near 0
};

template <class V>
ASC_INLINE Circular<V> circular(const Angle<V>& angle) {
    V s, c, vers;
    if constexpr (kIsWide<V>) {
        const double x = angle.r.hi, lo = angle.r.lo, z = x * x;
        const double ps =
            horner(z, -0x1.5555555555555p-3, 0x1.1111111111111p-7, -0x1.a01a01a01a019p-13,
                   0x1.71de3a556c2bdp-19, -0x1.ae64567e71537p-26, 0x1.61245fb2b0af7p-33,
                   -0x1.ae7c50d10c1fdp-41, 0x1.92413fd9b9768p-49);
        const double pc =
            horner(z, 0x1.5555555555555p-5, -0x1.6c16c16c16c16p-10, 0x1.a01a01a019d02p-16,
                   -0x1.27e4fb7711e1dp-22, 0x1.1eed8de9ef73ep-29, -0x1.9394b76d1f265p-37,
                   0x1.ab76cf6e9b365p-45);
        s = quick_two_sum(x, mad(x * z, ps, lo * (1 - 0.5 * z)));
        const Wide h = two_prod(0.5 * x, x);
        vers = quick_two_sum(h.hi, h.lo + (x * lo - z * z * pc));
        c = add(Wide{1, 0}, neg(vers));
    } else {
        const double x = angle.r, z = x * x;
        s = mad(x * z,
                horner(z, -0x1.555555545c0f8p-3, 0x1.11110dea5e8c0p-7, -0x1.a013a11619d1bp-13,
                       0x1.6dbbee1f24647p-19),
                x);
        vers = mad(-z * z,
                   horner(z, 0x1.555555550225fp-5, -0x1.6c16bf51b0df9p-10, 0x1.a015c02820885p-16,
                          -0x1.2522e6d930e5bp-22),
                   0.5 * z);
        c = 1 - vers;
    }
    const uint64_t q = angle.quadrant;
    const bool swap = q & 1;
    Circular<V> out;
    out.sin = flip(pick(swap, c, s), q << 62);
    out.cos = flip(pick(swap, s, c), (q + 1) << 62);
    out.versine = pick((q & 3) == 0, vers, add(make<V>(1), neg(out.cos)));
    return out;
}

// |b| < 2**20.
template <class V>
ASC_INLINE Circular<V> circular_small(double b) {
    Circular<V> t = circular(reduce_small<V>(b));
    t.sin = pick(b == 0, make<V>(b, b), t.sin);  // -0 + -0 keeps the sign
    return t;
}
// Any finite b.
inline Circular<Wide> circular_any(double b) {
    return abs_of(b) < 0x1p20 ? circular_small<Wide>(b) : circular(reduce_big(b));
}

// ---- log, atan2 of real numbers ------------------------------------------------------------

// log of a normal positive s; exact to the last bits also where s is near 1.
template <class V>
ASC_INLINE V log_of(Wide s) {
    constexpr uint64_t kOne = 0x3ff0000000000000, kRootHalf = 0x3fe6a09e667f3bcd;
    const uint64_t bits = to_bits(s.hi), t = bits + (kOne - kRootHalf);
    const uint64_t biased = t >> 52;  // s.hi = m 2**(biased - 1023), sqrt(1/2) <= m < sqrt(2)
    const double k = from_bits(biased | 0x4330000000000000) - (0x1p52 + 1023);
    const double m = from_bits(bits - ((biased << 52) - kOne));
    const double low = s.lo * from_bits((2046 - biased) << 52);
    if constexpr (kIsWide<V>) {
        const Wide f = two_sum(m - 1, low);
        const double u = f.hi / (2 + f.hi), z = u * u, h = 0.5 * f.hi * f.hi;
        const double p = horner(z, 0x1.5555555555555p-1, 0x1.9999999999998p-2, 0x1.2492492492a13p-2,
                                0x1.c71c71c6319d0p-3, 0x1.745d17e2807d9p-3, 0x1.3b13769818319p-3,
                                0x1.111decb6e1261p-3, 0x1.de9ca17c5a683p-4, 0x1.e7e2e54aef980p-4);
        // log(1 + f) = f - f**2 / 2 + u (f**2 / 2 + u**2 p); 1 / (1 + f) = (1 - u) / (1 + u).
        const double lo = f.lo * (1 - u) * (1 - u + z) - (h - u * mad(z, p, h));
        const Wide r = two_sum(k * kLn2Hi, f.hi);
        return quick_two_sum(r.hi, r.lo + mad(k, 0x1.9ef35793c7673p-41, lo));
    } else {
        const double f = (m - 1) + low;
        const double u = f / (2 + f), z = u * u, h = 0.5 * f * f;
        const double p = horner(z, 0x1.5555555566907p-1, 0x1.999998b992e65p-2, 0x1.249331a40ae01p-2,
                                0x1.c67419d70c1f3p-3, 0x1.8d0dedc947fb2p-3);
        return mad(k, kLn2Hi + 0x1.9ef35793c7673p-41, f - (h - u * mad(z, p, h)));
    }
}

// atan(n / m), 0 <= n <= m, m normal.
template <class V>
ASC_INLINE V atan_ratio(V n, V m) {
    const bool big = high(n) > 0x1.a827999fcef32p-2 * high(m);  // tan(pi / 8)
    const V t = div(pick(big, add(n, neg(m)), n), pick(big, add(n, m), m));
    const double x = high(t), z = x * x;
    const V base = pick(big, make<V>(0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55), make<V>(0));
    if constexpr (kIsWide<V>) {
        const double p = horner(z, -0x1.5555555555555p-2, 0x1.9999999999996p-3,
                                -0x1.2492492492099p-3, 0x1.c71c71c6dc99ep-4, -0x1.745d17352094dp-4,
                                0x1.3b13aea08584bp-4, -0x1.1110ce17fe8c4p-4, 0x1.e1d8d219a7bbdp-5,
                                -0x1.aebc3aae6ea6ep-5, 0x1.82972e612307dp-5, -0x1.50253ac88b1f3p-5,
                                0x1.f584cc2ef7dbap-6, -0x1.c73ae7f95c490p-7);
        return add(base, Wide{t.hi, mad(x * z, p, t.lo)});
    } else {
        return base + mad(x * z,
                          horner(z, -0x1.5555555501010p-2, 0x1.9999982174445p-3,
                                 -0x1.2491bf4d1afe5p-3, 0x1.c6f6422e9831dp-4, -0x1.71d067c3a46fbp-4,
                                 0x1.243050d0133a4p-4, -0x1.4ae868a2273e1p-5),
                          x);
    }
}

// atan2(y, x); max(|x|, |y|) normal, the sign of a zero y counts.
template <class V>
ASC_INLINE V atan2_of(V y, V x) {
    const V ay = magnitude(y), ax = magnitude(x);
    const bool swap = high(ay) > high(ax), left = high(x) < 0;
    V r = atan_ratio(pick(swap, ax, ay), pick(swap, ay, ax));
    r = pick(swap == left, r, neg(r));
    const V turn = pick(swap, half_pi<V>(), make<V>(kPi, 0x1.1a62633145c07p-53));
    r = pick(swap || left, add(turn, r), r);
    return flip(r, to_bits(high(y)));
}

// ---- helpers of the complex functions ------------------------------------------------------

ASC_INLINE double larger_part(double a, double b) { return greater(abs_of(a), abs_of(b)); }
ASC_INLINE bool both_finite(double a, double b) { return is_finite(a) && is_finite(b); }

// x * y where an infinite x meets sin or cos, and a zero y stays the zero it is.
inline double times_unless_zero(double x, double y) { return y == 0 ? y : x * y; }

// a**2 + b**2 as exactly as two doubles hold it; squares neither overflow nor vanish.
ASC_INLINE Wide sum_of_squares(double a, double b) {
    const Wide p = two_prod(a, a), q = two_prod(b, b);
    const bool swap = q.hi > p.hi;
    const Wide s = quick_two_sum(swap ? q.hi : p.hi, swap ? p.hi : q.hi);
    return quick_two_sum(s.hi, s.lo + (p.lo + q.lo));
}
template <class V>
ASC_INLINE V norm_squared(double a, double b) {
    if constexpr (kIsWide<V>)
        return sum_of_squares(a, b);
    else
        return a * a + b * b;
}

// Operands scaled to a leading exponent of 0.
struct Scaled {
    double a, b;
    int e;
};
inline Scaled normalise(double a, double b) {
    const int e = exponent(larger_part(a, b));
    return {scalbn(a, -e), scalbn(b, -e), e};
}

// Squares of the larger part neither overflow nor vanish.
ASC_INLINE bool moderate(double a, double b) {
    const double m = larger_part(a, b);
    return (m >= 0x1p-400) & (m <= 0x1p400) & !is_nan(a) & !is_nan(b);
}

// -j z: the standard defines the circular functions by the hyperbolic ones of j z.
ASC_INLINE Cd over_j(Cd z) { return {z.im, -z.re}; }

// ---- exp, expm1 ----------------------------------------------------------------------------

inline Cd exp_of_special(double a, double b) {
    if (is_finite(b)) {
        if (is_nan(a)) return {a, b == 0 ? b : kNan};
        const double r = a > 0 ? kInf : 0;
        const Circular<Wide> t = circular_any(b);
        return {times_unless_zero(r, value(t.cos)), times_unless_zero(r, value(t.sin))};
    }
    if (is_inf(a)) return a > 0 ? Cd{kInf, kNan} : Cd{0, 0};
    return {kNan, kNan};
}

// exp(a) * (cos(b) + j sin(b)) / 2**shift for any finite a, b.
inline Cd exp_scaled(double a, double b, int shift) {
    const double clamped = a > 4000 ? 4000 : a < -4000 ? -4000 : a;
    const ExpParts<Wide> e = exp_parts<Wide>(clamped);
    const Circular<Wide> t = circular_any(b);
    const int k = static_cast<int>(e.k.value) - shift, first = k > 1000   ? 1000
                                                               : k < -900 ? -900
                                                                          : k;
    const Wide m = scale(exp_mantissa(e), pow2(first));
    return {scalbn(product(m, t.cos), k - first), scalbn(product(m, t.sin), k - first)};
}

struct Exp {
    template <class V>
    ASC_INLINE static bool in_domain(double a, double b) {
        return abs_of(a) < 708 && abs_of(b) < 0x1p20;
    }
    template <class V>
    ASC_INLINE static Cd fast(double a, double b) {
        const ExpParts<V> e = exp_parts<V>(a);
        const V m = scale(exp_mantissa(e), pow2_of_bits(e.k.bits));
        const Circular<V> t = circular_small<V>(b);
        return {product(m, t.cos), product(m, t.sin)};
    }
    static Cd slow(double a, double b) {
        return both_finite(a, b) ? exp_scaled(a, b, 0) : exp_of_special(a, b);
    }
};

struct Expm1 {
    template <class V>
    ASC_INLINE static bool in_domain(double a, double b) {
        return abs_of(a) < 680 && abs_of(b) < 0x1p20;
    }
    template <class V>
    ASC_INLINE static Cd of(double a, const Circular<V>& t) {
        const ExpParts<V> e = exp_parts<V>(a);
        const V m = scale(exp_mantissa(e), pow2_of_bits(e.k.bits));
        const V re = add(mul(expm1_of(e), t.cos), neg(t.versine));
        return {value(re) + 0.0, product(m, t.sin)};  // the standard wants +0 for -0
    }
    template <class V>
    ASC_INLINE static Cd fast(double a, double b) {
        return of(a, circular_small<V>(b));
    }
    static Cd slow(double a, double b) {
        if (!both_finite(a, b)) {
            const Cd e = exp_of_special(a, b);
            return {e.re - 1, e.im};
        }
        if (abs_of(a) < 680) return of(a, circular_any(b));
        const Cd e = exp_scaled(a, b, 0);
        return {e.re - 1, e.im};
    }
};

// ---- sinh, cosh, tanh; sin, cos, tan by rotation -------------------------------------------

struct Sinh {
    template <class V>
    ASC_INLINE static bool in_domain(double a, double b) {
        return abs_of(a) < 680 && abs_of(b) < 0x1p20;
    }
    template <class V>
    ASC_INLINE static Cd of(const Hyper<V>& h, const Circular<V>& t) {
        return {product(h.sinh, t.cos), product(h.cosh, t.sin)};
    }
    template <class V>
    ASC_INLINE static Cd fast(double a, double b) {
        return of(hyper<V>(a), circular_small<V>(b));
    }
    static Cd slow(double a, double b) {
        if (both_finite(a, b)) {
            if (abs_of(a) < 680) return of(hyper<Wide>(a), circular_any(b));
            const Cd e = exp_scaled(abs_of(a), b, 1);
            return {a < 0 ? -e.re : e.re, e.im};
        }
        if (is_nan(a)) return {a, b == 0 ? b : kNan};
        if (!is_finite(b)) return {is_finite(a) && a != 0 ? kNan : a, kNan};
        const Circular<Wide> t = circular_any(b);
        return {a * value(t.cos), times_unless_zero(abs_of(a), value(t.sin))};
    }
};

struct Cosh {
    template <class V>
    ASC_INLINE static bool in_domain(double a, double b) {
        return Sinh::in_domain<V>(a, b);
    }
    template <class V>
    ASC_INLINE static Cd of(const Hyper<V>& h, const Circular<V>& t) {
        return {product(h.cosh, t.cos), product(h.sinh, t.sin)};
    }
    template <class V>
    ASC_INLINE static Cd fast(double a, double b) {
        return of(hyper<V>(a), circular_small<V>(b));
    }
    static Cd slow(double a, double b) {
        if (both_finite(a, b)) {
            if (abs_of(a) < 680) return of(hyper<Wide>(a), circular_any(b));
            const Cd e = exp_scaled(abs_of(a), b, 1);
            return {e.re, a < 0 ? -e.im : e.im};
        }
        if (is_nan(a)) return {a, b == 0 ? b : kNan};
        if (!is_finite(b)) {
            if (is_inf(a)) return {kInf, kNan};
            return {kNan, a == 0 ? a : kNan};
        }
        const Circular<Wide> t = circular_any(b);
        if (b == 0) return {kInf, a > 0 ? b : -b};
        return {kInf * value(t.cos), a * value(t.sin)};
    }
};

struct Tanh {
    // Beyond, tanh(a) is 1 to the last bit.
    static constexpr double kOne = 20;

    template <class V>
    ASC_INLINE static bool in_domain(double a, double b) {
        return abs_of(a) < kOne && abs_of(b) < 0x1p20;
    }
    // (sinh a cosh a + j sin b cos b) / (sinh(a)**2 + cos(b)**2): no sum cancels.
    template <class V>
    ASC_INLINE static Cd of(double a, double b, const Circular<V>& t) {
        const Hyper<V> h = hyper<V>(a);
        const V d = add(mul(h.sinh, h.sinh), mul(t.cos, t.cos));
        const double re = value(div(mul(h.sinh, h.cosh), d));
        const double im = value(div(mul(t.sin, t.cos), d));
        return {with_sign(re, a), b == 0 ? b : im};
    }
    template <class V>
    ASC_INLINE static Cd fast(double a, double b) {
        return of(a, b, circular_small<V>(b));
    }
    static Cd slow(double a, double b) {
        if (both_finite(a, b)) {
            const Circular<Wide> t = circular_any(b);
            if (abs_of(a) < kOne) return of(a, b, t);
            const double decay = exp_scaled(-2 * abs_of(a), 0, -2).re;
            return {with_sign(1, a), product(t.sin, t.cos) * decay};
        }
        if (is_inf(a)) return {with_sign(1, a), with_sign(0, b)};
        if (is_nan(a)) return {a, b == 0 ? b : kNan};
        return {a == 0 ? a : kNan, kNan};
    }
};

// f(z) = -j F(j z).
template <class F>
struct Rotated {
    template <class V>
    ASC_INLINE static bool in_domain(double a, double b) {
        return F::template in_domain<V>(-b, a);
    }
    template <class V>
    ASC_INLINE static Cd fast(double a, double b) {
        return over_j(F::template fast<V>(-b, a));
    }
    static Cd slow(double a, double b) { return over_j(F::slow(-b, a)); }
};

using Sin = Rotated<Sinh>;
using Tan = Rotated<Tanh>;

struct Cos {
    template <class V>
    ASC_INLINE static bool in_domain(double a, double b) {
        return Cosh::in_domain<V>(-b, a);
    }
    template <class V>
    ASC_INLINE static Cd fast(double a, double b) {
        return Cosh::fast<V>(-b, a);
    }
    static Cd slow(double a, double b) { return Cosh::slow(-b, a); }
};

// ---- logarithms ----------------------------------------------------------------------------

// 1 / log(base).
struct BaseE {
    static constexpr double hi = 1, lo = 0;
};
struct Base2 {
    static constexpr double hi = 0x1.71547652b82fep+0, lo = 0x1.777d0ffda0d24p-56;
};
struct Base10 {
    static constexpr double hi = 0x1.bcb7b1526e50ep-2, lo = 0x1.95355baaafad3p-57;
};

template <class Base>
struct Log {
    template <class V>
    ASC_INLINE static double in_base(V x) {
        if constexpr (Base::hi != 1) x = mul(x, make<V>(Base::hi, Base::lo));
        return value(x);
    }
    template <class V>
    ASC_INLINE static bool in_domain(double a, double b) {
        return moderate(a, b);
    }
    template <class V>
    ASC_INLINE static Cd fast(double a, double b) {
        const V r = scale(log_of<V>(sum_of_squares(a, b)), 0.5);
        const V i = atan2_of(make<V>(b), make<V>(a));
        return {in_base(r), with_sign(in_base(i), b)};
    }
    static Cd slow(double a, double b) {
        if (is_inf(a) || is_inf(b)) return {kInf, atan2(b, a) * Base::hi};
        if (is_nan(a) || is_nan(b)) return {kNan, kNan};
        if (a == 0 && b == 0) return {-kInf, atan2(b, a) * Base::hi};
        const Scaled z = normalise(a, b);
        Wide r = scale(log_of<Wide>(sum_of_squares(z.a, z.b)), 0.5);
        r = add(r, mul(make<Wide>(z.e), kLn2));
        return {in_base(r), with_sign(in_base(atan2_of(make<Wide>(z.b), make<Wide>(z.a))), b)};
    }
};

struct Log1p {
    template <class V>
    ASC_INLINE static bool in_domain(double a, double b) {
        return moderate(a + 1, b);
    }
    // |1 + z|**2 with 1 + a as the exact pair x.
    template <class V>
    ASC_INLINE static Cd fast(double a, double b) {
        const Wide x = two_sum(1, a);
        Wide s = sum_of_squares(x.hi, b);
        s = quick_two_sum(s.hi, s.lo + (2 * x.hi) * x.lo);
        const V r = scale(log_of<V>(s), 0.5);
        const V i = atan2_of(make<V>(b), make<V>(x.hi, x.lo));
        return {a == 0 && b == 0 ? a : value(r), with_sign(value(i), b)};
    }
    // Near -1 the sum is exact, far away the 1 does not count.
    static Cd slow(double a, double b) { return Log<BaseE>::slow(a + 1, b); }
};

// ---- modulus, sign, square root ------------------------------------------------------------

struct Abs {
    template <class V>
    ASC_INLINE static bool in_domain(double a, double b) {
        return moderate(a, b);
    }
    template <class V>
    ASC_INLINE static double fast(double a, double b) {
        return __builtin_sqrt(mad(a, a, b * b));
    }
    static double slow(double a, double b) {
        if (is_inf(a) || is_inf(b)) return kInf;
        if (is_nan(a) || is_nan(b)) return kNan;
        if (a == 0 && b == 0) return 0;
        const Scaled z = normalise(a, b);
        return scalbn(fast<Wide>(z.a, z.b), z.e);
    }
};

struct Sign {
    template <class V>
    ASC_INLINE static bool in_domain(double a, double b) {
        return moderate(a, b);
    }
    template <class V>
    ASC_INLINE static Cd fast(double a, double b) {
        const V h = root(norm_squared<V>(a, b));
        return {with_sign(value(div(make<V>(a), h)), a), with_sign(value(div(make<V>(b), h)), b)};
    }
    static Cd slow(double a, double b) {
        if (is_nan(a) || is_nan(b)) return {kNan, kNan};
        if (a == 0 && b == 0) return {0, 0};
        // The limit of z / |z|, where there is one.
        if (is_inf(a) && is_inf(b)) return {kNan, kNan};
        if (is_inf(a)) return {with_sign(1, a), with_sign(0, b)};
        if (is_inf(b)) return {with_sign(0, a), with_sign(1, b)};
        const Scaled z = normalise(a, b);
        return fast<Wide>(z.a, z.b);
    }
};

// The root of x + j y for y >= 0 in the first quadrant; (0, 0) is not in its domain.
template <class V>
struct Root {
    V re, im;
};
template <class V>
ASC_INLINE Root<V> root_of(V x, double y) {
    const V ax = magnitude(x);
    const V h = root(add(mul(x, x), product_of<V>(y, y)));
    const V diagonal = make<V>(0.5 * y);  // x == 0: y**2 may vanish although y does not
    const V t = root(pick(high(x) == 0, diagonal, scale(add(ax, h), 0.5)));
    const V u = pick(high(x) == 0, t, div(make<V>(y), scale(t, 2)));
    const bool right = high(x) >= 0;
    return {pick(right, t, u), pick(right, u, t)};
}

struct Sqrt {
    template <class V>
    ASC_INLINE static bool in_domain(double a, double b) {
        return moderate(a, b);
    }
    template <class V>
    ASC_INLINE static Cd fast(double a, double b) {
        const Root<V> r = root_of(make<V>(a), abs_of(b));
        return {value(r.re), with_sign(value(r.im), b)};
    }
    static Cd slow(double a, double b) {
        if (is_inf(b)) return {kInf, b};
        if (is_nan(a)) return {kNan, kNan};
        if (is_inf(a)) {
            if (is_nan(b)) return a > 0 ? Cd{kInf, kNan} : Cd{kNan, kInf};
            return a > 0 ? Cd{kInf, with_sign(0, b)} : Cd{0, with_sign(kInf, b)};
        }
        if (is_nan(b)) return {kNan, kNan};
        if (a == 0 && b == 0) return {0, b};
        // By 4**k, so that the root is scaled back by 2**k.
        const int k = exponent(larger_part(a, b)) >> 1;
        const Cd r = fast<Wide>(scalbn(a, -2 * k), scalbn(b, -2 * k));
        const Cd w = {scalbn(r.re, k), scalbn(r.im, k)};
        // A part of b lost by the scaling is the smaller part of the root.
        if (abs_of(b) > 0x1p-200 * abs_of(a)) return w;
        return a > 0 ? Cd{w.re, b / (2 * w.re)} : Cd{abs_of(b) / (2 * abs_of(w.im)), w.im};
    }
};

// ---- inverse circular and hyperbolic functions ---------------------------------------------

// log(1 + t), t >= 0.
template <class V>
ASC_INLINE V log1p_of(V t) {
    Wide s = two_sum(1, high(t));
    if constexpr (kIsWide<V>) s = quick_two_sum(s.hi, s.lo + t.lo);
    return log_of<V>(s);
}

// asinh(x), x >= 0.
template <class V>
ASC_INLINE V asinh_of(V x) {
    const V one = make<V>(1), square = mul(x, x);
    return log1p_of(add(x, div(square, add(one, root(add(one, square))))));
}

// The two square roots from which Kahan builds asin and acos (Branch Cuts for Complex Elementary
// Functions, 1987): sqrt(1 - z) and sqrt(1 + z), z = a + j |b|, im of the former negated.
template <class V>
struct Arc {
    Root<V> minus, plus;
};
template <class V>
ASC_INLINE Arc<V> arc(double a, double b) {
    const double y = abs_of(b);
    return {root_of(sum_of<V>(1, -a), y), root_of(sum_of<V>(1, a), y)};
}
// |im asin(z)| = |im acos(z)|.
template <class V>
ASC_INLINE double arc_imag(const Arc<V>& r) {
    return value(asinh_of(add(mul(r.minus.re, r.plus.im), mul(r.minus.im, r.plus.re))));
}
// Smaller operands are their own asin, greater ones have |im| = log |2 z|.
ASC_INLINE bool arc_in_domain(double a, double b) {
    const double m = larger_part(a, b);
    return m >= 0x1p-30 && m <= 0x1p200 && !is_nan(a) && !is_nan(b) &&
           (abs_of(a) != 1 || b == 0 || abs_of(b) >= 0x1p-900);
}
inline double log_twice(double a, double b) { return Log<BaseE>::slow(a, b).re + kLn2.hi; }

struct Acos {
    template <class V>
    ASC_INLINE static bool in_domain(double a, double b) {
        return arc_in_domain(a, b);
    }
    template <class V>
    ASC_INLINE static Cd fast(double a, double b) {
        const Arc<V> r = arc<V>(a, b);
        return {2 * value(atan2_of(r.minus.re, r.plus.re)), with_sign(arc_imag(r), -b)};
    }
    static Cd slow(double a, double b) {
        if (is_inf(a) || is_inf(b)) return {atan2(abs_of(b), a), with_sign(kInf, -b)};
        if (is_nan(a) || is_nan(b)) return {a == 0 ? kHalfPi : kNan, kNan};
        if (larger_part(a, b) < 1) return {value(add(half_pi<Wide>(), Wide{-a, 0})), -b};
        if (abs_of(a) == 1 && abs_of(b) < 1) return at_one(a, b);
        return {atan2(abs_of(b), a), with_sign(log_twice(a, b), -b)};
    }
    // acos(1 + j b) = sqrt(b) (1 - j) for tiny b.
    static Cd at_one(double a, double b) {
        const double r = __builtin_sqrt(abs_of(b));
        return {a > 0 ? r : kPi - r, with_sign(r, -b)};
    }
};

struct Acosh {
    template <class V>
    ASC_INLINE static bool in_domain(double a, double b) {
        return arc_in_domain(a, b);
    }
    ASC_INLINE static Cd of(Cd acos, double b) { return {abs_of(acos.im), with_sign(acos.re, b)}; }
    template <class V>
    ASC_INLINE static Cd fast(double a, double b) {
        return of(Acos::fast<V>(a, b), b);
    }
    static Cd slow(double a, double b) { return of(Acos::slow(a, b), b); }
};

// asinh(z) = -j asin(j z).
struct Asinh {
    template <class V>
    ASC_INLINE static bool in_domain(double a, double b) {
        return arc_in_domain(-b, a);
    }
    template <class V>
    ASC_INLINE static Cd fast(double a, double b) {
        const Arc<V> r = arc<V>(b, a);
        const V real = add(mul(r.minus.re, r.plus.re), mul(r.minus.im, r.plus.im));
        return {with_sign(arc_imag(r), a), with_sign(value(atan2_of(make<V>(b), real)), b)};
    }
    static Cd slow(double a, double b) {
        if (is_inf(a) || is_inf(b)) {
            return {with_sign(kInf, a), with_sign(atan2(abs_of(b), abs_of(a)), b)};
        }
        if (is_nan(a) || is_nan(b)) return {kNan, b == 0 ? b : kNan};
        if (larger_part(a, b) < 1) return {a, b};
        if (abs_of(b) == 1 &&
            abs_of(a) < 1) {  // asinh(j + a) = sqrt(a) (1 - j) + j pi / 2 for tiny a
            const double r = __builtin_sqrt(abs_of(a));
            return {with_sign(r, a), with_sign(kHalfPi - r, b)};
        }
        return {with_sign(log_twice(a, b), a), with_sign(atan2(abs_of(b), abs_of(a)), b)};
    }
};
using Asin = Rotated<Asinh>;

struct Atanh {
    template <class V>
    ASC_INLINE static bool in_domain(double a, double b) {
        const double m = larger_part(a, b);
        return m >= 0x1p-30 && m <= 0x1p100 && moderate(1 - abs_of(a), b);
    }
    // re = log(1 + 4 a / ((1 - a)**2 + b**2)) / 4, im = atan2(2 b, (1 - a) (1 + a) - b**2) / 2.
    template <class V>
    ASC_INLINE static Cd fast(double a, double b) {
        const double x = abs_of(a);
        const V near = sum_of<V>(1, -x), far = sum_of<V>(1, x), square = product_of<V>(b, b);
        const V t = div(make<V>(4 * x), add(mul(near, near), square));
        const V im = atan2_of(make<V>(2 * b), add(mul(near, far), neg(square)));
        return {with_sign(0.25 * value(log1p_of(t)), a), 0.5 * value(im)};
    }
    static Cd slow(double a, double b) {
        if (is_inf(a) || is_inf(b)) return {with_sign(0, a), is_nan(b) ? b : with_sign(kHalfPi, b)};
        if (is_nan(a) || is_nan(b)) return {a == 0 ? a : kNan, kNan};
        const double m = larger_part(a, b);
        if (m < 0x1p-30) return {a, b};
        if (m > 0x1p100) {  // re(1 / z)
            const Scaled z = normalise(a, b);
            return {scalbn(z.a / (z.a * z.a + z.b * z.b), -z.e), with_sign(kHalfPi, b)};
        }
        if (b == 0) return {with_sign(kInf, a), b};
        // a = 1 and a tiny b: log(2 / b) / 2.
        return {with_sign(0.5 * (kLn2.hi - Log<BaseE>::slow(0, b).re), a),
                with_sign(0.25 * kPi, b)};
    }
};
using Atan = Rotated<Atanh>;

// ---- quotient ------------------------------------------------------------------------------

struct Divide {
    template <class V>
    ASC_INLINE static bool in_domain(double a, double b, double c, double d) {
        const double m = larger_part(a, b);
        return moderate(c, d) && m <= 0x1p400 && (m >= 0x1p-400 || m == 0) && !is_nan(a) &&
               !is_nan(b);
    }
    template <class V>
    ASC_INLINE static double part(double a, double c, double b, double d, V square) {
        const double q = value(div(add(product_of<V>(a, c), product_of<V>(b, d)), square));
        return q == 0 ? with_sign(0, a * c + b * d) : q;
    }
    template <class V>
    ASC_INLINE static Cd fast(double a, double b, double c, double d) {
        const V square = norm_squared<V>(c, d);
        return {part<V>(a, c, b, d, square), part<V>(b, c, -a, d, square)};
    }
    // What is not finite follows C99, Annex G.
    static Cd slow(double a, double b, double c, double d) {
        if (c == 0 && d == 0) {
            const double inf = with_sign(kInf, c);
            return {inf * a, inf * b};
        }
        if (is_nan(a + b) && !is_inf(a) && !is_inf(b)) return {kNan, kNan};
        if (is_nan(c + d) && !is_inf(c) && !is_inf(d)) return {kNan, kNan};
        if (both_finite(a, b) && both_finite(c, d)) {
            if (d == 0) return {a / c, b / c};
            if (c == 0) return {b / d, -a / d};
            if (a == 0 && b == 0) return {0 * (a * c + b * d), 0 * (b * c - a * d)};
            const Scaled n = normalise(a, b), m = normalise(c, d);
            const Cd q = fast<Wide>(n.a, n.b, m.a, m.b);
            return {scalbn(q.re, n.e - m.e), scalbn(q.im, n.e - m.e)};
        }
        if (!both_finite(a, b) && !both_finite(c, d)) return {kNan, kNan};
        const double scale = both_finite(a, b) ? 0 : kInf;
        if (scale == 0) {
            c = with_sign(is_inf(c) ? 1 : 0, c);
            d = with_sign(is_inf(d) ? 1 : 0, d);
        } else {
            a = with_sign(is_inf(a) ? 1 : 0, a);
            b = with_sign(is_inf(b) ? 1 : 0, b);
        }
        return {scale * (a * c + b * d), scale * (b * c - a * d)};
    }
};

struct Reciprocal {
    template <class V>
    ASC_INLINE static bool in_domain(double a, double b) {
        return moderate(a, b);
    }
    template <class V>
    ASC_INLINE static Cd fast(double a, double b) {
        const V square = norm_squared<V>(a, b);
        return {value(div(make<V>(a), square)), with_sign(value(div(make<V>(b), square)), -b)};
    }
    static Cd slow(double a, double b) { return Divide::slow(1, 0, a, b); }
};

// ---- power ---------------------------------------------------------------------------------

struct WideComplex {
    Wide re, im;
};
ASC_INLINE WideComplex mul(const WideComplex& x, const WideComplex& y) {
    return {add(mul(x.re, y.re), neg(mul(x.im, y.im))), add(mul(x.re, y.im), mul(x.im, y.re))};
}

ASC_INLINE WideComplex inverse(const WideComplex& z) {
    const Wide square = add(mul(z.re, z.re), mul(z.im, z.im));
    return {div(z.re, square), neg(div(z.im, square))};
}

// 1 / k! from k = 2.
constexpr Wide kInverseFactorial[] = {
    {0x1.0000000000000p-1, 0x0.0p+0},
    {0x1.5555555555555p-3, 0x1.5555555555555p-57},
    {0x1.5555555555555p-5, 0x1.5555555555555p-59},
    {0x1.1111111111111p-7, 0x1.1111111111111p-63},
    {0x1.6c16c16c16c17p-10, -0x1.f49f49f49f49fp-65},
    {0x1.a01a01a01a01ap-13, 0x1.a01a01a01a01ap-73},
    {0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-76},
    {0x1.71de3a556c734p-19, -0x1.c154f8ddc6c00p-73},
    {0x1.27e4fb7789f5cp-22, 0x1.cbbc05b4fa99ap-76},
    {0x1.ae64567f544e4p-26, -0x1.c062e06d1f209p-80},
    {0x1.1eed8eff8d898p-29, -0x1.2aec959e14c06p-83},
    {0x1.6124613a86d09p-33, 0x1.f28e0cc748ebep-87},
    {0x1.93974a8c07c9dp-37, 0x1.05d6f8a2efd1fp-92},
    {0x1.ae7f3e733b81fp-41, 0x1.1d8656b0ee8cbp-97},
    {0x1.ae7f3e733b81fp-45, 0x1.1d8656b0ee8cbp-101},
    {0x1.952c77030ad4ap-49, 0x1.ac981465ddc6cp-103},
    {0x1.6827863b97d97p-53, 0x1.eec01221a8b0bp-107},
    {0x1.2f49b46814157p-57, 0x1.2650f61dbdcb4p-112},
    {0x1.e542ba4020225p-62, 0x1.ea72b4afe3c2fp-120},
};

// sum of x**i / (k + i step)! from i = 0 while k + i step <= last, unrolled.
template <int k, int step, int last>
ASC_INLINE Wide factorial_series(Wide x) {
    if constexpr (k + step > last)
        return kInverseFactorial[k - 2];
    else
        return add(mul(factorial_series<k + step, step, last>(x), x), kInverseFactorial[k - 2]);
}

// exp(x) - 1 to 100 bits, |x| < 1/2: series of x / 16, then (1 + e)**2 - 1 = e (2 + e).
ASC_INLINE Wide expm1_step(Wide e) { return mul(e, add(Wide{2, 0}, e)); }
ASC_INLINE Wide expm1_full(double x) {
    const Wide t = {x / 16, 0};
    const Wide e = add(t, mul(mul(t, t), factorial_series<2, 1, 14>(t)));
    return expm1_step(expm1_step(expm1_step(expm1_step(e))));
}

// sin and 1 - cos of the doubled angle.
struct SineVersine {
    Wide s, v;
};
ASC_INLINE SineVersine twice(SineVersine t) {
    return {scale(mul(t.s, add(Wide{1, 0}, neg(t.v))), 2), scale(mul(t.s, t.s), 2)};
}
// sin and 1 - cos to 100 bits, |x| < 4: series of an eighth of the reduced angle, then doubling.
ASC_INLINE Circular<Wide> circular_full(double x) {
    const Angle<Wide> angle = reduce_small<Wide>(x);
    const Wide t = scale(angle.r, 0.125), square = mul(t, t), minus = neg(square);
    SineVersine p = {add(t, mul(mul(factorial_series<3, 2, 19>(minus), minus), t)),
                     mul(square, factorial_series<2, 2, 20>(minus))};
    p = twice(twice(twice(p)));
    const Wide c = add(Wide{1, 0}, neg(p.v));
    const bool swap = angle.quadrant & 1;
    Circular<Wide> out;
    out.sin = flip(pick(swap, c, p.s), angle.quadrant << 62);
    out.cos = flip(pick(swap, p.s, c), (angle.quadrant + 1) << 62);
    out.versine = pick((angle.quadrant & 3) == 0, p.v, add(Wide{1, 0}, neg(out.cos)));
    return out;
}

// z 2**-e with 0.7 < |z| < 1.5, so that near 1 no multiple of log(2) cancels; for moderate z.
struct NearOne {
    double a, b, e;
};
ASC_INLINE NearOne near_one(double a, double b) {
    const uint64_t biased = to_bits(larger_part(a, b)) >> 52;
    const double down = from_bits((2046 - biased) << 52);
    const double x = a * down, y = b * down;
    const bool halve = x * x + y * y > 2;
    const double e = from_bits(biased | 0x4330000000000000) - (0x1p52 + 1023);
    return {halve ? 0.5 * x : x, halve ? 0.5 * y : y, halve ? e + 1 : e};
}

ASC_INLINE WideComplex log_from(WideComplex l, double e) {
    return {add(mul(Wide{e, 0}, kLn2), l.re), l.im};
}
// log(z) to 2**-56.
ASC_INLINE WideComplex log_plain(double a, double b) {
    const Wide r = scale(log_of<Wide>(sum_of_squares(a, b)), 0.5);
    return {r, atan2_of(make<Wide>(b), make<Wide>(a))};
}
// log(z) to about 100 bits: one Newton step, w + (z exp(-w) - 1), from the one above. With
// z = 1 + d and exp(-w) = 1 + g the step is d + g + d g, which keeps its digits where z is near 1.
ASC_INLINE WideComplex log_full(double a, double b) {
    const WideComplex w = log_plain(a, b);
    const double x = w.re.hi, y = w.im.hi;
    const Wide ex = expm1_full(-x);
    const Circular<Wide> t = circular_full(-y);
    const WideComplex g = {add(mul(ex, t.cos), neg(t.versine)), mul(add(Wide{1, 0}, ex), t.sin)};
    const WideComplex d = {two_sum(a, -1), {b, 0}};
    const WideComplex dg = mul(d, g);
    Wide re = add(add(d.re, g.re), dg.re), im = add(add(d.im, g.im), dg.im);
    const double u = re.hi, v = im.hi;  // log(1 + step) = step - step**2 / 2
    re = add(re, Wide{-0.5 * (u * u - v * v), 0});
    im = add(im, Wide{-u * v, 0});
    return {add(Wide{x, 0}, re), add(Wide{y, 0}, im)};
}

struct Pow {
    // Integer powers up to here are products, which keeps them exact where they can be.
    static constexpr double kMaxInteger = 256;

    ASC_INLINE static bool is_integer(double c, double d) {
        return (d == 0) & (abs_of(c) <= kMaxInteger) & (round_to_int(c).value == c);
    }
    // log(z) w, to the accuracy that an angle of up to 2**20 needs.
    template <class V>
    ASC_INLINE static WideComplex log_power(double a, double b, double c, double d) {
        const NearOne z = near_one(a, b);
        const WideComplex l = kIsWide<V> ? log_full(z.a, z.b) : log_plain(z.a, z.b);
        return mul(log_from(l, z.e), WideComplex{{c, 0}, {d, 0}});
    }
    template <class V>
    struct Result {
        Cd value;
        bool in_domain;
    };
    template <class V>
    ASC_INLINE static Result<V> fast(double a, double b, double c, double d) {
        const WideComplex p = log_power<V>(a, b, c, d);
        const bool ok = moderate(a, b) & (abs_of(c) < 0x1p400) & (abs_of(d) < 0x1p400) &
                        (abs_of(p.re.hi) < 680) & (abs_of(p.im.hi) < 0x1p20) & !is_integer(c, d);
        const ExpParts<V> e = exp_parts<V>(p.re.hi);
        const V m = mul(exp_mantissa(e), sum_of<V>(1, p.re.lo));
        const Circular<V> t = circular_small<V>(p.im.hi);
        const V low = make<V>(p.im.lo);
        const V cos = add(t.cos, neg(mul(t.sin, low))), sin = add(t.sin, mul(t.cos, low));
        const V scaled = scale(m, pow2_of_bits(e.k.bits));
        return {{product(scaled, cos), product(scaled, sin)}, ok};
    }

    // z**n, n != 0, by repeated squaring.
    ASC_INLINE static WideComplex integer(double a, double b, int n) {
        WideComplex base = {{a, 0}, {b, 0}}, r = base;
        const unsigned count = n < 0 ? -n : n;
        for (int bit = 30 - __builtin_clz(count); bit >= 0; --bit) {
            r = mul(r, r);
            if (count >> bit & 1) r = mul(r, base);
        }
        return n > 0 ? r : inverse(r);
    }
    // exp(w log z) for an infinite or zero z or w; a real w multiplies both parts.
    static Cd special(double a, double b, double c, double d) {
        const Cd l = Log<BaseE>::slow(a, b);
        const double re = d == 0 ? c * l.re : c * l.re - d * l.im;
        const double im = d == 0 ? c * l.im : c * l.im + d * l.re;
        return Exp::slow(re, im);
    }
    static Cd slow(double a, double b, double c, double d) {
        if (c == 0 && d == 0) return {1, 0};
        if (is_nan(a) || is_nan(b) || is_nan(c) || is_nan(d)) return {kNan, kNan};
        if (!both_finite(a, b) || !both_finite(c, d) || (a == 0 && b == 0))
            return special(a, b, c, d);
        const Scaled z = normalise(a, b);
        if (is_integer(c, d)) {
            const int n = static_cast<int>(c);
            if (n == 1) return {a, b};
            const WideComplex r = integer(z.a, z.b, n);
            return {scalbn(value(r.re), n * z.e), scalbn(value(r.im), n * z.e)};
        }
        const NearOne near = near_one(z.a, z.b);
        const WideComplex l = log_from(log_full(near.a, near.b), z.e + near.e);
        // Scaled, so that no product overflows; an exponent above 2**500 leaves no digit anyway.
        const double down = larger_part(c, d) > 0x1p400 ? 0x1p-600 : 1;
        const WideComplex p = mul(l, WideComplex{{c * down, 0}, {d * down, 0}});
        return exp_full({scale(p.re, 1 / down), scale(p.im, 1 / down)});
    }
    static Cd exp_full(const WideComplex& p) {
        if (!both_finite(p.re.hi, p.im.hi)) return Exp::slow(p.re.hi, p.im.hi);
        const double re = p.re.hi > 4000 ? 4000 : p.re.hi < -4000 ? -4000 : p.re.hi;
        const ExpParts<Wide> e = exp_parts<Wide>(re);
        const Wide m = mul(exp_mantissa(e), two_sum(1, abs_of(re) < 4000 ? p.re.lo : 0));
        const Circular<Wide> h = circular_any(p.im.hi), l = circular_any(p.im.lo);
        const Wide cos = add(mul(h.cos, l.cos), neg(mul(h.sin, l.sin)));
        const Wide sin = add(mul(h.sin, l.cos), mul(h.cos, l.sin));
        const int k = static_cast<int>(e.k.value);
        return {scalbn(product(m, cos), k), scalbn(product(m, sin), k)};
    }
};

}  // namespace
}  // namespace asc::cpu::ASC_ISA
