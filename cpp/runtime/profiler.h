// Profiler: what threads did and when. Each thread writes events of fixed size into a ring of its
// own, which overwrites its oldest events; off, a place that could write one costs a relaxed load.
//
// Lock rule: a ring's mutex is taken by its thread for each event, and by who reads it; nothing
// else is locked or called meanwhile.
#pragma once
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace asc::profiler {

enum class Kind : uint8_t {
    Call,    // a function of the library ran on the calling thread
    Record,  // an operation was put on a tape
    Fuse,    // recorded operations became groups
    Wait,    // a thread waited for recorded work, or ran it while it waited
    Work,    // a group of recorded operations ran
    Queue,   // work was handed to an accelerator
    Begin,   // of a recorded operation, inside of the Work that came last: ends its flow
    Memory,  // a block of memory came (written > 0) or went (read > 0)
};

// Where time goes.
enum class Category : uint8_t { Host, Compute, Copy, Wait, Fallback };

struct Event {
    int64_t begin = 0, end = 0;         // nanoseconds of the steady clock
    const std::string* name = nullptr;  // interned
    const std::string* line = nullptr;  // of the program, as "file:line", where it is known
    uint64_t flow = 0;                  // Record, Begin: the number of the recorded operation
    int64_t elements = 0;               // of the index space; Memory: bytes in use afterwards
    int64_t read = 0, written = 0;      // bytes of arrays
    int64_t operations = 0;             // floating-point ones of matrix products
    uint16_t stream = 0;                // the number of the tape, 0 for what ran at the call
    uint8_t device = 0;
    Kind kind = Kind::Call;
    Category category = Category::Host;
    uint8_t precision = 0;  // that was asked for, as graph/precision.h numbers it
};
static_assert(sizeof(Event) <= 80);

inline std::atomic<bool> is_on{false};
inline bool on() { return is_on.load(std::memory_order_relaxed); }

int64_t now();
// The one string with this text, which lives as long as the process.
const std::string* intern(std::string_view text);
// Appends an event to the ring of this thread, if the profiler is on.
void write(const Event& event);
// Appends an event to the ring of its device, which no thread did.
void write_of_device(const Event& event);
// A number for the next recorded operation.
uint64_t next_flow();
// Counts memory that came (bytes > 0) or went, and writes an event.
void count_memory(int64_t bytes, int device);
// Rows of threads other than Python's have this name.
void name_thread(const char* name);
// The number of the tape that this thread runs.
inline thread_local uint16_t running_stream = 0;

// Writes an event from its construction to its end, if the profiler is on at both.
class Span {
  public:
    Span(Kind kind, Category category, const char* name, const std::string* line = nullptr) {
        if (on()) start(kind, category, name, line);
    }
    ~Span() {
        if (event_.begin) finish();
    }
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;
    // It says something only where this is true.
    explicit operator bool() const { return event_.begin != 0; }
    Event* operator->() { return &event_; }
    Event& operator*() { return event_; }

  private:
    void start(Kind kind, Category category, const char* name, const std::string* line);
    void finish();
    Event event_;
};

// A span of work that a thread does for a device.
class WorkSpan : public Span {
  public:
    WorkSpan(Category category, const char* name, int device) : Span(Kind::Work, category, name) {
        if (!*this) return;
        (*this)->device = static_cast<uint8_t>(device);
        (*this)->stream = running_stream;
    }
};

// Switches events on, for one more user; each thread keeps at most `capacity` of them. `memory`:
// bytes that are in use on each device. Returns the time.
int64_t start(size_t capacity, std::span<const int64_t> memory);

struct Thread {
    int64_t number;             // of the system; below 0 for a device
    std::string name;           // "main", "runner", "thread", or "device"
    std::vector<Event> events;  // in the order of their ends
    int64_t lost = 0;           // that were overwritten
};
// Ends one use that started at a time; returns what was written since.
std::vector<Thread> stop(int64_t since);

void install_fork_handlers();  // once; a forked child is not profiled

}  // namespace asc::profiler
