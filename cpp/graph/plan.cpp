#include "graph/plan.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "backend/cpu/elementwise.h"
#include "runtime/workers.h"

namespace asc {
namespace {

// CapturedPlans that a tape keeps, and lists that it remembers to have seen.
constexpr size_t kMostPlans = 64, kMostSeen = 4096;
// After so many lists without a repetition only one of so many is looked at.
constexpr int kPatience = 64, kSampled = 16;
// Lists longer than this are looked at for repetitions; pieces of them have about so many entries.
constexpr size_t kLeastRepeated = 64, kPiece = 128;

uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

// The dtype of the register that a constant of an entry lies in.
DType register_of(const Entry& e, int k) {
    return e.kind == Entry::Kind::Elementwise ? cpu::register_dtype(e.op, k, e.compute)
                                              : e.inputs[k].dtype;
}
bool same_constant(const Constant& a, const Constant& b, DType dtype) {
    return !std::memcmp(a.bytes, b.bytes,
                        is_bool(dtype) ? 8 : static_cast<size_t>(itemsize(dtype)));
}

// What an entry does, apart from its operands, in two words.
uint64_t operation(const Entry& e) {
    uint64_t word = static_cast<uint64_t>(e.kind);
    for (uint64_t part : {static_cast<uint64_t>(e.op), static_cast<uint64_t>(e.compute),
                          static_cast<uint64_t>(e.precision), uint64_t{e.arity}})
        word = word << 8 | part;
    for (bool constant : e.constant) word = word << 1 | constant;
    return word;
}
uint64_t specification(const Entry& e) {
    uint64_t word = e.kind == Entry::Kind::Scan;
    for (uint64_t part :
         {static_cast<uint64_t>(e.reduction.op), static_cast<uint64_t>(e.reduction.element),
          static_cast<uint64_t>(e.reduction.result), uint64_t{e.scan.product},
          static_cast<uint64_t>(e.scan.dtype), uint64_t{e.scan.initial}})
        word = word << 8 | part;
    return word;
}

// The same in every process.
uint64_t tuning_key(std::span<const int> numbers, std::span<const Entry> entries) {
    uint64_t key = mix(numbers.size(), static_cast<uint64_t>(workers::count()));
    const auto add = [&](const Array& x) {
        key = mix(key, static_cast<uint64_t>(x.dtype) << 8 | static_cast<uint64_t>(x.ndim()));
        for (int i = 0; i < x.ndim(); ++i)
            key = mix(mix(key, static_cast<uint64_t>(x.shape[i])),
                      static_cast<uint64_t>(x.strides[i]));
    };
    for (int number : numbers) {
        const Entry& e = entries[static_cast<size_t>(number)];
        key = mix(mix(key, operation(e)), specification(e));
        for (int64_t axis : e.axes) key = mix(key, static_cast<uint64_t>(axis));
        for (int k = 0; k < e.arity; ++k)
            if (!e.constant[k]) add(e.inputs[k]);
        add(e.output);
    }
    return key;
}

uint64_t outline(const Entry& e) {
    uint64_t hash = mix(operation(e), specification(e));
    for (int64_t extent : e.output.shape) hash = mix(hash, static_cast<uint64_t>(extent));
    return hash;
}

}  // namespace

// ---- structures

void Structure::read(std::span<const Entry> entries) {
    words_.clear();
    owners_.clear();
    constants_.clear();
    places_.assign(std::bit_ceil(entries.size() * 8 + 8), -1);
    words_.push_back(static_cast<uint64_t>(workers::count()));
    for (const Entry& e : entries) add(e);
    for (Owner& owner : owners_) {
        const Storage& s = *owner.storage;
        owner.promised = s.promised();
        owner.held = s.held_beside(owner.references);
        owner.one_array = s.has(Hint::Temporary) && s.use_count() == owner.references + 1;
        words_.push_back(static_cast<uint64_t>(s.nbytes()));
        words_.push_back(uint64_t{owner.promised} | uint64_t{owner.held} << 1 |
                         uint64_t{owner.one_array} << 2 | uint64_t{s.gone()} << 3 |
                         uint64_t{s.hints()} << 8 | static_cast<uint64_t>(index(s.device())) << 16);
    }
}

void Structure::add(const Entry& e) {
    words_.push_back(operation(e));
    words_.push_back(reinterpret_cast<uintptr_t>(e.function));
    if (e.kind == Entry::Kind::Reduction || e.kind == Entry::Kind::Scan) {
        words_.push_back(specification(e));
        words_.push_back(std::bit_cast<uint64_t>(e.reduction.correction));
        words_.push_back(static_cast<uint64_t>(e.axes.size()));
        add(e.axes);
    }
    for (int k = 0; k < e.arity; ++k)
        e.constant[k] ? add(e.constants[k], register_of(e, k)) : add(e.inputs[k]);
    add(e.output);
}

void Structure::add(const Array& x) {
    int& place = places_[find(x.storage.get())];
    if (place < 0) {
        place = static_cast<int>(owners_.size());
        owners_.push_back({x.storage.get()});
    }
    ++owners_[static_cast<size_t>(place)].references;
    words_.push_back(static_cast<uint64_t>(place) << 16 | static_cast<uint64_t>(x.dtype) << 8 |
                     static_cast<uint64_t>(x.ndim()));
    words_.push_back(static_cast<uint64_t>(x.offset));
    add(x.shape);
    add(x.strides);
}

// Equal constants become one in a group, whatever they are.
void Structure::add(const Constant& value, DType dtype) {
    size_t i = 0;
    while (i < constants_.size() &&
           !(constants_[i].dtype == dtype && same_constant(*constants_[i].value, value, dtype)))
        ++i;
    if (i == constants_.size()) constants_.push_back({dtype, &value});
    words_.push_back(i);
}

size_t Structure::find(const Storage* storage) const {
    const size_t last = places_.size() - 1;
    size_t at = mix(0, reinterpret_cast<uintptr_t>(storage)) & last;
    while (places_[at] >= 0 && owners_[static_cast<size_t>(places_[at])].storage != storage)
        at = (at + 1) & last;
    return at;
}

uint64_t Structure::hash() const {
    uint64_t hash = words_.size();
    for (uint64_t word : words_) hash = mix(hash, word);
    return hash;
}

// ---- plans

void CapturedPlan::add(std::string name, std::deque<Work> works, bool by_rows,
                       std::vector<int> numbers, const Structure& structure,
                       std::span<const Entry> entries) {
    Step& step = steps.emplace_back(std::move(name), std::move(works), by_rows);
    step.entries = std::move(numbers);
    const auto entry = [&](int number) -> const Entry& {
        return entries[static_cast<size_t>(number)];
    };
    const auto place_entry = [&](const Entry*& e) {
        if (e) step.sources_.push_back({&e, static_cast<int>(e - entries.data())});
        e = nullptr;
    };
    const auto place_constant = [&](Constant& value, DType dtype) {
        for (int number : step.entries) {
            for (int k = 0; k < entry(number).arity; ++k) {
                const Entry& e = entry(number);
                if (!e.constant[k] || register_of(e, k) != dtype ||
                    !same_constant(e.constants[k], value, dtype))
                    continue;
                return step.constants_.push_back({&value, number, k});
            }
        }
    };
    const auto place_call = [&](Call& call) {
        for (size_t k = 0; k < call.constants.size(); ++k)
            place_constant(call.constants[k], call.finished->constants[k]);
    };
    bool tiles = true;
    for (Work& work : step.works) {
        tiles &= !work.library && !work.product;
        for_each_array(work, [&](Array& x, int) {
            if (!x.storage) return;
            step.arrays_.push_back({&x, structure.number_of(x.storage.get())});
            x.storage = {};
        });
        place_call(work.call);
        for (Call& call : work.again) place_call(call);
        for (Work::Sink& sink : work.sinks) {
            place_entry(sink.entry);
            if (sink.source >= 0) sink.x.storage = {};
        }
        place_entry(work.library);
        place_entry(work.product);
    }
    step.tuner.emplace(tuning_key(step.entries, entries), tiles);
}

void CapturedPlan::complete(const Structure& structure, std::span<const Entry> entries) {
    last_steps.assign(structure.owners().size(), -1);
    for (size_t s = 0; s < steps.size(); ++s) {
        for (int number : steps[s].entries) {
            const Entry& e = entries[static_cast<size_t>(number)];
            const auto touch = [&](const Array& x) {
                last_steps[static_cast<size_t>(structure.number_of(x.storage.get()))] =
                    static_cast<int>(s);
            };
            for (int k = 0; k < e.arity; ++k)
                if (!e.constant[k]) touch(e.inputs[k]);
            touch(e.output);
        }
    }
    for (size_t owner = 0; owner < last_steps.size(); ++owner) {
        if (last_steps[owner] >= 0 && !structure.owners()[owner].held)
            steps[static_cast<size_t>(last_steps[owner])].ends.push_back(static_cast<int>(owner));
    }
}

CapturedPlan::Bound::Bound(Step& step, const Structure& structure, std::span<Entry> entries)
    : step_(step) {
    for (const Step::ArrayPlace& place : step.arrays_)
        place.array->storage =
            Ref<Storage>(structure.owners()[static_cast<size_t>(place.owner)].storage);
    for (const Step::ConstantPlace& place : step.constants_)
        *place.constant = entries[static_cast<size_t>(place.entry)].constants[place.operand];
    for (const Step::EntryPlace& place : step.sources_)
        *place.place = &entries[static_cast<size_t>(place.entry)];
}

CapturedPlan::Bound::~Bound() {
    for (const Step::ArrayPlace& place : step_.arrays_) place.array->storage = {};
    for (const Step::EntryPlace& place : step_.sources_) *place.place = nullptr;
    for (Work& work : step_.works) work.inherits.clear();
}

// ---- plans of a tape

bool CapturedPlans::due() {
    if (unrepeated_ < kPatience) return true;
    skipped_ = (skipped_ + 1) % kSampled;
    return skipped_ == 0;
}

CapturedPlan* CapturedPlans::find(std::span<const Entry> entries) {
    structure_.read(entries);
    ++unrepeated_;
    const auto found = by_hash_.find(structure_.hash());
    if (found == by_hash_.end() || found->second->plan->words != structure_.words()) return nullptr;
    unrepeated_ = 0;
    kept_.splice(kept_.begin(), kept_, found->second);
    return found->second->plan.get();
}

bool CapturedPlans::worth_keeping() {
    if (seen_.size() == kMostSeen) seen_.clear();
    const bool repeated = !seen_.insert(structure_.hash()).second;
    if (repeated) unrepeated_ = 0;
    return repeated;
}

void CapturedPlans::keep(std::unique_ptr<CapturedPlan> plan) {
    const uint64_t hash = structure_.hash();
    if (auto old = by_hash_.find(hash); old != by_hash_.end()) {
        kept_.erase(old->second);
        by_hash_.erase(old);
    }
    if (kept_.size() == kMostPlans) {
        by_hash_.erase(kept_.back().hash);
        kept_.pop_back();
    }
    kept_.push_front({hash, std::move(plan)});
    by_hash_[hash] = kept_.begin();
}

void CapturedPlans::clear() {
    by_hash_.clear();
    kept_.clear();
    seen_.clear();
    unrepeated_ = skipped_ = 0;
}

size_t CapturedPlans::stretch(std::span<const Entry> entries) {
    const size_t n = entries.size();
    if (n < kLeastRepeated) return n;
    // From the last entry back: a loop may have begun in the middle of the list.
    std::vector<uint64_t> outlines(n);
    for (size_t i = 0; i < n; ++i) outlines[i] = outline(entries[n - 1 - i]);
    // z[i]: how many entries from i on are those from the start on.
    std::vector<size_t> z(n);
    for (size_t i = 1, left = 0, right = 0; i < n; ++i) {
        if (i < right) z[i] = std::min(right - i, z[i - left]);
        while (i + z[i] < n && outlines[z[i]] == outlines[i + z[i]]) ++z[i];
        if (i + z[i] > right) left = i, right = i + z[i];
    }
    for (size_t period = 1; period <= n / 2; ++period) {
        const size_t repeated = z[period] + period;
        if (z[period] < period || repeated < n / 2) continue;
        if (repeated < n) return n - repeated;
        return std::min(n, std::max<size_t>(kPiece / period, 1) * period);
    }
    return n;
}

}  // namespace asc
