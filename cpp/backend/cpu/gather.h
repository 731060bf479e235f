// Gather and scatter: elements of an array at listed offsets, by blocks.
#pragma once
#include <vector>

#include "core/array.h"
#include "runtime/pool.h"

namespace asc::cpu {

// Memory of the pool, not initialised.
template <class T>
struct PoolAllocator {
    using value_type = T;
    T* allocate(size_t n) {
        return static_cast<T*>(pool::allocate(static_cast<int64_t>(n * sizeof(T))));
    }
    void deallocate(T* p, size_t n) { pool::free(p, static_cast<int64_t>(n * sizeof(T))); }
    void construct(T*) {}
    template <class U>
    void construct(T* p, U&& value) {
        *p = static_cast<U&&>(value);
    }
    friend bool operator==(PoolAllocator, PoolAllocator) { return true; }
};
using OffsetList = std::vector<int64_t, PoolAllocator<int64_t>>;

// The regular part of indexing by arrays. The indexed array has axes `before`, then the listed
// offsets, then axes `after`; the packed side has the same elements row-major.
struct Selection {
    Dims before, before_strides;
    Dims after, after_strides;
    OffsetList offsets;  // in elements (bool: bits), relative to the base
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
