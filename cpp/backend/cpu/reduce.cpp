#include "backend/cpu/reduce.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "backend/cpu/elements.h"
#include "backend/cpu/elementwise.h"
#include "backend/cpu/isa.h"
#include "backend/cpu/scratch.h"
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
// What is staged at a time of elements that a program makes side by side.
constexpr int64_t kStageBits = int64_t{8} << 19;
// The least run of elements for which a program is started.
constexpr int64_t kLeastRun = 64;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
// The size of the left branch of a tree over n > 1 leaves.
int64_t left_branch(int64_t n) {
    return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(n - 1)));
}

// One reduction of those that share a pass over the elements.
struct Part {
    const ReduceKernels* kernel;
    DType compute;         // of the elements that the kernel reads
    int source;            // of the elements, where a program makes several
    bool counts;           // elements that are not zero; the kernel only merges
    const double* center;  // one for each result, or null
    std::byte* acc;        // planes of one accumulator for each result

    int64_t record() const { return int64_t{kernel->acc_bytes} * kernel->planes; }
};

// The order of work: the reduced sequence and the positions of results.
struct Plan {
    Elements elements;
    AxisList reduced, kept;
    int64_t base;   // offset of the first element
    int64_t count;  // elements of each sequence
    int64_t results = 1;
    int part_count = 0;
    Part part_list[kMostReductions];
    Reduction decided_by{};
    std::atomic<bool>* decided = nullptr;  // Any, All of one result: further elements do not matter

    // Reduces an array of the shape and the strides of x.
    Plan(const Elements& source, const Array& x, const Dims& axes);

    std::span<const Part> parts() const { return {part_list, static_cast<size_t>(part_count)}; }
    int64_t blocks() const { return ceil_div(count, kReduceBlock); }
    bool ordered() const { return !part_list[0].kernel->merge; }
};

Plan::Plan(const Elements& source, const Array& x, const Dims& axes)
    : elements(source), base(x.offset) {
    bool is_reduced[kMaxRank] = {};
    for (int64_t axis : axes) is_reduced[axis] = true;
    for (int i = 0; i < x.ndim(); ++i)
        if (!is_reduced[i]) results *= x.shape[i];
    int64_t out = results;
    for (int i = 0; i < x.ndim(); ++i) {
        if (is_reduced[i]) {
            reduced.add({x.shape[i], x.strides[i], 0});
        } else {
            out /= std::max<int64_t>(x.shape[i], 1);
            kept.add({x.shape[i], x.strides[i], out});
        }
    }
    count = reduced.size;
}

Parallel threads_for(const Plan& plan) {
    if (!plan.elements.splits(plan.results) ||
        plan.count < ceil_div(kParallelBits, plan.results * plan.elements.cost))
        return {1, workers::run};
    return workers::parallel();
}

// Neutral accumulators of an ordered reduction: ones.
void fill_ones(std::byte* acc, int64_t n, const Part& part) {
    const double one[2] = {1, 0};
    const int64_t integer = 1;
    for (int64_t i = 0; i < n; ++i)
        std::memcpy(acc + i * part.kernel->acc_bytes,
                    is_integer(part.compute) ? static_cast<const void*>(&integer) : one,
                    static_cast<size_t>(part.kernel->acc_bytes));
}

// Copies n accumulators, planes `from` apart, into the results from number `out` on.
void deliver(const Plan& plan, const Part& part, const std::byte* acc, int64_t from, int64_t n,
             int64_t out, int64_t step) {
    const int64_t size = part.kernel->acc_bytes;
    for (int p = 0; p < part.kernel->planes; ++p) {
        const std::byte* src = acc + p * from * size;
        std::byte* dst = part.acc + (p * plan.results + out) * size;
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
    explicit Rows(const Plan& plan) : plan_(plan) {
        if (plan_.reduced.n == 0) plan_.reduced.axes[plan_.reduced.n++] = {1, 1, 0};
        record_ = plan_.part_count * kMaxAccBytes;
        if (plan_.elements.program) {
            multiplies_ = plan_.part_count == 1 && plan_.part_list[0].kernel->run_products &&
                          !plan_.part_list[0].counts && plan_.elements.program->multiplies();
            leaf_ = multiplies_ ? kRunBlocks : plan_.elements.blocks_at_once();
            scratch_ = plan_.elements.bytes(elements_at_once());
            return;
        }
        const AxisList& r = plan_.reduced;
        const AxisList::Axis inner = r.axes[r.n - 1];
        const bool direct = plan_.elements.array->direct(), counts = plan_.part_list[0].counts;
        const bool adjacent = direct && inner.stride == 1;
        in_place_ = adjacent && r.n == 1;
        run_length_ = adjacent ? inner.extent : 0;
        transposed_ =
            direct && r.n >= 2 && r.axes[r.n - 2].stride == 1 && std::abs(inner.stride) > 1;
        leaf_ = in_place_ || transposed_ || counts ? kRunBlocks : 1;
        scratch_ = in_place_ || counts ? 0 : elements_at_once() * plan_.elements.array->size();
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
            Room room(*this, scratch);
            for (int64_t i = task * each; i < end; ++i) {
                alignas(16) std::byte acc[kMostReductions * kMaxAccBytes];
                reduce_blocks(acc, sequence(i), 0, plan_.blocks(), room);
                deliver_all(acc, i);
            }
        });
    }

  private:
    // Where a thread finds elements that it does not use where they lie.
    struct Room {
        std::byte* memory;
        Maker maker;
        Room(const Rows& rows, void* scratch)
            : memory(static_cast<std::byte*>(scratch)),
              maker(rows.plan_.elements, scratch, rows.elements_at_once()) {}
    };
    int64_t elements_at_once() const { return std::min(plan_.count, leaf_ * kReduceBlock); }

    // One of the reduced sequences: the offset of its first element, and the number of its result.
    struct Sequence {
        int64_t start, out;
    };
    Sequence sequence(int64_t i) const {
        return {plan_.base + plan_.kept.offset(i), plan_.kept.out(i)};
    }
    void deliver_all(const std::byte* acc, int64_t i) const {
        for (const Part& part : plan_.parts()) {
            deliver(plan_, part, acc, 1, 1, plan_.kept.out(i), 1);
            acc += kMaxAccBytes;
        }
    }
    void merge(std::byte* acc, const std::byte* right) const {
        for (const Part& part : plan_.parts()) {
            part.kernel->merge(acc, right, 1);
            acc += kMaxAccBytes, right += kMaxAccBytes;
        }
    }

    // Any and All often end with the first elements, before threads are worth while.
    bool decided_at_once() const {
        if (plan_.elements.program) return false;
        const int64_t n = std::min(plan_.count, kReduceRun);
        decide(count(plan_.base, 0, n), n);
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
        Buffer branches(plan_.results * groups * record_);
        auto* acc = static_cast<std::byte*>(branches.data());
        spread(par, plan_.results * groups, [&](int64_t task, void* scratch) {
            const int64_t i = task / groups, block = task % groups * kRunBlocks;
            Room room(*this, scratch);
            reduce_blocks(acc + task * record_, sequence(i), block,
                          std::min(kRunBlocks, plan_.blocks() - block), room);
        });
        for (int64_t i = 0; i < plan_.results; ++i) {
            std::byte* first = acc + i * groups * record_;
            merge_branches(first, groups);
            deliver_all(first, i);
        }
    }
    void merge_branches(std::byte* branches, int64_t n) const {
        if (n == 1) return;
        const int64_t left = left_branch(n);
        merge_branches(branches, left);
        merge_branches(branches + left * record_, n - left);
        merge(branches, branches + left * record_);
    }

    // acc = the branch over `n` blocks from `block` on.
    void reduce_blocks(std::byte* acc, const Sequence& seq, int64_t block, int64_t n,
                       Room& room) const {
        if (plan_.ordered()) {
            fill_ones(acc, 1, plan_.part_list[0]);
            for (int64_t b = block; b < block + n; b += leaf_)
                leaf(acc, seq, b, std::min(leaf_, block + n - b), room);
        } else if (n <= leaf_) {
            leaf(acc, seq, block, n, room);
        } else if (n <= kRunBlocks && run_length_ >= kReduceBlock) {
            reduce_runs(acc, seq, block, n, room);
        } else {
            alignas(16) std::byte right[kMostReductions * kMaxAccBytes];
            const int64_t left = left_branch(n);
            reduce_blocks(acc, seq, block, left, room);
            reduce_blocks(right, seq, block + left, n - left, room);
            merge(acc, right);
        }
    }

    static const double* center(const Part& part, const Sequence& seq) {
        return part.center ? part.center + seq.out : nullptr;
    }

    // Long runs of adjacent elements: blocks within one are used where they lie.
    void reduce_runs(std::byte* acc, const Sequence& seq, int64_t block, int64_t n,
                     Room& room) const {
        alignas(16) std::byte branches[kRunBlocks * kMostReductions * kMaxAccBytes];
        const AxisList& axes = plan_.reduced;
        int64_t first = block * kReduceBlock;
        int64_t row = first / run_length_, column = first % run_length_;
        int64_t run = seq.start + axes.offset(row, axes.n - 1);
        const auto next_run = [&] { run = seq.start + axes.offset(++row, axes.n - 1); };
        for (int64_t i = 0; i < n; ++i, first += kReduceBlock) {
            const int64_t elements = std::min(kReduceBlock, plan_.count - first);
            const void* src = plan_.elements.array->at(run + column);
            if (column + elements > run_length_) {
                stage(room.memory, seq.start, first, elements);
                src = room.memory;
            }
            std::byte* branch = branches + i * record_;
            for (const Part& part : plan_.parts()) {
                part.kernel->run(branch, src, elements, center(part, seq));
                branch += kMaxAccBytes;
            }
            column += elements;
            for (; column >= run_length_ && i + 1 < n; column -= run_length_) next_run();
        }
        merge_branches(branches, n);
        std::memcpy(acc, branches, static_cast<size_t>(record_));
    }
    void leaf(std::byte* acc, const Sequence& seq, int64_t block, int64_t n, Room& room) const {
        const int64_t first = block * kReduceBlock;
        const int64_t elements = std::min(n * kReduceBlock, plan_.count - first);
        if (plan_.decided && plan_.decided->load(std::memory_order_relaxed)) {
            std::memset(acc, 0, kMaxAccBytes);
            return;
        }
        if (multiplies_) {
            const PartialRun::Factors f = plan_.elements.program->factors(seq.start + first);
            return plan_.part_list[0].kernel->run_products(acc, f.a, f.b, elements);
        }
        const std::byte* src = room.memory;
        if (plan_.elements.program) {
            room.maker.make({seq.start + first, 0, 1, elements, 0});
        } else if (in_place_) {
            src = plan_.elements.array->at(seq.start + first);
        } else if (!plan_.part_list[0].counts) {
            stage(room.memory, seq.start, first, elements);
        }
        for (const Part& part : plan_.parts()) {
            if (plan_.elements.program) src = room.maker.at(part.source);
            if (part.counts) {
                const int64_t total =
                    plan_.elements.program
                        ? kernels().count_bits(reinterpret_cast<const uint8_t*>(src), 0, elements)
                        : count(seq.start, first, elements);
                std::memcpy(acc, &total, sizeof(total));
                decide(total, elements);
            } else {
                part.kernel->run(acc, src, elements, center(part, seq));
            }
            acc += kMaxAccBytes;
        }
    }
    void decide(int64_t total, int64_t n) const {
        if (plan_.decided && (plan_.decided_by == Reduction::Any ? total > 0 : total < n))
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
            total += plan_.elements.array->count(offset, stride, m);
        });
        return total;
    }
    void stage(std::byte* dst, int64_t start, int64_t first, int64_t n) const {
        const StridedReader& reader = *plan_.elements.array;
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
    bool multiplies_ = false;  // elements are products, which need no memory
    bool in_place_ = false, transposed_ = false;
    int64_t run_length_ = 0;  // of adjacent elements, not converted; 0: there are none
    int64_t leaf_;            // blocks that one call of the kernel gets at most, if not in a run
    int64_t scratch_;         // bytes
    int64_t record_;          // bytes of the accumulators of one result
};

// ---- sequences side by side, as columns ----

class Columns {
  public:
    Columns(const Plan& plan, int axis) : plan_(plan), column_(plan.kept.axes[axis]) {
        plan_.kept.remove(axis);
        const AxisList& r = plan_.reduced;
        row_ = r.n == 0 ? AxisList::Axis{1, 0, 0} : r.axes[r.n - 1];
        for (const Part& part : plan_.parts()) {
            counts_ |= part.counts;
            numbers_ |= !part.counts;
            complex_ |= is_complex(part.compute);
        }
        width_ = std::min(column_.extent, most_columns());
        chunks_ = ceil_div(column_.extent, width_);
        pitch_ = counts_ ? kCountColumns : width_;
        for (const Part& part : plan_.parts())
            strip_bytes_ += (width_ * part.record() + 63) / 64 * 64;
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
        const int64_t levels = std::bit_width(static_cast<uint64_t>(std::min(group, blocks))) + 1;
        const int64_t each = std::max<int64_t>(1, kTaskElements / (plan_.count * width_));
        std::optional<Buffer> branches;
        if (groups > 1) branches.emplace(strips * groups * strip_bytes_);
        const int64_t tasks = groups > 1 ? strips * groups : ceil_div(strips, each);
        Slots(par, tasks, levels * strip_bytes_ + stage_bytes())
            .spread([&](int64_t task, void* scratch) {
                auto* slots = static_cast<std::byte*>(scratch);
                Strip strip(*this, slots + levels * strip_bytes_);
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
                std::memcpy(static_cast<std::byte*>(branches->data()) + task * strip_bytes_, slots,
                            static_cast<size_t>(strip_bytes_));
            });
        for (int64_t i = 0; groups > 1 && i < strips; ++i) {
            Strip strip(*this);
            strip.select(i);
            std::byte* first =
                static_cast<std::byte*>(branches->data()) + i * groups * strip_bytes_;
            strip.merge_branches(first, groups);
            finish(strip, i, first);
        }
    }

  private:
    // Up to width_ neighbouring sequences.
    struct Strip {
        const Columns* owner;
        std::byte* stage = nullptr;
        std::optional<Maker> maker;
        int64_t start = 0, cols = 0, out = 0;

        explicit Strip(const Columns& columns) : owner(&columns) {}
        Strip(const Columns& columns, std::byte* memory) : owner(&columns), stage(memory) {
            maker.emplace(columns.plan_.elements, memory + columns.read_bytes(),
                          columns.made_elements());
        }
        void select(int64_t i) {
            const Plan& plan = owner->plan_;
            const int64_t first = i % owner->chunks_ * owner->width_;
            cols = std::min(owner->width_, owner->column_.extent - first);
            start =
                plan.base + plan.kept.offset(i / owner->chunks_) + first * owner->column_.stride;
            out = owner->out(i);
        }
        // Calls f(part, its accumulators) for each part.
        template <class F>
        void each_part(std::byte* acc, F f) const {
            for (const Part& part : owner->plan_.parts()) {
                f(part, acc);
                acc += (owner->width_ * part.record() + 63) / 64 * 64;
            }
        }
        void merge(std::byte* acc, const std::byte* right) const {
            const int64_t apart = right - acc;
            each_part(acc, [&](const Part& part, std::byte* mine) {
                part.kernel->merge(mine, mine + apart, cols);
            });
        }
        void reduce_blocks(std::byte* acc, int64_t block, int64_t n) {
            const Plan& plan = owner->plan_;
            if (plan.ordered()) {
                fill_ones(acc, cols, plan.part_list[0]);
                for (int64_t b = block; b < block + n; ++b) leaf(acc, b);
            } else if (n == 1) {
                leaf(acc, block);
            } else {
                const int64_t left = left_branch(n);
                reduce_blocks(acc, block, left);
                reduce_blocks(acc + owner->strip_bytes_, block + left, n - left);
                merge(acc, acc + owner->strip_bytes_);
            }
        }
        void merge_branches(std::byte* branches, int64_t n) const {
            if (n == 1) return;
            const int64_t left = left_branch(n);
            merge_branches(branches, left);
            merge_branches(branches + left * owner->strip_bytes_, n - left);
            merge(branches, branches + left * owner->strip_bytes_);
        }
        void leaf(std::byte* acc, int64_t block) {
            const Plan& plan = owner->plan_;
            const int64_t first = block * kReduceBlock;
            const int64_t rows = std::min(kReduceBlock, plan.count - first);
            if (plan.elements.program) {
                const int64_t at = start + first * owner->row_.stride;
                maker->make(owner->across()
                                ? Window{at, 0, 1, cols * plan.count, 0}
                                : Window{at, owner->row_.stride, rows, cols, owner->pitch_});
            }
            each_part(acc, [&](const Part& part, std::byte* mine) {
                const std::byte* made = plan.elements.program ? maker->at(part.source) : nullptr;
                if (part.counts) return count(mine, made, first, rows);
                double centers[kReduceColumns];
                for (int64_t j = 0; part.center && j < cols; ++j)
                    centers[j] = part.center[out + j * owner->column_.out];
                int64_t stride = 0;
                const std::byte* src = find(part, made, first, rows, stride);
                part.kernel->columns(mine, src, stride, rows, cols,
                                     part.center ? centers : nullptr);
            });
        }
        // Where the rows lie, `stride` elements apart.
        const std::byte* find(const Part& part, const std::byte* made, int64_t first, int64_t rows,
                              int64_t& stride) const {
            const Plan& plan = owner->plan_;
            if (plan.elements.program && !owner->across()) {
                stride = owner->pitch_;
                return made;
            }
            if (owner->in_place_) {
                stride = owner->row_.stride;
                return plan.elements.array->at(start + first * stride);
            }
            stride = cols;
            if (plan.elements.program) {
                owner->turn(stage, cols, made, rows, itemsize(part.compute));
            } else {
                owner->read(stage, start, first, rows, cols);
            }
            return stage;
        }
        void count(std::byte* acc, const std::byte* made, int64_t first, int64_t rows) const {
            const Plan& plan = owner->plan_;
            constexpr int64_t kWords = kCountColumns / 64;
            auto* words = reinterpret_cast<uint64_t*>(stage);
            for (int64_t i = 0; i < rows && !plan.elements.program; ++i)
                plan.elements.array->truth(words + i * kWords,
                                           start + plan.reduced.offset(first + i),
                                           owner->column_.stride, cols);
            for (int64_t i = 0; i < rows && plan.elements.program && owner->across(); ++i)
                kernels().gather_bits(reinterpret_cast<uint8_t*>(words + i * kWords), 0,
                                      reinterpret_cast<const uint8_t*>(made), i,
                                      owner->column_.stride, cols);
            const bool there = plan.elements.program && !owner->across();
            kernels().count_columns(reinterpret_cast<uint64_t*>(acc),
                                    there ? reinterpret_cast<const uint64_t*>(made) : words, rows,
                                    cols);
        }
    };

    // Sequences that a program makes one after the other, to be laid side by side.
    bool across() const { return row_.stride == 1 && column_.stride > 1; }
    int64_t most_columns() {
        const Elements& from = plan_.elements;
        int64_t most = numbers_ ? kReduceColumns / (complex_ ? 2 : 1) : kCountColumns;
        if (from.program) {
            const int64_t rows = std::min(kReduceBlock, plan_.count);
            return std::clamp<int64_t>(kStageBits / (from.bits() * rows), 64, most);
        }
        // A few columns with gaps are better packed first.
        const bool dense = column_.extent >= 16 || row_.stride == column_.extent;
        in_place_ = from.array->direct() && column_.stride == 1 && plan_.reduced.n <= 1 && dense;
        const bool narrow = !in_place_ && !counts_ && plan_.count > kReduceBlock / 4;
        return narrow ? most / 4 : most;
    }
    // What is read of one part, then what a program makes.
    int64_t row_bytes() const {
        const int64_t size = plan_.elements.program ? kMaxAccBytes : plan_.elements.array->size();
        return std::max(counts_ ? kCountColumns / 8 : 0, numbers_ ? width_ * size : 0);
    }
    int64_t read_bytes() const {
        const bool used = plan_.elements.program ? across() : !in_place_;
        return used ? std::min(plan_.count, kReduceBlock) * row_bytes() : 0;
    }
    int64_t made_elements() const {
        return std::min(plan_.count, kReduceBlock) * (across() ? width_ : pitch_);
    }
    int64_t stage_bytes() const {
        return read_bytes() + (plan_.elements.program ? plan_.elements.bytes(made_elements()) : 0);
    }

    int64_t out(int64_t strip) const {
        return plan_.kept.out(strip / chunks_) + strip % chunks_ * width_ * column_.out;
    }
    void finish(const Strip& strip, int64_t i, std::byte* acc) const {
        strip.each_part(acc, [&](const Part& part, const std::byte* mine) {
            deliver(plan_, part, mine, strip.cols, strip.cols, out(i), column_.out);
        });
    }

    // Columns that lie one after the other at src become rows without gaps.
    void turn(std::byte* dst, int64_t cols, const std::byte* src, int64_t rows,
              int64_t size) const {
        kernels().transpose[std::countr_zero(static_cast<uint64_t>(size))](
            dst, cols, src, column_.stride, cols, rows);
    }
    // Rows first, first + 1, ... of a strip, without gaps.
    void read(std::byte* dst, int64_t start, int64_t first, int64_t rows, int64_t cols) const {
        const StridedReader& reader = *plan_.elements.array;
        if (reader.direct() && plan_.reduced.n == 1 && row_.stride == 1)
            return turn(dst, cols, reader.at(start + first), rows, reader.size());
        for (int64_t i = 0; i < rows; ++i)
            reader.read(dst + i * cols * reader.size(), start + plan_.reduced.offset(first + i),
                        column_.stride, cols);
    }

    Plan plan_;
    AxisList::Axis column_, row_;
    bool in_place_ = false, counts_ = false, numbers_ = false, complex_ = false;
    int64_t width_, chunks_;
    int64_t pitch_;            // elements from row to row of what a program makes
    int64_t strip_bytes_ = 0;  // of the accumulators of a strip
};

// ---- which way, and what the accumulators mean ----

// The kept axis whose elements lie closest together, or -1.
int closest_axis(const AxisList& kept) {
    int best = -1;
    for (int i = 0; i < kept.n; ++i)
        if (best < 0 || std::abs(kept.axes[i].stride) < std::abs(kept.axes[best].stride)) best = i;
    return best;
}

void accumulate(const Plan& plan) {
    const int axis = closest_axis(plan.kept);
    const AxisList& r = plan.reduced;
    const int64_t inner = r.n ? std::abs(r.axes[r.n - 1].stride) : 0;
    const bool closer = axis >= 0 && std::abs(plan.kept.axes[axis].stride) < inner;
    const bool shorter = plan.count < kShortSequence && plan.results >= 16;
    if (axis >= 0 && (closer || shorter)) {
        Columns(plan, axis).run();
    } else {
        Rows(plan).run();
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

// ---- from accumulators to results ----

constexpr int64_t kFinished = 512;  // results that pass through scratch at a time

// Stores n values as the results from number `first` on.
void store(const Array& out, int64_t first, const void* values, DType from, int64_t n) {
    const KernelTable& k = kernels();
    if (!is_bool(out.dtype)) {
        k.convert[index(from)][index(out.dtype)](out.data() + first * itemsize(out.dtype), values,
                                                 n);
        return;
    }
    uint64_t words[kFinished / 64];
    k.convert[index(from)][index(DType::Bool)](words, values, n);
    k.copy_bits(reinterpret_cast<uint8_t*>(out.bits()), out.offset + first,
                reinterpret_cast<const uint8_t*>(words), 0, n);
}

// Calls f(values, first, n) to compute n results from number `first` on, and stores them.
template <class T, class F>
void store_each(const Array& out, DType from, int64_t numbers, F f) {
    alignas(64) T values[kFinished * kMaxAccBytes / sizeof(T)];
    const int64_t n = out.size();
    for (int64_t i = 0; i < n; i += kFinished) {
        const int64_t m = std::min(kFinished, n - i);
        for (int64_t j = 0; j < m * numbers; ++j) values[j] = f(i * numbers + j);
        store(out, i, values, from, m);
    }
}

void write_truth(const Array& out, const uint64_t* counts, Reduction op, int64_t length,
                 bool decided) {
    store_each<uint64_t>(out, DType::UInt64, 1, [&](int64_t i) -> uint64_t {
        const bool any = decided || counts[i] > 0;
        const bool all = !decided && counts[i] == static_cast<uint64_t>(length);
        return op == Reduction::Any ? any : all;
    });
}

void write_mean(const Array& out, const double* sums, DType acc, int64_t length) {
    const auto count = static_cast<double>(length);
    store_each<double>(out, acc, is_complex(acc) ? 2 : 1,
                       [&](int64_t i) { return sums[i] / count; });
}

// From sums of differences from the mean, and of their squares. The first would be 0 with an
// exact mean; its square corrects the second.
void write_variance(const Array& out, const double* first, const double* second, int64_t length,
                    const ReduceSpec& spec) {
    const auto count = static_cast<double>(length);
    const double divisor = count - spec.correction;
    store_each<double>(out, DType::Float64, 1, [&](int64_t i) {
        const double squares = second[i] - first[i] * first[i] / count;
        const double var = divisor > 0 ? (squares < 0 ? 0 : squares) / divisor : NAN;
        return spec.op == Reduction::Std ? std::sqrt(var) : var;
    });
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
    const KernelTable& k = kernels();
    alignas(16) uint64_t one[2] = {};
    k.convert[index(DType::Complex128)][index(spec.result)](one, value, 1);
    if (is_bool(spec.result)) {
        k.fill_bits(reinterpret_cast<uint8_t*>(out.bits()), out.offset, out.size(), one[0] & 1);
    } else {
        k.fill[width_index(spec.result)](out.data(), one, out.size(), 1);
    }
}

// Accumulators of n results; few need no memory of their own.
class Accumulators {
  public:
    std::byte* allocate(int64_t n) {
        if (n > kFew) many_.emplace(n * kMaxAccBytes);
        return many_ ? static_cast<std::byte*>(many_->data()) : few_;
    }

  private:
    static constexpr int64_t kFew = 8;
    alignas(64) std::byte few_[kFew * kMaxAccBytes];
    std::optional<Buffer> many_;
};

// A reduction of elements that come as `compute`; `again` gives them a second time.
struct Task {
    const ReduceSpec* spec;
    DType compute;
    int source;
    const Elements* again;
    const Array* out;
};

bool is_variance(Reduction op) { return op == Reduction::Var || op == Reduction::Std; }

// The part of the plan that serves the task, one of its own or an equal one.
const Part& part_for(Plan& plan, const Task& task, Accumulators* memory) {
    const bool counted = counts(task.spec->op);
    const ReduceKernels* kernel =
        &kernel_for(kernel_op(task.spec->op), counted ? DType::UInt8 : task.compute);
    for (const Part& part : plan.parts())
        if (part.kernel == kernel && part.source == task.source && part.counts == counted)
            return part;
    const int n = plan.part_count++;
    plan.part_list[n] = {kernel,  task.compute, task.source,
                         counted, nullptr,      memory[n].allocate(plan.results)};
    return plan.part_list[n];
}

void finish_variance(const Plan& plan, const Part& sum, const Task& task, const Array& x,
                     const Dims& axes) {
    const int64_t n = plan.results;
    const auto* sums = reinterpret_cast<const double*>(sum.acc);
    Buffer centers(n * static_cast<int64_t>(sizeof(double))), moments(n * kMaxAccBytes);
    auto* center = static_cast<double*>(centers.data());
    for (int64_t i = 0; i < n; ++i) center[i] = sums[i] / static_cast<double>(plan.count);
    Plan second(*task.again, x, axes);
    second.part_list[second.part_count++] = {
        &kernel_for(ReduceOp::Moments, task.compute), task.compute, 0, false, center,
        static_cast<std::byte*>(moments.data())};
    accumulate(second);
    const auto* first = static_cast<const double*>(moments.data());
    write_variance(*task.out, first, first + n, plan.count, *task.spec);
}

void finish(const Plan& plan, const Part& part, const Task& task) {
    const Reduction op = task.spec->op;
    const DType acc = accumulator_dtype(part.counts ? DType::UInt8 : task.compute);
    if (op == Reduction::Any || op == Reduction::All) {
        write_truth(*task.out, reinterpret_cast<const uint64_t*>(part.acc), op, plan.count,
                    plan.decided && *plan.decided);
    } else if (part.kernel->finish) {
        part.kernel->finish(task.out->data(), part.acc, plan.results, op == Reduction::Max);
    } else if (op == Reduction::Mean) {
        write_mean(*task.out, reinterpret_cast<const double*>(part.acc), acc, plan.count);
    } else {
        kernels().convert[index(acc)][index(task.spec->result)](task.out->data(), part.acc,
                                                                plan.results);
    }
}

// Reductions of elements in the layout of x in one pass, variances in a second one.
void reduce_together(const Elements& elements, const Array& x, const Dims& axes,
                     std::span<const Task> tasks) {
    Plan plan(elements, x, axes);
    if (plan.results == 0) return;
    if (plan.count == 0) {
        for (const Task& task : tasks) fill_empty(*task.out, *task.spec);
        return;
    }
    std::atomic<bool> decided{false};
    const Reduction op = tasks[0].spec->op;
    if (plan.results == 1 && tasks.size() == 1 && elements.optional &&
        (op == Reduction::Any || op == Reduction::All)) {
        plan.decided = &decided;
        plan.decided_by = op;
    }
    Accumulators memory[kMostReductions];
    const Part* parts[kMostReductions];
    for (size_t i = 0; i < tasks.size(); ++i) parts[i] = &part_for(plan, tasks[i], memory);
    accumulate(plan);
    for (size_t i = 0; i < tasks.size(); ++i) {
        if (is_variance(tasks[i].spec->op)) {
            finish_variance(plan, *parts[i], tasks[i], x, axes);
        } else {
            finish(plan, *parts[i], tasks[i]);
        }
    }
}

}  // namespace

ElementDTypes element_dtypes(const ReduceSpec& spec, DType from) {
    if (counts(spec.op)) return {from, DType::Bool};
    const DType element = implied(spec.op, from, spec.element) ? from : spec.element;
    return {element, compute_dtype(spec.op, element)};
}

void reduce(const Array& x, const Dims& axes, std::span<const PartReduction> reductions) {
    const ReduceSpec& first = *reductions[0].spec;
    const ElementDTypes dtypes = element_dtypes(first, x.dtype);
    const bool counted = counts(first.op);
    const StridedReader reader =
        counted ? StridedReader::of_truth(x) : StridedReader(x, dtypes.element, dtypes.compute);
    const bool cheap = reader.direct() || counted;
    const Elements elements(reader, bits(x.dtype) * (cheap ? 1 : kConversionCost));
    Task tasks[kMostReductions];
    for (size_t i = 0; i < reductions.size(); ++i)
        tasks[i] = {reductions[i].spec, dtypes.compute, 0, &elements, &reductions[i].out};
    reduce_together(elements, x, axes, {tasks, reductions.size()});
}

Array reduce(const ReduceSpec& spec, const Array& x, const Dims& axes) {
    Dims shape;
    for (int i = 0; i < x.ndim(); ++i)
        if (std::find(axes.begin(), axes.end(), i) == axes.end()) shape.push_back(x.shape[i]);
    Array out = Array::empty(std::move(shape), spec.result, x.device());
    const PartReduction reduction{&spec, out};
    reduce(x, axes, {&reduction, 1});
    return out;
}

bool comes_in_runs(const Array& x, const Dims& axes) {
    const Plan plan(Elements(), x, axes);
    if (plan.reduced.n != 1 || plan.reduced.axes[0].stride == 1) return plan.reduced.n <= 1;
    const AxisList::Axis& closest = plan.kept.axes[closest_axis(plan.kept)];
    return closest.extent == plan.reduced.axes[0].stride || closest.extent >= kLeastRun;
}

void reduce(const ProgramCall& call, const Dims& axes, std::span<const PartReduction> reductions) {
    const Array& x = call.outputs[0];
    const PartialRun program(call);
    const Elements elements(call, program);
    Task tasks[kMostReductions];
    std::optional<PartialRun> runs[kMostReductions];
    std::optional<Elements> again[kMostReductions];
    for (size_t i = 0; i < reductions.size(); ++i) {
        const PartReduction& r = reductions[i];
        const DType made = call.outputs[static_cast<size_t>(r.source)].dtype;
        if (r.again) {
            runs[i].emplace(*r.again);
            again[i].emplace(*r.again, *runs[i]);
        }
        tasks[i] = {r.spec, made, r.source, again[i] ? &*again[i] : nullptr, &r.out};
    }
    reduce_together(elements, x, axes, {tasks, reductions.size()});
}

}  // namespace asc::cpu
