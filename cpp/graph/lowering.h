// Lowering: the work of a group on an accelerator, in the calls that its device understands. What
// the device refuses is computed on the host, on images of the storages.
#pragma once
#include "graph/group.h"

namespace asc {

// Runs the work, whose outputs have memory. Its device is no host.
void run_on_accelerator(const Work& work);
// dst = src, broadcast and converted, both on one accelerator.
void transfer_on_accelerator(const Array& dst, const Array& src);

// Called, by any thread, when an operation on a device was computed on the host.
using FallbackHook = void (*)(const char* function, DType dtype, DeviceId device);
void set_fallback_hook(FallbackHook hook);

}  // namespace asc
