// Elementary functions of float32 and float64.
#include "backend/cpu/kernels/divide.h"
#include "backend/cpu/kernels/table.h"
#include "backend/cpu/kernels/vecmath_both.h"
#include "backend/cpu/kernels/vecmath_f32.h"
#include "backend/cpu/kernels/vecmath_f64.h"
#include "backend/cpu/kernels/vecmath_reduce.h"

// Source and destination may be the same array, never overlap otherwise.
#if defined(__clang__)
#define ASC_INDEPENDENT _Pragma("clang loop vectorize(assume_safety) interleave(disable)")
#else
#define ASC_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace asc::cpu::ASC_ISA {
namespace {

// The widest vector of any instruction set: loops run over whole ones, remainders are padded.
template <class T>
constexpr int64_t kLanes = 64 / sizeof(T);
template <class T>
constexpr int64_t whole_vectors(int64_t n) {
    return n & -kLanes<T>;
}

constexpr int64_t kChunk = 512;
template <class T>
constexpr int64_t chunk_at(int64_t start, int64_t n) {
    return whole_vectors<T>(n - start < kChunk ? n - start : kChunk);
}

template <class T>
using Unary = T (*)(T);
template <class T>
using Binary = T (*)(T, T);

// ---- one operand ----

template <class T, Unary<T> F>
struct Plain {
    static __attribute__((noinline)) void run(T* dst, const T* src, int64_t n) {
        n = whole_vectors<T>(n);
        ASC_INDEPENDENT
        for (int64_t i = 0; i < n; ++i) dst[i] = F(src[i]);
    }
};

#if defined(__AVX512F__)
template <class T>
struct Roots {
    static void run(T* dst, const T* src, int64_t n) { roots(dst, src, n); }
};
#else
template <class T>
using Roots = Plain<T, root>;
#endif

// Usual serves chunks of nothing but usual arguments; Any serves all, with the same bits.
template <class T, bool (*IsUsual)(T), Unary<T> Usual, Unary<T> Any>
struct Guarded {
    static __attribute__((noinline)) void run(T* dst, const T* src, int64_t n) {
        for (int64_t start = 0; start < n; start += kChunk) {
            const int64_t m = chunk_at<T>(start, n);
            T* out = dst + start;
            const T* in = src + start;
            int unusual = 0;
            for (int64_t i = 0; i < m; ++i) unusual |= !IsUsual(in[i]);
            if (unusual) {
                ASC_INDEPENDENT
                for (int64_t i = 0; i < m; ++i) out[i] = Any(in[i]);
            } else {
                ASC_INDEPENDENT
                for (int64_t i = 0; i < m; ++i) out[i] = Usual(in[i]);
            }
        }
    }
};

// Near serves what is not IsFar, Far the rest in a second pass.
template <class T, bool (*IsFar)(T), Unary<T> Near, Unary<T> Far>
struct Periodic {
    static __attribute__((noinline)) void run(T* dst, const T* src, int64_t n) {
        for (int64_t start = 0; start < n; start += kChunk) {
            const int64_t m = chunk_at<T>(start, n);
            T* out = dst + start;
            const T* in = src + start;
            int far = 0;
            for (int64_t i = 0; i < m; ++i) far |= IsFar(in[i]);
            T saved[kChunk];
            if (far) __builtin_memcpy(saved, in, m * sizeof(T));
            ASC_INDEPENDENT
            for (int64_t i = 0; i < m; ++i) out[i] = Near(in[i]);
            for (int64_t i = 0; far && i < m; ++i) {
                if (IsFar(saved[i])) out[i] = Far(saved[i]);
            }
        }
    }
};

template <class T, class Loop>
void unary(void* dst, const void* const* src, int64_t n, unsigned scalars) {
    T* out = static_cast<T*>(dst);
    const T* in = static_cast<const T*>(src[0]);
    const int64_t whole = scalars ? 0 : whole_vectors<T>(n);
    if (whole) Loop::run(out, in, whole);
    if (whole == n) return;
    T pad[kLanes<T>], result[kLanes<T>];
    const int64_t count = scalars ? 1 : n - whole;
    for (int64_t i = 0; i < kLanes<T>; ++i) pad[i] = in[whole + (i < count ? i : 0)];
    Loop::run(result, pad, kLanes<T>);
    for (int64_t i = whole; i < n; ++i) out[i] = result[scalars ? 0 : i - whole];
}

// ---- two operands ----

template <class T, Binary<T> F>
struct Pairwise {
    static __attribute__((noinline)) void run(T* dst, const T* a, const T* b, int64_t n) {
        n = whole_vectors<T>(n);
        ASC_INDEPENDENT
        for (int64_t i = 0; i < n; ++i) dst[i] = F(a[i], b[i]);
    }
};

// nextafter of the 16 bits of a float16 or bfloat16, whose infinity has these bits.
template <int16_t Infinity>
ASC_MATH_INLINE int16_t nextafter16(int16_t x, int16_t y) {
    constexpr int16_t kMagnitude = 0x7fff, kSign = INT16_MIN;
    const int16_t size_x = x & kMagnitude, size_y = y & kMagnitude;
    // Integers in the order of the values; both zeros are 0.
    const int16_t at = x < 0 ? -size_x : size_x, to = y < 0 ? -size_y : size_y;
    const int16_t sign = size_x == 0 ? y & kSign : x & kSign;
    const int16_t size = size_x == 0 || (to > at) == (at > 0) ? size_x + 1 : size_x - 1;
    const int16_t moved = at == to ? y : static_cast<int16_t>(size | sign);
    return size_x > Infinity || size_y > Infinity ? kMagnitude : moved;
}

// Guarded of two operands.
template <class T, bool (*IsUsual)(T, T), Binary<T> Usual, Binary<T> Any>
struct GuardedPair {
    static __attribute__((noinline)) void run(T* dst, const T* a, const T* b, int64_t n) {
        for (int64_t start = 0; start < n; start += kChunk) {
            const int64_t m = chunk_at<T>(start, n);
            T* out = dst + start;
            const T *x = a + start, *y = b + start;
            int unusual = 0;
            for (int64_t i = 0; i < m; ++i) unusual |= !IsUsual(x[i], y[i]);
            if (unusual) {
                ASC_INDEPENDENT
                for (int64_t i = 0; i < m; ++i) out[i] = Any(x[i], y[i]);
            } else {
                ASC_INDEPENDENT
                for (int64_t i = 0; i < m; ++i) out[i] = Usual(x[i], y[i]);
            }
        }
    }
};

// |x|^y, where x is 0, infinite or NaN anything. Usual: x > 0 is normal, and |y| < 2^60.
template <Domain D>
void powers(float* dst, const float* x, const float* y, int64_t n) {
    n = whole_vectors<float>(n);
    ASC_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) dst[i] = pow_value(absolute(x[i]), y[i]);
}
// In two passes: a single one is a longer chain of operations than a processor overlaps.
template <Domain D>
void powers(double* dst, const double* x, const double* y, int64_t n) {
    n = whole_vectors<double>(n);
    double hi[kChunk], lo[kChunk];
    for (int64_t i = 0; i < n; ++i) {
        const double bounded = D == Domain::Usual ? y[i] : clamp(y[i], -0x1p65, 0x1p65);
        const DD e = pow_exponent<D>(absolute(x[i]), bounded);
        hi[i] = e.hi;
        lo[i] = e.lo;
    }
    int unusual = 0;
    for (int64_t i = 0; i < n; ++i) unusual |= !usual_exp(hi[i]);
    if (unusual) {
        for (int64_t i = 0; i < n; ++i) dst[i] = exp_of_pair<Domain::Any>(DD{hi[i], lo[i]});
    } else {
        for (int64_t i = 0; i < n; ++i) dst[i] = exp_of_pair<Domain::Usual>(DD{hi[i], lo[i]});
    }
}

template <class T>
struct Power {
    static __attribute__((noinline)) void run(T* dst, const T* x, const T* y, int64_t n) {
        for (int64_t start = 0; start < n; start += kChunk) {
            const int64_t m = chunk_at<T>(start, n);
            T* out = dst + start;
            const T *a = x + start, *b = y + start;
            int unusual = 0;
            for (int64_t i = 0; i < m; ++i) {
                unusual |= !usual_log(a[i]) | !(absolute(b[i]) < static_cast<T>(0x1p60));
            }
            if (!unusual) {
                powers<Domain::Usual>(out, a, b, m);
                continue;
            }
            T magnitude[kChunk];
            powers<Domain::Any>(magnitude, a, b, m);
            ASC_INDEPENDENT
            for (int64_t i = 0; i < m; ++i) out[i] = pow_special(a[i], b[i], magnitude[i]);
        }
    }
};

// A scalar operand is spread over one chunk: the arithmetic dwarfs the loads.
template <class T, class Loop>
void binary(void* dst, const void* const* src, int64_t n, unsigned scalars) {
    T* out = static_cast<T*>(dst);
    const T* in[2] = {static_cast<const T*>(src[0]), static_cast<const T*>(src[1])};
    const int64_t whole = whole_vectors<T>(n), chunk = scalars ? kChunk : whole;
    T spread[2][kChunk];
    int64_t step[2];
    for (int k = 0; k < 2; ++k) {
        step[k] = scalars >> k & 1 ? 0 : 1;
        for (int64_t i = 0; step[k] == 0 && i < kChunk && i < n; ++i) spread[k][i] = in[k][0];
        if (step[k] == 0) in[k] = spread[k];
    }
    for (int64_t i = 0; i < whole; i += chunk) {
        const int64_t m = whole - i < chunk ? whole - i : chunk;
        Loop::run(out + i, in[0] + i * step[0], in[1] + i * step[1], m);
    }
    if (whole == n) return;
    T pad[2][kLanes<T>], result[kLanes<T>];
    for (int k = 0; k < 2; ++k) {
        for (int64_t i = 0; i < kLanes<T>; ++i) {
            pad[k][i] = in[k][(whole + (i < n - whole ? i : 0)) * step[k]];
        }
    }
    Loop::run(result, pad[0], pad[1], kLanes<T>);
    for (int64_t i = whole; i < n; ++i) out[i] = result[i - whole];
}

// X(op, float32 function, float64 function)
#define ASC_PLAIN_FUNCTIONS(X) \
    X(Acos, acos, acos)        \
    X(Asin, asin, asin)        \
    X(Atan, atan, atan)        \
    X(Cosh, cosh, cosh)        \
    X(Sinh, sinh, sinh)        \
    X(Tanh, tanh, tanh)

// X(op, what is usual, float32 function, float64 function)
#define ASC_GUARDED_FUNCTIONS(X)        \
    X(Acosh, usual_acosh, acosh, acosh) \
    X(Asinh, usual_asinh, asinh, asinh) \
    X(Atanh, usual_atanh, atanh, atanh) \
    X(Exp, usual_exp, exp, exp)         \
    X(Expm1, usual_expm1, expm1, expm1) \
    X(Log, usual_log, log, log)         \
    X(Log1p, usual_log1p, log1p, log1p) \
    X(Log2, usual_log, log2, log2)      \
    X(Log10, usual_log, log10, log10)

// X(op, stem of the functions)
#define ASC_PERIODIC_FUNCTIONS(X) \
    X(Cos, cos)                   \
    X(Sin, sin)                   \
    X(Tan, tan)

// X(op, float32 function, float64 function)
#define ASC_PAIRWISE_FUNCTIONS(X)          \
    X(Hypot, hypot32, hypot64)             \
    X(LogAddExp, logaddexp32, logaddexp64) \
    X(NextAfter, nextafter, nextafter)

}  // namespace

void fill_math(KernelTable& t) {
    constexpr int f32 = index(DType::Float32), f64 = index(DType::Float64);
#define X(op, f, g)                                                    \
    t.elementwise[index(Op::op)][f32] = unary<float, Plain<float, f>>; \
    t.elementwise[index(Op::op)][f64] = unary<double, Plain<double, g>>;
    ASC_PLAIN_FUNCTIONS(X)
#undef X
    t.elementwise[index(Op::Sqrt)][f32] = unary<float, Roots<float>>;
    t.elementwise[index(Op::Sqrt)][f64] = unary<double, Roots<double>>;
#define X(op, usual, f, g)                                                     \
    t.elementwise[index(Op::op)][f32] =                                        \
        unary<float, Guarded<float, usual, f<Domain::Usual>, f<Domain::Any>>>; \
    t.elementwise[index(Op::op)][f64] =                                        \
        unary<double, Guarded<double, usual, g<Domain::Usual>, g<Domain::Any>>>;
    ASC_GUARDED_FUNCTIONS(X)
#undef X
#define X(op, f)                                                       \
    t.elementwise[index(Op::op)][f32] =                                \
        unary<float, Periodic<float, far_off, f##32_near, f##32_far>>; \
    t.elementwise[index(Op::op)][f64] =                                \
        unary<double, Periodic<double, far_off, f##64_near, f##64_far>>;
    ASC_PERIODIC_FUNCTIONS(X)
#undef X
#define X(op, f, g)                                                        \
    t.elementwise[index(Op::op)][f32] = binary<float, Pairwise<float, f>>; \
    t.elementwise[index(Op::op)][f64] = binary<double, Pairwise<double, g>>;
    ASC_PAIRWISE_FUNCTIONS(X)
#undef X
    t.elementwise[index(Op::NextAfter)][index(DType::Float16)] =
        binary<int16_t, Pairwise<int16_t, nextafter16<0x7c00>>>;
    t.elementwise[index(Op::NextAfter)][index(DType::BFloat16)] =
        binary<int16_t, Pairwise<int16_t, nextafter16<0x7f80>>>;
    t.elementwise[index(Op::Atan2)][f32] =
        binary<float, GuardedPair<float, usual_atan2, atan2<Domain::Usual>, atan2<Domain::Any>>>;
    t.elementwise[index(Op::Atan2)][f64] =
        binary<double, GuardedPair<double, usual_atan2, atan2<Domain::Usual>, atan2<Domain::Any>>>;
    t.elementwise[index(Op::Pow)][f32] = binary<float, Power<float>>;
    t.elementwise[index(Op::Pow)][f64] = binary<double, Power<double>>;
}

}  // namespace asc::cpu::ASC_ISA
