// Arrays from other people's objects.
#pragma once
#include "python/bind.h"

namespace asc::python {

bool is_ndarray(PyObject* o);
// Whatever asarray accepts, as a new or borrowed array (a snapshot of foreign memory).
Array as_array(PyObject* o, const char* function);
// A 0-dimensional array of one value.
Array from_scalar(const Scalar& s, DType dtype, const char* function);

// Slots of Array: the buffer protocol.
int get_buffer(PyObject* self, Py_buffer* view, int flags);
void release_exported_buffer(PyObject* self, Py_buffer* view);

}  // namespace asc::python
