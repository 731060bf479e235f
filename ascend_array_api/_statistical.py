"""Statistical functions."""

from __future__ import annotations

import inspect

from ._core import (
    HOW_TO_RELAX,
    Array,
    cumulative_prod as _cumulative_prod,
    cumulative_sum as _cumulative_sum,
    get_strict,
    max as _max,
    mean as _mean,
    min as _min,
    prod as _prod,
    std as _std,
    sum as _sum,
    var as _var,
)
from ._data_types import astype
from ._types import Axes, DType, RealScalar

__all__ = [
    "cumulative_prod",
    "cumulative_sum",
    "max",
    "mean",
    "min",
    "prod",
    "std",
    "sum",
    "var",
]


def cumulative_prod(
    x: Array,
    /,
    *,
    axis: int | None = None,
    dtype: DType | None = None,
    include_initial: bool = False,
) -> Array:
    """Running products along an axis.

    Parameters
    ----------
    x : Array
        The values, of a numeric dtype, in at least one dimension.
    axis : int, optional
        The axis. It may be left out when `x` is a vector.
    dtype : dtype, optional
        Dtype of the products and of the result. By default that of `x`, but int64 for smaller
        signed and uint64 for smaller unsigned integers.
    include_initial : bool, optional
        Whether the result begins with the product of nothing, 1, and is longer by one.

    Returns
    -------
    Array
        The running products, in the shape of `x` but for a longer `axis`.

    Raises
    ------
    TypeError
        If `x` is not an array of a numeric dtype.
    ValueError
        If `axis` is out of bounds, or left out and `x` is not a vector.
    """
    return _cumulative_prod(x, axis, dtype, include_initial)


def cumulative_sum(
    x: Array,
    /,
    *,
    axis: int | None = None,
    dtype: DType | None = None,
    include_initial: bool = False,
) -> Array:
    """Running sums along an axis.

    Parameters
    ----------
    x : Array
        The values, of a numeric dtype, in at least one dimension.
    axis : int, optional
        The axis. It may be left out when `x` is a vector.
    dtype : dtype, optional
        Dtype of the sums and of the result. By default that of `x`, but int64 for smaller
        signed and uint64 for smaller unsigned integers.
    include_initial : bool, optional
        Whether the result begins with the sum of nothing, 0, and is longer by one.

    Returns
    -------
    Array
        The running sums, in the shape of `x` but for a longer `axis`.

    Raises
    ------
    TypeError
        If `x` is not an array of a numeric dtype.
    ValueError
        If `axis` is out of bounds, or left out and `x` is not a vector.
    """
    return _cumulative_sum(x, axis, dtype, include_initial)


def max(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Largest element along axes.

    Parameters
    ----------
    x : Array
        The values, of a real dtype.
    axis : int or tuple of int, optional
        The axes to reduce. By default all of them.
    keepdims : bool, optional
        Whether reduced axes stay in the shape with the length 1.

    Returns
    -------
    Array
        The largest elements, of the dtype of `x`; ``nan`` where there is one.

    Raises
    ------
    TypeError
        If `x` is not an array of a real dtype.
    ValueError
        If there is nothing to choose from, or an axis is out of bounds or given twice.
    """
    return _max(x, axis, keepdims)


def mean(
    x: Array, /, *, axis: Axes = None, keepdims: bool = False, dtype: DType | None = None
) -> Array:
    """Arithmetic mean of the elements along axes.

    Parameters
    ----------
    x : Array
        The values, of a floating-point dtype.
    axis : int or tuple of int, optional
        The axes to reduce. By default all of them.
    keepdims : bool, optional
        Whether reduced axes stay in the shape with the length 1.
    dtype : dtype, optional
        The dtype that `x` is converted to first, in relaxed mode only: the standard has no such
        parameter, NumPy and Cubed use it.

    Returns
    -------
    Array
        The means, of the dtype of `x`; the mean of nothing is ``nan``.

    Raises
    ------
    TypeError
        If `x` is not an array of a floating-point dtype, or `dtype` is given in strict mode.
    ValueError
        If an axis is out of bounds or given twice.
    """
    if dtype is not None:
        if get_strict():
            raise TypeError(f"mean: dtype is not in the standard, use astype{HOW_TO_RELAX}")
        x = astype(x, dtype, copy=False)
    return _mean(x, axis, keepdims)


# The standard's signature: what relaxed mode takes beyond it is not shown.
_taken = inspect.signature(mean)
mean.__signature__ = _taken.replace(  # type: ignore[attr-defined]
    parameters=[p for p in _taken.parameters.values() if p.name != "dtype"]
)


def min(x: Array, /, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Smallest element along axes.

    Parameters
    ----------
    x : Array
        The values, of a real dtype.
    axis : int or tuple of int, optional
        The axes to reduce. By default all of them.
    keepdims : bool, optional
        Whether reduced axes stay in the shape with the length 1.

    Returns
    -------
    Array
        The smallest elements, of the dtype of `x`; ``nan`` where there is one.

    Raises
    ------
    TypeError
        If `x` is not an array of a real dtype.
    ValueError
        If there is nothing to choose from, or an axis is out of bounds or given twice.
    """
    return _min(x, axis, keepdims)


def prod(
    x: Array,
    /,
    *,
    axis: Axes = None,
    dtype: DType | None = None,
    keepdims: bool = False,
) -> Array:
    """Product of the elements along axes.

    Parameters
    ----------
    x : Array
        The values, of a numeric dtype.
    axis : int or tuple of int, optional
        The axes to reduce. By default all of them.
    dtype : dtype, optional
        Dtype of the product and of the result. By default that of `x`, but int64 for smaller
        signed and uint64 for smaller unsigned integers.
    keepdims : bool, optional
        Whether reduced axes stay in the shape with the length 1.

    Returns
    -------
    Array
        The products; the product of nothing is 1.

    Raises
    ------
    TypeError
        If `x` is not an array of a numeric dtype.
    ValueError
        If an axis is out of bounds or given twice.

    Notes
    -----
    Floating-point values are multiplied in an order that depends on the shape alone and not on
    the number of threads.
    """
    return _prod(x, axis, dtype, keepdims)


def std(
    x: Array,
    /,
    *,
    axis: Axes = None,
    correction: RealScalar = 0.0,
    keepdims: bool = False,
) -> Array:
    """Standard deviation of the elements along axes.

    Parameters
    ----------
    x : Array
        The values, of a real floating-point dtype.
    axis : int or tuple of int, optional
        The axes to reduce. By default all of them.
    correction : int or float, optional
        Degrees of freedom to subtract: 0 treats the elements as the whole population, 1 as a sample
        of it (Bessel's correction).
    keepdims : bool, optional
        Whether reduced axes stay in the shape with the length 1.

    Returns
    -------
    Array
        ``sqrt(sum((x - mean(x))**2) / (n - correction))`` over the ``n`` elements reduced, of the
        dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is not an array of a real floating-point dtype.
    ValueError
        If an axis is out of bounds or given twice.

    Notes
    -----
    The result is ``nan`` where `correction` is not smaller than the number of elements ``n``. The
    mean is subtracted first, in a second pass over the elements, so that nothing cancels.
    """
    return _std(x, axis, correction, keepdims)


def sum(
    x: Array,
    /,
    *,
    axis: Axes = None,
    dtype: DType | None = None,
    keepdims: bool = False,
) -> Array:
    """Sum of the elements along axes.

    Parameters
    ----------
    x : Array
        The values, of a numeric dtype.
    axis : int or tuple of int, optional
        The axes to reduce. By default all of them.
    dtype : dtype, optional
        Dtype of the sum and of the result. By default that of `x`, but int64 for smaller
        signed and uint64 for smaller unsigned integers.
    keepdims : bool, optional
        Whether reduced axes stay in the shape with the length 1.

    Returns
    -------
    Array
        The sums; the sum of nothing is 0.

    Raises
    ------
    TypeError
        If `x` is not an array of a numeric dtype.
    ValueError
        If an axis is out of bounds or given twice.

    Notes
    -----
    Floating-point values are added pairwise, in an order that depends on the shape alone and not on
    the number of threads.
    """
    return _sum(x, axis, dtype, keepdims)


def var(
    x: Array,
    /,
    *,
    axis: Axes = None,
    correction: RealScalar = 0.0,
    keepdims: bool = False,
) -> Array:
    """Variance of the elements along axes.

    Parameters
    ----------
    x : Array
        The values, of a real floating-point dtype.
    axis : int or tuple of int, optional
        The axes to reduce. By default all of them.
    correction : int or float, optional
        Degrees of freedom to subtract: 0 treats the elements as the whole population, 1 as a sample
        of it (Bessel's correction).
    keepdims : bool, optional
        Whether reduced axes stay in the shape with the length 1.

    Returns
    -------
    Array
        ``sum((x - mean(x))**2) / (n - correction)`` over the ``n`` elements reduced, of the
        dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is not an array of a real floating-point dtype.
    ValueError
        If an axis is out of bounds or given twice.

    Notes
    -----
    The result is ``nan`` where `correction` is not smaller than the number of elements ``n``. The
    mean is subtracted first, in a second pass over the elements, so that nothing cancels.
    """
    return _var(x, axis, correction, keepdims)
