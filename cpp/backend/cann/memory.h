// Memory of a device and the host memory beside it. Everything here is used by the holder of a
// Turn.
//
// What is given back may be taken again at once: the stream runs earlier work before later work.
// Only what leaves the stream's order (memory returned to CANN, host memory that is written next)
// waits for it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "backend/cann/stream.h"
#include "core/storage.h"
#include "runtime/pool.h"

namespace asc::cann {

struct Chunk;
struct Smaller {
    bool operator()(const Chunk* a, const Chunk* b) const;
};
using FreeChunks = std::set<Chunk*, Smaller>;

// A stretch of a segment, in use or free.
struct Chunk {
    std::byte* data;
    int64_t size;
    bool used = false;
    Chunk* before = nullptr;  // neighbours in the segment
    Chunk* after = nullptr;
    // Where it lies among the free ones, while it does not: giving it back needs no memory.
    FreeChunks::node_type place;

    bool whole() const { return !before && !after; }
};

inline bool Smaller::operator()(const Chunk* a, const Chunk* b) const {
    return a->size != b->size ? a->size < b->size : a->data < b->data;
}

class Pool {
  public:
    explicit Pool(Stream& stream) : stream_(stream) {}
    // Null where there is not enough.
    Chunk* take(int64_t nbytes);
    void give(Chunk* chunk) noexcept;
    // Returns segments that are free as a whole, until no more than `most` bytes are held.
    void shrink(int64_t most);
    void free_cached() { shrink(0); }
    int64_t held() const { return stats_.used + stats_.cached; }
    void set_limit(int64_t nbytes) { limit_ = nbytes; }
    int64_t limit() const { return limit_; }
    pool::Stats stats() const;

  private:
    Chunk* reuse(int64_t size, bool any);
    Chunk* grow(int64_t segment);
    void split(Chunk* chunk, int64_t size);
    // To and from the free ones.
    void put(Chunk* chunk) noexcept;
    Chunk* pull(FreeChunks::iterator at) noexcept;
    // Takes the chunk behind into this one; both are free and in no list.
    static void absorb(Chunk* chunk, Chunk* behind);

    Stream& stream_;
    FreeChunks free_;
    int64_t limit_ = 0;
    pool::Stats stats_{};
};

// Page-locked host memory, between which and the device copies run in the stream's order.
class Staging {
  public:
    explicit Staging(Stream& stream) : stream_(stream) {}
    struct Buffer {
        std::byte* data = nullptr;
        int64_t size = 0;
        std::shared_ptr<const void> owner;  // of memory that is not CANN's
    };
    // At least nbytes; no queued copy uses it.
    Buffer take(int64_t nbytes);
    // The memory of somebody who does not write to it, to read it; without data where CANN does not
    // take it, or copying is as good.
    Buffer lend(const Ref<Block>& memory, int64_t offset, int64_t nbytes);
    // Queued copies may still use it.
    void give(Buffer buffer) noexcept;
    int64_t used() const { return used_; }
    void free_cached();

  private:
    struct Returned {
        Buffer buffer;
        std::shared_ptr<Mark> mark;
    };
    void collect();

    Stream& stream_;
    std::deque<Returned> returned_;
    std::vector<Buffer> stranded_;  // on a lost stream, whose copies may never end
    std::multimap<int64_t, std::byte*> free_;
    int64_t used_ = 0, cached_ = 0;
};

// Gives a buffer back at the end of a scope.
class Returning {
  public:
    Returning(Staging& staging, Staging::Buffer buffer) : staging_(staging), buffer_(buffer) {}
    ~Returning() { staging_.give(buffer_); }
    Returning(const Returning&) = delete;
    Returning& operator=(const Returning&) = delete;

  private:
    Staging& staging_;
    Staging::Buffer buffer_;
};

// Memory that an array can have: on the device, and as long as the bytes are known there, on the
// host. Bytes that come from the host stay there until the device is asked for them.
struct Piece {
    Chunk* chunk = nullptr;
    int64_t nbytes = 0;
    bool on_device = false;  // the device's bytes are the last written ones
    Staging::Buffer mirror;  // the last written bytes, if any
};

}  // namespace asc::cann
