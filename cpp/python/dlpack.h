// The ABI of DLPack 1.x, declared from its specification.
#pragma once
#include <cstdint>

namespace asc::dlpack {

inline constexpr int32_t kCpu = 1;
inline constexpr int32_t kCudaHost = 3;  // pinned host memory, readable by the CPU
inline constexpr uint8_t kInt = 0, kUInt = 1, kFloat = 2, kBfloat = 4, kComplex = 5, kBool = 6;
inline constexpr uint64_t kReadOnly = 1, kIsCopied = 2;

struct Version {
    uint32_t major, minor;
};
inline constexpr Version kVersion = {1, 1};

struct Device {
    int32_t type, id;
};
struct DataType {
    uint8_t code, bits;
    uint16_t lanes;
};
struct Tensor {
    void* data;
    Device device;
    int32_t ndim;
    DataType dtype;
    int64_t* shape;
    int64_t* strides;
    uint64_t byte_offset;
};
struct Managed {
    Tensor tensor;
    void* context;
    void (*deleter)(Managed*);
};
struct ManagedVersioned {
    Version version;
    void* context;
    void (*deleter)(ManagedVersioned*);
    uint64_t flags;
    Tensor tensor;
};

inline constexpr const char* kName = "dltensor";
inline constexpr const char* kUsedName = "used_dltensor";
inline constexpr const char* kVersionedName = "dltensor_versioned";
inline constexpr const char* kUsedVersionedName = "used_dltensor_versioned";

}  // namespace asc::dlpack
