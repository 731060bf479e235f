// Contexts, streams, events, and the scheduler that runs their work as late as it legally can.
#pragma once
#include <deque>
#include <functional>
#include <map>
#include <memory>

#include "memory.h"

namespace cann_double {

// For each stream the number of its last task that is known to be over.
using Clock = std::map<uint64_t, uint64_t>;

// One recording of an event.
struct Record {
    uint64_t stream = 0, sequence = 0;
    Clock clock = {};  // what is over once the record is
    bool done = false;
    int error = kOk;
    uint64_t time = 0;  // nanoseconds
};

struct Task {
    std::string name;
    std::vector<Touch> touches;
    std::function<int()> run;
    std::shared_ptr<Record> after = nullptr;  // not before this is done
};

struct Context {
    int device;
    bool primary;
    uint64_t default_stream = 0;
};

struct Stream {
    uint64_t id = 0;
    uint64_t context = 0;
    int device = 0;
    std::deque<Task> queue;
    uint64_t issued = 0, done = 0;
    int error = kOk;  // of work that failed; stays
    bool stop_on_failure = false;
    Clock clock;
};

struct Event {
    uint64_t context;
    uint32_t flags;
    bool rerecordable;
    std::shared_ptr<Record> record;
    std::shared_ptr<Record> last_wait;  // the newest wait for it
};

Table<Context>& contexts();
Table<Stream>& streams();
Table<Event>& events();

// The context of this thread, or null, failing with kNoContext.
Context* current_context();
uint64_t current_context_id();
void set_current_context(const void* handle);
const void* current_context_handle();

// The stream of the current context behind the handle; null means its default stream. Null and a
// code where it is none.
Stream* stream_of(aclrtStream handle, int& code);
void* create_stream(const void* context);
void destroy_context(const void* handle);

// Adds work at the end of the stream, looking for accesses that nothing orders.
int enqueue(Stream& stream, Task task);
// Runs the stream up to that task, and what it waits for.
void run_until(Stream& stream, uint64_t sequence);
// The same, and the host knows that it is over; returns the error of the stream.
int synchronize(Stream& stream);
// The host learns that the record is done.
void learn(const Record& record);
// Runs a few tasks that could run now.
void make_progress();

// An access by the host itself, now: all conflicting work must be known to be over.
int host_access(const std::vector<Touch>& touches);

int device_error(int device);  // kOk, or the code with which the device was lost
void lose_device(int device, int code);
void revive_device(int device);
uint64_t now();

}  // namespace cann_double
