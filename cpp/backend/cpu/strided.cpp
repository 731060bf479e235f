#include "backend/cpu/strided.h"

#include <algorithm>
#include <cstring>

#include "backend/cpu/isa.h"

namespace asc::cpu {
namespace {

constexpr int64_t kPiece = 512;  // elements that pass through scratch at a time

}  // namespace

StridedReader::StridedReader(const Array& x, DType element, DType compute)
    : data_(x.storage->data()),
      from_(x.dtype),
      element_(element),
      compute_(compute),
      first_(x.dtype != element),
      second_(element != compute),
      bits_(is_bool(x.dtype)),
      from_size_(itemsize(x.dtype)),
      size_(itemsize(compute)) {}

void StridedReader::read_bits(std::byte* dst, int64_t offset, int64_t stride, int64_t n) const {
    const KernelTable& k = kernels();
    const auto* source = reinterpret_cast<const uint8_t*>(data_);
    uint64_t words[kPiece / 64] = {};
    auto* packed = reinterpret_cast<uint8_t*>(words);
    k.gather_bits(packed, 0, source, offset, stride, n);
    if (!second_) {
        k.convert[index(DType::Bool)][index(element_)](dst, words, n);
        return;
    }
    alignas(64) std::byte middle[kPiece * 16];
    k.convert[index(DType::Bool)][index(element_)](middle, words, n);
    k.convert[index(element_)][index(compute_)](dst, middle, n);
}

void StridedReader::read_block(std::byte* dst, int64_t offset, int64_t stride, int64_t n) const {
    const KernelTable& k = kernels();
    alignas(64) std::byte gathered[kPiece * 16];
    alignas(64) std::byte middle[kPiece * 16];
    const std::byte* source = at(offset);
    if (stride != 1) {
        k.gather[width_index(from_)](gathered, source, n, stride);
        source = gathered;
    }
    if (first_) {
        void* target = second_ ? middle : dst;
        k.convert[index(from_)][index(element_)](target, source, n);
        source = middle;
    }
    if (second_) k.convert[index(element_)][index(compute_)](dst, source, n);
}

void StridedReader::read(void* dst, int64_t offset, int64_t stride, int64_t n) const {
    if (direct()) {
        kernels().gather[width_index(from_)](dst, at(offset), n, stride);
        return;
    }
    auto* out = static_cast<std::byte*>(dst);
    for (int64_t i = 0; i < n; i += kPiece) {
        const int64_t m = std::min(kPiece, n - i);
        if (bits_) {
            read_bits(out + i * size_, offset + i * stride, stride, m);
        } else {
            read_block(out + i * size_, offset + i * stride, stride, m);
        }
    }
}

void StridedReader::truth(uint64_t* words, int64_t offset, int64_t stride, int64_t n) const {
    const KernelTable& k = kernels();
    if (bits_) {
        words[(n - 1) / 64] = 0;
        k.gather_bits(reinterpret_cast<uint8_t*>(words), 0, reinterpret_cast<const uint8_t*>(data_),
                      offset, stride, n);
        return;
    }
    alignas(64) std::byte gathered[kMostTruth * 16];
    const std::byte* source = at(offset);
    if (stride != 1) {
        k.gather[width_index(from_)](gathered, source, n, stride);
        source = gathered;
    }
    k.convert[index(from_)][index(DType::Bool)](words, source, n);
}

int64_t StridedReader::count(int64_t offset, int64_t stride, int64_t n) const {
    const KernelTable& k = kernels();
    if (bits_ && stride == 1)
        return k.count_bits(reinterpret_cast<const uint8_t*>(data_), offset, n);
    int64_t total = 0;
    for (int64_t i = 0; i < n; i += kMostTruth) {
        const int64_t m = std::min(kMostTruth, n - i);
        uint64_t words[kMostTruth / 64];
        truth(words, offset + i * stride, stride, m);
        total += k.count_bits(reinterpret_cast<const uint8_t*>(words), 0, m);
    }
    return total;
}

AxisList::AxisList(const AxisList& other) : n(other.n), size(other.size) {
    std::copy_n(other.axes, n, axes);
}

void AxisList::add(Axis axis) {
    size *= axis.extent;
    if (axis.extent == 1) return;
    if (n > 0) {
        Axis& last = axes[n - 1];
        if (last.stride == axis.extent * axis.stride && last.out == axis.extent * axis.out) {
            last = {last.extent * axis.extent, axis.stride, axis.out};
            return;
        }
    }
    axes[n++] = axis;
}

void AxisList::remove(int i) {
    size /= axes[i].extent;
    for (--n; i < n; ++i) axes[i] = axes[i + 1];
}

int64_t AxisList::offset(int64_t flat, int axes_used) const {
    int64_t result = 0;
    for (int i = axes_used - 1; i > 0; --i) {
        result += flat % axes[i].extent * axes[i].stride;
        flat /= axes[i].extent;
    }
    return axes_used ? result + flat * axes[0].stride : 0;
}

int64_t AxisList::out(int64_t flat) const {
    int64_t result = 0;
    for (int i = n - 1; i > 0; --i) {
        result += flat % axes[i].extent * axes[i].out;
        flat /= axes[i].extent;
    }
    return n ? result + flat * axes[0].out : 0;
}

}  // namespace asc::cpu
