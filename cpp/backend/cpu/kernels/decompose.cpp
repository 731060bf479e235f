// Small blocks of decompositions, and triangular systems of a few rows.
//
// A complex matrix is read as a real one of twice as many columns. Multiplying a row by a complex
// number takes the row and the row turned by i; sums over both are kept apart and joined at the
// end.
#include "backend/cpu/kernels/lane.h"
#include "backend/cpu/kernels/qr_lanes.h"

namespace asc::cpu::ASC_ISA {
namespace {

template <class R, bool kComplex>
struct Decompose {
    using V = Vec<R>;
    static constexpr int64_t P = kComplex ? 2 : 1;  // reals an element
    static constexpr int64_t W = kLanes<R>;
    static constexpr int64_t kWidth = kPanelBytes / static_cast<int64_t>(sizeof(R));  // reals
    static constexpr int kVectors = static_cast<int>(kPanelBytes / kVectorBytes);
    // Vectors of a row that are summed side by side in `substitute`.
    static constexpr int kSide = 8 / static_cast<int>(P);

    static void store(R* p, V v) { memcpy(p, &v, sizeof v); }

    struct Number {
        R re = 0, im = 0;
    };
    static Number read(const R* p) { return {p[0], kComplex ? p[P - 1] : 0}; }
    static void write(R* p, Number x) {
        p[0] = x.re;
        if constexpr (kComplex) p[1] = x.im;
    }
    static Number conj(Number x) { return {x.re, -x.im}; }
    static Number times(Number a, Number b) {
        if constexpr (kComplex) return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
        return {a.re * b.re};
    }
    static Number scaled(Number a, R s) { return {a.re * s, a.im * s}; }
    static R largest(Number x) {
        const R a = __builtin_fabs(x.re), b = __builtin_fabs(x.im);
        return a > b || a != a ? a : b;
    }

    // 1 / x as `factor` after a multiplication by a power of two, `scale`: neither leaves the
    // range.
    struct Inverse {
        R scale;
        Number factor;
        Number operator()(Number x) const { return times(scaled(x, scale), factor); }
    };
    static int exponent(R x) {
        int e = 0;
        if (x != 0) (void)frexp(static_cast<double>(x), &e);
        constexpr int kMost = sizeof(R) == 4 ? 120 : 1000;
        return e < -kMost ? -kMost : e > kMost ? kMost : e;
    }
    static R power(int e) { return static_cast<R>(ldexp(1.0, e)); }
    static Inverse inverse(Number x) {
        if (kComplex && __builtin_isinf(largest(x))) return {1, {}};
        const R scale = power(-exponent(largest(x)));
        const Number y = scaled(x, scale);
        if constexpr (!kComplex) return {scale, {1 / y.re}};
        const R size = y.re * y.re + y.im * y.im;
        return {scale, {y.re / size, -y.im / size}};
    }

    // i * x, for each complex number of a vector.
    static V turned(V x) {
        if constexpr (kComplex) {
            V r;
            for (int64_t l = 0; l < W; l += 2) {
                r[l] = -x[l + 1];
                r[l + 1] = x[l];
            }
            return r;
        }
        return x;
    }

    // The parts of each complex number, exchanged.
    static V swapped(V x) {
        V r = x;
        for (int64_t l = 0; l + 1 < W; l += 2) {
            r[l] = x[l + 1];
            r[l + 1] = x[l];
        }
        return r;
    }

    // A row of a panel, times 1 and times i.
    struct Row {
        V v[P][kVectors];
        explicit Row(const R* p) {
            for (int k = 0; k < kVectors; ++k) {
                v[0][k] = load(p + k * W);
                if constexpr (kComplex) v[1][k] = turned(v[0][k]);
            }
        }
    };
    // row -= c * x
    [[gnu::always_inline]] static inline void subtract(R* row, Number c, const Row& x) {
        const V re = broadcast<R>(-c.re), im = broadcast<R>(-c.im);
#pragma GCC unroll 8
        for (int k = 0; k < kVectors; ++k) {
            V y = multiply_add(re, x.v[0][k], load(row + k * W));
            if constexpr (kComplex) y = multiply_add(im, x.v[1][k], y);
            store(row + k * W, y);
        }
    }

    // ---- QR ----

    // A row of a panel and its number in one column, in every lane.
    struct Loaded {
        V row[kVectors], re, im;
    };
    // Sums of conj(row[j]) * row, for two rows side by side.
    struct Sums {
        V re[2][kVectors] = {}, im[2][kVectors] = {};
        template <int side>
        [[gnu::always_inline]] inline void add(const Loaded& x) {
#pragma GCC unroll 8
            for (int k = 0; k < kVectors; ++k) {
                re[side][k] = multiply_add(x.re, x.row[k], re[side][k]);
                if constexpr (kComplex) im[side][k] = multiply_add(x.im, x.row[k], im[side][k]);
            }
        }
        void result(R* out) const {
            for (int k = 0; k < kVectors; ++k) {
                V sum = re[0][k] + re[1][k];
                if constexpr (kComplex) sum = sum - turned(im[0][k] + im[1][k]);
                store(out + k * W, sum);
            }
        }
    };
    // Rows of sums, added in pairs as a counter carries: errors grow with the logarithm of m.
    struct Pairwise {
        R levels[48][kWidth];
        uint64_t count = 0;
        static void add_to(R* x, const R* y) {
            for (int64_t k = 0; k < kWidth; k += W) store(x + k, load(x + k) + load(y + k));
        }
        void add(R* x) {
            int level = 0;
            for (; count >> level & 1; ++level) add_to(x, levels[level]);
            memcpy(levels[level], x, sizeof levels[level]);
            ++count;
        }
        void result(R* out) const {
            memset(out, 0, sizeof levels[0]);
            for (int level = 0; count >> level; ++level)
                if (count >> level & 1) add_to(out, levels[level]);
        }
    };
    // The sums over rows [first, m), as `take` loads them.
    template <class F>
    static void column_products(R* a, int64_t first, int64_t m, R* out, F take) {
        constexpr int64_t kBlock = 64;
        Pairwise blocks;
        int64_t i = first;
        do {
            const int64_t end = m - i < kBlock ? m : i + kBlock;
            Sums sums;
            for (; i + 2 <= end; i += 2) {
                sums.template add<0>(take(a + i * kWidth));
                sums.template add<1>(take(a + (i + 1) * kWidth));
            }
            for (; i < end; ++i) sums.template add<0>(take(a + i * kWidth));
            sums.result(out);
            if (end == m && blocks.count == 0) return;
            blocks.add(out);
        } while (i < m);
        blocks.result(out);
    }
    static void column_products(R* a, int64_t first, int64_t m, int64_t j, R* out) {
        column_products(a, first, m, out, [j](const R* row) __attribute__((always_inline)) {
            Loaded x;
            for (int k = 0; k < kVectors; ++k) x.row[k] = load(row + k * W);
            const Number c = read(row + j * P);
            x.re = broadcast<R>(c.re);
            x.im = broadcast<R>(c.im);
            return x;
        });
    }

    // H = I - tau v v^H takes column j to beta at row j and zeros below; v is 1 at row j and below
    // `inverted` of the column.
    struct Reflection {
        Number tau;
        Inverse inverted;
        R beta;
    };
    static Reflection reflection(Number alpha, R below) {
        const R norm = __builtin_sqrt(alpha.re * alpha.re + alpha.im * alpha.im + below);
        const R beta = alpha.re < 0 ? norm : -norm;
        return {{(beta - alpha.re) / beta, -alpha.im / beta},
                inverse({alpha.re - beta, alpha.im}),
                beta};
    }
    // The same where squares leave the range: the column becomes v first.
    static Reflection careful_reflection(R* a, int64_t m, int64_t j, R* products) {
        R most = 0;
        for (int64_t i = j; i < m; ++i) {
            const R s = largest(read(a + i * kWidth + j * P));
            if (!(s <= most)) most = s;
        }
        const int e = exponent(most);
        for (int64_t i = j; i < m; ++i) {
            R* at = a + i * kWidth + j * P;
            write(at, scaled(read(at), power(-e)));
        }
        column_products(a, j + 1, m, j, products);
        const R below = products[j * P];
        const Number alpha = read(a + j * kWidth + j * P);
        if (below == 0 && alpha.im == 0) {
            write(a + j * kWidth + j * P, scaled(alpha, power(e)));
            return {{}, {1, {}}, alpha.re * power(e)};
        }
        Reflection r = reflection(alpha, below);
        for (int64_t i = j + 1; i < m; ++i) {
            R* at = a + i * kWidth + j * P;
            write(at, r.inverted(read(at)));
        }
        column_products(a, j + 1, m, j, products);
        return {r.tau, {1, {1}}, r.beta * power(e)};
    }

    // The bits that both have.
    static V both(V x, V y) {
        using Bits = decltype(x != y);
        return reinterpret_cast<V>(reinterpret_cast<Bits>(x) & reinterpret_cast<Bits>(y));
    }
    // Rows below row j are reflected and read again for column `next`. All of it happens in
    // registers: a load that meets two stores on their way would wait for them.
    struct Reflecting {
        Inverse inverted;
        int64_t j, next;
        Row minus;
        V keep[kVectors];  // bits: all but column j
        Number factor;

        // `update` is -1 in column j.
        Reflecting(const Inverse& inverse, const R* update, int64_t column, int64_t following)
            : inverted(inverse),
              j(column),
              next(following),
              minus(update),
              factor(read(update + following * P)) {
            R others[kWidth];
            for (int64_t c = 0; c < kWidth; ++c) others[c] = c / P == column ? 0 : 1;
            for (int k = 0; k < kVectors; ++k)
                keep[k] = reinterpret_cast<V>(load(others + k * W) != V{});
        }
        [[gnu::always_inline]] inline Loaded operator()(R* row) const {
            const Number v = inverted(read(row + j * P)), x = read(row + next * P);
            const V re = broadcast<R>(-v.re), im = broadcast<R>(-v.im);
            Loaded y;
            y.re = multiply_add(re, broadcast<R>(factor.re), broadcast<R>(x.re));
            if constexpr (kComplex) {
                y.re = multiply_add(im, broadcast<R>(-factor.im), y.re);
                y.im = multiply_add(re, broadcast<R>(factor.im), broadcast<R>(x.im));
                y.im = multiply_add(im, broadcast<R>(factor.re), y.im);
            }
#pragma GCC unroll 8
            for (int k = 0; k < kVectors; ++k) {
                // Column j becomes 0 - v * -1.
                y.row[k] = multiply_add(re, minus.v[0][k], both(load(row + k * W), keep[k]));
                if constexpr (kComplex) y.row[k] = multiply_add(im, minus.v[1][k], y.row[k]);
                store(row + k * W, y.row[k]);
            }
            return y;
        }
    };

    // Exponents of the columns where some are so large or small that products of two might leave
    // the range; their largest elements are near 1 then.
    struct Scales {
        int exponents[kWidth / P] = {};
        bool any = false;

        Scales(R* a, int64_t m) {
            V most[kVectors] = {};
            for (int64_t i = 0; i < m; ++i)
                for (int k = 0; k < kVectors; ++k) {
                    const V x = load(a + i * kWidth + k * W), size = x < 0 ? -x : x;
                    most[k] = size > most[k] ? size : most[k];
                }
            R sizes[kWidth];
            for (int k = 0; k < kVectors; ++k) store(sizes + k * W, most[k]);
            constexpr int kFar = sizeof(R) == 4 ? 16 : 128;
            for (int64_t c = 0; c < kWidth / P; ++c) {
                const R size = largest(read(sizes + c * P));
                exponents[c] = __builtin_isinf(size) ? 0 : exponent(size);
                any |= exponents[c] > kFar || exponents[c] < -kFar;
            }
            if (any)
                for (int64_t i = 0; i < m; ++i) scale_row(a + i * kWidth, 0, -1);
        }
        void scale_row(R* row, int64_t first, int sign) const {
            for (int64_t c = first; c < kWidth / P; ++c)
                write(row + c * P, scaled(read(row + c * P), power(sign * exponents[c])));
        }
        // R of the columns as they came.
        void restore(R* a, int64_t n) const {
            for (int64_t i = 0; any && i < n; ++i) scale_row(a + i * kWidth, i, 1);
        }
    };

    static void qr(void* panel, int64_t m, int64_t n, void* factors) {
        R *a = static_cast<R*>(panel), *t = static_cast<R*>(factors);
        const Scales scales(a, m);
        // Squares of numbers in between are exact enough, and so are their sums.
        const R least = power(sizeof(R) == 4 ? -80 : -800),
                most = power(sizeof(R) == 4 ? 100 : 900);
        memset(t, 0, static_cast<size_t>(n * kPanelBytes));
        R products[kWidth];
        column_products(a, 1, m, 0, products);
        for (int64_t j = 0; j < n; ++j) {
            R* top = a + j * kWidth;
            const Number alpha = read(top + j * P);
            const R below = products[j * P];
            const R square = alpha.re * alpha.re + alpha.im * alpha.im + below;
            const bool plain = below > least && square < most;
            const Reflection r =
                plain ? reflection(alpha, below) : careful_reflection(a, m, j, products);
            // v^H times the panel: products with the columns of V on the left, to come on the
            // right.
            const Number factor = conj(r.inverted({1}));
            R row[kWidth], update[kWidth];
            for (int64_t c = 0; c < kWidth / P; ++c) {
                const Number x = read(top + c * P), y = times(factor, read(products + c * P));
                const Number sum = {x.re + y.re, x.im + y.im};
                write(row + c * P, sum);
                write(update + c * P, c > j ? times(conj(r.tau), sum) : Number{});
            }
            extend(t, row, r.tau, j);
            subtract(top, {1}, Row(update));
            write(top + j * P, {r.beta});
            write(update + j * P, {-1});
            const Reflecting reflect(r.inverted, update, j, j + 1 < n ? j + 1 : 0);
            if (j + 1 < m) reflect(top + kWidth);
            column_products(a, j + 2, m, products, reflect);
        }
        scales.restore(a, n);
    }

    // Column j of T: -tau T (V^H v), where `row` holds v^H V, and tau.
    static void extend(R* t, const R* row, Number tau, int64_t j) {
        for (int64_t i = 0; i < j; ++i) {
            Number sum;
            for (int64_t k = i; k < j; ++k) {
                const Number x = times(read(t + i * kWidth + k * P), conj(read(row + k * P)));
                sum = {sum.re + x.re, sum.im + x.im};
            }
            sum = times(tau, sum);
            write(t + i * kWidth + j * P, {-sum.re, -sum.im});
        }
        write(t + j * kWidth + j * P, tau);
    }

    // ---- triangles ----

    // Numbers beside each other in memory, or one below the other.
    struct Factors {
        const R* data;
        int64_t step;  // in elements
        bool conj;
    };
    // row[0, kVecs * W) -= the sum over i < count of factor i times row i of `rows`.
    template <int kVecs>
    static void subtract_rows(R* row, const R* rows, int64_t pitch, const Factors& f,
                              int64_t count) {
        V re[kVecs], im[kVecs] = {};
#pragma GCC unroll 8
        for (int v = 0; v < kVecs; ++v) re[v] = load(row + v * W);
        const R* factor = f.data;
        for (int64_t i = 0; i < count; ++i, rows += pitch, factor += f.step * P) {
            const V x = broadcast<R>(-factor[0]), y = broadcast<R>(-factor[P - 1]);
#pragma GCC unroll 8
            for (int v = 0; v < kVecs; ++v) {
                const V b = load(rows + v * W);
                re[v] = multiply_add(x, b, re[v]);
                if constexpr (kComplex) im[v] = multiply_add(y, b, im[v]);
            }
        }
#pragma GCC unroll 8
        for (int v = 0; v < kVecs; ++v) {
            if constexpr (kComplex) re[v] = f.conj ? re[v] - turned(im[v]) : re[v] + turned(im[v]);
            store(row + v * W, re[v]);
        }
    }

    // ---- LU ----

    // |re| + |im|, as LAPACK chooses pivots.
    static R size(const R* p) {
        R s = __builtin_fabs(p[0]);
        if constexpr (kComplex) s += __builtin_fabs(p[1]);
        return s;
    }
    // The place of the largest of the elements [first, m) of a column.
    static int64_t largest_of(const R* column, int64_t first, int64_t m) {
        constexpr int64_t kStep = W / P;
        V most = {};
        int64_t i = first;
        for (; i + kStep <= m; i += kStep) {
            V x = load(column + i * P);
            x = x < 0 ? -x : x;
            if constexpr (kComplex) x += swapped(x);
            most = x > most ? x : most;
        }
        R s = 0;
        for (int64_t l = 0; l < W; ++l) s = most[l] > s ? most[l] : s;
        for (; i < m; ++i) s = size(column + i * P) > s ? size(column + i * P) : s;
        for (i = first; i < m; ++i)
            if (size(column + i * P) == s && s > 0) return i;
        // Zeros, or nothing but NaN beside them: those are passed on.
        for (i = first; i < m; ++i)
            if (size(column + i * P) != 0) return i;
        return first;
    }

    // Elements [first, m) of a column and a few behind, times x.
    static void scale(R* column, int64_t first, int64_t m, Number x) {
        const V re = broadcast<R>(x.re), im = broadcast<R>(x.im);
        for (int64_t i = first * P; i < m * P; i += W) {
            const V y = load(column + i);
            V z = y * re;
            if constexpr (kComplex) z = multiply_add(turned(y), im, z);
            store(column + i, z);
        }
    }

    // Column by column: what the columns before do to one is a sum in registers.
    static bool lu(void* panel, int64_t pitch, int64_t m, int64_t n, int64_t* pivots) {
        R* a = static_cast<R*>(panel);
        pitch *= P;
        bool regular = true;
        for (int64_t j = 0; j < n; ++j) {
            R* column = a + j * pitch;
            for (int64_t r = 1; r < j; ++r) {
                Number x = read(column + r * P);
                for (int64_t k = 0; k < r; ++k) {
                    const Number y = times(read(a + k * pitch + r * P), read(column + k * P));
                    x = {x.re - y.re, x.im - y.im};
                }
                write(column + r * P, x);
            }
            const Factors above{column, 1, false};
            int64_t i = j * P;
            for (; i + W < m * P; i += kSide * W)
                subtract_rows<kSide>(column + i, a + i, pitch, above, j);
            if (i < m * P) subtract_rows<1>(column + i, a + i, pitch, above, j);
            const int64_t found = largest_of(column, j, m);
            pivots[j] = found;
            if (found != j)
                for (int64_t k = 0; k < n; ++k) {
                    R *x = a + k * pitch + j * P, *y = a + k * pitch + found * P;
                    const Number keep = read(x);
                    write(x, read(y));
                    write(y, keep);
                }
            const Number pivot = read(column + j * P);
            if (pivot.re == 0 && pivot.im == 0) {
                regular = false;
                continue;
            }
            const Inverse inverted = inverse(pivot);
            if (inverted.scale != 1) scale(column, j + 1, m, {inverted.scale});
            scale(column, j + 1, m, inverted.factor);
        }
        return regular;
    }

    static bool cholesky(void* data, int64_t row_stride, int64_t n) {
        constexpr int64_t kRow = (kTriangleRows * P + W - 1) / W * W;
        constexpr int kOnce = static_cast<int>(kRow / W < kSide ? kRow / W : kSide);
        alignas(64) R u[kTriangleRows * kRow];
        R* a = static_cast<R*>(data);
        for (int64_t i = 0; i < n; ++i) {
            R *row = u + i * kRow, *source = a + i * row_stride * P;
            for (int64_t c = 0; c < kRow; ++c) row[c] = c < n * P ? source[c] : R(0);
            const Factors above{u + i * P, kRow / P, true};
            // Whole vectors from the diagonal on.
            for (int64_t c = i * P / (kOnce * W) * (kOnce * W); c < n * P; c += kOnce * W)
                subtract_rows<kOnce>(row + c, u + c, kRow, above, i);
            const R pivot = row[i * P];
            if (!(pivot > 0)) return false;
            const R root = __builtin_sqrt(pivot);
            for (int64_t c = i * P; c < n * P; ++c) row[c] /= root;
            write(row + i * P, {root});
            memcpy(source + i * P, row + i * P, static_cast<size_t>((n - i) * P) * sizeof(R));
        }
        return true;
    }

    // kVecs vectors of columns, gathered so that rows are adjacent.
    template <int kVecs>
    static void substitute_columns(const Triangle& t, R* b, int64_t row_stride, int64_t used) {
        constexpr int64_t kRow = kVecs * W;
        alignas(64) R x[kTriangleRows * kRow];
        for (int64_t i = 0; i < t.n; ++i) {
            if (used < kRow)
                for (int64_t c = 0; c < kRow; ++c) x[i * kRow + c] = 0;
            memcpy(x + i * kRow, b + i * row_stride * P, static_cast<size_t>(used) * sizeof(R));
        }
        const R* data = static_cast<const R*>(t.data);
        for (int64_t step = 0; step < t.n; ++step) {
            const int64_t i = t.upper ? t.n - 1 - step : step, first = t.upper ? i + 1 : 0;
            const R* row = data + i * t.row_stride * P;
            subtract_rows<kVecs>(x + i * kRow, x + first * kRow, kRow,
                                 {row + first * t.col_stride * P, t.col_stride, t.conj}, step);
            if (!t.unit) divide(x + i * kRow, kRow, read(row + i * t.col_stride * P), t.conj);
        }
        for (int64_t i = 0; i < t.n; ++i)
            memcpy(b + i * row_stride * P, x + i * kRow, static_cast<size_t>(used) * sizeof(R));
    }
    static void divide(R* row, int64_t n, Number d, bool conjugate) {
        if constexpr (kComplex) {
            const Inverse inverted = inverse(conjugate ? conj(d) : d);
            for (int64_t c = 0; c < n; c += P) write(row + c, inverted(read(row + c)));
        } else {
            for (int64_t c = 0; c < n; ++c) row[c] /= d.re;
        }
    }

    static void substitute(const Triangle& t, void* data, int64_t row_stride, int64_t cols) {
        R* b = static_cast<R*>(data);
        for (int64_t c = 0; c < cols * P; c += kSide * W, b += kSide * W) {
            const int64_t left = cols * P - c;
            if (left > kSide / 2 * W)
                substitute_columns<kSide>(t, b, row_stride, left < kSide * W ? left : kSide * W);
            else if (left > W)
                substitute_columns<kSide / 2>(t, b, row_stride, left);
            else
                substitute_columns<1>(t, b, row_stride, left);
        }
    }

    static constexpr DecomposeKernels kernels() {
        return {lu, qr, LaneQr<R, kComplex>::run, cholesky, substitute};
    }
};

}  // namespace

void fill_decompose(KernelTable& t) {
    t.decompose[index(DType::Float32)] = Decompose<float, false>::kernels();
    t.decompose[index(DType::Float64)] = Decompose<double, false>::kernels();
    t.decompose[index(DType::Complex64)] = Decompose<float, true>::kernels();
    t.decompose[index(DType::Complex128)] = Decompose<double, true>::kernels();
}

}  // namespace asc::cpu::ASC_ISA
