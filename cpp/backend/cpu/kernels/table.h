// The kernels of one instruction set, as a table of function pointers.
//
// Every kernel works on contiguous elements of one dtype; strides, conversions, packing and
// threads are the callers' business. A bool register is packed: bit i of word i / 64, starting
// at bit 0, its memory padded to whole 64-bit words whose unused bits may hold anything.
#pragma once
#include <cstdint>

#include "backend/cpu/kernels/strand.h"
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
// Between a packed rectangle, rows * cols elements adjacent, and a strided one.
using RectangleFn = void (*)(void* dst, const void* src, int64_t rows, int64_t cols,
                             int64_t row_stride, int64_t col_stride);

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
using ArgsortFn = void (*)(const void* keys, int64_t* order, void* scratch, int64_t n,
                           bool descending, const Parallel& par);

// search.cpp
// out[i] = insertion point of keys[i] in sorted[0..n), NaN counting as the largest value.
using SearchFn = void (*)(const void* sorted, int64_t n, const void* keys, int64_t count,
                          int64_t* out, bool right);
// found[i] = keys[i] equals an element of sorted[0..n).
using MemberFn = void (*)(const void* sorted, int64_t n, const void* keys, int64_t count,
                          uint8_t* found);
// The first element of each run of equals goes to `values`, its position to `starts` (may be
// null), both with room for n; returns how many there are. Every NaN is a run. In place is fine.
using DistinctFn = int64_t (*)(void* values, int64_t* starts, const void* sorted, int64_t n);
// The first position of the extreme of n > 0 elements; the first NaN if there is one.
using ArgExtremeFn = int64_t (*)(const void* src, int64_t n);
// The same for `cols` columns side by side, whose rows lie `pitch` elements apart; rows < 2**31.
using ArgExtremeColumnsFn = void (*)(const void* src, int64_t pitch, int64_t rows, int64_t cols,
                                     int64_t* out);
// The same for each of `count` lines of n adjacent elements, `pitch` elements apart; n > 1.
using ArgExtremeRowsFn = void (*)(const void* src, int64_t pitch, int64_t count, int64_t n,
                                  int64_t* out);

// reduce.cpp
enum class ReduceOp : uint8_t {
    Sum,
    Prod,
    MinMax,   // both, as ordered integers; NaN is beyond the infinities
    Moments,  // sums of x - center and of its square
};
inline constexpr int kNumReduceOps = 4;

// The fixed shape of a reduction over a sequence: element i of a block belongs to lane
// i % kReduceLanes; lanes are combined pairwise (l and l + 16, then l and l + 8, ...), then
// blocks pairwise (2 b and 2 b + 1, ...), so that no result depends on threads or layout.
inline constexpr int64_t kReduceBlock = 512;
inline constexpr int64_t kReduceLanes = 32;
// The longest run and the most columns (of real numbers) in one call.
inline constexpr int64_t kReduceRun = 64 * kReduceBlock;
inline constexpr int64_t kReduceColumns = 256;

// Columns of packed bool that are counted in one call.
inline constexpr int64_t kCountColumns = 512;

// One reduction of one dtype. Accumulators of n results are `planes` arrays of n * acc_bytes.
struct ReduceKernels {
    // acc = reduction of 0 < n <= kReduceRun adjacent elements.
    void (*run)(void* acc, const void* src, int64_t n, const double* center);
    // acc[j] = reduction of src[i * row_stride + j] over 0 < rows <= kReduceBlock.
    void (*columns)(void* acc, const void* src, int64_t row_stride, int64_t rows, int64_t cols,
                    const double* center);
    // acc[j] = acc[j] op part[j]. Null: an ordered reduction, whose `run` and `columns` continue
    // from acc.
    void (*merge)(void* acc, const void* part, int64_t n);
    // MinMax only: dst[j] = the element behind acc[j].
    void (*finish)(void* dst, const void* acc, int64_t n, bool max);
    int acc_bytes, planes;
    // As `run` on the products of two arrays; null where there is none.
    void (*run_products)(void* acc, const void* a, const void* b, int64_t n) = nullptr;
};

// Running sums (products) of uint64, float64 or complex128. Each group of kScanGroup elements is
// scanned alone, as pairs of pairs; then carry = carry op it, and dst = base op carry, where base
// belongs to a chunk of kScanChunk elements. So a chunk can be scanned before its base is known,
// and the last result of a chunk is the base of the next. Products go strictly in order.
inline constexpr int64_t kScanGroup = 8;
inline constexpr int64_t kScanChunk = 1 << 15;
struct ScanKernels {
    // Only the last call of a chunk may have n % kScanGroup != 0; dst may be null.
    void (*run)(void* dst, void* carry, const void* base, const void* src, int64_t n);
    // Columns side by side, rows * cols elements adjacent; carry and base have cols elements.
    void (*columns)(void* dst, void* carry, const void* base, const void* src, int64_t rows,
                    int64_t cols);
};

// gemm.cpp
// A matrix inside memory: element (i, j) is data[i * row_stride + j * col_stride].
struct GemmOperand {
    const void* data;
    int64_t row_stride, col_stride;
};
// c = a @ b for one block of the result; c holds accumulators, its columns are adjacent.
struct GemmBlock {
    int64_t m, n, k;  // m <= kGemmRows, k > 0
    GemmOperand a, b;
    const void* packed_b;  // the strips of b as made by `pack`, or null
    void* c;
    int64_t c_row_stride;
    const int64_t* a_rows = nullptr;  // where the rows of a start, instead of every row_stride
};
// c[i] = a[i] @ b[i] for small matrices, each `step` elements behind the one before. No operand
// has more than kGemmSeries elements; c holds accumulators, one matrix after another.
struct GemmSeries {
    int64_t m, n, k, count;
    GemmOperand a, b;
    int64_t a_step, b_step;
    void* c;
};
inline constexpr int64_t kGemmSeries = 64;
// The products of one dtype. An element of a product of matrices is the sum, in order, of partial
// sums over kGemmDepth products, each a chain in order; an element of a product with a vector is
// a tree of lanes. Its bits depend on nothing but its row and its column.
struct GemmKernels {
    int64_t strip;      // columns of one packed strip
    int64_t acc_bytes;  // bytes of one accumulator: more than the itemsize for narrow types
    int64_t scratch;    // bytes `multiply` needs
    // Packs k x n elements as ceil(n / strip) strips of k * strip accumulators.
    void (*pack)(void* dst, const GemmOperand& b, int64_t k, int64_t n);
    void (*multiply)(const GemmBlock& block, void* scratch);
    void (*series)(const GemmSeries& series);
    // acc[i] += part[i] for n accumulators.
    void (*add)(void* acc, const void* part, int64_t n);
    // dst[i] = acc[i], rounded once, n elements; null where accumulators are elements.
    void (*round)(void* dst, const void* acc, int64_t n);
    // acc[j] = sum over i < k of x[i] * b(i, j) (of conj(x[i]) * b(i, j)) for j < n: product i
    // belongs to lane i % kReduceLanes, lanes are added pairwise. x is adjacent, k <= kDotBlock.
    void (*dots)(void* acc, const void* x, const GemmOperand& b, int64_t k, int64_t n, bool conj);
    // acc[j * acc_step] = the same sum of column j of x with column j of b; k <= kReduceLanes.
    void (*column_dots)(void* acc, int64_t acc_step, const GemmOperand& x, const GemmOperand& b,
                        int64_t k, int64_t n, bool conj);
};
inline constexpr int64_t kGemmRows = 96;
inline constexpr int64_t kGemmDepth = 256;
inline constexpr int64_t kDotBlock = 4096;

// decompose.cpp: small blocks of decompositions, of one dtype.
// A triangle inside memory: element (i, j) is data[i * row_stride + j * col_stride].
struct Triangle {
    const void* data;
    int64_t n, row_stride, col_stride;  // n <= kTriangleRows
    bool upper, unit, conj;             // unit: the diagonal is not read, it is 1
};
struct DecomposeKernels {
    // L U = P A for m x n elements, n <= m, whose columns are `pitch` apart, with kPanelRest
    // elements that may change behind each; row j was exchanged with row pivots[j] >= j. False: a
    // pivot is zero.
    bool (*lu)(void* panel, int64_t pitch, int64_t m, int64_t n, int64_t* pivots);
    // Q R of m x n elements in rows of kPanelBytes whose rest is zero: R in the upper triangle,
    // below it the columns of V, whose diagonal is 1; Q = I - V T V^H. T is n x n, in such rows.
    void (*qr)(void* panel, int64_t m, int64_t n, void* t);
    // Q R of `count` matrices, each in a lane of its own: element (i, j) of `a`, m x n, and of
    // `q`, m x columns, is a row of kLaneBytes, or a row of real parts and one of imaginary ones.
    // `a` becomes R. Behind both there is room for another row of elements.
    void (*qr_lanes)(void* a, void* q, int64_t m, int64_t n, int64_t columns, int64_t count);
    // The upper triangle of n <= kTriangleRows rows becomes U, U^H U = A; what is below may change.
    // False: not positive definite.
    bool (*cholesky)(void* a, int64_t row_stride, int64_t n);
    // b becomes the solution x of t x = b.
    void (*substitute)(const Triangle& t, void* b, int64_t row_stride, int64_t cols);
};
inline constexpr int64_t kPanelBytes = 128;
inline constexpr int64_t kPanelRest = 128;
inline constexpr int64_t kTriangleRows = 64;
inline constexpr int64_t kLaneBytes = 64;

// random.cpp: blocks of four words that are made side by side.
inline constexpr int kRandomTile = 16;

// fft.cpp
// Transforms run on `lanes` sequences at once, one in each lane of a vector. Split memory holds,
// for each number of the sequences, the real parts of all lanes and then the imaginary ones.

// The largest prime factor of a length that has passes of its own.
inline constexpr int kFftMaxRadix = 127;
// One step (Stockham) of a transform of radix * stride * blocks numbers: for q < stride, p <
// blocks, k < radix, number q + stride * (radix * p + k) becomes twiddle(p, k) times the sum over j
// of exp(-2 pi i j k / radix) times number q + stride * (p + blocks * j).
struct FftPass {
    int64_t radix, stride, blocks;
    const void* twiddles;  // for each p and k > 0
    const void* roots;     // of an odd radix: cosines, then sines, of 2 pi j / radix
};
struct FftChain {
    const FftPass* passes;
    int64_t count, length;
    // Twiddles: split numbers for each group of lanes, or one number for all lanes and none in the
    // last pass.
    bool per_lane;
};
// Where numbers are in an array, in real elements: number r of lane l at data + r * step + l *
// pitch, its imaginary part `part` further (kFftReal: it has none). Only those elements exist whose
// rank, r * rank
// + l * lane_rank (+ 1 for an imaginary part), is below `limit`: the others are read as 0.
inline constexpr int64_t kFftReal = INT64_MIN;
struct FftMemory {
    void* data;
    int64_t step, pitch, part, rank, lane_rank, limit;
};
// What a real transform does beside the complex one.
enum class FftReal : uint8_t {
    None,
    Unpack,  // after: a transform of n / 2 pairs of real numbers becomes the first n / 2 + 1 of n
    Pack,    // before: the opposite
    Extend,  // before: n / 2 + 1 numbers become n Hermitian ones
};
struct FftRealStep {
    FftReal kind;
    bool mirror;  // after: n / 2 + 1 numbers of a real sequence become all n
    int64_t n;    // length of the real transform
    const void*
        twiddles;  // exp(-2 pi i k / n) for k <= n / 4: cosines from 0, minus sines from `gap`
    int64_t gap;
};
// A whole transform of up to `lanes` sequences.
struct FftLines {
    const FftChain* chain;
    FftMemory in, out;
    int64_t lanes;
    bool inverse;
    double scale;  // of the result
    FftRealStep real;
};
// A transform of rows * columns numbers of one sequence has two phases; its lanes are neighbouring
// columns in the first, and neighbouring rows of their results in the second. Between them are
// tiles: for each group of rows the split numbers of all columns.
struct FftPhase {
    const FftChain* chain;
    int64_t group;  // first lane / lanes of a vector
    int64_t lanes;
    FftMemory array;  // of the group: what the first phase reads, what the second writes
    void* tiles;
    int64_t columns;
    bool inverse;
    double scale;  // of the second phase
};
// A pass over one sequence in an array, from element `begin` to `end`.
struct FftSweep {
    void* dst;
    const void* src;
    int64_t begin, end;
    int64_t limit;  // numbers that src has
    bool conjugate;
    double scale;
    FftRealStep real;
};
// dst[k] = src[k] * factors[k], numbers of arrays; the real parts alone where a side has only
// these.
struct FftChirp {
    void* dst;
    const void* src;
    const void* factors;
    int64_t count;
    int64_t limit;  // elements that src has, the others are 0
    bool real_src, real_dst;
    bool swap_src, swap_dst;  // real and imaginary parts are exchanged before, after
    double scale;
};
struct FftKernels {
    int64_t lanes;  // of a vector
    // Scratch for split memory of 2 * `numbers` numbers: of a sequence, or what a real step makes.
    void (*lines)(const FftLines& lines, void* scratch);
    void (*columns)(const FftPhase& phase, void* scratch);
    void (*rows)(const FftPhase& phase, void* scratch);
    // Unpack: elements k and n / 2 - k, `begin` <= k < `end` <= n / 4 + 1; src is dst, or planar.
    void (*unpack)(const FftSweep& sweep);
    void (*pack)(const FftSweep& sweep);
    // dst[n - k] = conj(src[k]), `begin` <= k < `end`
    void (*mirror)(const FftSweep& sweep);
    void (*chirp)(const FftChirp& chirp);
};

struct KernelTable {
    const char* isa;
    ElementwiseFn elementwise[kNumOps][kNumDTypes];  // null where there is no native kernel
    StrandFn strand[kNumDTypes];                     // strand.cpp: float32, float64
    ConvertFn convert[kNumDTypes][kNumDTypes];
    // bits.cpp: packed bits; a position counts bits from an address. No byte outside a range is
    // touched, no bit outside a destination range changes.
    void (*copy_bits)(uint8_t* dst, int64_t dst_bit, const uint8_t* src, int64_t src_bit,
                      int64_t n);
    void (*fill_bits)(uint8_t* dst, int64_t dst_bit, int64_t n, bool value);
    int64_t (*count_bits)(const uint8_t* src, int64_t src_bit, int64_t n);
    // Bit i comes from src_bit + i * stride.
    void (*gather_bits)(uint8_t* dst, int64_t dst_bit, const uint8_t* src, int64_t src_bit,
                        int64_t stride, int64_t n);
    // Bit i goes to dst_bit + i * stride.
    void (*scatter_bits)(uint8_t* dst, int64_t dst_bit, int64_t stride, const uint8_t* src,
                         int64_t src_bit, int64_t n);
    void (*unpack_bits)(uint8_t* bytes, const uint8_t* src, int64_t src_bit, int64_t n);
    void (*pack_bits)(uint8_t* dst, int64_t dst_bit, const uint8_t* bytes, int64_t n);
    // The first i with bit src_bit + i equal to value, or n.
    int64_t (*find_bit)(const uint8_t* src, int64_t src_bit, int64_t n, bool value);
    // copy.cpp: by log2 of the element's bytes (1, 2, 4, 8, 16).
    StridedCopyFn gather[5];   // dst[i] = src[i * stride]
    StridedCopyFn scatter[5];  // dst[i * stride] = src[i]
    StridedCopyFn fill[5];     // dst[i * stride] = src[0]
    // dst[c * dst_stride + r] = src[r * src_stride + c], strides in elements.
    void (*transpose[5])(void* dst, int64_t dst_stride, const void* src, int64_t src_stride,
                         int64_t rows, int64_t columns);
    RectangleFn pack[5];    // dst[r * cols + c] = src[r * row_stride + c * col_stride]
    RectangleFn unpack[5];  // dst[r * row_stride + c * col_stride] = src[r * cols + c]
    // dst = src past the caches; a fence must follow before another thread reads dst.
    void (*stream)(void* dst, const void* src, int64_t bytes);
    // reduce.cpp. Sum: all but bool and the narrow floats; MinMax: integers and real floats;
    // Prod: (u)int64, float64, complex128; Moments: float32, float64.
    ReduceKernels reduce[kNumReduceOps][kNumDTypes];
    // counts[j] = set bits in column j of rows of kCountColumns bits; rows <= kReduceBlock.
    void (*count_columns)(uint64_t* counts, const uint64_t* bits, int64_t rows, int64_t cols);
    ScanKernels scan_sum[kNumDTypes];  // (u)int64, float64, complex128
    ScanKernels scan_prod[kNumDTypes];
    SortFn sort[kNumDTypes];
    ArgsortFn argsort[kNumDTypes];
    // search.cpp, as sort.cpp, sees a bool as a byte, 0 or 1.
    SearchFn search[kNumDTypes];
    MemberFn member[kNumDTypes];
    DistinctFn distinct[kNumDTypes];
    ArgExtremeFn arg_extreme[2][kNumDTypes];  // least, largest; null for complex
    ArgExtremeColumnsFn arg_extreme_columns[2][kNumDTypes];
    ArgExtremeRowsFn arg_extreme_rows[2][kNumDTypes];  // null also for elements of 1 or 2 bytes
    // out = base + the numbers of the `count` set bits among n.
    void (*positions)(int64_t* out, int64_t count, const uint8_t* src, int64_t src_bit, int64_t n,
                      int64_t base);
    GemmKernels gemm[kNumDTypes];            // gemm.cpp; null functions for bool
    DecomposeKernels decompose[kNumDTypes];  // real and complex floats but narrow ones
    FftKernels fft[kNumDTypes];              // float32, float64
    // random.cpp. Word w of the Philox block at counter `block` + 16 t + l is words[64 t + 16 w +
    // l]; `high` are the upper 64 bits of the counter.
    void (*philox)(uint32_t* words, uint64_t key, uint64_t block, uint64_t high, int64_t tiles);
    // Uniform in [0, 1) on a grid of 2^-24 or, of two words an element, of 2^-53; n is a multiple
    // of kRandomTile.
    void (*uniform32)(void* dst, const uint32_t* words, int64_t n);
    void (*uniform64)(void* dst, const uint32_t* words, int64_t n);
    // The two words of an element as one number.
    void (*long_words)(uint64_t* dst, const uint32_t* words, int64_t n);
};

}  // namespace asc::cpu
