#include "core/promotion.h"

#include <algorithm>

namespace asc {
namespace {

constexpr DType signed_of(int bits) {
    return bits <= 8    ? DType::Int8
           : bits <= 16 ? DType::Int16
           : bits <= 32 ? DType::Int32
                        : DType::Int64;
}
DType wider(DType a, DType b) { return bits(a) >= bits(b) ? a : b; }

// The least real float that holds every value of an integer dtype, as NumPy has it.
DType float_for(DType integer) {
    return bits(integer) <= 8    ? DType::Float16
           : bits(integer) <= 16 ? DType::Float32
                                 : DType::Float64;
}

std::optional<DType> promote_floats(DType a, DType b, bool strict) {
    DType x = real_part(a), y = real_part(b);
    DType real = wider(x, y);
    // Neither half format holds the other.
    if (bits(x) == 16 && bits(y) == 16 && x != y) {
        if (strict) return std::nullopt;
        real = DType::Float32;
    }
    return is_complex(a) || is_complex(b) ? complex_of(real) : real;
}

}  // namespace

std::optional<DType> promote(DType a, DType b, bool strict) {
    if (a == b) return a;
    if (is_float(a) && is_float(b)) return promote_floats(a, b, strict);
    if (is_integer(a) && is_integer(b)) {
        if (kind(a) == kind(b)) return wider(a, b);
        DType s = kind(a) == Kind::Signed ? a : b, u = kind(a) == Kind::Signed ? b : a;
        if (bits(s) > bits(u)) return s;
        if (bits(u) < 64) return signed_of(static_cast<int>(bits(u)) * 2);
        return strict ? std::nullopt : std::optional(DType::Float64);
    }
    if (strict) return std::nullopt;
    if (is_bool(a)) return b;
    if (is_bool(b)) return a;
    DType floating = is_float(a) ? a : b, integer = is_float(a) ? b : a;
    return promote_floats(floating, float_for(integer), false);
}

std::optional<DType> promote_scalar(DType array, Kind scalar, bool strict) {
    switch (scalar) {
        case Kind::Bool:
            if (is_bool(array) || !strict) return array;
            return std::nullopt;
        case Kind::Signed:
        case Kind::Unsigned:
            if (!is_bool(array)) return array;
            return strict ? std::nullopt : std::optional(kDefaultInt);
        case Kind::Real:
            if (is_float(array)) return array;
            return strict ? std::nullopt : std::optional(kDefaultFloat);
        case Kind::Complex:
            if (is_float(array)) return complex_of(real_part(array));
            return strict ? std::nullopt : std::optional(kDefaultComplex);
    }
    return std::nullopt;
}

}  // namespace asc
