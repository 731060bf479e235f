#include "core/array.h"

#include <pthread.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <new>
#include <numeric>
#include <optional>

#include "backend/backend.h"
#include "runtime/interrupt.h"

namespace asc {

static int64_t storage_bytes(int64_t elements, DType dtype) {
    return (elements * bits(dtype) + 7) / 8;
}

int64_t checked_size(const Dims& shape, DType dtype, DeviceId place, const char* function) {
    if (place != kCpu) require_dtype(dtype, place, function);
    // Short vectors, the most frequent shape of small arrays, cannot fail.
    if (shape.size() == 1 && shape[0] >= 0 && shape[0] < (1 << 16)) return shape[0];
    if (shape.size() > kMaxRank) {
        raise(ErrorKind::Value, "%s: %d dimensions, at most %d are supported", function,
              shape.size(), kMaxRank);
    }
    for (int64_t extent : shape) {
        if (extent < 0) {
            raise(ErrorKind::Value, "%s: negative extent in shape %s", function,
                  to_string(shape).c_str());
        }
    }
    int64_t elements = checked_product(shape), total = 0;
    if (elements < 0 || __builtin_mul_overflow(elements, bits(dtype), &total) ||
        total / 8 > device(place).memory_capacity()) {
        raise(
            ErrorKind::Memory,
            "%s: an array of shape %s and dtype %s exceeds the memory that may be used, %lld bytes",
            function, to_string(shape).c_str(), name(dtype),
            static_cast<long long>(device(place).memory_capacity()));
    }
    return elements;
}

static Ref<Storage> allocate(int64_t nbytes, DeviceId device, const char* function) {
    try {
        return Storage::allocate(nbytes, device);
    } catch (const Error& error) {
        throw function ? named(function, error) : error;
    }
}

Array Array::empty(Dims shape, DType dtype, DeviceId device, const char* function) {
    int64_t elements = checked_size(shape, dtype, device, function ? function : "empty");
    Dims strides = row_major_strides(shape);
    return {allocate(storage_bytes(elements, dtype), device, function), 0, dtype, std::move(shape),
            std::move(strides)};
}

Array Array::promised(Dims shape, const Dims& strides, DType dtype, DeviceId device,
                      const char* function) {
    int64_t elements = checked_size(shape, dtype, device, function);
    return {Storage::promise(storage_bytes(elements, dtype), device), 0, dtype, std::move(shape),
            strides};
}

Array Array::empty_ordered(Dims shape, const Dims& order, DType dtype, DeviceId device,
                           const char* function) {
    Array result = empty(std::move(shape), dtype, device, function);
    result.strides = ordered_strides(result.shape, order);
    return result;
}

bool is_contiguous(const Array& x) {
    const int64_t *shape = x.shape.data(), *strides = x.strides.data();
    int64_t expected = 1;
    for (int i = x.ndim() - 1; i >= 0; --i) {
        if (shape[i] == 0) return true;
        if (shape[i] != 1 && strides[i] != expected) return false;
        expected *= shape[i];
    }
    return true;
}

bool overlaps_itself(const Array& x) {
    if (is_contiguous(x)) return false;
    Dims axes;
    for (int i = 0; i < x.ndim(); ++i) {
        if (x.shape[i] == 0) return false;
        if (x.shape[i] > 1) axes.push_back(i);
    }
    auto stride = [&](int64_t axis) { return std::abs(x.strides[static_cast<int>(axis)]); };
    std::sort(axes.begin(), axes.end(),
              [&](int64_t a, int64_t b) { return stride(a) < stride(b); });
    int64_t span = 0;
    for (int64_t axis : axes) {
        if (stride(axis) <= span) return true;
        span += stride(axis) * (x.shape[static_cast<int>(axis)] - 1);
    }
    return false;
}

namespace {
struct Extent {
    int64_t first, last;  // in bits from the start of the Block
};
Extent extent(const Array& x) {
    int64_t low = x.offset, high = x.offset;
    for (int i = 0; i < x.ndim(); ++i) {
        int64_t span = (x.shape[i] - 1) * x.strides[i];
        (span < 0 ? low : high) += span;
    }
    return {low * bits(x.dtype), (high + 1) * bits(x.dtype)};
}
}  // namespace

// Bits from the start of x's memory to the start of y's, or nothing where the two cannot meet.
// Storages meet where they present one Block (deferred copies) or one of them borrows; promises get
// Blocks of their own.
static std::optional<int64_t> memory_distance(const Array& x, const Array& y) {
    if (x.storage == y.storage) return 0;
    Ref<Block> a = x.storage->present_block(), b = y.storage->present_block();
    if (!a || !b) return std::nullopt;
    if (!(a == b) && !a->borrowed() && !b->borrowed()) return std::nullopt;
    return (reinterpret_cast<intptr_t>(b->data()) - reinterpret_cast<intptr_t>(a->data())) * 8;
}

bool may_overlap(const Array& x, const Array& y) {
    if (x.size() == 0 || y.size() == 0) return false;
    auto between = memory_distance(x, y);
    if (!between) return false;
    Extent a = extent(x), b = extent(y);
    if (a.last <= b.first + *between || b.last + *between <= a.first) return false;
    if (x.dtype != y.dtype || *between % bits(x.dtype) != 0) return true;
    // Elements meet only where the offsets differ by a combination of the strides.
    int64_t divisor = 0;
    for (const Array* array : {&x, &y}) {
        for (int i = 0; i < array->ndim(); ++i) {
            if (array->shape[i] > 1) divisor = std::gcd(divisor, array->strides[i]);
        }
    }
    int64_t distance = x.offset - y.offset - *between / bits(x.dtype);
    return divisor == 0 ? distance == 0 : distance % divisor == 0;
}

bool same_view(const Array& x, const Array& y) {
    if (x.offset != y.offset || x.dtype != y.dtype || !(x.shape == y.shape) ||
        memory_distance(x, y) != 0) {
        return false;
    }
    for (int i = 0; i < x.ndim(); ++i) {
        if (x.shape[i] > 1 && x.strides[i] != y.strides[i]) return false;
    }
    return true;
}

void require_writable(const Array& x, const char* function) {
    x.storage->require_present(function);
    if (x.storage->read_only()) {
        raise(ErrorKind::Value, "%s: the array is read-only: its memory was imported as such",
              function);
    }
    if (overlaps_itself(x)) {
        raise(ErrorKind::Value,
              "%s: the array is read-only: several of its elements share one address, as "
              "broadcast_to makes "
              "them; write to a copy",
              function);
    }
}

void prepare_recorded_write(const Array& x, const char* function) {
    require_writable(x, function);
    // A Block that an operand passes on to a result has two owners while the result is computed.
    if (!x.storage->writer()) x.storage->own_block();
}

void prepare_write(const Array& x, const char* function) {
    x.storage->settle_uses();
    prepare_recorded_write(x, function);
}

// ---- writers of packed bits

static std::mutex bit_mutexes[64];

BitLock::BitLock(std::span<const Array> targets) {
    for (const Array& x : targets) {
        if (is_bool(x.dtype))
            locked_ |= uint64_t{1} << (std::hash<const Storage*>()(x.storage.get()) / 64 % 64);
    }
    // In one order, so that two threads never wait for each other.
    for (uint64_t rest = locked_; rest != 0; rest &= rest - 1) {
        std::mutex& mutex = bit_mutexes[std::countr_zero(rest)];
        if (mutex.try_lock()) continue;
        // Without the interpreter's lock: who has the mutex may want it.
        Waiting waiting(Waiting::Signals::Ignored);
        mutex.lock();
    }
}

BitLock::~BitLock() {
    for (uint64_t rest = locked_; rest != 0; rest &= rest - 1)
        bit_mutexes[std::countr_zero(rest)].unlock();
}

void BitLock::install_fork_handlers() {
    // The threads that held one do not exist in the child.
    pthread_atfork(nullptr, nullptr, [] {
        for (std::mutex& mutex : bit_mutexes) new (&mutex) std::mutex;
    });
}

std::optional<Array> shared_copy(const Array& x) {
    int64_t viewed = checked_size(x.shape, x.dtype, x.device(), "copy") * bits(x.dtype) / 8;
    // A copy is written through its own view, so elements must not share an address.
    if (x.storage->shared() || viewed * 2 < x.storage->nbytes() || overlaps_itself(x))
        return std::nullopt;
    Ref<Storage> storage = x.storage->fork();
    if (!storage) return std::nullopt;
    Array result = x;
    result.storage = std::move(storage);
    return result;
}

Array contiguous(const Array& x) { return is_contiguous(x) ? x : copy(x); }

}  // namespace asc
