// Streams and events; runtime.py makes their public classes of these.
#include <nanobind/nanobind.h>

#include "graph/tape.h"
#include "python/bind.h"
#include "python/streams.h"
#include "runtime/stream.h"

namespace nb = nanobind;

namespace asc::python {
namespace {

struct EventHandle {
    std::shared_ptr<Event> event;  // null before it is recorded
};

Tape& tape_of(Stream* stream) { return stream ? stream->tape() : Tape::current(); }

// What is recorded from now on in this thread goes to the stream, or to the thread's own tape.
void use_stream(Stream* stream) { Tape::use(stream ? &stream->tape() : nullptr); }

double milliseconds(const EventHandle& first, const EventHandle& last) {
    auto span = last.event->time() - first.event->time();
    return std::chrono::duration<double, std::milli>(span).count();
}

}  // namespace

void define_streams(nb::module_& m) {
    nb::class_<Stream>(m, "StreamHandle")
        .def(nb::init<>())
        .def("submit", &Stream::submit)
        .def("finish", [](Stream& s) { s.tape().finish(); })
        .def("idle", [](Stream& s) {
            if (s.tape().idle()) return true;
            s.submit();  // so that asking again and again comes to an end
            return false;
        });
    nb::class_<EventHandle>(m, "EventHandle")
        .def(nb::init<>())
        .def(
            "record",
            [](EventHandle& e, Stream* stream) {
                e.event = tape_of(stream).mark();
                if (stream) stream->submit();
            },
            nb::arg("stream").none())
        .def("done",
             [](EventHandle& e) {
                 auto event = e.event;
                 // Nobody else runs what this thread has recorded for itself.
                 if (event && !event->done() && event->on(Tape::current())) event->wait();
                 return !event || event->done();
             })
        .def("recorded", [](EventHandle& e) { return e.event != nullptr; })
        .def("wait",
             [](EventHandle& e) {
                 if (auto event = e.event) event->wait();
             })
        .def(
            "hold",
            [](EventHandle& e, Stream* stream) {
                if (e.event && !e.event->done()) tape_of(stream).await(e.event);
            },
            nb::arg("stream").none())
        .def("milliseconds_to", &milliseconds);
    m.def("use_stream", &use_stream, nb::arg("stream").none());
    m.def("finish_current", [] { Tape::current().finish(); });
    // A thread's own tape has nobody else to run it.
    m.def("current_idle", [] {
        Tape::current().finish();
        return Tape::current().idle();
    });
}

}  // namespace asc::python
