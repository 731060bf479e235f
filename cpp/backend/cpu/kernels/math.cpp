// Elementary functions of float32 and float64.
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
constexpr int64_t kChunk = 512;

// ---- one operand ----

template <class T>
using Unary = T (*)(T);
template <class T>
using Binary = T (*)(T, T);

template <class T, Unary<T> F>
struct Plain {
    static __attribute__((noinline)) void run(T* dst, const T* src, int64_t n) {
        n &= -kLanes<T>;
        ASC_INDEPENDENT
        for (int64_t i = 0; i < n; ++i) dst[i] = F(src[i]);
    }
};

template <class T>
bool any_beyond(const T* src, int64_t n, T limit) {
    n &= -kLanes<T>;
    int beyond = 0;
    for (int64_t i = 0; i < n; ++i) {
        const T a = absolute(src[i]);
        beyond |= (a > limit) & (a < static_cast<T>(kInf));
    }
    return beyond != 0;
}

// Fast(x) for |x| <= limit (and not finite), Far(x) beyond it in a second pass.
template <class T, Unary<T> Fast, Unary<T> Far>
struct Periodic {
    static __attribute__((noinline)) void run(T* dst, const T* src, int64_t n) {
        const T limit = static_cast<T>(sizeof(T) == 4 ? kTrigLimit32 : kTrigLimit64);
        for (int64_t start = 0; start < n; start += kChunk) {
            const int64_t m = (n - start < kChunk ? n - start : kChunk) & -kLanes<T>;
            const bool far = any_beyond(src + start, m, limit);
            T saved[kChunk];
            if (far) __builtin_memcpy(saved, src + start, m * sizeof(T));
            ASC_INDEPENDENT
            for (int64_t i = 0; i < m; ++i) dst[start + i] = Fast(src[start + i]);
            for (int64_t i = 0; far && i < m; ++i) {
                const T a = absolute(saved[i]);
                if (a > limit && a < static_cast<T>(kInf)) dst[start + i] = Far(saved[i]);
            }
        }
    }
};

template <class T, class Loop>
void unary(void* dst, const void* const* src, int64_t n, unsigned scalars) {
    T* out = static_cast<T*>(dst);
    const T* in = static_cast<const T*>(src[0]);
    const int64_t whole = scalars ? 0 : n & -kLanes<T>;
    if (whole) Loop::run(out, in, whole);
    if (whole == n) return;
    T pad[kLanes<T>], result[kLanes<T>];
    for (int64_t i = 0; i < kLanes<T>; ++i) pad[i] = scalars || whole + i >= n ? in[scalars ? 0 : whole] : in[whole + i];
    Loop::run(result, pad, kLanes<T>);
    if (scalars) {
        for (int64_t i = 0; i < n; ++i) out[i] = result[0];
    } else {
        for (int64_t i = whole; i < n; ++i) out[i] = result[i - whole];
    }
}

// ---- two operands ----

template <class T, Binary<T> F>
struct Pairwise {
    static __attribute__((noinline)) void run(T* dst, const T* a, const T* b, int64_t n) {
        n &= -kLanes<T>;
        ASC_INDEPENDENT
        for (int64_t i = 0; i < n; ++i) dst[i] = F(a[i], b[i]);
    }
};

template <class T>
void fill_with(T* dst, T value, int64_t n) {
    for (int64_t i = 0; i < n; ++i) dst[i] = value;
}

// A scalar operand is spread over one chunk: the arithmetic dwarfs the loads.
template <class T, class Loop>
void binary(void* dst, const void* const* src, int64_t n, unsigned scalars) {
    T* out = static_cast<T*>(dst);
    const T* in[2] = {static_cast<const T*>(src[0]), static_cast<const T*>(src[1])};
    T spread[2][kChunk];
    int64_t step[2];
    for (int k = 0; k < 2; ++k) {
        step[k] = scalars >> k & 1 ? 0 : 1;
        if (step[k] == 0) {
            fill_with(spread[k], in[k][0], n < kChunk ? (n + kLanes<T> - 1) & -kLanes<T> : kChunk);
            in[k] = spread[k];
        }
    }
    const int64_t whole = n & -kLanes<T>;
    const int64_t chunk = scalars ? kChunk : whole;
    for (int64_t i = 0; i < whole; i += chunk) {
        const int64_t m = whole - i < chunk ? whole - i : chunk;
        Loop::run(out + i, in[0] + i * step[0], in[1] + i * step[1], m);
    }
    if (whole == n) return;
    T pad[2][kLanes<T>], result[kLanes<T>];
    for (int k = 0; k < 2; ++k) {
        fill_with(pad[k], T{1}, kLanes<T>);
        for (int64_t i = whole; i < n; ++i) pad[k][i - whole] = in[k][i * step[k]];
    }
    Loop::run(result, pad[0], pad[1], kLanes<T>);
    for (int64_t i = whole; i < n; ++i) out[i] = result[i - whole];
}

// ---- the functions that take their argument modulo pi ----

inline float sin32_near(float x) {
    return sin32(x, light_reduce(x, 0x1.45f306dc9c883p-2, kPi, kPiLo));
}
inline float cos32_near(float x) { return sin32(1.0f, light_reduce_cos(x)); }
inline float tan32_near(float x) {
    return tan32(x, light_reduce(x, 0x1.45f306dc9c883p-1, kHalfPi, kHalfPiLo));
}
inline double sin64_near(double x) { return sin64(x, reduce_half_pi(x)); }
inline double cos64_near(double x) { return cos64(x, reduce_half_pi(x)); }
inline double tan64_near(double x) { return tan64(x, reduce_half_pi(x)); }
inline double sin64_far(double x) { return sin64(x, reduce_any(x)); }
inline double cos64_far(double x) { return cos64(x, reduce_any(x)); }
inline double tan64_far(double x) { return tan64(x, reduce_any(x)); }
inline float sin32_far(float x) { return static_cast<float>(sin64_far(x)); }
inline float cos32_far(float x) { return static_cast<float>(cos64_far(x)); }
inline float tan32_far(float x) { return static_cast<float>(tan64_far(x)); }

// X(op, float32 function, float64 function)
#define ASC_PLAIN_FUNCTIONS(X)        \
    X(Acos, acos, acos)               \
    X(Acosh, acosh, acosh)            \
    X(Asin, asin, asin)               \
    X(Asinh, asinh, asinh)            \
    X(Atan, atan, atan)               \
    X(Atanh, atanh, atanh)            \
    X(Cosh, cosh, cosh)           \
    X(Exp, exp, exp)              \
    X(Expm1, expm1, expm1)      \
    X(Log, log32, log64)              \
    X(Log1p, log1p, log1p)            \
    X(Log2, log2_32, log2_64)         \
    X(Log10, log10_32, log10_64)      \
    X(Sinh, sinh, sinh)           \
    X(Sqrt, root, root)               \
    X(Tanh, tanh, tanh)
#define ASC_PERIODIC_FUNCTIONS(X) X(Sin, sin) X(Cos, cos) X(Tan, tan)
#define ASC_PAIRWISE_FUNCTIONS(X)            \
    X(Atan2, atan2, atan2)                   \
    X(Hypot, hypot32, hypot64)               \
    X(LogAddExp, logaddexp32, logaddexp64)   \
    X(NextAfter, nextafter, nextafter)       \
    X(Pow, pow32, pow64)

}  // namespace

void fill_math(KernelTable& t) {
    constexpr int f32 = index(DType::Float32), f64 = index(DType::Float64);
#define X(op, f, g)                                                                          \
    t.elementwise[index(Op::op)][f32] = unary<float, Plain<float, f>>;         \
    t.elementwise[index(Op::op)][f64] = unary<double, Plain<double, g>>;
    ASC_PLAIN_FUNCTIONS(X)
#undef X
#define X(op, f)                                                                                 \
    t.elementwise[index(Op::op)][f32] = unary<float, Periodic<float, f##32_near, f##32_far>>;    \
    t.elementwise[index(Op::op)][f64] = unary<double, Periodic<double, f##64_near, f##64_far>>;
    ASC_PERIODIC_FUNCTIONS(X)
#undef X
#define X(op, f, g)                                                                              \
    t.elementwise[index(Op::op)][f32] = binary<float, Pairwise<float, f>>;                       \
    t.elementwise[index(Op::op)][f64] = binary<double, Pairwise<double, g>>;
    ASC_PAIRWISE_FUNCTIONS(X)
#undef X
}

}  // namespace asc::cpu::ASC_ISA
