#include "backend/cpu/gemm.h"

#include <algorithm>
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
        return {at(p.a.data, p.a_starts[matrix] * size), p.a.row_stride, p.a.col_stride};
    }
    GemmOperand b(int64_t matrix) const {
        return {at(p.b.data, p.b_starts[matrix] * size), p.b.row_stride, p.b.col_stride};
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
        GemmBlock g{
            m,  n, p.k, shifted(a, i, 0), shifted(b, 0, j), packed, at(c, (i * p.n + j) * size),
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
                const GemmBlock g{p.m,
                                  p.n,
                                  std::min(kGemmDepth, p.k - k),
                                  shifted(left, 0, k),
                                  shifted(right, k, 0),
                                  nullptr,
                                  at(buffer.data(), task * bytes),
                                  p.n};
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

// out[j] = sum over i of x[i] * b(i, j) for one vector and one matrix after another: every
// element is a tree over blocks of kDotBlock, whose shape depends on k alone.
class VectorProducts {
  public:
    VectorProducts(const DotProduct& p, const GemmOperand& b, int64_t n)
        : kernels_(cpu::kernels().gemm[index(p.dtype)]),
          p_(p),
          b_(b),
          n_(n),
          size_(itemsize(p.dtype)),
          width_(std::min(n, kDotColumns)),
          blocks_(ceil_div(p.k, kDotBlock)),
          levels_(2) {
        for (int64_t left = blocks_; left > 1; left = (left + 1) / 2) ++levels_;
    }

    void run(const Parallel& par) const {
        const int64_t groups = ceil_div(n_, width_), branches = ceil_div(blocks_, kDotBranch);
        if (branches > 1 && p_.batch * groups < 4 * par.threads)
            return run_branches(par, groups, branches);
        const int64_t step = std::max<int64_t>(1, kTaskWork / 8 / (p_.k * width_));
        const int64_t items = p_.batch * groups;
        Slots slots(par, ceil_div(items, step), scratch_bytes());
        slots.spread([&](int64_t task, void* scratch) {
            for (int64_t i = task * step; i < std::min(items, (task + 1) * step); ++i) {
                const int64_t matrix = i / groups, j = i % groups * width_;
                finish(matrix, j, columns(j), sum(matrix, j, 0, blocks_, scratch));
            }
        });
    }

  private:
    // Columns of one task, and blocks of one when long sums are split: a whole branch of the tree.
    static constexpr int64_t kDotColumns = 256, kDotBranch = 16;

    // Gathered x, then the open branches of the tree.
    int64_t scratch_bytes() const { return x_bytes() + levels_ * width_ * kernels_.acc_bytes; }
    int64_t x_bytes() const { return round_up(kDotBlock * size_, 64); }
    int64_t columns(int64_t j) const { return std::min(width_, n_ - j); }

    void run_branches(const Parallel& par, int64_t groups, int64_t branches) const {
        const int64_t row = n_ * kernels_.acc_bytes;
        Buffer sums(branches * row);
        Slots slots(par, groups * branches, scratch_bytes());
        for (int64_t matrix = 0; matrix < p_.batch; ++matrix) {
            slots.spread([&](int64_t task, void* scratch) {
                const int64_t branch = task / groups, j = task % groups * width_;
                const int64_t first = branch * kDotBranch;
                const void* acc =
                    sum(matrix, j, first, std::min(blocks_, first + kDotBranch), scratch);
                std::memcpy(at(sums.data(), branch * row + j * kernels_.acc_bytes), acc,
                            static_cast<size_t>(columns(j) * kernels_.acc_bytes));
            });
            // The upper levels of the same tree.
            for (int64_t stride = 1; stride < branches; stride *= 2)
                for (int64_t i = 0; i + stride < branches; i += 2 * stride)
                    kernels_.add(at(sums.data(), i * row), at(sums.data(), (i + stride) * row), n_);
            finish(matrix, 0, n_, sums.data());
        }
    }

    // The sums over blocks [first, last) of columns from j on; they lie in the scratch.
    const void* sum(int64_t matrix, int64_t j, int64_t first, int64_t last, void* scratch) const {
        const void* x = at(p_.x, p_.x_starts[matrix] * size_);
        const void* b = at(b_.data, (p_.y_starts[matrix] + j * b_.col_stride) * size_);
        const int64_t cols = columns(j);
        const auto open = [&](int64_t i) {
            return at(scratch, x_bytes() + i * width_ * kernels_.acc_bytes);
        };
        int64_t depth = 0;
        for (int64_t block = first; block < last; ++block) {
            const int64_t k = block * kDotBlock, count = std::min(kDotBlock, p_.k - k);
            const GemmOperand part{at(b, k * b_.row_stride * size_), b_.row_stride, b_.col_stride};
            kernels_.dots(open(depth++), adjacent(at(x, k * p_.x_stride * size_), count, scratch),
                          part, count, cols, p_.conj);
            for (int64_t done = block - first + 1; done % 2 == 0; done /= 2, --depth)
                kernels_.add(open(depth - 2), open(depth - 1), cols);
        }
        for (; depth > 1; --depth) kernels_.add(open(depth - 2), open(depth - 1), cols);
        return open(0);
    }

    const void* adjacent(const void* x, int64_t count, void* buffer) const {
        if (p_.x_stride == 1) return x;
        cpu::kernels().gather[width_index(p_.dtype)](buffer, x, count, p_.x_stride);
        return buffer;
    }

    void finish(int64_t matrix, int64_t j, int64_t cols, const void* acc) const {
        void* out = at(p_.out, (matrix * n_ + j) * size_);
        if (kernels_.round)
            kernels_.round(out, acc, cols);
        else
            std::memcpy(out, acc, static_cast<size_t>(cols * size_));
    }

    const GemmKernels& kernels_;
    const DotProduct& p_;
    GemmOperand b_;
    int64_t n_, size_, width_, blocks_, levels_;
};

}  // namespace

void dot(const DotProduct& p, const Parallel& par) {
    if (p.k == 0) {
        std::memset(p.out, 0, static_cast<size_t>(p.batch * itemsize(p.dtype)));
        return;
    }
    VectorProducts(p, {p.y, p.y_stride, 1}, 1).run(par);
}

void multiply(const Product& p, const Parallel& par) {
    const int64_t size = itemsize(p.dtype);
    if (p.m == 0 || p.n == 0 || p.batch == 0) return;
    if (p.k == 0) {
        std::memset(p.c, 0, static_cast<size_t>(p.batch * p.m * p.n * size));
        return;
    }
    if (p.m == 1 || p.n == 1) {
        // A column is the transpose of a row: the vector comes first.
        const bool row = p.m == 1;
        const GemmOperand& x = row ? p.a : p.b;
        const DotProduct products{p.dtype,
                                  p.k,
                                  x.data,
                                  nullptr,
                                  row ? x.col_stride : x.row_stride,
                                  0,
                                  p.c,
                                  false,
                                  p.batch,
                                  row ? p.a_starts : p.b_starts,
                                  row ? p.b_starts : p.a_starts};
        const GemmOperand turned{p.a.data, p.a.col_stride, p.a.row_stride};
        return VectorProducts(products, row ? p.b : turned, row ? p.n : p.m).run(par);
    }
    const Plan plan{kernels().gemm[index(p.dtype)], p, par, size};
    // In floating point: the product of three sizes may not fit an integer.
    const double work =
        static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
    if (work < kLargeWork || (p.batch >= 4 * par.threads && work < 8.0 * kLargeWork))
        return plan.small_batch();
    for (int64_t i = 0; i < p.batch; ++i) plan.large(i);
}

}  // namespace asc::cpu
