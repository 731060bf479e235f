// Products of arrays: stacks of matrices and of vectors, and what runs on blocks of a product.
#pragma once
#include "graph/precision.h"
#include "graph/program.h"

namespace asc::cpu {

// out = a @ b for stacks of matrices of one numeric dtype, whose leading axes broadcast to those of
// the row-major `out`, which overlaps neither.
void multiply(const Array& a, const Array& b, const Array& out, Precision precision);

// The same, and then `call` on each block of the product while it is in cache. Its outputs have
// the shape of the product, which is input number `product` of the call. kept: the product goes to
// `out`, which no output overlaps, else nobody but the call sees it. No output overlaps a or b.
void multiply_then(const Array& a, const Array& b, const Array& out, bool kept,
                   const ProgramCall& call, size_t product, Precision precision);

// out = the sum over the last axis of conj(x) * y; the leading axes broadcast to those of `out`.
void vector_product(const Array& x, const Array& y, const Array& out);

}  // namespace asc::cpu
