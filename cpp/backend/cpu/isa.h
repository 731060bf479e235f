// The kernel table of the best instruction set that this CPU has.
#pragma once
#include <vector>

#include "backend/cpu/kernels/table.h"

namespace asc::cpu {

// The instruction sets that were built and that this CPU has, from the plainest to the best.
struct InstructionSet {
    const char* name;
    const KernelTable& (*kernels)();
};
std::vector<InstructionSet> usable_instruction_sets();

// Chosen once; ASCEND_ARRAY_API_ISA=v2|v3|v4|neon overrides, where the CPU can run it.
const KernelTable& choose_kernels();
inline const KernelTable* chosen_kernels = nullptr;  // the same for all threads that set it
inline const KernelTable& kernels() {
    const KernelTable* table = __atomic_load_n(&chosen_kernels, __ATOMIC_ACQUIRE);
    return table ? *table : choose_kernels();
}

// log2 of an element's bytes: the index of tables by width.
constexpr int width_index(DType d) {
    int64_t bytes = itemsize(d);
    return bytes == 16 ? 4 : bytes == 8 ? 3 : bytes == 4 ? 2 : bytes == 2 ? 1 : 0;
}

}  // namespace asc::cpu
