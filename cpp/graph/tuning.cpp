#include "graph/tuning.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <mutex>
#include <tuple>
#include <unordered_map>

#include "backend/cpu/machine.h"
#include "runtime/workers.h"

namespace asc {
namespace {

struct Choice {
    int threads;     // at most
    int tile_shift;  // tiles are 2**so many times as long
};
constexpr int kAll = std::numeric_limits<int>::max();
// The first one is what runs without tuning. Cache files hold their numbers.
constexpr Choice kTable[] = {{kAll, 0}, {1, 0}, {kAll, -1}, {1, -1}, {kAll, 1}, {1, 1}};

// Another choice than the first must need less than this part of its time.
constexpr double kClearlyBetter = 0.9;
// Runs until another choice than the first is compared with it again.
constexpr int kHeld = 256;
// From this time on a piece of work runs on all threads.
constexpr int64_t kLong = 300'000;
// What is known of more works than these is forgotten.
constexpr size_t kMostLearned = 10000;

struct Table {
    std::mutex mutex;
    std::unordered_map<uint64_t, int> choices;
};
Table& table() {
    static Table& instance = *new Table;
    return instance;
}

// The middle one of its times as parts of those of the first choice in the same turn: a clock that
// changes meanwhile, or one lucky run, favours nobody.
double beside_first(const Tuner::Times& times, int choice) {
    std::array<double, Tuner::kTries> parts;
    std::ranges::transform(times[static_cast<size_t>(choice)], times[0], parts.begin(),
                           [](int64_t t, int64_t first) { return double(t) / double(first); });
    const auto middle = parts.begin() + parts.size() / 2;
    std::ranges::nth_element(parts, middle);
    return *middle;
}

int64_t now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

}  // namespace

Tuner::Tuner(uint64_t key, bool has_tiles) : key_(key) {
    static_assert(std::size(kTable) == kChoices);
    std::vector<int> choices;
    for (int i = 0; i < kChoices; ++i) {
        const bool different = kTable[i].threads == kAll || workers::count() > 1;
        if (different && (has_tiles || kTable[i].tile_shift == 0)) choices.push_back(i);
    }
    compare(std::move(choices));
    if (choices_.size() == 1) chosen_ = 0;
    std::lock_guard lock(table().mutex);
    const auto found = table().choices.find(key);
    if (found != table().choices.end()) chosen_ = found->second;
}

void Tuner::compare(std::vector<int> choices) {
    choices_ = std::move(choices);
    chosen_ = -1;
    held_ = tried_ = 0;
}

std::pair<int, bool> Tuner::next() {
    // What was better on a busy machine is compared again; nothing is worse than the first choice.
    if (chosen_ > 0 && ++held_ == kHeld) compare({0, chosen_});
    if (chosen_ >= 0) return {chosen_, false};
    return {choices_[static_cast<size_t>(tried_) % choices_.size()], true};
}

void Tuner::took(int choice, int64_t nanoseconds) {
    const int turns = static_cast<int>(choices_.size());
    times_[static_cast<size_t>(choice)][static_cast<size_t>(tried_ / turns)] =
        std::max<int64_t>(nanoseconds, 1);
    ++tried_;
    // Waking threads takes a few microseconds: to long work that makes no difference.
    if (tried_ == 1 && nanoseconds > kLong)
        std::erase_if(choices_, [](int i) { return kTable[i].threads != kAll; });
    if (tried_ < kTries * static_cast<int>(choices_.size())) return;
    chosen_ = best(times_, choices_);
    std::lock_guard lock(table().mutex);
    if (table().choices.size() >= kMostLearned) table().choices.clear();
    try {
        table().choices[key_] = chosen_;
    } catch (const std::bad_alloc&) {  // it is known here, and not kept for later
    }
}

int Tuner::best(const Times& times, std::span<const int> choices) {
    int kept = 0;
    double least = kClearlyBetter;
    for (int other : choices) {
        const double part = beside_first(times, other);
        if (part < least) std::tie(kept, least) = std::tie(other, part);
    }
    return kept;
}

Tuner::Run::Run(Tuner& tuner) : tuner_(tuner) {
    bool timed = false;
    std::tie(choice_, timed) = tuner.next();
    workers::most_here = kTable[choice_].threads;
    cpu::tile_shift = kTable[choice_].tile_shift;
    if (timed) begin_ = now();
}

Tuner::Run::~Run() {
    workers::most_here = kAll;
    cpu::tile_shift = 0;
    if (begin_ && succeeded_) tuner_.took(choice_, now() - begin_);
}

Learned learned() {
    std::lock_guard lock(table().mutex);
    return Learned(table().choices.begin(), table().choices.end());
}

void learn(const Learned& known) {
    std::lock_guard lock(table().mutex);
    for (const auto& [key, choice] : known)
        if (choice >= 0 && choice < static_cast<int>(std::size(kTable)))
            table().choices.emplace(key, choice);
}

void unlearn() {
    std::lock_guard lock(table().mutex);
    table().choices.clear();
}

}  // namespace asc
