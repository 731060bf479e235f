#include "runtime/stream.h"

#include <unistd.h>

#include <system_error>

namespace asc {

Stream::~Stream() {
    {
        std::lock_guard lock(mutex_);
        ends_ = true;
    }
    if (thread_.joinable() && process_ == getpid()) {
        wake_.notify_all();
        thread_.join();
    } else if (thread_.joinable()) {
        new (&thread_) std::thread;  // of the parent process; nothing to join here
    }
    tape_->finish();
    Tape::give_back(tape_);
}

void Stream::submit() {
    {
        std::lock_guard lock(mutex_);
        if (process_ != getpid()) {
            if (thread_.joinable()) new (&thread_) std::thread;
            try {
                thread_ = std::thread([this] { work(); });
                process_ = getpid();
            } catch (const std::system_error&) {
                return;  // whoever needs a result runs the work
            }
        }
        submitted_ = true;
    }
    wake_.notify_one();
}

void Stream::work() {
    for (;;) {
        {
            std::unique_lock lock(mutex_);
            wake_.wait(lock, [this] { return submitted_ || ends_; });
            if (ends_) return;
            submitted_ = false;
        }
        tape_->finish();
    }
}

}  // namespace asc
