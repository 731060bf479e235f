// Compensated sums of float64: precision "high".
//
// Numbers are split without an error into pieces whose sums are exact, and what is left (Rump,
// Ogita and Oishi, Accurate floating-point summation, part I, 2008); products into a rounded one
// and its error (Dekker, 1971). All of it is elementwise work and sums, which fuse as usual. The
// result does not depend on the order of the elements. Where the largest element is 0, infinite or
// NaN, it is that of the plain sum.
#pragma once
#include "core/array.h"
#include "graph/reduction.h"

namespace asc {

// It adds floats, in an order that precision matters to.
bool adds(const ReduceSpec& spec);
// There is something to gain: numbers are added as float64, on the host.
bool compensates(const ReduceSpec& spec, const Array& x);
// A sum, mean, variance or standard deviation along axes, which disappear. Beside its last rounding
// the sum is off by less than 2**-150 * n**3 of the largest element, for n < 2**40 elements.
Array compensated(const char* function, const ReduceSpec& spec, const Array& x, const Dims& axes);
// Sums of products along the last axis, of two arrays of the same shape.
Array compensated_dot(const char* function, const Array& a, const Array& b);

}  // namespace asc
