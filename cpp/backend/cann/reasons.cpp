#include "backend/cann/reasons.h"

namespace asc::cann {
namespace {

constexpr const char* kNoKernel =
    "CANN has no kernel for the dtype, or not one that is exact enough";
constexpr const char* kNone = "CANN has no such operation";

}  // namespace

std::string reason(Op op) {
    switch (op) {
        case Op::CopySign:
        case Op::Hypot:
        case Op::NextAfter:
            return kNone;
        case Op::FloorDivide:
        case Op::Remainder:
            return "CANN differs from the standard where the divisor is zero or signs differ";
        case Op::BitwiseLeftShift:
        case Op::BitwiseRightShift:
            return "CANN leaves shifts by the width of the dtype and more open";
        case Op::Pow:
            return "CANN's pow of this dtype goes by floating-point numbers";
        default:
            return kNoKernel;
    }
}

std::string reason(Function function) {
    switch (info(function).kernels) {
        case Kernels::Truth:  // nonzero
        case Kernels::Distinct:
            return "the size of the result depends on the values";
        case Kernels::Sort:
        case Kernels::ArgSort:
            return "CANN sorts only narrower numbers; NaN goes to the host in any case";
        case Kernels::Search:
            return "CANN searches on its slow AI CPU, and does not say where NaN goes";
        case Kernels::Member:
            return "CANN looks for single numbers only";
        case Kernels::Gemm:
            return "CANN multiplies float32, float16 and bfloat16 only";
        case Kernels::Lapack:
            return "CANN has no eigenvalues and no general solver; its other decompositions run on "
                   "its slow AI CPU and do not report singular matrices";
        case Kernels::Fourier:
            return "CANN has no Fourier transforms";
        default:
            return kNoKernel;
    }
}

}  // namespace asc::cann
