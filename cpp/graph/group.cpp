#include "graph/group.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "backend/cpu/elementwise.h"
#include "backend/cpu/machine.h"
#include "backend/cpu/reduce.h"
#include "core/view.h"

namespace asc {
namespace {

std::atomic<int64_t> group_count{0}, program_count{0};

// The entry is a part of a program.
bool elementwise(const Entry& e) {
    return e.kind == Entry::Kind::Elementwise || e.kind == Entry::Kind::Copy;
}

}  // namespace

// Programs by what they compute. Never emptied: a process computes few different things.
const Program& cached(Program&& program) {
    static std::mutex& mutex = *new std::mutex;
    static auto& programs = *new std::unordered_map<std::string, std::unique_ptr<Program>>;
    std::string key = program.key();
    std::lock_guard lock(mutex);
    std::unique_ptr<Program>& slot = programs[key];
    if (!slot) {
        program.finish();
        slot = std::make_unique<Program>(std::move(program));
        program_count.fetch_add(1, std::memory_order_relaxed);
    }
    return *slot;
}

bool Group::accepts(const Entry& e) const {
    if (single_ || !elementwise(e) || !(e.output.shape == shape_)) return false;
    if (program_.code.size() + 5 > kMaxInstructions ||
        program_.constants.size() + 3 > kMaxConstants ||
        inputs_.size() + writes_.size() + 4 > kMaxOperands) {
        return false;
    }
    for (int k = 0; k < e.arity; ++k) {
        if (!e.constant[k] && !readable(e.inputs[k])) return false;
    }
    return writable(e.output) && (e.kind != Entry::Kind::Copy || !copies_into(e.inputs[0]));
}

void Group::add(const Entry& e) {
    if (!elementwise(e)) {
        single_ = &e;
        inputs_.assign(e.inputs, e.inputs + e.arity);
        writes_.push_back({e.output, {}});
        return;
    }
    const bool copies = e.kind == Entry::Kind::Copy;
    Value sources[3];
    DType registers[3];
    for (int k = 0; k < e.arity; ++k) {
        registers[k] = copies ? e.inputs[0].dtype : cpu::register_dtype(e.op, k, e.compute);
        sources[k] = e.constant[k] ? constant(e.constants[k], registers[k])
                                   : read(e.inputs[k], registers[k]);
    }
    Value result = sources[0];
    DType dtype = registers[0];
    if (!copies) {
        Instruction code;
        code.op = e.op;
        code.dtype = e.compute;
        code.result = dtype = result_dtype(info(e.op).result, e.compute);
        code.arity = e.arity;
        std::copy_n(sources, e.arity, code.source);
        result = append(code);
    }
    // What is stored narrow is narrow for later readers, too.
    if (dtype != e.output.dtype) result = convert(result, dtype, e.output.dtype);
    for (Write& write : writes_) {
        if (same_view(write.view, e.output)) {
            write.value = result;
            return;
        }
    }
    writes_.push_back({e.output, result});
}

void Group::forget(const Storage& storage) {
    std::erase_if(writes_, [&](const Write& w) { return w.view.storage.get() == &storage; });
}

void Group::run_single() {
    group_count.fetch_add(1, std::memory_order_relaxed);
    const Array result = [&] {
        switch (single_->kind) {
            case Entry::Kind::Reduction:
                return cpu::reduce(single_->reduction, single_->inputs[0], single_->axes);
            case Entry::Kind::Scan:
                return cpu::scan(single_->scan, single_->inputs[0],
                                 static_cast<int>(single_->axes[0]));
            default:
                return single_->library(single_->inputs);
        }
    }();
    single_->output.storage->materialize(result.storage->present_block());
}

void Group::run(const std::function<bool(Storage&)>& needed) {
    if (single_) return run_single();
    Program program;
    std::vector<Array> outputs;
    for (const Write& write : writes_) {
        if (!needed(*write.view.storage)) continue;
        outputs.push_back(write.view);
        program.outputs.push_back({write.value, write.view.dtype});
    }
    if (outputs.empty()) return;
    std::vector<Array> inputs;
    std::vector<Constant> constants;
    prune(program, inputs, constants);
    for (const Array& out : outputs) {
        // A copy may have been taken in another thread since this write was recorded.
        out.storage->promised() ? out.storage->materialize() : out.storage->own_block();
    }
    group_count.fetch_add(1, std::memory_order_relaxed);
    if (program.code.empty() && outputs.size() == 1 && inputs.size() == 1) {
        return cpu::transfer(outputs[0], broadcast_to(inputs[0], outputs[0].shape, "copy"));
    }
    cpu::run({&cached(std::move(program)), inputs, constants, outputs});
}

void Group::fail(const std::shared_ptr<const Error>& failure) {
    for (const Write& write : writes_) write.view.storage->fail(failure);
}
void Group::renew() {
    for (const Write& write : writes_) {
        Storage& storage = *write.view.storage;
        bool whole = (write.view.size() * bits(write.view.dtype) + 7) / 8 == storage.nbytes();
        if (storage.failure() && whole) storage.fail(nullptr);
    }
}
std::shared_ptr<const Error> Group::inherited() const {
    for (const Array& x : inputs_) {
        if (x.storage->failure()) return x.storage->failure();
    }
    return nullptr;
}

bool Group::readable(const Array& x) const {
    for (const Write& write : writes_) {
        if (may_overlap(write.view, x) && !same_view(write.view, x)) return false;
    }
    return true;
}
bool Group::writable(const Array& x) const {
    for (const Write& write : writes_) {
        if (may_overlap(write.view, x) && !same_view(write.view, x)) return false;
    }
    for (size_t k = 0; k < inputs_.size(); ++k) {
        if (!may_overlap(inputs_[k], x)) continue;
        if (!same_view(inputs_[k], x) || is_copied(k)) return false;
    }
    return true;
}
bool Group::is_copied(size_t k) const {
    return std::any_of(writes_.begin(), writes_.end(), [&](const Write& write) {
        return write.value == Value{Value::From::Input, static_cast<uint8_t>(k)};
    });
}
bool Group::copies_into(const Array& x) const {
    return std::any_of(writes_.begin(), writes_.end(), [&](const Write& write) {
        return write.value.from == Value::From::Input && may_overlap(write.view, x);
    });
}

Value Group::constant(const Constant& c, DType dtype) {
    size_t size = is_bool(dtype) ? 8 : static_cast<size_t>(itemsize(dtype));
    for (size_t k = 0; k < constants_.size(); ++k) {
        if (program_.constants[k] == dtype && !std::memcmp(constants_[k].bytes, c.bytes, size))
            return {Value::From::Constant, static_cast<uint8_t>(k)};
    }
    constants_.push_back(c);
    program_.constants.push_back(dtype);
    return {Value::From::Constant, static_cast<uint8_t>(constants_.size() - 1)};
}

Value Group::read(const Array& x, DType reg) {
    for (const Write& write : writes_) {
        if (same_view(write.view, x)) return convert(write.value, x.dtype, reg);
    }
    for (size_t k = 0; k < inputs_.size(); ++k) {
        if (program_.inputs[k] == reg && same_view(inputs_[k], x))
            return {Value::From::Input, static_cast<uint8_t>(k)};
    }
    inputs_.push_back(x);
    program_.inputs.push_back(reg);
    return {Value::From::Input, static_cast<uint8_t>(inputs_.size() - 1)};
}

Value Group::convert(Value value, DType from, DType to) {
    if (from == to) return value;
    Instruction code;
    code.converts = true;
    code.dtype = from;
    code.result = to;
    code.source[0] = value;
    return append(code);
}

Value Group::append(const Instruction& code) {
    for (size_t i = 0; i < program_.code.size(); ++i) {
        const Instruction& other = program_.code[i];
        if (other.converts == code.converts && other.op == code.op && other.dtype == code.dtype &&
            other.result == code.result && other.arity == code.arity &&
            std::equal(code.source, code.source + code.arity, other.source)) {
            return {Value::From::Result, static_cast<uint8_t>(i)};
        }
    }
    program_.code.push_back(code);
    return {Value::From::Result, static_cast<uint8_t>(program_.code.size() - 1)};
}

void Group::prune(Program& program, std::vector<Array>& inputs,
                  std::vector<Constant>& constants) const {
    std::vector<bool> live(program_.code.size());
    for (const Program::Output& out : program.outputs) {
        if (out.value.from == Value::From::Result) live[out.value.index] = true;
    }
    for (size_t i = live.size(); i-- > 0;) {
        for (int k = 0; live[i] && k < program_.code[i].arity; ++k) {
            const Value& v = program_.code[i].source[k];
            if (v.from == Value::From::Result) live[v.index] = true;
        }
    }
    constexpr uint8_t kNew = 255;
    std::vector<uint8_t> result_at(live.size(), kNew), input_at(inputs_.size(), kNew),
        constant_at(constants_.size(), kNew);
    auto renumber = [&](Value& v) {
        if (v.from == Value::From::Result) {
            v.index = result_at[v.index];
        } else if (v.from == Value::From::Input) {
            uint8_t& at = input_at[v.index];
            if (at == kNew) {
                at = static_cast<uint8_t>(inputs.size());
                inputs.push_back(inputs_[v.index]);
                program.inputs.push_back(program_.inputs[v.index]);
            }
            v.index = at;
        } else {
            uint8_t& at = constant_at[v.index];
            if (at == kNew) {
                at = static_cast<uint8_t>(constants.size());
                constants.push_back(constants_[v.index]);
                program.constants.push_back(program_.constants[v.index]);
            }
            v.index = at;
        }
    };
    for (size_t i = 0; i < live.size(); ++i) {
        if (!live[i]) continue;
        Instruction code = program_.code[i];
        for (int k = 0; k < code.arity; ++k) renumber(code.source[k]);
        result_at[i] = static_cast<uint8_t>(program.code.size());
        program.code.push_back(code);
    }
    for (Program::Output& out : program.outputs) renumber(out.value);
}

GroupCounters group_counters() { return {group_count.load(), program_count.load()}; }

}  // namespace asc
