// Elements by mask of libopapi_math.so.
#include "shapes.h"

namespace cann_double {
namespace {

int check_mask(const Operation& op, const Tensor& mask) {
    return mask.dtype == ACL_BOOL ? kOk : refuse(op, "a mask of %s", dtype_name(mask.dtype));
}

int check_select(const Operation& op, Arguments& arguments) {
    const Tensor &from = arguments[0].tensor(), &mask = arguments[1].tensor();
    const Tensor& out = arguments[2].tensor();
    Shape shape;
    if (const int code = check_dtype(op, from)) {
        return code;
    }
    if (const int code = check_mask(op, mask)) {
        return code;
    }
    if (!broadcast(from.shape, mask.shape, shape) || out.dtype != from.dtype || out.rank() != 1) {
        return refuse(op, "shapes that do not fit, or a result of %s", dtype_name(out.dtype));
    }
    return kOk;
}
// How many elements there are is known afterwards; they fill the front of the result.
void run_select(Arguments& arguments) {
    const Tensor &from = arguments[0].tensor(), &mask = arguments[1].tensor();
    const Tensor& out = arguments[2].tensor();
    Shape shape;
    broadcast(from.shape, mask.shape, shape);
    Walk source(from, shape), chosen(mask, shape);
    int64_t found = 0;
    for (int64_t left = product(shape); left > 0; --left) {
        if (read_as<Int>(chosen.place(), ACL_BOOL, ACL_BOOL) != 0) {
            if (found == out.elements()) {
                violate(0, "out-of-bounds", "more elements are chosen than the result holds");
                break;
            }
            std::memcpy(place(out, {found++}), source.place(), aclDataTypeSize(out.dtype));
        }
        source.next();
        chosen.next();
    }
    set_result_shape(arguments[2], {found});
}

int check_masked_fill(const Operation& op, Arguments& arguments) {
    const Tensor &to = arguments[0].tensor(), &mask = arguments[1].tensor();
    Shape shape;
    if (const int code = check_dtype(op, to)) {
        return code;
    }
    if (const int code = check_mask(op, mask)) {
        return code;
    }
    if (!broadcast(to.shape, mask.shape, shape) || shape != to.shape) {
        return refuse(op, "the mask is %s", to_string(mask.shape).c_str());
    }
    return can_cast(arguments[2].scalar().dtype, to.dtype)
               ? kOk
               : refuse(op, "a value of %s", dtype_name(arguments[2].scalar().dtype));
}
void run_masked_fill(Arguments& arguments) {
    const Tensor &to = arguments[0].tensor(), &mask = arguments[1].tensor();
    by_kind(to.dtype, [&](auto kind) {
        const auto value = scalar_value<decltype(kind)>(arguments[2].scalar(), to.dtype);
        Walk target(to, to.shape), chosen(mask, to.shape);
        for (int64_t left = to.elements(); left > 0; --left) {
            if (read_as<Int>(chosen.place(), ACL_BOOL, ACL_BOOL) != 0) {
                write_as(target.place(), to.dtype, value, to.dtype);
            }
            target.next();
            chosen.next();
        }
    });
}

int check_is_in(const Operation& op, Arguments& arguments) {
    const Tensor &from = arguments[0].tensor(), &out = arguments[4].tensor();
    if (const int code = check_dtype(op, from)) {
        return code;
    }
    return out.dtype == ACL_BOOL ? check_shape(op, out, from.shape)
                                 : refuse(op, "a result of %s", dtype_name(out.dtype));
}
void run_is_in(Arguments& arguments) {
    const Tensor &from = arguments[0].tensor(), &out = arguments[4].tensor();
    const aclDataType dtype = promote_scalar(from.dtype, arguments[1].scalar().dtype);
    by_kind(dtype, [&](auto kind) {
        using T = decltype(kind);
        const T wanted = scalar_value<T>(arguments[1].scalar(), dtype);
        std::vector<Int> results;
        for (const T& each : load<T>(from, dtype)) {
            results.push_back((each == wanted) != arguments[3].flag());
        }
        store(out, results, ACL_BOOL);
    });
}

}  // namespace

ENTRY3(aclnnMaskedSelect, In, In, Out)
BEHAVES(aclnnMaskedSelect, "f32 f16 f64 i8 i16 i32 i64 u8 b", "", check_select, run_select)
ENTRY3(aclnnInplaceMaskedFillScalar, Out, In, Number)
BEHAVES(aclnnInplaceMaskedFillScalar, "f32 f16 bf16 i8 i32 i64 b", "", check_masked_fill,
        run_masked_fill)
ENTRY5(aclnnIsInTensorScalar, In, Number, bool, bool, Out)
BEHAVES(aclnnIsInTensorScalar, "f32 f16 bf16 f64 i8 i16 i32 i64 u8", "", check_is_in, run_is_in)

}  // namespace cann_double
