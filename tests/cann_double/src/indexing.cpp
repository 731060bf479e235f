// Elements by index and rearranged, places of elements; operations of libopapi_nn.so.
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

// The indices that a list of integer tensors and masks gives for the first axes, broadcast.
struct Indices {
    std::vector<std::vector<int64_t>> columns;  // one for each axis
    Shape shape;
};

// Coordinates of true elements, one column for each axis.
std::vector<std::vector<int64_t>> true_places(const Tensor& mask) {
    std::vector<std::vector<int64_t>> columns(mask.rank());
    each_index(mask.shape, [&](const Shape& index) {
        if (read_as<Int>(place(mask, index), mask.dtype, ACL_BOOL) != 0) {
            for (size_t axis = 0; axis < index.size(); ++axis) {
                columns[axis].push_back(index[axis]);
            }
        }
    });
    return columns;
}

Indices indices_of(std::vector<TensorArgument>& list) {
    Indices indices;
    for (const TensorArgument& each : list) {
        Shape wider;
        const Shape own = each.tensor.dtype == ACL_BOOL
                              ? Shape{static_cast<int64_t>(true_places(each.tensor)[0].size())}
                              : each.tensor.shape;
        if (!broadcast(indices.shape, own, wider)) {
            violate(0, "bad-index", "the indices do not broadcast");
        }
        indices.shape = wider;
    }
    for (const TensorArgument& each : list) {
        if (each.tensor.dtype == ACL_BOOL) {
            for (std::vector<int64_t>& column : true_places(each.tensor)) {
                column.resize(static_cast<size_t>(product(indices.shape)),
                              column.empty() ? 0 : column.back());
                indices.columns.push_back(std::move(column));
            }
            continue;
        }
        std::vector<int64_t>& column = indices.columns.emplace_back();
        Walk walk(each.tensor, indices.shape);
        for (int64_t left = product(indices.shape); left > 0; --left) {
            column.push_back(
                static_cast<int64_t>(read_as<Int>(walk.place(), each.tensor.dtype, ACL_INT64)));
            walk.next();
        }
    }
    return indices;
}

// The shapes that are known before masks are counted.
int check_indices(const Operation& op, const Tensor& from, std::vector<TensorArgument>& list,
                  Shape& shape, bool& known) {
    size_t axes = 0;
    shape.clear();
    known = true;
    for (const TensorArgument& each : list) {
        const bool mask = each.tensor.dtype == ACL_BOOL;
        if (mask ? each.tensor.rank() == 0 : !is_index(each.tensor)) {
            return refuse(op, "an index of %s", dtype_name(each.tensor.dtype));
        }
        axes += mask ? each.tensor.rank() : 1;
        known = known && !mask;
        Shape wider;
        if (!mask && !broadcast(shape, each.tensor.shape, wider)) {
            return refuse(op, "the indices do not broadcast");
        }
        shape = mask ? shape : wider;
    }
    if (list.empty() || axes > from.rank()) {
        return refuse(op, "indices of %zu axes, rank %zu", axes, from.rank());
    }
    shape.insert(shape.end(), from.shape.begin() + static_cast<std::ptrdiff_t>(axes),
                 from.shape.end());
    return check_dtype(op, from);
}

// Calls f(index into the indexed tensor, index into the result).
template <class F>
void each_indexed(const Tensor& tensor, const Indices& indices, F f) {
    const size_t axes = indices.columns.size();
    const Shape rest(tensor.shape.begin() + static_cast<std::ptrdiff_t>(axes), tensor.shape.end());
    size_t number = 0;
    each_index(indices.shape, [&](const Shape& outer) {
        Shape at(axes);
        for (size_t axis = 0; axis < axes; ++axis) {
            const int64_t value = indices.columns[axis][number];
            const int64_t extent = tensor.shape[axis];
            at[axis] = checked(value < 0 ? value + extent : value, extent);
        }
        ++number;
        each_index(rest, [&](const Shape& inner) {
            Shape source = at, target = outer;
            source.insert(source.end(), inner.begin(), inner.end());
            target.insert(target.end(), inner.begin(), inner.end());
            f(source, target);
        });
    });
}

int check_index(const Operation& op, Arguments& arguments) {
    const Tensor &from = arguments[0].tensor(), &out = arguments[2].tensor();
    Shape shape;
    bool known = false;
    if (const int code = check_indices(op, from, arguments[1].list(), shape, known)) {
        return code;
    }
    if (out.dtype != from.dtype) {
        return refuse(op, "%s into %s", dtype_name(from.dtype), dtype_name(out.dtype));
    }
    return known ? check_shape(op, out, shape) : kOk;
}
void run_index(Arguments& arguments) {
    const Tensor &from = arguments[0].tensor(), &out = arguments[2].tensor();
    const Indices indices = indices_of(arguments[1].list());
    Shape shape = indices.shape;
    shape.insert(shape.end(),
                 from.shape.begin() + static_cast<std::ptrdiff_t>(indices.columns.size()),
                 from.shape.end());
    if (shape != out.shape) {
        violate(0, "out-of-bounds", "the result is %s, not %s", to_string(shape).c_str(),
                to_string(out.shape).c_str());
        return;
    }
    each_indexed(from, indices, [&](const Shape& source, const Shape& target) {
        std::memcpy(place(out, target), place(from, source), aclDataTypeSize(out.dtype));
    });
}

int check_put(const Operation& op, Arguments& arguments) {
    const Tensor &to = arguments[0].tensor(), &values = arguments[2].tensor();
    Shape shape, all;
    bool known = false;
    if (const int code = check_indices(op, to, arguments[1].list(), shape, known)) {
        return code;
    }
    if (values.dtype != to.dtype) {
        return refuse(op, "values of %s", dtype_name(values.dtype));
    }
    return !known || (broadcast(values.shape, shape, all) && all == shape)
               ? kOk
               : refuse(op, "values of %s", to_string(values.shape).c_str());
}
// Which of several values for one place stays is not defined: it depends on the seed.
void run_put(Arguments& arguments) {
    const Tensor &to = arguments[0].tensor(), &values = arguments[2].tensor();
    const Indices indices = indices_of(arguments[1].list());
    Shape shape = indices.shape;
    shape.insert(shape.end(),
                 to.shape.begin() + static_cast<std::ptrdiff_t>(indices.columns.size()),
                 to.shape.end());
    std::vector<std::pair<Shape, uint8_t*>> writes;
    Walk walk(values, shape);
    each_indexed(to, indices, [&](const Shape& target, const Shape&) {
        writes.emplace_back(target, walk.place());
        walk.next();
    });
    if (settings().seed % 2 != 0) {
        std::reverse(writes.begin(), writes.end());
    }
    by_kind(to.dtype, [&](auto kind) {
        using T = decltype(kind);
        for (const auto& [target, bytes] : writes) {
            T value = read_as<T>(bytes, to.dtype, to.dtype);
            if (arguments[3].flag()) {
                value = value + read_as<T>(place(to, target), to.dtype, to.dtype);
            }
            write_as(place(to, target), to.dtype, value, to.dtype);
        }
    });
}

int check_nonzero(const Operation& op, Arguments& arguments) {
    const Tensor &from = arguments[0].tensor(), &out = arguments[1].tensor();
    if (const int code = check_dtype(op, from)) {
        return code;
    }
    if (out.dtype != ACL_INT64) {
        return refuse(op, "a result of %s", dtype_name(out.dtype));
    }
    return check_shape(op, out, {from.elements(), static_cast<int64_t>(from.rank())});
}
void run_nonzero(Arguments& arguments) {
    const Tensor &from = arguments[0].tensor(), &out = arguments[1].tensor();
    int64_t found = 0;
    each_index(from.shape, [&](const Shape& index) {
        if (read_as<Int>(place(from, index), from.dtype, ACL_BOOL) != 0) {
            for (size_t axis = 0; axis < index.size(); ++axis) {
                write_as(place(out, {found, static_cast<int64_t>(axis)}), ACL_INT64,
                         Int{index[axis]}, ACL_INT64);
            }
            ++found;
        }
    });
    set_result_shape(arguments[1], {found, static_cast<int64_t>(from.rank())});
}

int check_unique(const Operation& op, Arguments& arguments) {
    const Tensor &from = arguments[0].tensor(), &out = arguments[4].tensor();
    if (const int code = check_dtype(op, from)) {
        return code;
    }
    for (const size_t position : {5, 6}) {
        if (arguments[position].tensor().dtype != ACL_INT64) {
            return refuse(op, "a result of %s", dtype_name(arguments[position].tensor().dtype));
        }
    }
    if (out.dtype != from.dtype) {
        return refuse(op, "a result of %s", dtype_name(out.dtype));
    }
    if (arguments[2].flag() && arguments[5].tensor().shape != from.shape) {
        return refuse(op, "the inverse is %s", to_string(arguments[5].tensor().shape).c_str());
    }
    return check_shape(op, out, {from.elements()});
}
// Equal elements become one; each NaN is alone. Not sorted: in the order of the last of them.
void run_unique(Arguments& arguments) {
    const Tensor& from = arguments[0].tensor();
    by_kind(from.dtype, [&](auto kind) {
        using T = decltype(kind);
        if constexpr (!std::is_same_v<T, Complex>) {
            const std::vector<T> all = load<T>(from);
            std::vector<T> values;
            for (const T& each : all) {
                if (std::find(values.begin(), values.end(), each) == values.end()) {
                    values.insert(values.begin(), each);
                }
            }
            if (arguments[1].flag()) {
                std::stable_sort(values.begin(), values.end(),
                                 [](T a, T b) { return a < b || (a == a && b != b); });
            }
            std::vector<Int> inverse, counts(values.size());
            std::vector<bool> taken(values.size());
            for (const T& each : all) {
                size_t at = 0;
                while (each == each ? values[at] != each : values[at] == values[at] || taken[at]) {
                    ++at;
                }
                taken[at] = true;
                inverse.push_back(static_cast<Int>(at));
                ++counts[at];
            }
            const Shape shape{static_cast<int64_t>(values.size())};
            const auto give = [&](size_t position, const auto& results, aclDataType dtype) {
                Tensor front = arguments[position].tensor();
                front.shape = shape;
                store(front, results, dtype);
                set_result_shape(arguments[position], shape);
            };
            give(4, values, from.dtype);
            if (arguments[2].flag()) {
                store(arguments[5].tensor(), inverse, ACL_INT64);
            }
            if (arguments[3].flag()) {
                give(6, counts, ACL_INT64);
            }
        }
    });
}

// Each element several times, of the flattened tensor or along an axis.
struct Interleave {
    int axis;  // the parameter's position, or -1
    size_t repeats, size, out;
};
auto check_interleave(Interleave where) {
    return [=](const Operation& op, Arguments& arguments) {
        const Tensor& from = arguments[0].tensor();
        const int64_t repeats = arguments[where.repeats].integer();
        Shape shape = where.axis < 0 ? Shape{from.elements()} : from.shape;
        const int64_t axis =
            where.axis < 0 ? 0 : arguments[static_cast<size_t>(where.axis)].integer();
        if (repeats < 0 || !is_axis(axis, shape.size()) || shape.empty()) {
            return refuse(op, "%ld repeats along axis %ld", repeats, axis);
        }
        int64_t& extent = shape[static_cast<size_t>(wrap_axis(axis, shape.size()))];
        extent *= repeats;
        if (arguments[where.size].integer() != extent) {
            return refuse(op, "outputSize %ld, not %ld", arguments[where.size].integer(), extent);
        }
        return check_moved(op, from, arguments[where.out].tensor(), shape);
    };
}
auto interleave(Interleave where) {
    return [=](Arguments& arguments) {
        const Tensor& from = arguments[0].tensor();
        const int64_t repeats = arguments[where.repeats].integer();
        move_elements(from, arguments[where.out].tensor(), [&](Shape index) {
            if (where.axis >= 0) {
                const int64_t axis = arguments[static_cast<size_t>(where.axis)].integer();
                index[static_cast<size_t>(wrap_axis(axis, from.rank()))] /= repeats;
                return index;
            }
            int64_t at = index[0] / repeats;
            Shape source(from.rank());
            for (size_t axis = from.rank(); axis-- > 0; at /= from.shape[axis]) {
                source[axis] = at % from.shape[axis];
            }
            return source;
        });
    };
}

int check_flip(const Operation& op, Arguments& arguments) {
    const Tensor& from = arguments[0].tensor();
    for (const int64_t axis : arguments[1].ints()) {
        if (!is_axis(axis, from.rank())) {
            return refuse(op, "no axis %ld", axis);
        }
    }
    return check_moved(op, from, arguments[2].tensor(), from.shape);
}
void run_flip(Arguments& arguments) {
    const Tensor& from = arguments[0].tensor();
    move_elements(from, arguments[2].tensor(), [&](Shape index) {
        for (const int64_t axis : arguments[1].ints()) {
            const auto at = static_cast<size_t>(wrap_axis(axis, from.rank()));
            index[at] = from.shape[at] - 1 - index[at];
        }
        return index;
    });
}

}  // namespace

ENTRY4(aclnnIndexSelect, In, int64_t, In, Out)
BEHAVES(aclnnIndexSelect, EVERY " c64 c128", "", check_select, run_select)
ENTRY4(aclnnGather, In, int64_t, In, Out)
BEHAVES(aclnnGather, EVERY, "", check_gather, run_gather)

ENTRY3(aclnnIndex, In, InList, Out)
BEHAVES(aclnnIndex, "f32 f16 bf16 i8 i32 i64 u8 b", "", check_index, run_index)
ENTRY5(aclnnIndexPutImpl, Out, InList, In, bool, bool)
BEHAVES(aclnnIndexPutImpl, "f32 f16 bf16 i8 i32 b", "", check_put, run_put)
ENTRY2(aclnnNonzero, In, Out)
BEHAVES(aclnnNonzero, "f32 f16 bf16 f64 i8 i16 i32 i64 u8 b", "", check_nonzero, run_nonzero)
ENTRY7(aclnnUnique2, In, bool, bool, bool, Out, Out, Out)
BEHAVES(aclnnUnique2, EVERY, "", check_unique, run_unique)
#define INTERLEAVED "f32 f16 bf16 i8 i16 i32 i64 u8 b"
constexpr Interleave kFlattened{-1, 1, 2, 3}, kAlongAxis{2, 1, 3, 4};
ENTRY4(aclnnRepeatInterleaveInt, In, int64_t, int64_t, Out)
BEHAVES(aclnnRepeatInterleaveInt, INTERLEAVED, "", check_interleave(kFlattened),
        interleave(kFlattened))
ENTRY5(aclnnRepeatInterleaveIntWithDim, In, int64_t, int64_t, int64_t, Out)
BEHAVES(aclnnRepeatInterleaveIntWithDim, INTERLEAVED, "", check_interleave(kAlongAxis),
        interleave(kAlongAxis))
ENTRY3(aclnnFlip, In, Ints, Out)
BEHAVES(aclnnFlip, "f32 f16 bf16 f64 i8 i16 i32 i64 u8 b c64 c128", "", check_flip, run_flip)

}  // namespace cann_double
