#include "backend/cpu/random.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "backend/cpu/isa.h"
#include "backend/cpu/scratch.h"
#include "runtime/workers.h"

namespace asc::cpu {
namespace {

// Elements that are made together, always all of them.
constexpr int64_t kChunk = 256;
// Chunks of one task.
constexpr int64_t kTaskChunks = 64;

bool is_elementwise(Distribution d) { return d >= Distribution::Gamma; }

// 32-bit words that one element takes at first.
int64_t words_of(const Draw& draw) {
    if (draw.distribution == Distribution::Integers)
        return draw.span == 0 || draw.span > uint64_t{1} << 32 ? 2 : 1;
    return itemsize(draw.dtype) / 4;
}

uint64_t high_word(const RandomState& state, uint64_t attempt) {
    return attempt << 32 | state.jump;
}

// The first attempts of kRandomTile elements, each with a block of its own for every attempt.
struct Attempts {
    static constexpr uint32_t kAhead = 2;
    uint32_t words[kAhead][4 * kRandomTile];

    Attempts(const RandomState& state, uint64_t block) {
        for (uint32_t t = 0; t < kAhead; ++t)
            kernels().philox(words[t], state.key, block, high_word(state, t), 1);
    }
};

// The numbers of one element that may reject some.
class Words {
  public:
    // Element `lane` of those made ahead, whose block is `block`.
    Words(const RandomState& state, uint64_t block, const Attempts& ahead, int lane)
        : state_(state), block_(block), ahead_(&ahead), lane_(lane) {}
    // Element that has used attempt 0: the elements of a block take turns.
    Words(const RandomState& state, uint64_t block, uint32_t first, uint32_t step)
        : state_(state), block_(block), attempt_(first), step_(step) {}

    uint32_t word() {
        if (next_ == 4) load();
        return words_[next_++];
    }
    uint64_t long_word() {
        const uint64_t high = word();
        return high << 32 | word();
    }
    // The middle of one of 2^52 steps from 0 to 1.
    double uniform() { return (static_cast<double>(long_word() >> 12) + 0.5) * 0x1p-52; }
    // Box and Muller's, one of the pair.
    double normal() {
        const double radius = std::sqrt(-2 * std::log(uniform()));
        return radius * std::cos(2 * std::numbers::pi * uniform());
    }

  private:
    void load() {
        if (ahead_ && attempt_ < Attempts::kAhead) {
            for (int w = 0; w < 4; ++w)
                words_[w] = ahead_->words[attempt_][w * kRandomTile + lane_];
        } else {
            philox_block(words_, state_.key, block_, high_word(state_, attempt_));
        }
        attempt_ += step_;
        next_ = 0;
    }

    const RandomState& state_;
    uint64_t block_;
    const Attempts* ahead_ = nullptr;
    int lane_ = 0;
    uint32_t attempt_ = 0, step_ = 1;
    uint32_t words_[4];
    int next_ = 4;
};

// ---- element by element

// log Gamma(k + 1) minus Stirling's first terms, k >= 0.
double stirling_rest(double k) {
    if (k < 10) {
        double factorial = 1;
        for (int i = 2; i <= static_cast<int>(k); ++i) factorial *= i;
        return std::log(factorial) -
               ((k + 0.5) * std::log(k + 1) - (k + 1) + 0.5 * std::log(2 * std::numbers::pi));
    }
    const double x = k + 1, square = x * x;
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / x;
}

// Marsaglia and Tsang: A simple method for generating gamma variables, 2000; shape >= 1.
double gamma_by_rejection(Words& words, double shape) {
    const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
    while (true) {
        const double x = words.normal(), root = 1 + c * x;
        if (root <= 0) continue;
        const double v = root * root * root, u = words.uniform(), square = x * x;
        if (u < 1 - 0.0331 * square * square) return d * v;
        if (std::log(u) < 0.5 * square + d - d * v + d * std::log(v)) return d * v;
    }
}

// The logarithm of a gamma variate, which itself may be below the smallest number.
double log_gamma_variate(Words& words, double shape) {
    if (shape >= 1) return std::log(gamma_by_rejection(words, shape));
    if (shape == 0) return -INFINITY;
    const double boost = std::log(words.uniform()) / shape;
    return std::log(gamma_by_rejection(words, shape + 1)) + boost;
}

double gamma_variate(Words& words, double shape) {
    return shape >= 1 ? gamma_by_rejection(words, shape)
                      : std::exp(log_gamma_variate(words, shape));
}

double beta_variate(Words& words, double a, double b) {
    const double x = log_gamma_variate(words, a), y = log_gamma_variate(words, b);
    // Parameters so small that both are below any number: then all weight is at the ends.
    if (x == -INFINITY && y == -INFINITY) return words.uniform() < a / (a + b) ? 1 : 0;
    return 1 / (1 + std::exp(y - x));
}

// Search from zero upwards: good where the mean is small.
double binomial_by_search(Words& words, double n, double p) {
    const double odds = p / (1 - p);
    const double none = std::exp(n * std::log1p(-p));
    while (true) {
        double u = words.uniform(), probability = none;
        for (double k = 0; k <= n; ++k) {
            if (u <= probability) return k;
            u -= probability;
            probability *= odds * (n - k) / (k + 1);
            if (probability == 0) break;  // rounding left something of u
        }
    }
}

// Hörmann: The generation of binomial random variates, 1993, algorithm BTRS; n p >= 10, p <= 1/2.
double binomial_by_rejection(Words& words, double n, double p) {
    const double q = 1 - p, deviation = std::sqrt(n * p * q), odds = p / q;
    const double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * p;
    const double center = n * p + 0.5, sure = 0.92 - 4.2 / b;
    const double alpha = (2.83 + 5.1 / b) * deviation, mode = std::floor((n + 1) * p);
    while (true) {
        const double u = words.uniform() - 0.5, v = words.uniform(), us = 0.5 - std::fabs(u);
        const double k = std::floor((2 * a / us + b) * u + center);
        if (k < 0 || k > n) continue;
        if (us >= 0.07 && v <= sure) return k;
        const double bound = (mode + 0.5) * std::log((mode + 1) / (odds * (n - mode + 1))) +
                             (n + 1) * std::log((n - mode + 1) / (n - k + 1)) +
                             (k + 0.5) * std::log(odds * (n - k + 1) / (k + 1)) +
                             stirling_rest(mode) + stirling_rest(n - mode) - stirling_rest(k) -
                             stirling_rest(n - k);
        if (std::log(v * alpha / (a / (us * us) + b)) <= bound) return k;
    }
}

double binomial_variate(Words& words, double n, double p) {
    if (n == 0 || p == 0) return 0;
    if (p > 0.5) return n - binomial_variate(words, n, 1 - p);
    return n * p < 10 ? binomial_by_search(words, n, p) : binomial_by_rejection(words, n, p);
}

// log of the probability of k >= 0 at mean `mean`, without cancellation at large ones.
double log_poisson(double k, double mean) {
    if (k == 0) return -mean;
    const double x = (mean - k) / k;
    const double shifted = stirling_rest(k - 1);  // of log Gamma(k)
    return k * (std::log1p(x) - x) - 0.5 * std::log(2 * std::numbers::pi * k) - shifted;
}

// Hörmann: The transformed rejection method for generating Poisson random variables, 1993, PTRS.
double poisson_by_rejection(Words& words, double mean) {
    const double b = 0.931 + 2.53 * std::sqrt(mean), a = -0.059 + 0.02483 * b;
    const double alpha = 1.1239 + 1.1328 / (b - 3.4), sure = 0.9277 - 3.6224 / (b - 2);
    while (true) {
        const double u = words.uniform() - 0.5, v = words.uniform(), us = 0.5 - std::fabs(u);
        const double k = std::floor((2 * a / us + b) * u + mean + 0.43);
        if (us >= 0.07 && v <= sure) return k;
        if (k < 0 || (us < 0.013 && v > us)) continue;
        if (std::log(v * alpha / (a / (us * us) + b)) <= log_poisson(k, mean)) return k;
    }
}

double poisson_variate(Words& words, double mean) {
    if (mean >= 10) return poisson_by_rejection(words, mean);
    const double least = std::exp(-mean);
    double product = words.uniform(), count = 0;
    for (; product > least; ++count) product *= words.uniform();
    return count;
}

double variate(Distribution distribution, Words& words, double a, double b) {
    switch (distribution) {
        case Distribution::Gamma:
            return gamma_variate(words, a);
        case Distribution::Beta:
            return beta_variate(words, a, b);
        case Distribution::Binomial:
            return binomial_variate(words, a, b);
        default:
            return poisson_variate(words, a);
    }
}

// ---- chunk by chunk

// From uniform numbers in [0, 1), in place: the first half gives the radius (Box and Muller).
template <class T>
void normal_from_uniform(T* x) {
    constexpr DType kType = sizeof(T) == 4 ? DType::Float32 : DType::Float64;
    constexpr int64_t kHalf = kChunk / 2;
    const auto& op = [](Op o) { return kernels().elementwise[index(o)][index(kType)]; };
    T radius[kHalf], angle[kHalf], work[kHalf];
    for (int64_t i = 0; i < kHalf; ++i) work[i] = T(1) - x[i];
    const void* source = work;
    op(Op::Log)(radius, &source, kHalf, 0);
    for (int64_t i = 0; i < kHalf; ++i) {
        radius[i] = std::sqrt(T(-2) * radius[i]);
        angle[i] = x[kHalf + i] * static_cast<T>(2 * std::numbers::pi);
    }
    source = angle;
    op(Op::Cos)(work, &source, kHalf, 0);
    for (int64_t i = 0; i < kHalf; ++i) x[i] = radius[i] * work[i];
    op(Op::Sin)(work, &source, kHalf, 0);
    for (int64_t i = 0; i < kHalf; ++i) x[kHalf + i] = radius[i] * work[i];
}

// Lemire: Fast random integer generation in an interval, 2019: the upper half of number * span,
// with another number where the lower half would make some values more likely.
void bound32(uint64_t* dst, const uint32_t* words, uint32_t span, auto&& more) {
    const uint32_t biased = (0u - span) % span;
    uint32_t low[kChunk];
    for (int64_t i = 0; i < kChunk; ++i) {
        const uint64_t product = static_cast<uint64_t>(words[i]) * span;
        dst[i] = product >> 32;
        low[i] = static_cast<uint32_t>(product);
    }
    for (int64_t i = 0; i < kChunk; ++i) {
        if (low[i] >= biased) continue;
        Words again = more(i);
        uint64_t product;
        do {
            product = static_cast<uint64_t>(again.word()) * span;
        } while (static_cast<uint32_t>(product) < biased);
        dst[i] = product >> 32;
    }
}

void bound64(uint64_t* numbers, uint64_t span, auto&& more) {
    const uint64_t biased = (uint64_t{0} - span) % span;
    for (int64_t i = 0; i < kChunk; ++i) {
        unsigned __int128 product = static_cast<unsigned __int128>(numbers[i]) * span;
        if (static_cast<uint64_t>(product) < biased) {
            Words again = more(i);
            do {
                product = static_cast<unsigned __int128>(again.long_word()) * span;
            } while (static_cast<uint64_t>(product) < biased);
        }
        numbers[i] = static_cast<uint64_t>(product >> 64);
    }
}

// The values of one chunk.
void integers(void* dst, const uint32_t* words, const Draw& draw, const RandomState& state,
              uint64_t first_block) {
    uint64_t values[kChunk];
    const bool narrow = words_of(draw) == 1;
    const uint32_t share = narrow ? 4 : 2;  // elements of one block
    auto more = [&](int64_t i) {
        const uint32_t element = static_cast<uint32_t>(i);
        return Words(state, first_block + element / share, 1 + element % share, share);
    };
    if (!narrow) {
        kernels().long_words(values, words, kChunk);
        if (draw.span != 0) bound64(values, draw.span, more);
    } else if (const uint32_t span = static_cast<uint32_t>(draw.span); span != 0) {
        bound32(values, words, span, more);
    } else {
        std::copy_n(words, kChunk, values);  // every word is a value
    }
    for (uint64_t& value : values) value += static_cast<uint64_t>(draw.low);
    kernels().convert[index(DType::UInt64)][index(draw.dtype)](dst, values, kChunk);
}

void run_chunk(std::byte* dst, const Draw& draw, const RandomState& state, int64_t chunk,
               int64_t n) {
    const int64_t words_each = words_of(draw), blocks = kChunk * words_each / 4;
    uint32_t words[2 * kChunk];
    const uint64_t block = state.block + static_cast<uint64_t>(chunk * blocks);
    kernels().philox(words, state.key, block, high_word(state, 0), blocks / kRandomTile);
    alignas(64) std::byte room[kChunk * 8];
    std::byte* whole = n == kChunk ? dst : room;
    const bool is_normal = draw.distribution == Distribution::Normal;
    if (draw.distribution == Distribution::Integers) {
        integers(whole, words, draw, state, block);
    } else if (words_each == 1) {
        kernels().uniform32(whole, words, kChunk);
        if (is_normal) normal_from_uniform(reinterpret_cast<float*>(whole));
    } else {
        kernels().uniform64(whole, words, kChunk);
        if (is_normal) normal_from_uniform(reinterpret_cast<double*>(whole));
    }
    if (whole == room) std::memcpy(dst, room, static_cast<size_t>(n * itemsize(draw.dtype)));
}

}  // namespace

void philox_block(uint32_t out[4], uint64_t key, uint64_t low, uint64_t high) {
    uint32_t words[4 * kRandomTile];
    kernels().philox(words, key, low, high, 1);
    for (int w = 0; w < 4; ++w) out[w] = words[w * kRandomTile];
}

int64_t random_blocks(const Draw& draw, int64_t n) {
    if (is_elementwise(draw.distribution)) return n;
    return (n + kChunk - 1) / kChunk * (kChunk * words_of(draw) / 4);
}

Array random(const Draw& draw, const RandomState& state, const Dims& shape, const Array& a,
             const Array& b) {
    Array out = Array::empty(shape, draw.dtype, a.device());
    const int64_t n = out.size(), size = itemsize(draw.dtype);
    if (n == 0) return out;
    std::byte* dst = out.data();
    constexpr int64_t kTask = kTaskChunks * kChunk;
    const int64_t tasks = (n + kTask - 1) / kTask;
    if (is_elementwise(draw.distribution)) {
        double* values = reinterpret_cast<double*>(dst);
        const double* x = reinterpret_cast<const double*>(a.data());
        const double* y = reinterpret_cast<const double*>(b.data());
        const int64_t x_step = a.size() > 1, y_step = b.size() > 1;
        run_each(workers::parallel(), tasks, [&](int64_t task) {
            const int64_t last = std::min(n, (task + 1) * kTask);
            for (int64_t first = task * kTask; first < last; first += kRandomTile) {
                const uint64_t block = state.block + static_cast<uint64_t>(first);
                const Attempts ahead(state, block);
                for (int64_t i = first; i < std::min(last, first + kRandomTile); ++i) {
                    const int lane = static_cast<int>(i - first);
                    Words words(state, block + static_cast<uint64_t>(lane), ahead, lane);
                    values[i] = variate(draw.distribution, words, x[i * x_step], y[i * y_step]);
                }
            }
        });
        return out;
    }
    run_each(workers::parallel(), tasks, [&](int64_t task) {
        for (int64_t i = task * kTask; i < std::min(n, (task + 1) * kTask); i += kChunk)
            run_chunk(dst + i * size, draw, state, i / kChunk, std::min(kChunk, n - i));
    });
    return out;
}

}  // namespace asc::cpu
