#include "memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <map>

namespace cann_double {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kSpan = size_t{1} << 40;  // addresses of one device
constexpr int kMaxDevices = 16;
constexpr int kPoison = 0xFF;  // NaN, -1, and no bool

// Two ranges of addresses: what the program is given, which faults, and where the bytes really are.
struct Span {
    uintptr_t outside = 0;
    uint8_t* inside = nullptr;
    size_t next = kPage;
    size_t used = 0;
};

struct Memory {
    Span spans[kMaxDevices];
    std::map<uintptr_t, Area> areas;
};

Memory& memory() {
    static auto* all = new Memory;
    return *all;
}

void* reserve(int protection) {
    void* address =
        mmap(nullptr, kSpan, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED) {
        std::fprintf(stderr, "the double of CANN cannot reserve addresses\n");
        std::abort();
    }
    return address;
}

Span& span_of(int device) {
    Span& span = memory().spans[device];
    if (span.inside == nullptr) {
        span.outside = reinterpret_cast<uintptr_t>(reserve(PROT_NONE));
        span.inside = static_cast<uint8_t*>(reserve(PROT_READ | PROT_WRITE));
    }
    return span;
}

Area* enter(uintptr_t begin, size_t size, size_t taken, int device, uint8_t* bytes,
            bool registered) {
    return &memory()
                .areas
                .insert_or_assign(begin,
                                  Area{begin, size, taken, device, bytes, true, registered, {}})
                .first->second;
}

}  // namespace

void poison(uint8_t* bytes, size_t size) { std::memset(bytes, kPoison, size); }

Area* allocate_device(int device, size_t size) {
    Span& span = span_of(device);
    const size_t taken = padded(size);
    if (span.used + taken > settings().memory) {
        return nullptr;
    }
    // Aligned to 64 bytes as promised, and to no more; the page behind is never given out.
    const size_t offset = span.next + 64 * (1 + 2 * (dice()() % 16));
    span.next = (offset + taken + 2 * kPage - 1) / kPage * kPage;
    if (span.next > kSpan) {
        std::fprintf(stderr, "the double of CANN has no addresses left\n");
        std::abort();
    }
    span.used += taken;
    gauge("device_bytes", static_cast<int64_t>(taken));
    poison(span.inside + offset, taken);
    return enter(span.outside + offset, size, taken, device, span.inside + offset, false);
}

Area* allocate_host(size_t size) {
    void* bytes = std::aligned_alloc(64, (size + 63) / 64 * 64);
    if (bytes == nullptr) {
        return nullptr;
    }
    poison(static_cast<uint8_t*>(bytes), size);
    return enter(reinterpret_cast<uintptr_t>(bytes), size, size, kHost,
                 static_cast<uint8_t*>(bytes), false);
}

Area* register_host(void* address, size_t size) {
    return enter(reinterpret_cast<uintptr_t>(address), size, size, kHost,
                 static_cast<uint8_t*>(address), true);
}

void release(Area& area) {
    area.live = false;
    area.accesses.clear();
    if (area.device == kHost) {
        if (!area.registered) {
            poison(area.bytes, area.size);
            std::free(area.bytes);
        }
        memory().areas.erase(area.begin);  // its addresses come back
        return;
    }
    memory().spans[area.device].used -= area.taken;
    gauge("device_bytes", -static_cast<int64_t>(area.taken));
    poison(area.bytes, area.taken);
    // The pages themselves go back to the system: their addresses are not used again.
    const auto first = (reinterpret_cast<uintptr_t>(area.bytes) + kPage - 1) / kPage * kPage;
    const auto last = reinterpret_cast<uintptr_t>(area.bytes + area.taken) / kPage * kPage;
    if (first < last) {
        madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
    }
}

size_t used_memory(int device) { return memory().spans[device].used; }

Area* area_at(const void* address) {
    const auto value = reinterpret_cast<uintptr_t>(address);
    auto after = memory().areas.upper_bound(value);
    if (after == memory().areas.begin()) {
        return nullptr;
    }
    Area& area = std::prev(after)->second;
    return value < area.end() ? &area : nullptr;
}

bool is_device_address(const void* address) {
    const auto value = reinterpret_cast<uintptr_t>(address);
    for (const Span& span : memory().spans) {
        if (span.inside != nullptr && value >= span.outside && value < span.outside + kSpan) {
            return true;
        }
    }
    return false;
}

std::vector<Area*> live_areas(int device) {
    std::vector<Area*> found;
    for (auto& [begin, area] : memory().areas) {
        if (area.live && area.device == device) {
            found.push_back(&area);
        }
    }
    return found;
}

uint8_t* device_bytes(int device, const void* address, size_t size, const char* what) {
    Area* area = area_at(address);
    if (area == nullptr || area->device == kHost) {
        violate(0, "not-device-memory", "%s: %p is not memory of a device", what, address);
        return nullptr;
    }
    if (!area->live) {
        violate(0, "use-after-free", "%s: %p was freed", what, address);
        return nullptr;
    }
    if (area->device != device) {
        violate(0, "wrong-device", "%s: %p belongs to device %d, not %d", what, address,
                area->device, device);
        return nullptr;
    }
    const size_t offset = reinterpret_cast<uintptr_t>(address) - area->begin;
    if (offset > area->size || size > area->size - offset) {
        violate(0, "out-of-bounds", "%s: %zu bytes from byte %zu of a block of %zu", what, size,
                offset, area->size);
        return nullptr;
    }
    return area->bytes + offset;
}

}  // namespace cann_double
