// Observe: what groups do, in the words and numbers of the profiler.
#pragma once
#include <deque>
#include <functional>
#include <span>
#include <string>

#include "backend/device_span.h"
#include "graph/group.h"

namespace asc {

// Bytes of the elements of a view, those of broadcast axes once.
int64_t view_bytes(const Array& x);

// The functions of the groups' entries, or the name that a rule gave: "multiply+add+sum".
std::string title(std::span<const Group> groups);

// Fills the span of entries that run together as these works, and begins their flows there.
// `kept` tells whether a storage is looked at afterwards.
void describe(DeviceSpan& span, const std::string& title, std::span<const Entry* const> entries,
              const std::deque<Work>& works, const std::function<bool(Storage&)>& kept);

}  // namespace asc
