// Elements by index; operations of libopapi_nn.so.
#include "shapes.h"

namespace cann_double {
namespace {

#define EVERY "f32 f16 bf16 f64 i8 i16 i32 i64 u8 u16 u32 u64 b"

bool is_index(const Tensor& tensor) {
    return tensor.dtype == ACL_INT32 || tensor.dtype == ACL_INT64;
}

// An index beyond the axis is not defined: it is reported, and 0 taken.
int64_t checked(int64_t index, int64_t extent) {
    if (index < 0 || index >= extent) {
        violate(0, "bad-index", "index %ld of %ld", index, extent);
        return 0;
    }
    return index;
}

int check_select(const Operation& op, Arguments& arguments) {
    const Tensor& from = arguments[0].tensor();
    const Tensor& index = arguments[2].tensor();
    const int64_t axis = arguments[1].integer();
    if (!is_axis(axis, from.rank()) || !is_index(index) || index.rank() > 1) {
        return refuse(op, "axis %ld, index of %s and rank %zu", axis, dtype_name(index.dtype),
                      index.rank());
    }
    Shape shape = from.shape;
    if (!shape.empty()) {
        shape[static_cast<size_t>(wrap_axis(axis, from.rank()))] = index.elements();
    }
    return check_moved(op, from, arguments[3].tensor(), shape);
}
void run_select(Arguments& arguments) {
    const Tensor& from = arguments[0].tensor();
    const Tensor& list = arguments[2].tensor();
    const auto axis = static_cast<size_t>(wrap_axis(arguments[1].integer(), from.rank()));
    move_elements(from, arguments[3].tensor(), [&](Shape index) {
        if (!index.empty()) {
            const Shape at = list.rank() == 0 ? Shape{} : Shape{index[axis]};
            index[axis] = checked(integer_at(list, at), from.shape[axis]);
        }
        return index;
    });
}

int check_gather(const Operation& op, Arguments& arguments) {
    const Tensor& from = arguments[0].tensor();
    const Tensor& index = arguments[2].tensor();
    const int64_t axis = arguments[1].integer();
    if (!is_axis(axis, from.rank()) || !is_index(index) || index.rank() != from.rank()) {
        return refuse(op, "axis %ld, index of %s and rank %zu", axis, dtype_name(index.dtype),
                      index.rank());
    }
    for (size_t other = 0; other < from.rank(); ++other) {
        if (static_cast<int64_t>(other) != wrap_axis(axis, from.rank()) &&
            index.shape[other] > from.shape[other]) {
            return refuse(op, "the index is larger than the tensor");
        }
    }
    return check_moved(op, from, arguments[3].tensor(), index.shape);
}
void run_gather(Arguments& arguments) {
    const Tensor& from = arguments[0].tensor();
    const Tensor& list = arguments[2].tensor();
    const auto axis = static_cast<size_t>(wrap_axis(arguments[1].integer(), from.rank()));
    move_elements(from, arguments[3].tensor(), [&](Shape index) {
        const int64_t at = integer_at(list, index);
        if (!index.empty()) {
            index[axis] = checked(at, from.shape[axis]);
        }
        return index;
    });
}

}  // namespace

ENTRY4(aclnnIndexSelect, In, int64_t, In, Out)
BEHAVES(aclnnIndexSelect, EVERY " c64 c128", "", check_select, run_select)
ENTRY4(aclnnGather, In, int64_t, In, Out)
BEHAVES(aclnnGather, EVERY, "", check_gather, run_gather)

}  // namespace cann_double
