#include "backend/cpu/linalg.h"

#include <complex>
#define LAPACK_COMPLEX_CPP
#define lapack_complex_float std::complex<float>
#define lapack_complex_double std::complex<double>
#include <lapacke.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <numeric>

#include "backend/cpu/decompose.h"
#include "backend/cpu/isa.h"
#include "backend/cpu/scratch.h"
#include "backend/cpu/small_matrices.h"

extern "C" void scipy_openblas_set_num_threads(int);

namespace asc::cpu {
namespace {

// Threads are the callers' business: OpenBLAS's own would oversubscribe the machine and make
// results depend on their number.
const bool kSingleThreaded = (scipy_openblas_set_num_threads(1), true);

// Matrices are handed to threads in runs of about this many operations.
constexpr int64_t kTaskWork = int64_t{1} << 16;

template <class T>
struct Lapack;

// The routines of one type: Hermitian ones have other names for real types.
#define ASC_LAPACK(T, R, p, hermitian)                                        \
    template <>                                                               \
    struct Lapack<T> {                                                        \
        using Real = R;                                                       \
        static constexpr auto heevd = scipy_LAPACKE_##p##hermitian##evd_work; \
        static constexpr auto geev = scipy_LAPACKE_##p##geev_work;            \
        static constexpr auto gesdd = scipy_LAPACKE_##p##gesdd_work;          \
        static constexpr auto gesvd = scipy_LAPACKE_##p##gesvd_work;          \
    };
ASC_LAPACK(float, float, s, sy)
ASC_LAPACK(double, double, d, sy)
ASC_LAPACK(std::complex<float>, float, c, he)
ASC_LAPACK(std::complex<double>, double, z, he)
#undef ASC_LAPACK

template <class T>
using Real = typename Lapack<T>::Real;
template <class T>
using ComplexOf = std::complex<Real<T>>;
template <class T>
constexpr bool kIsComplex = !std::is_same_v<T, Real<T>>;

template <class F>
Outcome dispatch_lapack(DType d, F&& f) {
    switch (d) {
        case DType::Float32:
            return f(float{});
        case DType::Float64:
            return f(double{});
        case DType::Complex64:
            return f(std::complex<float>{});
        default:
            return f(std::complex<double>{});
    }
}

// The length of a workspace as LAPACK reports it; nothing that 32 bits cannot count.
template <class T>
bool workspace(T reported, lapack_int& length) {
    // float32 holds lengths rounded, perhaps downwards.
    const double wanted = std::ceil(static_cast<double>(std::real(reported)) * (1 + 1e-7));
    if (!(wanted < INT_MAX)) return false;
    length = std::max<lapack_int>(1, static_cast<lapack_int>(wanted));
    return true;
}

bool too_large(int64_t m, int64_t n) { return std::max(m, n) >= INT_MAX / 8; }

// Pieces of a thread's scratch: laid out once without memory to learn the size, then for real.
class Layout {
  public:
    explicit Layout(void* base = nullptr) : base_(static_cast<char*>(base)) {}
    template <class T>
    T* take(int64_t n) {
        char* p = base_ + used_;
        used_ += (std::max<int64_t>(n, 1) * static_cast<int64_t>(sizeof(T)) + 63) / 64 * 64;
        return reinterpret_cast<T*>(p);
    }
    int64_t used() const { return used_; }

  private:
    char* base_;
    int64_t used_ = 0;
};

// Runs solve(first, count, scratch), which returns an Outcome, for every `group` matrices.
template <class F>
Outcome for_each_group(const Parallel& par, int64_t batch, int64_t group, double work,
                       int64_t scratch, F solve) {
    if (batch == 0) return {};
    int64_t step = static_cast<int64_t>(std::clamp(
        static_cast<double>(kTaskWork) / std::max(work, 1.0), 1.0, static_cast<double>(batch)));
    step = (step + group - 1) / group * group;
    std::mutex mutex;
    Outcome first;
    Slots slots(par, (batch + step - 1) / step, std::max<int64_t>(scratch, 64));
    slots.spread([&](int64_t task, void* memory) {
        const int64_t end = std::min(batch, (task + 1) * step);
        for (int64_t i = task * step; i < end; i += group) {
            const Outcome outcome = solve(i, std::min(group, end - i), memory);
            if (outcome.failure == Failure::None) continue;
            const std::lock_guard lock(mutex);
            if (first.failure == Failure::None || outcome.matrix < first.matrix) first = outcome;
        }
    });
    return first;
}

// Runs solve(i, scratch), which returns a Failure, for every matrix.
template <class F>
Outcome for_each_matrix(const Parallel& par, int64_t batch, double work, int64_t scratch, F solve) {
    return for_each_group(par, batch, 1, work, scratch, [&](int64_t i, int64_t, void* memory) {
        return Outcome{solve(i, memory), i};
    });
}

double cubed(int64_t n) {
    return static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
}

template <class T>
void identity(T* dst, int64_t n) {
    zero_elements(dst, n * n);
    for (int64_t i = 0; i < n; ++i) dst[i * n + i] = T(1);
}

// dst (cols x rows, dst_stride apart) = the transpose of src (rows x cols).
template <class T>
void transpose(T* dst, int64_t dst_stride, const T* src, int64_t src_stride, int64_t rows,
               int64_t cols) {
    constexpr int kWidth = sizeof(T) == 16 ? 4 : sizeof(T) == 8 ? 3 : 2;
    if (rows > 0 && cols > 0)
        kernels().transpose[kWidth](dst, dst_stride, src, src_stride, rows, cols);
}

template <class T>
bool all_finite(const T* x, int64_t n) {
    // x * 0 is 0 for finite numbers and NaN for others.
    const Real<T>* r = reinterpret_cast<const Real<T>*>(x);
    Real<T> sum = 0;
    for (int64_t i = 0; i < n * static_cast<int64_t>(sizeof(T) / sizeof(Real<T>)); ++i)
        sum += r[i] * 0;
    return sum == 0;
}

// A product that neither overflows nor underflows on the way.
template <class T>
class ScaledProduct {
  public:
    void multiply(T x) {
        value_ *= normalise(x);
        value_ = normalise(value_);
    }
    T result() const {
        // Steps of representable powers; two of them leave the range of every type.
        T x = value_;
        const int e = static_cast<int>(std::clamp<int64_t>(exponent_, -5000, 5000));
        return scale(scale(x, e / 2), e - e / 2);
    }

  private:
    static T scale(T x, int e) {
        if constexpr (kIsComplex<T>)
            return {std::ldexp(x.real(), e), std::ldexp(x.imag(), e)};
        else
            return std::ldexp(x, e);
    }
    T normalise(T x) {
        const Real<T> size = std::max(std::abs(std::real(x)), std::abs(std::imag(x)));
        if (!(size > 0) || std::isinf(size)) return x;
        int e;
        std::frexp(size, &e);
        exponent_ += e;
        return scale(x, -e);
    }

    T value_ = T(1);
    int64_t exponent_ = 0;
};

// The product of `n` numbers that are `step` apart: as they are, and once more with exponents kept
// beside where that came near an end of the range.
template <class T>
T product_of(const T* x, int64_t n, int64_t step, T sign) {
    using Limits = std::numeric_limits<Real<T>>;
    T plain = sign;
    bool safe = true;
    for (int64_t j = 0; j < n; ++j) {
        plain *= x[j * step];
        const Real<T> size = std::max(std::abs(std::real(plain)), std::abs(std::imag(plain)));
        safe &= size > Limits::min() / Limits::epsilon() && size <= Limits::max();
    }
    if (safe) return plain;
    ScaledProduct<T> scaled;
    scaled.multiply(sign);
    for (int64_t j = 0; j < n; ++j) scaled.multiply(x[j * step]);
    return scaled.result();
}

// The distance of long rows in scratch: whole lines of cache, so that threads at work on blocks of
// columns share none, and an odd number of them, so that columns spread over the cache.
template <class T>
int64_t padded(int64_t n) {
    constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(T));
    return n < 16 * kLine ? n : ((n + kLine - 1) / kLine | 1) * kLine;
}
template <class F>
void for_row_blocks(int64_t n, const Parallel& par, F body) {
    constexpr int64_t kRows = 64;
    run_each(par, (n + kRows - 1) / kRows,
             [&](int64_t i) { body(i * kRows, std::min(kRows, n - i * kRows)); });
}

template <class T>
void copy_rows(Matrix<T> dst, const T* src, const Parallel& par) {
    for_row_blocks(dst.rows, par, [&](int64_t first, int64_t rows) {
        for (int64_t i = first; i < first + rows; ++i)
            copy_elements(dst.row(i), src + i * dst.cols, dst.cols);
    });
}

// Matrix i of a batch.
template <class T>
Matrix<T> matrix(T* data, int64_t i, int64_t rows, int64_t cols) {
    return {data + i * rows * cols, rows, cols, cols};
}

bool odd_exchanges(const int64_t* pivots, int64_t n) {
    bool odd = false;
    for (int64_t i = 0; i < n; ++i) odd ^= pivots[i] != i;
    return odd;
}

// LU factors of one matrix after another, in memory of a thread.
template <class T>
class Factored {
  public:
    Factored(const Matrices& a, void* memory) : a_(a) {
        Layout at(memory);
        pivots_ = at.take<int64_t>(a.n);
        const int64_t stride = padded<T>(a.n);
        lu_ = {at.take<T>(a.n * stride), a.n, a.n, stride};
        rest_ = at.used();
    }
    static int64_t bytes(const Matrices& a) { return Factored(a, nullptr).rest_; }

    // False: the matrix is singular.
    bool factor(int64_t i, const Parallel& par) {
        copy_rows(lu_, static_cast<const T*>(a_.data) + i * a_.n * a_.n, par);
        return lu(lu_, pivots_, par);
    }
    Matrix<T> matrix() const { return lu_; }
    const int64_t* pivots() const { return pivots_; }

  private:
    const Matrices& a_;
    Matrix<T> lu_;
    int64_t* pivots_;
    int64_t rest_;
};

template <class T>
bool is_small(int64_t n) {
    return !kIsComplex<T> && n > 0 && n <= SmallMatrices<Real<T>>::kMostRows;
}

// Runs solve(group, first) for groups of small matrices; `bad` tells by a number on the diagonal
// afterwards which matrix failed.
template <class T, class F, class Bad>
Outcome for_each_small(const Matrices& a, const Parallel& par, double work, Failure failure,
                       F solve, Bad bad) {
    const int64_t n = a.n;
    return for_each_group(
        par, a.batch, SmallMatrices<T>::kLanes, work, 0, [=](int64_t i, int64_t count, void*) {
            SmallMatrices<T> group(static_cast<const T*>(a.data) + i * n * n, n, count);
            solve(group, i);
            const int64_t lane = group.find_on_diagonal(bad);
            return lane < 0 ? Outcome{} : Outcome{failure, i + lane};
        });
}
constexpr auto kIsZero = [](auto pivot) { return pivot == 0; };
constexpr auto kNotPositive = [](auto root) { return !(root > 0); };
constexpr auto kNeverBad = [](auto) { return false; };

// Factors every matrix and calls use(i, lu, step, odd); `step` leads along the diagonal.
template <class T, class F>
Outcome for_each_factored(const Matrices& a, const Parallel& par, F use) {
    if constexpr (!kIsComplex<T>)
        if (is_small<T>(a.n)) {
            using Small = SmallMatrices<T>;
            const auto factor = [&](Small& group, int64_t first) {
                T lu[Small::kLanes * Small::kMostRows * Small::kMostRows];
                group.eliminate();
                group.store(lu);
                for (int64_t l = 0; l < std::min(Small::kLanes, a.batch - first); ++l)
                    use(first + l, lu + l * a.n * a.n, a.n + 1, group.odd_exchanges(l));
            };
            return for_each_small<T>(a, par, cubed(a.n), Failure::None, factor, kNeverBad);
        }
    return for_each_matrix(
        par, a.batch, cubed(a.n), Factored<T>::bytes(a), [&](int64_t i, void* memory) {
            Factored<T> factored(a, memory);
            factored.factor(i, par);
            const Matrix<T> lu = factored.matrix();
            use(i, lu.data, lu.stride + 1, odd_exchanges(factored.pivots(), a.n));
            return Failure::None;
        });
}

template <class T>
Outcome cholesky_of(const Matrices& a, T* out, bool upper, const Parallel& par) {
    if constexpr (!kIsComplex<T>)
        if (is_small<T>(a.n))
            return for_each_small<T>(
                a, par, cubed(a.n) / 3, Failure::NotPositiveDefinite,
                [=](SmallMatrices<T>& group, int64_t first) {
                    group.cholesky(upper);
                    group.store(out + first * a.n * a.n);
                },
                kNotPositive);
    const int64_t n = a.n, stride = upper ? n : padded<T>(n);
    const int64_t scratch = upper ? 0 : n * stride * static_cast<int64_t>(sizeof(T));
    return for_each_matrix(par, a.batch, cubed(n) / 3, scratch, [=](int64_t i, void* memory) {
        const T* source = static_cast<const T*>(a.data) + i * n * n;
        const Matrix<T> result = matrix(out, i, n, n);
        // The lower triangle of a Hermitian matrix, turned, is the upper one of its conjugate.
        const Matrix<T> u{upper ? result.data : static_cast<T*>(memory), n, n, stride};
        if (upper)
            copy_elements(u.data, source, n * n);
        else
            for_row_blocks(n, par, [&](int64_t first, int64_t rows) {
                transpose(u.data + first, stride, source + first * n, n, rows, first + rows);
            });
        if (!cholesky_upper(u, par)) return Failure::NotPositiveDefinite;
        if (!upper)
            for_row_blocks(n, par, [&](int64_t first, int64_t rows) {
                transpose(result.row(first), n, u.data + first, stride, first + rows, rows);
            });
        for (int64_t r = 0; r < n; ++r)
            upper ? zero_elements(result.row(r), r)
                  : zero_elements(result.row(r) + r + 1, n - r - 1);
        return Failure::None;
    });
}

template <class T>
Outcome slogdet_of(const Matrices& a, T* sign, Real<T>* logabsdet, const Parallel& par) {
    return for_each_factored<T>(a, par, [=](int64_t i, const T* lu, int64_t step, bool odd) {
        T phase = odd ? T(-1) : T(1);
        double sum = 0;
        for (int64_t j = 0; j < a.n; ++j) {
            const T x = lu[j * step];
            const Real<T> size = std::abs(x);
            phase *= size == 0 ? T(0) : x / size;
            sum += std::log(static_cast<double>(size));
        }
        sign[i] = phase;
        logabsdet[i] = static_cast<Real<T>>(sum);
    });
}

template <class T>
Outcome inv_of(const Matrices& a, T* out, const Parallel& par) {
    if constexpr (!kIsComplex<T>)
        if (is_small<T>(a.n))
            return for_each_small<T>(
                a, par, 2 * cubed(a.n), Failure::Singular,
                [=](SmallMatrices<T>& group, int64_t first) {
                    group.set_right_to_identity();
                    group.eliminate();
                    group.substitute_back();
                    group.store_right(out + first * a.n * a.n);
                },
                kIsZero);
    const int64_t n = a.n, factors = Factored<T>::bytes(a);
    const int64_t bytes = factors + n * static_cast<int64_t>(sizeof(int64_t));
    return for_each_matrix(par, a.batch, 2 * cubed(n), bytes, [=](int64_t i, void* memory) {
        Factored<T> factored(a, memory);
        if (!factored.factor(i, par)) return Failure::Singular;
        // U^-1 L^-1 P: row j of P A was row column[j] of A.
        int64_t* column = Layout(static_cast<char*>(memory) + factors).take<int64_t>(n);
        std::iota(column, column + n, int64_t{0});
        for (int64_t j = 0; j < n; ++j) std::swap(column[j], column[factored.pivots()[j]]);
        invert(factored.matrix(), column, matrix(out, i, n, n), par);
        return Failure::None;
    });
}

template <class T>
Outcome solve_of(const Matrices& a, bool shared, const T* b, int64_t columns, T* out,
                 const Parallel& par) {
    if (a.batch == 0) return {};
    const int64_t bytes = Factored<T>::bytes(a), length = a.n * columns;
    if constexpr (!kIsComplex<T>)
        if ((!shared || a.batch == 1) && is_small<T>(a.n) && columns > 0 &&
            columns <= SmallMatrices<T>::kMostColumns)
            return for_each_small<T>(
                a, par, cubed(a.n) + static_cast<double>(a.n) * length, Failure::Singular,
                [=](SmallMatrices<T>& group, int64_t first) {
                    group.set_right(b + first * length, columns);
                    group.eliminate();
                    group.substitute_back();
                    group.store_right(out + first * length);
                },
                kIsZero);
    Buffer once(shared ? bytes : 64);
    Factored<T> common(a, once.data());
    if (shared && !common.factor(0, par)) return {Failure::Singular, 0};
    const double work = (shared ? 0 : cubed(a.n)) + static_cast<double>(a.n) * length;
    return for_each_matrix(par, a.batch, work, shared ? 0 : bytes, [&](int64_t i, void* memory) {
        Factored<T> own(a, memory);
        if (!shared && !own.factor(i, par)) return Failure::Singular;
        const Factored<T>& factored = shared ? common : own;
        const Matrix<T> x = matrix(out, i, a.n, columns);
        copy_elements(x.data, b + i * length, length);
        exchange_rows(x, factored.pivots(), a.n);
        solve_lower(factored.matrix(), x, par);
        solve_upper(factored.matrix(), x, par);
        return Failure::None;
    });
}

// Hermitian eigenproblem in place: LAPACK's real routines have no `rwork`.
template <class T>
lapack_int heevd(char job, lapack_int n, T* a, Real<T>* w, T* work, lapack_int length,
                 Real<T>* rwork, lapack_int rlength, lapack_int* iwork, lapack_int ilength) {
    // The lower triangle of row-major memory is the upper one of column-major memory.
    if constexpr (kIsComplex<T>) {
        return Lapack<T>::heevd(LAPACK_COL_MAJOR, job, 'U', n, a, n, w, work, length, rwork,
                                rlength, iwork, ilength);
    } else {
        static_cast<void>(rwork), static_cast<void>(rlength);
        return Lapack<T>::heevd(LAPACK_COL_MAJOR, job, 'U', n, a, n, w, work, length, iwork,
                                ilength);
    }
}

template <class T>
Outcome eigh_of(const Matrices& a, Real<T>* w, T* v, const Parallel& par) {
    // The workspace holds 2 * n**2 numbers.
    if (too_large(a.n, a.n) || (v && a.n > 32000)) return {Failure::TooLarge, 0};
    if (a.n == 0 || a.batch == 0) return {};
    const lapack_int n = static_cast<lapack_int>(a.n);
    const int64_t size = a.n * a.n;
    const char job = v ? 'V' : 'N';
    T reported{};
    Real<T> real_reported{};
    lapack_int length, rlength = 1, ilength = 1;
    T none{};
    Real<T> real_none{};
    heevd<T>(job, n, &none, &real_none, &reported, -1, &real_reported, -1, &ilength, -1);
    if (!workspace(reported, length) || !workspace(real_reported, rlength))
        return {Failure::TooLarge, 0};
    const auto layout = [=](Layout at) {
        T* x = at.take<T>(size);
        T* work = at.take<T>(length);
        Real<T>* rwork = at.take<Real<T>>(rlength);
        lapack_int* iwork = at.take<lapack_int>(ilength);
        return std::tuple(x, work, rwork, iwork, at.used());
    };
    return for_each_matrix(
        par, a.batch, 9 * cubed(n), std::get<4>(layout(Layout())), [=](int64_t i, void* memory) {
            const auto [x, work, rwork, iwork, used] = layout(Layout(memory));
            copy_elements(x, static_cast<const T*>(a.data) + i * size, size);
            if (!all_finite(x, size)) return Failure::NotFinite;
            if (heevd(job, n, x, w + i * n, work, length, rwork, rlength, iwork, ilength) != 0)
                return Failure::NoConvergence;
            if (!v) return Failure::None;
            T* vectors = v + i * size;
            transpose(vectors, n, x, n, n, n);
            // What LAPACK saw is the conjugate of the matrix.
            if constexpr (kIsComplex<T>)
                for (int64_t j = 0; j < size; ++j) vectors[j] = std::conj(vectors[j]);
            return Failure::None;
        });
}

template <class T>
lapack_int geev(char job, lapack_int n, T* a, ComplexOf<T>* w, Real<T>* parts, T* v, T* work,
                lapack_int length) {
    if constexpr (kIsComplex<T>)
        return Lapack<T>::geev(LAPACK_COL_MAJOR, 'N', job, n, a, n, w, nullptr, 1, v, n, work,
                               length, parts);
    static_cast<void>(w);
    if constexpr (!kIsComplex<T>)
        return Lapack<T>::geev(LAPACK_COL_MAJOR, 'N', job, n, a, n, parts, parts + n, nullptr, 1, v,
                               n, work, length);
}

// Row-major complex eigenvectors from LAPACK's columns; a real matrix has those of a pair of
// conjugate eigenvalues as (re, im) in adjacent columns.
template <class T>
void unpack_vectors(ComplexOf<T>* dst, const T* columns, const Real<T>* imaginary, int64_t n) {
    if constexpr (kIsComplex<T>) {
        static_cast<void>(imaginary);
        transpose(dst, n, columns, n, n, n);
    } else {
        for (int64_t j = 0; j < n; ++j) {
            const bool pair = imaginary[j] != 0 && j + 1 < n;
            const T *re = columns + j * n, *im = re + n;
            for (int64_t i = 0; i < n; ++i) {
                dst[i * n + j] = {re[i], pair ? im[i] : T(0)};
                if (pair) dst[i * n + j + 1] = {re[i], -im[i]};
            }
            if (pair) ++j;
        }
    }
}

template <class T>
Outcome eig_of(const Matrices& a, ComplexOf<T>* w, ComplexOf<T>* v, const Parallel& par) {
    if (too_large(a.n, a.n)) return {Failure::TooLarge, 0};
    if (a.n == 0 || a.batch == 0) return {};
    const lapack_int n = static_cast<lapack_int>(a.n);
    const int64_t size = a.n * a.n;
    const char job = v ? 'V' : 'N';
    T reported{};
    lapack_int length;
    // A query may write its answers to any of the workspaces.
    ComplexOf<T> no_value{};
    Real<T> no_parts[2] = {};
    T no_matrix{};
    geev<T>(job, n, &no_matrix, &no_value, no_parts, &no_matrix, &reported, -1);
    if (!workspace(reported, length)) return {Failure::TooLarge, 0};
    const auto layout = [=](Layout at) {
        T* x = at.take<T>(size);
        T* vectors = at.take<T>(v ? size : 1);
        T* work = at.take<T>(length);
        Real<T>* parts = at.take<Real<T>>(2 * n);
        return std::tuple(x, vectors, work, parts, at.used());
    };
    return for_each_matrix(par, a.batch, 25 * cubed(n), std::get<4>(layout(Layout())),
                           [=](int64_t i, void* memory) {
                               const auto [x, vectors, work, parts, used] = layout(Layout(memory));
                               transpose(x, n, static_cast<const T*>(a.data) + i * size, n, n, n);
                               if (!all_finite(x, size)) return Failure::NotFinite;
                               ComplexOf<T>* values = w + i * n;
                               if (geev(job, n, x, values, parts, vectors, work, length) != 0)
                                   return Failure::NoConvergence;
                               if constexpr (!kIsComplex<T>)
                                   for (int64_t j = 0; j < n; ++j)
                                       values[j] = {parts[j], parts[n + j]};
                               if (v) unpack_vectors<T>(v + i * size, vectors, parts + n, n);
                               return Failure::None;
                           });
}

// Bytes of matrices in lanes, of as many parts of elements; beyond kMostLaneBytes they would leave
// the nearest cache.
constexpr int64_t kMostLaneBytes = 40 << 10;
template <class T>
int64_t lane_bytes(int64_t rows, int64_t cols) {
    return rows * cols * kLaneBytes * (kIsComplex<T> ? 2 : 1);
}

// QR of small matrices, each in a lane of its own.
template <class T>
Outcome qr_in_lanes(const Rectangles& a, T* q, T* r, int64_t columns, double work,
                    const Parallel& par) {
    using R = Real<T>;
    constexpr int64_t kLanes = kLaneBytes / static_cast<int64_t>(sizeof(R)),
                      kParts = kIsComplex<T> ? 2 : 1;
    const int64_t a_bytes = lane_bytes<T>(a.m + 1, a.n), q_bytes = lane_bytes<T>(a.m + 1, columns);
    const int64_t size = a.m * a.n * kParts, q_size = a.m * columns * kParts,
                  r_size = columns * a.n * kParts;
    const auto solve = [=, source = static_cast<const R*>(a.data), q = reinterpret_cast<R*>(q),
                        r = reinterpret_cast<R*>(r)](int64_t i, int64_t count, void* memory) {
        R* lanes = static_cast<R*>(memory);
        R* q_lanes = lanes + a_bytes / static_cast<int64_t>(sizeof(R));
        if (count < kLanes) zero_elements(lanes, kLanes * size);
        transpose(lanes, kLanes, source + i * size, size, count, size);
        kernels().decompose[index(a.dtype)].qr_lanes(lanes, q_lanes, a.m, a.n, columns, count);
        transpose(q + i * q_size, q_size, q_lanes, kLanes, q_size, count);
        transpose(r + i * r_size, r_size, lanes, kLanes, r_size, count);
        return Outcome{};
    };
    return for_each_group(par, a.batch, kLanes, work, a_bytes + q_bytes, solve);
}

template <class T>
Outcome qr_of(const Rectangles& a, T* q, T* r, bool complete, const Parallel& par) {
    const int64_t k = std::min(a.m, a.n), columns = complete ? a.m : k, size = a.m * a.n;
    if (k == 0) {
        for (int64_t i = 0; complete && i < a.batch; ++i) identity(q + i * a.m * a.m, a.m);
        return {};
    }
    const double work = 4.0 * static_cast<double>(size) * static_cast<double>(k);
    if (lane_bytes<T>(a.m + 1, a.n + columns) <= kMostLaneBytes)
        return qr_in_lanes<T>(a, q, r, columns, work, par);
    return for_each_matrix(par, a.batch, work, 0, [=](int64_t i, void*) {
        const Matrix<const T> x = matrix(static_cast<const T*>(a.data), i, a.m, a.n);
        qr(x, matrix(q, i, a.m, columns), matrix(r, i, columns, a.n), par);
        return Failure::None;
    });
}

// Sizes of a singular value decomposition as LAPACK sees it: the transpose, rows x columns.
struct SvdShape {
    char job;
    lapack_int rows, columns, ldu, ldvt;
    lapack_int least() const { return std::min(rows, columns); }
};

template <class T>
lapack_int gesdd(const SvdShape& z, T* a, Real<T>* s, T* u, T* vt, T* work, lapack_int length,
                 Real<T>* rwork, lapack_int* iwork) {
    if constexpr (kIsComplex<T>) {
        return Lapack<T>::gesdd(LAPACK_COL_MAJOR, z.job, z.rows, z.columns, a, z.rows, s, u, z.ldu,
                                vt, z.ldvt, work, length, rwork, iwork);
    } else {
        static_cast<void>(rwork);
        return Lapack<T>::gesdd(LAPACK_COL_MAJOR, z.job, z.rows, z.columns, a, z.rows, s, u, z.ldu,
                                vt, z.ldvt, work, length, iwork);
    }
}

template <class T>
lapack_int gesvd(const SvdShape& z, T* a, Real<T>* s, T* u, T* vt, T* work, lapack_int length,
                 Real<T>* rwork) {
    if constexpr (kIsComplex<T>) {
        return Lapack<T>::gesvd(LAPACK_COL_MAJOR, z.job, z.job, z.rows, z.columns, a, z.rows, s, u,
                                z.ldu, vt, z.ldvt, work, length, rwork);
    } else {
        static_cast<void>(rwork);
        return Lapack<T>::gesvd(LAPACK_COL_MAJOR, z.job, z.job, z.rows, z.columns, a, z.rows, s, u,
                                z.ldu, vt, z.ldvt, work, length);
    }
}

// A = U S V^H read by columns is A^T = conj(V) S U^T: LAPACK's u goes to vh and its vt to u, both
// in the order of memory that they need.
template <class T>
Outcome svd_of(const Rectangles& a, T* u, Real<T>* s, T* vh, bool full, const Parallel& par) {
    const int64_t k = std::min(a.m, a.n);
    if (too_large(a.m, a.n)) return {Failure::TooLarge, 0};
    if (k == 0) {
        for (int64_t i = 0; u && full && i < a.batch; ++i) {
            identity(u + i * a.m * a.m, a.m);
            identity(vh + i * a.n * a.n, a.n);
        }
        return {};
    }
    const lapack_int rows = static_cast<lapack_int>(a.n), columns = static_cast<lapack_int>(a.m);
    const SvdShape z{u ? (full ? 'A' : 'S') : 'N', rows, columns, rows,
                     static_cast<lapack_int>(full ? a.m : k)};
    // gesdd needs about 4 * k**2 numbers of workspace, gesvd does with a multiple of k.
    const bool quick = k < 20000;
    T reported{};
    lapack_int length = 1, other_length;
    T none{};
    Real<T> real_none{};
    lapack_int int_none = 0;
    if (quick) {
        gesdd<T>(z, &none, &real_none, &none, &none, &reported, -1, &real_none, &int_none);
        if (!workspace(reported, length)) return {Failure::TooLarge, 0};
    }
    gesvd<T>(z, &none, &real_none, &none, &none, &reported, -1, &real_none);
    if (!workspace(reported, other_length)) return {Failure::TooLarge, 0};
    length = std::max(length, other_length);
    const int64_t widest = std::max(a.m, a.n), size = a.m * a.n;
    const int64_t rlength = !kIsComplex<T> ? 1
                            : !u ? 7 * k
                                 : std::max(5 * k * k + 7 * k, 2 * widest * k + 2 * k * k + k);
    const auto layout = [=](Layout at) {
        T* x = at.take<T>(size);
        T* work = at.take<T>(length);
        Real<T>* rwork = at.take<Real<T>>(rlength);
        lapack_int* iwork = at.take<lapack_int>(8 * k);
        return std::tuple(x, work, rwork, iwork, at.used());
    };
    const int64_t u_size = full ? a.m * a.m : a.m * k, vh_size = full ? a.n * a.n : k * a.n;
    const double work_done = 20.0 * static_cast<double>(size) * static_cast<double>(k);
    return for_each_matrix(
        par, a.batch, work_done, std::get<4>(layout(Layout())), [=](int64_t i, void* memory) {
            const auto [x, work, rwork, iwork, used] = layout(Layout(memory));
            const T* source = static_cast<const T*>(a.data) + i * size;
            if (!all_finite(source, size)) return Failure::NotFinite;
            T* left = u ? u + i * u_size : nullptr;
            T* right = u ? vh + i * vh_size : nullptr;
            copy_elements(x, source, size);
            if (quick && gesdd(z, x, s + i * k, right, left, work, length, rwork, iwork) == 0)
                return Failure::None;
            copy_elements(x, source, size);
            const lapack_int info = gesvd(z, x, s + i * k, right, left, work, length, rwork);
            return info == 0 ? Failure::None : Failure::NoConvergence;
        });
}

}  // namespace

Outcome cholesky(const Matrices& a, void* out, bool upper, const Parallel& par) {
    return dispatch_lapack(
        a.dtype, [&]<class T>(T) { return cholesky_of(a, static_cast<T*>(out), upper, par); });
}

Outcome det(const Matrices& a, void* out, const Parallel& par) {
    return dispatch_lapack(a.dtype, [&]<class T>(T) {
        return for_each_factored<T>(a, par, [&](int64_t i, const T* lu, int64_t step, bool odd) {
            static_cast<T*>(out)[i] = product_of(lu, a.n, step, T(odd ? -1 : 1));
        });
    });
}

Outcome slogdet(const Matrices& a, void* sign, void* logabsdet, const Parallel& par) {
    return dispatch_lapack(a.dtype, [&]<class T>(T) {
        return slogdet_of(a, static_cast<T*>(sign), static_cast<Real<T>*>(logabsdet), par);
    });
}

Outcome inv(const Matrices& a, void* out, const Parallel& par) {
    return dispatch_lapack(a.dtype,
                           [&]<class T>(T) { return inv_of(a, static_cast<T*>(out), par); });
}

Outcome solve(const Matrices& a, bool shared, const void* b, int64_t columns, void* out,
              const Parallel& par) {
    return dispatch_lapack(a.dtype, [&]<class T>(T) {
        return solve_of(a, shared, static_cast<const T*>(b), columns, static_cast<T*>(out), par);
    });
}

Outcome eigh(const Matrices& a, void* w, void* v, const Parallel& par) {
    return dispatch_lapack(a.dtype, [&]<class T>(T) {
        return eigh_of(a, static_cast<Real<T>*>(w), static_cast<T*>(v), par);
    });
}

Outcome eig(const Matrices& a, void* w, void* v, const Parallel& par) {
    return dispatch_lapack(a.dtype, [&]<class T>(T) {
        return eig_of<T>(a, static_cast<ComplexOf<T>*>(w), static_cast<ComplexOf<T>*>(v), par);
    });
}

Outcome qr(const Rectangles& a, void* q, void* r, bool complete, const Parallel& par) {
    return dispatch_lapack(a.dtype, [&]<class T>(T) {
        return qr_of(a, static_cast<T*>(q), static_cast<T*>(r), complete, par);
    });
}

Outcome svd(const Rectangles& a, void* u, void* s, void* vh, bool full, const Parallel& par) {
    return dispatch_lapack(a.dtype, [&]<class T>(T) {
        return svd_of(a, static_cast<T*>(u), static_cast<Real<T>*>(s), static_cast<T*>(vh), full,
                      par);
    });
}

}  // namespace asc::cpu
