#include "core/scalar.h"

#include <cmath>
#include <cstring>

#include "backend/cpu/elementwise.h"
#include "core/error.h"
#include "core/promotion.h"

namespace asc {
namespace {

struct Range {
    int64_t low;
    uint64_t high;
};
constexpr Range range(DType d) {
    int n = static_cast<int>(bits(d));
    if (kind(d) == Kind::Unsigned) return {0, n == 64 ? UINT64_MAX : (uint64_t{1} << n) - 1};
    return {-(int64_t{1} << (n - 2)) * 2, (uint64_t{1} << (n - 1)) - 1};
}

void check_range(DType to, const Scalar& s, const char* function) {
    Range r = range(to);
    bool fits = !s.too_big &&
                (s.negative() ? s.integer >= r.low : static_cast<uint64_t>(s.integer) <= r.high);
    if (!fits) {
        raise(ErrorKind::Overflow,
              "%s: the Python int is out of range for dtype %s; accepted: [%lld, %llu]", function,
              name(to), static_cast<long long>(r.low), static_cast<unsigned long long>(r.high));
    }
}

}  // namespace

DType default_dtype(const Scalar& s) {
    switch (s.kind) {
        case Kind::Bool:
            return DType::Bool;
        case Kind::Real:
            return kDefaultFloat;
        case Kind::Complex:
            return kDefaultComplex;
        default:
            return s.above_int64 ? DType::UInt64 : kDefaultInt;
    }
}

double to_double(const Scalar& s, const char* function) {
    if (s.too_big && std::isinf(s.re))
        raise(ErrorKind::Overflow, "%s: the Python int is beyond the range of float64", function);
    if (s.kind == Kind::Real || s.too_big) return s.re;
    return s.above_int64 ? static_cast<double>(static_cast<uint64_t>(s.integer))
                         : static_cast<double>(s.integer);
}

void store(void* dst, DType to, const Scalar& s, const char* function) {
    switch (s.kind) {
        case Kind::Bool: {
            uint64_t word = s.integer ? ~uint64_t{0} : 0;
            return cpu::convert_scalar(dst, to, &word, DType::Bool);
        }
        case Kind::Real:
            return cpu::convert_scalar(dst, to, &s.re, DType::Float64);
        case Kind::Complex: {
            Complex<double> value{s.re, s.im};
            return cpu::convert_scalar(dst, to, &value, DType::Complex128);
        }
        default:
            break;
    }
    if (is_integer(to)) {
        check_range(to, s, function);
        std::memcpy(dst, &s.integer, static_cast<size_t>(itemsize(to)));  // little endian
        return;
    }
    if (s.too_big) {
        const double value = is_bool(to) ? s.re : to_double(s, function);
        return cpu::convert_scalar(dst, to, &value, DType::Float64);
    }
    cpu::convert_scalar(dst, to, &s.integer, s.above_int64 ? DType::UInt64 : DType::Int64);
}

}  // namespace asc
