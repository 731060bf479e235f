// Lines: the one-dimensional pieces of an array along one axis, in row-major order of the others.
//
// Kernels that work on whole lines see them side by side in scratch memory, a bool as a byte.
#pragma once
#include <cstdint>

#include "core/array.h"

namespace asc::cpu {

class Lines {
  public:
    Lines(const Array& x, int axis);

    int64_t length() const { return length_; }
    int64_t count() const { return count_; }
    int64_t line_bytes() const { return length_ * element_bytes_; }
    // The lines can be used where they are.
    bool direct() const { return !is_bool(x_.dtype) && (stride_ == 1 || length_ <= 1); }
    // How many lines from this one on lie side by side; those then are columns of rows that are
    // `stride` apart.
    int64_t abreast(int64_t line) const;
    int64_t stride() const { return stride_; }
    // How many lines from this one on are evenly spaced, and how far apart.
    int64_t even(int64_t line) const;
    int64_t step() const { return strides_.empty() ? 0 : strides_.back(); }
    // The address of a line's first element; not for bool.
    std::byte* address(int64_t line) const;

    // Copies lines [first, first + count) to or from memory that holds them one after another.
    void read(int64_t first, int64_t count, void* dst) const;
    void write(int64_t first, int64_t count, const void* src) const;
    // Copies direct lines to memory where they are columns, their first elements side by side.
    void read_columns(int64_t first, int64_t count, void* dst) const;

  private:
    template <bool kRead>
    void move(int64_t first, int64_t count, std::byte* packed) const;
    void move_bits(int64_t at, std::byte* packed, bool read) const;
    int64_t offset(int64_t line) const;

    Array x_;
    Dims shape_, strides_;  // without the axis
    int64_t length_, stride_, count_, element_bytes_;
};

}  // namespace asc::cpu
