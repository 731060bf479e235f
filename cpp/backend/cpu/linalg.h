// Decompositions and solvers on batches of row-major contiguous matrices.
//
// Dtypes: float32, float64, complex64, complex128. A batch is spread over the worker threads; for a
// single matrix LU, Cholesky and QR are (decompose.h), LAPACK works on one thread. Results do not
// depend on the number of threads.
#pragma once
#include <cstdint>

#include "backend/cpu/kernels/table.h"

namespace asc::cpu {

enum class Failure : uint8_t {
    None,
    Singular,
    NotPositiveDefinite,
    NoConvergence,
    NotFinite,  // eigenvalues and singular values of NaN or infinity
    TooLarge,   // LAPACK counts in 32-bit integers
};

// The first matrix of the batch that failed, and why.
struct Outcome {
    Failure failure = Failure::None;
    int64_t matrix = 0;
};

// Square matrices: n x n each.
struct Matrices {
    DType dtype;
    int64_t n, batch;
    const void* data;
};

// Reads the triangle that it is asked for; the other one of `out` is zero.
Outcome cholesky(const Matrices& a, void* out, bool upper, const Parallel& par);
Outcome det(const Matrices& a, void* out, const Parallel& par);
// `sign` in the dtype of a, `logabsdet` in its real type.
Outcome slogdet(const Matrices& a, void* sign, void* logabsdet, const Parallel& par);
Outcome inv(const Matrices& a, void* out, const Parallel& par);
// `b` and `out`: batch n x columns matrices. shared: `a` is one matrix for the whole batch.
Outcome solve(const Matrices& a, bool shared, const void* b, int64_t columns, void* out,
              const Parallel& par);
// w: real, ascending; v: one eigenvector a column, or null. Reads the lower triangle.
Outcome eigh(const Matrices& a, void* w, void* v, const Parallel& par);
// w, v: complex; v null: eigenvalues only.
Outcome eig(const Matrices& a, void* w, void* v, const Parallel& par);

// m x n each; k = min(m, n).
struct Rectangles {
    DType dtype;
    int64_t m, n, batch;
    const void* data;
};

// complete: q is m x m and r m x n; else m x k and k x n.
Outcome qr(const Rectangles& a, void* q, void* r, bool complete, const Parallel& par);
// full: u is m x m and vh n x n; else m x k and k x n. u and vh null: values only.
Outcome svd(const Rectangles& a, void* u, void* s, void* vh, bool full, const Parallel& par);

}  // namespace asc::cpu
