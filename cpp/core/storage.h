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

  public:
    // None is active, so that no thread looks at raw memory: true only where every one that does
    // is in a Region or has the interpreter's lock.
    static bool none();
    // False where threads work on raw memory without either: on a Python without that lock.
    inline static bool cover_all_ = true;
    // While forks wait, calls begin none: they keep the interpreter's lock.
    static void hold_back(int forks) { held_back_ += forks; }
    static void hold_back_for(int forks) { held_back_ = forks; }  // alone
    static bool held_back() { return held_back_.load() > 0; }
    // The number of the next one, and whether all before it have ended, but those of this thread
    // and of threads at rest.
    static uint64_t next_number();
    static bool ended_elsewhere(uint64_t number);

    // In the middle of a Region this thread runs Python, which may wait for anybody.
    class Rest {
      public:
        Rest() : outer_(resting_here.exchange(true)) {}
        ~Rest() { resting_here = outer_; }
        Rest(const Rest&) = delete;
        Rest& operator=(const Rest&) = delete;

      private:
        bool outer_;
    };

  private:
    static constinit thread_local std::atomic<bool> resting_here;
    inline static std::atomic<int> held_back_{0};
    Region* older_ = nullptr;  // the active ones are a list, by age
    Region* newer_ = nullptr;
    uint64_t number_ = 0;
    const std::atomic<bool>* resting_ = &resting_here;  // names the thread, too
};
void install_region_fork_handlers();  // once

// What the program said it will do with a storage, as bits of a set.
enum class Hint : uint8_t {
    Temporary,         // read once more at most: the next result may take its memory
    SequentialAccess,  // large and read in order, once: it goes past the caches
    ReduceOutput,      // reduced where it is made, whatever that costs in arithmetic
    Transposed,        // read with its last two axes exchanged
    ConvWeight,        // the second factor of many products
};
inline constexpr const char* kHintNames[] = {"temporary", "sequential_access", "reduce_output",
                                             "transposed", "conv_weight"};
inline constexpr int kNumHints = sizeof(kHintNames) / sizeof(kHintNames[0]);

// Why nobody may look at a storage any more.
enum class Gone : uint8_t { No, GivenBack, Donated };

// A list of recorded operations (a tape) as storages see it.
class Pending {
  public:
    // Runs everything recorded so far. Never called while a lock of this file is held.
    virtual void finish() = 0;
    // Runs everything recorded on any list.
    static void finish_all() { finish_all_(); }
    // Runs what no other thread is running, without waiting; nothing inside of such a run.
    static void run_idle() { run_idle_(); }
    // This thread runs recorded work, or a part of some.
    static bool inside_run() { return inside_run_(); }

  protected:
    ~Pending() = default;
    inline static bool (*inside_run_)() = [] { return false; };
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
    // Every recorded write has run, and the bytes are there.
    bool finished() const {
        return !writer_.load(std::memory_order_acquire) &&
               !unusable_.load(std::memory_order_acquire);
    }
    // The bytes of a finished storage belong to somebody else.
    bool borrowed() const { return block_.load(std::memory_order_acquire)->borrowed(); }
    // Runs the recorded work that writes this storage; throws the error of work that failed, or
    // that the storage is gone.
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
    // Operands of recorded entries that have not run.
    int32_t pending_operands() const;
    // Someone beside so many operands of recorded entries may look at it.
    bool held_beside(int operands) const;
    void fail(std::shared_ptr<const Error> failure);
    std::shared_ptr<const Error> failure() const;
    // Before a write that runs now: recorded reads and writes of this storage run first.
    void settle_uses();

    // ---- what the program says of it
    bool has(Hint hint) const {
        return hints_.load(std::memory_order_relaxed) >> static_cast<int>(hint) & 1;
    }
    uint8_t hints() const { return hints_.load(std::memory_order_relaxed); }
    void add(Hint hint) { hints_.fetch_or(static_cast<uint8_t>(1 << static_cast<int>(hint))); }
    // Nobody looks at it any more: its Block goes as soon as recorded work is done with it. False,
    // with nothing done, where the memory is shared() or gone already.
    bool give_up(Gone reason);
    bool gone() const { return gone_.load(std::memory_order_acquire) != Gone::No; }
    // Throws Error(Runtime) if it is, naming the function where one is given.
    void require_present(const char* function = nullptr) const {
        if (gone()) raise_gone(function);
    }
    // The same for the result that comes next, which may take the Block; false where somebody may
    // look at it, beside so many operands of recorded entries.
    bool donate(int operands);
    // The Block is ours, and no copy's.
    bool owns_block() const;
    // For whoever runs recorded work: nobody needs the Block of a storage that is gone.
    void drop_gone_block();

    // Something made of the bytes, packed for reading; it lives until they may have changed.
    std::shared_ptr<const void> derived() const;
    // Counts the times that the bytes may have changed.
    uint64_t changes() const;
    // Keeps it, if the bytes are as they were at that count.
    void keep_derived(std::shared_ptr<const void> derived, uint64_t changes);

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
    [[noreturn]] void raise_gone(const char* function) const;
    // By locked_.
    void note_change() {
        ++changes_;
        if (derived_) derived_.reset();
    }
    bool idle() const { return writes_ == 0 && reads_.count == 0; }
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
    std::shared_ptr<const Error> failure_;  // of the work that should have written it; by locked_
    std::atomic<bool> unusable_{false};     // failed or gone
    std::atomic<Gone> gone_{Gone::No};      // changed by locked_
    std::atomic<uint8_t> hints_{0};
    uint64_t changes_ = 0;                 // by locked_
    std::shared_ptr<const void> derived_;  // by locked_
    friend struct Regions;
    Storage* next_retired_ = nullptr;
    uint64_t first_free_ = 0;  // as that of a Block
};

}  // namespace asc
