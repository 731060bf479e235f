"""Set functions."""

from __future__ import annotations

from typing import NamedTuple, cast

from ._core import (
    Array,
    isin as _isin,
    unique as _unique,
)

__all__ = ["isin", "unique_all", "unique_counts", "unique_inverse", "unique_values"]


class UniqueAll(NamedTuple):
    """Result of `unique_all`."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCounts(NamedTuple):
    """Result of `unique_counts`."""

    values: Array
    counts: Array


class UniqueInverse(NamedTuple):
    """Result of `unique_inverse`."""

    values: Array
    inverse_indices: Array


def isin(x1: Array | int, x2: Array | int, /, *, invert: bool = False) -> Array:
    """Test whether each element of one array occurs in another.

    Parameters
    ----------
    x1 : Array or int
        The elements to look for. At least one of `x1` and `x2` is an array.
    x2 : Array or int
        The elements to look among.
    invert : bool, optional
        Whether to test for absence instead.

    Returns
    -------
    Array
        A bool array in the shape of `x1`. ``nan`` occurs nowhere, because it equals nothing.

    Raises
    ------
    TypeError
        If neither argument is an array, or the dtypes do not promote to one.
    """
    return _isin(x1, x2, invert)


def unique_all(x: Array, /) -> UniqueAll:
    """Distinct elements of an array, where they stand, and how often.

    Parameters
    ----------
    x : Array
        The values, of any dtype. The array is flattened.

    Returns
    -------
    UniqueAll
        A named tuple of ``values`` (the distinct elements, ascending), ``indices`` (of the first
        occurrence of each in the flattened `x`), ``inverse_indices`` (in the shape of `x`, such
        that ``take(values, inverse_indices)`` gives its elements) and ``counts``.

    Raises
    ------
    TypeError
        If `x` is not an array.

    Notes
    -----
    Each ``nan`` is distinct from all others, and zeros of both signs are one value.

    Examples
    --------
    >>> import ascend_array_api as xp
    >>> r = xp.unique_all(xp.asarray([2, 1, 2]))
    >>> r.values, r.counts
    (Array([1, 2], dtype=int64, device=cpu), Array([1, 2], dtype=int64, device=cpu))
    """
    values, indices, inverse, counts = _unique("unique_all", x, True, True, True)
    return UniqueAll(values, cast(Array, indices), cast(Array, inverse), cast(Array, counts))


def unique_counts(x: Array, /) -> UniqueCounts:
    """Distinct elements of an array and how often they occur.

    Parameters
    ----------
    x : Array
        The values, of any dtype. The array is flattened.

    Returns
    -------
    UniqueCounts
        A named tuple of ``values`` (the distinct elements, ascending) and ``counts``.

    Raises
    ------
    TypeError
        If `x` is not an array.

    Notes
    -----
    Each ``nan`` is distinct from all others, and zeros of both signs are one value.
    """
    values, _, _, counts = _unique("unique_counts", x, False, False, True)
    return UniqueCounts(values, cast(Array, counts))


def unique_inverse(x: Array, /) -> UniqueInverse:
    """Distinct elements of an array and the indices that rebuild it of them.

    Parameters
    ----------
    x : Array
        The values, of any dtype. The array is flattened.

    Returns
    -------
    UniqueInverse
        A named tuple of ``values`` (the distinct elements, ascending) and ``inverse_indices`` (in
        the shape of `x`).

    Raises
    ------
    TypeError
        If `x` is not an array.

    Notes
    -----
    Each ``nan`` is distinct from all others, and zeros of both signs are one value.
    """
    values, _, inverse, _ = _unique("unique_inverse", x, False, True, False)
    return UniqueInverse(values, cast(Array, inverse))


def unique_values(x: Array, /) -> Array:
    """Distinct elements of an array.

    Parameters
    ----------
    x : Array
        The values, of any dtype. The array is flattened.

    Returns
    -------
    Array
        The distinct elements, ascending.

    Raises
    ------
    TypeError
        If `x` is not an array.

    Notes
    -----
    Each ``nan`` is distinct from all others, and zeros of both signs are one value.
    """
    return _unique("unique_values", x, False, False, False)[0]
