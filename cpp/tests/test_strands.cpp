// Unit tests of strands: which instructions they hold, and what leaves their registers.
#include <cstdio>
#include <vector>

#include "check.h"
#include "graph/program.h"

namespace {

using namespace asc;

Value input(int k) { return {Value::From::Input, static_cast<uint8_t>(k)}; }
Value result(size_t i) { return {Value::From::Result, static_cast<uint8_t>(i)}; }

struct Builder {
    Program program;

    explicit Builder(int inputs) {
        program.inputs.assign(static_cast<size_t>(inputs), DType::Float32);
    }
    Value add(Op op, std::vector<Value> sources) {
        Instruction code;
        code.op = op;
        code.dtype = code.result = DType::Float32;
        code.arity = static_cast<uint8_t>(sources.size());
        for (size_t k = 0; k < sources.size(); ++k) code.source[k] = sources[k];
        program.code.push_back(code);
        return result(program.code.size() - 1);
    }
    const Program& finish(std::vector<Value> outputs) {
        for (const Value& v : outputs) program.outputs.push_back({v, DType::Float32});
        program.finish();
        return program;
    }
};

// sqrt(a * a + b): values one after the other in one register, which only the last one leaves.
void test_chain() {
    Builder b(2);
    const Value square = b.add(Op::Multiply, {input(0), input(0)});
    const Value root = b.add(Op::Sqrt, {b.add(Op::Add, {square, input(1)})});
    const Program& p = b.finish({root});
    CHECK(p.strands.size() == 1);
    if (p.strands.size() != 1) return;
    CHECK(p.strands[0].first == 0 && p.strands[0].count == 3);
    CHECK(p.strands[0].stored == std::vector<uint8_t>{2});
    CHECK(p.register_count == 1);
    CHECK(p.strands[0].steps.size() == 6);  // take, square, add, sqrt, store, end
    CHECK(p.strands[0].steps.back().code == cpu::kStrandEnd);
}

// Four values at once are more than there are registers: one goes to memory and comes back.
void test_spill() {
    Builder b(8);
    std::vector<Value> sums;
    for (int k = 0; k < 4; ++k) sums.push_back(b.add(Op::Add, {input(2 * k), input(2 * k + 1)}));
    Value last = sums[3];
    for (int k = 2; k >= 0; --k) last = b.add(Op::Divide, {last, sums[static_cast<size_t>(k)]});
    const Program& p = b.finish({last});
    CHECK(p.strands.size() == 1);
    if (p.strands.size() != 1) return;
    CHECK(p.strands[0].stored.size() == 2);
    CHECK(p.strands[0].stored.back() == 6);
}

// What is read behind a strand, or by memory, leaves it; other kernels end it.
void test_borders() {
    Builder b(2);
    const Value sum = b.add(Op::Add, {input(0), input(1)});
    const Value product = b.add(Op::Multiply, {sum, input(1)});
    const Value power = b.add(Op::Exp, {product});
    const Value alone = b.add(Op::Subtract, {power, sum});
    const Program& p = b.finish({alone, product});
    CHECK(p.strands.size() == 1);
    if (p.strands.size() != 1) return;
    CHECK(p.strands[0].count == 2);
    CHECK((p.strands[0].stored == std::vector<uint8_t>{0, 1}));
    CHECK(p.registers[0] != p.registers[1]);
}

// The longest program has room for its steps: each instruction takes, computes and is stored.
void test_longest() {
    Builder b(2);
    std::vector<Value> all;
    for (int i = 0; i < kMaxInstructions; ++i) {
        const Value x = i < 4 ? input(i % 2) : all[static_cast<size_t>(i) - 4];
        all.push_back(b.add(Op::Add, {x, input(1)}));
    }
    const Program& p = b.finish(all);
    CHECK(p.strands.size() == 1);
    if (p.strands.size() != 1) return;
    CHECK(p.strands[0].stored.size() == all.size());
    CHECK(p.strands[0].steps.size() <= static_cast<size_t>(kMaxInstructions) * 4 + 1);
}

}  // namespace

int main() {
    test_chain();
    test_spill();
    test_borders();
    test_longest();
    if (failures == 0) std::printf("all strand tests passed\n");
    return failures != 0;
}
