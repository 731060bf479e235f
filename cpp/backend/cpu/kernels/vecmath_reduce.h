// Reduction of any finite argument modulo pi/2 (Payne and Hanek, 1983), for the rare large ones.
#pragma once
#include "backend/cpu/kernels/vecmath_f32.h"
#include "backend/cpu/kernels/vecmath_f64.h"

namespace asc::cpu::ASC_ISA {
namespace {

// The binary fraction of 2/pi after 64 zeros, so that a window may begin before its first bit.
constexpr uint64_t kTwoOverPi[] = {
    0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
    0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e,
    0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
    0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
};

// For 2^-8 < |x| < inf.
inline __attribute__((noinline)) Reduced reduce_any(double x) {
    using Wide = unsigned __int128;
    const uint64_t mantissa = (bits(x) & 0x000fffffffffffffu) | 0x0010000000000000u;
    const int exponent = static_cast<int>(bits(x) >> 52 & 0x7ff) - 1075;
    // |x| = mantissa 2^exponent. Bits of 2/pi worth 4 or more times 1/mantissa are whole turns.
    const int start = exponent - 2 + 64;
    const int word = start >> 6, shift = start & 63;
    uint64_t w[3];
    for (int i = 0; i < 3; ++i) {
        const Wide both = static_cast<Wide>(kTwoOverPi[word + i]) << 64 | kTwoOverPi[word + i + 1];
        w[i] = static_cast<uint64_t>(both << shift >> 64);
    }
    // The product modulo 4, with 190 bits of fraction, as words p2 p1 p0.
    const Wide low = static_cast<Wide>(mantissa) * w[2];
    const Wide mid = static_cast<Wide>(mantissa) * w[1] + static_cast<uint64_t>(low >> 64);
    const uint64_t p0 = static_cast<uint64_t>(low), p1 = static_cast<uint64_t>(mid);
    const uint64_t p2 = mantissa * w[0] + static_cast<uint64_t>(mid >> 64);
    // The nearest multiple of pi/2 leaves a signed fraction in [-1/2, 1/2).
    uint64_t f2 = p2 << 2 | p1 >> 62, f1 = p1 << 2 | p0 >> 62, f0 = p0 << 2;
    const uint64_t below = f2 >> 63;
    uint64_t quadrant = (p2 >> 62) + below;
    if (below) {
        f0 = -f0;
        f1 = ~f1 + (f0 == 0);
        f2 = ~f2 + (f0 == 0 && f1 == 0);
    }
    int e = -64;
    if (f2 == 0) {
        f2 = f1, f1 = f0, f0 = 0;
        e -= 64;
    }
    const int zeros = __builtin_clzll(f2 | 1);
    if (zeros > 0) {
        f2 = f2 << zeros | f1 >> (64 - zeros);
        f1 = f1 << zeros | f0 >> (64 - zeros);
    }
    const double unit = power_of_two(static_cast<double>(e - zeros));
    const double head = static_cast<double>(f2 >> 11) * 0x1p11;
    const double rest = static_cast<double>((f2 & 0x7ff) << 42 | f1 >> 22) * 0x1p-42;
    DD r = product(fast_sum(head, rest), DD{kHalfPi, kHalfPiLo});
    r = fast_sum(r.hi * unit, r.lo * unit);
    const bool negative = (sign_of(x) != 0) != (below != 0);
    if (negative) r = {-r.hi, -r.lo};
    if (sign_of(x)) quadrant = -quadrant;
    return {r, quadrant};
}

// ---- the periodic functions of any argument: near ones in vectors, far ones one by one ----

ASC_MATH_INLINE bool far_off(float x) {
    const float a = absolute(x);
    return (a > kTrigLimit32) & (a < __builtin_inff());
}
ASC_MATH_INLINE bool far_off(double x) {
    const double a = absolute(x);
    return (a > kTrigLimit64) & (a < kInf);
}

ASC_MATH_INLINE double sin64_near(double x) { return sin64(x, reduce_half_pi(x)); }
ASC_MATH_INLINE double cos64_near(double x) { return cos64(reduce_half_pi(x)); }
ASC_MATH_INLINE double tan64_near(double x) { return tan64(x, reduce_half_pi(x)); }
ASC_MATH_INLINE double sin64_far(double x) { return sin64(x, reduce_any(x)); }
ASC_MATH_INLINE double cos64_far(double x) { return cos64(reduce_any(x)); }
ASC_MATH_INLINE double tan64_far(double x) { return tan64(x, reduce_any(x)); }
ASC_MATH_INLINE float sin32_far(float x) { return static_cast<float>(sin64_far(x)); }
ASC_MATH_INLINE float cos32_far(float x) { return static_cast<float>(cos64_far(x)); }
ASC_MATH_INLINE float tan32_far(float x) { return static_cast<float>(tan64_far(x)); }

}  // namespace
}  // namespace asc::cpu::ASC_ISA
