// Arrays from other people's objects.
#pragma once
#include "python/bind.h"

namespace asc::python {

bool is_ndarray(PyObject* o);
// Whatever asarray accepts: an array as it is, else a snapshot on the device.
Array as_array(PyObject* o, DeviceId device, const char* function);
// Throws Error(Type) where a Python number is no value of the dtype: strict mode wants the dtype's
// kind or a lower one, relaxed mode refuses only what would lose an imaginary part.
void check_value(const Scalar& s, DType dtype, const char* function);
// A 0-dimensional array of one value.
Array from_scalar(const Scalar& s, DType dtype, DeviceId device, const char* function);
// A copy, a conversion, or a move, without the interpreter's lock where that pays.
Array unlocked_copy(const Array& x);
Array unlocked_convert(const Array& x, DType to);
Array unlocked_move(const Array& x, DeviceId device, const char* function);

// Slots of Array: the buffer protocol.
int get_buffer(PyObject* self, Py_buffer* view, int flags);
void release_exported_buffer(PyObject* self, Py_buffer* view);

}  // namespace asc::python
