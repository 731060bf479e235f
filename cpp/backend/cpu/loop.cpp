#include "backend/cpu/loop.h"

#include <algorithm>
#include <cstdlib>

#include "core/view.h"

namespace asc::cpu {

Loop::Loop(std::span<const Array* const> arrays) : operands(static_cast<int>(arrays.size())) {
    const Array& leader = *arrays[0];
    const int count = operands;
    Dims all[kMaxOperands];
    for (int k = 0; k < count; ++k) {
        all[k] = k == 0 ? leader.strides
                        : broadcast_strides(*arrays[static_cast<size_t>(k)], leader.shape);
        offset[k] = arrays[static_cast<size_t>(k)]->offset;
    }
    int axes[kMaxRank];
    for (int i = 0; i < leader.ndim(); ++i) {
        if (leader.shape[i] == 1) continue;
        if (all[0][i] < 0) {
            for (int k = 0; k < count; ++k) {
                offset[k] += (leader.shape[i] - 1) * all[k][i];
                all[k][i] = -all[k][i];
            }
        }
        axes[ndim++] = i;
    }
    // Insertion keeps the order of equal strides and needs no memory; ranks are small.
    for (int i = 1; i < ndim; ++i) {
        for (int j = i; j > 0 && all[0][axes[j - 1]] < all[0][axes[j]]; --j)
            std::swap(axes[j - 1], axes[j]);
    }
    int kept = 0;
    for (int i = 0; i < ndim; ++i) {
        int axis = axes[i];
        bool merges = kept > 0;
        for (int k = 0; merges && k < count; ++k) {
            merges = strides[k][kept - 1] == all[k][axis] * leader.shape[axis];
        }
        int at = merges ? kept - 1 : kept++;
        shape[at] = merges ? shape[at] * leader.shape[axis] : leader.shape[axis];
        for (int k = 0; k < count; ++k) strides[k][at] = all[k][axis];
    }
    ndim = kept;
    if (ndim == 0) {
        ndim = 1;
        shape[0] = 1;
        for (int k = 0; k < count; ++k) strides[k][0] = 0;
    }
}

void Loop::set_rows(int64_t rows, int64_t pitch, int64_t n) {
    ndim = rows == 1 ? 1 : 2;
    shape[0] = rows;
    strides[0][0] = pitch;
    shape[ndim - 1] = n;
    strides[0][ndim - 1] = 1;
}

bool Loop::contiguous(int operand) const {
    int64_t expected = 1;
    for (int i = ndim - 1; i >= 0; --i) {
        if (shape[i] != 1 && strides[operand][i] != expected) return false;
        expected *= shape[i];
    }
    return true;
}

void Loop::move_before_last(int axis) {
    auto move = [&](int64_t* list) { std::rotate(list + axis, list + axis + 1, list + ndim - 1); };
    move(shape);
    for (int k = 0; k < operands; ++k) move(strides[k]);
}

void Cursor::place(const int64_t* index, int64_t cols) {
    offset_ = start_;
    for (int i = 0; i < loop_->ndim; ++i) offset_ += index[i] * strides_[i];
    cols_ = cols;
}

void Cursor::seek(int64_t flat) {
    offset_ = start_;
    for (int i = loop_->ndim - 1; i >= 0; --i) {
        int64_t at = flat % loop_->shape[i];
        flat /= loop_->shape[i];
        offset_ += at * strides_[i];
        if (i == loop_->ndim - 1) {
            column_ = at;
        } else {
            index_[i] = at;
        }
    }
}

void Cursor::advance(int64_t n) {
    int last = loop_->ndim - 1;
    column_ += n;
    offset_ += n * strides_[last];
    if (column_ < loop_->shape[last]) return;
    // To the first column of the next row.
    offset_ -= column_ * strides_[last];
    column_ = 0;
    for (int i = last - 1; i >= 0; --i) {
        offset_ += strides_[i];
        if (++index_[i] < loop_->shape[i]) return;
        offset_ -= index_[i] * strides_[i];
        index_[i] = 0;
    }
}

}  // namespace asc::cpu
