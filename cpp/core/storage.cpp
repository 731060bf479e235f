#include "core/storage.h"

#include <pthread.h>

#include <cstring>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/pool.h"

namespace asc {

// The header of a pool Block occupies one cache line in front of its data.
static constexpr int64_t kHeader = 64;
static_assert(sizeof(Block) <= kHeader);

namespace {
struct Regions {
    std::mutex mutex;
    int active = 0;
    std::vector<Ref<Block>> retired;
};
Regions& regions() {
    static Regions& instance = *new Regions;
    return instance;
}

void retire(Ref<Block> block) {
    std::lock_guard lock(regions().mutex);
    if (regions().active > 0) regions().retired.push_back(std::move(block));
}
}  // namespace

Region::Region() {
    std::lock_guard lock(regions().mutex);
    ++regions().active;
}

Region::~Region() {
    std::vector<Ref<Block>> done;  // released without the lock
    std::lock_guard lock(regions().mutex);
    if (--regions().active == 0) done.swap(regions().retired);
}

void install_region_fork_handlers() {
    pthread_atfork([] { regions().mutex.lock(); }, [] { regions().mutex.unlock(); },
                   [] {
                       // The threads that were inside do not exist here.
                       regions().active = 0;
                       regions().mutex.unlock();
                   });
}

Ref<Block> Block::allocate(int64_t nbytes) {
    void* piece = pool::try_allocate(kHeader + nbytes);
    if (!piece) {
        // What is recorded may hold memory that it alone still needs.
        Pending::run_idle();
        piece = pool::allocate(kHeader + nbytes);
    }
    auto* raw = static_cast<std::byte*>(piece);
    return Ref<Block>::adopt(new (raw) Block(raw + kHeader, nbytes, nullptr, nullptr));
}

Ref<Block> Block::borrow(std::byte* data, int64_t nbytes, ReleaseFn release, void* context) {
    void* raw = pool::allocate(kHeader);
    return Ref<Block>::adopt(new (raw) Block(data, nbytes, release, context));
}

void Block::destroy() {
    int64_t held = kHeader + (release_ ? 0 : nbytes_);
    if (release_) release_(context_);
    this->~Block();
    pool::free(this, held);
}

void* Storage::operator new(size_t size) { return pool::allocate(static_cast<int64_t>(size)); }
void Storage::operator delete(void* p, size_t size) { pool::free(p, static_cast<int64_t>(size)); }

void Storage::lock() const {
    while (locked_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
}

Ref<Block> Storage::present_block() const {
    lock();
    Ref<Block> block = block_;
    unlock();
    return block;
}

Ref<Block> Storage::block() const {
    settle();
    return present_block();
}

void Storage::settle_slowly() const {
    if (Pending* writer = writer_.load(std::memory_order_acquire)) writer->finish();
    if (auto error = failure()) throw Error(*error);
}

void Storage::fail(std::shared_ptr<const Error> failure) {
    lock();
    failure_.swap(failure);
    failed_.store(failure_ != nullptr, std::memory_order_release);
    unlock();
}

std::shared_ptr<const Error> Storage::failure() const {
    lock();
    auto failure = failure_;
    unlock();
    return failure;
}

void Storage::settle_uses() {
    if (Pending* writer = writer_.load(std::memory_order_acquire)) writer->finish();
    if (readers() > 0) Pending::finish_all();
}

void Storage::materialize() { materialize(Block::allocate(nbytes_)); }

void Storage::materialize(Ref<Block> block) {
    block->add_owner();
    lock();
    block_ = std::move(block);
    unlock();
}

void Storage::discard() {
    lock();
    Ref<Block> block = std::move(block_);
    unlock();
    if (block) block->drop_owner();
}

Ref<Storage> Storage::fork() const { return wrap(block(), StorageKind::Pool, false); }

void Storage::own_block() {
    if (kind_ != StorageKind::Pool) return;
    Ref<Block> fresh;
    lock();
    while (block_ && (block_->owners() > 1 || block_->borrowed())) {
        if (!fresh) {
            // Without the lock, which recorded work may need that runs for lack of memory.
            int64_t nbytes = block_->nbytes();
            unlock();
            fresh = Block::allocate(nbytes);
            lock();
            continue;
        }
        std::memcpy(fresh->data(), block_->data(), static_cast<size_t>(fresh->nbytes()));
        fresh->add_owner();
        block_->drop_owner();
        retire(std::exchange(block_, std::move(fresh)));
    }
    unlock();
}

void Storage::begin_export() {
    settle();
    settle_uses();
    own_block();
    exports_.fetch_add(1, std::memory_order_acq_rel);
}

}  // namespace asc
