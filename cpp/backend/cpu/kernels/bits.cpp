// Packed bool: logic on words, and ranges of bits at any offset.
//
// A range of n bits at bit b of p touches the bytes [b / 8, (b + n - 1) / 8] only; of the first
// and last byte of a destination the other bits keep their values.
#include "backend/cpu/kernels/lane.h"

namespace asc::cpu::ASC_ISA {
namespace {

// ---- elementwise ----

struct And {
    static uint64_t apply(uint64_t a, uint64_t b) { return a & b; }
};
struct Or {
    static uint64_t apply(uint64_t a, uint64_t b) { return a | b; }
};
struct Xor {
    static uint64_t apply(uint64_t a, uint64_t b) { return a ^ b; }
};
struct Equal {
    static uint64_t apply(uint64_t a, uint64_t b) { return ~(a ^ b); }
};

// A step of 0 repeats a scalar's word.
inline int64_t step(unsigned scalars, int k) { return scalars >> k & 1 ? 0 : 1; }

template <class F>
void binary(void* out, const void* const* src, int64_t n, unsigned scalars) {
    uint64_t* dst = static_cast<uint64_t*>(out);
    const int64_t count = words(n);
    const int64_t k = scalars & 1;  // every operation commutes: the scalar goes last
    const uint64_t* a = static_cast<const uint64_t*>(src[k]);
    const uint64_t* b = static_cast<const uint64_t*>(src[1 - k]);
    if (scalars == 3) return fill_value(dst, F::apply(*a, *b), count);
    if (scalars) {
        const uint64_t y = *b;
        ASC_VECTOR_LOOP
        for (int64_t i = 0; i < count; ++i) dst[i] = F::apply(a[i], y);
    } else {
        ASC_VECTOR_LOOP
        for (int64_t i = 0; i < count; ++i) dst[i] = F::apply(a[i], b[i]);
    }
}

void invert(void* out, const void* const* src, int64_t n, unsigned scalars) {
    uint64_t* dst = static_cast<uint64_t*>(out);
    const uint64_t* a = static_cast<const uint64_t*>(src[0]);
    const int64_t s = step(scalars, 0);
    ASC_VECTOR_LOOP
    for (int64_t i = 0; i < words(n); ++i) dst[i] = ~a[i * s];
}

void where(void* out, const void* const* src, int64_t n, unsigned scalars) {
    uint64_t* dst = static_cast<uint64_t*>(out);
    const uint64_t* c = static_cast<const uint64_t*>(src[0]);
    const uint64_t* a = static_cast<const uint64_t*>(src[1]);
    const uint64_t* b = static_cast<const uint64_t*>(src[2]);
    const int64_t sc = step(scalars, 0), sa = step(scalars, 1), sb = step(scalars, 2);
    ASC_VECTOR_LOOP
    for (int64_t i = 0; i < words(n); ++i)
        dst[i] = b[i * sb] ^ (c[i * sc] & (a[i * sa] ^ b[i * sb]));
}

// ---- ranges ----

inline uint64_t low_bits(int64_t n) { return n >= 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1; }

// The n <= 64 bits at bit `bit` of p; reads the bytes of these bits only.
inline uint64_t read_bits(const uint8_t* p, int64_t bit, int64_t n) {
    p += bit >> 3;
    const int shift = static_cast<int>(bit & 7);
    if (n > 56) {
        const uint64_t w = *reinterpret_cast<const Word*>(p) >> shift;
        if (shift + n <= 64) return w & low_bits(n);
        return (w | static_cast<uint64_t>(p[8]) << (64 - shift)) & low_bits(n);
    }
    const int64_t bytes = (shift + n + 7) >> 3;
    uint64_t w = 0;
    memcpy(&w, p, static_cast<size_t>(bytes < 8 ? bytes : 8));
    w >>= shift;
    if (bytes == 9) w |= static_cast<uint64_t>(p[8]) << (64 - shift);
    return w & low_bits(n);
}

inline void write_byte(uint8_t* p, uint8_t mask, uint64_t bits) {
    *p = static_cast<uint8_t>((*p & ~mask) | (bits & mask));
}

// Writes the low n <= 64 bits of w.
inline void write_bits(uint8_t* p, int64_t bit, int64_t n, uint64_t w) {
    p += bit >> 3;
    const int64_t shift = bit & 7;
    if (shift) {
        const int64_t head = min_of(8 - shift, n);
        write_byte(p++, static_cast<uint8_t>(low_bits(head) << shift), w << shift);
        w = head < 64 ? w >> head : 0;
        n -= head;
    }
    if (n >= 64) {
        memcpy(p, &w, 8);
        return;
    }
    for (; n >= 8; n -= 8, w >>= 8) *p++ = static_cast<uint8_t>(w);
    if (n > 0) write_byte(p, static_cast<uint8_t>(low_bits(n)), w);
}

void copy_bits(uint8_t* dst, int64_t dst_bit, const uint8_t* src, int64_t src_bit, int64_t n) {
    const int64_t head = min_of(-dst_bit & 7, n);
    if (head) write_bits(dst, dst_bit, head, read_bits(src, src_bit, head));
    dst_bit += head, src_bit += head, n -= head;
    uint8_t* d = dst + (dst_bit >> 3);
    const uint8_t* s = src + (src_bit >> 3);
    const int shift = static_cast<int>(src_bit & 7);
    const int64_t count = n >> 6;
    if (shift == 0) {
        memcpy(d, s, static_cast<size_t>(n >> 3));
        const int64_t done = n & ~int64_t{7};
        if (n > done) write_bits(d, done, n - done, read_bits(s, done, n - done));
        return;
    }
    // Two overlapping words hold the 9 bytes of 64 shifted bits.
    for (int64_t i = 0; i < count; ++i) {
        const uint64_t low = *reinterpret_cast<const Word*>(s + 8 * i);
        const uint64_t high = *reinterpret_cast<const Word*>(s + 8 * i + 1);
        *reinterpret_cast<Word*>(d + 8 * i) = low >> shift | high << (8 - shift);
    }
    const int64_t done = 64 * count;
    if (n > done) write_bits(d, done, n - done, read_bits(s, shift + done, n - done));
}

void fill_range(uint8_t* dst, int64_t bit, int64_t n, bool value) {
    const uint64_t w = value ? ~uint64_t{0} : 0;
    const int64_t head = min_of(-bit & 7, n);
    if (head) write_bits(dst, bit, head, w);
    bit += head, n -= head;
    memset(dst + (bit >> 3), static_cast<int>(w & 0xff), static_cast<size_t>(n >> 3));
    if (n & 7) write_bits(dst, bit + (n & ~int64_t{7}), n & 7, w);
}

int64_t count_bits(const uint8_t* src, int64_t bit, int64_t n) {
    const int64_t head = min_of(-bit & 7, n);
    int64_t total = __builtin_popcountll(read_bits(src, bit, head));
    bit += head, n -= head;
    const uint8_t* p = src + (bit >> 3);
    int64_t sums[4] = {};
    for (; n >= 256; n -= 256, p += 32)
        for (int k = 0; k < 4; ++k)
            sums[k] += __builtin_popcountll(*reinterpret_cast<const Word*>(p + 8 * k));
    total += sums[0] + sums[1] + sums[2] + sums[3];
    for (; n > 0; n -= 64, p += 8) total += __builtin_popcountll(read_bits(p, 0, min_of(n, 64)));
    return total;
}

// The first i < n whose bit is `value`, or n.
int64_t find_bit(const uint8_t* src, int64_t bit, int64_t n, bool value) {
    const uint64_t flip = value ? 0 : ~uint64_t{0};
    for (int64_t i = 0; i < n; i += 64) {
        const int64_t m = min_of(n - i, 64);
        const uint64_t w = (read_bits(src, bit + i, m) ^ flip) & low_bits(m);
        if (w) return i + __builtin_ctzll(w);
    }
    return n;
}

inline uint64_t reversed(uint64_t x) {
    x = (x >> 1 & 0x5555555555555555u) | (x & 0x5555555555555555u) << 1;
    x = (x >> 2 & 0x3333333333333333u) | (x & 0x3333333333333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0f0f0f0f0fu) | (x & 0x0f0f0f0f0f0f0f0fu) << 4;
    return __builtin_bswap64(x);
}

#if defined(__BMI2__)
// Strides whose bits come several to a word: extracted together.
constexpr int64_t kMostExtracted = 16;

void extract_bits(uint8_t* dst, int64_t dst_bit, const uint8_t* src, int64_t src_bit,
                  int64_t stride, int64_t n) {
    uint64_t mask = 0;
    for (int64_t k = 0; k < 64; k += stride) mask |= uint64_t{1} << k;
    const int64_t each = 63 / stride + 1;
    uint64_t w = 0;
    int64_t filled = 0;
    while (n > 0) {
        const int64_t m = min_of(each, n);
        const uint64_t bits =
            _pext_u64(read_bits(src, src_bit, min_of(64, (m - 1) * stride + 1)), mask);
        w |= bits << filled;
        filled += m;
        if (filled >= 64) {
            write_bits(dst, dst_bit, 64, w);
            dst_bit += 64;
            filled -= 64;
            w = filled ? bits >> (m - filled) : 0;
        }
        src_bit += m * stride;
        n -= m;
    }
    if (filled) write_bits(dst, dst_bit, filled, w);
}
#endif

// n bits of src, `stride` apart, become adjacent.
void gather_bits(uint8_t* dst, int64_t dst_bit, const uint8_t* src, int64_t src_bit, int64_t stride,
                 int64_t n) {
    if (stride == 1) return copy_bits(dst, dst_bit, src, src_bit, n);
    if (stride == 0) return fill_range(dst, dst_bit, n, src[src_bit >> 3] >> (src_bit & 7) & 1);
#if defined(__BMI2__)
    if (stride > 0 && stride <= kMostExtracted)
        return extract_bits(dst, dst_bit, src, src_bit, stride, n);
#endif
    for (int64_t i = 0; i < n; i += 64) {
        const int64_t m = min_of(n - i, 64);
        uint64_t w = 0;
        if (stride == -1) {
            w = reversed(read_bits(src, src_bit - m + 1, m)) >> (64 - m);
            src_bit -= m;
        } else {
            for (int64_t k = 0; k < m; ++k, src_bit += stride)
                w |= static_cast<uint64_t>(src[src_bit >> 3] >> (src_bit & 7) & 1) << k;
        }
        write_bits(dst, dst_bit + i, m, w);
    }
}

// n adjacent bits of src go to places `stride` apart.
void scatter_bits(uint8_t* dst, int64_t dst_bit, int64_t stride, const uint8_t* src,
                  int64_t src_bit, int64_t n) {
    if (stride == 1) return copy_bits(dst, dst_bit, src, src_bit, n);
    for (int64_t i = 0; i < n; i += 64) {
        const int64_t m = min_of(n - i, 64);
        uint64_t w = read_bits(src, src_bit + i, m);
        for (int64_t k = 0; k < m; ++k, w >>= 1, dst_bit += stride)
            write_byte(dst + (dst_bit >> 3), static_cast<uint8_t>(1u << (dst_bit & 7)),
                       (w & 1) << (dst_bit & 7));
    }
}

// A byte of 0 or 1 for each bit.
void unpack_bits(uint8_t* bytes, const uint8_t* src, int64_t bit, int64_t n) {
    for (; n >= 64; n -= 64, bit += 64, bytes += 64) unpack_word(bytes, read_bits(src, bit, 64));
    if (n > 0) {
        uint8_t rest[64];
        unpack_word(rest, read_bits(src, bit, n));
        memcpy(bytes, rest, static_cast<size_t>(n));
    }
}

// A bit for each byte, set where the byte is not zero.
void pack_bits(uint8_t* dst, int64_t bit, const uint8_t* bytes, int64_t n) {
    for (; n >= 64; n -= 64, bit += 64, bytes += 64) write_bits(dst, bit, 64, pack_word(bytes));
    if (n > 0) {
        uint8_t rest[64] = {};
        memcpy(rest, bytes, static_cast<size_t>(n));
        write_bits(dst, bit, n, pack_word(rest));
    }
}

}  // namespace

void fill_bits(KernelTable& t) {
    const auto entry = [&t](Op op) -> ElementwiseFn& {
        return t.elementwise[index(op)][index(DType::Bool)];
    };
    entry(Op::BitwiseAnd) = entry(Op::LogicalAnd) = binary<And>;
    entry(Op::BitwiseOr) = entry(Op::LogicalOr) = binary<Or>;
    entry(Op::BitwiseXor) = entry(Op::LogicalXor) = entry(Op::NotEqual) = binary<Xor>;
    entry(Op::Equal) = binary<Equal>;
    entry(Op::BitwiseInvert) = entry(Op::LogicalNot) = invert;
    entry(Op::Where) = where;
    t.copy_bits = copy_bits;
    t.fill_bits = fill_range;
    t.count_bits = count_bits;
    t.find_bit = find_bit;
    t.gather_bits = gather_bits;
    t.scatter_bits = scatter_bits;
    t.unpack_bits = unpack_bits;
    t.pack_bits = pack_bits;
}

}  // namespace asc::cpu::ASC_ISA
