#include "runtime/runners.h"

#include <pthread.h>

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "runtime/profiler.h"

namespace asc::runners {
namespace {

// More streams than this share runners.
constexpr int kMostRunners = 16;

struct Work {
    void (*run)(void*);
    void* context;
};

struct Crew {
    std::mutex mutex;  // guards all that follows but `stopping`
    std::condition_variable wake, quiet;
    std::deque<Work> waiting;
    int started = 0;
    int busy = 0;
    std::atomic<bool> stopping{false};
};

// Replaced in a forked child, where the threads of the parent do not exist.
Crew* crew = new Crew;

void runner_loop(Crew* mine) {
    profiler::name_thread("runner");
    std::unique_lock lock(mine->mutex);
    for (;;) {
        mine->wake.wait(lock, [&] { return !mine->waiting.empty() && !mine->stopping; });
        Work work = mine->waiting.front();
        mine->waiting.pop_front();
        ++mine->busy;
        lock.unlock();
        work.run(work.context);
        // A child that this thread forked has no other that could go on: its work is done.
        if (mine != crew) std::_Exit(0);
        lock.lock();
        --mine->busy;
        mine->quiet.notify_all();
    }
}

// One more runner, if there is work for it; by the mutex.
void start_runner(Crew& c) {
    int idle = c.started - c.busy;
    if (static_cast<int>(c.waiting.size()) <= idle || c.started == kMostRunners) return;
    std::thread(runner_loop, &c).detach();
    ++c.started;
}

}  // namespace

bool submit(void (*work)(void*), void* context) noexcept {
    Crew& c = *crew;
    std::lock_guard lock(c.mutex);
    if (c.stopping) return false;
    try {
        c.waiting.push_back({work, context});
    } catch (const std::exception&) {
        return false;
    }
    try {
        start_runner(c);
    } catch (const std::exception&) {
        if (c.started == 0) {
            c.waiting.pop_back();
            return false;
        }
    }
    c.wake.notify_one();
    return true;
}

const std::atomic<bool>& stopping() { return crew->stopping; }

void stop() {
    Crew& c = *crew;
    std::unique_lock lock(c.mutex);
    c.stopping = true;
    c.quiet.wait(lock, [&] { return c.busy == 0; });
}

void install_fork_handlers() {
    pthread_atfork([] { crew->mutex.lock(); }, [] { crew->mutex.unlock(); },
                   [] {
                       bool stopping = crew->stopping;
                       crew = new Crew;
                       crew->stopping = stopping;
                   });
}

}  // namespace asc::runners
