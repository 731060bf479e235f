// Segments: memory from the system, in pieces that are reused.
//
// Larger pieces are chunks of segments (Heap): up to a mebibyte they share segments, beyond it each
// segment is made for the piece that needs it, so that small pieces never hold large segments back.
// What is free is kept up to a share of the machine's memory; beyond it the segments that were free
// for longest go first. Where the limit or the system has not enough for a piece they go as well,
// and then free pages between pieces: all that can be held against it is what is in use, with the
// pages in which a piece begins or ends.
//
// Lock rule: one mutex guards the heaps; no other lock is taken while it is held.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "runtime/heap.h"

namespace asc {

class Segments {
  public:
    // Of all pieces, in bytes.
    static constexpr int64_t kAlignment = 64;

    // A piece of a segment; null where the system or the limit has not enough.
    void* take(int64_t nbytes);
    void give(void* p, int64_t nbytes);
    // A piece that is no part of a segment, of a size that apart_bytes has returned.
    static int64_t apart_bytes(int64_t nbytes);
    void* take_apart(int64_t size);
    void give_apart(void* p, int64_t size);
    // Gives whole pages that are free back to the system.
    void free_cached();

    int64_t held() const { return held_.load(std::memory_order_relaxed); }  // from the system
    int64_t allocations() const { return allocations_.load(std::memory_order_relaxed); }
    struct Free {
        int64_t bytes, chunks;
    };
    Free free_memory() const;
    // What may be held; 0 (the start) for no limit. Free memory beyond it goes back at once.
    void set_limit(int64_t bytes);
    int64_t limit() const { return limit_.load(std::memory_order_relaxed); }
    // Around fork.
    std::mutex& mutex() { return mutex_; }

    // The memory that this process may use: the machine's or its control group's.
    static int64_t machine_memory();
    // Free memory is kept up to this.
    static int64_t most_cached() { return machine_memory() / 4; }

  private:
    bool reserve(int64_t size);
    void unreserve(int64_t size) { held_.fetch_sub(size, std::memory_order_relaxed); }
    void* allocate(int64_t size);
    std::byte* map(int64_t size);
    bool unmap(std::span<std::byte> pages);
    int64_t segment_bytes(int64_t nbytes) const;
    bool grow(Heap& heap, int64_t nbytes);
    bool make_room(int64_t size);
    void shrink(int64_t goal);
    void trim(Heap& heap, int64_t kept);
    int64_t free_bytes() const { return medium_.free_bytes() + large_.free_bytes(); }
    Heap& heap_of(int64_t nbytes);

    mutable std::mutex mutex_;
    Heap medium_, large_;
    std::atomic<int64_t> held_{0};
    std::atomic<int64_t> allocations_{0};
    std::atomic<int64_t> limit_{0};
};

}  // namespace asc
