// Operations that CANN has prepared once and runs again with other memory.
//
// Where CANN allows it, by its documentation: not where results replace what is read (it may copy
// within a tensor then, which ties the executor to the addresses), and not where it refuses.
// Everything here is used by the holder of a Turn.
#pragma once
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "backend/cann/loader.h"
#include "backend/cann/stream.h"
#include "backend/cann/view.h"

namespace asc::cann {

// What CANN looks at when it prepares an operation, addresses apart.
class Signature {
  public:
    explicit Signature(const char* operation) : words_{reinterpret_cast<intptr_t>(operation)} {}
    // An argument; `written`: as a result.
    void add(const View& x, bool written);
    void add(const Number& x, bool);
    void add(const Dims& x, bool);
    template <class T>
        requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
    void add(T x, bool) {
        words_.push_back(static_cast<int64_t>(x));
    }

    // It may run again with other addresses.
    bool repeats() const;
    // The memory of its tensors, in the order of the arguments.
    const std::vector<std::byte*>& addresses() const { return addresses_; }
    // The operation with its dtypes and ranks: what a chip has or does not have.
    const std::vector<int64_t>& kind() const { return kind_; }
    bool operator==(const Signature& other) const { return words_ == other.words_; }

    struct Hash {
        size_t operator()(const Signature& s) const;
    };

  private:
    std::vector<int64_t> words_;
    std::vector<int64_t> kind_{words_[0]};  // the operation, dtypes and ranks
    std::vector<std::byte*> addresses_, sources_, results_;
};

// An operation that is ready to run.
struct Prepared {
    aclOpExecutor* executor = nullptr;
    uint64_t workspace = 0;
    std::vector<aclTensor*> tensors;        // in the order of the arguments
    std::vector<std::byte*> addresses;      // that they have
    std::shared_ptr<const void> arguments;  // CANN's descriptors
};

class Executors {
  public:
    explicit Executors(Stream& stream) : stream_(stream) {}

    // One that is ready for these addresses, or null.
    Prepared* find(const Signature& signature);
    // Keeps what phase 1 has just made, if it may run again, else leaves it to the caller.
    Prepared* keep(const Signature& signature, Prepared& prepared);
    // What has failed does not run again.
    void forget(const Signature& signature);

    // The chip does not have the operation for the dtypes.
    void refuse(const Signature& signature) { refused_.insert(signature.kind()); }
    bool refuses(const Signature& signature) const {
        return !refused_.empty() && refused_.contains(signature.kind());
    }

    // Among them, of an operation for a dtype of its first operand.
    bool refuses(const char* operation, DType dtype) const;

    void free_cached();
    struct Stats {
        int64_t made = 0, reused = 0, held = 0;
    };
    Stats stats() const;

  private:
    using Order = std::list<const Signature*>;
    struct Entry {
        Prepared prepared;
        Order::iterator place;
    };
    using Map = std::unordered_map<Signature, Entry, Signature::Hash>;
    struct Retired {
        Prepared prepared;
        std::shared_ptr<Mark> mark;
    };
    std::shared_ptr<Mark> mark();
    // Destroys it when the mark is reached.
    void retire(Map::iterator entry, std::shared_ptr<Mark> mark);
    void collect();

    Stream& stream_;
    Map found_;
    Order order_;  // the last used first
    std::deque<Retired> retired_;
    std::set<std::vector<int64_t>> refused_, unrepeatable_;
    Stats stats_;
};

}  // namespace asc::cann
