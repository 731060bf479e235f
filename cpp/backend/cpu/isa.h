// The kernel table of the best instruction set that this CPU has.
#pragma once
#include "backend/cpu/kernels/table.h"

namespace asc::cpu {

// Chosen once; ASCEND_ARRAY_API_ISA=v2|v3|v4|neon overrides, where the CPU can run it.
const KernelTable& kernels();

// log2 of an element's bytes: the index of tables by width.
constexpr int width_index(DType d) {
    int64_t bytes = itemsize(d);
    return bytes == 16 ? 4 : bytes == 8 ? 3 : bytes == 4 ? 2 : bytes == 2 ? 1 : 0;
}

}  // namespace asc::cpu
