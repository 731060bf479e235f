#include "graph/program.h"

#include <algorithm>

#include "backend/cpu/elementwise.h"

namespace asc {
void Program::finish() {
    const size_t n = code.size();
    strands = cpu::find_strands(*this);
    std::vector<bool> stored(n, true);
    for (const cpu::Strand& strand : strands) {
        std::fill_n(stored.begin() + strand.first, strand.count, false);
        for (const uint8_t i : strand.stored) stored[i] = true;
    }
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
        if (stored[i]) {
            // A register that is read here is not written here: kernels change the width of
            // elements.
            size_t r = 0;
            while (r < busy_until.size() && busy_until[r] >= i) ++r;
            if (r == busy_until.size()) busy_until.push_back(0);
            busy_until[r] = last_use[i];
            registers[i] = static_cast<uint8_t>(r);
        }
        cost += code[i].converts ? 1 : cpu::element_cost(code[i].op);
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
