#include "runtime/pool.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

#include "core/error.h"
#include "runtime/arena.h"
#include "runtime/segments.h"

namespace asc::pool {
namespace {

// Small pieces, one class for each kStep bytes; a thread keeps at most kKept of a class and moves
// kBatch at a time to or from the shared lists.
constexpr int64_t kStep = Segments::kAlignment;
constexpr int64_t kSmall = 4096;
constexpr int kClasses = kSmall / kStep;
constexpr int kKept = 32, kBatch = 16;
// The peak is looked at once for this many bytes that a thread takes.
constexpr int64_t kPeakStep = 1 << 16;

const bool is_enabled = [] {
    const char* setting = std::getenv("ASCEND_ARRAY_API_POOL");
    return !setting || std::strcmp(setting, "off") != 0;
}();

// ---- faults on purpose

struct Faults {
    const bool possible;
    std::atomic<int64_t> every, requests{0};

    explicit Faults(const char* setting)
        : possible(setting != nullptr), every(setting ? std::atoll(setting) : 0) {}
    // Counts a request and tells whether it fails.
    bool strike() {
        int64_t n = every.load(std::memory_order_relaxed);
        int64_t count = requests.fetch_add(1, std::memory_order_relaxed) + 1;
        return n > 0 && count % n == 0;
    }
};
Faults faults(std::getenv("ASCEND_ARRAY_API_FAULTS"));

// Small pieces go to shelves when they are freed.
const bool keeps_small = is_enabled && !faults.possible;

int class_of(int64_t nbytes) {
    return static_cast<int>(static_cast<uint64_t>(nbytes - (nbytes > 0)) / kStep);
}
int64_t class_bytes(int index) { return (index + 1) * kStep; }

// What a piece counts in `used`.
int64_t piece_bytes(int64_t nbytes) {
    if (nbytes <= kSmall) return class_bytes(class_of(nbytes));
    return is_enabled ? Heap::chunk_bytes(nbytes) : Segments::apart_bytes(nbytes);
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

// Free pieces of one class.
struct Shelf {
    FreePiece* first = nullptr;
    Counter count;

    void* pop() {
        FreePiece* piece = first;
        if (!piece) return nullptr;
        first = piece->next;
        count.add(-1);
        return piece;
    }
    void push(void* p) {
        first = new (p) FreePiece{first};
        count.add(1);
    }
};

struct ThreadCache {
    Shelf shelves[kClasses];
    Counter used, requests;
    int64_t unchecked = 0;  // bytes taken since the peak was last looked at

    void count(int64_t size) {
        used.add(size);
        requests.add(1);
        unchecked += size;
    }
};

struct Pool {
    std::mutex mutex;  // guards what follows, up to `segments`
    Shelf shelves[kClasses];
    ThreadCache strays;  // counts what threads give back that have no memory for a cache
    std::vector<ThreadCache*> caches{&strays};  // of all threads, and those that wait for one
    std::vector<ThreadCache*> idle;             // of threads that have ended
    int64_t peak = 0;
    std::vector<void (*)()> releases;
    Segments segments;

    template <class F>
    int64_t sum(F&& of) const {
        int64_t total = 0;
        for (const ThreadCache* cache : caches) total += of(*cache);
        return total;
    }
    int64_t used() const {
        return sum([](const ThreadCache& cache) { return cache.used.get(); });
    }
    int64_t cached() const { return segments.held() - used(); }
    void look_at_peak() { peak = std::max(peak, used()); }
};

// Never destroyed: arrays may outlive every static destructor.
Pool& pool() {
    static Pool& instance = []() -> Pool& {
        Pool& made = *new Pool;
        // A forked child must not inherit a mutex that some other thread holds.
        const auto unlock = [] {
            pool().segments.mutex().unlock();
            pool().mutex.unlock();
        };
        pthread_atfork(
            [] {
                pool().mutex.lock();
                pool().segments.mutex().lock();
            },
            unlock, unlock);
        return made;
    }();
    return instance;
}

// Lends a cache to a thread; what it holds goes to the shared lists when the thread ends.
struct ThreadCacheOwner {
    ThreadCache* cache;

    ThreadCacheOwner() {
        Pool& shared = pool();
        std::lock_guard lock(shared.mutex);
        if (shared.idle.empty()) {
            shared.caches.reserve(shared.caches.size() + 1);
            shared.idle.reserve(shared.caches.size() + 1);  // giving it back needs no memory
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
        for (int i = 0; i < kClasses; ++i) {
            while (void* piece = cache->shelves[i].pop()) shared.shelves[i].push(piece);
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

// To give memory back must not need any.
[[gnu::cold, gnu::noinline]] bool has_cache_on_first_use() {
    try {
        first_use();
        return true;
    } catch (const std::bad_alloc&) {
        return false;
    }
}

ThreadCache& thread_cache() { return current_cache ? *current_cache : first_use(); }

[[gnu::cold, gnu::noinline]] void look_at_peak(ThreadCache& cache) {
    cache.unchecked = 0;
    std::lock_guard lock(pool().mutex);
    pool().look_at_peak();
}

// ---- pieces

void* take_small(int index, ThreadCache& cache) {
    Shelf& own = cache.shelves[index];
    {
        Pool& shared = pool();
        std::lock_guard lock(shared.mutex);
        for (int i = 0; i < kBatch; ++i) {
            void* piece = shared.shelves[index].pop();
            if (!piece) break;
            own.push(piece);
        }
    }
    void* piece = own.pop();
    return piece ? piece : pool().segments.take_apart(class_bytes(index));
}

void give_small(void* p, int index, ThreadCache& cache) {
    Shelf& own = cache.shelves[index];
    own.push(p);
    if (own.count.get() <= kKept) return;
    Pool& shared = pool();
    std::lock_guard lock(shared.mutex);
    bool full = shared.cached() > Segments::most_cached();
    for (int i = 0; i < kBatch; ++i) {
        if (full) {
            shared.segments.give_apart(own.pop(), class_bytes(index));
        } else {
            shared.shelves[index].push(own.pop());
        }
    }
}

void* take(int64_t nbytes, ThreadCache& cache) {
    if (nbytes > memory_limit()) return nullptr;
    if (Arena::entered()) {
        if (void* piece = Arena::take(nbytes)) {
            cache.requests.add(1);
            return piece;
        }
    }
    void* piece = nbytes <= kSmall && keeps_small ? take_small(class_of(nbytes), cache)
                  : nbytes > kSmall && is_enabled ? pool().segments.take(nbytes)
                                                  : pool().segments.take_apart(piece_bytes(nbytes));
    if (!piece) return nullptr;
    cache.count(piece_bytes(nbytes));
    if (cache.unchecked >= kPeakStep) look_at_peak(cache);
    return piece;
}

// Frees small pieces, but for those of other threads, and what is kept for speed alone.
void release_kept() {
    Pool& shared = pool();
    ThreadCache& cache = thread_cache();
    std::unique_lock lock(shared.mutex);
    const std::vector<void (*)()> releases = shared.releases;
    lock.unlock();
    for (void (*release)() : releases) release();
    lock.lock();
    for (int i = 0; i < kClasses; ++i) {
        for (Shelf* shelf : {&cache.shelves[i], &shared.shelves[i]}) {
            while (void* piece = shelf->pop()) shared.segments.give_apart(piece, class_bytes(i));
        }
    }
}

void* take_or_make_room(int64_t nbytes, ThreadCache& cache) {
    if (void* p = take(nbytes, cache)) return p;
    release_kept();
    return take(nbytes, cache);
}

[[gnu::noinline]] void* allocate_slowly(int64_t nbytes, void (*relieve)(), ThreadCache& cache) {
    const bool fails = faults.possible && faults.strike();
    if (!fails) {
        if (void* p = take_or_make_room(nbytes, cache)) return p;
    }
    if (!relieve) return nullptr;
    relieve();
    return fails ? nullptr : take_or_make_room(nbytes, cache);
}

[[gnu::noinline]] void free_slowly(void* p, int64_t nbytes, ThreadCache& cache) {
    if (Arena::exists() && Arena::give(p)) return;
    cache.used.add(-piece_bytes(nbytes));
    if (nbytes <= kSmall ? !keeps_small : !is_enabled)
        return pool().segments.give_apart(p, piece_bytes(nbytes));
    nbytes <= kSmall ? give_small(p, class_of(nbytes), cache) : pool().segments.give(p, nbytes);
}

[[gnu::cold, gnu::noinline]] void free_without_cache(void* p, int64_t nbytes) {
    if (Arena::exists() && Arena::give(p)) return;
    Pool& shared = pool();
    std::lock_guard lock(shared.mutex);
    shared.strays.used.add(-piece_bytes(nbytes));
    if (nbytes <= kSmall && keeps_small) {
        shared.shelves[class_of(nbytes)].push(p);
    } else if (nbytes > kSmall && is_enabled) {
        shared.segments.give(p, nbytes);
    } else {
        shared.segments.give_apart(p, piece_bytes(nbytes));
    }
}

}  // namespace

int64_t machine_memory() { return Segments::machine_memory(); }

void set_limit(int64_t bytes) {
    Segments& segments = pool().segments;
    segments.set_limit(bytes);
    if (bytes == 0 || segments.held() <= bytes) return;
    release_kept();  // makes more of what is held free
    segments.set_limit(bytes);
}
int64_t limit() { return pool().segments.limit(); }
int64_t memory_limit() {
    return limit() == 0 ? machine_memory() : std::min(limit(), machine_memory());
}

bool enabled() { return is_enabled; }

void fail_every(int64_t n) {
    if (!faults.possible) return;
    faults.every.store(n, std::memory_order_relaxed);
    faults.requests.store(0, std::memory_order_relaxed);
}
int64_t requests_since() { return faults.requests.load(std::memory_order_relaxed); }

void out_of_memory(int64_t nbytes, const char* purpose) {
    Stats now = stats();
    raise(ErrorKind::Memory,
          "cannot allocate %lld bytes%s: %lld are in use and %lld cached of %lld",
          static_cast<long long>(nbytes), purpose, static_cast<long long>(now.used),
          static_cast<long long>(now.cached), static_cast<long long>(memory_limit()));
}

void* try_allocate(int64_t nbytes, void (*relieve)()) {
    ThreadCache& cache = thread_cache();
    if (nbytes <= kSmall && !Arena::entered()) {
        int index = class_of(nbytes);
        if (void* piece = cache.shelves[index].pop()) {
            cache.count(class_bytes(index));
            if (cache.unchecked >= kPeakStep) look_at_peak(cache);
            return piece;
        }
    }
    return allocate_slowly(nbytes, relieve, cache);
}

void* allocate(int64_t nbytes, void (*relieve)()) {
    void* p = try_allocate(nbytes, relieve);
    if (!p) out_of_memory(nbytes);
    return p;
}

void free(void* p, int64_t nbytes) {
    if (!current_cache && !has_cache_on_first_use()) return free_without_cache(p, nbytes);
    ThreadCache& cache = *current_cache;
    if (nbytes <= kSmall && !Arena::exists() && keeps_small) {
        int index = class_of(nbytes);
        Shelf& shelf = cache.shelves[index];
        if (shelf.count.get() < kKept) {
            cache.used.add(-class_bytes(index));
            return shelf.push(p);
        }
    }
    free_slowly(p, nbytes, cache);
}

void on_shortage(void (*release)()) {
    std::lock_guard lock(pool().mutex);
    pool().releases.push_back(release);
}

void free_cached() {
    release_kept();
    pool().segments.free_cached();
}

Stats stats() {
    Pool& shared = pool();
    std::lock_guard lock(shared.mutex);
    shared.look_at_peak();
    const int64_t used = shared.used(), allocations = shared.segments.allocations();
    int64_t requests = shared.sum([](const ThreadCache& cache) { return cache.requests.get(); });
    auto pieces = [](const Shelf(&shelves)[kClasses]) {
        int64_t count = 0;
        for (const Shelf& shelf : shelves) count += shelf.count.get();
        return count;
    };
    int64_t free_blocks = shared.segments.free_memory().chunks + pieces(shared.shelves) +
                          shared.sum([&](const ThreadCache& c) { return pieces(c.shelves); });
    return {used,        shared.segments.held() - used, shared.peak,
            allocations, requests - allocations,        free_blocks};
}

}  // namespace asc::pool
