// Group: recorded entries that run together, an elementwise program over one index space or one
// entry of another kind.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "graph/program.h"
#include "graph/tape.h"

namespace asc {

class Group {
  public:
    explicit Group(const Dims& shape) : shape_(shape) {}

    // The entry can run in this group: it fits, and every tile sees what program order says.
    bool accepts(const Entry& e) const;
    void add(const Entry& e);
    // Nobody will look at the storage any more: what is written to it stays in registers.
    void forget(const Storage& storage);
    // Runs what is needed of the group; `needed` tells whether a storage's bytes are.
    void run(const std::function<bool(Storage&)>& needed);

    // Marks every output as failed.
    void fail(const std::shared_ptr<const Error>& failure);
    // Storages that failed before and are overwritten as a whole start anew.
    void renew();
    // The failure of some input, if any.
    std::shared_ptr<const Error> inherited() const;
    // Calls f for the storage of every operand.
    template <class F>
    void for_each_storage(F&& f) {
        for (const Array& x : inputs_) f(*x.storage);
        for (const Write& write : writes_) f(*write.view.storage);
    }

  private:
    struct Write {
        Array view;
        Value value;
    };

    void run_single();
    // x is untouched by this group, or exactly one of its results.
    bool readable(const Array& x) const;
    // No other view of these bytes is read or written by this group.
    bool writable(const Array& x) const;
    // Some output is input k itself: its tile is copied last, when x might have been written.
    bool is_copied(size_t k) const;
    // A copy of x would be taken of what this group writes there.
    bool copies_into(const Array& x) const;

    Value constant(const Constant& c, DType dtype);
    Value read(const Array& x, DType reg);
    Value convert(Value value, DType from, DType to);
    // Appends an instruction, or finds an equal one.
    Value append(const Instruction& code);
    // Fills `program` with the instructions, inputs and constants that its outputs depend on.
    void prune(Program& program, std::vector<Array>& inputs,
               std::vector<Constant>& constants) const;

    Dims shape_;
    Program program_;
    std::vector<Array> inputs_;
    std::vector<Constant> constants_;
    std::vector<Write> writes_;
    const Entry* single_ = nullptr;  // then the group is this entry alone
};

// The one program that computes the same.
const Program& cached(Program&& program);

struct GroupCounters {
    int64_t groups, programs;  // run; made
};
GroupCounters group_counters();

}  // namespace asc
