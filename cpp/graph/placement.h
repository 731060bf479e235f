// Placement: arrays from one device to another, and on no more than one.
#pragma once
#include "backend/backend.h"
#include "core/array.h"

namespace asc {

// x if it is on the device, else a row-major copy there, made now; throws Error(Type) naming
// `function` for a dtype that the device lacks.
Array moved(const Array& x, DeviceId to, const char* function);
// x where the host can read it: itself, or a copy.
inline Array readable(const Array& x, const char* function) {
    return on_host(x.device()) ? x : moved(x, kCpu, function);
}
// dst = src at the call, broadcast and converted, on one device; recorded work of both has run.
void transfer(const Array& dst, const Array& src);

// Throws Error(Value) that names the function and both devices.
[[noreturn]] void refuse_devices(const char* function, DeviceId a, DeviceId b);
inline void require_one_device(const char* function, const Array& a, const Array& b) {
    if (a.device() != b.device()) refuse_devices(function, a.device(), b.device());
}

}  // namespace asc
