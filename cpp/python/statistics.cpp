// Statistical functions, any, all, count_nonzero.
#include <algorithm>

#include "backend/backend.h"
#include "core/promotion.h"
#include "core/view.h"
#include "graph/compensated.h"
#include "graph/dispatch.h"
#include "python/bind.h"

namespace asc::python {
namespace {

// The dtype of sums and products.
DType sum_dtype(Function f, const Array& x, PyObject* dtype) {
    const DType from = x.dtype;
    require(f, from);
    const char* function = info(f).name();
    const std::optional<DType> asked = to_optional_dtype(dtype, function);
    if (!asked) return element_dtype(f, from, x.device());
    if (is_bool(*asked) || (is_complex(from) && !is_complex(*asked))) {
        raise(ErrorKind::Type,
              "%s: elements of dtype %s cannot be accumulated as %s; accepted: %s dtypes", function,
              name(from), name(*asked), is_complex(from) ? "complex floating-point" : "numeric");
    }
    require_dtype(*asked, x.device(), function);
    return *asked;
}

PyObject* reduced(const char* function, const Array& x, PyObject* axis, PyObject* keepdims,
                  const ReduceSpec& spec) {
    const Dims axes = axis == Py_None ? all_axes(x.ndim()) : *to_axes(axis, x.ndim(), function);
    const bool keep = keepdims != Py_False && to_bool(keepdims, function, "keepdims");
    const Precision asked = precision();
    if (asked == Precision::High && adds(spec) && !on_host(x.device()))
        warn_of_device(function, x.device());
    Array result = [&] {
        Unlocked unlocked(x.size());
        return asked == Precision::High && compensates(spec, x)
                   ? compensated(function, spec, x, axes)
                   : reduce(function, spec, x, axes);
    }();
    if (keep) {
        Dims shape = x.shape;
        for (int64_t i : axes) shape[static_cast<int>(i)] = 1;
        result.strides = row_major_strides(shape);
        result.shape = std::move(shape);
    }
    return wrap(std::move(result));
}

// ---- sum, prod

PyObject* accumulated(PyObject* const* args, Function f, Reduction op) {
    const char* function = info(f).name();
    const Array& x = to_view(args[0], function, "x");
    const DType dtype = sum_dtype(f, x, args[2]);
    return reduced(function, x, args[1], args[3], {op, dtype, dtype});
}
PyObject* sum(PyObject* const* args) { return accumulated(args, Function::Sum, Reduction::Sum); }
PyObject* prod(PyObject* const* args) { return accumulated(args, Function::Prod, Reduction::Prod); }

// ---- max, min

// Some result has no elements to choose from.
bool has_empty_sequence(const Array& x, const Dims& axes) {
    int64_t elements = 1, results = 1;
    for (int i = 0; i < x.ndim(); ++i) {
        const bool along = std::find(axes.begin(), axes.end(), i) != axes.end();
        (along ? elements : results) *= x.shape[i];
    }
    return elements == 0 && results > 0;
}

PyObject* extremum(PyObject* const* args, Function f, Reduction op) {
    const char* function = info(f).name();
    const Array& x = to_view(args[0], function, "x");
    require(f, x.dtype);
    const Dims axes =
        args[1] == Py_None ? all_axes(x.ndim()) : *to_axes(args[1], x.ndim(), function);
    if (has_empty_sequence(x, axes)) {
        raise(ErrorKind::Value,
              "%s: no elements to choose from: shape %s along axes %s; accepted: at least one "
              "element",
              function, to_string(x.shape).c_str(), to_string(axes).c_str());
    }
    if (is_bool(x.dtype)) op = op == Reduction::Max ? Reduction::Any : Reduction::All;
    return reduced(function, x, args[1], args[2], {op, x.dtype, x.dtype});
}
PyObject* max(PyObject* const* args) { return extremum(args, Function::Max, Reduction::Max); }
PyObject* min(PyObject* const* args) { return extremum(args, Function::Min, Reduction::Min); }

// ---- mean, var, std

PyObject* mean(PyObject* const* args) {
    const Array& x = to_view(args[0], "mean", "x");
    require(Function::Mean, x.dtype);
    const DType dtype = element_dtype(Function::Mean, x.dtype, x.device());
    return reduced("mean", x, args[1], args[2], {Reduction::Mean, dtype, dtype});
}

PyObject* spread(PyObject* const* args, Function f, Reduction op) {
    const char* function = info(f).name();
    const Array& x = to_view(args[0], function, "x");
    require(f, x.dtype);
    const DType dtype = element_dtype(f, x.dtype, x.device());
    const double correction = to_double(args[2], function, "correction");
    return reduced(function, x, args[1], args[3], {op, dtype, dtype, correction});
}
PyObject* var(PyObject* const* args) { return spread(args, Function::Var, Reduction::Var); }
PyObject* std(PyObject* const* args) { return spread(args, Function::Std, Reduction::Std); }

// ---- any, all, count_nonzero

PyObject* truth(PyObject* const* args, const char* function, Reduction op, DType result) {
    const Array& x = to_view(args[0], function, "x");
    return reduced(function, x, args[1], args[2], {op, DType::Bool, result});
}
PyObject* any(PyObject* const* args) { return truth(args, "any", Reduction::Any, DType::Bool); }
PyObject* all(PyObject* const* args) { return truth(args, "all", Reduction::All, DType::Bool); }
PyObject* count_nonzero(PyObject* const* args) {
    return truth(args, "count_nonzero", Reduction::Count, kIndexType);
}

// ---- cumulative_sum, cumulative_prod

PyObject* cumulative(PyObject* const* args, Function f, bool product) {
    const char* function = info(f).name();
    const Array& x = to_view(args[0], function, "x");
    if (x.ndim() == 0)
        raise(ErrorKind::Value, "%s: x has no axes; accepted: at least one", function);
    int axis = 0;
    if (args[1] != Py_None) {
        axis = to_axis(args[1], x.ndim(), function);
    } else if (x.ndim() > 1) {
        raise(ErrorKind::Value,
              "%s: x has %d axes; accepted: an axis, which may be left out for one-dimensional "
              "arrays only",
              function, x.ndim());
    }
    const DType dtype = sum_dtype(f, x, args[2]);
    const bool initial = to_bool(args[3], function, "include_initial");
    if (initial && x.shape[axis] == INT64_MAX)
        raise(ErrorKind::Memory, "%s: the result exceeds the memory of this machine", function);
    Array result = [&] {
        Unlocked unlocked(x.size());
        return scan(function, {product, dtype, initial}, x, axis);
    }();
    return wrap(std::move(result));
}
PyObject* cumulative_sum(PyObject* const* args) {
    return cumulative(args, Function::CumulativeSum, false);
}
PyObject* cumulative_prod(PyObject* const* args) {
    return cumulative(args, Function::CumulativeProd, true);
}

}  // namespace

PyMethodDef statistics_methods[] = {
    method<sum, 4>("sum"),
    method<prod, 4>("prod"),
    method<max, 3>("max"),
    method<min, 3>("min"),
    method<mean, 3>("mean"),
    method<var, 4>("var"),
    method<std, 4>("std"),
    method<any, 3>("any"),
    method<all, 3>("all"),
    method<count_nonzero, 3>("count_nonzero"),
    method<cumulative_sum, 4>("cumulative_sum"),
    method<cumulative_prod, 4>("cumulative_prod"),
    kEnd,
};

}  // namespace asc::python
