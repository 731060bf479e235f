#include "python/bind.h"

#include <unistd.h>

#include <cmath>
#include <cstring>
#include <new>

#include "backend/backend.h"
#include "backend/cpu/elementwise.h"
#include "core/promotion.h"
#include "core/view.h"
#include "graph/placement.h"
#include "python/state.h"

namespace asc::python {

namespace {

PyObject* exception_type(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::Type:
            return PyExc_TypeError;
        case ErrorKind::Value:
            return PyExc_ValueError;
        case ErrorKind::Index:
            return PyExc_IndexError;
        case ErrorKind::Overflow:
            return PyExc_OverflowError;
        case ErrorKind::Memory:
            return PyExc_MemoryError;
        case ErrorKind::Buffer:
            return PyExc_BufferError;
        case ErrorKind::Axis:
            return state().axis_error;
        case ErrorKind::LinAlg:
            return state().linalg_error;
        case ErrorKind::Runtime:
            break;
    }
    return PyExc_RuntimeError;
}

const char* type_of(PyObject* o) { return Py_TYPE(o)->tp_name; }

Scalar from_long(PyObject* o) {
    Scalar s{Kind::Signed};
    int overflow = 0;
    s.integer = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (overflow > 0) {
        uint64_t value = PyLong_AsUnsignedLongLong(o);
        if (value == UINT64_MAX && PyErr_Occurred()) {
            PyErr_Clear();
            s.too_big = true;
            s.integer = 1;
        } else {
            s.above_int64 = true;
            s.integer = static_cast<int64_t>(value);
        }
    } else if (overflow < 0) {
        s.too_big = true;
        s.integer = -1;
    }
    if (!s.too_big) return s;
    s.re = PyLong_AsDouble(o);
    if (PyErr_Occurred()) {
        PyErr_Clear();
        s.re = std::copysign(INFINITY, static_cast<double>(s.integer));
    }
    return s;
}

std::optional<Scalar> python_scalar(PyObject* o) {
    if (PyFloat_Check(o)) return Scalar{Kind::Real, false, false, 0, PyFloat_AS_DOUBLE(o), 0};
    if (PyBool_Check(o)) return Scalar{Kind::Bool, false, false, o == Py_True};
    if (PyLong_Check(o)) return from_long(o);
    if (PyComplex_Check(o)) {
        return Scalar{
            Kind::Complex, false, false, 0, PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o)};
    }
    return std::nullopt;
}

}  // namespace

void set_python_error() {
    try {
        throw;
    } catch (const PythonError&) {
    } catch (const Interrupted&) {  // by a signal's handler, which has set the exception
    } catch (const Error& e) {
        PyErr_SetString(exception_type(e.kind()), e.what());
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
    } catch (const std::exception& e) {
        PyErr_SetString(PyExc_RuntimeError, e.what());
    } catch (...) {
        PyErr_SetString(PyExc_RuntimeError, "unknown C++ exception");
    }
}

void forgive(PyObject* kind) {
    if (PyErr_Occurred() &&
        (!PyErr_ExceptionMatches(kind) || PyErr_ExceptionMatches(PyExc_MemoryError)))
        throw PythonError{};
    PyErr_Clear();
}

Array& to_array(PyObject* o, const char* function, const char* parameter) {
    Array& x = to_view(o, function, parameter);
    x.storage->require_present(function);
    x.storage->settle();
    return x;
}

Array& to_view(PyObject* o, const char* function, const char* parameter) {
    if (is_array(o)) return array_of(o);
    raise(ErrorKind::Type,
          "%s: %s must be an ascend_array_api array, got %s; convert it with asarray", function,
          parameter, type_of(o));
}

PyObject* make_tuple(std::vector<Object>&& items) {
    Object tuple = Object::steal(PyTuple_New(static_cast<Py_ssize_t>(items.size())));
    for (size_t i = 0; i < items.size(); ++i) {
        PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), items[i].release());
    }
    return tuple.release();
}

PyObject* wrap_tuple(std::vector<Array>&& arrays) {
    std::vector<Object> items;
    for (Array& x : arrays) items.push_back(Object::steal(wrap(std::move(x))));
    return make_tuple(std::move(items));
}

PyObject* dtype_object(DType d) {
    PyObject* o = state().dtypes[index(d)];
    if (!o)
        raise(ErrorKind::Type, "dtype %s is not available: ml_dtypes is not installed", name(d));
    return o;
}

std::optional<DType> find_dtype(PyObject* o) {
    State& s = state();
    for (int i = 0; i < kNumDTypes; ++i) {
        if (s.dtypes[i] == o) return static_cast<DType>(i);
    }
    if (!s.dtype_type || !PyObject_TypeCheck(o, s.dtype_type)) return std::nullopt;
    // Another object for the same type, such as longlong; byte-swapped dtypes compare unequal.
    for (int i = 0; i < kNumDTypes; ++i) {
        if (!s.dtypes[i]) continue;
        int equal = PyObject_RichCompareBool(s.dtypes[i], o, Py_EQ);
        if (equal > 0) return static_cast<DType>(i);
        if (equal < 0) forgive(PyExc_Exception);
    }
    return load_bfloat16(o) ? std::optional(DType::BFloat16) : std::nullopt;
}

bool load_bfloat16(PyObject* dtype) {
    State& s = state();
    if (s.dtypes[index(DType::BFloat16)]) return false;
    Object name = Object::steal(PyObject_GetAttrString(dtype, "name"));
    if (!PyUnicode_Check(name.get()) ||
        PyUnicode_CompareWithASCIIString(name.get(), "bfloat16") != 0)
        return false;
    return has_bfloat16();
}

bool has_bfloat16() {
    State& s = state();
    if (s.dtypes[index(DType::BFloat16)]) return true;
    Object module = Object::steal(PyImport_ImportModule("ascend_array_api.dtypes"));
    // The attribute is missing where ml_dtypes is.
    Py_XDECREF(PyObject_GetAttrString(module.get(), "bfloat16"));
    forgive(PyExc_AttributeError);
    return s.dtypes[index(DType::BFloat16)] != nullptr;
}

DType to_dtype(PyObject* o, const char* function) {
    if (auto d = find_dtype(o)) return *d;
    State& s = state();
    if ((PyUnicode_Check(o) || PyType_Check(o)) && !strict()) {
        PyObject* raw =
            PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(s.dtype_type), o, nullptr);
        if (!raw) forgive(PyExc_Exception);
        if (auto d = raw ? find_dtype(Object::steal(raw).get()) : std::nullopt) return *d;
    }
    Object text = Object::steal(PyObject_Repr(o));
    const char* utf8 = PyUnicode_AsUTF8(text.get());
    if (!utf8) throw PythonError{};
    bool named = PyUnicode_Check(o) || PyType_Check(o);
    raise(ErrorKind::Type,
          "%s: %s is not a dtype of this library; accepted: ascend_array_api.float64 and the like, "
          "native byte order%s",
          function, utf8, named && strict() ? kRelax : "");
}

std::optional<DType> to_optional_dtype(PyObject* o, const char* function) {
    if (o == Py_None) return std::nullopt;
    return to_dtype(o, function);
}

PyObject* device_object(DeviceId device) { return state().devices[index(device)]; }

DeviceId to_device_id(PyObject* o, DeviceId otherwise, const char* function) {
    if (o == Py_None) return otherwise;
    for (int i = 0; i < devices::count; ++i) {
        if (state().devices[i] == o) return static_cast<DeviceId>(i);
    }
    if (PyUnicode_Check(o)) {
        const char* named = PyUnicode_AsUTF8(o);
        if (!named) forgive(PyExc_UnicodeEncodeError);  // no device is named so
        if (auto found = named ? find_device(named) : std::nullopt) return *found;
    }
    Object text = Object::steal(PyObject_Repr(o));
    const char* utf8 = PyUnicode_AsUTF8(text.get());
    if (!utf8) throw PythonError{};
    raise(ErrorKind::Value, "%s: unknown device %s; available: %s", function, utf8,
          device_names().c_str());
}

std::optional<Scalar> find_scalar(PyObject* o) {
    if (auto s = python_scalar(o)) return s;
    State& st = state();
    if (!st.generic_type || !PyObject_TypeCheck(o, st.generic_type)) return std::nullopt;
    Object plain = Object::steal(PyObject_CallMethod(o, "item", nullptr));
    return python_scalar(plain.get());
}

Argument to_argument(PyObject* o, Scalar& room, const char* function, const char* parameter) {
    if (is_array(o)) return {&array_of(o), nullptr};
    if (auto s = find_scalar(o)) {
        room = *s;
        return {nullptr, &room};
    }
    raise(ErrorKind::Type,
          "%s: %s must be an ascend_array_api array or a Python scalar, got %s; "
          "convert it with asarray",
          function, parameter, type_of(o));
}

// A view of no dimensions.
static Array first_element(const Array& x) { return x.view({}, {}, x.offset); }

PyObject* item(const Array& where) {
    const Array x = on_host(where.device()) ? where : readable(first_element(where), "item");
    if (is_bool(x.dtype)) {
        auto byte = static_cast<unsigned>(x.bits()[x.offset >> 3]);
        return PyBool_FromLong(byte >> (x.offset & 7) & 1);
    }
    const std::byte* p = x.data();
    if (is_complex(x.dtype)) {
        Complex<double> z;
        cpu::convert_scalar(&z, DType::Complex128, p, x.dtype);
        return PyComplex_FromDoubles(z.re, z.im);
    }
    if (is_real_float(x.dtype)) {
        double value;
        cpu::convert_scalar(&value, DType::Float64, p, x.dtype);
        return PyFloat_FromDouble(value);
    }
    if (kind(x.dtype) == Kind::Unsigned) {
        uint64_t value = 0;
        std::memcpy(&value, p, static_cast<size_t>(itemsize(x.dtype)));
        return PyLong_FromUnsignedLongLong(value);
    }
    int64_t value;
    cpu::convert_scalar(&value, DType::Int64, p, x.dtype);
    return PyLong_FromLongLong(value);
}

int64_t to_int(PyObject* o, const char* function, const char* parameter) {
    int64_t value = PyLong_CheckExact(o) ? PyLong_AsLongLong(o) : -1;
    if (value != -1) return value;
    PyErr_Clear();
    PyObject* raw = PyIndex_Check(o) && !PyBool_Check(o) ? PyNumber_Index(o) : nullptr;
    if (!raw) {
        forgive(PyExc_TypeError);
        raise(ErrorKind::Type, "%s: %s must be an int, got %s", function, parameter, type_of(o));
    }
    Object number = Object::steal(raw);
    value = PyLong_AsLongLong(number.get());
    if (value == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        raise(ErrorKind::Overflow, "%s: %s does not fit 64 bits", function, parameter);
    }
    return value;
}

int64_t to_offset(PyObject* o, const char* function, const char* parameter) {
    constexpr int64_t kLimit = int64_t{1} << 62;
    if (PyLong_Check(o)) {
        int overflow = 0;
        int64_t value = PyLong_AsLongLongAndOverflow(o, &overflow);
        if (overflow) return overflow > 0 ? kLimit : -kLimit;
        if (!PyBool_Check(o)) return value > kLimit ? kLimit : value < -kLimit ? -kLimit : value;
    }
    return to_int(o, function, parameter);
}

double to_double(PyObject* o, const char* function, const char* parameter) {
    double value = PyFloat_AsDouble(o);
    if (value != -1.0 || !PyErr_Occurred()) return value;
    if (PyErr_ExceptionMatches(PyExc_OverflowError)) {
        PyErr_Clear();
        raise(ErrorKind::Overflow, "%s: %s is too large for a float", function, parameter);
    }
    forgive(PyExc_TypeError);
    raise(ErrorKind::Type, "%s: %s must be a float or int, got %s", function, parameter,
          type_of(o));
}

int to_axis(PyObject* o, int ndim, const char* function) {
    return normalize_axis(to_int(o, function, "axis"), ndim, function);
}

const char* to_name(PyObject* o) {
    const char* utf8 = PyUnicode_AsUTF8(o);
    if (!utf8) throw PythonError{};
    return utf8;
}

bool to_bool(PyObject* o, const char* function, const char* parameter) {
    if (o == Py_True) return true;
    if (o == Py_False) return false;
    auto s = find_scalar(o);
    if (s && s->kind == Kind::Bool) return s->integer != 0;
    if (s && s->kind == Kind::Signed && !s->too_big && (s->integer == 0 || s->integer == 1))
        return s->integer != 0;
    raise(ErrorKind::Type, "%s: %s must be True or False, got %s", function, parameter, type_of(o));
}

PyObject* to_copy_mode(PyObject* o, const char* function) {
    if (o == Py_None) return o;
    return to_bool(o, function, "copy") ? Py_True : Py_False;
}

Object as_tuple(PyObject* sequence) {
    if (PyTuple_Check(sequence) || PyList_Check(sequence))
        return Object::steal(PySequence_Tuple(sequence));
    Py_ssize_t n = PySequence_Size(sequence);
    if (n < 0) throw PythonError{};
    Object tuple = Object::steal(PyTuple_New(n));
    for (Py_ssize_t i = 0; i < n; ++i) {
        PyTuple_SET_ITEM(tuple.get(), i, Object::steal(PySequence_GetItem(sequence, i)).release());
    }
    return tuple;
}

Dims to_dims(PyObject* o, const char* function, const char* parameter) {
    if (PyTuple_CheckExact(o)) {
        auto n = static_cast<int>(PyTuple_GET_SIZE(o));
        Dims dims(n);
        for (int i = 0; i < n; ++i) dims[i] = to_int(PyTuple_GET_ITEM(o, i), function, parameter);
        return dims;
    }
    if (PyIndex_Check(o) && !PyBool_Check(o)) return Dims{to_int(o, function, parameter)};
    if (!PySequence_Check(o) || PyUnicode_Check(o) || PyBytes_Check(o)) {
        raise(ErrorKind::Type, "%s: %s must be an int or a sequence of ints, got %s", function,
              parameter, type_of(o));
    }
    Object tuple = as_tuple(o);
    return to_dims(tuple.get(), function, parameter);
}

PyObject* dims_tuple(const Dims& dims) {
    Object tuple = Object::steal(PyTuple_New(dims.size()));
    for (int i = 0; i < dims.size(); ++i)
        PyTuple_SET_ITEM(tuple.get(), i, Object::steal(PyLong_FromLongLong(dims[i])).release());
    return tuple.release();
}

std::optional<Dims> to_axes(PyObject* o, int ndim, const char* function) {
    if (o == Py_None) return std::nullopt;
    if (PyLong_CheckExact(o)) return Dims{to_axis(o, ndim, function)};
    return normalize_axes(to_dims(o, function, "axis"), ndim, function);
}

std::vector<Array> to_arrays(PyObject* o, const char* function, const char* parameter) {
    if (!PyList_Check(o) && !PyTuple_Check(o)) {
        raise(ErrorKind::Type, "%s: %s must be a list or tuple of arrays, got %s", function,
              parameter, type_of(o));
    }
    std::vector<Array> arrays;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); ++i) {
        arrays.push_back(to_view(PySequence_Fast_GET_ITEM(o, i), function, parameter));
    }
    return arrays;
}

void require(Function f, DType dtype) {
    if (!accepts(info(f).accepted, dtype)) asc::require(f, dtype, strict());
}

void take_interpreter(PyThreadState* state) noexcept {
    try {
        PyEval_RestoreThread(state);
    } catch (...) {
        for (;;) pause();
    }
}

bool strict() {
    State& s = state();
    if (s.strict_variable) {
        PyObject* value = nullptr;
        if (PyContextVar_Get(s.strict_variable, nullptr, &value) < 0) throw PythonError{};
        if (value) {
            bool set = value != Py_None, on = value == Py_True;
            Py_DECREF(value);
            if (set) return on;
        }
    }
    return s.strict;
}

Precision precision() {
    State& s = state();
    if (!s.precision_chosen.load(std::memory_order_relaxed)) return Precision::Default;
    PyObject* value = nullptr;
    if (PyContextVar_Get(s.precision_variable, nullptr, &value) < 0) throw PythonError{};
    Object held = Object::steal(value);
    return static_cast<Precision>(PyLong_AsLong(value));
}

void warn_of_precision(const char* function, const std::string& where) {
    const std::string text = std::string(function) + ": precision 'high' changes nothing " + where;
    if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 1) < 0) throw PythonError{};
}

void warn_of_device(const char* function, DeviceId place) {
    warn_of_precision(function, "on " + device(place).traits().name);
}

}  // namespace asc::python
