// The worker threads: one job at a time, its items handed out in order to whoever is free.
//
// Lock rule: `run` of several callers is serialised by one mutex; a nested or competing call runs
// its items on the calling thread alone, so it never waits for another job.
#pragma once
#include <cstdint>
#include <limits>
#include <type_traits>

#include "backend/cpu/kernels/table.h"

namespace asc::workers {

// The least work (in additions of elements) that is worth a second thread.
inline constexpr int64_t kThreadWork = 1 << 15;

// The most threads for jobs of this thread.
inline thread_local int most_here = std::numeric_limits<int>::max();
// Threads that work on a job, the caller included.
int count();
// n >= 1; takes effect with the next job.
void set_count(int n);
// This thread is inside a task.
bool in_task();
// Once, before others that fork must find running workers: parks them around fork.
void install_fork_handlers();
// Runs task(ctx, i) for i in [0, items) and returns when all are done. What a task throws, on
// whatever thread, is thrown here, some items not done; so is Interrupted where the caller's work
// is Abandonable and told to stop.
void run(int64_t items, void (*task)(void* ctx, int64_t i), void* ctx);
// The same on this thread alone.
void run_alone(int64_t items, void (*task)(void* ctx, int64_t i), void* ctx);

// As run, for a callable.
template <class F>
void for_each(int64_t items, F&& body) {
    using Body = std::remove_reference_t<F>;
    run(items, [](void* ctx, int64_t i) { (*static_cast<Body*>(ctx))(i); }, &body);
}

// The same facility as kernels see it.
inline cpu::Parallel parallel() { return {count(), run}; }

}  // namespace asc::workers
