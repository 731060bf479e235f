"""Checks of arguments for functions that are composed in Python."""

from __future__ import annotations

import operator
from collections.abc import Sequence

from numpy.exceptions import AxisError

from . import _core
from ._core import Array
from ._dtypes import KINDS, float64, kind_of

_RELAX = "ascend_array_api.runtime.set_strict(False)"


def require_array(function: str, *arrays: object) -> None:
    """Raise TypeError unless every argument is an array of this library."""
    for x in arrays:
        if not isinstance(x, Array):
            raise TypeError(
                f"{function}: expected an array of ascend_array_api, got {type(x).__name__}; "
                "convert it with asarray"
            )


def require_numeric(function: str, *arrays: Array) -> None:
    """Raise TypeError unless every argument is an array of a numeric dtype."""
    require_array(function, *arrays)
    for x in arrays:
        if kind_of(x.dtype) not in KINDS["numeric"]:
            raise TypeError(
                f"{function}: expected a numeric dtype, got {x.dtype}; convert it with astype"
            )


def as_floating(function: str, x: Array) -> Array:
    """Return x when it is floating-point; in relaxed mode integers and bool become float64."""
    require_array(function, x)
    if kind_of(x.dtype) in "fc":
        return x
    if _core.get_strict():
        raise TypeError(
            f"{function}: expected a floating-point dtype, got {x.dtype}; convert it with astype, "
            f"or accept it as float64 with {_RELAX}"
        )
    return _core.astype(x, float64, True, None)


def require_rank(function: str, x: Array, rank: int) -> None:
    """Raise ValueError unless x has at least this many dimensions."""
    if x.ndim < rank:
        raise ValueError(f"{function}: expected at least {rank} dimensions, got shape {x.shape}")


def as_index(function: str, name: str, value: object) -> int:
    """Return an integer argument as a Python int, or raise TypeError."""
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{function}: {name} is an integer, got {value!r}") from None


def as_axis(function: str, axis: object, ndim: int) -> int:
    """Return an axis counted from the front, or raise AxisError."""
    i = as_index(function, "axis", axis)
    if not -ndim <= i < ndim:
        raise AxisError(f"{function}: axis {i} is out of bounds for array of dimension {ndim}")
    return i + ndim if i < 0 else i


def as_axes(function: str, axes: int | Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """Return distinct axes counted from the front; None means all of them."""
    if axes is None:
        return tuple(range(ndim))
    if not isinstance(axes, Sequence):
        return (as_axis(function, axes, ndim),)
    found = tuple(as_axis(function, axis, ndim) for axis in axes)
    if len(set(found)) != len(found):
        raise ValueError(f"{function}: the axes {tuple(axes)} name the same axis twice")
    return found


def as_contracted_axis(function: str, axis: object, x1: Array, x2: Array) -> int:
    """Return a negative axis common to two arrays, which the standard counts from the back."""
    i = as_index(function, "axis", axis)
    smaller, larger = sorted((x1.ndim, x2.ndim))
    if i >= 0 and smaller == larger:
        i -= larger
    if not -smaller <= i < 0:
        raise AxisError(
            f"{function}: axis {axis} is not between -{smaller} and -1 for arrays with {x1.ndim} "
            f"and {x2.ndim} dimensions"
        )
    return i
