// Fusion: entries of a tape, in program order, become groups that run as one program each.
#pragma once
#include <span>

#include "graph/snapshot.h"
#include "graph/tape.h"

namespace asc {

struct Outcome {
    bool finished = true;  // false: it stopped in between because it was time to look at signals
    Failure error;         // the first of an entry that failed
};
// Runs the entries and marks them as done. Results that nobody can see are not computed; those of
// entries that fail, or read what has failed, keep the error.
Outcome run_entries(std::span<Entry> entries);

// What run_entries would do, without doing it.
Snapshot inspect_entries(std::span<Entry> entries);

struct FusionCounters {
    int64_t dead, groups, programs;
};
FusionCounters fusion_counters();

}  // namespace asc
