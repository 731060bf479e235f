#include "values.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

namespace cann_double {
namespace {

struct DtypeFacts {
    aclDataType dtype;
    const char* name;
    Kind kind;
    int bits;  // of an integer; of the significand of a floating dtype
    bool is_unsigned;
};
constexpr DtypeFacts kFacts[] = {{ACL_BOOL, "b", Kind::kInt, 1, true},
                                 {ACL_INT8, "i8", Kind::kInt, 8, false},
                                 {ACL_INT16, "i16", Kind::kInt, 16, false},
                                 {ACL_INT32, "i32", Kind::kInt, 32, false},
                                 {ACL_INT64, "i64", Kind::kInt, 64, false},
                                 {ACL_UINT8, "u8", Kind::kInt, 8, true},
                                 {ACL_UINT16, "u16", Kind::kInt, 16, true},
                                 {ACL_UINT32, "u32", Kind::kInt, 32, true},
                                 {ACL_UINT64, "u64", Kind::kInt, 64, true},
                                 {ACL_FLOAT16, "f16", Kind::kReal, 11, false},
                                 {ACL_BF16, "bf16", Kind::kReal, 8, false},
                                 {ACL_FLOAT, "f32", Kind::kReal, 24, false},
                                 {ACL_DOUBLE, "f64", Kind::kReal, 53, false},
                                 {ACL_COMPLEX64, "c64", Kind::kComplex, 24, false},
                                 {ACL_COMPLEX128, "c128", Kind::kComplex, 53, false}};

// The position in kFacts by the code of the dtype: looked up for each element.
constexpr auto kPositions = [] {
    std::array<uint8_t, ACL_BF16 + 1> positions{};
    for (uint8_t i = 0; i < std::size(kFacts); ++i) {
        positions[kFacts[i].dtype] = i;
    }
    return positions;
}();

// Descriptors have only dtypes of the table.
const DtypeFacts& facts(aclDataType dtype) { return kFacts[kPositions[dtype]]; }

int category(aclDataType dtype) {
    return dtype == ACL_BOOL ? 0 : 1 + static_cast<int>(kind_of(dtype));
}

template <class T>
T raw(const uint8_t* bytes) {
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
}
template <class T>
void put(uint8_t* bytes, T value) {
    std::memcpy(bytes, &value, sizeof value);
}

// To the nearest of `digits` binary digits, ties to even, with gradual underflow at `smallest`.
double rounded(double value, int digits, int smallest, double largest) {
    if (!std::isfinite(value) || value == 0) {
        return value;
    }
    int exponent;
    std::frexp(value, &exponent);
    const double unit = std::ldexp(1.0, std::max(exponent - digits, smallest));
    const double result = std::nearbyint(value / unit) * unit;
    return std::abs(result) > largest ? std::copysign(HUGE_VAL, value)
                                      : std::copysign(result, value);
}
double rounded_half(double value) { return rounded(value, 11, -24, 65504); }
double rounded_bfloat(double value) { return rounded(value, 8, -133, std::ldexp(255.0, 120)); }

double from_half(uint16_t bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double sign = bits >> 15 != 0 ? -1 : 1;
    if (exponent == 31) {
        return fraction != 0 ? NAN : sign * HUGE_VAL;
    }
    return sign *
           (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25));
}

uint16_t to_half(double value) {
    const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    const double size = std::abs(rounded_half(value));
    if (std::isnan(size)) {
        return 0x7E00;
    }
    if (std::isinf(size)) {
        return sign | 0x7C00;
    }
    if (size < std::ldexp(1.0, -14)) {
        return sign | static_cast<uint16_t>(std::ldexp(size, 24));
    }
    int exponent;
    const double fraction = std::frexp(size, &exponent);  // in [0.5, 1)
    return sign | static_cast<uint16_t>((exponent + 14) << 10 |
                                        (static_cast<int>(std::ldexp(fraction, 11)) & 1023));
}

double from_bfloat(uint16_t bits) {
    const uint32_t wide = uint32_t{bits} << 16;
    float value;
    std::memcpy(&value, &wide, sizeof value);
    return value;
}

uint16_t to_bfloat(double value) {
    const auto exact = static_cast<float>(rounded_bfloat(value));
    uint32_t bits;
    std::memcpy(&bits, &exact, sizeof bits);
    return static_cast<uint16_t>(bits >> 16);
}

Int lowest(aclDataType dtype) { return is_unsigned(dtype) ? 0 : -(Int{1} << (bits_of(dtype) - 1)); }
Int highest(aclDataType dtype) {
    return (Int{1} << (bits_of(dtype) - (is_unsigned(dtype) ? 0 : 1))) - 1;
}

// A number beyond an integer dtype: nothing is documented, so it depends on the seed.
Int beyond(Real value, aclDataType to) {
    if (settings().seed % 2 == 0) {
        return value < 0 ? lowest(to) : highest(to);
    }
    return is_unsigned(to) ? highest(to) / 3 : lowest(to);
}

}  // namespace

Kind kind_of(aclDataType dtype) { return facts(dtype).kind; }
int bits_of(aclDataType dtype) { return facts(dtype).bits; }
bool is_unsigned(aclDataType dtype) { return facts(dtype).is_unsigned; }
bool is_floating(aclDataType dtype) { return kind_of(dtype) == Kind::kReal; }
const char* dtype_name(aclDataType dtype) { return facts(dtype).name; }

bool listed(aclDataType dtype, const std::string& list) {
    std::istringstream words(list);
    for (std::string word; words >> word;) {
        if (word == dtype_name(dtype)) {
            return true;
        }
    }
    return false;
}

aclDataType promote(aclDataType a, aclDataType b) {
    if (a == b) {
        return a;
    }
    for (const aclDataType alone : {ACL_UINT16, ACL_UINT32, ACL_UINT64}) {
        if (a == alone || b == alone) {
            return ACL_DT_UNDEFINED;
        }
    }
    if (category(a) != category(b)) {
        const aclDataType higher = category(a) > category(b) ? a : b;
        const aclDataType lower = category(a) > category(b) ? b : a;
        return higher == ACL_COMPLEX64 && lower == ACL_DOUBLE ? ACL_COMPLEX128 : higher;
    }
    if (kind_of(a) == Kind::kReal && bits_of(a) < 24 && bits_of(b) < 24) {
        return ACL_FLOAT;  // float16 with bfloat16
    }
    if (bits_of(a) == bits_of(b)) {
        return ACL_INT16;  // uint8 with int8
    }
    return bits_of(a) > bits_of(b) ? a : b;
}

aclDataType promote_scalar(aclDataType tensor, aclDataType scalar) {
    if (category(scalar) <= category(tensor)) {
        return tensor;
    }
    switch (kind_of(scalar)) {
        case Kind::kInt:
            return scalar;
        case Kind::kReal:
            return ACL_FLOAT;
        default:
            return tensor == ACL_DOUBLE ? ACL_COMPLEX128 : ACL_COMPLEX64;
    }
}

bool can_cast(aclDataType from, aclDataType to) { return category(from) <= category(to); }

aclDataType floating(aclDataType dtype) { return kind_of(dtype) == Kind::kInt ? ACL_FLOAT : dtype; }

aclDataType real_of(aclDataType dtype) {
    return dtype == ACL_COMPLEX64 ? ACL_FLOAT : dtype == ACL_COMPLEX128 ? ACL_DOUBLE : dtype;
}

Int fit(Int value, aclDataType dtype) {
    if (dtype == ACL_BOOL) {
        return value != 0;
    }
    if (kind_of(dtype) != Kind::kInt) {
        return value;
    }
    const Int span = Int{1} << bits_of(dtype);
    const Int rest = ((value % span) + span) % span;
    return rest > highest(dtype) ? rest - span : rest;
}

Real fit(Real value, aclDataType dtype) {
    switch (dtype) {
        case ACL_FLOAT:
        case ACL_COMPLEX64:
            return static_cast<float>(value);
        case ACL_FLOAT16:
            return rounded_half(value);
        case ACL_BF16:
            return rounded_bfloat(value);
        default:
            return value;
    }
}

Complex fit(Complex value, aclDataType dtype) {
    return {fit(value.real(), dtype), fit(value.imag(), dtype)};
}

namespace {

// Between the kinds, on the way to a dtype.
template <class To, class From>
To convert(From value, aclDataType to);
template <>
Int convert(Int value, aclDataType to) {
    return fit(value, to);
}
template <>
Int convert(Real value, aclDataType to) {
    if (to == ACL_BOOL) {
        return value != 0;
    }
    if (std::isnan(value)) {
        return 0;
    }
    const double whole = std::trunc(value);
    const bool fits =
        whole >= static_cast<double>(lowest(to)) && whole <= static_cast<double>(highest(to)) &&
        std::abs(whole) < std::ldexp(1.0, 64) && static_cast<Int>(whole) <= highest(to);
    return fits ? static_cast<Int>(whole) : beyond(whole, to);
}
template <>
Int convert(Complex value, aclDataType to) {
    return to == ACL_BOOL ? Int{value != 0.0} : convert<Int>(value.real(), to);
}
template <>
Real convert(Int value, aclDataType to) {
    return to == ACL_FLOAT || to == ACL_COMPLEX64 ? static_cast<float>(value)
                                                  : fit(static_cast<double>(value), to);
}
template <>
Real convert(Real value, aclDataType to) {
    return fit(value, to);
}
template <>
Real convert(Complex value, aclDataType to) {
    return fit(value.real(), to);
}
template <>
Complex convert(Int value, aclDataType to) {
    return convert<Real>(value, to);
}
template <>
Complex convert(Real value, aclDataType to) {
    return fit(value, to);
}
template <>
Complex convert(Complex value, aclDataType to) {
    return fit(value, to);
}

// Of the kind of the dtype.
template <class T>
T read(const uint8_t* bytes, aclDataType dtype) {
    switch (dtype) {
        case ACL_BOOL:
            if (*bytes > 1) {
                violate(0, "bad-bool", "a bool that is %d", *bytes);
            }
            return convert<T>(Int{*bytes != 0}, ACL_DOUBLE);
        case ACL_INT8:
            return convert<T>(Int{raw<int8_t>(bytes)}, ACL_DOUBLE);
        case ACL_INT16:
            return convert<T>(Int{raw<int16_t>(bytes)}, ACL_DOUBLE);
        case ACL_INT32:
            return convert<T>(Int{raw<int32_t>(bytes)}, ACL_DOUBLE);
        case ACL_INT64:
            return convert<T>(Int{raw<int64_t>(bytes)}, ACL_DOUBLE);
        case ACL_UINT8:
            return convert<T>(Int{raw<uint8_t>(bytes)}, ACL_DOUBLE);
        case ACL_UINT16:
            return convert<T>(Int{raw<uint16_t>(bytes)}, ACL_DOUBLE);
        case ACL_UINT32:
            return convert<T>(Int{raw<uint32_t>(bytes)}, ACL_DOUBLE);
        case ACL_UINT64:
            return convert<T>(Int{raw<uint64_t>(bytes)}, ACL_DOUBLE);
        case ACL_FLOAT16:
            return convert<T>(from_half(raw<uint16_t>(bytes)), ACL_DOUBLE);
        case ACL_BF16:
            return convert<T>(from_bfloat(raw<uint16_t>(bytes)), ACL_DOUBLE);
        case ACL_FLOAT:
            return convert<T>(Real{raw<float>(bytes)}, ACL_DOUBLE);
        case ACL_DOUBLE:
            return convert<T>(raw<double>(bytes), ACL_DOUBLE);
        case ACL_COMPLEX64:
            return convert<T>(Complex(raw<std::complex<float>>(bytes)), ACL_DOUBLE);
        default:
            return convert<T>(raw<Complex>(bytes), ACL_DOUBLE);
    }
}

void write(uint8_t* bytes, aclDataType dtype, Int value) {
    switch (bits_of(dtype)) {
        case 1:
            return put<uint8_t>(bytes, value != 0);
        case 8:
            return put(bytes, static_cast<uint8_t>(value));
        case 16:
            return put(bytes, static_cast<uint16_t>(value));
        case 32:
            return put(bytes, static_cast<uint32_t>(value));
        default:
            return put(bytes, static_cast<uint64_t>(value));
    }
}

void write(uint8_t* bytes, aclDataType dtype, Real value) {
    switch (dtype) {
        case ACL_FLOAT16:
            return put(bytes, to_half(value));
        case ACL_BF16:
            return put(bytes, to_bfloat(value));
        case ACL_FLOAT:
            return put(bytes, static_cast<float>(value));
        default:
            return put(bytes, value);
    }
}

void write(uint8_t* bytes, aclDataType dtype, Complex value) {
    if (dtype == ACL_COMPLEX64) {
        put(bytes, std::complex<float>(value));
    } else {
        put(bytes, value);
    }
}

}  // namespace

template <class T>
T read_as(const uint8_t* bytes, aclDataType from, aclDataType as) {
    return by_kind(from,
                   [&](auto kind) { return convert<T>(read<decltype(kind)>(bytes, from), as); });
}

template <class T>
void write_as(uint8_t* bytes, aclDataType dtype, T value, aclDataType computed) {
    by_kind(dtype, [&](auto kind) {
        write(bytes, dtype, convert<decltype(kind)>(fit(value, computed), dtype));
    });
}

template <class T>
T scalar_value(const Scalar& scalar, aclDataType as) {
    return read_as<T>(scalar.value, scalar.dtype, as);
}

Walk::Walk(const Tensor& tensor, const Shape& shape)
    : shape_(shape), steps_(shape.size(), 0), index_(shape.size(), 0) {
    const auto width = static_cast<int64_t>(aclDataTypeSize(tensor.dtype));
    const size_t missing = shape.size() - tensor.rank();
    for (size_t axis = 0; axis < tensor.rank(); ++axis) {
        steps_[missing + axis] = tensor.shape[axis] == 1 ? 0 : tensor.strides[axis] * width;
    }
    place_ = tensor.bytes + tensor.offset * width;
    if (!shape.empty()) {
        left_ = shape.back();
        step_ = steps_.back();
    }
}

void Walk::next_row() {
    if (shape_.empty()) {
        return;
    }
    left_ = shape_.back();
    place_ -= step_ * (left_ - 1);
    for (size_t axis = shape_.size() - 1; axis-- > 0;) {
        place_ += steps_[axis];
        if (++index_[axis] < shape_[axis]) {
            return;
        }
        place_ -= steps_[axis] * shape_[axis];
        index_[axis] = 0;
    }
}

int64_t product(const Shape& shape) {
    int64_t result = 1;
    for (const int64_t extent : shape) {
        result *= extent;
    }
    return result;
}

bool broadcast(const Shape& a, const Shape& b, Shape& result) {
    const size_t rank = std::max(a.size(), b.size());
    result.assign(rank, 1);
    for (size_t axis = 0; axis < rank; ++axis) {
        const int64_t in_a = axis < rank - a.size() ? 1 : a[axis - (rank - a.size())];
        const int64_t in_b = axis < rank - b.size() ? 1 : b[axis - (rank - b.size())];
        if (in_a != in_b && in_a != 1 && in_b != 1) {
            return false;
        }
        result[axis] = in_a == 1 ? in_b : in_a;
    }
    return true;
}

std::string to_string(const Shape& shape) {
    std::string text = "(";
    for (const int64_t extent : shape) {
        text += std::to_string(extent) + ",";
    }
    return text + ")";
}

template <class T>
std::vector<T> load(const Tensor& tensor, aclDataType as) {
    std::vector<T> values(static_cast<size_t>(tensor.elements()));
    Walk walk(tensor, tensor.shape);
    for (T& value : values) {
        value = read_as<T>(walk.place(), tensor.dtype, as);
        walk.next();
    }
    return values;
}

template <class T>
void store(const Tensor& tensor, const std::vector<T>& values, aclDataType computed) {
    Walk walk(tensor, tensor.shape);
    for (const T& value : values) {
        write_as(walk.place(), tensor.dtype, value, computed);
        walk.next();
    }
}

#define INSTANTIATE(T)                                                \
    template T read_as<T>(const uint8_t*, aclDataType, aclDataType);  \
    template void write_as<T>(uint8_t*, aclDataType, T, aclDataType); \
    template T scalar_value<T>(const Scalar&, aclDataType);           \
    template std::vector<T> load<T>(const Tensor&, aclDataType);      \
    template void store<T>(const Tensor&, const std::vector<T>&, aclDataType);
INSTANTIATE(Int)
INSTANTIATE(Real)
INSTANTIATE(Complex)

}  // namespace cann_double
