#include "backend/cpu/cache.h"

#include <algorithm>
#include <fstream>
#include <string>

namespace asc::cpu {
namespace {

// The size of a cache, 0 where it is unknown. sysconf counts all caches of a package together.
int64_t level_bytes(int level) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(level);
    std::ifstream file(folder + "/size");
    int64_t kibibytes = 0;
    return file >> kibibytes ? kibibytes << 10 : 0;
}

// The last cache that one core's data can fill, or a common one.
int64_t last_level_bytes() {
    for (int level = 3; level >= 0; --level)
        if (const int64_t bytes = level_bytes(level); bytes > 0) return bytes;
    return int64_t{32} << 20;
}

}  // namespace

int64_t stream_bytes() {
    // Measured: from half of the cache on, reading lines before they are overwritten costs more
    // than the next reader gains. Of a larger cache others have most: 40 MB of 300 gain a third.
    static const int64_t bytes = std::min(last_level_bytes() / 2, int64_t{32} << 20);
    return bytes;
}

}  // namespace asc::cpu
