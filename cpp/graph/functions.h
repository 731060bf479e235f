// The library functions that have kernels of their own: one table of names, accepted dtypes and
// kernels. Functions that only move elements take every dtype; compositions go where their parts
// go.
#pragma once
#include <optional>
#include <string_view>

#include "core/device_id.h"
#include "graph/ops.h"

namespace asc {

enum class Kernels : uint8_t {
    Truth,  // counts of elements that are not zero
    Sum,
    Prod,
    Mean,
    Variance,
    Min,
    Max,
    Scan,
    Sort,
    ArgSort,
    Search,
    Member,
    Distinct,
    ArgExtreme,
    Gemm,
    Lapack,
    Fourier,
};

// X(name, name in Python, accepted dtypes, dtypes that relaxed mode accepts, kernels)
#define ASC_FOR_EACH_FUNCTION(X)                                         \
    X(All, "all", Any, Any, Truth)                                       \
    X(AnyTrue, "any", Any, Any, Truth)                                   \
    X(ArgMax, "argmax", Real, RealOrBool, ArgExtreme)                    \
    X(ArgMin, "argmin", Real, RealOrBool, ArgExtreme)                    \
    X(ArgSort, "argsort", Real, Any, ArgSort)                            \
    X(Cholesky, "linalg.cholesky", WideFloating, NotNarrow, Lapack)      \
    X(CountNonzero, "count_nonzero", Any, Any, Truth)                    \
    X(CumulativeProd, "cumulative_prod", Numeric, Any, Scan)             \
    X(CumulativeSum, "cumulative_sum", Numeric, Any, Scan)               \
    X(Det, "linalg.det", WideFloating, NotNarrow, Lapack)                \
    X(Eig, "linalg.eig", WideFloating, NotNarrow, Lapack)                \
    X(Eigh, "linalg.eigh", WideFloating, NotNarrow, Lapack)              \
    X(EigVals, "linalg.eigvals", WideFloating, NotNarrow, Lapack)        \
    X(EigValsH, "linalg.eigvalsh", WideFloating, NotNarrow, Lapack)      \
    X(Fft, "fft.fft", Floating, Any, Fourier)                            \
    X(FftN, "fft.fftn", Floating, Any, Fourier)                          \
    X(HFft, "fft.hfft", Floating, Any, Fourier)                          \
    X(IFft, "fft.ifft", Floating, Any, Fourier)                          \
    X(IFftN, "fft.ifftn", Floating, Any, Fourier)                        \
    X(IHFft, "fft.ihfft", RealFloating, RealOrBool, Fourier)             \
    X(Inv, "linalg.inv", WideFloating, NotNarrow, Lapack)                \
    X(IRFft, "fft.irfft", Floating, Any, Fourier)                        \
    X(IRFftN, "fft.irfftn", Floating, Any, Fourier)                      \
    X(IsIn, "isin", Any, Any, Member)                                    \
    X(MatMul, "matmul", Numeric, Any, Gemm)                              \
    X(MatrixRank, "linalg.matrix_rank", WideFloating, NotNarrow, Lapack) \
    X(Max, "max", Real, RealOrBool, Max)                                 \
    X(Mean, "mean", Floating, Any, Mean)                                 \
    X(Min, "min", Real, RealOrBool, Min)                                 \
    X(Nonzero, "nonzero", Any, Any, Truth)                               \
    X(Pinv, "linalg.pinv", WideFloating, NotNarrow, Lapack)              \
    X(Prod, "prod", Numeric, Any, Prod)                                  \
    X(Qr, "linalg.qr", WideFloating, NotNarrow, Lapack)                  \
    X(RFft, "fft.rfft", RealFloating, RealOrBool, Fourier)               \
    X(RFftN, "fft.rfftn", RealFloating, RealOrBool, Fourier)             \
    X(SearchSorted, "searchsorted", Real, Any, Search)                   \
    X(SlogDet, "linalg.slogdet", WideFloating, NotNarrow, Lapack)        \
    X(Solve, "linalg.solve", WideFloating, NotNarrow, Lapack)            \
    X(Sort, "sort", Real, Any, Sort)                                     \
    X(Std, "std", RealFloating, RealOrBool, Variance)                    \
    X(Sum, "sum", Numeric, Any, Sum)                                     \
    X(Svd, "linalg.svd", WideFloating, NotNarrow, Lapack)                \
    X(SvdVals, "linalg.svdvals", WideFloating, NotNarrow, Lapack)        \
    X(TensorDot, "tensordot", Numeric, Any, Gemm)                        \
    X(UniqueAll, "unique_all", Any, Any, Distinct)                       \
    X(UniqueCounts, "unique_counts", Any, Any, Distinct)                 \
    X(UniqueInverse, "unique_inverse", Any, Any, Distinct)               \
    X(UniqueValues, "unique_values", Any, Any, Distinct)                 \
    X(Var, "var", RealFloating, RealOrBool, Variance)                    \
    X(VecDot, "vecdot", Numeric, Any, Gemm)

enum class Function : uint8_t {
#define X(name, py, accepted, relaxed, kernels) name,
    ASC_FOR_EACH_FUNCTION(X)
#undef X
};

struct FunctionInfo {
    const char* qualified;  // below the namespace: "linalg.qr"
    Category accepted, relaxed;
    Kernels kernels;

    // The last part of the name, as messages have it.
    constexpr const char* name() const {
        const char* part = qualified;
        for (const char* c = qualified; *c; ++c) part = *c == '.' ? c + 1 : part;
        return part;
    }
};

inline constexpr FunctionInfo kFunctionInfo[] = {
#define X(name, py, accepted, relaxed, kernels) \
    {py, Category::accepted, Category::relaxed, Kernels::kernels},
    ASC_FOR_EACH_FUNCTION(X)
#undef X
};
inline constexpr int kNumFunctions = sizeof(kFunctionInfo) / sizeof(kFunctionInfo[0]);

constexpr const FunctionInfo& info(Function f) { return kFunctionInfo[static_cast<int>(f)]; }

// The function of a short name, if it is in the table.
std::optional<Function> find_function(std::string_view name);

// Throws Error(Type) that names the function and what is accepted, unless the dtype is.
void require(Function f, DType dtype, bool strict);
// The dtype to which a function converts elements of an accepted dtype on a device.
DType element_dtype(Function f, DType dtype, DeviceId device);

// How a function or an operation computes on elements of one dtype.
struct Route {
    const char* name;
    DType dtype;
    std::optional<DType> compute;  // the dtype of the kernels; nothing where it is refused
};
Route route(Function f, DType dtype, bool strict);
Route route(Op op, DType dtype, bool strict);

}  // namespace asc
