// Transposes of squares of elements that lie in vector registers.
#pragma once
#include <utility>

namespace asc::cpu::ASC_ISA {
namespace {

// Swaps the upper D of every 2 * D lanes of `a` with the lower ones of `b`.
template <int D, class V, int... I>
inline void swap_lanes(V& a, V& b, std::integer_sequence<int, I...>) {
    constexpr int W = sizeof...(I);
    const V low = __builtin_shufflevector(a, b, (I & D ? W + I - D : I)...);
    b = __builtin_shufflevector(a, b, (I & D ? W + I : I + D)...);
    a = low;
}

// Every C lanes of C vectors are rows of a square, of which they become the columns; W lanes.
template <int C, int W, class V>
inline void transpose_lanes(V* rows) {
    const auto swap_all = [&]<int D>(std::integral_constant<int, D>) {
#pragma GCC unroll 16
        for (int i = 0; i < C; ++i)
            if (!(i & D)) swap_lanes<D>(rows[i], rows[i + D], std::make_integer_sequence<int, W>{});
    };
    if constexpr (C > 8) swap_all(std::integral_constant<int, 8>{});
    if constexpr (C > 4) swap_all(std::integral_constant<int, 4>{});
    if constexpr (C > 2) swap_all(std::integral_constant<int, 2>{});
    swap_all(std::integral_constant<int, 1>{});
}

}  // namespace
}  // namespace asc::cpu::ASC_ISA
