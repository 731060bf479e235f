#include "backend/cpu/kernels/strand.h"

#include "backend/cpu/kernels/divide.h"
#include "backend/cpu/kernels/lane.h"

namespace asc::cpu::ASC_ISA {
namespace {

#if defined(__AVX512F__) || defined(__aarch64__)
constexpr int kVectors = 8;  // of a block: three registers leave a quarter of the processor's
#else
constexpr int kVectors = 4;
#endif

// ---- operations on vectors, and on single elements ----

#if !defined(__AVX512F__)  // which has parts of vectors
inline float root(float x) { return __builtin_sqrtf(x); }
inline double root(double x) { return __builtin_sqrt(x); }
inline float size_of(float x) { return __builtin_fabsf(x); }
inline double size_of(double x) { return __builtin_fabs(x); }
#endif

#if defined(__AVX512F__)
inline Vec<float> root(Vec<float> x) { return (Vec<float>)_mm512_sqrt_ps((__m512)x); }
inline Vec<double> root(Vec<double> x) { return (Vec<double>)_mm512_sqrt_pd((__m512d)x); }
#elif defined(__AVX2__)
inline Vec<float> root(Vec<float> x) { return (Vec<float>)_mm256_sqrt_ps((__m256)x); }
inline Vec<double> root(Vec<double> x) { return (Vec<double>)_mm256_sqrt_pd((__m256d)x); }
#elif defined(__x86_64__)
inline Vec<float> root(Vec<float> x) { return (Vec<float>)_mm_sqrt_ps((__m128)x); }
inline Vec<double> root(Vec<double> x) { return (Vec<double>)_mm_sqrt_pd((__m128d)x); }
#else
inline Vec<float> root(Vec<float> x) { return (Vec<float>)vsqrtq_f32((float32x4_t)x); }
inline Vec<double> root(Vec<double> x) { return (Vec<double>)vsqrtq_f64((float64x2_t)x); }
#endif

inline Vec<float> size_of(Vec<float> x) {
    return __builtin_bit_cast(Vec<float>, __builtin_bit_cast(Vec<uint32_t>, x) & 0x7fffffffu);
}
inline Vec<double> size_of(Vec<double> x) {
    return __builtin_bit_cast(Vec<double>,
                              __builtin_bit_cast(Vec<uint64_t>, x) & 0x7fffffffffffffffu);
}

// NaN propagates, as in arithmetic.cpp.
template <class V>
inline V larger(V a, V b) {
    const V chosen = a > b ? a : b;
    return a == a ? chosen : a;
}
template <class V>
inline V smaller(V a, V b) {
    const V chosen = a < b ? a : b;
    return a == a ? chosen : a;
}

template <StrandOp Op, class V>
inline V apply(V r, V x) {
    if constexpr (Op == StrandOp::Add) return r + x;
    if constexpr (Op == StrandOp::Multiply) return r * x;
    if constexpr (Op == StrandOp::Subtract) return r - x;
    if constexpr (Op == StrandOp::SubtractFrom) return x - r;
    if constexpr (Op == StrandOp::Divide) return r / x;
    if constexpr (Op == StrandOp::DivideInto) return x / r;
    if constexpr (Op == StrandOp::Maximum) return larger(r, x);
    if constexpr (Op == StrandOp::MaximumFrom) return larger(x, r);
    if constexpr (Op == StrandOp::Minimum) return smaller(r, x);
    if constexpr (Op == StrandOp::MinimumFrom) return smaller(x, r);
}

// ---- what a register holds: N whole vectors, a part of one, or one element ----

template <int... K>
struct Pack {};
template <int N, int... K>
struct PackOf : PackOf<N - 1, N - 1, K...> {};
template <int... K>
struct PackOf<0, K...> {
    using type = Pack<K...>;
};
template <int K>
struct Constant {
    static constexpr int value = K;
};

#define ASC_INLINE __attribute__((always_inline)) inline

template <class F, int... K>
ASC_INLINE void each(Pack<K...>, F f) {
    (f(Constant<K>{}), ...);
}

template <class T, class V, int N>
struct Block {
    using Value = V;
    static constexpr int kCount = N, kElements = N * static_cast<int>(sizeof(V) / sizeof(T));
    static constexpr typename PackOf<N>::type kEach{};
    ASC_INLINE V load(const T* p, int k) const {
        V v;
        __builtin_memcpy(&v, p + k * (kElements / N), sizeof(v));
        return v;
    }
    ASC_INLINE void store(T* p, int k, V v) const {
        __builtin_memcpy(p + k * (kElements / N), &v, sizeof(v));
    }
    ASC_INLINE static V splat(T x) { return x - V{}; }
};

#if defined(__AVX512F__)
template <class T>
struct Part : Block<T, Vec<T>, 1> {
    uint32_t mask;
    explicit Part(int64_t n) : mask((1u << n) - 1) {}
    ASC_INLINE Vec<T> load(const T* p, int) const {
        if constexpr (kSame<T, float>)
            return (Vec<T>)_mm512_maskz_loadu_ps(static_cast<__mmask16>(mask), p);
        else
            return (Vec<T>)_mm512_maskz_loadu_pd(static_cast<__mmask8>(mask), p);
    }
    ASC_INLINE void store(T* p, int, Vec<T> v) const {
        if constexpr (kSame<T, float>)
            _mm512_mask_storeu_ps(p, static_cast<__mmask16>(mask), (__m512)v);
        else
            _mm512_mask_storeu_pd(p, static_cast<__mmask8>(mask), (__m512d)v);
    }
};
#endif

// Roots and quotients by one divisor of a whole register.
template <class T, class B, class V>
ASC_INLINE void roots_of(V* r) {
#if defined(__AVX512F__)
    using W = decltype(wide(T()));
    uint32_t usual = W::kAll;
    each(B::kEach, [&](auto k) __attribute__((always_inline)) {
        usual &= W::moderate((typename W::V)r[k.value], false);
    });
    if (usual == W::kAll)
        return each(B::kEach, [&](auto k) __attribute__((always_inline)) {
            r[k.value] = (V)usual_root<W>((typename W::V)r[k.value]);
        });
#endif
    each(B::kEach, [&](auto k) __attribute__((always_inline)) { r[k.value] = root(r[k.value]); });
}
template <class T, class B, class V>
ASC_INLINE void quotients_of(V* r, T divisor) {
#if defined(__AVX512F__)
    using W = decltype(wide(T()));
    using X = typename W::V;
    const X d = W::splat(divisor);
    uint32_t usual = W::moderate(d, false);
    each(B::kEach, [&](auto k) __attribute__((always_inline)) {
        const X x = (X)r[k.value];
        usual &= W::moderate(x, true) | W::zeros(x);
    });
    if (usual == W::kAll) {
        const X inverse = W::splat(1 / divisor);
        return each(B::kEach, [&](auto k) __attribute__((always_inline)) {
            r[k.value] = (V)usual_quotient<W>((X)r[k.value], d, inverse);
        });
    }
#endif
    const V x = B::splat(divisor);
    each(B::kEach, [&](auto k) __attribute__((always_inline)) { r[k.value] = r[k.value] / x; });
}

// ---- the loop ----

#define ASC_STEP(op, form, reg, ...)                         \
    case strand_code(StrandOp::op, StrandForm::form, reg): { \
        __VA_ARGS__;                                         \
        break;                                               \
    }
#define ASC_EACH(...) each(B::kEach, [&](auto k) __attribute__((always_inline)) { __VA_ARGS__; })
// The four forms of one operation on register r, which is number `reg`.
#define ASC_FORMS(op, reg, r, next, last)                                                          \
    ASC_STEP(op, Memory, reg,                                                                      \
             ASC_EACH(r[k.value] = apply<StrandOp::op>(r[k.value], block.load(one + i, k.value)))) \
    ASC_STEP(op, Scalar, reg, const V x = B::splat(*one);                                          \
             ASC_EACH(r[k.value] = apply<StrandOp::op>(r[k.value], x)))                            \
    ASC_STEP(op, Next, reg, ASC_EACH(r[k.value] = apply<StrandOp::op>(r[k.value], next[k.value]))) \
    ASC_STEP(op, Last, reg, ASC_EACH(r[k.value] = apply<StrandOp::op>(r[k.value], last[k.value])))
#define ASC_REGISTER(reg, r, next, last)                                              \
    ASC_STEP(Take, Memory, reg, ASC_EACH(r[k.value] = block.load(one + i, k.value)))  \
    ASC_STEP(Take, Scalar, reg, const V x = B::splat(*one); ASC_EACH(r[k.value] = x)) \
    ASC_STEP(Take, Next, reg, ASC_EACH(r[k.value] = next[k.value]))                   \
    ASC_STEP(Take, Last, reg, ASC_EACH(r[k.value] = last[k.value]))                   \
    ASC_FORMS(Add, reg, r, next, last)                                                \
    ASC_FORMS(Multiply, reg, r, next, last)                                           \
    ASC_FORMS(Subtract, reg, r, next, last)                                           \
    ASC_FORMS(SubtractFrom, reg, r, next, last)                                       \
    ASC_STEP(Divide, Memory, reg,                                                     \
             ASC_EACH(r[k.value] = r[k.value] / block.load(one + i, k.value)))        \
    ASC_STEP(Divide, Scalar, reg, quotients_of<T, B>(r, *one))                        \
    ASC_STEP(Divide, Next, reg, ASC_EACH(r[k.value] = r[k.value] / next[k.value]))    \
    ASC_STEP(Divide, Last, reg, ASC_EACH(r[k.value] = r[k.value] / last[k.value]))    \
    ASC_FORMS(DivideInto, reg, r, next, last)                                         \
    ASC_FORMS(Maximum, reg, r, next, last)                                            \
    ASC_FORMS(MaximumFrom, reg, r, next, last)                                        \
    ASC_FORMS(Minimum, reg, r, next, last)                                            \
    ASC_FORMS(MinimumFrom, reg, r, next, last)                                        \
    ASC_STEP(Negative, Memory, reg, ASC_EACH(r[k.value] = -r[k.value]))               \
    ASC_STEP(Abs, Memory, reg, ASC_EACH(r[k.value] = size_of(r[k.value])))            \
    ASC_STEP(Square, Memory, reg, ASC_EACH(r[k.value] = r[k.value] * r[k.value]))     \
    ASC_STEP(Sqrt, Memory, reg, roots_of<T, B>(r))                                    \
    ASC_STEP(Reciprocal, Memory, reg, ASC_EACH(r[k.value] = 1 / r[k.value]))          \
    ASC_STEP(Store, Memory, reg,                                                      \
             ASC_EACH(block.store(const_cast<T*>(one + i), k.value, r[k.value])))

template <class T, class B>
void run_block(const StrandStep* step, const void* const* places, int64_t i, B block) {
    using V = typename B::Value;
    V a[B::kCount], b[B::kCount], c[B::kCount];
    for (;; ++step) {
        const T* one = static_cast<const T*>(places[step->place]);
        switch (step->code) {
            ASC_REGISTER(0, a, b, c)
            ASC_REGISTER(1, b, c, a)
            ASC_REGISTER(2, c, a, b)
            case kStrandEnd:
                return;
            default:
                __builtin_unreachable();
        }
    }
}

template <class T>
void strand(const StrandStep* steps, const void* const* places, int64_t n) {
    using Whole = Block<T, Vec<T>, kVectors>;
    int64_t i = 0;
    for (; i + Whole::kElements <= n; i += Whole::kElements)
        run_block<T, Whole>(steps, places, i, {});
#if defined(__AVX512F__)
    for (; i < n; i += kLanes<T>)
        run_block<T, Part<T>>(steps, places, i, Part<T>(min_of<int64_t>(kLanes<T>, n - i)));
#else
    using One = Block<T, Vec<T>, 1>;
    for (; i + One::kElements <= n; i += One::kElements) run_block<T, One>(steps, places, i, {});
    for (; i < n; ++i) run_block<T, Block<T, T, 1>>(steps, places, i, {});
#endif
}

}  // namespace

void fill_strand(KernelTable& t) {
    t.strand[index(DType::Float32)] = strand<float>;
    t.strand[index(DType::Float64)] = strand<double>;
}

}  // namespace asc::cpu::ASC_ISA
