#include "graph/tape.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include "graph/fusion.h"
#include "graph/plan.h"
#include "graph/rules.h"
#include "runtime/pool.h"
#include "runtime/profiler.h"
#include "runtime/runners.h"
#include "runtime/workers.h"

namespace asc {
namespace {

// A tape runs in the background when it has this many entries, or keeps this share of memory alive;
// who records waits at twice as much.
constexpr size_t kMostEntries = 512;
constexpr int64_t kHeldShare = 8;

// How long a thread sleeps before it looks at signals again.
constexpr std::chrono::milliseconds kNap{50};

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

    std::vector<Tape*> all() {
        std::lock_guard lock(mutex);
        return tapes;
    }
};
Registry& registry() {
    static Registry& instance = *new Registry;
    return instance;
}

void finish_all_tapes() {
    for (Tape* tape : registry().all()) tape->finish();
}

void run_idle_tapes() {
    for (Tape* tape : registry().all()) tape->try_finish();
}

// A thread's own tape, made when it first records.
struct TapeOwner {
    Tape* tape = Tape::lend();
    ~TapeOwner() { Tape::give_back(tape); }
};

std::atomic<Caller (*)()> caller_hook{nullptr};

Caller caller() {
    auto hook = caller_hook.load(std::memory_order_acquire);
    return hook ? hook() : Caller{};
}

std::atomic<int64_t> recorded{0};
std::atomic<uint64_t> errors_noted{0};
thread_local const Tape* running_here = nullptr;

// The queue of accelerators that a tape has; tapes are never freed.
uint64_t queue_of(const Tape* tape) { return reinterpret_cast<uintptr_t>(tape); }

// This thread runs the tape until the end of the scope.
class RunningHere {
  public:
    explicit RunningHere(const Tape* tape) : outer_(std::exchange(running_here, tape)) {
        running_queue = queue_of(tape);
        profiler::running_stream = tape->number();
    }
    ~RunningHere() {
        running_here = outer_;
        running_queue = queue_of(outer_);
        profiler::running_stream = outer_ ? outer_->number() : 0;
    }
    RunningHere(const RunningHere&) = delete;
    RunningHere& operator=(const RunningHere&) = delete;

  private:
    const Tape* outer_;
};

// The profiler's view of the time in which a caller waits for a tape; made while the caller still
// has the interpreter's lock.
struct WaitSpan : profiler::Span {
    explicit WaitSpan(const Tape& tape)
        : Span(profiler::Kind::Wait, profiler::Category::Wait, "wait",
               profiler::on() ? caller().line : nullptr) {
        (*this)->stream = tape.number();
    }
};

// From a look at who reads and writes the operands until the entry stands on its tape: threads
// record without the interpreter's lock too. Taken before a registry's or a tape's mutex.
std::mutex recording;

// A fork wants every tape at rest; threads that record without end let it in between two segments.
std::atomic<bool> fork_waits{false};
bool gives_way_to_fork() { return !running_here && fork_waits.load(std::memory_order_relaxed); }

}  // namespace

// Around fork: everything has run, and no thread of the parent, which the child does not have,
// holds a lock or runs a tape. Nothing here lets go of the interpreter's lock without need: Python
// has locks of its own around fork, and from 3.13 on other threads wait for them with that one.
struct ForkGuard {
    // Waits for what other threads do at a call, for the child would have half of a write and locks
    // of storages that nobody lets go of, and for what is recorded.
    static void settle(bool with_lock) {
        if (!holding) Region::hold_back(1);
        holding = true;
        end_regions();
        const auto end = std::chrono::steady_clock::now() + kForkPatience;
        do {
            for (Tape* tape : registry().all()) tape->finish(Waiting::Signals::Ignored);
        } while (with_lock && !finish_with_lock() && std::chrono::steady_clock::now() < end);
    }
    static void lock() {
        // Inside of a hook another thread may wait for the tape that this one runs.
        claimed = !rules::inside_hook();
        if (!claimed) {
            recording.lock();
            registry().mutex.lock();
            for (Tape* tape : registry().tapes) tape->mutex_.lock();
            return;
        }
        if (!forking.try_lock()) {
            Waiting waiting(Waiting::Signals::Ignored);
            forking.lock();
        }
        settle(false);
        fork_waits = true;
        for (;;) {
            const size_t count = claim_idle();
            // With the interpreter's lock again: who waits for one of these mutexes may hold it.
            recording.lock();
            registry().mutex.lock();
            if (claim_from(count)) break;  // tapes that were made meanwhile
            registry().mutex.unlock();
            recording.unlock();
        }
        for (Tape* tape : registry().tapes) tape->mutex_.lock();
    }
    static void unlock() {
        if (claimed) let_go_on();
        for (Tape* tape : registry().tapes) {
            if (claimed) tape->running_ = false;
            tape->changed_.notify_all();
            tape->mutex_.unlock();
        }
        registry().mutex.unlock();
        recording.unlock();
        if (claimed) forking.unlock();
    }
    static void unlock_child() {
        // Other threads may have been about to fork.
        Region::hold_back_for(holding);
        if (!claimed) {
            let_go_on();
            new (&forking) std::mutex;
        }
        for (Tape* tape : registry().tapes) {
            // Nobody waits in the child, and no runner has taken this tape there.
            new (&tape->changed_) std::condition_variable;
            tape->with_runner_ = false;
            // Whoever ran it does not exist there, but for the tape whose hook has forked.
            if (tape != running_here) tape->running_ = false;
        }
        unlock();
    }

  private:
    static constexpr std::chrono::microseconds kForkNap{20};
    // Whoever is not ready by then waits for something that this thread has.
    static constexpr std::chrono::seconds kForkPatience{10};
    inline static std::mutex forking;                 // one thread at a time, but for hooks
    inline static thread_local bool claimed = false;  // every tape, by the thread that forks
    inline static thread_local bool holding = false;  // calls of other threads back

    static void let_go_on() {
        fork_waits = false;
        if (std::exchange(holding, false)) Region::hold_back(-1);
    }

    static void end_regions() {
        const uint64_t number = Region::next_number();
        const auto end = std::chrono::steady_clock::now() + kForkPatience;
        while (!Region::ended_elsewhere(number) && !Waiting::in_vain()) {
            if (std::chrono::steady_clock::now() > end) return;
            Waiting waiting(Waiting::Signals::Ignored);  // they end with the interpreter's lock
            std::this_thread::sleep_for(kForkNap);
        }
    }
    // What threads have recorded meanwhile, which record no more now. False where they still run
    // it.
    static bool finish_with_lock() {
        if (running_here || Waiting::in_vain()) return true;
        const Waiting::WithLock kept;
        bool finished = true;
        for (Tape* tape : registry().all()) {
            tape->try_finish();
            std::lock_guard lock(tape->mutex_);
            finished &= !tape->running_ && tape->completed_ == tape->position_;
        }
        return finished;
    }
    // Waits until no tape runs, and claims them; how many there are.
    static size_t claim_idle() {
        {
            std::lock_guard lock(registry().mutex);
            if (claim_from(0)) return registry().tapes.size();
        }
        Waiting waiting(Waiting::Signals::Ignored);
        for (;; std::this_thread::sleep_for(kForkNap)) {
            std::lock_guard lock(registry().mutex);
            if (claim_from(0)) return registry().tapes.size();
        }
    }
    // The tapes from number `first` on, behind those claimed before. All or none: a thread that
    // runs one tape may need another.
    static bool claim_from(size_t first) {
        const std::vector<Tape*>& tapes = registry().tapes;
        for (size_t i = first; i < tapes.size(); ++i) {
            if (claim(*tapes[i])) continue;
            while (i-- > 0) {
                std::lock_guard tape_lock(tapes[i]->mutex_);
                tapes[i]->running_ = false;
                tapes[i]->changed_.notify_all();
            }
            return false;
        }
        return true;
    }
    static bool claim(Tape& tape) {
        std::lock_guard lock(tape.mutex_);
        return !std::exchange(tape.running_, true);
    }
};

void settle_before_fork(bool with_lock) noexcept {
    if (rules::inside_hook()) return;
    try {
        ForkGuard::settle(with_lock);
    } catch (const std::bad_alloc&) {  // the handler of fork waits again
    }
}

const Deferral deferral_in_force = deferral_setting();

bool fusion_enabled() {
    static const bool enabled = [] {
        const char* setting = std::getenv("ASCEND_ARRAY_API_FUSION");
        return !setting || std::strcmp(setting, "off") != 0;
    }();
    return enabled;
}

// ---- tapes

void set_caller_hook(Caller (*hook)()) { caller_hook.store(hook, std::memory_order_release); }

Tape::Tape(size_t number)
    : number_(static_cast<uint16_t>(number)), plans_(std::make_unique<CapturedPlans>()) {}

Tape& Tape::own() {
    thread_local TapeOwner owner;
    return *owner.tape;
}

Tape& Tape::current() {
    Tape* tape = caller().tape;
    return tape ? *tape : own();
}

Tape* Tape::lend() {
    std::lock_guard lock(registry().mutex);
    auto& [mutex, tapes, idle] = registry();
    if (idle.empty()) {
        tapes.reserve(tapes.size() + 1);
        idle.reserve(tapes.size() + 1);  // giving it back needs no memory
        return tapes.emplace_back(new Tape(tapes.size() + 1));
    }
    Tape* tape = idle.back();
    idle.pop_back();
    return tape;
}

void Tape::give_back(Tape* tape) {
    std::lock_guard lock(registry().mutex);
    registry().idle.push_back(tape);
}

void Tape::install() {
    Pending::finish_all_ = finish_all_tapes;
    Pending::run_idle_ = run_idle_tapes;
    Pending::inside_run_ = [] { return running_here || workers::in_task(); };
    pthread_atfork(ForkGuard::lock, ForkGuard::unlock, ForkGuard::unlock_child);
}

std::vector<Tape*> Tape::all() { return registry().all(); }

bool Tape::idle() const {
    std::lock_guard lock(mutex_);
    return completed_ == position_;
}

void Tape::note(Failure error) {
    std::lock_guard lock(mutex_);
    if (error_) return;
    error_ = std::move(error);
    error_time_ = errors_noted.fetch_add(1, std::memory_order_relaxed);
}

Failure Tape::take_error(uint64_t& time) {
    std::lock_guard lock(mutex_);
    time = error_time_;
    return std::exchange(error_, nullptr);
}

void Tape::raise_error() {
    uint64_t time = 0;
    if (Failure error = take_error(time)) throw Error(*error);
}

void Tape::raise_any_error() {
    Failure first;
    uint64_t first_time = 0;
    for (Tape* tape : registry().all()) {
        uint64_t time = 0;
        Failure error = tape->take_error(time);
        if (!error || (first && time > first_time)) continue;
        first = std::move(error);
        first_time = time;
    }
    if (first) throw Error(*first);
}

Tape::Counters Tape::counters() {
    FusionCounters f = fusion_counters();
    return {recorded.load(), f.dead, f.groups, f.programs, f.replays};
}

// ---- events

void Event::reach() {
    for (int i = 0; devices::accelerators && i < devices::count; ++i) {
        if (auto event = devices::list[i]->record(queue_of(tape_)))
            elsewhere_.push_back(std::move(event));
    }
    time_ = std::chrono::steady_clock::now();
    reached_.store(true, std::memory_order_release);
}

bool Event::done() const {
    return reached() && std::all_of(elsewhere_.begin(), elsewhere_.end(),
                                    [](const auto& event) { return event->done(); });
}

double Event::milliseconds_since(const Event& earlier) const {
    const double on_host = std::chrono::duration<double, std::milli>(time_ - earlier.time_).count();
    if (on_host < 0) return -earlier.milliseconds_since(*this);
    double longest = elsewhere_.empty() ? on_host : 0;
    for (size_t i = 0; i < elsewhere_.size(); ++i)
        longest = std::max(longest, elsewhere_[i]->milliseconds_since(*earlier.elsewhere_[i]));
    return longest;
}

void Event::wait() {
    if (!reached()) tape_->finish_until(*this);
    for (const auto& event : elsewhere_) event->wait();
}

void Tape::close(std::shared_ptr<Event> Segment::* kind, std::shared_ptr<Event> event) {
    Segment& last = open_segment();
    last.*kind = std::move(event);
    ++last.steps;
    ++position_;
}

std::shared_ptr<Event> Tape::mark() {
    auto event = std::make_shared<Event>(this);
    std::lock_guard lock(mutex_);
    if (completed_ == position_) {
        event->reach();
    } else {
        close(&Segment::reaches, event);
    }
    return event;
}

void Tape::await(std::shared_ptr<Event> event) {
    if (event->reached()) return;
    std::lock_guard lock(mutex_);
    close(&Segment::awaits, std::move(event));
}

// ---- recording

bool Tape::crowded(int times) const {
    return waiting_entries_ >= kMostEntries * static_cast<size_t>(times) ||
           waiting_bytes_ > pool::memory_limit() / kHeldShare * times;
}

Segment& Tape::open_segment() {
    if (segments_.empty() || segments_.back().closed()) {
        segments_.emplace_back();
        segments_.back().entries.swap(spare_);
    }
    return segments_.back();
}

void Tape::order_after(Tape& other, uint64_t position) {
    if (&other == this) return;
    {
        std::lock_guard lock(mutex_);
        auto seen = ordered_.find(&other);
        if (seen != ordered_.end() && seen->second >= position) return;
    }
    {
        std::lock_guard lock(other.mutex_);
        position = other.position_;
    }
    // Others may record there meanwhile, which only moves the event further back.
    std::shared_ptr<Event> event = other.mark();
    other.submit();
    await(std::move(event));
    std::lock_guard lock(mutex_);
    ordered_[&other] = position;
}

void Tape::order(const Entry& entry) {
    // Only tapes are lists of recorded work.
    auto after_writer = [this](const Storage& storage) {
        Pending* writer = storage.writer();
        if (writer) order_after(static_cast<Tape&>(*writer), storage.written_at());
        return writer != nullptr;
    };
    for (int k = 0; k < entry.arity; ++k) {
        if (entry.constant[k]) continue;
        const Storage& storage = *entry.inputs[k].storage;
        if (!after_writer(storage)) storage.settle();
    }
    const Storage& target = *entry.output.storage;
    after_writer(target);
    const Storage::Reads reads = target.reads();
    if (reads.count == 0 || reads.list == this) return;
    for (Tape* tape : registry().all()) {
        if ((!reads.list || reads.list == tape) && !tape->idle()) order_after(*tape, UINT64_MAX);
    }
}

bool Tape::push(Entry entry) {
    Storage& target = *entry.output.storage;
    int64_t held =
        !target.promised() && !target.writer() && target.reads().count == 0 ? target.nbytes() : 0;
    for (int k = 0; k < entry.arity; ++k) {
        if (entry.constant[k]) continue;
        const Storage& storage = *entry.inputs[k].storage;
        if (!storage.writer() && storage.reads().count == 0) held += storage.nbytes();
    }
    Segment& last = open_segment();
    Entry& e = last.entries.emplace_back(std::move(entry));  // nothing has changed if this throws
    last.held += held;
    ++last.steps;
    for (int k = 0; k < e.arity; ++k) {
        if (!e.constant[k]) e.inputs[k].storage->add_read(this);
    }
    target.add_write(this, ++position_);
    waiting_bytes_ += held;
    ++waiting_entries_;
    // Whoever exports the memory from now on sees the entry.
    bool shared = target.shared();
    for (int k = 0; k < e.arity; ++k) shared |= !e.constant[k] && e.inputs[k].storage->shared();
    return shared;
}

void Tape::record(Entry entry) {
    rules::refuse_inside_hook();
    entry.output.storage->require_present(entry.function);
    profiler::Span span(profiler::Kind::Record, profiler::Category::Host, entry.function);
    for (int k = 0; k < entry.arity; ++k) {
        if (!entry.constant[k]) entry.inputs[k].storage->require_present(entry.function);
    }
    entry.line = caller().line;
    if (span) {
        entry.flow = span->flow = profiler::next_flow();
        span->line = entry.line;
        span->stream = number_;
        span->elements = entry.output.size();
    }
    bool run = false, wait = false, shared = false;
    {
        std::lock_guard recording_lock(recording);
        order(entry);
        std::lock_guard lock(mutex_);
        shared = push(std::move(entry));
        run = crowded(1);
        wait = crowded(2);
    }
    recorded.fetch_add(1, std::memory_order_relaxed);
    // Memory that someone else can change is read and written at the call.
    if (shared) return finish();
    if (run) submit();
    if (wait) {
        WaitSpan wait_span(*this);
        Waiting waiting;
        complete(waiting, [this] { return !crowded(2); });
    }
}

// ---- running

Segment Tape::split(Segment& segment, size_t count) {
    const auto first = segment.entries.begin(), end = first + static_cast<std::ptrdiff_t>(count);
    Segment front;
    front.entries.assign(std::move_iterator(first), std::move_iterator(end));
    front.held =
        segment.held / static_cast<int64_t>(segment.entries.size()) * static_cast<int64_t>(count);
    front.steps = count;
    segment.entries.erase(first, end);
    segment.held -= front.held;
    segment.steps -= count;
    return front;
}

bool Tape::next_segment() {
    if (running_segment_) return true;
    if (segments_.empty()) return false;
    Segment& front = segments_.front();
    const size_t all = front.entries.size();
    if (predictive.load(std::memory_order_relaxed)) {
        try {
            const size_t taken = CapturedPlans::stretch(front.entries);
            if (taken < all) running_segment_ = split(front, taken);
        } catch (const std::bad_alloc&) {  // then all of it is taken, which needs no memory
        }
    }
    if (!running_segment_) {
        running_segment_ = std::move(front);
        segments_.pop_front();
    }
    waiting_entries_ -= running_segment_->entries.size();
    waiting_bytes_ -= running_segment_->held;
    changed_.notify_all();
    return true;
}

void Tape::release(std::vector<Entry>& entries) {
    for (Entry& e : entries) {
        if (!e.done) continue;
        for (int k = 0; k < e.arity; ++k) {
            if (!e.constant[k]) e.inputs[k].storage->drop_read();
        }
        e.output.storage->drop_write();
    }
    std::erase_if(entries, [](const Entry& e) { return e.done; });
}

bool Tape::run_segment() {
    Segment& segment = *running_segment_;
    {
        RunningHere running(this);
        Outcome outcome;
        if (!segment.entries.empty()) outcome = run_entries(segment.entries, *plans_);
        if (outcome.error) note(outcome.error);
        release(segment.entries);
        if (!outcome.finished) return false;
        if (segment.awaits) {
            const Event& event = *segment.awaits;
            if (!event.tape_->advance([&] { return event.reached(); })) return false;
        }
    }
    std::lock_guard lock(mutex_);
    if (segment.reaches) segment.reaches->reach();
    completed_ += segment.steps;
    if (spare_.capacity() < segment.entries.capacity()) spare_.swap(segment.entries);
    running_segment_.reset();
    changed_.notify_all();
    return true;
}

template <class F>
bool Tape::advance(F done) {
    std::unique_lock lock(mutex_);
    bool stopped = false;
    while (!stopped && !done()) {
        if (running_ || gives_way_to_fork()) {
            changed_.wait_for(lock, kNap);
            stopped = Waiting::due();
            continue;
        }
        running_ = true;
        while (!stopped && !done() && !gives_way_to_fork() && next_segment()) {
            lock.unlock();
            stopped = !run_segment();
            lock.lock();
        }
        running_ = false;
        changed_.notify_all();
    }
    return !stopped;
}

template <class F>
void Tape::complete(Waiting& waiting, F done) {
    while (!advance(done)) waiting.check();
}

void Tape::finish() { finish(Waiting::Signals::Handled); }

void Tape::finish(Waiting::Signals signals) {
    if ((running_here && !rules::inside_hook()) || workers::in_task()) return;
    uint64_t end = 0;
    {
        std::lock_guard lock(mutex_);
        if (completed_ == position_) return;
        end = position_;
    }
    rules::refuse_inside_hook();
    WaitSpan span(*this);
    Waiting waiting(signals);
    complete(waiting, [&] { return completed_ >= end; });
}

void Tape::try_finish() {
    if (running_here || workers::in_task()) return;
    uint64_t end = 0;
    {
        std::lock_guard lock(mutex_);
        if (running_ || completed_ == position_) return;
        end = position_;
    }
    rules::HooksOff hooks_off;
    Waiting waiting(Waiting::Signals::Ignored);
    advance([&] { return completed_ >= end; });
}

void Tape::inspect(const std::function<void(std::span<Entry>)>& f) {
    rules::refuse_inside_hook();
    Waiting waiting;
    std::deque<Segment> taken;
    for (;;) {
        std::unique_lock lock(mutex_);
        if (!running_) {
            running_ = true;
            taken.swap(segments_);
            break;
        }
        changed_.wait_for(lock, kNap);
        lock.unlock();
        waiting.check();
    }
    std::exception_ptr thrown;
    try {
        RunningHere running(this);
        if (running_segment_) f(running_segment_->entries);
        for (Segment& segment : taken) f(segment.entries);
    } catch (...) {
        thrown = std::current_exception();
    }
    std::lock_guard lock(mutex_);
    for (auto last = taken.rbegin(); last != taken.rend(); ++last)
        segments_.push_front(std::move(*last));
    running_ = false;
    changed_.notify_all();
    if (thrown) std::rethrow_exception(thrown);
}

void Tape::finish_until(const Event& event) {
    rules::refuse_inside_hook();
    WaitSpan span(*this);
    Waiting waiting;
    complete(waiting, [&] { return event.reached(); });
}

bool Tape::submit() {
    {
        std::lock_guard lock(mutex_);
        submitted_ = position_;
        if (with_runner_ || completed_ == position_) return true;
        with_runner_ = true;
    }
    bool taken =
        runners::submit([](void* tape) { static_cast<Tape*>(tape)->run_submitted(); }, this);
    if (!taken) {
        std::lock_guard lock(mutex_);
        with_runner_ = false;
    }
    return taken;
}

void Tape::run_submitted() {
    Waiting waiting(Waiting::Signals::Ignored, &runners::stopping());
    for (;;) {
        bool finished = advance([this] { return completed_ >= submitted_; });
        std::lock_guard lock(mutex_);
        if (finished && completed_ < submitted_) continue;
        with_runner_ = false;
        return;
    }
}

}  // namespace asc
