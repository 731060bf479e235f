#include "graph/rules.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

namespace asc::rules {
namespace {

// Graphs whose decisions are kept; the process may have more.
constexpr size_t kMostGraphs = 1024;
constexpr size_t kMostVariants = 64;
// How long the end of the process waits for hooks.
constexpr std::chrono::seconds kPatience{5};

std::atomic<const Hooks*> hooks{nullptr};
std::atomic<bool> with_rules{false}, with_dumps{false};
std::atomic<int> running{0};
thread_local bool inside = false, off = false;

// While it lives a hook runs, if there is one.
class Running {
  public:
    Running() {
        running.fetch_add(1);
        hooks_ = hooks.load();
        inside = true;
    }
    ~Running() {
        inside = false;
        running.fetch_sub(1);
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    const Hooks* operator->() const { return hooks_; }
    explicit operator bool() const { return hooks_ != nullptr; }

  private:
    const Hooks* hooks_;
};

// The answers for graphs of one structure: each holds where the shapes that were read are the same.
struct Variant {
    std::vector<std::pair<int, Dims>> shapes;
    std::shared_ptr<const Decisions> decisions;

    bool holds(std::span<const Entry> entries) const {
        for (const auto& [node, shape] : shapes) {
            if (!(entries[static_cast<size_t>(node)].output.shape == shape)) return false;
        }
        return true;
    }
};
struct Cache {
    std::mutex mutex;  // guards what follows
    uint64_t generation = 0;
    std::unordered_map<std::string, std::vector<Variant>> graphs;
};
Cache& cache() {
    static Cache& instance = *new Cache;
    return instance;
}

// What rules can see of the entries, without shapes.
std::string structure(std::span<const Entry> entries) {
    std::string key;
    std::unordered_map<const Storage*, uint16_t> numbers;
    const auto put = [&](const auto& value) {
        key.append(reinterpret_cast<const char*>(&value), sizeof(value));
    };
    const auto put_storage = [&](const Array& x) {
        put(numbers.emplace(x.storage.get(), static_cast<uint16_t>(numbers.size())).first->second);
    };
    for (const Entry& e : entries) {
        key.append(e.function).push_back('\0');
        put(e.done);
        put(e.output.dtype);
        put(e.arity);
        for (int k = 0; k < e.arity; ++k) {
            put(e.constant[k]);
            if (!e.constant[k]) put_storage(e.inputs[k]);
        }
        put_storage(e.output);
    }
    return key;
}

}  // namespace

void set_hooks(const Hooks* new_hooks) { hooks.store(new_hooks); }

void activate(bool rules, bool dumps) {
    with_rules.store(rules);
    with_dumps.store(dumps);
    std::lock_guard lock(cache().mutex);
    ++cache().generation;
    cache().graphs.clear();
}

void shut_down() {
    hooks.store(nullptr);
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (running.load() > 0 && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

bool inside_hook() { return inside; }

void refuse_inside_hook() {
    if (!inside) return;
    raise(ErrorKind::Runtime,
          "a fusion rule can look at the pending graph alone: arrays that are not computed yet "
          "cannot be used inside of it, and new work cannot be recorded");
}

HooksOff::HooksOff() : outer_(std::exchange(off, true)) {}
HooksOff::~HooksOff() { off = outer_; }

std::shared_ptr<const Decisions> decide(std::span<const Entry> entries) {
    if (!with_rules.load(std::memory_order_relaxed) || off || inside || !fusion_enabled())
        return nullptr;
    const std::string key = structure(entries);
    uint64_t generation = 0;
    {
        std::lock_guard lock(cache().mutex);
        generation = cache().generation;
        for (const Variant& variant : cache().graphs[key]) {
            if (variant.holds(entries)) return variant.decisions;
        }
    }
    Snapshot snapshot = snapshot_of(entries);
    for (size_t i = 0; i < entries.size(); ++i) snapshot.nodes[i].dropped = entries[i].done;
    Hooks::Answer answer;
    {
        Running hook;
        if (!hook) return nullptr;
        answer = hook->decide(snapshot);
    }
    auto decisions = std::make_shared<const Decisions>(std::move(answer.decisions));
    Variant variant{{}, decisions};
    for (int node : answer.shapes_read)
        variant.shapes.emplace_back(node, entries[static_cast<size_t>(node)].output.shape);
    std::lock_guard lock(cache().mutex);
    if (!answer.final || cache().generation != generation) return decisions;
    if (cache().graphs.size() > kMostGraphs) cache().graphs.clear();
    std::vector<Variant>& variants = cache().graphs[key];
    if (variants.size() == kMostVariants) variants.clear();
    variants.push_back(std::move(variant));
    return decisions;
}

void refuse(const Fusion& fusion, std::span<const Entry> entries, int node) {
    Running hook;
    if (hook) hook->refuse(fusion, snapshot_of(entries), node);
}

bool dumps() { return with_dumps.load(std::memory_order_relaxed) && !off && !inside; }

bool active() {
    return with_rules.load(std::memory_order_relaxed) || with_dumps.load(std::memory_order_relaxed);
}

void dump(const Snapshot& snapshot) {
    Running hook;
    if (hook) hook->dump(snapshot);
}

}  // namespace asc::rules
