// Copies, conversions, fills and rearrangements of libopapi_math.so.
#include "shapes.h"

namespace cann_double {
namespace {

#define EVERY "f32 f16 bf16 f64 i8 i16 i32 i64 u8 u16 u32 u64 b c64 c128"

int check_cast(const Operation& op, Arguments& arguments) {
    const Tensor& from = arguments[0].tensor();
    const Tensor& out = arguments[2].tensor();
    if (const int code = check_dtype(op, from)) {
        return code;
    }
    if (out.dtype != arguments[1].dtype()) {
        return refuse(op, "the result is not of the dtype asked for");
    }
    if (out.shape != from.shape) {
        return refuse(op, "the shapes differ");
    }
    const bool strided_unsupported =
        from.dtype == ACL_BOOL || kind_of(from.dtype) == Kind::kComplex;
    if (strided_unsupported && !from.contiguous()) {
        return violate(kBadOperand, "constraint", "%s that is not contiguous",
                       dtype_name(from.dtype));
    }
    return kOk;
}

// Two conversions are documented to be exact in a part of their range only.
void run_cast(Arguments& arguments) {
    const Tensor& from = arguments[0].tensor();
    const Tensor& out = arguments[2].tensor();
    convert_elements(from, out);
    const bool narrow = from.dtype == ACL_INT32 && out.dtype == ACL_INT8;
    const bool from_wide = from.dtype == ACL_DOUBLE || kind_of(from.dtype) == Kind::kComplex;
    const bool to_bytes = from_wide && out.dtype == ACL_UINT8;
    Walk source(from, out.shape), target(out, out.shape);
    for (int64_t left = narrow || to_bytes ? out.elements() : 0; left > 0; --left) {
        const Real value = read_as<Real>(source.place(), from.dtype, ACL_DOUBLE);
        if (narrow ? value <= -2048 || value >= 1920 : value < 0) {
            *target.place() = 0x5A;
        }
        source.next();
        target.next();
    }
}

int check_copy(const Operation& op, Arguments& arguments) {
    const Tensor& to = arguments[0].tensor();
    const Tensor& from = arguments[1].tensor();
    Shape shape;
    if (const int code = check_dtype(op, from)) {
        return code;
    }
    if (!broadcast(to.shape, from.shape, shape) || shape != to.shape) {
        return refuse(op, "%s does not broadcast to %s", to_string(from.shape).c_str(),
                      to_string(to.shape).c_str());
    }
    return kOk;
}

int check_fill(const Operation& op, Arguments& arguments) {
    return check_dtype(op, arguments[0].tensor());
}
void fill(const Tensor& out, const Scalar& value) {
    by_kind(out.dtype, [&](auto kind) {
        using T = decltype(kind);
        const T number = scalar_value<T>(value, out.dtype);
        Walk to(out, out.shape);
        for (int64_t left = out.elements(); left > 0; --left) {
            write_as(to.place(), out.dtype, number, out.dtype);
            to.next();
        }
    });
}
auto fill_with(unsigned char value) {
    return
        [value](Arguments& arguments) { fill(arguments[0].tensor(), Scalar{ACL_UINT8, {value}}); };
}

int check_permute(const Operation& op, Arguments& arguments) {
    const Tensor& from = arguments[0].tensor();
    Shape sorted, shape;
    for (const int64_t axis : arguments[1].ints()) {
        if (!is_axis(axis, from.rank())) {
            return refuse(op, "no axis %ld", axis);
        }
        sorted.push_back(wrap_axis(axis, from.rank()));
        shape.push_back(from.shape[static_cast<size_t>(sorted.back())]);
    }
    std::sort(sorted.begin(), sorted.end());
    for (size_t axis = 0; axis < sorted.size(); ++axis) {
        if (sorted.size() != from.rank() || sorted[axis] != static_cast<int64_t>(axis)) {
            return refuse(op, "no permutation");
        }
    }
    return check_moved(op, from, arguments[2].tensor(), shape);
}
void run_permute(Arguments& arguments) {
    const Tensor& from = arguments[0].tensor();
    move_elements(from, arguments[2].tensor(), [&](const Shape& index) {
        Shape source(index.size());
        for (size_t i = 0; i < index.size(); ++i) {
            source[static_cast<size_t>(wrap_axis(arguments[1].ints()[i], from.rank()))] = index[i];
        }
        return source;
    });
}

int check_cat(const Operation& op, Arguments& arguments) {
    auto& list = arguments[0].list();
    const Tensor& out = arguments[2].tensor();
    if (list.empty() || !is_axis(arguments[1].integer(), list[0].tensor.rank())) {
        return refuse(op, "no tensors, or no such axis");
    }
    const auto axis = static_cast<size_t>(wrap_axis(arguments[1].integer(), list[0].tensor.rank()));
    Shape shape = list[0].tensor.shape;
    aclDataType dtype = list[0].tensor.dtype;
    if (shape.empty()) {
        return refuse(op, "a tensor without dimensions");
    }
    shape[axis] = 0;
    for (const TensorArgument& each : list) {
        Shape own = each.tensor.shape;
        if (const int code = check_dtype(op, each.tensor)) {
            return code;
        }
        if (own.size() != shape.size()) {
            return refuse(op, "different ranks");
        }
        shape[axis] += own[axis];
        own[axis] = shape[axis];
        if (own != shape) {
            return refuse(op, "shapes that do not fit");
        }
        dtype = promote(dtype, each.tensor.dtype);
    }
    if (dtype == ACL_DT_UNDEFINED || !can_cast(dtype, out.dtype) || out.shape != shape) {
        return refuse(op, "the result is %s", to_string(shape).c_str());
    }
    return kOk;
}
// The part of `out` that starts at `begin` along the axis and has the shape of `part`.
Tensor slice(const Tensor& out, size_t axis, int64_t begin, const Shape& shape) {
    Tensor window = out;
    window.shape = shape;
    window.offset += begin * out.strides[axis];
    return window;
}
void run_cat(Arguments& arguments) {
    const Tensor& out = arguments[2].tensor();
    const auto axis = static_cast<size_t>(wrap_axis(arguments[1].integer(), out.rank()));
    int64_t begin = 0;
    for (const TensorArgument& each : arguments[0].list()) {
        convert_elements(each.tensor, slice(out, axis, begin, each.tensor.shape));
        begin += each.tensor.shape[axis];
    }
}

}  // namespace

ENTRY3(aclnnCast, In, aclDataType, Out)
BEHAVES(aclnnCast, EVERY, "", check_cast, run_cast)
ENTRY2(aclnnInplaceCopy, Out, In)
BEHAVES(aclnnInplaceCopy, EVERY, "", check_copy, [](Arguments& arguments) {
    convert_elements(arguments[1].tensor(), arguments[0].tensor());
})
ENTRY2(aclnnInplaceFillScalar, Out, Number)
BEHAVES(aclnnInplaceFillScalar, EVERY, "", check_fill,
        [](Arguments& arguments) { fill(arguments[0].tensor(), arguments[1].scalar()); })
ENTRY1(aclnnInplaceZero, Out)
BEHAVES(aclnnInplaceZero, "f32 f16 bf16 f64 i8 i16 i32 i64 u8 u16 b c64 c128", "", check_fill,
        fill_with(0))
ENTRY1(aclnnInplaceOne, Out)
BEHAVES(aclnnInplaceOne, "f32 f16 bf16 f64 i8 i16 i32 i64 u8 b", "", check_fill, fill_with(1))
ENTRY3(aclnnPermute, In, Ints, Out)
BEHAVES(aclnnPermute, EVERY, "", check_permute, run_permute)
ENTRY3(aclnnCat, InList, int64_t, Out)
BEHAVES(aclnnCat, "f32 f16 bf16 f64 i8 i16 i32 i64 u8 b c64", "", check_cat, run_cat)

}  // namespace cann_double
