"""Checks of arguments for functions that are composed in Python."""

from __future__ import annotations

import operator
from typing import SupportsIndex

from . import _core
from ._core import Array, as_axes, as_axis, as_contracted_axis
from ._dtypes import KINDS, float64, kind_of

__all__ = [
    "as_axes",
    "as_axis",
    "as_contracted_axis",
    "as_floating",
    "as_index",
    "require_array",
    "require_numeric",
    "require_rank",
]


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
            f"{function}: expected a floating-point dtype, got {x.dtype}; convert with astype"
            f"{_core.HOW_TO_RELAX}"
        )
    return _core.astype(x, float64, True, None)


def require_rank(function: str, x: Array, rank: int) -> None:
    """Raise ValueError unless x has at least this many dimensions."""
    if x.ndim < rank:
        raise ValueError(f"{function}: expected at least {rank} dimensions, got shape {x.shape}")


def as_index(function: str, name: str, value: object) -> int:
    """Return an integer argument as a Python int, or raise TypeError."""
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        raise TypeError(f"{function}: {name} must be an int, got {type(value).__name__}")
    return operator.index(value)
