// The sizes of this machine's caches.
#pragma once
#include <cstdint>

namespace asc::cpu {

// Memory of at least this many bytes does not stay in the caches: results are written past them,
// and inputs are fetched ahead.
int64_t stream_bytes();

}  // namespace asc::cpu
