#include "backend/cpu/lines.h"

#include <algorithm>
#include <cstring>

#include "backend/cpu/isa.h"

namespace asc::cpu {

// Fewer neighbouring lines than this are copied one by one.
static constexpr int64_t kTransposeLines = 4;

Lines::Lines(const Array& x, int axis)
    : x_(x),
      shape_(x.shape),
      strides_(x.strides),
      length_(x.shape[axis]),
      stride_(x.strides[axis]),
      element_bytes_(is_bool(x.dtype) ? 1 : itemsize(x.dtype)) {
    shape_.erase(axis);
    strides_.erase(axis);
    count_ = product(shape_);
}

int64_t Lines::offset(int64_t line) const { return x_.offset + offset_of(line, shape_, strides_); }

std::byte* Lines::address(int64_t line) const {
    return x_.storage->data() + offset(line) * element_bytes_;
}

int64_t Lines::even(int64_t line) const {
    return strides_.empty() ? 1 : shape_.back() - line % shape_.back();
}

int64_t Lines::abreast(int64_t line) const {
    const bool adjacent = stride_ != 1 && !strides_.empty() && strides_.back() == 1;
    return adjacent ? even(line) : 1;
}

void Lines::move_bits(int64_t at, std::byte* packed, bool read) const {
    constexpr int64_t kBlock = 512;
    uint8_t block[kBlock / 8];
    const KernelTable& k = kernels();
    auto* bits = reinterpret_cast<uint8_t*>(x_.bits());
    auto* bytes = reinterpret_cast<uint8_t*>(packed);
    for (int64_t i = 0; i < length_; i += kBlock) {
        const int64_t n = std::min(kBlock, length_ - i);
        if (read) {
            k.gather_bits(block, 0, bits, at + i * stride_, stride_, n);
            k.unpack_bits(bytes + i, block, 0, n);
        } else {
            k.pack_bits(block, 0, bytes + i, n);
            k.scatter_bits(bits, at + i * stride_, stride_, block, 0, n);
        }
    }
}

template <bool kRead>
void Lines::move(int64_t first, int64_t count, std::byte* packed) const {
    const KernelTable& k = kernels();
    const int width = width_index(x_.dtype);
    while (count > 0) {
        const int64_t at = offset(first);
        int64_t run = is_bool(x_.dtype) ? 1 : std::min(count, abreast(first));
        if (run < kTransposeLines) run = 1;
        if (is_bool(x_.dtype)) {
            move_bits(at, packed, kRead);
        } else {
            std::byte* memory = x_.storage->data() + at * element_bytes_;
            if (run > 1) {
                kRead ? k.transpose[width](packed, length_, memory, stride_, length_, run)
                      : k.transpose[width](memory, stride_, packed, length_, run, length_);
            } else {
                kRead ? k.gather[width](packed, memory, length_, stride_)
                      : k.scatter[width](memory, packed, length_, stride_);
            }
        }
        first += run;
        count -= run;
        packed += run * line_bytes();
    }
}

void Lines::read(int64_t first, int64_t count, void* dst) const {
    move<true>(first, count, static_cast<std::byte*>(dst));
}

void Lines::write(int64_t first, int64_t count, const void* src) const {
    // Only `read` writes to the packed side.
    move<false>(first, count, static_cast<std::byte*>(const_cast<void*>(src)));
}

void Lines::read_columns(int64_t first, int64_t count, void* dst) const {
    auto* column = static_cast<std::byte*>(dst);
    for (int64_t left = count, run; left > 0; left -= run, first += run) {
        run = std::min(left, even(first));
        kernels().transpose[width_index(x_.dtype)](column, count, address(first), step(), run,
                                                   length_);
        column += run * element_bytes_;
    }
}

}  // namespace asc::cpu
