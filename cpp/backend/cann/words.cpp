#include "backend/cann/words.h"

#include <algorithm>
#include <vector>

namespace asc::cann {
namespace {

using Binary = Operation<void(const aclTensor*, const aclTensor*, aclTensor*)>;

enum class Logic : uint8_t { And, Or, Xor, Not };

std::optional<Logic> logic(Op op) {
    switch (op) {
        case Op::BitwiseAnd:
        case Op::LogicalAnd:
            return Logic::And;
        case Op::BitwiseOr:
        case Op::LogicalOr:
            return Logic::Or;
        case Op::BitwiseXor:
        case Op::LogicalXor:
        case Op::NotEqual:
            return Logic::Xor;
        case Op::BitwiseInvert:
        case Op::LogicalNot:
            return Logic::Not;
        default:
            return std::nullopt;
    }
}

bool is_logic(const Instruction& code) {
    return is_bool(code.dtype) && !code.converts && logic(code.op);
}

class Words {
  public:
    Words(Npu& npu, const ProgramCall& call) : npu_(npu), call_(call) {}

    // All arrays as words of one size; false where that cannot be.
    bool find(DType word) {
        word_ = word;
        inputs_.clear();
        outputs_.clear();
        for (const Array& x : call_.inputs)
            if (!add(inputs_, x, false)) return false;
        for (const Array& x : call_.outputs)
            if (!add(outputs_, x, true)) return false;
        return true;
    }

    bool run() {
        for (const Array& x : call_.inputs) npu_.bring(piece_of(x));
        const auto& code = call_.program->code;
        for (const Instruction& each : code) {
            // The last one writes an output itself, where that is all there is to write.
            const bool direct = outputs_.size() == 1 && &each == &code.back() &&
                                call_.program->outputs[0].value.from == Value::From::Result &&
                                call_.program->outputs[0].value.index + size_t{1} == code.size();
            results_.push_back(direct ? outputs_[0] : npu_.temporary(word_, shape()));
            if (direct) prepare(0);
            if (!compute(each, results_.back())) return false;
            if (direct) return finish(0);
        }
        for (size_t k = 0; k < outputs_.size(); ++k) {
            prepare(k);
            if (!npu_.assign(outputs_[k], value(call_.program->outputs[k].value))) return false;
            finish(k);
        }
        return true;
    }

  private:
    const Dims& shape() const { return outputs_[0].shape; }
    bool add(std::vector<View>& list, const Array& x, bool written) {
        if (!is_bool(x.dtype) || x.shape != call_.outputs[0].shape) return false;
        const std::optional<View> words = npu_.words(x, word_, written);
        if (words) list.push_back(*words);
        return words.has_value();
    }
    void prepare(size_t k) {
        const Array& out = call_.outputs[k];
        if (!covers(out, piece_of(out))) npu_.bring(piece_of(out));
    }
    bool finish(size_t k) {
        npu_.written(piece_of(call_.outputs[k]));
        return true;
    }
    View value(const Value& v) {
        if (v.from == Value::From::Input) return inputs_[v.index];
        if (v.from == Value::From::Result) return results_[v.index];
        return all(call_.constants[v.index].bytes[0] != std::byte{0});
    }
    // A word of nothing but this.
    View all(bool truth) {
        const int64_t bits = truth ? -1 : 0;
        return npu_.constant(word_, &bits);
    }
    bool compute(Op op, const View& x, const View& y, const View& out) {
        switch (*logic(op)) {
            case Logic::And:
                return npu_.call(acl().aclnnBitwiseAndTensor, x, y, out);
            case Logic::Or:
                return npu_.call(acl().aclnnBitwiseOrTensor, x, y, out);
            default:
                return npu_.call(acl().aclnnBitwiseXorTensor, x, y, out);
        }
    }
    bool compute(const Instruction& code, const View& out) {
        const View x = value(code.source[0]);
        const View y = code.arity > 1 ? value(code.source[1]) : all(true);
        if (x.ndim() == 0 && y.ndim() == 0) return false;  // they have not the shape of the result
        return compute(code.op, x, y, out);
    }

    Npu& npu_;
    const ProgramCall& call_;
    DType word_ = DType::Int64;
    std::vector<View> inputs_, outputs_, results_;
};

}  // namespace

bool run_on_words(Npu& npu, const ProgramCall& call) {
    const auto& code = call.program->code;
    if (code.empty() || call.inputs.empty() || !std::all_of(code.begin(), code.end(), is_logic))
        return false;
    Words words(npu, call);
    for (const DType word : {DType::Int64, DType::Int32, DType::Int16})
        if (words.find(word)) return words.run();
    return false;
}

}  // namespace asc::cann
