// Reductions over adjacent elements and over columns.
//
// Sums and products of floats follow the fixed shape that table.h describes. Integers wrap and
// minima are of integers, so their order is free.
#include "backend/cpu/kernels/lane.h"

namespace asc::cpu::ASC_ISA {
namespace {

typedef double Doubles __attribute__((vector_size(kVectorBytes)));
constexpr int kWidth = kVectorBytes / 8;

typedef float Floats __attribute__((vector_size(kVectorBytes / 2)));
inline Floats load_half(const float* p) {
    Floats h;
    memcpy(&h, p, sizeof(h));
    return h;
}
inline Doubles widen(Floats h) {
#if defined(__AVX512F__)
    return _mm512_cvtps_pd((__m256)h);  // GCC 12 converts generic vectors in halves
#else
    return __builtin_convertvector(h, Doubles);
#endif
}
inline Doubles load_wide(const double* p) { return load(p); }
inline Doubles load_wide(const float* p) { return widen(load_half(p)); }

// The products of two arrays, in place of an array.
template <class S>
struct Products {
    const S *a, *b;
    S operator[](int64_t i) const { return a[i] * b[i]; }
    Products operator+(int64_t i) const { return {a + i, b + i}; }
};
inline Doubles load_wide(Products<double> p) { return load(p.a) * load(p.b); }
inline Doubles load_wide(Products<float> p) { return widen(load_half(p.a) * load_half(p.b)); }

inline void store(double* p, Doubles v) { memcpy(p, &v, sizeof(v)); }

// ---- floats: what happens to one element, for vectors and for single numbers ----

struct Sum {
    static constexpr int kPlanes = 1;
    static constexpr double kStart = -0.0;  // x + -0.0 is x, also for x = -0.0
    template <class V>
    static void step(V* acc, V x, V) {
        acc[0] += x;
    }
    template <class V>
    static V merge(V a, V b) {
        return a + b;
    }
};
struct Moments {
    static constexpr int kPlanes = 2;
    static constexpr double kStart = 0;
    template <class V>
    static void step(V* acc, V x, V center) {
        const V d = x - center;
        acc[0] += d;
        acc[1] += d * d;
    }
    template <class V>
    static V merge(V a, V b) {
        return a + b;
    }
};

template <class F>
inline void merge_into(double* acc, const double* part, int64_t n) {
    ASC_VECTOR_LOOP
    for (int64_t j = 0; j < n; ++j) acc[j] = F::merge(acc[j], part[j]);
}

// Combines lanes of `width` numbers each, `count` of which exist, into lane 0.
template <class F>
inline void fold_lanes(double* lanes, int64_t count, int64_t width) {
    for (int64_t half = kReduceLanes / 2; half > 0; half /= 2) {
        if (count <= half) continue;
        merge_into<F>(lanes, lanes + half * width, (count - half) * width);
        count = half;
    }
}

// One block of n elements of Parts numbers each; the lanes live in registers.
template <class F, int Parts, bool Whole, class Source>
inline void reduce_block(double* out, int64_t plane, Source src, int64_t n, double center) {
    constexpr int kRow = static_cast<int>(kReduceLanes) * Parts;
    constexpr int kVectors = kRow / kWidth;
    const int64_t total = (Whole ? kReduceBlock : n) * Parts;
    const int64_t rest = Whole ? 0 : total % kRow;
    Doubles acc[kVectors][F::kPlanes];
    const Doubles c = broadcast(center);
#pragma GCC unroll 32
    for (int v = 0; v < kVectors; ++v)
        for (int p = 0; p < F::kPlanes; ++p) acc[v][p] = broadcast(F::kStart);
    // Unrolled whole, GCC reads the memory out of order.
#pragma GCC unroll 1
    for (int64_t k = 0; k < total - rest; k += kRow) {
#pragma GCC unroll 32
        for (int v = 0; v < kVectors; ++v) F::step(acc[v], load_wide(src + k + v * kWidth), c);
    }
    double lanes[F::kPlanes][kRow];
#pragma GCC unroll 2
    for (int p = 0; p < F::kPlanes; ++p) {
        if (!Whole) {
#pragma GCC unroll 32
            for (int v = 0; v < kVectors; ++v) store(lanes[p] + v * kWidth, acc[v][p]);
            continue;
        }
#pragma GCC unroll 8
        for (int half = kVectors / 2; half > 0; half /= 2) {
#pragma GCC unroll 32
            for (int v = 0; v < half; ++v) acc[v][p] = F::merge(acc[v][p], acc[v + half][p]);
        }
        store(lanes[p], acc[0][p]);
    }
    for (int64_t j = 0; j < rest; ++j) {
        double a[F::kPlanes];
        for (int p = 0; p < F::kPlanes; ++p) a[p] = lanes[p][j];
        F::step(a, static_cast<double>(src[total - rest + j]), center);
        for (int p = 0; p < F::kPlanes; ++p) lanes[p][j] = a[p];
    }
    // Lanes without elements hold the neutral start.
    constexpr int kFirst = Whole ? kWidth / 2 : kRow / 2;
#pragma GCC unroll 2
    for (int p = 0; p < F::kPlanes; ++p) {
#pragma GCC unroll 8
        for (int half = kFirst; half >= Parts; half /= 2) {
#pragma GCC unroll 32
            for (int j = 0; j < half; ++j) lanes[p][j] = F::merge(lanes[p][j], lanes[p][j + half]);
        }
        for (int j = 0; j < Parts; ++j) out[p * plane + j] = lanes[p][j];
    }
}

// Up to kReduceLanes elements: one in each lane.
template <class F, int Parts, class Source>
void few_elements(double* out, int64_t plane, Source src, int64_t n, double center) {
    double lanes[F::kPlanes][kReduceLanes * Parts];
    for (int64_t j = 0; j < n * Parts; ++j) {
        double a[F::kPlanes];
        for (int p = 0; p < F::kPlanes; ++p) a[p] = F::kStart;
        F::step(a, static_cast<double>(src[j]), center);
        for (int p = 0; p < F::kPlanes; ++p) lanes[p][j] = a[p];
    }
    for (int p = 0; p < F::kPlanes; ++p) {
        fold_lanes<F>(lanes[p], n, Parts);
        for (int j = 0; j < Parts; ++j) out[p * plane + j] = lanes[p][j];
    }
}

template <class F, int Parts, class Source>
[[gnu::noinline]] void part_block(double* out, int64_t plane, Source src, int64_t n,
                                  double center) {
    if (n <= kReduceLanes) return few_elements<F, Parts>(out, plane, src, n, center);
    reduce_block<F, Parts, false>(out, plane, src, n, center);
}

template <class F, int Parts, class Source>
inline void run_blocks(void* out, Source src, int64_t n, double c) {
    constexpr int64_t kBlocks = kReduceRun / kReduceBlock;
    double blocks[F::kPlanes][kBlocks * Parts];
    int64_t count = 0;
    for (; n >= kReduceBlock; n -= kReduceBlock, src = src + kReduceBlock * Parts)
        reduce_block<F, Parts, true>(blocks[0] + Parts * count++, kBlocks * Parts, src, 0, c);
    if (n > 0) part_block<F, Parts>(blocks[0] + Parts * count++, kBlocks * Parts, src, n, c);
    for (int p = 0; p < F::kPlanes; ++p) {
        double* b = blocks[p];
        for (int64_t left = count; left > 1; left = (left + 1) / 2) {
            for (int64_t i = 0; i < left / 2; ++i)
                for (int j = 0; j < Parts; ++j)
                    b[i * Parts + j] = F::merge(b[2 * i * Parts + j], b[(2 * i + 1) * Parts + j]);
            if (left & 1)
                for (int j = 0; j < Parts; ++j) b[left / 2 * Parts + j] = b[(left - 1) * Parts + j];
        }
        for (int j = 0; j < Parts; ++j) static_cast<double*>(out)[p * Parts + j] = b[j];
    }
}
template <class F, class S, int Parts>
void float_run(void* out, const void* in, int64_t n, const double* center) {
    run_blocks<F, Parts>(out, static_cast<const S*>(in), n, center ? *center : 0);
}
template <class S>
void sum_products(void* out, const void* a, const void* b, int64_t n) {
    const Products<S> products{static_cast<const S*>(a), static_cast<const S*>(b)};
    run_blocks<Sum, 1>(out, products, n, 0);
}

// acc[j] = src[j], src[stride + j], ... combined in order, `rows` of them; planes are `plane`
// apart.
template <class F, class S>
[[gnu::noinline]] void float_rows(double* acc, int64_t plane, const S* src, int64_t stride,
                                  int64_t rows, int64_t cols, const double* center) {
    constexpr int kUnroll = 4;
    const auto vectors = [&]<int N>(int64_t j, TypeTag<int[N]>) {
        Doubles a[N][F::kPlanes], c[N];
#pragma GCC unroll 4
        for (int v = 0; v < N; ++v) {
            c[v] = F::kPlanes > 1 ? load(center + j + v * kWidth) : Doubles{};
            for (int p = 0; p < F::kPlanes; ++p) a[v][p] = broadcast(F::kStart);
        }
        for (int64_t k = 0; k < rows; ++k)
#pragma GCC unroll 4
            for (int v = 0; v < N; ++v)
                F::step(a[v], load_wide(src + k * stride + j + v * kWidth), c[v]);
#pragma GCC unroll 4
        for (int v = 0; v < N; ++v)
            for (int p = 0; p < F::kPlanes; ++p) store(acc + p * plane + j + v * kWidth, a[v][p]);
    };
    int64_t j = 0;
    for (; j + kUnroll * kWidth <= cols; j += kUnroll * kWidth) vectors(j, TypeTag<int[kUnroll]>{});
    for (; j + kWidth <= cols; j += kWidth) vectors(j, TypeTag<int[1]>{});
    for (; j < cols; ++j) {
        double a[F::kPlanes];
        for (int p = 0; p < F::kPlanes; ++p) a[p] = F::kStart;
        for (int64_t k = 0; k < rows; ++k)
            F::step(a, static_cast<double>(src[k * stride + j]), F::kPlanes > 1 ? center[j] : 0);
        for (int p = 0; p < F::kPlanes; ++p) acc[p * plane + j] = a[p];
    }
}

template <class F, class S>
struct Columns {
    const S* src;
    int64_t stride, rows, cols;
    const double* center;

    // The combination of lanes lane, lane + step, ...; slots follow for the right branches.
    void lanes(double* slot, int64_t lane, int64_t step) const {
        if (step == kReduceLanes) {
            const int64_t count = (rows - lane + kReduceLanes - 1) / kReduceLanes;
            float_rows<F>(slot, cols, src + lane * stride, kReduceLanes * stride, count, cols,
                          center);
            return;
        }
        lanes(slot, lane, 2 * step);
        if (lane + step >= rows) return;
        double* right = slot + F::kPlanes * cols;
        lanes(right, lane + step, 2 * step);
        merge_into<F>(slot, right, F::kPlanes * cols);
    }
};

// Few columns without gaps: kReduceLanes rows are one long row.
constexpr int64_t kFewColumns = 32;

template <class F, class S>
void few_columns(double* acc, const S* src, int64_t rows, int64_t cols, const double* center) {
    double lanes[F::kPlanes * kReduceLanes * kFewColumns];
    double centers[F::kPlanes > 1 ? kReduceLanes * kFewColumns : 1];
    const int64_t row = kReduceLanes * cols;
    if (F::kPlanes > 1)
        for (int64_t j = 0; j < row; ++j) centers[j] = center[j % cols];
    const int64_t total = rows * cols;
    const int64_t rest = total % row;
    // Lanes that the last, incomplete row reaches, then the others.
    float_rows<F>(lanes, row, src, row, total / row + 1, rest, centers);
    if (total >= row)
        float_rows<F>(lanes + rest, row, src + rest, row, total / row, row - rest,
                      F::kPlanes > 1 ? centers + rest : centers);
    for (int p = 0; p < F::kPlanes; ++p) {
        fold_lanes<F>(lanes + p * row, min_of(rows, kReduceLanes), cols);
        memcpy(acc + p * cols, lanes + p * row, static_cast<size_t>(cols) * sizeof(double));
    }
}

template <class F, class S>
[[gnu::noinline]] void real_columns(double* acc, const S* src, int64_t row_stride, int64_t rows,
                                    int64_t cols, const double* center) {
    constexpr int64_t kSlots = 6;  // one for each level of the tree of lanes
    if (row_stride == cols && cols <= kFewColumns)
        return few_columns<F>(acc, src, rows, cols, center);
    double slots[kSlots * F::kPlanes * kReduceColumns];
    Columns<F, S>{src, row_stride, rows, cols, center}.lanes(slots, 0, 1);
    memcpy(acc, slots, static_cast<size_t>(F::kPlanes * cols) * sizeof(double));
}

template <class F, class S, int Parts>
void float_columns(void* acc, const void* src, int64_t row_stride, int64_t rows, int64_t cols,
                   const double* center) {
    real_columns<F>(static_cast<double*>(acc), static_cast<const S*>(src), row_stride * Parts, rows,
                    cols * Parts, center);
}

template <class F, int Numbers>
void float_merge(void* acc, const void* part, int64_t n) {
    merge_into<F>(static_cast<double*>(acc), static_cast<const double*>(part), n * Numbers);
}

template <class F, class S, int Parts>
constexpr ReduceKernels float_kernels() {
    return {float_run<F, S, Parts>,
            float_columns<F, S, Parts>,
            float_merge<F, F::kPlanes * Parts>,
            nullptr,
            8 * Parts,
            F::kPlanes};
}

// ---- products, one factor after the other: infinities and zeros meet as in multiplication ----

struct Number {
    double re, im;
};
inline Number operator*(Number a, Number b) {
    // A difference beside a sum: GCC 12 would fuse both with their products.
    return {a.re * b.re + -a.im * b.im, a.re * b.im + a.im * b.re};
}
inline Number operator+(Number a, Number b) { return {a.re + b.re, a.im + b.im}; }

template <class T>
void product_run(void* acc, const void* in, int64_t n, const double*) {
    const T* src = static_cast<const T*>(in);
    T product = *static_cast<T*>(acc);
    for (int64_t i = 0; i < n; ++i) product = product * src[i];
    *static_cast<T*>(acc) = product;
}

template <class T>
void product_columns(void* out, const void* in, int64_t row_stride, int64_t rows, int64_t cols,
                     const double*) {
    T* acc = static_cast<T*>(out);
    const T* src = static_cast<const T*>(in);
    for (; rows > 0; --rows, src += row_stride)
        for (int64_t j = 0; j < cols; ++j) acc[j] = acc[j] * src[j];
}

template <class T>
constexpr ReduceKernels product_kernels() {
    return {product_run<T>, product_columns<T>, nullptr, nullptr, sizeof(T), 1};
}

// ---- scans ----

// The running sums of a group, in place; the sums of a prefix do not depend on what follows.
template <class T>
inline void scan_group(T* x) {
    x[1] = x[0] + x[1], x[5] = x[4] + x[5];
    x[3] = x[2] + x[3], x[7] = x[6] + x[7];
    x[2] = x[1] + x[2], x[6] = x[5] + x[6];
    x[3] = x[1] + x[3], x[7] = x[5] + x[7];
    for (int k = 4; k < 8; ++k) x[k] = x[3] + x[k];
}

// Scans one whole group; the chain from group to group is one addition long.
template <class T>
inline T scan_whole_group(T* dst, const T* src, T carry, T base) {
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 8) {
        // -0 changes no number; the positions 8 pick it.
        const Vec<T> zero = broadcast(static_cast<T>(kIsFloat<T> ? -0.0 : 0));
        Vec<T> x = load(src);
        x = __builtin_shufflevector(x, zero, 8, 0, 8, 2, 8, 4, 8, 6) + x;
        x = __builtin_shufflevector(x, zero, 8, 8, 1, 1, 8, 8, 5, 5) + x;
        x = __builtin_shufflevector(x, zero, 8, 8, 8, 8, 3, 3, 3, 3) + x;
        const T next = carry + x[7];
        x = broadcast(base) + (broadcast(carry) + x);
        if (dst) memcpy(dst, &x, sizeof(x));
        return next;
    }
#endif
    T x[kScanGroup];
    for (int k = 0; k < kScanGroup; ++k) x[k] = src[k];
    scan_group(x);
    const T next = carry + x[kScanGroup - 1];
    for (int k = 0; dst && k < kScanGroup; ++k) dst[k] = base + (carry + x[k]);
    return next;
}

template <class T>
void scan_sum_run(void* out, void* carry_of_chunk, const void* base_of_chunk, const void* in,
                  int64_t n) {
    T* dst = static_cast<T*>(out);
    const T* src = static_cast<const T*>(in);
    const T base = *static_cast<const T*>(base_of_chunk);
    T carry = *static_cast<T*>(carry_of_chunk);
    for (; n >= kScanGroup; n -= kScanGroup, src += kScanGroup) {
        carry = scan_whole_group(dst, src, carry, base);
        if (dst) dst += kScanGroup;
    }
    if (n > 0) {
        T x[kScanGroup] = {};
        memcpy(x, src, static_cast<size_t>(n) * sizeof(T));
        scan_group(x);
        for (int64_t k = 0; dst && k < n; ++k) dst[k] = base + (carry + x[k]);
        carry = carry + x[n - 1];
    }
    *static_cast<T*>(carry_of_chunk) = carry;
}

template <class T>
void scan_sum_columns(void* out, void* carry_of_chunk, const void* base_of_chunk, const void* in,
                      int64_t rows, int64_t cols) {
    T* dst = static_cast<T*>(out);
    const T* src = static_cast<const T*>(in);
    T* carry = static_cast<T*>(carry_of_chunk);
    const T* base = static_cast<const T*>(base_of_chunk);
    for (; rows >= kScanGroup; rows -= kScanGroup) {
        ASC_VECTOR_LOOP
        for (int64_t j = 0; j < cols; ++j) {
            T x[kScanGroup];
            for (int k = 0; k < kScanGroup; ++k) x[k] = src[k * cols + j];
            scan_group(x);
            for (int k = 0; k < kScanGroup; ++k) x[k] = carry[j] + x[k];
            carry[j] = x[kScanGroup - 1];
            for (int k = 0; k < kScanGroup; ++k) dst[k * cols + j] = base[j] + x[k];
        }
        src += kScanGroup * cols;
        dst += kScanGroup * cols;
    }
    for (int64_t j = 0; rows > 0 && j < cols; ++j) {
        T x[kScanGroup] = {};
        for (int64_t k = 0; k < rows; ++k) x[k] = src[k * cols + j];
        scan_group(x);
        for (int64_t k = 0; k < rows; ++k) dst[k * cols + j] = base[j] + (carry[j] + x[k]);
        carry[j] = carry[j] + x[rows - 1];
    }
}

template <class T>
void scan_prod_run(void* out, void* carry, const void*, const void* in, int64_t n) {
    T* dst = static_cast<T*>(out);
    const T* src = static_cast<const T*>(in);
    T product = *static_cast<T*>(carry);
    for (int64_t i = 0; i < n; ++i) dst[i] = product = product * src[i];
    *static_cast<T*>(carry) = product;
}

template <class T>
void scan_prod_columns(void* out, void* carry, const void*, const void* in, int64_t rows,
                       int64_t cols) {
    T* dst = static_cast<T*>(out);
    const T* src = static_cast<const T*>(in);
    T* acc = static_cast<T*>(carry);
    for (int64_t i = 0; i < rows; ++i, src += cols, dst += cols) {
        ASC_VECTOR_LOOP
        for (int64_t j = 0; j < cols; ++j) dst[j] = acc[j] = acc[j] * src[j];
    }
}

template <class T>
void fill_ordered(KernelTable& t, DType dtype) {
    t.reduce[static_cast<int>(ReduceOp::Prod)][index(dtype)] = product_kernels<T>();
    t.scan_sum[index(dtype)] = {scan_sum_run<T>, scan_sum_columns<T>};
    t.scan_prod[index(dtype)] = {scan_prod_run<T>, scan_prod_columns<T>};
}

// ---- integers: any order ----

template <bool Signed>
struct Word64 {
    using type = int64_t;
};
template <>
struct Word64<false> {
    using type = uint64_t;
};
// What sums a few numbers of T without overflow, or wraps where 64 bits do.
template <class T>
struct SumType {
    using type = typename Word64<kIsSigned<T>>::type;
};
template <>
struct SumType<int8_t> {
    using type = int32_t;
};
template <>
struct SumType<uint8_t> {
    using type = int32_t;
};
template <>
struct SumType<int16_t> {
    using type = int32_t;
};
template <>
struct SumType<uint16_t> {
    using type = int32_t;
};
template <class T>
using TypeOfSum = typename SumType<T>::type;

template <class T>
void sum_run(void* acc, const void* in, int64_t n, const double*) {
    const T* src = static_cast<const T*>(in);
    uint64_t total = 0;
    for (int64_t i = 0; i < n; i += kReduceBlock) {
        UInt<TypeOfSum<T>> sum = 0;  // 512 numbers of 16 bits stay within 32
        for (int64_t k = i; k < min_of(n, i + kReduceBlock); ++k)
            sum += static_cast<UInt<TypeOfSum<T>>>(src[k]);
        total += static_cast<uint64_t>(static_cast<TypeOfSum<T>>(sum));
    }
    *static_cast<uint64_t*>(acc) = total;
}

void sum_merge(void* acc, const void* part, int64_t n) {
    uint64_t* a = static_cast<uint64_t*>(acc);
    for (int64_t i = 0; i < n; ++i) a[i] += static_cast<const uint64_t*>(part)[i];
}

// Few columns without gaps, `joined` rows of which make one row of up to 64 numbers.
inline int64_t rows_to_join(int64_t row_stride, int64_t cols) {
    return row_stride == cols && cols <= kFewColumns ? 64 / cols : 1;
}

// Combines rows of adjacent columns, four at a time to spare the traffic of accumulators.
template <class T>
[[gnu::noinline]] void sum_rows(uint64_t* acc, const T* src, int64_t stride, int64_t rows,
                                int64_t cols) {
    // The sum of four numbers of up to 16 bits is an int.
    using Part = UInt<TypeOfSum<T>>;
    for (; rows >= 4; rows -= 4, src += 4 * stride) {
        ASC_VECTOR_LOOP
        for (int64_t j = 0; j < cols; ++j)
            acc[j] += static_cast<uint64_t>(static_cast<TypeOfSum<T>>(
                (static_cast<Part>(src[j]) + static_cast<Part>(src[stride + j])) +
                (static_cast<Part>(src[2 * stride + j]) + static_cast<Part>(src[3 * stride + j]))));
    }
    for (; rows > 0; --rows, src += stride) {
        ASC_VECTOR_LOOP
        for (int64_t j = 0; j < cols; ++j) acc[j] += static_cast<uint64_t>(src[j]);
    }
}

template <class T>
void sum_columns(void* out, const void* in, int64_t row_stride, int64_t rows, int64_t cols,
                 const double*) {
    uint64_t* acc = static_cast<uint64_t*>(out);
    const T* src = static_cast<const T*>(in);
    fill_value<uint64_t>(acc, 0, cols);
    if (const int64_t joined = rows_to_join(row_stride, cols); joined > 1) {
        uint64_t lanes[64] = {};
        sum_rows(lanes, src, joined * cols, rows / joined, joined * cols);
        for (int64_t i = 0; i < joined * cols; ++i) acc[i % cols] += lanes[i];
        src += rows / joined * joined * cols;
        rows %= joined;
    }
    sum_rows(acc, src, row_stride, rows, cols);
}

// ---- columns of packed bool ----

typedef uint64_t BitRow __attribute__((vector_size(kCountColumns / 8)));

// digit + a + b for each bit: the new digit, and the carry.
inline void add_digits(BitRow& digit, const BitRow& a, const BitRow& b, BitRow& carry) {
    const BitRow sum = a ^ b;
    carry = (a & b) | (sum & digit);
    digit ^= sum;
}

// Adds the bits of each column as a counter of kPlanes binary digits, eight rows at a time.
void count_columns(uint64_t* counts, const uint64_t* bits, int64_t rows, int64_t cols) {
    constexpr int kPlanes = 10;  // up to 512 rows
    constexpr int64_t kWords = kCountColumns / 64;
    BitRow digits[kPlanes] = {};
    for (int64_t i = 0; i < rows; i += 8, bits += 8 * kWords) {
        BitRow x[8] = {};
        for (int64_t k = 0; k < min_of(8, rows - i); ++k)
            memcpy(&x[k], bits + k * kWords, sizeof(x[k]));
        BitRow twos[4], fours[2], carry;
        for (int k = 0; k < 4; ++k) add_digits(digits[0], x[2 * k], x[2 * k + 1], twos[k]);
        for (int k = 0; k < 2; ++k) add_digits(digits[1], twos[2 * k], twos[2 * k + 1], fours[k]);
        add_digits(digits[2], fours[0], fours[1], carry);
        for (int p = 3; p < kPlanes; ++p) {
            const BitRow next = digits[p] & carry;
            digits[p] ^= carry;
            carry = next;
        }
    }
    for (int64_t w = 0; 64 * w < cols; ++w) {
        uint16_t sums[64] = {};
        for (int p = 0; p < kPlanes; ++p) {
            uint8_t bytes[64];
            uint64_t words[kWords];
            memcpy(words, &digits[p], sizeof(words));
            unpack_word(bytes, words[w]);
            for (int j = 0; j < 64; ++j) sums[j] = static_cast<uint16_t>(sums[j] + (bytes[j] << p));
        }
        for (int64_t j = 0; j < min_of(64, cols - 64 * w); ++j) counts[64 * w + j] = sums[j];
    }
}

// ---- minima and maxima ----

// Integers are their own keys.
template <class T>
struct IntKey {
    using Element = T;
    using Key = T;
    static constexpr Key kLeast = kIsSigned<T> ? static_cast<T>(T(1) << (8 * sizeof(T) - 1)) : T(0);
    static constexpr Key kMost = static_cast<T>(~kLeast);
    static Key of(Key x) { return x; }
    static T element(Key least, Key most, bool max) { return max ? most : least; }
};
// Floats in the order of their bits: negative ones have their other bits flipped. Infinity is the
// bits of the type's infinity; keys beyond it and its negative belong to NaN.
template <class K, K Infinity>
struct FloatKey {
    using Element = K;
    using Key = K;
    static constexpr Key kMost = static_cast<K>(static_cast<UInt<K>>(~UInt<K>{0}) >> 1);
    static constexpr Key kLeast = static_cast<K>(~kMost);
    static Key of(Key x) { return static_cast<K>(x ^ ((x >> (8 * sizeof(K) - 1)) & kMost)); }
    static K element(Key least, Key most, bool max) {
        constexpr Key kNan = static_cast<K>(Infinity | (Infinity >> 1));
        if (most > Infinity || least < static_cast<K>(~Infinity)) return kNan;
        return of(max ? most : least);
    }
};

template <class T>
inline T smaller(T a, T b) {
    return a < b ? a : b;
}
template <class T>
inline T larger(T a, T b) {
    return a > b ? a : b;
}

template <class K>
void minmax_run(void* acc, const void* in, int64_t n, const double*) {
    using Key = typename K::Key;
    const Key* src = static_cast<const Key*>(in);
    Key least = K::kMost, most = K::kLeast;
    for (int64_t i = 0; i < n; ++i) {
        const Key key = K::of(src[i]);
        least = smaller(least, key);
        most = larger(most, key);
    }
    static_cast<Key*>(acc)[0] = least;
    static_cast<Key*>(acc)[1] = most;
}

template <class K>
[[gnu::noinline]] void minmax_rows(typename K::Key* least, typename K::Key* most,
                                   const typename K::Key* src, int64_t stride, int64_t rows,
                                   int64_t cols) {
    using Key = typename K::Key;
    for (; rows >= 2; rows -= 2, src += 2 * stride) {
        ASC_VECTOR_LOOP
        for (int64_t j = 0; j < cols; ++j) {
            const Key a = K::of(src[j]), b = K::of(src[stride + j]);
            least[j] = smaller(least[j], smaller(a, b));
            most[j] = larger(most[j], larger(a, b));
        }
    }
    for (int64_t j = 0; rows > 0 && j < cols; ++j) {
        least[j] = smaller(least[j], K::of(src[j]));
        most[j] = larger(most[j], K::of(src[j]));
    }
}

template <class K>
void minmax_columns(void* acc, const void* in, int64_t row_stride, int64_t rows, int64_t cols,
                    const double*) {
    using Key = typename K::Key;
    const Key* src = static_cast<const Key*>(in);
    Key* least = static_cast<Key*>(acc);
    Key* most = least + cols;
    fill_value<Key>(least, K::kMost, cols);
    fill_value<Key>(most, K::kLeast, cols);
    if (const int64_t joined = rows_to_join(row_stride, cols); joined > 1) {
        Key lanes[2][64];
        fill_value<Key>(lanes[0], K::kMost, 64);
        fill_value<Key>(lanes[1], K::kLeast, 64);
        minmax_rows<K>(lanes[0], lanes[1], src, joined * cols, rows / joined, joined * cols);
        for (int64_t i = 0; i < joined * cols; ++i) {
            least[i % cols] = smaller(least[i % cols], lanes[0][i]);
            most[i % cols] = larger(most[i % cols], lanes[1][i]);
        }
        src += rows / joined * joined * cols;
        rows %= joined;
    }
    minmax_rows<K>(least, most, src, row_stride, rows, cols);
}

template <class K>
void minmax_merge(void* acc, const void* part, int64_t n) {
    using Key = typename K::Key;
    Key* a = static_cast<Key*>(acc);
    const Key* b = static_cast<const Key*>(part);
    for (int64_t i = 0; i < n; ++i) a[i] = smaller(a[i], b[i]);
    for (int64_t i = n; i < 2 * n; ++i) a[i] = larger(a[i], b[i]);
}

template <class K>
void minmax_finish(void* dst, const void* acc, int64_t n, bool max) {
    using Key = typename K::Key;
    const Key* keys = static_cast<const Key*>(acc);
    for (int64_t i = 0; i < n; ++i)
        static_cast<Key*>(dst)[i] = K::element(keys[i], keys[n + i], max);
}

template <class K>
void fill_minmax(KernelTable& t, DType dtype) {
    t.reduce[static_cast<int>(ReduceOp::MinMax)][index(dtype)] = {
        minmax_run<K>,    minmax_columns<K>,       minmax_merge<K>,
        minmax_finish<K>, sizeof(typename K::Key), 2};
}

template <class T>
void fill_integer(KernelTable& t, DType dtype) {
    t.reduce[static_cast<int>(ReduceOp::Sum)][index(dtype)] = {
        sum_run<T>, sum_columns<T>, sum_merge, nullptr, 8, 1};
    fill_minmax<IntKey<T>>(t, dtype);
}

}  // namespace

void fill_reduce(KernelTable& t) {
    fill_integer<int8_t>(t, DType::Int8);
    fill_integer<int16_t>(t, DType::Int16);
    fill_integer<int32_t>(t, DType::Int32);
    fill_integer<int64_t>(t, DType::Int64);
    fill_integer<uint8_t>(t, DType::UInt8);
    fill_integer<uint16_t>(t, DType::UInt16);
    fill_integer<uint32_t>(t, DType::UInt32);
    fill_integer<uint64_t>(t, DType::UInt64);
    fill_minmax<FloatKey<int16_t, 0x7c00>>(t, DType::Float16);
    fill_minmax<FloatKey<int16_t, 0x7f80>>(t, DType::BFloat16);
    fill_minmax<FloatKey<int32_t, 0x7f800000>>(t, DType::Float32);
    fill_minmax<FloatKey<int64_t, 0x7ff0000000000000>>(t, DType::Float64);

    fill_ordered<uint64_t>(t, DType::Int64);
    fill_ordered<uint64_t>(t, DType::UInt64);
    fill_ordered<double>(t, DType::Float64);
    fill_ordered<Number>(t, DType::Complex128);

    t.count_columns = count_columns;
    auto& sum = t.reduce[static_cast<int>(ReduceOp::Sum)];
    auto& moments = t.reduce[static_cast<int>(ReduceOp::Moments)];
    sum[index(DType::Float32)] = float_kernels<Sum, float, 1>();
    sum[index(DType::Float64)] = float_kernels<Sum, double, 1>();
    sum[index(DType::Complex64)] = float_kernels<Sum, float, 2>();
    sum[index(DType::Complex128)] = float_kernels<Sum, double, 2>();
    sum[index(DType::Float32)].run_products = sum_products<float>;
    sum[index(DType::Float64)].run_products = sum_products<double>;
    moments[index(DType::Float32)] = float_kernels<Moments, float, 1>();
    moments[index(DType::Float64)] = float_kernels<Moments, double, 1>();
}

}  // namespace asc::cpu::ASC_ISA
