// Block: bytes on a device. Storage: what aliasing arrays share. Pending: recorded work.
//
// A Block counts its references and, apart from them, the Storages that own it. Several Storages
// own a Block only as deferred copies of each other; the one that is written first moves off
// (own_block). Two arrays alias exactly if they have the same Storage.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/device_id.h"
#include "core/error.h"
#include "core/ref.h"

namespace asc {

// Frees the memory behind a Block; `context` is the owner that came with it.
using ReleaseFn = void (*)(void* context);

class Block {
  public:
    // From the device; throws Error(Memory) that names the size.
    static Ref<Block> allocate(int64_t nbytes, DeviceId device);
    // Memory of another owner, released with release(context) on the last drop, or if this throws.
    static Ref<Block> borrow(std::byte* data, int64_t nbytes, DeviceId device, ReleaseFn release,
                             void* context);

    std::byte* data() const { return data_; }
    int64_t nbytes() const { return nbytes_; }
    DeviceId device() const { return device_; }
    // What the device gave out with the memory.
    void* record() const { return context_; }
    // The bytes belong to somebody else.
    bool borrowed() const { return release_ != nullptr; }
    int64_t owners() const { return owners_.load(std::memory_order_acquire); }
    void add_owner() { owners_.fetch_add(1, std::memory_order_relaxed); }
    void drop_owner() {
        // The last owner needs no locked instruction: nobody else can add one.
        if (owners_.load(std::memory_order_acquire) == 1)
            return owners_.store(0, std::memory_order_relaxed);
        owners_.fetch_sub(1, std::memory_order_acq_rel);
    }

    void retain() { count_.fetch_add(1, std::memory_order_relaxed); }
    void release() {
        if (count_.load(std::memory_order_acquire) == 1 ||
            count_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            destroy();
        }
    }

  private:
    Block(std::byte* data, int64_t nbytes, DeviceId device, ReleaseFn release, void* context)
        : data_(data), nbytes_(nbytes), release_(release), context_(context), device_(device) {}
    static Ref<Block> allocate_elsewhere(int64_t nbytes, DeviceId device);
    void destroy();

    std::atomic<int32_t> count_{1};
    std::atomic<int32_t> owners_{0};
    std::byte* data_;
    int64_t nbytes_;     // bytes that may be used
    ReleaseFn release_;  // null: the bytes are the device's; on the CPU they follow this header
    void* context_;
    DeviceId device_;
    // Once moved off, while Regions may know the address: a list by age, which needs no memory.
    friend struct Regions;
    Block* next_retired_ = nullptr;
    uint64_t first_free_ = 0;  // the number of the first Region that cannot know it; 0: not listed
};

enum class StorageKind : uint8_t {
    Pool,      // ours alone
    Shared,    // someone else can change the bytes
    Constant,  // borrowed bytes that nobody can change
};

// A stretch of work on raw memory that other threads may not see the end of. A Block that a storage
// moves off is kept until all Regions of that moment have ended, since its address may be in use.
class Region {
  public:
    Region();
    ~Region();
    Region(const Region&) = delete;
    Region& operator=(const Region&) = delete;

  private:
    friend struct Regions;
    Region* older_ = nullptr;  // the active ones are a list, by age
    Region* newer_ = nullptr;
    uint64_t number_ = 0;
};
void install_region_fork_handlers();  // once

// A list of recorded operations (a tape) as storages see it.
class Pending {
  public:
    // Runs everything recorded so far. Never called while a lock of this file is held.
    virtual void finish() = 0;
    // Runs everything recorded on any list.
    static void finish_all() { finish_all_(); }
    // Runs what no other thread is running, without waiting; nothing inside of such a run.
    static void run_idle() { run_idle_(); }

  protected:
    ~Pending() = default;
    inline static void (*run_idle_)() = [] {};
    inline static void (*finish_all_)() = [] {};
};

class Storage {
  public:
    // A result of recorded work; its Block comes when the work runs.
    static Ref<Storage> promise(int64_t nbytes, DeviceId device) {
        return Ref<Storage>::adopt(new Storage(nbytes, device));
    }
    static Ref<Storage> allocate(int64_t nbytes, DeviceId device) {
        return Ref<Storage>::adopt(
            new Storage(Block::allocate(nbytes, device), StorageKind::Pool, false));
    }
    static Ref<Storage> wrap(Ref<Block> block, StorageKind kind, bool read_only) {
        return Ref<Storage>::adopt(new Storage(std::move(block), kind, read_only));
    }

    // A counted Block with all writes done, safe against a concurrent own_block.
    Ref<Block> block() const;
    // The address with all writes done, for callers that exclude concurrent writes.
    std::byte* data() const {
        settle();
        return block_.load(std::memory_order_acquire)->data();
    }
    int64_t nbytes() const { return nbytes_; }
    DeviceId device() const { return device_; }
    // Every recorded write has run, and none has failed.
    bool finished() const {
        return !writer_.load(std::memory_order_acquire) && !failed_.load(std::memory_order_acquire);
    }
    // The bytes of a finished storage belong to somebody else.
    bool borrowed() const { return block_.load(std::memory_order_acquire)->borrowed(); }
    // Runs the recorded work that writes this storage; throws the error of work that failed.
    void settle() const {
        if (!finished()) settle_slowly();
    }

    // ---- for whoever runs recorded work
    // The Block as it is now, null for a promise; nothing is run.
    Ref<Block> present_block() const;
    bool promised() const { return !block_.load(std::memory_order_acquire); }
    // Gives a promise its Block: a new one, or one that holds the bytes already.
    void materialize();
    void materialize(Ref<Block> block);
    // Drops the Block of a storage whose bytes nobody will look at.
    void discard();
    // The list with the last recorded write of it, null where all have run.
    Pending* writer() const { return writer_.load(std::memory_order_acquire); }
    // Where on that list.
    uint64_t written_at() const { return written_at_.load(std::memory_order_acquire); }
    void add_write(Pending* writer, uint64_t position);
    void drop_write();
    struct Reads {
        int32_t count = 0;        // recorded entries that read it and have not run
        Pending* list = nullptr;  // theirs, null if of several
    };
    Reads reads() const;
    void add_read(Pending* reader);
    void drop_read();
    int32_t use_count() const { return count_.load(std::memory_order_acquire); }
    void fail(std::shared_ptr<const Error> failure);
    std::shared_ptr<const Error> failure() const;
    // Before a write that runs now: recorded reads and writes of this storage run first.
    void settle_uses();

    // Someone else can change the bytes: copies must be physical, reads and writes happen now.
    bool shared() const {
        return kind_ == StorageKind::Shared || exports_.load(std::memory_order_acquire) > 0;
    }
    bool read_only() const { return read_only_; }
    // A deferred copy: a new Storage on the same Block; null where that has writers or is shared().
    Ref<Storage> fork() const;
    // Before every write: leaves a Block that others hold.
    void own_block();
    // Around a write that runs now: the same, and until its end nobody forks.
    void begin_write();
    void end_write();
    // Memory handed out: counts until the consumer lets go. Leaves a shared Block first.
    void begin_export();
    void end_export() { exports_.fetch_sub(1, std::memory_order_acq_rel); }

    void retain() { count_.fetch_add(1, std::memory_order_relaxed); }
    void release() {
        if (count_.load(std::memory_order_acquire) == 1 ||
            count_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            delete this;
        }
    }

    static void* operator new(size_t size);
    static void operator delete(void* p, size_t size);

  private:
    Storage(Ref<Block> block, StorageKind kind, bool read_only)
        : nbytes_(block->nbytes()),
          device_(block->device()),
          kind_(kind),
          read_only_(read_only),
          block_(block.release()) {
        block_.load(std::memory_order_relaxed)->add_owner();
    }
    Storage(int64_t nbytes, DeviceId device)
        : nbytes_(nbytes), device_(device), kind_(StorageKind::Pool), read_only_(false) {}
    ~Storage() {
        Block* block = block_.load(std::memory_order_relaxed);
        if (!block) return;
        block->drop_owner();
        block->release();
    }
    // Puts another Block in place; returns the one before, no longer owned. By locked_.
    Ref<Block> exchange_block(Ref<Block> block);
    void settle_slowly() const;
    // The work of own_block under the lock, which it may leave in between; returns the Block left.
    Ref<Block> leave_shared_block();
    void lock() const;
    void unlock() const { locked_.clear(std::memory_order_release); }

    std::atomic<int32_t> count_{1};
    std::atomic<int32_t> exports_{0};
    int64_t nbytes_;
    mutable std::atomic_flag locked_ = ATOMIC_FLAG_INIT;
    DeviceId device_;
    StorageKind kind_;
    bool read_only_;
    std::atomic<Block*> block_{nullptr};     // counted, changed by locked_; null for a promise
    Reads reads_;                            // by locked_
    int32_t writes_ = 0;                     // recorded entries that write it; by locked_
    int32_t running_writes_ = 0;             // writes at the call that run; by locked_
    std::atomic<Pending*> writer_{nullptr};  // the list of the last of them
    std::atomic<uint64_t> written_at_{0};
    std::atomic<bool> failed_{false};
    std::shared_ptr<const Error> failure_;  // of the work that should have written it; by locked_
};

}  // namespace asc
