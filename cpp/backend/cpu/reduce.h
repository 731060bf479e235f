// Reductions along axes, and running sums and products.
#pragma once
#include "core/array.h"
#include "graph/reduction.h"

namespace asc::cpu {

// A new row-major array with the axes of x that are not reduced. The result depends on the
// sequence of elements in row-major order alone, not on strides or threads. Min and Max want at
// least one element for each result.
Array reduce(const ReduceSpec& spec, const Array& x, const Dims& axes);

// Running sums or products along an axis, as a new row-major array.
Array scan(const ScanSpec& spec, const Array& x, int axis);

}  // namespace asc::cpu
