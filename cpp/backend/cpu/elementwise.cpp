#include "backend/cpu/elementwise.h"

#include <algorithm>
#include <atomic>

#include "backend/cpu/cache.h"
#include "backend/cpu/isa.h"
#include "backend/cpu/machine.h"
#include "core/view.h"
#include "runtime/workers.h"

namespace asc::cpu {
namespace {

// Borders between threads fall on whole cache lines.
constexpr int64_t kBorder = 512;
using workers::kThreadWork;

// Runs body(first element, count) for pieces of n elements, on several threads where that pays.
template <class F>
void in_pieces(int64_t n, F&& body) {
    if (n < 4 * kThreadWork || workers::count() < 2) return body(int64_t{0}, n);
    workers::for_each((n + kThreadWork - 1) / kThreadWork, [&](int64_t i) {
        body(i * kThreadWork, std::min(kThreadWork, n - i * kThreadWork));
    });
}

// Writing this goes past the caches.
bool streams(const Array& out) {
    return !is_bool(out.dtype) && out.size() * itemsize(out.dtype) >= stream_bytes();
}

// Copies memory on several threads, past the caches where `streaming`.
void copy_bytes(std::byte* to, const std::byte* from, int64_t bytes, bool streaming) {
    in_pieces(bytes, [&](int64_t first, int64_t count) {
        if (!streaming) {
            std::memcpy(to + first, from + first, static_cast<size_t>(count));
            return;
        }
        kernels().stream(to + first, from + first, count);
        std::atomic_thread_fence(std::memory_order_seq_cst);
    });
}

// Handles row-major dst = one element, or = row-major src, of the same dtype; false otherwise.
bool transfer_contiguous(const Array& dst, const Array& src) {
    if (dst.dtype != src.dtype || !is_contiguous(dst)) return false;
    int64_t n = dst.size();
    bool one = true;
    for (int i = 0; i < src.ndim(); ++i) one &= src.shape[i] == 1 || src.strides[i] == 0;
    if (!one && (!(src.shape == dst.shape) || !is_contiguous(src))) return false;
    // The machine streams large fills.
    if (one && streams(dst)) return false;
    const KernelTable& k = kernels();
    if (is_bool(dst.dtype)) {
        auto* to = reinterpret_cast<uint8_t*>(dst.bits());
        const auto* from = reinterpret_cast<const uint8_t*>(src.bits());
        if (one) {
            k.fill_bits(to, dst.offset, n, from[src.offset >> 3] >> (src.offset & 7) & 1);
        } else {
            k.copy_bits(to, dst.offset, from, src.offset, n);
        }
        return true;
    }
    int64_t size = itemsize(dst.dtype);
    std::byte* to = dst.data();
    const std::byte* from = src.data();
    if (one && n == 1) {
        std::memcpy(to, from, static_cast<size_t>(size));
    } else if (one) {
        auto fill = k.fill[width_index(dst.dtype)];
        in_pieces(n,
                  [&](int64_t first, int64_t count) { fill(to + first * size, from, count, 1); });
    } else {
        copy_bytes(to, from, n * size, streams(dst) && !(dst.storage == src.storage));
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
        case Op::Multiply:
            return 1;
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
        case Op::Tanh:
            return 16;
        case Op::FloorDivide:
        case Op::Remainder:
        case Op::Hypot:
        case Op::NextAfter:
            return 8;
        default:
            return 2;
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
// Kernels may read the memory of x: row-major elements, whole words of packed bits.
bool readable_memory(const Array& x) {
    if (!is_contiguous(x)) return false;
    return !is_bool(x.dtype) || (x.offset == 0 && !x.storage->present_block()->borrowed());
}
// They may write it, too: bits up to the end of the last word are nobody else's.
bool writable_memory(const Array& x) {
    return readable_memory(x) &&
           (!is_bool(x.dtype) || x.size() % 64 == 0 || x.storage->use_count() == 1);
}
std::byte* address(const Array& x) { return is_bool(x.dtype) ? x.bits() : x.data(); }
int64_t bytes_of(int64_t elements, DType dtype) { return elements * bits(dtype) / 8; }

// All arrays row-major, of out's shape and of their registers' dtypes: kernels run on memory
// itself.
bool run_contiguous(ElementwiseFn kernel, Op op, DType compute, std::span<const Operand> operands,
                    const Array& out) {
    if (out.dtype != result_dtype(info(op).result, compute) || !writable_memory(out) ||
        streams(out)) {
        return false;
    }
    const void* sources[kMaxOperands];
    unsigned scalars = 0;
    for (size_t k = 0; k < operands.size(); ++k) {
        const Array* x = operands[k].array;
        DType reg = register_dtype(op, static_cast<int>(k), compute);
        if (x && (x->dtype != reg || !(x->shape == out.shape) || !readable_memory(*x)))
            return false;
        if (!x) scalars |= 1u << k;
        sources[k] = x ? static_cast<const void*>(address(*x)) : operands[k].scalar;
    }
    std::byte* target = address(out);
    int64_t size = out.size();
    int64_t parts = std::min<int64_t>(workers::count() * 4, size * element_cost(op) / kThreadWork);
    if (parts < 2 || workers::count() < 2) {
        kernel(target, sources, size, scalars);
        return true;
    }
    int64_t step = (size / parts + kBorder - 1) / kBorder * kBorder;
    workers::for_each((size + step - 1) / step, [&](int64_t i) {
        const void* part[kMaxOperands];
        for (size_t k = 0; k < operands.size(); ++k) {
            DType reg = register_dtype(op, static_cast<int>(k), compute);
            int64_t skipped = scalars >> k & 1 ? 0 : bytes_of(i * step, reg);
            part[k] = static_cast<const std::byte*>(sources[k]) + skipped;
        }
        kernel(target + bytes_of(i * step, out.dtype), part, std::min(step, size - i * step),
               scalars);
    });
    return true;
}
}  // namespace

void elementwise(Op op, DType compute, std::span<const Operand> operands, const Array& out) {
    if (out.size() == 0) return;
    for (const Operand& operand : operands) {
        if (operand.array) operand.array->storage->settle();
    }
    ElementwiseFn kernel = kernels().elementwise[index(op)][index(compute)];
    if (!kernel)
        raise(ErrorKind::Runtime, "%s: no kernel for dtype %s", info(op).name, name(compute));
    if (run_contiguous(kernel, op, compute, operands, out)) return;
    // One instruction; the vectors keep their memory from call to call.
    thread_local Program program;
    Instruction code;
    code.op = op;
    code.dtype = compute;
    code.result = result_dtype(info(op).result, compute);
    code.arity = info(op).arity;
    program.inputs.clear();
    program.constants.clear();
    Array inputs[3];
    Constant constants[3];
    for (size_t k = 0; k < operands.size(); ++k) {
        DType reg = register_dtype(op, static_cast<int>(k), compute);
        bool array = operands[k].array;
        std::vector<DType>& list = array ? program.inputs : program.constants;
        code.source[k] = {array ? Value::From::Input : Value::From::Constant,
                          static_cast<uint8_t>(list.size())};
        if (array) {
            inputs[list.size()] = *operands[k].array;
        } else {
            std::memcpy(constants[list.size()].bytes, operands[k].scalar, 16);
        }
        list.push_back(reg);
    }
    program.code.assign(1, code);
    program.outputs.assign(1, {{Value::From::Result, 0}, code.result});
    program.finish();
    run({&program,
         {inputs, program.inputs.size()},
         {constants, program.constants.size()},
         {&out, 1}});
}

void transfer(const Array& dst, const Array& src) {
    if (dst.size() == 0) return;
    src.storage->settle();
    if (transfer_contiguous(dst, src)) return;
    if (is_contiguous(dst) && is_contiguous(src) && src.shape == dst.shape && !is_bool(dst.dtype) &&
        !is_bool(src.dtype) && !streams(dst)) {
        auto convert = kernels().convert[index(src.dtype)][index(dst.dtype)];
        std::byte* to = dst.data();
        const std::byte* from = src.data();
        in_pieces(dst.size(), [&](int64_t first, int64_t count) {
            convert(to + first * itemsize(dst.dtype), from + first * itemsize(src.dtype), count);
        });
        return;
    }
    thread_local Program program;
    program.inputs.assign(1, dst.dtype);
    program.outputs.assign(1, {{Value::From::Input, 0}, dst.dtype});
    program.finish();
    run({&program, {&src, 1}, {}, {&dst, 1}});
}

}  // namespace asc::cpu
