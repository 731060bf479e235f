// Loop: the index space of an elementwise operation, in as few dimensions as its operands allow.
#pragma once
#include <cstdint>
#include <span>

#include "core/array.h"
#include "graph/program.h"

namespace asc::cpu {

struct Loop {
    int operands;
    int ndim = 0;  // at least 1
    int64_t shape[kMaxRank];
    int64_t strides[kMaxOperands][kMaxRank];  // 0 where an operand is broadcast
    int64_t offset[kMaxOperands];

    int64_t inner() const { return shape[ndim - 1]; }
    // All arrays broadcast to arrays[0], whose memory order becomes the order of the loop:
    // largest stride first, negative strides turned round, extents of 1 dropped, axes merged.
    explicit Loop(std::span<const Array* const> arrays);
    // Of one operand, in rows that are set later.
    Loop() : operands(1) { offset[0] = 0; }
    // Rows of n elements, `pitch` elements apart.
    void set_rows(int64_t rows, int64_t pitch, int64_t n);

    // The operand's elements lie side by side in loop order.
    bool contiguous(int operand) const;
    // Moves an axis in front of the last one; the order is then nobody's memory order.
    void move_before_last(int axis);
};

// A position of one operand in a Loop: elements in loop order, or rectangles of the last two axes.
class Cursor {
  public:
    Cursor(const Loop& loop, int operand) : loop_(&loop), strides_(loop.strides[operand]) {
        offset_ = start_ = loop.offset[operand];
        for (int i = 0; i < loop.ndim; ++i) index_[i] = 0;
    }
    // To the element with this number in loop order.
    void seek(int64_t flat);
    // To a rectangle with this many columns, whose first element has these indices.
    void place(const int64_t* index, int64_t cols);
    int64_t offset() const { return offset_; }
    int64_t stride() const { return strides_[loop_->ndim - 1]; }
    int64_t row_stride() const { return loop_->ndim > 1 ? strides_[loop_->ndim - 2] : 0; }

    // Calls f(offset, rows, cols) for rectangles that make up the next n elements, and moves past
    // them.
    template <class F>
    void pieces(int64_t n, F&& f) {
        if (cols_) return f(offset_, n / cols_, cols_);
        while (n > 0) {
            const int64_t rows = whole_rows(n);
            const int64_t cols = rows > 1 ? loop_->inner() : n < left() ? n : left();
            f(offset_, rows, cols);
            if (rows > 1) skip_rows(rows - 1);
            advance(cols);
            n -= rows * cols;
        }
    }
    // Past n elements.
    void skip(int64_t n) {
        pieces(n, [](int64_t, int64_t, int64_t) {});
    }

  private:
    // Elements up to the end of the row.
    int64_t left() const { return loop_->inner() - column_; }
    // Rows among the next n elements that follow each other on one axis; at least 1.
    int64_t whole_rows(int64_t n) const {
        if (column_ != 0 || loop_->ndim < 2 || n < 2 * loop_->inner()) return 1;
        const int row = loop_->ndim - 2;
        const int64_t most = loop_->shape[row] - index_[row], whole = n / loop_->inner();
        return whole < most ? whole : most;
    }
    void skip_rows(int64_t rows) {
        index_[loop_->ndim - 2] += rows;
        offset_ += rows * row_stride();
    }
    void advance(int64_t n);

    const Loop* loop_;
    const int64_t* strides_;
    int64_t start_, offset_, column_ = 0;
    int64_t cols_ = 0;         // of rectangles; 0 in loop order
    int64_t index_[kMaxRank];  // of the outer axes; as many as the loop has
};

}  // namespace asc::cpu
