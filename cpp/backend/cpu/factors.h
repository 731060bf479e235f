// Matrices that are hinted as factors of many products: packed once, and kept with their storage
// until its bytes change.
#pragma once
#include <memory>

#include "backend/cpu/kernels/table.h"
#include "core/array.h"

namespace asc::cpu {

// One way to pack a k x n matrix of a dtype.
struct Packing {
    int64_t (*bytes)(DType dtype, int64_t k, int64_t n);
    void (*pack)(void* dst, DType dtype, const GemmOperand& b, int64_t k, int64_t n,
                 const Parallel& par);
};

// The matrix b, all of whose leading axes are of one element, as `packing` makes it: kept from
// before, or packed now. Null where b has no such hint or others can write its memory.
std::shared_ptr<const void> packed_factor(const Array& b, const GemmOperand& matrix,
                                          const Packing& packing);

}  // namespace asc::cpu
