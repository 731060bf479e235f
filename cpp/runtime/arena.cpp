#include "runtime/arena.h"

#include <pthread.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/error.h"
#include "runtime/pool.h"

namespace asc {

constinit thread_local Arena* Arena::innermost_ = nullptr;
std::atomic<int> Arena::number_{0};

// Room for the headers of some arrays, so that one of the size that was asked for fits.
static constexpr int64_t kHeaders = 4096;

namespace {
struct Arenas {
    std::mutex mutex;
    std::vector<std::shared_ptr<Arena>> list;  // those that have memory
};
Arenas& arenas() {
    static Arenas& instance = *new Arenas;
    return instance;
}
}  // namespace

void Arena::install_fork_handlers() {
    pthread_atfork([] { arenas().mutex.lock(); }, [] { arenas().mutex.unlock(); },
                   [] { arenas().mutex.unlock(); });
}

// Leaves what a thread has entered when it ends.
struct Arena::ThreadEnd {
    // The pool's part of this thread, if made first, ends last.
    ThreadEnd() { pool::free(pool::allocate(1), 1); }
    ~ThreadEnd() {
        while (innermost_) innermost_->leave();
    }
};

void Arena::enter() {
    thread_local ThreadEnd end;
    std::unique_lock lock(arenas().mutex);
    if (entered_) raise(ErrorKind::Runtime, "arena: it is entered already; make another one");
    entered_ = true;
    if (!memory_) {
        lock.unlock();
        void* memory = pool::try_allocate(size_ + kHeaders);
        lock.lock();
        if (!memory) {
            entered_ = false;
            lock.unlock();
            pool::out_of_memory(size_, " for an arena");
        }
        memory_ = static_cast<std::byte*>(memory);
        heap_.add(memory_, size_ + kHeaders);
        arenas().list.push_back(shared_from_this());
        number_.fetch_add(1, std::memory_order_relaxed);
    }
    outer_ = std::exchange(innermost_, this);
}

void Arena::leave() {
    std::unique_lock lock(arenas().mutex);
    // Coroutines may leave in any order.
    Arena** link = &innermost_;
    while (*link && *link != this) link = &(*link)->outer_;
    if (!*link) raise(ErrorKind::Runtime, "arena: left in a thread that has not entered it");
    *link = std::exchange(outer_, nullptr);
    entered_ = false;
    settle(std::move(lock));
}

void Arena::settle(std::unique_lock<std::mutex> lock) {
    if (entered_ || pieces_ > 0 || !memory_) return;
    std::byte* memory = std::exchange(memory_, nullptr);
    heap_ = {};
    std::vector<std::shared_ptr<Arena>>& list = arenas().list;
    auto self = std::find_if(list.begin(), list.end(), [&](auto& a) { return a.get() == this; });
    std::shared_ptr<Arena> last = std::move(*self);  // perhaps: destroyed when all is done
    list.erase(self);
    number_.fetch_sub(1, std::memory_order_relaxed);
    lock.unlock();
    pool::free(memory, size_ + kHeaders);
}

void* Arena::take(int64_t nbytes) {
    std::lock_guard lock(arenas().mutex);
    for (Arena* arena = innermost_; arena; arena = arena->outer_) {
        if (void* piece = arena->heap_.take(nbytes)) {
            ++arena->pieces_;
            ++arena->served_;
            arena->used_ += Heap::size_of(piece);
            arena->peak_ = std::max(arena->peak_, arena->used_);
            return piece;
        }
        ++arena->outgrown_;
    }
    return nullptr;
}

bool Arena::give(void* piece) {
    std::unique_lock lock(arenas().mutex);
    auto* p = static_cast<std::byte*>(piece);
    std::vector<std::shared_ptr<Arena>>& list = arenas().list;
    // The newest first: the memory of an inner arena lies within that of an outer one.
    auto arena = std::find_if(list.rbegin(), list.rend(), [&](const auto& a) {
        return p >= a->memory_ && p < a->memory_ + a->size_ + kHeaders;
    });
    if (arena == list.rend()) return false;
    Arena& owner = **arena;
    --owner.pieces_;
    owner.used_ -= owner.heap_.give(piece);
    owner.settle(std::move(lock));
    return true;
}

Arena::Stats Arena::stats() const {
    std::lock_guard lock(arenas().mutex);
    return {size_, used_, peak_, served_, outgrown_};
}

}  // namespace asc
