// Elementwise operations of CANN.
#pragma once
#include <span>

#include "backend/cann/npu.h"
#include "graph/ops.h"
#include "graph/program.h"

namespace asc::cann {

// CANN has the operation for elements of this dtype.
bool supports(Op op, DType compute);
// CANN's operation for them, if there is one alone.
const char* operation_of(Op op, DType compute);
// Both queue their work; false, with nothing written, where CANN does not have it.

// out = op(operands)
bool elementwise(Npu& npu, Op op, DType compute, std::span<const Operand> operands,
                 const Array& out);
// A whole program, whose bools stay bytes between its instructions.
bool run(Npu& npu, const ProgramCall& call);

}  // namespace asc::cann
