"""Searching functions."""

from __future__ import annotations

from typing import Literal

from ._core import (
    Array,
    argmax as _argmax,
    argmin as _argmin,
    count_nonzero as _count_nonzero,
    nonzero as _nonzero,
    searchsorted as _searchsorted,
    where as _where,
)
from ._types import Axes, RealScalar, Scalar

__all__ = ["argmax", "argmin", "count_nonzero", "nonzero", "searchsorted", "where"]


def argmax(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Index of the first largest element.

    Parameters
    ----------
    x : Array
        The values, of a real dtype.
    axis : int, optional
        The axis to search along. By default the flattened array is searched.
    keepdims : bool, optional
        Whether searched axes stay in the shape with the length 1.

    Returns
    -------
    Array
        Indices, int64. The first ``nan`` counts as the largest element.

    Raises
    ------
    TypeError
        If `x` is not an array of a real dtype.
    ValueError
        If there is nothing to search, or `axis` is out of bounds.
    """
    return _argmax(x, axis, keepdims)


def argmin(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
    """Index of the first smallest element.

    Parameters
    ----------
    x : Array
        The values, of a real dtype.
    axis : int, optional
        The axis to search along. By default the flattened array is searched.
    keepdims : bool, optional
        Whether searched axes stay in the shape with the length 1.

    Returns
    -------
    Array
        Indices, int64. The first ``nan`` counts as the smallest element.

    Raises
    ------
    TypeError
        If `x` is not an array of a real dtype.
    ValueError
        If there is nothing to search, or `axis` is out of bounds.
    """
    return _argmin(x, axis, keepdims)


def count_nonzero(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Number of elements that are not zero.

    Parameters
    ----------
    x : Array
        The values, of any dtype.
    axis : int or tuple of int, optional
        The axes to count along. By default all of them.
    keepdims : bool, optional
        Whether counted axes stay in the shape with the length 1.

    Returns
    -------
    Array
        The counts, int64. ``nan`` is not zero; a complex number is zero when both components are.

    Raises
    ------
    TypeError
        If `x` is not an array.
    ValueError
        If an axis is out of bounds or given twice.
    """
    return _count_nonzero(x, axis, keepdims)


def nonzero(x: Array, /) -> tuple[Array, ...]:
    """Indices of the elements that are not zero.

    Parameters
    ----------
    x : Array
        The values, of any dtype, in at least one dimension.

    Returns
    -------
    tuple of Array
        One vector of int64 for each dimension, in row-major order of the elements, so that
        ``x[nonzero(x)]`` holds them.

    Raises
    ------
    TypeError
        If `x` is not an array.
    ValueError
        If `x` has no dimension.
    """
    return _nonzero(x)


def searchsorted(
    x1: Array,
    x2: Array | RealScalar,
    /,
    *,
    side: Literal["left", "right"] = "left",
    sorter: Array | None = None,
) -> Array:
    """Indices at which values can be inserted into a sorted vector without breaking its order.

    Parameters
    ----------
    x1 : Array
        A vector of a real dtype, in ascending order unless `sorter` is given.
    x2 : Array or int or float
        The values to insert.
    side : {"left", "right"}, optional
        Whether the index is that of the first suitable place, before equal elements, or of the last
        one, after them.
    sorter : Array, optional
        Indices that sort `x1`, as `argsort` gives them.

    Returns
    -------
    Array
        Indices from 0 to the length of `x1`, int64, in the shape of `x2`.

    Raises
    ------
    TypeError
        If the dtypes are not real, or do not promote to one.
    ValueError
        If `x1` is not a vector, `side` is unknown, or `sorter` has another shape than `x1`.

    Notes
    -----
    ``nan`` is the largest value, as in `sort`.

    Examples
    --------
    >>> import ascend_array_api as xp
    >>> xp.searchsorted(xp.asarray([1, 3, 5]), xp.asarray([0, 3, 9]))
    Array([0, 1, 3], dtype=int64, device=cpu)
    """
    return _searchsorted(x1, x2, side, sorter)


def where(condition: Array, x1: Array | Scalar | bool, x2: Array | Scalar | bool, /) -> Array:
    """Elements of `x1` where a condition is true, of `x2` elsewhere.

    Parameters
    ----------
    condition : Array
        The choice, of bool dtype.
    x1 : Array or bool or int or float or complex
        Values for true. At least one of `x1` and `x2` is an array.
    x2 : Array or bool or int or float or complex
        Values for false.

    Returns
    -------
    Array
        The chosen values, in the shape that all three broadcast to, of the dtype that `x1` and `x2`
        promote to.

    Raises
    ------
    TypeError
        If `condition` is not a bool array, or the values do not promote to one dtype.
    ValueError
        If the shapes do not broadcast together.

    Examples
    --------
    >>> import ascend_array_api as xp
    >>> x = xp.asarray([1.0, -2.0, 3.0])
    >>> xp.where(x > 0, x, 0)
    Array([1., 0., 3.], dtype=float64, device=cpu)
    """
    return _where(condition, x1, x2)
