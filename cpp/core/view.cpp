#include "core/view.h"

#include <algorithm>
#include <bitset>
#include <cstdlib>

namespace asc {

int normalize_axis(int64_t axis, int ndim, const char* function) {
    if (axis < -ndim || axis >= ndim) {
        raise(ErrorKind::Axis, "%s: axis %lld is out of bounds for array of dimension %d", function,
              static_cast<long long>(axis), ndim);
    }
    return static_cast<int>(axis < 0 ? axis + ndim : axis);
}

Dims normalize_axes(const Dims& axes, int ndim, const char* function) {
    std::bitset<kMaxRank> seen;
    Dims result(axes.size());
    for (int i = 0; i < axes.size(); ++i) {
        int axis = normalize_axis(axes[i], ndim, function);
        if (seen[static_cast<size_t>(axis)]) {
            raise(ErrorKind::Value, "%s: axis %d is given twice in %s", function, axis,
                  to_string(axes).c_str());
        }
        seen[static_cast<size_t>(axis)] = true;
        result[i] = axis;
    }
    return result;
}

Dims broadcast_shapes(const Dims& a, const Dims& b, const char* function) {
    if (a == b) return a;
    const Dims& longer = a.size() >= b.size() ? a : b;
    const Dims& shorter = a.size() >= b.size() ? b : a;
    Dims result = longer;
    int shift = longer.size() - shorter.size();
    for (int i = 0; i < shorter.size(); ++i) {
        int64_t x = longer[i + shift], y = shorter[i];
        if (x != y && x != 1 && y != 1) {
            raise(ErrorKind::Value, "%s: shapes %s and %s could not be broadcast together",
                  function, to_string(a).c_str(), to_string(b).c_str());
        }
        result[i + shift] = x == 1 ? y : x;
    }
    return result;
}

Dims broadcast_strides(const Array& x, const Dims& shape) {
    Dims strides(shape.size(), 0);
    int shift = shape.size() - x.ndim();
    for (int i = 0; i < x.ndim(); ++i) strides[i + shift] = x.shape[i] == 1 ? 0 : x.strides[i];
    return strides;
}

Array broadcast_to(const Array& x, const Dims& shape, const char* function) {
    int shift = shape.size() - x.ndim();
    bool fits = shift >= 0;
    for (int i = 0; fits && i < x.ndim(); ++i)
        fits = x.shape[i] == shape[i + shift] || x.shape[i] == 1;
    if (!fits) {
        raise(ErrorKind::Value, "%s: an array of shape %s cannot be broadcast to %s", function,
              to_string(x.shape).c_str(), to_string(shape).c_str());
    }
    return x.view(shape, broadcast_strides(x, shape), x.offset);
}

Dims memory_order(const Array& x) {
    if (is_contiguous(x)) return {};
    Dims order = all_axes(x.ndim());
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        return std::abs(x.strides[static_cast<int>(a)]) > std::abs(x.strides[static_cast<int>(b)]);
    });
    return order;
}

Dims all_axes(int ndim) {
    Dims axes(ndim);
    for (int i = 0; i < ndim; ++i) axes[i] = i;
    return axes;
}

Array axis_last(const Array& x, int axis) {
    Dims order = all_axes(x.ndim());
    order.erase(axis);
    order.push_back(axis);
    return permute(x, order);
}

Array permute(const Array& x, const Dims& axes) {
    Dims shape(axes.size()), strides(axes.size());
    for (int i = 0; i < axes.size(); ++i) {
        shape[i] = x.shape[static_cast<int>(axes[i])];
        strides[i] = x.strides[static_cast<int>(axes[i])];
    }
    return x.view(std::move(shape), std::move(strides), x.offset);
}

Array transpose(const Array& x) {
    Array result = x;
    int n = x.ndim();
    std::swap(result.shape[n - 1], result.shape[n - 2]);
    std::swap(result.strides[n - 1], result.strides[n - 2]);
    return result;
}

Array expand_dims(const Array& x, int axis) {
    Array result = x;
    result.shape.insert(axis, 1);
    result.strides.insert(axis, 0);
    return result;
}

Array squeeze(const Array& x, int axis) {
    Array result = x;
    result.shape.erase(axis);
    result.strides.erase(axis);
    return result;
}

Array slice(const Array& x, int axis, int64_t start, int64_t step, int64_t n) {
    Array result = x;
    if (n > 0) result.offset += start * x.strides[axis];
    result.shape[axis] = n;
    // A stride of at most one element is never used and may overflow.
    result.strides[axis] = n > 1 ? x.strides[axis] * step : 0;
    return result;
}

Array select(const Array& x, int axis, int64_t i) {
    Array result = squeeze(x, axis);
    result.offset += i * x.strides[axis];
    return result;
}

Array flip(const Array& x, const Dims& axes) {
    Array result = x;
    for (int64_t a : axes) {
        int axis = static_cast<int>(a);
        if (x.shape[axis] > 1) result.offset += (x.shape[axis] - 1) * x.strides[axis];
        result.strides[axis] = -x.strides[axis];
    }
    return result;
}

Array diagonal(const Array& x, int64_t offset) {
    int n = x.ndim();
    int64_t rows = x.shape[n - 2], columns = x.shape[n - 1];
    int64_t first_row = offset < 0 ? -offset : 0, first_column = offset > 0 ? offset : 0;
    int64_t length = std::min(rows - first_row, columns - first_column);
    Dims shape(x.shape.data(), n - 1), strides(x.strides.data(), n - 1);
    shape[n - 2] = length > 0 ? length : 0;
    strides[n - 2] = x.strides[n - 2] + x.strides[n - 1];
    int64_t start = x.offset;
    if (length > 0) start += first_row * x.strides[n - 2] + first_column * x.strides[n - 1];
    return x.view(std::move(shape), std::move(strides), start);
}

static Array component(const Array& x, int64_t which) {
    Array result = x;
    result.dtype = real_part(x.dtype);
    result.offset = 2 * x.offset + which;
    for (int64_t& stride : result.strides) stride *= 2;
    return result;
}
Array real_view(const Array& x) { return component(x, 0); }
Array imag_view(const Array& x) { return component(x, 1); }

std::optional<Array> reshape_view(const Array& x, const Dims& shape) {
    int64_t size = x.size();
    if (size == 0 || size == 1) return x.view(shape, row_major_strides(shape), x.offset);
    Dims strides(shape.size(), 0);
    // Match runs of old axes that form one regular stride with runs of new axes, last first.
    int old_axis = x.ndim() - 1, new_axis = shape.size() - 1;
    while (old_axis >= 0 && new_axis >= 0) {
        if (x.shape[old_axis] == 1) {
            --old_axis;
            continue;
        }
        int64_t inner = x.strides[old_axis];
        int64_t old_extent = x.shape[old_axis], new_extent = 1, stride = inner;
        while (new_axis >= 0 && new_extent < old_extent) {
            strides[new_axis] = stride;
            new_extent *= shape[new_axis];
            stride *= shape[new_axis];
            --new_axis;
            while (new_extent > old_extent) {
                // The run goes on into the next old axis, which must continue its stride.
                int previous = old_axis - 1;
                while (previous >= 0 && x.shape[previous] == 1) --previous;
                if (previous < 0 ||
                    x.strides[previous] != x.strides[old_axis] * x.shape[old_axis]) {
                    return std::nullopt;
                }
                old_axis = previous;
                old_extent *= x.shape[old_axis];
            }
        }
        if (new_extent != old_extent) return std::nullopt;
        --old_axis;
    }
    return x.view(shape, std::move(strides), x.offset);
}

Dims resolve_shape(const Dims& shape, int64_t size, const char* function) {
    Dims result = shape;
    int unknown = -1;
    Dims known(shape.size(), 1);
    for (int i = 0; i < shape.size(); ++i) {
        if (shape[i] == -1 && unknown < 0) {
            unknown = i;
        } else if (shape[i] < 0) {
            raise(ErrorKind::Value, "%s: shape %s may hold one -1 and no other negative extent",
                  function, to_string(shape).c_str());
        } else {
            known[i] = shape[i];
        }
    }
    int64_t count = checked_product(known);
    if (unknown >= 0 && count > 0 && size % count == 0) {
        result[unknown] = size / count;
        count = size;
    }
    if (count != size || (unknown >= 0 && result[unknown] < 0)) {
        raise(ErrorKind::Value, "%s: an array of %lld elements cannot have the shape %s", function,
              static_cast<long long>(size), to_string(shape).c_str());
    }
    return result;
}

Array reshape(const Array& x, const Dims& shape) {
    if (auto view = reshape_view(x, shape)) return *view;
    return *reshape_view(copy(x), shape);
}

}  // namespace asc
