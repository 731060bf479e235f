"""Indexing functions."""

from __future__ import annotations

from ._checks import as_index
from ._core import (
    Array,
    get_strict,
    take as _take,
    take_along_axis as _take_along_axis,
)
from ._creation import asarray
from ._manipulation import squeeze

__all__ = ["take", "take_along_axis"]


def take(x: Array, indices: Array | int, /, *, axis: int | None = None) -> Array:
    """Elements of an array at given places along one axis.

    Parameters
    ----------
    x : Array
        The values, of any dtype.
    indices : Array
        A vector of integers: places along `axis`, from the end when negative. In relaxed mode also
        an int, which takes the axis away, as in NumPy.
    axis : int, optional
        The axis. It may be left out when `x` is a vector.

    Returns
    -------
    Array
        An array of the dtype and shape of `x`, but for `axis`, which has the length of `indices`.

    Raises
    ------
    TypeError
        If `indices` is not an array of integers.
    ValueError
        If `axis` is left out and `x` is not a vector, or out of bounds.
    IndexError
        If an index is out of bounds.

    Examples
    --------
    >>> import ascend_array_api as xp
    >>> xp.take(xp.asarray([10, 20, 30]), xp.asarray([-1, 0]))
    Array([30, 10], dtype=int64, device=cpu)
    """
    if type(indices) is int and not get_strict():
        index = as_index("take", "indices", indices)
        if not -(2**63) <= index < 2**63:
            raise IndexError(f"take: the index {index} is out of bounds")
        return squeeze(_take(x, asarray([index]), axis), axis or 0)
    return _take(x, indices, axis)  # type: ignore[arg-type]  # an int: it says what is accepted


def take_along_axis(x: Array, indices: Array, /, *, axis: int = -1) -> Array:
    """Elements of an array at places that differ from line to line.

    Parameters
    ----------
    x : Array
        The values, of any dtype.
    indices : Array
        Integers: places along `axis`, from the end when negative. It has as many dimensions as `x`,
        and its shape broadcasts with that of `x` but for `axis`.
    axis : int, optional
        The axis. Default: the last one.

    Returns
    -------
    Array
        An array of the dtype of `x` and the broadcast shape, with the length of `indices` along
        `axis`. The indices that `argsort` gives sort `x`.

    Raises
    ------
    TypeError
        If `indices` is not an array of integers.
    ValueError
        If the shapes do not fit, or `axis` is out of bounds.
    IndexError
        If an index is out of bounds.
    """
    return _take_along_axis(x, indices, axis)
