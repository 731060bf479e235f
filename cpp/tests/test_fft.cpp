// Fourier transforms with every instruction set of this CPU: values against the sum that defines
// them, bits of sequences alone and side by side.
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numbers>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "backend/backend.h"
#include "backend/cpu/fft.h"
#include "backend/cpu/isa.h"

using namespace asc;
using namespace asc::cpu;

namespace {

using Exact = std::complex<long double>;

int failures = 0;

void check(bool ok, const std::string& what) {
    if (ok) return;
    ++failures;
    std::printf("FAILED: %s: %s\n", kernels().isa, what.c_str());
}

template <class T>
constexpr DType kReal = std::is_same_v<T, float> ? DType::Float32 : DType::Float64;

template <class T>
T* elements(const Array& x) {
    return reinterpret_cast<T*>(x.data());
}

// count sequences of n random elements.
template <class T>
Array random_rows(int64_t count, int64_t n, DType dtype) {
    static std::mt19937_64 rng(11);
    std::normal_distribution<double> normal;
    Array x = Array::empty({count, n}, dtype, kCpu);
    T* p = elements<T>(x);
    for (int64_t i = 0; i < count * n * (is_complex(dtype) ? 2 : 1); ++i)
        p[i] = static_cast<T>(normal(rng));
    return x;
}

std::vector<Exact> transform(const std::vector<Exact>& x, bool inverse) {
    const auto n = static_cast<int64_t>(x.size());
    std::vector<Exact> root(x.size()), y(x.size());
    for (int64_t k = 0; k < n; ++k)
        root[static_cast<size_t>(k)] =
            std::polar(1.0L, (inverse ? 2 : -2) * std::numbers::pi_v<long double> *
                                 static_cast<long double>(k) / static_cast<long double>(n));
    for (int64_t k = 0; k < n; ++k)
        for (int64_t j = 0; j < n; ++j)
            y[static_cast<size_t>(k)] +=
                x[static_cast<size_t>(j)] * root[static_cast<size_t>(j * k % n)];
    return y;
}

// Element i of row 0 as a complex number, or 0 beyond its end.
template <class T>
Exact number(const Array& x, int64_t i) {
    const T* p = elements<T>(x);
    if (i >= x.shape[1]) return 0;
    return is_complex(x.dtype) ? Exact(p[2 * i], p[2 * i + 1]) : Exact(p[i]);
}

template <class T>
void test_values(int64_t n, FftResult result, bool inverse, bool real_input) {
    const bool real_result = result == FftResult::Real;
    const DType dtype = real_input ? kReal<T> : complex_of(kReal<T>);
    const Array x = random_rows<T>(1, real_result ? n / 2 + 1 : n, dtype);
    std::vector<Exact> full(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) {
        const bool beyond = real_result && i > n / 2;
        Exact v = number<T>(x, beyond ? n - i : i);
        if (beyond) v = std::conj(v);
        if (real_result && (i == 0 || 2 * i == n)) v = v.real();
        full[static_cast<size_t>(i)] = v;
    }
    const std::vector<Exact> expected = transform(full, inverse);
    const Array y = fft(x, {result, {1}, {n}, inverse, 1});
    long double error = 0, size = 0;
    for (int64_t i = 0; i < y.shape[1]; ++i) {
        error += std::norm(number<T>(y, i) - expected[static_cast<size_t>(i)]);
        size += std::norm(expected[static_cast<size_t>(i)]);
    }
    const long double unit = std::is_same_v<T, float> ? 0x1p-24L : 0x1p-53L;
    check(std::sqrt(error / size) <= unit * (1.5L + 0.5L * std::log2(static_cast<long double>(n))),
          "values of length " + std::to_string(n) + " " + name(dtype) + " kind " +
              std::to_string(static_cast<int>(result)) + (inverse ? " inverse" : ""));
}

// Sequences as rows, and as columns, have the bits that each has alone.
template <class T>
void test_bits(int64_t n, FftResult result, bool real_input) {
    const DType dtype = real_input ? kReal<T> : complex_of(kReal<T>);
    constexpr int64_t kCount = 21;
    const Array rows = random_rows<T>(kCount, n, dtype);
    Array columns = Array::empty({n, kCount}, dtype, kCpu);
    const auto bytes = static_cast<size_t>(itemsize(dtype));
    for (int64_t i = 0; i < kCount; ++i)
        for (int64_t j = 0; j < n; ++j)
            std::memcpy(columns.data() + static_cast<size_t>(j * kCount + i) * bytes,
                        rows.data() + static_cast<size_t>(i * n + j) * bytes, bytes);
    const FftSpec by_row{result, {1}, {n}, false, 0.25}, by_column{result, {0}, {n}, false, 0.25};
    const Array y = fft(rows, by_row), z = fft(columns, by_column);
    const auto width = static_cast<size_t>(itemsize(y.dtype));
    const int64_t length = y.shape[1];
    bool same = true;
    for (int64_t i = 0; i < kCount; ++i) {
        const Array one = fft(rows.view({1, n}, rows.strides, i * n), by_row);
        for (int64_t j = 0; j < length; ++j) {
            const std::byte* a = one.data() + static_cast<size_t>(j) * width;
            same &= !std::memcmp(a, y.data() + static_cast<size_t>(i * length + j) * width, width);
            same &= !std::memcmp(a, z.data() + static_cast<size_t>(j * kCount + i) * width, width);
        }
    }
    check(same, "bits of length " + std::to_string(n) + " " + name(dtype) + " kind " +
                    std::to_string(static_cast<int>(result)));
}

template <class T>
void test_length(int64_t n) {
    for (const bool inverse : {false, true}) {
        test_values<T>(n, FftResult::Full, inverse, false);
        test_values<T>(n, FftResult::Full, inverse, true);
        test_values<T>(n, FftResult::Half, inverse, true);
        test_values<T>(n, FftResult::Real, inverse, false);
    }
    test_bits<T>(n, FftResult::Full, false);
    test_bits<T>(n, FftResult::Full, true);
    test_bits<T>(n, FftResult::Half, true);
    test_bits<T>(n, FftResult::Real, false);
}

int run() {
    std::vector<int64_t> lengths;
    for (int64_t n = 1; n <= 66; ++n) lengths.push_back(n);
    for (const int64_t n : {96, 100, 121, 127, 128, 131, 254, 256, 262, 343, 360, 512, 625, 1024})
        lengths.push_back(n);
    for (const int64_t n : lengths) {
        test_length<float>(n);
        test_length<double>(n);
    }
    return failures == 0 ? 0 : 1;
}

}  // namespace

// The instruction set is chosen once in a process: without arguments, one process for each.
int main(int argc, char** argv) {
    if (argc > 1) {
        register_devices();
        return run();
    }
    int failed = 0;
    for (const InstructionSet& isa : usable_instruction_sets()) {
        setenv("ASCEND_ARRAY_API_ISA", isa.name, 1);
        failed |= std::system((std::string(argv[0]) + " here").c_str());
    }
    return failed == 0 ? 0 : 1;
}
