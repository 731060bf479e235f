#include "graph/fusion.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <unordered_map>

#include "graph/group.h"
#include "graph/observe.h"
#include "graph/rows.h"
#include "graph/rules.h"
#include "runtime/profiler.h"

namespace asc {
namespace {

std::atomic<int64_t> dead_count{0}, group_count{0};

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
        if (!by_rows && !works.empty() && fusion_enabled())
            works[0].reuse_inputs([&](Storage& s) { return is_spare(s, static_cast<int>(first)); });
        group_count.fetch_add(by_rows || works.empty() || !works[0].empty(),
                              std::memory_order_relaxed);
        profiler::Span span(profiler::Kind::Work, profiler::Category::Compute, "");
        if (span) {
            describe(*span, {groups_.data() + first, end - first}, works,
                     [&](Storage& s) { return is_kept(s, end); });
        }
        const bool done =
            !works.empty() && attempt(works, [&] {
                                  by_rows ? rows.run([&](Storage& s) { return is_kept(s, end); })
                                          : run(works[0]);
                              }) == nullptr;
        for (size_t g = first; !done && g < end; ++g) run_apart(groups_[g]);
        if (snapshot_) complete_snapshot();
        return end;
    }

    static void run(const Work& work) {
        work.allocate();
        work.run();
    }

    // Runs f, which computes the works; returns what it threw, if it did. Then new results are
    // promises as before.
    template <class F>
    static std::exception_ptr attempt(const std::deque<Work>& works, F&& f) {
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
        if (auto thrown = attempt(works, [&] { run(part); })) std::rethrow_exception(thrown);
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
        group.name = title({groups_.data() + batch.first, batch.end - batch.first});
        group.by_rows = batch.by_rows;
        for (size_t g = batch.first; g < batch.end; ++g) {
            for (const Entry* e : groups_[g].entries()) group.nodes.push_back(number_of(*e));
        }
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
            if (use.held || std::max(use.read_group, use.write_group) != number) return;
            storage.gone() ? storage.drop_gone_block() : storage.discard();
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

}  // namespace

Outcome run_entries(std::span<Entry> entries) {
    try {
        std::optional<Scheduler> scheduler;
        {
            profiler::Span span(profiler::Kind::Fuse, profiler::Category::Host, "fuse");
            if (span) span->elements = static_cast<int64_t>(entries.size());
            scheduler.emplace(entries).plan();
        }
        return scheduler->run();
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
    return {dead_count.load(), group_count.load(), programs_made()};
}

}  // namespace asc
