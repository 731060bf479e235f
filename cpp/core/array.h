// Array: a view of a Storage. Metadata is immutable; only bytes change.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "core/dims.h"
#include "core/dtype.h"
#include "core/error.h"
#include "core/ref.h"
#include "core/storage.h"

namespace asc {

struct Array {
    Ref<Storage> storage;
    int64_t offset = 0;  // of the first element, in elements (bool: bits)
    DType dtype = DType::Float64;
    Dims shape;
    Dims strides;  // in elements (bool: bits); zero or negative allowed

    // New row-major memory, not initialised; errors name the function, if it is given.
    static Array empty(Dims shape, DType dtype, DeviceId device, const char* function = nullptr);
    // The same as a promise: memory comes when the work that was recorded for it runs.
    static Array promised(Dims shape, const Dims& strides, DType dtype, DeviceId device,
                          const char* function);
    // New memory with the axes laid out in `order`, slowest first.
    static Array empty_ordered(Dims shape, const Dims& order, DType dtype, DeviceId device,
                               const char* function);

    int ndim() const { return shape.size(); }
    int64_t size() const { return product(shape); }
    DeviceId device() const { return storage->device(); }
    // The address of the first element; not for bool.
    std::byte* data() const { return storage->data() + offset * itemsize(dtype); }
    // A bool array's memory; its first element is bit `offset`.
    std::byte* bits() const { return storage->data(); }

    // A view with other metadata on the same Storage.
    Array view(Dims new_shape, Dims new_strides, int64_t new_offset) const {
        return {storage, new_offset, dtype, std::move(new_shape), std::move(new_strides)};
    }
};

// Row-major without gaps.
bool is_contiguous(const Array& x);
// Several elements share an address.
bool overlaps_itself(const Array& x);
// The addresses of x and y may meet (exact for equal strides, cautious otherwise).
bool may_overlap(const Array& x, const Array& y);
// x and y are the same elements in the same order.
bool same_view(const Array& x, const Array& y);
// Throws Error(Value) naming `function` if x cannot be written.
void require_writable(const Array& x, const char* function);
// The same, and gives x a Block of its own.
void prepare_recorded_write(const Array& x, const char* function);
// The same for a write that runs now: recorded reads and writes of x run first.
void prepare_write(const Array& x, const char* function);
// Elements of all extents; throws Error(Value) on a negative extent or rank above kMaxRank,
// Error(Memory) where the bytes exceed what the device has, and Error(Type) for a dtype that it
// lacks.
int64_t checked_size(const Dims& shape, DType dtype, DeviceId device, const char* function);

// While it lives, no other thread writes packed bits to these arrays' storages: a word may hold
// bits of several views. For arrays of other dtypes it does nothing.
class BitLock {
  public:
    explicit BitLock(std::span<const Array> targets);
    ~BitLock();
    BitLock(const BitLock&) = delete;
    BitLock& operator=(const BitLock&) = delete;
    static void install_fork_handlers();  // once

  private:
    uint64_t locked_ = 0;  // one bit for each of the mutexes that storages share
};

// A write that runs now: while it lives, x has a Block of its own that no copy comes to share, and
// its packed bits have no other writer.
class RunningWrite {
  public:
    explicit RunningWrite(const Array& x) : mark_(*x.storage), lock_({&x, 1}) {}

  private:
    struct Mark {
        explicit Mark(Storage& written) : storage(written) { storage.begin_write(); }
        ~Mark() { storage.end_write(); }
        Mark(const Mark&) = delete;
        Mark& operator=(const Mark&) = delete;
        Storage& storage;
    };
    Mark mark_;  // first: it may run recorded work for lack of memory, which locks bits itself
    BitLock lock_;
};

// A physical row-major copy.
Array copy(const Array& x);
// A copy that shares memory until one side is written; none where that is not possible or does not
// pay. By the interpreter's lock, which keeps small writes out: those have no RunningWrite.
std::optional<Array> shared_copy(const Array& x);
// x if it is row-major, else a copy.
Array contiguous(const Array& x);
// A new array with every element converted.
Array cast(const Array& x, DType to);
// Writes src, broadcast and converted, to every element of dst; reads everything first.
void assign(const Array& dst, const Array& src, const char* function);

}  // namespace asc
