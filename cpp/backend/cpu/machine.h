// The tile machine: runs a program tile by tile, its values in registers of a few KiB.
#pragma once
#include <memory>

#include "backend/cpu/scratch.h"
#include "graph/program.h"

namespace asc::cpu {

// Tiles of this thread's runs are 2**so many times as long as they would be; no result depends on
// it.
inline thread_local int tile_shift = 0;

// Runs the program for every index of the outputs. Inputs broadcast to that shape. An input may
// share memory with an output only as the same view of it.
void run(const ProgramCall& call);

// A program that runs over parts of its index space, on the calling thread. Outputs without a
// storage, outputs[0] among them, go to memory that is given with each part.
class PartialRun {
  public:
    explicit PartialRun(const ProgramCall& call);  // which must outlive it
    ~PartialRun();

    // The program does no more than multiply two operands that lie side by side in memory.
    bool multiplies() const;
    // Their elements from number `first` on, in the memory order of outputs[0].
    struct Factors {
        const void *a, *b;
    };
    Factors factors(int64_t first) const;

    // What one thread runs, into memory of its own; one at a time in each thread.
    class Thread {
      public:
        Thread(const PartialRun& run, std::byte* const* buffers);
        ~Thread();
        // Indices [first + r * step, + n), in the memory order of outputs[0], for each r < rows.
        // Row r of output k lies at element r * pitch of buffers[k].
        void run(int64_t first, int64_t step, int64_t rows, int64_t n, int64_t pitch);

      private:
        const class Machine& machine_;
        Loan scratch_;
        struct Lane* lane_;  // in the scratch
    };

  private:
    std::unique_ptr<const class Machine> machine_;
    mutable Shelf scratch_;  // a piece for each thread
};

}  // namespace asc::cpu
