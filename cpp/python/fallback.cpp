#include "python/fallback.h"

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "graph/lowering.h"
#include "graph/placement.h"
#include "python/interop.h"
#include "python/state.h"
#include "runtime/profiler.h"

namespace asc::python {
namespace {

enum class Policy : int { Warn, Silent, Error };
std::atomic<Policy> policy{Policy::Warn};

// True if the warning filters make it an error.
bool warns(const std::string& message) {
    const PyGILState_STATE had = PyGILState_Ensure();
    PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    const bool raised = PyErr_WarnEx(state().fallback_warning, message.c_str(), 1) < 0;
    if (raised) PyErr_Clear();
    PyErr_Restore(type, value, trace);
    PyGILState_Release(had);
    return raised;
}

void report_fallback(const char* function, DType dtype, DeviceId place, bool first) {
    const Policy now = policy.load(std::memory_order_relaxed);
    if (now == Policy::Silent || (now == Policy::Warn && !first) || !Py_IsInitialized()) return;
    const std::string message = std::string(function) + ": " + device(place).name() +
                                " has no operation for dtype " + name(dtype) +
                                "; the CPU computes it, on copies";
    if (now == Policy::Error || warns(message))
        raise(ErrorKind::Runtime, "%s; runtime.set_fallback chooses what happens then",
              message.c_str());
}

// The arguments of a call, with copies on the host.
class HostArguments {
  public:
    HostArguments(const char* function, PyObject* const* args, int count) : function_(function) {
        for (int i = 0; i < count; ++i) look_at(args[i]);
        for (int i = 0; place_ && i < count; ++i) {
            held_.push_back(copied(args[i]));
            copies_.push_back(held_.back().get());
        }
    }
    // The accelerator whose arrays were copied.
    std::optional<DeviceId> place() const { return place_; }
    DType dtype() const { return dtype_; }
    PyObject* const* get() const { return copies_.data(); }

  private:
    static bool is_list(PyObject* o) { return PyList_Check(o) || PyTuple_Check(o); }

    // All arrays are on one device.
    void look_at(PyObject* o) {
        for (Py_ssize_t i = 0; is_list(o) && i < PySequence_Fast_GET_SIZE(o); ++i)
            look_at(PySequence_Fast_GET_ITEM(o, i));
        if (!is_array(o)) return;
        const Array& x = array_of(o);
        if (first_ && *first_ != x.device()) refuse_devices(function_, *first_, x.device());
        if (!first_) dtype_ = x.dtype;
        first_ = x.device();
        if (!on_host(x.device())) place_ = first_;
    }
    Object copied(PyObject* o) const {
        if (is_array(o)) return Object::steal(wrap(unlocked_move(array_of(o), kCpu, function_)));
        if (!is_list(o)) return Object::borrow(o);
        Object items = as_tuple(o);
        std::vector<Object> result;
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.get()); ++i)
            result.push_back(copied(PyTuple_GET_ITEM(items.get(), i)));
        return Object::steal(make_tuple(std::move(result)));
    }

    const char* function_;
    std::optional<DeviceId> first_, place_;
    DType dtype_ = DType::Bool;
    std::vector<Object> held_;
    std::vector<PyObject*> copies_;
};

// A result, with its arrays on the device.
Object placed(Object result, DeviceId place, const char* function) {
    if (is_array(result.get()))
        return Object::steal(wrap(unlocked_move(array_of(result.get()), place, function)));
    if (!PyTuple_Check(result.get())) return result;
    std::vector<Object> items;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(result.get()); ++i)
        items.push_back(placed(Object::borrow(PyTuple_GET_ITEM(result.get(), i)), place, function));
    return Object::steal(make_tuple(std::move(items)));
}

}  // namespace

PyObject* register_fallback_warning(PyObject* const* args) {
    state().fallback_warning = Py_NewRef(args[0]);
    set_fallback_hook(report_fallback);
    return Py_NewRef(Py_None);
}

PyObject* set_fallback(PyObject* const* args) {
    const int64_t wanted = to_int(args[0], "set_fallback", "policy");
    policy.store(static_cast<Policy>(wanted), std::memory_order_relaxed);
    return Py_NewRef(Py_None);
}

PyObject* fallbacks(PyObject* const*) {
    Object list = Object::steal(PyList_New(0));
    for (const Fallback& f : asc::fallbacks()) {
        Object item =
            Object::steal(Py_BuildValue("(sssL)", f.function.c_str(), name(f.dtype),
                                        device(f.device).name(), static_cast<long long>(f.times)));
        if (PyList_Append(list.get(), item.get()) < 0) throw PythonError{};
    }
    return list.release();
}

PyObject* call_on_host(const char* function, Binding f, bool asks, PyObject* const* args,
                       int count) {
    if (asks) {
        try {
            return f(args);
        } catch (const NotOnDevice&) {
            // The host then.
        }
    }
    const HostArguments host(function, args, count);
    if (!host.place()) return f(args);
    note_fallback(function, host.dtype(), *host.place());
    const profiler::WorkSpan span(profiler::Category::Fallback, function, index(*host.place()));
    return placed(Object::steal(f(host.get())), *host.place(), function).release();
}

}  // namespace asc::python
