#include "runtime/pool.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

#include "core/error.h"

namespace asc::pool {
namespace {

// Small pieces have a class for each 64 bytes and are kept in thread caches, at most
// kThreadPieces of each class. Larger ones have four classes to each power of two, so that at most
// 25 % is padding; their sizes leave room for the header of a Block beside a power of two.
constexpr int64_t kSmallest = 64;
constexpr int64_t kThreadLimit = 4096;
constexpr int kThreadClasses = kThreadLimit / kSmallest;
constexpr int kThreadPieces = 32;
constexpr int kClasses = kThreadClasses + 4 * 40;
// Large pieces are page aligned in address, so that the kernel can back them by huge pages.
constexpr int64_t kHugePage = int64_t{2} << 20;

int class_of(int64_t nbytes) {
    if (nbytes <= kThreadLimit)
        return nbytes <= kSmallest ? 0 : static_cast<int>((nbytes - 1) / kSmallest);
    uint64_t n = static_cast<uint64_t>(std::max(nbytes - kSmallest, kThreadLimit + 1));
    int exponent = std::bit_width(n - 1);  // 2**(exponent - 1) < n <= 2**exponent
    uint64_t half = uint64_t{1} << (exponent - 1), quarter = half / 4;
    return kThreadClasses + 4 * (exponent - 13) +
           static_cast<int>((n - half + quarter - 1) / quarter) - 1;
}
int64_t class_bytes(int index) {
    if (index < kThreadClasses) return (index + 1) * kSmallest;
    int64_t half = kThreadLimit << ((index - kThreadClasses) / 4);
    return half + half / 4 * ((index - kThreadClasses) % 4 + 1) + kSmallest;
}

struct FreePiece {
    FreePiece* next;
};

// Counted by one thread, read by all: plain loads and stores, no locked instruction.
class Counter {
  public:
    void add(int64_t n) {
        value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
    }
    int64_t get() const { return value_.load(std::memory_order_relaxed); }

  private:
    std::atomic<int64_t> value_{0};
};

struct Counters {
    Counter used, cached, allocations, reused;
};

struct ThreadCache;

struct Pool {
    std::mutex mutex;  // guards all that follows but `peak`
    FreePiece* lists[kClasses] = {};
    std::vector<ThreadCache*> caches;  // of all threads, and those that wait for one
    std::vector<ThreadCache*> idle;    // of threads that have ended
    std::atomic<int64_t> peak{0};
    bool enabled = true;
    int64_t cache_limit = memory_limit() / 4;

    Pool() {
        const char* setting = std::getenv("ASCEND_ARRAY_API_POOL");
        enabled = !setting || std::strcmp(setting, "off") != 0;
    }
};

// Never destroyed: arrays may outlive every static destructor.
Pool& pool() {
    static Pool& instance = []() -> Pool& {
        Pool& made = *new Pool;
        // A forked child must not inherit a mutex that some other thread holds.
        pthread_atfork([] { pool().mutex.lock(); }, [] { pool().mutex.unlock(); },
                       [] { pool().mutex.unlock(); });
        return made;
    }();
    return instance;
}

struct ThreadCache {
    FreePiece* lists[kThreadClasses] = {};
    int counts[kThreadClasses] = {};
    Counters counters;
    int64_t unchecked = 0;  // bytes taken since the peak was last looked at
};

// Lends a cache to a thread; what it holds goes to the shared lists when the thread ends.
struct ThreadCacheOwner {
    ThreadCache* cache;

    ThreadCacheOwner() {
        Pool& shared = pool();
        std::lock_guard lock(shared.mutex);
        if (shared.idle.empty()) {
            cache = shared.caches.emplace_back(new ThreadCache);
        } else {
            cache = shared.idle.back();
            shared.idle.pop_back();
        }
    }
    ~ThreadCacheOwner() {
        Pool& shared = pool();
        std::lock_guard lock(shared.mutex);
        shared.idle.push_back(cache);
        for (int i = 0; i < kThreadClasses; ++i) {
            while (FreePiece* piece = cache->lists[i]) {
                cache->lists[i] = piece->next;
                piece->next = shared.lists[i];
                shared.lists[i] = piece;
            }
            cache->counts[i] = 0;
        }
    }
};

// A plain pointer needs no guard on each access, as the owner does.
[[gnu::tls_model("initial-exec")]] constinit thread_local ThreadCache* current_cache = nullptr;

[[gnu::cold, gnu::noinline]] ThreadCache& first_use() {
    thread_local ThreadCacheOwner owner;
    current_cache = owner.cache;
    return *owner.cache;
}

ThreadCache& thread_cache() { return current_cache ? *current_cache : first_use(); }

int64_t total(Counter Counters::* member) {
    Pool& shared = pool();
    int64_t sum = 0;
    for (const ThreadCache* cache : shared.caches) sum += (cache->counters.*member).get();
    return sum;
}

void* from_system(int64_t size, ThreadCache& cache) {
    void* p = nullptr;
    size_t alignment = size >= kHugePage ? static_cast<size_t>(kHugePage) : 64;
    if (posix_memalign(&p, alignment, static_cast<size_t>(size)) != 0) return nullptr;
    if (size >= kHugePage) madvise(p, static_cast<size_t>(size), MADV_HUGEPAGE);
    cache.counters.allocations.add(1);
    return p;
}

// The peak is looked at once for this many bytes that a thread takes.
constexpr int64_t kPeakStep = 1 << 16;

void look_at_peak(ThreadCache& cache) {
    cache.unchecked = 0;
    Pool& shared = pool();
    std::lock_guard lock(shared.mutex);
    int64_t used = total(&Counters::used);
    if (used > shared.peak.load(std::memory_order_relaxed))
        shared.peak.store(used, std::memory_order_relaxed);
}

[[noreturn]] void out_of_memory(int64_t nbytes) {
    Stats now = stats();
    raise(ErrorKind::Memory, "cannot allocate %lld bytes: %lld are in use and %lld cached of %lld",
          static_cast<long long>(nbytes), static_cast<long long>(now.used),
          static_cast<long long>(now.cached), static_cast<long long>(memory_limit()));
}

// A cached piece of this class, or null.
FreePiece* take_cached(ThreadCache& cache, int index) {
    if (index < kThreadClasses && cache.lists[index]) {
        FreePiece* piece = cache.lists[index];
        cache.lists[index] = piece->next;
        --cache.counts[index];
        return piece;
    }
    Pool& shared = pool();
    std::lock_guard lock(shared.mutex);
    FreePiece* piece = shared.lists[index];
    if (piece) shared.lists[index] = piece->next;
    return piece;
}

}  // namespace

int64_t memory_limit() {
    static const int64_t limit = [] {
        int64_t bytes = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
        for (const char* path :
             {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
            std::ifstream file(path);
            int64_t value = 0;
            if (file >> value && value > 0) bytes = std::min(bytes, value);
        }
        return bytes;
    }();
    return limit;
}

bool enabled() { return pool().enabled; }

void* allocate(int64_t nbytes) {
    if (nbytes > kThreadLimit && nbytes > memory_limit()) out_of_memory(nbytes);
    ThreadCache& cache = thread_cache();
    int index = class_of(nbytes);
    int64_t size = class_bytes(index);
    cache.counters.used.add(size);
    if ((cache.unchecked += size) >= kPeakStep) look_at_peak(cache);
    if (pool().enabled) {
        if (FreePiece* piece = take_cached(cache, index)) {
            cache.counters.cached.add(-size);
            cache.counters.reused.add(1);
            return piece;
        }
    }
    void* p = from_system(size, cache);
    if (!p) {
        free_cached();
        p = from_system(size, cache);
    }
    if (!p) {
        cache.counters.used.add(-size);
        out_of_memory(nbytes);
    }
    return p;
}

void free(void* p, int64_t nbytes) {
    Pool& shared = pool();
    ThreadCache& cache = thread_cache();
    int index = class_of(nbytes);
    int64_t size = class_bytes(index);
    cache.counters.used.add(-size);
    if (!shared.enabled) return std::free(p);
    auto* piece = static_cast<FreePiece*>(p);
    if (index < kThreadClasses && cache.counts[index] < kThreadPieces) {
        cache.counters.cached.add(size);
        piece->next = cache.lists[index];
        cache.lists[index] = piece;
        ++cache.counts[index];
        return;
    }
    std::lock_guard lock(shared.mutex);
    if (total(&Counters::cached) + size > shared.cache_limit) return std::free(p);
    cache.counters.cached.add(size);
    piece->next = shared.lists[index];
    shared.lists[index] = piece;
}

void free_cached() {
    Pool& shared = pool();
    ThreadCache& cache = thread_cache();
    std::lock_guard lock(shared.mutex);
    for (int i = 0; i < kClasses; ++i) {
        while (FreePiece* piece = shared.lists[i]) {
            shared.lists[i] = piece->next;
            cache.counters.cached.add(-class_bytes(i));
            std::free(piece);
        }
    }
}

Stats stats() {
    Pool& shared = pool();
    look_at_peak(thread_cache());
    std::lock_guard lock(shared.mutex);
    return {total(&Counters::used), total(&Counters::cached), shared.peak.load(),
            total(&Counters::allocations), total(&Counters::reused)};
}

}  // namespace asc::pool
