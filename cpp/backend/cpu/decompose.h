// LU, Cholesky and QR factors of a matrix, and triangular systems: recursions over halves of the
// matrix that end in small blocks (kernels/decompose.cpp), with products between them. A few
// hundred columns of LU go block by block, the columns of many right sides in tasks of their own,
// the rows of a tall matrix into QR in blocks.
//
// T: float, double, or std::complex of them. What does the work is spread over the worker threads;
// the results do not depend on their number.
#pragma once
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "backend/cpu/kernels/table.h"

namespace asc::cpu {

// A matrix inside memory, whose columns are adjacent.
template <class T>
struct Matrix {
    T* data;
    int64_t rows, cols, stride;

    T* row(int64_t i) const { return data + i * stride; }
    operator Matrix<const T>() const
        requires(!std::is_const_v<T>)
    {
        return {data, rows, cols, stride};
    }
    Matrix block(int64_t i, int64_t j, int64_t m, int64_t n) const {
        return {data + i * stride + j, m, n, stride};
    }
    Matrix top(int64_t m) const { return block(0, 0, m, cols); }
    Matrix below(int64_t i) const { return block(i, 0, rows - i, cols); }
    Matrix left(int64_t n) const { return block(0, 0, rows, n); }
    Matrix right(int64_t j) const { return block(0, j, rows, cols - j); }
};

// n elements, of types whose bytes are their value.
template <class T>
void copy_elements(T* dst, const T* src, int64_t n) {
    if (n > 0) std::memcpy(static_cast<void*>(dst), src, static_cast<size_t>(n) * sizeof(T));
}
template <class T>
void zero_elements(T* dst, int64_t n) {
    if (n > 0) std::memset(static_cast<void*>(dst), 0, static_cast<size_t>(n) * sizeof(T));
}

// P A = L U in place of a matrix that is not wider than tall; L has ones on its diagonal. Row j was
// exchanged with row pivots[j], one after another. False: a pivot is zero.
template <class T>
bool lu(Matrix<T> a, int64_t* pivots, const Parallel& par);
// The exchanges of rows that `lu` made.
template <class T>
void exchange_rows(Matrix<T> a, const int64_t* pivots, int64_t count);

// b = L^-1 b, for the L of `lu`.
template <class T>
void solve_lower(Matrix<T> l, Matrix<T> b, const Parallel& par);
// b = U^-1 b.
template <class T>
void solve_upper(Matrix<T> u, Matrix<T> b, const Parallel& par);
// Column j of (L U)^-1 becomes column columns[j] of x.
template <class T>
void invert(Matrix<T> lu, const int64_t* columns, Matrix<T> x, const Parallel& par);

// The upper triangle of a Hermitian matrix becomes U, A = U^H U; the other one may change. False:
// A is not positive definite.
template <class T>
bool cholesky_upper(Matrix<T> a, const Parallel& par);

// A = Q R; q, whose rows lie together, gets the first columns of Q, as many as it has, at least
// min(rows, cols), and r as many rows of R.
template <class T>
void qr(Matrix<const T> a, Matrix<T> q, Matrix<T> r, const Parallel& par);

}  // namespace asc::cpu
