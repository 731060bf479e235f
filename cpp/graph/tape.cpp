#include "graph/tape.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <thread>
#include <utility>

#include "graph/fusion.h"
#include "runtime/pool.h"
#include "runtime/workers.h"

namespace asc {
namespace {

// A tape runs by itself when it has this many entries, or keeps this share of memory alive.
constexpr size_t kMostEntries = 512;
constexpr int64_t kHeldShare = 8;

Deferral deferral_setting() {
    const char* setting = std::getenv("ASCEND_ARRAY_API_DEFER");
    if (setting && !std::strcmp(setting, "off")) return Deferral::Off;
    if (setting && !std::strcmp(setting, "always")) return Deferral::Always;
    return Deferral::Auto;
}

// Every tape that was ever made; one whose thread has ended serves a new thread.
struct Registry {
    std::mutex mutex;
    std::vector<Tape*> tapes;
    std::vector<Tape*> idle;
};
Registry& registry() {
    static Registry& instance = *new Registry;
    return instance;
}

std::vector<Tape*> all_tapes() {
    std::lock_guard lock(registry().mutex);
    return registry().tapes;
}

void finish_all_tapes() {
    for (Tape* tape : all_tapes()) tape->finish();
}

void run_idle_tapes() {
    for (Tape* tape : all_tapes()) tape->try_finish();
}

WaitHooks wait_hooks = {[]() -> void* { return nullptr; }, [](void*) {}};

struct Waiting {
    Region region;
    void* state = wait_hooks.before();
    ~Waiting() { wait_hooks.after(state); }
};

// How long a thread waits before it looks again at what another one does.
constexpr std::chrono::microseconds kPatience{20};

}  // namespace

// Around fork: everything has run, and no thread of the parent, which the child does not have,
// holds a lock.
struct ForkGuard {
    static void lock() {
        finish_all_tapes();
        {
            Waiting waiting;
            while (!try_lock()) std::this_thread::sleep_for(kPatience);
        }
        // Last, with the interpreter's lock again: who waits for one of these may hold it.
        for (Tape* tape : registry().tapes) tape->mutex_.lock();
    }
    static void unlock() {
        for (Tape* tape : registry().tapes) {
            tape->mutex_.unlock();
            tape->running_.unlock();
        }
        registry().mutex.unlock();
    }

  private:
    // All locks or none: a thread that runs one tape may need another.
    static bool try_lock() {
        std::unique_lock lock(registry().mutex);
        const std::vector<Tape*>& tapes = registry().tapes;
        for (size_t i = 0; i < tapes.size(); ++i) {
            if (tapes[i]->running_.try_lock()) continue;
            while (i-- > 0) tapes[i]->running_.unlock();
            return false;
        }
        lock.release();
        return true;
    }
};

namespace {

// A thread's own tape, made when it first records.
struct TapeOwner {
    Tape* tape = Tape::lend();
    ~TapeOwner() { Tape::give_back(tape); }
};
thread_local Tape* stream_tape = nullptr;

std::atomic<int64_t> recorded{0};
thread_local const Tape* running_here = nullptr;

}  // namespace

const Deferral deferral_in_force = deferral_setting();

bool fusion_enabled() {
    static const bool enabled = [] {
        const char* setting = std::getenv("ASCEND_ARRAY_API_FUSION");
        return !setting || std::strcmp(setting, "off") != 0;
    }();
    return enabled;
}

void set_wait_hooks(WaitHooks hooks) { wait_hooks = hooks; }

Tape& Tape::current() {
    if (stream_tape) return *stream_tape;
    thread_local TapeOwner owner;
    return *owner.tape;
}

Tape* Tape::use(Tape* tape) { return std::exchange(stream_tape, tape); }

Tape* Tape::lend() {
    std::lock_guard lock(registry().mutex);
    if (registry().idle.empty()) return registry().tapes.emplace_back(new Tape);
    Tape* tape = registry().idle.back();
    registry().idle.pop_back();
    return tape;
}

void Tape::give_back(Tape* tape) {
    std::lock_guard lock(registry().mutex);
    registry().idle.push_back(tape);
}

void Tape::install() {
    Pending::finish_all_ = finish_all_tapes;
    Pending::run_idle_ = run_idle_tapes;
    pthread_atfork(ForkGuard::lock, ForkGuard::unlock, ForkGuard::unlock);
}

bool Tape::idle() const {
    std::unique_lock run_lock(running_, std::try_to_lock);
    if (!run_lock) return false;
    std::lock_guard lock(mutex_);
    return entries_.empty();
}

void Event::wait() {
    if (!done()) tape_->finish_until(*this);
}

std::shared_ptr<Event> Tape::mark() {
    auto event = std::make_shared<Event>(this);
    Entry marker;
    marker.kind = Entry::Kind::Marker;
    marker.arity = 0;
    marker.reaches = event;
    std::unique_lock run_lock(running_, std::try_to_lock);
    std::lock_guard lock(mutex_);
    if (run_lock && entries_.empty()) {
        event->reach();
    } else {
        entries_.push_back(std::move(marker));
    }
    return event;
}

void Tape::await(std::shared_ptr<Event> event) {
    Entry marker;
    marker.kind = Entry::Kind::Marker;
    marker.arity = 0;
    marker.awaits = std::move(event);
    std::lock_guard lock(mutex_);
    entries_.push_back(std::move(marker));
}

// Entries between two markers run together.
void Tape::run(std::span<Entry> entries) {
    size_t first = 0;
    for (size_t i = 0; i < entries.size(); ++i) {
        Entry& marker = entries[i];
        if (marker.kind != Entry::Kind::Marker) continue;
        run_entries(entries.subspan(first, i - first));
        if (marker.reaches) marker.reaches->reach();
        if (marker.awaits) marker.awaits->wait();
        first = i + 1;
    }
    run_entries(entries.subspan(first));
}

Pending* Tape::blocking(const Entry& entry) const {
    for (int k = 0; k < entry.arity; ++k) {
        if (entry.constant[k]) continue;
        const Storage& storage = *entry.inputs[k].storage;
        Pending* writer = storage.writer();
        if (writer == this) continue;
        if (writer) return writer;
        storage.settle();
    }
    Pending* writer = entry.output.storage->writer();
    return writer == this ? nullptr : writer;
}

bool Tape::read_elsewhere(const Storage& storage) const {
    int32_t readers = storage.readers();
    if (readers == 0) return false;
    std::lock_guard lock(mutex_);
    for (const Entry& e : entries_) {
        for (int k = 0; k < e.arity; ++k)
            readers -= !e.constant[k] && e.inputs[k].storage.get() == &storage;
    }
    return readers > 0;
}

void Tape::record(Entry entry) {
    Storage& target = *entry.output.storage;
    // Each wait lets other threads record, so everything is looked at again behind it. Inside a run
    // storages are used as they are.
    bool waits = !running_here && !workers::in_task();
    while (waits) {
        if (Pending* other = blocking(entry)) {
            other->finish();
        } else if (read_elsewhere(target)) {
            finish_all_tapes();
        } else {
            break;
        }
    }
    bool shared = target.shared();
    int64_t held =
        !target.promised() && !target.writer() && target.readers() == 0 ? target.nbytes() : 0;
    for (int k = 0; k < entry.arity; ++k) {
        if (entry.constant[k]) continue;
        const Storage& storage = *entry.inputs[k].storage;
        shared |= storage.shared();
        if (!storage.writer() && storage.readers() == 0) held += storage.nbytes();
    }
    bool full = false;
    {
        std::lock_guard lock(mutex_);
        for (int k = 0; k < entry.arity; ++k) {
            if (!entry.constant[k]) entry.inputs[k].storage->add_reader();
        }
        target.set_writer(this);
        entries_.push_back(std::move(entry));
        held_bytes_ += held;
        full = entries_.size() >= kMostEntries || held_bytes_ > pool::memory_limit() / kHeldShare;
    }
    recorded.fetch_add(1, std::memory_order_relaxed);
    // Memory that someone else can change is read and written at the call.
    if (full || shared) finish();
}

std::vector<Entry> Tape::run_first(size_t count) {
    std::vector<Entry> entries;
    {
        std::lock_guard lock(mutex_);
        if (count >= entries_.size()) {
            entries.swap(entries_);
            held_bytes_ = 0;
        } else {
            auto last = entries_.begin() + static_cast<std::ptrdiff_t>(count);
            entries.assign(std::make_move_iterator(entries_.begin()),
                           std::make_move_iterator(last));
            entries_.erase(entries_.begin(), last);
        }
    }
    if (entries.empty()) return entries;
    const Tape* outer = std::exchange(running_here, this);
    run(entries);
    running_here = outer;
    for (Entry& entry : entries) {
        for (int k = 0; k < entry.arity; ++k) {
            if (!entry.constant[k]) entry.inputs[k].storage->drop_reader();
        }
    }
    std::lock_guard lock(mutex_);
    // What has been recorded meanwhile may write the same storages again.
    for (Entry& entry : entries) {
        bool again = false;
        for (const Entry& later : entries_) again |= later.output.storage == entry.output.storage;
        if (!again && entry.output.storage) entry.output.storage->set_writer(nullptr);
    }
    return entries;
}

void Tape::finish() {
    // Inside a run of its own, a tape's storages are used as they are.
    if (running_here == this || workers::in_task()) return;
    std::vector<Entry> entries;  // destroyed after the locks are released
    Waiting waiting;
    std::lock_guard run_lock(running_);
    entries = run_first(SIZE_MAX);
}

void Tape::try_finish() {
    if (running_here || workers::in_task()) return;
    std::vector<Entry> entries;  // destroyed after the locks are released
    Region region;
    std::unique_lock run_lock(running_, std::try_to_lock);
    if (run_lock) entries = run_first(SIZE_MAX);
}

void Tape::finish_until(const Event& event) {
    std::vector<Entry> entries;  // destroyed after the locks are released
    Waiting waiting;
    // Two tapes may wait for events of each other, so neither waits for the other's lock.
    while (!event.done()) {
        std::unique_lock run_lock(running_, std::try_to_lock);
        if (!run_lock) {
            std::this_thread::sleep_for(kPatience);
            continue;
        }
        size_t count = 0;
        {
            std::lock_guard lock(mutex_);
            while (count < entries_.size() && entries_[count].reaches.get() != &event) ++count;
        }
        entries = run_first(count + 1);
    }
}

Tape::Counters Tape::counters() {
    FusionCounters f = fusion_counters();
    return {recorded.load(), f.dead, f.groups, f.programs};
}

}  // namespace asc
