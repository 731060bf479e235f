// Sorting and searching of arrays: any layout, lines spread over the worker threads.
//
// Results (`out`) are row-major arrays from Array::empty. NaN counts as the largest value.
#pragma once
#include <vector>

#include "core/array.h"

namespace asc::cpu {

// out = x sorted along an axis; the dtypes are equal.
void sort(const Array& x, int axis, bool descending, const Array& out);
// out (int64) = the stable permutations that sort x along an axis.
void argsort(const Array& x, int axis, bool descending, const Array& out);
// out (int64) = insertion points of keys, in row-major order, in a sorted vector.
void search(const Array& sorted, const Array& keys, bool right, const Array& out);
// out (bool) = whether each element of x is among the values.
void is_member(const Array& x, const Array& values, bool invert, const Array& out);

struct Unique {
    Array values;   // ascending
    Array indices;  // int64: of the first occurrence in row-major order
    Array inverse;  // int64, in the shape of x: values[inverse] is x
    Array counts;   // int64
};
// The arrays that are not wanted stay empty. Every NaN is distinct.
Unique unique(const Array& x, bool indices, bool inverse, bool counts);

// out (int64) = the first position of the least or largest element along an axis of extent > 0;
// NaN wins. x is not complex.
void arg_extreme(const Array& x, int axis, bool largest, const Array& out);

// Row-major indices of the true elements of a bool array, one vector for each axis.
std::vector<Array> nonzero(const Array& mask);

}  // namespace asc::cpu
