// The profiler: what calls of the library's functions write, and what profiler.py reads.
#include "runtime/profiler.h"

#include <unordered_map>

#include "backend/backend.h"
#include "backend/device_span.h"
#include "graph/observe.h"
#include "python/bind.h"
#include "python/streams.h"

namespace asc::python {
namespace {

// In the order of profiler::Kind and profiler::Category.
constexpr const char* kKinds[] = {"call", "record", "fuse",  "wait",
                                  "work", "queue",  "begin", "memory"};
constexpr const char* kPrecisions[] = {"default", "mixed", "high"};
constexpr const char* kCategories[] = {"host", "compute", "copy", "wait", "fallback"};

struct Row {
    const char* name;
    profiler::Category category;
};
std::unordered_map<PyCFunction, Row>& rows() {
    static auto& rows = *new std::unordered_map<PyCFunction, Row>;
    return rows;
}

// Calls f with every array among the objects, and in lists and tuples among them.
template <class F>
void for_each_array(PyObject* const* objects, Py_ssize_t count, F&& f) {
    for (Py_ssize_t i = 0; i < count; ++i) {
        PyObject* o = objects[i];
        if (!o) continue;
        if (is_array(o)) {
            f(array_of(o));
        } else if (PyTuple_Check(o) || PyList_Check(o)) {
            for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(o); ++k) {
                PyObject* item = PySequence_Fast_GET_ITEM(o, k);
                if (is_array(item)) f(array_of(item));
            }
        }
    }
}

Object text_of(const std::string* text) {
    if (!text) return Object::borrow(Py_None);
    return Object::steal(
        PyUnicode_DecodeUTF8(text->data(), static_cast<Py_ssize_t>(text->size()), "replace"));
}

PyObject* event_tuple(const profiler::Event& e) {
    Object name = text_of(e.name), line = text_of(e.line);
    return Py_BuildValue("(ssOOLLiiKLLLLs)", kKinds[static_cast<int>(e.kind)],
                         kCategories[static_cast<int>(e.category)], name.get(), line.get(), e.begin,
                         e.end, int{e.stream}, int{e.device}, e.flow, e.elements, e.read, e.written,
                         e.operations, kPrecisions[e.precision]);
}

// Runs everything recorded; its errors are kept for who reads the results.
PyObject* finish_all(PyObject* const*) {
    Pending::finish_all();
    return Py_NewRef(Py_None);
}

PyObject* profiler_start(PyObject* const* args) {
    const int64_t capacity = to_int(args[0], "Profiler", "capacity");
    if (capacity < 1) raise(ErrorKind::Value, "Profiler: capacity must be at least 1");
    std::vector<int64_t> memory;
    for (int i = 0; i < devices::count; ++i)
        memory.push_back(devices::list[i]->memory_stats().used);
    return PyLong_FromLongLong(profiler::start(static_cast<size_t>(capacity), memory));
}

PyObject* profiler_stop(PyObject* const* args) {
    {
        const Unlocked unlocked(INT64_MAX);
        write_device_work();
    }
    Object threads = Object::steal(PyList_New(0));
    for (const profiler::Thread& thread : profiler::stop(to_int(args[0], "Profiler", "since"))) {
        Object events = Object::steal(PyList_New(0));
        for (const profiler::Event& e : thread.events) {
            Object event = Object::steal(event_tuple(e));
            if (PyList_Append(events.get(), event.get()) < 0) throw PythonError{};
        }
        Object row = Object::steal(
            Py_BuildValue("(LsLO)", thread.number, thread.name.c_str(), thread.lost, events.get()));
        if (PyList_Append(threads.get(), row.get()) < 0) throw PythonError{};
    }
    return threads.release();
}

}  // namespace

void register_calls(const PyMethodDef* table, profiler::Category category) {
    for (; table->ml_name; ++table) rows()[table->ml_meth] = {table->ml_name, category};
}

CallSpan::CallSpan(const char* name, profiler::Category category, PyObject* const* args, int count,
                   Target target)
    : span_(profiler::Kind::Call, profiler::Category::Host, name, running_line()),
      category_(category),
      args_(args),
      count_(count),
      target_(target) {
    if (span_) span_->precision = static_cast<uint8_t>(precision());
}

CallSpan::CallSpan(PyCFunction function, PyObject* const* args, int count)
    : CallSpan(rows()[function].name, rows()[function].category, args, count, Target::New) {}

PyObject* CallSpan::end(PyObject* result) {
    if (!span_ || !result) return result;
    const bool in_place = target_ != Target::New;
    // Where the result is pending the call recorded it; where it shares the memory of an argument
    // the call made a view.
    bool computed = false;
    const auto add = [&](const Array& out) {
        bool fresh = !out.storage->writer();
        for_each_array(args_, in_place ? 0 : count_,
                       [&](const Array& x) { fresh &= x.storage != out.storage; });
        if (!fresh) return;
        computed = true;
        if (target_ == Target::Part) return;
        span_->device = static_cast<uint8_t>(index(out.device()));
        span_->elements += out.size();
        span_->written += view_bytes(out);
    };
    for_each_array(in_place ? args_ : &result, 1, add);
    if (!computed) return result;
    span_->category = category_;
    if (target_ == Target::Part) return result;
    for_each_array(args_, count_, [&](const Array& x) { span_->read += view_bytes(x); });
    return result;
}

PyMethodDef profiler_methods[] = {
    method<finish_all, 0>("finish_all"),
    method<profiler_start, 1>("profiler_start"),
    method<profiler_stop, 1>("profiler_stop"),
    kEnd,
};

}  // namespace asc::python
