// What operations that work along axes share.
#pragma once
#include <algorithm>
#include <cstring>

#include "entry.h"

namespace cann_double {

inline int64_t wrap_axis(int64_t axis, size_t rank) {
    return axis < 0 ? axis + static_cast<int64_t>(std::max<size_t>(rank, 1)) : axis;
}
inline bool is_axis(int64_t axis, size_t rank) {
    const auto limit = static_cast<int64_t>(std::max<size_t>(rank, 1));
    return axis >= -limit && axis < limit;
}

inline int check_dtype(const Operation& op, const Tensor& tensor) {
    return listed(tensor.dtype, op.dtypes)
               ? kOk
               : refuse(op, "%s is not supported", dtype_name(tensor.dtype));
}

inline int check_shape(const Operation& op, const Tensor& out, const Shape& shape) {
    return out.shape == shape ? kOk
                              : refuse(op, "the result is %s, not %s", to_string(shape).c_str(),
                                       to_string(out.shape).c_str());
}

// The result has this shape and the dtype of the input.
inline int check_moved(const Operation& op, const Tensor& from, const Tensor& out,
                       const Shape& shape) {
    if (const int code = check_dtype(op, from)) {
        return code;
    }
    return out.dtype == from.dtype
               ? check_shape(op, out, shape)
               : refuse(op, "%s into %s", dtype_name(from.dtype), dtype_name(out.dtype));
}

// The place of an element.
inline uint8_t* place(const Tensor& tensor, const Shape& index) {
    int64_t at = tensor.offset;
    for (size_t axis = 0; axis < tensor.rank(); ++axis) {
        at += index[axis] * tensor.strides[axis];
    }
    return tensor.bytes + at * static_cast<int64_t>(aclDataTypeSize(tensor.dtype));
}

inline int64_t integer_at(const Tensor& tensor, const Shape& index) {
    return static_cast<int64_t>(read_as<Int>(place(tensor, index), tensor.dtype, ACL_INT64));
}

// Calls f(index) for each index of the shape.
template <class F>
void each_index(const Shape& shape, F f) {
    Shape index(shape.size(), 0);
    for (int64_t left = product(shape); left > 0; --left) {
        f(index);
        for (size_t axis = shape.size(); axis-- > 0 && ++index[axis] == shape[axis];) {
            index[axis] = 0;
        }
    }
}

// Moves bytes: out[index] = from[source(index)].
template <class F>
void move_elements(const Tensor& from, const Tensor& out, F source) {
    const size_t width = aclDataTypeSize(out.dtype);
    each_index(out.shape, [&](const Shape& index) {
        std::memcpy(place(out, index), place(from, source(index)), width);
    });
}

// Converts all elements of `from`, broadcast to the shape of `out`.
inline void convert_elements(const Tensor& from, const Tensor& out) {
    Walk source(from, out.shape), target(out, out.shape);
    by_kind(from.dtype, [&](auto kind) {
        using T = decltype(kind);
        for (int64_t left = out.elements(); left > 0; --left) {
            const T value = read_as<T>(source.place(), from.dtype, from.dtype);
            write_as(target.place(), out.dtype, value, from.dtype);
            source.next();
            target.next();
        }
    });
}

}  // namespace cann_double
