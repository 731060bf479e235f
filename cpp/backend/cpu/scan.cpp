// Running sums and products along an axis.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "backend/cpu/elements.h"
#include "backend/cpu/elementwise.h"
#include "backend/cpu/isa.h"
#include "backend/cpu/reduce.h"
#include "backend/cpu/scratch.h"
#include "core/view.h"
#include "runtime/workers.h"

namespace asc::cpu {
namespace {

constexpr int64_t kPiece = 1024;       // elements that pass through scratch at a time
constexpr int64_t kStripColumns = 64;  // lines that are scanned side by side
constexpr int64_t kParallelElements = 1 << 17;
constexpr int kMaxAccBytes = 16;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

DType accumulator_dtype(DType d) {
    return is_complex(d) ? DType::Complex128 : is_real_float(d) ? DType::Float64 : DType::Int64;
}

// One scan: the lines along the axis, and how they are read, combined and written.
struct Scan {
    Elements elements;
    Elements again;  // the same ones, for sums that come before the results
    DType acc_dtype, out_dtype;
    bool product;
    int64_t length, step, base;  // of a line: elements, stride in x; offset of the first line
    AxisList lines;              // the other axes; `out` holds strides of the result
    int64_t out_step, out_base;  // stride along a line in the result, and its first element
    std::byte* out;

    int64_t acc_bytes() const { return itemsize(acc_dtype); }
    const ScanKernels& kernel() const {
        const KernelTable& k = kernels();
        return (product ? k.scan_prod : k.scan_sum)[index(acc_dtype)];
    }
    // n neutral accumulators: -0 for sums, which changes no number.
    void neutral(std::byte* acc, int64_t n) const {
        const double value[2] = {product ? 1.0 : -0.0, product ? 0.0 : -0.0};
        const int64_t integer = product;
        const void* one = is_integer(acc_dtype) ? static_cast<const void*>(&integer) : value;
        for (int64_t i = 0; i < n; ++i)
            std::memcpy(acc + i * acc_bytes(), one, static_cast<size_t>(acc_bytes()));
    }
    // base = base + carry after a chunk, whose last results these are.
    void next_chunk(std::byte* chunk_base, std::byte* carry, int64_t n) const {
        if (product) return;
        kernels().reduce[static_cast<int>(ReduceOp::Sum)][index(acc_dtype)].merge(chunk_base, carry,
                                                                                  n);
        neutral(carry, n);
    }
    void convert(std::byte* dst, const std::byte* src, int64_t n) const {
        kernels().convert[index(acc_dtype)][index(out_dtype)](dst, src, n);
    }
};

// ---- lines of adjacent results, one after the other ----

// Where a thread keeps elements and results that do not lie where they are used.
struct Room {
    alignas(64) std::byte values[kPiece * kMaxAccBytes];
    Maker maker;
    explicit Room(const Elements& elements) : maker(elements, values, kPiece) {}
};

// Elements [first, first + n) of a line; without `write` only the carry is wanted.
void scan_piece(const Scan& s, int64_t start, std::byte* out, int64_t first, int64_t n,
                std::byte* carry, const std::byte* base, bool write, Room& room) {
    std::byte* values = room.values;
    const Elements& elements = write ? s.elements : s.again;
    const StridedReader* array = elements.array;
    const bool direct = array && array->direct() && s.step == 1;
    for (int64_t i = first; i < first + n; i += kPiece) {
        const int64_t m = std::min(kPiece, first + n - i);
        const std::byte* src = values;
        if (direct) {
            src = array->at(start + i);
        } else if (array) {
            array->read(values, start + i * s.step, s.step, m);
        } else {
            room.maker.make({start + i, 0, 1, m, 0});
        }
        std::byte* dst = out + i * itemsize(s.out_dtype);
        if (!write) {
            s.kernel().run(nullptr, carry, base, src, m);
        } else if (bits(s.acc_dtype) == bits(s.out_dtype)) {
            s.kernel().run(dst, carry, base, src, m);
        } else {
            s.kernel().run(values, carry, base, src, m);
            s.convert(dst, values, m);
        }
    }
}

void scan_line(const Scan& s, int64_t start, std::byte* out, Room& room) {
    alignas(16) std::byte carry[kMaxAccBytes], base[kMaxAccBytes];
    s.neutral(carry, 1);
    s.neutral(base, 1);
    for (int64_t i = 0; i < s.length; i += kScanChunk) {
        scan_piece(s, start, out, i, std::min(kScanChunk, s.length - i), carry, base, true, room);
        s.next_chunk(base, carry, 1);
    }
}

// The chunks of one line at the same time: first their sums, then, with bases, the results.
void scan_chunks(const Scan& s, int64_t start, std::byte* out, const Parallel& par) {
    const int64_t chunks = ceil_div(s.length, kScanChunk);
    std::vector<std::byte> bases(static_cast<size_t>(chunks * kMaxAccBytes));
    const auto chunk = [&](int64_t c, std::byte* base, bool write) {
        alignas(16) std::byte carry[kMaxAccBytes];
        s.neutral(carry, 1);
        const int64_t first = c * kScanChunk;
        Room room(write ? s.elements : s.again);
        scan_piece(s, start, out, first, std::min(kScanChunk, s.length - first), carry, base, write,
                   room);
        if (!write) std::memcpy(base, carry, sizeof(carry));
    };
    alignas(16) std::byte neutral[kMaxAccBytes];
    s.neutral(neutral, 1);
    run_each(par, chunks, [&](int64_t c) {
        alignas(16) std::byte sum[kMaxAccBytes];
        std::memcpy(sum, neutral, sizeof(sum));
        chunk(c, sum, false);
        std::memcpy(bases.data() + c * kMaxAccBytes, sum, sizeof(sum));
    });
    alignas(16) std::byte base[kMaxAccBytes];
    std::memcpy(base, neutral, sizeof(base));
    for (int64_t c = 0; c < chunks; ++c) {
        alignas(16) std::byte sum[kMaxAccBytes];
        std::memcpy(sum, bases.data() + c * kMaxAccBytes, sizeof(sum));
        std::memcpy(bases.data() + c * kMaxAccBytes, base, sizeof(base));
        s.next_chunk(base, sum, 1);
    }
    run_each(par, chunks, [&](int64_t c) {
        alignas(16) std::byte own[kMaxAccBytes];
        std::memcpy(own, bases.data() + c * kMaxAccBytes, sizeof(own));
        chunk(c, own, true);
    });
}

void scan_lines(const Scan& s, const Parallel& par) {
    const int64_t lines = s.lines.size;
    const auto line = [&](int64_t i) {
        return s.out + (s.out_base + s.lines.out(i)) * itemsize(s.out_dtype);
    };
    if (par.threads > 1 && lines < 4 * par.threads && s.length > kScanChunk && !s.product) {
        for (int64_t i = 0; i < lines; ++i)
            scan_chunks(s, s.base + s.lines.offset(i), line(i), par);
        return;
    }
    const int64_t each = std::max<int64_t>(1, kScanChunk / s.length);
    run_each(par, ceil_div(lines, each), [&](int64_t task) {
        Room room(s.elements);
        for (int64_t i = task * each; i < std::min(lines, (task + 1) * each); ++i)
            scan_line(s, s.base + s.lines.offset(i), line(i), room);
    });
}

// ---- lines side by side, where results along the last axis are adjacent ----

void scan_strip(const Scan& s, int64_t start, int64_t out_start, int64_t stride, int64_t cols) {
    alignas(64) std::byte carry[kStripColumns * kMaxAccBytes], base[kStripColumns * kMaxAccBytes];
    const int64_t rows_at_a_time = kPiece / kStripColumns;
    Room room(s.elements);
    std::byte* values = room.values;
    s.neutral(carry, cols);
    s.neutral(base, cols);
    for (int64_t i = 0; i < s.length; i += rows_at_a_time) {
        const int64_t rows = std::min(rows_at_a_time, s.length - i);
        if (s.elements.program) room.maker.make({start + i * s.step, s.step, rows, cols, cols});
        for (int64_t r = 0; s.elements.array && r < rows; ++r)
            s.elements.array->read(values + r * cols * s.acc_bytes(), start + (i + r) * s.step,
                                   stride, cols);
        s.kernel().columns(values, carry, base, values, rows, cols);
        for (int64_t r = 0; r < rows; ++r)
            s.convert(s.out + (out_start + (i + r) * s.out_step) * itemsize(s.out_dtype),
                      values + r * cols * s.acc_bytes(), cols);
        if ((i + rows) % kScanChunk == 0) s.next_chunk(base, carry, cols);
    }
}

void scan_strips(Scan& s, const Parallel& par) {
    const AxisList::Axis column = s.lines.axes[s.lines.n - 1];
    s.lines.remove(s.lines.n - 1);
    const int64_t chunks = ceil_div(column.extent, kStripColumns);
    run_each(par, s.lines.size * chunks, [&](int64_t task) {
        const int64_t first = task % chunks * kStripColumns, line = task / chunks;
        scan_strip(s, s.base + s.lines.offset(line) + first * column.stride,
                   s.out_base + s.lines.out(line) + first * column.out, column.stride,
                   std::min(kStripColumns, column.extent - first));
    });
}

// The neutral element at the start of every line. Written here and now: `assign` may be recorded
// for later.
void write_initial(const Array& out, int axis, bool product) {
    const int64_t one = product;
    alignas(16) std::byte value[kMaxAccBytes];
    kernels().convert[index(DType::Int64)][index(out.dtype)](value, &one, 1);
    AxisList starts;
    for (int i = 0; i < out.ndim(); ++i)
        if (i != axis) starts.add({out.shape[i], out.strides[i], 0});
    const int64_t size = itemsize(out.dtype);
    for (int64_t i = 0; i < starts.size; ++i)
        std::memcpy(out.data() + starts.offset(i) * size, value, static_cast<size_t>(size));
}

// Scans elements in the layout of x.
void scan_elements(const ScanSpec& spec, const Elements& elements, const Elements& again,
                   const Array& x, int axis, const Array& out) {
    if (out.size() == 0) return;
    if (spec.initial) write_initial(out, axis, spec.product);
    if (x.size() == 0) return;
    Scan s{elements,
           again,
           accumulator_dtype(spec.dtype),
           spec.dtype,
           spec.product,
           x.shape[axis],
           x.strides[axis],
           x.offset,
           {},
           out.strides[axis],
           spec.initial ? out.strides[axis] : 0,
           out.data()};
    for (int i = 0; i < x.ndim(); ++i)
        if (i != axis) s.lines.add({x.shape[i], x.strides[i], out.strides[i]});
    const bool alone = x.size() < kParallelElements || !elements.splits(s.lines.size);
    const Parallel par = alone ? Parallel{1, workers::run} : workers::parallel();
    const bool side_by_side =
        s.out_step != 1 && s.lines.n > 0 && s.lines.axes[s.lines.n - 1].out == 1;
    if (side_by_side) {
        scan_strips(s, par);
    } else {
        scan_lines(s, par);
    }
}

}  // namespace

ElementDTypes element_dtypes(const ScanSpec& spec) {
    return {spec.dtype, accumulator_dtype(spec.dtype)};
}

void scan(const ScanSpec& spec, const Array& x, int axis, const Array& out) {
    const StridedReader reader(x, spec.dtype, accumulator_dtype(spec.dtype));
    const Elements elements(reader, bits(x.dtype));
    scan_elements(spec, elements, elements, x, axis, out);
}

void scan(const ScanSpec& spec, const ProgramCall& call, const ProgramCall& again, int axis,
          const Array& out) {
    const PartialRun results(call), sums(again);
    scan_elements(spec, Elements(call, results), Elements(again, sums), call.outputs[0], axis, out);
}

Array scan(const ScanSpec& spec, const Array& x, int axis) {
    Dims shape = x.shape;
    shape[axis] += spec.initial;
    Array out = Array::empty(std::move(shape), spec.dtype, x.device());
    scan(spec, x, axis, out);
    return out;
}

}  // namespace asc::cpu
