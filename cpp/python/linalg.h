// Matrix products for the @ operator; the other functions are in the Methods table.
#pragma once
#include "core/array.h"

namespace asc::python {

// The product of the standard: vectors, matrices, stacks with broadcasting.
Array matmul(const Array& x1, const Array& x2);

}  // namespace asc::python
