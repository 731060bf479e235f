// The sizes of this machine's caches.
#pragma once
#include <cstdint>

namespace asc::cpu {

// Results of at least this many bytes are written past the caches.
int64_t stream_bytes();

}  // namespace asc::cpu
