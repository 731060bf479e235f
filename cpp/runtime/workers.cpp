#include "runtime/workers.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/error.h"
#include "runtime/interrupt.h"

namespace asc::workers {
namespace {

// CPU time that the control group grants, in cores; 0 where there is no limit.
double granted_cores() {
    std::ifstream file("/sys/fs/cgroup/cpu.max");
    std::string quota;
    double period = 0;
    if (file >> quota >> period && quota != "max" && period > 0) return std::stod(quota) / period;
    return 0;
}

int default_count() {
    if (const char* setting = std::getenv("ASCEND_ARRAY_API_NUM_THREADS")) {
        int n = std::atoi(setting);
        if (n >= 1) return std::min(n, 1024);
    }
    cpu_set_t allowed;
    int n = sched_getaffinity(0, sizeof(allowed), &allowed) == 0
                ? CPU_COUNT(&allowed)
                : static_cast<int>(std::thread::hardware_concurrency());
    if (double granted = granted_cores(); granted > 0)
        n = std::min(n, static_cast<int>(std::ceil(granted)));
    return std::max(n, 1);
}

struct Job {
    void (*task)(void*, int64_t);
    void* ctx;
    int64_t items;
    int seats;  // workers that may still join; guarded by Team::mutex
    std::atomic<int64_t> next{0};
    std::atomic<int> active{0};  // workers inside the job
    std::atomic_flag failed{};
    std::exception_ptr thrown{};  // by the first item that failed; read when nobody is inside

    // Runs items until none is left, or one throws, or stop(), which is asked after each.
    template <class F>
    void work(F stop) noexcept {
        try {
            for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < items;) {
                task(ctx, i);
                if (stop()) end();
            }
        } catch (...) {
            end();
            if (!failed.test_and_set(std::memory_order_relaxed)) thrown = std::current_exception();
        }
    }

  private:
    // Nobody starts another item.
    void end() { next.store(items, std::memory_order_relaxed); }
};

struct Team {
    std::mutex owner;  // held by the caller whose job runs
    std::mutex mutex;  // guards `job`, `generation` and `started`
    std::condition_variable wake;
    Job* job = nullptr;
    std::atomic<uint64_t> generation{0};
    int started = 0;
    std::atomic<int> wanted{default_count()};
};

// Replaced in a forked child, where the threads of the parent do not exist.
Team* team = new Team;
thread_local bool inside_job = false;

// A thread looks this often for a new job, or the end of one, before it lets others run: about 20
// microseconds.
constexpr int kSpins = 2000;

inline void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb");  // waits some ten nanoseconds; the instruction `yield` mostly does not
#else
    std::this_thread::yield();
#endif
}

void worker_loop(Team* mine) {
    inside_job = true;
    uint64_t seen = 0;
    for (;;) {
        for (int spin = 0;
             spin < kSpins && mine->generation.load(std::memory_order_acquire) == seen; ++spin) {
            relax();
        }
        Job* job = nullptr;
        {
            std::unique_lock lock(mine->mutex);
            mine->wake.wait(
                lock, [&] { return mine->generation.load(std::memory_order_relaxed) != seen; });
            seen = mine->generation.load(std::memory_order_relaxed);
            job = mine->job && mine->job->seats-- > 0 ? mine->job : nullptr;
            if (job) job->active.fetch_add(1, std::memory_order_relaxed);
        }
        if (!job) continue;
        job->work([] { return false; });
        job->active.fetch_sub(1, std::memory_order_release);
    }
}

void before_fork() { team->owner.lock(); }
void after_fork_parent() { team->owner.unlock(); }
void after_fork_child() {
    int wanted = team->wanted.load();
    team = new Team;
    team->wanted.store(wanted);
}

void start_workers(Team& t, int n) {
    for (; t.started < n; ++t.started) {
        try {
            std::thread(worker_loop, &t).detach();
        } catch (const std::exception&) {
            return;  // fewer threads do the same work
        }
    }
}

}  // namespace

bool in_task() { return inside_job; }

void install_fork_handlers() { pthread_atfork(before_fork, after_fork_parent, after_fork_child); }

int count() { return std::min(team->wanted.load(std::memory_order_relaxed), most_here); }

void set_count(int n) {
    if (n < 1) raise(ErrorKind::Value, "set_num_threads: at least 1 thread is needed, got %d", n);
    team->wanted.store(std::min(n, 1024));
}

void run_alone(int64_t items, void (*task)(void* ctx, int64_t i), void* ctx) {
    for (int64_t i = 0; i < items; ++i) {
        task(ctx, i);
        if (!inside_job && Waiting::wanted()) throw Interrupted{};
    }
}

void run(int64_t items, void (*task)(void* ctx, int64_t i), void* ctx) {
    Team& t = *team;
    int threads = static_cast<int>(std::min<int64_t>(count(), items));
    std::unique_lock owner(t.owner, std::defer_lock);
    if (threads <= 1 || inside_job || !owner.try_lock()) return run_alone(items, task, ctx);
    Job job{task, ctx, items, threads - 1};
    {
        std::lock_guard lock(t.mutex);
        start_workers(t, threads - 1);
        t.job = &job;
        t.generation.fetch_add(1, std::memory_order_release);
    }
    t.wake.notify_all();
    inside_job = true;
    bool stopped = false;  // the caller alone is told to stop
    job.work([&] { return stopped = Waiting::wanted(); });
    inside_job = false;
    {
        // No worker can enter the job any more; those inside finish their last item.
        std::lock_guard lock(t.mutex);
        t.job = nullptr;
    }
    for (int spin = 0; job.active.load(std::memory_order_acquire) != 0; ++spin) {
        // Where there are more threads than cores, one of those inside may be waiting for this one.
        spin < kSpins ? relax() : std::this_thread::yield();
    }
    owner.unlock();
    if (job.thrown) std::rethrow_exception(job.thrown);
    if (stopped) throw Interrupted{};
}

}  // namespace asc::workers
