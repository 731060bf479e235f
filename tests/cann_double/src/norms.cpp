// Norms of libopapi_nn.so.
#include <cmath>

#include "reduce.h"

namespace cann_double {
namespace {

// Input, order, axes, keep, dtype, output.
constexpr Places kNorm{2, 3, 4, 5};
Real norm(const std::vector<Real>& x, Real order) {
    Real sum = 0, most = 0, least = HUGE_VAL;
    for (const Real each : x) {
        sum += order == 0 ? Real(each != 0) : std::pow(std::abs(each), order);
        most = std::fmax(most, std::abs(each));
        least = std::fmin(least, std::abs(each));
    }
    return order == HUGE_VAL    ? most
           : order == -HUGE_VAL ? least
           : order == 0         ? sum
                                : std::pow(sum, 1 / order);
}
void run_norm(Arguments& arguments) {
    const Real order = scalar_value<Real>(arguments[1].scalar(), ACL_DOUBLE);
    const aclDataType dtype = arguments[4].dtype();
    reduce(arguments, kNorm, dtype, dtype,
           [&](const std::vector<Real>& x) { return norm(x, order); });
}

}  // namespace

ENTRY6(aclnnLinalgVectorNorm, In, Number, Ints, bool, aclDataType, Out)
BEHAVES(aclnnLinalgVectorNorm, "f32 f16 bf16", "", check_reduction(kNorm, Result::kComputed, false),
        run_norm)

}  // namespace cann_double
