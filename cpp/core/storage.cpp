#include "core/storage.h"

#include <pthread.h>

#include <cstring>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <utility>

#include "backend/backend.h"
#include "runtime/pool.h"
#include "runtime/profiler.h"

namespace asc {

// The header of a Block occupies one cache line, on the CPU that in front of its data.
static constexpr int64_t kHeader = 64;
static_assert(sizeof(Block) <= kHeader);

// Blocks that were moved off, and the Regions that may know their addresses.
struct Regions {
    std::mutex mutex;
    Region* oldest = nullptr;
    Region* newest = nullptr;
    uint64_t next = 1;  // number of a Region
    // Lists by age, without memory of their own: Blocks that are released, and storages that drop
    // theirs, when the Regions of that moment have ended.
    template <class T>
    struct Retired {
        T* oldest = nullptr;
        T* newest = nullptr;

        void push(Ref<T> last, uint64_t number) {
            // Retired before: those behind it just wait longer.
            if (std::exchange(last->first_free_, number) != 0) return;
            (oldest ? newest->next_retired_ : oldest) = last.get();
            newest = last.release();
        }
        // The oldest one, unless Regions from before `number` are active.
        T* pop(uint64_t number) {
            T* first = oldest;
            if (!first || first->first_free_ > number) return nullptr;
            oldest = std::exchange(first->next_retired_, nullptr);
            first->first_free_ = 0;
            return first;
        }
    };
    Retired<Block> blocks;
    Retired<Storage> storages;

    void enter(Region& region) {
        std::lock_guard lock(mutex);
        region.number_ = next++;
        region.older_ = newest;
        (newest ? newest->newer_ : oldest) = &region;
        newest = &region;
    }

    void leave(Region& region) {
        std::unique_lock lock(mutex);
        (region.older_ ? region.older_->newer_ : oldest) = region.newer_;
        (region.newer_ ? region.newer_->older_ : newest) = region.older_;
        const auto in_use = [this] { return oldest ? oldest->number_ : next; };
        // What they hold is let go without the lock.
        while (Block* block = blocks.pop(in_use())) {
            lock.unlock();
            block->release();
            lock.lock();
        }
        while (Storage* storage = storages.pop(in_use())) {
            lock.unlock();
            storage->discard();
            storage->release();
            lock.lock();
        }
    }

    // In a child of fork, where the other threads that were inside do not exist.
    void keep_own() {
        Region* region = std::exchange(oldest, nullptr);
        newest = nullptr;
        while (region) {
            Region* next_one = std::exchange(region->newer_, nullptr);
            if (region->resting_ == &Region::resting_here) {
                region->older_ = newest;
                (newest ? newest->newer_ : oldest) = region;
                newest = region;
            }
            region = next_one;
        }
    }

    void retire(Ref<Block> block) {
        std::lock_guard lock(mutex);
        if (oldest) blocks.push(std::move(block), next);
    }
    // False where the Block of the storage may go at once.
    bool retire(Ref<Storage> storage) {
        std::lock_guard lock(mutex);
        if (oldest) storages.push(std::move(storage), next);
        return oldest != nullptr;
    }
};

static Regions& regions() {
    static Regions& instance = *new Regions;
    return instance;
}

constinit thread_local std::atomic<bool> Region::resting_here{false};

Region::Region() { regions().enter(*this); }
Region::~Region() { regions().leave(*this); }
bool Region::none() {
    std::lock_guard lock(regions().mutex);
    return cover_all_ && !regions().oldest;
}

uint64_t Region::next_number() {
    std::lock_guard lock(regions().mutex);
    return regions().next;
}
bool Region::ended_elsewhere(uint64_t number) {
    std::lock_guard lock(regions().mutex);
    for (const Region* region = regions().oldest; region; region = region->newer_) {
        const bool elsewhere = region->resting_ != &resting_here && !*region->resting_;
        if (elsewhere && region->number_ < number) return false;
    }
    return true;
}

void install_region_fork_handlers() {
    pthread_atfork([] { regions().mutex.lock(); }, [] { regions().mutex.unlock(); },
                   [] {
                       regions().keep_own();
                       regions().mutex.unlock();
                   });
}

Ref<Block> Block::allocate(int64_t nbytes, DeviceId device) {
    if (device != kCpu) return allocate_elsewhere(nbytes, device);
    // What is recorded may hold memory that it alone still needs.
    auto* raw = static_cast<std::byte*>(pool::allocate(kHeader + nbytes, Pending::run_idle));
    if (profiler::on()) profiler::count_memory(kHeader + nbytes, index(device));
    return Ref<Block>::adopt(new (raw) Block(raw + kHeader, nbytes, device, nullptr, nullptr));
}

Ref<Block> Block::allocate_elsewhere(int64_t nbytes, DeviceId id) {
    Device& place = asc::device(id);
    DeviceMemory memory = place.try_allocate(nbytes);
    if (!memory.data) {
        Pending::run_idle();
        memory = place.try_allocate(nbytes);
    }
    if (!memory.data) place.out_of_memory(nbytes);
    void* raw = pool::try_allocate(kHeader);
    if (!raw) {
        place.free(memory, nbytes);
        pool::out_of_memory(kHeader);
    }
    if (profiler::on()) profiler::count_memory(nbytes, index(id));
    return Ref<Block>::adopt(new (raw) Block(memory.data, nbytes, id, nullptr, memory.record));
}

Ref<Block> Block::borrow(std::byte* data, int64_t nbytes, DeviceId device, ReleaseFn release,
                         void* context) {
    void* raw = pool::try_allocate(kHeader);
    if (!raw) {
        release(context);
        pool::out_of_memory(kHeader);
    }
    return Ref<Block>::adopt(new (raw) Block(data, nbytes, device, release, context));
}

void Block::destroy() {
    int64_t held = kHeader + (release_ || device_ != kCpu ? 0 : nbytes_);
    if (!release_ && profiler::on())
        profiler::count_memory(-(device_ == kCpu ? held : nbytes_), index(device_));
    if (release_) {
        release_(context_);
    } else if (device_ != kCpu) {
        asc::device(device_).free({data_, context_}, nbytes_);
    }
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
    Ref<Block> block(block_.load(std::memory_order_relaxed));
    unlock();
    return block;
}

Ref<Block> Storage::exchange_block(Ref<Block> block) {
    if (block) block->add_owner();
    auto before = Ref<Block>::adopt(block_.exchange(block.release(), std::memory_order_acq_rel));
    if (before) before->drop_owner();
    return before;
}

Storage::Reads Storage::reads() const {
    lock();
    Reads reads = reads_;
    unlock();
    return reads;
}

void Storage::add_read(Pending* reader) {
    lock();
    reads_.list = reads_.count == 0 || reads_.list == reader ? reader : nullptr;
    ++reads_.count;
    unlock();
}

void Storage::drop_read() {
    lock();
    --reads_.count;
    const bool over = idle() && gone();
    unlock();
    if (over) drop_gone_block();
}

void Storage::add_write(Pending* writer, uint64_t position) {
    lock();
    ++writes_;
    written_at_.store(position, std::memory_order_release);
    writer_.store(writer, std::memory_order_release);
    unlock();
}

void Storage::drop_write() {
    lock();
    if (--writes_ == 0) writer_.store(nullptr, std::memory_order_release);
    const bool over = idle() && gone();
    unlock();
    if (over) drop_gone_block();
}

Ref<Block> Storage::block() const {
    settle();
    return present_block();
}

void Storage::settle_slowly() const {
    if (Pending* writer = writer_.load(std::memory_order_acquire)) writer->finish();
    // What was recorded before is part of the run.
    if (!Pending::inside_run()) require_present();
    if (auto error = failure()) throw Error(*error);
}

void Storage::raise_gone(const char* function) const {
    const std::string where = function ? std::string(function) + ": " : "";
    if (gone_.load(std::memory_order_acquire) == Gone::Donated) {
        raise(ErrorKind::Runtime,
              "%sthe array was hinted as temporary, and the next operation has taken its memory; "
              "copy it before that operation, or leave the hint out",
              where.c_str());
    }
    raise(ErrorKind::Runtime,
          "%sthe memory of the array was given back by reuse_buffer; it, its views and what shares "
          "its memory cannot be used any more",
          where.c_str());
}

int32_t Storage::pending_operands() const {
    lock();
    const int32_t pending = reads_.count + writes_;
    unlock();
    return pending;
}

bool Storage::held_beside(int operands) const {
    return (gone() ? pending_operands() : use_count()) > operands;
}

bool Storage::give_up(Gone reason) {
    lock();
    const bool refused = gone() || shared();
    if (!refused) {
        gone_.store(reason, std::memory_order_release);
        unusable_.store(true, std::memory_order_release);
        note_change();
    }
    const bool over = !refused && idle();
    unlock();
    if (over) drop_gone_block();
    return !refused;
}

bool Storage::donate(int operands) {
    lock();
    const bool alone = !gone() && reads_.count + writes_ == operands && Region::none();
    if (alone) {
        gone_.store(Gone::Donated, std::memory_order_release);
        unusable_.store(true, std::memory_order_release);
    }
    unlock();
    return alone;
}

bool Storage::owns_block() const {
    lock();
    const Block* block = block_.load(std::memory_order_relaxed);
    const bool ours = kind_ == StorageKind::Pool && !shared() && block && block->owners() == 1 &&
                      !block->borrowed();
    unlock();
    return ours;
}

void Storage::drop_gone_block() {
    // Other threads may be about to look at it; where they cannot be told it stays to the end.
    if (Region::cover_all_ && !regions().retire(Ref<Storage>(this))) discard();
}

std::shared_ptr<const void> Storage::derived() const {
    lock();
    auto derived = derived_;
    unlock();
    return derived;
}

uint64_t Storage::changes() const {
    lock();
    const uint64_t changes = changes_;
    unlock();
    return changes;
}

void Storage::keep_derived(std::shared_ptr<const void> derived, uint64_t changes) {
    lock();
    if (changes == changes_ && !shared()) derived_.swap(derived);
    unlock();
}

void Storage::fail(std::shared_ptr<const Error> failure) {
    lock();
    failure_.swap(failure);
    unusable_.store(failure_ || gone(), std::memory_order_release);
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
    Reads pending = reads();
    if (pending.count > 0) pending.list ? pending.list->finish() : Pending::finish_all();
}

void Storage::materialize() { materialize(Block::allocate(nbytes_, device_)); }

void Storage::materialize(Ref<Block> block) {
    lock();
    note_change();
    Ref<Block> before = exchange_block(std::move(block));
    unlock();
}

void Storage::discard() { materialize(Ref<Block>()); }

Ref<Storage> Storage::fork() const {
    settle();
    Ref<Storage> copy = promise(nbytes_, device_);
    lock();
    const bool quiet = finished() && running_writes_ == 0 && !shared();
    if (quiet) copy->exchange_block(Ref<Block>(block_.load(std::memory_order_relaxed)));
    unlock();
    return quiet ? copy : Ref<Storage>();
}

// All bytes of a Block to another one of its device.
static void copy_bytes(const Block& to, const Block& from) {
    if (on_host(to.device())) {
        std::memcpy(to.data(), from.data(), static_cast<size_t>(to.nbytes()));
    } else {
        device(to.device()).copy(to, 0, from, 0, to.nbytes());
    }
}

Ref<Block> Storage::leave_shared_block() {
    note_change();
    if (kind_ != StorageKind::Pool) return {};
    const auto block = [this] { return block_.load(std::memory_order_relaxed); };
    Ref<Block> fresh;
    while (block() && (block()->owners() > 1 || block()->borrowed())) {
        if (fresh) {
            copy_bytes(*fresh, *block());
            return exchange_block(std::move(fresh));
        }
        // Without the lock, which recorded work may need that runs for lack of memory.
        const int64_t nbytes = block()->nbytes();
        unlock();
        fresh = Block::allocate(nbytes, device_);
        lock();
    }
    return {};
}

void Storage::own_block() {
    lock();
    Ref<Block> left = leave_shared_block();
    unlock();
    if (left) regions().retire(std::move(left));
}

void Storage::begin_write() {
    lock();
    Ref<Block> left = leave_shared_block();
    ++running_writes_;
    unlock();
    if (left) regions().retire(std::move(left));
}

void Storage::end_write() {
    lock();
    --running_writes_;
    note_change();
    unlock();
}

void Storage::begin_export() {
    settle();
    settle_uses();
    lock();
    if (gone()) {
        unlock();
        raise_gone(nullptr);
    }
    Ref<Block> left = leave_shared_block();
    exports_.fetch_add(1, std::memory_order_acq_rel);
    unlock();
    if (left) regions().retire(std::move(left));
    settle_uses();  // what was recorded before this could be seen
}

}  // namespace asc
