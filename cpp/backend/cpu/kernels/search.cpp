// Searching: in sorted arrays, for runs of equals, for extremes, for true bits.
#include <math.h>

#include "backend/cpu/kernels/order.h"
#include "backend/cpu/kernels/square.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace asc::cpu::ASC_ISA {
namespace {

// ---------------------------------------------------------------- search

template <class T>
constexpr bool kIsComplex = false;
template <class T>
constexpr bool kIsComplex<Complex<T>> = true;

// Elements that are compared natively, wide so that vectors of them match those of positions.
template <class T>
ASC_INLINE auto comparable(T x) {
    if constexpr (sizeof(T) >= 8) {
        return x;
    } else if constexpr (kIsFloat<T>) {
        return static_cast<double>(x);
    } else {
        return static_cast<int64_t>(x);
    }
}
template <class T>
ASC_INLINE double comparable_narrow(T x) {
    const int16_t rank = Order<T>::rank(static_cast<int16_t>(x.bits));
    return rank == Order<T>::kNan ? static_cast<double>(NAN) : rank;
}
ASC_INLINE double comparable(Half x) { return comparable_narrow(x); }
ASC_INLINE double comparable(BHalf x) { return comparable_narrow(x); }

template <class T>
ASC_INLINE bool has_nan(T x) {
    return x != x;
}
template <class T>
ASC_INLINE bool has_nan(Complex<T> x) {
    return (x.re != x.re) | (x.im != x.im);
}

// Whether `a` comes before a key, which is no NaN, or on the right side, is not after it.
template <bool Right, class T>
ASC_INLINE bool before(T a, T key) {
    return Right ? a <= key : a < key;
}
template <bool Right, class T>
ASC_INLINE bool before(Complex<T> a, Complex<T> key) {
    const bool im = Right ? a.im <= key.im : a.im < key.im;
    return ((a.re < key.re) | ((a.re == key.re) & im)) & !has_nan(a);
}
// The same for any key: NaN is after everything else and equal to itself.
template <bool Right, class T>
ASC_INLINE bool before_any(T a, T key) {
    return has_nan(key) ? Right | !has_nan(a) : before<Right>(a, key);
}

// NaN equals nothing.
template <class T>
ASC_INLINE bool equal(T a, T b) {
    return a == b;
}
template <class T>
ASC_INLINE bool equal(Complex<T> a, Complex<T> b) {
    return (a.re == b.re) & (a.im == b.im);
}

// The first position in [lo, hi) whose element does not come before the key, else hi.
template <bool Right, class T>
int64_t bisect(const T* a, int64_t lo, int64_t hi, T key) {
    while (lo < hi) {
        const int64_t mid = lo + (hi - lo) / 2;
        const bool right = before_any<Right>(comparable(a[mid]), comparable(key));
        lo = right ? mid + 1 : lo;
        hi = right ? hi : mid;
    }
    return lo;
}

// Where the next key of a rising sequence goes, at or after lo: steps that double, then bisection.
template <bool Right, class T>
ASC_INLINE int64_t gallop(const T* a, int64_t lo, int64_t n, T key) {
    int64_t step = 1;
    int64_t hi = lo;
    while (hi < n && before_any<Right>(comparable(a[hi]), comparable(key))) {
        lo = hi + 1;
        hi = lo + step;
        step *= 2;
    }
    return bisect<Right>(a, lo, min64(hi, n), key);
}

// Searches for many keys in step, so that their cache misses overlap.
constexpr int64_t kSearchBatch = 32;

template <bool Right, class T>
void bisect_batch(const T* a, int64_t n, const T* keys, int64_t* out) {
    using C = decltype(comparable(T{}));
    C key[kSearchBatch];
    int64_t at[kSearchBatch] = {};
    bool nan = false;
    for (int64_t j = 0; j < kSearchBatch; ++j) {
        key[j] = comparable(keys[j]);
        nan |= has_nan(key[j]);
    }
    if (nan) {
        for (int64_t j = 0; j < kSearchBatch; ++j) {
            out[j] = bisect<Right>(a, 0, n, keys[j]);
        }
        return;
    }
    for (int64_t left = n; left > 1;) {
        const int64_t half = left / 2;
        const T* middle = a + half - 1;
        // A mask, not a choice: the compiler must not branch on the outcome.
        if constexpr (sizeof(T) < 8) {
            // Scalar code, where elements and positions would not fill vectors of equal length.
#pragma GCC unroll 32
            for (int64_t j = 0; j < kSearchBatch; ++j) {
                int64_t i = at[j];
                asm("" : "+r"(i));
                at[j] = i + (half & -int64_t{before<Right>(comparable(middle[i]), key[j])});
            }
        } else {
            for (int64_t j = 0; j < kSearchBatch; ++j) {
                at[j] += half & -int64_t{before<Right>(comparable(middle[at[j]]), key[j])};
            }
        }
        left -= half;
    }
    for (int64_t j = 0; j < kSearchBatch; ++j) {
        out[j] = at[j] + before<Right>(comparable(a[at[j]]), key[j]);
    }
}

template <bool Right, class T>
void search_side(const T* a, int64_t n, const T* keys, int64_t count, int64_t* out) {
    int64_t i = 0;
    int64_t last = 0;
    for (; n > 0 && i + kSearchBatch <= count; i += kSearchBatch) {
        bool falls = false;
        for (int64_t j = i == 0; j < kSearchBatch; ++j) {
            falls |= before_any<false>(comparable(keys[i + j]), comparable(keys[i + j - 1]));
        }
        if (falls) {
            bisect_batch<Right>(a, n, keys + i, out + i);
            last = out[i + kSearchBatch - 1];
            continue;
        }
        for (int64_t j = 0; j < kSearchBatch; ++j) {
            out[i + j] = last = gallop<Right>(a, last, n, keys[i + j]);
        }
    }
    for (; i < count; ++i) {
        out[i] = bisect<Right>(a, 0, n, keys[i]);
    }
}

template <class T>
void search(const void* sorted, int64_t n, const void* keys, int64_t count, int64_t* out,
            bool right) {
    const auto* a = static_cast<const T*>(sorted);
    const auto* k = static_cast<const T*>(keys);
    right ? search_side<true>(a, n, k, count, out) : search_side<false>(a, n, k, count, out);
}

// Sets of up to this size are compared with one by one.
constexpr int64_t kSmallSet = 12;
constexpr int64_t kMemberBlock = 256;

template <class T>
void member_small(const T* set, int64_t n, const T* keys, int64_t count, uint8_t* found) {
    using C = decltype(comparable(T{}));
    C key[kMemberBlock];
    typename IntOf<sizeof(C)>::type any[kMemberBlock] = {};
    for (int64_t j = 0; j < count; ++j) {
        key[j] = comparable(keys[j]);
    }
    for (int64_t i = 0; i < n; ++i) {
        const C x = comparable(set[i]);
        for (int64_t j = 0; j < count; ++j) {
            any[j] |= key[j] == x;
        }
    }
    for (int64_t j = 0; j < count; ++j) {
        found[j] = static_cast<uint8_t>(any[j]);
    }
}

// found[i] = keys[i] is in sorted[0..n); NaN is in nothing.
template <class T>
void member(const void* sorted, int64_t n, const void* keys, int64_t count, uint8_t* found) {
    const auto* a = static_cast<const T*>(sorted);
    const auto* k = static_cast<const T*>(keys);
    int64_t at[kMemberBlock];
    for (int64_t i = 0; i < count; i += kMemberBlock) {
        const int64_t m = min64(kMemberBlock, count - i);
        if constexpr (!kIsComplex<T>) {
            if (n <= kSmallSet) {
                member_small(a, n, k + i, m, found + i);
                continue;
            }
        }
        search_side<false>(a, n, k + i, m, at);
        for (int64_t j = 0; j < m; ++j) {
            found[i + j] = at[j] < n && equal(comparable(a[at[j]]), comparable(k[i + j]));
        }
    }
}

// ---------------------------------------------------------------- runs of equals

// Where the runs of a whole array are written, element by element or a block at once.
template <class T>
struct Runs {
    T* values;
    int64_t* starts;  // may be null
    int64_t count = 0;

    // Slot `count` is written until an element comes that is new, and so kept.
    ASC_INLINE void add(T x, int64_t i, bool is_new) {
        values[count] = x;
        if (starts) {
            starts[count] = i;
        }
        count += is_new;
    }
    void add_all(const T* x, int64_t i, int64_t n) {
        memmove(values + count, x, static_cast<size_t>(n) * sizeof(T));
        for (int64_t j = 0; starts && j < n; ++j) {
            starts[count + j] = i + j;
        }
        count += n;
    }
};

template <class T>
int64_t distinct(void* values, int64_t* starts, const void* sorted, int64_t n) {
    constexpr int64_t kBlock = 64;
    const auto* a = static_cast<const T*>(sorted);
    Runs<T> runs{static_cast<T*>(values), starts};
    if (n > 0) {
        runs.add(a[0], 0, true);
    }
    for (int64_t i = 1; i < n; i += kBlock) {
        const int64_t m = min64(kBlock, n - i);
        int64_t repeated = 0;
        for (int64_t j = i; j < i + m; ++j) {
            repeated += equal(comparable(a[j]), comparable(a[j - 1]));
        }
        if (repeated == 0) {
            runs.add_all(a + i, i, m);
        } else if (repeated < m) {
            T last = a[i - 1];
            for (int64_t j = i; j < i + m; ++j) {
                const T x = a[j];
                runs.add(x, j, !equal(comparable(x), comparable(last)));
                last = x;
            }
        }
    }
    return runs.count;
}

// ---------------------------------------------------------------- extremes

template <class T>
constexpr int64_t kExtremeBlock = 8192 / sizeof(T);

template <class T>
struct ExtremeVec {
#if defined(__AVX512BW__)
    static constexpr int kBytes = 64;
#elif defined(__AVX2__)
    static constexpr int kBytes = 32;
#else
    static constexpr int kBytes = 16;
#endif
    typedef T type __attribute__((vector_size(kBytes)));
    static constexpr int64_t kLanes = kBytes / sizeof(T);
    static ASC_INLINE type load(const T* p) {
        type v;
        __builtin_memcpy(&v, p, sizeof v);
        return v;
    }
};

template <bool Max, class V>
ASC_INLINE V better(V x, V best) {
    return Max ? (x > best ? x : best) : (x < best ? x : best);
}

// The extreme of a block; returns whether a NaN is in it.
template <bool Max, class T>
bool block_extreme(const T* a, int64_t n, T* extreme) {
    using E = ExtremeVec<T>;
    using V = typename E::type;
    constexpr int64_t L = E::kLanes;
    T best = a[0];
    bool nan = false;
    int64_t i = 0;
    if (n >= 4 * L) {
        V acc[4];
        for (int j = 0; j < 4; ++j) {
            acc[j] = E::load(a + j * L);
        }
        auto nans = acc[0] != acc[0];
        for (int j = 1; j < 4; ++j) {
            nans |= acc[j] != acc[j];
        }
        for (i = 4 * L; i + 4 * L <= n; i += 4 * L) {
            for (int j = 0; j < 4; ++j) {
                const V x = E::load(a + i + j * L);
                acc[j] = better<Max>(x, acc[j]);
                nans |= x != x;
            }
        }
        acc[0] = better<Max>(better<Max>(acc[0], acc[1]), better<Max>(acc[2], acc[3]));
        for (int j = 0; j < L; ++j) {
            best = better<Max>(acc[0][j], best);
            nan |= nans[j] != 0;
        }
    }
    for (; i < n; ++i) {
        best = better<Max>(a[i], best);
        nan |= a[i] != a[i];
    }
    *extreme = best;
    return nan;
}

// Some lane of a comparison's result is set.
template <class V>
ASC_INLINE bool any_lane(V mask) {
#if defined(__AVX512BW__)
    return _mm512_test_epi64_mask((__m512i)mask, (__m512i)mask) != 0;
#else
    uint64_t word[sizeof(V) / 8];
    __builtin_memcpy(word, &mask, sizeof mask);
    uint64_t all = 0;
    for (uint64_t w : word) {
        all |= w;
    }
    return all != 0;
#endif
}

// The first i for which a[i] is x (Nan: a[i] is a NaN); there is one.
template <bool Nan, class T>
int64_t find_first(const T* a, int64_t n, T x) {
    using E = ExtremeVec<T>;
    constexpr int64_t L = E::kLanes;
    const typename E::type wanted = typename E::type{} + x;
    int64_t i = 0;
    for (; i + 2 * L <= n; i += 2 * L) {
        const auto v = E::load(a + i);
        const auto w = E::load(a + i + L);
        if (any_lane(Nan ? (v != v) | (w != w) : (v == wanted) | (w == wanted))) {
            break;
        }
    }
    while (Nan ? a[i] == a[i] : a[i] != x) {
        ++i;
    }
    return i;
}

template <bool Max, class T>
int64_t arg_extreme_native(const T* a, int64_t n) {
    T best = a[0];
    int64_t at = 0;
    for (int64_t b = 0; b < n; b += kExtremeBlock<T>) {
        const int64_t m = min64(kExtremeBlock<T>, n - b);
        T x;
        if (block_extreme<Max>(a + b, m, &x)) {
            return b + find_first<true>(a + b, m, x);
        }
        if (Max ? x > best : x < best) {
            best = x;
            at = b;
        }
    }
    return at + find_first<false>(a + at, n - at, best);
}

// Narrow floats as integers whose largest is wanted.
template <bool Max, class T>
int64_t arg_extreme_narrow(const T* a, int64_t n) {
    using O = Order<T>;
    int16_t keys[kExtremeBlock<T>];
    int16_t best = 0;
    int64_t at = -1;
    for (int64_t b = 0; b < n; b += kExtremeBlock<T>) {
        const int64_t m = min64(kExtremeBlock<T>, n - b);
        for (int64_t i = 0; i < m; ++i) {
            const int16_t rank = O::rank(static_cast<int16_t>(a[b + i].bits));
            keys[i] = Max || rank == O::kNan ? rank : static_cast<int16_t>(-rank);
        }
        int16_t x;
        block_extreme<true>(keys, m, &x);
        if (at < 0 || x > best) {
            best = x;
            at = b + find_first<false>(keys, m, x);
        }
    }
    return at;
}

template <bool Max, class T>
int64_t arg_extreme(const void* src, int64_t n) {
    const auto* a = static_cast<const T*>(src);
    if constexpr (kIsFloat<T> && sizeof(T) == 2) {
        return arg_extreme_narrow<Max>(a, n);
    } else {
        return arg_extreme_native<Max>(a, n);
    }
}

// An element as an integer whose largest is wanted; every NaN comes before all else.
template <bool Max, class T>
ASC_INLINE typename Order<T>::K extreme_key(const T* x) {
    using O = Order<T>;
    typename O::K bits;
    __builtin_memcpy(&bits, x, sizeof bits);
    const auto rank = O::rank(bits);
    return Max || (O::kFloat && rank == O::kNan) ? rank : static_cast<typename O::K>(~rank);
}

// A row at a time, so that memory is read in its order.
template <bool Max, class T>
void arg_extreme_columns(const void* src, int64_t pitch, int64_t rows, int64_t cols, int64_t* out) {
    using K = typename Order<T>::K;
    using Row = typename IntOf<sizeof(T)>::wide;
    constexpr int64_t kColumns = 256;
    K best[kColumns];
    Row at[kColumns];
    for (int64_t first = 0; first < cols; first += kColumns) {
        const auto* a = static_cast<const T*>(src) + first;
        const int64_t n = min64(kColumns, cols - first);
        for (int64_t j = 0; j < n; ++j) {
            best[j] = extreme_key<Max>(a + j);
            at[j] = 0;
        }
        for (Row r = 1; r < static_cast<Row>(rows); ++r) {
            a += pitch;
            for (int64_t j = 0; j < n; ++j) {
                const K key = extreme_key<Max>(a + j);
                at[j] = key > best[j] ? r : at[j];
                best[j] = key > best[j] ? key : best[j];
            }
        }
        for (int64_t j = 0; j < n; ++j) {
            out[first + j] = at[j];
        }
    }
}

// A vector of one line's C adjacent elements, then those of the lines C, 2 * C, ... further on.
template <int C, int N, class T>
ASC_INLINE auto load_lines(const T* a, int64_t pitch) {
    typedef T V __attribute__((vector_size(N * sizeof(T))));
    if constexpr (N == C) {
        V v;
        __builtin_memcpy(&v, a, sizeof v);
        return v;
    } else {
        const auto low = load_lines<C, N / 2>(a, pitch);
        const auto high = load_lines<C, N / 2>(a + N / 2 * pitch, pitch);
        return [&]<int... I>(std::integer_sequence<int, I...>) -> V {
            return __builtin_shufflevector(low, high, I...);
        }(std::make_integer_sequence<int, N>{});
    }
}

// Lines in lanes: as many as a vector has, C <= n elements of each at a time.
template <bool Max, int C, class T>
ASC_INLINE void arg_extreme_lanes(const T* a, int64_t pitch, int64_t n, int64_t* out) {
    using E = ExtremeVec<T>;
    using V = typename E::type;
    constexpr int W = static_cast<int>(E::kLanes);
    typedef typename IntOf<sizeof(T)>::wide Place;
    typedef Place Places __attribute__((vector_size(E::kBytes)));
    V best = {};
    Places at = {};
    // The last elements may be seen twice: they are not better than themselves.
    for (int64_t first = 0, left = n; left > 0; left -= C, first += left < C ? left : C) {
        V x[C];
#pragma GCC unroll 16
        for (int i = 0; i < C; ++i) x[i] = load_lines<C, W>(a + i * pitch + first, pitch);
        transpose_lanes<C, W>(x);
        if (first == 0) best = x[0];
#pragma GCC unroll 16
        for (int j = 0; j < C; ++j) {
            const Places place = Places{} + static_cast<Place>(first + j);
            Places better = Max ? x[j] > best : x[j] < best;
            // NaN is better than all but NaN.
            if constexpr (kIsFloat<T>)
                better = ~(Max ? x[j] <= best : x[j] >= best) & (best == best);
            best = better ? x[j] : best;
            at = better ? place : at;
        }
    }
    typedef int64_t Wide __attribute__((vector_size(W * sizeof(int64_t))));
    const Wide wide = __builtin_convertvector(at, Wide);
    __builtin_memcpy(out, &wide, sizeof wide);
}

template <bool Max, int C, class T>
void arg_extreme_rows(const T* a, int64_t pitch, int64_t count, int64_t n, int64_t* out) {
    constexpr int64_t W = ExtremeVec<T>::kLanes;
    int64_t i = 0;
    for (; i + W <= count; i += W) arg_extreme_lanes<Max, C>(a + i * pitch, pitch, n, out + i);
    for (; i < count; ++i) out[i] = arg_extreme_native<Max>(a + i * pitch, n);
}
template <bool Max, class T>
void arg_extreme_rows(const void* src, int64_t pitch, int64_t count, int64_t n, int64_t* out) {
    constexpr int64_t W = ExtremeVec<T>::kLanes;
    const auto* a = static_cast<const T*>(src);
    if constexpr (W >= 8)
        if (n >= 8) return arg_extreme_rows<Max, 8>(a, pitch, count, n, out);
    if constexpr (W >= 4)
        if (n >= 4) return arg_extreme_rows<Max, 4>(a, pitch, count, n, out);
    arg_extreme_rows<Max, 2>(a, pitch, count, n, out);
}

// ---------------------------------------------------------------- true bits

// Byte k of entry b: the position of the k-th set bit of b.
struct BitTable {
    uint64_t row[256];
    constexpr BitTable() : row{} {
        for (unsigned b = 0; b < 256; ++b) {
            int at = 0;
            for (uint64_t bit = 0; bit < 8; ++bit) {
                if (b >> bit & 1) {
                    row[b] |= bit << (8 * at++);
                }
            }
        }
    }
};
constexpr BitTable kBitTable;

// Positions of the bits of a word of at most 56; `room` counts the entries of out that are left.
ASC_INLINE int64_t word_positions(int64_t* out, int64_t room, uint64_t word, int64_t base) {
    if (word == 0) {
        return 0;
    }
    int64_t count = 0;
    if (room < 64) {
        for (; word; word &= word - 1) {
            out[count++] = base + __builtin_ctzll(word);
        }
        return count;
    }
    for (; word; word >>= 8, base += 8) {
        const uint64_t row = kBitTable.row[word & 255];
        for (int k = 0; k < 8; ++k) {
            out[count + k] = base + static_cast<int64_t>(row >> (8 * k) & 255);
        }
        count += __builtin_popcount(word & 255);
    }
    return count;
}

void positions(int64_t* out, int64_t count, const uint8_t* src, int64_t src_bit, int64_t n,
               int64_t base) {
    constexpr int64_t kWord = 56;  // what an unaligned load of 8 bytes holds at any shift
    int64_t done = 0;
    for (int64_t i = 0; i < n && done < count; i += kWord) {
        const int64_t m = min64(kWord, n - i);
        const int64_t at = src_bit + i;
        const auto bytes = static_cast<size_t>(((at & 7) + m + 7) / 8);
        uint64_t word = 0;
        if (m == kWord && n - i >= 64) {
            memcpy(&word, src + (at >> 3), 8);
        } else {
            memcpy(&word, src + (at >> 3), bytes);
        }
        word = word >> (at & 7) & ((uint64_t{1} << m) - 1);
        done += word_positions(out + done, count - done, word, base + i);
    }
}

template <class T>
struct Fill {
    static void set(KernelTable& t, int d) {
        t.search[d] = search<T>;
        t.member[d] = member<T>;
        t.distinct[d] = distinct<T>;
        t.arg_extreme_rows[0][d] = t.arg_extreme_rows[1][d] = nullptr;
        if constexpr (!kIsComplex<T> && sizeof(T) >= 4) {
            t.arg_extreme_rows[0][d] = arg_extreme_rows<false, T>;
            t.arg_extreme_rows[1][d] = arg_extreme_rows<true, T>;
        }
        if constexpr (kIsComplex<T>) {
            t.arg_extreme[0][d] = t.arg_extreme[1][d] = nullptr;
            t.arg_extreme_columns[0][d] = t.arg_extreme_columns[1][d] = nullptr;
        } else {
            t.arg_extreme[0][d] = arg_extreme<false, T>;
            t.arg_extreme[1][d] = arg_extreme<true, T>;
            t.arg_extreme_columns[0][d] = arg_extreme_columns<false, T>;
            t.arg_extreme_columns[1][d] = arg_extreme_columns<true, T>;
        }
    }
};
template <>
struct Fill<bool> : Fill<uint8_t> {};

}  // namespace

void fill_search(KernelTable& t) {
#define X(name, type, py, kind, bits) Fill<type>::set(t, static_cast<int>(DType::name));
    ASC_FOR_EACH_DTYPE(X)
#undef X
    t.positions = positions;
}

}  // namespace asc::cpu::ASC_ISA
