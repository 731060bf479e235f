// Strands: runs of arithmetic in one pass over memory, whose values stay in vector registers.
//
// A strand runs block by block. A block of elements fills each of kStrandRegisters registers, and
// every step changes one of them: r = r op x. Each operation is rounded as it is alone.
#pragma once
#include <cstdint>

namespace asc::cpu {

inline constexpr int kStrandRegisters = 3;

enum class StrandOp : uint8_t {
    Take,  // r = x
    Add,
    Multiply,
    Subtract,
    SubtractFrom,  // r = x - r
    Divide,
    DivideInto,  // r = x / r
    Maximum,
    MaximumFrom,  // r = maximum(x, r)
    Minimum,
    MinimumFrom,
    // Of r alone.
    Negative,
    Abs,
    Square,
    Sqrt,
    Reciprocal,
    Store,  // place = r
};

// Where x is.
enum class StrandForm : uint8_t {
    Memory,  // in the elements at a place
    Scalar,  // one element at a place
    Next,    // in the register behind r
    Last,    // in the register before r; both count on from the other end
};

// One step. End is behind the last one.
struct StrandStep {
    uint8_t code, place;
};
constexpr uint8_t strand_code(StrandOp op, StrandForm form, int reg) {
    return static_cast<uint8_t>(
        (static_cast<int>(op) * 4 + static_cast<int>(form)) * kStrandRegisters + reg);
}
inline constexpr uint8_t kStrandEnd = strand_code(StrandOp::Store, StrandForm::Last, 2) + 1;
// What a step that reads the elements at a place becomes where there is only one.
constexpr uint8_t kStrandToScalar = strand_code(StrandOp::Take, StrandForm::Scalar, 0);
constexpr bool reads_elements(uint8_t code) {
    return code < strand_code(StrandOp::Negative, StrandForm::Memory, 0) &&
           code / kStrandRegisters % 4 == static_cast<int>(StrandForm::Memory);
}

// Runs the steps for n elements at each place. A place that is written may be one that is read.
using StrandFn = void (*)(const StrandStep* steps, const void* const* places, int64_t n);

}  // namespace asc::cpu
