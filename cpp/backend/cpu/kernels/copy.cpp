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
        case 1: memcpy(dst, src, static_cast<size_t>(n) * sizeof(T)); break;
        case 0: fill_value(dst, *src, n); break;
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
        case 1: memcpy(dst, src, static_cast<size_t>(n) * sizeof(T)); break;
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
    if constexpr (kElements == 8) return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
    else if constexpr (kElements == 4) return __builtin_shufflevector(a, b, 0, 4, 1, 5);
    else return __builtin_shufflevector(a, b, 0, 2);
}
template <class V>
inline V interleave_high(V a, V b) {
    constexpr int kElements = sizeof(V) / sizeof(a[0]);
    if constexpr (kElements == 8) return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
    else if constexpr (kElements == 4) return __builtin_shufflevector(a, b, 2, 6, 3, 7);
    else return __builtin_shufflevector(a, b, 1, 3);
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

template <class T>
void transpose_edge(T* dst, int64_t dst_stride, const T* src, int64_t src_stride, int64_t rows,
                    int64_t cols) {
    for (int64_t c = 0; c < cols; ++c)
        for (int64_t r = 0; r < rows; ++r) dst[c * dst_stride + r] = src[r * src_stride + c];
}

// Whole cache lines of both sides are used while they are in the first cache.
template <class T>
void transpose_block(T* dst, int64_t dst_stride, const T* src, int64_t src_stride, int64_t rows,
                     int64_t cols) {
    int64_t r = 0;
    if constexpr (sizeof(T) <= 8) {
        for (; r + kSide<T> <= rows; r += kSide<T>) {
            int64_t c = 0;
            for (; c + kSide<T> <= cols; c += kSide<T>)
                transpose_square(dst + c * dst_stride + r, dst_stride, src + r * src_stride + c,
                                 src_stride);
            transpose_edge(dst + c * dst_stride + r, dst_stride, src + r * src_stride + c, src_stride,
                           kSide<T>, cols - c);
        }
    }
    transpose_edge(dst + r, dst_stride, src + r * src_stride, src_stride, rows - r, cols);
}

// dst[c * dst_stride + r] = src[r * src_stride + c]
template <class T>
void transpose(void* out, int64_t dst_stride, const void* in, int64_t src_stride, int64_t rows,
               int64_t cols) {
    constexpr int64_t kRows = 64;
    constexpr int64_t kCols = 128 / static_cast<int64_t>(sizeof(T));
    T* dst = static_cast<T*>(out);
    const T* src = static_cast<const T*>(in);
    for (int64_t r = 0; r < rows; r += kRows)
        for (int64_t c = 0; c < cols; c += kCols)
            transpose_block(dst + c * dst_stride + r, dst_stride, src + r * src_stride + c, src_stride,
                            min_of(rows - r, kRows), min_of(cols - c, kCols));
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
