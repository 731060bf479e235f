#include "backend/cpu/factors.h"

#include <utility>
#include <vector>

#include "backend/cpu/scratch.h"

namespace asc::cpu {
namespace {

// Packed forms of one storage that are kept: its views, transposed and in other precisions.
constexpr size_t kMostForms = 4;

struct PackedFactor {
    Array view;  // without a storage
    const Packing* packing;
    Buffer memory;

    bool is(const Array& b, const Packing& p) const {
        return packing == &p && view.offset == b.offset && view.dtype == b.dtype &&
               view.shape == b.shape && view.strides == b.strides;
    }
};
// What a storage keeps.
using Factors = std::vector<std::shared_ptr<const PackedFactor>>;

std::shared_ptr<const void> memory_of(const std::shared_ptr<const PackedFactor>& factor) {
    return {factor, factor->memory.data()};
}

}  // namespace

std::shared_ptr<const void> packed_factor(const Array& b, const GemmOperand& matrix,
                                          const Packing& packing) {
    Storage& storage = *b.storage;
    if (!storage.has(Hint::ConvWeight) || storage.shared()) return nullptr;
    const int64_t k = b.shape[b.ndim() - 2], n = b.shape.back();
    if (k == 0 || b.size() != k * n) return nullptr;
    const uint64_t changes = storage.changes();
    const auto kept = std::static_pointer_cast<const Factors>(storage.derived());
    for (size_t i = 0; kept && i < kept->size(); ++i)
        if ((*kept)[i]->is(b, packing)) return memory_of((*kept)[i]);
    Array view = b;
    view.storage = {};
    auto made = std::shared_ptr<const PackedFactor>(
        new PackedFactor{std::move(view), &packing, Buffer(packing.bytes(b.dtype, k, n))});
    packing.pack(made->memory.data(), b.dtype, matrix, k, n, workers::parallel());
    auto factors = std::make_shared<Factors>(kept ? *kept : Factors());
    if (factors->size() == kMostForms) factors->erase(factors->begin());
    factors->push_back(made);
    storage.keep_derived(std::move(factors), changes);
    return memory_of(made);
}

}  // namespace asc::cpu
