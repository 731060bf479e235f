// The caching allocator of the CPU device: 64-byte aligned memory, reused by size class.
//
// Lock rule: one mutex guards the shared lists; each thread keeps a few small pieces of its own.
#pragma once
#include <cstdint>

namespace asc::pool {

// Memory of at least nbytes, aligned to 64 bytes and padded to a multiple of 64. Throws
// Error(Memory) that says what was asked and what is held.
void* allocate(int64_t nbytes);
// Gives back memory; nbytes as asked for.
void free(void* p, int64_t nbytes);

struct Stats {
    int64_t used;         // bytes in live pieces
    int64_t cached;       // bytes kept for reuse
    int64_t peak;         // the highest value of `used`
    int64_t allocations;  // pieces taken from the system
    int64_t reused;       // pieces served from the cache
};
Stats stats();
// Returns cached memory to the system.
void free_cached();
// Off: every piece comes from the system (ASCEND_ARRAY_API_POOL=off).
bool enabled();
// The memory that this process may use: the machine's or its control group's.
int64_t memory_limit();

}  // namespace asc::pool
