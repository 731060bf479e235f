// Reductions, running sums and products of matrices by CANN.
#pragma once
#include "backend/cann/npu.h"
#include "graph/functions.h"
#include "graph/precision.h"
#include "graph/reduction.h"

namespace asc::cann {

// CANN has the function for elements of this dtype.
bool supports(Function function, DType compute);

// All queue their work; false, with nothing done, where CANN does not have it.

bool reduce(Npu& npu, const ReduceSpec& spec, const Array& x, const Dims& axes, const Array& out);
bool scan(Npu& npu, const ScanSpec& spec, const Array& x, int axis, const Array& out);
// out = a @ b for stacks of matrices.
bool multiply(Npu& npu, const Array& a, const Array& b, const Array& out, Precision precision);

}  // namespace asc::cann
