#include "graph/rows.h"

#include "backend/backend.h"

#include <algorithm>
#include <atomic>

#include "runtime/workers.h"

namespace asc {
namespace {

// What the operands of one block should take, within the second level of cache, and the most.
constexpr int64_t kBlockBytes = 1 << 18;
constexpr int64_t kMostBytes = 1 << 20;
// Groups that run together: more of them would leave little room for each.
constexpr size_t kMostGroups = 16;
// Less than this stays in cache anyway.
constexpr int64_t kLeastBytes = 1 << 20;

// The axes are the last ones; returns how many are in front of them, or -1.
int leading_axes(const Dims& axes, int ndim) {
    std::vector<int64_t> sorted(axes.begin(), axes.end());
    std::sort(sorted.begin(), sorted.end());
    const int lead = ndim - axes.size();
    for (int i = 0; i < axes.size(); ++i) {
        if (sorted[static_cast<size_t>(i)] != lead + i) return -1;
    }
    return lead;
}

bool is_variance(const Entry& e) {
    return e.reduction.op == Reduction::Var || e.reduction.op == Reduction::Std;
}

bool begins_with(const Dims& shape, const Dims& rows) {
    return shape.size() >= rows.size() && std::equal(rows.begin(), rows.end(), shape.begin());
}

}  // namespace

bool RowBlocks::add(const Work& work) {
    if (work.empty() || !on_host(work.device) || (works_.empty() ? !begins(work) : !fits(work)))
        return false;
    for_each_array(work, [&](const Array& x, int) {
        if (!x.storage ||
            std::find(operands_.begin(), operands_.end(), x.storage) != operands_.end())
            return;
        operands_.push_back(x.storage);
        row_bytes_ += row_bytes(x);
    });
    work.for_each_output([&](const Array& out) {
        written_.push_back({out.storage, out.dtype, out.size() / product(rows_)});
    });
    for (const Work::Sink& sink : work.sinks) twice_ |= is_variance(*sink.entry);
    works_.push_back(&work);
    return true;
}

int64_t RowBlocks::row_bytes(const Array& x) const {
    return (x.size() * bits(x.dtype) / 8 + product(rows_) - 1) / product(rows_);
}

bool RowBlocks::begins(const Work& work) {
    if (work.sinks.empty()) return false;
    const int lead = leading_axes(work.sinks[0].entry->axes, work.shape.size());
    if (lead < 1) return false;
    rows_ = Dims(work.shape.data(), lead);
    return product(work.shape) > 0 && product(rows_) > 1 && fits(work);
}

bool RowBlocks::fits(const Work& work) const {
    if (work.library || work.product || works_.size() == kMostGroups ||
        !begins_with(work.shape, rows_))
        return false;
    for (const Work::Sink& sink : work.sinks) {
        if (sink.entry->kind != Entry::Kind::Reduction ||
            leading_axes(sink.entry->axes, work.shape.size()) != rows_.size()) {
            return false;
        }
    }
    bool all = true;
    int64_t bytes = row_bytes_;
    for_each_array(work, [&](const Array& x, int rank) {
        all &= !x.storage ? is_contiguous(x) : !written(x) || reads_rows(x, rank);
        if (x.storage) bytes += row_bytes(x);
    });
    work.for_each_output([&](const Array& out) { all &= writes_rows(out); });
    return all && bytes <= kMostBytes;
}

// A new storage, written as a whole in the order of rows.
bool RowBlocks::writes_rows(const Array& out) const {
    return out.storage->promised() && out.offset == 0 && is_contiguous(out) &&
           begins_with(out.shape, rows_) &&
           (out.size() * bits(out.dtype) + 7) / 8 == out.storage->nbytes() && !written(out);
}

const RowBlocks::Written* RowBlocks::written(const Array& x) const {
    for (const Written& w : written_) {
        if (w.storage == x.storage) return &w;
    }
    return nullptr;
}

// A row of x consists of elements of the same row of a storage that is written here.
bool RowBlocks::reads_rows(const Array& x, int rank) const {
    const Written& w = *written(x);
    const int lead = rows_.size(), missing = rank - x.ndim();
    int64_t stride = w.row, low = x.offset, high = x.offset;
    for (int i = lead - 1; i >= 0; stride *= rows_[i--]) {
        if (rows_[i] == 1) continue;
        const int axis = i - missing;
        if (axis < 0 || x.shape[axis] != rows_[i] || x.strides[axis] != stride) return false;
    }
    for (int axis = std::max(lead - missing, 0); axis < x.ndim(); ++axis) {
        const int64_t span = (x.shape[axis] - 1) * x.strides[axis];
        (span < 0 ? low : high) += span;
    }
    return x.dtype == w.dtype && low >= 0 && high < w.row;
}

bool RowBlocks::pays() const {
    return (works_.size() > 1 || twice_) && row_bytes_ * product(rows_) > kLeastBytes;
}

// The works of one thread, with scratch in place of what nobody looks at afterwards.
struct RowBlocks::Slot {
    struct Operand {
        Array* array;
        int64_t offset;
        Dims axes;    // the array's axis for each leading one, or -1 where it has the same for all
        int64_t row;  // of scratch, which holds the rows of one block; else 0
    };
    std::vector<Work> works;
    std::vector<Operand> operands;

    Slot(const RowBlocks& rows, const std::function<bool(Storage&)>& kept, int64_t most) {
        std::vector<std::pair<Storage*, Ref<Storage>>> scratch;
        for (const Written& w : rows.written_) {
            if (kept(*w.storage)) continue;
            scratch.emplace_back(
                w.storage.get(),
                Storage::allocate((most * w.row * bits(w.dtype) + 7) / 8, w.storage->device()));
        }
        for (const Work* work : rows.works_) works.push_back(*work);
        for (Work& work : works) {
            for_each_array(work, [&](Array& x, int rank) {
                int64_t row = x.storage ? 0 : x.size() / product(rows.rows_);
                for (auto& [storage, memory] : scratch) {
                    if (storage != x.storage.get()) continue;
                    row = rows.written(x)->row;
                    x.storage = memory;
                    break;
                }
                Dims axes(rows.rows_.size(), -1);
                for (int i = 0; i < axes.size(); ++i) {
                    const int axis = i - (rank - x.ndim());
                    if (axis >= 0 && x.shape[axis] != 1) axes[i] = axis;
                }
                operands.push_back({&x, x.offset, std::move(axes), row});
            });
        }
    }

    void run(const Dims& rows, const Dims& starts, const Dims& counts) {
        int64_t first = 0;
        for (int i = 0; i < rows.size(); ++i) first = first * rows[i] + starts[i];
        for (Operand& operand : operands) {
            Array& x = *operand.array;
            x.offset = operand.offset - first * operand.row;
            for (int i = 0; i < rows.size(); ++i) {
                const int axis = static_cast<int>(operand.axes[i]);
                if (axis < 0) continue;
                x.offset += starts[i] * x.strides[axis];
                x.shape[axis] = counts[i];
            }
        }
        for (const Work& work : works) work.run();
    }
};

void RowBlocks::run(const std::function<bool(Storage&)>& kept) {
    // Blocks are pieces of one axis, whole along the ones behind it.
    const int64_t rows = product(rows_), threads = workers::count();
    const int64_t most = std::clamp<int64_t>(rows / (4 * threads), 1,
                                             std::max<int64_t>(kBlockBytes / row_bytes_, 1));
    int axis = rows_.size() - 1;
    int64_t inner = 1;
    while (axis > 0 && inner * rows_[axis] <= most) inner *= rows_[axis--];
    const int64_t step = std::clamp<int64_t>(most / inner, 1, rows_[axis]);
    const int64_t pieces = (rows_[axis] + step - 1) / step;
    const int64_t blocks = rows / (inner * rows_[axis]) * pieces;
    bool packs = false;
    for (const Written& w : written_) {
        if (!kept(*w.storage)) continue;
        w.storage->materialize();
        packs |= is_bool(w.dtype);
    }
    // Blocks of packed bool may share words.
    const int64_t lanes = packs ? 1 : std::min(threads, blocks);
    std::vector<std::unique_ptr<Slot>> slots;
    for (int64_t i = 0; i < lanes; ++i)
        slots.push_back(std::make_unique<Slot>(*this, kept, step * inner));
    std::atomic<int64_t> next{0};
    const bool outermost = !workers::in_task();
    bool stopped = false;  // by the caller, who alone is told to stop
    auto work = [&](int64_t lane) {
        Dims starts(rows_.size(), 0), counts = rows_;
        for (int64_t block; (block = next.fetch_add(1, std::memory_order_relaxed)) < blocks;) {
            starts[axis] = block % pieces * step;
            counts[axis] = std::min(step, rows_[axis] - starts[axis]);
            int64_t outer = block / pieces;
            for (int i = axis - 1; i >= 0; outer /= rows_[i--]) {
                starts[i] = outer % rows_[i];
                counts[i] = 1;
            }
            try {
                slots[static_cast<size_t>(lane)]->run(rows_, starts, counts);
                if (!outermost || !Waiting::wanted()) continue;
                stopped = true;
                next.store(blocks, std::memory_order_relaxed);
            } catch (const Interrupted&) {
                stopped = true;
                next.store(blocks, std::memory_order_relaxed);
            } catch (...) {
                next.store(blocks, std::memory_order_relaxed);
                throw;
            }
        }
    };
    lanes == 1 ? work(0) : workers::for_each(lanes, work);
    if (stopped) throw Interrupted{};
}

}  // namespace asc
