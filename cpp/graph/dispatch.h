// Dispatch: from an operation and its arguments to checked dtypes, a result and a kernel.
#pragma once
#include <optional>
#include <span>

#include "core/array.h"
#include "core/scalar.h"
#include "graph/ops.h"
#include "graph/tape.h"

namespace asc {

// One argument of an operation: exactly one of the two is set.
struct Argument {
    const Array* array = nullptr;
    const Scalar* scalar = nullptr;
};

// The dtype of an operation on arrays of a and b; throws Error(Type) naming `function`.
DType promote_or_raise(const char* function, DType a, DType b, bool strict);
// The one device of the arguments that are arrays; throws Error(Value) naming `function` and both
// where they are on two.
DeviceId common_device(const char* function, std::span<const Argument> args);
// The common dtype of arguments, arrays first; at least one must be an array.
DType common_dtype(const char* function, std::span<const Argument> args, bool strict);
// How an operation computes on arguments of one dtype.
struct Plan {
    Op op;
    DType dtype;    // of the operands, promoted
    DType compute;  // of the kernel
    DType result;
};
// Nothing where the operation does not take the dtype.
std::optional<Plan> plan(Op op, DType dtype, bool strict);

// Throws Error(Type) that names the function, the dtype, what is accepted, and how to relax.
[[noreturn]] void refuse_dtype(const char* function, Category category, DType dtype,
                               bool relaxable);
// The same for a dtype that is not in the category.
void require(const char* function, Category category, DType dtype);

// op(args...) in `out`, where that is one call of a kernel on small operands, for which both modes
// do the same; false, with nothing done, for all others.
bool apply_directly(Op op, std::span<const Argument> args, Array& out);
// op(args...) as a new array.
Array apply(Op op, std::span<const Argument> args, bool strict);
// target = op(target, other) in place; `symbol` is the operator, for messages.
void apply_inplace(Op op, const Array& target, const Argument& other, bool strict,
                   const char* symbol);

// A new array of x's elements converted to a dtype; recorded where that pays.
Array convert(const Array& x, DType to);

// x in new memory with these strides; recorded where that pays.
Array laid_out(const Array& x, const Dims& strides, const char* function);
// A row-major array whose elements are all that of x, of one element; recorded where that pays.
Array filled(const char* function, const Array& x, Dims shape);

// The result of a library operation on arrays of a device, row-major: computed now, or recorded
// where `work` (in additions) pays and the operation cannot fail on values.
Array library_result(const char* function, std::span<const Array> inputs, DeviceId device,
                     Dims shape, DType dtype, int64_t work, LibraryFn compute);

// The product of stacks of matrices of one numeric dtype, as a new array of `shape`.
Array matrix_product(const char* function, const Array& a, const Array& b, Dims shape,
                     Precision precision);
// x reduced along axes, which disappear; computed now, or recorded where that pays.
Array reduce(const char* function, const ReduceSpec& spec, const Array& x, const Dims& axes);
// Running sums or products of x along an axis, likewise.
Array scan(const char* function, const ScanSpec& spec, const Array& x, int axis);

// For C++ callers.
Array apply(Op op, const Array& x);
Array apply(Op op, const Array& x, const Array& y);
// The truth of every element, as a bool array (NaN is true).
Array as_bool(const Array& x);
// Some element of a real-valued array is negative.
bool any_negative(const Array& x);

}  // namespace asc
