#include "backend/cann/functions.h"

#include <algorithm>
#include <cmath>

#include "backend/backend.h"

namespace asc::cann {
namespace {

using enum DType;

// How matrix units compute products (cubeMathType): with operands as they are, or with float32
// rounded to the narrower type that the chip has for it.
constexpr int8_t kKeep = 0, kAllowNarrower = 1;

constexpr uint32_t of(std::initializer_list<DType> dtypes) {
    uint32_t set = 0;
    for (DType d : dtypes) set |= bit(d);
    return set;
}
// What CANN takes, by what it computes. Elements are converted first: the narrow floats are added
// as float32, other integers as int64.
constexpr uint32_t kSums = of({Float32, Float64, Int64, UInt64, Complex64, Complex128});
constexpr uint32_t kProducts = of({Float32, Float64, Int64, UInt64});
constexpr uint32_t kMeans = of({Float32, Float64});
constexpr uint32_t kVariances = of({Float32});
constexpr uint32_t kExtremes = of({Bool, Float32, Float64, Int8, Int16, Int32, Int64, UInt8});
constexpr uint32_t kMatrices = of({Float32, Float16, BFloat16});

uint32_t dtypes_of(Reduction op) {
    switch (op) {
        case Reduction::Sum:
            return kSums;
        case Reduction::Prod:
            return kProducts;
        case Reduction::Mean:
            return kMeans;
        case Reduction::Var:
        case Reduction::Std:
            return kVariances;
        case Reduction::Min:
        case Reduction::Max:
            return kExtremes;
        default:
            return of({Bool});  // they ask for truth
    }
}

// Sums and products have the same bits for both.
DType signless(DType dtype) { return dtype == UInt64 ? Int64 : dtype; }
View signless(const View& x) { return x.as(signless(x.dtype)); }

// The dtype in which elements are added: narrow floats as float32.
DType widened(DType dtype) { return is_narrow_float(dtype) ? Float32 : dtype; }

std::optional<View> read_as(Npu& npu, const Array& x, DType dtype) {
    const std::optional<View> elements = npu.read(x);
    if (!elements) return std::nullopt;
    // Stride 0 is not an axis of one element here: it counts.
    return npu.cast(*elements, dtype);
}

bool sum(Npu& npu, const View& x, const Dims& axes, const View& out) {
    const DType dtype = signless(x.dtype);
    return npu.call(acl().aclnnReduceSum, signless(x), axes, false, acl_type(dtype), signless(out));
}

// One axis in each call, the last first, so that the others keep their numbers.
bool prod(Npu& npu, View x, Dims axes, const View& out) {
    const DType dtype = signless(x.dtype);
    std::sort(axes.begin(), axes.end());
    for (int i = axes.size() - 1; i >= 0; --i) {
        Dims shape = x.shape;
        shape.erase(static_cast<int>(axes[i]));
        const View to = i == 0 ? out : npu.temporary(x.dtype, shape);
        if (!npu.call(acl().aclnnProdDim, signless(x), axes[i], false, acl_type(dtype),
                      signless(to)))
            return false;
        x = to;
    }
    return true;
}

bool variance(Npu& npu, const ReduceSpec& spec, const View& x, const Dims& axes, const View& out) {
    int64_t n = 1;
    for (const int64_t axis : axes) n *= x.shape[static_cast<int>(axis)];
    const auto correction = static_cast<int64_t>(spec.correction);
    const bool plain =
        static_cast<double>(correction) == spec.correction && correction >= 0 && correction < n;
    if (!plain) return false;
    if (spec.op == Reduction::Var)
        return npu.call(acl().aclnnVarCorrection, x, axes, correction, false, out);
    const View squares = npu.temporary(out.dtype, out.shape);
    return npu.call(acl().aclnnVarCorrection, x, axes, correction, false, squares) &&
           npu.call(acl().aclnnSqrt, squares, out);
}

bool truth(Npu& npu, Reduction op, const View& x, const Dims& axes, const View& out) {
    if (op == Reduction::Any || op == Reduction::Max)
        return npu.call(acl().aclnnAny, x, axes, false, out);
    if (op == Reduction::All || op == Reduction::Min)
        return npu.call(acl().aclnnAll, x, axes, false, out);
    const std::optional<View> ones = npu.cast(x, Int64);
    return ones && sum(npu, *ones, axes, out);
}

bool run(Npu& npu, const ReduceSpec& spec, const View& x, const Dims& axes, const View& out) {
    switch (spec.op) {
        case Reduction::Sum:
            return sum(npu, x, axes, out);
        case Reduction::Prod:
            return prod(npu, x, axes, out);
        case Reduction::Mean:
            return npu.call(acl().aclnnMean, x, axes, false, acl_type(x.dtype), out);
        case Reduction::Var:
        case Reduction::Std:
            return variance(npu, spec, x, axes, out);
        case Reduction::Min:
            return npu.call(acl().aclnnAmin, x, axes, false, out);
        case Reduction::Max:
            return npu.call(acl().aclnnAmax, x, axes, false, out);
        default:
            return false;
    }
}

// A matrix whose own axes have no stride 0, which CANN would not read as what it is.
std::optional<View> matrices(Npu& npu, const Array& x) {
    std::optional<View> view = npu.read(x);
    if (!view || view->ndim() < 2) return std::nullopt;
    const int last = view->ndim() - 1;
    if ((view->strides[last] == 0 && view->shape[last] > 1) ||
        (view->strides[last - 1] == 0 && view->shape[last - 1] > 1))
        return npu.contiguous(*view);
    for (int i = 0; i < last - 1; ++i)
        if (view->strides[i] == 0) view->shape[i] = 1;
    return view;
}

}  // namespace

bool supports(Function function, DType compute) {
    switch (info(function).kernels) {
        case Kernels::Truth:
            return function != Function::Nonzero;
        case Kernels::Sum:
            return kSums & bit(compute);
        case Kernels::Prod:
            return kProducts & bit(compute);
        case Kernels::Mean:
            return kMeans & bit(compute);
        case Kernels::Variance:
            return kVariances & bit(compute);
        case Kernels::Min:
        case Kernels::Max:
            return kExtremes & bit(compute);
        case Kernels::Scan:
            return (function == Function::CumulativeProd ? kProducts : kSums) & bit(compute);
        case Kernels::Gemm:
            return kMatrices & bit(compute);
        default:
            return false;
    }
}

bool reduce(Npu& npu, const ReduceSpec& spec, const Array& x, const Dims& axes, const Array& out) {
    // No axes means all of them to CANN.
    if (x.size() == 0 || axes.empty() || x.ndim() > kMostDims) return false;
    const bool asks_truth = spec.op == Reduction::Any || spec.op == Reduction::All ||
                            spec.op == Reduction::Count || is_bool(spec.element);
    const DType compute = asks_truth ? Bool : widened(spec.element);
    if (!(dtypes_of(spec.op) & bit(compute))) return false;
    const std::optional<View> elements = read_as(npu, x, compute);
    if (!elements) return false;
    const DType made = asks_truth ? (spec.op == Reduction::Count ? Int64 : Bool) : compute;
    return npu.write(out, made, [&](const View& to) {
        return asks_truth ? truth(npu, spec.op, *elements, axes, to)
                          : run(npu, spec, *elements, axes, to);
    });
}

bool scan(Npu& npu, const ScanSpec& spec, const Array& x, int axis, const Array& out) {
    if (x.size() == 0 || x.ndim() > kMostDims) return false;
    const DType compute = widened(spec.dtype), dtype = signless(compute);
    if (!((spec.product ? kProducts : kSums) & bit(compute))) return false;
    const std::optional<View> elements = read_as(npu, x, compute);
    if (!elements) return false;
    return npu.write(out, compute, [&](const View& whole) {
        View to = signless(whole);
        if (spec.initial) {
            View first = to;
            first.shape[axis] = 1;
            const int64_t neutral = spec.product;
            const View start = npu.constant(Int64, &neutral);
            if (!npu.assign(first, start)) return false;
            to.offset += to.strides[axis];
            --to.shape[axis];
        }
        const View from = signless(*elements);
        if (spec.product) {
            const auto along = static_cast<int64_t>(axis);
            return npu.call(acl().aclnnCumprod, from, Number(Int64, &along), acl_type(dtype), to);
        }
        return npu.call(acl().aclnnCumsum, from, static_cast<int64_t>(axis), acl_type(dtype), to);
    });
}

bool multiply(Npu& npu, const Array& a, const Array& b, const Array& out, Precision precision) {
    // No matrix unit computes in float64.
    if (precision == Precision::High) return false;
    if (!(kMatrices & bit(a.dtype)) || a.size() == 0 || b.size() == 0 || out.ndim() > kMostDims)
        return false;
    const std::optional<View> left = matrices(npu, a), right = matrices(npu, b);
    return left && right && npu.write(out, a.dtype, [&](const View& to) {
        return npu.call(acl().aclnnMatmul, *left, *right, to,
                        precision == Precision::Mixed ? kAllowNarrower : kKeep);
    });
}

}  // namespace asc::cann
