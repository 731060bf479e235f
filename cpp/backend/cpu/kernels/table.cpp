// The table of one instruction set, filled at first use.
#include "backend/cpu/kernels/table.h"

namespace asc::cpu::ASC_ISA {

void fill_arithmetic(KernelTable& t);
void fill_bits(KernelTable& t);
void fill_compare(KernelTable& t);
void fill_complex(KernelTable& t);
void fill_convert(KernelTable& t);
void fill_copy(KernelTable& t);
void fill_decompose(KernelTable& t);
void fill_fft(KernelTable& t);
void fill_gemm(KernelTable& t);
void fill_math(KernelTable& t);
void fill_random(KernelTable& t);
void fill_reduce(KernelTable& t);
void fill_search(KernelTable& t);
void fill_sort(KernelTable& t);
void fill_strand(KernelTable& t);

namespace {

#define ASC_QUOTE(x) #x
#define ASC_NAME(x) ASC_QUOTE(x)

using FillFn = void (*)(KernelTable&);
constexpr FillFn kFiles[] = {
    fill_arithmetic, fill_bits,      fill_compare, fill_complex, fill_convert,
    fill_copy,       fill_decompose, fill_fft,     fill_gemm,    fill_math,
    fill_random,     fill_reduce,    fill_search,  fill_sort,    fill_strand,
};

KernelTable table;
bool filled = false;

}  // namespace

// Threads that meet here write the same values; a guarded local would need exception tables,
// which are weak symbols.
const KernelTable& kernels() {
    if (!__atomic_load_n(&filled, __ATOMIC_ACQUIRE)) {
        table.isa = ASC_NAME(ASC_ISA);
        for (const FillFn fill : kFiles) fill(table);
        __atomic_store_n(&filled, true, __ATOMIC_RELEASE);
    }
    return table;
}

}  // namespace asc::cpu::ASC_ISA
