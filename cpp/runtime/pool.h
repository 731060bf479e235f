// The caching allocator of the CPU device: memory aligned to 64 bytes, reused.
//
// Small pieces have a class for each 64 bytes and are kept by their thread, larger ones come from
// segments (segments.h). Where a thread has entered an arena (arena.h), that comes before all of
// this.
//
// Lock rule: one mutex guards the shared lists; each thread keeps a few small pieces of its own.
#pragma once
#include <cstdint>

namespace asc::pool {

// Memory of at least nbytes, aligned to 64 bytes and padded to a multiple of 64. Where there is not
// enough it calls `relieve`, which may free some, and tries again; then throws Error(Memory) that
// says what was asked and what is held.
void* allocate(int64_t nbytes, void (*relieve)() = nullptr);
// The same, null where there is not enough.
void* try_allocate(int64_t nbytes, void (*relieve)() = nullptr);
// What allocate throws; `purpose` follows the size, as in " for an arena".
[[noreturn]] void out_of_memory(int64_t nbytes, const char* purpose = "");
// Gives back memory; nbytes as asked for.
void free(void* p, int64_t nbytes);

struct Stats {
    int64_t used;         // bytes in live pieces, whole arenas included
    int64_t cached;       // bytes kept for reuse
    int64_t peak;         // the highest value of `used`
    int64_t allocations;  // times that memory was taken from the system
    int64_t reused;       // pieces served without
    int64_t free_blocks;  // stretches of memory kept for reuse
};
Stats stats();
// Returns cached memory to the system, but for small pieces in other threads' caches.
void free_cached();
// `release` is called before that: it frees pieces that somebody keeps for speed alone.
void on_shortage(void (*release)());
// Off: every piece comes from the system (ASCEND_ARRAY_API_POOL=off).
bool enabled();
// The memory that this process may use: the machine's or its control group's.
int64_t machine_memory();
// What the pool may hold, used and cached; 0 (the start) for no limit. What is cached beyond it
// goes at once.
void set_limit(int64_t bytes);
int64_t limit();
// The most that one array can have: of the two above, the smaller.
int64_t memory_limit();

// For tests of missing memory: from now on every n-th request fails (0: none). Does nothing but
// where the process was started with ASCEND_ARRAY_API_FAULTS=n, which sets the first n; no thread
// keeps small pieces for itself then, so that each request is one.
void fail_every(int64_t n);
// Requests since then; 0 without that variable.
int64_t requests_since();

}  // namespace asc::pool
