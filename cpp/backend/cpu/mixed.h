// Products of float32 matrices in mixed precision: factors rounded to bfloat16, products added in
// float32, in one chain from the first to the last: the bits of an element depend on its row of
// `a` and its column of `b` alone, and on the processor.
#pragma once
#include "backend/cpu/factors.h"
#include "backend/cpu/gemm.h"

namespace asc::cpu {

// What computes in mixed precision here: "amx", "avx512-bf16", or null.
const char* mixed_unit();
// This processor multiplies the matrices faster so.
bool pays_mixed(const Product& product);
// As multiply(), for a product that pays; packed_b is what kMixedPacking made.
void multiply_mixed(const Product& product, const Parallel& par);
extern const Packing kMixedPacking;

}  // namespace asc::cpu
