// Sorting, searching and set functions.
#include "backend/cpu/sorting.h"

#include "backend/cpu/elementwise.h"
#include "backend/cpu/gather.h"
#include "core/promotion.h"
#include "core/view.h"
#include "graph/lowering.h"
#include "graph/placement.h"
#include "python/fallback.h"
#include "python/interop.h"

namespace asc::python {
namespace {

// A comparison costs about this many times as much as an addition, for the choice to unlock.
constexpr int64_t kSortCost = 16;

using SortArrays = void (*)(const Array& x, int axis, bool descending, const Array& out);

PyObject* sorted(PyObject* const* args, Function f, SortArrays sort,
                 std::optional<DType> result_dtype) {
    const char* function = info(f).name();
    const Array& x = to_array(args[0], function, "x");
    require(f, x.dtype);
    const int axis = to_axis(args[1], x.ndim(), function);
    const bool descending = to_bool(args[2], function, "descending");
    to_bool(args[3], function, "stable");  // every sort is stable
    Array result = Array::empty(x.shape, result_dtype.value_or(x.dtype), x.device());
    {
        Unlocked unlocked(x.size(), kSortCost);
        if (on_host(x.device()))
            sort(x, axis, descending, result);
        else
            run_on_device({function, {&x, 1}, {&result, 1}, {axis, descending}});
    }
    return wrap(std::move(result));
}

PyObject* sort(PyObject* const* args) {
    return sorted(args, Function::Sort, cpu::sort, std::nullopt);
}
PyObject* argsort(PyObject* const* args) {
    return sorted(args, Function::ArgSort, cpu::argsort, kIndexType);
}

// An argument as an array of `dtype`; a scalar has no axes.
Array as_operand(const Argument& arg, DType dtype, DeviceId device, const char* function) {
    if (arg.array) return arg.array->dtype == dtype ? *arg.array : cast(*arg.array, dtype);
    return from_scalar(*arg.scalar, dtype, device, function);
}

bool is_right(PyObject* side) {
    if (PyUnicode_Check(side)) {
        if (PyUnicode_CompareWithASCIIString(side, "left") == 0) return false;
        if (PyUnicode_CompareWithASCIIString(side, "right") == 0) return true;
    }
    Object text = Object::steal(PyObject_Repr(side));
    const char* utf8 = PyUnicode_AsUTF8(text.get());
    if (!utf8) throw PythonError{};
    raise(ErrorKind::Value, "searchsorted: side must be 'left' or 'right', got %s", utf8);
}

// x1[sorter]
Array reorder(const Array& x1, const Array& sorter) {
    if (!is_integer(sorter.dtype)) {
        raise(ErrorKind::Type, "searchsorted: sorter must have an integer dtype, got %s",
              name(sorter.dtype));
    }
    if (!(sorter.shape == x1.shape)) {
        raise(ErrorKind::Value, "searchsorted: sorter must have the shape of x1, %s, got %s",
              to_string(x1.shape).c_str(), to_string(sorter.shape).c_str());
    }
    const Array order = contiguous(sorter.dtype == kIndexType ? sorter : cast(sorter, kIndexType));
    const auto* at = reinterpret_cast<const int64_t*>(order.data());
    const int64_t n = x1.size();
    cpu::Selection selection;
    selection.base = x1.offset;
    selection.offsets.resize(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) {
        if (at[i] < 0 || at[i] >= n) {
            const bool wrapped = at[i] < 0 && sorter.dtype == DType::UInt64;
            const auto length = static_cast<long long>(n);
            raise(
                ErrorKind::Index,
                wrapped
                    ? "searchsorted: sorter holds %llu, out of bounds for a vector of %lld elements"
                    : "searchsorted: sorter holds %lld, out of bounds for a vector of %lld "
                      "elements",
                static_cast<long long>(at[i]), length);
        }
        selection.offsets[static_cast<size_t>(i)] = at[i] * x1.strides[0];
    }
    Array result = Array::empty(x1.shape, x1.dtype, x1.device());
    cpu::gather(result, x1, selection);
    return result;
}

PyObject* searchsorted(PyObject* const* args) {
    constexpr const char* kName = "searchsorted";
    Scalar room;
    const Argument pair[2] = {{&to_array(args[0], kName, "x1"), nullptr},
                              to_argument(args[1], room, kName, "x2")};
    const Array& x1 = *pair[0].array;
    const bool plain =
        pair[1].array && pair[1].array->dtype == x1.dtype && accepts(Category::Real, x1.dtype);
    const DType dtype = plain ? x1.dtype : common_dtype(kName, pair, strict());
    require(Function::SearchSorted, dtype);
    if (x1.ndim() != 1) {
        raise(ErrorKind::Value, "searchsorted: x1 must have one dimension, got shape %s",
              to_string(x1.shape).c_str());
    }
    const bool right = is_right(args[2]);
    const Array* sorter = args[3] == Py_None ? nullptr : &to_array(args[3], kName, "sorter");
    if (pair[1].array) require_one_device(kName, x1, *pair[1].array);
    if (sorter) require_one_device(kName, x1, *sorter);
    Array result =
        Array::empty(pair[1].array ? pair[1].array->shape : Dims(), kIndexType, x1.device());
    {
        Unlocked unlocked(std::max(x1.size(), result.size()), kSortCost);
        const Array keys = as_operand(pair[1], dtype, x1.device(), kName);
        const Array ordered = sorter ? reorder(x1, *sorter) : x1;
        cpu::search(as_operand({&ordered, nullptr}, dtype, x1.device(), kName), keys, right,
                    result);
    }
    return wrap(std::move(result));
}

PyObject* unique(PyObject* const* args) {
    const char* function = to_name(args[0]);
    const Array& x = to_array(args[1], function, "x");
    const bool indices = to_bool(args[2], function, "indices");
    const bool inverse = to_bool(args[3], function, "inverse");
    const bool counts = to_bool(args[4], function, "counts");
    cpu::Unique found;
    {
        Unlocked unlocked(x.size(), kSortCost);
        found = cpu::unique(x, indices, inverse, counts);
    }
    std::vector<Object> items;
    auto add = [&](Array& array, bool wanted) {
        items.push_back(wanted ? Object::steal(wrap(std::move(array))) : Object::borrow(Py_None));
    };
    add(found.values, true);
    add(found.indices, indices);
    add(found.inverse, inverse);
    add(found.counts, counts);
    return make_tuple(std::move(items));
}

PyObject* isin(PyObject* const* args) {
    Scalar rooms[2];
    const Argument pair[2] = {to_argument(args[0], rooms[0], "isin", "x1"),
                              to_argument(args[1], rooms[1], "isin", "x2")};
    const bool plain =
        pair[0].array && pair[1].array && pair[0].array->dtype == pair[1].array->dtype;
    const DType dtype = plain ? pair[0].array->dtype : common_dtype("isin", pair, strict());
    const bool invert = to_bool(args[2], "isin", "invert");
    const DeviceId device = common_device("isin", pair);
    Array result = Array::empty(pair[0].array ? pair[0].array->shape : Dims(), DType::Bool, device);
    {
        Unlocked unlocked(std::max(result.size(), pair[1].array ? pair[1].array->size() : 1),
                          kSortCost);
        const Array x1 = as_operand(pair[0], dtype, device, "isin");
        const Array x2 = as_operand(pair[1], dtype, device, "isin");
        cpu::is_member(x1, x2, invert, result);
    }
    return wrap(std::move(result));
}

// x seen as a vector, row-major.
Array flattened(const Array& x) { return reshape(x, Dims{x.size()}); }

PyObject* arg_extreme(PyObject* const* args, Function f, bool largest) {
    const char* function = info(f).name();
    const Array& x = to_array(args[0], function, "x");
    require(f, x.dtype);
    const bool flat = args[1] == Py_None;
    const int axis = flat ? 0 : to_axis(args[1], x.ndim(), function);
    const bool keepdims = to_bool(args[2], function, "keepdims");
    Dims shape = flat ? Dims(keepdims ? x.ndim() : 0, 1) : x.shape;
    if (!flat && keepdims) shape[axis] = 1;
    if (!flat && !keepdims) shape.erase(axis);
    if (product(shape) > 0 && (flat ? x.size() : x.shape[axis]) == 0) {
        raise(ErrorKind::Value, "%s: there is nothing to search in an array of shape %s", function,
              to_string(x.shape).c_str());
    }
    Array result = Array::empty(std::move(shape), kIndexType, x.device());
    {
        Unlocked unlocked(x.size());
        const Array searched = flat ? flattened(x) : x;
        if (on_host(x.device()))
            cpu::arg_extreme(searched, axis, largest, result);
        else
            run_on_device({function, {&searched, 1}, {&result, 1}, {axis, largest}});
    }
    return wrap(std::move(result));
}

PyObject* argmax(PyObject* const* args) { return arg_extreme(args, Function::ArgMax, true); }
PyObject* argmin(PyObject* const* args) { return arg_extreme(args, Function::ArgMin, false); }

PyObject* nonzero(PyObject* const* args) {
    const Array& x = to_array(args[0], "nonzero", "x");
    if (x.ndim() == 0) {
        raise(ErrorKind::Value,
              "nonzero: a 0-dimensional array has no axes to index; reshape it to (1,)");
    }
    std::vector<Array> found;
    {
        Unlocked unlocked(x.size());
        found = cpu::nonzero(as_bool(x));
    }
    return wrap_tuple(std::move(found));
}

}  // namespace

PyMethodDef sorting_methods[] = {
    device_method<sort, 4, "sort">(),
    device_method<argsort, 4, "argsort">(),
    host_method<searchsorted, 4, "searchsorted">(),
    host_method<unique, 5, "unique">(),
    host_method<isin, 3, "isin">(),
    device_method<argmax, 3, "argmax">(),
    device_method<argmin, 3, "argmin">(),
    host_method<nonzero, 1, "nonzero">(),
    kEnd,
};

}  // namespace asc::python
