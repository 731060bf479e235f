// Products of matrices and vectors on raw memory, spread over the worker threads.
//
// The bits of an element of a product depend only on its row of `a`, its column of `b`, the dtype,
// and whether one operand is a vector (a tree of lanes, where matrices take sums in order): not on
// threads, layout, batch, or the size of the rest.
#pragma once
#include <cstdint>

#include "backend/cpu/kernels/table.h"

namespace asc::cpu {

// Where matrix or vector i of a batch starts, in elements after the operand's `data`.
struct Starts {
    const int64_t* list = nullptr;  // or, where null, every `step` elements
    int64_t step = 0;
    int64_t operator[](int64_t i) const { return list ? list[i] : i * step; }
};

// A rectangle of a product that is finished. Rows are counted through all matrices of the batch.
struct ProductBlock {
    int64_t row, rows, col, cols;
    const void* data;    // of its first element; columns are adjacent
    int64_t row_stride;  // in elements
};

// What is done with each block while it is in cache, by the thread that made it: finish(ctx,
// block), which must not throw.
struct Epilogue {
    void (*finish)(void* ctx, const ProductBlock& block);
    void* ctx;
};
// Blocks start at multiples of this many columns, or at the start of a row.
inline constexpr int64_t kBlockBorder = 8;

// c[i] = a[i] @ b[i] for a batch of m x k and k x n matrices of one numeric dtype. The results
// are contiguous, one after another; they overlap no operand.
struct Product {
    DType dtype;
    int64_t m, n, k;
    GemmOperand a, b;
    void* c;  // null: nobody but the epilogue sees the product
    int64_t batch = 1;
    Starts a_starts = {}, b_starts = {};
    const Epilogue* epilogue = nullptr;
    const void* packed_b = nullptr;  // what pack_factor made of b, which the whole batch meets
};
void multiply(const Product& product, const Parallel& par);

// A k x n matrix in the order in which products read it.
int64_t packed_factor_bytes(DType dtype, int64_t k, int64_t n);
void pack_factor(void* dst, DType dtype, const GemmOperand& b, int64_t k, int64_t n,
                 const Parallel& par);

// out[i] = sum over k of x[i][k] * y[i][k], or of conj(x[i][k]) * y[i][k], for a batch.
struct DotProduct {
    DType dtype;
    int64_t k;
    const void *x, *y;
    int64_t x_stride, y_stride;
    void* out;
    bool conj = false;
    int64_t batch = 1;
    Starts x_starts = {}, y_starts = {};
};
void dot(const DotProduct& product, const Parallel& par);

}  // namespace asc::cpu
