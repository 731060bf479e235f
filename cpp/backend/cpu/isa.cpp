#include "backend/cpu/isa.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/error.h"

namespace asc::cpu {

#define X(isa)                    \
    namespace isa {               \
    const KernelTable& kernels(); \
    }
ASC_KERNEL_ISAS
#undef X

namespace {

bool runs([[maybe_unused]] const char* isa) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (!std::strcmp(isa, "v4")) {
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl");
    }
    if (!std::strcmp(isa, "v3")) {
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
               __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    }
    return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
#else
    return true;
#endif
}

const KernelTable& choose() {
    const std::vector<InstructionSet> usable = usable_instruction_sets();
    if (usable.empty())
        raise(ErrorKind::Runtime, "this CPU lacks the instructions of x86-64-v2 (SSE 4.2)");
    const InstructionSet& best = usable.back();
    const char* wanted = std::getenv("ASCEND_ARRAY_API_ISA");
    if (!wanted) return best.kernels();
    for (const InstructionSet& isa : usable) {
        if (!std::strcmp(wanted, isa.name)) return isa.kernels();
    }
    std::fprintf(stderr, "ascend_array_api: ASCEND_ARRAY_API_ISA=%s cannot run here; using %s\n",
                 wanted, best.name);
    return best.kernels();
}

}  // namespace

std::vector<InstructionSet> usable_instruction_sets() {
    std::vector<InstructionSet> usable;
#define X(isa) \
    if (runs(#isa)) usable.push_back({#isa, isa::kernels});
    ASC_KERNEL_ISAS
#undef X
    return usable;
}

const KernelTable& choose_kernels() {
    static const KernelTable& table = choose();
    __atomic_store_n(&chosen_kernels, &table, __ATOMIC_RELEASE);
    return table;
}

}  // namespace asc::cpu
