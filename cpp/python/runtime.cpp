// Modes, memory statistics, threads, and the objects that Python registers with the core.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "backend/backend.h"
#include "backend/cann/loader.h"
#include "backend/cpu/isa.h"
#include "backend/cpu/mixed.h"
#include "core/view.h"
#include "graph/placement.h"
#include "graph/plan.h"
#include "graph/tape.h"
#include "python/bind.h"
#include "python/fallback.h"
#include "python/state.h"
#include "runtime/arena.h"
#include "runtime/pool.h"
#include "runtime/workers.h"

namespace asc::python {
namespace {

PyObject* set_strict(PyObject* const* args) {
    state().strict = to_bool(args[0], "set_strict", "enabled");
    return Py_NewRef(Py_None);
}
PyObject* get_strict(PyObject* const*) { return PyBool_FromLong(strict()); }

PyObject* register_strict_var(PyObject* const* args) {
    if (!PyContextVar_CheckExact(args[0]))
        raise(ErrorKind::Type, "register_strict_var: a ContextVar is needed");
    state().strict_variable = Py_NewRef(args[0]);
    return Py_NewRef(Py_None);
}

// What Python knows of each device: (name, DLPack type, DLPack number, names of the dtypes that it
// lacks). Registers the devices when it is first called.
PyObject* device_table(PyObject* const*) {
    asc::register_devices();
    std::vector<Object> rows;
    for (int i = 0; i < devices::count; ++i) {
        const DeviceTraits& traits = devices::list[i]->traits();
        Object lacks = Object::steal(PyList_New(0));
        for (int d = 0; d < kNumDTypes; ++d) {
            if (devices::list[i]->has(static_cast<DType>(d))) continue;
            Object missing = Object::steal(PyUnicode_FromString(kDTypeInfo[d].name));
            if (PyList_Append(lacks.get(), missing.get()) < 0) throw PythonError{};
        }
        rows.push_back(Object::steal(Py_BuildValue(
            "(siiO)", traits.name.c_str(), traits.dlpack_type, traits.dlpack_number, lacks.get())));
    }
    return make_tuple(std::move(rows));
}
// (function, arrays, device or None): the device of all of them, for functions composed in Python.
PyObject* common_device_of(PyObject* const* args) {
    const char* function = to_name(args[0]);
    const std::vector<Array> arrays = to_arrays(args[1], function, "arrays");
    const DeviceId device =
        to_device_id(args[2], arrays.empty() ? default_device() : arrays[0].device(), function);
    for (const Array& x : arrays)
        if (x.device() != device) refuse_devices(function, device, x.device());
    return Py_NewRef(device_object(device));
}
PyObject* require_dtype_of(PyObject* const* args) {
    const char* function = to_name(args[0]);
    require_dtype(to_dtype(args[1], function), to_device_id(args[2], kCpu, function), function);
    return Py_NewRef(Py_None);
}
PyObject* default_device_number(PyObject* const*) {
    return PyLong_FromLong(index(default_device()));
}

// The objects of Python's Device, in the order of device_table.
PyObject* register_devices(PyObject* const* args) {
    Object items = as_tuple(args[0]);
    if (PyTuple_GET_SIZE(items.get()) != devices::count)
        raise(ErrorKind::Value, "register_devices: %d devices are needed", devices::count);
    for (int i = 0; i < devices::count; ++i)
        state().devices[i] = Py_NewRef(PyTuple_GET_ITEM(items.get(), i));
    return Py_NewRef(Py_None);
}

PyObject* register_precision_var(PyObject* const* args) {
    if (!PyContextVar_CheckExact(args[0]))
        raise(ErrorKind::Type, "register_precision_var: a ContextVar is needed");
    state().precision_variable = Py_NewRef(args[0]);
    return Py_NewRef(Py_None);
}
// From now on the variable is looked at.
PyObject* watch_precision(PyObject* const*) {
    state().precision_chosen = true;
    return Py_NewRef(Py_None);
}
// What computes in mixed precision here, or None.
PyObject* mixed_unit(PyObject* const*) {
    const char* unit = cpu::mixed_unit();
    return unit ? PyUnicode_FromString(unit) : Py_NewRef(Py_None);
}

// A dict of dtypes by name, which may grow from call to call.
PyObject* register_dtypes(PyObject* const* args) {
    if (!PyDict_Check(args[0])) raise(ErrorKind::Type, "register_dtypes: a dict is needed");
    for (int i = 0; i < kNumDTypes; ++i) {
        PyObject* dtype = PyDict_GetItemString(args[0], kDTypeInfo[i].name);
        if (dtype && !state().dtypes[i]) state().dtypes[i] = Py_NewRef(dtype);
    }
    return Py_NewRef(Py_None);
}

Device& to_device(PyObject* o) { return device(to_device_id(o, kCpu, "MemoryPool")); }

PyObject* pool_stats(PyObject* const* args) {
    const Device& place = to_device(args[0]);
    const pool::Stats s = place.memory_stats();
    return Py_BuildValue("{s:L,s:L,s:L,s:L,s:L,s:L,s:L}", "used", s.used, "cached", s.cached,
                         "peak", s.peak, "allocations", s.allocations, "reused", s.reused,
                         "free_blocks", s.free_blocks, "limit", place.memory_capacity());
}
PyObject* device_statistics(PyObject* const* args) {
    Object counts = Object::steal(PyDict_New());
    for (const auto& [name, count] : to_device(args[0]).statistics()) {
        const Object value = Object::steal(PyLong_FromLongLong(count));
        if (PyDict_SetItemString(counts.get(), name, value.get()) < 0) throw PythonError{};
    }
    return counts.release();
}
PyObject* free_cached(PyObject* const* args) {
    to_device(args[0]).free_cached();
    return Py_NewRef(Py_None);
}
PyObject* total_memory(PyObject* const* args) {
    return PyLong_FromLongLong(to_device(args[0]).total_memory());
}
PyObject* pool_limit(PyObject* const* args) {
    return PyLong_FromLongLong(to_device(args[0]).memory_limit());
}
PyObject* set_pool_limit(PyObject* const* args) {
    to_device(args[0]).set_memory_limit(to_int(args[1], "set_limit", "size"));
    return Py_NewRef(Py_None);
}
// For tests: see pool.h.
PyObject* fail_every(PyObject* const* args) {
    pool::fail_every(to_int(args[0], "fail_every", "n"));
    return Py_NewRef(Py_None);
}
PyObject* requests_since(PyObject* const*) { return PyLong_FromLongLong(pool::requests_since()); }

// Arenas are capsules; _memory.py makes their public class of them.
constexpr const char* kArena = "ascend_array_api.arena";
Arena& to_arena(PyObject* capsule) {
    void* held = PyCapsule_GetPointer(capsule, kArena);
    if (!held) throw PythonError{};
    return **static_cast<std::shared_ptr<Arena>*>(held);
}
PyObject* make_arena(PyObject* const* args) {
    auto held = std::make_unique<std::shared_ptr<Arena>>(
        std::make_shared<Arena>(to_int(args[0], "arena", "size")));
    Object capsule = Object::steal(PyCapsule_New(held.get(), kArena, [](PyObject* self) {
        delete static_cast<std::shared_ptr<Arena>*>(PyCapsule_GetPointer(self, kArena));
    }));
    held.release();
    return capsule.release();
}
// What is recorded takes memory when it runs: inside the arena just where it was recorded there.
PyObject* enter_arena(PyObject* const* args) {
    Arena& arena = to_arena(args[0]);
    Tape::current().finish();
    arena.enter();
    return Py_NewRef(Py_None);
}
PyObject* leave_arena(PyObject* const* args) {
    Arena& arena = to_arena(args[0]);
    Tape::current().finish();
    arena.leave();
    return Py_NewRef(Py_None);
}
PyObject* arena_stats(PyObject* const* args) {
    Arena::Stats s = to_arena(args[0]).stats();
    return Py_BuildValue("{s:L,s:L,s:L,s:L,s:L}", "size", s.size, "used", s.used, "peak", s.peak,
                         "served", s.served, "outgrown", s.outgrown);
}

// Runs recorded work: of the given arrays, or all that any thread has recorded.
PyObject* evaluate(PyObject* const* args) {
    for (const Array& x : to_arrays(args[0], "evaluate", "arrays")) x.storage->settle();
    return Py_NewRef(Py_None);
}
PyObject* synchronize(PyObject* const*) {
    Pending::finish_all();
    for (int i = 0; i < devices::count; ++i) devices::list[i]->synchronize();
    Tape::raise_any_error();
    return Py_NewRef(Py_None);
}
// The storage of the array is not used any more; false where its memory stays all the same.
PyObject* reuse_buffer(PyObject* const* args) {
    const Array& x = to_view(args[0], "reuse_buffer", "x");
    x.storage->require_present("reuse_buffer");
    if (!x.storage->give_up(Gone::GivenBack)) {
        raise(ErrorKind::Value,
              "reuse_buffer: another owner shares the memory of x (it was exported or imported "
              "without a copy); let go of that first, or leave x to be freed as usual");
    }
    return PyBool_FromLong(Region::cover_all_);
}

Hint to_hint(PyObject* o) {
    const char* name = PyUnicode_Check(o) ? to_name(o) : "";
    std::string known;
    for (int i = 0; i < kNumHints; ++i) {
        if (!std::strcmp(name, kHintNames[i])) return static_cast<Hint>(i);
        known += (i ? ", '" : "'") + std::string(kHintNames[i]) + "'";
    }
    Object text = Object::steal(PyObject_Repr(o));
    raise(PyUnicode_Check(o) ? ErrorKind::Value : ErrorKind::Type,
          "set_hint: unknown hint %s; accepted: %s", to_name(text.get()), known.c_str());
}

// No other array has the memory, and no other thread may be looking at this one.
bool belongs_here(const Array& x) {
    return !x.storage->shared() && x.storage->use_count() == 1 + x.storage->pending_operands() &&
           Region::none();
}

// Exchanges the last two axes in memory: the one time that metadata of an array changes, where
// nobody can see it. False where somebody could.
bool lay_out_transposed(Array& x) {
    if (!belongs_here(x) || overlaps_itself(x)) return false;
    Dims order(x.ndim());
    for (int i = 0; i < x.ndim(); ++i) order[i] = i;
    std::swap(order[x.ndim() - 1], order[x.ndim() - 2]);
    Dims strides = ordered_strides(x.shape, order);
    if (strides == x.strides) return true;
    const auto written = [&] { return std::pair(x.storage->written_at(), x.storage->changes()); };
    const auto before = written();
    Array turned = laid_out(x, strides, "set_hint");
    for (int i = 0; i < kNumHints; ++i)
        if (x.storage->has(static_cast<Hint>(i))) turned.storage->add(static_cast<Hint>(i));
    // Recording may have let other threads run.
    if (!belongs_here(x) || written() != before) return false;
    x = std::move(turned);
    return true;
}

// Why a hint can have no effect on the array, or null.
const char* without_effect(const Array& x, Hint hint) {
    if (hint == Hint::Temporary) {
        return Region::cover_all_ ? nullptr
                                  : "without a global interpreter lock other threads may be "
                                    "reading x";
    }
    if (hint == Hint::Transposed) return nullptr;
    if (!on_host(x.device())) return "the device does not use it";
    if (hint != Hint::ConvWeight) return nullptr;
    if (x.storage->shared()) return "another owner can write the memory of x";
    const bool matrix = x.size() == x.shape.back() * x.shape[x.ndim() - 2];
    return matrix ? nullptr : "x is a stack of several matrices";
}

// Returns None, or why the hint has no effect.
PyObject* set_hint(PyObject* const* args) {
    Array& x = to_view(args[0], "set_hint", "x");
    const Hint hint = to_hint(args[1]);
    x.storage->require_present("set_hint");
    const bool of_matrices = hint == Hint::Transposed || hint == Hint::ConvWeight;
    if (of_matrices && x.ndim() < 2) {
        raise(ErrorKind::Value, "set_hint: '%s' needs an array of at least 2 dimensions, got %d",
              kHintNames[static_cast<int>(hint)], x.ndim());
    }
    const char* reason = without_effect(x, hint);
    if (hint == Hint::Transposed && !lay_out_transposed(x))
        reason = "other arrays, or another owner, share the memory of x";
    if (!reason) x.storage->add(hint);
    return reason ? PyUnicode_FromString(reason) : Py_NewRef(Py_None);
}
PyObject* get_hints(PyObject* const* args) {
    const Storage& storage = *to_view(args[0], "get_hints", "x").storage;
    Object list = Object::steal(PyList_New(0));
    for (int i = 0; i < kNumHints; ++i) {
        if (!storage.has(static_cast<Hint>(i))) continue;
        Object name = Object::steal(PyUnicode_FromString(kHintNames[i]));
        if (PyList_Append(list.get(), name.get()) < 0) throw PythonError{};
    }
    return list.release();
}

// Whether a write to one array is seen by the other.
PyObject* alias(PyObject* const* args) {
    const Array& x = to_view(args[0], "alias", "x");
    const Array& y = to_view(args[1], "alias", "y");
    return PyBool_FromLong(x.storage.get() == y.storage.get() && may_overlap(x, y));
}
PyObject* tape_counters(PyObject* const*) {
    Tape::Counters c = Tape::counters();
    return Py_BuildValue("{s:L,s:L,s:L,s:L,s:L}", "recorded", c.entries, "dead", c.dead, "groups",
                         c.groups, "programs", c.programs, "replays", c.replays);
}

PyObject* set_predictive(PyObject* const* args) {
    predictive.store(to_bool(args[0], "set_mode", "predictive"));
    return Py_NewRef(Py_None);
}
PyObject* get_predictive(PyObject* const*) { return PyBool_FromLong(predictive.load()); }
// What tuners have learned, as a list of pairs of numbers: for a cache file.
PyObject* get_learned(PyObject* const*) {
    Object list = Object::steal(PyList_New(0));
    for (const auto& [key, choice] : learned()) {
        Object pair = Object::steal(Py_BuildValue("(Ki)", key, choice));
        if (PyList_Append(list.get(), pair.get()) < 0) throw PythonError{};
    }
    return list.release();
}
PyObject* learn_from(PyObject* const* args) {
    Learned known;
    Object pairs = as_tuple(args[0]);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(pairs.get()); ++i) {
        unsigned long long key = 0;
        int choice = 0;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(pairs.get(), i), "Ki", &key, &choice))
            throw PythonError{};
        known.emplace_back(key, choice);
    }
    learn(known);
    return Py_NewRef(Py_None);
}
PyObject* forget_learned(PyObject* const*) {
    unlearn();
    return Py_NewRef(Py_None);
}
// The choice that a tuner keeps after these times, one sequence of seven for each choice.
PyObject* best_choice(PyObject* const* args) {
    const Object rows = as_tuple(args[0]);
    const auto count = static_cast<int>(PyTuple_GET_SIZE(rows.get()));
    if (count < 1 || count > Tuner::kChoices)
        raise(ErrorKind::Value, "best_choice: expected times of 1 to %d choices, got %d",
              Tuner::kChoices, count);
    Tuner::Times times{};
    std::vector<int> choices;
    for (int i = 0; i < count; ++i) {
        const Dims row = to_dims(PyTuple_GET_ITEM(rows.get(), i), "best_choice", "times");
        if (row.size() != Tuner::kTries ||
            std::ranges::any_of(row, [](int64_t t) { return t < 1; }))
            raise(ErrorKind::Value, "best_choice: expected %d times above 0 of each choice",
                  Tuner::kTries);
        std::ranges::copy(row, times[static_cast<size_t>(i)].begin());
        choices.push_back(i);
    }
    return PyLong_FromLong(Tuner::best(times, choices));
}

// (operation, dtype, dtype of its kernels or None, whether the device itself computes it) for
// everything that has kernels, as it is dispatched in the mode in force.
PyObject* routes(PyObject* const* args) {
    const Device& place = device(to_device_id(args[0], kCpu, "routes"));
    const bool mode = strict();
    Object list = Object::steal(PyList_New(0));
    auto add_all = [&](auto operation) {
        for (int d = 0; d < kNumDTypes; ++d) {
            const Route r = route(operation, static_cast<DType>(d), mode);
            const char* compute = r.compute ? name(*r.compute) : nullptr;
            const bool here = r.compute && place.computes(operation, *r.compute);
            const std::string reason = r.compute && !here ? place.reason(operation) : "";
            Object tuple = Object::steal(Py_BuildValue("(sszOs)", r.name, name(r.dtype), compute,
                                                       here ? Py_True : Py_False, reason.c_str()));
            if (PyList_Append(list.get(), tuple.get()) < 0) throw PythonError{};
        }
    };
    for (int i = 0; i < kNumOps; ++i) add_all(static_cast<Op>(i));
    for (int i = 0; i < kNumFunctions; ++i) add_all(static_cast<Function>(i));
    return list.release();
}

// The array with the elements that a function composed in Python computes on; one that is not in
// the table computes on floating-point numbers.
PyObject* as_elements(PyObject* const* args) {
    const char* function = to_name(args[0]);
    const Array& x = to_view(args[1], function, "x");
    const std::optional<Function> found = find_function(function);
    if (found) {
        require(*found, x.dtype);
    } else if (!is_float(x.dtype) && strict()) {
        refuse_dtype(function, Category::Floating, x.dtype, true);
    }
    const DType element = element_dtype(found.value_or(Function::Mean), x.dtype, x.device());
    return element == x.dtype ? Py_NewRef(args[1]) : wrap(convert(x, element));
}

PyObject* set_num_threads(PyObject* const* args) {
    int64_t n = to_int(args[0], "set_num_threads", "n");
    workers::set_count(static_cast<int>(std::clamp<int64_t>(n, INT_MIN, 1024)));
    return Py_NewRef(Py_None);
}
PyObject* num_threads(PyObject* const*) { return PyLong_FromLong(workers::count()); }
PyObject* cann_status(PyObject* const*) {
    const std::string& status = cann::installation().status;
    return PyUnicode_DecodeUTF8(status.data(), static_cast<Py_ssize_t>(status.size()), "replace");
}
PyObject* isa(PyObject* const*) { return PyUnicode_FromString(cpu::kernels().isa); }

}  // namespace

PyMethodDef runtime_methods[] = {
    method<register_fallback_warning, 1>("register_fallback_warning"),
    method<set_fallback, 1>("set_fallback"),
    method<fallbacks, 0>("fallbacks"),
    method<set_strict, 1>("set_strict"),
    method<get_strict, 0>("get_strict"),
    method<register_strict_var, 1>("register_strict_var"),
    method<device_table, 0>("device_table"),
    method<common_device_of, 3>("common_device"),
    method<require_dtype_of, 3>("require_dtype"),
    method<default_device_number, 0>("default_device_number"),
    method<register_devices, 1>("register_devices"),
    method<register_dtypes, 1>("register_dtypes"),
    method<register_precision_var, 1>("register_precision_var"),
    method<watch_precision, 0>("watch_precision"),
    method<set_predictive, 1>("set_predictive"),
    method<get_predictive, 0>("predictive"),
    method<get_learned, 0>("learned"),
    method<learn_from, 1>("learn"),
    method<forget_learned, 0>("unlearn"),
    method<best_choice, 1>("best_choice"),
    method<mixed_unit, 0>("mixed_unit"),
    method<pool_stats, 1>("pool_stats"),
    method<device_statistics, 1>("device_statistics"),
    method<free_cached, 1>("free_cached"),
    method<total_memory, 1>("total_memory"),
    method<pool_limit, 1>("pool_limit"),
    method<set_pool_limit, 2>("set_pool_limit"),
    method<fail_every, 1>("fail_every"),
    method<requests_since, 0>("requests_since"),
    method<make_arena, 1>("make_arena"),
    method<enter_arena, 1>("enter_arena"),
    method<leave_arena, 1>("leave_arena"),
    method<arena_stats, 1>("arena_stats"),
    method<evaluate, 1>("evaluate"),
    method<synchronize, 0>("synchronize"),
    method<reuse_buffer, 1>("reuse_buffer"),
    method<set_hint, 2>("set_hint"),
    method<get_hints, 1>("get_hints"),
    method<alias, 2>("alias"),
    method<tape_counters, 0>("tape_counters"),
    method<routes, 1>("routes"),
    method<as_elements, 2>("as_elements"),
    method<set_num_threads, 1>("set_num_threads"),
    method<num_threads, 0>("num_threads"),
    method<isa, 0>("isa"),
    method<cann_status, 0>("cann_status"),
    kEnd,
};

}  // namespace asc::python
