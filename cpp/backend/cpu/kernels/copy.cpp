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
// Rows of a transpose that are at most this many bytes apart stay in L1 while they are filled.
constexpr int64_t kNearRows = 1024;

// Along the rows of the source, or down them, which fills the lines of the destination.
template <class T>
void transpose_tile(T* dst, int64_t dst_stride, const T* src, int64_t src_stride, int64_t rows,
                    int64_t cols, bool along) {
    const int64_t whole_rows = sizeof(T) <= 8 ? rows / kSide<T> * kSide<T> : 0;
    const int64_t whole_cols = sizeof(T) <= 8 ? cols / kSide<T> * kSide<T> : 0;
    if constexpr (sizeof(T) <= 8) {
        const int64_t outer = along ? whole_rows : whole_cols;
        const int64_t inner = along ? whole_cols : whole_rows;
        for (int64_t i = 0; i < outer; i += kSide<T>) {
            for (int64_t j = 0; j < inner; j += kSide<T>) {
                const int64_t r = along ? i : j, c = along ? j : i;
                transpose_square(dst + c * dst_stride + r, dst_stride, src + r * src_stride + c,
                                 src_stride);
            }
        }
    }
    if (along) {
        for (int64_t r = 0; r < rows; ++r)
            for (int64_t c = r < whole_rows ? whole_cols : 0; c < cols; ++c)
                dst[c * dst_stride + r] = src[r * src_stride + c];
    } else {
        for (int64_t c = 0; c < cols; ++c)
            for (int64_t r = c < whole_cols ? whole_rows : 0; r < rows; ++r)
                dst[c * dst_stride + r] = src[r * src_stride + c];
    }
}

// ---- few components: pixels into planes and back ----

template <class T, int kParts>
void split(T* dst, int64_t dst_stride, const T* src, int64_t src_stride, int64_t n) {
    if (src_stride == kParts) {
        ASC_VECTOR_LOOP
        for (int64_t i = 0; i < n; ++i)
            for (int k = 0; k < kParts; ++k) dst[k * dst_stride + i] = src[i * kParts + k];
        return;
    }
    for (int64_t i = 0; i < n; ++i)
        for (int k = 0; k < kParts; ++k) dst[k * dst_stride + i] = src[i * src_stride + k];
}
template <class T, int kParts>
void interleave(T* dst, int64_t dst_stride, const T* src, int64_t src_stride, int64_t n) {
    if (dst_stride == kParts) {
        ASC_VECTOR_LOOP
        for (int64_t i = 0; i < n; ++i)
            for (int k = 0; k < kParts; ++k) dst[i * kParts + k] = src[k * src_stride + i];
        return;
    }
    for (int64_t i = 0; i < n; ++i)
        for (int k = 0; k < kParts; ++k) dst[i * dst_stride + k] = src[k * src_stride + i];
}

// dst[c * dst_stride + r] = src[r * src_stride + c]
template <class T>
void transpose(void* out, int64_t dst_stride, const void* in, int64_t src_stride, int64_t rows,
               int64_t cols) {
    T* dst = static_cast<T*>(out);
    const T* src = static_cast<const T*>(in);
    if (cols == 2) return split<T, 2>(dst, dst_stride, src, src_stride, rows);
    if (cols == 3) return split<T, 3>(dst, dst_stride, src, src_stride, rows);
    if (cols == 4) return split<T, 4>(dst, dst_stride, src, src_stride, rows);
    if (rows == 2) return interleave<T, 2>(dst, dst_stride, src, src_stride, cols);
    if (rows == 3) return interleave<T, 3>(dst, dst_stride, src, src_stride, cols);
    if (rows == 4) return interleave<T, 4>(dst, dst_stride, src, src_stride, cols);
    const auto near = [](int64_t stride) {
        return (stride < 0 ? -stride : stride) * static_cast<int64_t>(sizeof(T)) <= kNearRows;
    };
    if (near(dst_stride) || near(src_stride))
        return transpose_tile(dst, dst_stride, src, src_stride, rows, cols, near(dst_stride));
    alignas(64) T tile[kTileRows * kTileCols<T>];
    for (int64_t r = 0; r < rows; r += kTileRows) {
        const int64_t m = min_of(rows - r, kTileRows);
        for (int64_t c = 0; c < cols; c += kTileCols<T>) {
            const int64_t n = min_of(cols - c, kTileCols<T>);
            const T* from = src + r * src_stride + c;
            T* to = dst + c * dst_stride + r;
            if (n < kTileCols<T>) {  // narrow: packing costs more than it saves
                transpose_tile(to, dst_stride, from, src_stride, m, n, false);
                continue;
            }
            for (int64_t i = 0; i < m; ++i)
                memcpy(tile + i * kTileCols<T>, from + i * src_stride, kTileCols<T> * sizeof(T));
            transpose_tile(to, dst_stride, tile, kTileCols<T>, m, n, false);
        }
    }
}

// ---- rectangles between strided and packed memory ----

// Rows in pieces of kBytes, the last of which overlaps the one before.
template <int kBytes>
inline void copy_rows_by(char* dst, int64_t dst_step, const char* src, int64_t src_step,
                         int64_t rows, int64_t bytes) {
    typedef char Piece __attribute__((vector_size(kBytes), aligned(1), may_alias));
    const auto move = [](char* to, const char* from) __attribute__((always_inline)) {
        *reinterpret_cast<Piece*>(to) = *reinterpret_cast<const Piece*>(from);
    };
    const int64_t last = bytes - kBytes;
    for (; rows > 0; --rows, dst += dst_step, src += src_step) {
        for (int64_t i = 0; i < last; i += kBytes) move(dst + i, src + i);
        move(dst + last, src + last);
    }
}

// Rows longer than this are worth a call of memcpy each.
constexpr int64_t kLongRow = 2048;

void copy_rows(void* out, int64_t dst_step, const void* in, int64_t src_step, int64_t rows,
               int64_t bytes) {
    char* dst = static_cast<char*>(out);
    const char* src = static_cast<const char*>(in);
    if (dst_step == bytes && src_step == bytes) {
        bytes *= rows;
        rows = 1;
    }
    if (bytes > kLongRow) {
        for (int64_t r = 0; r < rows; ++r)
            memcpy(dst + r * dst_step, src + r * src_step, static_cast<size_t>(bytes));
    } else if (bytes >= kVectorBytes) {
        copy_rows_by<kVectorBytes>(dst, dst_step, src, src_step, rows, bytes);
    } else if (bytes >= 16) {
        copy_rows_by<16>(dst, dst_step, src, src_step, rows, bytes);
    } else if (bytes >= 8) {
        copy_rows_by<8>(dst, dst_step, src, src_step, rows, bytes);
    } else if (bytes >= 4) {
        copy_rows_by<4>(dst, dst_step, src, src_step, rows, bytes);
    } else if (bytes >= 2) {
        copy_rows_by<2>(dst, dst_step, src, src_step, rows, bytes);
    } else {
        for (int64_t r = 0; r < rows; ++r) dst[r * dst_step] = src[r * src_step];
    }
}

// The first of `rows` packed rows again and again.
template <class T>
void repeat_row(T* dst, int64_t rows, int64_t cols) {
    for (int64_t done = 1; done < rows;) {
        const int64_t more = min_of(done, rows - done);
        memcpy(dst + done * cols, dst, static_cast<size_t>(more * cols) * sizeof(T));
        done += more;
    }
}

template <class T, int kCols>
void spread(T* dst, const T* src, int64_t rows, int64_t row_stride) {
    for (int64_t r = 0; r < rows; ++r)
        for (int k = 0; k < kCols; ++k) dst[r * kCols + k] = src[r * row_stride];
}
// Each of `rows` elements `cols` times.
template <class T>
void repeat_each(T* dst, const T* src, int64_t rows, int64_t cols, int64_t row_stride) {
    if (cols == 2) return spread<T, 2>(dst, src, rows, row_stride);
    if (cols == 3) return spread<T, 3>(dst, src, rows, row_stride);
    if (cols == 4) return spread<T, 4>(dst, src, rows, row_stride);
    for (int64_t r = 0; r < rows; ++r) fill_value(dst + r * cols, src[r * row_stride], cols);
}

inline int64_t size_of(int64_t stride) { return stride < 0 ? -stride : stride; }
// Fewer columns than this are moved column by column.
constexpr int64_t kFewCols = 8;

// dst[r * cols + c] = src[r * row_stride + c * col_stride]
template <class T>
void pack(void* out, const void* in, int64_t rows, int64_t cols, int64_t row_stride,
          int64_t col_stride) {
    constexpr auto kBytes = static_cast<int64_t>(sizeof(T));
    T* dst = static_cast<T*>(out);
    const T* src = static_cast<const T*>(in);
    if (rows == 1) {
        gather<T>(dst, src, cols, col_stride);
    } else if (row_stride == 0) {
        gather<T>(dst, src, cols, col_stride);
        repeat_row(dst, rows, cols);
    } else if (col_stride == 1) {
        copy_rows(dst, cols * kBytes, src, row_stride * kBytes, rows, cols * kBytes);
    } else if (col_stride == 0) {
        repeat_each(dst, src, rows, cols, row_stride);
    } else if (row_stride == 1) {
        transpose<T>(dst, cols, src, col_stride, cols, rows);
    } else if (row_stride == -1) {
        transpose<T>(dst + (rows - 1) * cols, -cols, src - (rows - 1), col_stride, cols, rows);
    } else if (cols < kFewCols || size_of(row_stride) < size_of(col_stride)) {
        for (int64_t c = 0; c < cols; ++c)
            for (int64_t r = 0; r < rows; ++r)
                dst[r * cols + c] = src[r * row_stride + c * col_stride];
    } else {
        for (int64_t r = 0; r < rows; ++r)
            gather<T>(dst + r * cols, src + r * row_stride, cols, col_stride);
    }
}

// dst[r * row_stride + c * col_stride] = src[r * cols + c]
template <class T>
void unpack(void* out, const void* in, int64_t rows, int64_t cols, int64_t row_stride,
            int64_t col_stride) {
    constexpr auto kBytes = static_cast<int64_t>(sizeof(T));
    T* dst = static_cast<T*>(out);
    const T* src = static_cast<const T*>(in);
    if (rows == 1) {
        scatter<T>(dst, src, cols, col_stride);
    } else if (col_stride == 1) {
        copy_rows(dst, row_stride * kBytes, src, cols * kBytes, rows, cols * kBytes);
    } else if (row_stride == 1) {
        transpose<T>(dst, col_stride, src, cols, rows, cols);
    } else if (cols < kFewCols || size_of(row_stride) < size_of(col_stride)) {
        for (int64_t c = 0; c < cols; ++c)
            for (int64_t r = 0; r < rows; ++r)
                dst[r * row_stride + c * col_stride] = src[r * cols + c];
    } else {
        for (int64_t r = 0; r < rows; ++r)
            scatter<T>(dst + r * row_stride, src + r * cols, cols, col_stride);
    }
}

// A copy past the caches: whole lines are written without being read first.
void stream(void* out, const void* in, int64_t bytes) {
    char* dst = static_cast<char*>(out);
    const char* src = static_cast<const char*>(in);
#if defined(__x86_64__)
    const int64_t head = min_of(-reinterpret_cast<intptr_t>(dst) & 63, bytes);
    memcpy(dst, src, static_cast<size_t>(head));
    int64_t i = head;
    for (; i + 64 <= bytes; i += 64) {
#if defined(__AVX512F__)
        _mm512_stream_si512(reinterpret_cast<__m512i*>(dst + i), _mm512_loadu_si512(src + i));
#else
        for (int k = 0; k < 64; k += 16)
            _mm_stream_si128(reinterpret_cast<__m128i*>(dst + i + k),
                             _mm_loadu_si128(reinterpret_cast<const __m128i*>(src + i + k)));
#endif
    }
    memcpy(dst + i, src + i, static_cast<size_t>(bytes - i));
#else
    memcpy(dst, src, static_cast<size_t>(bytes));
#endif
}

template <class T>
void fill_width(KernelTable& t) {
    constexpr int kLog = __builtin_ctz(static_cast<unsigned>(sizeof(T)));
    t.gather[kLog] = gather<T>;
    t.scatter[kLog] = scatter<T>;
    t.fill[kLog] = fill<T>;
    t.transpose[kLog] = transpose<T>;
    t.pack[kLog] = pack<T>;
    t.unpack[kLog] = unpack<T>;
}

}  // namespace

void fill_copy(KernelTable& t) {
    fill_width<uint8_t>(t);
    fill_width<uint16_t>(t);
    fill_width<uint32_t>(t);
    fill_width<uint64_t>(t);
    fill_width<Wide>(t);
    t.stream = stream;
}

}  // namespace asc::cpu::ASC_ISA
