// Reductions along axes, and running sums and products.
#pragma once
#include "core/array.h"

namespace asc::cpu {

enum class Reduction { Sum, Prod, Min, Max, Mean, Var, Std, Count, Any, All };

struct ReduceSpec {
    Reduction op;
    DType element;          // elements are converted to it first
    DType result;           // the dtype of the new array
    double correction = 0;  // Var and Std: they divide by count - correction
};

// A new row-major array with the axes of x that are not reduced. The result depends on the
// sequence of elements in row-major order alone, not on strides or threads. Min and Max want at
// least one element for each result.
Array reduce(const ReduceSpec& spec, const Array& x, const Dims& axes);

struct ScanSpec {
    bool product;
    DType dtype;   // of the elements, which are converted first, and of the result
    bool initial;  // the result starts with the neutral element
};
Array scan(const ScanSpec& spec, const Array& x, int axis);

}  // namespace asc::cpu
