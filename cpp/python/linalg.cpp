#include "python/linalg.h"

#include <cstring>
#include <optional>
#include <vector>

#include "backend/backend.h"
#include "backend/cpu/linalg.h"
#include "backend/cpu/product.h"
#include "core/promotion.h"
#include "core/view.h"
#include "graph/compensated.h"
#include "graph/placement.h"
#include "python/bind.h"
#include "python/fallback.h"
#include "runtime/workers.h"

namespace asc::python {
namespace {

// ---- products

// The dtype of a product of two arrays of one device.
DType product_dtype(Function f, const Array& x1, const Array& x2) {
    require_one_device(info(f).name(), x1, x2);
    const DType a = x1.dtype, b = x2.dtype;
    const std::optional<DType> known = promote(a, b, true);
    const DType d = known ? *known : promote_or_raise(info(f).name(), a, b, strict());
    require(f, d);
    return d;
}

// x with the elements that a function computes on, for operands that promote to `d`.
Array operand(const Array& x, Function f, DType d) {
    const DType element = element_dtype(f, d, x.device());
    return x.dtype == element ? x : convert(x, element);
}

Dims leading(const Dims& shape, int dropped) { return Dims(shape.data(), shape.size() - dropped); }

// The common leading axes of two stacks; `dropped` axes at the end of each are no part of them.
Dims common_batch(const char* function, const Array& a, const Array& b, int dropped) {
    const Dims x = leading(a.shape, dropped), y = leading(b.shape, dropped);
    for (int i = 1; i <= std::min(x.size(), y.size()); ++i) {
        const int64_t m = x[x.size() - i], n = y[y.size() - i];
        if (m != n && m != 1 && n != 1)
            raise(ErrorKind::Value,
                  "%s: the leading dimensions of shapes %s and %s could not be broadcast together",
                  function, to_string(a.shape).c_str(), to_string(b.shape).c_str());
    }
    return broadcast_shapes(x, y, function);
}

int64_t work_of(int64_t a, int64_t b, int64_t c) {
    const double work = static_cast<double>(a) * static_cast<double>(b) * static_cast<double>(c);
    return static_cast<int64_t>(std::min(work, 1e15));
}

// The dtype in which products of a dtype are computed in some precision, as far as the device has
// it.
DType multiplied(DType d, Precision precision, DeviceId device) {
    if (precision != Precision::High) return d;
    return available(d == DType::Complex64 ? DType::Complex128
                     : is_real_float(d)    ? DType::Float64
                                           : d,
                     device);
}

// More multiplications than these are not worth a compensated product of matrices.
constexpr double kMostCompensated = 1 << 22;

// In precision "high": float64 is to be compensated; warns where "high" has no effect.
bool compensated_product(DType d, DType wide, DeviceId device, double work, const char* function) {
    if (d == DType::Float64 && on_host(device)) {
        if (work <= kMostCompensated) return true;
        warn_of_precision(function, "for products of float64 with more than 2**22 multiplications");
    } else if (wide == d && !on_host(device) && (is_real_float(d) || is_complex(d))) {
        warn_of_device(function, device);
    }
    return false;
}

// The product of stacks of matrices, every element a compensated sum.
Array compensated_matmul(const Array& a, const Array& b, const Dims& shape, const char* function) {
    Dims full = shape;
    full.push_back(a.shape.back());
    const Array rows = expand_dims(a, a.ndim() - 1);
    const Array columns = expand_dims(transpose(b), b.ndim() - 2);
    return compensated_dot(function, broadcast_to(rows, full, function),
                           broadcast_to(columns, full, function));
}

// The product of stacks of matrices; a and b have one dtype and at least two axes.
Array stack_product(const Array& a, const Array& b, const char* function) {
    const int64_t k = a.shape.back();
    const Dims batch = common_batch(function, a, b, 2);
    Dims shape = batch;
    shape.push_back(a.shape[a.ndim() - 2]);
    shape.push_back(b.shape.back());
    const int64_t size = checked_size(shape, a.dtype, a.device(), function);
    if (size == 0) return Array::empty(shape, a.dtype, a.device());
    const Precision asked = precision();
    const DType wide = multiplied(a.dtype, asked, a.device());
    const auto work = static_cast<double>(size) * static_cast<double>(k);
    const bool compensates = asked == Precision::High && k > 0 &&
                             compensated_product(a.dtype, wide, a.device(), work, function);
    const Unlocked unlocked(work_of(size, k, 1));
    if (compensates) return compensated_matmul(a, b, shape, function);
    if (wide == a.dtype) return matrix_product(function, a, b, std::move(shape), asked);
    const Array x = convert(a, wide), y = convert(b, wide);
    return convert(matrix_product(function, x, y, std::move(shape), asked), a.dtype);
}

PyObject* matmul_function(PyObject* const* args) {
    return wrap(matmul(to_view(args[0], "matmul", "x1"), to_view(args[1], "matmul", "x2")));
}

// axis counted from the end: -1, -2, ...; the two arrays may have different ranks.
int contracted_axis(PyObject* o, const Array& x1, const Array& x2, const char* function) {
    const int64_t axis = to_int(o, function, "axis");
    const int least = std::min(x1.ndim(), x2.ndim());
    if (x1.ndim() == x2.ndim() && axis >= 0 && axis < least) return static_cast<int>(axis) - least;
    if (axis >= 0 || axis < -least)
        raise(ErrorKind::Axis,
              "%s: axis %lld is out of bounds; arrays of %d and %d dimensions take %s", function,
              static_cast<long long>(axis), x1.ndim(), x2.ndim(),
              least == 0 ? "none" : ("-" + std::to_string(least) + " to -1").c_str());
    return static_cast<int>(axis);
}

PyObject* as_contracted_axis(PyObject* const* args) {
    const char* function = to_name(args[0]);
    return PyLong_FromLong(contracted_axis(args[1], to_view(args[2], function, "x1"),
                                           to_view(args[3], function, "x2"), function));
}

PyObject* vecdot(PyObject* const* args) {
    const Array& x1 = to_array(args[0], "vecdot", "x1");
    const Array& x2 = to_array(args[1], "vecdot", "x2");
    const DType d = product_dtype(Function::VecDot, x1, x2);
    const int axis = contracted_axis(args[2], x1, x2, "vecdot");
    const DType element = element_dtype(Function::VecDot, d, x1.device());
    const DType wide = multiplied(element, precision(), x1.device());
    const auto factor = [&](const Array& x) {
        return axis_last(x.dtype == wide ? x : convert(x, wide), x.ndim() + axis);
    };
    const Array a = factor(x1), b = factor(x2);
    const int64_t k = a.shape.back();
    if (b.shape.back() != k)
        raise(ErrorKind::Value,
              "vecdot: the vectors must have one size, got shapes %s and %s along axis %d",
              to_string(x1.shape).c_str(), to_string(x2.shape).c_str(), axis);
    const Dims batch = common_batch("vecdot", a, b, 1);
    if (precision() == Precision::High && k > 0 &&
        compensated_product(element, wide, a.device(), 0, "vecdot")) {
        Dims shape = batch;
        shape.push_back(k);
        Array sum = [&] {
            const Unlocked unlocked(product(shape));
            return compensated_dot("vecdot", broadcast_to(a, shape, "vecdot"),
                                   broadcast_to(b, shape, "vecdot"));
        }();
        return wrap(std::move(sum));
    }
    Array out = Array::empty(batch, a.dtype, a.device(), "vecdot");
    {
        const Unlocked unlocked(work_of(out.size(), k, 1));
        cpu::vector_product(a, b, out);
    }
    if (wide != element) out = convert(out, element);
    return wrap(is_bool(d) ? as_bool(out) : std::move(out));
}

// ---- decompositions

// One argument of a function of LAPACK: a contiguous stack of matrices of a type it has.
struct Stack {
    const char* function;
    Array x;
    Dims batch;
    int64_t m, n;

    int64_t count() const { return product(batch); }
    // A new array: the batch, then the extents given.
    Array result(std::initializer_list<int64_t> extents, DType d) const {
        Dims shape = batch;
        for (int64_t extent : extents) shape.push_back(extent);
        return Array::empty(shape, d, x.device(), function);
    }
    Array result(std::initializer_list<int64_t> extents) const { return result(extents, x.dtype); }
    cpu::Matrices square() const { return {x.dtype, n, count(), x.data()}; }
    cpu::Rectangles rectangle() const { return {x.dtype, m, n, count(), x.data()}; }
};

// x in a dtype that LAPACK has.
Array floating(const Array& x, Function f) {
    require(f, x.dtype);
    const DType element = element_dtype(f, x.dtype, x.device());
    return x.dtype == element ? x : cast(x, element);
}

Stack to_stack(const Array& given, Function f) {
    const char* function = info(f).name();
    const Array x = floating(given, f);
    if (x.ndim() < 2)
        raise(ErrorKind::Value,
              "%s: expected a matrix or a stack of matrices (at least 2 dimensions), got shape %s",
              function, to_string(x.shape).c_str());
    return {function, contiguous(x), leading(x.shape, 2), x.shape[x.ndim() - 2], x.shape.back()};
}

Stack to_square(const Array& x, Function f) {
    Stack s = to_stack(x, f);
    if (s.m != s.n)
        raise(ErrorKind::Value,
              "%s: the last two dimensions must be equal (square matrices), got shape %s",
              s.function, to_string(x.shape).c_str());
    return s;
}

Stack square_argument(PyObject* const* args, Function f) {
    return to_square(to_array(args[0], info(f).name(), "x"), f);
}

const char* reason(cpu::Failure failure) {
    switch (failure) {
        case cpu::Failure::Singular:
            return "is singular";
        case cpu::Failure::NotPositiveDefinite:
            return "is not positive definite";
        case cpu::Failure::NoConvergence:
            return "does not lead to convergence";
        case cpu::Failure::NotFinite:
            return "contains NaN or infinity";
        default:
            return "is too large for LAPACK";
    }
}

// The position of matrix i in the batch, as an index of the argument.
Dims unravel(int64_t i, const Dims& batch) {
    Dims index(batch.size());
    for (int axis = batch.size() - 1; axis >= 0; --axis) {
        index[axis] = i % batch[axis];
        i /= batch[axis];
    }
    return index;
}

// Runs body(par), which returns an Outcome, without the GIL; raises LinAlgError if it failed.
template <class F>
void run(const char* function, const Dims& batch, int64_t work, F body) {
    cpu::Outcome outcome;
    {
        const Unlocked unlocked(work);
        outcome = body(workers::parallel());
    }
    if (outcome.failure == cpu::Failure::None) return;
    if (batch.empty())
        raise(ErrorKind::LinAlg, "%s: the matrix %s", function, reason(outcome.failure));
    raise(ErrorKind::LinAlg, "%s: the matrix at index %s of the stack %s", function,
          to_string(unravel(outcome.matrix, batch)).c_str(), reason(outcome.failure));
}

template <class F>
void run(const Stack& s, F body) {
    run(s.function, s.batch, work_of(s.x.size(), std::max(s.m, s.n), 1), body);
}

PyObject* cholesky(PyObject* const* args) {
    const Stack s = square_argument(args, Function::Cholesky);
    const bool upper = to_bool(args[1], "cholesky", "upper");
    Array out = s.result({s.n, s.n});
    run(s, [&](const cpu::Parallel& par) {
        return cpu::cholesky(s.square(), out.data(), upper, par);
    });
    return wrap(std::move(out));
}

PyObject* det(PyObject* const* args) {
    const Stack s = square_argument(args, Function::Det);
    Array out = s.result({});
    run(s, [&](const cpu::Parallel& par) { return cpu::det(s.square(), out.data(), par); });
    return wrap(std::move(out));
}

PyObject* slogdet(PyObject* const* args) {
    const Stack s = square_argument(args, Function::SlogDet);
    std::vector<Array> out{s.result({}), s.result({}, real_part(s.x.dtype))};
    run(s, [&](const cpu::Parallel& par) {
        return cpu::slogdet(s.square(), out[0].data(), out[1].data(), par);
    });
    return wrap_tuple(std::move(out));
}

PyObject* inv(PyObject* const* args) {
    const Stack s = square_argument(args, Function::Inv);
    Array out = s.result({s.n, s.n});
    run(s, [&](const cpu::Parallel& par) { return cpu::inv(s.square(), out.data(), par); });
    return wrap(std::move(out));
}

PyObject* eigh(PyObject* const* args) {
    const Stack s = square_argument(args, Function::Eigh);
    std::vector<Array> out{s.result({s.n}, real_part(s.x.dtype)), s.result({s.n, s.n})};
    run(s, [&](const cpu::Parallel& par) {
        return cpu::eigh(s.square(), out[0].data(), out[1].data(), par);
    });
    return wrap_tuple(std::move(out));
}

PyObject* eigvalsh(PyObject* const* args) {
    const Stack s = square_argument(args, Function::EigValsH);
    Array out = s.result({s.n}, real_part(s.x.dtype));
    run(s,
        [&](const cpu::Parallel& par) { return cpu::eigh(s.square(), out.data(), nullptr, par); });
    return wrap(std::move(out));
}

PyObject* eig(PyObject* const* args) {
    const Stack s = square_argument(args, Function::Eig);
    const DType d = complex_of(s.x.dtype);
    std::vector<Array> out{s.result({s.n}, d), s.result({s.n, s.n}, d)};
    run(s, [&](const cpu::Parallel& par) {
        return cpu::eig(s.square(), out[0].data(), out[1].data(), par);
    });
    return wrap_tuple(std::move(out));
}

PyObject* eigvals(PyObject* const* args) {
    const Stack s = square_argument(args, Function::EigVals);
    Array out = s.result({s.n}, complex_of(s.x.dtype));
    run(s,
        [&](const cpu::Parallel& par) { return cpu::eig(s.square(), out.data(), nullptr, par); });
    return wrap(std::move(out));
}

bool complete_mode(PyObject* o) {
    if (!PyUnicode_Check(o))
        raise(ErrorKind::Type, "qr: mode must be 'reduced' or 'complete', got %s",
              Py_TYPE(o)->tp_name);
    if (PyUnicode_CompareWithASCIIString(o, "complete") == 0) return true;
    if (PyUnicode_CompareWithASCIIString(o, "reduced") == 0) return false;
    const Object shown = Object::steal(PyObject_ASCII(o));
    raise(ErrorKind::Value, "qr: mode must be 'reduced' or 'complete', got %.200s",
          PyUnicode_AsUTF8(shown.get()));
}

PyObject* qr(PyObject* const* args) {
    const Stack s = to_stack(to_array(args[0], "qr", "x"), Function::Qr);
    const bool complete = complete_mode(args[1]);
    const int64_t k = complete ? s.m : std::min(s.m, s.n);
    std::vector<Array> out{s.result({s.m, k}), s.result({k, s.n})};
    run(s, [&](const cpu::Parallel& par) {
        return cpu::qr(s.rectangle(), out[0].data(), out[1].data(), complete, par);
    });
    return wrap_tuple(std::move(out));
}

PyObject* svd(PyObject* const* args) {
    const Stack s = to_stack(to_array(args[0], "svd", "x"), Function::Svd);
    const bool full = to_bool(args[1], "svd", "full_matrices");
    const int64_t k = std::min(s.m, s.n);
    std::vector<Array> out{s.result({s.m, full ? s.m : k}), s.result({k}, real_part(s.x.dtype)),
                           s.result({full ? s.n : k, s.n})};
    run(s, [&](const cpu::Parallel& par) {
        return cpu::svd(s.rectangle(), out[0].data(), out[1].data(), out[2].data(), full, par);
    });
    return wrap_tuple(std::move(out));
}

PyObject* svdvals(PyObject* const* args) {
    const Stack s = to_stack(to_array(args[0], "svdvals", "x"), Function::SvdVals);
    Array out = s.result({std::min(s.m, s.n)}, real_part(s.x.dtype));
    run(s, [&](const cpu::Parallel& par) {
        return cpu::svd(s.rectangle(), nullptr, out.data(), nullptr, false, par);
    });
    return wrap(std::move(out));
}

// x seen with the leading axes of `batch` before its own last `core_axes`, as row-major memory.
Array spread(const Array& x, const Dims& batch, int core_axes) {
    Dims shape = batch;
    for (int i = x.ndim() - core_axes; i < x.ndim(); ++i) shape.push_back(x.shape[i]);
    return contiguous(broadcast_to(x, shape, "solve"));
}

PyObject* solve(PyObject* const* args) {
    const Array& x1 = to_array(args[0], "solve", "x1");
    const Array& x2 = to_array(args[1], "solve", "x2");
    require_one_device("solve", x1, x2);
    Array a = floating(x1, Function::Solve), b = floating(x2, Function::Solve);
    const std::optional<DType> known = promote(a.dtype, b.dtype, true);
    const DType d = known ? *known : promote_or_raise("solve", a.dtype, b.dtype, strict());
    a = operand(a, Function::Solve, d), b = operand(b, Function::Solve, d);
    Stack s = to_square(a, Function::Solve);
    // Only a right-hand side of exactly one axis is a vector.
    const int core_axes = b.ndim() == 1 ? 1 : 2;
    if (b.ndim() == 0 || b.shape[b.ndim() - core_axes] != s.n)
        raise(
            ErrorKind::Value,
            "solve: x2 must have shape (%lld,) or (..., %lld, K) for x1 of shape %s, got shape %s",
            static_cast<long long>(s.n), static_cast<long long>(s.n), to_string(x1.shape).c_str(),
            to_string(x2.shape).c_str());
    const Dims batch = core_axes == 1 ? s.batch : common_batch("solve", s.x, b, 2);
    const bool shared = s.count() == 1;
    if (!shared) s.x = spread(s.x, batch, 2);
    b = spread(b, batch, core_axes);
    const int64_t columns = core_axes == 1 ? 1 : b.shape.back();
    Array out = Array::empty(b.shape, d, b.device(), "solve");
    const cpu::Matrices matrices{d, s.n, product(batch), s.x.data()};
    run("solve", batch, work_of(s.x.size(), s.n, 1) + work_of(b.size(), s.n, 1),
        [&](const cpu::Parallel& par) {
            return cpu::solve(matrices, shared, b.data(), columns, out.data(), par);
        });
    return wrap(std::move(out));
}

}  // namespace

Array matmul(const Array& x1, const Array& x2) {
    const DType d = product_dtype(Function::MatMul, x1, x2);
    if (x1.ndim() == 0 || x2.ndim() == 0)
        raise(ErrorKind::Value,
              "matmul: both arrays need at least one dimension, got shapes %s and %s",
              to_string(x1.shape).c_str(), to_string(x2.shape).c_str());
    const bool row = x1.ndim() == 1, column = x2.ndim() == 1;
    Array a = operand(x1, Function::MatMul, d), b = operand(x2, Function::MatMul, d);
    if (row) a = expand_dims(a, 0);
    if (column) b = expand_dims(b, 1);
    if (a.shape.back() != b.shape[b.ndim() - 2])
        raise(ErrorKind::Value,
              "matmul: the inner dimensions differ (%lld and %lld) for shapes %s and %s",
              static_cast<long long>(a.shape.back()), static_cast<long long>(b.shape[b.ndim() - 2]),
              to_string(x1.shape).c_str(), to_string(x2.shape).c_str());
    Array out = stack_product(a, b, "matmul");
    if (column) out = squeeze(out, out.ndim() - 1);
    if (row) out = squeeze(out, out.ndim() - (column ? 1 : 2));
    return is_bool(d) ? as_bool(out) : out;
}

PyMethodDef linalg_methods[] = {
    method<matmul_function, 2>("matmul"),
    host_method<vecdot, 3, "vecdot">(),
    method<as_contracted_axis, 4>("as_contracted_axis"),
    host_method<cholesky, 2, "cholesky">(),
    host_method<det, 1, "det">(),
    host_method<eig, 1, "eig">(),
    host_method<eigh, 1, "eigh">(),
    host_method<eigvals, 1, "eigvals">(),
    host_method<eigvalsh, 1, "eigvalsh">(),
    host_method<inv, 1, "inv">(),
    host_method<qr, 2, "qr">(),
    host_method<slogdet, 1, "slogdet">(),
    host_method<solve, 2, "solve">(),
    host_method<svd, 2, "svd">(),
    host_method<svdvals, 1, "svdvals">(),
    kEnd,
};

}  // namespace asc::python
