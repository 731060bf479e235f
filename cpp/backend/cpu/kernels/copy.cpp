// Strided copies, fills and transposes, by element width.
#include "backend/cpu/kernels/lane.h"

namespace asc::cpu::ASC_ISA {
namespace {

struct Wide {
    uint64_t half[2];
};

template <class T>
void gather(void* out, const void* in, int64_t n, int64_t stride) {
    T* dst = static_cast<T*>(out);
    const T* src = static_cast<const T*>(in);
    // Constant strides become shuffles.
    switch (stride) {
        case 1:
            memcpy(dst, src, static_cast<size_t>(n) * sizeof(T));
            break;
        case 0:
            fill_value(dst, *src, n);
            break;
        case 2:
            for (int64_t i = 0; i < n; ++i) dst[i] = src[2 * i];
            break;
        case -1:
            for (int64_t i = 0; i < n; ++i) dst[i] = src[-i];
            break;
        default:
            for (int64_t i = 0; i < n; ++i) dst[i] = src[i * stride];
    }
}

template <class T>
void scatter(void* out, const void* in, int64_t n, int64_t stride) {
    T* dst = static_cast<T*>(out);
    const T* src = static_cast<const T*>(in);
    switch (stride) {
        case 1:
            memcpy(dst, src, static_cast<size_t>(n) * sizeof(T));
            break;
        case -1:
            for (int64_t i = 0; i < n; ++i) dst[-i] = src[i];
            break;
        default:
            for (int64_t i = 0; i < n; ++i) dst[i * stride] = src[i];
    }
}

template <class T>
void fill(void* out, const void* value, int64_t n, int64_t stride) {
    T* dst = static_cast<T*>(out);
    const T x = *static_cast<const T*>(value);
    if (stride == 1) return fill_value(dst, x, n);
    for (int64_t i = 0; i < n; ++i) dst[i * stride] = x;
}

// ---- transpose: squares of kSide x kSide elements in registers ----

template <class T>
constexpr int kSide = kLanes<T> < 8 ? kLanes<T> : 8;

template <class T>
struct RowOf {
    typedef T type __attribute__((vector_size(kSide<T> * sizeof(T))));
};
template <class T>
using SquareRow = typename RowOf<T>::type;

template <class V>
inline V interleave_low(V a, V b) {
    constexpr int kElements = sizeof(V) / sizeof(a[0]);
    if constexpr (kElements == 8)
        return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
    else if constexpr (kElements == 4)
        return __builtin_shufflevector(a, b, 0, 4, 1, 5);
    else
        return __builtin_shufflevector(a, b, 0, 2);
}
template <class V>
inline V interleave_high(V a, V b) {
    constexpr int kElements = sizeof(V) / sizeof(a[0]);
    if constexpr (kElements == 8)
        return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
    else if constexpr (kElements == 4)
        return __builtin_shufflevector(a, b, 2, 6, 3, 7);
    else
        return __builtin_shufflevector(a, b, 1, 3);
}

// Interleaving rows i and i + half, log2(kSide) times, is a transpose.
template <class T>
inline void transpose_square(T* dst, int64_t dst_stride, const T* src, int64_t src_stride) {
    constexpr int kHalf = kSide<T> / 2;
    SquareRow<T> rows[kSide<T>], next[kSide<T>];
    for (int i = 0; i < kSide<T>; ++i) memcpy(&rows[i], src + i * src_stride, sizeof(rows[i]));
    for (int step = kSide<T>; step > 1; step /= 2) {
        for (int i = 0; i < kHalf; ++i) {
            next[2 * i] = interleave_low(rows[i], rows[i + kHalf]);
            next[2 * i + 1] = interleave_high(rows[i], rows[i + kHalf]);
        }
        for (int i = 0; i < kSide<T>; ++i) rows[i] = next[i];
    }
    for (int i = 0; i < kSide<T>; ++i) memcpy(dst + i * dst_stride, &rows[i], sizeof(rows[i]));
}

// A tile of the source, packed: rows whose distance is a power of two would evict each other.
constexpr int64_t kTileRows = 64;
template <class T>
constexpr int64_t kTileCols = 128 / static_cast<int64_t>(sizeof(T));

template <class T>
void transpose_tile(T* dst, int64_t dst_stride, const T* tile, int64_t tile_stride, int64_t rows,
                    int64_t cols) {
    int64_t c = 0;
    const int64_t whole_rows = sizeof(T) <= 8 ? rows / kSide<T> * kSide<T> : 0;
    if constexpr (sizeof(T) <= 8) {
        // Down the rows first, which fills the lines of the destination.
        for (; c + kSide<T> <= cols; c += kSide<T>)
            for (int64_t r = 0; r < whole_rows; r += kSide<T>)
                transpose_square(dst + c * dst_stride + r, dst_stride, tile + r * tile_stride + c,
                                 tile_stride);
    }
    for (int64_t k = 0; k < cols; ++k)
        for (int64_t r = k < c ? whole_rows : 0; r < rows; ++r)
            dst[k * dst_stride + r] = tile[r * tile_stride + k];
}

// dst[c * dst_stride + r] = src[r * src_stride + c]
template <class T>
void transpose(void* out, int64_t dst_stride, const void* in, int64_t src_stride, int64_t rows,
               int64_t cols) {
    T* dst = static_cast<T*>(out);
    const T* src = static_cast<const T*>(in);
    alignas(64) T tile[kTileRows * kTileCols<T>];
    for (int64_t r = 0; r < rows; r += kTileRows) {
        const int64_t m = min_of(rows - r, kTileRows);
        for (int64_t c = 0; c < cols; c += kTileCols<T>) {
            const int64_t n = min_of(cols - c, kTileCols<T>);
            const T* from = src + r * src_stride + c;
            T* to = dst + c * dst_stride + r;
            if (n < kTileCols<T>) {  // narrow: packing costs more than it saves
                transpose_tile(to, dst_stride, from, src_stride, m, n);
                continue;
            }
            for (int64_t i = 0; i < m; ++i)
                memcpy(tile + i * kTileCols<T>, from + i * src_stride, kTileCols<T> * sizeof(T));
            transpose_tile(to, dst_stride, tile, kTileCols<T>, m, n);
        }
    }
}

template <class T>
void fill_width(KernelTable& t) {
    constexpr int kLog = __builtin_ctz(static_cast<unsigned>(sizeof(T)));
    t.gather[kLog] = gather<T>;
    t.scatter[kLog] = scatter<T>;
    t.fill[kLog] = fill<T>;
    t.transpose[kLog] = transpose<T>;
}

}  // namespace

void fill_copy(KernelTable& t) {
    fill_width<uint8_t>(t);
    fill_width<uint16_t>(t);
    fill_width<uint32_t>(t);
    fill_width<uint64_t>(t);
    fill_width<Wide>(t);
}

}  // namespace asc::cpu::ASC_ISA
