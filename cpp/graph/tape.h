// Tape: recorded operations in program order, run together later. Each thread has one of its own,
// and each stream.
//
// Rules. A tape's mutex guards its members, and no two of them are held at once. One thread at a
// time runs a tape: the one that set `running_`; it does so without the mutex and without the
// interpreter's lock, so that owners of Python memory that entries drop are queued. What touches a
// storage that entries of another tape write or read is recorded behind a point of that tape.
// Such points lie in the past, so that tapes never wait for each other in a circle, and a run finds
// all storages ready: inside it nothing is finished or waited for.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "backend/backend.h"
#include "core/array.h"
#include "graph/ops.h"
#include "graph/precision.h"
#include "graph/program.h"
#include "graph/reduction.h"
#include "runtime/interrupt.h"

namespace asc {

// What becomes of operations: run at the call, or recorded where that pays, or always.
enum class Deferral : uint8_t { Off, Auto, Always };
extern const Deferral deferral_in_force;  // read once, at load
inline Deferral deferral() { return deferral_in_force; }
bool fusion_enabled();

class CapturedPlans;
class Tape;

// A point of a tape: it is done when everything recorded before it has run.
class Event {
  public:
    explicit Event(Tape* tape) : tape_(tape) {}
    // What it stands behind has run, on accelerators too.
    bool done() const;
    // Runs or waits for what the event stands behind.
    void wait();
    Tape& tape() const { return *tape_; }
    // From an earlier event to this one, both done: by the accelerator that took longest, if any.
    double milliseconds_since(const Event& earlier) const;

  private:
    friend class Tape;
    // Everything before it has run here, or was handed to accelerators.
    bool reached() const { return reached_.load(std::memory_order_acquire); }
    void reach();

    Tape* tape_;
    std::chrono::steady_clock::time_point time_;           // of the host; fixed when reached
    std::vector<std::unique_ptr<DeviceEvent>> elsewhere_;  // of accelerators; fixed when reached
    std::atomic<bool> reached_{false};
};

// Computes a new array of the layout that was promised for it; runs without the interpreter's lock.
using LibraryFn = std::function<Array(const Array* inputs)>;

struct Entry {
    enum class Kind : uint8_t {
        Elementwise,  // output = op(inputs)
        Copy,         // output = input 0, broadcast and converted
        Reduction,    // output = input 0 reduced along `axes`
        Scan,         // output = running sums or products of input 0 along axes[0]
        Product,      // output = input 0 @ input 1, stacks of matrices
        Library,      // output = library(inputs)
    };
    Kind kind = Kind::Elementwise;
    const char* function = "";          // that recorded it, for messages
    const std::string* line = nullptr;  // of the program that called it, if that is traced
    uint64_t flow = 0;                  // its number in the profiler, if that was on
    Op op = Op::Positive;
    DType compute = DType::Float64;            // of the kernel of op
    Precision precision = Precision::Default;  // of a product
    uint8_t arity = 1;
    bool constant[3] = {};  // operand k is constants[k], in its register's dtype
    Array inputs[3];
    Constant constants[3];
    // A view of a storage, new or old; a promise where the entry is not elementwise.
    Array output;
    ReduceSpec reduction;
    ScanSpec scan;
    Dims axes;
    LibraryFn library;
    bool done = false;  // it has run, or nobody can see its result
};

using Failure = std::shared_ptr<const Error>;

// Entries that run together, and the event behind them at most one of which is set.
struct Segment {
    std::vector<Entry> entries;
    int64_t held = 0;                // bytes of finished arrays that entries keep alive
    uint64_t steps = 0;              // entries, and one more for an event
    std::shared_ptr<Event> reaches;  // done when the entries are
    std::shared_ptr<Event> awaits;   // what comes next runs after it
    bool closed() const { return reaches || awaits; }
};

// What only the bindings know about the caller of an operation.
struct Caller {
    Tape* tape = nullptr;  // of the stream that is current there; null: the thread's own
    const std::string* line = nullptr;  // of the program, if that is traced
};
// Asked whenever an entry is recorded, from now on.
void set_caller_hook(Caller (*hook)());

// This thread is about to fork, and Python has taken no locks for it yet. with_lock: until nothing
// is left to do that would let go of the interpreter's lock.
void settle_before_fork(bool with_lock) noexcept;

class Tape : public Pending {
  public:
    // Once, after all other handlers of fork: tapes run before the pool and the workers stop.
    static void install();
    // The tape on which this thread records: of the stream that it uses, or its own.
    static Tape& current();
    // This thread's own.
    static Tape& own();
    // A tape for a stream, until it is given back.
    static Tape* lend();
    static void give_back(Tape* tape);

    void record(Entry entry);
    // An event at this point of the tape.
    std::shared_ptr<Event> mark();
    // What is recorded from now on runs after the event.
    void await(std::shared_ptr<Event> event);
    // Runs what is recorded so far, or waits while another thread does.
    void finish() override;
    // The same where no other thread runs the tape, and this one is not inside of a run.
    void try_finish();
    // Throws the first error of entries that ran since the last call.
    void raise_error();
    // The same for all tapes.
    static void raise_any_error();
    // Runs what is recorded up to an event of this tape, or waits while another thread does.
    void finish_until(const Event& event);
    // Lets another thread run what is recorded so far; false if there is none.
    bool submit();
    // Nothing is recorded or running.
    bool idle() const;
    // Calls f with each stretch of entries that have not run, while nobody runs them.
    void inspect(const std::function<void(std::span<Entry>)>& f);
    // Every tape that was ever made.
    static std::vector<Tape*> all();
    // Of the tapes of this process, from 1.
    uint16_t number() const { return number_; }

    struct Counters {
        int64_t entries, dead, groups, programs;  // recorded; never needed; run; made
        int64_t replays;                          // lists of entries that ran by a plan
    };
    static Counters counters();

  private:
    friend struct ForkGuard;
    explicit Tape(size_t number);
    // Whether the recorded entries are more than `times` as many, or keep more alive, as may wait.
    bool crowded(int times) const;
    Segment& open_segment();
    bool push(Entry entry);
    void close(std::shared_ptr<Event> Segment::* kind, std::shared_ptr<Event> event);
    // What the entry touches elsewhere comes before it; throws the error of an input that failed.
    void order(const Entry& entry);
    // What `other` has recorded, at least up to a position, comes before what this one records
    // next.
    void order_after(Tape& other, uint64_t position);

    void finish(Waiting::Signals signals);
    // Runs segments, or waits while another thread does, until done(), which is asked under the
    // mutex. False if it was time to look at signals before.
    template <class F>
    bool advance(F done);
    // The same to the end, looking at signals in between.
    template <class F>
    void complete(Waiting& waiting, F done);
    // Takes so many of the first entries of a segment.
    static Segment split(Segment& segment, size_t count);
    // Makes the oldest segment the running one; false if there is none.
    bool next_segment();
    // Runs it; false if it was time to look at signals before its end.
    bool run_segment();
    void release(std::vector<Entry>& entries);
    void run_submitted();
    void note(Failure error);
    Failure take_error(uint64_t& time);

    const uint16_t number_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;  // a segment has been taken or has run
    std::deque<Segment> segments_;
    size_t waiting_entries_ = 0;  // in segments_
    int64_t waiting_bytes_ = 0;
    uint64_t position_ = 0;   // steps that were recorded ever
    uint64_t completed_ = 0;  // steps that have run
    uint64_t submitted_ = 0;  // steps that a runner shall run
    bool with_runner_ = false;
    std::unordered_map<Tape*, uint64_t> ordered_;  // positions of others that come before the next
    Failure error_;                                // the first since it was last raised
    uint64_t error_time_ = 0;                      // later errors, of any tape, have higher ones
    bool running_ = false;
    std::optional<Segment> running_segment_;      // its thread's alone
    const std::unique_ptr<CapturedPlans> plans_;  // its thread's alone
    std::vector<Entry> spare_;                    // memory for the next segment
};

}  // namespace asc
