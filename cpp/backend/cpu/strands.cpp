#include "backend/cpu/strands.h"

#include <algorithm>
#include <iterator>

#include "graph/program.h"

namespace asc::cpu {
namespace {

using Form = StrandForm;

// The step of an operation whose first operand is in the register, and of one whose second is.
struct Pair {
    Op operation;
    StrandOp op, exchanged;
};
constexpr Pair kPairs[] = {
    {Op::Add, StrandOp::Add, StrandOp::Add},
    {Op::Multiply, StrandOp::Multiply, StrandOp::Multiply},
    {Op::Subtract, StrandOp::Subtract, StrandOp::SubtractFrom},
    {Op::Divide, StrandOp::Divide, StrandOp::DivideInto},
    {Op::Maximum, StrandOp::Maximum, StrandOp::MaximumFrom},
    {Op::Minimum, StrandOp::Minimum, StrandOp::MinimumFrom},
    {Op::Negative, StrandOp::Negative, StrandOp::Negative},
    {Op::Abs, StrandOp::Abs, StrandOp::Abs},
    {Op::Square, StrandOp::Square, StrandOp::Square},
    {Op::Sqrt, StrandOp::Sqrt, StrandOp::Sqrt},
    {Op::Reciprocal, StrandOp::Reciprocal, StrandOp::Reciprocal},
};
const Pair* step_of(Op op) {
    const Pair* end = std::end(kPairs);
    const Pair* found =
        std::find_if(kPairs, end, [op](const Pair& pair) { return pair.operation == op; });
    return found == end ? nullptr : found;
}

bool fits(const Instruction& i) {
    return !i.converts && i.result == i.dtype &&
           (i.dtype == DType::Float32 || i.dtype == DType::Float64) && step_of(i.op);
}

// Gives the values of one strand registers, and writes its steps.
class Maker {
  public:
    Maker(const Program& program, int first, int count)
        : program_(program), strand_{first, count, {}, {}} {
        for (int i = first; i < static_cast<int>(program_.code.size()); ++i) {
            const Instruction& code = program_.code[static_cast<size_t>(i)];
            for (int k = 0; k < code.arity; ++k) {
                if (!inside(code.source[k])) continue;
                State& state = states_[code.source[k].index];
                if (i < end()) {
                    ++state.reads;
                } else {
                    state.kept = true;
                }
            }
        }
        for (const Program::Output& out : program_.outputs) {
            if (inside(out.value)) states_[out.value.index].kept = true;
        }
    }

    Strand make() {
        for (int i = strand_.first; i < end(); ++i) add(i);
        strand_.steps.push_back({kStrandEnd, 0});
        return std::move(strand_);
    }

  private:
    struct State {
        int reads = 0;      // within the strand, that are still to come
        int reg = -1;       // where it is now
        bool kept = false;  // read behind the strand
        bool stored = false;
    };

    int end() const { return strand_.first + strand_.count; }
    bool inside(const Value& v) const {
        return v.from == Value::From::Result && v.index >= strand_.first && v.index < end();
    }
    int register_of(const Value& v) const { return inside(v) ? states_[v.index].reg : -1; }

    void put(StrandOp op, Form form, int reg, int place) {
        strand_.steps.push_back({strand_code(op, form, reg), static_cast<uint8_t>(place)});
    }
    // r = r op v
    void put(StrandOp op, int reg, const Value& v) {
        const int other = register_of(v);
        if (other < 0) return put(op, Form::Memory, reg, program_.place(v));
        put(op, other == (reg + 1) % kStrandRegisters ? Form::Next : Form::Last, reg, 0);
    }
    void store(int i) {
        State& state = states_[i];
        if (state.stored) return;
        state.stored = true;
        strand_.stored.push_back(static_cast<uint8_t>(i));
        put(StrandOp::Store, Form::Memory, state.reg,
            program_.place({Value::From::Result, static_cast<uint8_t>(i)}));
    }

    // A register for another value, none of `busy`; what is in it goes to memory, from where it is
    // read again.
    int free_register(int busy, int also_busy) {
        int victim = -1;
        for (int r = 0; r < kStrandRegisters; ++r) {
            if (owner_[r] < 0) return r;
            if (r == busy || r == also_busy) continue;
            if (victim < 0 || (states_[owner_[r]].stored && !states_[owner_[victim]].stored))
                victim = r;
        }
        store(owner_[victim]);
        states_[owner_[victim]].reg = -1;
        owner_[victim] = -1;
        return victim;
    }
    // The register of a value that nobody reads but so many times now: it may be overwritten.
    int last_use(const Value& v, int reads = 1) const {
        return inside(v) && states_[v.index].reads == reads ? states_[v.index].reg : -1;
    }
    void release(const Value& v) {
        if (!inside(v)) return;
        State& state = states_[v.index];
        if (--state.reads > 0 || state.reg < 0) return;
        owner_[state.reg] = -1;
        state.reg = -1;
    }

    void add(int i) {
        const Instruction& code = program_.code[static_cast<size_t>(i)];
        Value x = code.source[0], y = code.arity > 1 ? code.source[1] : x;
        Pair step = *step_of(code.op);
        const bool binary = code.arity > 1, square = binary && x == y && code.op == Op::Multiply;
        int reg = last_use(x, square ? 2 : 1);
        // A constant would fill a register by itself.
        const bool poor = reg < 0 && x.from == Value::From::Constant;
        if (binary && !square && reg < 0 && (last_use(y) >= 0 || (poor && y.from != x.from))) {
            std::swap(x, y);
            std::swap(step.op, step.exchanged);
            reg = last_use(x);
        }
        if (reg < 0) {
            reg = free_register(register_of(x), register_of(y));
            put(StrandOp::Take, reg, x);
        }
        if (!binary || square) {
            put(square ? StrandOp::Square : step.op, Form::Memory, reg, 0);
        } else {
            put(step.op, reg, y);
        }
        release(x);
        if (binary) release(y);
        owner_[reg] = i;
        State& state = states_[i];
        state.reg = reg;
        if (state.kept) store(i);
        if (state.reads == 0) owner_[reg] = state.reg = -1;
    }

    const Program& program_;
    Strand strand_;
    State states_[kMaxInstructions];
    int owner_[kStrandRegisters] = {-1, -1, -1};  // the instruction whose result it holds
};

}  // namespace

std::vector<Strand> find_strands(const Program& program) {
    std::vector<Strand> strands;
    const int n = static_cast<int>(program.code.size());
    for (int i = 0, last; i < n; i = last) {
        last = i + 1;
        const Instruction& code = program.code[static_cast<size_t>(i)];
        if (!fits(code)) continue;
        while (last < n && fits(program.code[static_cast<size_t>(last)]) &&
               program.code[static_cast<size_t>(last)].dtype == code.dtype) {
            ++last;
        }
        if (last - i > 1) strands.push_back(Maker(program, i, last - i).make());
    }
    return strands;
}

}  // namespace asc::cpu
