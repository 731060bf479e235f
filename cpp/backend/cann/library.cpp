#include "backend/cann/library.h"

#include <algorithm>
#include <string_view>

#include "core/view.h"

namespace asc::cann {
namespace {

using enum DType;

constexpr uint32_t of(std::initializer_list<DType> dtypes) {
    uint32_t set = 0;
    for (DType d : dtypes) set |= bit(d);
    return set;
}
constexpr uint32_t kSorted = of({Float32, Float16, BFloat16, Int8, Int16, Int32, Int64, UInt8});
constexpr uint32_t kExtremes =
    of({Float32, Float16, BFloat16, Float64, Int8, Int16, Int32, Int64, UInt8});

// Elements that are only moved, as integers of their size; bools are bytes.
View as_bytes(const View& x) { return x.as(signed_integer(x.dtype)); }
bool moves(DType dtype) { return dtype != Complex128; }

// ---- sorting

// CANN does not say where NaN goes, so that arrays with one are the host's. Waits.
std::optional<bool> has_nan(Npu& npu, const View& x) {
    if (!is_float(x.dtype)) return false;
    const View nan = npu.temporary(Bool, x.shape), any = npu.temporary(Bool, {});
    Dims axes;
    for (int i = 0; i < x.ndim(); ++i) axes.push_back(i);
    if (!npu.call(acl().aclnnNeTensor, x, x, nan) ||
        !npu.call(acl().aclnnAny, nan, axes, false, any))
        return std::nullopt;
    uint8_t found = 0;
    npu.fetch(any, &found);
    return found != 0;
}

// Integers: axis, descending. Every sort is stable.
bool sort(Npu& npu, const LibraryCall& call, bool wants_indices) {
    const Array& x = call.inputs[0];
    const int64_t axis = call.integers[0];
    const bool descending = call.integers[1] != 0;
    if (x.ndim() == 0 || !(kSorted & bit(x.dtype))) return false;
    // Of bfloat16 it does not take single elements.
    if (x.dtype == BFloat16 && x.shape[static_cast<int>(axis)] == 1) return false;
    const std::optional<View> elements = npu.read(x);
    if (!elements || has_nan(npu, *elements).value_or(true)) return false;
    const View other = npu.temporary(wants_indices ? x.dtype : Int64, x.shape);
    return npu.write(call.outputs[0], wants_indices ? Int64 : x.dtype, [&](const View& to) {
        return npu.call(acl().aclnnSort, *elements, true, axis, descending,
                        wants_indices ? other : to, wants_indices ? to : other);
    });
}

// ---- the place of an extreme

// 0, 1, ... along an axis.
bool count_along(Npu& npu, const View& to) {
    const int64_t start = 0, step = 1, end = to.size();
    return npu.call(acl().aclnnArange, Number(Int64, &start), Number(Int64, &end),
                    Number(Int64, &step), to);
}

// Integers: axis, largest. CANN's own does not say which of equals it takes: here, the least place
// of what equals the extreme, or of NaN.
bool arg_extreme(Npu& npu, const LibraryCall& call) {
    const Array& x = call.inputs[0];
    const Dims axes{call.integers[0]};
    const int axis = static_cast<int>(axes[0]);
    if (x.ndim() == 0 || !(kExtremes & bit(x.dtype))) return false;
    const std::optional<View> read = npu.read(x);
    const std::optional<View> elements =
        read ? npu.cast(*read, is_narrow_float(x.dtype) ? Float32 : x.dtype) : std::nullopt;
    if (!elements) return false;
    const int64_t extent = x.shape[axis];
    Dims kept = x.shape, along(x.ndim(), 1);
    along[axis] = extent;
    kept[axis] = 1;
    const View extreme = npu.temporary(elements->dtype, kept);
    const auto& find = call.integers[1] != 0 ? acl().aclnnAmax : acl().aclnnAmin;
    View found = npu.temporary(Bool, x.shape);
    if (!npu.call(find, *elements, axes, true, extreme) ||
        !npu.call(acl().aclnnEqTensor, *elements, extreme, found))
        return false;
    if (is_float(x.dtype)) {
        const View nan = npu.temporary(Bool, x.shape), either = npu.temporary(Bool, x.shape);
        if (!npu.call(acl().aclnnNeTensor, *elements, *elements, nan) ||
            !npu.call(acl().aclnnLogicalOr, found, nan, either))
            return false;
        found = either;
    }
    const View places = npu.temporary(Int64, {extent});
    const View candidates = npu.temporary(Int64, x.shape), least = npu.temporary(Int64, kept);
    return count_along(npu, places) &&
           npu.call(acl().aclnnSWhere, found, places.reshaped(along), npu.constant(Int64, &extent),
                    candidates) &&
           npu.call(acl().aclnnAmin, candidates, axes, true, least) &&
           npu.write(call.outputs[0], Int64,
                     [&](const View& to) { return npu.assign(to, least.reshaped(to.shape)); });
}

// ---- indexing

// Indices as int64 from 0 on. Waits, to look whether they are within the extent of the axis.
std::optional<View> indices(Npu& npu, const LibraryCall& call, int64_t extent) {
    const std::optional<View> read = npu.read(call.inputs[1]);
    const std::optional<View> wide = read ? npu.cast(*read, Int64) : std::nullopt;
    if (!wide) return std::nullopt;
    Dims axes;
    for (int i = 0; i < wide->ndim(); ++i) axes.push_back(i);
    const View bounds = npu.temporary(Int64, {2});
    if (!npu.call(acl().aclnnAmin, *wide, axes, false, bounds.select(0)) ||
        !npu.call(acl().aclnnAmax, *wide, axes, false, bounds.select(1)))
        return std::nullopt;
    int64_t ends[2];
    npu.fetch(bounds, ends);
    const auto [least, largest] = ends;
    if (least < -extent || largest >= extent) {
        raise(ErrorKind::Index, "%s: index %lld is out of bounds for axis %lld with extent %lld",
              call.function, static_cast<long long>(least < -extent ? least : largest),
              static_cast<long long>(call.integers[0]), static_cast<long long>(extent));
    }
    if (least >= 0) return wide;
    const int64_t zero = 0, one = 1;
    const View negative = npu.temporary(Bool, wide->shape);
    const View turned = npu.temporary(Int64, wide->shape), made = npu.temporary(Int64, wide->shape);
    if (!npu.call(acl().aclnnLtScalar, *wide, Number(Int64, &zero), negative) ||
        !npu.call(acl().aclnnAdds, *wide, Number(Int64, &extent), Number(Int64, &one), turned) ||
        !npu.call(acl().aclnnSWhere, negative, turned, *wide, made))
        return std::nullopt;
    return made;
}

// Integers: axis. With `along` the indices have the shape of the result, else they are a vector.
bool take(Npu& npu, const LibraryCall& call, bool along) {
    const Array& x = call.inputs[0];
    const int64_t axis = call.integers[0];
    if (!moves(x.dtype) || x.size() == 0) return false;
    const std::optional<View> places = indices(npu, call, x.shape[static_cast<int>(axis)]);
    const std::optional<View> read = npu.read(x);
    if (!places || !read) return false;
    const std::optional<View> elements = npu.contiguous(*read), at = npu.contiguous(*places);
    if (!elements || !at) return false;
    return npu.write(call.outputs[0], x.dtype, [&](const View& to) {
        const auto& op = along ? acl().aclnnGather : acl().aclnnIndexSelect;
        return npu.call(op, as_bytes(*elements), axis, *at, as_bytes(to));
    });
}

// Integers: the diagonal.
bool triangle(Npu& npu, const LibraryCall& call, bool lower) {
    const Array& x = call.inputs[0];
    if (!moves(x.dtype)) return false;
    const std::optional<View> elements = npu.read(x);
    return elements && npu.write(call.outputs[0], x.dtype, [&](const View& to) {
        const auto& op = lower ? acl().aclnnTril : acl().aclnnTriu;
        return npu.call(op, as_bytes(*elements), call.integers[0], as_bytes(to));
    });
}

}  // namespace

bool library(Npu& npu, const LibraryCall& call) {
    for (const Array& x : call.inputs)
        if (x.size() == 0 || x.ndim() > kMostDims) return false;
    if (call.outputs[0].size() == 0 || call.outputs[0].ndim() > kMostDims) return false;
    const std::string_view function = call.function;
    if (function == "sort" || function == "argsort") return sort(npu, call, function == "argsort");
    if (function == "argmax" || function == "argmin") return arg_extreme(npu, call);
    if (function == "take" || function == "take_along_axis")
        return take(npu, call, function == "take_along_axis");
    if (function == "tril" || function == "triu") return triangle(npu, call, function == "tril");
    return false;
}

bool has_library(Function function, DType compute) {
    switch (info(function).kernels) {
        case Kernels::Sort:
        case Kernels::ArgSort:
            return kSorted & bit(compute);
        case Kernels::ArgExtreme:
            return kExtremes & bit(compute);
        default:
            return false;
    }
}

}  // namespace asc::cann
