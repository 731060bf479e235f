// Elements of reductions and scans: they lie in an array, or a program makes them.
#pragma once
#include <optional>
#include <span>

#include "backend/cpu/machine.h"
#include "backend/cpu/strided.h"

namespace asc::cpu {

// Rows of n elements, `step` elements apart where a program makes them, `pitch` where they go.
struct Window {
    int64_t first, step, rows, n, pitch;
};

struct Elements {
    const StridedReader* array = nullptr;
    const PartialRun* program = nullptr;  // instead of the array
    std::span<const Array> sources;       // what it makes, in the order of its outputs
    int64_t cost = 1;                     // of one element, in bits that are read
    bool optional = true;                 // elements need not be asked for

    Elements() = default;
    Elements(const StridedReader& reader, int64_t bits) : array(&reader), cost(bits) {}
    // The outputs of the call without a storage; `run` is made from it.
    Elements(const ProgramCall& call, const PartialRun& run);

    // Several threads may ask for the elements of so many sequences.
    bool splits(int64_t sequences) const { return !packs_ || (aligned_ && sequences == 1); }
    // Of one element of each source.
    int64_t bits() const;
    // The memory for n elements of each source.
    int64_t bytes(int64_t n) const;
    // How many blocks of a reduction fit into the first level of cache, a power of 2.
    int64_t blocks_at_once() const;

  private:
    bool packs_ = false;   // the program also writes packed bool,
    bool aligned_ = true;  // always side by side from the border of a cache line on
};

// Makes elements, for one thread; does nothing for an array.
class Maker {
  public:
    // Windows have up to n elements, those in gaps included; `memory` has room for them.
    Maker(const Elements& elements, void* memory, int64_t n);
    void make(const Window& window) {
        thread_->run(window.first, window.step, window.rows, window.n, window.pitch);
    }
    // Where the elements of a source begin that were made last.
    const std::byte* at(int source) const { return buffers_[source]; }

  private:
    std::byte* buffers_[kMaxOperands];
    std::optional<PartialRun::Thread> thread_;
};

}  // namespace asc::cpu
