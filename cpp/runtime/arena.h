// Arena: a stretch of memory from which a thread's pieces come while it is entered.
//
// Lock rule: one mutex guards all arenas; no other lock is taken while it is held.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "runtime/heap.h"

namespace asc {

// Entered by one thread at a time, which leaves it at the latest when it ends. What does not fit
// comes from the arena that the thread entered before, else from the pool. The memory comes from
// the pool on enter and goes back there when the arena is left and no piece of it is in use any
// more, in whatever order.
class Arena : public std::enable_shared_from_this<Arena> {
  public:
    explicit Arena(int64_t size) : size_(size) {}
    // Throws Error(Runtime) while it is entered already, Error(Memory) where there is not enough.
    void enter();
    // Throws Error(Runtime) but in the thread that has entered it.
    void leave();

    struct Stats {
        int64_t size, used, peak;  // bytes; pieces with their headers
        int64_t served, outgrown;  // pieces that came from it, and that did not fit
    };
    Stats stats() const;

    // While it lives, this thread's pieces come from the pool: for what outlives the arena's work.
    class Outside {
      public:
        Outside() : entered_(std::exchange(innermost_, nullptr)) {}
        ~Outside() { innermost_ = entered_; }
        Outside(const Outside&) = delete;
        Outside& operator=(const Outside&) = delete;

      private:
        Arena* entered_;
    };

    // ---- for the pool
    // Whether this thread has entered an arena.
    static bool entered() { return innermost_; }
    // Whether any arena has memory.
    static bool exists() { return number_.load(std::memory_order_relaxed) > 0; }
    // A piece of an arena that this thread has entered, or null where it fits none.
    static void* take(int64_t nbytes);
    // Gives back a piece of whichever arena it is from; false where it is from none.
    static bool give(void* piece);
    static void install_fork_handlers();  // once

  private:
    struct ThreadEnd;
    // Gives the memory back where nothing needs it; the lock is held and let go of.
    void settle(std::unique_lock<std::mutex> lock);

    [[gnu::tls_model("initial-exec")]] static constinit thread_local Arena* innermost_;
    static std::atomic<int> number_;

    const int64_t size_;
    std::byte* memory_ = nullptr;
    Heap heap_;  // over the memory
    Arena* outer_ = nullptr;
    bool entered_ = false;  // by some thread
    int64_t pieces_ = 0, used_ = 0, peak_ = 0, served_ = 0, outgrown_ = 0;
};

}  // namespace asc
