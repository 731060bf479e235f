#include "backend/cann/view.h"

#include <cstring>

#include "core/view.h"

namespace asc::cann {

bool View::contiguous() const {
    int64_t expected = 1;
    for (int i = ndim() - 1; i >= 0; --i) {
        if (shape[i] != 1 && strides[i] != expected) return false;
        expected *= shape[i];
    }
    return true;
}

View View::reshaped(const Dims& new_shape) const {
    View result = *this;
    result.shape = new_shape;
    result.strides = row_major_strides(new_shape);
    return result;
}

View View::as(DType other) const {
    View result = *this;
    result.dtype = other;
    return result;
}

View View::reals() const {
    View result = as(dtype == DType::Complex64 ? DType::Float32 : DType::Float64);
    result.offset *= 2;
    for (int i = 0; i < ndim(); ++i) result.strides[i] *= 2;
    result.shape.push_back(2);
    result.strides.push_back(1);
    return result;
}

View View::unbroadcast() const {
    View result = *this;
    for (int i = 0; i < ndim(); ++i) {
        if (strides[i] == 0) result.shape[i] = 1;
    }
    return result;
}

View View::broadcast_to(const Dims& new_shape) const {
    View result = *this;
    result.shape = new_shape;
    result.strides = Dims(new_shape.size(), 0);
    const int front = new_shape.size() - ndim();
    for (int i = 0; i < ndim(); ++i) {
        if (shape[i] == new_shape[front + i]) result.strides[front + i] = strides[i];
    }
    return result;
}

View View::select(int64_t i) const {
    View result = *this;
    result.offset += i * strides[0];
    result.shape.erase(0);
    result.strides.erase(0);
    return result;
}

DType signed_integer(DType dtype) {
    switch (unit(dtype)) {
        case 1:
            return DType::Int8;
        case 2:
            return DType::Int16;
        case 4:
            return DType::Int32;
        case 8:
            return DType::Int64;
        default:
            return dtype;  // complex128: there is none
    }
}

aclDataType acl_type(DType dtype) {
    switch (dtype) {
        case DType::Bool:
            return ACL_BOOL;
        case DType::Int8:
            return ACL_INT8;
        case DType::Int16:
            return ACL_INT16;
        case DType::Int32:
            return ACL_INT32;
        case DType::Int64:
            return ACL_INT64;
        case DType::UInt8:
            return ACL_UINT8;
        case DType::UInt16:
            return ACL_UINT16;
        case DType::UInt32:
            return ACL_UINT32;
        case DType::UInt64:
            return ACL_UINT64;
        case DType::Float16:
            return ACL_FLOAT16;
        case DType::BFloat16:
            return ACL_BF16;
        case DType::Float32:
            return ACL_FLOAT;
        case DType::Float64:
            return ACL_DOUBLE;
        case DType::Complex64:
            return ACL_COMPLEX64;
        case DType::Complex128:
            return ACL_COMPLEX128;
    }
    __builtin_unreachable();
}

namespace {

aclTensor* make_tensor(const View& x) {
    const int64_t storage = x.capacity / unit(x.dtype);
    return acl().aclCreateTensor(x.shape.data(), static_cast<uint64_t>(x.ndim()), acl_type(x.dtype),
                                 x.strides.data(), x.offset, ACL_FORMAT_ND, &storage, 1, x.base);
}

}  // namespace

Number::Number(DType type, const void* value) : dtype(type) {
    std::memcpy(bytes, value, static_cast<size_t>(unit(type)));
}

TensorArgument::TensorArgument(const View& x) : Descriptor(make_tensor(x), "aclCreateTensor") {}
ScalarArgument::ScalarArgument(const Number& x)
    : Descriptor(acl().aclCreateScalar(const_cast<std::byte*>(x.bytes), acl_type(x.dtype)),
                 "aclCreateScalar") {}
IntArrayArgument::IntArrayArgument(const Dims& values)
    : Descriptor(acl().aclCreateIntArray(values.data(), static_cast<uint64_t>(values.size())),
                 "aclCreateIntArray") {}

}  // namespace asc::cann
