#include "backend/cpu/gemm.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "backend/cpu/isa.h"
#include "backend/cpu/scratch.h"

namespace asc::cpu {
namespace {

// Multiply-adds below which one more task costs more than it saves.
constexpr int64_t kTaskWork = int64_t{1} << 18;
// Products of at least this many multiply-adds are split inside; smaller ones go one to a task.
constexpr int64_t kLargeWork = int64_t{1} << 23;
// A `b` up to this size is read where it lies: packing pays when rows are far apart in memory.
constexpr int64_t kPackBytes = int64_t{1} << 18;
// Rows of `a` below which a packed `b` is not read often enough to pay.
constexpr int64_t kPackRows = 24;
// Packed columns of `b` held at a time.
constexpr int64_t kPackedBytes = int64_t{1} << 22;
// Accumulators of one block of a narrow result.
constexpr int64_t kNarrowColumns = 1024;
// Partial sums over kGemmDepth held at a time when the depth is split.
constexpr int64_t kDepthParts = 64;

constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
constexpr int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

template <class T>
T* at(T* p, int64_t bytes) {
    using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
    return static_cast<T*>(static_cast<Byte*>(p) + bytes);
}

// What every step of one call needs.
struct Plan {
    const GemmKernels& kernels;
    const Product& p;
    const Parallel& par;
    int64_t size;  // bytes of an element

    GemmOperand shifted(const GemmOperand& x, int64_t row, int64_t col) const {
        return {at(x.data, (row * x.row_stride + col * x.col_stride) * size), x.row_stride,
                x.col_stride};
    }
    GemmOperand a(int64_t matrix) const {
        return {at(p.a.data, p.a_offsets ? p.a_offsets[matrix] * size : 0), p.a.row_stride,
                p.a.col_stride};
    }
    GemmOperand b(int64_t matrix) const {
        return {at(p.b.data, p.b_offsets ? p.b_offsets[matrix] * size : 0), p.b.row_stride,
                p.b.col_stride};
    }
    void* c(int64_t matrix) const { return at(p.c, matrix * p.m * p.n * size); }

    // Bytes of a thread's scratch: the kernel's, then the accumulators of a narrow block.
    int64_t scratch_bytes() const {
        return kernels.scratch +
               (kernels.round ? kGemmRows * kNarrowColumns * kernels.acc_bytes : 0);
    }

    // Rows [i, i + m) and columns [j, j + n) of one result; `packed` starts at column j.
    void block(const GemmOperand& a, const GemmOperand& b, void* c, int64_t i, int64_t m, int64_t j,
               int64_t n, const void* packed, void* scratch) const {
        GemmBlock g{m, n, p.k, shifted(a, i, 0), shifted(b, 0, j), packed, at(c, (i * p.n + j) * size),
                    p.n};
        if (!kernels.round) return kernels.multiply(g, scratch);
        g.c = at(scratch, kernels.scratch);
        g.c_row_stride = n;
        kernels.multiply(g, scratch);
        for (int64_t r = 0; r < m; ++r)
            kernels.round(at(c, ((i + r) * p.n + j) * size), at(g.c, r * n * kernels.acc_bytes), n);
    }

    int64_t block_columns() const { return kernels.round ? kNarrowColumns : p.n; }

    // One whole matrix on one thread.
    void small(int64_t matrix, void* scratch) const {
        const GemmOperand left = a(matrix), right = b(matrix);
        for (int64_t i = 0; i < p.m; i += kGemmRows)
            for (int64_t j = 0; j < p.n; j += block_columns())
                block(left, right, c(matrix), i, std::min(kGemmRows, p.m - i), j,
                      std::min(block_columns(), p.n - j), nullptr, scratch);
    }

    void small_batch() const {
        const int64_t work = std::max<int64_t>(p.m * p.n * p.k, 1);
        const int64_t step = std::clamp<int64_t>(kTaskWork / work, 1, p.batch);
        const int64_t tasks = ceil_div(p.batch, step);
        Slots slots(par, tasks, scratch_bytes());
        slots.spread([&](int64_t task, void* scratch) {
            const int64_t end = std::min(p.batch, (task + 1) * step);
            for (int64_t matrix = task * step; matrix < end; ++matrix) small(matrix, scratch);
        });
    }

    // Blocks of rows times groups of whole strips, enough of them to keep all threads busy.
    void blocks(int64_t matrix, int64_t j0, int64_t columns, const void* packed) const {
        const int64_t rows = ceil_div(p.m, kGemmRows);
        const int64_t strips = ceil_div(columns, kernels.strip);
        const int64_t work = p.m * columns * p.k / kTaskWork;
        const int64_t wanted = std::min<int64_t>(par.threads > 1 ? 4 * par.threads : 1, work);
        int64_t groups = std::clamp<int64_t>(ceil_div(wanted, rows), 1, strips);
        if (kernels.round) groups = std::max(groups, ceil_div(columns, kNarrowColumns));
        const int64_t width = ceil_div(strips, groups) * kernels.strip;
        groups = ceil_div(columns, width);
        const GemmOperand left = a(matrix), right = b(matrix);
        Slots slots(par, rows * groups, scratch_bytes());
        slots.spread([&](int64_t task, void* scratch) {
            const int64_t i = task / groups * kGemmRows, j = task % groups * width;
            const void* strip = packed ? at(packed, j * p.k * kernels.acc_bytes) : nullptr;
            block(left, right, c(matrix), i, std::min(kGemmRows, p.m - i), j0 + j,
                  std::min(width, columns - j), strip, scratch);
        });
    }

    // `b` is packed once by all threads, a bounded number of columns at a time.
    void packed(int64_t matrix) const {
        const int64_t strip_bytes = p.k * kernels.strip * kernels.acc_bytes;
        const int64_t strips = ceil_div(p.n, kernels.strip);
        const int64_t step = std::clamp<int64_t>(kPackedBytes / strip_bytes, 1, strips);
        Buffer buffer(step * strip_bytes);
        const GemmOperand right = b(matrix);
        for (int64_t s = 0; s < strips; s += step) {
            const int64_t first = s * kernels.strip;
            const int64_t columns = std::min(p.n - first, step * kernels.strip);
            const auto pack_strip = [&](int64_t t) {
                const int64_t j = t * kernels.strip;
                kernels.pack(at(buffer.data(), t * strip_bytes), shifted(right, 0, first + j), p.k,
                             std::min(kernels.strip, columns - j));
            };
            run_each(par, ceil_div(columns, kernels.strip), pack_strip);
            blocks(matrix, first, columns, buffer.data());
        }
    }

    // Few elements, each a long sum: the partial sums over kGemmDepth are computed side by side
    // and added in their order, which is the order of every other way.
    void split_depth(int64_t matrix) const {
        const int64_t parts = ceil_div(p.k, kGemmDepth);
        const int64_t bytes = p.m * p.n * kernels.acc_bytes;
        const int64_t step = std::min(parts, kDepthParts);
        Buffer buffer((step + 1) * bytes);
        void* sums = kernels.round ? at(buffer.data(), step * bytes) : c(matrix);
        const GemmOperand left = a(matrix), right = b(matrix);
        for (int64_t first = 0; first < parts; first += step) {
            const int64_t count = std::min(step, parts - first);
            Slots slots(par, count, kernels.scratch);
            slots.spread([&](int64_t task, void* scratch) {
                const int64_t k = (first + task) * kGemmDepth;
                const GemmBlock g{p.m, p.n, std::min(kGemmDepth, p.k - k), shifted(left, 0, k),
                                  shifted(right, k, 0), nullptr, at(buffer.data(), task * bytes), p.n};
                kernels.multiply(g, scratch);
            });
            for (int64_t part = 0; part < count; ++part) {
                if (first + part == 0)
                    std::memcpy(sums, buffer.data(), static_cast<size_t>(bytes));
                else
                    kernels.add(sums, at(buffer.data(), part * bytes), p.m * p.n);
            }
        }
        if (kernels.round) kernels.round(c(matrix), sums, p.m * p.n);
    }

    void large(int64_t matrix) const {
        const int64_t blocks_all = ceil_div(p.m, kGemmRows) * ceil_div(p.n, kernels.strip);
        if (par.threads > 1 && p.m <= kGemmRows && p.n <= kNarrowColumns &&
            blocks_all < 2 * par.threads && p.k >= 4 * kGemmDepth)
            return split_depth(matrix);
        const bool direct = p.b.col_stride == 1 && !kernels.round && kernels.acc_bytes == size;
        const bool pays = direct ? p.n * p.k * size > kPackBytes : p.m > kGemmRows;
        if (p.m >= kPackRows && pays) return packed(matrix);
        blocks(matrix, 0, p.n, nullptr);
    }
};

// Sums of blocks of kDotBlock, combined pairwise: a fixed tree for each length.
class DotTree {
public:
    DotTree(const GemmKernels& kernels, const DotProduct& p)
        : kernels_(kernels), p_(p), size_(itemsize(p.dtype)) {}

    // Bytes of scratch: gathered operands and the open branches of the tree.
    int64_t scratch_bytes() const { return 2 * kDotBlock * size_ + 64 * kernels_.acc_bytes; }

    // *acc = the sum over blocks [first, last) of one row.
    void sum(void* acc, const void* x, const void* y, int64_t first, int64_t last,
             void* scratch) const {
        void* open = at(scratch, 2 * kDotBlock * size_);
        int64_t depth = 0;
        for (int64_t block = first; block < last; ++block) {
            const int64_t k = block * kDotBlock, n = std::min(kDotBlock, p_.k - k);
            kernels_.dot(slot(open, depth++), adjacent(x, k, n, p_.x_stride, scratch),
                         adjacent(y, k, n, p_.y_stride, at(scratch, kDotBlock * size_)), n,
                         p_.conj);
            for (int64_t done = block - first + 1; done % 2 == 0; done /= 2, --depth)
                kernels_.add(slot(open, depth - 2), slot(open, depth - 1), 1);
        }
        for (; depth > 1; --depth) kernels_.add(slot(open, depth - 2), slot(open, depth - 1), 1);
        std::memcpy(acc, open, static_cast<size_t>(kernels_.acc_bytes));
    }

    void finish(void* dst, const void* acc) const {
        if (kernels_.round)
            kernels_.round(dst, acc, 1);
        else
            std::memcpy(dst, acc, static_cast<size_t>(size_));
    }

private:
    void* slot(void* open, int64_t i) const { return at(open, i * kernels_.acc_bytes); }

    const void* adjacent(const void* x, int64_t k, int64_t n, int64_t stride, void* buffer) const {
        const void* from = at(x, k * stride * size_);
        if (stride == 1) return from;
        cpu::kernels().gather[width_index(p_.dtype)](buffer, from, n, stride);
        return buffer;
    }

    const GemmKernels& kernels_;
    const DotProduct& p_;
    int64_t size_;
};

// Blocks of one task of a long dot product: a whole branch of the tree.
constexpr int64_t kDotTaskBlocks = 16;

}  // namespace

void dot(const DotProduct& p, const Parallel& par) {
    const GemmKernels& k = kernels().gemm[index(p.dtype)];
    const int64_t size = itemsize(p.dtype);
    if (p.k == 0) {
        std::memset(p.out, 0, static_cast<size_t>(p.batch * size));
        return;
    }
    const DotTree tree(k, p);
    const auto x = [&](int64_t i) { return at(p.x, p.x_offsets ? p.x_offsets[i] * size : 0); };
    const auto y = [&](int64_t i) { return at(p.y, p.y_offsets ? p.y_offsets[i] * size : 0); };
    const int64_t blocks = ceil_div(p.k, kDotBlock), branches = ceil_div(blocks, kDotTaskBlocks);
    // Row by row on one task where there are rows enough; else each row is split.
    const bool by_rows = branches == 1 || p.batch >= 4 * par.threads;
    const int64_t step = by_rows ? std::max<int64_t>(1, kTaskWork / 8 / p.k) : 1;
    const int64_t tasks = by_rows ? ceil_div(p.batch, step) : branches;
    Slots slots(par, tasks, tree.scratch_bytes() + k.acc_bytes);
    if (by_rows) {
        slots.spread([&](int64_t task, void* scratch) {
            void* acc = at(scratch, tree.scratch_bytes());
            for (int64_t i = task * step; i < std::min(p.batch, (task + 1) * step); ++i) {
                tree.sum(acc, x(i), y(i), 0, blocks, scratch);
                tree.finish(at(p.out, i * size), acc);
            }
        });
        return;
    }
    Buffer sums(branches * k.acc_bytes);
    for (int64_t i = 0; i < p.batch; ++i) {
        slots.spread([&](int64_t task, void* scratch) {
            const int64_t first = task * kDotTaskBlocks;
            tree.sum(at(sums.data(), task * k.acc_bytes), x(i), y(i), first,
                     std::min(blocks, first + kDotTaskBlocks), scratch);
        });
        // The upper levels of the same tree: branches 2 * j and 2 * j + 1, level by level.
        for (int64_t stride = 1; stride < branches; stride *= 2)
            for (int64_t j = 0; j + stride < branches; j += 2 * stride)
                k.add(at(sums.data(), j * k.acc_bytes), at(sums.data(), (j + stride) * k.acc_bytes),
                      1);
        tree.finish(at(p.out, i * size), sums.data());
    }
}

void multiply(const Product& p, const Parallel& par) {
    const int64_t size = itemsize(p.dtype);
    if (p.m == 0 || p.n == 0 || p.batch == 0) return;
    if (p.k == 0) {
        std::memset(p.c, 0, static_cast<size_t>(p.batch * p.m * p.n * size));
        return;
    }
    if (p.m == 1 && p.n == 1) {
        const DotProduct row{p.dtype, p.k,   p.a.data, p.b.data,    p.a.col_stride, p.b.row_stride,
                             p.c,     false, p.batch,  p.a_offsets, p.b_offsets};
        return dot(row, par);
    }
    if (p.n == 1) {
        // The long side of the result becomes the side of the vectors.
        Product turned = p;
        std::swap(turned.m, turned.n);
        turned.a = {p.b.data, p.b.col_stride, p.b.row_stride};
        turned.b = {p.a.data, p.a.col_stride, p.a.row_stride};
        std::swap(turned.a_offsets, turned.b_offsets);
        return multiply(turned, par);
    }
    const Plan plan{kernels().gemm[index(p.dtype)], p, par, size};
    // In floating point: the product of three sizes may not fit an integer.
    const double work = static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
    if (work < kLargeWork || (p.batch >= 4 * par.threads && work < 8.0 * kLargeWork))
        return plan.small_batch();
    for (int64_t i = 0; i < p.batch; ++i) plan.large(i);
}

}  // namespace asc::cpu
