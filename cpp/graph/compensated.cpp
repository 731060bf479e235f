#include "graph/compensated.h"

#include <cmath>

#include "backend/backend.h"
#include "core/view.h"
#include "graph/dispatch.h"

namespace asc {
namespace {

// Numbers above it are scaled down, so that splitting cannot overflow.
constexpr double kLarge = 0x1p900, kDown = 0x1p-100;
constexpr double kUnit = 0x1p-53;
// Splits a number in halves of 26 bits.
constexpr double kHalves = 0x1p27 + 1;

Scalar number(double value) {
    Scalar scalar{Kind::Real};
    scalar.re = value;
    return scalar;
}
Array apply(Op op, const Array& x, double y) {
    const Scalar scalar = number(y);
    const Argument args[] = {{&x, nullptr}, {nullptr, &scalar}};
    return asc::apply(op, args, true);
}
Array choose(const Array& condition, const Array& x, const Array& y) {
    const Argument args[] = {{&condition, nullptr}, {&x, nullptr}, {&y, nullptr}};
    return asc::apply(Op::Where, args, true);
}
Array choose(const Array& condition, const Array& x, double y) {
    const Scalar scalar = number(y);
    const Argument args[] = {{&condition, nullptr}, {&x, nullptr}, {nullptr, &scalar}};
    return asc::apply(Op::Where, args, true);
}

Array operator+(const Array& x, const Array& y) { return asc::apply(Op::Add, x, y); }
Array operator-(const Array& x, const Array& y) { return asc::apply(Op::Subtract, x, y); }
Array operator*(const Array& x, const Array& y) { return asc::apply(Op::Multiply, x, y); }
Array operator*(const Array& x, double y) { return apply(Op::Multiply, x, y); }

// Reductions of the arrays of one function along the same axes.
class Axes {
  public:
    Axes(const char* function, const Dims& shape, const Dims& axes)
        : function_(function), axes_(axes), kept_(shape) {
        for (int64_t axis : axes) {
            count_ *= shape[static_cast<int>(axis)];
            kept_[static_cast<int>(axis)] = 1;
        }
    }
    int64_t count() const { return count_; }
    Array reduce(Reduction op, const Array& x) const {
        return asc::reduce(function_, {op, x.dtype, x.dtype}, x, axes_);
    }
    Array sum(const Array& x) const { return reduce(Reduction::Sum, x); }
    // A result beside the elements that it is of.
    Array spread(const Array& result) const {
        return result.view(kept_, row_major_strides(kept_), result.offset);
    }

  private:
    const char* function_;
    Dims axes_, kept_;
    int64_t count_ = 1;
};

// A sum as high + low, where that is better than the plain one.
struct Parts {
    Array high, low, plain, better;

    Array total() const { return choose(better, high + low, plain); }
};

// The next power of two.
Array power_above(const Array& x) {
    const Array q = x * (1 / kUnit);
    return asc::apply(Op::Abs, q - q * (1 - kUnit));
}

Parts sum_of(const Axes& axes, const Array& x) {
    const Array largest = axes.reduce(Reduction::Max, asc::apply(Op::Abs, x));
    const Array large = apply(Op::Greater, largest, kLarge), zero = largest * 0.0;
    const Array scale = choose(large, apply(Op::Add, zero, kDown), 1.0);
    const Array back = choose(large, apply(Op::Add, zero, 1 / kDown), 1.0);
    // So many pieces of numbers below the first power of two sum up to less than that.
    const double pieces = std::exp2(std::ceil(std::log2(static_cast<double>(axes.count()) + 2)));
    const Array first = power_above(largest * scale) * pieces;
    const Array second = first * (pieces * kUnit);
    const Array t = x * axes.spread(scale), one = axes.spread(first), two = axes.spread(second);
    const Array high = (one + t) - one, rest = t - high;
    const Array middle = (two + rest) - two, low = rest - middle;
    const Array a = axes.sum(high), b = axes.sum(middle), c = axes.sum(low), plain = axes.sum(x);
    const Array sum = a + b, part = sum - a;
    const Array error = (a - (sum - part)) + (b - part);
    const Array better = asc::apply(Op::LogicalAnd, apply(Op::Greater, largest, 0.0),
                                    asc::apply(Op::IsFinite, largest));
    return {sum * back, (error + c) * back, plain, better};
}

struct Halves {
    Array high, low;
    explicit Halves(const Array& x) {
        const Array scaled = x * kHalves;
        high = scaled - (scaled - x);
        low = x - high;
    }
};

// What rounding takes from the product of a and b.
Array product_error(const Array& product, const Array& a, const Array& b) {
    const Halves x(a), y(b);
    return ((x.high * y.high - product) + x.high * y.low + x.low * y.high) + x.low * y.low;
}

// Nothing where splitting has overflowed.
Array finite(const Array& x) { return choose(asc::apply(Op::IsFinite, x), x, 0.0); }

// The sum of rounded products and of their errors.
Array sum_of_products(const Axes& axes, const Array& products, const Array& errors) {
    Parts parts = sum_of(axes, products);
    parts.low = parts.low + finite(axes.sum(errors));
    return parts.total();
}

Array variance(const Axes& axes, const Array& mean, const Array& x, const ReduceSpec& spec) {
    const Array center = axes.spread(mean);
    const Array d = x - center, part = d - x;
    const Array error = (x - (d - part)) - (center + part);
    const Array squares = d * d;
    const Array errors = product_error(squares, d, d) + d * error * 2.0;
    // The mean was rounded: the sum of what is left says by how much.
    const Array left = axes.sum(d);
    const Array shift = left * left * (1.0 / static_cast<double>(axes.count()));
    const Array sum = sum_of_products(axes, squares, errors) - finite(shift);
    return apply(Op::Divide, sum, static_cast<double>(axes.count()) - spec.correction);
}

}  // namespace

bool adds(const ReduceSpec& spec) {
    const bool sums = spec.op == Reduction::Sum || spec.op == Reduction::Mean ||
                      spec.op == Reduction::Var || spec.op == Reduction::Std;
    return sums && (is_real_float(spec.element) || is_complex(spec.element));
}

bool compensates(const ReduceSpec& spec, const Array& x) {
    return adds(spec) && spec.element == DType::Float64 && is_real_float(x.dtype) &&
           on_host(x.device());
}

Array compensated(const char* function, const ReduceSpec& spec, const Array& x, const Dims& axes) {
    if (x.dtype != spec.element) return compensated(function, spec, convert(x, spec.element), axes);
    const Axes along(function, x.shape, axes);
    const auto count = static_cast<double>(along.count());
    const bool spread = spec.op == Reduction::Var || spec.op == Reduction::Std;
    if (along.count() < 2 || (spread && count - spec.correction <= 0))
        return reduce(function, spec, x, axes);
    const Array sum = sum_of(along, x).total();
    if (spec.op == Reduction::Sum) return sum;
    const Array mean = apply(Op::Divide, sum, count);
    if (spec.op == Reduction::Mean) return mean;
    const Array result = variance(along, mean, x, spec);
    return spec.op == Reduction::Std ? asc::apply(Op::Sqrt, result) : result;
}

Array compensated_dot(const char* function, const Array& a, const Array& b) {
    const Array product = a * b;
    return sum_of_products(Axes(function, product.shape, {product.ndim() - 1}), product,
                           product_error(product, a, b));
}

}  // namespace asc
