// Tape: recorded operations of one thread, in program order, run together later.
//
// Rules. A storage is written by entries of one tape at a time: recording or running anything that
// touches it elsewhere runs that tape first. So the entries of a tape depend on nothing that has
// not run but on earlier entries of the same tape. `mutex_` guards the list; `running_` is held
// while entries run, and is taken first. Entries hold Python-owned memory alive, so they are
// destroyed after both are released.
#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/array.h"
#include "graph/ops.h"
#include "graph/program.h"
#include "graph/reduction.h"

namespace asc {

// What becomes of operations: run at the call, or recorded where that pays, or always.
enum class Deferral : uint8_t { Off, Auto, Always };
extern const Deferral deferral_in_force;  // read once, at load
inline Deferral deferral() { return deferral_in_force; }
bool fusion_enabled();

class Tape;

// A point of a tape: it is done when everything recorded before it has run.
class Event {
  public:
    explicit Event(Tape* tape) : tape_(tape) {}
    bool done() const { return done_.load(std::memory_order_acquire); }
    // Runs or waits for what the event stands behind.
    void wait();
    bool on(const Tape& tape) const { return tape_ == &tape; }
    // The time at which it was done, from any fixed start.
    std::chrono::steady_clock::time_point time() const { return time_; }
    // For the tape, when it gets there.
    void reach() {
        time_ = std::chrono::steady_clock::now();
        done_.store(true, std::memory_order_release);
    }

  private:
    Tape* tape_;
    std::chrono::steady_clock::time_point time_;  // read only when done
    std::atomic<bool> done_{false};
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
        Marker,       // of an event, without output
    };
    Kind kind = Kind::Elementwise;
    Op op = Op::Positive;
    DType compute = DType::Float64;  // of the kernel of op
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
    std::shared_ptr<Event> reaches;  // a marker: this event is done here
    std::shared_ptr<Event> awaits;   // a marker: what follows runs after this event
};

class Tape : public Pending {
  public:
    // Once, after all other handlers of fork: tapes run before the pool and the workers stop.
    static void install();
    // The tape on which this thread records: of the stream that it uses, or its own.
    static Tape& current();
    // Makes `tape` the current one of this thread (null: its own); returns the one before.
    static Tape* use(Tape* tape);
    // A tape for a stream, until it is given back with nothing recorded.
    static Tape* lend();
    static void give_back(Tape* tape);

    void record(Entry entry);
    // An event at this point of the tape.
    std::shared_ptr<Event> mark();
    // What is recorded from now on runs after the event.
    void await(std::shared_ptr<Event> event);
    void finish() override;
    // The same where no other thread runs the tape, and this one is not inside of a run.
    void try_finish();
    // Runs what was recorded up to an event of this tape, or waits while another thread does.
    void finish_until(const Event& event);
    // Nothing is recorded or running.
    bool idle() const;

    struct Counters {
        int64_t entries, dead, groups, programs;  // recorded; never needed; run; made
    };
    static Counters counters();

  private:
    friend struct ForkGuard;
    // The tape that must run before the entry can be recorded, or null; throws the error of work
    // that failed.
    Pending* blocking(const Entry& entry) const;
    // Entries not of this list read the storage.
    bool read_elsewhere(const Storage& storage) const;
    // Takes and runs the first `count` entries; `running_` is held.
    std::vector<Entry> run_first(size_t count);
    void run(std::span<Entry> entries);
    mutable std::mutex running_;
    mutable std::mutex mutex_;
    std::vector<Entry> entries_;
    int64_t held_bytes_ = 0;  // of finished arrays that entries keep alive
};

// Called around waiting for another thread, to let go of the interpreter's lock.
struct WaitHooks {
    void* (*before)();
    void (*after)(void* state);
};
void set_wait_hooks(WaitHooks hooks);

}  // namespace asc
