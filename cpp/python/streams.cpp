// Streams and events, of which _streams.py makes the public classes; and who records.
#include <nanobind/nanobind.h>

#include <atomic>
#include <string>

#include "backend/backend.h"
#include "graph/tape.h"
#include "python/bind.h"
#include "python/state.h"
#include "python/streams.h"
#include "runtime/profiler.h"
#include "runtime/runners.h"

namespace nb = nanobind;

namespace asc::python {
namespace {

class Stream {
  public:
    Stream() : tape_(Tape::lend()), lent_(true) {}
    // That of a thread.
    explicit Stream(Tape& tape) : tape_(&tape) {}
    // What is recorded still runs.
    ~Stream() {
        if (!lent_) return;
        tape_->submit();
        Tape::give_back(tape_);
    }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    Tape& tape() const { return *tape_; }

  private:
    Tape* tape_;
    bool lent_ = false;
};

// ---- the caller

std::atomic<bool> caller_watched{false};
std::atomic<bool> lines_traced{false};
thread_local Caller noted;

// The tape of the stream in whose `with` block the caller, a thread or a coroutine, is.
Tape* entered_tape() {
    PyObject* entered = nullptr;
    if (PyContextVar_Get(state().stream_variable, Py_None, &entered) < 0) throw PythonError{};
    // The context keeps the stream alive.
    Object held = Object::steal(entered);
    if (entered == Py_None) return nullptr;
    return &nb::inst_ptr<Stream>(PyTuple_GET_ITEM(entered, 0))->tape();
}

Caller caller() {
    if (PyGILState_Check()) {
        const bool wanted = lines_traced.load(std::memory_order_relaxed) || profiler::on();
        noted = {entered_tape(), wanted ? running_line() : nullptr};
    }
    return noted;
}

struct EventHandle {
    std::shared_ptr<Event> event;  // null before it is recorded
};

// Whether all has run; what has not runs soon, so that asking again and again comes to an end.
bool submit_and_ask(Tape& tape) {
    if (tape.idle()) return true;
    if (!tape.submit()) tape.finish();
    return tape.idle();
}

double milliseconds(const EventHandle& first, const EventHandle& last) {
    return last.event->milliseconds_since(*first.event);
}

}  // namespace

const std::string* running_line() {
    auto own = [](auto* o) { return o ? Object::steal(reinterpret_cast<PyObject*>(o)) : Object(); };
    PyFrameObject* running = PyEval_GetFrame();
    Py_XINCREF(running);
    for (Object frame = own(running); frame;) {
        auto* f = reinterpret_cast<PyFrameObject*>(frame.get());
        PyCodeObject* code = PyFrame_GetCode(f);
        const Object held = own(code);
        if (PyUnicode_Tailmatch(code->co_filename, state().package, 0, PY_SSIZE_T_MAX, -1) > 0) {
            frame = own(PyFrame_GetBack(f));
            continue;
        }
        const char* file = PyUnicode_AsUTF8(code->co_filename);
        if (!file) break;
        return profiler::intern(file + (":" + std::to_string(PyFrame_GetLineNumber(f))));
    }
    PyErr_Clear();
    return nullptr;
}

void note_caller() {
    if (caller_watched) caller();
}

void define_streams(nb::module_& m) {
    nb::class_<Stream>(m, "StreamHandle")
        .def(nb::init<>())
        .def("submit", [](Stream& s) { s.tape().submit(); })
        .def("finish",
             [](Stream& s) {
                 s.tape().finish();
                 // Accelerators may not have done yet what the tape gave them.
                 if (devices::accelerators) s.tape().mark()->wait();
                 s.tape().raise_error();
             })
        .def("idle", [](Stream& s) { return submit_and_ask(s.tape()); });
    nb::class_<EventHandle>(m, "EventHandle")
        .def(nb::init<>())
        .def("record",
             [](EventHandle& e, Stream& stream) {
                 e.event = stream.tape().mark();
                 stream.tape().submit();
             })
        .def("done",
             [](EventHandle& e) {
                 if (e.event) submit_and_ask(e.event->tape());
                 return !e.event || e.event->done();
             })
        .def("recorded", [](EventHandle& e) { return e.event != nullptr; })
        .def("wait",
             [](EventHandle& e) {
                 if (auto event = e.event) event->wait();
             })
        .def("hold",
             [](EventHandle& e, Stream& stream) {
                 if (e.event) stream.tape().await(e.event);
             })
        .def("milliseconds_to", &milliseconds);
    m.def("own_stream", [] { return new Stream(Tape::own()); });
    m.def("register_stream_variable",
          [](nb::handle variable) { state().stream_variable = Py_NewRef(variable.ptr()); });
    m.def("watch_caller", [] {
        caller_watched = true;
        set_caller_hook(caller);
    });
    m.def("register_package", [](nb::str package) { state().package = package.release().ptr(); });
    m.def("trace_lines", [] { lines_traced = true; });
    m.def("stop_runners", [] {
        nb::gil_scoped_release released;
        runners::stop();
    });
}

}  // namespace asc::python
