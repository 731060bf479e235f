#include "runtime/stream.h"

#include <unistd.h>

#include <system_error>

namespace asc {

Stream::~Stream() {
    if (process_ == getpid()) {
        {
            std::lock_guard lock(mutex_);
            ends_ = true;
        }
        wake_.notify_all();
        thread_.join();
    } else if (process_ != 0) {
        new (&thread_) std::thread;  // of the parent process: nothing to join here
    }
    tape_->finish();
    Tape::give_back(tape_);
}

void Stream::submit() {
    // In a forked child the stream's thread, which may hold the lock, does not exist.
    if (process_ != 0 && process_ != getpid()) {
        new (&mutex_) std::mutex;
        new (&wake_) std::condition_variable;
        new (&thread_) std::thread;
        process_ = 0;
    }
    {
        std::lock_guard lock(mutex_);
        if (process_ != getpid()) {
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
