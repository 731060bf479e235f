// The elementwise operations: one table of names, arities, accepted dtypes and result rules.
#pragma once
#include <cstdint>

#include "core/dtype.h"

namespace asc {

// What an operation accepts, in the words of the standard.
enum class Category : uint8_t {
    Any,            // every dtype
    Numeric,        // all but bool
    Real,           // "real-valued": integers and real floats
    Floating,       // real and complex floats
    RealFloating,   // real floats
    Integer,        // signed and unsigned integers
    IntegerOrBool,  // "integer or boolean"
    Boolean,        // bool
    RealOrBool,     // integers, real floats and bool
    WideFloating,   // floats of at least 32 bits a component
    NotNarrow,      // all but float16 and bfloat16
};

enum class Result : uint8_t {
    Same,      // the promoted dtype of the operands
    Bool,      // bool
    RealPart,  // the component type of a complex operand
};

// X(name, name in Python, arity, category, result)
#define ASC_FOR_EACH_OP(X)                                        \
    X(Abs, "abs", 1, Numeric, RealPart)                           \
    X(Acos, "acos", 1, Floating, Same)                            \
    X(Acosh, "acosh", 1, Floating, Same)                          \
    X(Asin, "asin", 1, Floating, Same)                            \
    X(Asinh, "asinh", 1, Floating, Same)                          \
    X(Atan, "atan", 1, Floating, Same)                            \
    X(Atanh, "atanh", 1, Floating, Same)                          \
    X(BitwiseInvert, "bitwise_invert", 1, IntegerOrBool, Same)    \
    X(Ceil, "ceil", 1, Real, Same)                                \
    X(Conj, "conj", 1, Numeric, Same)                             \
    X(Cos, "cos", 1, Floating, Same)                              \
    X(Cosh, "cosh", 1, Floating, Same)                            \
    X(Exp, "exp", 1, Floating, Same)                              \
    X(Expm1, "expm1", 1, Floating, Same)                          \
    X(Floor, "floor", 1, Real, Same)                              \
    X(IsFinite, "isfinite", 1, Numeric, Bool)                     \
    X(IsInf, "isinf", 1, Numeric, Bool)                           \
    X(IsNan, "isnan", 1, Numeric, Bool)                           \
    X(Log, "log", 1, Floating, Same)                              \
    X(Log1p, "log1p", 1, Floating, Same)                          \
    X(Log2, "log2", 1, Floating, Same)                            \
    X(Log10, "log10", 1, Floating, Same)                          \
    X(LogicalNot, "logical_not", 1, Boolean, Bool)                \
    X(Negative, "negative", 1, Numeric, Same)                     \
    X(Positive, "positive", 1, Numeric, Same)                     \
    X(Reciprocal, "reciprocal", 1, Floating, Same)                \
    X(Round, "round", 1, Numeric, Same)                           \
    X(Sign, "sign", 1, Numeric, Same)                             \
    X(SignBit, "signbit", 1, RealFloating, Bool)                  \
    X(Sin, "sin", 1, Floating, Same)                              \
    X(Sinh, "sinh", 1, Floating, Same)                            \
    X(Sqrt, "sqrt", 1, Floating, Same)                            \
    X(Square, "square", 1, Numeric, Same)                         \
    X(Tan, "tan", 1, Floating, Same)                              \
    X(Tanh, "tanh", 1, Floating, Same)                            \
    X(Trunc, "trunc", 1, Real, Same)                              \
    X(Add, "add", 2, Numeric, Same)                               \
    X(Atan2, "atan2", 2, RealFloating, Same)                      \
    X(BitwiseAnd, "bitwise_and", 2, IntegerOrBool, Same)          \
    X(BitwiseLeftShift, "bitwise_left_shift", 2, Integer, Same)   \
    X(BitwiseOr, "bitwise_or", 2, IntegerOrBool, Same)            \
    X(BitwiseRightShift, "bitwise_right_shift", 2, Integer, Same) \
    X(BitwiseXor, "bitwise_xor", 2, IntegerOrBool, Same)          \
    X(CopySign, "copysign", 2, RealFloating, Same)                \
    X(Divide, "divide", 2, Floating, Same)                        \
    X(Equal, "equal", 2, Any, Bool)                               \
    X(FloorDivide, "floor_divide", 2, Real, Same)                 \
    X(Greater, "greater", 2, Real, Bool)                          \
    X(GreaterEqual, "greater_equal", 2, Real, Bool)               \
    X(Hypot, "hypot", 2, RealFloating, Same)                      \
    X(Less, "less", 2, Real, Bool)                                \
    X(LessEqual, "less_equal", 2, Real, Bool)                     \
    X(LogAddExp, "logaddexp", 2, RealFloating, Same)              \
    X(LogicalAnd, "logical_and", 2, Boolean, Bool)                \
    X(LogicalOr, "logical_or", 2, Boolean, Bool)                  \
    X(LogicalXor, "logical_xor", 2, Boolean, Bool)                \
    X(Maximum, "maximum", 2, Real, Same)                          \
    X(Minimum, "minimum", 2, Real, Same)                          \
    X(Multiply, "multiply", 2, Numeric, Same)                     \
    X(NextAfter, "nextafter", 2, RealFloating, Same)              \
    X(NotEqual, "not_equal", 2, Any, Bool)                        \
    X(Pow, "pow", 2, Numeric, Same)                               \
    X(Remainder, "remainder", 2, Real, Same)                      \
    X(Subtract, "subtract", 2, Numeric, Same)                     \
    X(Clip, "clip", 3, Real, Same)                                \
    X(Where, "where", 3, Any, Same)

enum class Op : uint8_t {
#define X(name, py, arity, category, result) name,
    ASC_FOR_EACH_OP(X)
#undef X
};

struct OpInfo {
    const char* name;
    uint8_t arity;
    Category category;
    Result result;
};

inline constexpr OpInfo kOpInfo[] = {
#define X(name, py, arity, category, result) {py, arity, Category::category, Result::result},
    ASC_FOR_EACH_OP(X)
#undef X
};
inline constexpr int kNumOps = sizeof(kOpInfo) / sizeof(kOpInfo[0]);

constexpr int index(Op op) { return static_cast<int>(op); }
constexpr const OpInfo& info(Op op) { return kOpInfo[index(op)]; }

constexpr bool accepts(Category c, DType d) {
    switch (c) {
        case Category::Any:
            return true;
        case Category::Numeric:
            return is_numeric(d);
        case Category::Real:
            return is_integer(d) || is_real_float(d);
        case Category::Floating:
            return is_float(d);
        case Category::RealFloating:
            return is_real_float(d);
        case Category::Integer:
            return is_integer(d);
        case Category::IntegerOrBool:
            return is_integer(d) || is_bool(d);
        case Category::Boolean:
            return is_bool(d);
        case Category::RealOrBool:
            return !is_complex(d);
        case Category::WideFloating:
            return is_float(d) && !is_narrow_float(d);
        case Category::NotNarrow:
            return !is_narrow_float(d);
    }
    return false;
}

// The words of error messages.
constexpr const char* describe(Category c) {
    switch (c) {
        case Category::Any:
            return "any";
        case Category::Numeric:
            return "numeric";
        case Category::Real:
            return "real numeric (integer or real floating-point)";
        case Category::Floating:
            return "floating-point";
        case Category::RealFloating:
            return "real floating-point";
        case Category::Integer:
            return "integer";
        case Category::IntegerOrBool:
            return "integer or bool";
        case Category::Boolean:
            return "bool";
        case Category::RealOrBool:
            return "real";
        case Category::WideFloating:
            return "float32, float64, complex64 and complex128";
        case Category::NotNarrow:
            return "all but the 16-bit floating-point";
    }
    return "";
}

constexpr DType result_dtype(Result r, DType promoted) {
    return r == Result::Bool ? DType::Bool : r == Result::RealPart ? real_part(promoted) : promoted;
}

}  // namespace asc
