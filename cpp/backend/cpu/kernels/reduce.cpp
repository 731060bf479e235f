#include "backend/cpu/kernels/table.h"
namespace asc::cpu::ASC_ISA {
void fill_reduce(KernelTable&) {}
}
