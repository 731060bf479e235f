// Type promotion: the standard's table, and NumPy's where the standard leaves it open.
#pragma once
#include <optional>

#include "core/dtype.h"

namespace asc {

// The dtype of an operation on arrays of two dtypes; nothing where the standard defines none and
// `strict` holds. Relaxed promotion is NumPy 2's.
std::optional<DType> promote(DType a, DType b, bool strict);
// The dtype of an operation of an array with a Python scalar of some kind (Signed: int).
std::optional<DType> promote_scalar(DType array, Kind scalar, bool strict);

// The end of messages about what strict mode alone refuses.
inline constexpr const char* kRelax =
    ", or relax with runtime.set_strict(False) or ASCEND_ARRAY_API_STRICT=0";

inline constexpr DType kDefaultInt = DType::Int64;
inline constexpr DType kDefaultFloat = DType::Float64;
inline constexpr DType kDefaultComplex = DType::Complex128;
inline constexpr DType kIndexType = DType::Int64;

}  // namespace asc
