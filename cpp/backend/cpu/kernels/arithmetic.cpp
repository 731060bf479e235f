// Arithmetic, bitwise operations, selection: integers, float32 and float64.
#include "backend/cpu/kernels/divide.h"
#include "backend/cpu/kernels/lane.h"

namespace asc::cpu::ASC_ISA {
namespace {

// ---- loops ----

template <class T>
const T* operand(const void* const* src, int k) {
    return static_cast<const T*>(src[k]);
}

template <class T, class F>
void unary(void* out, const void* const* src, int64_t n, unsigned scalars) {
    T* dst = static_cast<T*>(out);
    const T* a = operand<T>(src, 0);
    if (scalars & 1) return fill_value<T>(dst, F::apply(*a), n);
    ASC_VECTOR_LOOP
    for (int64_t i = 0; i < n; ++i) dst[i] = F::apply(a[i]);
}

template <class T, class F>
void binary(void* out, const void* const* src, int64_t n, unsigned scalars) {
    T* dst = static_cast<T*>(out);
    const T* a = operand<T>(src, 0);
    const T* b = operand<T>(src, 1);
    if (scalars == 3) return fill_value<T>(dst, F::apply(*a, *b), n);
    if (F::kCommutes && scalars == 1) {
        const T* swapped = a;
        a = b;
        b = swapped;
        scalars = 2;
    }
    if (scalars == 0) {
        ASC_VECTOR_LOOP
        for (int64_t i = 0; i < n; ++i) dst[i] = F::apply(a[i], b[i]);
    } else if (scalars == 2) {
        const T y = *b;
        ASC_VECTOR_LOOP
        for (int64_t i = 0; i < n; ++i) dst[i] = F::apply(a[i], y);
    } else if constexpr (!F::kCommutes) {
        const T x = *a;
        ASC_VECTOR_LOOP
        for (int64_t i = 0; i < n; ++i) dst[i] = F::apply(x, b[i]);
    }
}

// An operand read block by block; a scalar is one block that serves them all.
template <class T>
class Blocks {
  public:
    Blocks(const void* src, bool scalar) : data_(static_cast<const T*>(src)), step_(!scalar) {
        if (!scalar) return;
        fill_value(scalar_, *data_, kBlock);
        data_ = scalar_;
    }
    const T* at(int64_t i) const { return data_ + i * step_; }

  private:
    const T* data_;
    int64_t step_;
    T scalar_[kBlock];
};

template <class T>
void copy(void* dst, const void* const* src, int64_t n, unsigned scalars) {
    if (scalars & 1) return fill_value(static_cast<T*>(dst), *operand<T>(src, 0), n);
    memmove(dst, src[0], static_cast<size_t>(n) * sizeof(T));
}

// ---- one element: operations that signed and unsigned integers share ----

// Integers wrap, which only unsigned types may.
struct Neg {
    template <class T>
    static T apply(T a) {
        if constexpr (kIsFloat<T>) {
            return -a;
        } else {
            return static_cast<T>(0 - static_cast<UInt<T>>(a));
        }
    }
};
struct Invert {
    template <class T>
    static T apply(T a) {
        return static_cast<T>(~a);
    }
};
struct Mul {
    static constexpr bool kCommutes = true;
    template <class T>
    static T apply(T a, T b) {
        if constexpr (kIsFloat<T>) {
            return a * b;
        } else {
            // 1u: uint16 would be promoted to int and overflow.
            return static_cast<T>(1u * static_cast<UInt<T>>(a) * static_cast<UInt<T>>(b));
        }
    }
};
struct Square {
    template <class T>
    static T apply(T a) {
        return Mul::apply(a, a);
    }
};
struct Add {
    static constexpr bool kCommutes = true;
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>(a + b);
    }
};
struct Sub {
    static constexpr bool kCommutes = false;
    template <class T>
    static T apply(T a, T b) {
        if constexpr (kIsFloat<T>) {
            return a - b;
        } else {
            return static_cast<T>(static_cast<UInt<T>>(a) - static_cast<UInt<T>>(b));
        }
    }
};
struct And {
    static constexpr bool kCommutes = true;
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>(a & b);
    }
};
struct Or {
    static constexpr bool kCommutes = true;
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>(a | b);
    }
};
struct Xor {
    static constexpr bool kCommutes = true;
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>(a ^ b);
    }
};
// Shift counts are compared as unsigned numbers: a negative one counts as too large.
struct ShiftLeft {
    static constexpr bool kCommutes = false;
    template <class T>
    static T apply(T a, T b) {
        constexpr T kBits = 8 * sizeof(T);
        const T shifted = static_cast<T>(static_cast<T>(a) << (b & (kBits - 1)));
        return b < kBits ? shifted : static_cast<T>(0);
    }
};

// ---- one element: operations that depend on the sign ----

struct ShiftRight {
    static constexpr bool kCommutes = false;
    template <class T>
    static T apply(T a, T b) {
        constexpr UInt<T> kMost = 8 * sizeof(T) - 1;
        const UInt<T> count = static_cast<UInt<T>>(b);
        if constexpr (kIsSigned<T>) return static_cast<T>(a >> (count < kMost ? count : kMost));
        const T shifted = static_cast<T>(a >> (count & kMost));
        return count <= kMost ? shifted : static_cast<T>(0);
    }
};
struct Abs {
    template <class T>
    static T apply(T a) {
        if constexpr (kSame<T, float>) return __builtin_fabsf(a);
        if constexpr (kSame<T, double>) return __builtin_fabs(a);
        return a < 0 ? Neg::apply(a) : a;
    }
};
struct Sign {
    template <class T>
    static T apply(T a) {
        if constexpr (kIsFloat<T>) {
            const T sign = a > 0 ? T(1) : a < 0 ? T(-1) : T(0);
            return a == a ? sign : a;
        }
        return static_cast<T>((a > 0) - (a < 0));
    }
};
// NaN propagates: the comparison picks b where b is NaN.
struct Max {
    static constexpr bool kCommutes = false;  // +0 and -0 are equal, the second one is taken
    template <class T>
    static T apply(T a, T b) {
        const T larger = a > b ? a : b;
        return a == a ? larger : a;
    }
};
struct Min {
    static constexpr bool kCommutes = false;  // +0 and -0 are equal, the second one is taken
    template <class T>
    static T apply(T a, T b) {
        const T smaller = a < b ? a : b;
        return a == a ? smaller : a;
    }
};

// ---- one element: floats only ----

struct Ceil {
    static float apply(float a) { return __builtin_ceilf(a); }
    static double apply(double a) { return __builtin_ceil(a); }
};
struct Floor {
    static float apply(float a) { return __builtin_floorf(a); }
    static double apply(double a) { return __builtin_floor(a); }
};
struct Trunc {
    static float apply(float a) { return __builtin_truncf(a); }
    static double apply(double a) { return __builtin_trunc(a); }
};
struct Round {
    static float apply(float a) { return __builtin_rintf(a); }
    static double apply(double a) { return __builtin_rint(a); }
};
struct Reciprocal {
    template <class T>
    static T apply(T a) {
        return 1 / a;
    }
};
struct Div {
    static constexpr bool kCommutes = false;
    template <class T>
    static T apply(T a, T b) {
        return a / b;
    }
};
struct CopySign {
    static constexpr bool kCommutes = false;
    static float apply(float a, float b) { return __builtin_copysignf(a, b); }
    static double apply(double a, double b) { return __builtin_copysign(a, b); }
};
// The quotient of two float32 is less than 2**-24 away from an integer only if it is one, or
// relatively so far that rounding to float32 does not see it: float64 decides every case.
struct FloorDivide32 {
    static constexpr bool kCommutes = false;
    static float apply(float a, float b) {
        return static_cast<float>(__builtin_floor(static_cast<double>(a) / b));
    }
};

// ---- integer division: floor, x // 0 = 0, x % 0 = 0, the least number // -1 wraps ----

inline float real_of(int8_t x) { return static_cast<float>(x); }
inline float real_of(uint8_t x) { return static_cast<float>(x); }
inline float real_of(int16_t x) { return static_cast<float>(x); }
inline float real_of(uint16_t x) { return static_cast<float>(x); }
inline double real_of(int32_t x) { return static_cast<double>(x); }
#if defined(__AVX512F__) || defined(__aarch64__)
inline double real_of(uint32_t x) { return static_cast<double>(x); }
#else
// Only signed conversions exist here.
inline double real_of(uint32_t x) {
    return static_cast<double>(static_cast<int32_t>(x ^ 0x80000000u)) + 2147483648.0;
}
#endif
// floor(q), known to be in the range of T.
template <class T, class R>
inline T floor_to(R q) {
#if defined(__AVX512F__) || defined(__aarch64__)
    if constexpr (kSame<T, uint32_t>) return static_cast<uint32_t>(q);
#endif
    if constexpr (kSame<T, uint32_t>)
        return static_cast<uint32_t>(static_cast<int32_t>(Floor::apply(q) - 2147483648.0)) ^
               0x80000000u;
    if constexpr (!kIsSigned<T>) return static_cast<T>(static_cast<int32_t>(q));
    return static_cast<T>(static_cast<int32_t>(Floor::apply(q)));
}

// Integers of up to 16 bits divide in float32, up to 32 bits in float64: the distance from a
// quotient to the next integer exceeds the rounding error, so that floor is exact.
struct FloorDivide {
    static constexpr bool kCommutes = false;
    template <class T>
    static T apply(T a, T b) {
        const bool wraps = kSame<T, int32_t> && b == static_cast<T>(-1);
        const T divisor = b == 0 || wraps ? static_cast<T>(1) : b;
        const T quotient = floor_to<T>(real_of(a) / real_of(divisor));
        const T wrapped = wraps ? Neg::apply(a) : quotient;
        return b == 0 ? static_cast<T>(0) : wrapped;
    }
    template <class T>
    static T finish(T, T, T quotient) {
        return quotient;
    }
};
struct Remainder {
    static constexpr bool kCommutes = false;
    template <class T>
    static T apply(T a, T b) {
        return b == 0 ? static_cast<T>(0) : finish(a, b, FloorDivide::apply(a, b));
    }
    template <class T>
    static T finish(T a, T b, T quotient) {
        return Sub::apply(a, Mul::apply(quotient, b));
    }
};

// 8 bits by a scalar, |b| > 1: multiplication by 2**16 / |b|, rounded up, is exact for |a| < 2**8;
// floor of a negative quotient is the complement of that of the complement.
template <class T, class F>
void divide_bytes(T* dst, const T* a, T b, int64_t n) {
    const int16_t negate = b < 0 ? -1 : 0;
    const uint16_t inverse = static_cast<uint16_t>(65535 / (b < 0 ? -b : b) + 1);
    ASC_VECTOR_LOOP
    for (int64_t i = 0; i < n; ++i) {
        const int16_t x = static_cast<int16_t>((a[i] ^ negate) - negate);
        const int16_t sign = static_cast<int16_t>(x >> 15);
        const uint16_t size = static_cast<uint16_t>(x ^ sign);
        const uint16_t q = static_cast<uint16_t>(static_cast<uint32_t>(size) * inverse >> 16);
        dst[i] = F::finish(a[i], b, static_cast<T>(q ^ sign));
    }
}

// A scalar divisor: (a + 1/2) / b is at least 1 / (2 b) away from every integer, which leaves
// room for the errors of a multiplication by 1 / b.
template <class T, class F>
void integer_division(void* out, const void* const* src, int64_t n, unsigned scalars) {
    if (scalars != 2) return binary<T, F>(out, src, n, scalars);
    T* dst = static_cast<T*>(out);
    const T* a = operand<T>(src, 0);
    const T b = *operand<T>(src, 1);
    if (b == 0 || b == static_cast<T>(1) || b == static_cast<T>(-1))
        return binary<T, F>(out, src, n, scalars);
    if constexpr (sizeof(T) == 1) return divide_bytes<T, F>(dst, a, b, n);
    using Real = decltype(real_of(b));
    const Real inverse = 1 / real_of(b);
    const Real half = b < 0 ? Real(-0.5) : Real(0.5);
    ASC_VECTOR_LOOP
    for (int64_t i = 0; i < n; ++i)
        dst[i] = F::finish(a[i], b, floor_to<T>((real_of(a[i]) + half) * inverse));
}

// 64-bit integers below 2**49 convert to and from float64 by adding 1.5 * 2**52, which every
// instruction set can do side by side.
constexpr double kShift = 6755399441055744.0;
constexpr int64_t kShiftBits = 0x4338000000000000;
constexpr int kSmallBits = 49;

inline double small_real(int64_t x) { return __builtin_bit_cast(double, x + kShiftBits) - kShift; }
inline int64_t small_integer(double x) {
    return __builtin_bit_cast(int64_t, x + kShift) - kShiftBits;
}

template <class T>
bool all_small(const T* x, int64_t n) {
    constexpr uint64_t kOffset = kIsSigned<T> ? uint64_t{1} << kSmallBits : 0;
    constexpr int kAllowed = kIsSigned<T> ? kSmallBits + 1 : kSmallBits;
    uint64_t high = 0;
    for (int64_t i = 0; i < n; ++i) high |= (static_cast<uint64_t>(x[i]) + kOffset) >> kAllowed;
    return high == 0;
}

template <class T>
T floor_divide_64(T a, T b) {
    if (b == 0) return 0;
    if (b == static_cast<T>(-1) && kIsSigned<T>) return Neg::apply(a);
    const T q = a / b;
    return static_cast<T>(q - (a % b != 0 && (a < 0) != (b < 0)));
}

template <class T, class F>
void integer_division_64(void* out, const void* const* src, int64_t n, unsigned scalars) {
    T* dst = static_cast<T*>(out);
    const Blocks<T> left(src[0], scalars & 1);
    const Blocks<T> right(src[1], scalars & 2);
    for (int64_t start = 0; start < n; start += kBlock) {
        const T* a = left.at(start);
        const T* b = right.at(start);
        const int64_t m = min_of(kBlock, n - start);
        T* d = dst + start;
        if (!all_small(a, m) || !all_small(b, m)) {
            for (int64_t i = 0; i < m; ++i)
                d[i] = b[i] == 0 ? T(0) : F::finish(a[i], b[i], floor_divide_64(a[i], b[i]));
        } else if (scalars == 2 && *b != 0) {
            const double inverse = 1 / small_real(static_cast<int64_t>(*b));
            const double half = *b < 0 ? -0.5 : 0.5;
            const T divisor = *b;
            ASC_VECTOR_LOOP
            for (int64_t i = 0; i < m; ++i) {
                const double x = small_real(static_cast<int64_t>(a[i])) + half;
                const int64_t q = small_integer(__builtin_floor(x * inverse));
                d[i] = F::finish(a[i], divisor, static_cast<T>(q));
            }
        } else {
            ASC_VECTOR_LOOP
            for (int64_t i = 0; i < m; ++i) {
                const double y = small_real(static_cast<int64_t>(b[i] == 0 ? T(1) : b[i]));
                const double x = small_real(static_cast<int64_t>(a[i]));
                const int64_t q = small_integer(__builtin_floor(x / y));
                const T r = F::finish(a[i], b[i], static_cast<T>(q));
                d[i] = b[i] == 0 ? T(0) : r;
            }
        }
    }
}

// ---- float division ----

template <class T>
void divide(void* out, const void* const* src, int64_t n, unsigned scalars) {
#if defined(__AVX512F__)
    if (scalars == 2)
        return quotients(static_cast<T*>(out), operand<T>(src, 0), *operand<T>(src, 1), n);
#endif
    binary<T, Div>(out, src, n, scalars);
}

// ---- float floor division: exact where the quotient is moderate, through fmod elsewhere ----

// a - f * b, rounded once, where f is within 1 of a / b.
inline double residual(double a, double f, double b) {
#if ASC_HAS_FMA
    return __builtin_fma(-f, b, a);
#else
    // Dekker's product: f * b = high + low exactly.
    const double high = f * b;
    const double sf = f * 134217729.0;
    const double sb = b * 134217729.0;
    const double f1 = sf - (sf - f), f2 = f - f1;
    const double b1 = sb - (sb - b), b2 = b - b1;
    const double low = f2 * b2 - (((high - f1 * b1) - f2 * b1) - f1 * b2);
    return (a - high) - low;
#endif
}
// float32: the product has 24 + 29 bits, the difference at most 24.
inline double residual(float a, double f, float b) {
    return static_cast<double>(a) - f * static_cast<double>(b);
}

// True where the residual is not known to be exact; also for infinite and NaN quotients.
inline bool is_rare(double, double b, double q) {
#if ASC_HAS_FMA
    static_cast<void>(b);
    return !(__builtin_fabs(q) < 0x1p51);
#else
    const double size = __builtin_fabs(b);
    return !(__builtin_fabs(q) < 0x1p51) | !(size > 0x1p-900) | (size > 0x1p900);
#endif
}
inline bool is_rare(float, float, double q) { return !(__builtin_fabs(q) < 0x1p29); }

inline bool opposite(double x, double y) { return (x < 0 && y > 0) || (x > 0 && y < 0); }

struct FloatRemainder {
    template <class T>
    static T common(T a, T b, double q) {
        const double r = residual(a, __builtin_floor(q), b);
        const double fixed = opposite(r, b) ? r + b : r;
        const double with_sign = fixed == 0 ? __builtin_copysign(0.0, b) : fixed;
        const double far = opposite(a, b) ? b : a == 0 ? __builtin_copysign(0.0, b) : a;
        return static_cast<T>(__builtin_fabs(b) == __builtin_inf() ? far : with_sign);
    }
    static double rare(double a, double b) {
        const double r = fmod(a, b);
        if (r == 0) return __builtin_copysign(0.0, b);
        return opposite(r, b) ? r + b : r;
    }
};
struct FloatFloorDivide {
    static double common(double a, double b, double q) {
        const double f = __builtin_floor(q);
        // Only a quotient that was rounded to an integer can have been rounded up to it.
        return f == q && opposite(residual(a, f, b), b) ? f - 1 : f;
    }
    // As Python, but for infinities and zeros, where the standard asks for floor(a / b).
    static double rare(double a, double b) {
        const double quotient = a / b;
        if (b == 0 || !(__builtin_fabs(a) < __builtin_inf()) ||
            !(__builtin_fabs(b) < __builtin_inf()))
            return __builtin_floor(quotient);
        const double r = fmod(a, b);
        double q = (a - r) / b;
        if (opposite(r, b)) q -= 1;
        if (q == 0) return __builtin_copysign(0.0, quotient);
        const double f = __builtin_floor(q);
        return q - f > 0.5 ? f + 1 : f;
    }
};

template <class T, class F>
void float_division(void* out, const void* const* src, int64_t n, unsigned scalars) {
    const Blocks<T> left(src[0], scalars & 1);
    const Blocks<T> right(src[1], scalars & 2);
    T result[kBlock];
    for (int64_t start = 0; start < n; start += kBlock) {
        const T* a = left.at(start);
        const T* b = right.at(start);
        const int64_t m = min_of(kBlock, n - start);
        int64_t rare = 0;
        for (int64_t i = 0; i < m; ++i) {
            const double q = static_cast<double>(a[i]) / b[i];
            result[i] = F::common(a[i], b[i], q);
            rare |= is_rare(a[i], b[i], q) ? 1 : 0;
        }
        for (int64_t i = 0; rare && i < m; ++i)
            if (is_rare(a[i], b[i], static_cast<double>(a[i]) / b[i]))
                result[i] = static_cast<T>(F::rare(a[i], b[i]));
        memcpy(static_cast<T*>(out) + start, result, static_cast<size_t>(m) * sizeof(T));
    }
}

// ---- powers of integers: square and multiply, a block side by side ----

template <class T>
void power(void* out, const void* const* src, int64_t n, unsigned scalars) {
    const Blocks<T> left(src[0], scalars & 1);
    const Blocks<T> right(src[1], scalars & 2);
    T base[kBlock], exponent[kBlock], result[kBlock];
    for (int64_t start = 0; start < n; start += kBlock) {
        const int64_t m = min_of(kBlock, n - start);
        T any = 0;
        for (int64_t i = 0; i < m; ++i) {
            base[i] = left.at(start)[i];
            exponent[i] = right.at(start)[i];
            any = static_cast<T>(any | exponent[i]);
            result[i] = exponent[i] & 1 ? base[i] : T(1);
        }
        while (any = static_cast<T>(any >> 1), any != 0) {
            for (int64_t i = 0; i < m; ++i) {
                base[i] = Square::apply(base[i]);
                exponent[i] = static_cast<T>(exponent[i] >> 1);
                result[i] = Mul::apply(result[i], exponent[i] & 1 ? base[i] : T(1));
            }
        }
        memcpy(static_cast<T*>(out) + start, result, static_cast<size_t>(m) * sizeof(T));
    }
}

// ---- clip ----

// These orders of the operands keep a NaN in x.
template <class T>
T clip_one(T x, T low, T high) {
    const T above = low > x ? low : x;
    return high < above ? high : above;
}

template <class T>
void clip(void* out, const void* const* src, int64_t n, unsigned scalars) {
    T* dst = static_cast<T*>(out);
    if (scalars == 6) {
        const T* x = operand<T>(src, 0);
        const T low = *operand<T>(src, 1);
        const T high = *operand<T>(src, 2);
        if (low != low || high != high) return fill_value<T>(dst, static_cast<T>(low + high), n);
        ASC_VECTOR_LOOP
        for (int64_t i = 0; i < n; ++i) dst[i] = clip_one(x[i], low, high);
        return;
    }
    const Blocks<T> xs(src[0], scalars & 1);
    const Blocks<T> lows(src[1], scalars & 2);
    const Blocks<T> highs(src[2], scalars & 4);
    for (int64_t start = 0; start < n; start += kBlock) {
        const T* x = xs.at(start);
        const T* low = lows.at(start);
        const T* high = highs.at(start);
        const int64_t m = min_of(kBlock, n - start);
        ASC_VECTOR_LOOP
        for (int64_t i = 0; i < m; ++i) {
            const T nan = static_cast<T>(low[i] + high[i]);
            const bool numbers = low[i] == low[i] && high[i] == high[i];
            dst[start + i] = numbers ? clip_one(x[i], low[i], high[i]) : nan;
        }
    }
}

// ---- where ----

struct Wide {
    uint64_t half[2];
};

template <class T>
T select(uint8_t condition, T a, T b) {
    const T mask = static_cast<T>(0 - static_cast<T>(condition));
    return static_cast<T>((a & mask) | (b & ~mask));
}
template <>
Wide select(uint8_t condition, Wide a, Wide b) {
    return {{select<uint64_t>(condition, a.half[0], b.half[0]),
             select<uint64_t>(condition, a.half[1], b.half[1])}};
}

#if defined(__AVX512BW__)
template <class T>
void blend(T* dst, uint64_t mask, Vec<T> a, Vec<T> b) {
    const __m512i x = __builtin_bit_cast(__m512i, a);
    const __m512i y = __builtin_bit_cast(__m512i, b);
    __m512i r;
    if constexpr (sizeof(T) == 1) r = _mm512_mask_blend_epi8(mask, y, x);
    if constexpr (sizeof(T) == 2) r = _mm512_mask_blend_epi16(static_cast<__mmask32>(mask), y, x);
    if constexpr (sizeof(T) == 4) r = _mm512_mask_blend_epi32(static_cast<__mmask16>(mask), y, x);
    if constexpr (sizeof(T) == 8) r = _mm512_mask_blend_epi64(static_cast<__mmask8>(mask), y, x);
    _mm512_storeu_si512(dst, r);
}
#endif

template <class T, bool ScalarA, bool ScalarB>
void where_loop(T* dst, const uint64_t* condition, const T* a, const T* b, int64_t n) {
    int64_t i = 0;
    for (; i + 64 <= n; i += 64) {
        const uint64_t word = condition[i / 64];
#if defined(__AVX512BW__)
        if constexpr (sizeof(T) <= 8) {
            for (int k = 0; k < 64; k += kLanes<T>) {
                const Vec<T> x = ScalarA ? broadcast(*a) : load(a + (ScalarA ? 0 : i + k));
                const Vec<T> y = ScalarB ? broadcast(*b) : load(b + (ScalarB ? 0 : i + k));
                blend<T>(dst + i + k, word >> k, x, y);
            }
            continue;
        }
#endif
        uint8_t bytes[64];
        unpack_word(bytes, word);
        ASC_VECTOR_LOOP
        for (int k = 0; k < 64; ++k)
            dst[i + k] = select(bytes[k], a[ScalarA ? 0 : i + k], b[ScalarB ? 0 : i + k]);
    }
    for (; i < n; ++i)
        dst[i] = condition[i / 64] >> (i % 64) & 1 ? a[ScalarA ? 0 : i] : b[ScalarB ? 0 : i];
}

template <class T>
void where(void* out, const void* const* src, int64_t n, unsigned scalars) {
    const uint64_t* condition = operand<uint64_t>(src, 0);
    if (scalars & 1) {
        const int chosen = *condition & 1 ? 1 : 2;
        return copy<T>(out, src + chosen, n, scalars >> chosen);
    }
    T* dst = static_cast<T*>(out);
    const T* a = operand<T>(src, 1);
    const T* b = operand<T>(src, 2);
    switch (scalars) {
        case 0:
            return where_loop<T, false, false>(dst, condition, a, b, n);
        case 2:
            return where_loop<T, true, false>(dst, condition, a, b, n);
        case 4:
            return where_loop<T, false, true>(dst, condition, a, b, n);
        default:
            return where_loop<T, true, true>(dst, condition, a, b, n);
    }
}

// ---- the table ----

struct Row {
    KernelTable& table;
    DType dtype;
    ElementwiseFn& operator[](Op op) { return table.elementwise[index(op)][index(dtype)]; }
};

// What depends on the width only.
template <class U>
void fill_width(Row t) {
    t[Op::Positive] = t[Op::Conj] = copy<U>;
    t[Op::Ceil] = t[Op::Floor] = t[Op::Round] = t[Op::Trunc] = copy<U>;
    t[Op::Negative] = unary<U, Neg>;
    t[Op::Square] = unary<U, Square>;
    t[Op::BitwiseInvert] = unary<U, Invert>;
    t[Op::Add] = binary<U, Add>;
    t[Op::Subtract] = binary<U, Sub>;
    t[Op::Multiply] = binary<U, Mul>;
    t[Op::BitwiseAnd] = binary<U, And>;
    t[Op::BitwiseOr] = binary<U, Or>;
    t[Op::BitwiseXor] = binary<U, Xor>;
    t[Op::BitwiseLeftShift] = binary<U, ShiftLeft>;
    t[Op::Pow] = power<U>;
}

template <class T>
void fill_integer(KernelTable& table, DType dtype) {
    Row t{table, dtype};
    fill_width<UInt<T>>(t);
    t[Op::Abs] = kIsSigned<T> ? unary<T, Abs> : copy<UInt<T>>;
    t[Op::Sign] = unary<T, Sign>;
    t[Op::BitwiseRightShift] = binary<T, ShiftRight>;
    t[Op::Maximum] = binary<T, Max>;
    t[Op::Minimum] = binary<T, Min>;
    t[Op::Clip] = clip<T>;
    if constexpr (sizeof(T) == 8) {
        t[Op::FloorDivide] = integer_division_64<T, FloorDivide>;
        t[Op::Remainder] = integer_division_64<T, Remainder>;
    } else {
        t[Op::FloorDivide] = integer_division<T, FloorDivide>;
        t[Op::Remainder] = integer_division<T, Remainder>;
    }
}

template <class T>
void fill_float(KernelTable& table, DType dtype) {
    Row t{table, dtype};
    t[Op::Positive] = t[Op::Conj] = copy<UInt<T>>;
    t[Op::Abs] = unary<T, Abs>;
    t[Op::Ceil] = unary<T, Ceil>;
    t[Op::Floor] = unary<T, Floor>;
    t[Op::Negative] = unary<T, Neg>;
    t[Op::Reciprocal] = unary<T, Reciprocal>;
    t[Op::Round] = unary<T, Round>;
    t[Op::Sign] = unary<T, Sign>;
    t[Op::Square] = unary<T, Square>;
    t[Op::Trunc] = unary<T, Trunc>;
    t[Op::Add] = binary<T, Add>;
    t[Op::Subtract] = binary<T, Sub>;
    t[Op::Multiply] = binary<T, Mul>;
    t[Op::Divide] = divide<T>;
    t[Op::CopySign] = binary<T, CopySign>;
    t[Op::Maximum] = binary<T, Max>;
    t[Op::Minimum] = binary<T, Min>;
    t[Op::Clip] = clip<T>;
    t[Op::Remainder] = float_division<T, FloatRemainder>;
}

// Elements are chosen by their width; bool is the business of bits.cpp.
template <int Bits>
void fill_where(KernelTable& table, DType dtype) {
    ElementwiseFn& entry = Row{table, dtype}[Op::Where];
    if constexpr (Bits == 8) entry = where<uint8_t>;
    if constexpr (Bits == 16) entry = where<uint16_t>;
    if constexpr (Bits == 32) entry = where<uint32_t>;
    if constexpr (Bits == 64) entry = where<uint64_t>;
    if constexpr (Bits == 128) entry = where<Wide>;
}

}  // namespace

void fill_arithmetic(KernelTable& t) {
    fill_integer<int8_t>(t, DType::Int8);
    fill_integer<int16_t>(t, DType::Int16);
    fill_integer<int32_t>(t, DType::Int32);
    fill_integer<int64_t>(t, DType::Int64);
    fill_integer<uint8_t>(t, DType::UInt8);
    fill_integer<uint16_t>(t, DType::UInt16);
    fill_integer<uint32_t>(t, DType::UInt32);
    fill_integer<uint64_t>(t, DType::UInt64);
    fill_float<float>(t, DType::Float32);
    fill_float<double>(t, DType::Float64);
    Row{t, DType::Float32}[Op::FloorDivide] = binary<float, FloorDivide32>;
    Row{t, DType::Float64}[Op::FloorDivide] = float_division<double, FloatFloorDivide>;

#define X(name, type, py, kind, bits) fill_where<bits>(t, DType::name);
    ASC_FOR_EACH_DTYPE(X)
#undef X
}

}  // namespace asc::cpu::ASC_ISA
