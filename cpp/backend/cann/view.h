// Elements on a device as CANN's operations take them, and the descriptors of arguments.
#pragma once
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "backend/cann/errors.h"
#include "backend/cann/loader.h"
#include "backend/cann/memory.h"
#include "core/array.h"

namespace asc::cann {

// CANN's operations take no more dimensions.
inline constexpr int kMostDims = 8;

// Memory of one operation, given back to the pool with the last copy.
using Scratch = std::shared_ptr<Chunk>;

// Strided elements, one byte for each bool; no negative strides.
struct View {
    std::byte* base = nullptr;  // aligned
    int64_t capacity = 0;       // bytes
    DType dtype = DType::Float32;
    Dims shape, strides;  // in elements
    int64_t offset = 0;
    Scratch scratch = nullptr;  // keeps memory that is no array's

    int64_t size() const { return product(shape); }
    int ndim() const { return shape.size(); }
    bool contiguous() const;
    // The elements of a contiguous view under another shape.
    View reshaped(const Dims& new_shape) const;
    // The bytes as elements of a dtype of the same size.
    View as(DType other) const;
    // Complex numbers as pairs of real ones, along another dimension behind the others.
    View reals() const;
    // One element along dimensions of stride 0: CANN broadcasts by itself.
    View unbroadcast() const;
    View broadcast_to(const Dims& new_shape) const;
    // The elements i of the first dimension, which disappears.
    View select(int64_t i) const;
};

// Bytes of one element in a View.
constexpr int64_t unit(DType dtype) { return is_bool(dtype) ? 1 : itemsize(dtype); }
// The signed integers of the same size.
DType signed_integer(DType dtype);
aclDataType acl_type(DType dtype);

// ---- descriptors, which their scope destroys

// One element of a dtype; a bool is one byte.
struct Number {
    DType dtype;
    std::byte bytes[16] = {};

    Number(DType dtype, const void* value);
};

template <class T, aclnnStatus (*Functions::*kDestroy)(const T*)>
class Descriptor {
  public:
    Descriptor(T* made, const char* maker) : made_(made) {
        if (!made) throw error_of(maker, ACLNN_ERR_INNER_NULLPTR);
    }
    Descriptor(Descriptor&& other) noexcept : made_(std::exchange(other.made_, nullptr)) {}
    ~Descriptor() {
        if (made_) (acl().*kDestroy)(made_);
    }
    Descriptor& operator=(const Descriptor&) = delete;
    operator T*() const { return made_; }

  private:
    T* made_;
};

struct TensorArgument : Descriptor<aclTensor, &Functions::aclDestroyTensor> {
    explicit TensorArgument(const View& x);
};
struct ScalarArgument : Descriptor<aclScalar, &Functions::aclDestroyScalar> {
    explicit ScalarArgument(const Number& x);
};
struct IntArrayArgument : Descriptor<aclIntArray, &Functions::aclDestroyIntArray> {
    explicit IntArrayArgument(const Dims& values);
};

inline TensorArgument argument(const View& x) { return TensorArgument(x); }
inline ScalarArgument argument(const Number& x) { return ScalarArgument(x); }
inline IntArrayArgument argument(const Dims& x) { return IntArrayArgument(x); }
template <class T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
T argument(T x) {
    return x;
}

}  // namespace asc::cann
