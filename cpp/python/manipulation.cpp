// Manipulation functions and the dtype functions that look at arrays.
#include <algorithm>

#include "backend/cpu/gather.h"
#include "core/promotion.h"
#include "core/view.h"
#include "graph/placement.h"
#include "python/bind.h"
#include "python/interop.h"

namespace asc::python {
namespace {

constexpr Argument operand(const Array& x) { return {&x, nullptr}; }

// Copies src into dst without the interpreter's lock where that pays.
void copy_into(const Array& dst, const Array& src, const char* function) {
    Unlocked unlocked(dst.size());
    assign(dst, src, function);
}

PyObject* broadcast_to_shape(PyObject* const* args) {
    const Array& x = to_view(args[0], "broadcast_to", "x");
    Dims shape = to_dims(args[1], "broadcast_to", "shape");
    if (shape.size() > kMaxRank ||
        std::any_of(shape.begin(), shape.end(), [](int64_t n) { return n < 0; }) ||
        checked_product(shape) < 0) {
        raise(ErrorKind::Value,
              "broadcast_to: %s is no shape: extents must not be negative, at most %d dimensions "
              "and 2**63 - 1 elements",
              to_string(shape).c_str(), kMaxRank);
    }
    return wrap(broadcast_to(x, shape, "broadcast_to"));
}

DType common_dtype_of(const std::vector<Array>& arrays, const char* function) {
    DType dtype = arrays[0].dtype;
    for (const Array& x : arrays) {
        if (x.dtype != dtype) dtype = promote_or_raise(function, dtype, x.dtype, strict());
    }
    return dtype;
}

// Joins along an existing axis.
Array join(const std::vector<Array>& arrays, int axis, const char* function) {
    Dims shape = arrays[0].shape;
    shape[axis] = 0;
    for (const Array& x : arrays) {
        require_one_device(function, arrays[0], x);
        Dims expected = shape;
        if (x.ndim() == shape.size()) expected[axis] = x.shape[axis];
        if (!(x.shape == expected)) {
            raise(ErrorKind::Value, "%s: shapes %s and %s differ in more than axis %d", function,
                  to_string(arrays[0].shape).c_str(), to_string(x.shape).c_str(), axis);
        }
        if (__builtin_add_overflow(shape[axis], x.shape[axis], &shape[axis]))
            raise(ErrorKind::Memory, "%s: the result exceeds the memory of this machine", function);
    }
    Array out =
        Array::empty(shape, common_dtype_of(arrays, function), arrays[0].device(), function);
    int64_t at = 0;
    for (const Array& x : arrays) {
        copy_into(slice(out, axis, at, 1, x.shape[axis]), x, function);
        at += x.shape[axis];
    }
    return out;
}

PyObject* concat(PyObject* const* args) {
    std::vector<Array> arrays = to_arrays(args[0], "concat", "arrays");
    if (arrays.empty()) raise(ErrorKind::Value, "concat: at least one array is needed");
    if (args[1] == Py_None) {
        for (Array& x : arrays) x = reshape(x, {x.size()});
        return wrap(join(arrays, 0, "concat"));
    }
    if (arrays[0].ndim() == 0)
        raise(ErrorKind::Value,
              "concat: 0-dimensional arrays have no axis; use stack or axis=None");
    int axis = to_axis(args[1], arrays[0].ndim(), "concat");
    return wrap(join(arrays, axis, "concat"));
}

PyObject* stack(PyObject* const* args) {
    std::vector<Array> arrays = to_arrays(args[0], "stack", "arrays");
    if (arrays.empty()) raise(ErrorKind::Value, "stack: at least one array is needed");
    for (const Array& x : arrays) {
        if (!(x.shape == arrays[0].shape)) {
            raise(ErrorKind::Value, "stack: all arrays must have one shape, got %s and %s",
                  to_string(arrays[0].shape).c_str(), to_string(x.shape).c_str());
        }
    }
    int axis = to_axis(args[1], arrays[0].ndim() + 1, "stack");
    for (Array& x : arrays) x = expand_dims(x, axis);
    return wrap(join(arrays, axis, "stack"));
}

PyObject* expand(PyObject* const* args) {
    Array x = to_view(args[0], "expand_dims", "x");
    Dims raw = to_dims(args[1], "expand_dims", "axis");
    int ndim = x.ndim() + raw.size();
    if (ndim > kMaxRank) {
        raise(ErrorKind::Value, "expand_dims: %d dimensions, at most %d are supported", ndim,
              kMaxRank);
    }
    Dims axes = normalize_axes(raw, ndim, "expand_dims");
    std::sort(axes.begin(), axes.end());
    for (int64_t axis : axes) x = expand_dims(x, static_cast<int>(axis));
    return wrap(std::move(x));
}

PyObject* squeeze_axes(PyObject* const* args) {
    Array x = to_view(args[0], "squeeze", "x");
    Dims axes = normalize_axes(to_dims(args[1], "squeeze", "axis"), x.ndim(), "squeeze");
    std::sort(axes.begin(), axes.end(), std::greater<>());
    for (int64_t axis : axes) {
        if (x.shape[static_cast<int>(axis)] != 1) {
            raise(ErrorKind::Value,
                  "squeeze: axis %lld has extent %lld, only axes of extent 1 can be removed",
                  static_cast<long long>(axis),
                  static_cast<long long>(x.shape[static_cast<int>(axis)]));
        }
        x = squeeze(x, static_cast<int>(axis));
    }
    return wrap(std::move(x));
}

PyObject* flip_axes(PyObject* const* args) {
    const Array& x = to_view(args[0], "flip", "x");
    return wrap(flip(x, to_axes(args[1], x.ndim(), "flip").value_or(all_axes(x.ndim()))));
}

PyObject* permute_dims(PyObject* const* args) {
    const Array& x = to_view(args[0], "permute_dims", "x");
    Dims axes = to_dims(args[1], "permute_dims", "axes");
    if (axes.size() != x.ndim()) {
        raise(ErrorKind::Value, "permute_dims: axes %s must name each of the %d dimensions once",
              to_string(axes).c_str(), x.ndim());
    }
    return wrap(permute(x, normalize_axes(axes, x.ndim(), "permute_dims")));
}

PyObject* reshape_to(PyObject* const* args) {
    const Array& x = to_view(args[0], "reshape", "x");
    Dims raw = to_dims(args[1], "reshape", "shape");
    if (raw.size() > kMaxRank) {
        raise(ErrorKind::Value, "reshape: %d dimensions, at most %d are supported", raw.size(),
              kMaxRank);
    }
    PyObject* const copy_mode = to_copy_mode(args[2], "reshape");
    Dims shape = resolve_shape(raw, x.size(), "reshape");
    std::optional<Array> view = reshape_view(x, shape);
    if (!view && copy_mode == Py_False) {
        raise(ErrorKind::Value,
              "reshape: copy=False is not possible: strides of shape %s cannot express shape %s",
              to_string(x.shape).c_str(), to_string(shape).c_str());
    }
    if (!view || copy_mode == Py_True) {
        view = reshape_view(view ? unlocked_copy(x) : unlocked_convert(x, x.dtype), shape);
    }
    return wrap(std::move(*view));
}

// ---- repeat, roll, tile

Array repeat_each(const Array& x, int64_t times, int axis) {
    Dims shape = x.shape;
    if (times < 0)
        raise(ErrorKind::Value, "repeat: repeats must not be negative, got %lld",
              static_cast<long long>(times));
    if (__builtin_mul_overflow(shape[axis], times, &shape[axis])) {
        raise(ErrorKind::Memory, "repeat: the result exceeds the memory of this machine");
    }
    Array out = Array::empty(shape, x.dtype, x.device(), "repeat");
    if (out.size() == 0) return out;
    Dims split = x.shape;
    split.insert(axis + 1, times);
    copy_into(*reshape_view(out, split), broadcast_to(expand_dims(x, axis + 1), split, "repeat"),
              "repeat");
    return out;
}

[[noreturn]] void refuse_count(int64_t count, DType dtype) {
    if (dtype == DType::UInt64) {
        raise(ErrorKind::Memory, "repeat: %llu repetitions exceed the memory of this machine",
              static_cast<unsigned long long>(count));
    }
    raise(ErrorKind::Value, "repeat: repeats must not be negative, got %lld",
          static_cast<long long>(count));
}

Array repeat_by(const Array& x, const Array& raw, int axis) {
    if (!is_integer(raw.dtype)) {
        raise(ErrorKind::Type, "repeat: repeats must be of an integer dtype, got %s",
              name(raw.dtype));
    }
    int64_t extent = x.shape[axis];
    if (raw.ndim() > 1 || (raw.size() != 1 && raw.size() != extent)) {
        raise(ErrorKind::Value, "repeat: repeats of shape %s do not fit axis %d with extent %lld",
              to_string(raw.shape).c_str(), axis, static_cast<long long>(extent));
    }
    Unlocked unlocked(std::max(x.size(), raw.size()));
    Array counts = contiguous(cast(raw, DType::Int64));
    const auto* values = reinterpret_cast<const int64_t*>(counts.data());
    if (raw.size() == 1 && values[0] < 0) refuse_count(values[0], raw.dtype);
    if (raw.size() == 1) return repeat_each(x, values[0], axis);
    cpu::Selection s;
    s.base = x.offset;
    for (int i = 0; i < x.ndim(); ++i) {
        if (i == axis) continue;
        (i < axis ? s.before : s.after).push_back(x.shape[i]);
        (i < axis ? s.before_strides : s.after_strides).push_back(x.strides[i]);
    }
    Dims shape = x.shape;
    shape[axis] = 0;
    for (int64_t i = 0; i < extent; ++i) {
        if (values[i] < 0) refuse_count(values[i], raw.dtype);
        if (__builtin_add_overflow(shape[axis], values[i], &shape[axis])) {
            raise(ErrorKind::Memory, "repeat: the result exceeds the memory of this machine");
        }
    }
    Array out = Array::empty(shape, x.dtype, x.device(), "repeat");
    s.offsets.reserve(static_cast<size_t>(shape[axis]));
    for (int64_t i = 0; i < extent; ++i)
        s.offsets.insert(s.offsets.end(), static_cast<size_t>(values[i]), i * x.strides[axis]);
    cpu::gather(out, x, s);
    return out;
}

PyObject* repeat(PyObject* const* args) {
    Array x = to_array(args[0], "repeat", "x");
    if (args[2] == Py_None) x = reshape(x, {x.size()});
    int axis = args[2] == Py_None ? 0 : to_axis(args[2], x.ndim(), "repeat");
    if (is_array(args[1])) {
        require_one_device("repeat", x, array_of(args[1]));
        const Array repeated =
            repeat_by(readable(x, "repeat"), readable(array_of(args[1]), "repeat"), axis);
        return wrap(unlocked_move(repeated, x.device(), "repeat"));
    }
    return wrap(repeat_each(x, to_int(args[1], "repeat", "repeats"), axis));
}

// Moves blocks: along each axis, the last `shift` elements come first.
void roll_into(const Array& out, const Array& x, const Dims& shifts, int axis) {
    if (axis == x.ndim()) return assign(out, x, "roll");
    int64_t extent = x.shape[axis], shift = shifts[axis];
    if (shift == 0) return roll_into(out, x, shifts, axis + 1);
    roll_into(slice(out, axis, shift, 1, extent - shift), slice(x, axis, 0, 1, extent - shift),
              shifts, axis + 1);
    roll_into(slice(out, axis, 0, 1, shift), slice(x, axis, extent - shift, 1, shift), shifts,
              axis + 1);
}

PyObject* roll(PyObject* const* args) {
    const Array& original = to_view(args[0], "roll", "x");
    bool flat = args[2] == Py_None;
    Array x = flat ? reshape(original, {original.size()}) : original;
    Dims amounts = to_dims(args[1], "roll", "shift");
    // An axis may be named more than once: its shifts add up.
    Dims axes = flat ? Dims{0} : to_dims(args[2], "roll", "axis");
    if (flat && amounts.size() != 1)
        raise(ErrorKind::Value, "roll: without axis, shift must be one int");
    if (amounts.size() != axes.size() && amounts.size() != 1) {
        raise(ErrorKind::Value,
              "roll: %d shifts for %d axes; one int, or as many shifts as axes are needed",
              amounts.size(), axes.size());
    }
    Dims shifts(x.ndim(), 0);
    for (int i = 0; i < axes.size(); ++i) {
        int axis = normalize_axis(axes[i], x.ndim(), "roll");
        int64_t extent = x.shape[axis];
        if (extent == 0) continue;
        int64_t amount = amounts[amounts.size() == 1 ? 0 : i] % extent;
        int64_t back = amount > 0 ? extent - amount : -amount;  // the sum itself may overflow
        shifts[axis] += shifts[axis] >= back ? -back : extent - back;
    }
    Array out = Array::empty(x.shape, x.dtype, x.device(), "roll");
    {
        Unlocked unlocked(x.size());
        if (out.size() > 0) roll_into(out, x, shifts, 0);
    }
    return wrap(flat ? reshape(out, original.shape) : std::move(out));
}

PyObject* tile(PyObject* const* args) {
    Array x = to_view(args[0], "tile", "x");
    Dims times = to_dims(args[1], "tile", "repetitions");
    while (x.ndim() < times.size()) x = expand_dims(x, 0);
    while (times.size() < x.ndim()) times.insert(0, 1);
    Dims shape = x.shape, split;
    Array source = x;
    for (int i = 0; i < x.ndim(); ++i) {
        if (times[i] < 0)
            raise(ErrorKind::Value, "tile: repetitions must not be negative, got %s",
                  to_string(times).c_str());
        if (__builtin_mul_overflow(shape[i], times[i], &shape[i])) {
            raise(ErrorKind::Memory, "tile: the result exceeds the memory of this machine");
        }
        split.push_back(times[i]);
        split.push_back(x.shape[i]);
        source = expand_dims(source, 2 * i);
    }
    Array out = Array::empty(shape, x.dtype, x.device(), "tile");
    if (out.size() > 0)
        copy_into(*reshape_view(out, split), broadcast_to(source, split, "tile"), "tile");
    return wrap(std::move(out));
}

PyObject* diagonal_of(PyObject* const* args) {
    const Array& x = to_view(args[0], "diagonal", "x");
    if (x.ndim() < 2) {
        raise(ErrorKind::Value, "diagonal: x must have at least 2 dimensions, got shape %s",
              to_string(x.shape).c_str());
    }
    int64_t offset = to_offset(args[1], "diagonal", "offset");
    int64_t rows = x.shape[x.ndim() - 2], columns = x.shape.back();
    return wrap(diagonal(x, std::clamp(offset, -rows, columns)));
}

// ---- axes of functions composed in Python

PyObject* as_axis(PyObject* const* args) {
    const char* function = to_name(args[0]);
    return PyLong_FromLong(
        to_axis(args[1], static_cast<int>(to_int(args[2], function, "ndim")), function));
}

PyObject* as_axes(PyObject* const* args) {
    const char* function = to_name(args[0]);
    int ndim = static_cast<int>(to_int(args[2], function, "ndim"));
    return dims_tuple(to_axes(args[1], ndim, function).value_or(all_axes(ndim)));
}

// ---- dtypes

DType dtype_of(PyObject* o, const char* function) {
    return is_array(o) ? array_of(o).dtype : to_dtype(o, function);
}

PyObject* can_cast(PyObject* const* args) {
    DType from = dtype_of(args[0], "can_cast"), to = to_dtype(args[1], "can_cast");
    return PyBool_FromLong(promote(from, to, strict()) == to);
}

PyObject* result_type(PyObject*, PyObject* const* args, Py_ssize_t count) {
    return guarded([&] {
        bool mode = strict();
        std::optional<DType> dtype;
        std::vector<Scalar> scalars;
        for (Py_ssize_t i = 0; i < count; ++i) {
            if (auto s = is_array(args[i]) ? std::nullopt : find_scalar(args[i])) {
                scalars.push_back(*s);
                continue;
            }
            DType d = dtype_of(args[i], "result_type");
            dtype = dtype ? promote_or_raise("result_type", *dtype, d, mode) : d;
        }
        if (!dtype && (mode || scalars.empty())) {
            raise(ErrorKind::Value,
                  "result_type: at least one array or dtype is needed beside Python scalars%s",
                  scalars.empty() ? "" : kRelax);
        }
        if (!dtype) dtype = default_dtype(scalars.front());
        for (const Scalar& s : scalars) {
            Array sample;
            sample.dtype = *dtype;
            Argument pair[2] = {operand(sample), {nullptr, &s}};
            dtype = common_dtype("result_type", pair, mode);
        }
        return Py_NewRef(dtype_object(*dtype));
    });
}

}  // namespace

PyMethodDef manipulation_methods[] = {
    method<broadcast_to_shape, 2>("broadcast_to"),
    method<concat, 2>("concat"),
    method<stack, 2>("stack"),
    method<expand, 2>("expand_dims"),
    method<squeeze_axes, 2>("squeeze"),
    method<flip_axes, 2>("flip"),
    method<permute_dims, 2>("permute_dims"),
    method<reshape_to, 3>("reshape"),
    method<repeat, 3>("repeat"),
    method<roll, 3>("roll"),
    method<tile, 2>("tile"),
    method<diagonal_of, 2>("diagonal"),
    method<as_axis, 3>("as_axis"),
    method<as_axes, 3>("as_axes"),
    method<can_cast, 2>("can_cast"),
    {"result_type", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(result_type)),
     METH_FASTCALL, nullptr},
    kEnd,
};

}  // namespace asc::python
