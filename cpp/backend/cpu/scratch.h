// Scratch memory for jobs that are spread over the worker threads.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>

#include "backend/cpu/kernels/table.h"
#include "runtime/interrupt.h"
#include "runtime/pool.h"
#include "runtime/workers.h"

namespace asc::cpu {

// A piece of the pool, freed at the end of the scope.
class Buffer {
  public:
    explicit Buffer(int64_t bytes) : data_(pool::allocate(bytes)), bytes_(bytes) {}
    ~Buffer() { pool::free(data_, bytes_); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    void* data() const { return data_; }

  private:
    void* data_;
    int64_t bytes_;
};

// Equal pieces of scratch that threads borrow for a while, as many as there may be threads.
class Shelf {
  public:
    Shelf(int64_t count, int64_t bytes)
        : count_(count),
          bytes_((bytes + 63) / 64 * 64),
          taken_(std::make_unique<std::atomic_flag[]>(static_cast<size_t>(count))),
          buffer_(count * bytes_) {}

  private:
    friend class Loan;
    int64_t count_, bytes_;
    std::unique_ptr<std::atomic_flag[]> taken_;
    Buffer buffer_;
};
// A piece of a Shelf, waited for if need be, given back at the end of the scope.
class Loan {
  public:
    explicit Loan(Shelf& shelf) : shelf_(shelf) {
        while (shelf_.taken_[index()].test_and_set(std::memory_order_acquire))
            number_ = (number_ + 1) % shelf_.count_;
    }
    ~Loan() { shelf_.taken_[index()].clear(std::memory_order_release); }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    void* data() const {
        return static_cast<char*>(shelf_.buffer_.data()) + number_ * shelf_.bytes_;
    }

  private:
    size_t index() const { return static_cast<size_t>(number_); }
    Shelf& shelf_;
    int64_t number_ = 0;
};

// Runs body(i) for i in [0, tasks) on the worker threads.
template <class F>
void run_each(const Parallel& par, int64_t tasks, F body) {
    auto task = [](void* ctx, int64_t i) { (*static_cast<F*>(ctx))(i); };
    (tasks == 1 || par.threads <= 1 ? workers::run_alone : par.run)(tasks, task, &body);
}

// Tasks that each use scratch: one piece for each thread at work, allocated before they start.
class Slots {
  public:
    Slots(const Parallel& par, int64_t tasks, int64_t bytes)
        : par_(par),
          tasks_(tasks),
          count_(std::max<int64_t>(1, std::min<int64_t>(par.threads, tasks))),
          bytes_((bytes + 63) / 64 * 64),
          buffer_(count_ * bytes_) {}

    // Runs body(task, scratch) for every task.
    template <class F>
    void spread(F body) const {
        std::atomic<int64_t> next{0};
        const bool outermost = !workers::in_task();
        bool stopped = false;  // by the caller, who alone is told to stop
        run_each(par_, count_, [&](int64_t slot) {
            void* scratch = static_cast<char*>(buffer_.data()) + slot * bytes_;
            for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < tasks_;) {
                body(i, scratch);
                if (!outermost || !Waiting::wanted()) continue;
                stopped = true;
                next.store(tasks_, std::memory_order_relaxed);
            }
        });
        if (stopped) throw Interrupted{};
    }

  private:
    const Parallel& par_;
    int64_t tasks_, count_, bytes_;
    Buffer buffer_;
};

}  // namespace asc::cpu
