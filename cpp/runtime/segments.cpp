#include "runtime/segments.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <fstream>

namespace asc {
namespace {

// Pieces with and without company in their segments.
constexpr int64_t kMedium = int64_t{1} << 20;
constexpr int64_t kMediumSegment = int64_t{8} << 20;
// Room beside a larger piece, at most.
constexpr int64_t kRoom = int64_t{8} << 20;
constexpr int64_t kHugePage = int64_t{2} << 20;
// Pieces apart from this size on are mapped: C's allocator would keep what is freed of them, for
// each thread apart. Smaller ones are its own, and under the address sanitizer all are.
#if defined(__has_feature)
#define ASC_HAS_ASAN __has_feature(address_sanitizer)
#elif defined(__SANITIZE_ADDRESS__)
#define ASC_HAS_ASAN 1
#else
#define ASC_HAS_ASAN 0
#endif
#if ASC_HAS_ASAN
constexpr int64_t kMapped = INT64_MAX;
#else
constexpr int64_t kMapped = int64_t{128} << 10;
#endif

int64_t page_bytes() {
    static const int64_t bytes = sysconf(_SC_PAGESIZE);
    return bytes;
}
int64_t round_up(int64_t n, int64_t step) { return (n + step - 1) / step * step; }
// Of a segment with one piece.
int64_t least_bytes(int64_t nbytes) { return round_up(Heap::chunk_bytes(nbytes), page_bytes()); }

// Null where the system has not enough.
std::byte* map_anywhere(int64_t size) {
    void* p = mmap(nullptr, static_cast<size_t>(size), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? nullptr : static_cast<std::byte*>(p);
}
// From a multiple of kHugePage.
std::byte* map_aligned(int64_t size) {
    std::byte* start = map_anywhere(size + kHugePage);
    if (!start) return nullptr;
    const auto place = reinterpret_cast<intptr_t>(start);
    const int64_t skipped = round_up(place, kHugePage) - place;
    if (skipped > 0) munmap(start, static_cast<size_t>(skipped));
    start += skipped;
    if (skipped < kHugePage) munmap(start + size, static_cast<size_t>(kHugePage - skipped));
    return start;
}

}  // namespace

Heap& Segments::heap_of(int64_t nbytes) { return nbytes <= kMedium ? medium_ : large_; }

// Counts bytes as held where the limit allows.
bool Segments::reserve(int64_t size) {
    const int64_t most = limit();
    const int64_t held = held_.fetch_add(size, std::memory_order_relaxed) + size;
    if (most == 0 || held <= most) return true;
    unreserve(size);
    return false;
}

int64_t Segments::apart_bytes(int64_t nbytes) {
    return round_up(std::max<int64_t>(nbytes, 1), nbytes < kMapped ? kAlignment : page_bytes());
}
void* Segments::take_apart(int64_t size) {
    void* p = allocate(size);
    if (p) return p;
    std::lock_guard lock(mutex_);
    return make_room(size) ? allocate(size) : nullptr;
}
void* Segments::allocate(int64_t size) {
    if (size >= kMapped) return map(size);
    if (!reserve(size)) return nullptr;
    void* p = std::aligned_alloc(kAlignment, static_cast<size_t>(size));
    if (p) {
        allocations_.fetch_add(1, std::memory_order_relaxed);
    } else {
        unreserve(size);
    }
    return p;
}
void Segments::give_apart(void* p, int64_t size) {
    if (size >= kMapped) {
        unmap({static_cast<std::byte*>(p), static_cast<size_t>(size)});
        return;
    }
    std::free(p);
    unreserve(size);
}

// Whole pages; large ones lie, where there is room to choose, so that the system can back them by
// huge pages.
std::byte* Segments::map(int64_t size) {
    if (!reserve(size)) return nullptr;
    const bool large = size >= kHugePage;
    std::byte* start = large ? map_aligned(size) : nullptr;
    if (!start) start = map_anywhere(size);
    if (!start) {
        unreserve(size);
        return nullptr;
    }
    if (large) madvise(start, static_cast<size_t>(size), MADV_HUGEPAGE);
    allocations_.fetch_add(1, std::memory_order_relaxed);
    return start;
}

bool Segments::unmap(std::span<std::byte> pages) {
    if (munmap(pages.data(), pages.size()) != 0) return false;
    unreserve(static_cast<int64_t>(pages.size()));
    return true;
}

// Unmaps segments that are free, the oldest first, while more than `kept` bytes are.
void Segments::trim(Heap& heap, int64_t kept) {
    while (heap.free_bytes() > kept) {
        std::span<std::byte> segment = heap.remove_oldest();
        if (segment.empty()) return;
        if (unmap(segment)) continue;
        return heap.add(segment.data(), static_cast<int64_t>(segment.size()));
    }
}

// Sizes with room for others like it: up to an eighth more, as far as the limit allows.
int64_t Segments::segment_bytes(int64_t nbytes) const {
    const int64_t least = least_bytes(nbytes);
    int64_t eighth = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(least))) / 8;
    int64_t size = nbytes <= kMedium ? kMediumSegment : round_up(least, std::min(eighth, kRoom));
    if (limit() == 0) return size;
    int64_t left = (limit() - held()) / page_bytes() * page_bytes();
    return std::clamp(left, least, size);
}

// Adds a segment for a piece.
bool Segments::grow(Heap& heap, int64_t nbytes) {
    const int64_t least = least_bytes(nbytes);
    int64_t size = segment_bytes(nbytes);
    std::byte* segment = map(size);
    if (!segment && size > least) segment = map(size = least);  // room is no reason to fail
    if (!segment) return false;
    heap.add(segment, size);
    return true;
}

// Gives as much back as a segment, which was refused, needs: the oldest that are free as a whole,
// then pages between pieces. Where the limit leaves no room for it in any case all stays.
bool Segments::make_room(int64_t size) {
    const int64_t most = limit(), before = held();
    const bool limited = most != 0 && before + size > most;
    const int64_t goal = limited ? most - size : before - size - kHugePage;
    if (limited && before - free_bytes() > goal) return false;
    shrink(goal);
    return held() < before;
}

// Gives free memory back until no more than `goal` bytes are held, as far as there is some.
void Segments::shrink(int64_t goal) {
    for (Heap* heap : {&medium_, &large_}) trim(*heap, heap->free_bytes() - (held() - goal));
    for (Heap* heap : {&large_, &medium_}) {
        heap->remove_pages(page_bytes(), held() - goal,
                           [this](auto pages) { return unmap(pages); });
    }
}

void Segments::set_limit(int64_t bytes) {
    limit_.store(bytes, std::memory_order_relaxed);
    std::lock_guard lock(mutex_);
    if (bytes != 0) shrink(bytes);
}

void* Segments::take(int64_t nbytes) {
    std::lock_guard lock(mutex_);
    Heap& heap = heap_of(nbytes);
    if (void* piece = heap.take(nbytes)) return piece;
    if (grow(heap, nbytes) || (make_room(least_bytes(nbytes)) && grow(heap, nbytes)))
        return heap.take(nbytes);
    return nullptr;
}

void Segments::give(void* p, int64_t nbytes) {
    std::lock_guard lock(mutex_);
    Heap& heap = heap_of(nbytes);
    heap.give(p);
    trim(heap, most_cached() - (free_bytes() - heap.free_bytes()));
}

void Segments::free_cached() {
    std::lock_guard lock(mutex_);
    for (Heap* heap : {&medium_, &large_}) {
        heap->remove_pages(page_bytes(), heap->free_bytes(),
                           [this](auto pages) { return unmap(pages); });
    }
}

Segments::Free Segments::free_memory() const {
    std::lock_guard lock(mutex_);
    return {free_bytes(), medium_.free_chunks() + large_.free_chunks()};
}

int64_t Segments::machine_memory() {
    static const int64_t memory = [] {
        int64_t bytes = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
        for (const char* path :
             {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
            std::ifstream file(path);
            int64_t value = 0;
            if (file >> value && value > 0) bytes = std::min(bytes, value);
        }
        return bytes;
    }();
    return memory;
}

}  // namespace asc
