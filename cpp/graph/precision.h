// In which precision products and sums are computed, where that can be chosen.
#pragma once
#include <cstdint>

namespace asc {

enum class Precision : uint8_t {
    Default,
    Mixed,  // factors of float32 products rounded to a narrower type, where that is faster
    High,   // accumulated in more digits than the result has
};

}  // namespace asc
