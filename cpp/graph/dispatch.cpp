#include "graph/dispatch.h"

#include <algorithm>
#include <cstring>

#include "backend/backend.h"
#include "backend/cpu/elementwise.h"
#include "backend/cpu/isa.h"
#include "backend/cpu/product.h"
#include "backend/cpu/reduce.h"
#include "core/promotion.h"
#include "core/view.h"
#include "graph/placement.h"
#include "graph/tape.h"

namespace asc {
namespace {

// Relaxed mode: the dtype in which NumPy computes what the standard defines for a category only,
// or the dtype itself.
DType relaxed_dtype(Category category, DType dtype) {
    if (accepts(category, dtype)) return dtype;
    if (category == Category::Floating || category == Category::RealFloating) {
        return is_complex(dtype) ? dtype : DType::Float64;
    }
    if (category == Category::Boolean) return DType::Bool;
    return is_bool(dtype) ? DType::Int8 : dtype;
}

// Relaxed mode: arithmetic of bools is logic in NumPy.
Op relaxed_op(Op op, DType dtype) {
    if (!is_bool(dtype)) return op;
    switch (op) {
        case Op::Add:
        case Op::Maximum:
            return Op::LogicalOr;
        case Op::Multiply:
        case Op::Minimum:
            return Op::LogicalAnd;
        default:
            return op;
    }
}

// The dtype of op's kernel: the dtype itself, or float32 for narrow floats.
DType kernel_dtype(Op op, DType dtype) {
    return cpu::kernels().elementwise[index(op)][index(dtype)] ? dtype : cpu::compute_dtype(dtype);
}

// Axes of the first array that has all elements of the result, slowest first: its memory order
// becomes the result's. Row-major order gives an empty list.
Dims result_order(const Dims& shape, std::span<const Argument> args) {
    for (const Argument& arg : args) {
        if (!arg.array || !(arg.array->shape == shape)) continue;
        return memory_order(*arg.array);
    }
    return {};
}

// The result's memory: now, or as a promise of recorded work.
Array allocate_result(const char* function, Dims shape, DType dtype, DeviceId device,
                      std::span<const Argument> args, bool promise) {
    Dims order = shape.size() < 2 ? Dims() : result_order(shape, args);
    if (!promise && order.empty()) return Array::empty(std::move(shape), dtype, device, function);
    if (!promise) return Array::empty_ordered(std::move(shape), order, dtype, device, function);
    Dims strides = order.empty() ? row_major_strides(shape) : ordered_strides(shape, order);
    return Array::promised(std::move(shape), strides, dtype, device, function);
}

// ---- now or later

// Results up to this size are computed at once where their operands are ready.
constexpr int64_t kInline = 4096;

bool pending(const Array& x) { return x.storage->writer() != nullptr; }

bool defers(int64_t size, DeviceId device, std::span<const Argument> args) {
    if (!on_host(device)) return true;
    if (deferral() == Deferral::Off) return false;
    if (deferral() == Deferral::Always || size > kInline) return true;
    return std::any_of(args.begin(), args.end(),
                       [](const Argument& arg) { return arg.array && pending(*arg.array); });
}

void record(Op op, DType compute, std::span<const Operand> operands, const Array& out) {
    Entry entry;
    entry.function = info(op).name;
    entry.op = op;
    entry.compute = compute;
    entry.arity = static_cast<uint8_t>(operands.size());
    for (size_t k = 0; k < operands.size(); ++k) {
        entry.constant[k] = !operands[k].array;
        if (operands[k].array) {
            entry.inputs[k] = *operands[k].array;
        } else {
            std::memcpy(entry.constants[k].bytes, operands[k].scalar, 16);
        }
    }
    entry.output = out;
    Tape::current().record(std::move(entry));
}

void record_copy(const char* function, const Array& dst, const Array& src) {
    Entry entry;
    entry.function = function;
    entry.kind = Entry::Kind::Copy;
    entry.inputs[0] = src;
    entry.output = dst;
    Tape::current().record(std::move(entry));
}

// Records an entry whose result is a row-major promise.
Array record_promise(Entry entry, std::span<const Array> inputs, DeviceId device, Dims shape,
                     DType dtype) {
    entry.arity = static_cast<uint8_t>(inputs.size());
    std::copy(inputs.begin(), inputs.end(), entry.inputs);
    Dims strides = row_major_strides(shape);
    Array out = Array::promised(std::move(shape), strides, dtype, device, entry.function);
    entry.output = out;
    Tape::current().record(std::move(entry));
    return out;
}

void check_integer_pow(const Argument& exponent, DType dtype) {
    if (!is_integer(dtype)) return;
    bool negative = exponent.array
                        ? any_negative(*exponent.array)
                        : exponent.scalar->kind != Kind::Bool && exponent.scalar->negative();
    if (negative) {
        raise(ErrorKind::Value,
              "pow: integers to negative integer powers have no integer result; "
              "convert to a floating-point dtype first");
    }
}

// Fills the operands of a kernel; a scalar is stored in the dtype of its register.
void bind(Op op, DType compute, DType dtype, std::span<const Argument> args, Operand* operands) {
    for (size_t k = 0; k < args.size(); ++k) {
        operands[k].array = args[k].array;
        if (args[k].array) continue;
        bool condition = op == Op::Where && k == 0;
        DType reg = condition ? DType::Bool : dtype;
        store(operands[k].scalar, reg, *args[k].scalar, info(op).name);
        if (!condition && compute != dtype) {
            std::byte narrow[16];
            std::copy_n(operands[k].scalar, 16, narrow);
            cpu::convert_scalar(operands[k].scalar, compute, narrow, dtype);
        }
    }
}

std::span<const Argument> values(Op op, std::span<const Argument> args) {
    return op == Op::Where ? args.subspan(1) : args;
}

// ---- the usual call: a kernel on the operands' own memory

// One element that serves all of an array with at least as many axes.
bool serves_all(const Array& x, const Array& like) {
    return x.ndim() <= like.ndim() && x.size() == 1;
}

// The kernel of op where `like` is an operand and all operands are small, finished, row-major
// arrays of its dtype and shape, or single elements of it; null where there is more to do.
cpu::ElementwiseFn direct_kernel(Op op, const Array& like, std::span<const Argument> args) {
    const DType dtype = like.dtype;
    const DeviceId place = like.device();
    if (!on_host(place) || deferral() == Deferral::Always || is_bool(dtype) || op == Op::Where ||
        like.size() > kInline || !accepts(info(op).category, dtype) ||
        (op == Op::Pow && is_integer(dtype))) {
        return nullptr;
    }
    for (const Argument& arg : args) {
        if (arg.array) {
            const Array& x = *arg.array;
            bool fits = x.shape == like.shape ? is_contiguous(x) : serves_all(x, like);
            if (!fits || x.dtype != dtype || x.device() != place || !x.storage->finished())
                return nullptr;
        } else if (promote_scalar(dtype, arg.scalar->kind, true) != dtype) {
            return nullptr;
        }
    }
    return cpu::kernels().elementwise[index(op)][index(dtype)];
}

void run_direct(cpu::ElementwiseFn kernel, Op op, const Array& like, std::span<const Argument> args,
                std::byte* out) {
    const void* sources[3];
    Constant constants[3];
    unsigned scalars = 0;
    for (size_t k = 0; k < args.size(); ++k) {
        if (args[k].array) {
            sources[k] = args[k].array->data();
        } else {
            store(constants[k].bytes, like.dtype, *args[k].scalar, info(op).name);
            sources[k] = constants[k].bytes;
        }
        bool whole = args[k].array && args[k].array->shape == like.shape;
        scalars |= static_cast<unsigned>(!whole) << k;
    }
    kernel(out, sources, like.size(), scalars);
}

bool apply_inplace_directly(Op op, const Array& target, std::span<const Argument> args,
                            const char* symbol) {
    cpu::ElementwiseFn kernel = direct_kernel(op, target, args);
    if (!kernel || result_dtype(info(op).result, target.dtype) != target.dtype) return false;
    const Array* other = args[1].array;
    bool apart = !other || (other->storage == target.storage
                                ? other->offset == target.offset && other->shape == target.shape
                                : !other->storage->borrowed() && !target.storage->borrowed());
    if (!apart) return false;
    prepare_write(target, symbol);
    run_direct(kernel, op, target, args, target.data());
    return true;
}

Plan plan(Op op, DeviceId place, std::span<const Argument> args, bool strict) {
    const char* function = info(op).name;
    DType dtype = common_dtype(function, values(op, args), strict);
    auto found = plan(op, dtype, strict);
    if (!found) refuse_dtype(function, info(op).category, dtype, strict && plan(op, dtype, false));
    // Only relaxed mode makes a dtype that no operand has.
    if (const DType there = available(found->dtype, place); there != found->dtype)
        found = plan(found->op, there, true);
    if (found->op == Op::Pow) check_integer_pow(args[1], found->dtype);
    return *found;
}

}  // namespace

DeviceId common_device(const char* function, std::span<const Argument> args) {
    const Array* first = nullptr;
    for (const Argument& arg : args) {
        if (!arg.array) continue;
        if (first) require_one_device(function, *first, *arg.array);
        first = arg.array;
    }
    return first ? first->device() : default_device();
}

DType promote_or_raise(const char* function, DType a, DType b, bool strict) {
    if (auto dtype = promote(a, b, strict)) return *dtype;
    raise(ErrorKind::Type,
          "%s: the dtypes %s and %s do not promote to a common one; "
          "accepted: two dtypes of one kind; convert with astype%s",
          function, name(a), name(b), strict ? kRelax : "");
}

DType common_dtype(const char* function, std::span<const Argument> args, bool strict) {
    if (args.size() == 2 && args[0].array && args[1].array &&
        args[0].array->dtype == args[1].array->dtype) {
        return args[0].array->dtype;
    }
    DType dtype = DType::Bool;
    bool found = false;
    for (const Argument& arg : args) {
        if (!arg.array) continue;
        dtype =
            found ? promote_or_raise(function, dtype, arg.array->dtype, strict) : arg.array->dtype;
        found = true;
    }
    if (!found) {
        raise(ErrorKind::Type,
              "%s: x1 and x2 are both Python scalars; accepted: an ascend_array_api array as at "
              "least one of them",
              function);
    }
    for (const Argument& arg : args) {
        if (arg.array) continue;
        auto promoted = promote_scalar(dtype, arg.scalar->kind, strict);
        if (!promoted) {
            raise(ErrorKind::Type,
                  "%s: a Python %s does not go with an array of dtype %s; "
                  "accepted: a scalar of the array's kind; convert with astype%s",
                  function, type_name(*arg.scalar), name(dtype), kRelax);
        }
        dtype = *promoted;
    }
    return dtype;
}

std::optional<Plan> plan(Op op, DType dtype, bool strict) {
    if (!strict) {
        op = relaxed_op(op, dtype);
        dtype = relaxed_dtype(info(op).category, dtype);
    }
    if (!accepts(info(op).category, dtype)) return std::nullopt;
    return Plan{op, dtype, kernel_dtype(op, dtype), result_dtype(info(op).result, dtype)};
}

void refuse_dtype(const char* function, Category category, DType dtype, bool relaxable) {
    raise(ErrorKind::Type,
          "%s: dtype %s is not supported; accepted: %s dtypes; convert with astype%s", function,
          name(dtype), describe(category), relaxable ? kRelax : "");
}

void require(const char* function, Category category, DType dtype) {
    if (accepts(category, dtype)) return;
    refuse_dtype(function, category, dtype, accepts(category, relaxed_dtype(category, dtype)));
}

bool apply_directly(Op op, std::span<const Argument> args, Array& out) {
    const Array *like = args[0].array, *last = args.back().array;
    if (!like || (last && last->ndim() > like->ndim())) like = last;
    cpu::ElementwiseFn kernel = like ? direct_kernel(op, *like, args) : nullptr;
    if (!kernel) return false;
    out = Array::empty(like->shape, result_dtype(info(op).result, like->dtype), like->device(),
                       info(op).name);
    run_direct(kernel, op, *like, args, out.storage->data());
    return true;
}

Array apply(Op op, std::span<const Argument> args, bool strict) {
    const char* function = info(op).name;
    const DeviceId place = common_device(function, args);
    Plan p = plan(op, place, args, strict);
    if (op == Op::Where) {
        bool boolean =
            args[0].array ? is_bool(args[0].array->dtype) : args[0].scalar->kind == Kind::Bool;
        if (!boolean)
            raise(ErrorKind::Type,
                  "where: the condition must be bool; convert it, for example by condition != 0");
    }
    const Array* first = nullptr;
    Dims shape;
    for (const Argument& arg : args) {
        if (!arg.array) continue;
        arg.array->storage->require_present(function);
        shape = first ? broadcast_shapes(shape, arg.array->shape, function) : arg.array->shape;
        first = first ? first : arg.array;
    }
    bool later = defers(product(shape), place, args);
    Array out = allocate_result(function, std::move(shape), p.result, place, args, later);
    Operand operands[3];
    bind(p.op, p.compute, p.dtype, args, operands);
    if (later) {
        record(p.op, p.compute, {operands, args.size()}, out);
    } else {
        cpu::elementwise(p.op, p.compute, {operands, args.size()}, out);
    }
    return out;
}

Array convert(const Array& x, DType to) {
    Argument arg{&x, nullptr};
    if (!defers(x.size(), x.device(), {&arg, 1})) return x.dtype == to ? copy(x) : cast(x, to);
    Array out = Array::promised(x.shape, row_major_strides(x.shape), to, x.device(), "astype");
    record_copy("astype", out, x);
    return out;
}

Array laid_out(const Array& x, const Dims& strides, const char* function) {
    Argument arg{&x, nullptr};
    if (!defers(x.size(), x.device(), {&arg, 1})) {
        Array out = Array::empty(x.shape, x.dtype, x.device(), function);
        out.strides = strides;
        cpu::transfer(out, x);
        return out;
    }
    Array out = Array::promised(x.shape, strides, x.dtype, x.device(), function);
    record_copy(function, out, x);
    return out;
}

Array filled(const char* function, const Array& x, Dims shape) {
    Argument arg{&x, nullptr};
    const bool later = defers(product(shape), x.device(), {&arg, 1});
    Array out = allocate_result(function, std::move(shape), x.dtype, x.device(), {}, later);
    const Array source = broadcast_to(x, out.shape, function);
    later ? record_copy(function, out, source) : transfer(out, source);
    return out;
}

Array library_result(const char* function, std::span<const Array> inputs, DeviceId device,
                     Dims shape, DType dtype, int64_t work, LibraryFn compute) {
    Argument args[3];
    for (size_t k = 0; k < inputs.size(); ++k) args[k].array = &inputs[k];
    if (!defers(work, device, {args, inputs.size()})) {
        for (const Array& x : inputs) x.storage->settle();
        return compute(inputs.data());
    }
    Entry entry;
    entry.function = function;
    entry.kind = Entry::Kind::Library;
    entry.library = std::move(compute);
    return record_promise(std::move(entry), inputs, device, std::move(shape), dtype);
}

Array matrix_product(const char* function, const Array& a, const Array& b, Dims shape,
                     Precision precision) {
    const Array inputs[2] = {a, b};
    Argument args[2] = {{&a, nullptr}, {&b, nullptr}};
    const int64_t work = product(shape) * std::max<int64_t>(a.shape.back(), 1);
    if (defers(work, a.device(), args)) {
        Entry entry;
        entry.function = function;
        entry.kind = Entry::Kind::Product;
        entry.precision = precision;
        return record_promise(std::move(entry), inputs, a.device(), std::move(shape), a.dtype);
    }
    for (const Array& x : inputs) x.storage->settle();
    Array out = Array::empty(std::move(shape), a.dtype, a.device(), function);
    cpu::multiply(a, b, out, precision);
    return out;
}

Array reduce(const char* function, const ReduceSpec& spec, const Array& x, const Dims& axes) {
    Argument arg{&x, nullptr};
    if (!defers(x.size(), x.device(), {&arg, 1})) {
        x.storage->settle();
        return cpu::reduce(spec, x, axes);
    }
    Dims shape;
    for (int i = 0; i < x.ndim(); ++i)
        if (std::find(axes.begin(), axes.end(), i) == axes.end()) shape.push_back(x.shape[i]);
    Entry entry;
    entry.function = function;
    entry.kind = Entry::Kind::Reduction;
    entry.reduction = spec;
    entry.axes = axes;
    return record_promise(std::move(entry), {&x, 1}, x.device(), std::move(shape), spec.result);
}

Array scan(const char* function, const ScanSpec& spec, const Array& x, int axis) {
    Argument arg{&x, nullptr};
    if (!defers(x.size(), x.device(), {&arg, 1})) {
        x.storage->settle();
        return cpu::scan(spec, x, axis);
    }
    Dims shape = x.shape;
    shape[axis] += spec.initial;
    Entry entry;
    entry.function = function;
    entry.kind = Entry::Kind::Scan;
    entry.scan = spec;
    entry.axes = {axis};
    return record_promise(std::move(entry), {&x, 1}, x.device(), std::move(shape), spec.dtype);
}

void assign(const Array& dst, const Array& src, const char* function) {
    require_one_device(function, dst, src);
    Array source = broadcast_to(src, dst.shape, function);
    Argument args[2] = {{&dst, nullptr}, {&source, nullptr}};
    bool later =
        defers(dst.size(), dst.device(), args) && !dst.storage->shared() && !src.storage->shared();
    later ? prepare_recorded_write(dst, function) : prepare_write(dst, function);
    if (same_view(dst, source)) return;
    if (may_overlap(dst, source)) source = convert(source, source.dtype);
    if (later) return record_copy(function, dst, source);
    RunningWrite write(dst);
    cpu::transfer(dst, source);
}

void apply_inplace(Op op, const Array& target, const Argument& other, bool strict,
                   const char* symbol) {
    Argument args[2] = {{&target, nullptr}, other};
    if (apply_inplace_directly(op, target, args, symbol)) return;
    const DeviceId place = common_device(symbol, args);
    Plan p = plan(op, place, args, strict);
    if (p.result != target.dtype) {
        raise(ErrorKind::Type,
              "%s: the result has dtype %s, but the array that it is to be stored in has %s",
              symbol, name(p.result), name(target.dtype));
    }
    Array source;
    if (other.array) {
        source = broadcast_to(*other.array, target.shape, symbol);
        args[1].array = &source;
    }
    bool later = defers(target.size(), target.device(), args) && !target.storage->shared();
    later ? prepare_recorded_write(target, symbol) : prepare_write(target, symbol);
    if (other.array && may_overlap(target, source) && !same_view(target, source))
        source = convert(source, source.dtype);
    Operand operands[2];
    bind(p.op, p.compute, p.dtype, args, operands);
    if (later) return record(p.op, p.compute, operands, target);
    RunningWrite write(target);
    cpu::elementwise(p.op, p.compute, operands, target);
}

Array apply(Op op, const Array& x) {
    Argument args[1] = {{&x, nullptr}};
    return apply(op, args, true);
}

Array apply(Op op, const Array& x, const Array& y) {
    Argument args[2] = {{&x, nullptr}, {&y, nullptr}};
    return apply(op, args, true);
}

Array as_bool(const Array& x) { return is_bool(x.dtype) ? x : cast(x, DType::Bool); }

bool any_negative(const Array& x) {
    if (kind(x.dtype) == Kind::Unsigned || is_bool(x.dtype)) return false;
    Scalar zero{Kind::Signed};
    Argument args[2] = {{&x, nullptr}, {nullptr, &zero}};
    const Array negative = readable(contiguous(apply(Op::Less, args, true)), "pow");
    int64_t n = negative.size();
    return cpu::kernels().find_bit(reinterpret_cast<const uint8_t*>(negative.bits()),
                                   negative.offset, n, true) < n;
}

}  // namespace asc
