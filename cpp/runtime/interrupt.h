// Interrupts: how Ctrl-C and the end of the process reach threads that run recorded work.
//
// Such a thread looks at signals between groups, where everything recorded is consistent, and
// inside a group only where its results can be thrown away and computed again.
#pragma once
#include <atomic>
#include <chrono>

namespace asc {

// Thrown where work stops before its end. What is left can be taken up again.
struct Interrupted {};

// What the bindings do for a thread without the interpreter's lock.
struct InterpreterHooks {
    // Lets go of the lock; null where the thread does not hold it.
    void* (*release)();
    void (*take)(void* state);
    // With the lock again: does what had to wait for it.
    void (*catch_up)();
    // Runs handlers of signals; true if one of them raised.
    bool (*handle_signals)();
    // Ctrl-C was pressed and its handler has not run.
    bool (*interrupted)();
    // The interpreter has ended, or is about to: no other thread gets its lock.
    bool (*ended)();
};
void set_interpreter_hooks(InterpreterHooks hooks);

// A stretch in which this thread runs, or waits for, recorded work, without the interpreter's lock.
class Waiting {
  public:
    enum class Signals : uint8_t { Handled, Ignored };
    // `stop`: work of this thread ends early once it is set.
    explicit Waiting(Signals signals = Signals::Handled, const std::atomic<bool>* stop = nullptr);
    ~Waiting();
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

    // Lets handlers of signals run; throws Interrupted if one of them raised, or on stop.
    void check();

    // No other thread comes by the interpreter's lock any more.
    static bool in_vain();
    // What this thread runs in its scope, it runs with the interpreter's lock.
    class WithLock {
      public:
        WithLock();
        ~WithLock();
        WithLock(const WithLock&) = delete;
        WithLock& operator=(const WithLock&) = delete;
    };

    // Signals were not looked at for a while: time to stop between two groups.
    static bool due();
    // The Abandonable work of this thread shall stop; may be asked often.
    static bool wanted();

  private:
    bool stopped() const { return stop_ && stop_->load(std::memory_order_relaxed); }
    using Time = std::chrono::steady_clock::time_point;
    // The thread handles signals and has not looked at them since `last` for a while.
    bool overdue(Time last) const;

    Waiting* outer_;
    bool handles_;
    const std::atomic<bool>* stop_;
    Time handled_ = std::chrono::steady_clock::now();  // when handlers ran last
    Time asked_ = handled_;                            // when `wanted` looked last
    void* state_;
};

// Work inside may stop half done: nobody can see what it writes.
class Abandonable {
  public:
    explicit Abandonable(bool abandonable);
    ~Abandonable();
    Abandonable(const Abandonable&) = delete;
    Abandonable& operator=(const Abandonable&) = delete;

  private:
    bool outer_;
};

}  // namespace asc
