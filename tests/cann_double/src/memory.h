// Device memory that the host cannot touch, and host memory that the device knows.
#pragma once
#include "state.h"

namespace cann_double {

constexpr int kHost = -1;
constexpr size_t kPadding = 32;  // bytes behind each block that belong to it

// Of one task or call: which bytes, and whether they are written.
struct Touch {
    uintptr_t begin, end;
    bool write;
};

// An access whose stream may still be at work.
struct Access : Touch {
    uint64_t stream, sequence;
};

// Memory from one allocation. Freed ones stay known, their addresses are never used again.
struct Area {
    uintptr_t begin;
    size_t size;     // as asked for
    size_t taken;    // with the padding
    int device;      // kHost: pinned
    uint8_t* bytes;  // where the double itself reads and writes
    bool live;
    bool registered;  // by aclrtHostRegister: not ours to free
    std::vector<Access> accesses;

    uintptr_t end() const { return begin + taken; }
};

constexpr size_t padded(size_t bytes) { return (bytes + 31) / 32 * 32 + kPadding; }

Area* allocate_device(int device, size_t size);  // null: out of memory
Area* allocate_host(size_t size);
Area* register_host(void* address, size_t size);
void release(Area& area);  // poisons
size_t used_memory(int device);

// The area, live or freed, that holds the address; null: the device does not know it.
Area* area_at(const void* address);
bool is_device_address(const void* address);
// All live areas of the device.
std::vector<Area*> live_areas(int device);

// The bytes [address, address + size) of live memory of the device, or null and a violation.
uint8_t* device_bytes(int device, const void* address, size_t size, const char* what);

void poison(uint8_t* bytes, size_t size);

}  // namespace cann_double
