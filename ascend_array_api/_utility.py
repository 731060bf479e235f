"""Utility functions."""

from __future__ import annotations

from ._checks import as_axis, as_index, composed, require_numeric
from ._core import (
    Array,
    all as _all,
    any as _any,
    concat as _concat,
    subtract as _subtract,
)
from ._types import Axes

__all__ = ["all", "any", "diff"]


def all(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Test whether all elements along axes are true.

    Parameters
    ----------
    x : Array
        The values, of any dtype. Whatever is not zero is true, ``nan`` included.
    axis : int or tuple of int, optional
        The axes to reduce. By default all of them.
    keepdims : bool, optional
        Whether reduced axes stay in the shape with the length 1.

    Returns
    -------
    Array
        A bool array; True where there is nothing to test.

    Raises
    ------
    TypeError
        If `x` is not an array.
    ValueError
        If an axis is out of bounds or given twice.
    """
    return _all(x, axis, keepdims)


def any(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Test whether any element along axes is true.

    Parameters
    ----------
    x : Array
        The values, of any dtype. Whatever is not zero is true, ``nan`` included.
    axis : int or tuple of int, optional
        The axes to reduce. By default all of them.
    keepdims : bool, optional
        Whether reduced axes stay in the shape with the length 1.

    Returns
    -------
    Array
        A bool array; False where there is nothing to test.

    Raises
    ------
    TypeError
        If `x` is not an array.
    ValueError
        If an axis is out of bounds or given twice.
    """
    return _any(x, axis, keepdims)


@composed
def diff(
    x: Array,
    /,
    *,
    axis: int = -1,
    n: int = 1,
    prepend: Array | None = None,
    append: Array | None = None,
) -> Array:
    """Differences of neighbouring elements along an axis.

    Parameters
    ----------
    x : Array
        The values, of a numeric dtype, in at least one dimension.
    axis : int, optional
        The axis. Default: the last one.
    n : int, optional
        How many times to take differences, not negative. Default: 1.
    prepend : Array, optional
        Values to put before those of `x` first, of the same shape but for `axis`.
    append : Array, optional
        Values to put after those of `x` first, likewise.

    Returns
    -------
    Array
        The differences ``x[i + 1] - x[i]``, taken `n` times, of the promoted dtype. Each time makes
        `axis` shorter by one, down to the length 0.

    Raises
    ------
    TypeError
        If an argument is not an array of a numeric dtype.
    ValueError
        If `n` is negative, `axis` is out of bounds, or the shapes do not fit.

    Notes
    -----
    Unsigned integers wrap around where the values fall. For ``n=0`` `x` itself is returned, with
    what was put before and after it.

    Examples
    --------
    >>> import ascend_array_api as xp
    >>> xp.diff(xp.asarray([1, 4, 9, 16]))
    Array([3, 5, 7], dtype=int64, device=cpu)
    """
    require_numeric("diff", x)
    given = [part for part in (prepend, x, append) if part is not None]
    require_numeric("diff", *given)
    axis = as_axis("diff", axis, x.ndim)
    for part in given:
        if part.ndim != x.ndim:
            raise ValueError(
                f"diff: prepend and append have as many dimensions as x, {x.ndim}, got {part.ndim}"
            )
    n = as_index("diff", "n", n)
    if n < 0:
        raise ValueError(f"diff: n is not negative, got {n}")
    result = x if len(given) == 1 else _concat(given, axis)
    before = (slice(None),) * axis
    for _ in range(min(n, result.shape[axis])):
        result = _subtract(result[(*before, slice(1, None))], result[(*before, slice(None, -1))])
    return result
