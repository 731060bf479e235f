#include "graph/fusion.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <unordered_map>

#include "graph/attempt.h"
#include "graph/group.h"
#include "graph/observe.h"
#include "graph/plan.h"
#include "graph/rows.h"
#include "graph/rules.h"
#include "runtime/profiler.h"

namespace asc {
namespace {

std::atomic<int64_t> dead_count{0}, group_count{0}, replay_count{0};

// Made ahead: there may be no memory for it later.
const Failure& out_of_memory = *new Failure(
    std::make_shared<const Error>(ErrorKind::Memory, "not enough memory for recorded operations"));

// The error of an entry, for whoever reads its result.
Failure explain(const Entry& entry, const Error& error) {
    try {
        const Error full = named(entry.function, error);
        if (!entry.line) return std::make_shared<const Error>(full);
        return std::make_shared<const Error>(
            full.kind(), std::string(full.what()) + " (recorded at " + *entry.line + ")");
    } catch (const std::bad_alloc&) {
        return out_of_memory;
    }
}

// Whatever was thrown, as an error that can be kept.
Failure failure_of(const std::exception_ptr& thrown) {
    try {
        try {
            std::rethrow_exception(thrown);
        } catch (const Error& error) {
            return std::make_shared<const Error>(error);
        } catch (const std::bad_alloc&) {
            return out_of_memory;
        } catch (const std::exception& error) {
            return std::make_shared<const Error>(ErrorKind::Runtime, error.what());
        } catch (...) {
            return std::make_shared<const Error>(ErrorKind::Runtime, "unknown error");
        }
    } catch (const std::bad_alloc&) {
        return out_of_memory;
    }
}

// What is known of a storage while groups are formed.
struct Use {
    int write_group = -1;         // the last group that writes it
    int read_group = -1;          // the last group that reads it
    int references = 0;           // of entries; the rest are other people's
    int unread = 0;               // live entries that read it and are not in a group yet
    bool read_elsewhere = false;  // some group other than the writing one reads it
    bool held = false;            // by someone beside the entries
    bool one_array = false;       // beside the entries exactly one array has it
    bool visible = false;         // someone beside the entries can see its bytes
};

void run(const Work& work) {
    work.allocate();
    work.run();
}

// Nobody will look at its bytes any more.
void discard(Storage& storage) { storage.gone() ? storage.drop_gone_block() : storage.discard(); }

class Scheduler {
  public:
    explicit Scheduler(std::span<Entry> entries) : entries_(entries) {
        for (Entry& e : entries_) {
            for (int k = 0; k < e.arity; ++k) {
                if (!e.constant[k]) ++uses_[e.inputs[k].storage.get()].references;
            }
            ++uses_[e.output.storage.get()].references;
        }
        for (auto& [storage, use] : uses_) {
            use.held = storage->held_beside(use.references);
            use.one_array = storage->use_count() == use.references + 1;
            use.visible = use.held || !storage->promised();
        }
        mark_live();
    }

    // Forms the groups, as rules say or else by itself.
    void plan() {
        decisions_ = rules::decide(entries_);
        if (!decisions_) return void(place_all());
        const auto uses = uses_;
        wishes_.resize(decisions_->fusions.size());
        while (!place_all()) {
            uses_ = uses;
            groups_.clear();
        }
    }

    // What `run` would do.
    Snapshot snapshot() {
        start_snapshot();
        for (size_t g = 0; g < groups_.size();) {
            Batch batch;
            gather(batch, g);
            add_to_snapshot(batch);
            g = batch.end;
        }
        return std::move(*snapshot_);
    }

    // Makes a plan of what it runs.
    void capture(const Structure& structure) {
        for (const Structure::Owner& owner : structure.owners()) {
            const Use& use = uses_[owner.storage];
            // Other threads may have let go of an array meanwhile.
            if (use.held != owner.held || use.visible != (owner.held || !owner.promised)) return;
        }
        structure_ = &structure;
        captured_ = std::make_unique<CapturedPlan>(structure);
        for (const Entry& e : entries_)
            if (e.done) captured_->dead.push_back(number_of(e));
    }
    // Null where something went wrong, or other than it will the next time.
    std::unique_ptr<CapturedPlan> captured() {
        if (captured_ && outcome_.finished) captured_->complete(*structure_, entries_);
        return outcome_.finished ? std::move(captured_) : nullptr;
    }

    Outcome run() {
        count_dead();
        if (rules::dumps()) start_snapshot();
        try {
            for (size_t g = 0; g < groups_.size();) {
                if (g > 0 && Waiting::due()) throw Interrupted{};
                const size_t end = run_groups(g);
                for (; g < end; ++g) {
                    groups_[g].finish();
                    let_go(groups_[g], static_cast<int>(g));
                }
            }
        } catch (const Interrupted&) {
            outcome_.finished = false;
        }
        if (snapshot_) rules::dump(*snapshot_);
        return outcome_;
    }

  private:
    // An entry is live if its storage can be seen, or a later live entry reads it.
    void mark_live() {
        std::unordered_map<Storage*, bool> wanted;
        for (size_t i = entries_.size(); i-- > 0;) {
            Entry& e = entries_[i];
            e.done = !uses_[e.output.storage.get()].visible && !wanted[e.output.storage.get()];
            if (e.done) continue;
            for (int k = 0; k < e.arity; ++k) {
                if (e.constant[k]) continue;
                wanted[e.inputs[k].storage.get()] = true;
                ++uses_[e.inputs[k].storage.get()].unread;
            }
        }
    }

    void count_dead() {
        for (const Entry& e : entries_) dead_count.fetch_add(e.done, std::memory_order_relaxed);
    }

    // A fusion that a rule asks for.
    struct Wish {
        int group = -1;  // of its first entry, once that is placed
        bool refused = false;
    };

    // Places the entries; false if a wish turned out to be one that cannot be granted.
    bool place_all() {
        std::vector<int> wish_of(entries_.size(), -1);
        std::vector<bool> alone(entries_.size());
        for (size_t w = 0; w < wishes_.size(); ++w) {
            wishes_[w].group = -1;
            if (wishes_[w].refused) continue;
            for (int node : decisions_->fusions[w].nodes)
                wish_of[static_cast<size_t>(node)] = static_cast<int>(w);
        }
        if (decisions_)
            for (int node : decisions_->kept) alone[static_cast<size_t>(node)] = true;
        merged_.assign(entries_.size(), false);
        for (size_t i = 0; i < entries_.size(); ++i) {
            if (entries_[i].done) continue;
            const auto w = static_cast<size_t>(wish_of[i]);
            if (place(i, wish_of[i] < 0 ? nullptr : &wishes_[w], alone[i])) {
                if (wish_of[i] >= 0) group(wishes_[w].group).call(decisions_->fusions[w].name);
                continue;
            }
            wishes_[w].refused = true;
            rules::refuse(decisions_->fusions[w], entries_, static_cast<int>(i));
            return false;
        }
        return true;
    }

    Group& group(int g) { return groups_[static_cast<size_t>(g)]; }

    // Puts an entry into a group that keeps program order and can take it: that of its wish, or
    // the first one, or a new one. False if the wish cannot be granted.
    bool place(size_t number, Wish* wish, bool alone) {
        Entry& e = entries_[number];
        int least = 0;
        for (int k = 0; k < e.arity; ++k) {
            if (!e.constant[k])
                least = std::max(least, uses_[e.inputs[k].storage.get()].write_group);
        }
        Use& out = uses_[e.output.storage.get()];
        least = std::max({least, out.write_group, out.read_group});
        const bool joins = wish && wish->group >= 0;
        if (joins && (wish->group < least || !group(wish->group).accepts(e, true))) return false;
        int chosen = joins ? wish->group : -1;
        if (!joins && !alone && fusion_enabled()) chosen = first_group(e, least, wish != nullptr);
        if (chosen < 0) {
            chosen = static_cast<int>(groups_.size());
            groups_.emplace_back(e);
        }
        if (wish) wish->group = chosen;
        merged_[number] = !group(chosen).add(e);
        if (alone) group(chosen).close();
        for (int k = 0; k < e.arity; ++k) {
            if (e.constant[k]) continue;
            Use& use = uses_[e.inputs[k].storage.get()];
            use.read_group = std::max(use.read_group, chosen);
            if (use.write_group != chosen) use.read_elsewhere = true;
        }
        // A value that an earlier group left behind is completed by this one.
        if (out.write_group >= 0 && out.write_group != chosen) out.read_elsewhere = true;
        out.write_group = chosen;
        for (int k = 0; k < e.arity; ++k) {
            if (e.constant[k]) continue;
            Use& use = uses_[e.inputs[k].storage.get()];
            if (--use.unread == 0 && !use.visible && !use.read_elsewhere)
                group(chosen).forget(*e.inputs[k].storage);
        }
        return true;
    }

    // The first group from `least` on that takes the entry, or -1; one without a name, if asked.
    int first_group(const Entry& e, int least, bool nameless) {
        for (int g = std::max(least, 0); g < static_cast<int>(groups_.size()); ++g) {
            if (group(g).accepts(e) && (!nameless || group(g).name().empty())) return g;
        }
        return -1;
    }

    bool needed(const Storage& storage) {
        const Use& use = uses_[const_cast<Storage*>(&storage)];
        return use.visible || use.read_elsewhere;
    }
    Work work(const Group& group) {
        return group.work([this](Storage& storage) { return needed(storage); });
    }

    // Groups that run together: one, or several by blocks of rows.
    struct Batch {
        size_t first = 0, end = 0;
        std::deque<Work> works;  // whose addresses stay
        RowBlocks rows;
        bool by_rows = false;
    };

    void gather(Batch& batch, size_t first) {
        batch.first = batch.end = first;
        for (; batch.end < groups_.size() && !groups_[batch.end].reads_failure(); ++batch.end) {
            if (batch.end > first && (groups_[first].closed() || groups_[batch.end].closed()))
                break;
            if (!batch.rows.add(batch.works.emplace_back(work(groups_[batch.end])))) break;
        }
        batch.by_rows = fusion_enabled() && batch.rows.pays();
        if (!batch.by_rows) batch.end = first + 1;
        batch.works.resize(std::min(batch.works.size(), batch.end - first));
    }

    // Runs the next group, with those behind it that can go along by blocks of rows; returns the
    // number of the first one that has not run. If it throws Interrupted none of them has.
    size_t run_groups(size_t first) {
        Batch batch;
        gather(batch, first);
        auto& [from, end, works, rows, by_rows] = batch;
        if (snapshot_) add_to_snapshot(batch);
        if (captured_ && works.empty()) captured_.reset();
        if (captured_) {
            captured_->add(title(groups(batch)), works, by_rows, numbers(batch), *structure_,
                           entries_);
        }
        if (!by_rows && !works.empty() && fusion_enabled())
            works[0].reuse_inputs([&](Storage& s) { return is_spare(s, static_cast<int>(first)); });
        group_count.fetch_add(by_rows || works.empty() || !works[0].empty(),
                              std::memory_order_relaxed);
        DeviceSpan span(profiler::Category::Compute, "", groups_[first].device());
        if (span) {
            std::vector<const Entry*> entries;
            for (const Group& group : groups(batch))
                entries.insert(entries.end(), group.entries().begin(), group.entries().end());
            describe(span, title(groups(batch)), entries, works,
                     [&](Storage& s) { return is_kept(s, end); });
        }
        const bool done =
            !works.empty() && attempt(works, [&] {
                                  by_rows ? rows.run([&](Storage& s) { return is_kept(s, end); })
                                          : asc::run(works[0]);
                              }) == nullptr;
        if (!done) captured_.reset();
        for (size_t g = first; !done && g < end; ++g) run_apart(groups_[g]);
        if (snapshot_) complete_snapshot();
        return end;
    }

    std::span<const Group> groups(const Batch& batch) const {
        return {groups_.data() + batch.first, batch.end - batch.first};
    }
    std::vector<int> numbers(const Batch& batch) const {
        std::vector<int> numbers;
        for (const Group& group : groups(batch))
            for (const Entry* e : group.entries()) numbers.push_back(number_of(*e));
        return numbers;
    }

    // Runs a group result by result, so that only those fail that have to. In-place writes come
    // last and together: they need no memory, and change what the others read.
    void run_apart(Group& group) {
        std::vector<Storage*> fresh, in_place;
        work(group).for_each_output([&](const Array& out) {
            (out.storage->promised() ? fresh : in_place).push_back(out.storage.get());
        });
        for (Storage*& storage : fresh) run_part(group, {&storage, 1});
        if (!in_place.empty()) run_part(group, in_place);
    }

    void run_part(Group& group, std::span<Storage* const> results) {
        Failure failure;
        try {
            failure = compute_part(group, results);
        } catch (const Interrupted&) {
            throw;
        } catch (...) {
            failure = explain(group.writer(*results[0]), *failure_of(std::current_exception()));
            if (!outcome_.error) outcome_.error = failure;
        }
        if (!failure) return;
        for (Storage* storage : results) storage->fail(failure);
    }

    // Returns the error of an input that failed; throws its own.
    static Failure compute_part(Group& group, std::span<Storage* const> results) {
        std::deque<Work> works;
        const Work& part = works.emplace_back(group.work([&](Storage& storage) {
            return std::find(results.begin(), results.end(), &storage) != results.end();
        }));
        if (Failure failure = part.inherited()) return failure;
        if (auto thrown = attempt(works, [&] { asc::run(part); })) std::rethrow_exception(thrown);
        return nullptr;
    }

    // Nobody looks at the storage's bytes behind this group, which reads them.
    bool is_spare(Storage& storage, int group) {
        const Use& use = uses_[&storage];
        if (std::max(use.read_group, use.write_group) > group) return false;
        if (!storage.owns_block()) return false;
        if (!use.held) return true;
        return storage.has(Hint::Temporary) && use.one_array && storage.donate(use.references);
    }

    // ---- what people see of it

    void start_snapshot() {
        snapshot_ = snapshot_of(entries_);
        snapshot_->stream = profiler::running_stream;
        for (size_t i = 0; i < entries_.size(); ++i) {
            Snapshot::Node& node = snapshot_->nodes[i];
            node.dropped = entries_[i].done;
            node.merged = merged_[i];
            node.held = uses_[entries_[i].output.storage.get()].visible;
        }
    }

    int number_of(const Entry& e) const { return static_cast<int>(&e - entries_.data()); }

    void add_to_snapshot(Batch& batch) {
        Snapshot::Group& group = snapshot_->groups.emplace_back();
        group.name = title(groups(batch));
        group.by_rows = batch.by_rows;
        group.nodes = numbers(batch);
        for (size_t w = 0; w < batch.works.size(); ++w) {
            const Work& work = batch.works[w];
            if (work.call.finished)
                group.instructions += static_cast<int>(work.call.finished->code.size());
            work.for_each_output([&](const Array& out) {
                if (batch.by_rows && !is_kept(*out.storage, batch.end)) return;
                const int node = number_of(groups_[batch.first + w].writer(*out.storage));
                const bool fresh = out.storage->promised();
                group.written.push_back(
                    {node, fresh ? out.storage->nbytes() : view_bytes(out), !fresh});
            });
        }
        group.begin = profiler::now();
    }

    // The last group has run.
    void complete_snapshot() {
        Snapshot::Group& group = snapshot_->groups.back();
        group.end = profiler::now();
        for (Snapshot::Memory& memory : group.written) {
            const Ref<Block> block =
                entries_[static_cast<size_t>(memory.node)].output.storage->present_block();
            if (block) memory.block = reinterpret_cast<uintptr_t>(block->data());
        }
    }

    // Someone looks at the storage's bytes behind the groups before `end`.
    bool is_kept(Storage& storage, size_t end) {
        const Use& use = uses_[&storage];
        return use.visible || std::max(use.read_group, use.write_group) >= static_cast<int>(end);
    }

    // Frees what nobody will look at any more, so that a long run needs no more memory than the
    // same operations at the call.
    void let_go(Group& group, int number) {
        group.for_each_storage([&](Storage& storage) {
            const Use& use = uses_[&storage];
            if (!use.held && std::max(use.read_group, use.write_group) == number) discard(storage);
        });
    }

    std::span<Entry> entries_;
    std::unordered_map<Storage*, Use> uses_;
    Outcome outcome_;
    std::vector<Group> groups_;
    std::shared_ptr<const rules::Decisions> decisions_;
    std::vector<Wish> wishes_;  // one for each fusion of the decisions
    std::vector<bool> merged_;  // by entry: an equal one, or none, does its work
    std::optional<Snapshot> snapshot_;
    const Structure* structure_ = nullptr;
    std::unique_ptr<CapturedPlan> captured_;
};

// Runs entries by the plan of a list of the same structure.
class Replay {
  public:
    Replay(CapturedPlan& plan, const Structure& structure, std::span<Entry> entries)
        : plan_(plan), structure_(structure), entries_(entries) {}

    // False where a step failed: entries that are not done have still to run.
    bool run(Outcome& outcome) {
        for (int dead : plan_.dead) entries_[static_cast<size_t>(dead)].done = true;
        dead_count.fetch_add(static_cast<int64_t>(plan_.dead.size()), std::memory_order_relaxed);
        replay_count.fetch_add(1, std::memory_order_relaxed);
        try {
            for (size_t s = 0; s < plan_.steps.size(); ++s) {
                if (s > 0 && Waiting::due()) throw Interrupted{};
                CapturedPlan::Step& step = plan_.steps[s];
                if (!run(step, static_cast<int>(s))) return false;
                for (int number : step.entries) entries_[static_cast<size_t>(number)].done = true;
                for (int owner : step.ends)
                    discard(*structure_.owners()[static_cast<size_t>(owner)].storage);
            }
        } catch (const Interrupted&) {
            outcome.finished = false;
        }
        return true;
    }

  private:
    bool run(CapturedPlan::Step& step, int number) {
        CapturedPlan::Bound bound(step, structure_, entries_);
        for (const Work& work : step.works)
            if (work.inherited()) return false;
        RowBlocks rows;
        if (step.by_rows) {
            for (const Work& work : step.works) rows.add(work);
        } else if (fusion_enabled()) {
            step.works[0].reuse_inputs([&](Storage& s) { return is_spare(s, number); });
        }
        const auto kept = [&](Storage& s) { return is_kept(s, number); };
        group_count.fetch_add(step.by_rows || !step.works[0].empty(), std::memory_order_relaxed);
        DeviceSpan span(profiler::Category::Compute, "", step.works[0].device);
        if (span) {
            std::vector<const Entry*> entries;
            for (int entry : step.entries) entries.push_back(&entries_[static_cast<size_t>(entry)]);
            describe(span, step.name, entries, step.works, kept);
        }
        Tuner::Run timed(*step.tuner);
        const bool done = attempt(step.works, [&] {
                              step.by_rows ? rows.run(kept) : asc::run(step.works[0]);
                          }) == nullptr;
        if (done) timed.succeeded();
        return done;
    }

    const Structure::Owner& owner(const Storage& storage) const {
        return structure_.owners()[static_cast<size_t>(structure_.number_of(&storage))];
    }
    int last_step(const Storage& storage) const {
        return plan_.last_steps[static_cast<size_t>(structure_.number_of(&storage))];
    }
    // Nobody looks at the storage's bytes behind this step, which reads them.
    bool is_spare(Storage& storage, int step) const {
        if (last_step(storage) > step || !storage.owns_block()) return false;
        const Structure::Owner& use = owner(storage);
        if (!use.held) return true;
        return storage.has(Hint::Temporary) && use.one_array && storage.donate(use.references);
    }
    // Someone looks at the storage's bytes behind this step.
    bool is_kept(Storage& storage, int step) const {
        const Structure::Owner& use = owner(storage);
        return use.held || !use.promised || last_step(storage) > step;
    }

    CapturedPlan& plan_;
    const Structure& structure_;
    std::span<Entry> entries_;
};

// Plans and runs one entry; where there is no memory for a plan, its result fails.
Outcome run_entry(Entry& e) {
    try {
        Scheduler scheduler({&e, 1});
        scheduler.plan();
        return scheduler.run();
    } catch (...) {
        const Failure failure = explain(e, *failure_of(std::current_exception()));
        e.output.storage->fail(failure);
        e.done = true;
        return {true, failure};
    }
}

// Plans and runs entries; a plan of them is kept where that is wanted.
Outcome schedule(std::span<Entry> entries, CapturedPlans* plans) {
    std::optional<Scheduler> scheduler;
    {
        profiler::Span span(profiler::Kind::Fuse, profiler::Category::Host, "fuse");
        if (span) span->elements = static_cast<int64_t>(entries.size());
        scheduler.emplace(entries).plan();
        if (plans) scheduler->capture(plans->structure());
    }
    const Outcome outcome = scheduler->run();
    if (auto plan = scheduler->captured()) plans->keep(std::move(plan));
    return outcome;
}

CapturedPlan* find_plan(std::span<const Entry> entries, CapturedPlans& plans) {
    profiler::Span span(profiler::Kind::Fuse, profiler::Category::Host, "replay");
    if (span) span->elements = static_cast<int64_t>(entries.size());
    CapturedPlan* plan = plans.find(entries);
    if (span && !plan) span->name = profiler::intern("look for a plan");
    return plan;
}

// Runs entries by a plan, as far as there is one; false where some have still to be planned.
bool replay(std::span<Entry>& entries, CapturedPlans& plans, Outcome& outcome) {
    CapturedPlan* plan = find_plan(entries, plans);
    if (!plan) return false;
    if (Replay(*plan, plans.structure(), entries).run(outcome)) return true;
    const auto rest = std::stable_partition(entries.begin(), entries.end(),
                                            [](const Entry& e) { return e.done; });
    entries = {rest, entries.end()};
    return false;
}

}  // namespace

Outcome run_entries(std::span<Entry> entries, CapturedPlans& plans) {
    try {
        if (!predictive.load(std::memory_order_relaxed) || rules::active()) {
            plans.clear();
            return schedule(entries, nullptr);
        }
        if (!plans.due()) return schedule(entries, nullptr);
        Outcome outcome;
        const size_t all = entries.size();
        if (replay(entries, plans, outcome)) return outcome;
        const bool keep = entries.size() == all && plans.worth_keeping();
        return schedule(entries, keep ? &plans : nullptr);
    } catch (...) {
        // No memory for a plan of all that is left: one after the other they need less.
        Outcome all;
        for (Entry& e : entries) {
            if (e.done) continue;
            const Outcome one = run_entry(e);
            if (!all.error) all.error = one.error;
            if (!one.finished) return {false, all.error};
        }
        return all;
    }
}

Snapshot inspect_entries(std::span<Entry> entries) {
    Scheduler scheduler(entries);
    scheduler.plan();
    Snapshot snapshot = scheduler.snapshot();
    for (Entry& e : entries) e.done = false;
    return snapshot;
}

FusionCounters fusion_counters() {
    return {dead_count.load(), group_count.load(), programs_made(), replay_count.load()};
}

}  // namespace asc
