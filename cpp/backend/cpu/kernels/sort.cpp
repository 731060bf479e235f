// Sorting and searching.
//
// Every sort ends in one engine: a quicksort of signed integers that splits with vector compress
// (lows to one buffer, highs to the other, no branch depends on a key) and finishes runs of a few
// vectors in a sorting network. Floats are mapped to integers of the same order. Argsort packs
// (key, index) into one integer, which makes it stable, and drops low key bits where both do not
// fit; the few ties this makes are sorted again by the whole key.
#include <stdint.h>
#include <string.h>

#include "backend/cpu/kernels/table.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#define ASC_INLINE inline __attribute__((always_inline))

namespace asc::cpu::ASC_ISA {
namespace {

constexpr int64_t kParallelMin = 1 << 15;  // below this a second thread costs more than it gives
constexpr int kMaxSplitters = 64;          // chunks and buckets of one parallel split
constexpr int64_t kBins16 = 1 << 16;

ASC_INLINE int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
ASC_INLINE int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }
ASC_INLINE int bit_length(uint64_t x) { return x ? 64 - __builtin_clzll(x) : 0; }

// Runs f(begin, end) over `count` equal chunks of [0, n), on the worker threads when count > 1.
template <class F>
void for_chunks(const Parallel& par, int64_t n, int64_t count, F f) {
    if (count <= 1) {
        f(int64_t{0}, int64_t{0}, n);
        return;
    }
    struct Ctx {
        F* f;
        int64_t n, count;
    } ctx{&f, n, count};
    par.run(
        count,
        [](void* p, int64_t i) {
            auto* c = static_cast<Ctx*>(p);
            const int64_t size = (c->n + c->count - 1) / c->count;
            const int64_t begin = min64(i * size, c->n);
            (*c->f)(i, begin, min64(begin + size, c->n));
        },
        &ctx);
}

int64_t chunk_count(const Parallel& par, int64_t n) {
    return n < kParallelMin ? 1 : min64(par.threads, kMaxSplitters);
}

// ---------------------------------------------------------------- vectors of integers

#if defined(__AVX512F__)
constexpr int kVecBytes = 64;
#elif defined(__AVX2__)
constexpr int kVecBytes = 32;
#else
constexpr int kVecBytes = 16;
#endif

template <class K>
struct VecOf {
    typedef K type __attribute__((vector_size(kVecBytes)));
};
template <class K>
using Vec = typename VecOf<K>::type;
template <class K>
constexpr int kLanes = kVecBytes / static_cast<int>(sizeof(K));
template <class K>
constexpr K kMaxKey = static_cast<K>((uint64_t{1} << (8 * sizeof(K) - 1)) - 1);

template <class K>
ASC_INLINE Vec<K> load(const K* p) {
    Vec<K> v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
}
template <class K>
ASC_INLINE void store(K* p, Vec<K> v) {
    __builtin_memcpy(p, &v, sizeof v);
}

#if defined(__AVX512F__)
ASC_INLINE Vec<int32_t> vmin(Vec<int32_t> a, Vec<int32_t> b) {
    return (Vec<int32_t>)_mm512_min_epi32((__m512i)a, (__m512i)b);
}
ASC_INLINE Vec<int32_t> vmax(Vec<int32_t> a, Vec<int32_t> b) {
    return (Vec<int32_t>)_mm512_max_epi32((__m512i)a, (__m512i)b);
}
ASC_INLINE Vec<int64_t> vmin(Vec<int64_t> a, Vec<int64_t> b) {
    return (Vec<int64_t>)_mm512_min_epi64((__m512i)a, (__m512i)b);
}
ASC_INLINE Vec<int64_t> vmax(Vec<int64_t> a, Vec<int64_t> b) {
    return (Vec<int64_t>)_mm512_max_epi64((__m512i)a, (__m512i)b);
}
#else
template <class V>
ASC_INLINE V vmin(V a, V b) {
    return a < b ? a : b;
}
template <class V>
ASC_INLINE V vmax(V a, V b) {
    return a < b ? b : a;
}
#endif

// Lane i takes a[i ^ X].
template <int X, class V>
ASC_INLINE V lane_xor(V a) {
    constexpr int n = sizeof(V) / sizeof(a[0]);
    if constexpr (n == 2) {
        return __builtin_shufflevector(a, a, 0 ^ X, 1 ^ X);
    } else if constexpr (n == 4) {
        return __builtin_shufflevector(a, a, 0 ^ X, 1 ^ X, 2 ^ X, 3 ^ X);
    } else if constexpr (n == 8) {
        return __builtin_shufflevector(a, a, 0 ^ X, 1 ^ X, 2 ^ X, 3 ^ X, 4 ^ X, 5 ^ X, 6 ^ X,
                                       7 ^ X);
    } else {
        return __builtin_shufflevector(a, a, 0 ^ X, 1 ^ X, 2 ^ X, 3 ^ X, 4 ^ X, 5 ^ X, 6 ^ X,
                                       7 ^ X, 8 ^ X, 9 ^ X, 10 ^ X, 11 ^ X, 12 ^ X, 13 ^ X,
                                       14 ^ X, 15 ^ X);
    }
}

// Lane i takes a[i] where (i & H) == 0, else b[i].
template <int H, class V>
ASC_INLINE V lane_blend(V a, V b) {
    constexpr int n = sizeof(V) / sizeof(a[0]);
#define ASC_PICK(i) ((i) & H ? (i) + n : (i))
    if constexpr (n == 2) {
        return __builtin_shufflevector(a, b, ASC_PICK(0), ASC_PICK(1));
    } else if constexpr (n == 4) {
        return __builtin_shufflevector(a, b, ASC_PICK(0), ASC_PICK(1), ASC_PICK(2), ASC_PICK(3));
    } else if constexpr (n == 8) {
        return __builtin_shufflevector(a, b, ASC_PICK(0), ASC_PICK(1), ASC_PICK(2), ASC_PICK(3),
                                       ASC_PICK(4), ASC_PICK(5), ASC_PICK(6), ASC_PICK(7));
    } else {
        return __builtin_shufflevector(a, b, ASC_PICK(0), ASC_PICK(1), ASC_PICK(2), ASC_PICK(3),
                                       ASC_PICK(4), ASC_PICK(5), ASC_PICK(6), ASC_PICK(7),
                                       ASC_PICK(8), ASC_PICK(9), ASC_PICK(10), ASC_PICK(11),
                                       ASC_PICK(12), ASC_PICK(13), ASC_PICK(14), ASC_PICK(15));
    }
#undef ASC_PICK
}

// a[B], b[B], a[B + 1], b[B + 1], ...
template <int B, class V>
ASC_INLINE V interleave(V a, V b) {
    constexpr int n = sizeof(V) / sizeof(a[0]);
    if constexpr (n == 2) {
        return __builtin_shufflevector(a, b, B, B + n);
    } else if constexpr (n == 4) {
        return __builtin_shufflevector(a, b, B, B + n, B + 1, B + 1 + n);
    } else if constexpr (n == 8) {
        return __builtin_shufflevector(a, b, B, B + n, B + 1, B + 1 + n, B + 2, B + 2 + n, B + 3,
                                       B + 3 + n);
    } else {
        return __builtin_shufflevector(a, b, B, B + n, B + 1, B + 1 + n, B + 2, B + 2 + n, B + 3,
                                       B + 3 + n, B + 4, B + 4 + n, B + 5, B + 5 + n, B + 6,
                                       B + 6 + n, B + 7, B + 7 + n);
    }
}

// ---------------------------------------------------------------- sorting networks
//
// R vectors are a matrix whose columns are sorted first (no shuffle needed), then merged pairwise:
// after the step of width H, every 2 * H columns, read one after the other, are sorted.

template <class V>
ASC_INLINE void exchange(V& a, V& b) {
    const V lo = vmin(a, b);
    b = vmax(a, b);
    a = lo;
}

// Batcher's odd-even merge of two sorted halves of N rows, S apart.
template <int N, int S, class V>
ASC_INLINE void merge_rows(V* r) {
    if constexpr (2 * S < N) {
        merge_rows<N, 2 * S>(r);
        merge_rows<N, 2 * S>(r + S);
#pragma GCC unroll 16
        for (int i = S; i + S < N; i += 2 * S) {
            exchange(r[i], r[i + S]);
        }
    } else {
        exchange(r[0], r[S]);
    }
}

template <int N, class V>
ASC_INLINE void sort_rows(V* r) {
    if constexpr (N > 1) {
        sort_rows<N / 2>(r);
        sort_rows<N / 2>(r + N / 2);
        merge_rows<N, 1>(r);
    }
}

// Sorts bitonic columns.
template <int N, class V>
ASC_INLINE void clean_rows(V* r) {
    if constexpr (N > 1) {
#pragma GCC unroll 16
        for (int i = 0; i < N / 2; ++i) {
            exchange(r[i], r[i + N / 2]);
        }
        clean_rows<N / 2>(r);
        clean_rows<N / 2>(r + N / 2);
    }
}

template <int R, int H, class V>
ASC_INLINE void clean_lanes(V* r) {
    if constexpr (H > 0) {
#pragma GCC unroll 16
        for (int i = 0; i < R; ++i) {
            const V other = lane_xor<H>(r[i]);
            r[i] = lane_blend<H>(vmin(r[i], other), vmax(r[i], other));
        }
        clean_lanes<R, H / 2>(r);
    }
}

template <int R, int H, class V>
ASC_INLINE void merge_columns(V* r) {
    constexpr int n = sizeof(V) / sizeof(r[0][0]);
    if constexpr (H < n) {
        constexpr int mirror = 2 * H - 1;
        if constexpr (R == 1) {
            const V other = lane_xor<mirror>(r[0]);
            r[0] = lane_blend<H>(vmin(r[0], other), vmax(r[0], other));
        } else {
#pragma GCC unroll 16
            for (int i = 0; i < R / 2; ++i) {
                const V other = lane_xor<mirror>(r[R - 1 - i]);
                const V lo = vmin(r[i], other);
                const V hi = vmax(r[i], other);
                r[i] = lane_blend<H>(lo, hi);
                r[R - 1 - i] = lane_xor<mirror>(lane_blend<H>(hi, lo));
            }
        }
        clean_lanes<R, H / 2>(r);
        clean_rows<R>(r);
        merge_columns<R, 2 * H>(r);
    }
}

// Column by column to row by row: each pass moves one bit of the row number below the lane number.
template <int R, int Passes, class V>
ASC_INLINE void columns_to_rows(V* r) {
    if constexpr (Passes > 1) {
        constexpr int n = sizeof(V) / sizeof(r[0][0]);
        V t[R];
#pragma GCC unroll 16
        for (int i = 0; i < R / 2; ++i) {
            t[2 * i] = interleave<0>(r[i], r[i + R / 2]);
            t[2 * i + 1] = interleave<n / 2>(r[i], r[i + R / 2]);
        }
#pragma GCC unroll 16
        for (int i = 0; i < R; ++i) {
            r[i] = t[i];
        }
        columns_to_rows<R, Passes / 2>(r);
    }
}

// Sorts R * kLanes<K> keys.
template <int R, class K>
__attribute__((noinline)) void network(const K* src, K* dst) {
    Vec<K> r[R];
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
        r[i] = load(src + i * kLanes<K>);
    }
    sort_rows<R>(r);
    merge_columns<R, 1>(r);
    columns_to_rows<R, R>(r);
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
        store(dst + i * kLanes<K>, r[i]);
    }
}

template <class K>
constexpr int64_t kNetworkMax = 16 * kLanes<K>;

// dst[0..n) = sorted src[0..n), n <= kNetworkMax; the two may be the same.
template <class K>
void sort_network(const K* src, K* dst, int64_t n) {
    constexpr int64_t L = kLanes<K>;
    alignas(64) K pad[kNetworkMax<K>];
    const int rows = n <= L ? 1 : n <= 2 * L ? 2 : n <= 4 * L ? 4 : n <= 8 * L ? 8 : 16;
    const bool full = n == rows * L;
    if (!full) {
        const Vec<K> top = Vec<K>{} + kMaxKey<K>;
        for (int64_t i = n / L; i < rows; ++i) {
            store(pad + i * L, top);
        }
        memcpy(pad, src, static_cast<size_t>(n) * sizeof(K));
    }
    const K* in = full ? src : pad;
    K* out = full ? dst : pad;
    switch (rows) {
        case 1:
            network<1>(in, out);
            break;
        case 2:
            network<2>(in, out);
            break;
        case 4:
            network<4>(in, out);
            break;
        case 8:
            network<8>(in, out);
            break;
        default:
            network<16>(in, out);
    }
    if (!full) {
        memcpy(dst, pad, static_cast<size_t>(n) * sizeof(K));
    }
}

// ---------------------------------------------------------------- partition

#if defined(__AVX512F__)
ASC_INLINE unsigned below(Vec<int32_t> v, Vec<int32_t> p) {
    return _mm512_cmplt_epi32_mask((__m512i)v, (__m512i)p);
}
ASC_INLINE unsigned below(Vec<int64_t> v, Vec<int64_t> p) {
    return _mm512_cmplt_epi64_mask((__m512i)v, (__m512i)p);
}
// A zero the compiler cannot see through: the zeroing form of compress waits for the old value of
// its destination on Zen 5, the merging form with a fresh register does not.
ASC_INLINE __m512i fresh_zero() {
    __m512i zero = _mm512_setzero_si512();
    asm("" : "+v"(zero));
    return zero;
}
ASC_INLINE Vec<int32_t> compress(Vec<int32_t> v, unsigned m) {
    return (Vec<int32_t>)_mm512_mask_compress_epi32(fresh_zero(), static_cast<__mmask16>(m),
                                                    (__m512i)v);
}
ASC_INLINE Vec<int64_t> compress(Vec<int64_t> v, unsigned m) {
    return (Vec<int64_t>)_mm512_mask_compress_epi64(fresh_zero(), static_cast<__mmask8>(m),
                                                    (__m512i)v);
}
#elif defined(__AVX2__)
// Byte j of entry m: the 32-bit lane that comes j-th when the lanes of mask m move to the front.
struct CompressTable {
    uint64_t row[256];
    constexpr CompressTable() : row{} {
        for (unsigned m = 0; m < 256; ++m) {
            int at = 0;
            for (uint64_t lane = 0; lane < 8; ++lane) {
                if (m >> lane & 1) {
                    row[m] |= lane << (8 * at++);
                }
            }
        }
    }
};
constexpr CompressTable kCompress;

ASC_INLINE unsigned below(Vec<int32_t> v, Vec<int32_t> p) {
    return static_cast<unsigned>(_mm256_movemask_ps((__m256)(v < p)));
}
ASC_INLINE unsigned below(Vec<int64_t> v, Vec<int64_t> p) {
    return static_cast<unsigned>(_mm256_movemask_pd((__m256d)(v < p)));
}
ASC_INLINE __m256i compress_lanes32(__m256i v, unsigned m) {
    const __m128i bytes = _mm_cvtsi64_si128(static_cast<long long>(kCompress.row[m & 255]));
    return _mm256_permutevar8x32_epi32(v, _mm256_cvtepu8_epi32(bytes));
}
ASC_INLINE Vec<int32_t> compress(Vec<int32_t> v, unsigned m) {
    return (Vec<int32_t>)compress_lanes32((__m256i)v, m);
}
ASC_INLINE Vec<int64_t> compress(Vec<int64_t> v, unsigned m) {
    const unsigned spread = (m & 1) * 3 | (m & 2) * 6 | (m & 4) * 12 | (m & 8) * 24;
    return (Vec<int64_t>)compress_lanes32((__m256i)v, spread);
}
#endif

// Keys below the pivot go to lo, the others to hi, both in order; returns how many are below.
// src may be lo or hi: neither ever runs ahead of the reader.
template <class K>
int64_t partition(const K* src, K* lo, K* hi, int64_t n, K pivot) {
    int64_t i = 0;
    int64_t l = 0;
#if defined(__AVX2__)
    constexpr int L = kLanes<K>;
    const Vec<K> p = Vec<K>{} + pivot;
#pragma GCC unroll 4
    for (; i + L <= n; i += L) {
        const Vec<K> v = load(src + i);
        const unsigned m = below(v, p);
        store(lo + l, compress(v, m));
        store(hi + (i - l), compress(v, ~m));
        l += __builtin_popcount(m);
    }
#endif
    for (; i < n; ++i) {
        const K x = src[i];
        lo[l] = x;
        hi[i - l] = x;
        l += x < pivot;
    }
    return l;
}

#if defined(__AVX512F__)
ASC_INLINE void store_first(int32_t* p, Vec<int32_t> v, int n) {
    _mm512_mask_storeu_epi32(p, static_cast<__mmask16>((1u << n) - 1), (__m512i)v);
}
ASC_INLINE void store_first(int64_t* p, Vec<int64_t> v, int n) {
    _mm512_mask_storeu_epi64(p, static_cast<__mmask8>((1u << n) - 1), (__m512i)v);
}

// From this size on, two buffers would not stay in L2: blocks are read from the end of the array
// that has less room to write to. Keys below the pivot come first; returns how many there are.
constexpr int64_t kInPlaceBytes = 1 << 17;

template <class K>
int64_t partition_in_place(K* a, int64_t n, K pivot) {
    constexpr int L = kLanes<K>;
    constexpr int kVectors = 16;
    constexpr int64_t B = kVectors * L;
    const int64_t rest = n % B;
    alignas(64) K edge[3 * B];
    alignas(64) K edge_high[3 * B];
    const int64_t edges = 2 * B + rest;
    memcpy(edge, a, static_cast<size_t>(B + rest) * sizeof(K));
    memcpy(edge + B + rest, a + n - B, B * sizeof(K));
    int64_t left = B + rest;
    int64_t right = n - B;
    int64_t lo = 0;
    int64_t hi = n;
    const Vec<K> p = Vec<K>{} + pivot;
    while (left < right) {
        const int64_t from_left = -static_cast<int64_t>(left - lo <= hi - right);
        const K* src = a + ((left & from_left) | ((right - B) & ~from_left));
        left += B & from_left;
        right -= B & ~from_left;
        Vec<K> v[kVectors];
        unsigned m[kVectors];
        int64_t highs = B;
#pragma GCC unroll 16
        for (int i = 0; i < kVectors; ++i) {
            v[i] = load(src + i * L);
            m[i] = below(v[i], p);
            highs -= __builtin_popcount(m[i]);
        }
        K* low = a + lo;
        K* high = a + (hi - highs);
        lo += B - highs;
        hi -= highs;
#pragma GCC unroll 16
        for (int i = 0; i < kVectors; ++i) {
            const int lows = __builtin_popcount(m[i]);
            store(low, compress(v[i], m[i]));
            store_first(high, compress(v[i], ~m[i]), L - lows);
            low += lows;
            high += L - lows;
        }
    }
    const int64_t lows = partition(edge, a + lo, edge_high, edges, pivot);
    memcpy(a + lo + lows, edge_high, static_cast<size_t>(edges - lows) * sizeof(K));
    return lo + lows;
}
#endif

// ---------------------------------------------------------------- quicksort

template <class K>
void sift_down(K* a, int64_t root, int64_t n) {
    const K x = a[root];
    for (int64_t child; (child = 2 * root + 1) < n; root = child) {
        child += child + 1 < n && a[child] < a[child + 1];
        if (a[child] <= x) {
            break;
        }
        a[root] = a[child];
    }
    a[root] = x;
}

// For inputs that defeat the choice of pivots.
template <class K>
void heap_sort(K* a, int64_t n) {
    for (int64_t i = n / 2; i-- > 0;) {
        sift_down(a, i, n);
    }
    for (int64_t i = n; i-- > 1;) {
        const K top = a[0];
        a[0] = a[i];
        a[i] = top;
        sift_down(a, 0, i);
    }
}

// Draws `count` keys, one at random from each of `count` equal parts.
template <class K>
void draw_sample(const K* src, int64_t n, K* sample, int64_t count) {
    const uint64_t step = static_cast<uint64_t>(n / count);
    uint64_t state = static_cast<uint64_t>(n);
    for (int64_t i = 0; i < count; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const uint64_t jitter = static_cast<uint64_t>(
            static_cast<unsigned __int128>(state) * step >> 64);
        sample[i] = src[static_cast<uint64_t>(i) * step + jitter];
    }
}

template <class K>
K choose_pivot(const K* src, int64_t n) {
    constexpr int64_t L = kLanes<K>;
    alignas(64) K sample[8 * L];
    const int64_t count = n < 512     ? L
                          : n < 2048  ? 2 * L
                          : n < 16384 ? 4 * L
                                      : 8 * L;
    draw_sample(src, n, sample, count);
    sort_network(sample, sample, count);
    return sample[count / 2];
}

// Sorts n keys, which lie in s if `in_s`, else in a, into a; s is overwritten.
template <class K>
void quick_sort(K* a, K* s, int64_t n, bool in_s, int depth) {
    while (n > kNetworkMax<K>) {
        K* src = in_s ? s : a;
        if (depth-- == 0) {
            if (in_s) {
                memcpy(a, s, static_cast<size_t>(n) * sizeof(K));
            }
            heap_sort(a, n);
            return;
        }
        const K pivot = choose_pivot<K>(src, n);
#if defined(__AVX512F__)
        if (n * static_cast<int64_t>(sizeof(K)) >= kInPlaceBytes) {
            const int64_t lows = partition_in_place(src, n, pivot);
            if (lows > 0) {
                quick_sort(a + lows, s + lows, n - lows, in_s, depth);
                n = lows;
                continue;
            }
        }
#endif
        const int64_t lows = partition(src, a, s, n, pivot);
        if (lows == 0) {  // the pivot is the least key: put its equals aside
            const int64_t equals =
                pivot == kMaxKey<K> ? n : partition<K>(s, a, s, n, static_cast<K>(pivot + 1));
            if (equals == n) {
                for (int64_t i = 0; i < n; ++i) {
                    a[i] = pivot;
                }
                return;
            }
            a += equals;
            n -= equals;
            in_s = true;
            continue;
        }
        quick_sort(a + lows, s, n - lows, true, depth);
        n = lows;
        in_s = false;
    }
    if (n > 0) {
        sort_network(in_s ? s : a, a, n);
    }
}

template <class K>
void quick_sort(K* a, K* s, int64_t n, bool in_s) {
    quick_sort(a, s, n, in_s, 2 * bit_length(static_cast<uint64_t>(n)));
}

// Splits keys into buckets by sampled borders: bucket = number of borders not above the key.
template <class K>
struct Splitter {
    static constexpr int64_t kBlock = 512;
    K border[kMaxSplitters];
    int buckets;

    Splitter(const K* a, int64_t n, int wanted) : buckets(1) {
        constexpr int64_t kOver = 32;
        K sample[kMaxSplitters * kOver];
        K temp[kMaxSplitters * kOver];
        draw_sample(a, n, sample, wanted * kOver);
        quick_sort(sample, temp, wanted * kOver, false);
        for (int64_t i = 1; i < wanted; ++i) {
            const K b = sample[i * kOver];
            if (buckets == 1 || b != border[buckets - 2]) {
                border[buckets++ - 1] = b;
            }
        }
    }

    void classify(const K* a, int64_t n, uint8_t* bucket) const {
        K id[kBlock] = {};
        for (int b = 0; b + 1 < buckets; ++b) {
            for (int64_t i = 0; i < n; ++i) {
                id[i] += border[b] <= a[i];
            }
        }
        for (int64_t i = 0; i < n; ++i) {
            bucket[i] = static_cast<uint8_t>(id[i]);
        }
    }

    void count(const K* a, int64_t n, int64_t* counts) const {
        uint8_t bucket[kBlock];
        for (int64_t i = 0; i < n; i += kBlock) {
            const int64_t m = min64(kBlock, n - i);
            classify(a + i, m, bucket);
            for (int64_t j = 0; j < m; ++j) {
                ++counts[bucket[j]];
            }
        }
    }

    void scatter(const K* a, int64_t n, K* out, int64_t* next) const {
        uint8_t bucket[kBlock];
        for (int64_t i = 0; i < n; i += kBlock) {
            const int64_t m = min64(kBlock, n - i);
            classify(a + i, m, bucket);
            for (int64_t j = 0; j < m; ++j) {
                out[next[bucket[j]]++] = a[i + j];
            }
        }
    }
};

// Turns sorted keys back into the elements' bits, piece by piece while they are in cache.
template <class K>
struct Unmap {
    void (*run)(K* keys, int64_t n, K flip) = nullptr;
    K flip = 0;
    void operator()(K* keys, int64_t n) const {
        if (run) {
            run(keys, n, flip);
        }
    }
};

// Sorts a[0..n) with s as scratch, then unmaps.
template <class K>
void sort_keys(K* a, K* s, int64_t n, const Parallel& par, Unmap<K> unmap) {
    const int64_t chunks = chunk_count(par, n);
    if (chunks <= 1) {
        quick_sort(a, s, n, false);
        unmap(a, n);
        return;
    }
    const Splitter<K> split(a, n, static_cast<int>(min64(4 * chunks, kMaxSplitters)));
    int64_t next[kMaxSplitters][kMaxSplitters] = {};
    for_chunks(par, n, chunks, [&](int64_t c, int64_t begin, int64_t end) {
        split.count(a + begin, end - begin, next[c]);
    });
    int64_t start[kMaxSplitters + 1];
    int64_t at = 0;
    for (int b = 0; b < split.buckets; ++b) {
        start[b] = at;
        for (int64_t c = 0; c < chunks; ++c) {
            const int64_t size = next[c][b];
            next[c][b] = at;
            at += size;
        }
    }
    start[split.buckets] = n;
    for_chunks(par, n, chunks, [&](int64_t c, int64_t begin, int64_t end) {
        split.scatter(a + begin, end - begin, s, next[c]);
    });
    for_chunks(par, split.buckets, split.buckets, [&](int64_t b, int64_t, int64_t) {
        quick_sort(a + start[b], s + start[b], start[b + 1] - start[b], true);
        unmap(a + start[b], start[b + 1] - start[b]);
    });
}

template <class K>
bool is_sorted(const K* a, int64_t n) {
    for (int64_t i = 1; i < n;) {
        const int64_t end = min64(i + 64, n);
        bool bad = false;
        for (; i < end; ++i) {
            bad |= a[i - 1] > a[i];
        }
        if (bad) {
            return false;
        }
    }
    return true;
}

template <class K>
bool is_reversed(const K* a, int64_t n) {
    for (int64_t i = 1; i < n;) {
        const int64_t end = min64(i + 64, n);
        bool bad = false;
        for (; i < end; ++i) {
            bad |= a[i - 1] < a[i];
        }
        if (bad) {
            return false;
        }
    }
    return true;
}

template <class K>
void reverse(K* a, int64_t n) {
    for (int64_t i = 0; i < n / 2; ++i) {
        const K x = a[i];
        a[i] = a[n - 1 - i];
        a[n - 1 - i] = x;
    }
}

// ---------------------------------------------------------------- order of the element types

template <class T>
constexpr bool kIsFloat = false;
template <>
constexpr bool kIsFloat<float> = true;
template <>
constexpr bool kIsFloat<double> = true;
template <>
constexpr bool kIsFloat<Half> = true;
template <>
constexpr bool kIsFloat<BHalf> = true;

template <int Bytes>
struct IntOf;
template <>
struct IntOf<1> {
    using type = int8_t;
    using wide = int32_t;
};
template <>
struct IntOf<2> {
    using type = int16_t;
    using wide = int32_t;
};
template <>
struct IntOf<4> {
    using type = int32_t;
    using wide = int32_t;
};
template <>
struct IntOf<8> {
    using type = int64_t;
    using wide = int64_t;
};

// Bits of +inf.
template <class T>
constexpr int64_t kInfBits = 0;
template <>
constexpr int64_t kInfBits<float> = 0x7f800000;
template <>
constexpr int64_t kInfBits<double> = 0x7ff0000000000000;
template <>
constexpr int64_t kInfBits<Half> = 0x7c00;
template <>
constexpr int64_t kInfBits<BHalf> = 0x7f80;

// An element type as integers: U is its bit pattern, keys and ranks are signed and ordered.
template <class T>
struct Order {
    using K = typename IntOf<sizeof(T)>::type;
    static constexpr K kTop = kMaxKey<K>;
    static constexpr bool kFloat = kIsFloat<T>;
    static constexpr K kInf = static_cast<K>(kInfBits<T>);
    static constexpr K kNan = static_cast<K>(kInf + (kInf & -kInf) / 2);
    static constexpr K kShift = static_cast<K>(kTop - kInf);  // how many negative NaNs there are
    static constexpr K kZero = static_cast<K>(-kShift);       // key of +0; -0 comes just before

    static constexpr bool is_unsigned() {
        if constexpr (kFloat) {
            return false;
        } else {
            return static_cast<T>(-1) > static_cast<T>(0);
        }
    }
    static ASC_INLINE K magnitude_first(K x) {
        return static_cast<K>(x ^ ((x >> (8 * sizeof(K) - 1)) & kTop));
    }
    // A bijection; negative NaNs wrap round to the top, above the positive ones.
    static ASC_INLINE K to_key(K x) {
        if constexpr (kFloat) {
            K k;
            __builtin_sub_overflow(magnitude_first(x), kShift, &k);
            return k;
        } else if constexpr (is_unsigned()) {
            return static_cast<K>(x ^ (-kTop - 1));
        } else {
            return x;
        }
    }
    static ASC_INLINE K from_key(K k) {
        if constexpr (kFloat) {
            K m;
            __builtin_add_overflow(k, kShift, &m);
            return magnitude_first(m);
        } else {
            return to_key(k);
        }
    }
    // Equal elements have equal ranks: both zeros are 0, every NaN is kNan. Zero bits at the end
    // of a float stay zero, so that rounded values need few bits.
    static ASC_INLINE K rank(K x) {
        if constexpr (kFloat) {
            const K mag = static_cast<K>(x & kTop);
            const K sign = static_cast<K>(x >> (8 * sizeof(K) - 1));
            return mag > kInf ? kNan : static_cast<K>((mag ^ sign) - sign);
        } else {
            return to_key(x);
        }
    }
};

// ---------------------------------------------------------------- sort

struct Zeros {
    bool negative, positive;
};

// keys[i] = to_key(keys[i]), complemented for a descending sort.
template <class T>
Zeros map_keys(typename Order<T>::K* keys, int64_t n, typename Order<T>::K flip) {
    using O = Order<T>;
    using K = typename O::K;
    K negative = 0;
    K positive = 0;
    for (int64_t i = 0; i < n; ++i) {
        const K k = O::to_key(keys[i]);
        negative |= k == static_cast<K>(O::kZero - 1);
        positive |= k == O::kZero;
        keys[i] = static_cast<K>(k ^ flip);
    }
    return {negative != 0, positive != 0};
}

template <class T>
void unmap_keys(typename Order<T>::K* keys, int64_t n, typename Order<T>::K flip) {
    for (int64_t i = 0; i < n; ++i) {
        keys[i] = Order<T>::from_key(static_cast<typename Order<T>::K>(keys[i] ^ flip));
    }
}

// Where -0 and +0 are mixed: their signs in the order they came, one bit each, so that they can
// be put back like this. Returns where the zeros will start; *count is how many there are.
template <class T>
int64_t save_zeros(const typename Order<T>::K* keys, int64_t n, typename Order<T>::K flip,
                   uint8_t* signs, int64_t* count) {
    using O = Order<T>;
    using K = typename O::K;
    const K negative = static_cast<K>((O::kZero - 1) ^ flip);
    const K positive = static_cast<K>(O::kZero ^ flip);
    const K first = negative < positive ? negative : positive;
    int64_t below = 0;
    int64_t zeros = 0;
    for (int64_t i = 0; i < n; ++i) {
        below += keys[i] < first;
        if (keys[i] == negative || keys[i] == positive) {
            const auto bit = static_cast<uint8_t>(1u << (zeros & 7));
            uint8_t& byte = signs[zeros >> 3];
            byte = static_cast<uint8_t>((bit == 1 ? 0 : byte) | (keys[i] == negative ? bit : 0));
            ++zeros;
        }
    }
    *count = zeros;
    return below;
}

template <class K>
void restore_zeros(K* bits, const uint8_t* signs, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
        bits[i] = signs[i >> 3] >> (i & 7) & 1 ? static_cast<K>(-kMaxKey<K> - 1) : K{0};
    }
}

// Counting sort of 8-bit keys.
void count_keys(int8_t* keys, uint8_t*, int64_t n, const Parallel& par, Unmap<int8_t> unmap) {
    constexpr int kMaxChunks = 16;
    constexpr int kTables = 4;  // equal neighbours must not wait for each other's increment
    int64_t counts[kMaxChunks][256];
    const int64_t chunks = min64(chunk_count(par, n), kMaxChunks);
    for_chunks(par, n, chunks, [&](int64_t c, int64_t begin, int64_t end) {
        int64_t table[kTables][256] = {};
        int64_t i = begin;
        for (; i + kTables <= end; i += kTables) {
            for (int j = 0; j < kTables; ++j) {
                ++table[j][keys[i + j] + 128];
            }
        }
        for (; i < end; ++i) {
            ++table[0][keys[i] + 128];
        }
        for (int b = 0; b < 256; ++b) {
            counts[c][b] = table[0][b] + table[1][b] + table[2][b] + table[3][b];
        }
    });
    int8_t* out = keys;
    for (int b = 0; b < 256; ++b) {
        int64_t total = 0;
        for (int64_t c = 0; c < chunks; ++c) {
            total += counts[c][b];
        }
        memset(out, b - 128, static_cast<size_t>(total));
        out += total;
    }
    unmap(keys, n);
}

// Counting sort of 16-bit keys; scratch holds one table of 65536 counters for each chunk.
void count_keys(int16_t* keys, uint8_t* scratch, int64_t n, const Parallel& par,
                Unmap<int16_t> unmap) {
    constexpr int64_t kGroup = 64;  // bins whose sums make the borders of the output tasks
    constexpr int64_t kGroups = kBins16 / kGroup;
    const int64_t chunks = max64(min64(chunk_count(par, n), kSortTables), (n >> 31) + 1);
    auto* tables = reinterpret_cast<uint32_t*>(scratch);
    for_chunks(par, n, chunks, [&](int64_t c, int64_t begin, int64_t end) {
        uint32_t* table = tables + c * kBins16 + kBins16 / 2;
        memset(tables + c * kBins16, 0, kBins16 * sizeof(uint32_t));
        for (int64_t i = begin; i < end; ++i) {
            ++table[keys[i]];
        }
    });
    int64_t start[kGroups + 1];
    start[0] = 0;
    for (int64_t g = 0; g < kGroups; ++g) {
        int64_t total = 0;
        for (int64_t c = 0; c < chunks; ++c) {
            const uint32_t* table = tables + c * kBins16 + g * kGroup;
            uint64_t sum = 0;
            for (int64_t b = 0; b < kGroup; ++b) {
                sum += table[b];
            }
            total += static_cast<int64_t>(sum);
        }
        start[g + 1] = start[g] + total;
    }
    for_chunks(par, kGroups, chunks <= 1 ? 1 : 4 * chunks, [&](int64_t, int64_t g0, int64_t g1) {
        int16_t* out = keys + start[g0];
        const int16_t* end = keys + start[g1];
        for (int64_t b = g0 * kGroup; b < g1 * kGroup; ++b) {
            int64_t total = 0;
            for (int64_t c = 0; c < chunks; ++c) {
                total += tables[c * kBins16 + b];
            }
            // One wide store, of which few keys are wanted as a rule, spares a loop per bin.
            const auto key = static_cast<int16_t>(b - kBins16 / 2);
            const Vec<int16_t> wide = Vec<int16_t>{} + key;
            int64_t i = 0;
            for (; i < total && end - out >= i + kLanes<int16_t>; i += kLanes<int16_t>) {
                store(out + i, wide);
            }
            for (; i < total; ++i) {
                out[i] = key;
            }
            out += total;
        }
        unmap(keys + start[g0], start[g1] - start[g0]);
    });
}

template <class To, class From>
void copy_keys(To* dst, const From* src, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
        dst[i] = static_cast<To>(src[i]);
    }
}

// Sorts the keys of one type by the engine that suits their width, then unmaps them.
template <class K>
void sort_mapped(K* keys, uint8_t* scratch, int64_t n, const Parallel& par, Unmap<K> unmap) {
    if constexpr (sizeof(K) >= 4) {
        sort_keys(keys, reinterpret_cast<K*>(scratch), n, par, unmap);
    } else if (n >= (sizeof(K) == 1 ? kSortCount8 : kSortCount16)) {
        count_keys(keys, scratch, n, par, unmap);
    } else {
        auto* wide = reinterpret_cast<int32_t*>(scratch);
        copy_keys(wide, keys, n);
        quick_sort(wide, wide + n, n, false);
        copy_keys(keys, wide, n);
        unmap(keys, n);
    }
}

template <class T>
void sort(void* data, void* scratch, int64_t n, bool descending, const Parallel& par) {
    using O = Order<T>;
    using K = typename O::K;
    if (n < 2) {
        return;
    }
    auto* keys = static_cast<K*>(data);
    const K flip = descending ? K{-1} : K{0};
    const bool mapped = O::kFloat || O::is_unsigned() || descending;
    const Unmap<K> unmap{mapped ? &unmap_keys<T> : nullptr, flip};
    bool negative = false;
    bool positive = false;
    if (mapped) {
        Zeros zeros[kMaxSplitters];
        const int64_t chunks = chunk_count(par, n);
        for_chunks(par, n, chunks, [&](int64_t c, int64_t begin, int64_t end) {
            zeros[c] = map_keys<T>(keys + begin, end - begin, flip);
        });
        for (int64_t c = 0; c < chunks; ++c) {
            negative |= zeros[c].negative;
            positive |= zeros[c].positive;
        }
    }
    auto* signs = static_cast<uint8_t*>(scratch);
    auto* rest = signs;
    int64_t zeros_at = 0;
    int64_t zeros = 0;
    if (O::kFloat) {
        rest += (n / 8 + 64) & ~int64_t{63};
        if (negative && positive) {
            zeros_at = save_zeros<T>(keys, n, flip, signs, &zeros);
        }
    }
    if (is_sorted(keys, n)) {
        unmap(keys, n);
    } else if (is_reversed(keys, n)) {
        reverse(keys, n);
        unmap(keys, n);
    } else {
        sort_mapped(keys, rest, n, par, unmap);
    }
    restore_zeros(keys + zeros_at, signs, zeros);
}

// ---------------------------------------------------------------- argsort

// What all keys of a set have in common decides how they are packed.
struct Range {
    int64_t min = 0, max = 0;
    uint64_t differ = 0;  // bits in which some key differs from the first
    bool sorted = true;

    void merge(const Range& o, uint64_t step) {
        min = min64(min, o.min);
        max = max64(max, o.max);
        differ |= o.differ | step;
        sorted = sorted && o.sorted;
    }
};

// key(i) for i in [begin, end), at least one; `key` gives int64_t.
template <class F>
Range find_range(F key, int64_t begin, int64_t end) {
    const int64_t first = key(begin);
    Range r{first, first, 0, true};
    int64_t unsorted = 0;
    for (int64_t i = begin + 1; i < end; ++i) {
        const int64_t k = key(i);
        r.min = min64(r.min, k);
        r.max = max64(r.max, k);
        r.differ |= static_cast<uint64_t>(k ^ first);
        unsorted |= key(i - 1) > k;
    }
    r.sorted = unsorted == 0;
    return r;
}

// (key - min) >> shift above the index, in index_bits + key_bits bits.
struct Packing {
    int64_t min;
    int shift;
    int index_bits;
    int key_bits;
    bool exact;  // shift drops only bits that all keys share

    Packing(const Range& r, int64_t n) {
        const uint64_t span = static_cast<uint64_t>(r.max) - static_cast<uint64_t>(r.min);
        const int common = r.differ ? __builtin_ctzll(r.differ) : 0;
        min = r.min;
        index_bits = bit_length(static_cast<uint64_t>(n - 1));
        key_bits = bit_length(span) - common;
        const int excess = key_bits + index_bits - 63;
        exact = excess <= 0;
        shift = common + (exact ? 0 : excess);
        key_bits -= exact ? 0 : excess;
    }
    ASC_INLINE uint64_t head(int64_t key) const {
        return (static_cast<uint64_t>(key) - static_cast<uint64_t>(min)) >> shift;
    }
    ASC_INLINE uint64_t pack(int64_t key, int64_t i) const {
        return head(key) << index_bits | static_cast<uint64_t>(i);
    }
    ASC_INLINE int64_t index_mask() const { return (int64_t{1} << index_bits) - 1; }
};

// Sorts few (key, index) pairs.
template <class F>
void insert_sort(F key, int64_t* order, int64_t n) {
    for (int64_t i = 1; i < n; ++i) {
        const int64_t x = order[i];
        const int64_t k = key(x);
        int64_t j = i;
        for (; j > 0 && key(order[j - 1]) > k; --j) {
            order[j] = order[j - 1];
        }
        order[j] = x;
    }
}

// Sorts order[0..n) by key(order[i]), keeping the order of equals; scratch holds 4 * n integers.
template <class F>
void refine(F key, int64_t* order, int64_t* scratch, int64_t n, const Parallel& par) {
    if (n <= 16) {
        insert_sort(key, order, n);
        return;
    }
    int64_t* keys = scratch;
    int64_t* packed = scratch + n;
    int64_t* spare = scratch + 2 * n;
    for (int64_t i = 0; i < n; ++i) {
        keys[i] = key(order[i]);
    }
    const Range range = find_range([keys](int64_t i) { return keys[i]; }, 0, n);
    if (range.sorted) {
        return;
    }
    const Packing p(range, n);
    for (int64_t i = 0; i < n; ++i) {
        packed[i] = static_cast<int64_t>(p.pack(keys[i], i));
    }
    sort_keys(packed, spare, n, par, Unmap<int64_t>{});
    memcpy(spare, order, static_cast<size_t>(n) * sizeof(int64_t));
    for (int64_t i = 0; i < n; ++i) {
        order[i] = spare[packed[i] & p.index_mask()];
    }
    if (!p.exact) {
        for (int64_t i = 0, j = 0; i < n; i = j) {
            const uint64_t head = p.head(key(order[i]));
            for (j = i + 1; j < n && p.head(key(order[j])) == head; ++j) {
            }
            if (j - i > 1) {
                refine(key, order + i, scratch, j - i, par);
            }
        }
    }
}

// Turns packed keys into indices; keys whose packed parts are equal are sorted by the whole key.
template <class F>
void unpack_ties(F key, const Packing& p, int64_t* order, int64_t* scratch, int64_t n,
                 const Parallel& par) {
    for (int64_t i = 0, j = 0; i < n; i = j) {
        const int64_t head = order[i] >> p.index_bits;
        for (j = i; j < n && order[j] >> p.index_bits == head; ++j) {
            order[j] &= p.index_mask();
        }
        if (j - i > 1) {
            refine(key, order + i, scratch, j - i, par);
        }
    }
}

// order = stable permutation that sorts key(0..n); scratch holds 4 * n integers, or 2 * n if all
// keys fit 32 bits and n too.
template <class F>
void argsort_by(F key, int64_t* order, void* scratch, int64_t n, const Parallel& par) {
    const int64_t chunks = chunk_count(par, n);
    Range ranges[kMaxSplitters];
    for_chunks(par, n, chunks, [&](int64_t c, int64_t begin, int64_t end) {
        if (begin < end) {
            ranges[c] = find_range(key, begin, end);
        }
    });
    Range range = ranges[0];
    const int64_t size = (n + chunks - 1) / chunks;
    for (int64_t c = 1; c < chunks && c * size < n; ++c) {
        range.merge(ranges[c], static_cast<uint64_t>(key(c * size) ^ key(0)));
        range.sorted = range.sorted && key(c * size - 1) <= key(c * size);
    }
    if (range.sorted) {
        for (int64_t i = 0; i < n; ++i) {
            order[i] = i;
        }
        return;
    }
    const Packing p(range, n);
    if (p.index_bits + p.key_bits <= 31) {
        auto* packed = static_cast<int32_t*>(scratch);
        for_chunks(par, n, chunks, [&](int64_t, int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
                packed[i] = static_cast<int32_t>(p.pack(key(i), i));
            }
        });
        sort_keys(packed, packed + n, n, par, Unmap<int32_t>{});
        const auto mask = static_cast<int32_t>(p.index_mask());
        for_chunks(par, n, chunks, [&](int64_t, int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
                order[i] = packed[i] & mask;
            }
        });
        return;
    }
    for_chunks(par, n, chunks, [&](int64_t, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            order[i] = static_cast<int64_t>(p.pack(key(i), i));
        }
    });
    sort_keys(order, static_cast<int64_t*>(scratch), n, par, Unmap<int64_t>{});
    bool ties[kMaxSplitters] = {};
    if (!p.exact) {
        for_chunks(par, n, chunks, [&](int64_t c, int64_t begin, int64_t end) {
            int64_t tie = 0;
            for (int64_t i = max64(begin, 1); i < end; ++i) {
                tie |= order[i - 1] >> p.index_bits == order[i] >> p.index_bits;
            }
            ties[c] = tie != 0;
        });
        for (int64_t c = 0; c < chunks; ++c) {
            if (ties[c]) {
                unpack_ties(key, p, order, static_cast<int64_t*>(scratch), n, par);
                return;
            }
        }
    }
    const int64_t mask = p.index_mask();
    for_chunks(par, n, chunks, [&](int64_t, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            order[i] &= mask;
        }
    });
}

template <class T>
struct RankOf {
    const typename Order<T>::K* keys;
    int64_t flip;
    ASC_INLINE int64_t operator()(int64_t i) const { return Order<T>::rank(keys[i]) ^ flip; }
};

template <class T>
void argsort(const void* data, int64_t* order, void* scratch, int64_t n, bool descending,
             const Parallel& par) {
    if (n > 0) {
        const RankOf<T> key{static_cast<const typename Order<T>::K*>(data), descending ? -1 : 0};
        argsort_by(key, order, scratch, n, par);
    }
}

// Complex numbers are ordered by real, then imaginary part; those with a NaN are equal and last.
template <class T>
struct ComplexRanks {
    using O = Order<T>;
    const typename O::K* parts;
    int64_t flip;

    ASC_INLINE bool is_nan(int64_t i) const {
        return O::rank(parts[2 * i]) == O::kNan || O::rank(parts[2 * i + 1]) == O::kNan;
    }
    ASC_INLINE int64_t rank(int64_t at, int64_t i) const {
        return (is_nan(i) ? O::kNan : O::rank(parts[2 * i + at])) ^ flip;
    }
};
template <class T>
struct RealRank : ComplexRanks<T> {
    ASC_INLINE int64_t operator()(int64_t i) const { return this->rank(0, i); }
};
template <class T>
struct ImagRank : ComplexRanks<T> {
    ASC_INLINE int64_t operator()(int64_t i) const { return this->rank(1, i); }
};

template <class T>
void argsort_complex(const void* data, int64_t* order, void* scratch, int64_t n, bool descending,
                     const Parallel& par) {
    if (n == 0) {
        return;
    }
    const ComplexRanks<T> ranks{static_cast<const typename Order<T>::K*>(data),
                                descending ? -1 : 0};
    const RealRank<T> real{ranks};
    const ImagRank<T> imag{ranks};
    argsort_by(real, order, scratch, n, par);
    for (int64_t i = 0, j = 0; i < n; i = j) {
        const int64_t k = real(order[i]);
        for (j = i + 1; j < n && real(order[j]) == k; ++j) {
        }
        if (j - i > 1) {
            refine(imag, order + i, static_cast<int64_t*>(scratch), j - i, par);
        }
    }
}

template <class T>
void sort_complex(void* data, void* scratch, int64_t n, bool descending, const Parallel& par) {
    auto* z = static_cast<Complex<T>*>(data);
    auto* order = static_cast<int64_t*>(scratch);
    argsort_complex<T>(data, order, order + n, n, descending, par);
    auto* sorted = reinterpret_cast<Complex<T>*>(order + n);
    for (int64_t i = 0; i < n; ++i) {
        sorted[i] = z[order[i]];
    }
    memcpy(z, sorted, static_cast<size_t>(n) * sizeof *z);
}

// ---------------------------------------------------------------- search

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
ASC_INLINE int64_t comparable(Half x) { return Order<Half>::rank(static_cast<int16_t>(x.bits)); }
ASC_INLINE int64_t comparable(BHalf x) { return Order<BHalf>::rank(static_cast<int16_t>(x.bits)); }

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
        for (int64_t j = 0; j < kSearchBatch; ++j) {
            // A mask, not a choice: the compiler must not branch on the outcome.
            at[j] += half & -int64_t{before<Right>(comparable(a[at[j] + half - 1]), key[j])};
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

template <class T>
struct Fill {
    static void set(KernelTable& t, int d) {
        t.sort[d] = sort<T>;
        t.argsort[d] = argsort<T>;
        t.search[d] = search<T>;
    }
};
template <>
struct Fill<bool> : Fill<uint8_t> {};
template <class T>
struct Fill<Complex<T>> {
    static void set(KernelTable& t, int d) {
        t.sort[d] = sort_complex<T>;
        t.argsort[d] = argsort_complex<T>;
        t.search[d] = search<Complex<T>>;
    }
};

}  // namespace

void fill_sort(KernelTable& t) {
#define X(name, type, py, kind, bits) Fill<type>::set(t, static_cast<int>(DType::name));
    ASC_FOR_EACH_DTYPE(X)
#undef X
}

}  // namespace asc::cpu::ASC_ISA
