// A libFuzzer target: every input is given to run() of target.py, in an embedded interpreter.
// CONTRIBUTING.md has the commands. PYTHON names the interpreter whose packages are used.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdint>
#include <cstdlib>

static PyObject* run = nullptr;

static void check(bool ok) {
    if (ok) return;
    PyErr_Print();
    std::abort();
}

extern "C" int LLVMFuzzerInitialize(int*, char***) {
    PyConfig config;
    PyConfig_InitPythonConfig(&config);
    if (const char* python = std::getenv("PYTHON"))
        PyConfig_SetBytesString(&config, &config.executable, python);
    const PyStatus status = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
    if (PyStatus_Exception(status)) Py_ExitStatusException(status);
    PyObject* target = PyImport_ImportModule("target");
    check(target != nullptr);
    run = PyObject_GetAttrString(target, "run");
    check(run != nullptr);
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    PyObject* result = PyObject_CallFunction(run, "y#", reinterpret_cast<const char*>(data),
                                             static_cast<Py_ssize_t>(size));
    check(result != nullptr);
    Py_DECREF(result);
    return 0;
}
