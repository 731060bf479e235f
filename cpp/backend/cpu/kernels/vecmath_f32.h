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

// e^x = 2^k (1 + head + rest).
ASC_MATH_INLINE ExpParts<float> exp_parts(float x) {
    const float k = mul_add(x, 0x1.715476p+0f, kRoundF) - kRoundF;
    const float head = mul_add(-k, kLn2HiF, x), low = k * kLn2LoF;
    const float r = head - low;
    // (e^r - 1 - r) / r^2 on |r| <= ln(2) / 2, error 2^-26 of e^r - 1.
    const float tail = horner(r, 0.5f, 0x1.5554b0p-3f, 0x1.555486p-5f, 0x1.1227fcp-7f, 0x1.6d9906p-10f);
    return {k, head, mul_add(r * r, tail, -low), low, r};
}

// (sinh(r) / r - 1) / r^2 on z = r^2 <= 1, error 2^-34 of sinh.
ASC_MATH_INLINE float sinh_tail(float z) {
    return horner(z, 0x1.555556p-3f, 0x1.111136p-7f, 0x1.9ffe12p-13f, 0x1.7a2674p-19f);
}

// (tanh(r) / r - 1) / r^2 on r <= 0.9, z = r^2, error 2^-30 of tanh.
ASC_MATH_INLINE float tanh_tail(float z) {
    return horner(z, -0x1.55554ep-2f, 0x1.110f3ap-3f, -0x1.b9ca80p-5f, 0x1.62f316p-6f,
                  -0x1.0edc20p-7f, 0x1.52acd8p-9f, -0x1.de034cp-12f);
}

// ---- logarithm ----

// log(1 + f) - f on 1 + f in [sqrt(1/2), sqrt(2)), error 2^-28 of the logarithm.
ASC_MATH_INLINE float log_tail(float f) {
    const float square = f * f;
    const float rest = horner(f, 0x1.555550p-2f, -0x1.000426p-2f, 0x1.99a3f2p-3f, -0x1.542770p-3f,
                              0x1.2271a6p-3f, -0x1.0f3756p-3f, 0x1.08481ap-3f, -0x1.382fb4p-4f);
    return mul_add(square * f, rest, -0.5f * square);
}

// e ln 2 + log(1 + f + lo), |lo| much less than |f| or than 1.
ASC_MATH_INLINE float log_sum(float e, float f, float lo) {
    const Pair<float> sum = fast_sum(e * kLn2HiF, f);
    // 1 - f + f^2 is close to 1 / (1 + f)
    const float low = mul_add(e, kLn2LoF, lo * mul_add(f, f - 1, 1.0f));
    return sum.hi + (sum.lo + (low + log_tail(f)));
}

ASC_MATH_INLINE float log32(float x) {
    const Scaled<float> v = split_any(x);
    return log_special(x, log_sum(v.e, v.m - 1, 0.0f));
}

ASC_MATH_INLINE float log2_32(float x) {
    const Scaled<float> v = split_any(x);
    const float f = v.m - 1;
    const Pair<float> p = exact_product(f, 0x1.715476p+0f);
    const float low = mul_add(log_tail(f), 0x1.715476p+0f, mul_add(f, 0x1.4ae0c0p-26f, p.lo));
    const Pair<float> sum = fast_sum(v.e, p.hi);
    return log_special(x, sum.hi + (sum.lo + low));
}

ASC_MATH_INLINE float log10_32(float x) {
    const Scaled<float> v = split_any(x);
    const float f = v.m - 1;
    const Pair<float> p = exact_product(f, 0x1.bcb7b2p-2f);
    // log10(2) = hi + lo, hi with 15 bits.
    const Pair<float> sum = fast_sum(v.e * 0x1.344p-2f, p.hi);
    const float low = mul_add(v.e, 0x1.3509f8p-18f, mul_add(f, -0x1.5b235ep-27f, p.lo));
    return log_special(x, sum.hi + (sum.lo + mul_add(log_tail(f), 0x1.bcb7b2p-2f, low)));
}

// ---- inverse trigonometric ----

// (asin(r) / r - 1) / z on z = r^2 <= 1/4, error 2^-28 of asin.
ASC_MATH_INLINE float asin_tail(float z) {
    return horner(z, 0x1.5555cap-3f, 0x1.33014ep-4f, 0x1.748c56p-5f, 0x1.8ba2f4p-6f, 0x1.59da36p-5f);
}

// (atan(r) / r - 1) / z on r <= tan(pi / 8), z = r^2, error 2^-30 of atan.
ASC_MATH_INLINE float atan_tail(float z) {
    return horner(z, -0x1.55554ap-2f, 0x1.9991acp-3f, -0x1.23b6aep-3f, 0x1.b20168p-4f,
                  -0x1.f25218p-5f);
}

// ---- trigonometric ----

constexpr double kLn2 = 0x1.62e42fefa39efp-1;
constexpr double kPi = 0x1.921fb54442d18p+1;
constexpr double kPiLo = 0x1.1a62633145c07p-53;

// Beyond it the reduction by two parts of pi no longer serves.
constexpr float kTrigLimit32 = 0x1p40f;

// x = k step + r, |r| <= step / 2; quadrant = k modulo 2^12 at least.
struct LightReduced {
    double r;
    uint64_t quadrant;
};

ASC_MATH_INLINE LightReduced light_reduce(double x, double inverse, double step, double step_lo) {
    const double shifted = mul_add(x, inverse, kRound);
    const double k = shifted - kRound;
    return {mul_add(-k, step_lo, residual(x, k, step)), bits(shifted)};
}

// sin(r) on |r| <= pi/2, error 2^-35 of itself.
ASC_MATH_INLINE double light_sin(double r) {
    const double z = r * r;
    const double tail = horner(z, -0x1.5555554958637p-3, 0x1.11110cc11b8e7p-7, -0x1.a017fd7d2fbd7p-13,
                               0x1.7174c5d898677p-19, -0x1.9ac295ca3e3dep-26);
    return mul_add(r * z, tail, r);
}

ASC_MATH_INLINE float sin32(float x, LightReduced v) {
    const float y = static_cast<float>(flip(light_sin(v.r), v.quadrant << 63));
    return x == 0 ? x : y;
}

// cos(x) = sin(x + pi/2), whose reduction takes off k = n + 1/2 times pi.
ASC_MATH_INLINE LightReduced light_reduce_cos(double x) {
    const double n = mul_add(x, 0x1.45f306dc9c883p-2, -0.5) + kRound;
    const double k = (n - kRound) + 0.5;
    return {mul_add(-k, kPiLo, residual(x, k, kPi)), bits(n) + 1};
}

// tan(r) on |r| <= pi/4, error 2^-34 of itself.
ASC_MATH_INLINE float tan32(float x, LightReduced v) {
    const double z = v.r * v.r;
    const double sine = mul_add(v.r * z,
                                horner(z, -0x1.5555554cb9309p-3, 0x1.11110895c22a2p-7,
                                       -0x1.a00f9d36a36aep-13, 0x1.6cd83d76c9c5ap-19),
                                v.r);
    const double cosine = horner(z, 1.0, -0x1.ffffffffebf9cp-2, 0x1.55555546f2dbap-5,
                                 -0x1.6c16b3ff53bcap-10, 0x1.a00f10fd8d600p-16,
                                 -0x1.23d7e8865535cp-22);
    const bool odd = v.quadrant & 1;
    const double y = (odd ? -cosine : sine) / (odd ? sine : cosine);
    return x == 0 ? x : static_cast<float>(y);
}

// ---- two operands ----

ASC_MATH_INLINE float hypot32(float x, float y) {
    const double a = x, b = y;
    const float r = static_cast<float>(__builtin_sqrt(a * a + b * b));
    const bool infinite = absolute(x) == __builtin_inff() || absolute(y) == __builtin_inff();
    return infinite ? __builtin_inff() : r;
}

// y log2(x) needs 8 bits more than a float32 result: float64 throughout.
ASC_MATH_INLINE float pow32(float x, float y) {
    const Scaled<double> v = split_exponent(static_cast<double>(absolute(x)));
    const double f = v.m - 1;
    const double s = f / (2 + f);
    const double z = s * s;
    // (log(1 + f) - 2 s) / s^3, s = f / (2 + f), error 2^-37 of the logarithm.
    const double log_rest = horner(z, 0x1.555554fd8bb69p-1, 0x1.999a7aabd532dp-2,
                                   0x1.2438cecef9c50p-2, 0x1.e2f7c5aa879f1p-3);
    const double l = mul_add(v.e, kLn2, mul_add(s * z, log_rest, 2 * s));
    const float finite = clamp(y, -0x1p127f, 0x1p127f);
    const double t = clamp(static_cast<double>(finite) * l, -110.0, 110.0);
    const double shifted = mul_add(t, kLog2E, kRound);
    const double r = mul_add(-(shifted - kRound), kLn2, t);
    // (e^r - 1 - r) / r^2 on |r| <= ln(2) / 2, error 2^-34 of e^r.
    const double exp_rest = horner(r, 0x1.0000003a22153p-1, 0x1.5555544342bcep-3, 0x1.55548dc7c564dp-5,
                                   0x1.111270ad449e7p-7, 0x1.6d8d03d7971f3p-10, 0x1.9f08987a6e9dbp-13);
    const double power = from_bits((bits(shifted) + 1023) << 52);
    const double magnitude = mul_add(power, mul_add(r * r, exp_rest, r), power);
    return pow_special(x, y, static_cast<float>(magnitude));
}

// Where the sum is near 0 it needs all of the float64 function.
ASC_MATH_INLINE float logaddexp32(float x, float y) {
    return static_cast<float>(logaddexp64(x, y));
}

}  // namespace
}  // namespace asc::cpu::ASC_ISA
