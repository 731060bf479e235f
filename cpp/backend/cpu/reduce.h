// Reductions along axes, and running sums and products.
#pragma once
#include <span>

#include "core/array.h"
#include "graph/program.h"
#include "graph/reduction.h"

namespace asc::cpu {

// Reductions that share a pass over their elements.
inline constexpr int kMostReductions = 4;

// A new row-major array with the axes of x that are not reduced. The result depends on the
// sequence of elements in row-major order alone, not on strides or threads. Min and Max want at
// least one element for each result.
Array reduce(const ReduceSpec& spec, const Array& x, const Dims& axes);

// The dtypes that elements of dtype `from` are converted to, one after the other, for a reduction.
struct ElementDTypes {
    DType element, compute;
    friend bool operator==(const ElementDTypes&, const ElementDTypes&) = default;
};
ElementDTypes element_dtypes(const ReduceSpec& spec, DType from);

// One of several reductions, into row-major memory.
struct PartReduction {
    const ReduceSpec* spec;
    Array out;
    // Of what a program makes: of this output without a storage, in the `compute` dtype. For Var
    // and Std, `again` makes it alone, a second time.
    int source = 0;
    const ProgramCall* again = nullptr;
};
// Reductions of an array, which take its elements as the same dtypes.
void reduce(const Array& x, const Dims& axes, std::span<const PartReduction> reductions);
// Runs the program once, without storing what is reduced.
void reduce(const ProgramCall& call, const Dims& axes, std::span<const PartReduction> reductions);
// Elements in this layout are asked for in runs that are long enough to make them as they come.
bool comes_in_runs(const Array& layout, const Dims& axes);

// Running sums or products along an axis, as a new row-major array.
Array scan(const ScanSpec& spec, const Array& x, int axis);
// The same into row-major memory.
void scan(const ScanSpec& spec, const Array& x, int axis, const Array& out);
// The same of outputs[0] of a program, in the `compute` dtype. `again` makes that output alone.
void scan(const ScanSpec& spec, const ProgramCall& call, const ProgramCall& again, int axis,
          const Array& out);
ElementDTypes element_dtypes(const ScanSpec& spec);

}  // namespace asc::cpu
