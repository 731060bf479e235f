// Tiles: strided memory into registers and back.
#pragma once
#include <algorithm>
#include <cstring>
#include <optional>

#include "backend/cpu/elementwise.h"
#include "backend/cpu/isa.h"
#include "backend/cpu/loop.h"

namespace asc::cpu {

inline const std::byte* element(const std::byte* base, DType dtype, int64_t offset) {
    return base + offset * itemsize(dtype);
}
inline uint8_t* byte_pointer(std::byte* p) { return reinterpret_cast<uint8_t*>(p); }
inline const uint8_t* byte_pointer(const std::byte* p) {
    return reinterpret_cast<const uint8_t*>(p);
}

// Words of packed bits can be used where they lie.
inline bool word_aligned(const std::byte* base, int64_t bit) {
    return bit % 64 == 0 && reinterpret_cast<uintptr_t>(base) % 8 == 0;
}

// Brings an operand into registers, tile by tile.
class Reader {
  public:
    Reader(const Loop& loop, int slot, const Array& x, DType to, bool whole_rows)
        : block_(x.storage->present_block()),
          base_(block_->data()),
          from_(x.dtype),
          to_(to),
          padded_(!block_->borrowed()),
          cursor_(loop, slot) {
        constant_ = true;
        for (int i = 0; i < loop.ndim; ++i) constant_ &= loop.strides[slot][i] == 0;
        scalar_ = constant_ || (whole_rows && cursor_.stride() == 0);
        adjacent_ = loop.contiguous(slot) || (whole_rows && cursor_.stride() == 1);
        if (constant_) load_scalar();
    }

    bool scalar() const { return scalar_; }
    // Elements are used where they lie.
    bool direct() const { return scalar_ || (adjacent_ && from_ == to_ && from_ != DType::Bool); }
    void seek(int64_t flat) { cursor_.seek(flat); }

    const void* next(int64_t n, std::byte* raw, std::byte* converted) {
        if (scalar_) {
            if (!constant_) {
                load_scalar();
                cursor_.advance(n);
            }
            return scalar_value_;
        }
        const void* source = from_ == DType::Bool ? next_bits(n, raw) : next_elements(n, raw);
        if (from_ == to_) return source;
        kernels().convert[index(from_)][index(to_)](converted, source, n);
        return converted;
    }

  private:
    const void* next_elements(int64_t n, std::byte* raw) {
        if (adjacent_) {
            const std::byte* source = element(base_, from_, cursor_.offset());
            skip(n);
            return source;
        }
        auto gather = kernels().gather[width_index(from_)];
        cursor_.pieces(n, [&](int64_t offset, int64_t count) {
            gather(raw, element(base_, from_, offset), count, cursor_.stride());
            raw += count * itemsize(from_);
        });
        return raw - n * itemsize(from_);
    }
    const void* next_bits(int64_t n, std::byte* raw) {
        if (adjacent_ && word_aligned(base_, cursor_.offset()) && (padded_ || n % 64 == 0)) {
            const std::byte* source = base_ + cursor_.offset() / 8;
            skip(n);
            return source;
        }
        const KernelTable& k = kernels();
        int64_t filled = 0;
        auto* to = byte_pointer(raw);
        const auto* from = byte_pointer(base_);
        cursor_.pieces(n, [&](int64_t offset, int64_t count) {
            if (cursor_.stride() == 1) {
                k.copy_bits(to, filled, from, offset, count);
            } else {
                k.gather_bits(to, filled, from, offset, cursor_.stride(), count);
            }
            filled += count;
        });
        return raw;
    }
    // Past n elements that lie side by side, whatever rows they belong to.
    void skip(int64_t n) {
        cursor_.pieces(n, [](int64_t, int64_t) {});
    }
    void load_scalar() {
        int64_t offset = cursor_.offset();
        if (from_ == DType::Bool) {
            uint64_t word =
                (byte_pointer(base_)[offset >> 3] >> (offset & 7)) & 1 ? ~uint64_t{0} : 0;
            convert_scalar(scalar_value_, to_, &word, from_);
        } else {
            convert_scalar(scalar_value_, to_, element(base_, from_, offset), from_);
        }
    }

    Ref<Block> block_;  // kept while another thread may write and move the storage off it
    const std::byte* base_;
    DType from_, to_;
    bool padded_, constant_, scalar_, adjacent_;
    Cursor cursor_;
    alignas(16) std::byte scalar_value_[16];
};

// Takes registers to memory, tile by tile.
class Writer {
  public:
    Writer(const Loop& loop, int slot, const Array& out, DType from, bool whole_rows)
        : base_(out.storage->present_block()->data()),
          from_(from),
          to_(out.dtype),
          cursor_(loop, slot) {
        adjacent_ = loop.contiguous(slot) || (whole_rows && cursor_.stride() == 1);
    }

    // To rows of adjacent elements at `base`, without conversion.
    Writer(const Loop& rows, std::byte* base, DType dtype)
        : base_(base), from_(dtype), to_(dtype), adjacent_(true), cursor_(rows, 0) {
        cursor_.seek(0);
    }

    bool direct() const { return adjacent_ && from_ == to_ && from_ != DType::Bool; }
    void seek(int64_t flat) { cursor_.seek(flat); }

    // Where the next n results go: the memory itself or the register.
    void* begin(int64_t n, std::byte* reg) {
        in_place_ = direct() || (adjacent_ && from_ == to_ &&
                                 word_aligned(base_, cursor_.offset()) && n % 64 == 0);
        if (!in_place_) return reg;
        return from_ == DType::Bool ? base_ + cursor_.offset() / 8
                                    : base_ + cursor_.offset() * itemsize(to_);
    }
    void end(int64_t n, const void* reg, std::byte* converted) {
        if (in_place_) return cursor_.pieces(n, [](int64_t, int64_t) {});
        const std::byte* source = static_cast<const std::byte*>(reg);
        const KernelTable& k = kernels();
        if (from_ != to_) {
            k.convert[index(from_)][index(to_)](converted, reg, n);
            source = converted;
        }
        if (to_ == DType::Bool) {
            int64_t taken = 0;
            cursor_.pieces(n, [&](int64_t offset, int64_t count) {
                if (cursor_.stride() == 1) {
                    k.copy_bits(byte_pointer(base_), offset, byte_pointer(source), taken, count);
                } else {
                    k.scatter_bits(byte_pointer(base_), offset, cursor_.stride(),
                                   byte_pointer(source), taken, count);
                }
                taken += count;
            });
            return;
        }
        auto scatter = k.scatter[width_index(to_)];
        cursor_.pieces(n, [&](int64_t offset, int64_t count) {
            std::byte* target = base_ + offset * itemsize(to_);
            if (cursor_.stride() == 1) {
                std::memcpy(target, source, static_cast<size_t>(count * itemsize(to_)));
            } else {
                scatter(target, source, count, cursor_.stride());
            }
            source += count * itemsize(to_);
        });
    }

  private:
    std::byte* base_;
    DType from_, to_;
    bool adjacent_, in_place_ = false;
    Cursor cursor_;
};

}  // namespace asc::cpu
