// The devices of the CPU: `cpu`, and further ones that differ in their memory only.
#pragma once

namespace asc::cpu {

// Adds `cpu`, and `cpu:1`, ... as ASCEND_ARRAY_API_CPU_DEVICES says.
void register_devices();

}  // namespace asc::cpu
