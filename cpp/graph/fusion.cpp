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

    // Forms the groups.
    void plan() {
        for (Entry& e : entries_) {
            if (!e.done) place(e);
        }
    }

    Outcome run() {
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
        return outcome_;
    }

  private:
    // An entry is live if its storage can be seen, or a later live entry reads it.
    void mark_live() {
        std::unordered_map<Storage*, bool> wanted;
        for (size_t i = entries_.size(); i-- > 0;) {
            Entry& e = entries_[i];
            e.done = !uses_[e.output.storage.get()].visible && !wanted[e.output.storage.get()];
            if (e.done) {
                dead_count.fetch_add(1, std::memory_order_relaxed);
                continue;
            }
            for (int k = 0; k < e.arity; ++k) {
                if (e.constant[k]) continue;
                wanted[e.inputs[k].storage.get()] = true;
                ++uses_[e.inputs[k].storage.get()].unread;
            }
        }
    }

    // Puts an entry into the first group that keeps program order and can take it.
    void place(Entry& e) {
        int least = 0;
        for (int k = 0; k < e.arity; ++k) {
            if (!e.constant[k])
                least = std::max(least, uses_[e.inputs[k].storage.get()].write_group);
        }
        Use& out = uses_[e.output.storage.get()];
        least = std::max({least, out.write_group, out.read_group});
        int chosen = -1;
        for (int g = std::max(least, 0); g < static_cast<int>(groups_.size()) && fusion_enabled();
             ++g) {
            if (groups_[static_cast<size_t>(g)].accepts(e)) {
                chosen = g;
                break;
            }
        }
        if (chosen < 0) {
            chosen = static_cast<int>(groups_.size());
            groups_.emplace_back(e);
        }
        groups_[static_cast<size_t>(chosen)].add(e);
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
                groups_[static_cast<size_t>(chosen)].forget(*e.inputs[k].storage);
        }
    }

    bool needed(const Storage& storage) {
        const Use& use = uses_[const_cast<Storage*>(&storage)];
        return use.visible || use.read_elsewhere;
    }
    Work work(const Group& group) {
        return group.work([this](Storage& storage) { return needed(storage); });
    }

    // Runs the next group, with those behind it that can go along by blocks of rows; returns the
    // number of the first one that has not run. If it throws Interrupted none of them has.
    size_t run_groups(size_t first) {
        std::deque<Work> works;  // whose addresses stay
        RowBlocks rows;
        size_t end = first;
        for (; end < groups_.size() && !groups_[end].reads_failure(); ++end) {
            if (!rows.add(works.emplace_back(work(groups_[end])))) break;
        }
        const bool by_rows = fusion_enabled() && rows.pays();
        if (!by_rows) end = first + 1;
        works.resize(std::min(works.size(), end - first));
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
};

// Plans and runs one entry; where there is no memory for a plan, its result fails.
Outcome run_entry(Entry& e) {
    try {
        return Scheduler({&e, 1}).run();
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

FusionCounters fusion_counters() {
    return {dead_count.load(), group_count.load(), programs_made()};
}

}  // namespace asc
