// Tape: recorded operations of one thread, in program order, run together later.
//
// Rules. A storage is written by entries of one tape at a time: recording or running anything that
// touches it elsewhere runs that tape first. So the entries of a tape depend on nothing that has
// not run but on earlier entries of the same tape. `mutex_` guards the list; `running_` is held
// while entries run, and is taken first. Entries hold Python-owned memory alive, so they are
// destroyed after both are released.
#pragma once
#include <mutex>
#include <vector>

#include "core/array.h"
#include "graph/ops.h"
#include "graph/program.h"

namespace asc {

// What becomes of operations: run at the call, or recorded where that pays, or always.
enum class Deferral : uint8_t { Off, Auto, Always };
Deferral deferral();
bool fusion_enabled();

// An elementwise operation, or a copy with conversion; its output is a view of a storage, new
// or old.
struct Entry {
    bool copies = false;  // output = input 0, broadcast and converted
    Op op = Op::Positive;
    DType compute = DType::Float64;  // of the kernel
    uint8_t arity = 1;
    bool constant[3] = {};  // operand k is constants[k], in its register's dtype
    Array inputs[3];
    Constant constants[3];
    Array output;
};

class Tape : public Pending {
  public:
    // Once, after all other handlers of fork: tapes run before the pool and the workers stop.
    static void install();
    // The tape of this thread.
    static Tape& current();

    void record(Entry entry);
    void finish() override;
    bool empty() const;

    struct Counters {
        int64_t entries, dead, groups, programs;  // recorded; never needed; run; made
    };
    static Counters counters();

  private:
    std::mutex running_;
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
