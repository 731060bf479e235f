// Elements of tensors as numbers of three kinds, dtypes as PyTorch and aclnn promote them.
#pragma once
#include <complex>

#include "executor.h"

namespace cann_double {

// What the double computes in: all integers and bool, all real and all complex dtypes.
using Int = __int128;
using Real = double;
using Complex = std::complex<double>;

enum class Kind { kInt, kReal, kComplex };
Kind kind_of(aclDataType dtype);
bool is_floating(aclDataType dtype);
bool is_unsigned(aclDataType dtype);
int bits_of(aclDataType dtype);
const char* dtype_name(aclDataType dtype);  // "f32", as in the lists of dtypes
bool listed(aclDataType dtype, const std::string& list);

// ACL_DT_UNDEFINED where nothing fits.
aclDataType promote(aclDataType a, aclDataType b);
// With a scalar, whose dtype counts only if it is of a higher kind.
aclDataType promote_scalar(aclDataType tensor, aclDataType scalar);
bool can_cast(aclDataType from, aclDataType to);
// Integers and bool become float32.
aclDataType floating(aclDataType dtype);
aclDataType real_of(aclDataType dtype);

// A value as an element of the dtype holds it: rounded, wrapped.
Int fit(Int value, aclDataType dtype);
Real fit(Real value, aclDataType dtype);
Complex fit(Complex value, aclDataType dtype);

// The element of a dtype as a value of `as`, with one rounding.
template <class T>
T read_as(const uint8_t* bytes, aclDataType dtype, aclDataType as);
// A value that was computed in `computed`.
template <class T>
void write_as(uint8_t* bytes, aclDataType dtype, T value, aclDataType computed);
template <class T>
T scalar_value(const Scalar& scalar, aclDataType as);

// Calls f with a value of the kind.
template <class F>
decltype(auto) by_kind(aclDataType dtype, F f) {
    switch (kind_of(dtype)) {
        case Kind::kInt:
            return f(Int{});
        case Kind::kReal:
            return f(Real{});
        default:
            return f(Complex{});
    }
}

// Goes over the elements of a shape in row-major order; gives the place in a tensor of the shape
// or one that is broadcast to it.
class Walk {
  public:
    Walk(const Tensor& tensor, const Shape& shape);
    uint8_t* place() const { return place_; }
    void next() {
        if (--left_ > 0) {
            place_ += step_;
        } else {
            next_row();
        }
    }

  private:
    void next_row();
    Shape shape_, steps_, index_;  // steps in bytes
    uint8_t* place_;
    int64_t left_ = 1, step_ = 0;  // along the last axis
};

int64_t product(const Shape& shape);
// Empty optional: they do not fit.
bool broadcast(const Shape& a, const Shape& b, Shape& result);
std::string to_string(const Shape& shape);

// All elements in row-major order, as values of the dtype.
template <class T>
std::vector<T> load(const Tensor& tensor, aclDataType as);
template <class T>
std::vector<T> load(const Tensor& tensor) {
    return load<T>(tensor, tensor.dtype);
}
// Values of the dtype `computed` into the tensor.
template <class T>
void store(const Tensor& tensor, const std::vector<T>& values, aclDataType computed);

}  // namespace cann_double
