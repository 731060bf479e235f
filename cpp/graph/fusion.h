// Fusion: entries of a tape, in program order, become groups that run as one program each.
#pragma once
#include <span>

#include "graph/snapshot.h"
#include "graph/tape.h"

namespace asc {

class CapturedPlans;

struct Outcome {
    bool finished = true;  // false: it stopped in between because it was time to look at signals
    Failure error;         // the first of an entry that failed
};
// Runs the entries and marks them as done. Results that nobody can see are not computed; those of
// entries that fail, or read what has failed, keep the error.
// In predictive mode lists that were run before run by the plans of their tape.
Outcome run_entries(std::span<Entry> entries, CapturedPlans& plans);

// What run_entries would do, without doing it.
Snapshot inspect_entries(std::span<Entry> entries);

struct FusionCounters {
    int64_t dead, groups, programs, replays;
};
FusionCounters fusion_counters();

}  // namespace asc
