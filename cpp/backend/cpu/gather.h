// Gather and scatter: elements of an array at listed offsets, by blocks.
#pragma once
#include <vector>

#include "core/array.h"

namespace asc::cpu {

// The regular part of indexing by arrays. The indexed array has axes `before`, then the listed
// offsets, then axes `after`; the packed side has the same elements row-major.
struct Selection {
    Dims before, before_strides;
    Dims after, after_strides;
    std::vector<int64_t> offsets;  // in elements (bool: bits), relative to the base
    int64_t base = 0;

    int64_t size() const {
        return product(before) * static_cast<int64_t>(offsets.size()) * product(after);
    }
};

// packed[...] = x[selection]; packed is row-major with its first element at bit or element 0.
void gather(const Array& packed, const Array& x, const Selection& selection);
// x[selection] = packed[...], in order, so that the last of repeated offsets wins.
void scatter(const Array& x, const Array& packed, const Selection& selection);

}  // namespace asc::cpu
