#include "backend/cpu/sorting.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>

#include "backend/cpu/isa.h"
#include "backend/cpu/lines.h"
#include "backend/cpu/scratch.h"
#include "runtime/workers.h"

namespace asc::cpu {
namespace {

// Elements that make a second thread worth its wake-up.
constexpr int64_t kThreadWork = workers::kThreadWork / 2;
// Bytes of lines that one task handles together, so that transposing them pays and they stay in
// cache.
constexpr int64_t kGroupBytes = 1 << 16;
constexpr int64_t kMaxGroup = 64;
// Lines side by side that are worked on as columns, kColumns of them at a time or as many as make
// kColumnWork elements. Lines up to kShortLine are turned into columns first.
constexpr int64_t kAbreast = 16, kColumns = 256, kColumnWork = 1 << 16, kShortLine = 64;

int64_t round_up(int64_t bytes) { return (bytes + 63) & ~int64_t{63}; }
int64_t key_bytes(DType d) { return is_bool(d) ? 1 : itemsize(d); }

// A team for this much work: the workers, or the caller alone.
Parallel team(int64_t elements) {
    Parallel par = workers::parallel();
    if (elements < 2 * kThreadWork) par.threads = 1;
    return par;
}

// body(begin, end) over [0, n) in chunks of at least `least`, a multiple of 512.
template <class F>
void for_ranges(const Parallel& par, int64_t n, int64_t least, F body) {
    const int64_t chunk = std::max((n / (4 * par.threads) + 511) / 512 * 512, least);
    run_each(par, (n + chunk - 1) / chunk,
             [&](int64_t i) { body(i * chunk, std::min(n, (i + 1) * chunk)); });
}

void move_bytes(void* dst, const void* src, int64_t bytes, const Parallel& par) {
    for_ranges(par, bytes, kThreadWork * 8, [&](int64_t begin, int64_t end) {
        std::memcpy(static_cast<char*>(dst) + begin, static_cast<const char*>(src) + begin,
                    static_cast<size_t>(end - begin));
    });
}

// Runs body(first, count, scratch, par) over groups of lines: one line at a time with all threads
// where lines are long and few, else groups of lines on one thread each. bytes(count, threads)
// tells the scratch that a group needs.
template <class Bytes, class F>
void for_line_groups(const Lines& lines, bool one_thread, Bytes bytes, F body,
                     int64_t most = kMaxGroup) {
    const int64_t n = lines.length(), count = lines.count();
    Parallel par = team(one_thread ? 0 : n * count);
    if (count < par.threads && n >= kThreadWork) {
        Buffer scratch(bytes(int64_t{1}, par.threads));
        for (int64_t i = 0; i < count; ++i) body(i, int64_t{1}, scratch.data(), par);
        return;
    }
    const int64_t fitting = kGroupBytes / std::max<int64_t>(lines.line_bytes(), 1);
    const int64_t fair = (count + 2 * par.threads - 1) / (2 * par.threads);
    const int64_t group = std::max<int64_t>(1, std::min({fitting, fair, most}));
    Parallel alone = par;
    alone.threads = 1;
    Slots slots(par, (count + group - 1) / group, bytes(group, 1));
    slots.spread([&](int64_t task, void* scratch) {
        const int64_t first = task * group;
        body(first, std::min(group, count - first), scratch, alone);
    });
}

// Runs body(first, count) over groups of lines that lie together: as many from one on as `run`
// says.
template <class F>
void for_runs(const Lines& lines, int64_t (Lines::*run_from)(int64_t) const, F body) {
    const int64_t count = lines.count(), n = lines.length();
    const Parallel par = team(n * count);
    const int64_t fair = (count + 2 * par.threads - 1) / (2 * par.threads);
    const int64_t most = std::max<int64_t>(kColumnWork / n, kColumns);
    const int64_t group = std::clamp((fair + kAbreast - 1) / kAbreast * kAbreast, kAbreast, most);
    run_each(par, (count + group - 1) / group, [&](int64_t task) {
        const int64_t end = std::min(count, (task + 1) * group);
        for (int64_t i = task * group, run; i < end; i += run)
            body(i, run = std::min(end - i, (lines.*run_from)(i)));
    });
}

// The address of the i-th piece of `bytes` each, in memory of any type.
std::byte* piece(void* base, int64_t i, int64_t bytes) {
    return static_cast<std::byte*>(base) + i * bytes;
}

}  // namespace

void sort(const Array& x, int axis, bool descending, const Array& out) {
    if (x.size() == 0) return;
    const Lines in(x, axis), result(out, axis);
    const SortFn kernel = kernels().sort[index(x.dtype)];
    const int64_t line = in.line_bytes();
    const bool in_place = result.direct();
    auto rows_bytes = [&](int64_t count) { return in_place ? 0 : round_up(count * line); };
    auto bytes = [&](int64_t count, int threads) {
        return rows_bytes(count) + sort_scratch(x.dtype, in.length(), threads);
    };
    // Neighbouring lines of a packed result share bytes.
    for_line_groups(
        in, is_bool(x.dtype), bytes, [&](int64_t first, int64_t count, void* memory, Parallel par) {
            void* scratch = piece(memory, 1, rows_bytes(count));
            std::byte* rows = in_place ? result.address(first) : static_cast<std::byte*>(memory);
            if (in.direct() && in_place) {
                for (int64_t i = 0; i < count; ++i)
                    move_bytes(piece(rows, i, line), in.address(first + i), line, par);
            } else {
                in.read(first, count, rows);
            }
            for (int64_t i = 0; i < count; ++i)
                kernel(piece(rows, i, line), scratch, in.length(), descending, par);
            if (!in_place) result.write(first, count, rows);
        });
}

void argsort(const Array& x, int axis, bool descending, const Array& out) {
    if (x.size() == 0) return;
    const Lines in(x, axis), result(out, axis);
    const ArgsortFn kernel = kernels().argsort[index(x.dtype)];
    const int64_t n = in.length(), line = in.line_bytes(), order_line = result.line_bytes();
    auto keys_bytes = [&](int64_t count) { return in.direct() ? 0 : round_up(count * line); };
    auto order_bytes = [&](int64_t count) {
        return result.direct() ? 0 : round_up(count * order_line);
    };
    auto bytes = [&](int64_t count, int) {
        return keys_bytes(count) + order_bytes(count) + argsort_scratch(n, key_bytes(x.dtype));
    };
    for_line_groups(
        in, false, bytes, [&](int64_t first, int64_t count, void* memory, Parallel par) {
            std::byte* order = piece(memory, 1, keys_bytes(count));
            void* scratch = order + order_bytes(count);
            if (!in.direct()) in.read(first, count, memory);
            for (int64_t i = 0; i < count; ++i) {
                const void* keys = in.direct() ? in.address(first + i) : piece(memory, i, line);
                void* target =
                    result.direct() ? result.address(first + i) : piece(order, i, order_line);
                kernel(keys, static_cast<int64_t*>(target), scratch, n, descending, par);
            }
            if (!result.direct()) result.write(first, count, order);
        });
}

namespace {

// The elements of an array side by side in row-major order, a bool as a byte.
class Keys {
  public:
    explicit Keys(const Array& x) : array_(is_bool(x.dtype) ? x : contiguous(x)), size_(x.size()) {
        if (!is_bool(x.dtype)) {
            data_ = array_.data();
            return;
        }
        array_ = contiguous(x);
        bytes_.emplace(size_);
        data_ = static_cast<std::byte*>(bytes_->data());
        kernels().unpack_bits(reinterpret_cast<uint8_t*>(data_),
                              reinterpret_cast<const uint8_t*>(array_.bits()), array_.offset,
                              size_);
    }
    int64_t size() const { return size_; }
    const std::byte* data() const { return data_; }

  private:
    Array array_;
    std::optional<Buffer> bytes_;
    std::byte* data_;
    int64_t size_;
};

}  // namespace

void search(const Array& sorted, const Array& keys, bool right, const Array& out) {
    const Keys a(sorted), k(keys);
    const SearchFn kernel = kernels().search[index(sorted.dtype)];
    const int64_t size = key_bytes(keys.dtype);
    auto* result = reinterpret_cast<int64_t*>(out.data());
    for_ranges(team(k.size() * 8), k.size(), kThreadWork / 8, [&](int64_t begin, int64_t end) {
        kernel(a.data(), a.size(), k.data() + begin * size, end - begin, result + begin, right);
    });
}

void is_member(const Array& x, const Array& values, bool invert, const Array& out) {
    const Keys keys(x), unsorted(values);
    const int64_t n = unsorted.size(), size = key_bytes(x.dtype);
    const Parallel par = team(n * 4);
    const int64_t sorted_bytes = round_up(n * size);
    Buffer memory(sorted_bytes + sort_scratch(x.dtype, n, par.threads));
    if (n > 0) std::memcpy(memory.data(), unsorted.data(), static_cast<size_t>(n * size));
    kernels().sort[index(x.dtype)](memory.data(), piece(memory.data(), 1, sorted_bytes), n, false,
                                   par);
    const MemberFn kernel = kernels().member[index(x.dtype)];
    auto* bits = reinterpret_cast<uint8_t*>(out.bits());
    for_ranges(team(keys.size() * 8), keys.size(), kThreadWork / 8,
               [&](int64_t begin, int64_t end) {
                   constexpr int64_t kBlock = 512;
                   uint8_t found[kBlock];
                   for (int64_t i = begin; i < end; i += kBlock) {
                       const int64_t m = std::min(kBlock, end - i);
                       kernel(memory.data(), n, keys.data() + i * size, m, found);
                       for (int64_t j = 0; invert && j < m; ++j) found[j] ^= 1;
                       kernels().pack_bits(bits, i, found, m);
                   }
               });
}

namespace {

// A new array of the first n elements, or of their bits.
Array take_values(const Array& x, const std::byte* values, int64_t n) {
    const DType dtype = x.dtype;
    Array result = Array::empty({n}, dtype, x.device());
    if (is_bool(dtype)) {
        kernels().pack_bits(reinterpret_cast<uint8_t*>(result.bits()), 0,
                            reinterpret_cast<const uint8_t*>(values), n);
    } else if (n > 0) {
        std::memcpy(result.data(), values, static_cast<size_t>(n * itemsize(dtype)));
    }
    return result;
}

// counts[k] = starts[k + 1] - starts[k], the last one up to n.
Array run_lengths(DeviceId device, const int64_t* starts, int64_t runs, int64_t n) {
    Array counts = Array::empty({runs}, DType::Int64, device);
    auto* out = reinterpret_cast<int64_t*>(counts.data());
    for (int64_t k = 0; k < runs; ++k) out[k] = (k + 1 < runs ? starts[k + 1] : n) - starts[k];
    return counts;
}

template <class E>
void gather_keys(E* dst, const E* src, const int64_t* order, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) dst[i] = src[order[i]];
}

// dst[i] = src[order[i]] for elements of any width.
void gather_keys(std::byte* dst, const std::byte* src, const int64_t* order, int64_t n,
                 int64_t size, const Parallel& par) {
    struct Wide {
        uint64_t half[2];
    };
    for_ranges(par, n, kThreadWork, [&](int64_t begin, int64_t end) {
        auto run = [&]<class E>(E) {
            gather_keys(reinterpret_cast<E*>(dst), reinterpret_cast<const E*>(src), order, begin,
                        end);
        };
        switch (size) {
            case 1:
                return run(uint8_t{});
            case 2:
                return run(uint16_t{});
            case 4:
                return run(uint32_t{});
            case 8:
                return run(uint64_t{});
            default:
                return run(Wide{});
        }
    });
}

Unique unique_by_sort(const Array& x, const Keys& keys, bool counts) {
    const int64_t n = keys.size(), size = key_bytes(x.dtype);
    const Parallel par = team(n * 2);
    const int64_t values_bytes = round_up(n * size), starts_bytes = counts ? 8 * n : 0;
    Buffer memory(values_bytes + std::max(starts_bytes, sort_scratch(x.dtype, n, par.threads)));
    auto* values = static_cast<std::byte*>(memory.data());
    void* rest = values + values_bytes;
    move_bytes(values, keys.data(), n * size, par);
    kernels().sort[index(x.dtype)](values, rest, n, false, par);
    auto* starts = counts ? static_cast<int64_t*>(rest) : nullptr;
    const int64_t runs = kernels().distinct[index(x.dtype)](values, starts, values, n);
    Unique result;
    result.values = take_values(x, values, runs);
    if (counts) result.counts = run_lengths(x.device(), starts, runs, n);
    return result;
}

// inverse[order[i]] = the number of the run that i is in.
Array invert_order(const Array& x, const int64_t* order, const int64_t* starts, int64_t runs,
                   int64_t n, const Parallel& par) {
    Array inverse = Array::empty(x.shape, DType::Int64, x.device());
    auto* out = reinterpret_cast<int64_t*>(inverse.data());
    for_ranges(par, runs, 512, [&](int64_t begin, int64_t end) {
        for (int64_t k = begin; k < end; ++k) {
            const int64_t stop = k + 1 < runs ? starts[k + 1] : n;
            for (int64_t i = starts[k]; i < stop; ++i) out[order[i]] = k;
        }
    });
    return inverse;
}

Unique unique_by_argsort(const Array& x, const Keys& keys, bool indices, bool inverse,
                         bool counts) {
    const int64_t n = keys.size(), size = key_bytes(x.dtype);
    const Parallel par = team(n * 2);
    const int64_t order_bytes = round_up(8 * n), values_bytes = round_up(n * size);
    Buffer memory(order_bytes + std::max(values_bytes + 8 * n, argsort_scratch(n, size)));
    auto* order = static_cast<int64_t*>(memory.data());
    std::byte* values = piece(memory.data(), 1, order_bytes);
    auto* starts = reinterpret_cast<int64_t*>(values + values_bytes);
    kernels().argsort[index(x.dtype)](keys.data(), order, values, n, false, par);
    gather_keys(values, keys.data(), order, n, size, par);
    const int64_t runs = kernels().distinct[index(x.dtype)](values, starts, values, n);
    Unique result;
    result.values = take_values(x, values, runs);
    if (counts) result.counts = run_lengths(x.device(), starts, runs, n);
    if (inverse) result.inverse = invert_order(x, order, starts, runs, n, par);
    if (indices) {
        result.indices = Array::empty({runs}, DType::Int64, x.device());
        auto* out = reinterpret_cast<int64_t*>(result.indices.data());
        for (int64_t k = 0; k < runs; ++k) out[k] = order[starts[k]];
    }
    return result;
}

}  // namespace

Unique unique(const Array& x, bool indices, bool inverse, bool counts) {
    const Keys keys(x);
    return indices || inverse ? unique_by_argsort(x, keys, indices, inverse, counts)
                              : unique_by_sort(x, keys, counts);
}

namespace {

// The extreme of one long line: of each chunk, then of the chunks' extremes.
int64_t arg_extreme_chunks(ArgExtremeFn kernel, const std::byte* data, int64_t n, int64_t size,
                           const Parallel& par) {
    constexpr int64_t kMaxChunks = 64;
    const int64_t chunks = std::min<int64_t>(par.threads, kMaxChunks),
                  chunk = (n + chunks - 1) / chunks;
    int64_t at[kMaxChunks];
    std::byte best[kMaxChunks * 16];
    const int64_t used = (n + chunk - 1) / chunk;
    run_each(par, used, [&](int64_t c) {
        const int64_t begin = c * chunk;
        at[c] = begin + kernel(data + begin * size, std::min(chunk, n - begin));
        std::memcpy(best + c * size, data + at[c] * size, static_cast<size_t>(size));
    });
    return at[kernel(best, used)];
}

}  // namespace

void arg_extreme(const Array& x, int axis, bool largest, const Array& out) {
    if (out.size() == 0) return;
    const Lines in(x, axis);
    const ArgExtremeFn kernel = kernels().arg_extreme[largest][index(x.dtype)];
    const ArgExtremeColumnsFn columns = kernels().arg_extreme_columns[largest][index(x.dtype)];
    const int64_t n = in.length(), line = in.line_bytes(), size = key_bytes(x.dtype);
    auto* result = reinterpret_cast<int64_t*>(out.data());
    if (n <= INT32_MAX && !is_bool(x.dtype) && in.abreast(0) >= kAbreast) {
        for_runs(in, &Lines::abreast, [&](int64_t first, int64_t count) {
            columns(in.address(first), in.stride(), n, count, result + first);
        });
        return;
    }
    const bool turned = in.direct() && n <= kShortLine;
    const ArgExtremeRowsFn rows = kernels().arg_extreme_rows[largest][index(x.dtype)];
    if (rows && turned && n > 1 && in.even(0) >= kAbreast) {
        for_runs(in, &Lines::even, [&](int64_t first, int64_t count) {
            rows(in.address(first), in.step(), count, n, result + first);
        });
        return;
    }
    auto bytes = [&](int64_t count, int) { return in.direct() && !turned ? 0 : count * line; };
    for_line_groups(
        in, false, bytes,
        [&](int64_t first, int64_t count, void* memory, Parallel par) {
            if (turned) {
                in.read_columns(first, count, memory);
                return columns(memory, count, n, count, result + first);
            }
            if (!in.direct()) in.read(first, count, memory);
            for (int64_t i = 0; i < count; ++i) {
                const std::byte* data =
                    in.direct() ? in.address(first + i) : piece(memory, i, line);
                result[first + i] = par.threads > 1 ? arg_extreme_chunks(kernel, data, n, size, par)
                                                    : kernel(data, n);
            }
        },
        turned ? kColumns : kMaxGroup);
}

namespace {

// Splits ascending row-major numbers into indices, one array for each axis; the numbers are in
// the last one.
void unravel(const Dims& shape, int64_t* const* indices, int64_t begin, int64_t end) {
    const int last = shape.size() - 1;
    const int64_t width = shape[last];
    int64_t row_start = 0, row_end = 0;  // numbers of the current row
    int64_t upper[kMaxRank];
    for (int64_t i = begin; i < end; ++i) {
        const int64_t flat = indices[last][i];
        if (flat >= row_end) {
            int64_t row = flat / width;
            row_start = row * width;
            row_end = row_start + width;
            for (int axis = last - 1; axis >= 0; --axis) {
                upper[axis] = row % shape[axis];
                row /= shape[axis];
            }
        }
        for (int axis = 0; axis < last; ++axis) indices[axis][i] = upper[axis];
        indices[last][i] = flat - row_start;
    }
}

}  // namespace

std::vector<Array> nonzero(const Array& mask) {
    const Array packed = contiguous(mask);
    const int64_t n = packed.size();
    const auto* bits = reinterpret_cast<const uint8_t*>(packed.bits());
    const KernelTable& k = kernels();
    const Parallel par = team(n);
    const int64_t chunk = std::max<int64_t>((n / (4 * par.threads) + 511) / 512 * 512, kThreadWork);
    const int64_t chunks = (n + chunk - 1) / chunk;
    std::vector<int64_t> first(static_cast<size_t>(chunks) + 1, 0);
    run_each(par, chunks, [&](int64_t c) {
        const int64_t begin = c * chunk;
        first[static_cast<size_t>(c) + 1] =
            k.count_bits(bits, packed.offset + begin, std::min(chunk, n - begin));
    });
    for (size_t c = 1; c < first.size(); ++c) first[c] += first[c - 1];

    std::vector<Array> result;
    int64_t* indices[kMaxRank];
    for (int axis = 0; axis < mask.ndim(); ++axis) {
        result.push_back(Array::empty({first.back()}, DType::Int64, mask.device()));
        indices[axis] = reinterpret_cast<int64_t*>(result.back().data());
    }
    const int last = mask.ndim() - 1;
    run_each(par, chunks, [&](int64_t c) {
        const int64_t begin = c * chunk, start = first[static_cast<size_t>(c)],
                      stop = first[static_cast<size_t>(c) + 1];
        k.positions(indices[last] + start, stop - start, bits, packed.offset + begin,
                    std::min(chunk, n - begin), begin);
        if (last > 0) unravel(mask.shape, indices, start, stop);
    });
    return result;
}

}  // namespace asc::cpu
