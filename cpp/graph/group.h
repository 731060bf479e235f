// Group: recorded entries that run together. Elementwise ones are a program over one index space,
// which may start with a matrix product, and whose values may end in reductions or a scan; an entry
// of the library is a group of its own.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "graph/program.h"
#include "graph/tape.h"

namespace asc {

// A program with everything that it needs to run.
struct Call {
    Program program;
    std::vector<Array> inputs, outputs;
    std::vector<Constant> constants;

    // The call of a program that has been finished.
    ProgramCall bind() const { return {finished.get(), inputs, constants, outputs}; }
    void write(const Array& out, Value value);
    // Exchanges the program for the one that does the same.
    void finish();

    std::shared_ptr<const Program> finished;
};

// What a group computes: a program, perhaps on blocks of a matrix product, reductions of its values
// or of arrays, or a library call.
struct Work {
    // A reduction or a scan.
    struct Sink {
        const Entry* entry;
        Array x;     // of this array,
        int source;  // or of this output of the program, if not -1
        int again;   // the call that computes that output once more, or -1
        Array out;
    };
    DeviceId device = kCpu;  // of everything in it
    const Entry* library = nullptr;
    const Entry* product = nullptr;
    bool product_kept = false;  // someone sees the product itself
    Dims shape;
    Call call;  // outputs without a storage are sources of sinks
    std::vector<Call> again;
    std::vector<Sink> sinks;
    // A result, and the storage whose memory it takes.
    struct Inheritance {
        Ref<Storage> heir, donor;
    };
    std::vector<Inheritance> inherits;

    // Lets new results take the memory of inputs of their layout that nobody reads any more;
    // `spare` tells whether that holds, and then nobody may.
    void reuse_inputs(const std::function<bool(Storage&)>& spare);

    bool empty() const {
        return !library && !product_kept && call.outputs.empty() && sinks.empty();
    }
    // Calls f for every array that is written.
    template <class F>
    void for_each_output(F&& f) const {
        for (const Array& out : call.outputs) {
            if (out.storage) f(out);
        }
        for (const Sink& sink : sinks) f(sink.out);
        if (product_kept) f(product->output);
        if (library) f(library->output);
    }
    // The failure of something that it reads, if any.
    Failure inherited() const;
    // Gives every output memory of its own; failures of what is overwritten as a whole end here.
    void allocate() const;
    void run() const;

  private:
    void run_product() const;
};

// Calls f(array, rank of the index space) for every array of the work; Array may be const.
template <class W, class F>
void for_each_array(W& work, F&& f) {
    const int rank = work.shape.size();
    const auto all = [&](auto& call) {
        for (auto& x : call.inputs) f(x, rank);
        for (auto& x : call.outputs) f(x, rank);
    };
    all(work.call);
    for (auto& call : work.again) all(call);
    for (auto& sink : work.sinks) {
        if (sink.source < 0) f(sink.x, rank);
        f(sink.out, sink.out.ndim());
    }
}

class Group {
  public:
    // For entries over the index space of this one.
    explicit Group(const Entry& first);

    // The entry can run in this group: it fits, and every tile sees what program order says.
    // `insist`: even if it may be slower than apart.
    bool accepts(const Entry& e, bool insist = false) const;
    // Adds an entry; false if an equal one, or none, does its work.
    bool add(Entry& e);
    // A rule's name for it.
    void call(std::string name) { name_ = std::move(name); }
    const std::string& name() const { return name_; }
    // It stays as it is, and runs on its own.
    void close() { closed_ = true; }
    bool closed() const { return closed_; }
    // Nobody will look at the storage any more: what is written to it stays in registers.
    void forget(const Storage& storage);
    // What is needed of the group; `needed` tells whether a storage's bytes are.
    Work work(const std::function<bool(Storage&)>& needed) const;

    DeviceId device() const { return device_; }
    // In program order.
    const std::vector<Entry*>& entries() const { return entries_; }
    // Marks its entries as done.
    void finish();
    // The last entry that writes the storage.
    const Entry& writer(const Storage& storage) const;
    // Some input has failed.
    bool reads_failure() const;
    // Calls f for the storage of every operand.
    template <class F>
    void for_each_storage(F&& f) {
        for (const Array& x : factors()) f(*x.storage);
        for (const Array& x : inputs_) f(*x.storage);
        for (const Write& write : writes_) f(*write.view.storage);
        for (const Sink& sink : sinks_) f(*sink.entry->output.storage);
    }

  private:
    struct Write {
        Array view;
        Value value;
    };

    // A reduction or a scan of a value, in the dtypes that its kernel wants.
    struct Sink {
        const Entry* entry;
        Value value;
        DType dtype;
        bool in_memory;  // its source is an input of the group

        const Array& source() const { return entry->inputs[0]; }
    };
    // The view of the product that the entry reads, if its rows may be spread over that shape's
    // axes.
    const Array* product_view(const Entry& e) const;
    // Spreads the rows of the product, which is alone, as in this view of it.
    void reshape(const Array& x);
    bool accepts_elementwise(const Entry& e) const;
    bool accepts_sink(const Entry& e, bool insist) const;
    void add_elementwise(const Entry& e);
    void add_sink(const Entry& e);
    // Some operand of the entry is also one of this group.
    bool shares_operand(const Entry& e) const;
    bool computes_twice() const;
    bool has_input(const Ref<Storage>& storage) const;
    bool overwrites_input() const;

    // Every sink reads the same array, as the same dtypes.
    bool reduces_one_array() const;
    // Lets the call make the elements of a sink; returns the number of that output.
    int write_sink(Call& call, const Sink& sink) const;
    // The operands of the product.
    std::span<const Array> factors() const {
        return {product_ ? product_->inputs : nullptr, product_ ? size_t{2} : 0};
    }
    // The value is the product as it was multiplied, whatever is written in its place.
    bool is_raw_product(const Value& v) const {
        return product_ && v == Value{Value::From::Input, 0};
    }
    // x is untouched by this group, or exactly one of its results.
    bool readable(const Array& x) const;
    // No other view of these bytes is read or written by this group.
    bool writable(const Array& x) const;
    // Some result is input k itself: its tile is copied last, when x might have been written.
    bool is_copied(size_t k) const;
    // The value is an input whose place is written.
    bool is_overwritten(const Value& v) const;
    // A copy of x would be taken of what this group writes there.
    bool copies_into(const Array& x) const;

    Value constant(const Constant& c, DType dtype);
    Value read(const Array& x, DType reg);
    Value convert(Value value, DType from, DType to);
    // Appends an instruction, or finds an equal one.
    Value append(const Instruction& code);
    // Fills the call with the instructions, inputs and constants that its outputs depend on.
    void prune(Call& call) const;

    DeviceId device_;
    Dims shape_;
    Program program_;
    std::vector<Array> inputs_;
    std::vector<Constant> constants_;
    std::vector<Write> writes_;
    std::vector<Sink> sinks_;
    std::vector<Entry*> entries_;
    const Entry* library_ = nullptr;  // then the group is this entry alone
    const Entry* product_ = nullptr;  // its output is input 0
    std::string name_;
    bool closed_ = false;
};

// The one program that computes the same.
std::shared_ptr<const Program> cached(Program&& program);
// How many were made.
int64_t programs_made();

}  // namespace asc
