// Plans: what became of a list of entries, without its arrays, so that the same list runs again
// without being looked into. Predictive mode.
//
// A list is the same if its Structure is: all that planning depends on. A tape has CapturedPlans of
// its own, which only the thread that runs it touches.
#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graph/group.h"
#include "graph/tuning.h"

namespace asc {

inline std::atomic<bool> predictive{false};  // the mode of the process

// A list of entries as words: operations, dtypes, layouts, which operands are the same storage,
// which constants are equal, and who beside the entries looks at each storage.
class Structure {
  public:
    struct Owner {
        Storage* storage;
        int references = 0;  // of entries
        bool promised = false, held = false;
        bool one_array = false;  // beside the entries exactly one array has it; where that matters
    };
    void read(std::span<const Entry> entries);
    const std::vector<Owner>& owners() const { return owners_; }
    // The number of an owner.
    int number_of(const Storage* storage) const { return places_[find(storage)]; }
    const std::vector<uint64_t>& words() const { return words_; }
    uint64_t hash() const;

  private:
    struct Known {
        DType dtype;
        const Constant* value;
    };
    void add(const Entry& e);
    void add(const Array& x);
    void add(const Dims& dims) { words_.insert(words_.end(), dims.begin(), dims.end()); }
    void add(const Constant& value, DType dtype);
    size_t find(const Storage* storage) const;

    std::vector<uint64_t> words_;
    std::vector<Owner> owners_;
    std::vector<int> places_;  // an open hash table of numbers of owners, -1 where it is free
    std::vector<Known> constants_;
};

class CapturedPlan {
  public:
    // Groups that run together.
    struct Step {
        Step(std::string name, std::deque<Work> works, bool by_rows)
            : name(std::move(name)), works(std::move(works)), by_rows(by_rows) {}

        std::string name;
        std::deque<Work> works;  // arrays have storages inside of a Bound
        bool by_rows;
        std::vector<int> entries;  // by number
        std::vector<int> ends;     // owners that nobody looks at behind it, but for the program
        std::optional<Tuner> tuner;

      private:
        friend class CapturedPlan;
        friend class Bound;
        struct ArrayPlace {
            Array* array;
            int owner;
        };
        struct ConstantPlace {
            Constant* constant;
            int entry, operand;
        };
        struct EntryPlace {
            const Entry** place;
            int entry;
        };
        std::vector<ArrayPlace> arrays_;
        std::vector<ConstantPlace> constants_;
        std::vector<EntryPlace> sources_;
    };
    // The works of a step with the arrays of a list of entries.
    class Bound {
      public:
        Bound(Step& step, const Structure& structure, std::span<Entry> entries);
        ~Bound();
        Bound(const Bound&) = delete;
        Bound& operator=(const Bound&) = delete;

      private:
        Step& step_;
    };

    explicit CapturedPlan(const Structure& structure) : words(structure.words()) {}
    // The next groups, before they run. `numbers` are those of their entries.
    void add(std::string name, std::deque<Work> works, bool by_rows, std::vector<int> numbers,
             const Structure& structure, std::span<const Entry> entries);
    // All groups were added.
    void complete(const Structure& structure, std::span<const Entry> entries);

    std::vector<uint64_t> words;
    std::vector<int> dead;        // entries whose results nobody can see
    std::deque<Step> steps;       // whose addresses stay
    std::vector<int> last_steps;  // by owner: the last one with it
};

// The plans of a tape.
class CapturedPlans {
  public:
    // Lists that come one after the other without a repetition are looked at more and more seldom.
    bool due();
    // A plan for the entries, if they are known.
    CapturedPlan* find(std::span<const Entry> entries);
    // Of the entries that find() was asked for last.
    const Structure& structure() const { return structure_; }
    // That list has come before, so that a plan pays.
    bool worth_keeping();
    void keep(std::unique_ptr<CapturedPlan> plan);
    void clear();

    // How many of the first entries run together, so that a loop gives the same list over and over.
    static size_t stretch(std::span<const Entry> entries);

  private:
    struct Kept {
        uint64_t hash;
        std::unique_ptr<CapturedPlan> plan;
    };
    Structure structure_;
    std::list<Kept> kept_;  // the last used first
    std::unordered_map<uint64_t, std::list<Kept>::iterator> by_hash_;
    std::unordered_set<uint64_t> seen_;
    int unrepeated_ = 0;  // lists looked at since the last repetition
    int skipped_ = 0;     // lists since the last one looked at
};

}  // namespace asc
