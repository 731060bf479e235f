// The Python objects that the core holds, set once at import.
#pragma once
#include <Python.h>

#include <atomic>

#include "core/dtype.h"

namespace asc::python {

struct State {
    PyTypeObject* array_type = nullptr;
    PyTypeObject* dtype_type = nullptr;    // numpy.dtype
    PyTypeObject* generic_type = nullptr;  // numpy.generic: NumPy's scalars
    PyTypeObject* ndarray_type = nullptr;  // numpy.ndarray
    PyObject* ndarray_base = nullptr;      // its attribute `base`: a subclass may say anything
    PyObject* dtypes[kNumDTypes] = {};     // np.dtype instances; bfloat16's is null until loaded
    PyObject* devices[kMostDevices] = {};
    PyObject* axis_error = nullptr;
    PyObject* linalg_error = nullptr;
    PyObject* fallback_warning = nullptr;
    PyObject* strict_variable = nullptr;        // a ContextVar: None, True or False
    PyObject* precision_variable = nullptr;     // a ContextVar: None, or an int, a Precision
    std::atomic<bool> precision_chosen{false};  // somewhere, at some time
    PyObject* stream_variable =
        nullptr;                     // a ContextVar: None, or a tuple that starts with a handle
    PyObject* package = nullptr;     // where the Python files are
    std::atomic<bool> strict{true};  // where the variable is None
};
// Holds Python objects; never destroyed, since the interpreter may be gone by then.
inline State* const the_state = new State;
inline State& state() { return *the_state; }

// Loads bfloat16 if that is what the dtype's name says; true if it is there now.
bool load_bfloat16(PyObject* dtype);
// bfloat16 is there, loaded now if need be; false where ml_dtypes is missing.
bool has_bfloat16();

}  // namespace asc::python
