#include "core/storage.h"

#include <cstring>
#include <new>
#include <thread>

#include "runtime/pool.h"

namespace asc {

// The header of a pool Block occupies one cache line in front of its data.
static constexpr int64_t kHeader = 64;
static_assert(sizeof(Block) <= kHeader);

Ref<Block> Block::allocate(int64_t nbytes) {
    auto* raw = static_cast<std::byte*>(pool::allocate(kHeader + nbytes));
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
    if (failure_) throw Error(*failure_);
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
    lock();
    if (block_ && (block_->owners() > 1 || block_->borrowed())) {
        try {
            Ref<Block> fresh = Block::allocate(block_->nbytes());
            std::memcpy(fresh->data(), block_->data(), static_cast<size_t>(block_->nbytes()));
            fresh->add_owner();
            block_->drop_owner();
            block_ = std::move(fresh);
        } catch (...) {
            unlock();
            throw;
        }
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
