// Elementwise operations of libopapi_math.so.
#include <cmath>
#include <utility>

#include "entry.h"

namespace cann_double {
namespace {

// How the dtype of the computation and of the result follow from the inputs.
enum class Rule {
    kSame,   // computed and returned in the promoted dtype
    kFloat,  // integers as float32
    kBool,   // computed in the promoted dtype, returns bool
    kAbs,    // complex gives real
};

aclDataType computed_in(Rule rule, aclDataType promoted) {
    return rule == Rule::kFloat ? floating(promoted) : promoted;
}
aclDataType result_of(Rule rule, aclDataType computed) {
    return rule == Rule::kBool ? ACL_BOOL : rule == Rule::kAbs ? real_of(computed) : computed;
}

int check_listed(const Operation& op, aclDataType dtype) {
    return listed(dtype, op.dtypes) ? kOk : refuse(op, "%s is not supported", dtype_name(dtype));
}

int check_result(const Operation& op, const Tensor& out, const Shape& shape, aclDataType result) {
    if (!can_cast(result, out.dtype)) {
        return refuse(op, "%s does not cast to %s", dtype_name(result), dtype_name(out.dtype));
    }
    if (out.shape != shape) {
        return refuse(op, "the result is %s, not %s", to_string(shape).c_str(),
                      to_string(out.shape).c_str());
    }
    return kOk;
}

// The dtype of inputs together; scalars have less weight.
int promoted_dtype(const Operation& op, Arguments& arguments, aclDataType& dtype) {
    bool first = true;
    for (Argument& argument : arguments) {
        if (auto* one = std::get_if<TensorArgument>(&argument.value); one && !one->output) {
            const aclDataType own = one->tensor.dtype;
            if (const int code = check_listed(op, own)) {
                return code;
            }
            dtype = first ? own : promote(dtype, own);
            first = false;
        }
    }
    for (Argument& argument : arguments) {
        if (const auto* scalar = std::get_if<Scalar>(&argument.value)) {
            dtype = promote_scalar(dtype, scalar->dtype);
        }
    }
    return dtype == ACL_DT_UNDEFINED ? refuse(op, "the dtypes promote to nothing")
                                     : check_listed(op, dtype);
}

int broadcast_shape(const Operation& op, Arguments& arguments, Shape& shape) {
    shape.clear();
    for (Argument& argument : arguments) {
        if (auto* one = std::get_if<TensorArgument>(&argument.value); one && !one->output) {
            Shape wider;
            if (!broadcast(shape, one->tensor.shape, wider)) {
                return refuse(op, "%s and %s do not broadcast", to_string(shape).c_str(),
                              to_string(one->tensor.shape).c_str());
            }
            shape = wider;
        }
    }
    return kOk;
}

auto checker(Rule rule) {
    return [rule](const Operation& op, Arguments& arguments) {
        aclDataType dtype = ACL_DT_UNDEFINED;
        Shape shape;
        if (const int code = promoted_dtype(op, arguments, dtype)) {
            return code;
        }
        if (const int code = broadcast_shape(op, arguments, shape)) {
            return code;
        }
        return check_result(op, arguments.back().tensor(), shape,
                            result_of(rule, computed_in(rule, dtype)));
    };
}

// The promoted dtype again, when it is known to exist.
aclDataType dtype_of(Rule rule, Arguments& arguments) {
    static const Operation any{
        "", "b i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128", "", {}, {}};
    aclDataType dtype = ACL_DT_UNDEFINED;
    promoted_dtype(any, arguments, dtype);
    return computed_in(rule, dtype);
}

// An input of an elementwise operation: a tensor, or a scalar for all elements.
template <class T>
class Source {
  public:
    Source(Argument& argument, const Shape& shape, aclDataType as) : as_(as) {
        if (const auto* scalar = std::get_if<Scalar>(&argument.value)) {
            scalar_ = scalar_value<T>(*scalar, as);
        } else {
            dtype_ = argument.tensor().dtype;
            walk_.emplace_back(argument.tensor(), shape);
        }
    }
    T next() {
        if (walk_.empty()) {
            return scalar_;
        }
        const T value = read_as<T>(walk_[0].place(), dtype_, as_);
        walk_[0].next();
        return value;
    }

  private:
    T scalar_{};
    aclDataType dtype_ = ACL_DT_UNDEFINED, as_;
    std::vector<Walk> walk_;
};

// out[i] = f(inputs[i]...), for f that is defined for the kind.
template <class F, size_t... I>
void map(Arguments& arguments, Rule rule, F f, std::index_sequence<I...>) {
    Tensor& out = arguments.back().tensor();
    const aclDataType computed = dtype_of(rule, arguments);
    const aclDataType result = result_of(rule, computed);
    by_kind(computed, [&](auto kind) {
        using T = decltype(kind);
        if constexpr (std::is_invocable_v<F, decltype((void)I, kind)...>) {
            std::tuple sources{(void(I), Source<T>(arguments[I], out.shape, computed))...};
            Walk to(out, out.shape);
            for (int64_t left = out.elements(); left > 0; --left) {
                write_as(to.place(), out.dtype, f(std::get<I>(sources).next()...), result);
                to.next();
            }
        } else {
            violate(0, "internal", "no arithmetic for %s", dtype_name(computed));
        }
    });
}

template <size_t N, class F>
auto mapper(Rule rule, F f) {
    return [=](Arguments& arguments) { map(arguments, rule, f, std::make_index_sequence<N>()); };
}

template <class... F>
struct Overloaded : F... {
    using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

// Kinds for which arithmetic is the same text.
template <class T>
concept Whole = std::is_same_v<T, Int>;
template <class T>
concept Float = std::is_same_v<T, Real>;
template <class T>
concept Complicated = std::is_same_v<T, Complex>;
template <class T>
concept Ordered = Whole<T> || Float<T>;
template <class T>
concept Inexact = Float<T> || Complicated<T>;
template <class T>
concept AnyKind = true;

#define UNARY(name, rule, dtypes, ...) \
    ENTRY2(name, In, Out)              \
    BEHAVES(name, dtypes, "", checker(rule), mapper<1>(rule, __VA_ARGS__))
#define BINARY(name, rule, dtypes, ...) \
    ENTRY3(name, In, In, Out)           \
    BEHAVES(name, dtypes, "", checker(rule), mapper<2>(rule, __VA_ARGS__))
#define TENSOR_SCALAR(name, rule, dtypes, ...) \
    ENTRY3(name, In, Number, Out)              \
    BEHAVES(name, dtypes, "", checker(rule), mapper<2>(rule, __VA_ARGS__))

// What division of integers by zero, or a shift beyond the width gives, is not documented.
Int unspecified() { return settings().seed % 2 == 0 ? Int{0} : Int{0x5A5A5A5A}; }

Int floor_divide(Int a, Int b) {
    if (b == 0) {
        return unspecified();
    }
    const Int quotient = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}
Int remainder(Int a, Int b) { return b == 0 ? unspecified() : a - floor_divide(a, b) * b; }
Real remainder(Real a, Real b) {
    const Real rest = std::fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b
                                              : std::copysign(rest, rest == 0 ? b : rest);
}
Real floor_divide(Real a, Real b) {
    if (b == 0) {
        return a / b;
    }
    const Real rest = std::fmod(a, b);
    Real quotient = (a - rest) / b;
    if (rest != 0 && (b < 0) != (rest < 0)) {
        quotient -= 1;
    }
    if (quotient == 0) {
        return std::copysign(0.0, a / b);
    }
    const Real whole = std::floor(quotient);
    return quotient - whole > 0.5 ? whole + 1 : whole;
}

Int power(Int base, Int exponent) {
    if (exponent < 0) {
        return unspecified();
    }
    auto result = static_cast<unsigned __int128>(1);
    for (auto square = static_cast<unsigned __int128>(base); exponent != 0; exponent /= 2) {
        result *= exponent % 2 != 0 ? square : 1;
        square *= square;
    }
    return static_cast<Int>(result);
}

template <Ordered T>
T larger(T a, T b) {
    return a != a ? a : b != b ? b : a < b ? b : a;
}
template <Ordered T>
T smaller(T a, T b) {
    return a != a ? a : b != b ? b : b < a ? b : a;
}

Int shift_left(Int a, Int b) { return b < 0 || b > 63 ? unspecified() : a * (Int{1} << b); }
Int shift_right(Int a, Int b) { return b < 0 || b > 63 ? unspecified() : a >> b; }

constexpr auto kIsTrue = [](auto x) { return Int{x != decltype(x)(0)}; };

// alpha takes no part in promotion, but must fit.
int check_alpha(const Operation& op, Arguments& arguments) {
    const Argument alpha = std::exchange(arguments[2], Argument{});
    aclDataType dtype = ACL_DT_UNDEFINED;
    const int code = checker(Rule::kSame)(op, arguments);
    promoted_dtype(op, arguments, dtype);
    arguments[2] = alpha;
    if (code == kOk && !can_cast(alpha.scalar().dtype, dtype)) {
        return refuse(op, "alpha of %s", dtype_name(alpha.scalar().dtype));
    }
    return code;
}
template <class F>
auto with_alpha(F f) {
    return [f](Arguments& arguments) {
        const Scalar alpha = std::get<Scalar>(std::exchange(arguments[2].value, {}));
        const aclDataType dtype = dtype_of(Rule::kSame, arguments);
        mapper<2>(Rule::kSame, [&](auto a, auto b) {
            return f(a, b, scalar_value<decltype(a)>(alpha, dtype));
        })(arguments);
        arguments[2].value = alpha;
    };
}
constexpr auto kAdd = [](auto a, auto b, auto alpha) { return a + alpha * b; };
constexpr auto kSubtract = [](auto a, auto b, auto alpha) { return a - alpha * b; };
constexpr auto kSubtractFrom = [](auto a, auto b, auto alpha) { return b - alpha * a; };
int check_where(const Operation& op, Arguments& arguments) {
    if (arguments[0].tensor().dtype != ACL_BOOL) {
        return refuse(op, "the condition is %s", dtype_name(arguments[0].tensor().dtype));
    }
    const aclDataType dtype = promote(arguments[1].tensor().dtype, arguments[2].tensor().dtype);
    Shape shape;
    if (dtype == ACL_DT_UNDEFINED || check_listed(op, dtype) != kOk) {
        return refuse(op, "dtypes that are not supported");
    }
    if (const int code = broadcast_shape(op, arguments, shape)) {
        return code;
    }
    return check_result(op, arguments[3].tensor(), shape, dtype);
}
void run_where(Arguments& arguments) {
    Tensor& out = arguments[3].tensor();
    const aclDataType dtype = promote(arguments[1].tensor().dtype, arguments[2].tensor().dtype);
    by_kind(dtype, [&](auto kind) {
        using T = decltype(kind);
        Source<Int> condition(arguments[0], out.shape, ACL_BOOL);
        Source<T> yes(arguments[1], out.shape, dtype), no(arguments[2], out.shape, dtype);
        Walk to(out, out.shape);
        for (int64_t left = out.elements(); left > 0; --left) {
            const T a = yes.next(), b = no.next();
            write_as(to.place(), out.dtype, condition.next() != 0 ? a : b, dtype);
            to.next();
        }
    });
}
constexpr auto kClamp = [](auto x, auto low, auto high)
    requires Ordered<decltype(x)>
{ return x != x ? x : smaller(larger(x, low), high); };
constexpr auto kMost = [](auto x, auto high)
    requires Ordered<decltype(x)>
{ return smaller(x, high); };
constexpr auto kLeast = [](auto x, auto low)
    requires Ordered<decltype(x)>
{ return larger(x, low); };
}  // namespace

#define ALL_REAL "f32 f16 bf16 f64 i8 i16 i32 i64 u8 b"
#define ALL_REAL_AND_COMPLEX ALL_REAL " c64 c128"
// Functions of f(x) that std:: has for real and complex numbers.
#define MATH(function)                \
    [](auto x)                        \
        requires Inexact<decltype(x)> \
    { return std::function(x); }
#define REAL_MATH(function) [](Real x) { return std::function(x); }

UNARY(aclnnAbs, Rule::kAbs, ALL_REAL " c64",
      Overloaded{[](Int x) { return x < 0 ? -x : x; }, [](Real x) { return std::abs(x); },
                 [](Complex x) { return std::abs(x); }})
UNARY(aclnnAcos, Rule::kFloat, ALL_REAL, REAL_MATH(acos))
UNARY(aclnnAcosh, Rule::kFloat, ALL_REAL_AND_COMPLEX, MATH(acosh))
UNARY(aclnnAsin, Rule::kFloat, ALL_REAL, REAL_MATH(asin))
UNARY(aclnnAsinh, Rule::kFloat, ALL_REAL_AND_COMPLEX, MATH(asinh))
UNARY(aclnnAtan, Rule::kFloat, ALL_REAL, REAL_MATH(atan))
UNARY(aclnnAtanh, Rule::kFloat, ALL_REAL_AND_COMPLEX, MATH(atanh))
UNARY(aclnnCos, Rule::kFloat, ALL_REAL_AND_COMPLEX, MATH(cos))
UNARY(aclnnCosh, Rule::kFloat, ALL_REAL_AND_COMPLEX, MATH(cosh))
UNARY(aclnnExp, Rule::kFloat, "f32 f16 bf16 f64 i64 b c64 c128", MATH(exp))
UNARY(aclnnExpm1, Rule::kFloat, "f32 f16 bf16 i64 b", REAL_MATH(expm1))
UNARY(aclnnLog, Rule::kFloat, ALL_REAL_AND_COMPLEX, MATH(log))
UNARY(aclnnLog1p, Rule::kFloat, ALL_REAL, REAL_MATH(log1p))
UNARY(aclnnLog2, Rule::kFloat, ALL_REAL_AND_COMPLEX,
      Overloaded{REAL_MATH(log2), [](Complex x) { return std::log(x) / std::log(2.0); }})
UNARY(aclnnLog10, Rule::kFloat, ALL_REAL_AND_COMPLEX, MATH(log10))
UNARY(aclnnReciprocal, Rule::kFloat, ALL_REAL_AND_COMPLEX,
      [](auto x)
          requires Inexact<decltype(x)>
      { return 1.0 / x; })
UNARY(aclnnSin, Rule::kFloat, ALL_REAL_AND_COMPLEX, MATH(sin))
UNARY(aclnnSinh, Rule::kFloat, ALL_REAL_AND_COMPLEX, MATH(sinh))
UNARY(aclnnSqrt, Rule::kFloat, ALL_REAL_AND_COMPLEX, MATH(sqrt))
UNARY(aclnnTan, Rule::kFloat, ALL_REAL_AND_COMPLEX, MATH(tan))
UNARY(aclnnTanh, Rule::kFloat, "f32 f16 bf16 i8 i16 i32 i64 u8 b", REAL_MATH(tanh))

UNARY(aclnnCeil, Rule::kSame, "f32 f16 bf16 f64", REAL_MATH(ceil))
UNARY(aclnnFloor, Rule::kSame, "f32 f16 bf16 f64 i8 i16 i32 i64 u8 u16 u32 u64",
      Overloaded{[](Int x) { return x; }, REAL_MATH(floor)})
UNARY(aclnnRound, Rule::kSame, "f32 f16 bf16 f64 i32 i64",
      Overloaded{[](Int x) { return x; }, REAL_MATH(nearbyint)})
UNARY(aclnnTrunc, Rule::kSame, "f32 f16 bf16", REAL_MATH(trunc))
UNARY(aclnnNeg, Rule::kSame, "f32 f16 bf16 f64 i8 i32 i64 c64 c128", [](auto x) { return -x; })
UNARY(aclnnSign, Rule::kSame, "f32 f16 f64 i32 i64 b c64 c128",
      Overloaded{[](Int x) { return Int{(x > 0) - (x < 0)}; },
                 [](Real x) { return std::isnan(x) ? x : Real((x > 0) - (x < 0)); },
                 [](Complex x) { return x == 0.0 ? x : x / std::abs(x); }})
UNARY(aclnnSignbit, Rule::kBool, "f32 f16 bf16 f64 i8 i16 i32 i64 u8 u16 u32 u64 b",
      Overloaded{[](Int x) { return Int{x < 0}; }, [](Real x) { return Int{std::signbit(x)}; }})
UNARY(aclnnIsFinite, Rule::kBool, ALL_REAL,
      Overloaded{[](Int) { return Int{1}; }, [](Real x) { return Int{std::isfinite(x)}; }})
UNARY(aclnnIsInf, Rule::kBool, ALL_REAL,
      Overloaded{[](Int) { return Int{0}; }, [](Real x) { return Int{std::isinf(x)}; }})
UNARY(aclnnLogicalNot, Rule::kBool, ALL_REAL,
      [](auto x)
          requires Ordered<decltype(x)>
      { return Int{x == 0}; })
ENTRY2(aclnnBitwiseNot, In, Out)
BEHAVES(aclnnBitwiseNot, "i8 i16 i32 i64 u8 b", "", checker(Rule::kSame), [](Arguments& arguments) {
    if (arguments[0].tensor().dtype == ACL_BOOL) {
        mapper<1>(Rule::kSame, [](Int x) { return Int{x == 0}; })(arguments);
    } else {
        mapper<1>(Rule::kSame, [](Int x) { return ~x; })(arguments);
    }
})

BINARY(aclnnMul, Rule::kSame, ALL_REAL_AND_COMPLEX, [](auto a, auto b) { return a * b; })
BINARY(aclnnDiv, Rule::kFloat, ALL_REAL_AND_COMPLEX,
       [](auto a, auto b)
           requires Inexact<decltype(a)>
       { return a / b; })
BINARY(aclnnFloorDivide, Rule::kSame, ALL_REAL,
       [](auto a, auto b)
           requires Ordered<decltype(a)>
       { return floor_divide(a, b); })
BINARY(aclnnRemainderTensorTensor, Rule::kSame, "f32 f16 bf16 f64 i32 i64",
       [](auto a, auto b)
           requires Ordered<decltype(a)>
       { return remainder(a, b); })
BINARY(aclnnPowTensorTensor, Rule::kSame, ALL_REAL_AND_COMPLEX,
       Overloaded{[](Int a, Int b) { return power(a, b); }, [](auto a, auto b)
                      requires Inexact<decltype(a)>
                  { return std::pow(a, b); }})
BINARY(aclnnAtan2, Rule::kFloat, ALL_REAL, [](Real a, Real b) { return std::atan2(a, b); })
BINARY(aclnnMaximum, Rule::kSame, ALL_REAL,
       [](auto a, auto b)
           requires Ordered<decltype(a)>
       { return larger(a, b); })
BINARY(aclnnMinimum, Rule::kSame, ALL_REAL,
       [](auto a, auto b)
           requires Ordered<decltype(a)>
       { return smaller(a, b); })
BINARY(aclnnLogAddExp, Rule::kSame, "f32 f16 bf16", [](Real a, Real b) {
    const Real high = std::fmax(a, b);
    return a == b ? a + std::log(2.0) : high + std::log1p(std::exp(-std::abs(a - b)));
})
BINARY(aclnnBitwiseAndTensor, Rule::kSame, "i8 i16 i32 i64 u8 u16 b",
       [](Int a, Int b) { return a & b; })
BINARY(aclnnBitwiseOrTensor, Rule::kSame, "i8 i16 i32 i64 u8 u16 u32 u64 b",
       [](Int a, Int b) { return a | b; })
BINARY(aclnnBitwiseXorTensor, Rule::kSame, "i8 i16 i32 i64 u8 b",
       [](Int a, Int b) { return a ^ b; })
BINARY(aclnnLeftShift, Rule::kSame, "i8 i16 i32 i64 u8 u16 u32 u64", shift_left)
BINARY(aclnnRightShift, Rule::kSame, "i8 i16 i32 i64 u8 u16 u32 u64", shift_right)
BINARY(aclnnLogicalAnd, Rule::kBool, ALL_REAL_AND_COMPLEX,
       [](auto a, auto b) { return kIsTrue(a) & kIsTrue(b); })
BINARY(aclnnLogicalOr, Rule::kBool, ALL_REAL_AND_COMPLEX,
       [](auto a, auto b) { return kIsTrue(a) | kIsTrue(b); })
BINARY(aclnnLogicalXor, Rule::kBool, ALL_REAL_AND_COMPLEX,
       [](auto a, auto b) { return kIsTrue(a) ^ kIsTrue(b); })

#define COMPARISON(tensor, scalar, dtypes, kinds, op) \
    BINARY(tensor, Rule::kBool, dtypes,               \
           [](auto a, auto b)                         \
               requires kinds<decltype(a)>            \
           { return Int{a op b}; })                   \
    TENSOR_SCALAR(scalar, Rule::kBool, dtypes,        \
                  [](auto a, auto b)                  \
                      requires kinds<decltype(a)>     \
                  { return Int{a op b}; })
COMPARISON(aclnnEqTensor, aclnnEqScalar, ALL_REAL_AND_COMPLEX, AnyKind, ==)
COMPARISON(aclnnNeTensor, aclnnNeScalar, ALL_REAL_AND_COMPLEX, AnyKind, !=)
COMPARISON(aclnnGtTensor, aclnnGtScalar, ALL_REAL " u16 u32 u64", Ordered, >)
COMPARISON(aclnnGeTensor, aclnnGeScalar, "f32 f16 bf16 f64 i8 i16 i32 i64 u8 u16 u32 u64", Ordered,
           >=)
COMPARISON(aclnnLtTensor, aclnnLtScalar, ALL_REAL " u16 u32 u64", Ordered, <)
COMPARISON(aclnnLeTensor, aclnnLeScalar, ALL_REAL " u16", Ordered, <=)

TENSOR_SCALAR(aclnnMuls, Rule::kSame, ALL_REAL_AND_COMPLEX, [](auto a, auto b) { return a * b; })
TENSOR_SCALAR(aclnnDivs, Rule::kFloat, ALL_REAL_AND_COMPLEX,
              [](auto a, auto b)
                  requires Inexact<decltype(a)>
              { return a / b; })
TENSOR_SCALAR(aclnnFloorDivides, Rule::kSame, ALL_REAL,
              [](auto a, auto b)
                  requires Ordered<decltype(a)>
              { return floor_divide(a, b); })
TENSOR_SCALAR(aclnnRemainderTensorScalar, Rule::kSame, "f32 f16 bf16 f64 i32 i64",
              [](auto a, auto b)
                  requires Ordered<decltype(a)>
              { return remainder(a, b); })
TENSOR_SCALAR(aclnnPowTensorScalar, Rule::kSame, ALL_REAL_AND_COMPLEX,
              Overloaded{[](Int a, Int b) { return power(a, b); }, [](auto a, auto b)
                             requires Inexact<decltype(a)>
                         { return std::pow(a, b); }})
TENSOR_SCALAR(aclnnBitwiseAndScalar, Rule::kSame, "i8 i16 i32 i64 u8 b",
              [](Int a, Int b) { return a & b; })
TENSOR_SCALAR(aclnnBitwiseOrScalar, Rule::kSame, "i8 i16 i32 i64 u8 b",
              [](Int a, Int b) { return a | b; })
TENSOR_SCALAR(aclnnBitwiseXorScalar, Rule::kSame, "i8 i16 i32 i64 u8 b",
              [](Int a, Int b) { return a ^ b; })
ENTRY3(aclnnPowScalarTensor, Number, In, Out)
BEHAVES(aclnnPowScalarTensor, ALL_REAL_AND_COMPLEX, "", checker(Rule::kSame),
        mapper<2>(Rule::kSame,
                  Overloaded{[](Int a, Int b) { return power(a, b); }, [](auto a, auto b)
                                 requires Inexact<decltype(a)>
                             { return std::pow(a, b); }}))

// self ± alpha * other
#define WITH_ALPHA(name, Other, f)       \
    ENTRY4(name, In, Other, Number, Out) \
    BEHAVES(name, ALL_REAL_AND_COMPLEX, "", check_alpha, with_alpha(f))
WITH_ALPHA(aclnnAdd, In, kAdd)
WITH_ALPHA(aclnnSub, In, kSubtract)
WITH_ALPHA(aclnnAdds, Number, kAdd)
WITH_ALPHA(aclnnSubs, Number, kSubtract)
WITH_ALPHA(aclnnRsubs, Number, kSubtractFrom)

// A complex number's real part.
ENTRY2(aclnnReal, In, Out)
BEHAVES(aclnnReal, "f32 f16 c64 c128", "", checker(Rule::kAbs),
        mapper<1>(Rule::kAbs,
                  Overloaded{[](Real x) { return x; }, [](Complex x) { return x.real(); }}))

// condition ? self : other
ENTRY4(aclnnSWhere, In, In, In, Out)
BEHAVES(aclnnSWhere, ALL_REAL_AND_COMPLEX " u16 u32 u64", "", check_where, run_where)

// Bounds: NaN passes through, the lower one is taken first.
#define CLAMP_DTYPES "f32 f16 bf16 f64 i8 i16 i32 i64 u8"
ENTRY4(aclnnClampTensor, In, In, In, Out)
BEHAVES(aclnnClampTensor, CLAMP_DTYPES, "", checker(Rule::kSame), mapper<3>(Rule::kSame, kClamp))
ENTRY4(aclnnClamp, In, Number, Number, Out)
BEHAVES(aclnnClamp, CLAMP_DTYPES, "12", checker(Rule::kSame), [](Arguments& arguments) {
    if (!arguments[2].given()) {
        mapper<2>(Rule::kSame, kLeast)(arguments);
    } else if (!arguments[1].given()) {
        std::swap(arguments[1], arguments[2]);
        mapper<2>(Rule::kSame, kMost)(arguments);
    } else {
        mapper<3>(Rule::kSame, kClamp)(arguments);
    }
})
BINARY(aclnnClampMinTensor, Rule::kSame, CLAMP_DTYPES, kLeast)
BINARY(aclnnClampMaxTensor, Rule::kSame, CLAMP_DTYPES, kMost)
TENSOR_SCALAR(aclnnClampMin, Rule::kSame, CLAMP_DTYPES, kLeast)
TENSOR_SCALAR(aclnnClampMax, Rule::kSame, CLAMP_DTYPES, kMost)

}  // namespace cann_double
