// float32 functions: at most 1 ulp, special values as in the array API standard. Those whose
// intermediate results need more than 24 bits throughout are computed in float64.
//
// The coefficients are minimax polynomials (Remez) on the interval that each comment names.
#pragma once
#include "backend/cpu/kernels/vecmath_f64.h"

namespace asc::cpu::ASC_ISA {
namespace {

// ---- exponential ----

// ln 2 = hi + lo, hi with 15 bits: k hi is exact for |k| < 2^9.
constexpr float kLn2HiF = 0x1.62e4p-1f;
constexpr float kLn2LoF = 0x1.7f7d1cp-20f;

// (e^r - 1 - r - r^2 / 2) / r^3 on |r| <= ln(2) / 2, error 2^-31 of e^r - 1.
ASC_MATH_INLINE float exp_tail(float r) {
    return polynomial(r, 0x1.555556p-3f, 0x1.5554aep-5f, 0x1.111090p-7f, 0x1.6d7484p-10f,
                      0x1.a1a160p-13f);
}

// (sinh(r) / r - 1) / r^2 on z = r^2 <= 1, error 2^-34 of sinh.
ASC_MATH_INLINE float sinh_tail(float z) {
    return polynomial(z, 0x1.555556p-3f, 0x1.111136p-7f, 0x1.9ffe12p-13f, 0x1.7a2674p-19f);
}

// (tanh(r) / r - 1) / r^2 on z = r^2 <= 0.81, error 2^-30 of tanh.
ASC_MATH_INLINE float tanh_tail(float z) {
    const float rest = polynomial(z, 0x1.110f3ap-3f, -0x1.b9ca80p-5f, 0x1.62f316p-6f,
                                  -0x1.0edc20p-7f, 0x1.52acd8p-9f, -0x1.de034cp-12f);
    return mul_add(z, rest, -0x1.55554ep-2f);
}

// ---- logarithm ----

// log(1 + f) as a sum, f - f^2 / 2 and the rest, on 1 + f in [sqrt(1/2), sqrt(2)); error 2^-27.
ASC_MATH_INLINE Pair<float> log_fraction(float f) {
    const Pair<float> square = exact_product(f, f);
    const float head = mul_add(-0.5f, square.hi, f);
    const float lost = mul_add(-0.5f, square.lo, mul_add(-0.5f, square.hi, f - head));
    const float tail =
        polynomial(f, 0x1.555554p-2f, -0x1.000226p-2f, 0x1.99a008p-3f, -0x1.547248p-3f,
                   0x1.22da26p-3f, -0x1.0d852ep-3f, 0x1.055b1ep-3f, -0x1.38b51ep-4f);
    return {head, mul_add(square.hi * f, tail, lost)};
}

// e ln 2 + log(1 + f).
ASC_MATH_INLINE float log_sum(float e, float f) {
    const Pair<float> l = log_fraction(f);
    const Pair<float> sum = fast_sum(e * kLn2HiF, l.hi);
    return sum.hi + (sum.lo + mul_add(e, kLn2LoF, l.lo));
}

// e ln 2 + log(1 + f.hi + f.lo).
ASC_MATH_INLINE float log_sum(float e, Pair<float> f) {
    const Pair<float> l = log_fraction(f.hi);
    const Pair<float> sum = fast_sum(e * kLn2HiF, l.hi);
    // 1 - f + f^2 is close to 1 / (1 + f).
    const float low = mul_add(f.lo, mul_add(f.hi, f.hi - 1, 1.0f), l.lo);
    return sum.hi + (sum.lo + mul_add(e, kLn2LoF, low));
}

// ---- inverse trigonometric ----

// (asin(r) / r - 1) / z on z = r^2 <= 1/4, error 2^-28 of asin.
ASC_MATH_INLINE float asin_tail(float z) {
    return polynomial(z, 0x1.5555cap-3f, 0x1.33014ep-4f, 0x1.748c56p-5f, 0x1.8ba2f4p-6f,
                      0x1.59da36p-5f);
}

// (atan(r) / r - 1) / z on r <= tan(pi / 8), z = r^2, error 2^-30 of atan.
ASC_MATH_INLINE float atan_tail(float z) {
    return polynomial(z, -0x1.55554ap-2f, 0x1.9991acp-3f, -0x1.23b6aep-3f, 0x1.b20168p-4f,
                      -0x1.f25218p-5f);
}

// ---- trigonometric ----

constexpr double kLn2 = 0x1.62e42fefa39efp-1;
constexpr double kPi = 0x1.921fb54442d18p+1;
constexpr double kPiLo = 0x1.1a62633145c07p-53;

// Beyond it the reduction by two parts of pi no longer serves.
constexpr float kTrigLimit32 = 0x1p40f;

// sin(r) on |r| <= pi/2, error 2^-35 of itself.
ASC_MATH_INLINE double light_sin(double r) {
    const double z = r * r;
    const double tail =
        polynomial(z, -0x1.5555554958637p-3, 0x1.11110cc11b8e7p-7, -0x1.a017fd7d2fbd7p-13,
                   0x1.7174c5d898677p-19, -0x1.9ac295ca3e3dep-26);
    return mul_add(r * z, tail, r);
}

// sin(x) = (-1)^k sin(x - k pi).
ASC_MATH_INLINE float sin32_near(float x) {
    const double shifted = mul_add(static_cast<double>(x), 0x1.45f306dc9c883p-2, kRound);
    const double k = shifted - kRound;
    const double r = mul_add(-k, kPiLo, residual(static_cast<double>(x), k, kPi));
    const float y = static_cast<float>(flip(light_sin(r), bits(shifted) << 63));
    return x == 0 ? x : y;
}

// cos(x) = sin(x + pi/2) = (-1)^(n + 1) sin(x - (n + 1/2) pi).
ASC_MATH_INLINE float cos32_near(float x) {
    const double shifted = mul_add(static_cast<double>(x), 0x1.45f306dc9c883p-2, -0.5) + kRound;
    const double k = (shifted - kRound) + 0.5;
    const double r = mul_add(-k, kPiLo, residual(static_cast<double>(x), k, kPi));
    return static_cast<float>(flip(light_sin(r), (bits(shifted) + 1) << 63));
}

// tan(x) = tan(r) or -1 / tan(r) for x = k pi/2 + r.
ASC_MATH_INLINE float tan32_near(float x) {
    const double shifted = mul_add(static_cast<double>(x), 0x1.45f306dc9c883p-1, kRound);
    const double k = shifted - kRound;
    const double r = mul_add(-k, kHalfPiLo, residual(static_cast<double>(x), k, kHalfPi)),
                 z = r * r;
    // (sin(r) / r - 1) / z and cos(r) on |r| <= pi/4, errors 2^-38 and 2^-44.
    const double sine = mul_add(r * z,
                                polynomial(z, -0x1.5555554cb9309p-3, 0x1.11110895c22a2p-7,
                                           -0x1.a00f9d36a36aep-13, 0x1.6cd83d76c9c5ap-19),
                                r);
    const double cosine =
        polynomial(z, 1.0, -0x1.ffffffffebf9cp-2, 0x1.55555546f2dbap-5, -0x1.6c16b3ff53bcap-10,
                   0x1.a00f10fd8d600p-16, -0x1.23d7e8865535cp-22);
    const uint64_t odd = -(bits(shifted) & 1);
    const double n = select(odd, -cosine, sine), d = select(odd, sine, cosine);
    return x == 0 ? x : static_cast<float>(n / d);
}

// ---- two operands ----

ASC_MATH_INLINE float hypot32(float x, float y) {
    const double a = x, b = y;
    const float r = static_cast<float>(__builtin_sqrt(a * a + b * b));
    const bool infinite = absolute(x) == __builtin_inff() || absolute(y) == __builtin_inff();
    return infinite ? __builtin_inff() : r;
}

// |x|^y for a finite x that is not 0. y log(x) needs 8 bits more than the result has.
ASC_MATH_INLINE float pow_value(float x, float y) {
    const Scaled<double> v = split_exponent(static_cast<double>(absolute(x)));
    const double f = v.m - 1;
    const double s = f / (2 + f);
    const double z = s * s;
    // (log(1 + f) - 2 s) / s^3, s = f / (2 + f), error 2^-37 of the logarithm.
    const double log_rest = polynomial(z, 0x1.555554fd8bb69p-1, 0x1.999a7aabd532dp-2,
                                       0x1.2438cecef9c50p-2, 0x1.e2f7c5aa879f1p-3);
    const double l = mul_add(v.e, kLn2, mul_add(s * z, log_rest, 2 * s));
    const float finite = clamp(y, -0x1p127f, 0x1p127f);
    const double t = clamp(static_cast<double>(finite) * l, -110.0, 110.0);
    const double shifted = mul_add(t, kLog2E, kRound);
    const double r = mul_add(-(shifted - kRound), kLn2, t);
    // (e^r - 1 - r) / r^2 on |r| <= ln(2) / 2, error 2^-34 of e^r.
    const double exp_rest =
        polynomial(r, 0x1.0000003a22153p-1, 0x1.5555544342bcep-3, 0x1.55548dc7c564dp-5,
                   0x1.111270ad449e7p-7, 0x1.6d8d03d7971f3p-10, 0x1.9f08987a6e9dbp-13);
    const double power = from_bits((bits(shifted) + 1023) << 52);
    const double magnitude = mul_add(power, mul_add(r * r, exp_rest, r), power);
    return static_cast<float>(magnitude);
}

// Where the sum is near 0 it needs all of the float64 function.
ASC_MATH_INLINE float logaddexp32(float x, float y) {
    return static_cast<float>(logaddexp64(x, y));
}

}  // namespace
}  // namespace asc::cpu::ASC_ISA
