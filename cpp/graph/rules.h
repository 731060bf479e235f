// Rules: what users say about fusion, as decisions on a list of entries; and the hooks by which the
// bindings take part in a flush.
//
// Hooks run Python code, on any thread that runs a tape, with the interpreter's lock and without
// any other. The tape waits meanwhile, so that nothing may be recorded or waited for inside.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graph/snapshot.h"

namespace asc::rules {

// Entries that shall run in one group.
struct Fusion {
    std::vector<int> nodes;  // in program order
    std::string name;        // of the group
    std::string rule;        // that asks for it
};
struct Decisions {
    std::vector<Fusion> fusions;
    std::vector<int> kept;  // entries that run alone
};

struct Hooks {
    struct Answer {
        Decisions decisions;
        std::vector<int> shapes_read;  // nodes whose shapes the rules looked at
        bool final = true;             // the same graph gets the same answer again
    };
    Answer (*decide)(const Snapshot& snapshot);
    // A rule asks for what cannot be done.
    void (*refuse)(const Fusion& fusion, const Snapshot& snapshot, int node);
    // A list of entries has run.
    void (*dump)(const Snapshot& snapshot);
};
void set_hooks(const Hooks* hooks);
// Whether there are rules, and whether flushes are dumped. Old answers are forgotten.
void activate(bool rules, bool dumps);
// From now on no hook is called; waits, for a while, for those that run.
void shut_down();

// This thread is in a hook.
bool inside_hook();
// Throws Error(Runtime) if it is.
void refuse_inside_hook();

// Work of this thread needs no decisions and is not dumped while it lives: memory is short.
class HooksOff {
  public:
    HooksOff();
    ~HooksOff();
    HooksOff(const HooksOff&) = delete;
    HooksOff& operator=(const HooksOff&) = delete;

  private:
    bool outer_;
};

// What rules say about the entries, whose `done` tells what is dropped; null where there are none.
// A graph of the same operations, dtypes and shapes that rules looked at is decided once.
std::shared_ptr<const Decisions> decide(std::span<const Entry> entries);
void refuse(const Fusion& fusion, std::span<const Entry> entries, int node);
bool dumps();
// There are rules, or flushes are dumped.
bool active();
void dump(const Snapshot& snapshot);

}  // namespace asc::rules
