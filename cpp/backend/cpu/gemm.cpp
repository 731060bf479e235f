#include "backend/cpu/gemm.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "backend/cpu/isa.h"
#include "backend/cpu/scratch.h"

namespace asc::cpu {
namespace {

// Multiply-adds below which one more task costs more than it saves.
constexpr int64_t kTaskWork = int64_t{1} << 18;
// Products of fewer multiply-adds go one or several to a task, others are split inside; where
// there are enough of them to keep all threads busy, only above kLargest.
constexpr double kLargeWork = 1 << 20, kLargest = 1 << 26;
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
// Bytes of a block that an epilogue reads: it leaves room in the cache for the operands.
constexpr int64_t kBlockBytes = int64_t{1} << 18;
// Rows of a block: a multiple of those of all register tiles.
constexpr int64_t kTiledRows = 12;
// Sums of so few products that results are written as fast as they are computed.
constexpr int64_t kShortSums = 128;
// Bytes of narrow blocks, and of stacks of small matrices.
constexpr int64_t kStackBytes = int64_t{1} << 16;

constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
constexpr int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

template <class T>
T* at(T* p, int64_t bytes) {
    using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
    return static_cast<T*>(static_cast<Byte*>(p) + bytes);
}

// All matrices of the batch meet the same b.
bool shares_b(const Product& p) { return p.batch > 1 && !p.b_starts.list && p.b_starts.step == 0; }

// Matrices that meet the same b, as one tall matrix where their rows are evenly spaced. Single rows
// stay apart: their products are sums of another order.
void merge_rows(Product& p) {
    if (p.m == 1 || !shares_b(p) || p.a_starts.list || p.a_starts.step != p.m * p.a.row_stride)
        return;
    p.m *= p.batch;
    p.batch = 1;
}

// What every step of one call needs.
class Plan {
  public:
    Plan(const Product& product, const Parallel& par)
        : kernels_(cpu::kernels().gemm[index(product.dtype)]),
          p_(product),
          par_(par),
          size_(itemsize(product.dtype)) {
        if (shares_b(p_)) {
            rows_each_ = p_.m;
            p_.m *= p_.batch;
            p_.batch = 1;
        }
        choose_block();
        if (p_.batch > 1 && columns_ == p_.n && p_.m <= kGemmRows)
            stacked_ = kStackBytes / (p_.m * p_.n * size_);
        elements_ = std::max(rows_ * columns_, stacked_ * p_.m * p_.n);
    }

    void run() const {
        if (p_.packed_b) return blocks(0, 0, p_.n, p_.packed_b);
        // In floating point: the product of three sizes may not fit an integer.
        const double work =
            static_cast<double>(p_.m) * static_cast<double>(p_.n) * static_cast<double>(p_.k);
        if (work < kLargeWork || (p_.batch >= 4 * par_.threads && work < kLargest))
            return batches();
        for (int64_t i = 0; i < p_.batch; ++i) large(i);
    }

  private:
    // Where a block of the result goes, in elements of its dtype.
    struct Target {
        void* data;
        int64_t row_stride;
    };

    GemmOperand shifted(const GemmOperand& x, int64_t row, int64_t col) const {
        return {at(x.data, (row * x.row_stride + col * x.col_stride) * size_), x.row_stride,
                x.col_stride};
    }
    GemmOperand a(int64_t matrix) const {
        return {at(p_.a.data, p_.a_starts[matrix] * size_), p_.a.row_stride, p_.a.col_stride};
    }
    GemmOperand b(int64_t matrix) const {
        return {at(p_.b.data, p_.b_starts[matrix] * size_), p_.b.row_stride, p_.b.col_stride};
    }

    // `depth` products from k on, of rows [i, i + m) with columns from j on; `starts` has room for
    // m rows.
    GemmBlock operands(int64_t matrix, int64_t i, int64_t m, int64_t j, int64_t n, int64_t k,
                       int64_t depth, int64_t* starts) const {
        GemmBlock g{m, n, depth, {}, shifted(b(matrix), k, j), nullptr, nullptr, 0};
        if (rows_each_ == 0) {
            g.a = shifted(a(matrix), i, k);
            return g;
        }
        g.a = shifted(p_.a, 0, k);
        g.a_rows = starts;
        int64_t at = i / rows_each_, row = i % rows_each_;
        for (int64_t r = 0; r < m; ++r) {
            starts[r] = p_.a_starts[at] + row * p_.a.row_stride;
            if (++row < rows_each_) continue;
            row = 0;
            ++at;
        }
        return g;
    }

    // The largest block: accumulators of narrow types, and what an epilogue reads, stay in cache.
    void choose_block() {
        int64_t most = kernels_.round ? kNarrowColumns : p_.n;
        rows_ = kGemmRows;
        if (p_.epilogue) {
            const int64_t elements = kBlockBytes / size_;
            // Results of whole rows lie together in memory; long sums read b less often.
            const int64_t least = p_.k <= kShortSums ? kTiledRows : 4 * kTiledRows;
            rows_ = std::clamp(elements / p_.n / kTiledRows * kTiledRows, least, kGemmRows);
            most = std::min(most, elements / rows_);
        }
        columns_ = most >= p_.n ? p_.n : std::max(most / unit() * unit(), unit());
        // Narrow blocks may be long, as long as there are some for every thread.
        const int64_t shared = round_up(ceil_div(p_.m, 4 * par_.threads), kTiledRows);
        const int64_t stacked = kStackBytes / (columns_ * size_) / kTiledRows * kTiledRows;
        rows_ = std::max(rows_, std::min(stacked, shared));
    }
    // Whole strips that start at borders.
    int64_t unit() const { return std::max(kernels_.strip, kBlockBorder); }

    // A thread's scratch: the kernel's, the accumulators of narrow types, a block of the result.
    int64_t acc_at() const { return round_up(kernels_.scratch, 64); }
    int64_t block_at() const {
        const int64_t bytes = kernels_.round ? elements_ * kernels_.acc_bytes : 0;
        return acc_at() + round_up(bytes, 64);
    }
    int64_t scratch_bytes() const { return block_at() + (p_.c ? 0 : elements_ * size_); }

    Target target(int64_t row, int64_t col, int64_t cols, void* scratch) const {
        if (!p_.c) return {at(scratch, block_at()), cols};
        return {at(p_.c, (row * p_.n + col) * size_), p_.n};
    }

    void finish(const Target& t, int64_t row, int64_t rows, int64_t col, int64_t cols) const {
        if (p_.epilogue)
            p_.epilogue->finish(p_.epilogue->ctx, {row, rows, col, cols, t.data, t.row_stride});
    }

    // Multiplies into the target.
    void compute(GemmBlock g, const Target& t, void* scratch) const {
        g.c = kernels_.round ? at(scratch, acc_at()) : t.data;
        g.c_row_stride = kernels_.round ? g.n : t.row_stride;
        kernels_.multiply(g, scratch);
        for (int64_t r = 0; kernels_.round && r < g.m; ++r)
            kernels_.round(at(t.data, r * t.row_stride * size_),
                           at(g.c, r * g.n * kernels_.acc_bytes), g.n);
    }

    // Rows [i, i + m) and columns [j, j + n) of one result; `packed` starts at column j.
    void block(int64_t matrix, int64_t i, int64_t m, int64_t j, int64_t n, const void* packed,
               void* scratch) const {
        const int64_t row = matrix * p_.m + i;
        const Target t = target(row, j, n, scratch);
        for (int64_t r = 0; r < m; r += kGemmRows) {
            int64_t starts[kGemmRows];
            GemmBlock g =
                operands(matrix, i + r, std::min(kGemmRows, m - r), j, n, 0, p_.k, starts);
            g.packed_b = packed;
            compute(g, {at(t.data, r * t.row_stride * size_), t.row_stride}, scratch);
        }
        finish(t, row, m, j, n);
    }

    // One whole matrix on one thread.
    void whole(int64_t matrix, void* scratch) const {
        for (int64_t i = 0; i < p_.m; i += rows_)
            for (int64_t j = 0; j < p_.n; j += columns_)
                block(matrix, i, std::min(rows_, p_.m - i), j, std::min(columns_, p_.n - j),
                      nullptr, scratch);
    }

    // Small matrices one after another, as one block.
    void stack(int64_t first, int64_t count, void* scratch) const {
        const int64_t rows = count * p_.m, row = first * p_.m;
        const Target t = target(row, 0, p_.n, scratch);
        if (in_series()) {
            void* acc = kernels_.round ? at(scratch, acc_at()) : t.data;
            kernels_.series({p_.m, p_.n, p_.k, count, a(first), b(first), p_.a_starts.step,
                             p_.b_starts.step, acc});
            if (kernels_.round) kernels_.round(t.data, acc, rows * p_.n);
        } else {
            for (int64_t i = 0; i < count; ++i)
                compute(operands(first + i, 0, p_.m, 0, p_.n, 0, p_.k, nullptr),
                        {at(t.data, i * p_.m * p_.n * size_), p_.n}, scratch);
        }
        finish(t, row, rows, 0, p_.n);
    }

    bool in_series() const {
        return p_.batch > 1 && p_.m * p_.k <= kGemmSeries && p_.k * p_.n <= kGemmSeries &&
               p_.m * p_.n <= kGemmSeries && !p_.a_starts.list && !p_.b_starts.list;
    }

    // Whole matrices for each task.
    void batches() const {
        const int64_t work = std::max<int64_t>(p_.m * p_.n * p_.k, 1);
        const int64_t step = std::clamp<int64_t>(kTaskWork / work, 1, p_.batch);
        const int64_t tasks = ceil_div(p_.batch, step);
        Slots slots(par_, tasks, scratch_bytes());
        slots.spread([&](int64_t task, void* scratch) {
            const int64_t end = std::min(p_.batch, (task + 1) * step);
            for (int64_t i = task * step; i < end; i += std::max<int64_t>(stacked_, 1)) {
                if (stacked_ > 0)
                    stack(i, std::min(stacked_, end - i), scratch);
                else
                    whole(i, scratch);
            }
        });
    }

    // Blocks of rows times groups of whole strips, enough of them to keep all threads busy, and the
    // same number of nearly equal ones for each.
    void blocks(int64_t matrix, int64_t j0, int64_t columns, const void* packed) const {
        const int64_t tiles = ceil_div(p_.m, kTiledRows), units = ceil_div(columns, unit());
        int64_t rows = ceil_div(p_.m, rows_);
        if (rows > 1) rows = std::min(round_up(rows, par_.threads), tiles);
        const int64_t work = p_.m * columns * p_.k / kTaskWork;
        const int64_t wanted = std::min<int64_t>(par_.threads > 1 ? 4 * par_.threads : 1, work);
        int64_t groups = std::clamp<int64_t>(ceil_div(wanted, rows), 1, units);
        groups = std::max(groups, ceil_div(columns, columns_));
        const int64_t width = ceil_div(units, groups) * unit();
        groups = ceil_div(columns, width);
        Slots slots(par_, rows * groups, scratch_bytes());
        slots.spread([&](int64_t task, void* scratch) {
            const auto border = [&](int64_t row) {
                return std::min(p_.m, row * tiles / rows * kTiledRows);
            };
            const int64_t i = border(task / groups), end = border(task / groups + 1);
            const int64_t j = task % groups * width;
            const void* strip = packed ? at(packed, j * p_.k * kernels_.acc_bytes) : nullptr;
            block(matrix, i, end - i, j0 + j, std::min(width, columns - j), strip, scratch);
        });
    }

    // `b` is packed once by all threads, a bounded number of columns at a time.
    void packed(int64_t matrix) const {
        const int64_t strip_bytes = p_.k * kernels_.strip * kernels_.acc_bytes;
        const int64_t strips = ceil_div(p_.n, kernels_.strip), per_unit = unit() / kernels_.strip;
        const int64_t step = std::clamp<int64_t>(kPackedBytes / strip_bytes / per_unit, 1,
                                                 ceil_div(strips, per_unit)) *
                             per_unit;
        Buffer buffer(step * strip_bytes);
        const GemmOperand right = b(matrix);
        for (int64_t s = 0; s < strips; s += step) {
            const int64_t first = s * kernels_.strip;
            const int64_t columns = std::min(p_.n - first, step * kernels_.strip);
            pack_factor(buffer.data(), p_.dtype, shifted(right, 0, first), p_.k, columns, par_);
            blocks(matrix, first, columns, buffer.data());
        }
    }

    // Few elements, each a long sum: the partial sums over kGemmDepth are computed side by side
    // and added in their order, which is the order of every other way.
    void split_depth(int64_t matrix) const {
        const int64_t parts = ceil_div(p_.k, kGemmDepth);
        const int64_t bytes = p_.m * p_.n * kernels_.acc_bytes;
        const int64_t step = std::min(parts, kDepthParts);
        // Behind the parts: their sums, and the result where nobody else keeps it.
        Buffer buffer((step + 1) * bytes + (p_.c ? 0 : p_.m * p_.n * size_));
        const Target t{
            p_.c ? at(p_.c, matrix * p_.m * p_.n * size_) : at(buffer.data(), (step + 1) * bytes),
            p_.n};
        void* sums = kernels_.round ? at(buffer.data(), step * bytes) : t.data;
        for (int64_t first = 0; first < parts; first += step) {
            const int64_t count = std::min(step, parts - first);
            Slots slots(par_, count, kernels_.scratch);
            slots.spread([&](int64_t task, void* scratch) {
                const int64_t k = (first + task) * kGemmDepth;
                int64_t starts[kGemmRows];
                GemmBlock g =
                    operands(matrix, 0, p_.m, 0, p_.n, k, std::min(kGemmDepth, p_.k - k), starts);
                g.c = at(buffer.data(), task * bytes);
                g.c_row_stride = p_.n;
                kernels_.multiply(g, scratch);
            });
            for (int64_t part = 0; part < count; ++part) {
                if (first + part == 0)
                    std::memcpy(sums, buffer.data(), static_cast<size_t>(bytes));
                else
                    kernels_.add(sums, at(buffer.data(), part * bytes), p_.m * p_.n);
            }
        }
        if (kernels_.round) kernels_.round(t.data, sums, p_.m * p_.n);
        finish(t, matrix * p_.m, p_.m, 0, p_.n);
    }

    void large(int64_t matrix) const {
        const int64_t blocks_all = ceil_div(p_.m, kGemmRows) * ceil_div(p_.n, kernels_.strip);
        if (par_.threads > 1 && p_.m <= kGemmRows && p_.n <= kNarrowColumns &&
            blocks_all < 2 * par_.threads && p_.k >= 4 * kGemmDepth)
            return split_depth(matrix);
        const bool direct = p_.b.col_stride == 1 && !kernels_.round && kernels_.acc_bytes == size_;
        const bool pays = direct ? p_.n * p_.k * size_ > kPackBytes : p_.m > kGemmRows;
        if (p_.m >= kPackRows && pays) return packed(matrix);
        blocks(matrix, 0, p_.n, nullptr);
    }

    const GemmKernels& kernels_;
    Product p_;
    const Parallel& par_;
    int64_t size_;                    // bytes of an element
    int64_t rows_ = 0, columns_ = 0;  // of the largest block; rows in whole tiles
    int64_t stacked_ = 0;             // matrices in one block, where several fit
    int64_t elements_ = 0;            // of the largest block
    int64_t rows_each_ = 0;  // rows of the matrices of `a` that were merged, if they lie apart
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

    void run(const Parallel& par) {
        // A whole row of lanes needs no rest: rows of that length are read as they lie.
        if (p_.k < kReduceLanes || (p_.k == kReduceLanes && b_.row_stride != 1))
            return run_short(par);
        if (p_.batch == 1 && n_ * p_.k >= par.threads * kTaskWork / 8)
            width_ = std::min(width_, round_up(ceil_div(n_, par.threads), kLeastColumns));
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
    static constexpr int64_t kDotColumns = 256, kLeastColumns = 64, kDotBranch = 16;
    // Columns up to which short sums run along the batch.
    static constexpr int64_t kShortColumns = 64;

    // Sums of a few products each: many side by side, along the batch or along the columns.
    void run_short(const Parallel& par) const {
        const bool along_batch =
            n_ < kShortColumns && n_ < p_.batch && !p_.x_starts.list && !p_.y_starts.list;
        const int64_t lines = along_batch ? n_ : p_.batch, length = along_batch ? p_.batch : n_;
        // Results of one task: whole rows of the batch, or a piece of one row.
        const int64_t rows = along_batch ? n_ : 1;
        const int64_t step = std::max<int64_t>(1, kTaskWork / 8 / (p_.k * rows));
        const int64_t pieces = ceil_div(length, step),
                      tasks = along_batch ? pieces : lines * pieces;
        const int64_t acc = kernels_.acc_bytes;
        Slots slots(par, tasks, kernels_.round ? std::min(step, length) * rows * acc : 0);
        slots.spread([&](int64_t task, void* scratch) {
            const int64_t first = task % pieces * step, count = std::min(step, length - first);
            const int64_t matrix = along_batch ? first : task / pieces;
            const int64_t at_column = along_batch ? 0 : first;
            void* out = at(p_.out, (matrix * n_ + at_column) * size_);
            void* sums = kernels_.round ? scratch : out;
            const GemmOperand x{at(p_.x, p_.x_starts[matrix] * size_), p_.x_stride,
                                along_batch ? p_.x_starts.step : 0};
            for (int64_t r = 0; r < rows; ++r) {
                const int64_t start = p_.y_starts[matrix] + (at_column + r) * b_.col_stride;
                const GemmOperand b{at(b_.data, start * size_), b_.row_stride,
                                    along_batch ? p_.y_starts.step : b_.col_stride};
                kernels_.column_dots(at(sums, r * acc), rows, x, b, p_.k, count, p_.conj);
            }
            if (kernels_.round) kernels_.round(out, sums, rows * count);
        });
    }

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

int64_t packed_factor_bytes(DType dtype, int64_t k, int64_t n) {
    const GemmKernels& kernels = cpu::kernels().gemm[index(dtype)];
    return ceil_div(n, kernels.strip) * kernels.strip * k * kernels.acc_bytes;
}

void pack_factor(void* dst, DType dtype, const GemmOperand& b, int64_t k, int64_t n,
                 const Parallel& par) {
    const GemmKernels& kernels = cpu::kernels().gemm[index(dtype)];
    run_each(par, ceil_div(n, kernels.strip), [&](int64_t strip) {
        const int64_t j = strip * kernels.strip;
        const GemmOperand columns{at(b.data, j * b.col_stride * itemsize(dtype)), b.row_stride,
                                  b.col_stride};
        kernels.pack(at(dst, j * k * kernels.acc_bytes), columns, k,
                     std::min(kernels.strip, n - j));
    });
}

void dot(const DotProduct& p, const Parallel& par) {
    if (p.k == 0) {
        std::memset(p.out, 0, static_cast<size_t>(p.batch * itemsize(p.dtype)));
        return;
    }
    VectorProducts(p, {p.y, p.y_stride, 1}, 1).run(par);
}

namespace {

// A product with a row or a column: a column is the transpose of a row, the vector comes first.
void multiply_vectors(const Product& p, const Parallel& par) {
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
    VectorProducts(products, row ? p.b : turned, row ? p.n : p.m).run(par);
}

}  // namespace

void multiply(const Product& product, const Parallel& par) {
    if (product.m == 0 || product.n == 0 || product.batch == 0) return;
    Product p = product;
    merge_rows(p);
    if (p.k > 0 && p.n > 1 && p.m > 1) return Plan(p, par).run();
    // Small beside its operands, or empty sums: the epilogue follows at the end.
    const int64_t rows = p.batch * p.m, bytes = rows * p.n * itemsize(p.dtype);
    std::optional<Buffer> own;
    if (!p.c) p.c = own.emplace(bytes).data();
    if (p.k == 0)
        std::memset(p.c, 0, static_cast<size_t>(bytes));
    else
        multiply_vectors(p, par);
    if (p.epilogue) p.epilogue->finish(p.epilogue->ctx, {0, rows, 0, p.n, p.c, p.n});
}

}  // namespace asc::cpu
