#include "backend/cpu/reduce.h"

#include <atomic>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "backend/cpu/elementwise.h"
#include "backend/cpu/isa.h"
#include "backend/cpu/scratch.h"
#include "backend/cpu/strided.h"
#include "core/view.h"
#include "runtime/workers.h"

namespace asc::cpu {
namespace {

// Elements that one task should have.
constexpr int64_t kTaskElements = kReduceRun;
// Less memory than this is the work of one thread; elements that are converted count several times.
constexpr int64_t kParallelBits = int64_t{8} << 21;
constexpr int64_t kConversionCost = 4;
constexpr int64_t kRunBlocks = kReduceRun / kReduceBlock;
// Sequences shorter than this are reduced side by side.
constexpr int64_t kShortSequence = 64;
constexpr int kMaxAccBytes = 16;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
// The size of the left branch of a tree over n > 1 leaves.
int64_t left_branch(int64_t n) {
    return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(n - 1)));
}

// The order of work: the reduced sequence and the positions of results.
struct Plan {
    const StridedReader& reader;
    const ReduceKernels& kernel;
    AxisList reduced, kept;
    int64_t base;   // offset of the first element
    int64_t count;  // elements of each sequence
    int64_t results;
    std::byte* acc;  // planes of `results` accumulators
    const double* center = nullptr;
    Reduction op;
    bool counts;  // elements that are not zero; the kernel only merges
    int64_t element_bits;
    std::atomic<bool>* decided =
        nullptr;  // Any and All of one result: further elements do not matter

    int64_t blocks() const { return ceil_div(count, kReduceBlock); }
    int64_t record() const { return int64_t{kernel.acc_bytes} * kernel.planes; }
    bool ordered() const { return !kernel.merge; }
    std::byte* plane(int p) const { return acc + p * results * kernel.acc_bytes; }
};

Parallel threads_for(const Plan& plan) {
    const int64_t cost =
        plan.element_bits * (plan.reader.direct() || plan.counts ? 1 : kConversionCost);
    if (plan.count < ceil_div(kParallelBits, plan.results * cost)) return {1, workers::run};
    return workers::parallel();
}

// Neutral accumulators of an ordered reduction: ones.
void fill_ones(std::byte* acc, int64_t n, int acc_bytes, DType compute) {
    const double one[2] = {1, 0};
    const int64_t integer = 1;
    for (int64_t i = 0; i < n; ++i)
        std::memcpy(acc + i * acc_bytes,
                    is_integer(compute) ? static_cast<const void*>(&integer) : one,
                    static_cast<size_t>(acc_bytes));
}

// Copies n accumulators, planes `from` apart, into the results from number `out` on.
void deliver(const Plan& plan, const std::byte* acc, int64_t from, int64_t n, int64_t out,
             int64_t step) {
    const int64_t size = plan.kernel.acc_bytes;
    for (int p = 0; p < plan.kernel.planes; ++p) {
        const std::byte* src = acc + p * from * size;
        std::byte* dst = plan.plane(p) + out * size;
        if (step == 1) {
            std::memcpy(dst, src, static_cast<size_t>(n * size));
            continue;
        }
        for (int64_t i = 0; i < n; ++i)
            std::memcpy(dst + i * step * size, src + i * size, static_cast<size_t>(size));
    }
}

// ---- sequences one after the other ----

class Rows {
  public:
    Rows(const Plan& plan, DType compute) : plan_(plan), compute_(compute) {
        if (plan_.reduced.n == 0) plan_.reduced.axes[plan_.reduced.n++] = {1, 1, 0};
        const AxisList& r = plan_.reduced;
        const AxisList::Axis inner = r.axes[r.n - 1];
        const bool adjacent = plan_.reader.direct() && inner.stride == 1;
        in_place_ = adjacent && r.n == 1;
        run_length_ = adjacent ? inner.extent : 0;
        transposed_ = plan_.reader.direct() && r.n >= 2 && r.axes[r.n - 2].stride == 1 &&
                      std::abs(inner.stride) > 1;
        leaf_ = in_place_ || transposed_ || plan_.counts ? kRunBlocks : 1;
        const int64_t elements = std::min(plan_.count, leaf_ * kReduceBlock);
        scratch_ = in_place_ || plan_.counts ? 0 : elements * plan_.reader.size();
    }

    void run() {
        const Parallel par = threads_for(plan_);
        if (plan_.decided && decided_at_once()) return;
        const bool split = par.threads > 1 && plan_.blocks() > kRunBlocks && !plan_.ordered() &&
                           plan_.results < 4 * par.threads;
        if (split) return run_split(par);
        const int64_t each =
            std::max<int64_t>(1, kTaskElements / std::max<int64_t>(plan_.count, 1));
        spread(par, ceil_div(plan_.results, each), [&](int64_t task, void* scratch) {
            const int64_t end = std::min(plan_.results, (task + 1) * each);
            for (int64_t i = task * each; i < end; ++i) {
                alignas(16) std::byte acc[kMaxAccBytes];
                reduce_blocks(acc, start(i), center(i), 0, plan_.blocks(), scratch);
                deliver(plan_, acc, 1, 1, plan_.kept.out(i), 1);
            }
        });
    }

  private:
    int64_t start(int64_t result) const { return plan_.base + plan_.kept.offset(result); }
    const double* center(int64_t result) const {
        return plan_.center ? plan_.center + plan_.kept.out(result) : nullptr;
    }

    // Any and All often end with the first elements, before threads are worth while.
    bool decided_at_once() const {
        int64_t total;
        count_leaf(&total, plan_.base, 0, std::min(plan_.count, kReduceRun));
        return *plan_.decided;
    }

    template <class F>
    void spread(const Parallel& par, int64_t tasks, F body) const {
        if (scratch_) {
            Slots(par, tasks, scratch_).spread(body);
        } else {
            run_each(par, tasks, [&](int64_t i) { body(i, nullptr); });
        }
    }

    // Each task reduces a group of blocks, a whole branch of the tree.
    void run_split(const Parallel& par) {
        const int64_t groups = ceil_div(plan_.blocks(), kRunBlocks);
        Buffer parts(plan_.results * groups * kMaxAccBytes);
        auto* acc = static_cast<std::byte*>(parts.data());
        spread(par, plan_.results * groups, [&](int64_t task, void* scratch) {
            const int64_t i = task / groups, block = task % groups * kRunBlocks;
            reduce_blocks(acc + task * kMaxAccBytes, start(i), center(i), block,
                          std::min(kRunBlocks, plan_.blocks() - block), scratch);
        });
        for (int64_t i = 0; i < plan_.results; ++i) {
            std::byte* first = acc + i * groups * kMaxAccBytes;
            merge_parts(first, groups);
            deliver(plan_, first, 1, 1, plan_.kept.out(i), 1);
        }
    }
    void merge_parts(std::byte* parts, int64_t n) const {
        if (n == 1) return;
        const int64_t left = left_branch(n);
        merge_parts(parts, left);
        merge_parts(parts + left * kMaxAccBytes, n - left);
        plan_.kernel.merge(parts, parts + left * kMaxAccBytes, 1);
    }

    // acc = the branch over `n` blocks from `block` on.
    void reduce_blocks(std::byte* acc, int64_t start, const double* center, int64_t block,
                       int64_t n, void* scratch) const {
        if (plan_.ordered()) {
            fill_ones(acc, 1, plan_.kernel.acc_bytes, compute_);
            for (int64_t b = block; b < block + n; b += leaf_)
                leaf(acc, start, center, b, std::min(leaf_, block + n - b), scratch);
        } else if (n <= leaf_) {
            leaf(acc, start, center, block, n, scratch);
        } else if (n <= kRunBlocks && run_length_ >= kReduceBlock) {
            reduce_runs(acc, start, center, block, n, scratch);
        } else {
            alignas(16) std::byte right[kMaxAccBytes];
            const int64_t left = left_branch(n);
            reduce_blocks(acc, start, center, block, left, scratch);
            reduce_blocks(right, start, center, block + left, n - left, scratch);
            plan_.kernel.merge(acc, right, 1);
        }
    }

    // Long runs of adjacent elements: blocks within one are used where they lie.
    void reduce_runs(std::byte* acc, int64_t start, const double* center, int64_t block, int64_t n,
                     void* scratch) const {
        alignas(16) std::byte parts[kRunBlocks * kMaxAccBytes];
        const AxisList& axes = plan_.reduced;
        int64_t first = block * kReduceBlock;
        int64_t row = first / run_length_, column = first % run_length_;
        int64_t run = start + axes.offset(row, axes.n - 1);
        const auto next_run = [&] { run = start + axes.offset(++row, axes.n - 1); };
        for (int64_t i = 0; i < n; ++i, first += kReduceBlock) {
            const int64_t elements = std::min(kReduceBlock, plan_.count - first);
            const void* src = plan_.reader.at(run + column);
            if (column + elements > run_length_) {
                stage(static_cast<std::byte*>(scratch), start, first, elements);
                src = scratch;
            }
            plan_.kernel.run(parts + i * kMaxAccBytes, src, elements, center);
            column += elements;
            for (; column >= run_length_ && i + 1 < n; column -= run_length_) next_run();
        }
        merge_parts(parts, n);
        std::memcpy(acc, parts, kMaxAccBytes);
    }
    void leaf(std::byte* acc, int64_t start, const double* center, int64_t block, int64_t n,
              void* scratch) const {
        const int64_t first = block * kReduceBlock;
        const int64_t elements = std::min(n * kReduceBlock, plan_.count - first);
        if (plan_.counts) {
            int64_t total;
            count_leaf(&total, start, first, elements);
            std::memcpy(acc, &total, sizeof(total));
            return;
        }
        const void* src = scratch;
        if (in_place_) {
            src = plan_.reader.at(start + first);
        } else {
            stage(static_cast<std::byte*>(scratch), start, first, elements);
        }
        plan_.kernel.run(acc, src, elements, center);
    }
    void count_leaf(int64_t* total, int64_t start, int64_t first, int64_t n) const {
        *total = plan_.decided && plan_.decided->load(std::memory_order_relaxed)
                     ? 0
                     : count(start, first, n);
        if (plan_.decided && (plan_.op == Reduction::Any ? *total > 0 : *total < n))
            plan_.decided->store(true, std::memory_order_relaxed);
    }

    // Calls f(offset, stride, number of element, n) for the runs along the innermost axis.
    template <class F>
    void pieces(int64_t start, int64_t first, int64_t n, F f) const {
        const AxisList& axes = plan_.reduced;
        const AxisList::Axis inner = axes.axes[axes.n - 1];
        int64_t row = first / inner.extent, column = first % inner.extent;
        for (int64_t done = 0; done < n; ++row, column = 0) {
            const int64_t m = std::min(n - done, inner.extent - column);
            f(start + axes.offset(row, axes.n - 1) + column * inner.stride, inner.stride, done, m);
            done += m;
        }
    }
    int64_t count(int64_t start, int64_t first, int64_t n) const {
        int64_t total = 0;
        pieces(start, first, n, [&](int64_t offset, int64_t stride, int64_t, int64_t m) {
            total += plan_.reader.count(offset, stride, m);
        });
        return total;
    }
    void stage(std::byte* dst, int64_t start, int64_t first, int64_t n) const {
        const StridedReader& reader = plan_.reader;
        const auto copy = [&](int64_t from, int64_t m, std::byte* to) {
            pieces(start, from, m,
                   [&](int64_t offset, int64_t stride, int64_t done, int64_t length) {
                       reader.read(to + done * reader.size(), offset, stride, length);
                   });
        };
        if (!transposed_) return copy(first, n, dst);
        // Whole rows whose elements are far apart, but neighbours of those of the next row.
        const AxisList& axes = plan_.reduced;
        const AxisList::Axis inner = axes.axes[axes.n - 1];
        const int64_t neighbours = axes.axes[axes.n - 2].extent;
        for (int64_t done = 0; done < n;) {
            const int64_t row = (first + done) / inner.extent,
                          column = (first + done) % inner.extent;
            const int64_t rows = std::min((n - done) / inner.extent, neighbours - row % neighbours);
            std::byte* to = dst + done * reader.size();
            if (column != 0 || rows < 2) {
                const int64_t m = std::min(n - done, inner.extent - column);
                copy(first + done, m, to);
                done += m;
                continue;
            }
            kernels().transpose[std::countr_zero(static_cast<uint64_t>(reader.size()))](
                to, inner.extent, reader.at(start + axes.offset(row, axes.n - 1)), inner.stride,
                inner.extent, rows);
            done += rows * inner.extent;
        }
    }

    Plan plan_;
    DType compute_;
    bool in_place_, transposed_;
    int64_t run_length_;  // of adjacent elements, not converted; 0: there are none
    int64_t leaf_;        // blocks that one call of the kernel gets at most, if not in a run
    int64_t scratch_;     // bytes
};

// ---- sequences side by side, as columns ----

class Columns {
  public:
    Columns(const Plan& plan, int axis, DType compute)
        : plan_(plan), compute_(compute), column_(plan.kept.axes[axis]) {
        plan_.kept.remove(axis);
        const AxisList& r = plan_.reduced;
        row_ = r.n == 0 ? AxisList::Axis{1, 0, 0} : r.axes[r.n - 1];
        // A few columns with gaps are better packed first.
        const bool dense = column_.extent >= 16 || row_.stride == column_.extent;
        in_place_ = plan_.reader.direct() && column_.stride == 1 && r.n <= 1 && dense;
        const int64_t most =
            plan_.counts ? kCountColumns : kReduceColumns / (is_complex(compute) ? 2 : 1);
        const bool narrow = !in_place_ && !plan_.counts && plan_.count > kReduceBlock / 4;
        width_ = std::min(column_.extent, narrow ? most / 4 : most);
        chunks_ = ceil_div(column_.extent, width_);
    }

    void run() {
        const Parallel par = threads_for(plan_);
        const int64_t strips = plan_.kept.size * chunks_;
        const int64_t blocks = plan_.blocks();
        // Strips are cut into groups of blocks, whole branches of the tree, where threads need it.
        int64_t group = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(blocks)));
        if (!plan_.ordered() && par.threads > 1 && strips < 4 * par.threads) {
            const int64_t least =
                std::max(ceil_div(kTaskElements, kReduceBlock * width_), ceil_div(blocks, 64));
            group = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(least)));
        }
        const int64_t groups = ceil_div(blocks, group);
        const int64_t strip_bytes = (width_ * plan_.record() + 63) / 64 * 64;
        const int64_t levels = std::bit_width(static_cast<uint64_t>(std::min(group, blocks))) + 1;
        const int64_t row_bytes = plan_.counts ? kCountColumns / 8 : width_ * plan_.reader.size();
        const int64_t stage = in_place_ ? 0 : std::min(plan_.count, kReduceBlock) * row_bytes;
        const int64_t each = std::max<int64_t>(1, kTaskElements / (plan_.count * width_));
        std::optional<Buffer> parts;
        if (groups > 1) parts.emplace(strips * groups * strip_bytes);
        const int64_t tasks = groups > 1 ? strips * groups : ceil_div(strips, each);
        Slots(par, tasks, levels * strip_bytes + stage).spread([&](int64_t task, void* scratch) {
            auto* slots = static_cast<std::byte*>(scratch);
            Strip strip{this, {}, 0, 0, nullptr, slots + levels * strip_bytes, strip_bytes};
            if (groups == 1) {
                for (int64_t i = task * each; i < std::min(strips, (task + 1) * each); ++i) {
                    strip.select(i);
                    strip.reduce_blocks(slots, 0, blocks);
                    finish(strip, i, slots);
                }
                return;
            }
            strip.select(task / groups);
            const int64_t block = task % groups * group;
            strip.reduce_blocks(slots, block, std::min(group, blocks - block));
            std::memcpy(static_cast<std::byte*>(parts->data()) + task * strip_bytes, slots,
                        static_cast<size_t>(strip.cols * plan_.record()));
        });
        for (int64_t i = 0; groups > 1 && i < strips; ++i) {
            Strip strip{this, {}, 0, 0, nullptr, nullptr, strip_bytes};
            strip.select(i);
            std::byte* first = static_cast<std::byte*>(parts->data()) + i * groups * strip_bytes;
            strip.merge_parts(first, groups);
            finish(strip, i, first);
        }
    }

  private:
    // Up to width_ neighbouring sequences.
    struct Strip {
        const Columns* owner;
        double centers[kReduceColumns];
        int64_t start, cols;
        const double* center;
        std::byte* stage;
        int64_t bytes;  // of the accumulators of a strip

        void select(int64_t i) {
            const Plan& plan = owner->plan_;
            const int64_t first = i % owner->chunks_ * owner->width_;
            cols = std::min(owner->width_, owner->column_.extent - first);
            start =
                plan.base + plan.kept.offset(i / owner->chunks_) + first * owner->column_.stride;
            if (!plan.center) return;
            const double* from = plan.center + owner->out(i);
            for (int64_t j = 0; j < cols; ++j) centers[j] = from[j * owner->column_.out];
            center = centers;
        }
        void reduce_blocks(std::byte* acc, int64_t block, int64_t n) {
            const Plan& plan = owner->plan_;
            if (plan.ordered()) {
                fill_ones(acc, cols, plan.kernel.acc_bytes, owner->compute_);
                for (int64_t b = block; b < block + n; ++b) leaf(acc, b);
            } else if (n == 1) {
                leaf(acc, block);
            } else {
                const int64_t left = left_branch(n);
                reduce_blocks(acc, block, left);
                reduce_blocks(acc + bytes, block + left, n - left);
                plan.kernel.merge(acc, acc + bytes, cols);
            }
        }
        void merge_parts(std::byte* parts, int64_t n) const {
            if (n == 1) return;
            const int64_t left = left_branch(n);
            merge_parts(parts, left);
            merge_parts(parts + left * bytes, n - left);
            owner->plan_.kernel.merge(parts, parts + left * bytes, cols);
        }
        void leaf(std::byte* acc, int64_t block) const {
            const Plan& plan = owner->plan_;
            const int64_t first = block * kReduceBlock;
            const int64_t rows = std::min(kReduceBlock, plan.count - first);
            if (plan.counts) {
                auto* words = reinterpret_cast<uint64_t*>(stage);
                for (int64_t i = 0; i < rows; ++i)
                    plan.reader.truth(words + i * (kCountColumns / 64),
                                      start + plan.reduced.offset(first + i), owner->column_.stride,
                                      cols);
                kernels().count_columns(reinterpret_cast<uint64_t*>(acc), words, rows, cols);
            } else if (owner->in_place_) {
                const std::byte* src = plan.reader.at(start + first * owner->row_.stride);
                plan.kernel.columns(acc, src, owner->row_.stride, rows, cols, center);
            } else {
                owner->read(stage, start, first, rows, cols);
                plan.kernel.columns(acc, stage, cols, rows, cols, center);
            }
        }
    };

    int64_t out(int64_t strip) const {
        return plan_.kept.out(strip / chunks_) + strip % chunks_ * width_ * column_.out;
    }
    void finish(const Strip& strip, int64_t i, const std::byte* acc) const {
        deliver(plan_, acc, strip.cols, strip.cols, out(i), column_.out);
    }

    // Rows first, first + 1, ... of a strip, without gaps.
    void read(std::byte* dst, int64_t start, int64_t first, int64_t rows, int64_t cols) const {
        const StridedReader& reader = plan_.reader;
        if (reader.direct() && plan_.reduced.n == 1 && row_.stride == 1) {
            kernels().transpose[std::countr_zero(static_cast<uint64_t>(reader.size()))](
                dst, cols, reader.at(start + first), column_.stride, cols, rows);
            return;
        }
        for (int64_t i = 0; i < rows; ++i)
            reader.read(dst + i * cols * reader.size(), start + plan_.reduced.offset(first + i),
                        column_.stride, cols);
    }

    Plan plan_;
    DType compute_;
    AxisList::Axis column_, row_;
    bool in_place_;
    int64_t width_, chunks_;
};

// ---- which way, and what the accumulators mean ----

// The kept axis whose elements lie closest together, or -1.
int closest_axis(const AxisList& kept) {
    int best = -1;
    for (int i = 0; i < kept.n; ++i)
        if (best < 0 || std::abs(kept.axes[i].stride) < std::abs(kept.axes[best].stride)) best = i;
    return best;
}

void accumulate(const Plan& plan, DType compute) {
    const int axis = closest_axis(plan.kept);
    const AxisList& r = plan.reduced;
    const int64_t inner = r.n ? std::abs(r.axes[r.n - 1].stride) : 0;
    const bool closer = axis >= 0 && std::abs(plan.kept.axes[axis].stride) < inner;
    const bool shorter = plan.count < kShortSequence && plan.results >= 16;
    if (axis >= 0 && (closer || shorter)) {
        Columns(plan, axis, compute).run();
    } else {
        Rows(plan, compute).run();
    }
}

ReduceOp kernel_op(Reduction op) {
    switch (op) {
        case Reduction::Prod:
            return ReduceOp::Prod;
        case Reduction::Min:
        case Reduction::Max:
            return ReduceOp::MinMax;
        default:
            return ReduceOp::Sum;
    }
}

// The dtype of the elements that a kernel reads: the kernels for it exist.
DType compute_dtype(Reduction op, DType element) {
    if (op == Reduction::Min || op == Reduction::Max) return element;
    if (op == Reduction::Prod) {
        return is_complex(element)      ? DType::Complex128
               : is_real_float(element) ? DType::Float64
                                        : DType::Int64;
    }
    return is_narrow_float(element) ? DType::Float32 : element;
}
DType accumulator_dtype(DType compute) {
    return is_complex(compute)      ? DType::Complex128
           : is_real_float(compute) ? DType::Float64
                                    : DType::Int64;
}

// Elements need no conversion first: the accumulator takes the same values from them as they are.
bool implied(Reduction op, DType from, DType to) {
    if (op == Reduction::Min || op == Reduction::Max || is_bool(from)) return from == to;
    if (is_integer(from) && is_integer(to)) return true;  // both wrap
    if (is_complex(from)) return to == DType::Complex128;
    return is_real_float(from) &&
           (to == DType::Float64 || (to == DType::Float32 && is_narrow_float(from)));
}

const ReduceKernels& kernel_for(ReduceOp op, DType compute) {
    return kernels().reduce[static_cast<int>(op)][index(compute)];
}

bool counts(Reduction op) {
    return op == Reduction::Count || op == Reduction::Any || op == Reduction::All;
}

// n numbers divided by a count.
void divide(double* x, int64_t n, double count) {
    for (int64_t i = 0; i < n; ++i) x[i] /= count;
}

// From sums of differences from the mean, and of their squares. The first would be 0 with an
// exact mean; its square corrects the second.
void finish_variance(double* first, const double* second, int64_t n, double count,
                     const ReduceSpec& spec) {
    const double divisor = count - spec.correction;
    for (int64_t i = 0; i < n; ++i) {
        const double squares = second[i] - first[i] * first[i] / count;
        const double var = divisor > 0 ? (squares < 0 ? 0 : squares) / divisor : NAN;
        first[i] = spec.op == Reduction::Std ? std::sqrt(var) : var;
    }
}

void write_truth(const Array& out, uint64_t* counts, int64_t n, Reduction op, int64_t length,
                 bool decided) {
    for (int64_t i = 0; i < n; ++i) {
        const bool any = decided || counts[i] > 0;
        const bool all = !decided && counts[i] == static_cast<uint64_t>(length);
        counts[i] = op == Reduction::Any ? any : all;
    }
    kernels().convert[index(DType::UInt64)][index(DType::Bool)](out.storage->data(), counts, n);
}

// The value of an empty sequence: 0, 1 (Prod, All) or NaN.
void fill_empty(const Array& out, const ReduceSpec& spec) {
    double value[2] = {0, 0};
    if (spec.op == Reduction::Prod || spec.op == Reduction::All) value[0] = 1;
    if (spec.op == Reduction::Mean || spec.op == Reduction::Var || spec.op == Reduction::Std) {
        value[0] = NAN;
        value[1] = is_complex(spec.result) ? NAN : 0;
    }
    // Written here and now: `assign` may be recorded for later.
    std::byte* dst = out.storage->data();
    const KernelTable& k = kernels();
    alignas(16) uint64_t one[2] = {};
    k.convert[index(DType::Complex128)][index(spec.result)](one, value, 1);
    if (is_bool(spec.result)) {
        k.fill_bits(reinterpret_cast<uint8_t*>(dst), 0, out.size(), one[0] & 1);
    } else {
        k.fill[width_index(spec.result)](dst, one, out.size(), 1);
    }
}

}  // namespace

Array reduce(const ReduceSpec& spec, const Array& x, const Dims& axes) {
    bool is_reduced[kMaxRank] = {};
    for (int64_t axis : axes) is_reduced[axis] = true;
    Dims shape;
    for (int i = 0; i < x.ndim(); ++i)
        if (!is_reduced[i]) shape.push_back(x.shape[i]);
    Array out = Array::empty(std::move(shape), spec.result);
    if (out.size() == 0) return out;

    const Reduction op = spec.op;
    const DType element = implied(op, x.dtype, spec.element) ? x.dtype : spec.element;
    const DType compute = counts(op) ? DType::UInt8 : compute_dtype(op, element);
    const StridedReader reader =
        counts(op) ? StridedReader::of_truth(x) : StridedReader(x, element, compute);
    std::atomic<bool> decided{false};
    Plan plan{reader,     kernel_for(kernel_op(op), compute),
              {},         {},
              x.offset,   1,
              out.size(), nullptr,
              nullptr,    op,
              counts(op), bits(x.dtype)};
    const Dims out_strides = row_major_strides(out.shape);
    for (int i = 0, k = 0; i < x.ndim(); ++i) {
        if (is_reduced[i]) {
            plan.reduced.add({x.shape[i], x.strides[i], 0});
        } else {
            plan.kept.add({x.shape[i], x.strides[i], out_strides[k++]});
        }
    }
    plan.count = plan.reduced.size;
    if (plan.count == 0) {
        fill_empty(out, spec);
        return out;
    }
    if (plan.results == 1 && (op == Reduction::Any || op == Reduction::All))
        plan.decided = &decided;

    const int64_t n = plan.results;
    const DType acc_dtype = accumulator_dtype(compute);
    const bool min_max = op == Reduction::Min || op == Reduction::Max;
    const bool variance = op == Reduction::Var || op == Reduction::Std;
    std::byte* result = out.storage->data();
    const auto finish = [&](void* acc) {
        auto* reals = static_cast<double*>(acc);
        const auto count = static_cast<double>(plan.count);
        if (op == Reduction::Any || op == Reduction::All) {
            write_truth(out, static_cast<uint64_t*>(acc), n, op, plan.count, decided);
        } else if (min_max) {
            plan.kernel.finish(result, acc, n, op == Reduction::Max);
        } else {
            if (op == Reduction::Mean) divide(reals, n * (is_complex(compute) ? 2 : 1), count);
            kernels().convert[index(acc_dtype)][index(spec.result)](result, acc, n);
        }
    };
    // Few results need no memory of their own.
    constexpr int64_t kFew = 8;
    alignas(64) std::byte few[kFew * kMaxAccBytes];
    std::optional<Buffer> many;
    if (n > kFew) many.emplace(n * kMaxAccBytes);
    plan.acc = many ? static_cast<std::byte*>(many->data()) : few;
    accumulate(plan, compute);
    if (!variance) {
        finish(plan.acc);
        return out;
    }
    divide(reinterpret_cast<double*>(plan.acc), n, static_cast<double>(plan.count));
    Buffer moments(n * kMaxAccBytes);
    Plan second{reader,
                kernel_for(ReduceOp::Moments, compute),
                plan.reduced,
                plan.kept,
                plan.base,
                plan.count,
                n,
                static_cast<std::byte*>(moments.data()),
                reinterpret_cast<const double*>(plan.acc),
                op,
                false,
                plan.element_bits};
    accumulate(second, compute);
    auto* first = static_cast<double*>(moments.data());
    finish_variance(first, first + n, n, static_cast<double>(plan.count), spec);
    kernels().convert[index(DType::Float64)][index(spec.result)](result, first, n);
    return out;
}

}  // namespace asc::cpu
