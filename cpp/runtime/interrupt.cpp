#include "runtime/interrupt.h"

#include <unistd.h>

#include <utility>

namespace asc {
namespace {

// Often enough that nobody notices, and rarely enough that looking costs nothing.
constexpr std::chrono::milliseconds kPatience{50};

InterpreterHooks hooks = {[]() -> void* { return nullptr; },
                          [](void*) {},
                          [] {},
                          [] { return false; },
                          [] { return false; },
                          [] { return false; }};

thread_local Waiting* waiting_here = nullptr;
thread_local bool abandonable_here = false;
thread_local bool keeps_lock = false;

// Python handles signals in its main thread alone.
bool main_thread() { return gettid() == getpid(); }

}  // namespace

void set_interpreter_hooks(InterpreterHooks new_hooks) { hooks = new_hooks; }

Waiting::Waiting(Signals signals, const std::atomic<bool>* stop)
    : outer_(std::exchange(waiting_here, this)),
      handles_(signals == Signals::Handled),
      stop_(stop),
      state_(keeps_lock ? nullptr : hooks.release()) {}

Waiting::~Waiting() {
    waiting_here = outer_;
    hooks.take(state_);
    if (handles_ && state_) hooks.catch_up();
}

bool Waiting::overdue(Time last) const {
    return handles_ && std::chrono::steady_clock::now() - last >= kPatience && main_thread();
}

void Waiting::check() {
    if (stopped()) throw Interrupted{};
    if (!handles_ || !main_thread()) return;
    handled_ = std::chrono::steady_clock::now();
    if (hooks.handle_signals()) throw Interrupted{};
}

bool Waiting::in_vain() { return hooks.ended(); }

Waiting::WithLock::WithLock() { keeps_lock = true; }
Waiting::WithLock::~WithLock() { keeps_lock = false; }

bool Waiting::due() {
    return waiting_here &&
           (waiting_here->stopped() || waiting_here->overdue(waiting_here->handled_));
}

bool Waiting::wanted() {
    Waiting* here = waiting_here;
    if (!here || !abandonable_here) return false;
    if (here->stopped()) return true;
    if (!here->overdue(here->asked_)) return false;
    here->asked_ = std::chrono::steady_clock::now();
    return hooks.interrupted();
}

Abandonable::Abandonable(bool abandonable) : outer_(std::exchange(abandonable_here, abandonable)) {}
Abandonable::~Abandonable() { abandonable_here = outer_; }

}  // namespace asc
