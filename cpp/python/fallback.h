// Functions that compute on the host: for arrays of accelerators they work on copies there, and
// their results go back.
#pragma once
#include <algorithm>

#include "backend/backend.h"
#include "python/bind.h"

namespace asc::python {

using Binding = PyObject* (*)(PyObject* const* args);

// Calls f with copies on the host for arrays of an accelerator among the arguments, if there are
// any, and moves the arrays that it returns there. `asks`: f asks the device first, by
// run_on_device.
PyObject* call_on_host(const char* function, Binding f, bool asks, PyObject* const* args,
                       int count);

// What runtime.py says about fallbacks: the class of warnings, a policy, the list so far.
PyObject* register_fallback_warning(PyObject* const* args);
PyObject* set_fallback(PyObject* const* args);
PyObject* fallbacks(PyObject* const* args);

// A name as an argument of a template.
template <size_t N>
struct Name {
    char text[N];
    constexpr Name(const char (&name)[N]) { std::copy_n(name, N, text); }
};

template <auto kFunction, int kArguments, Name kName, bool kAsks>
PyObject* on_host_first(PyObject* const* args) {
    if (!devices::accelerators) return kFunction(args);
    return call_on_host(kName.text, kFunction, kAsks, args, kArguments);
}

// One row of a Methods table, of a function that reads or writes the memory of its arguments.
template <auto kFunction, int kArguments, Name kName>
constexpr PyMethodDef host_method() {
    return method<on_host_first<kFunction, kArguments, kName, false>, kArguments>(kName.text);
}
// Of a function that asks the device first.
template <auto kFunction, int kArguments, Name kName>
constexpr PyMethodDef device_method() {
    return method<on_host_first<kFunction, kArguments, kName, true>, kArguments>(kName.text);
}

}  // namespace asc::python
