// Conversions between dtypes. The direct ones are loops; the rest go through a block of scratch.
#include "backend/cpu/kernels/lane.h"

namespace asc::cpu::ASC_ISA {

const KernelTable& kernels();

namespace {

// ---- integers to integers and floats ----

inline float to_float(int8_t x) { return static_cast<float>(x); }
inline float to_float(uint8_t x) { return static_cast<float>(x); }
inline float to_float(int16_t x) { return static_cast<float>(x); }
inline float to_float(uint16_t x) { return static_cast<float>(x); }
inline float to_float(int32_t x) { return static_cast<float>(x); }
inline float to_float(int64_t x) { return static_cast<float>(x); }
inline float to_float(uint64_t x) { return static_cast<float>(x); }
// Both halves are exact and have signed conversions: the sum rounds once.
inline float to_float(uint32_t x) {
    return static_cast<float>(static_cast<int32_t>(x >> 16)) * 65536.0f +
           static_cast<float>(static_cast<int32_t>(x & 0xffff));
}

template <class T>
inline double to_double(T x) {
    return static_cast<double>(x);
}
inline double to_double(uint32_t x) {
    return static_cast<double>(static_cast<int32_t>(x ^ 0x80000000u)) + 2147483648.0;
}
#if !defined(__AVX512DQ__) && !defined(__aarch64__)
// The halves become the low mantissa bits of 2**84 (2**84 + 2**63) and 2**52: the sum rounds once.
inline double to_double(uint64_t x) {
    const double high = float_of(x >> 32 | 0x4530000000000000u) - 0x1.00000001p84;
    return high + float_of((x & 0xffffffffu) | 0x4330000000000000u);
}
inline double to_double(int64_t x) {
    const uint64_t u = static_cast<uint64_t>(x);
    const double high = float_of((u >> 32 ^ 0x80000000u) | 0x4530000000000000u) - 0x1.00000801p84;
    return high + float_of((u & 0xffffffffu) | 0x4330000000000000u);
}
#endif

// ---- floats to integers: saturating, NaN gives 0 ----

// x in [low, high], NaN to 0; the limits are values of T.
template <class T>
inline T clamp(T x, T low, T high) {
    const T above = x > low ? x : low;
    const T inside = above < high ? above : high;
    return x == x ? inside : 0;
}

template <class I>
inline I to_small(float x) {
    constexpr float kHigh = static_cast<I>(~(kIsSigned<I> ? I(1) << (8 * sizeof(I) - 1) : 0));
    constexpr float kLow = kIsSigned<I> ? -kHigh - 1 : 0;
    return static_cast<I>(static_cast<int32_t>(clamp(x, kLow, kHigh)));
}
template <class I>
inline I to_small(double x) {
    constexpr double kHigh = static_cast<I>(~(kIsSigned<I> ? I(1) << (8 * sizeof(I) - 1) : 0));
    constexpr double kLow = kIsSigned<I> ? -kHigh - 1 : 0;
    return static_cast<I>(static_cast<int32_t>(clamp(x, kLow, kHigh)));
}

struct ToInteger {
    template <class I, class F>
    static I apply(F x) {
        if constexpr (sizeof(I) <= 2 || (kSame<I, int32_t> && kSame<F, double>)) {
            return to_small<I>(x);
        } else if constexpr (kSame<I, int32_t>) {
            const float inside = clamp(x, -0x1p31f, 0x1.fffffep30f);
            return x >= 0x1p31f ? 0x7fffffff : static_cast<int32_t>(inside);
        } else if constexpr (kSame<I, uint32_t>) {
            const double whole = __builtin_trunc(clamp<double>(x, 0, 4294967295.0));
            return static_cast<uint32_t>(static_cast<int32_t>(whole - 2147483648.0)) ^ 0x80000000u;
        } else if constexpr (kSame<I, int64_t>) {
            const double inside = clamp<double>(x, -0x1p63, 0x1.fffffffffffffp62);
            return x >= 0x1p63 ? INT64_MAX : static_cast<int64_t>(inside);
        } else {
            const double inside = clamp<double>(x, 0, 0x1.fffffffffffffp63);
            return x >= 0x1p64 ? UINT64_MAX : static_cast<uint64_t>(inside);
        }
    }
};

// ---- narrow floats ----

// float32 to float16, to nearest even.
inline uint16_t half_bits(float f) {
    const uint32_t bits = bits_of(f);
    const uint32_t size = bits & 0x7fffffff;
    const uint32_t sign = bits >> 16 & 0x8000;
    // Rebias the exponent; the carry of the rounding may reach infinity.
    const uint32_t normal = (size - (112u << 23) + 0xfff + (size >> 13 & 1)) >> 13;
    // Adding 0.5 leaves the subnormal's bits, rounded, at the end of the mantissa.
    const uint32_t tiny = bits_of(float_of(size) + 0.5f) - 0x3f000000;
    const uint32_t nan = 0x7e00 | (size >> 13 & 0x3ff);
    const uint32_t finite = size < 0x38800000 ? tiny : size >= 0x477ff000 ? 0x7c00 : normal;
    return static_cast<uint16_t>(sign | (size > 0x7f800000 ? nan : finite));
}
inline float half_value(uint16_t h) {
    const uint32_t size = static_cast<uint32_t>(h & 0x7fff) << 13;
    const uint32_t sign = static_cast<uint32_t>(h & 0x8000) << 16;
    const uint32_t finite = bits_of(float_of(size) * 0x1p112f);
    const uint32_t quiet = size > 0x0f800000 ? 0x00400000 : 0;
    return float_of(sign | (size >= 0x0f800000 ? size | 0x7f800000 | quiet : finite));
}
inline uint16_t bfloat_bits(float f) {
    const uint32_t bits = bits_of(f);
    const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    const uint32_t nan = bits >> 16 | 0x40;
    return static_cast<uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? nan : rounded);
}
inline float bfloat_value(uint16_t b) { return float_of(static_cast<uint32_t>(b) << 16); }

// float64 to float32 so that a second rounding to a narrower type is the only one: inexact
// results get an odd last bit.
inline float odd_float(double x) {
    const float f = static_cast<float>(x);
    const double back = f;
    const uint32_t away = __builtin_fabs(back) > __builtin_fabs(x) ? 1 : 0;
    const uint32_t inexact = back == x ? 0 : 1;
    return float_of((bits_of(f) - away) | inexact);
}
// 64-bit integers to float64 in the same manner: exact below 2**52, above with an odd last bit.
template <class T>
inline double odd_double(T x) {
    constexpr T kExact = T{1} << 51;
    const bool large = x > kExact || (kIsSigned<T> && x < static_cast<T>(0 - kExact));
    const T lost = x & 0xfff;
    const T odd = static_cast<T>((x - lost) | (lost != 0 ? 0x1000 : 0));
    return to_double(large ? odd : x);
}

// ---- loops ----

struct Cast {
    template <class To, class From>
    static To apply(From x) {
        if constexpr (kSame<To, double>)
            return to_double(x);
        else if constexpr (kSame<To, float> && kSame<From, double>)
            return static_cast<float>(x);
        else if constexpr (kSame<To, float>)
            return to_float(x);
        else
            return static_cast<To>(x);
    }
};
#define ASC_CONVERSION(name, To, From, function) \
    struct name {                                \
        template <class T, class F>              \
        static To apply(From x) {                \
            return function(x);                  \
        }                                        \
    };
ASC_CONVERSION(ToHalf, uint16_t, float, half_bits)
ASC_CONVERSION(FromHalf, float, uint16_t, half_value)
ASC_CONVERSION(ToBHalf, uint16_t, float, bfloat_bits)
ASC_CONVERSION(FromBHalf, float, uint16_t, bfloat_value)
ASC_CONVERSION(ToOdd, float, double, odd_float)
ASC_CONVERSION(OddInt64, double, int64_t, odd_double)
ASC_CONVERSION(OddUInt64, double, uint64_t, odd_double)
#undef ASC_CONVERSION

template <class To, class From, class F>
void loop(void* out, const void* in, int64_t n) {
    To* dst = static_cast<To*>(out);
    const From* src = static_cast<const From*>(in);
    for (int64_t i = 0; i < n; ++i) dst[i] = F::template apply<To, From>(src[i]);
}

template <int Bytes>
void same(void* dst, const void* src, int64_t n) {
    memmove(dst, src, static_cast<size_t>(n * Bytes));
}

#if defined(__AVX512F__)
// The hardware's conversions (maskz: the plain ones warn in GCC 12) give the same bits as the ones
// above.
void from_half(void* out, const void* in, int64_t n) {
    float* dst = static_cast<float*>(out);
    const uint16_t* src = static_cast<const uint16_t*>(in);
    int64_t i = 0;
    for (; i + 16 <= n; i += 16)
        _mm512_storeu_ps(
            dst + i, _mm512_maskz_cvtph_ps(
                         0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(src + i))));
    loop<float, uint16_t, FromHalf>(dst + i, src + i, n - i);
}
void to_half(void* out, const void* in, int64_t n) {
    uint16_t* dst = static_cast<uint16_t*>(out);
    const float* src = static_cast<const float*>(in);
    int64_t i = 0;
    for (; i + 16 <= n; i += 16)
        _mm256_storeu_si256(
            reinterpret_cast<__m256i*>(dst + i),
            _mm512_maskz_cvtps_ph(0xffff, _mm512_loadu_ps(src + i), _MM_FROUND_TO_NEAREST_INT));
    loop<uint16_t, float, ToHalf>(dst + i, src + i, n - i);
}
#elif defined(__F16C__)
void from_half(void* out, const void* in, int64_t n) {
    float* dst = static_cast<float*>(out);
    const uint16_t* src = static_cast<const uint16_t*>(in);
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(
            dst + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(src + i))));
    loop<float, uint16_t, FromHalf>(dst + i, src + i, n - i);
}
void to_half(void* out, const void* in, int64_t n) {
    uint16_t* dst = static_cast<uint16_t*>(out);
    const float* src = static_cast<const float*>(in);
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm_storeu_si128(reinterpret_cast<__m128i*>(dst + i),
                         _mm256_cvtps_ph(_mm256_loadu_ps(src + i), _MM_FROUND_TO_NEAREST_INT));
    loop<uint16_t, float, ToHalf>(dst + i, src + i, n - i);
}
#else
constexpr ConvertFn from_half = loop<float, uint16_t, FromHalf>;
constexpr ConvertFn to_half = loop<uint16_t, float, ToHalf>;
#endif

// ---- complex ----

template <class T>
void real_part_loop(void* out, const void* in, int64_t n) {
    T* dst = static_cast<T*>(out);
    const T* src = static_cast<const T*>(in);
    for (int64_t i = 0; i < n; ++i) dst[i] = src[2 * i];
}
template <class T>
void add_imaginary(void* out, const void* in, int64_t n) {
    T* dst = static_cast<T*>(out);
    const T* src = static_cast<const T*>(in);
    for (int64_t i = 0; i < n; ++i) {
        dst[2 * i] = src[i];
        dst[2 * i + 1] = 0;
    }
}
// Both parts of each element.
template <class To, class From>
void both_parts(void* dst, const void* src, int64_t n) {
    loop<To, From, Cast>(dst, src, 2 * n);
}

// ---- bool ----

void from_bool(void* dst, const void* src, int64_t n) {
    kernels().unpack_bits(static_cast<uint8_t*>(dst), static_cast<const uint8_t*>(src), 0, n);
}

// Bits of "not zero"; Mask removes the sign bits of floats.
template <class U, uint64_t Mask>
void to_bool(void* out, const void* in, int64_t n) {
    pack_words(
        static_cast<uint64_t*>(out), static_cast<const U*>(in), n, ~uint64_t{0},
        [](Vec<U> x) { return compare_bits<Cmp::Equal, U>(x & static_cast<U>(Mask), Vec<U>{}); });
}

// Whether a component of a complex128 is not zero, as a float64.
void merge_parts(void* out, const void* in, int64_t n) {
    double* dst = static_cast<double*>(out);
    const double* src = static_cast<const double*>(in);
    for (int64_t i = 0; i < n; ++i) dst[i] = (src[2 * i] != 0) | (src[2 * i + 1] != 0) ? 1.0 : 0.0;
}

// ---- two steps through a block of scratch; First and Second are known, so nothing is looked up
// ----

template <ConvertFn First, ConvertFn Second, int FromBits, int ToBits>
void chain(void* out, const void* in, int64_t n) {
    alignas(64) char scratch[kBlock * 8];
    char* dst = static_cast<char*>(out);
    const char* src = static_cast<const char*>(in);
    for (int64_t i = 0; i < n; i += kBlock) {
        const int64_t m = min_of(kBlock, n - i);
        First(scratch, src + i * FromBits / 8, m);
        Second(dst + i * ToBits / 8, scratch, m);
    }
}

// The conversion between two types: direct<D, E> where there is a loop, else a chain.
template <DType From, DType To>
constexpr ConvertFn conversion();

template <DType From, DType Via, DType To>
constexpr ConvertFn via() {
    return chain<conversion<From, Via>(), conversion<Via, To>(), kDTypeInfo[index(From)].bits,
                 kDTypeInfo[index(To)].bits>;
}
template <ConvertFn First, ConvertFn Second, DType From, DType To>
constexpr ConvertFn through() {
    return chain<First, Second, kDTypeInfo[index(From)].bits, kDTypeInfo[index(To)].bits>;
}

template <DType D>
using TypeOf = typename CType<D>::type;

template <DType From>
constexpr ConvertFn to_bits() {
    using T = TypeOf<From>;
    if constexpr (From == DType::Complex64)
        return to_bool<uint64_t, 0x7fffffff7fffffffu>;
    else if constexpr (is_real_float(From))
        return to_bool<UInt<T>, static_cast<UInt<T>>(~UInt<T>{0}) / 2>;
    else
        return to_bool<UInt<T>, ~uint64_t{0}>;
}

// float32 to a narrow float.
template <DType To>
constexpr ConvertFn narrow() {
    if constexpr (To == DType::Float16)
        return to_half;
    else
        return loop<uint16_t, float, ToBHalf>;
}
constexpr ConvertFn kDoubleToOdd = loop<float, double, ToOdd>;

template <DType From, DType To>
constexpr ConvertFn conversion() {
    using T = TypeOf<To>;
    using F = TypeOf<From>;
    constexpr DType kF32 = DType::Float32;
    constexpr DType kF64 = DType::Float64;
    if constexpr (From == To) {
        return same<sizeof(F)>;
    } else if constexpr (From == DType::Bool) {
        if constexpr (To == DType::Int8 || To == DType::UInt8)
            return from_bool;
        else
            return via<From, DType::UInt8, To>();
    } else if constexpr (To == DType::Bool) {
        if constexpr (From == DType::Complex128)
            return through<merge_parts, to_bits<kF64>(), From, To>();
        else
            return to_bits<From>();
    } else if constexpr (is_complex(From) && is_complex(To)) {
        return both_parts<decltype(T::re), decltype(F::re)>;
    } else if constexpr (is_complex(From)) {
        if constexpr (To == real_part(From))
            return real_part_loop<T>;
        else
            return via<From, real_part(From), To>();
    } else if constexpr (is_complex(To)) {
        if constexpr (From == real_part(To))
            return add_imaginary<F>;
        else
            return via<From, real_part(To), To>();
    } else if constexpr (is_narrow_float(From)) {
        if constexpr (To != kF32)
            return via<From, kF32, To>();
        else if constexpr (From == DType::Float16)
            return from_half;
        else
            return loop<float, uint16_t, FromBHalf>;
    } else if constexpr (is_narrow_float(To)) {
        if constexpr (From == kF32)
            return narrow<To>();
        else if constexpr (From == kF64)
            return through<kDoubleToOdd, narrow<To>(), From, To>();
        else if constexpr (sizeof(F) <= 2)
            return via<From, kF32, To>();
        else if constexpr (sizeof(F) == 4)
            return via<From, kF64, To>();
        else if constexpr (kIsSigned<F>)
            return through<loop<double, F, OddInt64>, conversion<kF64, To>(), From, To>();
        else
            return through<loop<double, F, OddUInt64>, conversion<kF64, To>(), From, To>();
    } else if constexpr (is_real_float(To)) {
        return loop<T, F, Cast>;
    } else if constexpr (is_real_float(From)) {
        // The wide integers take float32 through float64, which is exact.
        if constexpr (kSame<F, float> && (sizeof(T) == 8 || kSame<T, uint32_t>))
            return via<From, kF64, To>();
        else
            return loop<T, F, ToInteger>;
    } else if constexpr (sizeof(F) == sizeof(T)) {
        return same<sizeof(F)>;
    } else if constexpr (sizeof(F) > sizeof(T)) {
        return loop<UInt<T>, UInt<F>, Cast>;  // the low bits, whatever the signs
    } else {
        return loop<UInt<T>, F, Cast>;
    }
}

template <DType From>
void fill_from(KernelTable& t) {
#define X(name, type, py, kind, bits) \
    t.convert[index(From)][index(DType::name)] = conversion<From, DType::name>();
    ASC_FOR_EACH_DTYPE(X)
#undef X
}

void copy_words(void* dst, const void* src, int64_t n) {
    memmove(dst, src, static_cast<size_t>(words(n)) * 8);
}

}  // namespace

void fill_convert(KernelTable& t) {
#define X(name, type, py, kind, bits) fill_from<DType::name>(t);
    ASC_FOR_EACH_DTYPE(X)
#undef X
    t.convert[index(DType::Bool)][index(DType::Bool)] = copy_words;
}

}  // namespace asc::cpu::ASC_ISA
