// Tiles: strided memory into registers and back.
#pragma once
#include <algorithm>
#include <cstring>

#include "backend/cpu/elementwise.h"
#include "backend/cpu/isa.h"
#include "backend/cpu/loop.h"

namespace asc::cpu {

inline uint8_t* byte_pointer(std::byte* p) { return reinterpret_cast<uint8_t*>(p); }
inline const uint8_t* byte_pointer(const std::byte* p) {
    return reinterpret_cast<const uint8_t*>(p);
}

// Words of packed bits can be used where they lie.
inline bool word_aligned(const std::byte* base, int64_t bit) {
    return bit % 64 == 0 && reinterpret_cast<uintptr_t>(base) % 8 == 0;
}

inline void prefetch(uintptr_t address) {
    __builtin_prefetch(reinterpret_cast<const void*>(address));
}

// Strides below this share a line of the caches.
inline constexpr int64_t kLineBytes = 64;

// How an index space is cut into tiles.
enum class Tiling : uint8_t {
    Rows,    // pieces of one row each
    Flat,    // in loop order across short rows
    Blocks,  // rectangles of the last two axes
};

// An operand of a run: its memory, its dtypes there and in a register, and how tiles meet it.
struct Port {
    Port() = default;
    Port(const Loop& loop, int slot, const Array& x, DType reg, Tiling tiling)
        : block(x.storage->present_block()),
          base(block->data()),
          memory(x.dtype),
          reg(reg),
          padded(!block->borrowed()) {
        const int64_t* strides = loop.strides[slot];
        constant = std::all_of(strides, strides + loop.ndim, [](int64_t s) { return s == 0; });
        const int64_t inner = strides[loop.ndim - 1];
        scalar = constant || (tiling == Tiling::Rows && inner == 0);
        adjacent = tiling != Tiling::Blocks &&
                   (loop.contiguous(slot) || (tiling == Tiling::Rows && inner == 1));
        transposed = tiling == Tiling::Blocks && !is_bool(memory) &&
                     std::abs(strides[loop.ndim - 2]) < std::abs(inner);
    }

    // An output in memory that comes with each part of a run, without conversion.
    explicit Port(DType dtype) : memory(dtype), reg(dtype), adjacent(true) {}

    // Kernels use the elements where they lie.
    bool direct() const { return adjacent && memory == reg && !is_bool(memory) && !streams; }
    // The same for packed bool, up to its last word.
    bool packed() const { return adjacent && is_bool(memory) && is_bool(reg); }
    // For prefetching, also beyond the array.
    uintptr_t address(int64_t offset) const {
        return reinterpret_cast<uintptr_t>(base) + static_cast<uint64_t>(offset * itemsize(memory));
    }
    std::byte* at(int64_t offset) const { return base + offset * itemsize(memory); }

    Ref<Block> block;  // kept while another thread may write and move the storage off it
    std::byte* base = nullptr;
    DType memory, reg;
    bool padded = false;      // whole words of packed bits may be read
    bool constant = false;    // one element for all indices
    bool scalar = false;      // one element for each tile
    bool adjacent = false;    // the elements of a tile lie side by side
    bool transposed = false;  // an input that is read by whole blocks
    bool ahead = false;       // lies far away: the next tile is fetched early
    bool streams = false;     // an output that is written past the caches
};

// Brings an operand into registers, tile by tile.
class Reader {
  public:
    Reader(const Port& port, const Loop& loop, int slot) : port_(port), cursor_(loop, slot) {
        if (port.constant) load_scalar();
    }
    Cursor& cursor() { return cursor_; }
    // Reads the block that the next tiles are part of.
    void read_block(int64_t rows, int64_t cols, std::byte* packed) {
        kernels().pack[width_index(port_.memory)](packed, port_.at(cursor_.offset()), rows, cols,
                                                  cursor_.row_stride(), cursor_.stride());
        block_ = packed;
    }

    const void* next(int64_t n, std::byte* raw, std::byte* converted) {
        if (port_.scalar) {
            if (!port_.constant) {
                load_scalar();
                cursor_.skip(n);
            }
            return scalar_value_;
        }
        const void* source = is_bool(port_.memory) ? next_bits(n, raw) : next_elements(n, raw);
        if (port_.memory == port_.reg) return source;
        kernels().convert[index(port_.memory)][index(port_.reg)](converted, source, n);
        return converted;
    }

  private:
    const void* next_elements(int64_t n, std::byte* raw) {
        if (port_.adjacent) {
            const std::byte* source = port_.at(cursor_.offset());
            cursor_.skip(n);
            return source;
        }
        if (port_.transposed) {
            const std::byte* source = block_;
            block_ += n * itemsize(port_.memory);
            return source;
        }
        auto pack = kernels().pack[width_index(port_.memory)];
        std::byte* to = raw;
        cursor_.pieces(n, [&](int64_t offset, int64_t rows, int64_t cols) {
            pack(to, port_.at(offset), rows, cols, cursor_.row_stride(), cursor_.stride());
            to += rows * cols * itemsize(port_.memory);
        });
        return raw;
    }
    const void* next_bits(int64_t n, std::byte* raw) {
        if (port_.adjacent && word_aligned(port_.base, cursor_.offset()) &&
            (port_.padded || n % 64 == 0)) {
            const std::byte* source = port_.base + cursor_.offset() / 8;
            cursor_.skip(n);
            return source;
        }
        const KernelTable& k = kernels();
        int64_t filled = 0;
        auto* to = byte_pointer(raw);
        const auto* from = byte_pointer(port_.base);
        cursor_.pieces(n, [&](int64_t offset, int64_t rows, int64_t cols) {
            for (int64_t r = 0; r < rows; ++r, offset += cursor_.row_stride(), filled += cols) {
                if (cursor_.stride() == 1) {
                    k.copy_bits(to, filled, from, offset, cols);
                } else {
                    k.gather_bits(to, filled, from, offset, cursor_.stride(), cols);
                }
            }
        });
        return raw;
    }
    void load_scalar() {
        const int64_t offset = cursor_.offset();
        uint64_t word = 0;
        const void* source = &word;
        if (is_bool(port_.memory)) {
            word = byte_pointer(port_.base)[offset >> 3] >> (offset & 7) & 1 ? ~uint64_t{0} : 0;
        } else {
            source = port_.at(offset);
        }
        convert_scalar(scalar_value_, port_.reg, source, port_.memory);
    }

    const Port& port_;
    Cursor cursor_;
    const std::byte* block_ = nullptr;  // what is left of the packed block
    alignas(16) std::byte scalar_value_[16];
};

// Takes registers to memory, tile by tile.
class Writer {
  public:
    Writer(const Port& port, const Loop& loop, int slot)
        : port_(port), base_(port.base), cursor_(loop, slot) {}
    // To rows of adjacent elements at `base`.
    Writer(const Port& port, const Loop& rows, std::byte* base)
        : port_(port), base_(base), cursor_(rows, 0) {}
    Cursor& cursor() { return cursor_; }
    bool buffered() const { return !port_.base; }
    std::byte* address(int64_t offset) const { return base_ + offset * itemsize(port_.memory); }

    // Where the next n results go: the memory itself or the register.
    void* begin(int64_t n, std::byte* reg) {
        const int64_t at = cursor_.offset();
        in_place_ = port_.direct() || (port_.packed() && word_aligned(base_, at) && n % 64 == 0);
        if (!in_place_) return reg;
        return is_bool(port_.memory) ? base_ + at / 8 : address(at);
    }
    void end(int64_t n, const void* reg, std::byte* converted) {
        if (in_place_) return cursor_.skip(n);
        const void* source = reg;
        if (port_.reg != port_.memory) {
            kernels().convert[index(port_.reg)][index(port_.memory)](converted, reg, n);
            source = converted;
        }
        if (is_bool(port_.memory)) {
            put_bits(n, static_cast<const uint8_t*>(source));
        } else {
            put_elements(n, static_cast<const std::byte*>(source));
        }
    }

  private:
    void put_bits(int64_t n, const uint8_t* source) {
        const KernelTable& k = kernels();
        auto* to = byte_pointer(base_);
        int64_t taken = 0;
        cursor_.pieces(n, [&](int64_t offset, int64_t rows, int64_t cols) {
            for (int64_t r = 0; r < rows; ++r, offset += cursor_.row_stride(), taken += cols) {
                if (cursor_.stride() == 1) {
                    k.copy_bits(to, offset, source, taken, cols);
                } else {
                    k.scatter_bits(to, offset, cursor_.stride(), source, taken, cols);
                }
            }
        });
    }
    void put_elements(int64_t n, const std::byte* source) {
        const KernelTable& k = kernels();
        const int64_t size = itemsize(port_.memory);
        if (port_.streams && port_.adjacent) {
            k.stream(address(cursor_.offset()), source, n * size);
            return cursor_.skip(n);
        }
        if (port_.streams) {
            return cursor_.pieces(n, [&](int64_t offset, int64_t rows, int64_t cols) {
                for (int64_t r = 0; r < rows; ++r, offset += cursor_.row_stride()) {
                    k.stream(address(offset), source, cols * size);
                    source += cols * size;
                }
            });
        }
        auto unpack = k.unpack[width_index(port_.memory)];
        cursor_.pieces(n, [&](int64_t offset, int64_t rows, int64_t cols) {
            unpack(address(offset), source, rows, cols, cursor_.row_stride(), cursor_.stride());
            source += rows * cols * size;
        });
    }

    const Port& port_;
    std::byte* base_;
    Cursor cursor_;
    bool in_place_ = false;
};

}  // namespace asc::cpu
