// Lowering: the work of a group on an accelerator, in the calls that its device understands. What
// the device refuses is computed on the host, on images of the storages.
#pragma once
#include <string>
#include <vector>

#include "backend/backend.h"
#include "graph/group.h"

namespace asc {

// Runs the work, whose outputs have memory. Its device is no host.
void run_on_accelerator(const Work& work);
// dst = src, broadcast and converted, both on one accelerator.
void transfer_on_accelerator(const Array& dst, const Array& src);

// What a library call throws that its device does not have, with nothing done.
struct NotOnDevice {};
// Runs it on the accelerator of its arrays, behind what is recorded for them.
void run_on_device(const LibraryCall& call);

// An operation on an accelerator that was computed on the host.
struct Fallback {
    std::string function;
    DType dtype;
    DeviceId device;
    int64_t times;
};
// Counts one; by any thread.
void note_fallback(const char* function, DType dtype, DeviceId device);
// Asked at each, from now on, by the thread that met it; what it throws becomes the operation's
// error. `first`: there was none of this function, dtype and device before.
using FallbackHook = void (*)(const char* function, DType dtype, DeviceId device, bool first);
void set_fallback_hook(FallbackHook hook);
// Those so far, each once, in the order of their first time.
std::vector<Fallback> fallbacks();

// The function whose work this thread has handed to a device, for messages.
inline thread_local const char* running_function = "";

}  // namespace asc
