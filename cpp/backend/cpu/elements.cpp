#include "backend/cpu/elements.h"

#include <algorithm>
#include <bit>

#include "backend/cpu/kernels/table.h"
#include "graph/program.h"

namespace asc::cpu {
namespace {

constexpr int64_t kMadeBits = int64_t{8} << 14;
constexpr int64_t kAdditionBits = 32;  // that are read in the time of an addition
// Borders between threads fall on whole cache lines of packed bool.
constexpr int64_t kBorder = 512;

int64_t source_bytes(const Array& source, int64_t n) {
    return (n * bits(source.dtype) + 511) / 512 * 64;
}

}  // namespace

Elements::Elements(const ProgramCall& call, const PartialRun& run)
    : program(&run), cost(kAdditionBits * (call.program->cost + 1)) {
    size_t made = 0;
    while (made < call.outputs.size() && !call.outputs[made].storage) ++made;
    sources = call.outputs.first(made);
    optional = made == call.outputs.size();
    for (const Array& out : call.outputs.subspan(made)) {
        if (!is_bool(out.dtype)) continue;
        packs_ = true;
        aligned_ &= out.strides == sources[0].strides && out.offset % kBorder == 0;
    }
}

int64_t Elements::bits() const {
    int64_t total = 0;
    for (const Array& source : sources) total += asc::bits(source.dtype);
    return total;
}

int64_t Elements::bytes(int64_t n) const {
    int64_t total = 0;
    for (const Array& source : sources) total += source_bytes(source, n);
    return total;
}

int64_t Elements::blocks_at_once() const {
    const int64_t blocks = kMadeBits / (bits() * kReduceBlock);
    return std::clamp<int64_t>(static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(blocks))),
                               1, kReduceRun / kReduceBlock);
}

Maker::Maker(const Elements& elements, void* memory, int64_t n) {
    if (!elements.program) return;
    auto* next = static_cast<std::byte*>(memory);
    for (size_t k = 0; k < elements.sources.size(); ++k) {
        buffers_[k] = next;
        next += source_bytes(elements.sources[k], n);
    }
    thread_.emplace(*elements.program, buffers_);
}

}  // namespace asc::cpu
