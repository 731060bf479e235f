// The kernels of one instruction set, as a table of function pointers.
//
// Every kernel works on contiguous elements of one dtype; strides, conversions, packing and
// threads are the callers' business. A bool register is packed: bit i of word i / 64, starting
// at bit 0, its memory padded to whole 64-bit words whose unused bits may hold anything.
#pragma once
#include <cstdint>

#include "core/dtype.h"
#include "graph/ops.h"

namespace asc::cpu {

// dst[i] = op(src[0][i], ...). Bit k of `scalars` says that src[k] points to one element that
// serves every i (a bool scalar is a word of 64 equal bits).
using ElementwiseFn = void (*)(void* dst, const void* const* src, int64_t n, unsigned scalars);

// dst[i] = (To)src[i]. Float to integer saturates and NaN gives 0; complex to real keeps re.
using ConvertFn = void (*)(void* dst, const void* src, int64_t n);

// dst[i] = src[i * stride] or dst[i * stride] = src[i]; stride in elements, by element width.
using StridedCopyFn = void (*)(void* dst, const void* src, int64_t n, int64_t stride);

// Runs task(ctx, i) for i in [0, count) on the worker threads and waits for all of them.
struct Parallel {
    int threads;
    void (*run)(int64_t count, void (*task)(void* ctx, int64_t i), void* ctx);
};

// From how many keys on 8- and 16-bit keys are counted, 16-bit keys in up to kSortTables tables.
inline constexpr int64_t kSortCount8 = 256;
inline constexpr int64_t kSortCount16 = 1 << 15;
inline constexpr int64_t kSortTables = 8;

// Bytes of scratch, aligned to 64, that sorting needs; key bytes of a bool are 1.
constexpr int64_t argsort_scratch(int64_t n, int64_t key_bytes) { return n * (key_bytes + 8) * 2; }
constexpr int64_t sort_scratch(DType d, int64_t n, int threads) {
    const int64_t size = is_bool(d) ? 1 : itemsize(d);
    const int64_t signs = is_real_float(d) ? n / 8 + 64 : 0;
    if (is_complex(d)) {
        return 8 * n + argsort_scratch(n, size);
    }
    if (size == 1) {
        return n < kSortCount8 ? 8 * n : 0;
    }
    if (size == 2 && n >= kSortCount16) {
        const int64_t wanted = threads < kSortTables ? threads : kSortTables;
        const int64_t least = (n >> 31) + 1;
        return signs + (wanted > least ? wanted : least) * (65536 * 4);
    }
    return signs + n * (size == 2 ? 8 : size);
}

// Sorts n keys in place; NaN counts as the largest value. Stable: -0 and +0 are equal.
using SortFn = void (*)(void* keys, void* scratch, int64_t n, bool descending, const Parallel& par);
// order[0..n): the stable permutation that sorts keys, stable also if descending.
using ArgsortFn = void (*)(const void* keys, int64_t* order, void* scratch, int64_t n, bool descending,
                           const Parallel& par);
// out[i] = insertion point of keys[i] in sorted[0..n), NaN counting as the largest value.
using SearchFn = void (*)(const void* sorted, int64_t n, const void* keys, int64_t count, int64_t* out,
                          bool right);

enum class ReduceOp : uint8_t { Sum, Prod, Min, Max };
inline constexpr int kNumReduceOps = 4;

// The fixed shape of a reduction: element i of a block belongs to lane i % kReduceLanes; lanes
// are combined pairwise, then blocks pairwise, so that no result depends on threads or layout.
inline constexpr int64_t kReduceBlock = 512;
inline constexpr int64_t kReduceLanes = 32;

// *acc = reduction of src[0..n), n <= kReduceBlock, in the accumulator type.
using ReduceFn = void (*)(void* acc, const void* src, int64_t n);
// acc[j] = acc[j] op src[j]: rows of columns reduced side by side.
using ReduceRowsFn = void (*)(void* acc, const void* src, int64_t n);

// intgemm.cpp
// A matrix inside memory: element (i, j) is data[i * row_stride + j * col_stride].
struct GemmOperand {
    const void* data;
    int64_t row_stride, col_stride;
};
// c = a @ b for one block of the result; c holds accumulators, its columns are adjacent.
struct GemmBlock {
    int64_t m, n, k;         // m <= kGemmRows, k > 0
    GemmOperand a, b;
    const void* packed_b;    // the strips of b as made by `pack`, or null
    void* c;
    int64_t c_row_stride;
};
// The products of one dtype. Every element of c is the sum, in order, of partial sums over
// kGemmDepth products, each a chain in order: its bits depend on nothing but its row and column.
struct GemmKernels {
    int64_t strip;       // columns of one packed strip
    int64_t acc_bytes;   // bytes of one accumulator: more than the itemsize for narrow types
    int64_t scratch;     // bytes `multiply` needs
    // Packs k x n elements as ceil(n / strip) strips of k * strip accumulators.
    void (*pack)(void* dst, const GemmOperand& b, int64_t k, int64_t n);
    void (*multiply)(const GemmBlock& block, void* scratch);
    // acc[i] += part[i] for n accumulators.
    void (*add)(void* acc, const void* part, int64_t n);
    // dst[i] = acc[i], rounded once, n elements; null where accumulators are elements.
    void (*round)(void* dst, const void* acc, int64_t n);
    // *acc = sum of x[i] * y[i] (conj(x[i]) * y[i]), n <= kDotBlock adjacent elements.
    void (*dot)(void* acc, const void* x, const void* y, int64_t n, bool conj);
};
inline constexpr int64_t kGemmRows = 96;
inline constexpr int64_t kGemmDepth = 256;
inline constexpr int64_t kDotBlock = 4096;

struct KernelTable {
    const char* isa;
    ElementwiseFn elementwise[kNumOps][kNumDTypes];  // null where there is no native kernel
    ConvertFn convert[kNumDTypes][kNumDTypes];
    // bits.cpp: packed bits; a position counts bits from an address. No byte outside a range is
    // touched, no bit outside a destination range changes.
    void (*copy_bits)(uint8_t* dst, int64_t dst_bit, const uint8_t* src, int64_t src_bit, int64_t n);
    void (*fill_bits)(uint8_t* dst, int64_t dst_bit, int64_t n, bool value);
    int64_t (*count_bits)(const uint8_t* src, int64_t src_bit, int64_t n);
    // Bit i comes from src_bit + i * stride.
    void (*gather_bits)(uint8_t* dst, int64_t dst_bit, const uint8_t* src, int64_t src_bit, int64_t stride,
                        int64_t n);
    // Bit i goes to dst_bit + i * stride.
    void (*scatter_bits)(uint8_t* dst, int64_t dst_bit, int64_t stride, const uint8_t* src, int64_t src_bit,
                         int64_t n);
    void (*unpack_bits)(uint8_t* bytes, const uint8_t* src, int64_t src_bit, int64_t n);
    void (*pack_bits)(uint8_t* dst, int64_t dst_bit, const uint8_t* bytes, int64_t n);
    // The first i with bit src_bit + i equal to value, or n.
    int64_t (*find_bit)(const uint8_t* src, int64_t src_bit, int64_t n, bool value);
    // copy.cpp: by log2 of the element's bytes (1, 2, 4, 8, 16).
    StridedCopyFn gather[5];   // dst[i] = src[i * stride]
    StridedCopyFn scatter[5];  // dst[i * stride] = src[i]
    StridedCopyFn fill[5];     // dst[i * stride] = src[0]
    // dst[c * dst_stride + r] = src[r * src_stride + c], strides in elements.
    void (*transpose[5])(void* dst, int64_t dst_stride, const void* src, int64_t src_stride, int64_t rows,
                         int64_t columns);
    SortFn sort[kNumDTypes];
    ArgsortFn argsort[kNumDTypes];
    SearchFn search[kNumDTypes];
    GemmKernels gemm[kNumDTypes];  // intgemm.cpp; null functions for bool
};

}  // namespace asc::cpu
