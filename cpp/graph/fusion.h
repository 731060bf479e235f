// Fusion: entries of a tape, in program order, become groups that run as one program each.
#pragma once
#include <span>

#include "graph/tape.h"

namespace asc {

// Runs the entries. Results of entries that nobody can see are not computed.
void run_entries(std::span<Entry> entries);

struct FusionCounters {
    int64_t dead, groups, programs;
};
FusionCounters fusion_counters();

}  // namespace asc
