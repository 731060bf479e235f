// Scalar: a Python number on its way into an operation, where it takes the array's dtype.
#pragma once
#include <cstdint>

#include "core/dtype.h"

namespace asc {

struct Scalar {
    Kind kind;                 // Bool, Signed (any Python int), Real or Complex
    bool too_big = false;      // an int outside [-2**63, 2**64); `integer` has its sign
    bool above_int64 = false;  // an int in [2**63, 2**64), whose bits are in `integer`
    int64_t integer = 0;       // also the value of a bool
    double re = 0, im = 0;     // re: also the value of an int that is too big, rounded

    bool negative() const { return integer < 0 && !above_int64; }
};

// Python's name of the scalar's type.
constexpr const char* type_name(const Scalar& s) {
    return s.kind == Kind::Bool      ? "bool"
           : s.kind == Kind::Real    ? "float"
           : s.kind == Kind::Complex ? "complex"
                                     : "int";
}

// The default dtype of a scalar's kind.
DType default_dtype(const Scalar& s);
// The value of a scalar that is not complex. Throws Error(Overflow) naming `function` for an int
// beyond float64.
double to_double(const Scalar& s, const char* function);
// Stores the scalar as one element of dtype `to` (bool: a word of equal bits). Throws
// Error(Overflow) naming `function` where an int is out of range.
void store(void* dst, DType to, const Scalar& s, const char* function);

}  // namespace asc
