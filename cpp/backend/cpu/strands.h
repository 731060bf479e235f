// Strands: which instructions of a program run in one pass, and by which steps.
#pragma once
#include <vector>

#include "backend/cpu/kernels/strand.h"

namespace asc {
struct Program;
}

namespace asc::cpu {

// Neighbouring instructions of one dtype. Places are those of Program::place.
struct Strand {
    int first, count;
    std::vector<StrandStep> steps;  // kStrandEnd behind the last one
    std::vector<uint8_t> stored;    // the instructions whose results are written to their places
};

// The strands of a program, in its order.
std::vector<Strand> find_strands(const Program& program);

}  // namespace asc::cpu
