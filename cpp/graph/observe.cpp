#include "graph/observe.h"

#include <algorithm>

namespace asc {
namespace {

// A title lists so many functions.
constexpr size_t kMostNames = 4;

// Floating-point operations of a matrix product: those of complex numbers are four and four.
int64_t operations(const Entry& product) {
    const int64_t depth = product.inputs[0].shape.back();
    return product.output.size() * depth * (is_complex(product.output.dtype) ? 8 : 2);
}

bool moves_bytes(const Entry& e) {
    return e.kind == Entry::Kind::Copy && e.inputs[0].dtype == e.output.dtype;
}

// Sums up what works that run together move to and from memory.
class Traffic {
  public:
    explicit Traffic(const std::function<bool(Storage&)>& kept) : kept_(kept) {}

    void add(const Work& work) {
        for (const Array& x : work.call.inputs) {
            if (!work.product || x.storage != work.product->output.storage) read(x);
        }
        for (const Work::Sink& sink : work.sinks) {
            if (sink.source < 0) read(sink.x);
        }
        for (const Entry* e : {work.library, work.product}) {
            for (int k = 0; e && k < e->arity; ++k) read(e->inputs[k]);
        }
        work.for_each_output([&](const Array& out) {
            made_.push_back(out.storage.get());
            if (!out.storage->promised() || kept_(*out.storage)) written += view_bytes(out);
        });
    }

    int64_t loaded = 0, written = 0;

  private:
    // What another of these works makes comes from the cache, and equal views are read once.
    void read(const Array& x) {
        if (!x.storage || std::find(made_.begin(), made_.end(), x.storage.get()) != made_.end())
            return;
        if (std::any_of(seen_.begin(), seen_.end(),
                        [&](const Array& other) { return same_view(x, other); }))
            return;
        seen_.push_back(x);
        loaded += view_bytes(x);
    }

    const std::function<bool(Storage&)>& kept_;
    std::vector<Storage*> made_;
    std::vector<Array> seen_;
};

}  // namespace

int64_t view_bytes(const Array& x) {
    int64_t elements = x.size() == 0 ? 0 : 1;
    for (int i = 0; i < x.ndim(); ++i) elements *= x.strides[i] == 0 ? 1 : x.shape[i];
    return (elements * bits(x.dtype) + 7) / 8;
}

std::string title(std::span<const Group> groups) {
    std::vector<const char*> names;
    for (const Group& group : groups) {
        for (const Entry* e : group.entries()) names.push_back(e->function);
    }
    std::string text;
    for (const Group& group : groups) {
        if (!group.name().empty()) text += (text.empty() ? "" : "+") + group.name();
    }
    if (!text.empty()) return text;
    for (size_t i = 0; i < std::min(names.size(), kMostNames); ++i)
        text += (i == 0 ? "" : "+") + std::string(names[i]);
    if (names.size() > kMostNames)
        text += "+" + std::to_string(names.size() - kMostNames) + " more";
    return text;
}

void describe(DeviceSpan& span, const std::string& title, std::span<const Entry* const> entries,
              const std::deque<Work>& works, const std::function<bool(Storage&)>& kept) {
    profiler::Event& event = *span;
    event.name = profiler::intern(title);
    bool moves = true;
    for (const Entry* e : entries) {
        moves &= moves_bytes(*e);
        event.precision = std::max(event.precision, static_cast<uint8_t>(e->precision));
        if (e->kind == Entry::Kind::Product) event.operations += operations(*e);
        if (e->flow == 0) continue;
        profiler::Event begin;
        begin.kind = profiler::Kind::Begin;
        begin.begin = begin.end = event.begin;
        begin.name = profiler::intern(e->function);
        begin.flow = e->flow;
        begin.stream = event.stream;
        begin.device = event.device;
        span.begin_flow(begin);
    }
    if (moves) event.category = profiler::Category::Copy;
    Traffic traffic(kept);
    for (const Work& work : works) {
        event.elements = std::max(event.elements,
                                  work.library ? work.library->output.size() : product(work.shape));
        traffic.add(work);
    }
    event.read = traffic.loaded;
    event.written = traffic.written;
}

}  // namespace asc
