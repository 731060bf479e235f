// The extension module: the Array class and the tables of functions.
#include <nanobind/nanobind.h>

#include "backend/backend.h"
#include "core/promotion.h"
#include "core/view.h"
#include "graph/tape.h"
#include "python/bind.h"
#include "python/foreign.h"
#include "python/interop.h"
#include "python/state.h"
#include "python/streams.h"
#include "runtime/arena.h"
#include "runtime/interrupt.h"
#include "runtime/pool.h"
#include "runtime/runners.h"
#include "runtime/workers.h"

namespace nb = nanobind;

namespace asc::python {

static_assert(sizeof(Array) <= 128, "an Array fits two cache lines");

bool is_array(PyObject* o) { return Py_TYPE(o) == state().array_type; }
Array& array_of(PyObject* o) { return *nb::inst_ptr<Array>(nb::handle(o)); }

PyObject* wrap(Array&& x) {
    nb::object instance;
    try {
        instance = nb::inst_alloc(nb::handle(reinterpret_cast<PyObject*>(state().array_type)));
    } catch (nb::python_error& error) {
        error.restore();
        throw PythonError{};
    }
    new (nb::inst_ptr<Array>(instance)) Array(std::move(x));
    nb::inst_mark_ready(instance);
    return instance.release().ptr();
}

namespace {

using Getter = PyObject* (*)(const Array&);
template <Getter kGetter>
PyObject* get(PyObject* self, void*) {
    return guarded([&] { return kGetter(array_of(self)); });
}

PyObject* get_shape(const Array& x) { return dims_tuple(x.shape); }
PyObject* get_dtype(const Array& x) { return Py_NewRef(dtype_object(x.dtype)); }
PyObject* get_device(const Array& x) { return Py_NewRef(device_object(x.device())); }
PyObject* get_ndim(const Array& x) { return PyLong_FromLong(x.ndim()); }
PyObject* get_size(const Array& x) { return PyLong_FromLongLong(x.size()); }
PyObject* get_T(const Array& x) {
    if (x.ndim() != 2) {
        raise(ErrorKind::Value,
              "Array.T: the array has %d dimensions, exactly 2 are needed; use mT or permute_dims",
              x.ndim());
    }
    return wrap(transpose(x));
}
PyObject* get_mT(const Array& x) {
    if (x.ndim() < 2) {
        raise(ErrorKind::Value, "Array.mT: the array has %d dimension%s, at least 2 are needed",
              x.ndim(), x.ndim() == 1 ? "" : "s");
    }
    return wrap(transpose(x));
}

PyGetSetDef properties[] = {
    {"shape", get<get_shape>, nullptr, "The extent of each axis, a tuple of ints.", nullptr},
    {"dtype", get<get_dtype>, nullptr, "The type of the elements, an np.dtype.", nullptr},
    {"device", get<get_device>, nullptr, "The device that holds the elements.", nullptr},
    {"ndim", get<get_ndim>, nullptr, "The number of axes.", nullptr},
    {"size", get<get_size>, nullptr, "The number of elements.", nullptr},
    {"T", get<get_T>, nullptr, "The transpose of a matrix, a view.", nullptr},
    {"mT", get<get_mT>, nullptr, "The transposes of a stack of matrices, a view.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

Py_ssize_t length(PyObject* self) {
    const Array& x = array_of(self);
    if (x.ndim() == 0) {
        PyErr_SetString(PyExc_TypeError, "len: a 0-dimensional array has no length");
        return -1;
    }
    return x.shape[0];
}

// The element of an array with one element, as conversions to Python numbers see it.
PyObject* single_item(PyObject* self, const char* function) {
    const Array& x = array_of(self);
    if (x.ndim() != 0) {
        raise(ErrorKind::Type,
              "%s: only 0-dimensional arrays convert to a Python scalar, got shape %s", function,
              to_string(x.shape).c_str());
    }
    return item(x);
}
PyObject* to_python_int(PyObject* self) {
    return guarded([&] {
        Object value = Object::steal(single_item(self, "int"));
        if (PyComplex_Check(value.get()))
            raise(ErrorKind::Type, "int: a complex array does not convert; use real first");
        return PyNumber_Long(value.get());
    });
}
PyObject* to_python_float(PyObject* self) {
    return guarded([&] {
        Object value = Object::steal(single_item(self, "float"));
        if (PyComplex_Check(value.get())) {
            raise(ErrorKind::Type, "float: a complex array does not convert; use real first");
        }
        return PyNumber_Float(value.get());
    });
}
PyObject* to_python_index(PyObject* self) {
    return guarded([&] {
        const Array& x = array_of(self);
        if (!is_integer(x.dtype)) {
            raise(ErrorKind::Type, "index: only integer arrays are indices, got dtype %s",
                  name(x.dtype));
        }
        return single_item(self, "index");
    });
}
int to_python_bool(PyObject* self) {
    PyObject* value = guarded([&] {
        const Array& x = array_of(self);
        if (x.ndim() != 0 && (x.size() != 1 || strict())) {
            raise(ErrorKind::Type,
                  "bool: the truth of an array of shape %s is not defined; use any or all%s",
                  to_string(x.shape).c_str(), x.size() == 1 ? kRelax : "");
        }
        return item(x);
    });
    if (!value) return -1;
    int truth = PyObject_IsTrue(value);
    Py_DECREF(value);
    return truth;
}

// Iteration over the first axis, as views.
PyObject* iterate(PyObject* self) {
    if (array_of(self).ndim() == 0) {
        PyErr_SetString(PyExc_TypeError, "iter: a 0-dimensional array cannot be iterated over");
        return nullptr;
    }
    return PySeqIter_New(self);
}
PyObject* sequence_item(PyObject* self, Py_ssize_t i) {
    return guarded([&] {
        const Array& x = array_of(self);
        if (x.ndim() == 0 || i < 0 || i >= x.shape[0]) {
            raise(ErrorKind::Index, "index %lld is out of bounds for shape %s",
                  static_cast<long long>(i), to_string(x.shape).c_str());
        }
        return wrap(select(x, 0, i));
    });
}

// Arrays come from creation functions only: an empty instance would have no storage.
PyObject* refuse_new(PyTypeObject*, PyObject*, PyObject*) {
    PyErr_SetString(PyExc_TypeError,
                    "Array: arrays are made by asarray, zeros and the other creation functions");
    return nullptr;
}

PyType_Slot core_slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(refuse_new)},
    {Py_tp_getset, properties},
    {Py_mp_subscript, reinterpret_cast<void*>(get_item)},
    {Py_mp_ass_subscript, reinterpret_cast<void*>(set_item)},
    {Py_mp_length, reinterpret_cast<void*>(length)},
    {Py_sq_length, reinterpret_cast<void*>(length)},
    {Py_sq_item, reinterpret_cast<void*>(sequence_item)},
    {Py_tp_iter, reinterpret_cast<void*>(iterate)},
    {Py_nb_bool, reinterpret_cast<void*>(to_python_bool)},
    {Py_nb_int, reinterpret_cast<void*>(to_python_int)},
    {Py_nb_float, reinterpret_cast<void*>(to_python_float)},
    {Py_nb_index, reinterpret_cast<void*>(to_python_index)},
    {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
    {Py_bf_releasebuffer, reinterpret_cast<void*>(release_exported_buffer)},
    {Py_tp_hash, reinterpret_cast<void*>(PyObject_HashNotImplemented)},
};

PyObject* to_complex(PyObject* const* args) {
    to_array(args[0], "complex", "self");
    Object value = Object::steal(single_item(args[0], "complex"));
    if (PyComplex_Check(value.get())) return value.release();
    Object number = Object::steal(PyNumber_Float(value.get()));
    return PyComplex_FromDoubles(PyFloat_AS_DOUBLE(number.get()), 0.0);
}
PyMethodDef module_methods[] = {
    method<to_complex, 1>("to_complex"),
    kEnd,
};

// All slots in one list, as nanobind wants them.
std::vector<PyType_Slot> all_slots() {
    std::vector<PyType_Slot> slots(std::begin(core_slots), std::end(core_slots));
    for (const PyType_Slot* slot = operator_slots; slot->slot; ++slot) slots.push_back(*slot);
    slots.push_back({0, nullptr});
    return slots;
}

void take_back(void* state) {
    if (state) take_interpreter(static_cast<PyThreadState*>(state));
}

// Calls f with the interpreter's lock, which this thread has let go of somewhere up its stack.
template <class F>
bool with_interpreter(F&& f) {
    PyThreadState* state = PyGILState_GetThisThreadState();
    if (!state) return false;  // a thread that is not Python's
    take_interpreter(state);
    bool result = false;
    {
        Region::Rest rest;
        result = f();
    }
    PyEval_SaveThread();
    return result;
}

constexpr asc::InterpreterHooks interpreter_hooks = {
    // As the interpreter ends, every thread seems to have its lock.
    []() -> void* {
        return Py_IsInitialized() && PyGILState_Check() ? PyEval_SaveThread() : nullptr;
    },
    take_back,
    release_queued_owners,
    [] { return with_interpreter([] { return PyErr_CheckSignals() < 0; }); },
    [] {
        return with_interpreter([] {
            if (!PyOS_InterruptOccurred()) return false;
            PyErr_SetInterrupt();  // asking has cleared it; its handler runs when work has stopped
            return true;
        });
    },
    [] { return !Py_IsInitialized(); },
};

// Python's own locks around fork are taken behind its hooks: what may have to wait for threads that
// want one of them comes before.
void settle_before_forks() {
    static PyMethodDef settle = {"settle_before_fork",
                                 [](PyObject*, PyObject*) -> PyObject* {
                                     // From 3.13 on others wait for a lock of fork with theirs.
                                     settle_before_fork(PY_VERSION_HEX >= 0x030d0000);
                                     Py_RETURN_NONE;
                                 },
                                 METH_NOARGS, nullptr};
    const Object function = Object::steal(PyCFunction_New(&settle, nullptr));
    nb::module_::import_("os").attr("register_at_fork")(nb::arg("before") =
                                                            nb::handle(function.get()));
}

void add_functions(nb::module_& m, PyMethodDef* table, profiler::Category category) {
    if (PyModule_AddFunctions(m.ptr(), table) < 0) throw nb::python_error();
    register_calls(table, category);
}

PyObject* import_attribute(const char* module, const char* name) {
    nb::object loaded = nb::module_::import_(module).attr(name);
    return loaded.release().ptr();
}

void load_numpy() {
    State& s = state();
    s.dtype_type = reinterpret_cast<PyTypeObject*>(import_attribute("numpy", "dtype"));
    s.generic_type = reinterpret_cast<PyTypeObject*>(import_attribute("numpy", "generic"));
    s.ndarray_type = reinterpret_cast<PyTypeObject*>(import_attribute("numpy", "ndarray"));
    s.ndarray_base =
        Object::steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(s.ndarray_type), "base"))
            .release();
    s.axis_error = import_attribute("numpy.exceptions", "AxisError");
    s.linalg_error = import_attribute("numpy.linalg", "LinAlgError");
}

}  // namespace
}  // namespace asc::python

NB_MODULE(_core, m) {
    using namespace asc::python;
    if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
        PyErr_SetString(PyExc_ImportError,
                        "ascend_array_api cannot be imported in a sub-interpreter: its core keeps "
                        "one state for the process");
        throw nb::python_error();
    }
    // Handlers of fork run last installed first: tapes finish while pool and workers still serve.
    asc::pool::stats();
    asc::install_device_fork_handlers();
    asc::Arena::install_fork_handlers();
    asc::install_region_fork_handlers();
    asc::BitLock::install_fork_handlers();
    asc::workers::install_fork_handlers();
    asc::runners::install_fork_handlers();
    asc::profiler::install_fork_handlers();
    asc::Tape::install();
    asc::set_interpreter_hooks(interpreter_hooks);
    settle_before_forks();
    nb::register_exception_translator([](const std::exception_ptr& error, void*) {
        try {
            std::rethrow_exception(error);
        } catch (...) {
            set_python_error();
        }
    });
#ifdef Py_GIL_DISABLED
    asc::Region::cover_all_ = false;
#endif
    // Arrays may outlive the module, in capsules and exported buffers.
    nb::set_leak_warnings(false);
    load_numpy();
    std::vector<PyType_Slot> slots = all_slots();
    nb::class_<asc::Array> type(m, "Array", nb::type_slots(slots.data()), nb::is_final(),
                                nb::is_weak_referenceable(), nb::pooled());
    state().array_type = reinterpret_cast<PyTypeObject*>(type.ptr());
    for (PyMethodDef* table :
         {elementwise_methods, creation_methods, manipulation_methods, indexing_methods,
          statistics_methods, sorting_methods, linalg_methods, fft_methods, random_methods}) {
        add_functions(m, table, asc::profiler::Category::Compute);
    }
    for (PyMethodDef* table : {interop_methods, arrow_methods})
        add_functions(m, table, asc::profiler::Category::Copy);
    for (PyMethodDef* table : {module_methods, runtime_methods, profiler_methods, graph_methods})
        add_functions(m, table, asc::profiler::Category::Host);
    define_streams(m);
    // The class is public elsewhere; CPython's own messages show this name.
    state().array_type->tp_name = "ascend_array_api.runtime.Array";
    m.attr("HOW_TO_RELAX") = asc::kRelax;
    m.attr("max_dimensions") = asc::kMaxRank;
    m.attr("__version__") = ASC_VERSION;
}
