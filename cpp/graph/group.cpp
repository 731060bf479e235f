#include "graph/group.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "backend/backend.h"
#include "backend/cpu/elementwise.h"
#include "backend/cpu/machine.h"
#include "backend/cpu/product.h"
#include "backend/cpu/reduce.h"
#include "core/promotion.h"
#include "core/view.h"
#include "graph/lowering.h"

namespace asc {
namespace {

std::atomic<int64_t> program_count{0};

// Programs that are kept; the process may need more.
constexpr size_t kMostPrograms = 1024;
// The most that elements may cost which are computed twice, in additions.
constexpr int kRecomputed = 8;

// The entry is a part of a program.
bool elementwise(const Entry& e) {
    return e.kind == Entry::Kind::Elementwise || e.kind == Entry::Kind::Copy;
}
bool is_sink(const Entry& e) {
    return e.kind == Entry::Kind::Reduction || e.kind == Entry::Kind::Scan;
}
bool reads_twice(const Entry& e) {
    return e.kind == Entry::Kind::Scan || e.reduction.op == Reduction::Var ||
           e.reduction.op == Reduction::Std;
}
const Dims& index_space(const Entry& e) { return is_sink(e) ? e.inputs[0].shape : e.output.shape; }
bool is_product(const Entry& e) { return e.reduction.op == Reduction::Prod; }

cpu::ElementDTypes element_dtypes(const Entry& e) {
    return e.kind == Entry::Kind::Scan ? cpu::element_dtypes(e.scan)
                                       : cpu::element_dtypes(e.reduction, e.inputs[0].dtype);
}

// An array without memory and without gaps, whose axes lie in the order of those of x.
Array layout_of(const Array& x, DType dtype) {
    const Dims order = memory_order(x);
    Array layout;
    layout.dtype = dtype;
    layout.shape = x.shape;
    layout.strides = order.empty() ? row_major_strides(x.shape) : ordered_strides(x.shape, order);
    return layout;
}

// The elements that the entry asks for lie side by side where the program writes them.
bool comes_in_runs(const Entry& sink) {
    const Array& x = sink.inputs[0];
    return sink.kind == Entry::Kind::Scan ? is_contiguous(x)
                                          : cpu::comes_in_runs(layout_of(x, x.dtype), sink.axes);
}

void run_program(const Call& call) {
    const bool copies = call.finished->code.empty();
    if (copies && call.outputs.size() == 1 && call.inputs.size() == 1) {
        const Array& out = call.outputs[0];
        return cpu::transfer(out, broadcast_to(call.inputs[0], out.shape, "copy"));
    }
    cpu::run(call.bind());
}

}  // namespace

std::shared_ptr<const Program> cached(Program&& program) {
    static std::mutex& mutex = *new std::mutex;
    static auto& programs = *new std::unordered_map<std::string, std::shared_ptr<const Program>>;
    std::string key = program.key();
    std::lock_guard lock(mutex);
    if (auto found = programs.find(key); found != programs.end()) return found->second;
    // A process computes few different things, or new ones all the time.
    if (programs.size() >= kMostPrograms) programs.clear();
    program.finish();
    program_count.fetch_add(1, std::memory_order_relaxed);
    auto made = std::make_shared<const Program>(std::move(program));
    programs.emplace(std::move(key), made);
    return made;
}

Group::Group(const Entry& first) : device_(first.output.device()), shape_(index_space(first)) {}

const Array* Group::product_view(const Entry& e) const {
    if (!product_ || !program_.code.empty() || inputs_.size() != 1 || writes_.size() != 1)
        return nullptr;
    const Array& out = product_->output;
    for (int k = 0; k < e.arity; ++k) {
        const Array& x = e.inputs[k];
        if (e.constant[k] || !(x.storage == out.storage)) continue;
        const bool same_rows = x.dtype == out.dtype && x.offset == out.offset && x.ndim() > 0 &&
                               x.shape.back() == shape_.back() && x.size() == product(shape_);
        return same_rows && is_contiguous(x) ? &x : nullptr;
    }
    return nullptr;
}

void Group::reshape(const Array& x) {
    shape_ = x.shape;
    inputs_[0] = writes_[0].view = x;
}

bool Group::accepts(const Entry& e, bool insist) const {
    if (closed_ || e.output.device() != device_ || (!is_sink(e) && !elementwise(e))) return false;
    // Accelerators know programs, and the rest one by one.
    if (!on_host(device_) && (is_sink(e) || !sinks_.empty() || product_)) return false;
    if (!(index_space(e) == shape_)) {
        const Array* x = product_view(e);
        if (!x || !(index_space(e) == x->shape)) return false;
        Group group(*this);
        group.reshape(*x);
        return group.accepts(e, insist);
    }
    if (library_ || program_.code.size() + 5 > kMaxInstructions ||
        program_.constants.size() + 3 > kMaxConstants ||
        inputs_.size() + writes_.size() + sinks_.size() + 4 > kMaxOperands) {
        return false;
    }
    for (int k = 0; k < e.arity; ++k) {
        if (!e.constant[k] && !readable(e.inputs[k])) return false;
    }
    // Passes over elements that have nothing in common are faster one after the other.
    if ((is_sink(e) || !sinks_.empty()) && !insist && !shares_operand(e)) return false;
    if (!sinks_.empty() && !comes_in_runs(*sinks_[0].entry)) return false;
    return is_sink(e) ? accepts_sink(e, insist) : accepts_elementwise(e);
}

bool Group::accepts_elementwise(const Entry& e) const {
    // The second time would read what the first has written.
    if (computes_twice() && (has_input(e.output.storage) || overwrites_input())) return false;
    for (const Sink& sink : sinks_) {
        if (may_overlap(sink.source(), e.output)) return false;
    }
    return writable(e.output) && (e.kind != Entry::Kind::Copy || !copies_into(e.inputs[0]));
}

bool Group::accepts_sink(const Entry& e, bool insist) const {
    if (product_) return false;
    if (reads_twice(e)) {
        if (overwrites_input()) return false;
        int cost = 0;
        for (const Instruction& code : program_.code)
            cost += code.converts ? 1 : cpu::element_cost(code.op);
        const bool wanted = insist || e.inputs[0].storage->has(Hint::ReduceOutput);
        if (cost > kRecomputed && !wanted) return false;
    }
    if (sinks_.empty()) return comes_in_runs(e);
    const Entry& other = *sinks_[0].entry;
    return e.kind == Entry::Kind::Reduction && other.kind == Entry::Kind::Reduction &&
           e.axes == other.axes && !is_product(e) && !is_product(other) &&
           sinks_.size() < cpu::kMostReductions;
}

bool Group::shares_operand(const Entry& e) const {
    for (int k = 0; k < e.arity; ++k) {
        const auto is_operand = [&](const Array& x) { return same_view(x, e.inputs[k]); };
        if (e.constant[k]) continue;
        if (std::any_of(inputs_.begin(), inputs_.end(), is_operand)) return true;
        if (std::any_of(writes_.begin(), writes_.end(),
                        [&](const Write& write) { return is_operand(write.view); }))
            return true;
    }
    return false;
}

bool Group::computes_twice() const {
    return std::any_of(sinks_.begin(), sinks_.end(),
                       [](const Sink& sink) { return reads_twice(*sink.entry); });
}

bool Group::has_input(const Ref<Storage>& storage) const {
    return std::any_of(inputs_.begin(), inputs_.end(),
                       [&](const Array& x) { return x.storage == storage; });
}
bool Group::overwrites_input() const {
    return std::any_of(writes_.begin(), writes_.end(),
                       [&](const Write& write) { return has_input(write.view.storage); });
}

bool Group::add(Entry& e) {
    const size_t before = program_.code.size();
    if (!(index_space(e) == shape_)) reshape(*product_view(e));
    entries_.push_back(&e);
    if (is_sink(e)) {
        add_sink(e);
    } else if (elementwise(e)) {
        add_elementwise(e);
    } else if (e.kind == Entry::Kind::Product) {
        product_ = &e;
        writes_.push_back({e.output, read(e.output, e.output.dtype)});
    } else {
        library_ = &e;
        inputs_.assign(e.inputs, e.inputs + e.arity);
        writes_.push_back({e.output, {}});
    }
    return !elementwise(e) || program_.code.size() > before;
}

void Group::add_sink(const Entry& e) {
    const auto [element, compute] = element_dtypes(e);
    const DType first = is_bool(compute) ? compute : element;
    const bool written = std::any_of(writes_.begin(), writes_.end(), [&](const Write& write) {
        return same_view(write.view, e.inputs[0]);
    });
    sinks_.push_back({&e, convert(read(e.inputs[0], first), first, compute), compute, !written});
}

void Group::add_elementwise(const Entry& e) {
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

void Call::write(const Array& out, Value value) {
    outputs.push_back(out);
    program.outputs.push_back({value, out.dtype});
}

void Call::finish() { finished = cached(std::move(program)); }

Work Group::work(const std::function<bool(Storage&)>& needed) const {
    Work work;
    work.device = device_;
    work.library = library_;
    work.shape = shape_;
    if (library_) {
        if (!needed(*library_->output.storage)) work.library = nullptr;
        return work;
    }
    work.product = product_;
    Call stores;
    for (const Write& write : writes_) {
        if (!needed(*write.view.storage)) continue;
        if (is_raw_product(write.value) && write.view.storage == product_->output.storage) {
            work.product_kept = true;
        } else {
            stores.write(write.view, write.value);
        }
    }
    const bool from_memory = stores.outputs.empty() && reduces_one_array();
    for (const Sink& sink : sinks_) {
        if (!needed(*sink.entry->output.storage)) continue;
        work.sinks.push_back({sink.entry, sink.source(), -1, -1, sink.entry->output});
        if (from_memory) continue;
        work.sinks.back().source = write_sink(work.call, sink);
        if (!reads_twice(*sink.entry)) continue;
        work.sinks.back().again = static_cast<int>(work.again.size());
        Call& again = work.again.emplace_back();
        write_sink(again, sink);
        prune(again);
    }
    for (size_t k = 0; k < stores.outputs.size(); ++k)
        work.call.write(stores.outputs[k], stores.program.outputs[k].value);
    if (!work.call.outputs.empty()) prune(work.call);
    return work;
}

bool Group::reduces_one_array() const {
    return !sinks_.empty() && std::all_of(sinks_.begin(), sinks_.end(), [&](const Sink& sink) {
        return sink.in_memory && same_view(sink.source(), sinks_[0].source()) &&
               element_dtypes(*sink.entry) == element_dtypes(*sinks_[0].entry);
    });
}

int Group::write_sink(Call& call, const Sink& sink) const {
    for (size_t k = 0; k < call.outputs.size(); ++k) {
        if (call.program.outputs[k].value == sink.value) return static_cast<int>(k);
    }
    call.write(layout_of(sinks_[0].entry->inputs[0], sink.dtype), sink.value);
    return static_cast<int>(call.outputs.size()) - 1;
}

Failure Work::inherited() const {
    Failure found;
    auto look = [&](const Array& x) {
        if (!found && x.storage) found = x.storage->failure();
    };
    std::for_each(call.inputs.begin(), call.inputs.end(), look);
    for (const Call& second : again)
        std::for_each(second.inputs.begin(), second.inputs.end(), look);
    for (const Sink& sink : sinks) {
        if (sink.source < 0) look(sink.x);
    }
    for (const Entry* e : {library, product}) {
        for (int k = 0; e && k < e->arity; ++k) look(e->inputs[k]);
    }
    return found;
}

void Work::reuse_inputs(const std::function<bool(Storage&)>& spare) {
    if (library || product || !sinks.empty()) return;
    inherits.reserve(call.outputs.size());  // what is spare is gone: nothing may fail after that
    // Another result is stored in that memory, where the program may read it again, or is read from
    // there as it is stored, which may be after this one.
    const auto is_needed = [&](const Storage& donor, size_t but) {
        for (size_t k = 0; k < call.outputs.size(); ++k) {
            const Value& value = call.finished->outputs[k].value;
            if (call.outputs[k].storage.get() == &donor) return true;
            if (k != but && value.from == Value::From::Input &&
                call.inputs[value.index].storage.get() == &donor)
                return true;
        }
        return false;
    };
    for (size_t place = 0; place < call.outputs.size(); ++place) {
        const Array& out = call.outputs[place];
        const auto replaced = [&](const Array& x) {
            return x.storage->promised() && x.offset == 0 && x.dtype == out.dtype &&
                   x.size() * bits(x.dtype) == x.storage->nbytes() * 8;
        };
        if (!out.storage || !replaced(out)) continue;
        const auto fits = [&](const Array& x) {
            return x.offset == 0 && x.shape == out.shape && x.strides == out.strides &&
                   x.dtype == out.dtype && x.device() == out.device() &&
                   x.storage->nbytes() == out.storage->nbytes();
        };
        for (const Array& x : call.inputs) {
            if (x.storage->promised() || !fits(x) || is_needed(*x.storage, place)) continue;
            const Ref<Storage> donor = x.storage;
            // Other views would see other elements change.
            if (!std::all_of(call.inputs.begin(), call.inputs.end(), [&](const Array& other) {
                    return !may_overlap(other, x) || (other.storage == donor && fits(other));
                }))
                continue;
            if (!spare(*donor)) continue;
            inherits.push_back({out.storage, donor});
            for (Array& other : call.inputs)
                if (other.storage == donor) other.storage = out.storage;
            break;
        }
    }
}

void Work::allocate() const {
    if (library) return;
    for_each_output([&](const Array& out) {
        for (const auto& [heir, donor] : inherits)
            if (out.storage == heir) return heir->materialize(donor->present_block());
        bool whole = (out.size() * bits(out.dtype) + 7) / 8 == out.storage->nbytes();
        if (whole && out.storage->failure()) out.storage->fail(nullptr);
        // A copy may have been taken in another thread since this write was recorded.
        out.storage->promised() ? out.storage->materialize() : out.storage->own_block();
    });
}

void Work::run() const {
    if (empty()) return;
    if (!on_host(device)) return run_on_accelerator(*this);
    if (library) {
        const Array result = library->library(library->inputs);
        return library->output.storage->materialize(result.storage->present_block());
    }
    if (product) return run_product();
    if (sinks.empty()) return run_program(call);
    const Entry& first = *sinks[0].entry;
    const bool scans = first.kind == Entry::Kind::Scan;
    const int axis = scans ? static_cast<int>(first.axes[0]) : 0;
    const bool from_memory = sinks[0].source < 0;
    std::vector<ProgramCall> bound;
    for (const Call& second : again) bound.push_back(second.bind());
    if (scans) {
        return from_memory ? cpu::scan(first.scan, sinks[0].x, axis, sinks[0].out)
                           : cpu::scan(first.scan, call.bind(), bound[0], axis, sinks[0].out);
    }
    std::vector<cpu::PartReduction> reductions;
    for (const Sink& sink : sinks) {
        reductions.push_back({&sink.entry->reduction, sink.out, sink.source,
                              sink.again < 0 ? nullptr : &bound[static_cast<size_t>(sink.again)]});
    }
    from_memory ? cpu::reduce(sinks[0].x, first.axes, reductions)
                : cpu::reduce(call.bind(), first.axes, reductions);
}

void Work::run_product() const {
    const Array &a = product->inputs[0], &b = product->inputs[1], &out = product->output;
    const auto at = std::find_if(call.inputs.begin(), call.inputs.end(),
                                 [&](const Array& x) { return x.storage == out.storage; });
    if (at != call.inputs.end())
        return cpu::multiply_then(a, b, out, product_kept, call.bind(),
                                  static_cast<size_t>(at - call.inputs.begin()),
                                  product->precision);
    if (product_kept) cpu::multiply(a, b, out, product->precision);
    if (!call.outputs.empty()) run_program(call);
}

void Group::finish() {
    for (Entry* e : entries_) e->done = true;
}
const Entry& Group::writer(const Storage& storage) const {
    return **std::find_if(entries_.rbegin(), entries_.rend(),
                          [&](const Entry* e) { return e->output.storage.get() == &storage; });
}
bool Group::reads_failure() const {
    auto failed = [](const Array& x) { return x.storage->failure() != nullptr; };
    const auto read = factors();
    return std::any_of(inputs_.begin(), inputs_.end(), failed) ||
           std::any_of(read.begin(), read.end(), failed);
}

bool Group::readable(const Array& x) const {
    for (const Write& write : writes_) {
        if (may_overlap(write.view, x) && !same_view(write.view, x)) return false;
    }
    return std::none_of(sinks_.begin(), sinks_.end(),
                        [&](const Sink& sink) { return may_overlap(sink.entry->output, x); });
}
bool Group::writable(const Array& x) const {
    if (!readable(x)) return false;
    for (const Array& factor : factors()) {
        if (may_overlap(factor, x)) return false;
    }
    // The product itself lies elsewhere once its place is written.
    for (size_t k = product_ ? 1 : 0; k < inputs_.size(); ++k) {
        if (!may_overlap(inputs_[k], x)) continue;
        if (!same_view(inputs_[k], x) || is_copied(k)) return false;
    }
    return true;
}
bool Group::is_copied(size_t k) const {
    const auto is_input = [&](const auto& result) {
        return result.value == Value{Value::From::Input, static_cast<uint8_t>(k)};
    };
    return std::any_of(writes_.begin(), writes_.end(), is_input) ||
           std::any_of(sinks_.begin(), sinks_.end(), is_input);
}
bool Group::is_overwritten(const Value& v) const {
    return v.from == Value::From::Input &&
           std::any_of(writes_.begin(), writes_.end(), [&](const Write& write) {
               return may_overlap(write.view, inputs_[v.index]);
           });
}
bool Group::copies_into(const Array& x) const {
    return std::any_of(writes_.begin(), writes_.end(), [&](const Write& write) {
        return write.value.from == Value::From::Input && !is_raw_product(write.value) &&
               may_overlap(write.view, x);
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
    if (value.from == Value::From::Result) {
        // Back from a wider dtype; between those of floats signalling NaNs would become quiet.
        const Instruction& there = program_.code[value.index];
        if (there.converts && there.dtype == to && is_integer(to) &&
            promote(from, to, true) == from && !is_overwritten(there.source[0]))
            return there.source[0];
    }
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

void Group::prune(Call& call) const {
    Program& program = call.program;
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
                at = static_cast<uint8_t>(call.inputs.size());
                call.inputs.push_back(inputs_[v.index]);
                program.inputs.push_back(program_.inputs[v.index]);
            }
            v.index = at;
        } else {
            uint8_t& at = constant_at[v.index];
            if (at == kNew) {
                at = static_cast<uint8_t>(call.constants.size());
                call.constants.push_back(constants_[v.index]);
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
    call.finish();
}

int64_t programs_made() { return program_count.load(); }

}  // namespace asc
