// Reductions along axes and running sums and products, as they are recorded.
#pragma once
#include "core/dtype.h"

namespace asc {

enum class Reduction : uint8_t { Sum, Prod, Min, Max, Mean, Var, Std, Count, Any, All };

struct ReduceSpec {
    Reduction op = Reduction::Sum;
    DType element = DType::Float64;  // elements are converted to it first
    DType result = DType::Float64;   // the dtype of the new array
    double correction = 0;           // Var and Std: they divide by count - correction
};

struct ScanSpec {
    bool product = false;
    DType dtype = DType::Float64;  // of the elements, which are converted first, and of the result
    bool initial = false;          // the result starts with the neutral element
};

}  // namespace asc
