// QR of matrices of a few elements, each in a lane of its own: what is done to one is done to all.
#pragma once
#include "backend/cpu/kernels/lane.h"

namespace asc::cpu::ASC_ISA {
namespace {

// The matrices of one vector. Rows of kLaneBytes hold an element, or a part of one, of each.
template <class R, bool kComplex>
class LaneQr {
  public:
    static void run(void* a, void* q, int64_t m, int64_t n, int64_t columns, int64_t count) {
        for (int64_t lane = 0; lane < count; lane += kLanes<R>)
            LaneQr(static_cast<R*>(a) + lane, static_cast<R*>(q) + lane, m, n, columns).factor();
    }

  private:
    using V = Vec<R>;
    using Bits = Vec<UInt<R>>;
    static constexpr int64_t P = kComplex ? 2 : 1;  // rows an element
    static constexpr int64_t kRow = kLaneBytes / static_cast<int64_t>(sizeof(R));

    struct Number {
        V re = {}, im = {};
    };
    static Number read(const R* p) {
        if constexpr (kComplex) return {load(p), load(p + kRow)};
        return {load(p)};
    }
    static void write(R* p, Number x) {
        memcpy(p, &x.re, sizeof x.re);
        if constexpr (kComplex) memcpy(p + kRow, &x.im, sizeof x.im);
    }
    static Number scaled(Number x, V s) { return {x.re * s, x.im * s}; }
    static Number conj(Number x) { return {x.re, -x.im}; }
    // a b + c
    static Number plus_product(Number a, Number b, Number c) {
        if constexpr (!kComplex) return {multiply_add(a.re, b.re, c.re)};
        return {multiply_add(-a.im, b.im, multiply_add(a.re, b.re, c.re)),
                multiply_add(a.im, b.re, multiply_add(a.re, b.im, c.im))};
    }
    // The sum of squares of both parts, and c.
    static V plus_square(Number x, V c) {
        c = multiply_add(x.re, x.re, c);
        return kComplex ? multiply_add(x.im, x.im, c) : c;
    }
    static V larger(V x, V most) {
        x = x < 0 ? -x : x;
        return x > most ? x : most;
    }
    static V root(V x) {
        for (int l = 0; l < kLanes<R>; ++l) x[l] = __builtin_sqrt(x[l]);
        return x;
    }

    // Powers of two near numbers, so far from the ends of the range that their inverses are
    // numbers too.
    static V power_near(V x) {
        constexpr int kMost = sizeof(R) == 4 ? 120 : 1000;
        const V least = two_to(-kMost), most = two_to(kMost);
        const V p = (V)((Bits)x & (Bits)broadcast<R>(static_cast<R>(__builtin_inf())));
        return p < least ? least : p > most ? most : p;
    }
    static V inverse(V power) { return (V)(2 * (Bits)two_to(0) - (Bits)power); }
    static V two_to(int e) { return broadcast<R>(static_cast<R>(ldexp(1.0, e))); }
    static bool is_one(V x) {
        bool all = true;
        for (int l = 0; l < kLanes<R>; ++l) all &= x[l] == 1;
        return all;
    }

    LaneQr(R* a, R* q, int64_t m, int64_t n, int64_t columns)
        : a_(a), q_(q), m_(m), n_(n), columns_(columns), rank_(m < n ? m : n) {}

    R* at(int64_t i, int64_t j) const { return a_ + (i * n_ + j) * P * kRow; }
    R* q_at(int64_t i, int64_t j) const { return q_ + (i * columns_ + j) * P * kRow; }
    // In the rows behind the last ones.
    R* tau(int64_t j) const { return q_at(m_, j); }
    R* scale(int64_t j) const { return at(m_, j); }

    void factor() const {
        for (int64_t c = 0; c < n_; ++c) scale_column(c);
        for (int64_t j = 0; j < rank_; ++j) {
            choose_reflection(j);
            const Number t = conj(read(tau(j)));
            for (int64_t c = j + 1; c < n_; ++c) reflect(at(j, c), n_, j, t);
        }
        for (int64_t i = 0; i < m_; ++i)
            for (int64_t c = 0; c < columns_; ++c)
                write(q_at(i, c), {broadcast<R>(i == c ? R(1) : R(0))});
        // The last reflections first: until then their columns are those of the identity.
        for (int64_t j = rank_ - 1; j >= 0; --j)
            for (int64_t c = j; c < columns_; ++c) reflect(q_at(j, c), columns_, j, read(tau(j)));
        for (int64_t c = 0; c < n_; ++c) finish_column(c);
    }

    V largest(int64_t first, int64_t c) const {
        V most = {};
        for (int64_t i = first; i < m_; ++i) {
            const Number x = read(at(i, c));
            most = larger(x.re, most);
            if constexpr (kComplex) most = larger(x.im, most);
        }
        return most;
    }
    void multiply_column(int64_t c, int64_t rows, V by) const {
        for (int64_t i = 0; i < rows; ++i) write(at(i, c), scaled(read(at(i, c)), by));
    }

    // A column so large or small that products with it might leave the range comes near 1.
    void scale_column(int64_t c) const {
        constexpr int kFar = sizeof(R) == 4 ? 16 : 128;
        const V power = power_near(largest(0, c));
        const V by = ((power < two_to(-kFar)) | (power > two_to(kFar))) ? power : two_to(0);
        write(scale(c), {by});
        if (!is_one(by)) multiply_column(c, m_, inverse(by));
    }
    // R of the column as it came.
    void finish_column(int64_t c) const {
        const int64_t rows = c < m_ ? c + 1 : m_;
        const V by = read(scale(c)).re;
        if (!is_one(by)) multiply_column(c, rows, by);
        for (int64_t i = rows; i < m_; ++i) write(at(i, c), {});
    }

    // I - tau v v^H takes column j, from row j on, to beta and zeros: v is 1 and what comes to be
    // below beta. Near 1 no square that counts leaves the range.
    void choose_reflection(int64_t j) const {
        const V power = power_near(largest(j, j)), unit = inverse(power);
        const Number alpha = scaled(read(at(j, j)), unit);
        V below = {};
        for (int64_t i = j + 1; i < m_; ++i)
            below = plus_square(scaled(read(at(i, j)), unit), below);
        const V norm = root(plus_square(alpha, below));
        const V beta = alpha.re < 0 ? norm : -norm, gap = alpha.re - beta, zero = {};
        // A column that is zero below a real number stays as it is.
        const auto none = (below == 0) & (alpha.im == 0);
        write(tau(j), {none ? zero : (beta - alpha.re) / beta, none ? zero : -alpha.im / beta});
        write(at(j, j), {(none ? alpha.re : beta) * power});
        Number factor = {none ? zero : 1 / gap};
        if constexpr (kComplex) {
            const V square = multiply_add(gap, gap, alpha.im * alpha.im);
            factor = {none ? zero : gap / square, none ? zero : -alpha.im / square};
        }
        for (int64_t i = j + 1; i < m_; ++i)
            write(at(i, j), plus_product(scaled(read(at(i, j)), unit), factor, {}));
    }

    // I - t v v^H, for the v of column j, times a column of which row j is given.
    void reflect(R* column, int64_t cols, int64_t j, Number t) const {
        const int64_t step = cols * P * kRow, v_step = n_ * P * kRow;
        const R* const v = at(j + 1, j);
        Number sum = read(column);
        for (int64_t i = 0; i < m_ - j - 1; ++i)
            sum = plus_product(conj(read(v + i * v_step)), read(column + (i + 1) * step), sum);
        const Number minus = plus_product({-t.re, -t.im}, sum, {});
        const Number top = read(column);
        write(column, {top.re + minus.re, top.im + minus.im});
        for (int64_t i = 0; i < m_ - j - 1; ++i) {
            R* x = column + (i + 1) * step;
            write(x, plus_product(read(v + i * v_step), minus, read(x)));
        }
    }

    R *const a_, *const q_;
    const int64_t m_, n_, columns_, rank_;
};

}  // namespace
}  // namespace asc::cpu::ASC_ISA
