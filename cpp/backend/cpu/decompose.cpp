#include "backend/cpu/decompose.h"

#include <algorithm>
#include <atomic>
#include <complex>
#include <cstring>
#include <functional>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "backend/cpu/gemm.h"
#include "backend/cpu/isa.h"
#include "backend/cpu/scratch.h"

namespace asc::cpu {
namespace {

// Columns whose reflections are one product: more would cost more than they save.
constexpr int64_t kReflections = 128;
// Tall matrices are factored in blocks of at least so many rows, and so many times their columns:
// what is done twice, the factors of the blocks, stays small beside the blocks.
constexpr int64_t kTallRows = 512, kTallColumns = 8;
// Columns that a task takes along in LU and in triangular systems.
constexpr int64_t kBlockColumns = 64;
// Fewer columns than these at the end stay with the block before them: they would not pay, and a
// single one would be multiplied in another order than many.
constexpr int64_t kLeastColumns = 16;
// Columns of LU in such blocks: they are read once for each block, and should stay in cache.
constexpr int64_t kMostInBlocks = 512;
// Multiply-adds below which columns of a triangular system stay together.
constexpr int64_t kTaskWork = int64_t{1} << 17;
// Columns of such a system that belong together in memory.
constexpr int64_t kColumns = 64;

template <class T>
constexpr DType kType = DType::Float64;
template <>
constexpr DType kType<float> = DType::Float32;
template <>
constexpr DType kType<std::complex<float>> = DType::Complex64;
template <>
constexpr DType kType<std::complex<double>> = DType::Complex128;

template <class T>
constexpr bool kIsComplex = is_complex(kType<T>);
template <class T>
constexpr int64_t kPanel = kPanelBytes / static_cast<int64_t>(sizeof(T));

template <class T>
const DecomposeKernels& blocks() {
    return kernels().decompose[index(kType<T>)];
}

// Where to cut a matrix in two: whole blocks on the left.
int64_t half(int64_t n, int64_t block) { return (n / block + 1) / 2 * block; }

template <class T>
void copy(Matrix<T> dst, std::type_identity_t<Matrix<const T>> src) {
    for (int64_t i = 0; i < src.rows; ++i) copy_elements(dst.row(i), src.row(i), src.cols);
}
// dst = the transpose of src.
template <class T>
void transpose(Matrix<T> dst, Matrix<T> src) {
    kernels().transpose[width_index(kType<T>)](dst.data, dst.stride, src.data, src.stride, src.rows,
                                               src.cols);
}

// A matrix with memory of its own.
template <class T>
class Own {
  public:
    Own(int64_t rows, int64_t cols)
        : buffer_(std::max<int64_t>(1, rows * cols) * static_cast<int64_t>(sizeof(T))),
          matrix_{static_cast<T*>(buffer_.data()), rows, cols, cols} {}
    operator const Matrix<T>&() const { return matrix_; }
    operator Matrix<const T>() const { return matrix_; }
    const Matrix<T>* operator->() const { return &matrix_; }

  private:
    Buffer buffer_;
    Matrix<T> matrix_;
};

template <class T>
GemmOperand operand(Matrix<T> x) {
    return {x.data, x.stride, 1};
}

// The conjugate transpose of a matrix as an operand: complex numbers have to be copied.
template <class T>
class Adjoint {
  public:
    explicit Adjoint(Matrix<T> x)
        : own_(kIsComplex<T> ? x.rows : 0, x.cols), operand_{x.data, 1, x.stride} {
        if constexpr (kIsComplex<T>) {
            for (int64_t i = 0; i < x.rows; ++i)
                std::transform(x.row(i), x.row(i) + x.cols, own_->row(i),
                               [](T z) { return std::conj(z); });
            operand_ = {own_->data, 1, x.cols};
        }
    }
    operator GemmOperand() const { return operand_; }

  private:
    Own<T> own_;
    GemmOperand operand_;
};

// c = a b, where a has `depth` columns.
template <class T>
void multiply(Matrix<T> c, const GemmOperand& a, int64_t depth, const GemmOperand& b,
              const Parallel& par) {
    multiply({kType<T>, c.rows, c.cols, depth, a, b, c.data}, par);
}

// c -= a b
template <class T>
void subtract_product(Matrix<T> c, const GemmOperand& a, int64_t depth, Matrix<T> b,
                      const Parallel& par) {
    if (c.rows == 0 || c.cols == 0 || depth == 0) return;
    const Epilogue subtract{
        [](void* ctx, const ProductBlock& block) {
            const Matrix<T>& to = *static_cast<Matrix<T>*>(ctx);
            const auto kernel = kernels().elementwise[index(Op::Subtract)][index(kType<T>)];
            for (int64_t i = 0; i < block.rows; ++i) {
                T* row = to.row(block.row + i) + block.col;
                const void* operands[] = {row,
                                          static_cast<const T*>(block.data) + i * block.row_stride};
                kernel(row, operands, block.cols, 0);
            }
        },
        &c};
    Product product{kType<T>, c.rows, c.cols, depth, a, operand(b), nullptr};
    product.epilogue = &subtract;
    multiply(product, par);
}

// The work of a task is done by its thread alone.
constexpr Parallel kAlone{1, workers::run_alone};

int64_t count_blocks(int64_t cols) {
    return std::max<int64_t>(1, (cols + kBlockColumns - kLeastColumns) / kBlockColumns);
}

// Runs body(j, n) for blocks of columns [j, j + n).
template <class F>
void for_blocks(int64_t cols, const Parallel& par, F body) {
    const int64_t blocks = count_blocks(cols);
    run_each(par, blocks, [&](int64_t i) {
        const int64_t j = i * kBlockColumns;
        body(j, i + 1 < blocks ? kBlockColumns : cols - j);
    });
}

// A few rows of a triangular system, its columns in tasks.
template <class T>
void substitute(const Triangle& t, Matrix<T> b, const Parallel& par) {
    const int64_t most = t.n * t.n * b.cols / kTaskWork;
    const int64_t tasks = std::clamp<int64_t>(most, 1, 2 * par.threads);
    const int64_t width = ((b.cols + tasks - 1) / tasks + kColumns - 1) / kColumns * kColumns;
    run_each(par, (b.cols + width - 1) / width, [&](int64_t task) {
        const int64_t j = task * width;
        blocks<T>().substitute(t, b.data + j, b.stride, std::min(width, b.cols - j));
    });
}

Triangle corner(Triangle t, int64_t first, int64_t n, int64_t bytes) {
    t.data = static_cast<const char*>(t.data) + first * (t.row_stride + t.col_stride) * bytes;
    t.n = n;
    return t;
}

// b = t^-1 b, t of any size; a conjugate one is lower, its columns are adjacent.
template <class T>
void solve(const Triangle& t, Matrix<T> b, const Parallel& par) {
    if (b.cols == 0 || t.n == 0) return;
    if (t.n <= kTriangleRows) return substitute(t, b, par);
    if (par.threads > 1 && b.cols >= 2 * par.threads * kBlockColumns)
        return for_blocks(b.cols, par, [&](int64_t j, int64_t width) {
            const Matrix<T> block = b.block(0, j, b.rows, width);
            const Own<T> own(b.rows, width);
            copy<T>(own, block);
            solve<T>(t, own, kAlone);
            copy<T>(block, own);
        });
    const int64_t n = half(t.n, kTriangleRows), size = sizeof(T);
    const Triangle parts[] = {corner(t, 0, n, size), corner(t, n, t.n - n, size)};
    const Matrix<T> sides[] = {b.top(n), b.below(n)};
    const int first = t.upper ? 1 : 0, last = 1 - first;
    solve(parts[first], sides[first], par);
    // What is beside the diagonal blocks; the conjugate of a triangle is that of its transpose.
    T* rest =
        static_cast<T*>(const_cast<void*>(t.data)) + n * (t.upper ? t.col_stride : t.row_stride);
    const Matrix<T> turned{rest, parts[first].n, parts[last].n, t.col_stride};
    if (t.conj)
        subtract_product(sides[last], Adjoint<T>(turned), turned.rows, sides[first], par);
    else
        subtract_product(sides[last], {rest, t.row_stride, t.col_stride}, turned.rows, sides[first],
                         par);
    solve(parts[last], sides[last], par);
}

template <class T>
Triangle triangle(Matrix<T> a, bool upper, bool unit) {
    return {a.data, a.rows, a.stride, 1, upper, unit, false};
}

// A few columns as the kernels take them: in rows of kPanelBytes.
template <class T>
class Panel : public Own<T> {
  public:
    explicit Panel(Matrix<T> a) : Own<T>(a.rows, kPanel<T>) {
        const Matrix<T>& own = *this;
        copy(own.left(a.cols), a);
        for (int64_t i = 0; i < a.rows; ++i) zero_elements(own.row(i) + a.cols, own.cols - a.cols);
    }
};

// c -= u^H u, the upper triangle of c.
template <class T>
void subtract_square(Matrix<T> c, Matrix<T> u, const Adjoint<T>& adjoint, int64_t first,
                     const Parallel& par) {
    const GemmOperand all = adjoint;
    const GemmOperand rows{static_cast<const T*>(all.data) + first, all.row_stride, all.col_stride};
    const int64_t n = c.rows <= 2 * kTriangleRows ? c.rows : half(c.rows, kTriangleRows);
    // Above the diagonal everything, on it what belongs to a square.
    subtract_product(c.top(n), rows, u.rows, u.right(first), par);
    if (n < c.rows)
        subtract_square(c.block(n, n, c.rows - n, c.cols - n), u, adjoint, first + n, par);
}

// In pieces that are moved as a whole.
template <class T>
void exchange(T* x, T* y, int64_t n) {
    constexpr int64_t kPiece = 512 / sizeof(T);
    T keep[kPiece];
    for (int64_t i = 0; i < n; i += kPiece) {
        const int64_t count = std::min(kPiece, n - i);
        copy_elements(keep, x + i, count);
        copy_elements(x + i, y + i, count);
        copy_elements(y + i, keep, count);
    }
}

}  // namespace

template <class T>
void exchange_rows(Matrix<T> a, const int64_t* pivots, int64_t count) {
    for (int64_t j = 0; j < count; ++j)
        if (pivots[j] != j) exchange(a.row(j), a.row(pivots[j]), a.cols);
}

namespace {

// The few columns of a panel, column by column.
template <class T>
bool lu_panel(Matrix<T> a, int64_t* pivots) {
    const Own<T> columns(a.cols, a.rows + kPanelRest);
    transpose<T>(columns, a);
    for (int64_t j = 0; j < a.cols; ++j) zero_elements(columns->row(j) + a.rows, kPanelRest);
    const bool regular = blocks<T>().lu(columns->data, columns->stride, a.rows, a.cols, pivots);
    transpose<T>(a, columns->left(a.rows));
    return regular;
}

// Columns of A, whose left ones are factored: P A, U above and what is left below.
template <class T>
void eliminate(Matrix<T> left, const int64_t* pivots, Matrix<T> right, const Parallel& par) {
    const int64_t n = left.cols;
    exchange_rows(right, pivots, n);
    solve(triangle(left.top(n), false, true), right.top(n), par);
    subtract_product(right.below(n), operand(left.below(n)), n, right.top(n), par);
}

// LU in blocks of columns: each is freed of the panels before it, one after another, and becomes a
// panel then. Threads take what is ready: first what the next panel waits for, then the blocks that
// they had before, whose elements are in their cache.
template <class T>
class LuInBlocks {
  public:
    LuInBlocks(Matrix<T> a, int64_t* pivots)
        : a_(a), pivots_(pivots), blocks_(static_cast<size_t>(count_blocks(a.cols))) {}

    bool run(const Parallel& par) {
        threads_ = par.threads;
        run_each(par, std::min<int64_t>(par.threads, count()), [&](int64_t thread) {
            try {
                work(thread);
            } catch (...) {
                const std::lock_guard lock(mutex_);
                panels_ = count();  // the others stop
                throw;
            }
        });
        run_each(par, count(), [&](int64_t i) { exchange_left(i); });
        for (int64_t i = 1; i < count(); ++i)
            for (int64_t j = 0; j < width(i); ++j) pivots_[start(i) + j] += start(i);
        return regular_;
    }

  private:
    struct Block {
        int64_t done = 0;  // panels that it is free of
        bool taken = false;
    };

    int64_t count() const { return static_cast<int64_t>(blocks_.size()); }
    int64_t start(int64_t i) const { return i * kBlockColumns; }
    int64_t width(int64_t i) const { return i + 1 < count() ? kBlockColumns : a_.cols - start(i); }
    // Block i from the first row of panel k on.
    Matrix<T> block(int64_t i, int64_t k) const {
        return a_.block(start(k), start(i), a_.rows - start(k), width(i));
    }

    // A block that this thread may take; with the lock held. -1: the others have them all.
    int64_t find(int64_t thread) const {
        int64_t other = -1;
        for (int64_t i = panels_; i < count(); ++i) {
            const Block& b = blocks_[static_cast<size_t>(i)];
            if (b.taken || (b.done == panels_ && i != panels_)) continue;
            if (i == panels_ || i % threads_ == thread) return i;
            if (other < 0) other = i;
        }
        return other;
    }

    void work(int64_t thread) {
        for (std::unique_lock lock(mutex_); panels_ < count();) {
            const int64_t i = find(thread);
            if (i < 0) {
                lock.unlock();
                std::this_thread::yield();
                lock.lock();
                continue;
            }
            Block& b = blocks_[static_cast<size_t>(i)];
            b.taken = true;
            lock.unlock();
            const bool panel = advance(i, b.done);
            lock.lock();
            b.taken = false;
            if (panel) panels_ = std::max(panels_, i + 1);
        }
    }
    // Frees block i of one more panel, if there is one; true: it is a panel itself now.
    bool advance(int64_t i, int64_t& done) {
        if (done < i) {
            eliminate(block(done, done), pivots_ + start(done), block(i, done), kAlone);
            if (++done < i) return false;
        }
        if (!lu(block(i, i), pivots_ + start(i), kAlone)) regular_ = false;
        return true;
    }
    // The exchanges of later panels.
    void exchange_left(int64_t i) const {
        for (int64_t k = i + 1; k < count(); ++k)
            exchange_rows(block(i, k), pivots_ + start(k), width(k));
    }

    Matrix<T> a_;
    int64_t* pivots_;
    int64_t threads_ = 1;
    std::mutex mutex_;  // guards what follows
    int64_t panels_ = 0;
    std::vector<Block> blocks_;
    std::atomic<bool> regular_ = true;
};

}  // namespace

template <class T>
bool lu(Matrix<T> a, int64_t* pivots, const Parallel& par) {
    if (a.cols <= kPanel<T>) return lu_panel(a, pivots);
    if (a.cols >= 2 * kBlockColumns && a.cols <= kMostInBlocks)
        return LuInBlocks<T>(a, pivots).run(par);
    const int64_t n = half(a.cols, kPanel<T>);
    bool regular = lu(a.left(n), pivots, par);
    eliminate(a.left(n), pivots, a.right(n), par);
    regular &= lu(a.right(n).below(n), pivots + n, par);
    exchange_rows(a.left(n).below(n), pivots + n, a.cols - n);
    for (int64_t j = n; j < a.cols; ++j) pivots[j] += n;
    return regular;
}

template <class T>
void solve_lower(Matrix<T> l, Matrix<T> b, const Parallel& par) {
    solve(triangle(l, false, true), b, par);
}

template <class T>
void solve_upper(Matrix<T> u, Matrix<T> b, const Parallel& par) {
    solve(triangle(u, true, false), b, par);
}

template <class T>
void invert(Matrix<T> lu, const int64_t* columns, Matrix<T> x, const Parallel& par) {
    const Triangle lower = triangle(lu, false, true), upper = triangle(lu, true, false);
    for_blocks(x.cols, par, [&](int64_t first, int64_t width) {
        const Own<T> block(x.rows, width);
        zero_elements(block->data, x.rows * width);
        for (int64_t j = 0; j < width; ++j) block->row(first + j)[j] = T(1);
        // L^-1 is zero above the diagonal.
        solve(corner(lower, first, x.rows - first, sizeof(T)), block->below(first), kAlone);
        solve<T>(upper, block, kAlone);
        for (int64_t i = 0; i < x.rows; ++i)
            for (int64_t j = 0; j < width; ++j) x.row(i)[columns[first + j]] = block->row(i)[j];
    });
}

template <class T>
bool cholesky_upper(Matrix<T> a, const Parallel& par) {
    if (a.rows <= kTriangleRows) return blocks<T>().cholesky(a.data, a.stride, a.rows);
    const int64_t n = half(a.rows, kTriangleRows), m = a.rows - n;
    const Matrix<T> right = a.block(0, n, n, m), rest = a.block(n, n, m, m);
    if (!cholesky_upper(a.block(0, 0, n, n), par)) return false;
    solve({a.data, n, 1, a.stride, false, false, true}, right, par);
    subtract_square(rest, right, Adjoint<T>(right), 0, par);
    return cholesky_upper(rest, par);
}

namespace {

// c = (I - v t v^H)^H c, or without the outer adjoint.
template <class T>
void reflect(Matrix<T> c, Matrix<T> v, const GemmOperand& t, const Parallel& par) {
    if (c.cols == 0) return;
    const Adjoint<T> adjoint(v);
    const Own<T> products(v.cols, c.cols), scaled(v.cols, c.cols);
    multiply<T>(products, adjoint, v.rows, operand(c), par);
    multiply<T>(scaled, t, v.cols, operand<T>(products), par);
    subtract_product<T>(c, operand(v), v.cols, scaled, par);
}

// Q = I - V T V^H for the Q R of a, which becomes V, with ones and zeros where they belong; t gets
// T, and the upper triangle of r gets R.
template <class T>
void reflections(Matrix<T> a, Matrix<T> r, Matrix<T> t, const Parallel& par) {
    if (a.cols <= kPanel<T>) {
        const Panel<T> panel(a);
        const Own<T> small(a.cols, kPanel<T>);
        blocks<T>().qr(panel->data, a.rows, a.cols, small->data);
        copy(t, small->left(a.cols));
        copy(a, panel->left(a.cols));
        for (int64_t i = 0; i < a.cols; ++i) {
            copy_elements(r.row(i) + i, a.row(i) + i, a.cols - i);
            a.row(i)[i] = T(1);
            zero_elements(a.row(i) + i + 1, a.cols - i - 1);
        }
        return;
    }
    const int64_t n = half(a.cols, kPanel<T>), m = a.cols - n;
    const Matrix<T> left = a.left(n), right = a.right(n);
    const Matrix<T> first = t.block(0, 0, n, n), second = t.block(n, n, m, m);
    reflections(left, r.block(0, 0, n, n), first, par);
    reflect(right, left, Adjoint<T>(first), par);
    copy(r.block(0, n, n, m), right.top(n));
    for (int64_t i = 0; i < n; ++i) zero_elements(right.row(i), m);
    for (int64_t i = n; i < a.cols; ++i) zero_elements(t.row(i), n);
    reflections(right.below(n), r.block(n, n, m, m), second, par);
    // The corner of T: -T1 (V1^H V2) T2.
    const Matrix<T> corner = t.block(0, n, n, m);
    const Own<T> between(n, m), scaled(n, m);
    multiply<T>(between, Adjoint<T>(left.below(n)), a.rows - n, operand(right.below(n)), par);
    multiply<T>(scaled, operand<T>(between), m, operand(second), par);
    for (int64_t i = 0; i < n; ++i) zero_elements(corner.row(i), m);
    subtract_product<T>(corner, operand(first), n, scaled, par);
}

// Q R of a matrix, which changes.
template <class T>
void qr_in_place(Matrix<T> a, Matrix<T> q, Matrix<T> r, const Parallel& par) {
    const int64_t k = std::min(a.rows, a.cols);
    const Own<T> t(k, kReflections);
    const auto width = [&](int64_t j) { return std::min(kReflections, k - j); };
    const auto vectors = [&](int64_t j) { return a.block(j, j, a.rows - j, width(j)); };
    const auto factor = [&](int64_t j) { return t->block(j, 0, width(j), width(j)); };
    for (int64_t j = 0; j < k; j += kReflections) {
        const int64_t n = width(j);
        const Matrix<T> right = a.right(j + n).below(j);
        reflections(vectors(j), r.block(j, j, n, n), factor(j), par);
        reflect(right, vectors(j), Adjoint<T>(factor(j)), par);
        copy(r.block(j, j + n, n, right.cols), right.top(n));
    }
    for (int64_t i = 0; i < q.rows; ++i) {
        zero_elements(q.row(i), q.cols);
        if (i < q.cols) q.row(i)[i] = T(1);
    }
    // The last reflections first: until then their columns are those of the identity.
    for (int64_t j = (k - 1) / kReflections * kReflections; j >= 0; j -= kReflections) {
        const int64_t n = width(j);
        const Matrix<T> rest = q.right(j).below(j);
        reflect(rest.right(n), vectors(j), operand(factor(j)), par);
        const Own<T> scaled(n, n);
        multiply<T>(scaled, operand(factor(j)), n, Adjoint<T>(vectors(j).top(n)), par);
        subtract_product<T>(rest.left(n), operand(vectors(j)), n, scaled, par);
    }
}

// Blocks of rows of a tall matrix, an even number: 0 where it is factored as a whole.
int64_t tall_blocks(int64_t rows, int64_t cols) {
    if (cols > kReflections) return 0;
    return rows / std::max(kTallRows, kTallColumns * cols) / 2 * 2;
}

// Q R of a tall matrix: each block of rows is factored by one thread, and then their R, one below
// the other. The Q of the blocks times that of the second step is Q.
template <class T>
void qr_of_tall(Matrix<const T> a, Matrix<T> q, Matrix<T> r, const Parallel& par) {
    const int64_t n = a.cols, blocks = tall_blocks(a.rows, n);
    const auto rows_of = [&](auto x, int64_t i) {
        const int64_t first = i * a.rows / blocks;
        return x.block(first, 0, (i + 1) * a.rows / blocks - first, n);
    };
    const auto square = [&](Matrix<T> x, int64_t i) { return x.block(i * n, 0, n, n); };
    const Own<T> v(a.rows, n), t(blocks * n, n), stack(blocks * n, n), between(blocks * n, n);
    run_each(par, blocks, [&](int64_t i) {
        copy(rows_of(Matrix<T>(v), i), rows_of(a, i));
        zero_elements(square(stack, i).data, n * n);
        reflections(rows_of(Matrix<T>(v), i), square(stack, i), square(t, i), kAlone);
    });
    qr<T>(stack, between, r, par);
    // (I - V T V^H) times a square above zeros.
    run_each(par, blocks, [&](int64_t i) {
        const Matrix<T> vectors = rows_of(Matrix<T>(v), i), block = rows_of(q, i);
        const Matrix<T> right = square(between, i);
        const Own<T> products(n, n), scaled(n, n);
        multiply<T>(products, Adjoint<T>(vectors.top(n)), n, operand(right), kAlone);
        multiply<T>(scaled, operand(square(t, i)), n, operand<T>(products), kAlone);
        std::transform(scaled->data, scaled->data + n * n, scaled->data, std::negate<T>());
        multiply<T>(block, operand(vectors), n, operand<T>(scaled), kAlone);
        std::transform(block.data, block.data + n * n, right.data, block.data, std::plus<T>());
    });
}

}  // namespace

template <class T>
void qr(Matrix<const T> a, Matrix<T> q, Matrix<T> r, const Parallel& par) {
    for (int64_t i = 0; i < r.rows; ++i) zero_elements(r.row(i), std::min(i, r.cols));
    if (q.cols == a.cols && tall_blocks(a.rows, a.cols) > 0) return qr_of_tall(a, q, r, par);
    const Own<T> own(a.rows, a.cols);
    copy<T>(own, a);
    qr_in_place<T>(own, q, r, par);
}

#define ASC_INSTANTIATE(T)                                                       \
    template bool lu(Matrix<T>, int64_t*, const Parallel&);                      \
    template void exchange_rows(Matrix<T>, const int64_t*, int64_t);             \
    template void solve_lower(Matrix<T>, Matrix<T>, const Parallel&);            \
    template void invert(Matrix<T>, const int64_t*, Matrix<T>, const Parallel&); \
    template void solve_upper(Matrix<T>, Matrix<T>, const Parallel&);            \
    template bool cholesky_upper(Matrix<T>, const Parallel&);                    \
    template void qr(Matrix<const T>, Matrix<T>, Matrix<T>, const Parallel&);
ASC_INSTANTIATE(float)
ASC_INSTANTIATE(double)
ASC_INSTANTIATE(std::complex<float>)
ASC_INSTANTIATE(std::complex<double>)
#undef ASC_INSTANTIATE

}  // namespace asc::cpu
