"""Linear algebra functions of the main namespace."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ._checks import as_axes, as_index, composed, require_array, require_rank
from ._core import (
    Array,
    matmul as _matmul,
    permute_dims as _permute_dims,
    reshape as _reshape,
    vecdot as _vecdot,
)

__all__ = ["matmul", "matrix_transpose", "tensordot", "vecdot"]


def matmul(x1: Array, x2: Array, /) -> Array:
    """Matrix product, the function of ``x1 @ x2``.

    Parameters
    ----------
    x1 : Array
        Matrices of the shape ``(..., m, k)``, or a vector of ``k`` elements, of a numeric dtype.
    x2 : Array
        Matrices of the shape ``(..., k, n)``, or a vector of ``k`` elements, of a numeric dtype.

    Returns
    -------
    Array
        The products, of the shape ``(..., m, n)``, where the leading dimensions broadcast. A vector
        counts as a matrix of one row (`x1`) or one column (`x2`), which the result drops again.

    Raises
    ------
    TypeError
        If an argument is not an array of a numeric dtype, or the two do not promote to one.
    ValueError
        If an argument has no dimension, or the shapes do not fit.
    """
    return _matmul(x1, x2)


def matrix_transpose(x: Array, /) -> Array:
    """Transpose of a matrix, or of each matrix of a stack.

    Parameters
    ----------
    x : Array
        Matrices of the shape ``(..., m, n)``, of any dtype.

    Returns
    -------
    Array
        A view of the shape ``(..., n, m)``.

    Raises
    ------
    TypeError
        If `x` is not an array.
    ValueError
        If `x` has fewer than two dimensions.
    """
    require_array("matrix_transpose", x)
    require_rank("matrix_transpose", x, 2)
    return x.mT


def _contracted(
    x1: Array, x2: Array, axes: int | tuple[Sequence[int], Sequence[int]]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    if not isinstance(axes, Sequence):
        n = as_index("tensordot", "axes", axes)
        if not 0 <= n <= min(x1.ndim, x2.ndim):
            raise ValueError(
                f"tensordot: cannot contract {n} axes of arrays with {x1.ndim} and {x2.ndim} "
                "dimensions"
            )
        return tuple(range(x1.ndim - n, x1.ndim)), tuple(range(n))
    if len(axes) != 2:
        raise ValueError(f"tensordot: axes is a number or two sequences of axes, got {axes!r}")
    first, second = axes
    return as_axes("tensordot", first, x1.ndim), as_axes("tensordot", second, x2.ndim)


@composed
def tensordot(
    x1: Array,
    x2: Array,
    /,
    *,
    axes: int | tuple[Sequence[int], Sequence[int]] = 2,
) -> Array:
    """Sum of products over pairs of axes of two arrays.

    Parameters
    ----------
    x1 : Array
        First factor, of a numeric dtype.
    x2 : Array
        Second factor, of a numeric dtype.
    axes : int or (sequence of int, sequence of int), optional
        The axes to sum over: the last so many of `x1` with the first so many of `x2`, or the axes
        of each, paired in their order. 0 gives the outer product. Default: 2.

    Returns
    -------
    Array
        The sums, of the promoted dtype: the remaining axes of `x1`, then those of `x2`.

    Raises
    ------
    TypeError
        If an argument is not an array of a numeric dtype, or the two do not promote to one.
    ValueError
        If the numbers of axes or their lengths differ, or an axis is out of bounds or given twice.

    Notes
    -----
    Complex values are not conjugated. The axes are brought together as views, and `matmul` does the
    work.

    Examples
    --------
    >>> import ascend_array_api as xp
    >>> x = xp.ones((2, 3, 4))
    >>> xp.tensordot(x, x, axes=((1, 2), (1, 2)))
    Array([[12., 12.],
           [12., 12.]], dtype=float64, device=cpu)
    """
    require_array("tensordot", x1, x2)
    axes1, axes2 = _contracted(x1, x2, axes)
    lengths1 = tuple(x1.shape[i] for i in axes1)
    lengths2 = tuple(x2.shape[i] for i in axes2)
    if lengths1 != lengths2:
        raise ValueError(
            f"tensordot: the axes {axes1} of shape {x1.shape} and {axes2} of shape {x2.shape} "
            "differ in number or length"
        )
    free1 = tuple(i for i in range(x1.ndim) if i not in axes1)
    free2 = tuple(i for i in range(x2.ndim) if i not in axes2)
    rows = tuple(x1.shape[i] for i in free1)
    columns = tuple(x2.shape[i] for i in free2)
    k = math.prod(lengths1)
    left = _reshape(_permute_dims(x1, free1 + axes1), (math.prod(rows), k), None)
    right = _reshape(_permute_dims(x2, axes2 + free2), (k, math.prod(columns)), None)
    return _reshape(_matmul(left, right), rows + columns, None)


def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """Dot product of vectors along an axis.

    Parameters
    ----------
    x1 : Array
        First vectors, of a numeric dtype. Complex ones are conjugated.
    x2 : Array
        Second vectors, of a numeric dtype.
    axis : int, optional
        The axis of the vectors, counted from the end (negative), of the same length in both arrays.
        The other axes broadcast. Default: the last one.

    Returns
    -------
    Array
        The dot products ``sum(conj(x1) * x2)``, of the promoted dtype.

    Raises
    ------
    TypeError
        If an argument is not an array of a numeric dtype, or the two do not promote to one.
    ValueError
        If `axis` is out of bounds, or the shapes do not fit.
    """
    return _vecdot(x1, x2, axis)
