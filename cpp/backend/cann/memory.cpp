#include "backend/cann/memory.h"

#include <algorithm>
#include <functional>
#include <mutex>
#include <utility>

#include "backend/cann/errors.h"
#include "backend/cann/loader.h"

namespace asc::cann {
namespace {

// Where chunks begin, and what CANN wants behind the bytes of each.
constexpr int64_t kAlignment = 512, kPadding = 32;
constexpr int64_t kSegment = int64_t{2} << 20;
// Segments are shared by chunks up to this size.
constexpr int64_t kSmall = int64_t{1} << 20;
// A larger segment that is free as a whole is cut for a piece of this share of it or more.
constexpr int64_t kMostShares = 8;
// Free page-locked memory that is kept.
constexpr int64_t kMostCachedStaging = int64_t{256} << 20;
constexpr int64_t kStagingUnit = 4096;
// From here on page-locking memory where it lies costs less than copying it.
constexpr int64_t kWorthLending = int64_t{1} << 20;

constexpr int64_t round_up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

class Registered;

// Memory of others that CANN has page-locked. To lock a byte twice would be an error.
struct Locked {
    std::mutex mutex;
    std::map<const std::byte*, std::pair<int64_t, std::weak_ptr<const Registered>>> ranges;

    // By the mutex.
    bool meets(const std::byte* data, int64_t size) const {
        const auto behind = ranges.lower_bound(data + size);
        if (behind == ranges.begin()) return false;
        const auto& [begin, range] = *std::prev(behind);
        return begin + range.first > data;
    }
};
Locked& locked = *new Locked;

class Registered {
  public:
    // By the mutex, once CANN has it.
    Registered(Ref<Block> memory, std::byte* data) : memory_(std::move(memory)), data_(data) {}
    ~Registered() {
        const std::lock_guard lock(locked.mutex);
        locked.ranges.erase(data_);
        acl().aclrtHostUnregister(data_);
    }
    Registered(const Registered&) = delete;
    Registered& operator=(const Registered&) = delete;

  private:
    const Ref<Block> memory_;
    std::byte* const data_;
};

std::unique_ptr<Chunk> new_chunk(std::byte* data, int64_t size) {
    std::unique_ptr<Chunk> chunk(new Chunk{.data = data, .size = size, .place = {}});
    FreeChunks alone{chunk.get()};
    chunk->place = alone.extract(alone.begin());
    return chunk;
}

}  // namespace

Chunk* Pool::take(int64_t nbytes) {
    const int64_t size = round_up(nbytes + kPadding, kAlignment);
    const int64_t segment = size <= kSmall ? kSegment : size;
    Chunk* chunk = reuse(size, false);
    if (!chunk) chunk = grow(segment);
    if (!chunk) {
        free_cached();
        chunk = grow(segment);
    }
    if (!chunk) chunk = reuse(size, true);
    if (!chunk && segment > size) chunk = grow(size);
    if (!chunk) return nullptr;
    try {
        split(chunk, size);
    } catch (const std::bad_alloc&) {
        put(chunk);
        throw;
    }
    chunk->used = true;
    stats_.used += chunk->size;
    stats_.peak = std::max(stats_.peak, stats_.used);
    return chunk;
}

// The smallest free chunk that is long enough; unless `any`, only where the piece and it suit each
// other: no part of a segment can be given back, so few and small pieces must not hold large ones.
Chunk* Pool::reuse(int64_t size, bool any) {
    Chunk wanted{.data = nullptr, .size = size, .place = {}};
    const auto found = free_.lower_bound(&wanted);
    if (found == free_.end()) return nullptr;
    Chunk* chunk = *found;
    const int64_t most = size <= kSmall   ? kSegment
                         : chunk->whole() ? size * kMostShares
                                          : chunk->size;
    if (!any && chunk->size > most) return nullptr;
    ++stats_.reused;
    return pull(found);
}

void Pool::put(Chunk* chunk) noexcept {
    stats_.cached += chunk->size;
    free_.insert(std::move(chunk->place));
}

Chunk* Pool::pull(FreeChunks::iterator at) noexcept {
    Chunk* chunk = *at;
    chunk->place = free_.extract(at);
    stats_.cached -= chunk->size;
    return chunk;
}

// A new segment; null where the limit or CANN has not enough.
Chunk* Pool::grow(int64_t segment) {
    if (limit_ != 0 && held() + segment > limit_) return nullptr;
    std::unique_ptr<Chunk> chunk = new_chunk(nullptr, segment);
    void* memory = nullptr;
    const int code =
        acl().aclrtMalloc(&memory, static_cast<size_t>(segment), ACL_MEM_MALLOC_HUGE_FIRST);
    if (is_out_of_memory(code)) return nullptr;
    check("aclrtMalloc", code);
    ++stats_.allocations;
    chunk->data = static_cast<std::byte*>(memory);
    return chunk.release();
}

void Pool::split(Chunk* chunk, int64_t size) {
    // A remainder that nothing fits in stays with the chunk; so does that of a large segment.
    if (chunk->size - size < (size > kSmall ? kSmall : kAlignment)) return;
    Chunk* rest = new_chunk(chunk->data + size, chunk->size - size).release();
    rest->before = chunk;
    rest->after = chunk->after;
    if (rest->after) rest->after->before = rest;
    chunk->after = rest;
    chunk->size = size;
    put(rest);
}

void Pool::absorb(Chunk* chunk, Chunk* behind) {
    chunk->size += behind->size;
    chunk->after = behind->after;
    if (chunk->after) chunk->after->before = chunk;
    delete behind;
}

void Pool::give(Chunk* chunk) noexcept {
    chunk->used = false;
    stats_.used -= chunk->size;
    if (Chunk* behind = chunk->after; behind && !behind->used) {
        pull(free_.find(behind));
        absorb(chunk, behind);
    }
    if (Chunk* front = chunk->before; front && !front->used) {
        pull(free_.find(front));
        absorb(front, chunk);
        chunk = front;
    }
    put(chunk);
    if (pool::enabled()) return;
    try {
        free_cached();
    } catch (const Error&) {
        // The next call that waits reports it.
    }
}

void Pool::shrink(int64_t most) {
    if (held() <= most) return;
    if (std::none_of(free_.begin(), free_.end(), std::mem_fn(&Chunk::whole))) return;
    stream_.wait();  // aclrtFree does not
    for (auto at = free_.begin(); at != free_.end() && held() > most;) {
        const auto next = std::next(at);
        if ((*at)->whole()) {
            const std::unique_ptr<Chunk> chunk(pull(at));
            check("aclrtFree", acl().aclrtFree(chunk->data));
        }
        at = next;
    }
}

pool::Stats Pool::stats() const {
    pool::Stats stats = stats_;
    stats.free_blocks = static_cast<int64_t>(free_.size());
    return stats;
}

// ---- host memory

void Staging::collect() {
    while (!returned_.empty() && (!returned_.front().mark || returned_.front().mark->reached())) {
        const Buffer buffer = std::move(returned_.front().buffer);
        returned_.pop_front();
        if (buffer.owner) continue;
        free_.emplace(buffer.size, buffer.data);
        cached_ += buffer.size;
    }
    while (cached_ > kMostCachedStaging) {
        auto largest = std::prev(free_.end());
        cached_ -= largest->first;
        check("aclrtFreeHost", acl().aclrtFreeHost(largest->second));
        free_.erase(largest);
    }
}

Staging::Buffer Staging::take(int64_t nbytes) {
    collect();
    Buffer buffer{nullptr, round_up(std::max<int64_t>(nbytes, 1), kStagingUnit), nullptr};
    auto found = free_.lower_bound(buffer.size);
    if (found != free_.end() && found->first <= 2 * buffer.size) {
        buffer = {found->second, found->first, nullptr};
        cached_ -= buffer.size;
        free_.erase(found);
    } else {
        void* memory = nullptr;
        check("aclrtMallocHost", acl().aclrtMallocHost(&memory, static_cast<size_t>(buffer.size)));
        buffer.data = static_cast<std::byte*>(memory);
    }
    used_ += buffer.size;
    return buffer;
}

Staging::Buffer Staging::lend(const Ref<Block>& memory, int64_t offset, int64_t nbytes) {
    if (nbytes < kWorthLending || !acl().aclrtHostRegister || !acl().aclrtHostUnregister) return {};
    collect();
    std::byte* const data = memory->data() + offset;
    const std::lock_guard lock(locked.mutex);
    std::shared_ptr<const Registered> owner;
    if (const auto found = locked.ranges.find(data); found != locked.ranges.end()) {
        if (found->second.first == nbytes) owner = found->second.second.lock();
    }
    if (!owner) {
        void* on_device = nullptr;
        if (locked.meets(data, nbytes)) return {};
        if (acl().aclrtHostRegister(data, static_cast<uint64_t>(nbytes), ACL_HOST_REGISTER_MAPPED,
                                    &on_device) != 0) {
            acl().aclGetRecentErrMsg();  // or it would belong to the next error
            return {};
        }
        owner = std::make_shared<const Registered>(memory, data);
        locked.ranges[data] = {nbytes, owner};
    }
    used_ += nbytes;
    return {data, nbytes, std::move(owner)};
}

void Staging::give(Buffer buffer) noexcept {
    used_ -= buffer.size;
    std::shared_ptr<Mark> mark;
    try {
        mark = stream_.mark();
    } catch (const std::exception&) {
        try {
            stream_.wait();
        } catch (const std::exception&) {
            stranded_.push_back(std::move(buffer));
            return;
        }
    }
    returned_.push_back({std::move(buffer), std::move(mark)});
}

void Staging::free_cached() {
    collect();
    for (const auto& [size, data] : free_) check("aclrtFreeHost", acl().aclrtFreeHost(data));
    free_.clear();
    cached_ = 0;
}

}  // namespace asc::cann
