#include "core/dims.h"

namespace asc {

void Dims::insert(int at, int64_t value) {
    Dims grown(size_ + 1);
    for (int i = 0; i < at; ++i) grown[i] = (*this)[i];
    grown[at] = value;
    for (int i = at; i < size_; ++i) grown[i + 1] = (*this)[i];
    *this = std::move(grown);
}

void Dims::erase(int at) {
    Dims shrunk(size_ - 1);
    for (int i = 0; i < at; ++i) shrunk[i] = (*this)[i];
    for (int i = at + 1; i < size_; ++i) shrunk[i - 1] = (*this)[i];
    *this = std::move(shrunk);
}

int64_t checked_product(const Dims& shape) {
    int64_t n = 1;
    bool overflow = false;
    for (int64_t extent : shape) {
        if (extent == 0) return 0;
        overflow |= __builtin_mul_overflow(n, extent, &n);
    }
    return overflow ? -1 : n;
}

int64_t offset_of(int64_t number, const Dims& shape, const Dims& strides) {
    int64_t offset = 0;
    for (int axis = shape.size() - 1; axis >= 0; --axis) {
        offset += number % shape[axis] * strides[axis];
        number /= shape[axis];
    }
    return offset;
}

Dims row_major_strides(const Dims& shape) {
    Dims strides(shape.size());
    const int64_t* extents = shape.data();
    int64_t *steps = strides.data(), stride = 1;
    for (int i = shape.size() - 1; i >= 0; --i) {
        steps[i] = stride;
        stride *= extents[i] > 0 ? extents[i] : 1;
    }
    return strides;
}

Dims ordered_strides(const Dims& shape, const Dims& order) {
    Dims strides(shape.size());
    int64_t stride = 1;
    for (int i = order.size() - 1; i >= 0; --i) {
        int axis = static_cast<int>(order[i]);
        strides[axis] = stride;
        stride *= shape[axis] > 0 ? shape[axis] : 1;
    }
    return strides;
}

std::string to_string(const Dims& dims) {
    std::string text = "(";
    for (int i = 0; i < dims.size(); ++i) {
        if (i) text += ", ";
        text += std::to_string(dims[i]);
    }
    return text + (dims.size() == 1 ? ",)" : ")");
}

}  // namespace asc
