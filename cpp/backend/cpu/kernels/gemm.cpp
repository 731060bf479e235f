// Matrix products: packing, register tiles and dot products of every numeric dtype.
//
// Integers are exact modulo 2**bits; 8-bit ones are computed in 16 bits and float16/bfloat16 in
// float32. A complex matrix is read as a real one: `a` gives two real rows (re, im) an element,
// `b` and `c` two adjacent real columns, and a tile combines its pairs of rows at the end.
#include "backend/cpu/kernels/square.h"
#include "backend/cpu/kernels/table.h"

#include <string.h>

#include <type_traits>
#include <utility>
#if defined(__AVX2__) || defined(__AVX512F__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

namespace asc::cpu::ASC_ISA {
namespace {

// A tile is kTileRows x kTileVectors vectors: as many accumulators as the registers allow.
#if defined(__AVX512F__)
constexpr int kVectorBytes = 64, kTileVectors = 4;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32, kTileVectors = 2;
#elif defined(__ARM_NEON)
constexpr int kVectorBytes = 16, kTileVectors = 4;
#else
constexpr int kVectorBytes = 16, kTileVectors = 2;
#endif
constexpr int kTileRows = 6;

template <class T, int kBytes = kVectorBytes>
struct Simd {
    typedef T V __attribute__((vector_size(kBytes)));
    static constexpr int kLanes = kBytes / sizeof(T);
    static V load(const T* p) {
        V v;
        memcpy(&v, p, kBytes);
        return v;
    }
    static void store(T* p, V v) { memcpy(p, &v, kBytes); }
    // x - 0 is x for every x, signed zeros included.
    static V splat(T x) { return x - V{}; }
    // a * b + c, in floating point rounded once where the instruction set can.
    static V multiply_add(V a, V b, V c) {
#if defined(__FMA__)
        constexpr bool kSingle = std::is_same_v<T, float>, kDouble = std::is_same_v<T, double>;
#if defined(__AVX512F__)
        if constexpr (kSingle && kBytes == 64)
            return (V)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
        else if constexpr (kDouble && kBytes == 64)
            return (V)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
        else
#endif
            if constexpr (kSingle && kBytes == 32)
            return (V)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
        else if constexpr (kDouble && kBytes == 32)
            return (V)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
        else
            return a * b + c;
#elif defined(__ARM_NEON)
        if constexpr (std::is_same_v<T, float>)
            return (V)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
        else if constexpr (std::is_same_v<T, double>)
            return (V)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
        else
            return a * b + c;
#else
        return a * b + c;
#endif
    }
};

#if defined(__FMA__) || defined(__ARM_NEON)
inline float scalar_fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double scalar_fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
#endif
template <class T>
T scalar_fma(T a, T b, T c) {
    // 1u: 16-bit factors must not meet in a signed int.
    return static_cast<T>(1u * a * b + c);
}

template <class To, class From>
To bit_cast(From x) {
    static_assert(sizeof(To) == sizeof(From));
    To y;
    memcpy(&y, &x, sizeof y);
    return y;
}

// --- elements and accumulators -----------------------------------------------------------------

template <class T>
T widen(T x) {
    return x;
}
inline uint16_t widen(uint8_t x) { return x; }
inline float widen(BHalf x) { return bit_cast<float>(static_cast<uint32_t>(x.bits) << 16); }
inline float widen(Half x) {
    const uint32_t magnitude = x.bits & 0x7fffu;
    const uint32_t shifted = magnitude << 13;
    // Subnormals are counted in units of 2**-24; infinities and NaN need the largest exponent.
    const float subnormal = static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24f;
    const uint32_t special = magnitude >= 0x7c00u ? shifted + 0x70000000u : shifted + 0x38000000u;
    const uint32_t wide = magnitude < 0x400u ? bit_cast<uint32_t>(subnormal) : special;
    return bit_cast<float>(wide | static_cast<uint32_t>(x.bits & 0x8000u) << 16);
}

template <class Acc, class T>
void widen_row(Acc* dst, const T* src, int64_t n) {
    int64_t i = 0;
#if defined(__AVX512F__)
    if constexpr (std::is_same_v<T, Half>)
        for (; i + 16 <= n; i += 16) {
            const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(src + i));
            _mm512_storeu_ps(dst + i, _mm512_cvtph_ps(bits));
        }
#elif defined(__F16C__)
    if constexpr (std::is_same_v<T, Half>)
        for (; i + 8 <= n; i += 8) {
            const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(src + i));
            _mm256_storeu_ps(dst + i, _mm256_cvtph_ps(bits));
        }
#endif
    for (; i < n; ++i) dst[i] = widen(src[i]);
}

template <class T, class Acc>
struct Narrow {
    static T from(Acc x) { return static_cast<T>(x); }
};
template <>
struct Narrow<BHalf, float> {
    static BHalf from(float x) {
        const uint32_t b = bit_cast<uint32_t>(x);
        const uint32_t rounded = (b + 0x7fffu + ((b >> 16) & 1u)) >> 16;
        const bool nan = (b & 0x7fffffffu) > 0x7f800000u;
        return {static_cast<uint16_t>(nan ? (b >> 16) | 0x40u : rounded)};
    }
};
template <>
struct Narrow<Half, float> {
    static Half from(float x) {
        const uint32_t b = bit_cast<uint32_t>(x), sign = (b >> 16) & 0x8000u;
        const uint32_t a = b & 0x7fffffffu;
        // Adding 0.5 rounds a subnormal result to a multiple of 2**-24 in the low bits.
        const uint32_t small = bit_cast<uint32_t>(bit_cast<float>(a) + 0.5f) - 0x3f000000u;
        const uint32_t normal = (a - 0x38000000u + 0xfffu + ((a >> 13) & 1u)) >> 13;
        uint32_t r = a < 0x38800000u ? small : normal;
        r = a >= 0x47800000u ? 0x7c00u : r;
        r = a > 0x7f800000u ? 0x7e00u : r;
        return {static_cast<uint16_t>(r | sign)};
    }
};

// --- packing -----------------------------------------------------------------------------------

template <int kBytes>
struct UnitOf;
template <>
struct UnitOf<4> {
    using type = uint32_t;
};
template <>
struct UnitOf<8> {
    using type = uint64_t;
};

// Vector transposes of square blocks, in log2(lanes) rounds of exchanges.
template <class U, int kBytes = kVectorBytes>
struct Transpose {
    using S = Simd<U, kBytes>;
    using V = typename S::V;
    static constexpr int W = S::kLanes;

    // dst[k * dst_stride + j] = src[j * src_stride + k] for j, k < W.
    static void block(U* dst, int64_t dst_stride, const U* src, int64_t src_stride) {
        V r[W];
#pragma GCC unroll 16
        for (int j = 0; j < W; ++j) r[j] = S::load(src + j * src_stride);
        transpose_lanes<W, W>(r);
#pragma GCC unroll 16
        for (int k = 0; k < W; ++k) S::store(dst + k * dst_stride, r[k]);
    }
};

// dst[k * width + j] = src[j * stride + k], k < depth, j < cols.
template <class U>
void pack_transposed(U* dst, int64_t width, const U* src, int64_t stride, int64_t depth,
                     int64_t cols) {
    const auto squares = [&]<int kBytes>(std::integral_constant<int, kBytes>) {
        constexpr int64_t W = Transpose<U, kBytes>::W;
        const int64_t full_cols = cols / W * W, full_depth = depth / W * W;
        for (int64_t j = 0; j < full_cols; j += W)
            for (int64_t k = 0; k < full_depth; k += W)
                Transpose<U, kBytes>::block(dst + k * width + j, width, src + j * stride + k,
                                            stride);
        for (int64_t j = 0; j < cols; ++j)
            for (int64_t k = j < full_cols ? full_depth : 0; k < depth; ++k)
                dst[k * width + j] = src[j * stride + k];
    };
    constexpr int kHalf = kVectorBytes / 2;
    constexpr int64_t W = Transpose<U>::W;
    // Half of a square would be left to single elements.
    if constexpr (kHalf >= 16)
        if (cols < W || depth < W) return squares(std::integral_constant<int, kHalf>{});
    squares(std::integral_constant<int, kVectorBytes>{});
}

template <class Mem, class Acc, bool kComplex>
struct Gemm {
    using S = Simd<Acc>;
    using V = typename S::V;
    static constexpr int64_t P = kComplex ? 2 : 1;  // reals an element
    static constexpr int64_t W = S::kLanes;
    static constexpr int64_t NR = W * kTileVectors;  // reals of a strip's row
    static constexpr bool kSame = sizeof(Mem) == sizeof(Acc);

    // Rows k < depth of `cols` elements as dst[k * width], the rest of the width zeroed.
    static void pack_strip(Acc* dst, int64_t width, const Mem* b, int64_t row_stride,
                           int64_t col_stride, int64_t depth, int64_t cols) {
        const int64_t used = cols * P;
        if (used < width)
            for (int64_t k = 0; k < depth; ++k)
                for (int64_t j = used; j < width; ++j) dst[k * width + j] = 0;
        if (col_stride == 1) {
            for (int64_t k = 0; k < depth; ++k)
                widen_row(dst + k * width, b + k * row_stride * P, used);
            return;
        }
        constexpr int kUnit = static_cast<int>(sizeof(Mem) * P);
        if constexpr (kSame && (kUnit == 4 || kUnit == 8)) {
            if (row_stride == 1) {
                using U = typename UnitOf<kUnit>::type;
                pack_transposed<U>(reinterpret_cast<U*>(dst), width / P,
                                   reinterpret_cast<const U*>(b), col_stride, depth, cols);
                return;
            }
        }
        for (int64_t j = 0; j < cols; ++j)
            for (int64_t k = 0; k < depth; ++k)
                for (int64_t p = 0; p < P; ++p)
                    dst[k * width + j * P + p] =
                        widen(b[(k * row_stride + j * col_stride) * P + p]);
    }

    static void pack(void* dst, const GemmOperand& b, int64_t k, int64_t n) {
        const Mem* src = static_cast<const Mem*>(b.data);
        Acc* out = static_cast<Acc*>(dst);
        for (int64_t j = 0; j < n; j += NR / P, out += k * NR) {
            const int64_t cols = n - j < NR / P ? n - j : NR / P;
            for (int64_t p = 0; p < k; p += kGemmDepth)
                pack_strip(out + p * NR, NR, src + (p * b.row_stride + j * b.col_stride) * P,
                           b.row_stride, b.col_stride, k - p < kGemmDepth ? k - p : kGemmDepth,
                           cols);
        }
    }

    static int64_t row_start(const GemmBlock& g, int64_t i) {
        return g.a_rows ? g.a_rows[i] : i * g.a.row_stride;
    }

    // Rows of `depth` elements from k0 on: one behind the other where they are adjacent in
    // memory, else panels of kTileRows real rows (the last may have fewer), each depth x rows.
    static void pack_rows(Acc* dst, const GemmBlock& g, int64_t k0, int64_t depth) {
        constexpr int64_t kRows = kTileRows / P;
        const Mem* src = static_cast<const Mem*>(g.a.data) + k0 * g.a.col_stride * P;
        if (g.a.col_stride == 1) {
            for (int64_t i = 0; i < g.m; ++i, dst += depth * P)
                widen_row(dst, src + row_start(g, i) * P, depth * P);
            return;
        }
        for (int64_t i = 0; i < g.m; i += kRows) {
            const int64_t rows = g.m - i < kRows ? g.m - i : kRows;
            const Mem* row[kRows];
            for (int64_t r = 0; r < rows; ++r) row[r] = src + row_start(g, i + r) * P;
            for (int64_t k = 0; k < depth; ++k)
                for (int64_t r = 0; r < rows; ++r)
                    for (int64_t p = 0; p < P; ++p)
                        *dst++ = widen(row[r][k * g.a.col_stride * P + p]);
        }
    }

    // How one tile reads its operands and where it leaves its sums, strides in reals.
    struct Tile {
        int64_t depth;
        const Acc* a[kTileRows / P];  // the rows
        int64_t a_step;               // between elements of two depths
        const Acc* b;
        int64_t b_step;
        const Acc* ahead;  // what the tile fetches into the second cache
        Acc* c;
        int64_t c_row, cols;
        bool first;  // overwrite c instead of adding to it
    };
    // The tiles of kGemmRows rows together fetch one strip ahead, a line every kAheadDepth depths.
    static constexpr int64_t kLine = 64 / sizeof(Acc), kTiles = kGemmRows * P / kTileRows;
    static constexpr int64_t kAheadDepth = kTiles * kLine / NR;

    // `R` real rows of sums, `kPairs` combined into R / P rows of c.
    template <int R, int NV>
    static void tile(const Tile& t) {
        V acc[R][NV] = {};
        const Acc *a[R / P], *b = t.b;
        for (int r = 0; r < R / P; ++r) {
            a[r] = t.a[r];
            asm("" : "+r"(a[r]));  // one by one: a wide load waits for all stores before it
        }
        const int64_t a_step = t.a_step, b_step = t.b_step;
        // The sums meet c only at the end: until then it comes into the first cache.
#pragma GCC unroll 8
        for (int r = 0; r < R / P; ++r)
            for (int v = 0; v < NV; ++v) __builtin_prefetch(t.c + r * t.c_row + v * W, 1, 3);
        const Acc* ahead = t.ahead;
        for (int64_t i = 0, k = 0; i < t.depth; ++i, k += a_step, b += b_step) {
            if (i % kAheadDepth == 0) {
                __builtin_prefetch(ahead, 0, 2);
                ahead += kLine;
            }
            V bv[NV];
#pragma GCC unroll 8
            for (int v = 0; v < NV; ++v) bv[v] = S::load(b + v * W);
#pragma GCC unroll 8
            for (int r = 0; r < R; ++r) {
                const V av = S::splat(a[r / P][k + r % P]);
#pragma GCC unroll 8
                for (int v = 0; v < NV; ++v) acc[r][v] = S::multiply_add(av, bv[v], acc[r][v]);
            }
        }
        if (!kComplex && t.cols == NV * W) {
#pragma GCC unroll 8
            for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
                for (int v = 0; v < NV; ++v) {
                    Acc* c = t.c + r * t.c_row + v * W;
                    S::store(c, t.first ? acc[r][v] : S::load(c) + acc[r][v]);
                }
            }
            return;
        }
        Acc sums[R][NV * W];
        memcpy(sums, acc, sizeof sums);
        for (int r = 0; r < R; r += P) {
            Acc* c = t.c + r / P * t.c_row;
            if constexpr (kComplex) {
                for (int64_t j = 0; j < NV * W; j += 2) {
                    sums[r][j] -= sums[r + 1][j + 1];
                    sums[r][j + 1] += sums[r + 1][j];
                }
            }
            if (t.first)
                for (int64_t j = 0; j < t.cols; ++j) c[j] = sums[r][j];
            else
                for (int64_t j = 0; j < t.cols; ++j) c[j] += sums[r][j];
        }
    }

    using TileFn = void (*)(const Tile&);
    template <int NV>
    static TileFn pick_tile(int64_t rows) {
        switch (rows) {
            case 2:
                return tile<2, NV>;
            case 4:
                return tile<4, NV>;
            case 6:
                return tile<6, NV>;
            default:
                break;
        }
        if constexpr (!kComplex) {
            if (rows == 1) return tile<1, NV>;
            if (rows == 3) return tile<3, NV>;
            return tile<5, NV>;
        }
        return nullptr;
    }

    static constexpr int64_t kScratch = (kGemmRows * P + NR) * kGemmDepth * sizeof(Acc);

    // Few columns would leave most lanes of a vector idle: lanes are rows there.
    static bool pays_turned(const GemmBlock& g) {
        return !kComplex && kSame && g.n > 1 && g.n <= W / 2 && g.m >= W && g.k <= kGemmDepth &&
               !g.a_rows && (g.a.col_stride == 1 || g.a.row_stride == 1);
    }
    static void multiply_turned(const GemmBlock& g, Acc* strip) {
        using U = typename UnitOf<sizeof(Acc)>::type;
        Acc* sums = strip + NR * kGemmDepth;
        const Acc* a = static_cast<const Acc*>(g.a.data);
        const Acc* b = static_cast<const Acc*>(g.packed_b ? g.packed_b : g.b.data);
        const int64_t b_row = g.packed_b ? NR : g.b.row_stride;
        const int64_t b_col = g.packed_b ? 1 : g.b.col_stride;
        Tile t;
        t.depth = g.k;
        t.a_step = b_row;
        t.first = true;
        for (int64_t i = 0; i < g.m; i += NR) {
            const int64_t rows = g.m - i < NR ? g.m - i : NR;
            const int64_t width = rows <= W ? W : rows <= 2 * W ? 2 * W : NR;
            const auto pick = width == W    ? pick_tile<1>
                              : width == NR ? pick_tile<kTileVectors>
                                            : pick_tile<2>;
            if (g.a.row_stride == 1 && rows == width) {
                t.b = a + i;
                t.b_step = g.a.col_stride;
            } else {
                pack_strip(strip, width, a + i * g.a.row_stride, g.a.col_stride, g.a.row_stride,
                           g.k, rows);
                t.b = strip;
                t.b_step = width;
            }
            t.ahead = t.b;
            t.c_row = t.cols = width;
            if (g.a.col_stride == 1) {
                // The rows of the next strip, while this one is multiplied.
                for (int64_t r = i + NR; r < i + 2 * NR; ++r)
                    for (int64_t l = 0; l < g.k; l += kLine)
                        __builtin_prefetch(a + r * g.a.row_stride + l, 0, 3);
            }
            for (int64_t j = 0; j < g.n; j += kTileRows) {
                const int64_t columns = g.n - j < kTileRows ? g.n - j : kTileRows;
                for (int64_t c = 0; c < columns; ++c) t.a[c] = b + (j + c) * b_col;
                t.c = sums + j * width;
                pick(columns)(t);
            }
            pack_transposed<U>(reinterpret_cast<U*>(static_cast<Acc*>(g.c) + i * g.c_row_stride),
                               g.c_row_stride, reinterpret_cast<const U*>(sums), width, rows, g.n);
        }
    }

    // Columns that fill half of a wide vector: rows are read and written as they lie.
    using HalfSimd = Simd<Acc, kVectorBytes / 2>;
    static constexpr int64_t kHalfRows = 12;  // sums enough to keep the multipliers busy
    static bool pays_halves(const GemmBlock& g) {
        return g.n == HalfSimd::kLanes && g.m >= kHalfRows && g.k <= kGemmDepth && !g.a_rows &&
               g.a.col_stride == 1;
    }
    template <int64_t R>
    static void half_tile(const GemmBlock& g, int64_t i, const Acc* b) {
        const int64_t stride = g.a.row_stride;
        constexpr int64_t kEach = R < 4 ? R : 4;
        const Acc* a[R / kEach];
        for (int64_t q = 0; q < R / kEach; ++q) {
            a[q] = static_cast<const Acc*>(g.a.data) + (i + q * kEach) * stride;
            asm("" : "+r"(a[q]));  // few distances from few addresses: all stay in registers
        }
        // Short rows end before hardware has seen where they lead: those of a later tile.
        const auto place = reinterpret_cast<uintptr_t>(a[0]);  // no pointer: some are beyond a
        for (int64_t r = 0; g.k <= 2 * kLine && r < R; ++r) {
            for (int64_t k = 0; k < g.k; k += kLine) {
                const int64_t ahead = (r + 4 * kHalfRows) * stride + k;
                const uintptr_t next = place + static_cast<uint64_t>(ahead) * sizeof(Acc);
                __builtin_prefetch(reinterpret_cast<const void*>(next), 0, 3);
            }
        }
        typename HalfSimd::V sums[R] = {};
#pragma GCC unroll 4
        for (int64_t k = 0; k < g.k; ++k, b += NR) {
            const typename HalfSimd::V bv = HalfSimd::load(b);
#pragma GCC unroll 16
            for (int64_t r = 0; r < R; ++r)
                sums[r] = HalfSimd::multiply_add(
                    HalfSimd::splat(a[r / kEach][r % kEach * stride + k]), bv, sums[r]);
        }
        Acc* c = static_cast<Acc*>(g.c) + i * g.c_row_stride;
#pragma GCC unroll 16
        for (int64_t r = 0; r < R; ++r) HalfSimd::store(c + r * g.c_row_stride, sums[r]);
    }
    static void multiply_halves(const GemmBlock& g, Acc* strip) {
        if (!g.packed_b)
            pack_strip(strip, NR, static_cast<const Mem*>(g.b.data), g.b.row_stride, g.b.col_stride,
                       g.k, g.n);
        const Acc* b = g.packed_b ? static_cast<const Acc*>(g.packed_b) : strip;
        int64_t i = 0;
        for (; i + kHalfRows <= g.m; i += kHalfRows) half_tile<kHalfRows>(g, i, b);
        for (; i + 4 <= g.m; i += 4) half_tile<4>(g, i, b);
        for (; i < g.m; ++i) half_tile<1>(g, i, b);
    }

    static void multiply(const GemmBlock& g, void* scratch) {
        Acc* strip = static_cast<Acc*>(scratch);
        if constexpr (!kComplex && kSame && (sizeof(Acc) == 4 || sizeof(Acc) == 8)) {
            if constexpr (kVectorBytes == 64)
                if (pays_halves(g)) return multiply_halves(g, strip);
            if (pays_turned(g)) return multiply_turned(g, strip);
        }
        Acc* rows_packed = strip + NR * kGemmDepth;
        const Mem* b = static_cast<const Mem*>(g.b.data);
        // Rows that are far apart in memory are packed, unless they are read only once or twice.
        const bool pack_a = !kSame || (g.a.col_stride != 1 && g.n * P > 2 * NR && g.k > 8);
        for (int64_t p = 0; p < g.k; p += kGemmDepth) {
            const int64_t depth = g.k - p < kGemmDepth ? g.k - p : kGemmDepth;
            if (pack_a) pack_rows(rows_packed, g, p, depth);
            for (int64_t j = 0; j * P < g.n * P; j += NR / P) {
                const int64_t cols = (g.n - j < NR / P ? g.n - j : NR / P) * P;
                Tile t;
                t.depth = depth;
                t.cols = cols;
                t.first = p == 0;
                t.c_row = g.c_row_stride * P;
                const Mem* source = b + (p * g.b.row_stride + j * g.b.col_stride) * P;
                // A narrow strip has tiles of its own.
                const int64_t width = cols <= W ? W : cols <= 2 * W ? 2 * W : NR;
                if (g.packed_b) {
                    t.b = static_cast<const Acc*>(g.packed_b) + j * P * g.k + p * NR;
                    t.b_step = NR;
                } else if (kSame && g.b.col_stride == 1 && cols == width) {
                    t.b = reinterpret_cast<const Acc*>(source);
                    t.b_step = g.b.row_stride * P;
                } else {
                    t.b_step = width;
                    pack_strip(strip, t.b_step, source, g.b.row_stride, g.b.col_stride, depth,
                               cols / P);
                    t.b = strip;
                }
                t.ahead = g.packed_b ? next_strip(g, p, j) : t.b;
                run_rows(t, g, width, pack_a ? rows_packed : nullptr, p, j);
            }
        }
    }

    // The packed strip behind the one at column j and depth p: of the next column, the next depth
    // or the next block.
    static const Acc* next_strip(const GemmBlock& g, int64_t p, int64_t j) {
        const Acc* packed = static_cast<const Acc*>(g.packed_b);
        if (j + NR / P < g.n) return packed + (j * P + NR) * g.k + p * NR;
        return p + kGemmDepth < g.k ? packed + (p + kGemmDepth) * NR : packed;
    }

    // All rows of the block against one strip.
    static void run_rows(Tile& t, const GemmBlock& g, int64_t width, const Acc* packed, int64_t p,
                         int64_t j) {
        const auto pick = width == W    ? pick_tile<1>
                          : width == NR ? pick_tile<kTileVectors>
                                        : pick_tile<2>;
        const int64_t ahead_step = t.depth / kAheadDepth * kLine;
        for (int64_t i = 0; i < g.m; i += kTileRows / P, t.ahead += ahead_step) {
            const int64_t rows = (g.m - i) * P < kTileRows ? (g.m - i) * P : kTileRows;
            const bool panels = packed && g.a.col_stride != 1;
            t.a_step = panels ? rows : packed ? P : g.a.col_stride * P;
            for (int64_t r = 0; r < rows / P; ++r) {
                t.a[r] = panels   ? packed + (i * t.depth + r) * P
                         : packed ? packed + (i + r) * t.depth * P
                                  : static_cast<const Acc*>(g.a.data) +
                                        (row_start(g, i + r) + p * g.a.col_stride) * P;
            }
            t.c = static_cast<Acc*>(g.c) + i * t.c_row + j * P;
            pick(rows)(t);
        }
    }

    // A matrix of each of `count` products as dst[element * W + product].
    static void pack_series(Acc* dst, const GemmOperand& x, int64_t first, int64_t rows,
                            int64_t cols, int64_t step, int64_t count) {
        const Mem* src = static_cast<const Mem*>(x.data) + first * step * P;
        if (x.col_stride == 1 && x.row_stride == cols)
            return pack_strip(dst, W, src, 1, step, rows * cols, count);
        for (int64_t r = 0; r < rows; ++r)
            pack_strip(dst + r * cols * W, W, src + r * x.row_stride * P, x.col_stride, step, cols,
                       count);
    }

    static V swap_pairs(V v) {
        return [&]<int... I>(std::integer_sequence<int, I...>) {
            return __builtin_shufflevector(v, v, (I ^ 1)...);
        }(std::make_integer_sequence<int, static_cast<int>(W)>{});
    }

    // N columns of one row of products, each product in lanes of its own.
    template <int N>
    static void series_columns(Acc* c, const Acc* a, const Acc* b, int64_t n, int64_t k) {
        V sums[N] = {}, crossed[N] = {};
        for (int64_t l = 0; l < k; ++l) {
            const V av = S::load(a + l * W);
#pragma GCC unroll 4
            for (int j = 0; j < N; ++j) {
                const V bv = S::load(b + (l * n + j) * W);
                sums[j] = S::multiply_add(av, bv, sums[j]);
                if constexpr (kComplex)
                    crossed[j] = S::multiply_add(av, swap_pairs(bv), crossed[j]);
            }
        }
        for (int j = 0; j < N; ++j, c += W) {
            S::store(c, sums[j]);
            if constexpr (kComplex)
                for (int64_t l = 0; l < W; l += 2) {
                    c[l] = sums[j][l] - sums[j][l + 1];
                    c[l + 1] = crossed[j][l] + crossed[j][l + 1];
                }
        }
    }

    static void unpack_series(Acc* dst, const Acc* src, int64_t elements, int64_t count) {
        constexpr int kUnit = static_cast<int>(sizeof(Acc) * P);
        if constexpr (kUnit == 4 || kUnit == 8) {
            using U = typename UnitOf<kUnit>::type;
            return pack_transposed<U>(reinterpret_cast<U*>(dst), elements,
                                      reinterpret_cast<const U*>(src), W / P, count, elements);
        }
        for (int64_t i = 0; i < count; ++i)
            for (int64_t e = 0; e < elements; ++e)
                for (int64_t p = 0; p < P; ++p) *dst++ = src[e * W + i * P + p];
    }

    // One product a lane.
    static void series(const GemmSeries& g) {
        alignas(64) Acc a[kGemmSeries * W], b[kGemmSeries * W], c[kGemmSeries * W];
        Acc* out = static_cast<Acc*>(g.c);
        for (int64_t first = 0; first < g.count; first += W / P) {
            const int64_t count = g.count - first < W / P ? g.count - first : W / P;
            pack_series(a, g.a, first, g.m, g.k, g.a_step, count);
            pack_series(b, g.b, first, g.k, g.n, g.b_step, count);
            for (int64_t i = 0; i < g.m; ++i) {
                Acc* row = c + i * g.n * W;
                int64_t j = 0;
                for (; j + 4 <= g.n; j += 4)
                    series_columns<4>(row + j * W, a + i * g.k * W, b + j * W, g.n, g.k);
                for (; j < g.n; ++j)
                    series_columns<1>(row + j * W, a + i * g.k * W, b + j * W, g.n, g.k);
            }
            unpack_series(out + first * g.m * g.n * P, c, g.m * g.n, count);
        }
    }

    static void add(void* acc, const void* part, int64_t n) {
        Acc* a = static_cast<Acc*>(acc);
        const Acc* b = static_cast<const Acc*>(part);
        for (int64_t i = 0; i < n * P; ++i) a[i] = static_cast<Acc>(a[i] + b[i]);
    }

    static void round(void* dst, const void* acc, int64_t n) {
        Mem* d = static_cast<Mem*>(dst);
        const Acc* a = static_cast<const Acc*>(acc);
        for (int64_t i = 0; i < n; ++i) d[i] = Narrow<Mem, Acc>::from(a[i]);
    }

    // Adds lanes pairwise: lane l and lane l + h for h = 16, 8, ...; lanes beyond `used` do not
    // exist. A lane is `width` sums side by side, `stride` apart.
    static void fold(Acc* lanes, int64_t stride, int64_t width, int64_t used) {
        for (int64_t h = kReduceLanes / 2; h; h /= 2)
            for (int64_t l = 0; l < h && l + h < used; ++l) {
                Acc *to = lanes + l * stride, *from = lanes + (l + h) * stride;
                for (int64_t j = 0; j < width; ++j) to[j] = static_cast<Acc>(to[j] + from[j]);
            }
    }
    static Acc fold_one(Acc* lanes, int64_t used) {
        if (used < kReduceLanes) {
            fold(lanes, 1, 1, used);
        } else {
#pragma GCC unroll 8
            for (int64_t h = kReduceLanes / 2; h; h /= 2)
                for (int64_t l = 0; l < h; ++l)
                    lanes[l] = static_cast<Acc>(lanes[l] + lanes[l + h]);
        }
        return lanes[0];
    }

    // The same for the lanes of N columns in vectors of their own. A column has kRegion lanes of a
    // vector, of which kLive are to be added: two vectors of full regions become one of half ones.
    template <int N, int kRegion = static_cast<int>(W), int kLive = kRegion>
    static void fold_vectors(Acc* out, V* v) {
        constexpr int H = kLive / 2, L = static_cast<int>(W);
        if constexpr (kLive == 1) {
            for (int i = 0; i < N; ++i)
                for (int r = 0; r < L / kRegion; ++r) *out++ = v[i][r * kRegion];
        } else if constexpr (N % 2 == 0 && kRegion == kLive) {
            [&]<int... I>(std::integer_sequence<int, I...>) {
#pragma GCC unroll 4
                for (int i = 0; i < N / 2; ++i)
                    v[i] = __builtin_shufflevector(v[2 * i], v[2 * i + 1],
                                                   (I / H * kLive + I % H)...) +
                           __builtin_shufflevector(v[2 * i], v[2 * i + 1],
                                                   (I / H * kLive + I % H + H)...);
            }(std::make_integer_sequence<int, L>{});
            fold_vectors<N / 2, H, H>(out, v);
        } else {
            [&]<int... I>(std::integer_sequence<int, I...>) {
#pragma GCC unroll 4
                for (int i = 0; i < N; ++i)
                    v[i] += __builtin_shufflevector(v[i], v[i], (I % kRegion < H ? I + H : I)...);
            }(std::make_integer_sequence<int, L>{});
            fold_vectors<N, kRegion, H>(out, v);
        }
    }

    static V load_wide(const Mem* p) {
        if constexpr (kSame) {
            return S::load(reinterpret_cast<const Acc*>(p));
        } else {
            Acc wide[W];
            for (int64_t i = 0; i < W; ++i) wide[i] = widen(p[i]);
            return S::load(wide);
        }
    }

    // What lanes hold after the last row of lanes, of which the first `left` exist.
    template <int N, int kVectors>
    [[gnu::noinline]] static void add_rest(V (*sums)[kVectors], const Mem* x, const Mem* b,
                                           int64_t stride, int64_t left) {
        for (int c = 0; c < N; ++c) {
            Acc lanes[kReduceLanes];
            memcpy(lanes, sums[c], sizeof lanes);
            for (int64_t l = 0; l < left; ++l)
                lanes[l] = scalar_fma(widen(x[l]), widen(b[c * stride + l]), lanes[l]);
            memcpy(sums[c], lanes, sizeof lanes);
        }
    }

    // Dot products of x with N columns whose elements are adjacent.
    template <int N>
    static void columns(Acc* out, const Mem* x, const Mem* b, int64_t stride, int64_t k) {
        if (k < kReduceLanes) {
            for (int c = 0; c < N; ++c, b += stride) {
                Acc lanes[kReduceLanes];
                for (int64_t l = 0; l < k; ++l)
                    lanes[l] = scalar_fma(Acc{widen(x[l])}, Acc{widen(b[l])}, Acc{});
                fold(lanes, 1, 1, k);
                out[c] = lanes[0];
            }
            return;
        }
        constexpr int kVectors = static_cast<int>(kReduceLanes / W);
        V sums[N][kVectors] = {};
        int64_t i = 0;
        for (; i + kReduceLanes <= k; i += kReduceLanes) {
#pragma GCC unroll 16
            for (int v = 0; v < kVectors; ++v) {
                const V xv = load_wide(x + i + v * W);
#pragma GCC unroll 8
                for (int c = 0; c < N; ++c)
                    sums[c][v] =
                        S::multiply_add(xv, load_wide(b + c * stride + i + v * W), sums[c][v]);
            }
        }
        // A copy: only what is not passed on stays in registers.
        if (i < k) {
            V rest[N][kVectors];
            memcpy(rest, sums, sizeof rest);
            add_rest<N, kVectors>(rest, x + i, b + i, stride, k - i);
            memcpy(sums, rest, sizeof rest);
        }
        V folded[N];
#pragma GCC unroll 8
        for (int c = 0; c < N; ++c) {
#pragma GCC unroll 4
            for (int h = kVectors / 2; h; h /= 2)
#pragma GCC unroll 8
                for (int v = 0; v < h; ++v) sums[c][v] += sums[c][v + h];
            folded[c] = sums[c][0];
        }
        fold_vectors<N>(out, folded);
    }

    static void column_complex(Acc* out, const Mem* x, const Mem* b, int64_t k, bool conj) {
        Acc lanes[4][kReduceLanes] = {};  // re * re, im * im, re * im, im * re
        for (int64_t i = 0; i < k; i += kReduceLanes) {
            const int64_t count = k - i < kReduceLanes ? k - i : kReduceLanes;
            for (int64_t l = 0; l < count; ++l) {
                const Acc xr = x[2 * (i + l)], xi = x[2 * (i + l) + 1];
                const Acc yr = b[2 * (i + l)], yi = b[2 * (i + l) + 1];
                lanes[0][l] = scalar_fma(xr, yr, lanes[0][l]);
                lanes[1][l] = scalar_fma(xi, yi, lanes[1][l]);
                lanes[2][l] = scalar_fma(xr, yi, lanes[2][l]);
                lanes[3][l] = scalar_fma(xi, yr, lanes[3][l]);
            }
        }
        const int64_t used = k < kReduceLanes ? k : kReduceLanes;
        Acc sums[4];
        for (int s = 0; s < 4; ++s) sums[s] = fold_one(lanes[s], used);
        out[0] = conj ? sums[0] + sums[1] : sums[0] - sums[1];
        out[1] = conj ? sums[2] - sums[3] : sums[2] + sums[3];
    }

    // Reals of a row of lanes, and rows of b that are packed at a time.
    static constexpr int64_t kAccBytes = sizeof(Acc), kColumns = 512 / kAccBytes, kPackDepth = 64;

    using Lanes = Acc[P][kReduceLanes][kColumns];

    // Some rows of b, from a whole number of kReduceLanes on, and the elements of x they meet.
    struct Rows {
        const Mem* x;
        const Acc* b;
        int64_t stride, depth, width;
        bool apart;
    };

    // Adds each row to its lane; kVectors of 0: as many as the width has.
    template <int kVectors>
    static void add_rows(Lanes& lanes, const Rows& rows) {
        const int64_t width = kVectors ? kVectors * W : rows.width;
        const Acc* row = rows.b;
        for (int64_t i = 0; i < rows.depth; ++i, row += rows.stride) {
            // Rows far apart are no pattern that hardware would fetch ahead.
            const char* ahead = reinterpret_cast<const char*>(row + 8 * rows.stride);
            for (int64_t byte = 0; rows.apart && byte < width * kAccBytes; byte += 64)
                __builtin_prefetch(ahead + byte);
#pragma GCC unroll 2
            for (int64_t p = 0; p < P; ++p) {
                const V xv = S::splat(widen(rows.x[i * P + p]));
                Acc* lane = lanes[p][i % kReduceLanes];
#pragma GCC unroll 16
                for (int64_t j = 0; j < width; j += W)
                    S::store(lane + j, S::multiply_add(xv, S::load(row + j), S::load(lane + j)));
            }
        }
    }
    static void add_rows(Lanes& lanes, const Rows& rows) {
        switch (rows.width / W) {
            case 1:
                return add_rows<1>(lanes, rows);
            case 2:
                return add_rows<2>(lanes, rows);
            case 4:
                return add_rows<4>(lanes, rows);
            case kColumns / W:
                return add_rows<kColumns / W>(lanes, rows);
            default:
                return add_rows<0>(lanes, rows);
        }
    }

    // The same sums for up to kColumns columns side by side. direct: rows of b are adjacent and
    // a whole number of vectors.
    static void side_by_side(Acc* out, const Mem* x, const Mem* b, const GemmOperand& layout,
                             int64_t k, int64_t cols, bool direct, bool conj) {
        alignas(64) Lanes lanes;
        alignas(64) Acc packed[kPackDepth * kColumns];
        const int64_t width = (cols * P + W - 1) / W * W;
        const int64_t used = k < kReduceLanes ? k : kReduceLanes;
        for (int64_t p = 0; p < P; ++p)
            for (int64_t l = 0; l < used; ++l)
                for (int64_t j = 0; j < width; ++j) lanes[p][l][j] = 0;
        for (int64_t first = 0; first < k; first += kPackDepth) {
            const int64_t depth = k - first < kPackDepth ? k - first : kPackDepth;
            const Mem* source = b + first * layout.row_stride * P;
            if (!direct)
                pack_strip(packed, width, source, layout.row_stride, layout.col_stride, depth,
                           cols);
            const Acc* rows = direct ? reinterpret_cast<const Acc*>(source) : packed;
            const int64_t stride = direct ? layout.row_stride * P : width;
            add_rows(lanes, {x + first * P, rows, stride, depth, width, stride != width});
        }
        for (int64_t p = 0; p < P; ++p) fold(lanes[p][0], kColumns, width, used);
        const Acc* re = lanes[0][0];
        if constexpr (!kComplex) {
            memcpy(out, re, static_cast<size_t>(cols) * sizeof(Acc));
        } else {
            const Acc* im = lanes[1][0];  // (im * re, im * im)
            for (int64_t j = 0; j < 2 * cols; j += 2) {
                out[j] = conj ? re[j] + im[j + 1] : re[j] - im[j + 1];
                out[j + 1] = conj ? re[j + 1] - im[j] : re[j + 1] + im[j];
            }
        }
    }

    static void dots(void* acc, const void* vector, const GemmOperand& b, int64_t k, int64_t n,
                     bool conj) {
        Acc* out = static_cast<Acc*>(acc);
        const Mem *x = static_cast<const Mem*>(vector), *data = static_cast<const Mem*>(b.data);
        int64_t j = 0;
        if (b.row_stride == 1 && (n == 1 || k >= kPackDepth || k == kReduceLanes)) {
            if constexpr (kComplex) {
                for (; j < n; ++j)
                    column_complex(out + 2 * j, x, data + 2 * j * b.col_stride, k, conj);
            } else {
                // As many columns as keep the adders busy without running out of registers.
                constexpr int kSide =
                    W * 8 >= kReduceLanes ? static_cast<int>(W * 8 / kReduceLanes) : 1;
                for (; j + kSide <= n; j += kSide)
                    columns<kSide>(out + j, x, data + j * b.col_stride, b.col_stride, k);
                for (; j < n; ++j) columns<1>(out + j, x, data + j * b.col_stride, b.col_stride, k);
            }
        }
        while (j < n) {
            int64_t cols = n - j < kColumns / P ? n - j : kColumns / P;
            const bool direct = kSame && b.col_stride == 1 && cols * P >= W;
            if (direct) cols -= cols * P % W / P;
            side_by_side(out + j * P, x, data + j * b.col_stride * P, b, k, cols, direct, conj);
            j += cols;
        }
    }

    // One column a lane of a vector.
    static void column_dots(void* acc, int64_t acc_step, const GemmOperand& x, const GemmOperand& b,
                            int64_t k, int64_t n, bool conj) {
        alignas(64) Acc xs[kReduceLanes * W], bs[kReduceLanes * W], sums[P][kReduceLanes * W];
        Acc* out = static_cast<Acc*>(acc);
        for (int64_t first = 0; first < n; first += W / P, out += W / P * acc_step * P) {
            const int64_t count = n - first < W / P ? n - first : W / P;
            if (first == 0 || x.col_stride != 0)
                pack_strip(xs, W, static_cast<const Mem*>(x.data) + first * x.col_stride * P,
                           x.row_stride, x.col_stride, k, count);
            pack_strip(bs, W, static_cast<const Mem*>(b.data) + first * b.col_stride * P,
                       b.row_stride, b.col_stride, k, count);
            for (int64_t l = 0; l < k * W; l += W) {
                const V xv = S::load(xs + l), bv = S::load(bs + l);
                S::store(sums[0] + l, S::multiply_add(xv, bv, V{}));
                if constexpr (kComplex)
                    S::store(sums[1] + l, S::multiply_add(xv, swap_pairs(bv), V{}));
            }
            for (int64_t p = 0; p < P; ++p) fold(sums[p], W, W, k);
            for (int64_t j = 0; j < count * P; j += P) {
                Acc* to = out + j * acc_step;
                to[0] = sums[0][j];
                if constexpr (kComplex) {
                    to[0] = conj ? sums[0][j] + sums[0][j + 1] : sums[0][j] - sums[0][j + 1];
                    to[1] = conj ? sums[1][j] - sums[1][j + 1] : sums[1][j] + sums[1][j + 1];
                }
            }
        }
    }

    static constexpr GemmKernels kernels() {
        return {NR / P,   static_cast<int64_t>(sizeof(Acc)) * P,
                kScratch, pack,
                multiply, series,
                add,      kSame ? nullptr : round,
                dots,     column_dots};
    }
};

template <class Mem, class Acc, bool kComplex = false>
void fill(KernelTable& t, DType d) {
    t.gemm[index(d)] = Gemm<Mem, Acc, kComplex>::kernels();
}

}  // namespace

void fill_gemm(KernelTable& t) {
    // Modulo 2**bits signed and unsigned products are the same.
    fill<uint8_t, uint16_t>(t, DType::UInt8);
    fill<uint16_t, uint16_t>(t, DType::UInt16);
    fill<uint32_t, uint32_t>(t, DType::UInt32);
    fill<uint64_t, uint64_t>(t, DType::UInt64);
    fill<uint8_t, uint16_t>(t, DType::Int8);
    fill<uint16_t, uint16_t>(t, DType::Int16);
    fill<uint32_t, uint32_t>(t, DType::Int32);
    fill<uint64_t, uint64_t>(t, DType::Int64);
    fill<Half, float>(t, DType::Float16);
    fill<BHalf, float>(t, DType::BFloat16);
    fill<float, float>(t, DType::Float32);
    fill<double, double>(t, DType::Float64);
    fill<float, float, true>(t, DType::Complex64);
    fill<double, double, true>(t, DType::Complex128);
}

}  // namespace asc::cpu::ASC_ISA
