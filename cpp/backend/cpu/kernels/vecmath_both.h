// Functions whose float32 and float64 forms are the same but for polynomials and limits.
#pragma once
#include "backend/cpu/kernels/vecmath_f32.h"
#include "backend/cpu/kernels/vecmath_f64.h"

namespace asc::cpu::ASC_ISA {
namespace {

template <class T>
struct Limits;
template <>
struct Limits<float> {
    static constexpr float inf = __builtin_inff(), nan = __builtin_nanf("");
    static constexpr float ln2_hi = kLn2HiF, ln2_lo = kLn2LoF;
    static constexpr float exp_top = 89.5f, exp_zero = -104.0f;  // e^x is infinity, 0 beyond
    static constexpr float exp_usual = 87.0f;
    static constexpr float log2_e = 0x1.715476p+0f, log2_e_lo = 0x1.4ae0c0p-26f;
    static constexpr float log10_e = 0x1.bcb7b2p-2f, log10_e_lo = -0x1.5b235ep-27f;
    // The first part has so few bits that its product with an exponent is exact.
    static constexpr float log10_2 = 0x1.344p-2f, log10_2_lo = 0x1.3509f8p-18f;
    static constexpr float tanh_one = 10.0f;       // beyond it, tanh is 1
    static constexpr float linear = 0x1p-25f;      // below it, x + c x^2 is x
    static constexpr float odd_linear = 0x1p-13f;  // below it, x + c x^3 is x
    static constexpr float large = 0x1p13f;        // beyond it, sqrt(x^2 + 1) is x
    static constexpr float least = 0x1p-149f, half_pi = 0x1.921fb6p+0f,
                           half_pi_lo = -0x1.777a5cp-25f;
    // Between tiny and huge, quotients can be formed without scaling; up is larger still.
    static constexpr float huge = 0x1p60f, tiny = 0x1p-40f, up = 0x1p80f;
};
template <>
struct Limits<double> {
    static constexpr double inf = kInf, nan = kNan;
    static constexpr double ln2_hi = kLn2Hi, ln2_lo = kLn2Lo;
    static constexpr double exp_top = 710.5, exp_zero = -745.2;
    static constexpr double exp_usual = 708.0;
    static constexpr double log2_e = kLog2E, log2_e_lo = 0x1.777d0ffda0d24p-56;
    static constexpr double log10_e = 0x1.bcb7b1526e50ep-2, log10_e_lo = 0x1.95355baaafad3p-57;
    static constexpr double log10_2 = 0x1.34413509f8000p-2, log10_2_lo = -0x1.80433b83b532ap-44;
    static constexpr double tanh_one = 20.0;
    static constexpr double linear = 0x1p-54, odd_linear = 0x1p-28, large = 0x1p28;
    static constexpr double least = 0x1p-1074, half_pi = kHalfPi, half_pi_lo = kHalfPiLo;
    static constexpr double huge = 0x1p500, tiny = 0x1p-400, up = 0x1p600;
};

// ---- exponential ----

// Of e^(x + lo). Careful makes up for the rounding of the reduced argument, and minds lo.
template <bool Careful = false, class T>
ASC_MATH_INLINE ExpParts<T> exp_parts(T x, T lo = 0) {
    const T k = mul_add(x, static_cast<T>(kLog2E), kRounder<T>) - kRounder<T>;
    const T head = mul_add(-k, Limits<T>::ln2_hi, x);
    const T low = Careful ? mul_add(k, Limits<T>::ln2_lo, -lo) : k * Limits<T>::ln2_lo;
    const T r = head - low, square = r * r;
    const T correction = Careful ? mul_add(r, (head - r) - low, -low) : -low;
    return {k, head, mul_add(square * r, exp_tail(r), mul_add(square, T(0.5), correction))};
}

template <Domain D, class T>
ASC_MATH_INLINE T exp(T x) {
    using L = Limits<T>;
    if constexpr (D == Domain::Usual) {
        const ExpParts<T> e = exp_parts(x);
        return scale_normal(1 + (e.head + e.rest), e.k);
    } else {
        // 0 is put in, since underflow on the way to it is slow.
        const bool zero = x < L::exp_zero;
        const T bounded = x > L::exp_top ? L::exp_top : x;
        const ExpParts<T> e = exp_parts(zero ? T{0} : bounded);
        const T y = scale(1 + (e.head + e.rest), e.k);
        return zero ? T{0} : y;
    }
}

// Usual: e^x is normal.
template <class T>
ASC_MATH_INLINE bool usual_exp(T x) {
    return absolute(x) < Limits<T>::exp_usual;
}

// Usual: 2^k - 1 is exact.
template <class T>
ASC_MATH_INLINE bool usual_expm1(T x) {
    return absolute(x) < (sizeof(T) == 4 ? T{16} : T{36});
}

// Else a quarter of e^x - 1 is summed up, since e^x alone may overflow.
template <Domain D, class T>
ASC_MATH_INLINE T expm1(T x) {
    const bool usual = D == Domain::Usual;
    const ExpParts<T> e = exp_parts<true>(usual ? x : clamp(x, T{-50}, Limits<T>::exp_top));
    const Pair<T> m = fast_sum(e.head, e.rest);
    if constexpr (D == Domain::Usual) {
        const T s = power_of_two(e.k);
        const Pair<T> sum = exact_sum(s - 1, s * m.hi);
        return with_sign(sum.hi + mul_add(s, m.lo, sum.lo), x);
    }
    const T s = power_of_two(e.k - 2);
    const T less = s - T(0.25);
    const Pair<T> sum = exact_sum(less, s * m.hi);
    const T y = 4 * (sum.hi + mul_add(s, m.lo, sum.lo + ((s - less) - T(0.25))));
    return absolute(x) < Limits<T>::linear ? x : y;
}

// 1 - 2 / (e^2x + 1), or near 0 a polynomial.
template <class T>
ASC_MATH_INLINE T tanh(T x) {
    const T a = absolute(x), z = a * a;
    const ExpParts<T> e = exp_parts(2 * (a > Limits<T>::tanh_one ? Limits<T>::tanh_one : a));
    const T s = power_of_two(e.k);
    const Pair<T> d = fast_sum(s + 1, s * e.head);
    const T outer = 1 - 2 / (d.hi + mul_add(s, e.rest, d.lo));
    const T inner = mul_add(a * z, tanh_tail(z), a);
    return with_sign(a < T(0.8) ? inner : outer, x);
}

// e^|x| / 4 as a pair; a quarter, since e^|x| itself may overflow.
template <class T>
ASC_MATH_INLINE Pair<T> quarter_exp(T a) {
    const ExpParts<T> e = exp_parts(a > Limits<T>::exp_top ? Limits<T>::exp_top : a);
    const Pair<T> m = fast_sum(e.head, e.rest);
    const T s = power_of_two(e.k - 2);
    const Pair<T> sum = fast_sum(s, s * m.hi);
    return {sum.hi, mul_add(s, m.lo, sum.lo)};
}

template <class T>
ASC_MATH_INLINE T sinh(T x) {
    const T a = absolute(x), z = a * a;
    const Pair<T> e = quarter_exp(a);
    const T outer = 2 * (e.hi + (e.lo - T(0x1p-4) / e.hi));
    const T inner = mul_add(a * z, sinh_tail(z), a);
    const T finite = with_sign(a < 1 ? inner : outer, x);
    return a < Limits<T>::inf ? finite : x;
}

template <class T>
ASC_MATH_INLINE T cosh(T x) {
    const T a = absolute(x);
    const Pair<T> e = quarter_exp(a);
    const T inverse = T(0x1p-4) / e.hi;
    const T finite = 2 * (e.hi + (mul_add(-16 * inverse * inverse, e.lo, e.lo) + inverse));
    return a < Limits<T>::inf ? finite : a;
}

// ---- logarithm ----

template <Domain D, class T>
ASC_MATH_INLINE T log(T x) {
    const Scaled<T> v = split<D>(x);
    return log_special<D>(x, log_sum(v.e, v.m - 1));
}

template <Domain D, class T>
ASC_MATH_INLINE T log2(T x) {
    using L = Limits<T>;
    const Scaled<T> v = split<D>(x);
    const Pair<T> l = log_fraction(v.m - 1);
    const Pair<T> p = exact_product(l.hi, L::log2_e);
    const T low = mul_add(l.lo, L::log2_e, mul_add(l.hi, L::log2_e_lo, p.lo));
    const Pair<T> sum = fast_sum(v.e, p.hi);
    return log_special<D>(x, sum.hi + (sum.lo + low));
}

template <Domain D, class T>
ASC_MATH_INLINE T log10(T x) {
    using L = Limits<T>;
    const Scaled<T> v = split<D>(x);
    const Pair<T> l = log_fraction(v.m - 1);
    const Pair<T> p = exact_product(l.hi, L::log10_e);
    const T low = mul_add(l.lo, L::log10_e, mul_add(l.hi, L::log10_e_lo, p.lo));
    const Pair<T> sum = fast_sum(v.e * L::log10_2, p.hi);
    return log_special<D>(x, sum.hi + (sum.lo + mul_add(v.e, L::log10_2_lo, low)));
}

// ---- inverse hyperbolic ----

// log(hi + lo) as accurate relative to the result near 1 as elsewhere.
template <class T>
ASC_MATH_INLINE T log_of_pair(T hi, T lo) {
    const Scaled<T> v = split_exponent(hi);
    return log_sum(v.e, exact_sum(v.m - 1, lo * (T(0.5) * v.down)));
}

// Usual: above -1, finite.
template <class T>
ASC_MATH_INLINE bool usual_log1p(T x) {
    return (x > -1) & (x < Limits<T>::inf);
}

template <Domain D, class T>
ASC_MATH_INLINE T log1p(T x) {
    const Pair<T> u = exact_sum(T{1}, x);
    const T y = with_sign(log_of_pair(u.hi, u.lo), x);
    if constexpr (D == Domain::Usual) return y;
    const T at_edge = x == -1 ? -Limits<T>::inf : x < -1 ? Limits<T>::nan : y;
    return x < Limits<T>::inf ? at_edge : x;
}

// log(2 x) for large x, else log(sum).
template <class T>
ASC_MATH_INLINE T log_of_sum(T x, bool large, Pair<T> sum) {
    const Scaled<T> v = split_exponent(large ? x : sum.hi);
    const Pair<T> f = exact_sum(v.m - 1, large ? T{0} : sum.lo * (T(0.5) * v.down));
    return log_sum(large ? v.e + 1 : v.e, f);
}

// log(x + sqrt(x^2 + 1)). Usual: the square is not lost beside 1, nor 1 beside it.
template <class T>
ASC_MATH_INLINE bool usual_asinh(T x) {
    return absolute(x) < Limits<T>::large;
}
template <Domain D, class T>
ASC_MATH_INLINE T asinh(T x) {
    const T a = absolute(x);
    const bool large = !usual_asinh(x);
    const T b = D == Domain::Any && large ? T{1} : a;
    const Pair<T> square = exact_product(b, b);
    const Pair<T> q = exact_sum(T{1}, square.hi);
    // All of a small square may be in the low part, so its quotient has to be good.
    const T s = root(q.hi);
    const T s_low = T(0.5) * (residual(q.hi, s, s) + (q.lo + square.lo)) / s;
    const Pair<T> sum = fast_sum(s, b);
    if constexpr (D == Domain::Usual) return with_sign(log_of_pair(sum.hi, sum.lo + s_low), x);
    const T y = with_sign(log_of_sum(a, large, {sum.hi, sum.lo + s_low}), x);
    return a < Limits<T>::inf ? y : x;
}

// log(x + sqrt(x^2 - 1)).
template <class T>
ASC_MATH_INLINE bool usual_acosh(T x) {
    return (x >= 1) & (x < Limits<T>::large);
}
template <Domain D, class T>
ASC_MATH_INLINE T acosh(T x) {
    const bool large = x >= Limits<T>::large;
    const T b = D == Domain::Any && large ? T{1} : x;
    const Pair<T> square = exact_product(b, b);
    const Pair<T> s = root(exact_sum(square.hi - 1, square.lo));
    const Pair<T> sum = fast_sum(b, s.hi);
    if constexpr (D == Domain::Usual) return log_of_pair(sum.hi, sum.lo + s.lo);
    const T y = log_of_sum(x, large, {sum.hi, sum.lo + s.lo});
    const T finite = x < 1 ? Limits<T>::nan : y;
    return x < Limits<T>::inf ? finite : x;
}

// log(1 + 2 a / (1 - a)) / 2.
template <class T>
ASC_MATH_INLINE bool usual_atanh(T x) {
    return absolute(x) < 1;
}
template <Domain D, class T>
ASC_MATH_INLINE T atanh(T x) {
    const T a = absolute(x);
    const T b = D == Domain::Usual || a < 1 ? a : T(0.5);
    const Pair<T> q = quotient(Pair<T>{2 * b, T{0}}, fast_sum(T{1}, -b));
    const Pair<T> u = exact_sum(T{1}, q.hi);
    const T y = with_sign(T(0.5) * log_of_pair(u.hi, u.lo + q.lo), x);
    if constexpr (D == Domain::Usual) return y;
    const T at_edge = a == 1 ? with_sign(Limits<T>::inf, x) : Limits<T>::nan;
    return a < 1 ? y : at_edge;
}

// ---- inverse trigonometric ----

// asin(t) of t = |x|, or of t = sqrt((1 - |x|) / 2) where |x| > 1/2, as a pair.
template <class T>
ASC_MATH_INLINE Pair<T> asin_reduced(T a) {
    const bool outer = a > T(0.5);
    const T half = T(0.5) * (1 - a);
    const Pair<T> s = root(Pair<T>{half, T{0}});
    const T t = outer ? s.hi : a;
    const T z = outer ? half : a * a;
    return {t, mul_add(t * z, asin_tail(z), outer ? s.lo : T{0})};
}

template <class T>
ASC_MATH_INLINE T asin(T x) {
    const T a = absolute(x);
    const Pair<T> r = asin_reduced(a);
    const Pair<T> c = fast_sum(Limits<T>::half_pi, -2 * r.hi);
    const T outer = c.hi + (c.lo + mul_add(T{-2}, r.lo, Limits<T>::half_pi_lo));
    return with_sign(a > T(0.5) ? outer : r.hi + r.lo, x);
}

template <class T>
ASC_MATH_INLINE T acos(T x) {
    using L = Limits<T>;
    const T a = absolute(x);
    const Pair<T> r = asin_reduced(a);
    // Beyond 1/2: 2 r or pi - 2 r; within: pi/2 - r or pi/2 + r.
    const T inside = T(0.5) - a;
    const auto outer = negative_mask(inside);
    const T quarters = select(outer, masked(T{2}, negative_mask(x)), T{1});
    const T factor = flip(select(outer, T{2}, T{-1}), sign_of(x));
    const Pair<T> sum = fast_sum(quarters * L::half_pi, factor * r.hi);
    const T y = sum.hi + (sum.lo + mul_add(factor, r.lo, quarters * L::half_pi_lo));
    return a <= 1 ? y : L::nan;
}

// base + atan(t) as a sum, |t| <= tan(pi / 8).
template <class T>
ASC_MATH_INLINE Pair<T> atan_sum(T base, T base_lo, Pair<T> t) {
    const T z = t.hi * t.hi;
    const Pair<T> sum = fast_sum(base, t.hi);
    return {sum.hi, sum.lo + (base_lo + mul_add(t.hi * z, atan_tail(z), t.lo))};
}

template <class T>
ASC_MATH_INLINE T atan(T x) {
    using L = Limits<T>;
    const T a = absolute(x), b = a > L::up ? L::up : a;
    // pi/4 + atan((b - 1) / (b + 1)) beyond tan(pi/8), pi/2 - atan(1 / b) beyond tan(3 pi/8).
    const auto beyond = negative_mask(T(0x1.a827999fcef32p-2) - b);
    const auto steep = negative_mask(T(0x1.3504f333f9de6p+1) - b);
    const T steep_b = masked(b, steep);
    const Pair<T> n = fast_sum(masked(T{-1}, beyond), b - steep_b);
    const Pair<T> d = fast_sum(select(steep, b, T{1}), masked(b, beyond) - steep_b);
    const T quarters = masked(T(0.5), beyond) + masked(T(0.5), steep);
    const Pair<T> y = atan_sum(quarters * L::half_pi, quarters * L::half_pi_lo, quotient(n, d));
    const T finite = a < L::odd_linear ? x : with_sign(y.hi + y.lo, x);
    return x == x ? finite : x;
}

// The power of two that brings x to [2^200, 2^201) or [2^60, 2^61), so far up that a quotient of
// anything by it underflows only where the result does. The largest one where x is too small.
ASC_MATH_INLINE double moderate(double x) {
    const uint64_t biased = bits(x) >> 52;
    return from_bits((2246 - (biased < 200 ? 200 : biased)) << 52);
}
ASC_MATH_INLINE float moderate(float x) {
    const uint32_t biased = bits(x) >> 23;
    return from_bits((314 - (biased < 60 ? 60 : biased)) << 23);
}

// Usual: finite, not both 0, and their quotient can be formed without scaling.
template <class T>
ASC_MATH_INLINE bool usual_atan2(T y, T x) {
    using L = Limits<T>;
    const T ay = absolute(y), ax = absolute(x);
    const bool low = ((ay < L::tiny) & (y != 0)) | ((ax < L::tiny) & (x != 0));
    return !low & (ay < L::huge) & (ax < L::huge) & ((y != 0) | (x != 0));
}

template <Domain D, class T>
ASC_MATH_INLINE T atan2(T y, T x) {
    using L = Limits<T>;
    const T ay = absolute(y), ax = absolute(x);
    const T big = ay > ax ? ay : ax, little = ay > ax ? ax : ay;
    T d = big, n = little;
    if constexpr (D == Domain::Any) {
        // Equal infinities are at 45 degrees, and 0 / 0 is 0 / 1.
        const T factor = moderate(big);
        d = big == L::inf || big == 0 ? T{1} : big * factor;
        n = big == L::inf ? (little == L::inf ? T{1} : T{0}) : little * factor;
    }
    // pi/4 + atan((n - d) / (n + d)) beyond tan(pi/8).
    const auto beyond = negative_mask(T(0x1.a827999fcef32p-2) * d - n);
    const T half = masked(T(0.5), beyond);
    const Pair<T> t = quotient(fast_sum(masked(-d, beyond), n), fast_sum(d, masked(n, beyond)));
    const Pair<T> r = atan_sum(half * L::half_pi, half * L::half_pi_lo, t);
    // The angle is 0, pi/2 or pi, plus or minus r.
    const T difference = D == Domain::Any && ax == ay ? T{0} : ax - ay;
    const auto steep = negative_mask(difference), left = negative_mask(x);
    const T quarters = select(steep, T{1}, masked(T{2}, left));
    const auto turn = sign_of(difference) ^ sign_of(x);
    const Pair<T> sum = fast_sum(quarters * L::half_pi, flip(r.hi, turn));
    const T angle = sum.hi + (sum.lo + mul_add(quarters, L::half_pi_lo, flip(r.lo, turn)));
    if constexpr (D == Domain::Usual) return with_sign(angle, y);
    return x == x && y == y ? with_sign(angle, y) : L::nan;
}

// ---- two operands ----

// e^(hi + lo). Usual: it is normal.
template <Domain D, class T>
ASC_MATH_INLINE T exp_of_pair(Pair<T> x) {
    using L = Limits<T>;
    const T hi = D == Domain::Usual ? x.hi : clamp(x.hi, L::exp_zero, L::exp_top);
    const T lo = D == Domain::Usual || hi == x.hi ? x.lo : T{0};
    const ExpParts<T> e = exp_parts<true>(hi, lo);
    const Pair<T> one = fast_sum(T{1}, e.head);
    const T y = one.hi + (one.lo + e.rest);
    return D == Domain::Usual ? scale_normal(y, e.k) : scale(y, e.k);
}

template <class T>
ASC_MATH_INLINE T nextafter(T x, T y) {
    const auto b = bits(x);
    // Away from zero adds one to the bits, towards zero takes one off.
    const bool away = (y > x) == (x > 0);
    const T step = from_bits(away ? b + 1 : b - 1);
    const T moved = x == 0 ? with_sign(Limits<T>::least, y) : step;
    const T r = x == y ? y : moved;
    return x == x && y == y ? r : Limits<T>::nan;
}

}  // namespace
}  // namespace asc::cpu::ASC_ISA
