// The tile machine: runs a program tile by tile, its values in registers of a few KiB.
#pragma once
#include "graph/program.h"

namespace asc::cpu {

// Runs the program for every index of the outputs. Inputs broadcast to that shape. An input may
// share memory with an output only as the same view of it.
void run(const ProgramCall& call);

}  // namespace asc::cpu
