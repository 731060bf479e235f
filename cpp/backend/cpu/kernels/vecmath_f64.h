// float64 functions: at most 1 ulp, special values as in the array API standard.
//
// The coefficients are minimax polynomials (Remez) on the interval that each comment names.
#pragma once
#include "backend/cpu/kernels/vecmath.h"

namespace asc::cpu::ASC_ISA {
namespace {

// ln 2 = hi + lo, hi with 42 bits: k hi is exact for |k| < 2^11.
constexpr double kLn2Hi = 0x1.62e42fefa3800p-1;
constexpr double kLn2Lo = 0x1.ef35793c76730p-45;
constexpr double kLog2E = 0x1.71547652b82fep+0;
constexpr double kHalfPi = 0x1.921fb54442d18p+0;
constexpr double kHalfPiLo = 0x1.1a62633145c07p-54;

// ---- exponential ----

// (e^r - 1 - r - r^2 / 2) / r^3 on |r| <= ln(2) / 2, error 2^-61 of e^r - 1.
ASC_MATH_INLINE double exp_tail(double r) {
    return polynomial(r, 0x1.5555555555559p-3, 0x1.555555555555ap-5, 0x1.111111110f6afp-7,
                      0x1.6c16c16c14461p-10, 0x1.a01a01afe5245p-13, 0x1.a01a01b0b2176p-16,
                      0x1.71ddf853b15f9p-19, 0x1.27e4c5ab0b367p-22, 0x1.af5ebed0f99d4p-26,
                      0x1.1f9553fa2b0c7p-29);
}

// (sinh(r) / r - 1) / r^2 on z = r^2 <= 1, error 2^-63 of sinh.
ASC_MATH_INLINE double sinh_tail(double z) {
    return polynomial(z, 0x1.5555555555556p-3, 0x1.11111111110a1p-7, 0x1.a01a01a0291fbp-13,
                      0x1.71de3a45f72e3p-19, 0x1.ae6467667f656p-26, 0x1.611a3a2548dd4p-33,
                      0x1.b4cf76f945872p-41);
}

// (tanh(r) / r - 1) / r^2 on z = r^2 <= 0.81, error 2^-60 of tanh.
ASC_MATH_INLINE double tanh_tail(double z) {
    const double rest = polynomial(
        z, 0x1.1111111110e82p-3, -0x1.ba1ba1b9f73c4p-5, 0x1.664f487b60ff1p-6, -0x1.226e3484312c4p-7,
        0x1.d6d3b0b23dfa3p-9, -0x1.7da1c686e3e4bp-10, 0x1.354965a996241p-11, -0x1.f4b99a4b14a9ap-13,
        0x1.92bc7b2a5be67p-14, -0x1.3bc1e5a431222p-15, 0x1.cb4c3fb7df5a0p-17,
        -0x1.1961f9b43bc7cp-18, 0x1.ed5c50d034fa5p-21, -0x1.bc7b0f4f5b310p-24);
    return mul_add(z, rest, -0x1.5555555555554p-2);
}

// e^(hi + lo) = 2^k (1 + m), with m good to 2^-58 of itself.
struct ExpPair {
    double k;
    DD m;
};
ASC_MATH_INLINE ExpPair exp_pair(double hi, double lo) {
    const double k = mul_add(hi, kLog2E, kRound) - kRound;
    const DD r = exact_sum(mul_add(-k, kLn2Hi, hi), mul_add(-k, kLn2Lo, lo));
    const DD square = exact_product(r.hi, 0.5 * r.hi);
    // (e^r - 1 - r - r^2 / 2) / r^3 on |r| <= ln(2) / 2.
    const double tail = polynomial(
        r.hi, 0x1.5555555555559p-3, 0x1.5555555555559p-5, 0x1.111111110f6ddp-7,
        0x1.6c16c16c14a78p-10, 0x1.a01a01afd57bep-13, 0x1.a01a01af671dep-16, 0x1.71ddf876ac5acp-19,
        0x1.27e4c7bde4022p-22, 0x1.af5e8779cf0acp-26, 0x1.1f92c8e9157afp-29);
    const double cube = 2 * square.hi * r.hi * tail;
    const DD head = fast_sum(r.hi, square.hi);
    const double low = head.lo + (square.lo + (cube + mul_add(r.lo, r.hi, r.lo)));
    return {k, fast_sum(head.hi, low)};
}

// ---- logarithm ----

// (log(1 + f) - 2 s) / s for s = f / (2 + f), |s| <= 3 - 2 sqrt(2), error 2^-59.
ASC_MATH_INLINE double log_tail(double z) {
    return z * polynomial(z, 0x1.5555555555592p-1, 0x1.999999997fd39p-2, 0x1.24924941f8ad6p-2,
                          0x1.c71c5202d525dp-3, 0x1.74664053cbed9p-3, 0x1.39a194215ea83p-3,
                          0x1.2f06fb57ccd73p-3);
}

// e ln 2 + log(1 + f).
ASC_MATH_INLINE double log_sum(double e, double f) {
    const double s = f / (2 + f);
    const double half_square = 0.5 * f * f;
    const double small = mul_add(s, half_square + log_tail(s * s), e * kLn2Lo);
    return e * kLn2Hi - ((half_square - small) - f);
}

// e ln 2 + log(1 + f.hi + f.lo).
ASC_MATH_INLINE double log_sum(double e, DD f) {
    const double s = f.hi / (2 + f.hi);
    const double half_square = 0.5 * f.hi * f.hi;
    // (1 - s) / (1 + s) = 1 / (1 + f), close to 1 - 2 s + 2 s^2.
    const double low = f.lo * mul_add(2 * s, s - 1, 1.0);
    const double small = mul_add(s, half_square + log_tail(s * s), mul_add(e, kLn2Lo, low));
    return e * kLn2Hi - ((half_square - small) - f.hi);
}

// log(1 + f) as a sum, f - f^2 / 2 and the rest, on 1 + f in [sqrt(1/2), sqrt(2)).
ASC_MATH_INLINE DD log_fraction(double f) {
    const double s = f / (2 + f);
    const DD half = exact_product(0.5 * f, f);
    const DD head = fast_sum(f, -half.hi);
    return {head.hi, mul_add(s, half.hi + log_tail(s * s), head.lo - half.lo)};
}

// e ln 2 + log(m) as a sum good to 2^-64 of itself: given f = m - 1 and d = m + 1 for an
// m in [sqrt(1/2), sqrt(2)).
ASC_MATH_INLINE DD log_pair(double e, DD f, DD d) {
    const double inverse = 1 / d.hi;
    const double s = f.hi * inverse;
    const double s_low = (residual(f.hi, s, d.hi) + (f.lo - s * d.lo)) * inverse;
    DD z = exact_product(s, s);
    z.lo = mul_add(2 * s, s_low, z.lo);
    // (atanh(s) / s - 1 - z / 3) / z^2, error 2^-73 of the logarithm.
    const double tail =
        polynomial(z.hi, 0x1.9999999999999p-3, 0x1.24924924928d0p-3, 0x1.c71c71c63edffp-4,
                   0x1.745d17e3109ffp-4, 0x1.3b1375620e00bp-4, 0x1.111e31a8ba114p-4,
                   0x1.de9004826b8d7p-5, 0x1.e84fd281ec3f1p-5);
    const double q = mul_add(z.hi, tail, 0x1.ap-3 * z.lo);
    const DD a = fast_sum(0x1.5555555555555p-2, q);
    const DD b = product(z, DD{a.hi, a.lo + 0x1.5555555555555p-56});
    const DD c = product(DD{s, s_low}, b);
    const DD half = fast_sum(s, c.hi);
    const double half_low = half.lo + (s_low + c.lo);
    const DD sum = fast_sum(e * kLn2Hi, 2 * half.hi);
    return {sum.hi, sum.lo + mul_add(2.0, half_low, e * kLn2Lo)};
}

// ---- inverse trigonometric ----

// (asin(r) / r - 1) / z on z = r^2 <= 1/4, error 2^-60.
ASC_MATH_INLINE double asin_tail(double z) {
    return polynomial(z, 0x1.5555555555565p-3, 0x1.333333332fdccp-4, 0x1.6db6db71016b1p-5,
                      0x1.f1c71aeb0c283p-6, 0x1.6e8bd6a490798p-6, 0x1.1c4a73c099650p-6,
                      0x1.ca1470826b6e0p-7, 0x1.75d8b2b347697p-7, 0x1.5f8df0728d648p-7,
                      0x1.fda1c122e24e3p-9, 0x1.5cdbd00dd834dp-6, -0x1.4ef9de11bb7a2p-6,
                      0x1.089ab7b57b638p-5);
}

// (atan(r) / r - 1) / z on r <= tan(pi / 8), z = r^2, error 2^-59 of atan.
ASC_MATH_INLINE double atan_tail(double z) {
    return polynomial(z, -0x1.5555555555547p-2, 0x1.9999999996974p-3, -0x1.24924923049e6p-3,
                      0x1.c71c710319a98p-4, -0x1.745cfbb9696efp-4, 0x1.3b1146bd29052p-4,
                      -0x1.10ed8fe614d32p-4, 0x1.df27f2f99aa58p-5, -0x1.9d39d01dd43cfp-5,
                      0x1.38ca5cc23f9c5p-5, -0x1.276226c11406ep-6);
}

// ---- trigonometric ----

// Beyond it the reduction by three parts of pi/2 no longer serves.
constexpr double kTrigLimit64 = 0x1p30;

// x = k pi/2 + r.hi + r.lo; quadrant = k modulo 2^12 at least.
struct Reduced {
    DD r;
    uint64_t quadrant;
};

// Exact products with 53-bit parts of pi/2, for |x| <= kTrigLimit64.
ASC_MATH_INLINE Reduced reduce_half_pi(double x) {
    const double shifted = mul_add(x, 0x1.45f306dc9c883p-1, kRound);
    const double k = shifted - kRound;
    const double t = residual(x, k, kHalfPi);
    const DD p = exact_product(k, kHalfPiLo);
    const DD s = exact_sum(t, -p.hi);
    const double low = s.lo - (p.lo + k * -0x1.f1976b7ed8fbcp-110);
    return {fast_sum(s.hi, low), bits(shifted)};
}

// sin(r) - r.hi on |r| <= pi/4.
ASC_MATH_INLINE double sin_rest(DD r, double z) {
    const double rest =
        polynomial(z, 0x1.111111110f87ap-7, -0x1.a01a019c119f5p-13, 0x1.71de3577bc404p-19,
                   -0x1.ae5e663f580c5p-26, 0x1.5d93027856b1ep-33);
    const double tail = mul_add(z, rest, -0x1.5555555555549p-3);
    return mul_add(r.hi * z, tail, mul_add(-0.5 * z, r.lo, r.lo));
}

// cos(r) as a pair on |r| <= pi/4.
ASC_MATH_INLINE DD cos_pair(DD r, double z) {
    const double tail =
        polynomial(z, 0x1.5555555555553p-5, -0x1.6c16c16c15e58p-10, 0x1.a01a019dcd383p-16,
                   -0x1.27e4f8c266e7fp-22, 0x1.1eea5e8cd9942p-29, -0x1.8fe57fcdbe314p-37);
    const double half = 0.5 * z;
    const DD head = fast_sum(1.0, -half);
    return {head.hi, head.lo + mul_add(z * z, tail, -r.hi * r.lo)};
}

ASC_MATH_INLINE double sin_quadrant(Reduced v) {
    const double z = v.r.hi * v.r.hi;
    const DD c = cos_pair(v.r, z);
    const bool odd = v.quadrant & 1;
    const double y = (odd ? c.hi : v.r.hi) + (odd ? c.lo : sin_rest(v.r, z));
    return flip(y, (v.quadrant & 2) << 62);
}

ASC_MATH_INLINE double tan_quadrant(Reduced v) {
    const double z = v.r.hi * v.r.hi;
    DD unnormal = cos_pair(v.r, z);
    unnormal.lo = mul_add(0.5, residual(z, v.r.hi, v.r.hi), unnormal.lo);
    const DD c = fast_sum(unnormal.hi, unnormal.lo);
    const DD s = fast_sum(v.r.hi, sin_rest(v.r, z));
    const bool odd = v.quadrant & 1;
    const DD q = quotient(DD{odd ? -c.hi : s.hi, odd ? -c.lo : s.lo},
                          DD{odd ? s.hi : c.hi, odd ? s.lo : c.lo});
    return q.hi + q.lo;
}

ASC_MATH_INLINE double sin64(double x, Reduced v) {
    return absolute(x) < 0x1p-28 ? x : sin_quadrant(v);
}
ASC_MATH_INLINE double cos64(Reduced v) { return sin_quadrant({v.r, v.quadrant + 1}); }
ASC_MATH_INLINE double tan64(double x, Reduced v) {
    return absolute(x) < 0x1p-28 ? x : tan_quadrant(v);
}

// ---- two operands ----

ASC_MATH_INLINE double hypot64(double x, double y) {
    const double ax = absolute(x), ay = absolute(y);
    const double big = ax > ay ? ax : ay, little = ax > ay ? ay : ax;
    const bool huge = big > 0x1p500, tiny = big < 0x1p-400;
    const double up = huge ? 0x1p-600 : tiny ? 0x1p600 : 1.0;
    const double down = huge ? 0x1p600 : tiny ? 0x1p-600 : 1.0;
    const double b = big * up, l = little * up;
    const DD p = exact_product(b, b), q = exact_product(l, l);
    const DD sum = fast_sum(p.hi, q.hi);
    const DD h = root(DD{sum.hi, sum.lo + (p.lo + q.lo)});
    // The rough inverse of a zero root is large but finite.
    const double finite = (h.hi + h.lo) * down;
    const bool infinite = ax == kInf || ay == kInf;
    const double y1 = x == x && y == y ? finite : kNan;
    return infinite ? kInf : y1;
}

// y log(x) for x > 0 and |y| < 2^66.
template <Domain D>
ASC_MATH_INLINE DD pow_exponent(double x, double y) {
    const Scaled<double> v = split<D>(x);
    const double d = v.m + 1;
    const DD l = log_pair(v.e, DD{v.m - 1, 0.0}, DD{d, v.m - (d - 1)});
    const DD p = exact_product(y, l.hi);
    return {p.hi, mul_add(y, l.lo, p.lo)};
}

ASC_MATH_INLINE double logaddexp64(double x, double y) {
    const double big = x > y ? x : y, little = x > y ? y : x;
    const DD d = exact_sum(little, -big);
    const bool far = d.hi < -745.0;
    const ExpPair p = exp_pair(far ? -745.0 : d.hi, far ? 0.0 : d.lo);
    // 1 + e^d, with e^d = 2^k (1 + m) <= 1.
    const double s = scale(1.0, p.k);
    const DD e = fast_sum(s, s * p.m.hi);
    const DD u = exact_sum(1.0, e.hi);
    const double u_low = u.lo + mul_add(s, p.m.lo, e.lo);
    const Scaled<double> v = split_exponent(u.hi);
    const double low = 0.5 * u_low * v.down, more = v.m + 1;
    const DD l = log_pair(v.e, exact_sum(v.m - 1, low), DD{more, (v.m - (more - 1)) + low});
    const DD sum = exact_sum(big, l.hi);
    const double finite = sum.hi + (sum.lo + l.lo);
    const double r = absolute(big) == kInf || little == -kInf ? big : finite;
    return x == x && y == y ? r : kNan;
}

}  // namespace
}  // namespace asc::cpu::ASC_ISA
