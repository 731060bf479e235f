// Sorting.
//
// Elements are mapped to signed integers of the same order, which the engine sorts. Argsort packs
// (key, index) into one integer, which makes it stable, and drops low key bits where both do not
// fit; the few ties this makes are sorted again by the whole key.
#include "backend/cpu/kernels/sort_engine.h"

namespace asc::cpu::ASC_ISA {
namespace {

constexpr int64_t kBins16 = 1 << 16;

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

template <class T>
struct Fill {
    static void set(KernelTable& t, int d) {
        t.sort[d] = sort<T>;
        t.argsort[d] = argsort<T>;
    }
};
template <>
struct Fill<bool> : Fill<uint8_t> {};
template <class T>
struct Fill<Complex<T>> {
    static void set(KernelTable& t, int d) {
        t.sort[d] = sort_complex<T>;
        t.argsort[d] = argsort_complex<T>;
    }
};

}  // namespace

void fill_sort(KernelTable& t) {
#define X(name, type, py, kind, bits) Fill<type>::set(t, static_cast<int>(DType::name));
    ASC_FOR_EACH_DTYPE(X)
#undef X
}

}  // namespace asc::cpu::ASC_ISA
