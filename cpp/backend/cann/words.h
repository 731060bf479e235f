// Programs of nothing but and, or, xor and not on packed bools, which run on whole words of bits.
#pragma once
#include "backend/cann/npu.h"
#include "graph/program.h"

namespace asc::cann {

// False where the program does something else, or where bools do not lie on borders of words.
bool run_on_words(Npu& npu, const ProgramCall& call);

}  // namespace asc::cann
