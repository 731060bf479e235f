#include "graph/dispatch.h"

#include <algorithm>

#include "backend/cpu/elementwise.h"
#include "backend/cpu/isa.h"
#include "core/promotion.h"
#include "core/view.h"

namespace asc {
namespace {

constexpr const char* kRelax =
    "; convert with astype, or relax with runtime.set_strict(False) or ASCEND_ARRAY_API_STRICT=0";

// Relaxed mode: the dtype in which NumPy computes an operation that the standard does not define
// for `dtype`, or the dtype itself.
DType relaxed_dtype(Op op, DType dtype) {
    Category category = info(op).category;
    if (accepts(category, dtype)) return dtype;
    if (category == Category::Floating || category == Category::RealFloating) {
        return is_complex(dtype) ? dtype : DType::Float64;
    }
    return is_bool(dtype) && category != Category::Boolean ? DType::Int8 : dtype;
}

// Relaxed mode: arithmetic of bools is logic in NumPy.
Op relaxed_op(Op op, DType dtype) {
    if (!is_bool(dtype)) return op;
    switch (op) {
        case Op::Add:
        case Op::Maximum: return Op::LogicalOr;
        case Op::Multiply:
        case Op::Minimum: return Op::LogicalAnd;
        default: return op;
    }
}

// The dtype of op's kernel: the dtype itself, or float32 for narrow floats.
DType kernel_dtype(Op op, DType dtype) {
    return cpu::kernels().elementwise[index(op)][index(dtype)] ? dtype : cpu::compute_dtype(dtype);
}

// Memory order of the result: that of the first array that has all of its elements.
Array allocate_result(Dims shape, DType dtype, std::span<const Argument> args) {
    if (shape.size() < 2) return Array::empty(std::move(shape), dtype);
    for (const Argument& arg : args) {
        if (!arg.array || !(arg.array->shape == shape)) continue;
        const Array& x = *arg.array;
        if (is_contiguous(x)) break;
        Dims order(x.ndim());
        for (int i = 0; i < x.ndim(); ++i) order[i] = i;
        std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
            return std::abs(x.strides[static_cast<int>(a)]) > std::abs(x.strides[static_cast<int>(b)]);
        });
        return Array::empty_ordered(std::move(shape), order, dtype);
    }
    return Array::empty(std::move(shape), dtype);
}

void check_integer_pow(const Argument& exponent, DType dtype) {
    if (!is_integer(dtype)) return;
    bool negative = exponent.array ? any_negative(*exponent.array)
                                   : exponent.scalar->kind != Kind::Bool && exponent.scalar->negative();
    if (negative) {
        raise(ErrorKind::Value, "pow: integers to negative integer powers have no integer result; "
                                "convert to a floating-point dtype first");
    }
}

// Fills the operands of a kernel; a scalar is stored in the dtype of its register.
void bind(Op op, DType compute, DType dtype, std::span<const Argument> args, cpu::Operand* operands) {
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

struct Plan {
    Op op;
    DType dtype;    // of the operands, promoted
    DType compute;  // of the kernel
    DType result;
};

Plan plan(Op op, std::span<const Argument> args, bool strict) {
    const char* function = info(op).name;
    DType dtype = common_dtype(function, values(op, args), strict);
    if (!strict) {
        op = relaxed_op(op, dtype);
        dtype = relaxed_dtype(op, dtype);
    }
    require(function, info(op).category, dtype);
    if (op == Op::Pow) check_integer_pow(args[1], dtype);
    return {op, dtype, kernel_dtype(op, dtype), result_dtype(info(op).result, dtype)};
}

}  // namespace

DType promote_or_raise(const char* function, DType a, DType b, bool strict) {
    if (auto dtype = promote(a, b, strict)) return *dtype;
    raise(ErrorKind::Type, "%s: the dtypes %s and %s do not promote to a common one; accepted: two dtypes of one kind%s",
          function, name(a), name(b), strict ? kRelax : "");
}

DType common_dtype(const char* function, std::span<const Argument> args, bool strict) {
    if (args.size() == 2 && args[0].array && args[1].array && args[0].array->dtype == args[1].array->dtype) {
        return args[0].array->dtype;
    }
    DType dtype = DType::Bool;
    bool found = false;
    for (const Argument& arg : args) {
        if (!arg.array) continue;
        dtype = found ? promote_or_raise(function, dtype, arg.array->dtype, strict) : arg.array->dtype;
        found = true;
    }
    if (!found) {
        raise(ErrorKind::Type, "%s: no argument is an array; accepted: at least one ascend_array_api array", function);
    }
    for (const Argument& arg : args) {
        if (arg.array) continue;
        auto promoted = promote_scalar(dtype, arg.scalar->kind, strict);
        if (!promoted) {
            raise(ErrorKind::Type, "%s: a Python %s does not go with an array of dtype %s; accepted: a scalar of the "
                                   "array's kind%s",
                  function, type_name(*arg.scalar), name(dtype), kRelax);
        }
        dtype = *promoted;
    }
    return dtype;
}

void require(const char* function, Category category, DType dtype) {
    if (accepts(category, dtype)) return;
    raise(ErrorKind::Type, "%s: dtype %s is not supported; accepted: %s dtypes%s", function, name(dtype),
          describe(category), is_complex(dtype) ? "" : kRelax);
}

Array apply(Op op, std::span<const Argument> args, bool strict) {
    Plan p = plan(op, args, strict);
    const char* function = info(op).name;
    if (op == Op::Where) {
        bool boolean = args[0].array ? is_bool(args[0].array->dtype) : args[0].scalar->kind == Kind::Bool;
        if (!boolean) raise(ErrorKind::Type, "where: the condition must be bool; convert it, for example by condition != 0");
    }
    const Array* first = nullptr;
    Dims shape;
    for (const Argument& arg : args) {
        if (!arg.array) continue;
        shape = first ? broadcast_shapes(shape, arg.array->shape, function) : arg.array->shape;
        first = first ? first : arg.array;
    }
    Array out = allocate_result(std::move(shape), p.result, args);
    cpu::Operand operands[3];
    bind(p.op, p.compute, p.dtype, args, operands);
    cpu::elementwise(p.op, p.compute, {operands, args.size()}, out);
    return out;
}

void apply_inplace(Op op, const Array& target, const Argument& other, bool strict, const char* symbol) {
    Argument args[2] = {{&target, nullptr}, other};
    Plan p = plan(op, args, strict);
    if (p.result != target.dtype) {
        raise(ErrorKind::Type, "%s: the result has dtype %s, but the array that it is to be stored in has %s", symbol,
              name(p.result), name(target.dtype));
    }
    Array source;
    if (other.array) {
        source = broadcast_to(*other.array, target.shape, symbol);
        args[1].array = &source;
    }
    prepare_write(target, symbol);
    if (other.array && may_overlap(target, source) && !same_view(target, source)) source = copy(source);
    cpu::Operand operands[2];
    bind(p.op, p.compute, p.dtype, args, operands);
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
    Array negative = contiguous(apply(Op::Less, args, true));
    int64_t n = negative.size();
    return cpu::kernels().find_bit(reinterpret_cast<const uint8_t*>(negative.bits()), negative.offset, n, true) < n;
}

}  // namespace asc
