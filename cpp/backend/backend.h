// The contract of devices: what the core asks of them, and the list of those of this process.
//
// Devices on the host (`cpu` and the further CPU devices) keep their arrays in memory that the host
// may use, and the kernels of backend/cpu run on it: of this contract they implement the memory
// only. The memory of all other devices, the accelerators, is never dereferenced by the host; every
// operation on it goes through the functions below.
//
// An accelerator may work behind the host's back. Its work is queued on current_queue(), in order
// within a queue and in parallel between queues. Every call names the Blocks that it touches, and
// Block::record() is what the device gave out with the memory: with it the device orders its queues
// where one touches what another one wrote.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/array.h"
#include "core/device_id.h"
#include "core/promotion.h"
#include "core/scalar.h"
#include "graph/functions.h"
#include "graph/ops.h"
#include "graph/precision.h"
#include "graph/program.h"
#include "graph/reduction.h"
#include "runtime/pool.h"

namespace asc {

// One of the bits that say which dtypes a device lacks.
constexpr uint32_t bit(DType d) { return uint32_t{1} << index(d); }

struct DeviceTraits {
    std::string name;  // as in `device="cpu:1"`
    // Of DLPack.
    int32_t dlpack_type = 1;
    int32_t dlpack_number = 0;
    uint32_t lacks = 0;   // bits of dtypes
    bool on_host = true;  // its memory is the host's, and the kernels of backend/cpu run on it
};

// Memory of a device, and whatever the device wants to know about it later.
struct DeviceMemory {
    std::byte* data = nullptr;
    void* record = nullptr;
};

// A point of a queue.
class DeviceEvent {
  public:
    virtual ~DeviceEvent() = default;
    virtual bool done() = 0;
    virtual void wait() = 0;
    // By the clock of their device; both have been reached.
    virtual double milliseconds_since(const DeviceEvent& earlier) = 0;
};

// An operation beside those that have functions of their own.
struct LibraryCall {
    const char* function;  // "sort", "gather", ...
    std::span<const Array> inputs;
    std::span<const Array> outputs;  // all there, in their final shapes
    Dims integers;                   // axes, flags and so on, in the function's own order
};

class Device {
  public:
    explicit Device(DeviceTraits traits) : traits_(std::move(traits)) {}
    virtual ~Device() = default;
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    const DeviceTraits& traits() const { return traits_; }
    const char* name() const { return traits_.name.c_str(); }
    bool has(DType dtype) const { return !(traits_.lacks & bit(dtype)); }

    // ---- memory
    // At least nbytes; null where there is not enough. Then the caller runs what is recorded and
    // tries once more.
    virtual DeviceMemory try_allocate(int64_t nbytes) = 0;
    // No later call will touch the memory; what was queued before may be using it still.
    virtual void free(DeviceMemory memory, int64_t nbytes) noexcept = 0;
    virtual pool::Stats memory_stats() const = 0;
    virtual void free_cached() = 0;
    // What it may hold, in use and cached; 0 for no limit.
    virtual void set_memory_limit(int64_t nbytes) = 0;
    virtual int64_t memory_limit() const = 0;
    virtual int64_t total_memory() const = 0;
    // The most that one array can have: of the two above, the smaller.
    int64_t memory_capacity() const;
    // Throws the Error(Memory) that says what was asked and what is held.
    [[noreturn]] void out_of_memory(int64_t nbytes) const;

    // ---- bytes, on accelerators
    // All bytes of `to` are those of `from` from there on, which nobody changes. False: upload
    // them.
    virtual bool adopt(const Block& to, const Ref<Block>& from, int64_t offset);
    // `from` may change as soon as it returns.
    virtual void upload(const Block& to, int64_t offset, const void* from, int64_t nbytes);
    // The bytes are there when it returns.
    virtual void download(void* to, const Block& from, int64_t offset, int64_t nbytes);
    // Between two Blocks of this device.
    virtual void copy(const Block& to, int64_t to_offset, const Block& from, int64_t from_offset,
                      int64_t nbytes);
    virtual void clear(const Block& to, int64_t offset, int64_t nbytes);

    // ---- work, on accelerators
    // False: not here, and nothing was done; the caller goes by the host then. Arrays have any
    // strides, bool is packed, and an output meets an input only as the same view of it.

    // A whole program. False: the caller asks for its instructions one by one.
    virtual bool run(const ProgramCall& call);
    // out = op(operands), broadcast to the shape of out.
    virtual bool elementwise(Op op, DType compute, std::span<const Operand> operands,
                             const Array& out);
    // dst = src, broadcast and converted.
    virtual bool transfer(const Array& dst, const Array& src);
    virtual bool reduce(const ReduceSpec& spec, const Array& x, const Dims& axes, const Array& out);
    virtual bool scan(const ScanSpec& spec, const Array& x, int axis, const Array& out);
    // out = a @ b for stacks of matrices.
    virtual bool multiply(const Array& a, const Array& b, const Array& out, Precision precision);
    virtual bool library(const LibraryCall& call);
    // Whether it does so for elements of a dtype, as far as that is known without trying.
    virtual bool computes(Op op, DType compute) const;
    virtual bool computes(Function function, DType compute) const;
    // Why not, in words.
    virtual std::string reason(Op op) const;
    virtual std::string reason(Function function) const;

    // ---- queues, on accelerators
    // An event behind everything that was queued; null where there is nothing to wait for.
    virtual std::unique_ptr<DeviceEvent> record(uint64_t queue);
    // Waits for all queues.
    virtual void synchronize();

    // What it has counted since the process began, by name.
    virtual std::vector<std::pair<const char*, int64_t>> statistics() const { return {}; }

  private:
    [[noreturn]] void unsupported(const char* operation) const;

    DeviceTraits traits_;
};

// ---- the devices of this process

namespace devices {
inline Device* list[kMostDevices] = {};
inline int count = 0;
inline bool accelerators = false;  // some device is not on the host
inline DeviceId preferred = kCpu;  // where arrays are made without `device=`
}  // namespace devices

inline Device& device(DeviceId id) { return *devices::list[index(id)]; }
inline bool on_host(DeviceId id) { return !devices::accelerators || device(id).traits().on_host; }
inline DeviceId default_device() { return devices::preferred; }
std::optional<DeviceId> find_device(std::string_view name);
// All names, for messages.
std::string device_names();
// Adds a device, for good, while the module is loaded.
DeviceId add_device(std::unique_ptr<Device> device);
// Adds the devices of the CPU, as ASCEND_ARRAY_API_CPU_DEVICES says, and all others that are there,
// and sets the default one (ASCEND_ARRAY_API_DEVICE). Once; throws Error(Value) for bad settings.
void register_devices();
void install_device_fork_handlers();  // once

// The queue of the tape that this thread runs; 0 outside of a run.
inline thread_local uint64_t running_queue = 0;
inline uint64_t current_queue() { return running_queue; }

// Throws Error(Type) that names the function, unless the device has the dtype.
void require_dtype(DType dtype, DeviceId device, const char* function);
// The dtype where none is asked for, or its narrower sibling on a device that lacks it.
DType available(DType dtype, DeviceId device);
inline DType default_float(DeviceId device) { return available(kDefaultFloat, device); }
inline DType default_complex(DeviceId device) { return available(kDefaultComplex, device); }
inline DType default_dtype(const Scalar& s, DeviceId device) {
    return available(default_dtype(s), device);
}

}  // namespace asc
