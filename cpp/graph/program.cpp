#include "graph/program.h"

#include <algorithm>

#include "backend/cpu/elementwise.h"
#include "backend/cpu/kernels/table.h"

namespace asc {
namespace {

// Plain arithmetic, which can be one half of a combined instruction.
bool can_combine(const Instruction& i) {
    return !i.converts && !i.combined && cpu::combine_index(i.op) >= 0 &&
           (i.dtype == DType::Float32 || i.dtype == DType::Float64);
}

// Makes `i` do the work of the instruction behind its source k, too.
void absorb(Instruction& i, int k, const Instruction& first) {
    const Value other = i.source[1 - k];
    i.combined = true;
    i.exchanged = k == 1;
    i.first = first.op;
    i.source[0] = first.source[0];
    i.source[1] = first.source[1];
    i.source[2] = other;
    i.arity = 3;
}

}  // namespace

// Joins an instruction and the only reader of its result: one pass over the registers less.
void Program::combine() {
    const size_t n = code.size();
    std::vector<int> readers(n, 0);
    auto read = [&](const Value& v) {
        if (v.from == Value::From::Result) ++readers[v.index];
    };
    for (const Instruction& i : code) std::for_each(i.source, i.source + i.arity, read);
    for (const Output& out : outputs) {
        // Read by memory as well.
        if (out.value.from == Value::From::Result) readers[out.value.index] += 2;
    }
    std::vector<bool> absorbed(n, false);
    for (Instruction& i : code) {
        for (int k = 0; k < 2 && can_combine(i); ++k) {
            const Value v = i.source[k];
            if (v.from != Value::From::Result || readers[v.index] != 1) continue;
            const Instruction& first = code[v.index];
            if (!can_combine(first) || first.dtype != i.dtype) continue;
            absorb(i, k, first);
            absorbed[v.index] = true;
        }
    }
    std::vector<uint8_t> place(n, 0);
    std::vector<Instruction> kept;
    auto renumber = [&](Value& v) {
        if (v.from == Value::From::Result) v.index = place[v.index];
    };
    for (size_t j = 0; j < n; ++j) {
        if (absorbed[j]) continue;
        place[j] = static_cast<uint8_t>(kept.size());
        kept.push_back(code[j]);
        std::for_each(kept.back().source, kept.back().source + kept.back().arity, renumber);
    }
    for (Output& out : outputs) renumber(out.value);
    code = std::move(kept);
}

void Program::finish() {
    if (code.size() > 1) combine();
    size_t n = code.size();
    std::vector<size_t> last_use(n);
    for (size_t i = 0; i < n; ++i) {
        last_use[i] = i;
        for (int k = 0; k < code[i].arity; ++k) {
            const Value& v = code[i].source[k];
            if (v.from == Value::From::Result) last_use[v.index] = i;
        }
    }
    // Outputs are written to memory by the end of a tile.
    for (const Output& out : outputs) {
        if (out.value.from == Value::From::Result) last_use[out.value.index] = n;
    }
    registers.assign(n, 0);
    std::vector<size_t> busy_until;  // by register
    cost = 0;
    widest_bits = 1;
    for (DType d : inputs) widest_bits = std::max<int>(widest_bits, static_cast<int>(bits(d)));
    for (size_t i = 0; i < n; ++i) {
        // A register that is read here is not written here: kernels change the width of elements.
        size_t r = 0;
        while (r < busy_until.size() && busy_until[r] >= i) ++r;
        if (r == busy_until.size()) busy_until.push_back(0);
        busy_until[r] = last_use[i];
        registers[i] = static_cast<uint8_t>(r);
        cost += code[i].converts ? 1 : cpu::element_cost(code[i].op);
        if (code[i].combined) cost += cpu::element_cost(code[i].first);
        widest_bits = std::max({widest_bits, static_cast<int>(bits(code[i].result)),
                                static_cast<int>(bits(code[i].dtype))});
    }
    register_count = static_cast<int>(busy_until.size());
    cost = std::max(cost, 1);
}

std::string Program::key() const {
    std::string key;
    auto put = [&](auto value) { key.push_back(static_cast<char>(value)); };
    auto put_value = [&](const Value& v) {
        put(v.from);
        put(v.index);
    };
    for (const Instruction& i : code) {
        put(i.converts);
        put(i.op);
        put(i.dtype);
        put(i.result);
        for (int k = 0; k < i.arity; ++k) put_value(i.source[k]);
    }
    put(0xff);
    for (DType d : inputs) put(d);
    put(0xff);
    for (DType d : constants) put(d);
    put(0xff);
    for (const Output& out : outputs) {
        put_value(out.value);
        put(out.dtype);
    }
    return key;
}

}  // namespace asc
