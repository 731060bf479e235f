#include "graph/functions.h"

#include "backend/backend.h"
#include "backend/cpu/isa.h"
#include "backend/cpu/reduce.h"
#include "core/promotion.h"
#include "graph/dispatch.h"

namespace asc {
namespace {

bool accepts(Function f, DType dtype, bool strict) {
    return accepts(info(f).accepted, dtype) || (!strict && accepts(info(f).relaxed, dtype));
}

// The reduction that a function's kernels are for.
std::optional<Reduction> reduction(Kernels kernels) {
    switch (kernels) {
        case Kernels::Sum:
            return Reduction::Sum;
        case Kernels::Prod:
            return Reduction::Prod;
        case Kernels::Mean:
            return Reduction::Mean;
        case Kernels::Variance:
            return Reduction::Var;
        case Kernels::Min:
            return Reduction::Min;
        case Kernels::Max:
            return Reduction::Max;
        default:
            return std::nullopt;
    }
}

// The dtype of elements where every dtype is there.
DType element_dtype(Function f, DType dtype) {
    switch (info(f).kernels) {
        // Integers become the widest of their kind.
        case Kernels::Sum:
        case Kernels::Prod:
        case Kernels::Scan:
            if (kind(dtype) == Kind::Unsigned) return DType::UInt64;
            return is_float(dtype) ? dtype : kDefaultInt;
        case Kernels::Mean:
        case Kernels::Variance:
        case Kernels::Lapack:
            return is_float(dtype) ? dtype : kDefaultFloat;
        case Kernels::Fourier:
            return is_narrow_float(dtype) ? DType::Float32
                   : is_float(dtype)      ? dtype
                                          : kDefaultFloat;
        case Kernels::Gemm:  // sums of bools cannot wrap
            return is_bool(dtype) ? kDefaultInt : dtype;
        default:
            return dtype;
    }
}

// The dtype that the kernels of a function read.
DType compute_dtype(Function f, DType dtype) {
    const Kernels kernels = info(f).kernels;
    const DType element = element_dtype(f, dtype);
    if (kernels == Kernels::Scan) return cpu::element_dtypes({.dtype = element}).compute;
    const std::optional<Reduction> op = reduction(kernels);
    // The least and the largest bool are questions of truth.
    if (!op || is_bool(element)) return element;
    return cpu::element_dtypes({*op, element, element}, dtype).compute;
}

}  // namespace

std::optional<Function> find_function(std::string_view name) {
    for (int i = 0; i < kNumFunctions; ++i) {
        if (name == kFunctionInfo[i].name()) return static_cast<Function>(i);
    }
    return std::nullopt;
}

void require(Function f, DType dtype, bool strict) {
    if (accepts(f, dtype, strict)) return;
    const bool relaxable = accepts(info(f).relaxed, dtype);
    refuse_dtype(info(f).name(), info(f).accepted, dtype, relaxable);
}

DType element_dtype(Function f, DType dtype, DeviceId device) {
    return available(element_dtype(f, dtype), device);
}

Route route(Function f, DType dtype, bool strict) {
    Route r{info(f).qualified, dtype, std::nullopt};
    if (accepts(f, dtype, strict)) r.compute = compute_dtype(f, dtype);
    return r;
}

Route route(Op op, DType dtype, bool strict) {
    Route r{info(op).name, dtype, std::nullopt};
    if (auto p = plan(op, dtype, strict)) r.compute = p->compute;
    return r;
}

}  // namespace asc
