// Elementwise functions and operators of Array.
#include "core/promotion.h"
#include "core/view.h"
#include "graph/placement.h"
#include "python/bind.h"
#include "python/interop.h"
#include "python/linalg.h"
#include "python/state.h"

namespace asc::python {
namespace {

bool all_below(std::span<const Argument> args, int64_t limit) {
    for (const Argument& arg : args) {
        if (arg.array && arg.array->size() > limit) return false;
    }
    return true;
}

// Large results are computed without the interpreter's lock.
constexpr int64_t kSmall = 1 << 15;

// The standard defines the operation for these dtypes, so that both modes do the same.
bool defined_by_standard(Op op, std::span<const Argument> args) {
    if (op == Op::Where) args = args.subspan(1);
    const Array* first = args[0].array;
    bool equal =
        first && (args.size() == 1 || (args[1].array && args[1].array->dtype == first->dtype));
    if (equal && args.size() <= 2) return accepts(info(op).category, first->dtype);
    std::optional<DType> dtype;
    for (const Argument& arg : args) {
        if (!arg.array) continue;
        dtype = dtype ? promote(*dtype, arg.array->dtype, true) : arg.array->dtype;
        if (!dtype) return false;
    }
    for (const Argument& arg : args) {
        if (!dtype) return false;
        if (arg.scalar) dtype = promote_scalar(*dtype, arg.scalar->kind, true);
    }
    return dtype && accepts(info(op).category, *dtype);
}

PyObject* run(Op op, std::span<const Argument> args) {
    Array result;
    if (apply_directly(op, args, result)) return wrap(std::move(result));
    bool mode = defined_by_standard(op, args) || strict();
    if (all_below(args, kSmall)) return wrap(apply(op, args, mode));
    {
        Unlocked unlocked(INT64_MAX);
        result = apply(op, args, mode);
    }
    return wrap(std::move(result));
}

constexpr const char* kParameters[] = {"x1", "x2", "x3"};

template <Op op>
PyObject* unary(PyObject* const* args) {
    Argument argument{&to_view(args[0], info(op).name, "x"), nullptr};
    return run(op, {&argument, 1});
}

PyObject* run_objects(Op op, PyObject* const* args, int count) {
    Scalar rooms[3];
    Argument arguments[3];
    for (int i = 0; i < count; ++i) {
        arguments[i] = to_argument(args[i], rooms[i], info(op).name, kParameters[i]);
    }
    return run(op, {arguments, static_cast<size_t>(count)});
}

template <Op op>
PyObject* several(PyObject* const* args) {
    return run_objects(op, args, info(op).arity);
}

PyObject* where(PyObject* const* args) {
    to_view(args[0], "where", "condition");
    return run_objects(Op::Where, args, 3);
}

// clip(x, min, max) with either bound missing; the result has the dtype of x.
PyObject* clip(PyObject* const* args) {
    const Array& x = to_view(args[0], "clip", "x");
    if (!accepts(Category::Real, x.dtype) && strict()) require("clip", Category::Real, x.dtype);
    Scalar rooms[2];
    Argument bounds[2];
    Array converted[2];
    bool mode = strict();
    for (int i = 0; i < 2; ++i) {
        if (args[i + 1] == Py_None) continue;
        bounds[i] = to_argument(args[i + 1], rooms[i], "clip", i == 0 ? "min" : "max");
        Argument pair[2] = {{&x, nullptr}, bounds[i]};
        common_device("clip", pair);
        common_dtype("clip", pair, mode);
    }
    bool has_min = args[1] != Py_None, has_max = args[2] != Py_None;
    if (!has_min && !has_max) return wrap(convert(x, x.dtype));
    if (!has_max || !has_min) {
        Argument pair[2] = {{&x, nullptr}, has_min ? bounds[0] : bounds[1]};
        if (pair[1].array) broadcast_shapes(x.shape, pair[1].array->shape, "clip");
        return run(has_min ? Op::Maximum : Op::Minimum, pair);
    }
    Argument all[3] = {{&x, nullptr}, bounds[0], bounds[1]};
    return run(Op::Clip, all);
}

PyObject* real(PyObject* const* args) {
    const Array& x = to_view(args[0], "real", "x");
    require("real", Category::Numeric, x.dtype);
    return is_complex(x.dtype) ? wrap(real_view(x)) : Py_NewRef(args[0]);
}

PyObject* imag(PyObject* const* args) {
    const Array& x = to_view(args[0], "imag", "x");
    require("imag", Category::Numeric, x.dtype);
    if (is_complex(x.dtype)) return wrap(imag_view(x));
    if (strict()) {
        raise(ErrorKind::Type,
              "imag: dtype %s is not supported; accepted: complex dtypes; convert with astype%s",
              name(x.dtype), kRelax);
    }
    Array zeros = Array::empty(x.shape, x.dtype, x.device(), "imag");
    const Array zero = from_scalar(Scalar{Kind::Signed}, x.dtype, x.device(), "imag");
    transfer(zeros, broadcast_to(zero, x.shape, "imag"));
    return wrap(std::move(zeros));
}

// ---- operators

// A NumPy array as operand is an error of ours; other foreign types get their turn.
PyObject* leave_to_others(const char* function, PyObject* o) {
    if (!PyObject_TypeCheck(o, state().ndarray_type)) return Py_NewRef(Py_NotImplemented);
    raise(ErrorKind::Type,
          "%s: the operands are an ascend_array_api array and a numpy.ndarray; convert one of them "
          "with asarray or numpy.asarray",
          function);
}

template <Op op>
PyObject* binary_operator(PyObject* a, PyObject* b) {
    return slot_call(info(op).name, {a, b}, Target::New, [&]() -> PyObject* {
        Scalar room;
        Argument args[2];
        PyObject* operands[2] = {a, b};
        for (int i = 0; i < 2; ++i) {
            if (is_array(operands[i])) {
                args[i].array = &array_of(operands[i]);
            } else if (auto s = find_scalar(operands[i])) {
                room = *s;
                args[i].scalar = &room;
            } else {
                return leave_to_others(info(op).name, operands[i]);
            }
        }
        return run(op, args);
    });
}

template <Op op>
PyObject* unary_operator(PyObject* a) {
    return slot_call(info(op).name, {a}, Target::New, [&] {
        Argument argument{&array_of(a), nullptr};
        return run(op, {&argument, 1});
    });
}

template <Op op>
PyObject* inplace_operator(PyObject* a, PyObject* b) {
    return slot_call(info(op).name, {a, b}, Target::Whole, [&]() -> PyObject* {
        const Array& target = array_of(a);
        Scalar room;
        Argument other;
        if (is_array(b)) {
            other.array = &array_of(b);
        } else if (auto s = find_scalar(b)) {
            room = *s;
            other.scalar = &room;
        } else {
            return leave_to_others(info(op).name, b);
        }
        bool mode = (other.array && other.array->dtype == target.dtype && !is_bool(target.dtype)) ||
                    strict();
        {
            Unlocked unlocked(target.size(), 2);
            apply_inplace(op, target, other, mode, info(op).name);
        }
        return Py_NewRef(a);
    });
}

PyObject* power(PyObject* a, PyObject* b, PyObject* modulo) {
    if (modulo != Py_None) return Py_NewRef(Py_NotImplemented);
    return binary_operator<Op::Pow>(a, b);
}
PyObject* inplace_power(PyObject* a, PyObject* b, PyObject*) {
    return inplace_operator<Op::Pow>(a, b);
}

PyObject* product(PyObject* a, PyObject* b) {
    return slot_call("matmul", {a, b}, Target::New, [&]() -> PyObject* {
        for (PyObject* o : {a, b}) {
            if (!is_array(o)) return leave_to_others("matmul", o);
        }
        return wrap(matmul(array_of(a), array_of(b)));
    });
}
PyObject* inplace_product(PyObject* a, PyObject* b) {
    return slot_call("matmul", {a, b}, Target::Whole, [&]() -> PyObject* {
        if (!is_array(b)) return leave_to_others("matmul", b);
        const Array& target = array_of(a);
        Array result = matmul(target, array_of(b));
        if (result.dtype != target.dtype) {
            raise(
                ErrorKind::Type,
                "matmul: the result has dtype %s, but the array that it is to be stored in has %s",
                name(result.dtype), name(target.dtype));
        }
        if (!(result.shape == target.shape)) {
            raise(
                ErrorKind::Value,
                "matmul: the result has shape %s, but the array that it is to be stored in has %s",
                to_string(result.shape).c_str(), to_string(target.shape).c_str());
        }
        assign(target, result, "matmul");
        return Py_NewRef(a);
    });
}

PyObject* compare(PyObject* a, PyObject* b, int operation) {
    switch (operation) {
        case Py_LT:
            return binary_operator<Op::Less>(a, b);
        case Py_LE:
            return binary_operator<Op::LessEqual>(a, b);
        case Py_EQ:
            return binary_operator<Op::Equal>(a, b);
        case Py_NE:
            return binary_operator<Op::NotEqual>(a, b);
        case Py_GT:
            return binary_operator<Op::Greater>(a, b);
        default:
            return binary_operator<Op::GreaterEqual>(a, b);
    }
}

template <class F>
void* slot(F* function) {
    return reinterpret_cast<void*>(function);
}

constexpr int kUnary = 1;
template <Op op>
constexpr PyMethodDef row() {
    if constexpr (op == Op::Where)
        return method<where, 3>("where");
    else if constexpr (op == Op::Clip)
        return method<clip, 3>("clip");
    else if constexpr (info(op).arity == kUnary)
        return method<unary<op>, 1>(info(op).name);
    else
        return method<several<op>, info(op).arity>(info(op).name);
}

}  // namespace

PyMethodDef elementwise_methods[] = {
#define X(name, py, arity, category, result) row<Op::name>(),
    ASC_FOR_EACH_OP(X)
#undef X
        method<real, 1>("real"),
    method<imag, 1>("imag"),
    kEnd,
};

PyType_Slot operator_slots[] = {
    {Py_nb_add, slot(binary_operator<Op::Add>)},
    {Py_nb_subtract, slot(binary_operator<Op::Subtract>)},
    {Py_nb_multiply, slot(binary_operator<Op::Multiply>)},
    {Py_nb_true_divide, slot(binary_operator<Op::Divide>)},
    {Py_nb_floor_divide, slot(binary_operator<Op::FloorDivide>)},
    {Py_nb_remainder, slot(binary_operator<Op::Remainder>)},
    {Py_nb_power, slot(power)},
    {Py_nb_matrix_multiply, slot(product)},
    {Py_nb_and, slot(binary_operator<Op::BitwiseAnd>)},
    {Py_nb_or, slot(binary_operator<Op::BitwiseOr>)},
    {Py_nb_xor, slot(binary_operator<Op::BitwiseXor>)},
    {Py_nb_lshift, slot(binary_operator<Op::BitwiseLeftShift>)},
    {Py_nb_rshift, slot(binary_operator<Op::BitwiseRightShift>)},
    {Py_nb_inplace_add, slot(inplace_operator<Op::Add>)},
    {Py_nb_inplace_subtract, slot(inplace_operator<Op::Subtract>)},
    {Py_nb_inplace_multiply, slot(inplace_operator<Op::Multiply>)},
    {Py_nb_inplace_true_divide, slot(inplace_operator<Op::Divide>)},
    {Py_nb_inplace_floor_divide, slot(inplace_operator<Op::FloorDivide>)},
    {Py_nb_inplace_remainder, slot(inplace_operator<Op::Remainder>)},
    {Py_nb_inplace_power, slot(inplace_power)},
    {Py_nb_inplace_matrix_multiply, slot(inplace_product)},
    {Py_nb_inplace_and, slot(inplace_operator<Op::BitwiseAnd>)},
    {Py_nb_inplace_or, slot(inplace_operator<Op::BitwiseOr>)},
    {Py_nb_inplace_xor, slot(inplace_operator<Op::BitwiseXor>)},
    {Py_nb_inplace_lshift, slot(inplace_operator<Op::BitwiseLeftShift>)},
    {Py_nb_inplace_rshift, slot(inplace_operator<Op::BitwiseRightShift>)},
    {Py_nb_negative, slot(unary_operator<Op::Negative>)},
    {Py_nb_positive, slot(unary_operator<Op::Positive>)},
    {Py_nb_absolute, slot(unary_operator<Op::Abs>)},
    {Py_nb_invert, slot(unary_operator<Op::BitwiseInvert>)},
    {Py_tp_richcompare, slot(compare)},
    {0, nullptr},
};

}  // namespace asc::python
