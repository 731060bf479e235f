// Fourier transforms: passes over sequences in the lanes of vectors, and what real ones add.
//
// All layouts share the passes, and differ in how numbers get into lanes and out of them: so a
// result's bits depend on the sequence and its length only. An inverse transform is the forward one
// of numbers whose real and imaginary parts are exchanged.
#include "backend/cpu/kernels/fft_math.h"

namespace asc::cpu::ASC_ISA {
namespace {

// ---- sources and destinations of passes

// Elements of a vector of numbers.
template <class T>
constexpr int kWidth = 2 * kLanes<T>;

template <class T>
struct Split {
    T* data;
    Number<T> get(int64_t i) const { return load_split(data + i * kWidth<T>); }
    void put(int64_t i, Number<T> x) const { store_split(data + i * kWidth<T>, x); }
};

template <class T, bool kSwap>
struct Interleaved {
    T* data;
    int64_t step;
    Vec<T> scale;
    Number<T> get(int64_t i) const {
        const Number<T> x = load_interleaved(data + i * step);
        return kSwap ? Number<T>{x.im, x.re} : x;
    }
    void put(int64_t i, Number<T> x) const {
        x = {x.re * scale, x.im * scale};
        store_interleaved(data + i * step, kSwap ? Number<T>{x.im, x.re} : x);
    }
};

// All real parts, then all imaginary ones.
template <class T>
struct Planar {
    T *re, *im;
    int64_t step;
    Vec<T> scale;
    Number<T> get(int64_t i) const { return {load(re + i * step), load(im + i * step)}; }
    void put(int64_t i, Number<T> x) const {
        store(re + i * step, x.re * scale);
        store(im + i * step, x.im * scale);
    }
};

// ---- twiddles

struct NoTwiddles {};
template <class T>
struct SharedTwiddles {
    const T* data;
    Number<T> get(int64_t i) const { return {broadcast(data[2 * i]), broadcast(data[2 * i + 1])}; }
};
template <class T>
struct LaneTwiddles {
    const T* data;
    Number<T> get(int64_t i) const { return load_split(data + i * kWidth<T>); }
};

// ---- passes

template <class T, int kRadix, class In, class Out, class Twiddles>
void pass(const FftPass& f, In in, Out out, Twiddles twiddles) {
    const T* roots = static_cast<const T*>(f.roots);
    for (int64_t p = 0; p < f.blocks; ++p) {
        for (int64_t q = 0; q < f.stride; ++q) {
            Number<T> x[kRadix];
            ASC_UNROLL for (int j = 0; j < kRadix; ++j) x[j] =
                in.get(q + f.stride * (p + f.blocks * j));
            butterfly<T, kRadix>(x, roots);
            if constexpr (!kSame<Twiddles, NoTwiddles>)
                ASC_UNROLL for (int k = 1; k < kRadix; ++k) x[k] =
                    x[k] * twiddles.get(p * (kRadix - 1) + k - 1);
            ASC_UNROLL for (int k = 0; k < kRadix; ++k)
                out.put(q + f.stride * (kRadix * p + k), x[k]);
        }
    }
}

// The same for an odd radix that is known at run time only.
template <class T, class In, class Out, class Twiddles>
void pass_any(const FftPass& f, In in, Out out, Twiddles twiddles) {
    const int radix = static_cast<int>(f.radix);
    const T* roots = static_cast<const T*>(f.roots);
    for (int64_t p = 0; p < f.blocks; ++p) {
        for (int64_t q = 0; q < f.stride; ++q) {
            Number<T> x[kMaxRadix];
            for (int j = 0; j < radix; ++j) x[j] = in.get(q + f.stride * (p + f.blocks * j));
            butterfly_odd<4>(x, radix, roots);
            if constexpr (!kSame<Twiddles, NoTwiddles>)
                for (int k = 1; k < radix; ++k) x[k] = x[k] * twiddles.get(p * (radix - 1) + k - 1);
            for (int k = 0; k < radix; ++k) out.put(q + f.stride * (radix * p + k), x[k]);
        }
    }
}

// Passes of other radices do so much work that moving numbers beforehand does not count.
inline bool takes_arrays(const FftPass& f) { return f.radix <= 8; }

template <class T, class In, class Out, class Twiddles>
void run_pass(const FftPass& f, In in, Out out, Twiddles twiddles) {
    switch (f.radix) {
        case 2:
            return pass<T, 2>(f, in, out, twiddles);
        case 3:
            return pass<T, 3>(f, in, out, twiddles);
        case 4:
            return pass<T, 4>(f, in, out, twiddles);
        case 5:
            return pass<T, 5>(f, in, out, twiddles);
        case 7:
            return pass<T, 7>(f, in, out, twiddles);
        case 8:
            return pass<T, 8>(f, in, out, twiddles);
        default:
            if constexpr (kSame<In, Split<T>> && kSame<Out, Split<T>>)
                return pass_any<T>(f, in, out, twiddles);
    }
}

// The two halves of scratch, which passes read and write in turn.
template <class T>
struct Halves {
    T* now;
    T* next;
    void flip() {
        T* t = now;
        now = next;
        next = t;
    }
};

template <class T, class In>
void twiddled_pass(const FftChain& c, const FftPass& f, int64_t group, In in, Split<T> out) {
    const T* twiddles = static_cast<const T*>(f.twiddles);
    if (c.per_lane) {
        const int64_t numbers = f.blocks * (f.radix - 1);
        run_pass<T>(f, in, out, LaneTwiddles<T>{twiddles + group * numbers * kWidth<T>});
    } else {
        run_pass<T>(f, in, out, SharedTwiddles<T>{twiddles});
    }
}

// Where the first pass reads.
template <class T>
struct Source {
    const FftMemory* array;  // interleaved, or null: split
    T* split;
    bool swap;
};

// All passes but the last, which follows without twiddles, or with them; returns what they leave.
template <class T>
T* run_passes(const FftChain& c, int64_t count, int64_t group, Source<T> in, Halves<T> free) {
    T* at = in.split;
    for (int64_t i = 0; i < count; ++i) {
        const Split<T> out{free.next};
        if (i > 0 || !in.array) {
            twiddled_pass<T>(c, c.passes[i], group, Split<T>{at}, out);
        } else {
            T* data = static_cast<T*>(in.array->data);
            const int64_t step = in.array->step;
            if (in.swap)
                twiddled_pass<T>(c, c.passes[i], group, Interleaved<T, true>{data, step, {}}, out);
            else
                twiddled_pass<T>(c, c.passes[i], group, Interleaved<T, false>{data, step, {}}, out);
        }
        at = free.next;
        free.flip();
    }
    return at;
}

// ---- between arrays and split memory

template <class T>
T* address(const FftMemory& m, int64_t row, int64_t lane) {
    return static_cast<T*>(m.data) + row * m.step + lane * m.pitch;
}

// Every element of `rows` full vectors exists, and they lie as an interleaved pass needs them.
template <class T>
bool is_interleaved(const FftMemory& m, int64_t rows, int64_t lanes) {
    return m.part == 1 && m.pitch == 2 && lanes == kLanes<T> &&
           (rows - 1) * m.rank + (lanes - 1) * m.lane_rank + 1 < m.limit;
}

// The same for planar ones.
template <class T>
bool is_planar(const FftMemory& m, int64_t rows, int64_t lanes) {
    return m.part != kFftReal && m.pitch == 1 && lanes == kLanes<T> &&
           (rows - 1) * m.rank + (lanes - 1) * m.lane_rank + 1 < m.limit;
}

inline int64_t clamp(int64_t x, int64_t most) { return x < 0 ? 0 : x < most ? x : most; }

// How many of `most` adjacent elements exist in a row: all or none where lanes are sequences.
inline int64_t existing(const FftMemory& m, int64_t row, int64_t elements_of_lane, int64_t most) {
    const int64_t left = m.limit - row * m.rank;
    if (m.lane_rank == 0) return left > 0 ? most : 0;
    return clamp((left * elements_of_lane + 1) / 2, most);
}

// Less than a vector, out of line because it is rare.
template <class T>
__attribute__((noinline)) Vec<T> load_part(const T* p, int64_t n) {
    T buffer[kLanes<T>] = {};
    if (n > 0) memcpy(buffer, p, static_cast<size_t>(n) * sizeof(T));
    return load(buffer);
}
template <class T>
__attribute__((noinline)) void store_part(T* p, Vec<T> v, int64_t n) {
    T buffer[kLanes<T>];
    store(buffer, v);
    if (n > 0) memcpy(p, buffer, static_cast<size_t>(n) * sizeof(T));
}

// n adjacent elements, the rest of the vector 0.
template <class T>
ASC_INLINE Vec<T> load_first(const T* p, int64_t n) {
    return n >= kLanes<T> ? load(p) : load_part(p, n);
}
template <class T>
ASC_INLINE void store_first(T* p, Vec<T> v, int64_t n) {
    n >= kLanes<T> ? store(p, v) : store_part(p, v, n);
}
// The same for n elements of interleaved numbers.
template <class T>
ASC_INLINE Number<T> load_first_numbers(const T* p, int64_t n) {
    if (n >= kWidth<T>) return load_interleaved(p);
    const Vec<T> a = load_first(p, n), b = load_part(p + kLanes<T>, n - kLanes<T>);
    return {even_elements(a, b), odd_elements(a, b)};
}
template <class T>
ASC_INLINE void store_first_numbers(T* p, Number<T> x, int64_t n) {
    if (n >= kWidth<T>) return store_interleaved(p, x);
    store_first(p, interleave_low(x.re, x.im), n);
    store_part(p + kLanes<T>, interleave_high(x.re, x.im), n - kLanes<T>);
}

// The rows of a lane lie side by side: lanes are sequences in contiguous memory.
inline bool are_adjacent_rows(const FftMemory& m) {
    return m.part == 1 && m.step == 2 && m.lane_rank == 0;
}
inline bool are_adjacent_real_rows(const FftMemory& m) {
    return m.part == kFftReal && m.step == 1 && m.lane_rank == 0;
}

// A square of numbers, vectors of one lane each, becomes vectors of one row each.
template <class T>
ASC_INLINE void transpose(Vec<T>* re, Vec<T>* im) {
    transpose<T>(re);
    transpose<T>(im);
}

template <class T>
void load_transposed(T* dst, const FftMemory& m, int64_t rows, int64_t lanes, bool swap) {
    T* re_out = dst + (swap ? kLanes<T> : 0);
    T* im_out = dst + (swap ? 0 : kLanes<T>);
    for (int64_t r = 0; r < rows; r += kLanes<T>) {
        const int64_t some = min_of(rows - r, kLanes<T>);
        const int64_t elements = clamp(m.limit - r * m.rank, 2 * some);
        Vec<T> re[kLanes<T>], im[kLanes<T>];
        ASC_UNROLL for (int l = 0; l < kLanes<T>; ++l) {
            const Number<T> x = load_first_numbers(address<T>(m, r, l), l < lanes ? elements : 0);
            re[l] = x.re;
            im[l] = x.im;
        }
        transpose<T>(re, im);
        ASC_UNROLL for (int i = 0; i < kLanes<T>; ++i) {
            if (i >= some) break;
            store(re_out + (r + i) * kWidth<T>, re[i]);
            store(im_out + (r + i) * kWidth<T>, im[i]);
        }
    }
}

template <class T>
void store_transposed(const T* src, const FftMemory& m, int64_t rows, int64_t lanes, bool swap,
                      Vec<T> scale) {
    const T* re_in = src + (swap ? kLanes<T> : 0);
    const T* im_in = src + (swap ? 0 : kLanes<T>);
    for (int64_t r = 0; r < rows; r += kLanes<T>) {
        const int64_t some = min_of(rows - r, kLanes<T>);
        const int64_t elements = clamp(m.limit - r * m.rank, 2 * some);
        Vec<T> re[kLanes<T>], im[kLanes<T>];
        ASC_UNROLL for (int i = 0; i < kLanes<T>; ++i) {
            // Rows beyond the last repeat it.
            const int64_t at = (r + (i < some ? i : some - 1)) * kWidth<T>;
            re[i] = load(re_in + at) * scale;
            im[i] = load(im_in + at) * scale;
        }
        transpose<T>(re, im);
        ASC_UNROLL for (int l = 0; l < kLanes<T>; ++l) {
            if (l >= lanes) break;
            store_first_numbers(address<T>(m, r, l), Number<T>{re[l], im[l]}, elements);
        }
    }
}

// The same for real sequences, read and written.
template <class T>
void load_transposed_real(T* dst, const FftMemory& m, int64_t rows, int64_t lanes, bool swap) {
    T* re_out = dst + (swap ? kLanes<T> : 0);
    T* im_out = dst + (swap ? 0 : kLanes<T>);
    for (int64_t r = 0; r < rows; r += kLanes<T>) {
        const int64_t some = min_of(rows - r, kLanes<T>);
        const int64_t elements = clamp((m.limit - r * m.rank) / 2, some);
        Vec<T> re[kLanes<T>];
        ASC_UNROLL for (int l = 0; l < kLanes<T>; ++l) re[l] =
            load_first(address<T>(m, r, l), l < lanes ? elements : 0);
        transpose<T>(re);
        ASC_UNROLL for (int i = 0; i < kLanes<T>; ++i) {
            if (i >= some) break;
            store(re_out + (r + i) * kWidth<T>, re[i]);
            store(im_out + (r + i) * kWidth<T>, Vec<T>{});
        }
    }
}

template <class T>
void store_transposed_real(const T* src, const FftMemory& m, int64_t rows, int64_t lanes, bool swap,
                           Vec<T> scale) {
    const T* re_in = src + (swap ? kLanes<T> : 0);
    for (int64_t r = 0; r < rows; r += kLanes<T>) {
        const int64_t some = min_of(rows - r, kLanes<T>);
        const int64_t elements = clamp((m.limit - r * m.rank) / 2, some);
        Vec<T> re[kLanes<T>];
        ASC_UNROLL for (int i = 0; i < kLanes<T>; ++i) re[i] =
            load(re_in + (r + (i < some ? i : some - 1)) * kWidth<T>) * scale;
        transpose<T>(re);
        ASC_UNROLL for (int l = 0; l < kLanes<T>; ++l) {
            if (l >= lanes) break;
            store_first(address<T>(m, r, l), re[l], elements);
        }
    }
}

// Split memory of `rows` rows from an array, 0 where elements or lanes do not exist.
template <class T>
void load_rows(T* dst, const FftMemory& m, int64_t rows, int64_t lanes, bool swap) {
    if (are_adjacent_rows(m)) return load_transposed(dst, m, rows, lanes, swap);
    if (are_adjacent_real_rows(m)) return load_transposed_real(dst, m, rows, lanes, swap);
    for (int64_t r = 0; r < rows; ++r, dst += kWidth<T>) {
        T* re = dst + (swap ? kLanes<T> : 0);
        T* im = dst + (swap ? 0 : kLanes<T>);
        const T* p = address<T>(m, r, 0);
        if (m.part == 1 && m.pitch == 2) {
            const Number<T> x = load_first_numbers(p, existing(m, r, 2, 2 * lanes));
            store(re, x.re);
            store(im, x.im);
        } else if (m.pitch == 1) {
            const bool has_part = m.part != kFftReal && r * m.rank + 1 < m.limit;
            store(re, load_first(p, existing(m, r, 1, lanes)));
            store(im, has_part ? load_first(p + m.part, lanes) : Vec<T>{});
        } else {
            for (int64_t l = 0; l < kLanes<T>; ++l) {
                const int64_t left = l < lanes ? m.limit - r * m.rank - l * m.lane_rank : 0;
                re[l] = left > 0 ? p[l * m.pitch] : 0;
                im[l] = left > 1 && m.part != kFftReal ? p[l * m.pitch + m.part] : 0;
            }
        }
    }
}

template <class T>
void store_rows(const T* src, const FftMemory& m, int64_t rows, int64_t lanes, bool swap,
                Vec<T> scale) {
    if (are_adjacent_rows(m)) return store_transposed(src, m, rows, lanes, swap, scale);
    if (are_adjacent_real_rows(m)) return store_transposed_real(src, m, rows, lanes, swap, scale);
    for (int64_t r = 0; r < rows; ++r, src += kWidth<T>) {
        const Vec<T> re = load(src + (swap ? kLanes<T> : 0)) * scale;
        const Vec<T> im = load(src + (swap ? 0 : kLanes<T>)) * scale;
        T* p = address<T>(m, r, 0);
        if (m.part == 1 && m.pitch == 2) {
            store_first_numbers(p, Number<T>{re, im}, existing(m, r, 2, 2 * lanes));
        } else if (m.pitch == 1) {
            const bool has_part = m.part != kFftReal && r * m.rank + 1 < m.limit;
            store_first(p, re, existing(m, r, 1, lanes));
            if (has_part) store_first(p + m.part, im, lanes);
        } else {
            for (int64_t l = 0; l < lanes; ++l) {
                const int64_t left = m.limit - r * m.rank - l * m.lane_rank;
                if (left > 0) p[l * m.pitch] = re[l];
                if (left > 1 && m.part != kFftReal) p[l * m.pitch + m.part] = im[l];
            }
        }
    }
}

// ---- real transforms of even length n as complex ones of h = n / 2

template <class T>
inline Number<T> conjugate(Number<T> x) {
    return {x.re, -x.im};
}

template <class T>
struct Pair {
    Number<T> low, high;  // of k and of h - k
};

// z: the transform of pairs; result: the one of their real numbers, scaled by re and im.
template <class T>
inline Pair<T> unpack_pair(Pair<T> z, Number<T> w, Number<T> scale) {
    const Number<T> b = conjugate(z.high), sum = z.low + b, turn = w * turned(z.low - b);
    const Number<T> low = sum + turn, high = sum - turn;
    return {{low.re * scale.re, low.im * scale.im}, {high.re * scale.re, -high.im * scale.im}};
}

// The opposite, without a factor 1 / 2.
template <class T>
inline Pair<T> pack_pair(Pair<T> x, Number<T> w) {
    const Number<T> b = conjugate(x.high), sum = x.low + b;
    const Number<T> turn = turned((x.low - b) * conjugate(w));
    return {sum - turn, conjugate(sum + turn)};
}

// The same for k = 0, where everything is real.
template <class T>
inline Number<T> zero_pair(Number<T> z) {
    return {z.re + z.im, z.re - z.im};
}

// The factor of results of unpack_pair.
template <class T>
inline Number<T> half_scale(double scale, bool conjugated) {
    const T half = static_cast<T>(scale) * static_cast<T>(0.5);
    return {broadcast(half), broadcast(conjugated ? -half : half)};
}

template <class T>
Number<T> twiddle_of_all(const FftRealStep& real, int64_t k) {
    const T* w = static_cast<const T*>(real.twiddles);
    return {broadcast(w[k]), broadcast(w[real.gap + k])};
}

template <class T>
void unpack_lanes(T* dst, const T* src, const FftLines& lines) {
    const FftRealStep& real = lines.real;
    const Split<T> z{const_cast<T*>(src)}, x{dst};
    const int64_t h = real.n / 2;
    const Number<T> scale = half_scale<T>(lines.scale, lines.inverse);
    const Number<T> ends = zero_pair(z.get(0));
    const Vec<T> whole = broadcast(static_cast<T>(lines.scale));
    x.put(0, {ends.re * whole, Vec<T>{}});
    x.put(h, {ends.im * whole, Vec<T>{}});
    for (int64_t k = 1; 2 * k <= h; ++k) {
        const Pair<T> pair =
            unpack_pair<T>({z.get(k), z.get(h - k)}, twiddle_of_all<T>(real, k), scale);
        x.put(h - k, pair.high);
        x.put(k, pair.low);
    }
    for (int64_t k = 1; k < h && real.mirror; ++k) x.put(real.n - k, conjugate(x.get(k)));
}

// The result has its real and imaginary parts exchanged: an inverse transform follows.
template <class T>
void pack_lanes(T* dst, const T* src, const FftLines& lines) {
    const FftRealStep& real = lines.real;
    const Split<T> x{const_cast<T*>(src)}, z{dst};
    const int64_t h = real.n / 2;
    const auto get = [&](int64_t k) __attribute__((always_inline)) {
        return lines.inverse ? x.get(k) : conjugate(x.get(k));
    };
    const auto put = [&](int64_t k, Number<T> y)
                         __attribute__((always_inline)) { z.put(k, {y.im, y.re}); };
    put(0, zero_pair<T>({x.get(0).re, x.get(h).re}));
    for (int64_t k = 1; 2 * k <= h; ++k) {
        const Pair<T> pair = pack_pair<T>({get(k), get(h - k)}, twiddle_of_all<T>(real, k));
        put(h - k, pair.high);
        put(k, pair.low);
    }
}

// The first half of Hermitian numbers becomes all of them.
template <class T>
void extend_lanes(T* x, int64_t n, bool swap) {
    T* re = x + (swap ? kLanes<T> : 0);
    T* im = x + (swap ? 0 : kLanes<T>);
    store(im, Vec<T>{});
    for (int64_t k = 1; 2 * k < n; ++k) {
        store(re + (n - k) * kWidth<T>, load(re + k * kWidth<T>));
        store(im + (n - k) * kWidth<T>, -load(im + k * kWidth<T>));
    }
}

// ---- whole transforms in lanes

// The last pass and what follows it.
template <class T>
void finish_lines(const FftLines& l, T* at, Halves<T> free, bool swap) {
    const FftChain& c = *l.chain;
    const FftPass* last = c.count > 0 ? &c.passes[c.count - 1] : nullptr;
    const Vec<T> scale = broadcast(static_cast<T>(l.scale));
    const bool direct =
        last && takes_arrays(*last) && l.real.kind != FftReal::Unpack && !l.real.mirror;
    T* data = static_cast<T*>(l.out.data);
    const NoTwiddles none;
    if (direct && is_planar<T>(l.out, c.length, l.lanes)) {
        T *re = data + (swap ? l.out.part : 0), *im = data + (swap ? 0 : l.out.part);
        return run_pass<T>(*last, Split<T>{at}, Planar<T>{re, im, l.out.step, scale}, none);
    }
    if (direct && is_interleaved<T>(l.out, c.length, l.lanes)) {
        if (swap)
            run_pass<T>(*last, Split<T>{at}, Interleaved<T, true>{data, l.out.step, scale}, none);
        else
            run_pass<T>(*last, Split<T>{at}, Interleaved<T, false>{data, l.out.step, scale}, none);
        return;
    }
    if (last) {
        run_pass<T>(*last, Split<T>{at}, Split<T>{free.next}, NoTwiddles{});
        at = free.next;
        free.flip();
    }
    if (l.real.kind == FftReal::Unpack) {
        const int64_t numbers = l.real.mirror ? l.real.n : l.real.n / 2 + 1;
        unpack_lanes(free.next, at, l);
        return store_rows(free.next, l.out, numbers, l.lanes, false, broadcast<T>(1));
    }
    if (l.real.mirror) extend_lanes(at, c.length, swap);
    store_rows(at, l.out, c.length, l.lanes, swap, scale);
}

template <class T>
void run_lines(const FftLines& l, void* scratch) {
    const FftChain& c = *l.chain;
    const int64_t room = (l.real.kind == FftReal::None ? c.length : l.real.n) * kWidth<T>;
    Halves<T> free{static_cast<T*>(scratch), static_cast<T*>(scratch) + room};
    // A real transform has a direction of its own.
    const bool swap = l.real.kind == FftReal::Pack     ? true
                      : l.real.kind == FftReal::Unpack ? false
                                                       : l.inverse;
    Source<T> in{nullptr, free.now, swap};
    if (l.real.kind == FftReal::Pack) {
        load_rows(free.next, l.in, l.real.n / 2 + 1, l.lanes, false);
        pack_lanes(free.now, free.next, l);
    } else if (l.real.kind == FftReal::Extend) {
        load_rows(free.now, l.in, l.real.n / 2 + 1, l.lanes, swap);
        extend_lanes(free.now, l.real.n, swap);
    } else if (c.count > 1 && takes_arrays(c.passes[0]) &&
               is_interleaved<T>(l.in, c.length, l.lanes)) {
        in.array = &l.in;
    } else {
        load_rows(free.now, l.in, c.length, l.lanes, swap);
    }
    T* at = run_passes<T>(c, c.count - 1, 0, in, free);
    finish_lines<T>(l, at, {at, at == free.now ? free.next : free.now}, swap);
}

// ---- the two phases of one sequence

// One tile for each group of rows: the split numbers of `lanes` columns, rows in the lanes.
template <class T>
void store_tiles(const T* src, const FftPhase& f) {
    T* tile = static_cast<T*>(f.tiles) + f.group * kLanes<T> * kWidth<T>;
    for (int64_t r = 0; r < f.chain->length; r += kLanes<T>) {
        const int64_t some = min_of(f.chain->length - r, kLanes<T>);
        Vec<T> re[kLanes<T>], im[kLanes<T>];
        ASC_UNROLL for (int i = 0; i < kLanes<T>; ++i) {
            const int64_t at = (r + (i < some ? i : some - 1)) * kWidth<T>;
            re[i] = load(src + at);
            im[i] = load(src + at + kLanes<T>);
        }
        transpose<T>(re, im);
        ASC_UNROLL for (int l = 0; l < kLanes<T>; ++l) {
            if (l >= f.lanes) break;
            store_split(tile + l * kWidth<T>, Number<T>{re[l], im[l]});
        }
        tile += f.columns * kWidth<T>;
    }
}

template <class T>
void run_columns(const FftPhase& f, void* scratch) {
    const FftChain& c = *f.chain;
    const Halves<T> free{static_cast<T*>(scratch), static_cast<T*>(scratch) + c.length * kWidth<T>};
    Source<T> in{nullptr, free.now, f.inverse};
    if (takes_arrays(c.passes[0]) && is_interleaved<T>(f.array, c.length, f.lanes))
        in.array = &f.array;
    else
        load_rows(free.now, f.array, c.length, f.lanes, f.inverse);
    store_tiles<T>(run_passes<T>(c, c.count, f.group, in, free), f);
}

template <class T>
void run_rows(const FftPhase& f, void* scratch) {
    const FftChain& c = *f.chain;
    const Halves<T> free{static_cast<T*>(scratch), static_cast<T*>(scratch) + c.length * kWidth<T>};
    T* tile = static_cast<T*>(f.tiles) + f.group * f.columns * kWidth<T>;
    T* at = run_passes<T>(c, c.count - 1, 0, {nullptr, tile, false}, free);
    const FftLines lines{f.chain, {}, f.array, f.lanes, f.inverse, f.scale, {}};
    finish_lines<T>(lines, at, {at, at == free.next ? free.now : free.next}, f.inverse);
}

// ---- passes over one sequence in an array

// Numbers first + l for each lane l; 0 where they are not in [from, to).
template <class T>
Number<T> load_range(const T* data, int64_t first, int64_t from, int64_t to) {
    if (first >= from && first + kLanes<T> <= to) return load_interleaved(data + 2 * first);
    T buffer[kWidth<T>] = {};
    const int64_t begin = first < from ? from : first;
    const int64_t end = first + kLanes<T> < to ? first + kLanes<T> : to;
    if (begin < end)
        memcpy(buffer + 2 * (begin - first), data + 2 * begin,
               static_cast<size_t>(end - begin) * 2 * sizeof(T));
    return load_interleaved(buffer);
}
template <class T>
void store_range(T* data, int64_t first, int64_t from, int64_t to, Number<T> x) {
    if (first >= from && first + kLanes<T> <= to) return store_interleaved(data + 2 * first, x);
    T buffer[kWidth<T>];
    store_interleaved(buffer, x);
    const int64_t begin = first < from ? from : first;
    const int64_t end = first + kLanes<T> < to ? first + kLanes<T> : to;
    if (begin < end)
        memcpy(data + 2 * begin, buffer + 2 * (begin - first),
               static_cast<size_t>(end - begin) * 2 * sizeof(T));
}

template <class T>
Number<T> reversed(Number<T> x) {
    return {reversed(x.re), reversed(x.im)};
}

// body(k, count) for blocks of the range of a sweep, k = 0 left out.
template <class T, class F>
inline void for_blocks(const FftSweep& s, F body) {
    for (int64_t k = s.begin > 0 ? s.begin : 1; k < s.end; k += kLanes<T>)
        body(k, min_of(s.end - k, kLanes<T>));
}

template <class T>
Number<T> twiddles_of_lanes(const FftRealStep& real, int64_t k) {
    const T* w = static_cast<const T*>(real.twiddles);
    return {load(w + k), load(w + real.gap + k)};
}

template <class T, bool kPlanar>
void unpack_from(const FftSweep& s) {
    const T* z = static_cast<const T*>(s.src);
    T* x = static_cast<T*>(s.dst);
    const int64_t h = s.real.n / 2;
    const T whole = static_cast<T>(s.scale);
    if (s.begin == 0) {
        const T re = z[0], im = z[kPlanar ? h : 1];
        x[0] = (re + im) * whole;
        x[2 * h] = (re - im) * whole;
        x[1] = x[2 * h + 1] = 0;
    }
    const Number<T> scale = half_scale<T>(s.scale, s.conjugate);
    for_blocks<T>(s, [&](int64_t k, int64_t count) {
        const int64_t top = h - k + 1, first = top - kLanes<T>;
        Pair<T> pair;
        if constexpr (kPlanar)  // numbers beyond the range exist
            pair = {{load(z + k), load(z + h + k)},
                    reversed(Number<T>{load(z + first), load(z + h + first)})};
        else
            pair = {load_range(z, k, k, k + count),
                    reversed(load_range(z, first, top - count, top))};
        pair = unpack_pair(pair, twiddles_of_lanes<T>(s.real, k), scale);
        store_range(x, first, top - count, top, reversed(pair.high));
        store_range(x, k, k, k + count, pair.low);
    });
}
template <class T>
void unpack(const FftSweep& s) {
    s.src == s.dst ? unpack_from<T, false>(s) : unpack_from<T, true>(s);
}

template <class T>
void pack(const FftSweep& s) {
    const T* x = static_cast<const T*>(s.src);
    T* z = static_cast<T*>(s.dst);
    const int64_t h = s.real.n / 2;
    if (s.begin == 0) {
        const T first = s.limit > 0 ? x[0] : 0, last = s.limit > h ? x[2 * h] : 0;
        z[0] = first + last;
        z[1] = first - last;
    }
    const auto get = [&](int64_t first) {
        const Number<T> y = load_range(x, first, 0, s.limit);
        return s.conjugate ? conjugate(y) : y;
    };
    for_blocks<T>(s, [&](int64_t k, int64_t count) {
        const int64_t top = h - k + 1, first = top - kLanes<T>;
        const Pair<T> pair =
            pack_pair<T>({get(k), reversed(get(first))}, twiddles_of_lanes<T>(s.real, k));
        store_range(z, first, top - count, top, reversed(pair.high));
        store_range(z, k, k, k + count, pair.low);
    });
}

template <class T>
void mirror(const FftSweep& s) {
    const T* x = static_cast<const T*>(s.src);
    T* y = static_cast<T*>(s.dst);
    if (s.begin == 0) {
        y[0] = s.limit > 0 ? x[0] : 0;
        y[1] = 0;
    }
    for_blocks<T>(s, [&](int64_t k, int64_t count) {
        const int64_t top = s.real.n - k + 1;
        const Number<T> z = load_range(x, k, 0, s.limit);
        store_range(y, top - kLanes<T>, top - count, top, reversed(conjugate(z)));
        store_range(y, k, k, k + count, z);
    });
}

template <class T>
void chirp(const FftChirp& c) {
    const T* x = static_cast<const T*>(c.src);
    const T* w = static_cast<const T*>(c.factors);
    T* y = static_cast<T*>(c.dst);
    const Vec<T> scale = broadcast(static_cast<T>(c.scale));
    for (int64_t k = 0; k < c.count; k += kLanes<T>) {
        const int64_t left = c.count - k;
        Number<T> a = c.real_src ? Number<T>{load_first(x + k, c.limit - k), Vec<T>{}}
                                 : load_first_numbers(x + 2 * k, c.limit - 2 * k);
        if (c.swap_src) a = {a.im, a.re};
        Number<T> b = a * load_first_numbers(w + 2 * k, 2 * left);
        if (c.swap_dst) b = {b.im, b.re};
        b = {b.re * scale, b.im * scale};
        if (c.real_dst)
            store_first(y + k, b.re, left);
        else
            store_first_numbers(y + 2 * k, b, 2 * left);
    }
}

template <class T>
constexpr FftKernels kFft = {kLanes<T>, run_lines<T>, run_columns<T>, run_rows<T>,
                             unpack<T>, pack<T>,      mirror<T>,      chirp<T>};

}  // namespace

void fill_fft(KernelTable& t) {
    t.fft[index(DType::Float32)] = kFft<float>;
    t.fft[index(DType::Float64)] = kFft<double>;
}

}  // namespace asc::cpu::ASC_ISA
