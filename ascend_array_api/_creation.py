"""Creation functions.

Without ``device=`` an array is made on the device of its source, or on the default device.
"""

from __future__ import annotations

from typing import Any, Literal

from ._checks import composed, require_array
from ._core import (
    Array,
    arange as _arange,
    asarray as _asarray,
    common_device,
    empty as _empty,
    empty_like as _empty_like,
    eye as _eye,
    from_dlpack as _from_dlpack,
    full as _full,
    full_like as _full_like,
    linspace as _linspace,
    ones as _ones,
    ones_like as _ones_like,
    tril as _tril,
    triu as _triu,
    zeros as _zeros,
    zeros_like as _zeros_like,
)
from ._manipulation import broadcast_to
from ._types import DeviceLike, DType, RealScalar, Scalar, Shape, SupportsDLPack

__all__ = [
    "arange",
    "asarray",
    "empty",
    "empty_like",
    "eye",
    "from_dlpack",
    "full",
    "full_like",
    "linspace",
    "meshgrid",
    "ones",
    "ones_like",
    "tril",
    "triu",
    "zeros",
    "zeros_like",
]


def arange(
    start: RealScalar,
    /,
    stop: RealScalar | None = None,
    step: RealScalar = 1,
    *,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
) -> Array:
    """Evenly spaced values in the half-open interval from `start` to `stop`.

    Parameters
    ----------
    start : int or float
        First value; the end of the interval, from 0, when `stop` is not given.
    stop : int or float, optional
        End of the interval, not part of it.
    step : int or float, optional
        Distance of neighbours, not 0. Default: 1.
    dtype : dtype, optional
        Numeric dtype of the result. By default int64 when all arguments are integers, else float64.
    device : Device or str, optional
        Where to make the array.

    Returns
    -------
    Array
        A vector of ``ceil((stop - start) / step)`` elements, empty when that is negative.

    Raises
    ------
    TypeError
        If an argument is not a real number, or `dtype` is not a dtype that holds them.
    ValueError
        If `step` is 0, or the length is not finite.
    OverflowError
        If a value is out of the range of an integer `dtype`.

    Notes
    -----
    The element ``i`` is ``start + i * step``, computed exactly for integers. For steps that are not
    integers `linspace` is the better choice, because it fixes the number of elements.
    """
    return _arange(start, stop, step, dtype, device)


def asarray(
    obj: Any,
    /,
    *,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
    copy: bool | None = None,
) -> Array:
    """Make an array of scalars, nested sequences, buffers or other arrays.

    Parameters
    ----------
    obj : Array, scalar, nested sequence, NumPy array or buffer
        The source. Nested sequences must have a regular shape.
    dtype : dtype, optional
        Dtype of the result. By default that of `obj`; for Python values the first of bool, int64,
        float64 and complex128 that holds them all.
    device : Device or str, optional
        Where to put the array. By default it stays on the device of `obj`.
    copy : bool, optional
        True makes new memory, False shares the memory of `obj` or raises. By default an Array that
        fits is returned itself, and anything else is copied.

    Returns
    -------
    Array
        The values of `obj`.

    Raises
    ------
    TypeError
        If `obj` holds something that is not a number or a bool.
    ValueError
        If a nested sequence is ragged, or `copy` is False and a copy is needed.
    OverflowError
        If an integer is out of the range of the dtype.

    Notes
    -----
    A NumPy array or a buffer is read at the call: what its owner writes later is not seen. With
    ``copy=False`` the memory is shared, and writes go through in both directions. Only ``bytes``
    and read-only memory maps, which nobody writes, are borrowed without a copy by default.

    Examples
    --------
    >>> import ascend_array_api as xp
    >>> xp.asarray([[1, 2], [3, 4]], dtype=xp.float32)
    Array([[1., 2.],
           [3., 4.]], dtype=float32, device=cpu)
    """
    return _asarray(obj, dtype, device, copy)


def empty(shape: Shape, *, dtype: DType | None = None, device: DeviceLike | None = None) -> Array:
    """Array of a given shape with arbitrary contents.

    Parameters
    ----------
    shape : int or sequence of int
        The shape.
    dtype : dtype, optional
        The dtype. Default: float64.
    device : Device or str, optional
        Where to make the array.

    Returns
    -------
    Array
        An array that is meant to be written before it is read.

    Raises
    ------
    TypeError
        If `shape` is not made of integers, or `dtype` is not a supported dtype.
    ValueError
        If an extent is negative, or there are more than 64.
    MemoryError
        If the device cannot hold the array.
    """
    return _empty(shape, dtype, device)


def empty_like(
    x: Array, /, *, dtype: DType | None = None, device: DeviceLike | None = None
) -> Array:
    """Array of the shape of `x` with arbitrary contents.

    Parameters
    ----------
    x : Array
        The pattern.
    dtype : dtype, optional
        The dtype. By default that of `x`.
    device : Device or str, optional
        Where to make the array. By default the device of `x`.

    Returns
    -------
    Array
        An array that is meant to be written before it is read.

    Raises
    ------
    TypeError
        If `x` is not an array.
    ValueError
        If the device is unknown.
    """
    return _empty_like(x, dtype, device)


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
) -> Array:
    """Matrix with ones on one diagonal and zeros elsewhere.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    n_cols : int, optional
        Number of columns. By default `n_rows`.
    k : int, optional
        Which diagonal: 0 is the main one, positive ones lie above it, negative ones below.
    dtype : dtype, optional
        The dtype. Default: float64.
    device : Device or str, optional
        Where to make the array.

    Returns
    -------
    Array
        A matrix of the shape ``(n_rows, n_cols)``.

    Raises
    ------
    TypeError
        If an argument is not an integer, or `dtype` is not a supported dtype.
    ValueError
        If a number of rows or columns is negative.
    """
    return _eye(n_rows, n_cols, k, dtype, device)


def from_dlpack(
    x: SupportsDLPack, /, *, device: DeviceLike | None = None, copy: bool | None = None
) -> Array:
    """Array over the memory of an object that speaks DLPack.

    Parameters
    ----------
    x : object
        An array with the methods ``__dlpack__`` and ``__dlpack_device__``.
    device : Device or str, optional
        Where to put the array. By default it stays on the device of `x`.
    copy : bool, optional
        True makes new memory, False shares that of `x` or raises. By default the memory is shared
        where that is possible.

    Returns
    -------
    Array
        The values of `x`. Where memory is shared, writes go through in both directions; an array
        over read-only memory is read-only.

    Raises
    ------
    AttributeError
        If `x` does not speak DLPack.
    BufferError
        If the memory cannot be imported, or `copy` is False and a copy is needed.
    ValueError
        If the device is unknown.

    Notes
    -----
    A bool array of one bit an element is shared, one of a byte an element must be copied.
    """
    return _from_dlpack(x, device, copy)


def full(
    shape: Shape,
    fill_value: bool | Scalar,
    *,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
) -> Array:
    """Array of a given shape filled with one value.

    Parameters
    ----------
    shape : int or sequence of int
        The shape.
    fill_value : bool or int or float or complex or 0-d Array
        The value.
    dtype : dtype, optional
        The dtype. By default bool, int64, float64 or complex128, as the type of `fill_value` asks.
    device : Device or str, optional
        Where to make the array.

    Returns
    -------
    Array
        The filled array.

    Raises
    ------
    TypeError
        If `fill_value` is not a scalar, or of a kind that `dtype` does not hold.
    ValueError
        If an extent is negative, or there are more than 64.
    OverflowError
        If `fill_value` is out of the range of an integer dtype.
    MemoryError
        If the device cannot hold the array.
    """
    return _full(shape, fill_value, dtype, device)


def full_like(
    x: Array,
    /,
    fill_value: bool | Scalar,
    *,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
) -> Array:
    """Array of the shape of `x` filled with one value.

    Parameters
    ----------
    x : Array
        The pattern.
    fill_value : bool or int or float or complex or 0-d Array
        The value.
    dtype : dtype, optional
        The dtype. By default that of `x`.
    device : Device or str, optional
        Where to make the array. By default the device of `x`.

    Returns
    -------
    Array
        The filled array.

    Raises
    ------
    TypeError
        If `x` is not an array, or `fill_value` is of a kind that the dtype does not hold.
    OverflowError
        If `fill_value` is out of the range of an integer dtype.
    ValueError
        If `fill_value` is an array with dimensions, or the device is unknown.
    """
    return _full_like(x, fill_value, dtype, device)


def linspace(
    start: Scalar,
    stop: Scalar,
    /,
    num: int,
    *,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
    endpoint: bool = True,
) -> Array:
    """A given number of evenly spaced values from `start` to `stop`.

    Parameters
    ----------
    start : int or float or complex
        First value.
    stop : int or float or complex
        End of the interval.
    num : int
        Number of values, not negative.
    dtype : dtype, optional
        Floating-point dtype of the result. By default complex128 when an end is complex, else
        float64. In relaxed mode it may be an integer dtype: values are rounded down.
    device : Device or str, optional
        Where to make the array.
    endpoint : bool, optional
        Whether `stop` is the last value. Otherwise the interval is divided into `num` parts and
        `stop` is left out.

    Returns
    -------
    Array
        A vector of `num` elements, whose ends are exact.

    Raises
    ------
    TypeError
        If an end is not a number, or `dtype` is not a floating-point dtype that holds them.
    ValueError
        If `num` is negative.

    Examples
    --------
    >>> import ascend_array_api as xp
    >>> xp.linspace(0, 1, 5)
    Array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float64, device=cpu)
    """
    return _linspace(start, stop, num, dtype, device, endpoint)


@composed
def meshgrid(*arrays: Array, indexing: Literal["xy", "ij"] = "xy") -> tuple[Array, ...]:
    """Coordinate arrays of the grid that vectors of coordinates span.

    Parameters
    ----------
    *arrays : Array
        Vectors of coordinates, one for each axis of the grid.
    indexing : {"xy", "ij"}, optional
        Order of the first two axes of the results: "ij" keeps the order of the vectors, "xy"
        (Cartesian) swaps the two.

    Returns
    -------
    tuple of Array
        For each vector, of ``n1``, ``n2``, ``n3``, ... elements, an array of the shape
        ``(n1, n2, n3, ...)`` under "ij" and ``(n2, n1, n3, ...)`` under "xy", of its dtype, that
        holds the coordinate along its axis at each point.

    Raises
    ------
    TypeError
        If an argument is not an array.
    ValueError
        If an array is not a vector, or `indexing` is neither "xy" nor "ij".

    Notes
    -----
    The results are arrays of their own, which can be written. `broadcast_arrays` makes views.

    Examples
    --------
    >>> import ascend_array_api as xp
    >>> x, y = xp.meshgrid(xp.asarray([0, 1, 2]), xp.asarray([10, 20]))
    >>> x + y
    Array([[10, 11, 12],
           [20, 21, 22]], dtype=int64, device=cpu)
    """
    require_array("meshgrid", *arrays)
    if not isinstance(indexing, str) or indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing is 'xy' or 'ij', got {indexing!r}")
    for x in arrays:
        if x.ndim != 1:
            raise ValueError(f"meshgrid: expected vectors, got an array of shape {x.shape}")
    common_device("meshgrid", arrays, None)
    n = len(arrays)
    positions = list(range(n))
    if indexing == "xy" and n > 1:
        positions[:2] = 1, 0
    shape = [0] * n
    for x, axis in zip(arrays, positions, strict=True):
        shape[axis] = x.shape[0]

    def along(x: Array, axis: int) -> Array:
        line = x[(None,) * axis + (slice(None),) + (None,) * (n - axis - 1)]
        return _asarray(broadcast_to(line, tuple(shape)), None, None, True)

    return tuple(along(x, axis) for x, axis in zip(arrays, positions, strict=True))


def ones(shape: Shape, *, dtype: DType | None = None, device: DeviceLike | None = None) -> Array:
    """Array of a given shape filled with ones.

    Parameters
    ----------
    shape : int or sequence of int
        The shape.
    dtype : dtype, optional
        The dtype. Default: float64.
    device : Device or str, optional
        Where to make the array.

    Returns
    -------
    Array
        The filled array.

    Raises
    ------
    TypeError
        If `shape` is not made of integers, or `dtype` is not a supported dtype.
    ValueError
        If an extent is negative, or there are more than 64.
    MemoryError
        If the device cannot hold the array.
    """
    return _ones(shape, dtype, device)


def ones_like(
    x: Array, /, *, dtype: DType | None = None, device: DeviceLike | None = None
) -> Array:
    """Array of the shape of `x` filled with ones.

    Parameters
    ----------
    x : Array
        The pattern.
    dtype : dtype, optional
        The dtype. By default that of `x`.
    device : Device or str, optional
        Where to make the array. By default the device of `x`.

    Returns
    -------
    Array
        The filled array.

    Raises
    ------
    TypeError
        If `x` is not an array.
    ValueError
        If the device is unknown.
    """
    return _ones_like(x, dtype, device)


def tril(x: Array, /, *, k: int = 0) -> Array:
    """Lower triangle of a matrix, or of each matrix of a stack.

    Parameters
    ----------
    x : Array
        Matrices of the shape ``(..., m, n)``, of any dtype.
    k : int, optional
        The highest diagonal to keep: 0 is the main one, positive ones lie above it.

    Returns
    -------
    Array
        A copy of `x` with zeros above that diagonal.

    Raises
    ------
    TypeError
        If `x` is not an array.
    ValueError
        If `x` has fewer than two dimensions.
    """
    return _tril(x, k)


def triu(x: Array, /, *, k: int = 0) -> Array:
    """Upper triangle of a matrix, or of each matrix of a stack.

    Parameters
    ----------
    x : Array
        Matrices of the shape ``(..., m, n)``, of any dtype.
    k : int, optional
        The lowest diagonal to keep: 0 is the main one, positive ones lie above it.

    Returns
    -------
    Array
        A copy of `x` with zeros below that diagonal.

    Raises
    ------
    TypeError
        If `x` is not an array.
    ValueError
        If `x` has fewer than two dimensions.
    """
    return _triu(x, k)


def zeros(shape: Shape, *, dtype: DType | None = None, device: DeviceLike | None = None) -> Array:
    """Array of a given shape filled with zeros.

    Parameters
    ----------
    shape : int or sequence of int
        The shape.
    dtype : dtype, optional
        The dtype. Default: float64.
    device : Device or str, optional
        Where to make the array.

    Returns
    -------
    Array
        The filled array.

    Raises
    ------
    TypeError
        If `shape` is not made of integers, or `dtype` is not a supported dtype.
    ValueError
        If an extent is negative, or there are more than 64.
    MemoryError
        If the device cannot hold the array.
    """
    return _zeros(shape, dtype, device)


def zeros_like(
    x: Array, /, *, dtype: DType | None = None, device: DeviceLike | None = None
) -> Array:
    """Array of the shape of `x` filled with zeros.

    Parameters
    ----------
    x : Array
        The pattern.
    dtype : dtype, optional
        The dtype. By default that of `x`.
    device : Device or str, optional
        Where to make the array. By default the device of `x`.

    Returns
    -------
    Array
        The filled array.

    Raises
    ------
    TypeError
        If `x` is not an array.
    ValueError
        If the device is unknown.
    """
    return _zeros_like(x, dtype, device)
