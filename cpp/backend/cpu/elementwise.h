// Elementwise operations on arrays: tiles of contiguous registers between strided memory.
#pragma once
#include <cstring>
#include <span>

#include "core/array.h"
#include "graph/ops.h"
#include "graph/program.h"

namespace asc::cpu {

// The dtype in which an operation on `dtype` is computed: narrow floats widen to float32.
constexpr DType compute_dtype(DType dtype) {
    return is_narrow_float(dtype) ? DType::Float32 : dtype;
}
// The dtype of the register that operand `position` of op is read into.
constexpr DType register_dtype(Op op, int position, DType compute) {
    return op == Op::Where && position == 0 ? DType::Bool : compute;
}

// out[...] = op(operands[...]), operands broadcast to out.shape. `compute` has a kernel for op.
// Memory of out that an operand reads under another view gives undefined results.
void elementwise(Op op, DType compute, std::span<const Operand> operands, const Array& out);
// dst[...] = src[...], broadcast and converted, under the same condition.
void transfer(const Array& dst, const Array& src);
// The cost of one element of op, in units of an addition.
int element_cost(Op op);

// One element converted between registers of two dtypes.
void convert_scalar(void* dst, DType to, const void* src, DType from);

}  // namespace asc::cpu
