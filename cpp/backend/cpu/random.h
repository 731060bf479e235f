// Random numbers from a counter: element i of a draw depends on the state and on i alone.
#pragma once
#include <cstdint>

#include "core/array.h"

namespace asc::cpu {

// Where a generator stands. A counter of 128 bits holds, from its lowest word: the block (64
// bits), the jump, and the attempt of elements that reject numbers.
struct RandomState {
    uint64_t key;
    uint64_t block;
    uint32_t jump;
};

enum class Distribution : uint8_t {
    Uniform,   // float32 or float64 in [0, 1)
    Normal,    // float32 or float64 of mean 0 and deviation 1
    Integers,  // any integer dtype: from the lowest of its range, `span` values
    Gamma,     // float64 from here on; of shape a and scale 1
    Beta,      // of a and b
    Binomial,  // of a trials with probability b
    Poisson,   // of mean a
};

struct Draw {
    Distribution distribution;
    DType dtype;
    int64_t low = 0;    // Integers; of uint64 as its bits
    uint64_t span = 0;  // Integers: the number of values, 0 for 2^64
};

// Blocks that n elements use: the next draw starts behind them.
int64_t random_blocks(const Draw& draw, int64_t n);
// A new array on the device of a and b, which are float64 and contiguous, of one element or of the
// result's; unused ones are ignored.
Array random(const Draw& draw, const RandomState& state, const Dims& shape, const Array& a,
             const Array& b);
// One block of Philox4x32-10, for tests of known answers.
void philox_block(uint32_t out[4], uint64_t key, uint64_t low, uint64_t high);

}  // namespace asc::cpu
