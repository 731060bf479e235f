// What reductions along axes share.
#pragma once
#include "shapes.h"

namespace cann_double {

template <class T>
constexpr bool is_ordered = !std::is_same_v<T, Complex>;

// Which axes go away; none named means all.
inline std::vector<bool> reduced_axes(const Shape& shape, const std::vector<int64_t>& axes) {
    std::vector<bool> reduced(shape.size(), axes.empty());
    for (const int64_t axis : axes) {
        if (!shape.empty()) {
            reduced[static_cast<size_t>(wrap_axis(axis, shape.size()))] = true;
        }
    }
    return reduced;
}

inline Shape reduced_shape(const Shape& shape, const std::vector<int64_t>& axes, bool keep) {
    const std::vector<bool> reduced = reduced_axes(shape, axes);
    Shape result;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
        if (!reduced[axis]) {
            result.push_back(shape[axis]);
        } else if (keep) {
            result.push_back(1);
        }
    }
    return result;
}

// A tensor with the kept axes first; the elements of each group lie together.
template <class T>
std::vector<std::vector<T>> groups(const Tensor& tensor, const std::vector<int64_t>& axes,
                                   aclDataType as) {
    const std::vector<bool> reduced = reduced_axes(tensor.shape, axes);
    Tensor ordered = tensor;
    ordered.shape.clear();
    ordered.strides.clear();
    int64_t number = 1, length = 1;
    for (const bool want_reduced : {false, true}) {
        for (size_t axis = 0; axis < tensor.rank(); ++axis) {
            if (reduced[axis] == want_reduced) {
                ordered.shape.push_back(tensor.shape[axis]);
                ordered.strides.push_back(tensor.strides[axis]);
                (want_reduced ? length : number) *= tensor.shape[axis];
            }
        }
    }
    const std::vector<T> all = load<T>(ordered, as);
    std::vector<std::vector<T>> result;
    for (int64_t group = 0; group < number; ++group) {
        result.emplace_back(all.begin() + group * length, all.begin() + (group + 1) * length);
    }
    return result;
}

inline int check_axes(const Operation& op, const Tensor& tensor, const std::vector<int64_t>& axes) {
    std::vector<bool> seen(std::max<size_t>(tensor.rank(), 1));
    for (const int64_t axis : axes) {
        if (!is_axis(axis, tensor.rank()) ||
            seen[static_cast<size_t>(wrap_axis(axis, tensor.rank()))]) {
            return refuse(op, "axis %ld of rank %zu, or twice", axis, tensor.rank());
        }
        seen[static_cast<size_t>(wrap_axis(axis, tensor.rank()))] = true;
    }
    return kOk;
}

// Where the parameters of a reduction stand: input, axes, keep, the dtype asked for or -1, output.
struct Places {
    size_t axes, keep;
    int dtype;
    size_t out;
};
constexpr Places kWithDtype{1, 2, 3, 4};
constexpr Places kWithoutDtype{1, 2, -1, 3};

inline std::vector<int64_t> axes_of(const Argument& argument) {
    const auto* one = std::get_if<int64_t>(&argument.value);
    return one != nullptr ? std::vector<int64_t>{*one} : argument.ints();
}

inline aclDataType computed_in(Arguments& arguments, const Places& places) {
    return places.dtype < 0 ? arguments[0].tensor().dtype
                            : arguments[static_cast<size_t>(places.dtype)].dtype();
}

enum class Result { kComputed, kBool, kIndex };

inline auto check_reduction(Places places, Result result, bool needs_elements) {
    return [=](const Operation& op, Arguments& arguments) {
        const Tensor& from = arguments[0].tensor();
        const Tensor& out = arguments[places.out].tensor();
        const std::vector<int64_t> axes = axes_of(arguments[places.axes]);
        if (const int code = check_dtype(op, from)) {
            return code;
        }
        if (const int code = check_axes(op, from, axes)) {
            return code;
        }
        const aclDataType computed = computed_in(arguments, places);
        if (aclDataTypeSize(computed) == 0 || !listed(computed, op.dtypes)) {
            return refuse(op, "computation in dtype %d", computed);
        }
        const bool index = out.dtype == ACL_INT32 || out.dtype == ACL_INT64;
        if (result == Result::kIndex
                ? !index
                : !can_cast(result == Result::kBool ? ACL_BOOL : computed, out.dtype)) {
            return refuse(op, "a result of %s", dtype_name(out.dtype));
        }
        if (needs_elements && from.elements() == 0) {
            return refuse(op, "no elements");
        }
        return check_shape(op, out, reduced_shape(from.shape, axes, arguments[places.keep].flag()));
    };
}

// out[group] = f(elements of the group), for f that is defined for the kind.
template <class F>
void reduce(Arguments& arguments, const Places& places, aclDataType computed, aclDataType result,
            F f) {
    by_kind(computed, [&](auto kind) {
        using T = decltype(kind);
        if constexpr (std::is_invocable_v<F, const std::vector<T>&>) {
            using R = std::invoke_result_t<F, const std::vector<T>&>;
            std::vector<R> results;
            for (const auto& group :
                 groups<T>(arguments[0].tensor(), axes_of(arguments[places.axes]), computed)) {
                results.push_back(f(group));
            }
            store(arguments[places.out].tensor(), results, result);
        } else {
            violate(0, "internal", "no arithmetic for %s", dtype_name(computed));
        }
    });
}

}  // namespace cann_double
