// Products against plain loops (bits across layouts, threads and batches), decompositions by
// putting them together again.
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "backend/cpu/gemm.h"
#include "backend/cpu/linalg.h"
#include "runtime/workers.h"

using namespace asc;
using namespace asc::cpu;

namespace {

int failures = 0;

void check(bool ok, const std::string& what) {
    if (ok) return;
    ++failures;
    std::printf("FAILED: %s\n", what.c_str());
}

std::mt19937_64 rng(7);

template <class T>
struct DTypeOf;
#define ASC_OF(T, D)                             \
    template <>                                  \
    struct DTypeOf<T> {                          \
        static constexpr DType value = DType::D; \
    };
ASC_OF(int8_t, Int8)
ASC_OF(int16_t, Int16)
ASC_OF(int32_t, Int32)
ASC_OF(int64_t, Int64)
ASC_OF(uint8_t, UInt8)
ASC_OF(uint64_t, UInt64)
ASC_OF(float, Float32)
ASC_OF(double, Float64)
ASC_OF(std::complex<float>, Complex64)
ASC_OF(std::complex<double>, Complex128)

template <class T>
constexpr bool kComplexNumber = false;
template <class R>
constexpr bool kComplexNumber<std::complex<R>> = true;

template <class T>
T random_value() {
    if constexpr (kComplexNumber<T>) {
        std::normal_distribution<double> normal;
        return T(static_cast<typename T::value_type>(normal(rng)),
                 static_cast<typename T::value_type>(normal(rng)));
    } else if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(rng());
    } else {
        return static_cast<T>(std::normal_distribution<double>()(rng));
    }
}

template <class T>
std::vector<T> random_values(int64_t n) {
    std::vector<T> x(static_cast<size_t>(n));
    for (T& value : x) value = random_value<T>();
    return x;
}

// Rows x cols of values with room for any layout: row-major, column-major, or with gaps.
template <class T>
struct Stored {
    std::vector<T> memory;
    GemmOperand operand;
    Stored(const std::vector<T>& values, int64_t rows, int64_t cols, int layout) {
        const int64_t rs = layout == 0 ? cols : layout == 1 ? 1 : 3 * cols + 5;
        const int64_t cs = layout == 0 ? 1 : layout == 1 ? rows : 3;
        memory.resize(static_cast<size_t>(rows * cols * 3 + rows * 5 + 8));
        for (int64_t i = 0; i < rows; ++i)
            for (int64_t j = 0; j < cols; ++j)
                memory[static_cast<size_t>(i * rs + j * cs)] =
                    values[static_cast<size_t>(i * cols + j)];
        operand = {memory.data(), rs, cs};
    }
};

Parallel threads(int n) {
    workers::set_count(n);
    return workers::parallel();
}

template <class T>
std::vector<T> product(const Stored<T>& a, const Stored<T>& b, int64_t m, int64_t n, int64_t k,
                       int count) {
    std::vector<T> c(static_cast<size_t>(m * n) + 1, T(42));
    multiply({DTypeOf<T>::value, m, n, k, a.operand, b.operand, c.data()}, threads(count));
    check(c.back() == T(42), "product writes past its end");
    c.pop_back();
    return c;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

template <class T>
void test_product(int64_t m, int64_t n, int64_t k) {
    const std::string label = std::string(name(DTypeOf<T>::value)) + " " + std::to_string(m) + "x" +
                              std::to_string(k) + "x" + std::to_string(n);
    const auto a = random_values<T>(m * k), b = random_values<T>(k * n);
    const Stored<T> a0(a, m, k, 0), b0(b, k, n, 0);
    const auto c = product(a0, b0, m, n, k, 1);
    for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < n; ++j) {
            const T got = c[static_cast<size_t>(i * n + j)];
            if constexpr (std::is_integral_v<T>) {
                uint64_t sum = 0;
                for (int64_t l = 0; l < k; ++l)
                    sum += static_cast<uint64_t>(a[static_cast<size_t>(i * k + l)]) *
                           static_cast<uint64_t>(b[static_cast<size_t>(l * n + j)]);
                check(got == static_cast<T>(sum), "integer product " + label);
            } else {
                using Wide =
                    std::conditional_t<kComplexNumber<T>, std::complex<long double>, long double>;
                Wide sum = 0;
                long double size = 0;
                for (int64_t l = 0; l < k; ++l) {
                    const Wide x = a[static_cast<size_t>(i * k + l)],
                               y = b[static_cast<size_t>(l * n + j)];
                    sum += x * y;
                    size += std::abs(x * y);
                }
                const long double unit =
                    sizeof(T) / (kComplexNumber<T> ? 2 : 1) == 4 ? 0x1p-24L : 0x1p-53L;
                // At most 256 roundings in a chain, then one for each chain.
                const long double bound =
                    unit * size * 2 * std::min<long double>(static_cast<long double>(k), 300);
                check(std::abs(static_cast<Wide>(got) - sum) <= bound, "product " + label);
            }
        }
    }
    for (int layout = 1; layout < 9; ++layout) {
        const Stored<T> x(a, m, k, layout / 3), y(b, k, n, layout % 3);
        check(same_bits(c, product(x, y, m, n, k, layout % 2 + 1)),
              "layout changes bits: " + label);
    }
    check(same_bits(c, product(a0, b0, m, n, k, 3)), "threads change bits: " + label);
    // Part of a product, each element of a product with a vector, a batch of the same product.
    if (m > 3 && n > 3) {
        const int64_t row = m / 2, col = n / 3, cols = n - col;
        std::vector<T> part(static_cast<size_t>(2 * cols));
        multiply({DTypeOf<T>::value,
                  2,
                  cols,
                  k,
                  {a.data() + row * k, k, 1},
                  {b.data() + col, n, 1},
                  part.data()},
                 threads(2));
        bool equal = true;
        for (int64_t i = 0; i < 2; ++i)
            equal &= std::memcmp(part.data() + i * cols, c.data() + (row + i) * n + col,
                                 static_cast<size_t>(cols) * sizeof(T)) == 0;
        check(equal, "part of a product: " + label);
    }
    if (m == 1 || n == 1) {
        bool equal = true;
        for (int64_t i = 0; i < m * n; ++i) {
            T one{};
            dot({DTypeOf<T>::value, k, a.data() + (n == 1 ? i * k : 0), b.data() + (m == 1 ? i : 0),
                 1, n, &one},
                threads(1));
            equal &= std::memcmp(&one, &c[static_cast<size_t>(i)], sizeof one) == 0;
        }
        check(equal, "a product with a vector is not the dot products: " + label);
    }
    const std::vector<int64_t> zeros(5);
    std::vector<T> many(static_cast<size_t>(5 * m * n));
    multiply(
        {DTypeOf<T>::value, m, n, k, a0.operand, b0.operand, many.data(), 5, {zeros.data()}, {}},
        threads(2));
    for (int64_t i = 0; i < 5; ++i)
        check(std::memcmp(many.data() + i * m * n, c.data(), c.size() * sizeof(T)) == 0,
              "batch: " + label);
}

template <class T>
void test_products() {
    const int64_t sizes[][3] = {
        {1, 1, 1},     {1, 1, 5000},  {2, 3, 4},      {3, 3, 3},      {5, 7, 9},     {6, 64, 256},
        {7, 65, 257},  {8, 8, 8},     {1, 300, 70},   {1, 300, 20},   {300, 1, 70},  {300, 1, 5},
        {40, 1, 9000}, {1, 40, 9000}, {3, 1, 200000}, {1, 5, 200000}, {33, 31, 600}, {97, 129, 40},
        {13, 17, 1},   {2, 2, 9000},  {130, 70, 300}};
    for (const auto& s : sizes) test_product<T>(s[0], s[1], s[2]);
}

void test_product_edges() {
    std::vector<float> c(6, 5.0f);
    multiply({DType::Float32, 2, 3, 0, {nullptr, 0, 1}, {nullptr, 3, 1}, c.data()}, threads(2));
    check(c == std::vector<float>(6, 0.0f), "no depth gives zeros");
    multiply({DType::Float32, 0, 3, 4, {nullptr, 4, 1}, {nullptr, 3, 1}, nullptr}, threads(2));
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> a = {0, 1, 2, 3}, b = {nan, 1, 2, 3};
    std::vector<float> out(4, nan);
    multiply({DType::Float32, 2, 2, 2, {a.data(), 2, 1}, {b.data(), 2, 1}, out.data()}, threads(1));
    check(std::isnan(out[0]) && std::isnan(out[2]) && out[1] == 3 && out[3] == 11,
          "NaN stays in its column");
}

// float16 bits of a small integer, and back.
uint16_t half_of(int value) {
    if (value == 0) return 0;
    int exponent;
    const double fraction = std::frexp(std::abs(value), &exponent);
    return static_cast<uint16_t>((value < 0 ? 0x8000 : 0) | (exponent + 14) << 10 |
                                 (static_cast<int>(fraction * 2048) & 0x3ff));
}

void test_narrow() {
    const int64_t m = 100, n = 1100, k = 300;
    std::vector<uint16_t> a(m * k), b(k * n), c(m * n);
    std::vector<int> x(m * k), y(k * n);
    for (size_t i = 0; i < x.size(); ++i) a[i] = half_of(x[i] = static_cast<int>(rng() % 3) - 1);
    for (size_t i = 0; i < y.size(); ++i) b[i] = half_of(y[i] = static_cast<int>(rng() % 7) - 3);
    multiply({DType::Float16, m, n, k, {a.data(), k, 1}, {b.data(), n, 1}, c.data()}, threads(2));
    bool exact = true;
    for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
            int sum = 0;
            for (int64_t l = 0; l < k; ++l)
                sum += x[static_cast<size_t>(i * k + l)] * y[static_cast<size_t>(l * n + j)];
            exact &= c[static_cast<size_t>(i * n + j)] == half_of(sum);
        }
    check(exact, "float16 product of small integers is exact");
    // 2048 + 1 is a tie in float16: summed in float32, 2048 + 1 + 1 is 2050.
    const uint16_t ones[3] = {half_of(1), half_of(1), half_of(1)},
                   big[3] = {half_of(2048), half_of(1), half_of(1)};
    uint16_t sum = 0;
    multiply({DType::Float16, 1, 1, 3, {ones, 3, 1}, {big, 1, 1}, &sum}, threads(1));
    check(sum == half_of(2050), "float16 sums in float32");
    // bfloat16 1.0 is 0x3f80; 3 * (1 * 1) = 3.
    const uint16_t b_ones[6] = {0x3f80, 0x3f80, 0x3f80, 0x3f80, 0x3f80, 0x3f80};
    uint16_t b_sum[4];
    multiply({DType::BFloat16, 2, 2, 3, {b_ones, 3, 1}, {b_ones, 2, 1}, b_sum}, threads(1));
    check(b_sum[0] == 0x4040 && b_sum[3] == 0x4040, "bfloat16 product");
}

template <class T>
void test_dot(int64_t k) {
    const auto x = random_values<T>(3 * k), y = random_values<T>(3 * k);
    T one{}, many{}, strided{};
    dot({DTypeOf<T>::value, k, x.data(), y.data(), 1, 1, &one, true}, threads(1));
    dot({DTypeOf<T>::value, k, x.data(), y.data(), 1, 1, &many, true}, threads(3));
    check(std::memcmp(&one, &many, sizeof one) == 0, "threads change a dot product");
    std::vector<T> x3(static_cast<size_t>(3 * k));
    for (int64_t i = 0; i < k; ++i) x3[static_cast<size_t>(3 * i)] = x[static_cast<size_t>(i)];
    dot({DTypeOf<T>::value, k, x3.data(), y.data(), 3, 1, &strided, true}, threads(2));
    check(std::memcmp(&one, &strided, sizeof one) == 0, "strides change a dot product");
    using Wide = std::conditional_t<kComplexNumber<T>, std::complex<long double>, long double>;
    Wide sum = 0;
    for (int64_t i = 0; i < k; ++i) {
        Wide a = x[static_cast<size_t>(i)];
        if constexpr (kComplexNumber<T>) a = std::conj(a);
        sum += a * Wide(y[static_cast<size_t>(i)]);
    }
    const long double unit = sizeof(T) / (kComplexNumber<T> ? 2 : 1) == 4 ? 0x1p-24L : 0x1p-53L;
    check(std::abs(Wide(one) - sum) <= unit * 200 * std::sqrt(static_cast<long double>(k) + 1),
          "dot " + std::to_string(k));
}

// max |a @ b - c| for row-major matrices.
template <class T>
double residual(const T* a, const T* b, const T* c, int64_t m, int64_t n, int64_t k) {
    double worst = 0;
    for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
            T sum = 0;
            for (int64_t l = 0; l < k; ++l) sum += a[i * k + l] * b[l * n + j];
            worst = std::max<double>(worst, static_cast<double>(std::abs(sum - c[i * n + j])));
        }
    return worst;
}

template <class T>
T conjugate(T x) {
    if constexpr (kComplexNumber<T>)
        return std::conj(x);
    else
        return x;
}

template <class T>
std::vector<T> adjoint(const std::vector<T>& a, int64_t m, int64_t n) {
    std::vector<T> b(a.size());
    for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j)
            b[static_cast<size_t>(j * m + i)] = conjugate(a[static_cast<size_t>(i * n + j)]);
    return b;
}

template <class T>
void test_square(int64_t n) {
    using R = decltype(std::abs(T{}));
    const DType d = DTypeOf<T>::value;
    const Parallel par = threads(2);
    const double tolerance =
        200.0 * static_cast<double>(n) * static_cast<double>(std::numeric_limits<R>::epsilon());
    const size_t size = static_cast<size_t>(n * n);
    auto a = random_values<T>(n * n);
    for (int64_t i = 0; i < n; ++i) a[static_cast<size_t>(i * n + i)] += T(3);
    std::vector<T> eye(size);
    for (int64_t i = 0; i < n; ++i) eye[static_cast<size_t>(i * n + i)] = T(1);
    const Matrices in{d, n, 1, a.data()};

    std::vector<T> inverse(size);
    check(inv(in, inverse.data(), par).failure == Failure::None, "inv fails");
    check(residual(a.data(), inverse.data(), eye.data(), n, n, n) < 50 * tolerance, "inv");

    const auto b = random_values<T>(n * 3);
    std::vector<T> x(b.size()), x1(static_cast<size_t>(n));
    check(solve(in, false, b.data(), 3, x.data(), par).failure == Failure::None, "solve fails");
    check(residual(a.data(), x.data(), b.data(), n, 3, n) < tolerance, "solve");
    solve(in, false, b.data(), 1, x1.data(), par);
    check(residual(a.data(), x1.data(), b.data(), n, 1, n) < tolerance, "solve a vector");

    T determinant{}, sign{};
    R logabs{};
    det(in, &determinant, par);
    slogdet(in, &sign, &logabs, par);
    check(std::abs(sign * std::exp(logabs) - determinant) <= tolerance * 10 * std::abs(determinant),
          "slogdet against det");

    const auto ah = adjoint(a, n, n);
    std::vector<T> positive(size);
    multiply({d, n, n, n, {a.data(), n, 1}, {ah.data(), n, 1}, positive.data()}, par);
    for (int64_t i = 0; i < n; ++i) positive[static_cast<size_t>(i * n + i)] += T(1);
    for (const bool upper : {false, true}) {
        std::vector<T> factor(size);
        check(cholesky({d, n, 1, positive.data()}, factor.data(), upper, par).failure ==
                  Failure::None,
              "cholesky fails");
        const auto other = adjoint(factor, n, n);
        const T *left = upper ? other.data() : factor.data(),
                *right = upper ? factor.data() : other.data();
        check(residual(left, right, positive.data(), n, n, n) <
                  tolerance * static_cast<double>(n + 10),
              "cholesky");
        if (n > 1)
            check(factor[static_cast<size_t>(upper ? n : 1)] == T(0), "the other triangle is zero");
    }

    std::vector<R> w(static_cast<size_t>(n)), w_only(static_cast<size_t>(n));
    std::vector<T> v(size), scaled(size), product(size);
    check(eigh({d, n, 1, positive.data()}, w.data(), v.data(), par).failure == Failure::None,
          "eigh fails");
    eigh({d, n, 1, positive.data()}, w_only.data(), nullptr, par);
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j)
            scaled[static_cast<size_t>(i * n + j)] =
                v[static_cast<size_t>(i * n + j)] * w[static_cast<size_t>(j)];
    check(residual(positive.data(), v.data(), scaled.data(), n, n, n) <
              tolerance * static_cast<double>(n + 10),
          "eigh");
    for (int64_t i = 0; i < n; ++i)
        check(std::abs(w[static_cast<size_t>(i)] - w_only[static_cast<size_t>(i)]) <
                  tolerance * static_cast<double>(n + 10),
              "eigvalsh");

    std::vector<std::complex<R>> z(static_cast<size_t>(n)), vectors(size), wide(a.begin(), a.end()),
        moved(size);
    check(eig(in, z.data(), vectors.data(), par).failure == Failure::None, "eig fails");
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j)
            moved[static_cast<size_t>(i * n + j)] =
                vectors[static_cast<size_t>(i * n + j)] * z[static_cast<size_t>(j)];
    check(residual(wide.data(), vectors.data(), moved.data(), n, n, n) < tolerance * 10, "eig");
}

template <class T>
void test_rectangle(int64_t m, int64_t n) {
    using R = decltype(std::abs(T{}));
    const DType d = DTypeOf<T>::value;
    const Parallel par = threads(2);
    const double tolerance =
        100.0 * static_cast<double>(m + n) * static_cast<double>(std::numeric_limits<R>::epsilon());
    const auto a = random_values<T>(m * n);
    const Rectangles in{d, m, n, 1, a.data()};
    const int64_t least = std::min(m, n);
    for (const bool full : {false, true}) {
        const int64_t k = full ? m : least;
        std::vector<T> q(static_cast<size_t>(m * k)), r(static_cast<size_t>(k * n));
        check(qr(in, q.data(), r.data(), full, par).failure == Failure::None, "qr fails");
        check(residual(q.data(), r.data(), a.data(), m, n, k) < tolerance, "qr");
        std::vector<T> eye(static_cast<size_t>(k * k));
        for (int64_t i = 0; i < k; ++i) eye[static_cast<size_t>(i * k + i)] = T(1);
        check(residual(adjoint(q, m, k).data(), q.data(), eye.data(), k, k, m) < tolerance,
              "q is orthonormal");

        const int64_t ku = full ? m : least, kv = full ? n : least;
        std::vector<T> u(static_cast<size_t>(m * ku)), vh(static_cast<size_t>(kv * n)),
            us(static_cast<size_t>(m * kv));
        std::vector<R> s(static_cast<size_t>(least)), values(static_cast<size_t>(least));
        check(svd(in, u.data(), s.data(), vh.data(), full, par).failure == Failure::None,
              "svd fails");
        check(svd(in, nullptr, values.data(), nullptr, false, par).failure == Failure::None,
              "svdvals fails");
        for (int64_t i = 0; i < m; ++i)
            for (int64_t j = 0; j < least; ++j)
                us[static_cast<size_t>(i * kv + j)] =
                    u[static_cast<size_t>(i * ku + j)] * s[static_cast<size_t>(j)];
        check(residual(us.data(), vh.data(), a.data(), m, n, kv) < tolerance, "svd");
        for (int64_t i = 0; i < least; ++i)
            check(std::abs(s[static_cast<size_t>(i)] - values[static_cast<size_t>(i)]) < tolerance,
                  "svdvals");
    }
}

void test_failures() {
    const Parallel par = threads(2);
    std::vector<double> a(5 * 4, 0.0), out(5 * 4);
    for (int64_t i = 0; i < 5; ++i)
        a[static_cast<size_t>(4 * i)] = a[static_cast<size_t>(4 * i + 3)] = 1;
    a[4 * 3] = 0;
    Outcome outcome = inv({DType::Float64, 2, 5, a.data()}, out.data(), par);
    check(outcome.failure == Failure::Singular && outcome.matrix == 3,
          "inv finds the singular matrix");
    outcome = solve({DType::Float64, 2, 5, a.data()}, false, a.data(), 2, out.data(), par);
    check(outcome.failure == Failure::Singular && outcome.matrix == 3,
          "solve finds the singular matrix");
    outcome = cholesky({DType::Float64, 2, 5, a.data()}, out.data(), false, par);
    check(outcome.failure == Failure::NotPositiveDefinite && outcome.matrix == 3,
          "cholesky finds it");
    double sign[5], logabs[5];
    slogdet({DType::Float64, 2, 5, a.data()}, sign, logabs, par);
    check(sign[3] == 0 && logabs[3] == -std::numeric_limits<double>::infinity(),
          "slogdet of a singular matrix");
    check(sign[0] == 1 && logabs[0] == 0, "slogdet of the identity");

    // The product of the diagonal leaves the range on the way, the determinant does not.
    const double wide[9] = {1e200, 0, 0, 0, 1e200, 0, 0, 0, 1e-300};
    double determinant;
    det({DType::Float64, 3, 1, wide}, &determinant, par);
    check(std::abs(determinant - 1e100) < 1e86, "det does not overflow on the way");

    for (const double bad :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        std::vector<double> x(36, 1.0), w(72), v(72);
        x[7] = bad;
        check(eigh({DType::Float64, 6, 1, x.data()}, w.data(), v.data(), par).failure ==
                  Failure::NotFinite,
              "eigh");
        check(eig({DType::Float64, 6, 1, x.data()}, w.data(), v.data(), par).failure ==
                  Failure::NotFinite,
              "eig");
        check(svd({DType::Float64, 6, 6, 1, x.data()}, nullptr, w.data(), nullptr, false, par)
                      .failure == Failure::NotFinite,
              "svd");
        inv({DType::Float64, 6, 1, x.data()}, v.data(), par);
        det({DType::Float64, 6, 1, x.data()}, &determinant, par);
        check(std::isnan(determinant) || determinant == 0, "det of NaN");
    }
    // Nothing to do must do nothing, and identities of no rows are empty.
    double unit[9];
    check(
        qr({DType::Float64, 3, 0, 1, nullptr}, unit, nullptr, true, par).failure == Failure::None &&
            unit[0] == 1 && unit[1] == 0,
        "qr of no columns");
    check(svd({DType::Float64, 0, 3, 1, nullptr}, unit, nullptr, unit, true, par).failure ==
                  Failure::None &&
              unit[8] == 1,
          "svd of no rows");
    det({DType::Float64, 0, 1, nullptr}, &determinant, par);
    check(determinant == 1, "det of no rows");
    for (const Matrices& none :
         {Matrices{DType::Float64, 0, 3, nullptr}, Matrices{DType::Float64, 3, 0, nullptr}}) {
        inv(none, nullptr, par);
        eigh(none, nullptr, nullptr, par);
        eig(none, nullptr, nullptr, par);
        cholesky(none, nullptr, false, par);
        solve(none, false, nullptr, 2, nullptr, par);
    }
}

template <class T>
void test_decompositions() {
    for (int64_t n : {1, 2, 5, 40}) test_square<T>(n);
    for (int64_t m : {1, 4, 33})
        for (int64_t n : {1, 5, 20}) test_rectangle<T>(m, n);
}

}  // namespace

int main() {
    test_products<float>();
    test_products<double>();
    test_products<std::complex<float>>();
    test_products<std::complex<double>>();
    test_products<int8_t>();
    test_products<int16_t>();
    test_products<int32_t>();
    test_products<int64_t>();
    test_products<uint8_t>();
    test_products<uint64_t>();
    test_product<float>(200, 300, 700);
    test_product<std::complex<double>>(150, 200, 300);
    test_product_edges();
    test_narrow();
    for (int64_t k : {0, 1, 31, 32, 33, 4096, 4097, 100000, 1000003}) {
        test_dot<float>(k);
        test_dot<double>(k);
        test_dot<std::complex<float>>(k);
        test_dot<std::complex<double>>(k);
    }
    test_decompositions<float>();
    test_decompositions<double>();
    test_decompositions<std::complex<float>>();
    test_decompositions<std::complex<double>>();
    test_failures();
    if (failures == 0) std::printf("linalg: all checks passed\n");
    return failures == 0 ? 0 : 1;
}
