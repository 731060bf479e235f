// Elementwise operations of complex64 and complex128.
#include "backend/cpu/kernels/complex_math.h"

namespace asc::cpu::ASC_ISA {
namespace {

constexpr int kTile = 64;

// The type in which elements of components T are computed.
template <class T>
struct WorkingOf;
template <>
struct WorkingOf<float> {
    using type = double;
};
template <>
struct WorkingOf<double> {
    using type = Wide;
};
template <class T>
using Working = typename WorkingOf<T>::type;

// ---- unary ---------------------------------------------------------------------------------

// Up to 64 elements as separate parts, padded to whole vectors with ones, which every function
// accepts. Loops over a multiple of eight have no remainder to compile.
struct Tile {
    double re[kTile], im[kTile];
};
inline int padded(int64_t n) { return (static_cast<int>(n) + 7) & ~7; }
template <class T>
inline void load_tile(Tile& t, const Complex<T>* src, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        t.re[i] = src[i].re;
        t.im[i] = src[i].im;
    }
    for (int64_t i = n; i < padded(n); ++i) t.re[i] = t.im[i] = 1;
}
template <class T>
inline void load_scalar(Tile& t, const Complex<T>* src) {
    for (int i = 0; i < kTile; ++i) t.re[i] = src->re, t.im[i] = src->im;
}

template <class T>
inline void store(Complex<T>& dst, Cd z) {
    dst = {static_cast<T>(z.re), static_cast<T>(z.im)};
}
template <class T>
inline void store(T& dst, double x) {
    dst = static_cast<T>(x);
}
template <class T>
inline void store_tile(Complex<T>* dst, const Tile& t, int64_t n) {
    for (int64_t i = 0; i < n; ++i) dst[i] = {static_cast<T>(t.re[i]), static_cast<T>(t.im[i])};
}
template <class T>
inline void store_tile(T* dst, const Tile& t, int64_t n) {
    for (int64_t i = 0; i < n; ++i) dst[i] = static_cast<T>(t.re[i]);
}
ASC_INLINE void put(Tile& t, int i, Cd z) {
    t.re[i] = z.re;
    t.im[i] = z.im;
}
ASC_INLINE void put(Tile& t, int i, double x) { t.re[i] = x; }

template <class R, class T>
inline void fill_rest(R* dst, int64_t n) {
    for (int64_t i = 1; i < n; ++i) dst[i] = dst[0];
}

// F over tiles: all elements on the straight path, then those outside its domain again.
template <class F, class T, class R>
void map_unary(void* dst, const void* const* src, int64_t n, unsigned scalars) {
    using V = Working<T>;
    R* out = static_cast<R*>(dst);
    const auto* in = static_cast<const Complex<T>*>(src[0]);
    const int64_t total = scalars & 1 ? (n > 0) : n;
    for (int64_t at = 0; at < total; at += kTile) {
        const int64_t m = total - at < kTile ? total - at : kTile;
        Tile x, y;
        load_tile(x, in + at, m);
        const int count = padded(m);
        int64_t rare = 0;
        for (int i = 0; i < count; ++i) {
            rare |= F::template in_domain<V>(x.re[i], x.im[i]) ? 0 : 1;
            put(y, i, F::template fast<V>(x.re[i], x.im[i]));
        }
        store_tile(out + at, y, m);
        if (rare == 0) continue;
        for (int i = 0; i < m; ++i)
            if (!F::template in_domain<V>(x.re[i], x.im[i]))
                store(out[at + i], F::slow(x.re[i], x.im[i]));
    }
    if (scalars & 1) fill_rest<R, T>(out, n);
}

// Operations on the parts, one by one: f(part, 0 for re or 1 for im).
template <class T, class F>
inline void map_parts(void* dst, const void* const* src, int64_t n, unsigned scalars, F f) {
    auto* out = static_cast<Complex<T>*>(dst);
    const auto* in = static_cast<const Complex<T>*>(src[0]);
    if (scalars & 1) {
        const Complex<T> z = {f(in->re, 0), f(in->im, 1)};
        for (int64_t i = 0; i < n; ++i) out[i] = z;
        return;
    }
    ASC_VECTOR_LOOP
    for (int64_t i = 0; i < n; ++i) {
        const T re = in[i].re, im = in[i].im;
        out[i].re = f(re, 0);
        out[i].im = f(im, 1);
    }
}
template <class T>
void conj(void* dst, const void* const* src, int64_t n, unsigned scalars) {
    map_parts<T>(dst, src, n, scalars, [](T x, int part) { return part ? -x : x; });
}
template <class T>
void negative(void* dst, const void* const* src, int64_t n, unsigned scalars) {
    map_parts<T>(dst, src, n, scalars, [](T x, int) { return -x; });
}
template <class T>
void positive(void* dst, const void* const* src, int64_t n, unsigned scalars) {
    map_parts<T>(dst, src, n, scalars, [](T x, int) { return x; });
}
ASC_INLINE float nearest_even(float x) { return __builtin_rintf(x); }
ASC_INLINE double nearest_even(double x) { return __builtin_rint(x); }
template <class T>
void round(void* dst, const void* const* src, int64_t n, unsigned scalars) {
    map_parts<T>(dst, src, n, scalars, [](T x, int) { return nearest_even(x); });
}
template <class T>
void square(void* dst, const void* const* src, int64_t n, unsigned scalars) {
    auto* out = static_cast<Complex<T>*>(dst);
    const auto* in = static_cast<const Complex<T>*>(src[0]);
    const int64_t step = scalars & 1 ? 0 : 1;
    if (step == 1) {
        ASC_VECTOR_LOOP
        for (int64_t i = 0; i < n; ++i) {
            const T a = in[i].re, b = in[i].im;
            out[i] = {a * a + -b * b, a * b + b * a};
        }
        return;
    }
    const T a = in->re, b = in->im;
    for (int64_t i = 0; i < n; ++i) out[i] = {a * a + -b * b, a * b + b * a};
}

// ---- binary --------------------------------------------------------------------------------

// f(a, b, c, d) -> Complex<T>, straight code.
template <class T, bool S0, bool S1, class F>
inline void binary_loop(Complex<T>* out, const Complex<T>* x, const Complex<T>* y, int64_t n, F f) {
    const Complex<T> p = *x, q = *y;
    ASC_VECTOR_LOOP
    for (int64_t i = 0; i < n; ++i) {
        const T a = S0 ? p.re : x[i].re, b = S0 ? p.im : x[i].im;
        const T c = S1 ? q.re : y[i].re, d = S1 ? q.im : y[i].im;
        const Complex<T> r = f(a, b, c, d);
        out[i].re = r.re;
        out[i].im = r.im;
    }
}
template <class T, class F>
inline void map_binary(void* dst, const void* const* src, int64_t n, unsigned scalars, F f) {
    if (n <= 0) return;
    auto* out = static_cast<Complex<T>*>(dst);
    const auto* x = static_cast<const Complex<T>*>(src[0]);
    const auto* y = static_cast<const Complex<T>*>(src[1]);
    switch (scalars & 3) {
        case 0:
            return binary_loop<T, false, false>(out, x, y, n, f);
        case 1:
            return binary_loop<T, true, false>(out, x, y, n, f);
        case 2:
            return binary_loop<T, false, true>(out, x, y, n, f);
        default:
            return binary_loop<T, true, true>(out, x, y, n, f);
    }
}
template <class T>
void add(void* dst, const void* const* src, int64_t n, unsigned scalars) {
    map_binary<T>(dst, src, n, scalars,
                  [](T a, T b, T c, T d) { return Complex<T>{a + c, b + d}; });
}
template <class T>
void subtract(void* dst, const void* const* src, int64_t n, unsigned scalars) {
    map_binary<T>(dst, src, n, scalars,
                  [](T a, T b, T c, T d) { return Complex<T>{a - c, b - d}; });
}
// The textbook formula, as the standard asks. Written with sums only: GCC turns a difference beside
// a sum into vfmaddsub even with -ffp-contract=off, and then z * conj(z) is no longer real.
template <class T>
void multiply(void* dst, const void* const* src, int64_t n, unsigned scalars) {
    map_binary<T>(dst, src, n, scalars,
                  [](T a, T b, T c, T d) { return Complex<T>{a * c + -b * d, a * d + b * c}; });
}

template <class T>
void divide(void* dst, const void* const* src, int64_t n, unsigned scalars) {
    using V = Working<T>;
    auto* out = static_cast<Complex<T>*>(dst);
    const auto* num = static_cast<const Complex<T>*>(src[0]);
    const auto* den = static_cast<const Complex<T>*>(src[1]);
    Tile x, y, q;
    if (scalars & 1) load_scalar(x, num);
    if (scalars & 2) load_scalar(y, den);
    for (int64_t at = 0; at < n; at += kTile) {
        const int64_t m = n - at < kTile ? n - at : kTile;
        if (!(scalars & 1)) load_tile(x, num + at, m);
        if (!(scalars & 2)) load_tile(y, den + at, m);
        const int count = padded(m);
        int64_t rare = 0;
        for (int i = 0; i < count; ++i) {
            rare |= Divide::in_domain<V>(x.re[i], x.im[i], y.re[i], y.im[i]) ? 0 : 1;
            put(q, i, Divide::fast<V>(x.re[i], x.im[i], y.re[i], y.im[i]));
        }
        store_tile(out + at, q, m);
        if (rare == 0) continue;
        for (int i = 0; i < m; ++i)
            if (!Divide::in_domain<V>(x.re[i], x.im[i], y.re[i], y.im[i]))
                store(out[at + i], Divide::slow(x.re[i], x.im[i], y.re[i], y.im[i]));
    }
}

// A tile of pairs, for the vector form of Pow::integer.
struct WideTile {
    double re[kTile], re_lo[kTile], im[kTile], im_lo[kTile];

    ASC_INLINE WideComplex get(int i) const { return {{re[i], re_lo[i]}, {im[i], im_lo[i]}}; }
    ASC_INLINE void set(int i, const WideComplex& z) {
        re[i] = z.re.hi;
        re_lo[i] = z.re.lo;
        im[i] = z.im.hi;
        im_lo[i] = z.im.lo;
    }
};
inline void square_tile(WideTile& r, int count) {
    for (int i = 0; i < count; ++i) r.set(i, mul(r.get(i), r.get(i)));
}
inline void multiply_tile(WideTile& r, const Tile& x, int count) {
    for (int i = 0; i < count; ++i)
        r.set(i, mul(r.get(i), WideComplex{{x.re[i], 0}, {x.im[i], 0}}));
}
inline void invert_tile(WideTile& r, int count) {
    for (int i = 0; i < count; ++i) r.set(i, inverse(r.get(i)));
}

// A tile times 2**-e, e the exponents of its larger parts, with 2**(n e) and whether that and
// all between stay within range.
struct Normalised {
    Tile z;
    double back[kTile];
    int64_t rare[kTile], any;
};
inline void normalise_tile(Normalised& s, int count, int n) {
    const int steps = 400 / (n < 0 ? -n : n);
    const double high = pow2(steps), low = pow2(-steps);
    s.any = 0;
    for (int i = 0; i < count; ++i) {
        const double a = s.z.re[i], b = s.z.im[i], size = larger_part(a, b);
        s.rare[i] = (size >= low) & (size <= high) & !is_nan(a) & !is_nan(b) ? 0 : 1;
        s.any |= s.rare[i];
        const int64_t e = static_cast<int64_t>(to_bits(size) >> 52) - 1023;
        const double down = pow2(-e);
        s.z.re[i] = a * down;
        s.z.im[i] = b * down;
        s.back[i] = pow2(n * e);
    }
}

// z**n, n != 0, for one n of all elements, with the bits of Pow::slow.
template <class T>
void integer_power(Complex<T>* out, const Complex<T>* base, int64_t n, int exponent) {
    const unsigned times = exponent < 0 ? -exponent : exponent;
    Normalised x;
    WideTile r;
    Tile y;
    for (int64_t at = 0; at < n; at += kTile) {
        const int64_t m = min_of(n - at, kTile);
        load_tile(x.z, base + at, m);
        load_tile(y, base + at, m);
        const int count = padded(m);
        normalise_tile(x, count, exponent);
        for (int i = 0; i < count; ++i) r.set(i, {{x.z.re[i], 0}, {x.z.im[i], 0}});
        for (int bit = 30 - __builtin_clz(times); bit >= 0; --bit) {
            square_tile(r, count);
            if (times >> bit & 1) multiply_tile(r, x.z, count);
        }
        if (exponent < 0) invert_tile(r, count);
        for (int i = 0; i < m; ++i) {
            r.re[i] = (r.re[i] + r.re_lo[i]) * x.back[i];
            r.im[i] = (r.im[i] + r.im_lo[i]) * x.back[i];
        }
        for (int i = 0; i < m; ++i) store(out[at + i], {r.re[i], r.im[i]});
        if (x.any == 0) continue;
        for (int i = 0; i < m; ++i)
            if (x.rare[i]) store(out[at + i], Pow::slow(y.re[i], y.im[i], exponent, 0));
    }
}

template <class T>
void power(void* dst, const void* const* src, int64_t n, unsigned scalars) {
    auto* out = static_cast<Complex<T>*>(dst);
    const auto* base = static_cast<const Complex<T>*>(src[0]);
    const auto* exponent = static_cast<const Complex<T>*>(src[1]);
    const bool one_integer = (scalars & 3) == 2 && Pow::is_integer(exponent->re, exponent->im);
    if (one_integer && exponent->re != 0 && exponent->re != 1)
        return integer_power(out, base, n, static_cast<int>(exponent->re));
    Tile x, w, y;
    int64_t rare[kTile];
    if (scalars & 1) load_scalar(x, base);
    if (scalars & 2) load_scalar(w, exponent);
    for (int64_t at = 0; at < n; at += kTile) {
        const int64_t m = n - at < kTile ? n - at : kTile;
        if (!(scalars & 1)) load_tile(x, base + at, m);
        if (!(scalars & 2)) load_tile(w, exponent + at, m);
        const int count = padded(m);
        for (int i = 0; i < count; ++i) {
            const auto r = Pow::fast<Working<T>>(x.re[i], x.im[i], w.re[i], w.im[i]);
            put(y, i, r.value);
            rare[i] = r.in_domain ? 0 : 1;
        }
        store_tile(out + at, y, m);
        for (int i = 0; i < m; ++i)
            if (rare[i]) store(out[at + i], Pow::slow(x.re[i], x.im[i], w.re[i], w.im[i]));
    }
}

// ---- results of bits -----------------------------------------------------------------------

// The even bits of w, close together.
inline uint64_t even_bits(uint64_t w) {
    w &= 0x5555555555555555;
    w = (w | w >> 1) & 0x3333333333333333;
    w = (w | w >> 2) & 0x0f0f0f0f0f0f0f0f;
    w = (w | w >> 4) & 0x00ff00ff00ff00ff;
    w = (w | w >> 8) & 0x0000ffff0000ffff;
    return (w | w >> 16) & 0xffffffff;
}

// A bit for each of n elements: both parts pass, flipped by kFlip. parts(p, q) compares two
// vectors; q points to the other operand of a binary operation, else to p again.
template <uint64_t kFlip, class T, class F>
inline void pack_both(uint64_t* dst, const T* p, const T* q, int64_t n, F parts) {
    const auto word = [&](const T* x, const T* y) __attribute__((always_inline)) {
        uint64_t halves[2] = {0, 0};
        for (int k = 0; k < 128; k += kLanes<T>)
            halves[k / 64] |= parts(load(x + k), load(y + k)) << (k % 64);
        for (uint64_t& w : halves) w = even_bits(w & w >> 1);
        return (halves[0] | halves[1] << 32) ^ kFlip;
    };
    for (; n >= 64; n -= 64, p += 128, q += 128) *dst++ = word(p, q);
    if (n > 0) {
        T rest[2][128] = {};
        memcpy(rest[0], p, static_cast<size_t>(2 * n) * sizeof(T));
        memcpy(rest[1], q, static_cast<size_t>(2 * n) * sizeof(T));
        *dst = word(rest[0], rest[1]);
    }
}
template <uint64_t kFlip, class T, class F>
inline void test(void* dst, const void* const* src, int64_t n, unsigned scalars, F parts) {
    const T* x = static_cast<const T*>(src[0]);
    auto* out = static_cast<uint64_t*>(dst);
    if (!(scalars & 1)) return pack_both<kFlip>(out, x, x, n, parts);
    uint64_t w;
    pack_both<kFlip>(&w, x, x, 1, parts);
    fill_value(out, w & 1 ? ~uint64_t{0} : 0, words(n));
}
template <class T>
ASC_INLINE Vec<T> absolute(Vec<T> x) {
    const Vec<UInt<T>> mask = broadcast<UInt<T>>(~UInt<T>{0} >> 1);
    return __builtin_bit_cast(Vec<T>, __builtin_bit_cast(Vec<UInt<T>>, x) & mask);
}
template <class T>
ASC_INLINE Vec<T> infinite() {
    return broadcast(static_cast<T>(kInf));
}
template <class T>
void isfinite(void* dst, const void* const* src, int64_t n, unsigned scalars) {
    test<0, T>(dst, src, n, scalars, [](Vec<T> x, Vec<T>) {
        return compare_bits<Cmp::Less, T>(absolute<T>(x), infinite<T>());
    });
}
// Not both parts other than infinite.
template <class T>
void isinf(void* dst, const void* const* src, int64_t n, unsigned scalars) {
    constexpr uint64_t kLaneBits = ~uint64_t{0} >> (64 - kLanes<T>);
    test<~uint64_t{0}, T>(dst, src, n, scalars, [](Vec<T> x, Vec<T>) {
        return compare_bits<Cmp::Equal, T>(absolute<T>(x), infinite<T>()) ^ kLaneBits;
    });
}
template <class T>
void isnan(void* dst, const void* const* src, int64_t n, unsigned scalars) {
    test<~uint64_t{0}, T>(dst, src, n, scalars,
                          [](Vec<T> x, Vec<T>) { return compare_bits<Cmp::Equal, T>(x, x); });
}
template <class T, uint64_t kFlip>
void equal(void* dst, const void* const* src, int64_t n, unsigned scalars) {
    const auto same = [](Vec<T> x, Vec<T> y) { return compare_bits<Cmp::Equal, T>(x, y); };
    auto* out = static_cast<uint64_t*>(dst);
    const T* operands[2] = {static_cast<const T*>(src[0]), static_cast<const T*>(src[1])};
    if ((scalars & 3) == 0) return pack_both<kFlip>(out, operands[0], operands[1], n, same);
    // A scalar operand becomes a block of itself.
    T block[128];
    const T* scalar = operands[scalars & 1 ? 0 : 1];
    for (int i = 0; i < 2 * min_of(n, 64); ++i) block[i] = scalar[i % 2];
    const T* other = operands[scalars & 1 ? 1 : 0];
    if ((scalars & 3) == 3) {
        uint64_t w;
        pack_both<kFlip>(&w, other, block, 1, same);
        return fill_value(out, w & 1 ? ~uint64_t{0} : 0, words(n));
    }
    for (int64_t at = 0; at < n; at += 64)
        pack_both<kFlip>(out++, other + 2 * at, block, n - at < 64 ? n - at : 64, same);
}

// The bits of dst[i] are those of x[i * s1] or y[i * s2], `kWords` words an element.
template <int kWords, int64_t s1, int64_t s2>
inline void where_loop(Word* dst, const uint64_t* bits, int64_t s0, const Word* x, const Word* y,
                       int64_t n) {
    for (int64_t at = 0; at < n; at += 64) {
        const int64_t m = min_of(n - at, 64);
        const uint64_t w = bits[at / 64 * s0];
        ASC_VECTOR_LOOP
        for (int64_t i = 0; i < m; ++i) {
            const uint64_t mask = -(w >> i & 1);
            for (int k = 0; k < kWords; ++k) {
                const uint64_t p = x[(at + i) * s1 * kWords + k], q = y[(at + i) * s2 * kWords + k];
                dst[(at + i) * kWords + k] = (p & mask) | (q & ~mask);
            }
        }
    }
}
template <class T>
void where(void* dst, const void* const* src, int64_t n, unsigned scalars) {
    constexpr int kWords = sizeof(Complex<T>) / 8;
    auto* out = static_cast<Word*>(dst);
    const auto* bits = static_cast<const uint64_t*>(src[0]);
    const auto* x = static_cast<const Word*>(src[1]);
    const auto* y = static_cast<const Word*>(src[2]);
    const int64_t s0 = scalars & 1 ? 0 : 1;
    switch (scalars >> 1 & 3) {
        case 0:
            return where_loop<kWords, 1, 1>(out, bits, s0, x, y, n);
        case 1:
            return where_loop<kWords, 0, 1>(out, bits, s0, x, y, n);
        case 2:
            return where_loop<kWords, 1, 0>(out, bits, s0, x, y, n);
        default:
            return where_loop<kWords, 0, 0>(out, bits, s0, x, y, n);
    }
}

// ---- table ---------------------------------------------------------------------------------

template <class T>
void fill(KernelTable& t, DType d) {
    const auto set = [&](Op op, ElementwiseFn f) {
        t.elementwise[static_cast<int>(op)][static_cast<int>(d)] = f;
    };
    using C = Complex<T>;
    set(Op::Abs, map_unary<Abs, T, T>);
    set(Op::Acos, map_unary<Acos, T, C>);
    set(Op::Acosh, map_unary<Acosh, T, C>);
    set(Op::Asin, map_unary<Asin, T, C>);
    set(Op::Asinh, map_unary<Asinh, T, C>);
    set(Op::Atan, map_unary<Atan, T, C>);
    set(Op::Atanh, map_unary<Atanh, T, C>);
    set(Op::Conj, conj<T>);
    set(Op::Cos, map_unary<Cos, T, C>);
    set(Op::Cosh, map_unary<Cosh, T, C>);
    set(Op::Exp, map_unary<Exp, T, C>);
    set(Op::Expm1, map_unary<Expm1, T, C>);
    set(Op::IsFinite, isfinite<T>);
    set(Op::IsInf, isinf<T>);
    set(Op::IsNan, isnan<T>);
    set(Op::Log, map_unary<Log<BaseE>, T, C>);
    set(Op::Log1p, map_unary<Log1p, T, C>);
    set(Op::Log2, map_unary<Log<Base2>, T, C>);
    set(Op::Log10, map_unary<Log<Base10>, T, C>);
    set(Op::Negative, negative<T>);
    set(Op::Positive, positive<T>);
    set(Op::Reciprocal, map_unary<Reciprocal, T, C>);
    set(Op::Round, round<T>);
    set(Op::Sign, map_unary<Sign, T, C>);
    set(Op::Sin, map_unary<Sin, T, C>);
    set(Op::Sinh, map_unary<Sinh, T, C>);
    set(Op::Sqrt, map_unary<Sqrt, T, C>);
    set(Op::Square, square<T>);
    set(Op::Tan, map_unary<Tan, T, C>);
    set(Op::Tanh, map_unary<Tanh, T, C>);
    set(Op::Add, add<T>);
    set(Op::Divide, divide<T>);
    set(Op::Equal, equal<T, 0>);
    set(Op::Multiply, multiply<T>);
    set(Op::NotEqual, equal<T, ~uint64_t{0}>);
    set(Op::Pow, power<T>);
    set(Op::Subtract, subtract<T>);
    set(Op::Where, where<T>);
}

}  // namespace

void fill_complex(KernelTable& t) {
    fill<float>(t, DType::Complex64);
    fill<double>(t, DType::Complex128);
}

}  // namespace asc::cpu::ASC_ISA
