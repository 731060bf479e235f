#include "graph/fusion.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <unordered_map>

#include "graph/group.h"
#include "graph/rows.h"

namespace asc {
namespace {

std::atomic<int64_t> dead_count{0}, group_count{0};

// Made ahead: there may be no memory for it later.
const std::shared_ptr<const Error>& out_of_memory = *new std::shared_ptr(
    std::make_shared<const Error>(ErrorKind::Memory, "not enough memory for recorded operations"));

// What is known of a storage while groups are formed.
struct Use {
    int write_group = -1;         // the last group that writes it
    int read_group = -1;          // the last group that reads it
    int references = 0;           // of entries; the rest are other people's
    int unread = 0;               // live entries that read it and are not in a group yet
    bool read_elsewhere = false;  // some group other than the writing one reads it
    bool held = false;            // by someone beside the entries
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
            use.held = storage->use_count() > use.references;
            use.visible = use.held || !storage->promised();
        }
        mark_live();
    }

    void run() {
        for (size_t i = 0; i < entries_.size(); ++i) {
            if (live_[i]) place(entries_[i]);
        }
        for (size_t g = 0; g < groups_.size();) {
            const size_t end = run_groups(g);
            for (; g < end; ++g) let_go(groups_[g], static_cast<int>(g));
        }
    }

  private:
    // An entry is live if its storage can be seen, or a later live entry reads it.
    void mark_live() {
        live_.assign(entries_.size(), false);
        std::unordered_map<Storage*, bool> wanted;
        for (size_t i = entries_.size(); i-- > 0;) {
            Entry& e = entries_[i];
            live_[i] = uses_[e.output.storage.get()].visible || wanted[e.output.storage.get()];
            if (!live_[i]) {
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
    void place(const Entry& e) {
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

    Work work(const Group& group) {
        return group.work(
            [&](Storage& s) { return uses_[&s].visible || uses_[&s].read_elsewhere; });
    }

    // Runs the next group, with those behind it that can go along by blocks of rows; returns the
    // number of the first one that has not run.
    size_t run_groups(size_t first) {
        std::deque<Work> works;  // whose addresses stay
        RowBlocks rows;
        size_t end = first;
        for (; end < groups_.size() && !groups_[end].inherited(); ++end) {
            if (!rows.add(works.emplace_back(work(groups_[end])))) break;
        }
        const bool by_rows = fusion_enabled() && rows.pays();
        if (!by_rows) end = first + 1;
        auto failure = groups_[first].inherited();
        if (!failure) {
            group_count.fetch_add(by_rows || !works[0].empty(), std::memory_order_relaxed);
            for (size_t g = first; g < end; ++g) groups_[g].renew();
            failure = failure_of([&] {
                by_rows ? rows.run([&](Storage& s) { return is_kept(s, end); }) : run(works[0]);
            });
        }
        for (size_t g = first; failure && g < end; ++g) groups_[g].fail(failure);
        return end;
    }

    static void run(const Work& work) {
        if (work.empty()) return;
        work.allocate();
        work.run();
    }

    template <class F>
    static std::shared_ptr<const Error> failure_of(F&& f) {
        try {
            f();
            return nullptr;
        } catch (const Error& e) {
            return std::make_shared<const Error>(e);
        } catch (const std::bad_alloc&) {
            return out_of_memory;
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
            if (!use.held && std::max(use.read_group, use.write_group) == number) storage.discard();
        });
    }

    std::span<Entry> entries_;
    std::unordered_map<Storage*, Use> uses_;
    std::vector<bool> live_;
    std::vector<Group> groups_;
};

}  // namespace

void run_entries(std::span<Entry> entries) {
    try {
        Scheduler(entries).run();
    } catch (const std::bad_alloc&) {
        for (Entry& e : entries) e.output.storage->fail(out_of_memory);
    }
}

FusionCounters fusion_counters() {
    return {dead_count.load(), group_count.load(), programs_made()};
}

}  // namespace asc
