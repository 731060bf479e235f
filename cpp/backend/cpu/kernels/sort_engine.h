// The engine that every sort ends in: a quicksort of signed integers that splits with vector
// compress (keys below the pivot to one buffer, the others to another, no branch depends on a
// key), finishes runs of a few vectors in a sorting network, and first splits large arrays into
// buckets for the threads.
#pragma once
#include "backend/cpu/kernels/order.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace asc::cpu::ASC_ISA {
namespace {

constexpr int64_t kParallelMin = 1 << 15;  // below this a second thread costs more than it gives
constexpr int kMaxSplitters = 64;          // chunks and buckets of one parallel split

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
// Of n keys the first kLanes<K>, n of any sign; the largest key where there is none.
ASC_INLINE unsigned first_lanes(int64_t n, int lanes) {
    const unsigned all = (1u << lanes) - 1;
    return n >= lanes ? all : n <= 0 ? 0 : (1u << n) - 1;
}
ASC_INLINE Vec<int32_t> load_upto(const int32_t* p, int64_t n) {
    return (Vec<int32_t>)_mm512_mask_loadu_epi32(_mm512_set1_epi32(kMaxKey<int32_t>),
                                                 static_cast<__mmask16>(first_lanes(n, 16)), p);
}
ASC_INLINE Vec<int64_t> load_upto(const int64_t* p, int64_t n) {
    return (Vec<int64_t>)_mm512_mask_loadu_epi64(_mm512_set1_epi64(kMaxKey<int64_t>),
                                                 static_cast<__mmask8>(first_lanes(n, 8)), p);
}
ASC_INLINE void store_upto(int32_t* p, Vec<int32_t> v, int64_t n) {
    _mm512_mask_storeu_epi32(p, static_cast<__mmask16>(first_lanes(n, 16)), (__m512i)v);
}
ASC_INLINE void store_upto(int64_t* p, Vec<int64_t> v, int64_t n) {
    _mm512_mask_storeu_epi64(p, static_cast<__mmask8>(first_lanes(n, 8)), (__m512i)v);
}

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
        return __builtin_shufflevector(a, a, 0 ^ X, 1 ^ X, 2 ^ X, 3 ^ X, 4 ^ X, 5 ^ X, 6 ^ X, 7 ^ X,
                                       8 ^ X, 9 ^ X, 10 ^ X, 11 ^ X, 12 ^ X, 13 ^ X, 14 ^ X,
                                       15 ^ X);
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

// The first n of R * kLanes<K> keys, more than half of them; the largest key stands for the rest.
template <int R, class K>
ASC_INLINE void load_rows(const K* src, int64_t n, Vec<K>* r) {
    constexpr int64_t L = kLanes<K>;
#if defined(__AVX512F__)
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i)
        r[i] = i < R / 2 ? load(src + i * L) : load_upto(src + i * L, n - i * L);
#else
    alignas(64) K pad[R * L];
    if (n < R * L) {
        for (int64_t i = n / L; i < R; ++i) store(pad + i * L, Vec<K>{} + kMaxKey<K>);
        memcpy(pad, src, static_cast<size_t>(n) * sizeof(K));
        src = pad;
    }
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) r[i] = load(src + i * L);
#endif
}

template <int R, class K>
ASC_INLINE void store_rows(K* dst, int64_t n, const Vec<K>* r) {
    constexpr int64_t L = kLanes<K>;
#if defined(__AVX512F__)
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i)
        i < R / 2 ? store(dst + i * L, r[i]) : store_upto(dst + i * L, r[i], n - i * L);
#else
    alignas(64) K pad[R * L];
    K* out = n < R * L ? pad : dst;
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) store(out + i * L, r[i]);
    if (n < R * L) memcpy(dst, pad, static_cast<size_t>(n) * sizeof(K));
#endif
}

// dst[0..n) = sorted src[0..n) for n from R / 2 * kLanes<K> to R * kLanes<K>; the two may be the
// same.
template <int R, class K>
__attribute__((noinline)) void network(const K* src, K* dst, int64_t n) {
    Vec<K> r[R];
    load_rows<R>(src, n, r);
    sort_rows<R>(r);
    merge_columns<R, 1>(r);
    columns_to_rows<R, R>(r);
    store_rows<R>(dst, n, r);
}

template <class K>
constexpr int64_t kNetworkMax = 16 * kLanes<K>;

// The same for n <= kNetworkMax.
template <class K>
void sort_network(const K* src, K* dst, int64_t n) {
    constexpr int64_t L = kLanes<K>;
    if (n <= L) return network<1>(src, dst, n);
    if (n <= 2 * L) return network<2>(src, dst, n);
    if (n <= 4 * L) return network<4>(src, dst, n);
    if (n <= 8 * L) return network<8>(src, dst, n);
    network<16>(src, dst, n);
}

// ---------------------------------------------------------------- partition

#if defined(__AVX512F__)
ASC_INLINE __mmask16 below(Vec<int32_t> v, Vec<int32_t> p) {
    return _mm512_cmplt_epi32_mask((__m512i)v, (__m512i)p);
}
ASC_INLINE __mmask8 below(Vec<int64_t> v, Vec<int64_t> p) {
    return _mm512_cmplt_epi64_mask((__m512i)v, (__m512i)p);
}
ASC_INLINE __mmask16 others(__mmask16 m) { return _knot_mask16(m); }
ASC_INLINE __mmask8 others(__mmask8 m) { return _knot_mask8(m); }
// In assembly, because GCC 12 may spill the widened mask as 1 or 2 bytes and reload 4.
ASC_INLINE unsigned mask_bits(__mmask16 m) {
    unsigned bits;
    asm("kmovw %1, %0" : "=r"(bits) : "k"(m));
    return bits;
}
ASC_INLINE unsigned mask_bits(__mmask8 m) {
    unsigned bits;
    asm("kmovb %1, %0" : "=r"(bits) : "k"(m));
    return bits;
}
// A zero the compiler cannot see through: the zeroing form of compress waits for the old value of
// its destination on Zen 5, the merging form with a fresh register does not.
ASC_INLINE __m512i fresh_zero() {
    __m512i zero = _mm512_setzero_si512();
    asm("" : "+v"(zero));
    return zero;
}
ASC_INLINE Vec<int32_t> compress(Vec<int32_t> v, __mmask16 m) {
    return (Vec<int32_t>)_mm512_mask_compress_epi32(fresh_zero(), m, (__m512i)v);
}
ASC_INLINE Vec<int64_t> compress(Vec<int64_t> v, __mmask8 m) {
    return (Vec<int64_t>)_mm512_mask_compress_epi64(fresh_zero(), m, (__m512i)v);
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
ASC_INLINE unsigned others(unsigned m) { return ~m; }
ASC_INLINE unsigned mask_bits(unsigned m) { return m; }
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
        const auto m = below(v, p);
        store(lo + l, compress(v, m));
        store(hi + (i - l), compress(v, others(m)));
        l += __builtin_popcount(mask_bits(m));
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

// From this size on, two buffers would not stay in L1: blocks are read from the end of the array
// that has less room to write to. Keys below the pivot come first; returns how many there are.
constexpr int64_t kInPlaceBytes = 1 << 15;

template <class K>
int64_t partition_in_place(K* a, int64_t n, K pivot) {
    constexpr int L = kLanes<K>;
    constexpr int kVectors = 16;
    constexpr int64_t B = kVectors * L;
    constexpr uintptr_t kVectorBytes = L * sizeof(K);
    constexpr int64_t kAheadBytes = 4 * B * sizeof(K);  // from a fetch to its use
    // The keys at both ends wait here, so that there is room to write to.
    const int64_t head = n < 2 * B ? n : B + n % B;
    const int64_t tail = n < 2 * B ? 0 : B;
    alignas(64) K edge[3 * B];
    alignas(64) K edge_high[3 * B];
    memcpy(edge, a, static_cast<size_t>(head) * sizeof(K));
    memcpy(edge + head, a + n - tail, static_cast<size_t>(tail) * sizeof(K));
    int64_t left = head;
    int64_t right = n - tail;
    int64_t lo = 0;
    int64_t hi = n;
    const Vec<K> p = Vec<K>{} + pivot;
    while (left < right) {
        const int64_t from_left = -static_cast<int64_t>(left - lo <= hi - right);
        const K* src = a + ((left & from_left) | ((right - B) & ~from_left));
        left += B & from_left;
        right -= B & ~from_left;
        // No pointer: it may lie beyond the keys.
        const uintptr_t next =
            reinterpret_cast<uintptr_t>(src) +
            static_cast<uintptr_t>((kAheadBytes & from_left) | (-kAheadBytes & ~from_left));
        Vec<K> v[kVectors];
#pragma GCC unroll 16
        for (int i = 0; i < kVectors; ++i) {
            __builtin_prefetch(reinterpret_cast<const void*>(next + i * kVectorBytes));
            v[i] = load(src + i * L);
        }
#pragma GCC unroll 16
        for (int i = 0; i < kVectors; ++i) {
            const auto mask = below(v[i], p);
            const int lows = __builtin_popcount(mask_bits(mask));
            hi -= L - lows;
            store(a + lo, compress(v[i], mask));
            store_first(a + hi, compress(v[i], others(mask)), L - lows);
            lo += lows;
        }
    }
    const int64_t lows = partition(edge, a + lo, edge_high, head + tail, pivot);
    memcpy(a + lo + lows, edge_high, static_cast<size_t>(head + tail - lows) * sizeof(K));
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
        const uint64_t jitter =
            static_cast<uint64_t>(static_cast<unsigned __int128>(state) * step >> 64);
        sample[i] = src[static_cast<uint64_t>(i) * step + jitter];
    }
}

template <class K>
struct Pivot {
    K key;
    bool repeated;  // in the sample, so that many of its equals are expected
};

template <class K>
Pivot<K> choose_pivot(const K* src, int64_t n) {
    constexpr int64_t L = kLanes<K>;
    alignas(64) K sample[8 * L];
    const int64_t count = n < 512 ? L : n < 2048 ? 2 * L : n < 16384 ? 4 * L : 8 * L;
    draw_sample(src, n, sample, count);
    sort_network(sample, sample, count);
    const K* middle = sample + count / 2;
    return {*middle, middle[-1] == *middle};
}

// Of n keys in s, none below the pivot, moves those equal to it to a; returns how many they are.
template <class K>
int64_t take_equals(K* a, K* s, int64_t n, K pivot) {
    if (pivot != kMaxKey<K>) {
        return partition<K>(s, a, s, n, static_cast<K>(pivot + 1));
    }
    for (int64_t i = 0; i < n; ++i) {
        a[i] = pivot;
    }
    return n;
}

#if defined(__AVX512F__)
// The same for keys that stay in one buffer, src; those equal to the pivot are written to a.
template <class K>
int64_t take_equals_in_place(K* src, K* a, int64_t n, K pivot) {
    int64_t equals = n;
    if (pivot != kMaxKey<K>) {
        equals = partition_in_place(src, n, static_cast<K>(pivot + 1));
    }
    for (int64_t i = 0; i < equals; ++i) {
        a[i] = pivot;
    }
    return equals;
}
#endif

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
        const Pivot<K> pivot = choose_pivot<K>(src, n);
#if defined(__AVX512F__)
        if (n * static_cast<int64_t>(sizeof(K)) >= kInPlaceBytes) {
            const int64_t lows = partition_in_place(src, n, pivot.key);
            int64_t equals = 0;
            if (pivot.repeated || lows == 0) {
                equals = take_equals_in_place(src + lows, a + lows, n - lows, pivot.key);
            }
            const int64_t done = lows + equals;
            quick_sort(a + done, s + done, n - done, in_s, depth);
            n = lows;
            continue;
        }
#endif
        const int64_t lows = partition(src, a, s, n, pivot.key);
        int64_t equals = 0;
        if (pivot.repeated || lows == 0) {
            equals = take_equals(a + lows, s, n - lows, pivot.key);
        }
        quick_sort(a + lows + equals, s, n - lows - equals, true, depth);
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

// Keys below the pivot come first in a; returns how many there are. s is overwritten.
template <class K>
int64_t partition_within(K* a, K* s, int64_t n, K pivot) {
#if defined(__AVX512F__)
    (void)s;
    return partition_in_place(a, n, pivot);
#else
    const int64_t lows = partition(a, a, s, n, pivot);
    memcpy(a + lows, s, static_cast<size_t>(n - lows) * sizeof(K));
    return lows;
#endif
}

// Splits keys into buckets by sampled borders: bucket = number of borders not above the key.
template <class K>
struct Splitter {
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

    // Brings the keys of each bucket together, bucket after bucket, if they are all in buckets
    // [first, last); s is overwritten.
    void split(K* a, K* s, int64_t n, int first, int last, int64_t* sizes) const {
        if (last - first == 1) {
            sizes[first] = n;
            return;
        }
        const int middle = (first + last) / 2;
        const int64_t lows = partition_within(a, s, n, border[middle - 1]);
        split(a, s, lows, first, middle, sizes);
        split(a + lows, s, n - lows, middle, last, sizes);
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
    const Splitter<K> split(a, n, static_cast<int>(min64(8 * chunks, kMaxSplitters)));
    int64_t sizes[kMaxSplitters][kMaxSplitters] = {};
    for_chunks(par, n, chunks, [&](int64_t c, int64_t begin, int64_t end) {
        split.split(a + begin, s + begin, end - begin, 0, split.buckets, sizes[c]);
    });
    int64_t start[kMaxSplitters + 1];
    int64_t next[kMaxSplitters][kMaxSplitters];
    int64_t at = 0;
    for (int b = 0; b < split.buckets; ++b) {
        start[b] = at;
        for (int64_t c = 0; c < chunks; ++c) {
            next[c][b] = at;
            at += sizes[c][b];
        }
    }
    start[split.buckets] = n;
    for_chunks(par, n, chunks, [&](int64_t c, int64_t begin, int64_t) {
        for (int b = 0; b < split.buckets; begin += sizes[c][b++])
            memcpy(s + next[c][b], a + begin, static_cast<size_t>(sizes[c][b]) * sizeof(K));
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

}  // namespace
}  // namespace asc::cpu::ASC_ISA
