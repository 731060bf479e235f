// How an axis is transformed: many short or strided sequences in the lanes of vectors, a group of
// neighbours at a time; long contiguous ones each alone in two phases. Results do not depend on the
// way, nor on threads.
#include "backend/cpu/fft.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "backend/cpu/fft_plan.h"
#include "backend/cpu/isa.h"
#include "backend/cpu/lines.h"
#include "backend/cpu/scratch.h"
#include "runtime/workers.h"

namespace asc::cpu {
namespace {

// Elements that make a second thread worth its wake-up.
constexpr int64_t kThreadWork = 1 << 13;
// Elements of one task.
constexpr int64_t kTaskWork = 1 << 14;
// Elements of a sequence that several threads share.
constexpr int64_t kSharedWork = 1 << 15;
// Contiguous sequences of at least so many vectors are transformed alone.
constexpr int64_t kAloneVectors = 8;

// Transforms of real sequences of up to so many bytes have memory of their own in between, which
// stays in the first-level cache.
constexpr int64_t kPlanarBytes = 1 << 14;

int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

// One transform along an axis.
struct Step {
    FftResult result;
    bool real;  // the input is real
    int64_t n;
    bool inverse;
    double scale;
};

// The end of a sequence at which a complex transform reads or writes, in real elements.
struct End {
    void* data;
    int64_t pitch;  // from number to number
    int64_t part;   // from a real part to its imaginary part, or kFftReal
    int64_t limit;  // elements that exist
};
End complex_end(void* data, int64_t numbers) { return {data, 2, 1, 2 * numbers}; }
// Real elements as pairs.
End paired_end(void* data, int64_t elements) { return {data, 2, 1, elements}; }
// All real parts, then all imaginary ones.
End planar_end(void* data, int64_t numbers) { return {data, 1, numbers, 2 * numbers}; }
End real_end(void* data, int64_t elements) { return {data, 1, kFftReal, 2 * elements}; }

// Memory that is needed next, fetched into the second-level cache in `steps` parts between groups
// of lanes: all at once, the processor would wait for it.
class Ahead {
  public:
    Ahead() = default;
    Ahead(const std::byte* in, int64_t in_bytes, const std::byte* out, int64_t out_bytes,
          int64_t steps)
        : in_(reinterpret_cast<uintptr_t>(in)),
          in_step_(step(in_bytes, steps)),
          out_(reinterpret_cast<uintptr_t>(out)),
          out_step_(step(out_bytes, steps)) {}

    void fetch() {
        for (uintptr_t i = 0; i < in_step_; i += kLine) __builtin_prefetch(memory(in_ + i), 0, 2);
        for (uintptr_t i = 0; i < out_step_; i += kLine) __builtin_prefetch(memory(out_ + i), 1, 2);
        in_ += in_step_;
        out_ += out_step_;
    }

  private:
    static constexpr int64_t kLine = 64;
    static uintptr_t step(int64_t bytes, int64_t steps) {
        return static_cast<uintptr_t>(round_up((bytes + steps - 1) / steps, kLine));
    }
    static const void* memory(uintptr_t place) { return reinterpret_cast<const void*>(place); }

    // No pointers: whole steps may end beyond an array.
    uintptr_t in_ = 0, in_step_ = 0;
    uintptr_t out_ = 0, out_step_ = 0;
};

// How a step is computed, whatever the layout.
class Method {
  public:
    Method(DType real, const Step& step)
        : kernels_(kernels().fft[index(real)]),
          step_(step),
          size_(itemsize(real)),
          paired_(step.n % 2 == 0 && (step.real || step.result == FftResult::Real)) {
        if (paired_) {
            real_plan_ = FftRealPlan::get(real, step.n);
            plan_ = real_plan_->half;
        } else {
            plan_ = FftPlan::get(real, step.n);
        }
    }

    const Step& step() const { return step_; }
    const FftPlan& plan() const { return *plan_; }
    int64_t lanes() const { return kernels_.lanes; }
    bool has_lines() const { return static_cast<bool>(plan_->lines); }
    bool has_phases() const { return !has_lines() || static_cast<bool>(plan_->columns); }
    // Elements of the output along the axis.
    int64_t out_length() const {
        return step_.result == FftResult::Half ? step_.n / 2 + 1 : step_.n;
    }

    // ---- sequences in lanes

    int64_t lines_scratch() const {
        return 2 * std::max(plan_->n, real_kind() == FftReal::None ? 0 : step_.n) * number_bytes();
    }
    // Sequences along an axis of arrays, of which the first group's lanes are `x_pitch` and
    // `y_pitch` elements apart.
    FftLines lines(const Array& x, const Array& y, int axis, int64_t x_pitch,
                   int64_t y_pitch) const {
        return {&plan_->lines.chain,
                memory(x, axis, x_pitch, step_.real),
                memory(y, axis, y_pitch, step_.result == FftResult::Real),
                lanes(),
                step_.inverse,
                step_.scale,
                real_step()};
    }
    void run_lines(const FftLines& lines, void* scratch) const { kernels_.lines(lines, scratch); }

    // ---- one contiguous sequence

    // Memory of its own beside what each thread needs.
    int64_t own_bytes() const {
        const int64_t extended = hermitian() ? 2 * step_.n * size_ : 0;
        return round_up(extended, 64) + planar_bytes() + plan_bytes(*plan_);
    }
    int64_t thread_bytes() const { return thread_bytes(*plan_); }

    // The output is written from end to end.
    bool writes_in_order() const { return is_planar() && step_.result == FftResult::Half; }
    // Groups of lanes of one sequence.
    int64_t groups() const {
        return plan_->columns
                   ? groups(plan_->columns.chain.length) + groups(plan_->rows.chain.length)
                   : 0;
    }

    // Memory for one sequence: its own, then that of the thread that works alone.
    struct Memory {
        std::byte* own;
        void* alone;
        Parallel par;
        Ahead* ahead;
    };
    // `count` elements of the input exist.
    void run(const void* in, int64_t count, void* out, Memory m) const {
        void* source = const_cast<void*>(in);
        if (step_.result == FftResult::Real) return to_real(source, count, out, m);
        if (!step_.real)
            return transform(*plan_, complex_end(source, count), complex_end(out, step_.n),
                             step_.inverse, step_.scale, m);
        const int64_t half = step_.n / 2;
        const FftSweep s{out, out, 0, 0, half + 1, step_.inverse, step_.scale, real_step()};
        if (paired_) {
            End between = complex_end(out, half);
            if (is_planar()) {
                between = planar_end(m.own, half);
                m.own += planar_bytes();
            }
            transform(*plan_, paired_end(source, count), between, false, 1, m);
            FftSweep unpack = s;
            unpack.src = between.data;
            sweep(kernels_.unpack, unpack, half / 2 + 1, m.par);
        } else {
            transform(*plan_, real_end(source, count), complex_end(out, half + 1), step_.inverse,
                      step_.scale, m);
        }
        if (s.real.mirror) sweep(kernels_.mirror, s, (step_.n + 1) / 2, m.par);
    }

  private:
    int64_t number_bytes() const { return 2 * kernels_.lanes * size_; }
    int64_t groups(int64_t numbers) const { return (numbers + lanes() - 1) / lanes(); }
    // Real parts side by side need no shuffles between the complex transform and unpacking.
    bool is_planar() const {
        return paired_ && step_.real && plan_->columns && step_.n * size_ <= kPlanarBytes;
    }
    int64_t planar_bytes() const { return is_planar() ? round_up(step_.n * size_, 64) : 0; }
    bool hermitian() const { return step_.result == FftResult::Real && !paired_; }

    FftReal real_kind() const {
        if (hermitian()) return FftReal::Extend;
        if (!paired_) return FftReal::None;
        return step_.result == FftResult::Real ? FftReal::Pack : FftReal::Unpack;
    }
    FftRealStep real_step() const {
        const bool mirror = step_.real && step_.result == FftResult::Full;
        return {real_kind(), mirror, step_.n, paired_ ? real_plan_->twiddles.data() : nullptr,
                paired_ ? real_plan_->gap : 0};
    }

    FftMemory memory(const Array& x, int axis, int64_t pitch, bool real) const {
        const int64_t step = x.strides[axis], length = x.shape[axis];
        if (!real) return {x.data(), 2 * step, 2 * pitch, 1, 2, 0, 2 * length};
        if (!paired_) return {x.data(), step, pitch, kFftReal, 2, 0, 2 * length};
        return {x.data(), 2 * step, pitch, step, 2, 0, length};
    }

    // Rows of vectors in tiles of columns.
    int64_t tile_bytes(const FftPlan& p) const {
        return round_up(p.columns.chain.length, lanes()) / lanes() * p.rows.chain.length *
               number_bytes();
    }
    int64_t plan_bytes(const FftPlan& p) const {
        if (p.convolution)
            return round_up(2 * p.convolution->n * size_, 64) + plan_bytes(*p.convolution);
        return p.columns ? tile_bytes(p) : 0;
    }
    int64_t thread_bytes(const FftPlan& p) const {
        if (p.convolution) return thread_bytes(*p.convolution);
        const int64_t longest = p.columns ? std::max(p.columns.chain.length, p.rows.chain.length)
                                          : std::max<int64_t>(p.n, 1);
        return 2 * longest * number_bytes();
    }

    // The complex transform from one end to the other, in place or not.
    void transform(const FftPlan& p, const End& in, const End& out, bool inverse, double scale,
                   const Memory& m) const {
        if (p.convolution) return convolve(p, in, out, inverse, scale, m);
        if (p.columns) return in_phases(p, in, out, inverse, scale, m);
        auto line = [](const End& e) {
            return FftMemory{e.data, e.pitch, 0, e.part, 2, 0, e.limit};
        };
        kernels_.lines({&p.lines.chain, line(in), line(out), 1, inverse, scale, {}}, m.alone);
    }

    // body(group, scratch) for each vector of lanes, by all threads.
    template <class F>
    void for_groups(const FftPlan& p, int64_t numbers, const Memory& m, F body) const {
        const int64_t count = groups(numbers);
        if (m.par.threads > 1) return Slots(m.par, count, thread_bytes(p)).spread(body);
        for (int64_t i = 0; i < count; ++i) {
            m.ahead->fetch();
            body(i, m.alone);
        }
    }

    void in_phases(const FftPlan& p, const End& in, const End& out, bool inverse, double scale,
                   const Memory& m) const {
        const int64_t rows = p.columns.chain.length, columns = p.rows.chain.length;
        auto phase = [&](const FftPasses& passes, const End& e, int64_t group, int64_t count) {
            const int64_t first = group * lanes();
            return FftPhase{&passes.chain,
                            group,
                            std::min(lanes(), count - first),
                            {static_cast<std::byte*>(e.data) + first * e.pitch * size_,
                             count * e.pitch, e.pitch, e.part, 2 * count, 2, e.limit - 2 * first},
                            m.own,
                            columns,
                            inverse,
                            scale};
        };
        for_groups(p, columns, m, [&](int64_t group, void* scratch) {
            kernels_.columns(phase(p.columns, in, group, columns), scratch);
        });
        for_groups(p, rows, m, [&](int64_t group, void* scratch) {
            kernels_.rows(phase(p.rows, out, group, rows), scratch);
        });
    }

    void convolve(const FftPlan& p, const End& in, const End& out, bool inverse, double scale,
                  Memory m) const {
        const FftPlan& inner = *p.convolution;
        void* a = m.own;
        m.own += round_up(2 * inner.n * size_, 64);
        const bool real_in = in.part == kFftReal, real_out = out.part == kFftReal;
        multiply(a, in.data, p.factors.data(),
                 {p.n, real_in ? in.limit / 2 : in.limit, real_in, false, inverse, false, 1}, m);
        std::memset(static_cast<std::byte*>(a) + 2 * p.n * size_, 0,
                    static_cast<size_t>(2 * (inner.n - p.n) * size_));
        const End all = complex_end(a, inner.n);
        transform(inner, all, all, false, 1, m);
        multiply(a, a, p.spectrum.data(), {inner.n, 2 * inner.n, false, false, false, false, 1}, m);
        transform(inner, all, all, true, 1, m);
        const int64_t wanted = std::min(p.n, (out.limit + 1) / 2);
        multiply(out.data, a, p.factors.data(),
                 {wanted, 2 * wanted, false, real_out, false, inverse, scale}, m);
    }

    struct Multiply {
        int64_t count, limit;
        bool real_src, real_dst, swap_src, swap_dst;
        double scale;
    };
    void multiply(void* dst, const void* src, const void* factors, const Multiply& f,
                  const Memory& m) const {
        for_pieces(f.count, m.par, [&](int64_t begin, int64_t end) {
            auto at = [&](const void* p, bool real) {
                return static_cast<std::byte*>(const_cast<void*>(p)) +
                       begin * size_ * (real ? 1 : 2);
            };
            kernels_.chirp({at(dst, f.real_dst), at(src, f.real_src), at(factors, false),
                            end - begin, f.limit - begin * (f.real_src ? 1 : 2), f.real_src,
                            f.real_dst, f.swap_src, f.swap_dst, f.scale});
        });
    }

    // body(begin, end) over [0, n), in pieces for all threads.
    template <class F>
    static void for_pieces(int64_t n, const Parallel& par, F body) {
        const int64_t piece = round_up(std::max(kTaskWork, n / (4 * par.threads) + 1), 64);
        run_each(par, (n + piece - 1) / piece,
                 [&](int64_t i) { body(i * piece, std::min(n, (i + 1) * piece)); });
    }
    static void sweep(void (*kernel)(const FftSweep&), const FftSweep& all, int64_t n,
                      const Parallel& par) {
        for_pieces(n, par, [&](int64_t begin, int64_t end) {
            FftSweep s = all;
            s.begin = begin;
            s.end = end;
            kernel(s);
        });
    }

    void to_real(void* in, int64_t count, void* out, Memory m) const {
        const int64_t half = step_.n / 2;
        if (paired_) {
            const FftSweep s{out, in, 0, 0, count, !step_.inverse, 1, real_step()};
            sweep(kernels_.pack, s, half / 2 + 1, m.par);
            return transform(*plan_, complex_end(out, half), paired_end(out, step_.n), true,
                             step_.scale, m);
        }
        void* all = m.own;
        m.own += round_up(2 * step_.n * size_, 64);
        const FftSweep s{all, in, 0, 0, count, false, 1, real_step()};
        sweep(kernels_.mirror, s, half + 1, m.par);
        transform(*plan_, complex_end(all, step_.n), real_end(out, step_.n), step_.inverse,
                  step_.scale, m);
    }

    const FftKernels& kernels_;
    Step step_;
    int64_t size_;  // bytes of a real element
    bool paired_;   // pairs of real elements are complex numbers
    std::shared_ptr<const FftPlan> plan_;
    std::shared_ptr<const FftRealPlan> real_plan_;
};

Parallel team(int64_t elements) {
    Parallel par = workers::parallel();
    if (elements < 2 * kThreadWork) par.threads = 1;
    return par;
}

// ---- sequences in lanes

// The axes of two arrays beside the one to transform, as few as the strides allow; the last one is
// the one along which lanes lie.
struct Grid {
    Dims extents, in, out;  // extents; strides

    Grid(const Array& x, const Array& y, int axis) {
        for (int i = 0; i < x.ndim(); ++i) {
            if (i == axis || x.shape[i] == 1) continue;
            const int last = extents.size() - 1;
            if (last >= 0 && in[last] == x.strides[i] * x.shape[i] &&
                out[last] == y.strides[i] * x.shape[i]) {
                extents[last] *= x.shape[i];
                in[last] = x.strides[i];
                out[last] = y.strides[i];
            } else {
                extents.push_back(x.shape[i]);
                in.push_back(x.strides[i]);
                out.push_back(y.strides[i]);
            }
        }
        if (extents.empty()) extents = {1}, in = {0}, out = {0};
    }
    int64_t width() const { return extents.back(); }
    // Moves the axis along which lanes lie to the end: an adjacent one if it fills vectors.
    void choose_lanes(int64_t lanes) {
        const int last = extents.size() - 1;
        if (extents[last] >= lanes) return;
        const int longest =
            static_cast<int>(std::max_element(extents.begin(), extents.end()) - extents.begin());
        std::swap(extents[longest], extents[last]);
        std::swap(in[longest], in[last]);
        std::swap(out[longest], out[last]);
    }
};

void transform_lanes(const Method& method, const Array& x, const Array& y, int axis,
                     const Grid& grid) {
    const int64_t lanes = method.lanes(), width = grid.width();
    const int64_t groups = (width + lanes - 1) / lanes,
                  count = product(grid.extents) / width * groups;
    const int64_t per_task = std::max<int64_t>(1, kTaskWork / (method.step().n * lanes));
    const Parallel par = team(method.step().n * product(grid.extents));
    const Slots slots(par, (count + per_task - 1) / per_task, method.lines_scratch());
    const FftLines all = method.lines(x, y, axis, grid.in.back(), grid.out.back());
    slots.spread([&](int64_t task, void* scratch) {
        FftLines lines = all;
        for (int64_t i = task * per_task; i < std::min(count, (task + 1) * per_task); ++i) {
            const int64_t first = i % groups * lanes;
            int64_t from = first * grid.in.back(), to = first * grid.out.back(), rest = i / groups;
            for (int d = grid.extents.size() - 2; d >= 0; --d) {
                from += rest % grid.extents[d] * grid.in[d];
                to += rest % grid.extents[d] * grid.out[d];
                rest /= grid.extents[d];
            }
            lines.in.data = x.data() + from * itemsize(x.dtype);
            lines.out.data = y.data() + to * itemsize(y.dtype);
            lines.lanes = std::min(lanes, width - first);
            method.run_lines(lines, scratch);
        }
    });
}

// ---- sequences one by one

// Sequences that are not contiguous are copied in groups, so that neighbours share cache lines.
constexpr int64_t kCopiedLines = 16;
// Sequences of arrays beyond the second-level cache are fetched while the ones before them are
// transformed, and written from end to end, which processors foresee, unlike the order of phases.
constexpr int64_t kFarBytes = 1 << 20;
constexpr int64_t kFetchedBytes = 1 << 16;

// One side of transforms one by one: where sequences are, or are copied to.
class Side {
  public:
    // `in_place`: sequences that are far need no copies.
    Side(const Array& x, int axis, int64_t group, bool in_place)
        : lines_(x, axis),
          strided_(!lines_.direct()),
          far_(!strided_ && lines_.count() > 1 && lines_.line_bytes() <= kFetchedBytes &&
               lines_.line_bytes() * lines_.count() >= kFarBytes),
          copied_(far_ && !in_place),
          bytes_(round_up(lines_.line_bytes() * (strided_  ? group
                                                 : copied_ ? 1
                                                           : 0),
                          64)) {}

    const Lines& lines() const { return lines_; }
    // Of the memory for copies, which the other functions are given.
    int64_t bytes() const { return bytes_; }
    // Of a sequence, if it pays to be fetched.
    int64_t far_bytes() const { return far_ ? lines_.line_bytes() : 0; }
    void read_group(int64_t first, int64_t count, std::byte* copies) const {
        if (strided_) lines_.read(first, count, copies);
    }
    void write_group(int64_t first, int64_t count, const std::byte* copies) const {
        if (strided_) lines_.write(first, count, copies);
    }
    // Sequence `first` + i, ready to be read.
    std::byte* read(int64_t first, int64_t i, std::byte* copies) const {
        if (!copied_) return place(first, i, copies);
        std::memcpy(copies, lines_.address(first + i), static_cast<size_t>(lines_.line_bytes()));
        return copies;
    }
    // Where it is to be written, before `write`.
    std::byte* place(int64_t first, int64_t i, std::byte* copies) const {
        if (strided_) return copies + i * lines_.line_bytes();
        return copied_ ? copies : lines_.address(first + i);
    }
    void write(int64_t first, int64_t i, const std::byte* copies) const {
        if (copied_)
            std::memcpy(lines_.address(first + i), copies,
                        static_cast<size_t>(lines_.line_bytes()));
    }

  private:
    Lines lines_;
    bool strided_, far_, copied_;
    int64_t bytes_;
};

void transform_alone(const Method& method, const Array& x, const Array& y, int axis) {
    const int64_t n = method.step().n, count = y.size() / y.shape[axis];
    Parallel par = team(n * count), alone = par;
    alone.threads = 1;
    const bool shared = par.threads > 1 && n >= kSharedWork && count < 2 * par.threads;
    const int64_t fair = (count + par.threads - 1) / par.threads;
    const int64_t group = shared ? 1 : std::min(kCopiedLines, fair);
    const Side from(x, axis, group, method.groups() > 0);
    const Side to(y, axis, group, method.writes_in_order());
    const int64_t own = from.bytes() + to.bytes() + method.own_bytes();
    const bool fetches = method.groups() > 0 && from.far_bytes() + to.far_bytes() > 0;
    auto body = [&](int64_t task, void* memory, const Parallel& team) {
        auto* in = static_cast<std::byte*>(memory);
        auto* out = in + from.bytes();
        Ahead ahead;
        const Method::Memory m{out + to.bytes(), in + own, team, &ahead};
        const int64_t first = task * group, some = std::min(group, count - first);
        from.read_group(first, some, in);
        for (int64_t i = 0; i < some; ++i) {
            const int64_t next = first + i + 1;
            ahead = {};
            if (fetches && i + 1 < some)
                ahead = {from.lines().address(next), from.far_bytes(), to.lines().address(next),
                         to.far_bytes(), method.groups()};
            method.run(from.read(first, i, in), from.lines().length(), to.place(first, i, out), m);
            to.write(first, i, out);
        }
        to.write_group(first, some, out);
    };
    if (shared) {
        const Buffer memory(own + method.thread_bytes());
        for (int64_t i = 0; i < count; ++i) body(i, memory.data(), par);
        return;
    }
    Slots(par, (count + group - 1) / group, own + method.thread_bytes())
        .spread([&](int64_t task, void* memory) { body(task, memory, alone); });
}

// y = the transform of x along an axis; they may be the same memory.
void transform_axis(const Array& x, const Array& y, int axis, const Step& step) {
    const Method method(real_part(x.dtype), step);
    Grid grid(x, y, axis);
    grid.choose_lanes(method.lanes());
    const bool contiguous = x.strides[axis] == 1 && y.strides[axis] == 1;
    const int64_t least = contiguous ? 2 : method.lanes() / 2;
    const bool short_ones = step.n < kAloneVectors * method.lanes();
    const bool lanes_pay = grid.width() >= least && (short_ones || !contiguous);
    if (method.has_lines() && (lanes_pay || !method.has_phases()))
        transform_lanes(method, x, y, axis, grid);
    else
        transform_alone(method, x, y, axis);
}

// ---- several axes

// x cut to at most `extent` elements along an axis.
Array cut(const Array& x, int axis, int64_t extent) {
    Dims shape = x.shape;
    shape[axis] = std::min(shape[axis], extent);
    return x.view(std::move(shape), x.strides, x.offset);
}

}  // namespace

Dims fft_shape(const Dims& shape, const FftSpec& spec) {
    Dims result = shape;
    for (int i = 0; i < spec.axes.size(); ++i)
        result[static_cast<int>(spec.axes[i])] = spec.lengths[i];
    if (spec.result == FftResult::Half) {
        int64_t& last = result[static_cast<int>(spec.axes.back())];
        last = last / 2 + 1;
    }
    return result;
}

Array fft(const Array& x, const FftSpec& spec) {
    const bool real_result = spec.result == FftResult::Real;
    assert(spec.result == FftResult::Full || is_complex(x.dtype) == real_result);
    const DType complex = complex_of(x.dtype), real = real_part(complex);
    const int count = spec.axes.size(), last = static_cast<int>(spec.axes.back());
    Array out = Array::empty(fft_shape(x.shape, spec), real_result ? real : complex, x.device());
    if (out.size() == 0) return out;

    // What an axis needs of the input.
    auto needed = [&](int i) {
        return real_result && i == count - 1 ? spec.lengths[i] / 2 + 1 : spec.lengths[i];
    };
    Array in = x;
    for (int i = 0; i < count; ++i) in = cut(in, static_cast<int>(spec.axes[i]), needed(i));

    // The axis that changes between real and complex comes first, or last where the result is real.
    Array between = out;
    if (real_result && count > 1) {
        Dims shape = out.shape;
        shape[last] = in.shape[last];
        between = Array::empty(shape, complex, x.device());
    }
    for (int k = 0; k < count; ++k) {
        const int i = real_result ? (k + 1 < count ? count - 2 - k : count - 1) : count - 1 - k;
        const int axis = static_cast<int>(spec.axes[i]);
        const bool changes = i == count - 1, ends = k == count - 1;
        Array to = real_result && changes ? out : between;
        // Axes that are padded later are still short.
        for (int j = 0; j < to.ndim(); ++j)
            if (j != axis) to = cut(to, j, in.shape[j]);
        const Step step{changes ? spec.result : FftResult::Full, !is_complex(in.dtype),
                        spec.lengths[i], spec.inverse, ends ? spec.scale : 1};
        transform_axis(in, to, axis, step);
        in = to;
    }
    return out;
}

}  // namespace asc::cpu
