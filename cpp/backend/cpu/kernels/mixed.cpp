// Products by way of bfloat16: AVX512-BF16, and tiles of AMX. Whoever calls has asked the
// processor.
#include "backend/cpu/kernels/mixed.h"

#include <string.h>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace asc::cpu::ASC_ISA {

#if defined(__AVX512F__)
namespace {

#define ASC_BF16 __attribute__((target("avx512bf16")))
#define ASC_AMX __attribute__((target("amx-tile,amx-bf16,avx512bf16")))

constexpr int64_t kTileBytes = 1024, kTileRows = 16, kRowBytes = 64;

// 16 elements, `stride` apart, of which `count` exist.
__m512 load(const float* p, int64_t stride, int64_t count) {
    if (stride == 1)
        return _mm512_maskz_loadu_ps(
            static_cast<__mmask16>(count >= 16 ? 0xffff : (1 << count) - 1), p);
    float values[16] = {};
    for (int64_t i = 0; i < count && i < 16; ++i) values[i] = p[i * stride];
    return _mm512_loadu_ps(values);
}

int64_t clamp(int64_t count, int64_t most) { return count < 0 ? 0 : count < most ? count : most; }

ASC_BF16 void pack_rows(void* dst, const GemmOperand& a, int64_t rows, int64_t k) {
    char* out = static_cast<char*>(dst);
    const float* src = static_cast<const float*>(a.data);
    for (int64_t p = 0; p < k; p += kMixedDepth, out += 2 * kTileBytes) {
        const int64_t depth = clamp(k - p, kMixedDepth);
        for (int64_t r = 0; r < kMixedTile; ++r) {
            const float* row = src + r * a.row_stride + p * a.col_stride;
            __m512i both = _mm512_setzero_si512();
            if (r < rows) {
                const __m512 low = load(row, a.col_stride, clamp(depth, 16));
                const __m512 high =
                    load(row + 16 * a.col_stride, a.col_stride, clamp(depth - 16, 16));
                both = (__m512i)_mm512_cvtne2ps_pbh(high, low);
            }
            _mm512_storeu_si512(out + r * kRowBytes, both);
        }
    }
}

// Exchanges rows and columns of 16 x 16 pairs.
void turn(char* dst, const uint32_t (*src)[16]) {
    uint32_t turned[16][16];
    for (int i = 0; i < 16; ++i)
        for (int j = 0; j < 16; ++j) turned[j][i] = src[i][j];
    memcpy(dst, turned, sizeof turned);
}

// A tile of 16 columns that are adjacent in memory along k.
ASC_BF16 void pack_turned(char* out, const float* src, int64_t stride, int64_t depth,
                          int64_t cols) {
    uint32_t pairs[16][16] = {};
    for (int64_t j = 0; j < cols; ++j) {
        const float* column = src + j * stride;
        const __m512 low = load(column, 1, clamp(depth, 16));
        const __m512 high = load(column + 16, 1, clamp(depth - 16, 16));
        _mm512_storeu_si512(pairs[j], (__m512i)_mm512_cvtne2ps_pbh(high, low));
    }
    turn(out, pairs);
}

// A tile of 16 columns, two rows of b at a time.
ASC_BF16 void pack_paired(char* out, const float* src, const GemmOperand& b, int64_t depth,
                          int64_t cols) {
    alignas(64) uint16_t order[32];
    for (uint16_t i = 0; i < 32; ++i) order[i] = static_cast<uint16_t>(i / 2 + i % 2 * 16);
    const __m512i interleave = _mm512_load_si512(order);
    for (int64_t r = 0; r < kMixedDepth; r += 2, out += kRowBytes) {
        const float* row = src + r * b.row_stride;
        const int64_t first = r < depth ? cols : 0, second = r + 1 < depth ? cols : 0;
        const __m512 low = load(row, b.col_stride, first);
        const __m512 high = load(second ? row + b.row_stride : row, b.col_stride, second);
        const __m512i both = (__m512i)_mm512_cvtne2ps_pbh(high, low);
        _mm512_storeu_si512(out, _mm512_permutexvar_epi16(interleave, both));
    }
}

void pack_columns(void* dst, const GemmOperand& b, int64_t k, int64_t cols) {
    char* out = static_cast<char*>(dst);
    for (int64_t p = 0; p < k; p += kMixedDepth) {
        for (int64_t j = 0; j < kMixedTile; j += 16, out += kTileBytes) {
            const float* src =
                static_cast<const float*>(b.data) + p * b.row_stride + j * b.col_stride;
            const int64_t depth = clamp(k - p, kMixedDepth), count = clamp(cols - j, 16);
            if (b.row_stride == 1 && b.col_stride != 1)
                pack_turned(out, src, b.col_stride, depth, count);
            else
                pack_paired(out, src, b, depth, count);
        }
    }
}

// Eight rows of a block in registers at a time.
ASC_BF16 void multiply_vectors(float* c, int64_t row_stride, const void* rows, const void* columns,
                               int64_t depth) {
    constexpr int kRows = 8;
    for (int64_t r = 0; r < kMixedTile; r += kRows) {
        __m512 acc[kRows][2];
        for (auto& row : acc) row[0] = row[1] = _mm512_setzero_ps();
        const char* a = static_cast<const char*>(rows) + r * kRowBytes;
        const char* b = static_cast<const char*>(columns);
        for (int64_t p = 0; p < depth; p += kMixedDepth, a += 2 * kTileBytes, b += 2 * kTileBytes) {
            for (int64_t pair = 0; pair < kTileRows; ++pair) {
                const __m512bh left = (__m512bh)_mm512_loadu_si512(b + pair * kRowBytes);
                const __m512bh right =
                    (__m512bh)_mm512_loadu_si512(b + kTileBytes + pair * kRowBytes);
#pragma GCC unroll 8
                for (int i = 0; i < kRows; ++i) {
                    int32_t both;
                    memcpy(&both, a + i * kRowBytes + pair * 4, 4);
                    const __m512bh x = (__m512bh)_mm512_set1_epi32(both);
                    acc[i][0] = _mm512_dpbf16_ps(acc[i][0], x, left);
                    acc[i][1] = _mm512_dpbf16_ps(acc[i][1], x, right);
                }
            }
        }
        for (int i = 0; i < kRows; ++i) {
            _mm512_storeu_ps(c + (r + i) * row_stride, acc[i][0]);
            _mm512_storeu_ps(c + (r + i) * row_stride + 16, acc[i][1]);
        }
    }
}

// Eight tiles of 16 rows of 64 bytes: four of sums, two of each factor. In memory that is there: to
// the compiler the instruction reads its first bytes only.
struct alignas(64) TileConfig {
    uint8_t palette, start, unused[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};
const volatile TileConfig tile_config = {
    1, 0, {}, {64, 64, 64, 64, 64, 64, 64, 64}, {16, 16, 16, 16, 16, 16, 16, 16}};
ASC_AMX void begin_tiles() { _tile_loadconfig(const_cast<const TileConfig*>(&tile_config)); }
ASC_AMX void end_tiles() { _tile_release(); }

ASC_AMX void multiply_tiles(float* c, int64_t row_stride, const void* rows, const void* columns,
                            int64_t depth) {
    const char *a = static_cast<const char*>(rows), *b = static_cast<const char*>(columns);
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (int64_t p = 0; p < depth; p += kMixedDepth, a += 2 * kTileBytes, b += 2 * kTileBytes) {
        _tile_loadd(4, a, kRowBytes);
        _tile_loadd(5, a + kTileBytes, kRowBytes);
        _tile_loadd(6, b, kRowBytes);
        _tile_loadd(7, b + kTileBytes, kRowBytes);
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(1, 4, 7);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
    }
    const size_t stride = static_cast<size_t>(row_stride) * sizeof(float);
    _tile_stored(0, c, stride);
    _tile_stored(1, c + 16, stride);
    _tile_stored(2, c + 16 * row_stride, stride);
    _tile_stored(3, c + 16 * row_stride + 16, stride);
}

constexpr MixedKernels kVectors{pack_rows, pack_columns, multiply_vectors, nullptr, nullptr};
constexpr MixedKernels kTiles{pack_rows, pack_columns, multiply_tiles, begin_tiles, end_tiles};

}  // namespace

const MixedKernels* mixed_kernels(MixedUnit unit) {
    return unit == MixedUnit::Tiles ? &kTiles : &kVectors;
}
#else
const MixedKernels* mixed_kernels(MixedUnit) { return nullptr; }
#endif

}  // namespace asc::cpu::ASC_ISA
