#include "backend/cpu/fft_plan.h"

#include <pthread.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <list>
#include <map>
#include <mutex>
#include <numbers>

#include "backend/cpu/fft.h"
#include "backend/cpu/isa.h"
#include "backend/cpu/scratch.h"
#include "core/error.h"
#include "runtime/arena.h"
#include "runtime/pool.h"
#include "runtime/workers.h"

namespace asc::cpu {
namespace {

// Longer sequences do not fit the second-level cache once for each lane.
constexpr int64_t kMaxLines = 2048;
// Plans are kept up to this share of the machine's memory, and up to so many.
constexpr int64_t kCacheShare = 32;
constexpr size_t kCachePlans = 256;
// Twiddles that make a second thread worth its wake-up.
constexpr int64_t kThreadWork = 1 << 13;

int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

struct Root {
    long double re, im;
};

// exp(-2 pi i k / n) for 0 <= k < n, in long double: rounded to float64 it is exact to within
// 0.501 ulp. Angles are multiples of pi / (2 n) of the first octant, and each of them the sum of a
// fine one and a coarse one.
class Roots {
  public:
    explicit Roots(int64_t n) : n_(n) {
        while (fine_bits_ < 12 && (int64_t{1} << fine_bits_) < n) ++fine_bits_;
        while ((int64_t{1} << (2 * fine_bits_)) < n) ++fine_bits_;
        const int64_t fine = int64_t{1} << fine_bits_;
        fine_.resize(static_cast<size_t>(std::min(fine, n / 2 + 1)));
        coarse_.resize(static_cast<size_t>((n / 2 >> fine_bits_) + 1));
        for (size_t i = 0; i < fine_.size(); ++i) fine_[i] = octant(static_cast<int64_t>(i));
        for (size_t i = 0; i < coarse_.size(); ++i)
            coarse_[i] = octant(static_cast<int64_t>(i) << fine_bits_);
    }

    Root operator()(int64_t k) const {
        const bool below = 2 * k > n_;  // the lower half plane
        if (below) k = n_ - k;
        int64_t angle = 2 * k;  // in units of pi / n
        const bool left = 2 * angle > n_;
        if (left) angle = n_ - angle;
        angle *= 2;
        const bool steep = 2 * angle > n_;
        if (steep) angle = n_ - angle;
        Root r = product(angle);
        if (steep) std::swap(r.re, r.im);
        if (left) r.re = -r.re;
        if (!below) r.im = -r.im;
        return r;
    }

  private:
    // exp(i pi k / (2 n))
    Root octant(int64_t k) const {
        const long double angle = std::numbers::pi_v<long double> * static_cast<long double>(k) /
                                  static_cast<long double>(2 * n_);
        return {std::cos(angle), std::sin(angle)};
    }
    Root product(int64_t k) const {
        const Root a = fine_[static_cast<size_t>(k & ((int64_t{1} << fine_bits_) - 1))];
        if (k >> fine_bits_ == 0) return a;
        const Root b = coarse_[static_cast<size_t>(k >> fine_bits_)];
        return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    }

    int64_t n_;
    int fine_bits_ = 0;
    std::vector<Root> fine_, coarse_;
};

// body(i) for i in [0, n), on the worker threads.
template <class F>
void for_all(int64_t n, F body) {
    Parallel par = workers::parallel();
    if (n < 2 * kThreadWork) par.threads = 1;
    const int64_t chunk = std::max(kThreadWork, n / (4 * par.threads) + 1);
    run_each(par, (n + chunk - 1) / chunk, [&](int64_t c) {
        for (int64_t i = c * chunk; i < std::min(n, (c + 1) * chunk); ++i) body(i);
    });
}

// What a pass costs for each number, relative to a pass of radix 2.
double pass_cost(int64_t radix) {
    switch (radix) {
        case 2:
            return 1;
        case 4:
            return 1.25;
        case 8:
            return 1.45;
        default:
            return 1 + 0.12 * static_cast<double>(radix);
    }
}
double cost_of(const std::vector<int64_t>& radices) {
    double cost = 0;
    for (const int64_t radix : radices) cost += pass_cost(radix);
    return cost;
}

// All ways to write n as a product of radices; none where a prime factor is too large.
std::vector<std::vector<int64_t>> factorizations(int64_t n) {
    int twos = 0;
    for (; n % 2 == 0; n /= 2) ++twos;
    std::vector<int64_t> odd;
    for (int64_t p = 3; p <= kFftMaxRadix; p += 2)
        for (; n % p == 0; n /= p) odd.insert(odd.begin(), p);
    if (n > 1) return {};
    std::vector<std::vector<int64_t>> found;
    for (int eights = twos / 3; eights >= 0; --eights) {
        const int rest = twos - 3 * eights;
        std::vector<int64_t> radices = odd;
        radices.insert(radices.end(), static_cast<size_t>(eights), 8);
        radices.insert(radices.end(), static_cast<size_t>(rest / 2), 4);
        radices.insert(radices.end(), static_cast<size_t>(rest % 2), 2);
        found.push_back(std::move(radices));
    }
    return found;
}

// The radices of a length in the order of their passes, those of the first phase before the others.
struct Split {
    std::vector<int64_t> first, second;  // first: empty where one phase is all
    double cost = INFINITY;
};

// The best split of these radices: both phases fill vectors and are of similar length. None where
// a sequence in one lane does as well.
Split best_split(const std::vector<int64_t>& radices, int64_t n, int64_t lanes) {
    std::map<int64_t, std::vector<int64_t>> products{{1, {}}};
    for (const int64_t radix : radices) {
        const std::map<int64_t, std::vector<int64_t>> before = products;
        for (auto [product, list] : before) {
            list.push_back(radix);
            products.emplace(product * radix, std::move(list));
        }
    }
    auto waste = [&](int64_t m) {
        return static_cast<double>(round_up(m, lanes)) / static_cast<double>(m);
    };
    Split best;
    if (n <= 2 * lanes) return best;
    for (const auto& [rows, first] : products) {
        const int64_t columns = n / rows;
        if (rows == 1 || columns == 1) continue;
        std::vector<int64_t> second = radices;
        for (const int64_t radix : first)
            second.erase(std::find(second.begin(), second.end(), radix));
        const double balance = std::abs(std::log2(static_cast<double>(rows)) -
                                        std::log2(static_cast<double>(columns)));
        const double cost =
            waste(columns) * cost_of(first) + waste(rows) * cost_of(second) + 0.1 * balance;
        if (cost < best.cost) best = {first, std::move(second), cost};
    }
    return best;
}

Split split(int64_t n, int64_t lanes) {
    Split best;
    for (const std::vector<int64_t>& radices : factorizations(n)) {
        Split s = best_split(radices, n, lanes);
        if (s.second.empty()) s = {{}, radices, cost_of(radices)};
        if (s.cost < best.cost) best = std::move(s);
    }
    return best;
}

// Makes the tables of one length.
template <class T>
class Builder {
  public:
    explicit Builder(int64_t n) : n_(n), roots_(n), lanes_(kernels().fft[index(kReal)].lanes) {}

    void build(FftPlan& plan) const {
        const Split s = split(n_, lanes_);
        if (s.cost == INFINITY) return build_chirp(plan);
        std::vector<int64_t> all = s.first;
        all.insert(all.end(), s.second.begin(), s.second.end());
        if (s.first.empty() || n_ <= kMaxLines) plan.lines = passes(all, 1, false);
        if (s.first.empty()) return;
        plan.columns = passes(s.first, 1, true);
        plan.rows = passes(s.second, plan.columns.chain.length, false);
    }

    // exp(-2 pi i k / n) for k <= n / 4, cosines before minus sines.
    void build_real(FftRealPlan& plan) const {
        plan.gap = round_up(n_ / 4 + 1, lanes_) + lanes_;
        plan.twiddles = FftTable(2 * plan.gap * kSize);
        T* w = static_cast<T*>(plan.twiddles.data());
        std::fill(w, w + 2 * plan.gap, T{});
        for_all(n_ / 4 + 1, [&](int64_t k) {
            const Root r = roots_(k);
            w[k] = static_cast<T>(r.re);
            w[plan.gap + k] = static_cast<T>(r.im);
        });
    }

  private:
    static constexpr DType kReal = sizeof(T) == 4 ? DType::Float32 : DType::Float64;
    static constexpr int64_t kSize = sizeof(T);

    // The passes of `factors`; `done` is the product of those before them.
    FftPasses passes(const std::vector<int64_t>& factors, int64_t done, bool per_lane) const {
        FftPasses result;
        int64_t length = 1, stride = 1;
        for (const int64_t radix : factors) length *= radix;
        for (const int64_t radix : factors) {
            FftPass pass{radix, stride, length / stride / radix, nullptr, nullptr};
            if (per_lane || pass.blocks > 1) {
                result.tables.push_back(twiddles(pass, done * stride, per_lane));
                pass.twiddles = result.tables.back().data();
            }
            if (radix % 2 == 1) {
                result.tables.push_back(small_roots(radix));
                pass.roots = result.tables.back().data();
            }
            result.list.push_back(pass);
            stride *= radix;
        }
        result.list.reserve(1);  // a chain without passes exists
        result.chain = {result.list.data(), static_cast<int64_t>(result.list.size()), length,
                        per_lane};
        return result;
    }

    // exp(-2 pi i p k step / n); for lane c of all `columns` p is c + columns * (block).
    FftTable twiddles(const FftPass& pass, int64_t step, bool per_lane) const {
        const int64_t factors = pass.radix - 1, of_block = factors * (per_lane ? lanes_ : 1);
        const int64_t columns = per_lane ? n_ / step / pass.radix / pass.blocks : 1;
        const int64_t groups = per_lane ? round_up(columns, lanes_) / lanes_ : 1;
        FftTable table(groups * pass.blocks * of_block * 2 * kSize);
        T* out = static_cast<T*>(table.data());
        for_all(groups * pass.blocks, [&](int64_t i) {
            const int64_t group = i / pass.blocks, block = i % pass.blocks;
            T* w = out + i * of_block * 2;
            for (int64_t k = 1; k <= factors; ++k) {
                for (int64_t l = 0; l < (per_lane ? lanes_ : 1); ++l) {
                    // Lanes beyond the last column are not used.
                    const int64_t c = std::min(group * lanes_ + l, columns - 1);
                    const int64_t p = per_lane ? c + columns * block : block;
                    const Root r = roots_(p * k * step);
                    T* place = per_lane ? w + (k - 1) * 2 * lanes_ + l : w + (k - 1) * 2;
                    place[0] = static_cast<T>(r.re);
                    place[per_lane ? lanes_ : 1] = static_cast<T>(r.im);
                }
            }
        });
        return table;
    }

    static FftTable small_roots(int64_t radix) {
        const Roots roots(radix);
        FftTable table(2 * radix * kSize);
        T* w = static_cast<T*>(table.data());
        for (int64_t j = 0; j < radix; ++j) {
            w[j] = static_cast<T>(roots(j).re);
            w[radix + j] = static_cast<T>(-roots(j).im);
        }
        return table;
    }

    // The least length of at least 2 n - 1 that has small factors.
    int64_t convolution_length() const {
        int64_t best = INT64_MAX;
        for (int64_t odd : {1, 3, 5, 7, 9, 15}) {
            int64_t m = odd;
            while (m < 2 * n_ - 1) m *= 2;
            best = std::min(best, m);
        }
        return best;
    }

    void build_chirp(FftPlan& plan) const {
        const int64_t m = convolution_length();
        plan.convolution = FftPlan::get(kReal, m);
        plan.factors = FftTable(n_ * 2 * kSize);
        Array spectrum = Array::empty({m}, complex_of(kReal), kCpu);
        T* factors = static_cast<T*>(plan.factors.data());
        T* b = reinterpret_cast<T*>(spectrum.data());
        std::fill(b, b + 2 * m, T{});
        const Roots roots(2 * n_);
        for_all(n_, [&](int64_t k) {
            // The square may exceed 64 bits, its remainder does not.
            const auto square =
                static_cast<unsigned __int128>(k) * static_cast<unsigned __int128>(k);
            const Root r = roots(static_cast<int64_t>(square % static_cast<uint64_t>(2 * n_)));
            factors[2 * k] = static_cast<T>(r.re);
            factors[2 * k + 1] = static_cast<T>(r.im);
            const int64_t mirrored = k == 0 ? 0 : m - k;
            b[2 * k] = b[2 * mirrored] = factors[2 * k];
            b[2 * k + 1] = b[2 * mirrored + 1] = -factors[2 * k + 1];
        });
        const Array transformed =
            fft(spectrum, {FftResult::Full, {0}, {m}, false, 1.0 / static_cast<double>(m)});
        plan.spectrum = FftTable(m * 2 * kSize);
        std::memcpy(plan.spectrum.data(), transformed.data(), static_cast<size_t>(m * 2 * kSize));
    }

    int64_t n_;
    Roots roots_;
    int64_t lanes_;
};

int64_t bytes_of(const FftPasses& passes) {
    int64_t bytes = 0;
    for (const FftTable& table : passes.tables) bytes += table.bytes();
    return bytes;
}

// The plans used last. Nobody makes or destroys a plan while the lock is held, so several threads
// may make the same one; the first to finish is kept.
template <class Plan>
class Cache {
  public:
    std::shared_ptr<const Plan> find(DType real, int64_t n) {
        std::lock_guard lock(mutex_);
        const auto it = place(real, n);
        if (it == entries_.end()) return nullptr;
        entries_.splice(entries_.begin(), entries_, it);
        return it->plan;
    }
    void add(DType real, int64_t n, const std::shared_ptr<const Plan>& plan) {
        const int64_t bytes = plan->bytes(), most = pool::machine_memory() / kCacheShare;
        if (bytes > most) return;
        std::list<Entry> fresh{{real, n, plan, bytes}}, evicted;
        std::lock_guard lock(mutex_);
        if (place(real, n) != entries_.end()) return;
        entries_.splice(entries_.begin(), fresh);
        bytes_ += bytes;
        while (bytes_ > most || entries_.size() > kCachePlans) {
            bytes_ -= entries_.back().bytes;
            evicted.splice(evicted.end(), entries_, std::prev(entries_.end()));
        }
    }
    // Plans at work live on until they are done.
    void clear() {
        std::list<Entry> evicted;
        std::lock_guard lock(mutex_);
        evicted.swap(entries_);
        bytes_ = 0;
    }
    std::mutex& mutex() { return mutex_; }

  private:
    struct Entry {
        DType real;
        int64_t n;
        std::shared_ptr<const Plan> plan;
        int64_t bytes;
    };
    typename std::list<Entry>::iterator place(DType real, int64_t n) {
        return std::find_if(entries_.begin(), entries_.end(),
                            [&](const Entry& e) { return e.n == n && e.real == real; });
    }

    std::mutex mutex_;
    std::list<Entry> entries_;
    int64_t bytes_ = 0;
};

// Never destroyed: threads may transform while the process ends.
template <class Plan>
Cache<Plan>& cache() {
    static Cache<Plan>& instance = []() -> Cache<Plan>& {
        Cache<Plan>& made = *new Cache<Plan>;
        pool::on_shortage([] { cache<Plan>().clear(); });
        return made;
    }();
    return instance;
}

// A forked child must not inherit a mutex that some other thread holds.
template <class Plan>
void install_fork_handlers() {
    pthread_atfork([] { cache<Plan>().mutex().lock(); }, [] { cache<Plan>().mutex().unlock(); },
                   [] { cache<Plan>().mutex().unlock(); });
}

// The plan from the cache, or one that make(plan) fills. It outlives the arena of its first user.
template <class Plan, class F>
std::shared_ptr<const Plan> find_or_make(DType real, int64_t n, F make) {
    if (auto plan = cache<Plan>().find(real, n)) return plan;
    const Arena::Outside outside;
    auto plan = std::make_shared<Plan>();
    make(*plan);
    cache<Plan>().add(real, n, plan);
    return plan;
}

template <class F>
void with_builder(DType real, int64_t n, F body) {
    if (real == DType::Float32)
        body(Builder<float>(n));
    else
        body(Builder<double>(n));
}

}  // namespace

FftTable::FftTable(int64_t bytes) : data_(pool::allocate(bytes), Free{bytes}) {}
void FftTable::Free::operator()(void* p) const { pool::free(p, bytes); }

int64_t FftPlan::bytes() const {
    return bytes_of(lines) + bytes_of(columns) + bytes_of(rows) + factors.bytes() +
           spectrum.bytes() + (convolution ? convolution->bytes() : 0);
}

std::shared_ptr<const FftPlan> FftPlan::get(DType real, int64_t n) {
    return find_or_make<FftPlan>(real, n, [&](FftPlan& plan) {
        plan.n = n;
        with_builder(real, n, [&](const auto& builder) { builder.build(plan); });
    });
}

std::shared_ptr<const FftRealPlan> FftRealPlan::get(DType real, int64_t n) {
    return find_or_make<FftRealPlan>(real, n, [&](FftRealPlan& plan) {
        plan.half = FftPlan::get(real, n / 2);
        with_builder(real, n, [&](const auto& builder) { builder.build_real(plan); });
    });
}

void install_plan_fork_handlers() {
    install_fork_handlers<FftPlan>();
    install_fork_handlers<FftRealPlan>();
}

}  // namespace asc::cpu
