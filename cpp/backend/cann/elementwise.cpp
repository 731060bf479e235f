#include "backend/cann/elementwise.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "backend/cann/words.h"
#include "backend/cpu/elementwise.h"
#include "core/view.h"

namespace asc::cann {
namespace {

using Unary = Operation<void(const aclTensor*, aclTensor*)>;
using Binary = Operation<void(const aclTensor*, const aclTensor*, aclTensor*)>;
using Scaled = Operation<void(const aclTensor*, const aclTensor*, const aclScalar*, aclTensor*)>;
using ByScalar = Operation<void(const aclTensor*, const aclScalar*, aclTensor*)>;
using ScaledByScalar =
    Operation<void(const aclTensor*, const aclScalar*, const aclScalar*, aclTensor*)>;

// Sets of dtypes, by what 910B chips have.
constexpr uint32_t of(std::initializer_list<DType> dtypes) {
    uint32_t set = 0;
    for (DType d : dtypes) set |= bit(d);
    return set;
}
using enum DType;
constexpr uint32_t kBool = of({Bool});
constexpr uint32_t kFloat32 = of({Float32});
constexpr uint32_t kReal = of({Float32, Float64});
constexpr uint32_t kComplex = of({Complex64, Complex128});
constexpr uint32_t kSigned = of({Int8, Int16, Int32, Int64});
constexpr uint32_t kInteger = kSigned | of({UInt8});
constexpr uint32_t kUnsigned = of({UInt16, UInt32, UInt64});
constexpr uint32_t kNumber = kReal | kInteger;

// How operands become arguments.
enum class Form : uint8_t {
    Once,     // (x, out)
    Pair,     // (x, y, out)
    Twice,    // (x, x, out)
    Modular,  // as Pair; bits do not depend on the sign, so that unsigned integers go as signed
              // ones
    Scaled,   // as Modular, with a factor of y, which is 1
    Same,     // out = x
    Select,   // (condition, x, y, out)
    Clamp,    // the lesser of the greater
    Sign,     // of what is no NaN
    SignBit,  // of the bits
};

struct Row {
    Op op;
    Form form;
    uint32_t dtypes;
    Unary Functions::* unary = nullptr;
    Binary Functions::* binary = nullptr;
    Scaled Functions::* scaled = nullptr;
    ByScalar Functions::* by_scalar = nullptr;  // where y is a number
    ScaledByScalar Functions::* scaled_by_scalar = nullptr;
    ScaledByScalar Functions::* scalar_by_scaled = nullptr;  // where x is one, with y first
};

constexpr Row once(Op op, uint32_t dtypes, Unary Functions::* f) {
    return {.op = op, .form = Form::Once, .dtypes = dtypes, .unary = f};
}
constexpr Row pair(Op op, uint32_t dtypes, Binary Functions::* f,
                   ByScalar Functions::* by_scalar = nullptr, Form form = Form::Pair) {
    return {.op = op, .form = form, .dtypes = dtypes, .binary = f, .by_scalar = by_scalar};
}
constexpr Row modular(Op op, uint32_t dtypes, Binary Functions::* f,
                      ByScalar Functions::* by_scalar = nullptr) {
    return pair(op, dtypes, f, by_scalar, Form::Modular);
}
constexpr Row scaled(Op op, uint32_t dtypes, Scaled Functions::* f,
                     ScaledByScalar Functions::* y_number, ScaledByScalar Functions::* x_number) {
    return {.op = op,
            .form = Form::Scaled,
            .dtypes = dtypes,
            .scaled = f,
            .scaled_by_scalar = y_number,
            .scalar_by_scaled = x_number};
}

using F = Functions;
// The first row of an operation with the dtype says how it is computed. What is not listed, or not
// exact enough, or differs from the standard for some values, is the host's.
constexpr Row kRows[] = {
    once(Op::Abs, kNumber, &F::aclnnAbs),
    once(Op::Acos, kReal, &F::aclnnAcos),
    once(Op::Acosh, kReal, &F::aclnnAcosh),
    once(Op::Asin, kReal, &F::aclnnAsin),
    once(Op::Asinh, kReal, &F::aclnnAsinh),
    once(Op::Atan, kReal, &F::aclnnAtan),
    once(Op::Atanh, kReal, &F::aclnnAtanh),
    once(Op::BitwiseInvert, kBool, &F::aclnnLogicalNot),
    once(Op::BitwiseInvert, kInteger, &F::aclnnBitwiseNot),
    once(Op::Ceil, kReal, &F::aclnnCeil),
    once(Op::Cos, kReal, &F::aclnnCos),
    once(Op::Cosh, kReal, &F::aclnnCosh),
    once(Op::Exp, kReal, &F::aclnnExp),
    once(Op::Expm1, kFloat32, &F::aclnnExpm1),
    once(Op::Floor, kReal, &F::aclnnFloor),
    once(Op::IsFinite, kReal, &F::aclnnIsFinite),
    once(Op::IsInf, kReal, &F::aclnnIsInf),
    once(Op::Log, kReal, &F::aclnnLog),
    once(Op::Log1p, kReal, &F::aclnnLog1p),
    once(Op::Log2, kReal, &F::aclnnLog2),
    once(Op::Log10, kReal, &F::aclnnLog10),
    once(Op::LogicalNot, kBool, &F::aclnnLogicalNot),
    once(Op::Negative, kReal | kComplex | of({Int8, Int32, Int64}), &F::aclnnNeg),
    once(Op::Reciprocal, kReal, &F::aclnnReciprocal),
    once(Op::Round, kReal, &F::aclnnRound),
    once(Op::Sign, of({Int32, Int64}), &F::aclnnSign),
    once(Op::Sin, kReal, &F::aclnnSin),
    once(Op::Sinh, kReal, &F::aclnnSinh),
    once(Op::Sqrt, kReal, &F::aclnnSqrt),
    once(Op::Tan, kReal, &F::aclnnTan),
    once(Op::Tanh, kFloat32, &F::aclnnTanh),
    once(Op::Trunc, kFloat32, &F::aclnnTrunc),
    {.op = Op::Ceil, .form = Form::Same, .dtypes = kInteger | kUnsigned},
    {.op = Op::Floor, .form = Form::Same, .dtypes = kInteger | kUnsigned},
    {.op = Op::Round, .form = Form::Same, .dtypes = kInteger | kUnsigned},
    {.op = Op::Trunc, .form = Form::Same, .dtypes = kInteger | kUnsigned},
    {.op = Op::Abs, .form = Form::Same, .dtypes = kUnsigned},
    {.op = Op::Conj, .form = Form::Same, .dtypes = kNumber | kUnsigned},
    {.op = Op::Positive, .form = Form::Same, .dtypes = kNumber | kUnsigned | kComplex},
    {.op = Op::Sign, .form = Form::Sign, .dtypes = kFloat32, .unary = &F::aclnnSign},
    {.op = Op::SignBit, .form = Form::SignBit, .dtypes = kReal},
    pair(Op::IsNan, kReal | kComplex, &F::aclnnNeTensor, nullptr, Form::Twice),
    pair(Op::Square, kNumber | kUnsigned | kComplex, &F::aclnnMul, nullptr, Form::Twice),
    scaled(Op::Add, kNumber | kUnsigned | kComplex, &F::aclnnAdd, &F::aclnnAdds, &F::aclnnAdds),
    scaled(Op::Subtract, kNumber | kUnsigned | kComplex, &F::aclnnSub, &F::aclnnSubs,
           &F::aclnnRsubs),
    modular(Op::Multiply, kNumber | kUnsigned | kComplex, &F::aclnnMul, &F::aclnnMuls),
    modular(Op::Equal, kNumber | kUnsigned | kComplex | kBool, &F::aclnnEqTensor,
            &F::aclnnEqScalar),
    modular(Op::NotEqual, kNumber | kUnsigned | kComplex | kBool, &F::aclnnNeTensor,
            &F::aclnnNeScalar),
    modular(Op::BitwiseAnd, kBool, &F::aclnnLogicalAnd),
    modular(Op::BitwiseOr, kBool, &F::aclnnLogicalOr),
    modular(Op::BitwiseXor, kBool, &F::aclnnLogicalXor),
    modular(Op::BitwiseAnd, kInteger | kUnsigned, &F::aclnnBitwiseAndTensor),
    modular(Op::BitwiseOr, kInteger | kUnsigned, &F::aclnnBitwiseOrTensor),
    modular(Op::BitwiseXor, kInteger | kUnsigned, &F::aclnnBitwiseXorTensor),
    pair(Op::LogicalAnd, kBool, &F::aclnnLogicalAnd),
    pair(Op::LogicalOr, kBool, &F::aclnnLogicalOr),
    pair(Op::LogicalXor, kBool, &F::aclnnLogicalXor),
    pair(Op::Atan2, kReal, &F::aclnnAtan2),
    pair(Op::Divide, kReal, &F::aclnnDiv, &F::aclnnDivs),
    pair(Op::Greater, kNumber | kUnsigned, &F::aclnnGtTensor, &F::aclnnGtScalar),
    pair(Op::GreaterEqual, kNumber | kUnsigned, &F::aclnnGeTensor, &F::aclnnGeScalar),
    pair(Op::Less, kNumber | kUnsigned, &F::aclnnLtTensor, &F::aclnnLtScalar),
    pair(Op::LessEqual, kNumber | of({UInt16, UInt64}), &F::aclnnLeTensor, &F::aclnnLeScalar),
    pair(Op::LogAddExp, kFloat32, &F::aclnnLogAddExp),
    pair(Op::Maximum, kNumber, &F::aclnnMaximum),
    pair(Op::Minimum, kNumber, &F::aclnnMinimum),
    pair(Op::Pow, kReal, &F::aclnnPowTensorTensor, &F::aclnnPowTensorScalar),
    {.op = Op::Clip, .form = Form::Clamp, .dtypes = kNumber},
    {.op = Op::Where,
     .form = Form::Select,
     .dtypes = kNumber | kUnsigned | kComplex | kBool | of({Float16, BFloat16})},
};

const Row* find(Op op, DType compute) {
    const auto found = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& row) {
        return row.op == op && (row.dtypes & bit(compute));
    });
    return found == std::end(kRows) ? nullptr : found;
}

// The operation of exchanged operands, where there is one.
std::optional<Op> mirrored(Op op) {
    switch (op) {
        case Op::Multiply:
        case Op::Equal:
        case Op::NotEqual:
            return op;
        case Op::Less:
            return Op::Greater;
        case Op::Greater:
            return Op::Less;
        case Op::LessEqual:
            return Op::GreaterEqual;
        case Op::GreaterEqual:
            return Op::LessEqual;
        default:
            return std::nullopt;
    }
}

// Elements, or one number for all of them as a register holds it.
struct Source {
    std::optional<View> view;
    const std::byte* number = nullptr;
};

// The number 1.
Number one(DType dtype) {
    alignas(16) std::byte value[16] = {};
    dispatch(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (std::is_arithmetic_v<T>) {
            *reinterpret_cast<T*>(value) = T(1);
        } else if constexpr (requires(T t) { t.re; }) {
            reinterpret_cast<T*>(value)->re = 1;
        }
    });
    return {dtype, value};
}

// One operation under way. Its operands have the dtypes of its registers.
class Call {
  public:
    Call(Npu& npu, const Row& row, DType compute, std::span<const Source> operands)
        : npu_(npu), row_(&row), compute_(compute) {
        std::copy(operands.begin(), operands.end(), operands_);
    }

    bool run(const View& out) {
        if (!cover(out.shape)) return false;
        switch (row_->form) {
            case Form::Once:
                return npu_.call(acl().*row_->unary, x(0), out);
            case Form::Same:
                return npu_.assign(out, x(0));
            case Form::Twice:
                return npu_.call(acl().*row_->binary, signless(x(0)), signless(x(0)),
                                 signless(out));
            case Form::Pair:
            case Form::Modular:
                return run_pair(out);
            case Form::Scaled:
                return run_scaled(out);
            case Form::Select:
                return npu_.call(acl().aclnnSWhere, x(0), signless(x(1)), signless(x(2)),
                                 signless(out));
            case Form::Clamp: {
                const View raised = npu_.temporary(compute_, out.shape);
                return npu_.call(acl().aclnnMaximum, x(0), x(1), raised) &&
                       npu_.call(acl().aclnnMinimum, raised, x(2), out);
            }
            case Form::Sign: {
                const View sign = npu_.temporary(compute_, out.shape);
                const View number = npu_.temporary(DType::Bool, out.shape);
                return npu_.call(acl().aclnnSign, x(0), sign) &&
                       npu_.call(acl().aclnnEqTensor, x(0), x(0), number) &&
                       npu_.call(acl().aclnnSWhere, number, sign, x(0), out);
            }
            case Form::SignBit: {
                const DType integer = signed_integer(compute_);
                const int64_t zero = 0;
                return npu_.call(acl().aclnnLtScalar, x(0).as(integer), Number(integer, &zero),
                                 out);
            }
        }
        __builtin_unreachable();
    }

  private:
    DType dtype_of(int k) const {
        return row_->form == Form::Select && k == 0 ? DType::Bool : compute_;
    }
    // Unsigned integers as signed ones, where the bits of the result are the same.
    DType signless(DType dtype) const {
        const bool applies = row_->form != Form::Pair && (bit(dtype) & kUnsigned);
        return applies ? signed_integer(dtype) : dtype;
    }
    View signless(const View& v) const { return v.as(signless(v.dtype)); }
    const void* number(int k) {
        // A register's bool has all bits set.
        truth_[k] = static_cast<int>(operands_[k].number[0]) != 0;
        return is_bool(dtype_of(k)) ? static_cast<const void*>(&truth_[k]) : operands_[k].number;
    }
    Number scalar(int k) { return {signless(dtype_of(k)), number(k)}; }
    // The operand as elements, which a number becomes here.
    const View& x(int k) {
        std::optional<View>& view = operands_[k].view;
        if (!view) view = npu_.constant(dtype_of(k), number(k));
        return *view;
    }
    // CANN takes the shape of the result from the operands: together they have it.
    bool cover(const Dims& shape) {
        Dims covered;
        std::optional<View>* first = nullptr;
        for (Source& operand : operands_) {
            if (!operand.view) continue;
            operand.view = operand.view->unbroadcast();
            if (!first) first = &operand.view;
            covered = broadcast_shapes(covered, operand.view->shape, running_function);
        }
        if (covered == shape) return true;
        if (!first) operands_[0].view = x(0);
        View& spread = first ? **first : *operands_[0].view;
        const View made = npu_.temporary(spread.dtype, shape);
        if (!npu_.assign(made, spread)) return false;
        spread = made;
        return true;
    }
    bool run_pair(const View& out) {
        const std::optional<Op> other = mirrored(row_->op);
        const Row* exchanged = other && !operands_[0].view ? find(*other, compute_) : nullptr;
        if (exchanged) {
            row_ = exchanged;
            std::swap(operands_[0], operands_[1]);
        }
        if (!operands_[1].view && row_->by_scalar &&
            npu_.call(acl().*row_->by_scalar, signless(x(0)), scalar(1), signless(out)))
            return true;
        return npu_.call(acl().*row_->binary, signless(x(0)), signless(x(1)), signless(out));
    }
    // A factor of 1 is not neutral for complex infinities: their parts are added as real numbers.
    bool run_parts(const View& out) {
        if (out.ndim() == kMostDims) return false;
        const View parts = out.reals();
        return npu_.call(acl().*row_->scaled, x(0).reals(), x(1).reals(), one(parts.dtype), parts);
    }
    bool run_scaled(const View& out) {
        if (is_complex(compute_)) return run_parts(out);
        const Number factor = one(signless(compute_));
        if (!operands_[1].view && npu_.call(acl().*row_->scaled_by_scalar, signless(x(0)),
                                            scalar(1), factor, signless(out)))
            return true;
        if (!operands_[0].view && npu_.call(acl().*row_->scalar_by_scaled, signless(x(1)),
                                            scalar(0), factor, signless(out)))
            return true;
        return npu_.call(acl().*row_->scaled, signless(x(0)), signless(x(1)), factor,
                         signless(out));
    }

    Npu& npu_;
    const Row* row_;
    DType compute_;
    Source operands_[3];
    bool truth_[3] = {};
};

// The shape under which CANN sees an index space.
Dims seen_as(const Dims& shape) { return shape.size() <= kMostDims ? shape : Dims{product(shape)}; }

// The elements of an array in a dtype, for results of a shape.
std::optional<View> elements(Npu& npu, const Array& x, DType dtype, const Dims& shape) {
    std::optional<View> view = npu.read(x);
    if (!view) return std::nullopt;
    view = npu.cast(view->unbroadcast(), dtype);
    if (!view || shape.size() <= kMostDims) return view;
    const View spread = npu.temporary(dtype, shape);
    if (!npu.assign(spread, *view)) return std::nullopt;
    return spread.reshaped(seen_as(shape));
}

// The registers of a program while it runs.
class Registers {
  public:
    Registers(Npu& npu, const ProgramCall& call)
        : npu_(npu), call_(call), results_(call.program->code.size()) {}

    bool run() {
        const auto& code = call_.program->code;
        const bool direct = last_goes_out();
        for (size_t i = 0; i + direct < code.size(); ++i) {
            results_[i] = npu_.temporary(code[i].result, seen_as(shape()));
            if (!compute(code[i], *results_[i])) return false;
            forget(i);
        }
        for (size_t k = 0; k < call_.outputs.size(); ++k) {
            const Program::Output& from = call_.program->outputs[k];
            const auto store = [&](const View& out) {
                if (direct && is_last(from.value)) return compute(code.back(), out);
                const std::optional<View> value = view(from.value, from.dtype);
                return value && npu_.assign(out, *value);
            };
            if (!npu_.write(call_.outputs[k], from.dtype, store)) return false;
        }
        return true;
    }

  private:
    const Dims& shape() const { return call_.outputs[0].shape; }
    bool is_last(const Value& v) const {
        return v.from == Value::From::Result && v.index + size_t{1} == call_.program->code.size();
    }
    // The last instruction writes an output, and nothing else needs its result or what it replaces.
    bool last_goes_out() const {
        return call_.outputs.size() == 1 && is_last(call_.program->outputs[0].value);
    }
    // Gives back what no instruction behind i reads and no output is.
    void forget(size_t i) {
        for (size_t k = 0; k <= i; ++k) {
            const Value v{Value::From::Result, static_cast<uint8_t>(k)};
            bool needed = false;
            for (size_t j = i + 1; j < call_.program->code.size(); ++j) {
                const Instruction& later = call_.program->code[j];
                needed |= std::find(later.source, later.source + later.arity, v) !=
                          later.source + later.arity;
            }
            for (const Program::Output& out : call_.program->outputs) needed |= out.value == v;
            if (!needed) results_[k].reset();
        }
    }
    Source source(const Value& v, DType dtype) {
        if (v.from == Value::From::Constant) return {{}, call_.constants[v.index].bytes};
        return {view(v, dtype), nullptr};
    }
    std::optional<View> view(const Value& v, DType dtype) {
        if (v.from == Value::From::Input)
            return elements(npu_, call_.inputs[v.index], dtype, shape());
        if (v.from == Value::From::Result) return npu_.cast(*results_[v.index], dtype);
        const DType own = call_.program->constants[v.index];
        const bool truth = call_.constants[v.index].bytes[0] != std::byte{0};
        const void* bytes =
            is_bool(own) ? static_cast<const void*>(&truth) : call_.constants[v.index].bytes;
        return npu_.cast(npu_.constant(own, bytes), dtype);
    }
    bool compute(const Instruction& code, const View& out) {
        if (code.converts) {
            const std::optional<View> from = view(code.source[0], code.dtype);
            return from && npu_.assign(out, *from);
        }
        Source sources[3];
        for (int k = 0; k < code.arity; ++k) {
            sources[k] = source(code.source[k], cpu::register_dtype(code.op, k, code.dtype));
            if (!sources[k].view && !sources[k].number) return false;
        }
        return compute(code.op, code.dtype, {sources, code.arity}, out);
    }
    bool compute(Op op, DType dtype, std::span<const Source> sources, const View& out) {
        const Row* row = find(op, dtype);
        return row && Call(npu_, *row, dtype, sources).run(out);
    }

    Npu& npu_;
    const ProgramCall& call_;
    std::vector<std::optional<View>> results_;
};

}  // namespace

bool supports(Op op, DType compute) { return find(op, compute) != nullptr; }

const char* operation_of(Op op, DType compute) {
    const Row* row = find(op, compute);
    if (!row) return nullptr;
    if (row->unary) return (acl().*row->unary).name;
    if (row->binary) return (acl().*row->binary).name;
    return row->scaled ? (acl().*row->scaled).name : nullptr;
}

bool elementwise(Npu& npu, Op op, DType compute, std::span<const Operand> operands,
                 const Array& out) {
    if (out.size() == 0) return true;
    const Row* row = find(op, compute);
    if (!row) return false;
    Source sources[3];
    for (size_t k = 0; k < operands.size(); ++k) {
        sources[k].number = operands[k].scalar;
        if (!operands[k].array) continue;
        const DType dtype = cpu::register_dtype(op, static_cast<int>(k), compute);
        sources[k].view = elements(npu, *operands[k].array, dtype, out.shape);
        if (!sources[k].view) return false;
    }
    Call call(npu, *row, compute, {sources, operands.size()});
    return npu.write(out, result_dtype(info(op).result, compute),
                     [&](const View& target) { return call.run(target); });
}

bool run(Npu& npu, const ProgramCall& call) {
    if (call.outputs[0].size() == 0) return true;
    for (const Instruction& code : call.program->code) {
        if (!code.converts && !supports(code.op, code.dtype)) return false;
    }
    return run_on_words(npu, call) || Registers(npu, call).run();
}

}  // namespace asc::cann
