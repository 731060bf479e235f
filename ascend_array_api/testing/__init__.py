"""Tools for testing array code.

`portability` reports what a program does that other array libraries would do differently;
`ulp_distance` counts the representable values between results; `verify` measures the error of a
function, and ``python -m ascend_array_api accuracy`` that of all of them. The conformance kit of
any namespace of the standard is ``python -m ascend_array_api conformance``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._array import as_numpy

if TYPE_CHECKING:
    from ._accuracy import AccuracyReport, verify
    from ._portability import Portability, PortabilityError, PortabilityWarning, portability

__all__ = [
    "AccuracyReport",
    "Portability",
    "PortabilityError",
    "PortabilityWarning",
    "portability",
    "ulp_distance",
    "verify",
]

# The integer type that holds the bits of a real floating-point value of so many bytes.
_BITS: dict[int, type[np.signedinteger[Any]]] = {2: np.int16, 4: np.int32, 8: np.int64}


def _components(values: Any) -> tuple[npt.NDArray[Any], bool]:
    """Return an array of real floats, and whether pairs along the last axis were complex."""
    array = as_numpy(values)
    if array.dtype.kind not in "fc" and array.dtype.name != "bfloat16":
        raise TypeError(f"ulp_distance: expected a floating-point dtype, got {array.dtype}")
    if array.real.dtype.itemsize not in _BITS:
        raise TypeError(f"ulp_distance: no integer type holds the bits of {array.dtype}")
    shape = array.shape
    # One piece of memory, in the byte order of this machine.
    array = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("=")).reshape(shape)
    if array.dtype.kind == "c":
        return array[..., np.newaxis].view(array.real.dtype), True
    return array, False


def _ordinals(values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Number the floats in ascending order: neighbours differ by 1, both zeros are 0."""
    bits = values.view(_BITS[values.dtype.itemsize]).astype(np.int64)
    width = 8 * values.dtype.itemsize
    magnitude = bits & ((1 << (width - 1)) - 1)
    return np.where(bits < 0, -magnitude, magnitude)


def ulp_distance(actual: Any, desired: Any) -> npt.NDArray[np.float64]:
    """Distance of two arrays in units in the last place, element by element.

    The distance is the number of steps from one value to the next representable one that lead from
    `actual` to `desired`: 0 for equal values, 1 for neighbours.

    Parameters
    ----------
    actual : array_like
        Results, of a real or complex floating-point dtype: float16, bfloat16, float32, float64,
        complex64 or complex128. Arrays of this library and of NumPy are understood.
    desired : array_like
        What they are compared with, of the same dtype. The shapes broadcast together.

    Returns
    -------
    ndarray of float64
        The distances, exact up to ``2**53``. For complex values it is that of the component that is
        further off. Two NaN have the distance 0, a NaN and a number ``inf``.

    Raises
    ------
    TypeError
        If the dtypes differ or are not floating-point.
    ValueError
        If the shapes do not broadcast together.

    Notes
    -----
    Zeros of both signs are one value here, and infinity is the neighbour of the largest finite
    value. Distances across zero count the values on both sides.

    Examples
    --------
    >>> import ascend_array_api as xp
    >>> from ascend_array_api.testing import ulp_distance
    >>> float(ulp_distance(xp.asarray(1.0), xp.nextafter(xp.asarray(1.0), 2.0)))
    1.0
    """
    left, is_complex = _components(actual)
    right, other_is_complex = _components(desired)
    if left.dtype != right.dtype or is_complex != other_is_complex:
        raise TypeError(
            f"ulp_distance: expected two arrays of one dtype, got {as_numpy(actual).dtype} and "
            f"{as_numpy(desired).dtype}"
        )
    try:
        np.broadcast_shapes(np.shape(actual), np.shape(desired))
    except ValueError:
        raise ValueError(
            f"ulp_distance: the shapes {np.shape(actual)} and {np.shape(desired)} do not "
            "broadcast together"
        ) from None
    low, high = np.broadcast_arrays(*_sorted_pair(_ordinals(left), _ordinals(right)))
    # Up to 2**64 - 1 steps lie between two float64.
    steps = (high.view(np.uint64) - low.view(np.uint64)).astype(np.float64)
    missing = np.isnan(left).astype(np.int8) + np.isnan(right)
    distance = np.where(missing == 0, steps, np.where(missing == 2, 0.0, np.inf))
    return np.asarray(distance.max(axis=-1)) if is_complex else distance


def _sorted_pair(
    a: npt.NDArray[np.int64], b: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    return np.minimum(a, b), np.maximum(a, b)


def __getattr__(name: str) -> Any:
    # Imported when used: the tables of the conformance kit would slow down every import.
    if name in ("AccuracyReport", "verify"):
        from . import _accuracy

        return getattr(_accuracy, name)
    if name in __all__:
        from . import _portability

        return getattr(_portability, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
