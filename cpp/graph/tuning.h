// Tuning: which number of threads and size of tiles is fastest for a piece of work, from its own
// times. Neither changes a result.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace asc {

class Tuner {
  public:
    // Every choice is tried so often, in turn.
    static constexpr int kChoices = 6, kTries = 7;
    using Times = std::array<std::array<int64_t, kTries>, kChoices>;
    // Of choices that were tried, 0 among them, the one to keep.
    static int best(const Times& times, std::span<const int> choices);

    // `key` names the work, in every process alike; what was learned of it before holds.
    Tuner(uint64_t key, bool has_tiles);

    // Sets this thread's threads and tiles for one run, and learns how long it takes.
    class Run {
      public:
        explicit Run(Tuner& tuner);
        ~Run();
        Run(const Run&) = delete;
        Run& operator=(const Run&) = delete;
        void succeeded() { succeeded_ = true; }

      private:
        Tuner& tuner_;
        int choice_;
        bool succeeded_ = false;
        int64_t begin_ = 0;
    };

  private:
    // The choice for the next run, and whether its time is wanted.
    std::pair<int, bool> next();
    void took(int choice, int64_t nanoseconds);
    void compare(std::vector<int> choices);

    uint64_t key_;
    int chosen_ = -1;           // -1 while choices are compared
    int held_ = 0;              // runs with it
    std::vector<int> choices_;  // that are compared
    int tried_ = 0;
    Times times_;
};

// What all tuners have learned, or a process before: (key, choice).
using Learned = std::vector<std::pair<uint64_t, int>>;
Learned learned();
// Choices that are none are left out.
void learn(const Learned& learned);
// Forgets everything, for a start without it.
void unlearn();

}  // namespace asc
