// Views: new shape, strides and offset on the same storage. Pure metadata, never a copy.
#pragma once
#include <optional>

#include "core/array.h"

namespace asc {

// 0 <= result < ndim; throws Error(Axis) naming `function`.
int normalize_axis(int64_t axis, int ndim, const char* function);
// Each axis normalised; throws Error(Value) on a repeated one.
Dims normalize_axes(const Dims& axes, int ndim, const char* function);

// The common shape of two shapes; throws Error(Value) naming `function` and both shapes.
Dims broadcast_shapes(const Dims& a, const Dims& b, const char* function);
// Strides of x seen with `shape`: 0 along broadcast axes. shape must be reachable.
Dims broadcast_strides(const Array& x, const Dims& shape);
Array broadcast_to(const Array& x, const Dims& shape, const char* function);

// The axes of x, those with the largest strides first; none where x is row-major.
Dims memory_order(const Array& x);
// 0, 1, ..., ndim - 1.
Dims all_axes(int ndim);
Array permute(const Array& x, const Dims& axes);
// x with one axis moved behind the others.
Array axis_last(const Array& x, int axis);
Array transpose(const Array& x);  // the last two axes swapped
Array expand_dims(const Array& x, int axis);
Array squeeze(const Array& x, int axis);
// n elements from `start` in steps of `step` along an axis; bounds are the caller's business.
Array slice(const Array& x, int axis, int64_t start, int64_t step, int64_t n);
// x[i] along an axis, which disappears.
Array select(const Array& x, int axis, int64_t i);
Array flip(const Array& x, const Dims& axes);
Array diagonal(const Array& x, int64_t offset);
// The components of a complex array, as a real one with doubled strides.
Array real_view(const Array& x);
Array imag_view(const Array& x);
// The same elements under another shape, if strides can express it.
std::optional<Array> reshape_view(const Array& x, const Dims& shape);
// shape with one -1 resolved for `size` elements; throws Error(Value).
Dims resolve_shape(const Dims& shape, int64_t size, const char* function);
// As reshape_view, copying where strides cannot express it.
Array reshape(const Array& x, const Dims& shape);

}  // namespace asc
