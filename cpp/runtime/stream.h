// Stream: a tape with a thread of its own, so that independent work runs side by side.
#pragma once
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "graph/tape.h"

namespace asc {

class Stream {
  public:
    Stream() : tape_(Tape::lend()) {}
    // Finishes what is recorded.
    ~Stream();
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    Tape& tape() { return *tape_; }
    // Lets the stream's thread run what is recorded so far; does not wait.
    void submit();

  private:
    void work();

    Tape* tape_;
    std::mutex mutex_;  // guards the rest
    std::condition_variable wake_;
    std::thread thread_;           // started by the first submit
    std::atomic<int> process_{0};  // in which it was started: threads do not survive a fork
    bool submitted_ = false, ends_ = false;
};

}  // namespace asc
