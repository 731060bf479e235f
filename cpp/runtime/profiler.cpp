#include "runtime/profiler.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <unordered_set>

#include "core/device_id.h"

namespace asc::profiler {
namespace {

struct Ring {
    std::mutex mutex;
    std::vector<Event> events;
    size_t capacity = 0, next = 0;  // of the oldest event, once all places are taken
    int64_t written = 0;            // events so far
    struct Mark {
        int64_t since, written;
    };
    std::vector<Mark> marks;  // where each profiler that is on started
    int64_t thread = gettid();
    const char* name = "thread";

    void write(const Event& event) {
        std::lock_guard lock(mutex);
        ++written;
        if (events.size() < capacity) {
            events.push_back(event);
            return;
        }
        events[next] = event;
        next = (next + 1) % capacity;
    }
    // A profiler starts, for which so many are kept.
    void mark(int64_t since, size_t wanted) {
        std::lock_guard lock(mutex);
        marks.push_back({since, written});
        if (wanted <= capacity) return;
        std::rotate(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(next),
                    events.end());
        next = 0;
        capacity = wanted;
    }
};

struct Session {
    std::mutex mutex;  // guards what follows; taken before that of a ring
    int users = 0;
    size_t capacity = 0;
    std::vector<std::shared_ptr<Ring>> rings;
    std::shared_ptr<Ring> of_devices[kMostDevices];  // those of them that belong to no thread
    std::atomic<uint64_t> number{0};  // of the session: each one has rings of its own
};

// Text that was interned.
struct Texts {
    std::mutex mutex;
    std::unordered_set<std::string> all;
};
Texts& texts = *new Texts;

// Replaced in a forked child, where other threads do not exist.
Session* session = new Session;
std::atomic<uint64_t> flows{0};
std::atomic<int64_t> memory_in_use[kMostDevices] = {};

struct Place {
    uint64_t session = 0;
    std::shared_ptr<Ring> ring;
};
thread_local Place place;
thread_local const char* thread_name = nullptr;

Ring* own_ring() {
    Session& s = *session;
    const uint64_t number = s.number.load(std::memory_order_acquire);
    if (place.session == number) return place.ring.get();
    std::lock_guard lock(s.mutex);
    if (s.users == 0) return nullptr;
    place.ring = std::make_shared<Ring>();
    place.ring->capacity = s.capacity;
    place.ring->name = thread_name ? thread_name : gettid() == getpid() ? "main" : "thread";
    place.session = s.number.load(std::memory_order_relaxed);
    s.rings.push_back(place.ring);
    return place.ring.get();
}

Thread read(Ring& ring, int64_t since) {
    std::lock_guard lock(ring.mutex);
    Thread thread{ring.thread, ring.name, {}, 0};
    const size_t n = ring.events.size();
    const auto mark = std::find_if(ring.marks.begin(), ring.marks.end(),
                                   [&](const Ring::Mark& m) { return m.since == since; });
    const int64_t first = mark == ring.marks.end() ? 0 : mark->written;
    thread.lost = std::max<int64_t>(ring.written - static_cast<int64_t>(n) - first, 0);
    if (mark != ring.marks.end()) ring.marks.erase(mark);
    for (size_t i = 0; i < n; ++i) {
        const Event& event = ring.events[(ring.next + i) % n];
        if (event.begin >= since) thread.events.push_back(event);
    }
    return thread;
}

}  // namespace

int64_t now() {
    const auto time = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

const std::string* intern(std::string_view text) {
    std::lock_guard lock(texts.mutex);
    return &*texts.all.emplace(text).first;
}

void write(const Event& event) {
    if (!on()) return;
    if (Ring* ring = own_ring()) ring->write(event);
}

void write_of_device(const Event& event) {
    if (!on()) return;
    Session& s = *session;
    std::lock_guard lock(s.mutex);
    if (s.users == 0) return;
    std::shared_ptr<Ring>& ring = s.of_devices[event.device];
    if (!ring) {
        ring = std::make_shared<Ring>();
        ring->capacity = s.capacity;
        ring->name = "device";
        ring->thread = -1 - int64_t{event.device};
        s.rings.push_back(ring);
    }
    ring->write(event);
}

uint64_t next_flow() { return flows.fetch_add(1, std::memory_order_relaxed) + 1; }

void count_memory(int64_t bytes, int device) {
    Event event;
    event.kind = Kind::Memory;
    event.begin = event.end = now();
    event.name = intern(bytes > 0 ? "allocate" : "free");
    event.elements = memory_in_use[device].fetch_add(bytes, std::memory_order_relaxed) + bytes;
    event.written = std::max<int64_t>(bytes, 0);
    event.read = std::max<int64_t>(-bytes, 0);
    event.device = static_cast<uint8_t>(device);
    write(event);
}

void name_thread(const char* name) { thread_name = name; }

void Span::start(Kind kind, Category category, const char* name, const std::string* line) {
    event_.kind = kind;
    event_.category = category;
    event_.name = intern(name);
    event_.line = line;
    event_.begin = now();
}

void Span::finish() {
    event_.end = now();
    write(event_);
}

int64_t start(size_t capacity, std::span<const int64_t> memory) {
    Session& s = *session;
    std::lock_guard lock(s.mutex);
    s.capacity = s.users == 0 ? capacity : std::max(s.capacity, capacity);
    if (s.users++ == 0) {
        s.rings.clear();
        for (auto& ring : s.of_devices) ring = nullptr;
        for (size_t i = 0; i < memory.size(); ++i)
            memory_in_use[i].store(memory[i], std::memory_order_relaxed);
        s.number.fetch_add(1, std::memory_order_release);
        is_on.store(true, std::memory_order_relaxed);
    }
    const int64_t since = now();
    for (const auto& ring : s.rings) ring->mark(since, s.capacity);
    return since;
}

std::vector<Thread> stop(int64_t since) {
    Session& s = *session;
    std::lock_guard lock(s.mutex);
    if (s.users > 0 && --s.users == 0) is_on.store(false, std::memory_order_relaxed);
    std::vector<Thread> threads;
    for (const auto& ring : s.rings) threads.push_back(read(*ring, since));
    if (s.users == 0) s.rings.clear();
    return threads;
}

void install_fork_handlers() {
    pthread_atfork(
        [] {
            session->mutex.lock();
            texts.mutex.lock();
        },
        [] {
            texts.mutex.unlock();
            session->mutex.unlock();
        },
        [] {
            texts.mutex.unlock();
            is_on.store(false);
            const uint64_t number = session->number.load();
            session = new Session;
            session->number.store(number + 1);
        });
}

}  // namespace asc::profiler
