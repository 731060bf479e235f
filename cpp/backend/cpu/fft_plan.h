// Plans of Fourier transforms: the passes of a length, with their twiddles.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "backend/cpu/kernels/table.h"

namespace asc::cpu {

// Memory of a plan, from the pool.
class FftTable {
  public:
    FftTable() = default;
    explicit FftTable(int64_t bytes);
    void* data() const { return data_.get(); }
    int64_t bytes() const { return data_.get_deleter().bytes; }

  private:
    struct Free {
        int64_t bytes;
        void operator()(void* p) const;
    };
    std::unique_ptr<void, Free> data_;
};

// A chain of passes and the tables that they refer to.
struct FftPasses {
    std::vector<FftPass> list;
    std::vector<FftTable> tables;
    FftChain chain{};  // empty where the plan does not have it
    explicit operator bool() const { return chain.passes != nullptr; }
};

// How a complex transform of one length and one precision is computed. The results of `lines` and
// of `columns` with `rows` have the same bits.
struct FftPlan {
    int64_t n = 0;
    FftPasses lines;          // of whole sequences in lanes: for all but long ones
    FftPasses columns, rows;  // the two phases of one sequence, where n splits into two factors
    // A length with a large prime factor (Bluestein): x * factors, convolved through transforms of
    // length convolution->n, times factors.
    std::shared_ptr<const FftPlan> convolution;
    FftTable factors, spectrum;

    int64_t bytes() const;  // the transforms that it is made of included
    // The plan for float32 or float64, from a cache of limited size, which gives its memory up
    // where the pool runs short.
    static std::shared_ptr<const FftPlan> get(DType real, int64_t n);
};

// What a real transform of even length n adds to the complex one of n / 2.
struct FftRealPlan {
    std::shared_ptr<const FftPlan> half;
    FftTable twiddles;
    int64_t gap = 0;  // elements from the cosines to the sines

    int64_t bytes() const { return twiddles.bytes() + half->bytes(); }
    static std::shared_ptr<const FftRealPlan> get(DType real, int64_t n);
};

// Once, before those of tapes: a thread that waits for the interpreter's lock must not hold plans.
void install_plan_fork_handlers();

}  // namespace asc::cpu
