"""Checks of arguments for functions that are composed in Python."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import numpy as np

from . import _core
from ._core import Array, as_axes, as_axis, as_contracted_axis
from ._dtypes import KINDS, kind_of

__all__ = [
    "as_axes",
    "as_axis",
    "as_contracted_axis",
    "as_floating",
    "as_index",
    "composed",
    "require_array",
    "require_bool",
    "require_numeric",
    "require_rank",
    "require_writable",
]


P = ParamSpec("P")
R = TypeVar("R")

_PART = re.compile(r"^\w+: ")  # the name that begins the messages of a part


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
    return _core.as_elements(function, x)


def require_rank(function: str, x: Array, rank: int) -> None:
    """Raise ValueError unless x has at least this many dimensions."""
    if x.ndim < rank:
        raise ValueError(f"{function}: expected at least {rank} dimensions, got shape {x.shape}")


def as_index(function: str, name: str, value: object, accepted: str = "an int") -> int:
    """Return an integer argument as a Python int, or raise TypeError."""
    try:
        if not isinstance(value, bool):
            return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        pass
    raise TypeError(f"{function}: {name} must be {accepted}, got {type(value).__name__}")


def require_bool(function: str, name: str, value: object) -> None:
    """Raise TypeError unless an argument is True or False, Python's or NumPy's."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{function}: {name} must be True or False, got {type(value).__name__}")


def require_writable(function: str, file: object) -> None:
    """Raise TypeError unless text can be written to a file, or to none."""
    if file is not None and not callable(getattr(file, "write", None)):
        raise TypeError(f"{function}: file must have a method write, got {type(file).__name__}")


def composed(function: Callable[P, R]) -> Callable[P, R]:
    """Make the errors of a function's parts name the function itself."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except (TypeError, ValueError, IndexError, OverflowError, MemoryError) as error:
            text = error.args[0] if error.args else None
            if isinstance(text, str):
                named = f"{function.__name__}: {_PART.sub('', text)}"
                error.args = (named, *error.args[1:])
            raise

    return call
