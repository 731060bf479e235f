#include "backend/cpu/elementwise.h"

#include <algorithm>

#include "backend/cpu/isa.h"
#include "backend/cpu/loop.h"
#include "core/view.h"
#include "runtime/workers.h"

namespace asc::cpu {
namespace {

// Registers of a tile hold at most this many bytes, so that all live ones stay in L1.
constexpr int64_t kRegisterBytes = 4096;
// Elements of a tile that needs no register: all operands are used in place.
constexpr int64_t kDirectTile = 1 << 14;
// Rows at least this long are tiled one by one; shorter ones are gathered into common tiles.
constexpr int64_t kLongRow = 128;
// Borders between threads fall on whole cache lines of a packed bool result.
constexpr int64_t kBorder = 512;
// The least work (in additions) that is worth a second thread.
constexpr int64_t kThreadWork = 1 << 15;

const std::byte* element(const std::byte* base, DType dtype, int64_t offset) {
    return base + offset * itemsize(dtype);
}
uint8_t* byte_pointer(std::byte* p) { return reinterpret_cast<uint8_t*>(p); }
const uint8_t* byte_pointer(const std::byte* p) { return reinterpret_cast<const uint8_t*>(p); }

bool word_aligned(const std::byte* base, int64_t bit) {
    return bit % 64 == 0 && reinterpret_cast<uintptr_t>(base) % 8 == 0;
}

// Brings an operand into registers, tile by tile.
class Reader {
public:
    Reader(const Loop& loop, int slot, const Array& x, DType to, bool whole_rows)
        : base_(x.storage->data()), from_(x.dtype), to_(to), padded_(!x.storage->block()->borrowed()),
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
            uint64_t word = (byte_pointer(base_)[offset >> 3] >> (offset & 7)) & 1 ? ~uint64_t{0} : 0;
            convert_scalar(scalar_value_, to_, &word, from_);
        } else {
            convert_scalar(scalar_value_, to_, element(base_, from_, offset), from_);
        }
    }

    const std::byte* base_;
    DType from_, to_;
    bool padded_, constant_, scalar_, adjacent_;
    Cursor cursor_;
    alignas(16) std::byte scalar_value_[16];
};

// Takes registers to memory, tile by tile.
class Writer {
public:
    Writer(const Loop& loop, const Array& out, DType from, bool whole_rows)
        : base_(out.storage->data()), from_(from), to_(out.dtype), cursor_(loop, 0) {
        adjacent_ = loop.contiguous(0) || (whole_rows && cursor_.stride() == 1);
    }

    bool direct() const { return adjacent_ && from_ == to_ && from_ != DType::Bool; }
    void seek(int64_t flat) { cursor_.seek(flat); }

    // Where the next n results go: the memory itself or the register.
    void* begin(int64_t n, std::byte* reg) {
        in_place_ = direct() || (adjacent_ && from_ == to_ && word_aligned(base_, cursor_.offset()) && n % 64 == 0);
        if (!in_place_) return reg;
        return from_ == DType::Bool ? base_ + cursor_.offset() / 8 : base_ + cursor_.offset() * itemsize(to_);
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
                    k.scatter_bits(byte_pointer(base_), offset, cursor_.stride(), byte_pointer(source), taken,
                                   count);
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

// One elementwise operation over a Loop; out is operand 0 of the loop. A null kernel copies.
class TileMachine {
public:
    TileMachine(ElementwiseFn kernel, DType result, std::span<const Operand> operands,
                const DType* registers, const Array& out)
        : kernel_(kernel), result_(result), operands_(operands), registers_(registers), out_(out),
          loop_(list_arrays(operands, out, arrays_)),
          whole_rows_(loop_.ndim == 1 || loop_.inner() >= kLongRow) {}

    void run(int cost) {
        int64_t size = out_.size();
        int64_t parts = std::min<int64_t>(workers::count() * 4, size * cost / kThreadWork);
        bool splits = out_.dtype != DType::Bool || loop_.contiguous(0);
        if (parts < 2 || workers::count() < 2 || !splits) return run_range(0, size);
        // The first border of a bool result makes up for its offset in the cache line.
        int64_t phase = out_.dtype == DType::Bool ? (kBorder - out_.offset % kBorder) % kBorder : 0;
        int64_t step = (size / parts + kBorder - 1) / kBorder * kBorder;
        parts = (size - phase + step - 1) / step;
        workers::for_each(parts, [&](int64_t i) {
            int64_t first = i == 0 ? 0 : phase + i * step;
            run_range(first, std::min(size, phase + (i + 1) * step));
        });
    }

private:
    static std::span<const Array* const> list_arrays(std::span<const Operand> operands, const Array& out,
                                                     const Array** arrays) {
        size_t count = 0;
        arrays[count++] = &out;
        for (const Operand& operand : operands) {
            if (operand.array) arrays[count++] = operand.array;
        }
        return {arrays, count};
    }

    void run_range(int64_t first, int64_t last) {
        alignas(64) std::byte registers[2 * kMaxOperands][kRegisterBytes];
        alignas(8) std::byte storage[kMaxOperands][sizeof(Reader)];
        Reader* readers[kMaxOperands] = {};
        const void* sources[kMaxOperands];
        unsigned scalars = 0;
        Writer writer(loop_, out_, result_, whole_rows_);
        writer.seek(first);
        bool direct = writer.direct();
        int64_t widest = std::max(bits(result_), bits(out_.dtype));
        for (size_t k = 0, slot = 1; k < operands_.size(); ++k) {
            if (!operands_[k].array) {
                sources[k] = operands_[k].scalar;
                scalars |= 1u << k;
                continue;
            }
            const Array& x = *operands_[k].array;
            readers[k] = new (storage[k]) Reader(loop_, static_cast<int>(slot++), x, registers_[k], whole_rows_);
            readers[k]->seek(first);
            if (readers[k]->scalar()) scalars |= 1u << k;
            direct &= readers[k]->direct();
            widest = std::max({widest, bits(x.dtype), bits(registers_[k])});
        }
        int64_t tile = direct ? kDirectTile : kRegisterBytes * 8 / widest;
        int64_t row = loop_.inner();
        for (int64_t at = first; at < last;) {
            int64_t n = std::min(tile, last - at);
            if (whole_rows_) n = std::min(n, row - at % row);
            for (size_t k = 0; k < operands_.size(); ++k) {
                if (readers[k]) sources[k] = readers[k]->next(n, registers[2 * k + 1], registers[2 * k + 2]);
            }
            void* target = writer.begin(n, registers[0]);
            kernel_(target, sources, n, scalars);
            writer.end(n, target, registers[2 * kMaxOperands - 1]);
            at += n;
        }
    }

    ElementwiseFn kernel_;
    DType result_;
    std::span<const Operand> operands_;
    const DType* registers_;
    const Array& out_;
    const Array* arrays_[kMaxOperands];
    Loop loop_;
    bool whole_rows_;
};

// The register copied: an operation for casts and copies.
template <int64_t kBytes>
void copy_register(void* dst, const void* const* src, int64_t n, unsigned scalars) {
    if (scalars & 1) {
        constexpr int width = kBytes == 16 ? 4 : kBytes == 8 ? 3 : kBytes == 4 ? 2 : kBytes == 2 ? 1 : 0;
        kernels().fill[width](dst, src[0], n, 1);
    } else if (dst != src[0]) {
        std::memcpy(dst, src[0], static_cast<size_t>(n * kBytes));
    }
}
void copy_bit_register(void* dst, const void* const* src, int64_t n, unsigned scalars) {
    if (scalars & 1) {
        kernels().fill_bits(static_cast<uint8_t*>(dst), 0, n, *static_cast<const uint8_t*>(src[0]) & 1);
    } else if (dst != src[0]) {
        std::memcpy(dst, src[0], static_cast<size_t>((n + 63) / 64 * 8));
    }
}
ElementwiseFn copy_kernel(DType dtype) {
    switch (itemsize(dtype)) {
        case 0: return copy_bit_register;
        case 1: return copy_register<1>;
        case 2: return copy_register<2>;
        case 4: return copy_register<4>;
        case 8: return copy_register<8>;
        default: return copy_register<16>;
    }
}

// Handles dst = src where src's unit stride runs along another axis than dst's; false otherwise.
bool transfer_transposed(const Array& dst, const Array& src) {
    if (dst.dtype != src.dtype || dst.dtype == DType::Bool) return false;
    const Array* arrays[] = {&dst, &src};
    Loop loop(arrays);
    int last = loop.ndim - 1, unit = -1;
    if (loop.ndim < 2 || loop.strides[0][last] != 1 || loop.strides[1][last] == 1) return false;
    for (int i = 0; i < last; ++i) {
        if (loop.strides[1][i] == 1) unit = i;
    }
    if (unit < 0 || loop.shape[unit] < 8 || loop.shape[last] < 8) return false;
    // Move the pair of axes out; what is left is a loop over planes.
    constexpr int64_t kBand = 64;  // unit-axis elements of one task
    int64_t bands = (loop.shape[unit] + kBand - 1) / kBand, planes = 1;
    for (int i = 0; i < last; ++i) planes *= i == unit ? 1 : loop.shape[i];
    int64_t bytes = itemsize(dst.dtype);
    std::byte* to = dst.storage->data();
    const std::byte* from = src.storage->data();
    auto kernel = kernels().transpose[width_index(dst.dtype)];
    auto band = [&](int64_t task) {
        int64_t plane = task / bands, first = task % bands * kBand;
        int64_t target = loop.offset[0] + first * loop.strides[0][unit];
        int64_t source = loop.offset[1] + first;
        for (int i = last - 1; i >= 0; --i) {
            if (i == unit) continue;
            target += plane % loop.shape[i] * loop.strides[0][i];
            source += plane % loop.shape[i] * loop.strides[1][i];
            plane /= loop.shape[i];
        }
        kernel(to + target * bytes, loop.strides[0][unit], from + source * bytes, loop.strides[1][last],
               loop.shape[last], std::min(kBand, loop.shape[unit] - first));
    };
    if (dst.size() < kThreadWork) {
        for (int64_t i = 0; i < planes * bands; ++i) band(i);
    } else {
        workers::for_each(planes * bands, band);
    }
    return true;
}

}  // namespace

int element_cost(Op op) {
    switch (op) {
        case Op::Abs:
        case Op::BitwiseInvert:
        case Op::Negative:
        case Op::Positive:
        case Op::Add:
        case Op::Subtract:
        case Op::Multiply: return 1;
        case Op::Acos:
        case Op::Acosh:
        case Op::Asin:
        case Op::Asinh:
        case Op::Atan:
        case Op::Atanh:
        case Op::Atan2:
        case Op::Cos:
        case Op::Cosh:
        case Op::Exp:
        case Op::Expm1:
        case Op::Log:
        case Op::Log1p:
        case Op::Log2:
        case Op::Log10:
        case Op::LogAddExp:
        case Op::Pow:
        case Op::Sin:
        case Op::Sinh:
        case Op::Tan:
        case Op::Tanh: return 16;
        case Op::FloorDivide:
        case Op::Remainder:
        case Op::Hypot:
        case Op::NextAfter: return 8;
        default: return 2;
    }
}

void convert_scalar(void* dst, DType to, const void* src, DType from) {
    if (from == to) {
        std::memcpy(dst, src, static_cast<size_t>(is_bool(to) ? 8 : itemsize(to)));
        return;
    }
    uint64_t bits[2] = {};
    kernels().convert[index(from)][index(to)](bits, src, 1);
    if (is_bool(to)) bits[0] = bits[0] & 1 ? ~uint64_t{0} : 0;
    std::memcpy(dst, bits, static_cast<size_t>(is_bool(to) ? 8 : itemsize(to)));
}

namespace {
// All arrays row-major, of out's shape and of the computed dtype: kernels run on memory itself.
bool run_contiguous(ElementwiseFn kernel, Op op, DType compute, std::span<const Operand> operands,
                    const Array& out) {
    if (is_bool(out.dtype) || out.dtype != result_dtype(info(op).result, compute) || !is_contiguous(out)) {
        return false;
    }
    const void* sources[kMaxOperands];
    unsigned scalars = 0;
    for (size_t k = 0; k < operands.size(); ++k) {
        const Array* x = operands[k].array;
        if (x && (x->dtype != compute || !(x->shape == out.shape) || !is_contiguous(*x))) return false;
        if (!x) scalars |= 1u << k;
        sources[k] = x ? static_cast<const void*>(x->data()) : operands[k].scalar;
    }
    int64_t size = out.size();
    if (size * element_cost(op) < 2 * kThreadWork || workers::count() < 2) {
        kernel(out.data(), sources, size, scalars);
        return true;
    }
    int64_t parts = std::min<int64_t>(workers::count() * 4, size * element_cost(op) / kThreadWork);
    int64_t step = (size / parts + kBorder - 1) / kBorder * kBorder;
    workers::for_each((size + step - 1) / step, [&](int64_t i) {
        const void* part[kMaxOperands];
        for (size_t k = 0; k < operands.size(); ++k) {
            part[k] = scalars >> k & 1 ? sources[k]
                                       : static_cast<const std::byte*>(sources[k]) + i * step * itemsize(compute);
        }
        kernel(out.data() + i * step * itemsize(out.dtype), part, std::min(step, size - i * step), scalars);
    });
    return true;
}
}  // namespace

void elementwise(Op op, DType compute, std::span<const Operand> operands, const Array& out) {
    if (out.size() == 0) return;
    ElementwiseFn kernel = kernels().elementwise[index(op)][index(compute)];
    if (!kernel) raise(ErrorKind::Runtime, "%s: no kernel for dtype %s", info(op).name, name(compute));
    if (run_contiguous(kernel, op, compute, operands, out)) return;
    DType registers[kMaxOperands];
    for (size_t k = 0; k < operands.size(); ++k) registers[k] = register_dtype(op, static_cast<int>(k), compute);
    DType result = result_dtype(info(op).result, compute);
    TileMachine(kernel, result, operands, registers, out).run(element_cost(op));
}

void transfer(const Array& dst, const Array& src) {
    if (dst.size() == 0) return;
    if (transfer_transposed(dst, src)) return;
    // Converted at the narrower end, so that registers move the fewest bytes.
    DType reg = dst.dtype;
    Operand operand;
    operand.array = &src;
    TileMachine(copy_kernel(reg), reg, {&operand, 1}, &reg, dst).run(1);
}

}  // namespace asc::cpu

namespace asc {

Array copy(const Array& x) {
    Array result = Array::empty(x.shape, x.dtype);
    cpu::transfer(result, x);
    return result;
}

Array cast(const Array& x, DType to) {
    Array result = Array::empty(x.shape, to);
    cpu::transfer(result, x);
    return result;
}

void assign(const Array& dst, const Array& src, const char* function) {
    Array source = broadcast_to(src, dst.shape, function);
    prepare_write(dst, function);
    if (same_view(dst, source)) return;
    cpu::transfer(dst, may_overlap(dst, source) ? copy(source) : source);
}

}  // namespace asc
