// Two operations of arithmetic in one pass over memory, each rounded as it is alone.
#include "backend/cpu/kernels/lane.h"

namespace asc::cpu::ASC_ISA {
namespace {

struct Add {
    template <class T>
    static T apply(T a, T b) {
        return a + b;
    }
};
struct Sub {
    template <class T>
    static T apply(T a, T b) {
        return a - b;
    }
};
struct Mul {
    template <class T>
    static T apply(T a, T b) {
        return a * b;
    }
};

template <class T, class First, class Second, bool kExchanged, unsigned kScalars>
void loop(T* dst, const T* a, const T* b, const T* c, int64_t n) {
    const T x = *a, y = *b, z = *c;
    ASC_VECTOR_LOOP
    for (int64_t i = 0; i < n; ++i) {
        const T first = First::apply(kScalars & 1 ? x : a[i], kScalars & 2 ? y : b[i]);
        const T other = kScalars & 4 ? z : c[i];
        dst[i] = kExchanged ? Second::apply(other, first) : Second::apply(first, other);
    }
}

template <class T, class First, class Second, bool kExchanged>
void combine(void* out, const void* const* src, int64_t n, unsigned scalars) {
    T* dst = static_cast<T*>(out);
    const T* a = static_cast<const T*>(src[0]);
    const T* b = static_cast<const T*>(src[1]);
    const T* c = static_cast<const T*>(src[2]);
    switch (scalars) {
        case 0:
            return loop<T, First, Second, kExchanged, 0>(dst, a, b, c, n);
        case 1:
            return loop<T, First, Second, kExchanged, 1>(dst, a, b, c, n);
        case 2:
            return loop<T, First, Second, kExchanged, 2>(dst, a, b, c, n);
        case 3:
            return loop<T, First, Second, kExchanged, 3>(dst, a, b, c, n);
        case 4:
            return loop<T, First, Second, kExchanged, 4>(dst, a, b, c, n);
        case 5:
            return loop<T, First, Second, kExchanged, 5>(dst, a, b, c, n);
        case 6:
            return loop<T, First, Second, kExchanged, 6>(dst, a, b, c, n);
        default:
            return loop<T, First, Second, kExchanged, 7>(dst, a, b, c, n);
    }
}

template <class T, class First>
void fill_first(ElementwiseFn (&to)[3][2]) {
    to[combine_index(Op::Add)][0] = to[combine_index(Op::Add)][1] = combine<T, First, Add, false>;
    to[combine_index(Op::Multiply)][0] = to[combine_index(Op::Multiply)][1] =
        combine<T, First, Mul, false>;
    to[combine_index(Op::Subtract)][0] = combine<T, First, Sub, false>;
    to[combine_index(Op::Subtract)][1] = combine<T, First, Sub, true>;
}

template <class T>
void fill_type(KernelTable& t, DType dtype) {
    auto& to = t.combined[index(dtype)];
    fill_first<T, Add>(to[combine_index(Op::Add)]);
    fill_first<T, Sub>(to[combine_index(Op::Subtract)]);
    fill_first<T, Mul>(to[combine_index(Op::Multiply)]);
}

}  // namespace

void fill_combine(KernelTable& t) {
    fill_type<float>(t, DType::Float32);
    fill_type<double>(t, DType::Float64);
}

}  // namespace asc::cpu::ASC_ISA
