// Sorting and searching kernels of every instruction set that runs here, against the standard
// library on the same data.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "backend/cpu/isa.h"

namespace {

using namespace asc;
using namespace asc::cpu;

int failures = 0;

void check(bool ok, const std::string& what) {
    if (ok) return;
    std::printf("failed: %s\n", what.c_str());
    ++failures;
}

// A team whose tasks run in reverse: what depends on their order shows.
void run_reversed(int64_t count, void (*task)(void*, int64_t), void* ctx) {
    for (int64_t i = count; i-- > 0;) task(ctx, i);
}

std::mt19937_64 rng(2025);

enum class Data { Random, Few, Special, Sorted, Reversed, Cluster };

template <class T>
std::vector<T> make(Data data, int64_t n) {
    std::vector<T> x(static_cast<size_t>(n));
    for (T& e : x) {
        const uint64_t r = rng();
        if (data == Data::Random && std::is_integral_v<T>) {
            e = static_cast<T>(r);
        } else if (data == Data::Cluster) {
            // Differences in the lowest bits beside far outliers: the hard case of packing.
            e = static_cast<T>(r % 50 == 0 ? (std::is_signed_v<T> ? -100 : 100) : 1);
            if constexpr (std::is_floating_point_v<T>)
                e += std::numeric_limits<T>::epsilon() * static_cast<T>(r >> 32 & 31);
        } else {
            e = static_cast<T>(data == Data::Few ? r % 5 : (r >> 11) % 100000);
            if (std::is_floating_point_v<T> && data != Data::Few) e = e / 64 - 700;
        }
        if constexpr (std::is_floating_point_v<T>) {
            const T special[] = {NAN, -INFINITY, INFINITY, T{0}, -T{0}};
            if (data == Data::Special && r % 3) e = special[r / 3 % 5];
        }
    }
    if (data == Data::Sorted || data == Data::Reversed) std::sort(x.begin(), x.end());
    if (data == Data::Reversed) std::reverse(x.begin(), x.end());
    return x;
}

// NaN is the largest and equal to itself.
template <class T>
bool before(T a, T b) {
    return b != b ? a == a : a < b;
}

template <class T>
std::vector<int64_t> reference_order(const std::vector<T>& x, bool descending) {
    std::vector<int64_t> order(x.size());
    std::iota(order.begin(), order.end(), int64_t{0});
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        const T p = x[static_cast<size_t>(a)], q = x[static_cast<size_t>(b)];
        return descending ? before(q, p) : before(p, q);
    });
    return order;
}

// The same number, zeros with the same sign.
template <class T>
bool same(T a, T b) {
    return a != a ? b != b
                  : a == b && std::signbit(static_cast<double>(a)) ==
                                  std::signbit(static_cast<double>(b));
}

template <class T>
void test_sorting(const KernelTable& k, DType dtype, const std::vector<T>& x,
                  const std::string& what) {
    const auto n = static_cast<int64_t>(x.size());
    for (int threads : {1, 3}) {
        const Parallel par{threads, run_reversed};
        for (bool descending : {false, true}) {
            const std::vector<int64_t> expected = reference_order(x, descending);
            const int64_t bytes =
                std::max(sort_scratch(dtype, n, threads), argsort_scratch(n, itemsize(dtype)));
            std::vector<double> scratch(static_cast<size_t>(bytes / 8 + 16));
            std::vector<int64_t> order(x.size());
            k.argsort[index(dtype)](x.data(), order.data(), scratch.data(), n, descending, par);
            check(order == expected, what + " argsort");
            std::vector<T> sorted = x;
            k.sort[index(dtype)](sorted.data(), scratch.data(), n, descending, par);
            bool ok = true;
            for (size_t i = 0; i < x.size(); ++i)
                ok = ok && same(sorted[i], x[static_cast<size_t>(expected[i])]);
            check(ok, what + " sort");
        }
    }
}

template <class T>
void test_searching(const KernelTable& k, DType dtype, std::vector<T> x, const std::string& what) {
    const std::vector<T> keys = make<T>(Data::Special, 133);
    const auto n = static_cast<int64_t>(x.size()), count = static_cast<int64_t>(keys.size());
    if (n > 0) {
        for (bool largest : {false, true}) {
            auto wins = [&](T a, T b) {
                return a != a ? b == b : b == b && (largest ? a > b : a < b);
            };
            size_t best = 0;
            for (size_t i = 1; i < x.size(); ++i) best = wins(x[i], x[best]) ? i : best;
            const int64_t at = k.arg_extreme[largest][index(dtype)](x.data(), n);
            check(at == static_cast<int64_t>(best), what + " arg_extreme");
        }
    }
    std::stable_sort(x.begin(), x.end(), before<T>);
    std::vector<int64_t> at(keys.size());
    std::vector<uint8_t> found(keys.size());
    k.member[index(dtype)](x.data(), n, keys.data(), count, found.data());
    for (bool right : {false, true}) {
        k.search[index(dtype)](x.data(), n, keys.data(), count, at.data(), right);
        for (size_t i = 0; i < keys.size(); ++i) {
            const auto low = std::lower_bound(x.begin(), x.end(), keys[i], before<T>);
            const auto high = std::upper_bound(x.begin(), x.end(), keys[i], before<T>);
            check(at[i] == (right ? high : low) - x.begin(), what + " search");
            check(found[i] == (keys[i] == keys[i] && low != high), what + " member");
        }
    }
    std::vector<T> values = x, expected;
    std::vector<int64_t> starts(x.size()), expected_starts;
    for (size_t i = 0; i < x.size(); ++i) {
        if (i > 0 && x[i] == x[i - 1]) continue;
        expected.push_back(x[i]);
        expected_starts.push_back(static_cast<int64_t>(i));
    }
    const auto runs = static_cast<size_t>(
        k.distinct[index(dtype)](values.data(), starts.data(), values.data(), n));
    starts.resize(std::min(runs, starts.size()));
    check(starts == expected_starts, what + " distinct starts");
    check(std::equal(expected.begin(), expected.end(), values.begin(), same<T>),
          what + " distinct values");
}

void test_positions(const KernelTable& k) {
    for (int density : {0, 1, 50, 99, 100}) {
        for (int64_t n : {0, 1, 63, 64, 65, 500, 4097}) {
            std::vector<uint8_t> bits(static_cast<size_t>(n / 8 + 3));
            std::vector<int64_t> expected;
            const auto offset = static_cast<int64_t>(rng() % 8);
            for (int64_t i = 0; i < n; ++i) {
                if (static_cast<int>(rng() % 100) >= density) continue;
                bits[static_cast<size_t>((offset + i) >> 3)] |=
                    static_cast<uint8_t>(1 << ((offset + i) & 7));
                expected.push_back(1000 + i);
            }
            std::vector<int64_t> out(expected.size());
            k.positions(out.data(), static_cast<int64_t>(out.size()), bits.data(), offset, n, 1000);
            check(out == expected, "positions");
        }
    }
}

template <class T>
void test_dtype(const KernelTable& k, DType dtype) {
    for (Data data :
         {Data::Random, Data::Few, Data::Special, Data::Sorted, Data::Reversed, Data::Cluster}) {
        for (int64_t n : {0, 1, 2, 7, 16, 33, 64, 100, 255, 257, 1000, 5000, 33000, 100000}) {
            const std::vector<T> x = make<T>(data, n);
            const std::string what = std::string(k.isa) + " " + name(dtype) + " data " +
                                     std::to_string(static_cast<int>(data)) + " n " +
                                     std::to_string(n);
            test_sorting(k, dtype, x, what);
            test_searching(k, dtype, x, what);
        }
    }
}

void test_table(const KernelTable& k) {
    test_dtype<int8_t>(k, DType::Int8);
    test_dtype<int16_t>(k, DType::Int16);
    test_dtype<int32_t>(k, DType::Int32);
    test_dtype<int64_t>(k, DType::Int64);
    test_dtype<uint8_t>(k, DType::UInt8);
    test_dtype<uint16_t>(k, DType::UInt16);
    test_dtype<uint32_t>(k, DType::UInt32);
    test_dtype<uint64_t>(k, DType::UInt64);
    test_dtype<float>(k, DType::Float32);
    test_dtype<double>(k, DType::Float64);
    test_positions(k);
}

}  // namespace

int main() {
    for (const InstructionSet& isa : usable_instruction_sets()) test_table(isa.kernels());
    if (failures == 0) std::printf("all passed\n");
    return failures != 0;
}
