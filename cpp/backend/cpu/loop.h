// Loop: the index space of an elementwise operation, in as few dimensions as its operands allow.
#pragma once
#include <cstdint>
#include <span>

#include "core/array.h"
#include "graph/program.h"

namespace asc::cpu {

struct Loop {
    int ndim = 0;  // at least 1
    int64_t shape[kMaxRank];
    int64_t strides[kMaxOperands][kMaxRank];  // 0 where an operand is broadcast
    int64_t offset[kMaxOperands];

    int64_t inner() const { return shape[ndim - 1]; }
    // All operands broadcast to operands[0], whose memory order becomes the order of the loop:
    // largest stride first, negative strides turned round, extents of 1 dropped, axes merged.
    Loop(std::span<const Array* const> operands);
    // Rows of n elements of one operand, `pitch` elements apart.
    Loop(int64_t rows, int64_t pitch, int64_t n);

    // The operand's elements lie side by side in loop order.
    bool contiguous(int operand) const;
};

// A position of one operand in a Loop.
class Cursor {
  public:
    Cursor(const Loop& loop, int operand) : loop_(&loop), strides_(loop.strides[operand]) {
        offset_ = start_ = loop.offset[operand];
        for (int i = 0; i < loop.ndim; ++i) index_[i] = 0;
    }
    // To the element with this number in loop order.
    void seek(int64_t flat);
    int64_t offset() const { return offset_; }
    int64_t stride() const { return strides_[loop_->ndim - 1]; }
    // Elements up to the end of the row.
    int64_t left() const { return loop_->inner() - column_; }
    void advance(int64_t n);

    // Calls f(offset, n) for pieces of rows that make up the next n elements, and moves past them.
    template <class F>
    void pieces(int64_t n, F&& f) {
        while (n > 0) {
            int64_t piece = n < left() ? n : left();
            f(offset_, piece);
            advance(piece);
            n -= piece;
        }
    }

  private:
    const Loop* loop_;
    const int64_t* strides_;
    int64_t start_, offset_, column_ = 0;
    int64_t index_[kMaxRank];  // of the outer axes; as many as the loop has
};

}  // namespace asc::cpu
