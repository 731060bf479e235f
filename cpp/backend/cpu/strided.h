// Reading strided, converted elements into contiguous memory.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/array.h"

namespace asc::cpu {

// The elements of an array as another dtype; offsets and strides count elements (bool: bits).
class StridedReader {
  public:
    // Elements are converted to `element`, then to `compute`.
    StridedReader(const Array& x, DType element, DType compute);
    // Only `truth` and `count` are of use.
    static StridedReader of_truth(const Array& x) {
        return StridedReader(x, DType::Bool, DType::Bool);
    }

    // No conversion: elements may be used where they lie.
    bool direct() const { return !first_ && !second_ && !bits_; }
    const std::byte* at(int64_t offset) const { return data_ + offset * from_size_; }
    // Bytes of an element that was read.
    int64_t size() const { return size_; }
    void read(void* dst, int64_t offset, int64_t stride, int64_t n) const;
    // A bit for each of n <= kMostTruth elements: it is not zero. Whole words are written.
    void truth(uint64_t* words, int64_t offset, int64_t stride, int64_t n) const;
    static constexpr int64_t kMostTruth = 512;
    // The number of elements that are not zero.
    int64_t count(int64_t offset, int64_t stride, int64_t n) const;

  private:
    void read_block(std::byte* dst, int64_t offset, int64_t stride, int64_t n) const;
    void read_bits(std::byte* dst, int64_t offset, int64_t stride, int64_t n) const;

    const std::byte* data_;
    DType from_, element_, compute_;
    bool first_, second_;  // conversions that are not the identity
    bool bits_;            // packed bool
    int64_t from_size_, size_;
};

// A list of axes in row-major order, merged where one continues another.
struct AxisList {
    struct Axis {
        int64_t extent, stride, out;
    };
    int n = 0;
    int64_t size = 1;
    Axis axes[kMaxRank];  // the first n

    AxisList() {}
    AxisList(const AxisList& other);
    AxisList& operator=(const AxisList& other) = delete;
    void add(Axis axis);
    void remove(int i);
    // Offset of the element with this number, counted along the first `axes_used` axes.
    int64_t offset(int64_t flat, int axes_used) const;
    int64_t offset(int64_t flat) const { return offset(flat, n); }
    // Its offset in the result.
    int64_t out(int64_t flat) const;
};

}  // namespace asc::cpu
