// The devices of the CPU: `cpu`, and further ones that differ from it in their memory and dtypes.
#pragma once

namespace asc::cpu {

// Adds `cpu`, and `cpu:1`, ... as ASCEND_ARRAY_API_CPU_DEVICES says: groups with commas in between,
// each a number of devices, perhaps with ":no-float64". Throws Error(Value) for anything else.
void register_devices();
void install_device_fork_handlers();  // once

}  // namespace asc::cpu
