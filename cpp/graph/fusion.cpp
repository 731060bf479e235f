#include "graph/fusion.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "backend/cpu/elementwise.h"
#include "backend/cpu/machine.h"
#include "core/view.h"

namespace asc {
namespace {

std::atomic<int64_t> dead_count{0}, group_count{0}, program_count{0};

// Made ahead: there may be no memory for it later.
const std::shared_ptr<const Error>& out_of_memory = *new std::shared_ptr(
    std::make_shared<const Error>(ErrorKind::Memory, "not enough memory for recorded operations"));

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

// Entries that run tile by tile side by side, all over one index space.
class Group {
  public:
    explicit Group(const Dims& shape) : shape_(shape) {}

    const Dims& shape() const { return shape_; }
    bool empty() const { return writes_.empty(); }

    // The entry can run in this group: it fits, and every tile sees what program order says.
    bool accepts(const Entry& e) const {
        if (library_ || e.library || !(e.output.shape == shape_)) return false;
        if (program_.code.size() + 5 > kMaxInstructions ||
            program_.constants.size() + 3 > kMaxConstants ||
            inputs_.size() + writes_.size() + 4 > kMaxOperands) {
            return false;
        }
        for (int k = 0; k < e.arity; ++k) {
            if (!e.constant[k] && !readable(e.inputs[k])) return false;
        }
        return writable(e.output) && (!e.copies || !copies_into(e.inputs[0]));
    }

    void add(const Entry& e) {
        if (e.library) {
            library_ = &e;
            inputs_.assign(e.inputs, e.inputs + e.arity);
            writes_.push_back({e.output, {}});
            return;
        }
        Value sources[3];
        DType registers[3];
        for (int k = 0; k < e.arity; ++k) {
            registers[k] = e.copies ? e.inputs[0].dtype : cpu::register_dtype(e.op, k, e.compute);
            sources[k] = e.constant[k] ? constant(e.constants[k], registers[k])
                                       : read(e.inputs[k], registers[k]);
        }
        Value result = sources[0];
        DType dtype = registers[0];
        if (!e.copies) {
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

    // Nobody will look at the storage any more: what is written to it stays in registers.
    void forget(const Storage& storage) {
        std::erase_if(writes_, [&](const Write& w) { return w.view.storage.get() == &storage; });
    }

    // Runs what is needed of the group; `needed` tells whether a storage's bytes are.
    template <class F>
    void run(F&& needed) {
        if (library_) {
            group_count.fetch_add(1, std::memory_order_relaxed);
            Array result = library_->library(library_->inputs);
            return library_->output.storage->materialize(result.storage->present_block());
        }
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

    // Marks every output as failed.
    void fail(const std::shared_ptr<const Error>& failure) {
        for (const Write& write : writes_) write.view.storage->fail(failure);
    }
    // Storages that failed before and are overwritten as a whole start anew.
    void renew() {
        for (const Write& write : writes_) {
            Storage& storage = *write.view.storage;
            bool whole = (write.view.size() * bits(write.view.dtype) + 7) / 8 == storage.nbytes();
            if (storage.failure() && whole) storage.fail(nullptr);
        }
    }
    // Calls f for the storage of every operand.
    template <class F>
    void for_each_storage(F&& f) {
        for (const Array& x : inputs_) f(*x.storage);
        for (const Write& write : writes_) f(*write.view.storage);
    }
    // The failure of some input, if any.
    std::shared_ptr<const Error> inherited() const {
        for (const Array& x : inputs_) {
            if (x.storage->failure()) return x.storage->failure();
        }
        return nullptr;
    }

  private:
    struct Write {
        Array view;
        Value value;
    };

    // x is untouched by this group, or exactly one of its results.
    bool readable(const Array& x) const {
        for (const Write& write : writes_) {
            if (may_overlap(write.view, x) && !same_view(write.view, x)) return false;
        }
        return true;
    }
    // No other view of these bytes is read or written by this group.
    bool writable(const Array& x) const {
        for (const Write& write : writes_) {
            if (may_overlap(write.view, x) && !same_view(write.view, x)) return false;
        }
        for (size_t k = 0; k < inputs_.size(); ++k) {
            if (!may_overlap(inputs_[k], x)) continue;
            if (!same_view(inputs_[k], x) || is_copied(k)) return false;
        }
        return true;
    }
    // Some output is input k itself: its tile is copied last, when x might have been written.
    bool is_copied(size_t k) const {
        return std::any_of(writes_.begin(), writes_.end(), [&](const Write& write) {
            return write.value == Value{Value::From::Input, static_cast<uint8_t>(k)};
        });
    }
    // A copy of x would be taken of what this group writes there.
    bool copies_into(const Array& x) const {
        return std::any_of(writes_.begin(), writes_.end(), [&](const Write& write) {
            return write.value.from == Value::From::Input && may_overlap(write.view, x);
        });
    }

    Value constant(const Constant& c, DType dtype) {
        size_t size = is_bool(dtype) ? 8 : static_cast<size_t>(itemsize(dtype));
        for (size_t k = 0; k < constants_.size(); ++k) {
            if (program_.constants[k] == dtype && !std::memcmp(constants_[k].bytes, c.bytes, size))
                return {Value::From::Constant, static_cast<uint8_t>(k)};
        }
        constants_.push_back(c);
        program_.constants.push_back(dtype);
        return {Value::From::Constant, static_cast<uint8_t>(constants_.size() - 1)};
    }

    Value read(const Array& x, DType reg) {
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

    Value convert(Value value, DType from, DType to) {
        if (from == to) return value;
        Instruction code;
        code.converts = true;
        code.dtype = from;
        code.result = to;
        code.source[0] = value;
        return append(code);
    }

    // Appends an instruction, or finds an equal one.
    Value append(const Instruction& code) {
        for (size_t i = 0; i < program_.code.size(); ++i) {
            const Instruction& other = program_.code[i];
            if (other.converts == code.converts && other.op == code.op &&
                other.dtype == code.dtype && other.result == code.result &&
                other.arity == code.arity &&
                std::equal(code.source, code.source + code.arity, other.source)) {
                return {Value::From::Result, static_cast<uint8_t>(i)};
            }
        }
        program_.code.push_back(code);
        return {Value::From::Result, static_cast<uint8_t>(program_.code.size() - 1)};
    }

    // Fills `program` with the instructions, inputs and constants that its outputs depend on.
    void prune(Program& program, std::vector<Array>& inputs,
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

    const Entry* library_ = nullptr;  // then the group is this entry alone
    Dims shape_;
    Program program_;
    std::vector<Array> inputs_;
    std::vector<Constant> constants_;
    std::vector<Write> writes_;
};

// What is known of a storage while groups are formed.
struct Use {
    int write_group = -1;         // the last group that writes it
    int read_group = -1;          // the last group that reads it
    int references = 0;           // of entries; the rest are other people's
    int unread = 0;               // live entries that read it and are not in a group yet
    bool read_elsewhere = false;  // some group other than the writing one reads it
    bool held = false;            // by someone beside the entries
    bool visible = false;         // someone beside the entries can see its bytes
};

class Scheduler {
  public:
    explicit Scheduler(std::span<Entry> entries) : entries_(entries) {
        for (Entry& e : entries_) {
            for (int k = 0; k < e.arity; ++k) {
                if (!e.constant[k]) ++uses_[e.inputs[k].storage.get()].references;
            }
            ++uses_[e.output.storage.get()].references;
        }
        for (auto& [storage, use] : uses_) {
            use.held = storage->use_count() > use.references;
            use.visible = use.held || !storage->promised();
        }
        mark_live();
    }

    void run() {
        for (size_t i = 0; i < entries_.size(); ++i) {
            if (live_[i]) place(entries_[i]);
        }
        for (size_t g = 0; g < groups_.size(); ++g) {
            run_group(groups_[g]);
            let_go(groups_[g], static_cast<int>(g));
        }
    }

  private:
    // An entry is live if its storage can be seen, or a later live entry reads it.
    void mark_live() {
        live_.assign(entries_.size(), false);
        std::unordered_map<Storage*, bool> wanted;
        for (size_t i = entries_.size(); i-- > 0;) {
            Entry& e = entries_[i];
            live_[i] = uses_[e.output.storage.get()].visible || wanted[e.output.storage.get()];
            if (!live_[i]) {
                dead_count.fetch_add(1, std::memory_order_relaxed);
                continue;
            }
            for (int k = 0; k < e.arity; ++k) {
                if (e.constant[k]) continue;
                wanted[e.inputs[k].storage.get()] = true;
                ++uses_[e.inputs[k].storage.get()].unread;
            }
        }
    }

    // Puts an entry into the first group that keeps program order and can take it.
    void place(const Entry& e) {
        int least = 0;
        for (int k = 0; k < e.arity; ++k) {
            if (!e.constant[k])
                least = std::max(least, uses_[e.inputs[k].storage.get()].write_group);
        }
        Use& out = uses_[e.output.storage.get()];
        least = std::max({least, out.write_group, out.read_group});
        int chosen = -1;
        for (int g = std::max(least, 0); g < static_cast<int>(groups_.size()) && fusion_enabled();
             ++g) {
            if (groups_[static_cast<size_t>(g)].accepts(e)) {
                chosen = g;
                break;
            }
        }
        if (chosen < 0) {
            chosen = static_cast<int>(groups_.size());
            groups_.emplace_back(e.output.shape);
        }
        groups_[static_cast<size_t>(chosen)].add(e);
        for (int k = 0; k < e.arity; ++k) {
            if (e.constant[k]) continue;
            Use& use = uses_[e.inputs[k].storage.get()];
            use.read_group = std::max(use.read_group, chosen);
            if (use.write_group != chosen) use.read_elsewhere = true;
        }
        // A value that an earlier group left behind is completed by this one.
        if (out.write_group >= 0 && out.write_group != chosen) out.read_elsewhere = true;
        out.write_group = chosen;
        for (int k = 0; k < e.arity; ++k) {
            if (e.constant[k]) continue;
            Use& use = uses_[e.inputs[k].storage.get()];
            if (--use.unread == 0 && !use.visible && !use.read_elsewhere)
                groups_[static_cast<size_t>(chosen)].forget(*e.inputs[k].storage);
        }
    }

    void run_group(Group& group) {
        auto failure = group.inherited();
        if (!failure) {
            group.renew();
            try {
                group.run(
                    [&](Storage& s) { return uses_[&s].visible || uses_[&s].read_elsewhere; });
                return;
            } catch (const Error& e) {
                failure = std::make_shared<const Error>(e);
            } catch (const std::bad_alloc&) {
                failure = out_of_memory;
            }
        }
        group.fail(failure);
    }

    // Frees what nobody will look at any more, so that a long run needs no more memory than the
    // same operations at the call.
    void let_go(Group& group, int number) {
        group.for_each_storage([&](Storage& storage) {
            const Use& use = uses_[&storage];
            if (!use.held && std::max(use.read_group, use.write_group) == number) storage.discard();
        });
    }

    std::span<Entry> entries_;
    std::unordered_map<Storage*, Use> uses_;
    std::vector<bool> live_;
    std::vector<Group> groups_;
};

}  // namespace

void run_entries(std::span<Entry> entries) {
    try {
        Scheduler(entries).run();
    } catch (const std::bad_alloc&) {
        for (Entry& e : entries) e.output.storage->fail(out_of_memory);
    }
}

FusionCounters fusion_counters() {
    return {dead_count.load(), group_count.load(), program_count.load()};
}

}  // namespace asc
