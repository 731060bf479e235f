// The element types: one list, from which every table of the library is made.
#pragma once
#include <cstddef>
#include <cstdint>

namespace asc {

struct Half {
    uint16_t bits;
};
struct BHalf {
    uint16_t bits;
};
template <class T>
struct Complex {
    T re, im;
};

enum class Kind : uint8_t { Bool, Signed, Unsigned, Real, Complex };

// X(name, C++ type of one element, name in Python, kind, bits in memory). Bool is packed: a
// kernel sees words of bits, never the C++ type.
#define ASC_FOR_EACH_DTYPE(X)                              \
    X(Bool, bool, "bool", Bool, 1)                         \
    X(Int8, int8_t, "int8", Signed, 8)                     \
    X(Int16, int16_t, "int16", Signed, 16)                 \
    X(Int32, int32_t, "int32", Signed, 32)                 \
    X(Int64, int64_t, "int64", Signed, 64)                 \
    X(UInt8, uint8_t, "uint8", Unsigned, 8)                \
    X(UInt16, uint16_t, "uint16", Unsigned, 16)            \
    X(UInt32, uint32_t, "uint32", Unsigned, 32)            \
    X(UInt64, uint64_t, "uint64", Unsigned, 64)            \
    X(Float16, Half, "float16", Real, 16)                  \
    X(BFloat16, BHalf, "bfloat16", Real, 16)               \
    X(Float32, float, "float32", Real, 32)                 \
    X(Float64, double, "float64", Real, 64)                \
    X(Complex64, Complex<float>, "complex64", Complex, 64) \
    X(Complex128, Complex<double>, "complex128", Complex, 128)

enum class DType : uint8_t {
#define X(name, type, py, kind, bits) name,
    ASC_FOR_EACH_DTYPE(X)
#undef X
};

inline constexpr int kNumDTypes = 15;

struct DTypeInfo {
    const char* name;
    Kind kind;
    uint8_t bits;
};

inline constexpr DTypeInfo kDTypeInfo[kNumDTypes] = {
#define X(name, type, py, kind, bits) {py, Kind::kind, bits},
    ASC_FOR_EACH_DTYPE(X)
#undef X
};

constexpr int index(DType d) { return static_cast<int>(d); }
constexpr const DTypeInfo& info(DType d) { return kDTypeInfo[index(d)]; }
constexpr const char* name(DType d) { return info(d).name; }
constexpr Kind kind(DType d) { return info(d).kind; }
constexpr int64_t bits(DType d) { return info(d).bits; }
// Bytes of one element; 0 for bool, whose unit is the bit.
constexpr int64_t itemsize(DType d) { return info(d).bits / 8; }

constexpr bool is_bool(DType d) { return d == DType::Bool; }
constexpr bool is_integer(DType d) { return kind(d) == Kind::Signed || kind(d) == Kind::Unsigned; }
constexpr bool is_real_float(DType d) { return kind(d) == Kind::Real; }
constexpr bool is_complex(DType d) { return kind(d) == Kind::Complex; }
constexpr bool is_float(DType d) { return is_real_float(d) || is_complex(d); }
constexpr bool is_numeric(DType d) { return !is_bool(d); }
// Real types that are stored narrow and computed in float32.
constexpr bool is_narrow_float(DType d) { return d == DType::Float16 || d == DType::BFloat16; }

// The type of |z|, real(z), imag(z).
constexpr DType real_part(DType d) {
    return d == DType::Complex64 ? DType::Float32 : d == DType::Complex128 ? DType::Float64 : d;
}
// The complex type of the same precision.
constexpr DType complex_of(DType d) {
    return d == DType::Float64 || d == DType::Complex128 ? DType::Complex128 : DType::Complex64;
}

template <DType D>
struct CType;
#define X(name, ctype, py, kind, bits) \
    template <>                        \
    struct CType<DType::name> {        \
        using type = ctype;            \
    };
ASC_FOR_EACH_DTYPE(X)
#undef X

template <class T>
struct TypeTag {
    using type = T;
};

// Calls f(TypeTag<T>{}) with the C++ element type of d: the one place of dtype dispatch.
template <class F>
decltype(auto) dispatch(DType d, F&& f) {
    switch (d) {
#define X(name, type, py, kind, bits) \
    case DType::name:                 \
        return f(TypeTag<type>{});
        ASC_FOR_EACH_DTYPE(X)
#undef X
    }
    __builtin_unreachable();
}

}  // namespace asc
