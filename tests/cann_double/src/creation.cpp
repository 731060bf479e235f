// Sequences, triangles and repetitions of libopapi_math.so.
#include <cmath>

#include "shapes.h"

namespace cann_double {
namespace {

#define EVERY "f32 f16 bf16 f64 i8 i16 i32 i64 u8 u16 u32 u64 b c64 c128"

// Length of start, start + step, ... below end.
int64_t range_length(const Scalar& start, const Scalar& end, const Scalar& step) {
    const Real first = scalar_value<Real>(start, ACL_DOUBLE);
    const Real by = scalar_value<Real>(step, ACL_DOUBLE);
    return static_cast<int64_t>(std::ceil((scalar_value<Real>(end, ACL_DOUBLE) - first) / by));
}
int check_arange(const Operation& op, Arguments& arguments) {
    const Tensor& out = arguments[3].tensor();
    if (const int code = check_dtype(op, out)) {
        return code;
    }
    if (scalar_value<Real>(arguments[2].scalar(), ACL_DOUBLE) == 0) {
        return refuse(op, "a step of 0");
    }
    const int64_t length =
        range_length(arguments[0].scalar(), arguments[1].scalar(), arguments[2].scalar());
    return length < 0 ? refuse(op, "bounds against the step") : check_shape(op, out, {length});
}
void run_arange(Arguments& arguments) {
    const Tensor& out = arguments[3].tensor();
    by_kind(out.dtype, [&](auto kind) {
        using T = decltype(kind);
        const T first = scalar_value<T>(arguments[0].scalar(), out.dtype);
        const T by = scalar_value<T>(arguments[2].scalar(), out.dtype);
        std::vector<T> values;
        for (int64_t i = 0; i < out.elements(); ++i) {
            values.push_back(first + static_cast<T>(i) * by);
        }
        store(out, values, out.dtype);
    });
}

int check_linspace(const Operation& op, Arguments& arguments) {
    const int64_t steps = arguments[2].integer();
    if (const int code = check_dtype(op, arguments[3].tensor())) {
        return code;
    }
    return steps < 0 ? refuse(op, "%ld steps", steps)
                     : check_shape(op, arguments[3].tensor(), {steps});
}
void run_linspace(Arguments& arguments) {
    const Tensor& out = arguments[3].tensor();
    const Real first = scalar_value<Real>(arguments[0].scalar(), ACL_DOUBLE);
    const Real last = scalar_value<Real>(arguments[1].scalar(), ACL_DOUBLE);
    const int64_t steps = arguments[2].integer();
    std::vector<Real> values;
    for (int64_t i = 0; i < steps; ++i) {
        const Real step = steps > 1 ? (last - first) / static_cast<Real>(steps - 1) : 0;
        values.push_back(i < steps / 2 ? first + static_cast<Real>(i) * step
                                       : last - static_cast<Real>(steps - 1 - i) * step);
    }
    if (steps == 1) {
        values[0] = first;
    }
    store(out, values, ACL_DOUBLE);
}

int check_eye(const Operation& op, Arguments& arguments) {
    if (const int code = check_dtype(op, arguments[2].tensor())) {
        return code;
    }
    return check_shape(op, arguments[2].tensor(), {arguments[0].integer(), arguments[1].integer()});
}
void run_eye(Arguments& arguments) {
    const Tensor& out = arguments[2].tensor();
    each_index(out.shape, [&](const Shape& index) {
        write_as(place(out, index), out.dtype, Int{index[0] == index[1]}, ACL_INT64);
    });
}

int check_triangle(const Operation& op, Arguments& arguments) {
    const Tensor& from = arguments[0].tensor();
    return from.rank() < 2 ? refuse(op, "rank %zu", from.rank())
                           : check_moved(op, from, arguments[2].tensor(), from.shape);
}
auto triangle(bool lower) {
    return [lower](Arguments& arguments) {
        const Tensor& from = arguments[0].tensor();
        const Tensor& out = arguments[2].tensor();
        const int64_t diagonal = arguments[1].integer();
        convert_elements(from, out);
        each_index(out.shape, [&](const Shape& index) {
            const int64_t right = index[index.size() - 1] - index[index.size() - 2];
            if (lower ? right > diagonal : right < diagonal) {
                write_as(place(out, index), out.dtype, Int{0}, ACL_INT64);
            }
        });
    };
}

int check_roll(const Operation& op, Arguments& arguments) {
    const Tensor& from = arguments[0].tensor();
    const auto &shifts = arguments[1].ints(), &axes = arguments[2].ints();
    for (const int64_t axis : axes) {
        if (!is_axis(axis, from.rank())) {
            return refuse(op, "no axis %ld", axis);
        }
    }
    if (shifts.size() != std::max<size_t>(axes.size(), 1)) {
        return refuse(op, "%zu shifts of %zu axes", shifts.size(), axes.size());
    }
    return check_moved(op, from, arguments[3].tensor(), from.shape);
}
int64_t modulo(int64_t value, int64_t extent) { return ((value % extent) + extent) % extent; }
void run_roll(Arguments& arguments) {
    const Tensor& from = arguments[0].tensor();
    const auto &shifts = arguments[1].ints(), &axes = arguments[2].ints();
    move_elements(from, arguments[3].tensor(), [&](Shape index) {
        for (size_t i = 0; i < axes.size(); ++i) {
            const auto axis = static_cast<size_t>(wrap_axis(axes[i], from.rank()));
            if (!index.empty()) {
                index[axis] = modulo(index[axis] - shifts[i], from.shape[axis]);
            }
        }
        if (axes.empty()) {  // along all elements
            int64_t at = 0;
            for (size_t axis = 0; axis < index.size(); ++axis) {
                at = at * from.shape[axis] + index[axis];
            }
            at = modulo(at - shifts[0], from.elements());
            for (size_t axis = index.size(); axis-- > 0; at /= from.shape[axis]) {
                index[axis] = at % from.shape[axis];
            }
        }
        return index;
    });
}

Shape repeated_shape(const Tensor& from, const std::vector<int64_t>& times) {
    Shape shape = times;
    for (size_t axis = 0; axis < from.rank(); ++axis) {
        shape[times.size() - from.rank() + axis] *= from.shape[axis];
    }
    return shape;
}
int check_repeat(const Operation& op, Arguments& arguments) {
    const Tensor& from = arguments[0].tensor();
    const auto& times = arguments[1].ints();
    if (times.size() < from.rank() ||
        std::any_of(times.begin(), times.end(), [](int64_t each) { return each < 0; })) {
        return refuse(op, "%zu repeats of rank %zu", times.size(), from.rank());
    }
    return check_moved(op, from, arguments[2].tensor(), repeated_shape(from, times));
}
void run_repeat(Arguments& arguments) {
    const Tensor& from = arguments[0].tensor();
    move_elements(from, arguments[2].tensor(), [&](const Shape& index) {
        Shape source(from.rank());
        for (size_t axis = 0; axis < from.rank(); ++axis) {
            source[axis] = index[index.size() - from.rank() + axis] % from.shape[axis];
        }
        return source;
    });
}

int check_stack(const Operation& op, Arguments& arguments) {
    const auto& list = arguments[0].list();
    const Tensor& out = arguments[2].tensor();
    const int64_t axis = arguments[1].integer();
    if (list.empty() || !is_axis(axis, list[0].tensor.rank() + 1)) {
        return refuse(op, "no tensors, or no axis %ld", axis);
    }
    Shape shape = list[0].tensor.shape;
    aclDataType dtype = list[0].tensor.dtype;
    for (const TensorArgument& each : list) {
        if (const int code = check_dtype(op, each.tensor)) {
            return code;
        }
        if (each.tensor.shape != shape) {
            return refuse(op, "different shapes");
        }
        dtype = promote(dtype, each.tensor.dtype);
    }
    if (dtype == ACL_DT_UNDEFINED || !can_cast(dtype, out.dtype)) {
        return refuse(op, "a result of %s", dtype_name(out.dtype));
    }
    shape.insert(shape.begin() + wrap_axis(axis, shape.size() + 1),
                 static_cast<int64_t>(list.size()));
    return check_shape(op, out, shape);
}
void run_stack(Arguments& arguments) {
    const Tensor& out = arguments[2].tensor();
    const auto axis = wrap_axis(arguments[1].integer(), out.rank());
    int64_t at = 0;
    for (const TensorArgument& each : arguments[0].list()) {
        Tensor layer = out;
        layer.offset += at++ * out.strides[static_cast<size_t>(axis)];
        layer.shape.erase(layer.shape.begin() + axis);
        layer.strides.erase(layer.strides.begin() + axis);
        convert_elements(each.tensor, layer);
    }
}

}  // namespace

ENTRY4(aclnnArange, Number, Number, Number, Out)
BEHAVES(aclnnArange, "f32 f16 bf16 f64 i8 i16 i32 i64 u8 b", "", check_arange, run_arange)
ENTRY4(aclnnLinspace, Number, Number, int64_t, Out)
BEHAVES(aclnnLinspace, "f32 f16 bf16 f64 i8 i16 i32 i64 u8", "", check_linspace, run_linspace)
ENTRY3(aclnnEye, int64_t, int64_t, Out)
BEHAVES(aclnnEye, "f32 f16 i8 i16 i32 i64 u8 b", "", check_eye, run_eye)
ENTRY3(aclnnTril, In, int64_t, Out)
BEHAVES(aclnnTril, "f32 f16 bf16 f64 i8 i16 i32 i64 u8 u16 u32 u64 b", "", check_triangle,
        triangle(true))
ENTRY3(aclnnTriu, In, int64_t, Out)
BEHAVES(aclnnTriu, "f32 f16 bf16 f64 i8 i16 i32 i64 u8 u16 u32 u64 b", "", check_triangle,
        triangle(false))
ENTRY4(aclnnRoll, In, Ints, Ints, Out)
BEHAVES(aclnnRoll, "f32 f16 bf16 i8 i16 i32 i64 u8 u32 b", "", check_roll, run_roll)
ENTRY3(aclnnRepeat, In, Ints, Out)
BEHAVES(aclnnRepeat, EVERY, "", check_repeat, run_repeat)
ENTRY3(aclnnStack, InList, int64_t, Out)
BEHAVES(aclnnStack, EVERY, "", check_stack, run_stack)

}  // namespace cann_double
