// Attempt: one try at running works, after which new results are there, or promises as before.
#pragma once
#include <deque>
#include <exception>
#include <vector>

#include "graph/group.h"
#include "runtime/interrupt.h"

namespace asc {

// Runs f, which computes the works; returns what it threw, if it did. Throws Interrupted alone.
template <class F>
std::exception_ptr attempt(const std::deque<Work>& works, F&& f) {
    std::vector<Storage*> fresh;
    std::vector<Array> in_place;
    bool inherits = false;
    for (const Work& work : works) {
        inherits |= !work.inherits.empty();
        work.for_each_output([&](const Array& out) {
            if (out.storage->promised()) {
                fresh.push_back(out.storage.get());
            } else {
                in_place.push_back(out);
            }
        });
    }
    Region region;
    BitLock lock(in_place);
    Abandonable abandonable(in_place.empty() && !inherits);
    try {
        f();
        return nullptr;
    } catch (const Interrupted&) {
        for (Storage* storage : fresh) storage->discard();
        throw;
    } catch (...) {
        for (Storage* storage : fresh) storage->discard();
        return std::current_exception();
    }
}

}  // namespace asc
