// Sorting, searching and indexing by CANN.
#pragma once
#include "backend/backend.h"
#include "backend/cann/npu.h"

namespace asc::cann {

// False where CANN does not have it, or where the values need the host.
bool library(Npu& npu, const LibraryCall& call);
// CANN has the function for elements of this dtype, for the values that it takes.
bool has_library(Function function, DType compute);

}  // namespace asc::cann
