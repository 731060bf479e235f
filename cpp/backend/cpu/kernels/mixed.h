// Products of float32 matrices by way of bfloat16: factors are rounded to bfloat16, products are
// added in float32. Apart from the table of kernels, for these need more than an instruction set.
#pragma once
#include "backend/cpu/kernels/table.h"

namespace asc::cpu {

// A block of a product is kMixedTile x kMixedTile elements; sums take kMixedDepth products at a
// time. Packed factors are whole tiles, filled up with zeros.
inline constexpr int64_t kMixedTile = 32;
inline constexpr int64_t kMixedDepth = 32;

struct MixedKernels {
    // Rows [0, rows) of `a`, k elements each, rows <= kMixedTile: for each kMixedDepth columns two
    // tiles of 16 rows.
    void (*pack_rows)(void* dst, const GemmOperand& a, int64_t rows, int64_t k);
    // Columns [0, cols) of b, cols <= kMixedTile: for each kMixedDepth rows two tiles of 16
    // columns, whose rows are the pairs of adjacent rows of b.
    void (*pack_columns)(void* dst, const GemmOperand& b, int64_t k, int64_t cols);
    // c = rows @ columns for one packed block of each; `depth` is a multiple of kMixedDepth.
    void (*multiply)(float* c, int64_t row_stride, const void* rows, const void* columns,
                     int64_t depth);
    // Around a thread's calls of multiply, or null.
    void (*begin)();
    void (*end)();
};

// Where the processor has what it takes.
enum class MixedUnit : uint8_t { Vectors, Tiles };  // AVX512-BF16; AMX

}  // namespace asc::cpu
