#include "backend/backend.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "backend/cann/device.h"
#include "backend/cpu/device.h"
#include "backend/cpu/fft_plan.h"

namespace asc {

// ---- what hosts need not implement

bool Device::adopt(const Block&, const Ref<Block>&, int64_t) { return false; }
void Device::upload(const Block&, int64_t, const void*, int64_t) { unsupported("upload"); }
void Device::download(void*, const Block&, int64_t, int64_t) { unsupported("download"); }
void Device::copy(const Block&, int64_t, const Block&, int64_t, int64_t) { unsupported("copy"); }
void Device::clear(const Block&, int64_t, int64_t) { unsupported("clear"); }
bool Device::run(const ProgramCall&) { return false; }
bool Device::elementwise(Op, DType, std::span<const Operand>, const Array&) { return false; }
bool Device::transfer(const Array&, const Array&) { return false; }
bool Device::reduce(const ReduceSpec&, const Array&, const Dims&, const Array&) { return false; }
bool Device::scan(const ScanSpec&, const Array&, int, const Array&) { return false; }
bool Device::multiply(const Array&, const Array&, const Array&, Precision) { return false; }
bool Device::library(const LibraryCall&) { return false; }
bool Device::computes(Op, DType) const { return traits_.on_host; }
bool Device::computes(Function, DType) const { return traits_.on_host; }
std::unique_ptr<DeviceEvent> Device::record(uint64_t) { return nullptr; }
void Device::synchronize() {}

std::string Device::reason(Op) const { return "no kernel for the dtype"; }
std::string Device::reason(Function) const { return "no kernel for the dtype"; }

void Device::unsupported(const char* operation) const {
    raise(ErrorKind::Runtime, "device %s: %s is not implemented", name(), operation);
}

void Device::out_of_memory(int64_t nbytes) const {
    const pool::Stats now = memory_stats();
    raise(ErrorKind::Memory,
          "cannot allocate %lld bytes on %s: %lld are in use and %lld cached of %lld",
          static_cast<long long>(nbytes), name(), static_cast<long long>(now.used),
          static_cast<long long>(now.cached), static_cast<long long>(memory_capacity()));
}

int64_t Device::memory_capacity() const {
    const int64_t limit = memory_limit(), total = total_memory();
    return limit == 0 ? total : std::min(limit, total);
}

// ---- the list

std::optional<DeviceId> find_device(std::string_view name) {
    for (int i = 0; i < devices::count; ++i) {
        if (devices::list[i]->traits().name == name) return static_cast<DeviceId>(i);
    }
    return std::nullopt;
}

std::string device_names() {
    std::string names;
    for (int i = 0; i < devices::count; ++i)
        names += (i ? ", '" : "'") + devices::list[i]->traits().name + "'";
    return names;
}

DeviceId add_device(std::unique_ptr<Device> device) {
    if (devices::count == kMostDevices)
        raise(ErrorKind::Value, "more than %d devices", kMostDevices);
    devices::accelerators |= !device->traits().on_host;
    devices::list[devices::count] = device.release();
    return static_cast<DeviceId>(devices::count++);
}

void register_devices() {
    if (devices::count > 0) return;
    cpu::register_devices();
    cann::register_devices();
    const char* wanted = std::getenv("ASCEND_ARRAY_API_DEVICE");
    if (!wanted || !*wanted) return;
    const auto found = find_device(wanted);
    if (!found) {
        raise(ErrorKind::Value, "ASCEND_ARRAY_API_DEVICE: unknown device '%s'; available: %s",
              wanted, device_names().c_str());
    }
    devices::preferred = *found;
}

void install_device_fork_handlers() {
    cpu::install_device_fork_handlers();
    cpu::install_plan_fork_handlers();
}

// ---- dtypes

void require_dtype(DType dtype, DeviceId id, const char* function) {
    const Device& place = device(id);
    if (place.has(dtype)) return;
    std::string there;
    for (int i = 0; i < kNumDTypes; ++i) {
        const auto d = static_cast<DType>(i);
        if (place.has(d) && kind(d) == kind(dtype))
            there += (there.empty() ? "" : ", ") + std::string(asc::name(d));
    }
    raise(ErrorKind::Type,
          "%s: the device %s has no dtype %s; accepted there: %s; convert with astype, or use "
          "another device",
          function, place.name(), asc::name(dtype), there.c_str());
}

DType available(DType dtype, DeviceId id) {
    if (id == kCpu || device(id).has(dtype)) return dtype;
    return dtype == DType::Float64      ? DType::Float32
           : dtype == DType::Complex128 ? DType::Complex64
                                        : dtype;
}

}  // namespace asc
