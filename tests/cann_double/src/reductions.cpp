// Reductions, running sums and extremes along axes, of libopapi_math.so.
#include <cmath>

#include "reduce.h"

namespace cann_double {
namespace {

#define REAL "f32 f16 bf16 f64 i8 i16 i32 i64 u8"

template <class F>
auto reducer(Places places, Result result, F f) {
    return [=](Arguments& arguments) {
        const aclDataType computed = computed_in(arguments, places);
        const aclDataType given = result == Result::kBool    ? ACL_BOOL
                                  : result == Result::kIndex ? ACL_INT64
                                                             : computed;
        reduce(arguments, places, computed, given, f);
    };
}

// Functions of the elements of a group.
struct Sum {
    template <class T>
    T operator()(const std::vector<T>& x) const {
        T sum{};
        for (const T& each : x) {
            sum += each;
        }
        return sum;
    }
};
struct Product {
    template <class T>
    T operator()(const std::vector<T>& x) const {
        T result = T(1);
        for (const T& each : x) {
            result *= each;
        }
        return result;
    }
};
struct Mean {
    template <class T>
        requires(!std::is_same_v<T, Int>)
    T operator()(const std::vector<T>& x) const {
        return Sum{}(x) / static_cast<Real>(x.size());
    }
};
template <bool largest>
struct Extreme {
    template <class T>
        requires is_ordered<T>
    static size_t index(const std::vector<T>& x) {
        size_t best = 0;
        for (size_t i = 1; i < x.size() && x[best] == x[best]; ++i) {
            if (x[i] != x[i] || (largest ? x[i] > x[best] : x[i] < x[best])) {
                best = i;
            }
        }
        return best;
    }
    template <class T>
        requires is_ordered<T>
    T operator()(const std::vector<T>& x) const {
        return x[index(x)];
    }
};
template <bool largest>
struct ExtremeIndex {
    template <class T>
        requires is_ordered<T>
    Int operator()(const std::vector<T>& x) const {
        return static_cast<Int>(Extreme<largest>::index(x));
    }
};
struct AllTrue {
    template <class T>
        requires is_ordered<T>
    Int operator()(const std::vector<T>& x) const {
        return std::all_of(x.begin(), x.end(), [](T each) { return each != T(0); });
    }
};
struct AnyTrue {
    template <class T>
        requires is_ordered<T>
    Int operator()(const std::vector<T>& x) const {
        return std::any_of(x.begin(), x.end(), [](T each) { return each != T(0); });
    }
};

Real variance(const std::vector<Real>& x, int64_t correction) {
    const Real mean = Mean{}(x);
    Real sum = 0;
    for (const Real each : x) {
        sum += (each - mean) * (each - mean);
    }
    return sum / std::max<Real>(0, static_cast<Real>(static_cast<int64_t>(x.size()) - correction));
}
// Input, axes, correction, keep, output.
constexpr Places kVariance{1, 3, -1, 4};
auto variance_with(Real (*then)(Real)) {
    return [=](Arguments& arguments) {
        const aclDataType dtype = arguments[0].tensor().dtype;
        reduce(arguments, kVariance, dtype, dtype, [&](const std::vector<Real>& x) {
            return then(variance(x, arguments[2].integer()));
        });
    };
}

// Running results: input, axis (an integer or a scalar), dtype, output.
int64_t scan_axis(Arguments& arguments) {
    const auto* number = std::get_if<Scalar>(&arguments[1].value);
    return number != nullptr ? static_cast<int64_t>(scalar_value<Int>(*number, ACL_INT64))
                             : arguments[1].integer();
}
int check_scan(const Operation& op, Arguments& arguments) {
    const Tensor& from = arguments[0].tensor();
    const Tensor& out = arguments[3].tensor();
    if (const int code = check_dtype(op, from)) {
        return code;
    }
    if (!is_axis(scan_axis(arguments), from.rank()) || out.dtype != arguments[2].dtype() ||
        !listed(out.dtype, op.dtypes)) {
        return refuse(op, "axis %ld, dtype %d", scan_axis(arguments), arguments[2].dtype());
    }
    return check_shape(op, out, from.shape);
}
template <class F>
auto scanner(F f) {
    return [f](Arguments& arguments) {
        const Tensor& from = arguments[0].tensor();
        Tensor out = arguments[3].tensor();
        const aclDataType dtype = arguments[2].dtype();
        const int64_t axis = wrap_axis(scan_axis(arguments), from.rank());
        by_kind(dtype, [&](auto kind) {
            std::vector<decltype(kind)> results;
            for (const auto& group : groups<decltype(kind)>(from, {axis}, dtype)) {
                auto running = group.empty() ? kind : group[0];
                for (size_t i = 0; i < group.size(); ++i) {
                    running = fit(i == 0 ? group[0] : f(running, group[i]), dtype);
                    results.push_back(running);
                }
            }
            if (out.rank() != 0) {  // the axis last, as in the groups
                const auto at = static_cast<std::ptrdiff_t>(axis);
                std::rotate(out.shape.begin() + at, out.shape.begin() + at + 1, out.shape.end());
                std::rotate(out.strides.begin() + at, out.strides.begin() + at + 1,
                            out.strides.end());
            }
            store(out, results, dtype);
        });
    };
}

}  // namespace

#define REDUCTION(name, dtypes, Axes, places, result, needs_elements, f)       \
    BEHAVES(name, dtypes, "", check_reduction(places, result, needs_elements), \
            reducer(places, result, f))
ENTRY5(aclnnReduceSum, In, Ints, bool, aclDataType, Out)
REDUCTION(aclnnReduceSum, REAL " b c64 c128", Ints, kWithDtype, Result::kComputed, false, Sum{})
ENTRY5(aclnnMean, In, Ints, bool, aclDataType, Out)
REDUCTION(aclnnMean, REAL " c64 c128", Ints, kWithDtype, Result::kComputed, false, Mean{})
ENTRY5(aclnnProdDim, In, int64_t, bool, aclDataType, Out)
REDUCTION(aclnnProdDim, REAL " b c64 c128", int64_t, kWithDtype, Result::kComputed, false,
          Product{})
ENTRY4(aclnnAmax, In, Ints, bool, Out)
REDUCTION(aclnnAmax, REAL " b", Ints, kWithoutDtype, Result::kComputed, true, Extreme<true>{})
ENTRY4(aclnnAmin, In, Ints, bool, Out)
REDUCTION(aclnnAmin, REAL " b", Ints, kWithoutDtype, Result::kComputed, true, Extreme<false>{})
ENTRY4(aclnnAll, In, Ints, bool, Out)
REDUCTION(aclnnAll, REAL " b", Ints, kWithoutDtype, Result::kBool, false, AllTrue{})
ENTRY4(aclnnAny, In, Ints, bool, Out)
REDUCTION(aclnnAny, REAL " b", Ints, kWithoutDtype, Result::kBool, false, AnyTrue{})
ENTRY4(aclnnArgMax, In, int64_t, bool, Out)
REDUCTION(aclnnArgMax, REAL, int64_t, kWithoutDtype, Result::kIndex, true, ExtremeIndex<true>{})
ENTRY4(aclnnArgMin, In, int64_t, bool, Out)
REDUCTION(aclnnArgMin, REAL, int64_t, kWithoutDtype, Result::kIndex, true, ExtremeIndex<false>{})

ENTRY5(aclnnVarCorrection, In, Ints, int64_t, bool, Out)
BEHAVES(aclnnVarCorrection, "f32 f16 bf16", "",
        check_reduction(kVariance, Result::kComputed, false),
        variance_with([](Real x) { return x; }))
ENTRY5(aclnnStd, In, Ints, int64_t, bool, Out)
BEHAVES(aclnnStd, "f32 f16 bf16", "", check_reduction(kVariance, Result::kComputed, false),
        variance_with([](Real x) { return std::sqrt(x); }))
ENTRY4(aclnnCumsum, In, int64_t, aclDataType, Out)
BEHAVES(aclnnCumsum, REAL " c64 c128", "", check_scan,
        scanner([](auto a, auto b) { return a + b; }))
ENTRY4(aclnnCumprod, In, Number, aclDataType, Out)
BEHAVES(aclnnCumprod, REAL " u16 u32 u64", "", check_scan,
        scanner([](auto a, auto b) { return a * b; }))

}  // namespace cann_double
