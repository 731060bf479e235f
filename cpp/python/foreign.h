// Memory that belongs to somebody else, and the release of its owners.
#pragma once
#include <memory>

#include "core/storage.h"

namespace asc::python {

// Deleted by a thread that holds the interpreter's lock. Others put it into a list, which needs no
// memory for that.
struct Owner {
    Owner() = default;
    Owner(const Owner&) = delete;
    Owner& operator=(const Owner&) = delete;
    virtual ~Owner() = default;
    Owner* next = nullptr;
};

// A Block over memory of the owner, which it takes over in any case.
Ref<Block> foreign_block(std::byte* data, int64_t nbytes, std::unique_ptr<Owner> owner);

// Releases owners that threads without the interpreter's lock have dropped.
void release_queued_owners();

}  // namespace asc::python
