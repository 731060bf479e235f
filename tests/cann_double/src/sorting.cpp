// Sorting and searching; operations of libopapi_math.so.
#include "shapes.h"

namespace cann_double {
namespace {

// NaN after everything else.
template <class T>
bool before(T a, T b) {
    return a < b || (a == a && b != b);
}

// The order of elements along the axis. Without `stable` equals come in the opposite order.
template <class T>
std::vector<size_t> order_of(const std::vector<T>& x, bool descending, bool stable) {
    std::vector<size_t> order(x.size());
    for (size_t i = 0; i < order.size(); ++i) {
        order[i] = stable ? i : order.size() - 1 - i;
    }
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return descending ? before(x[b], x[a]) : before(x[a], x[b]);
    });
    return order;
}

// The tensor with the axis last.
Tensor with_last(Tensor tensor, int64_t axis) {
    if (tensor.rank() != 0) {
        std::rotate(tensor.shape.begin() + axis, tensor.shape.begin() + axis + 1,
                    tensor.shape.end());
        std::rotate(tensor.strides.begin() + axis, tensor.strides.begin() + axis + 1,
                    tensor.strides.end());
    }
    return tensor;
}

int check_sorted(const Operation& op, const Tensor& from, int64_t axis, const Tensor& indices) {
    if (const int code = check_dtype(op, from)) {
        return code;
    }
    if (!is_axis(axis, from.rank()) || indices.dtype != ACL_INT64) {
        return refuse(op, "axis %ld, indices of %s", axis, dtype_name(indices.dtype));
    }
    const int64_t length =
        from.rank() == 0 ? 1 : from.shape[static_cast<size_t>(wrap_axis(axis, from.rank()))];
    if (from.dtype == ACL_BF16 && length == 1) {
        return refuse(op, "bfloat16 along an axis of length 1");
    }
    return check_shape(op, indices, from.shape);
}

void sort(const Tensor& from, int64_t axis, bool stable, bool descending, const Tensor* values,
          const Tensor& indices) {
    axis = wrap_axis(axis, from.rank());
    const Tensor source = with_last(from, axis);
    const size_t length = from.rank() == 0 ? 1 : static_cast<size_t>(source.shape.back());
    by_kind(from.dtype, [&](auto kind) {
        using T = decltype(kind);
        if constexpr (!std::is_same_v<T, Complex>) {
            const std::vector<T> all = load<T>(source);
            std::vector<T> sorted;
            std::vector<Int> places;
            for (size_t begin = 0; begin < all.size(); begin += length) {
                const std::vector<T> line(
                    all.begin() + static_cast<std::ptrdiff_t>(begin),
                    all.begin() + static_cast<std::ptrdiff_t>(begin + length));
                for (const size_t at : order_of(line, descending, stable)) {
                    sorted.push_back(line[at]);
                    places.push_back(static_cast<Int>(at));
                }
            }
            if (values != nullptr) {
                store(with_last(*values, axis), sorted, from.dtype);
            }
            store(with_last(indices, axis), places, ACL_INT64);
        }
    });
}

int check_search(const Operation& op, Arguments& arguments) {
    const Tensor &sorted = arguments[0].tensor(), &values = arguments[1].tensor();
    const Tensor& out = arguments[5].tensor();
    for (const Tensor* each : {&sorted, &values}) {
        if (const int code = check_dtype(op, *each)) {
            return code;
        }
    }
    if (arguments[4].given() && arguments[4].tensor().dtype != ACL_INT64) {
        return refuse(op, "a sorter of %s", dtype_name(arguments[4].tensor().dtype));
    }
    const aclDataType wanted = arguments[2].flag() ? ACL_INT32 : ACL_INT64;
    if (sorted.dtype != values.dtype || sorted.rank() != 1 || out.dtype != wanted) {
        return refuse(op, "a sequence of rank %zu, a result of %s", sorted.rank(),
                      dtype_name(out.dtype));
    }
    return check_shape(op, out, values.shape);
}
void run_search(Arguments& arguments) {
    const Tensor &sorted = arguments[0].tensor(), &values = arguments[1].tensor();
    const bool right = arguments[3].flag();
    by_kind(values.dtype, [&](auto kind) {
        using T = decltype(kind);
        if constexpr (!std::is_same_v<T, Complex>) {
            std::vector<T> sequence = load<T>(sorted);
            if (arguments[4].given()) {
                const std::vector<T> unsorted = sequence;
                const std::vector<Int> order = load<Int>(arguments[4].tensor());
                for (size_t i = 0; i < order.size(); ++i) {
                    sequence[i] = unsorted[static_cast<size_t>(order[i])];
                }
            }
            std::vector<Int> found;
            for (const T& value : load<T>(values)) {
                const auto at =
                    right ? std::upper_bound(sequence.begin(), sequence.end(), value, before<T>)
                          : std::lower_bound(sequence.begin(), sequence.end(), value, before<T>);
                found.push_back(at - sequence.begin());
            }
            store(arguments[5].tensor(), found, ACL_INT64);
        }
    });
}

}  // namespace

#define SORTED "f32 f16 bf16 i8 i16 i32 i64 u8"
ENTRY6(aclnnSort, In, bool, int64_t, bool, Out, Out)
BEHAVES(
    aclnnSort, SORTED " b", "",
    [](const Operation& op, Arguments& arguments) {
        const Tensor& from = arguments[0].tensor();
        const int code = check_sorted(op, from, arguments[2].integer(), arguments[5].tensor());
        return code != kOk ? code : check_moved(op, from, arguments[4].tensor(), from.shape);
    },
    [](Arguments& arguments) {
        sort(arguments[0].tensor(), arguments[2].integer(), arguments[1].flag(),
             arguments[3].flag(), &arguments[4].tensor(), arguments[5].tensor());
    })
ENTRY4(aclnnArgsort, In, int64_t, bool, Out)
BEHAVES(
    aclnnArgsort, SORTED, "",
    [](const Operation& op, Arguments& arguments) {
        return check_sorted(op, arguments[0].tensor(), arguments[1].integer(),
                            arguments[3].tensor());
    },
    [](Arguments& arguments) {
        sort(arguments[0].tensor(), arguments[1].integer(), false, arguments[2].flag(), nullptr,
             arguments[3].tensor());
    })
ENTRY6(aclnnSearchSorted, In, In, bool, bool, In, Out)
BEHAVES(aclnnSearchSorted, "f32 f16 f64 i8 i16 i32 i64 u8", "4", check_search, run_search)

}  // namespace cann_double
