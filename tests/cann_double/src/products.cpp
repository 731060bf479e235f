// Products of matrices; operations of libopapi_nn.so.
#include <cmath>

#include "shapes.h"

namespace cann_double {
namespace {

constexpr int kMaxMathType = 4;

// Vectors become matrices; the batch is broadcast.
struct Plan {
    Shape left, right, batch, result;
    int64_t rows, inner, columns;
};

bool plan_product(const Tensor& a, const Tensor& b, Plan& plan) {
    plan.left = a.shape;
    plan.right = b.shape;
    if (a.rank() == 0 || b.rank() == 0) {
        return false;
    }
    if (a.rank() == 1) {
        plan.left.insert(plan.left.begin(), 1);
    }
    if (b.rank() == 1) {
        plan.right.push_back(1);
    }
    plan.rows = plan.left[plan.left.size() - 2];
    plan.inner = plan.left.back();
    plan.columns = plan.right.back();
    if (plan.right[plan.right.size() - 2] != plan.inner ||
        !broadcast(Shape(plan.left.begin(), plan.left.end() - 2),
                   Shape(plan.right.begin(), plan.right.end() - 2), plan.batch)) {
        return false;
    }
    plan.result = plan.batch;
    if (a.rank() > 1) {
        plan.result.push_back(plan.rows);
    }
    if (b.rank() > 1) {
        plan.result.push_back(plan.columns);
    }
    return true;
}

auto check_product(size_t least_rank, size_t most_rank) {
    return [=](const Operation& op, Arguments& arguments) {
        const Tensor &a = arguments[0].tensor(), &b = arguments[1].tensor();
        const Tensor& out = arguments[2].tensor();
        Plan plan;
        for (const Tensor* each : {&a, &b, &out}) {
            if (const int code = check_dtype(op, *each)) {
                return code;
            }
        }
        for (const Tensor* each : {&a, &b}) {
            if (each->rank() < least_rank || each->rank() > most_rank) {
                return refuse(op, "rank %zu", each->rank());
            }
        }
        if (!plan_product(a, b, plan)) {
            return refuse(op, "%s and %s do not fit", to_string(a.shape).c_str(),
                          to_string(b.shape).c_str());
        }
        if (arguments[3].integer() < 0 || arguments[3].integer() > kMaxMathType) {
            return refuse(op, "cubeMathType %ld", arguments[3].integer());
        }
        return check_shape(op, out, plan.result);
    };
}

// float32 as HF32 keeps 12 bits, as float16 11.
Real reduced(Real value, aclDataType dtype, int64_t math_type) {
    if (dtype != ACL_FLOAT) {
        return value;
    }
    if (math_type == 2) {
        return fit(value, ACL_FLOAT16);
    }
    if (math_type == 1 || math_type == 3) {
        int exponent;
        const Real fraction = std::frexp(value, &exponent);
        return std::ldexp(std::nearbyint(std::ldexp(fraction, 12)), exponent - 12);
    }
    return value;
}

// The elements, one matrix after the other, of all batches.
std::vector<Real> matrices(const Tensor& tensor, Shape own, const Shape& batch, int64_t math_type) {
    Tensor full = tensor;
    full.shape = own;
    if (tensor.rank() == 1) {  // became a row or a column
        full.strides = {tensor.strides[0], tensor.strides[0]};
    }
    Shape shape = batch;
    shape.insert(shape.end(), own.end() - 2, own.end());
    std::vector<Real> values(static_cast<size_t>(product(shape)));
    Walk walk(full, shape);
    for (Real& value : values) {
        value = reduced(read_as<Real>(walk.place(), tensor.dtype, tensor.dtype), tensor.dtype,
                        math_type);
        walk.next();
    }
    return values;
}

void run_product(Arguments& arguments) {
    const Tensor &a = arguments[0].tensor(), &b = arguments[1].tensor();
    Plan plan;
    plan_product(a, b, plan);
    const int64_t math_type = arguments[3].integer();
    const std::vector<Real> left = matrices(a, plan.left, plan.batch, math_type);
    const std::vector<Real> right = matrices(b, plan.right, plan.batch, math_type);
    std::vector<Real> result(static_cast<size_t>(product(plan.result)));
    for (int64_t at = 0; at < product(plan.batch); ++at) {
        const Real* x = left.data() + at * plan.rows * plan.inner;
        const Real* y = right.data() + at * plan.inner * plan.columns;
        Real* z = result.data() + at * plan.rows * plan.columns;
        for (int64_t i = 0; i < plan.rows; ++i) {
            for (int64_t k = 0; k < plan.inner; ++k) {
                for (int64_t j = 0; j < plan.columns; ++j) {
                    z[i * plan.columns + j] += x[i * plan.inner + k] * y[k * plan.columns + j];
                }
            }
        }
    }
    store(arguments[2].tensor(), result, promote(a.dtype, b.dtype));
}

}  // namespace

ENTRY4(aclnnMatmul, In, In, Out, int8_t)
BEHAVES(aclnnMatmul, "f32 f16 bf16", "", check_product(1, 6), run_product)
ENTRY4(aclnnBatchMatMul, In, In, Out, int8_t)
BEHAVES(aclnnBatchMatMul, "f32 f16 bf16", "", check_product(3, 3), run_product)

}  // namespace cann_double
