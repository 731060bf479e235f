"""Sorting functions."""

from __future__ import annotations

from ._core import (
    Array,
    argsort as _argsort,
    sort as _sort,
)

__all__ = ["argsort", "sort"]


def argsort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """Indices that sort an array along an axis.

    Parameters
    ----------
    x : Array
        The values, of a real dtype.
    axis : int, optional
        The axis to sort along. Default: the last one.
    descending : bool, optional
        Whether the largest value comes first.
    stable : bool, optional
        Whether equal values must keep their order, in descending order too.

    Returns
    -------
    Array
        Indices along `axis`, int64, in the shape of `x`.

    Raises
    ------
    TypeError
        If `x` is not an array of a real dtype.
    ValueError
        If `axis` is out of bounds.

    Notes
    -----
    ``nan`` counts as the largest value: it comes last in ascending order and first in descending
    order. Zeros of both signs are equal. ``take_along_axis(x, argsort(x))`` is ``sort(x)``.
    """
    return _argsort(x, axis, descending, stable)


def sort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """Sorted copy of an array.

    Parameters
    ----------
    x : Array
        The values, of a real dtype.
    axis : int, optional
        The axis to sort along. Default: the last one.
    descending : bool, optional
        Whether the largest value comes first.
    stable : bool, optional
        Whether equal values must keep their order, in descending order too. It shows in zeros of
        different signs.

    Returns
    -------
    Array
        The sorted values, of the dtype and shape of `x`.

    Raises
    ------
    TypeError
        If `x` is not an array of a real dtype.
    ValueError
        If `axis` is out of bounds.

    Notes
    -----
    ``nan`` counts as the largest value: it comes last in ascending order and first in descending
    order. `searchsorted`, `argsort` and `unique_values` follow the same order.

    Examples
    --------
    >>> import ascend_array_api as xp
    >>> xp.sort(xp.asarray([3.0, float("nan"), 1.0, 2.0]))
    Array([ 1.,  2.,  3., nan], dtype=float64, device=cpu)
    """
    return _sort(x, axis, descending, stable)
