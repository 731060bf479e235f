"""Manipulation functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from ._checks import as_axes, as_axis, as_index, require_array
from ._core import (
    Array,
    broadcast_to as _broadcast_to,
    common_device,
    concat as _concat,
    expand_dims as _expand_dims,
    flip as _flip,
    permute_dims as _permute_dims,
    repeat as _repeat,
    reshape as _reshape,
    roll as _roll,
    squeeze as _squeeze,
    stack as _stack,
    tile as _tile,
)
from ._types import Axes, Shape

__all__ = [
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "concat",
    "expand_dims",
    "flip",
    "moveaxis",
    "permute_dims",
    "repeat",
    "reshape",
    "roll",
    "squeeze",
    "stack",
    "tile",
    "unstack",
]


def broadcast_arrays(*arrays: Array) -> tuple[Array, ...]:
    """Views of arrays in their common shape.

    Parameters
    ----------
    *arrays : Array
        The arrays, of any dtypes.

    Returns
    -------
    tuple of Array
        A view of each array, of its own dtype. A view that repeats elements is read-only.

    Raises
    ------
    TypeError
        If an argument is not an array.
    ValueError
        If the shapes do not broadcast together.
    """
    require_array("broadcast_arrays", *arrays)
    common_device("broadcast_arrays", arrays, None)
    shape = cast(tuple[int, ...], _common_shape("broadcast_arrays", [x.shape for x in arrays]))
    return tuple(_broadcast_to(x, shape) for x in arrays)


def _common_shape(
    function: str, shapes: Sequence[tuple[int | None, ...]]
) -> tuple[int | None, ...]:
    ndim = max((len(shape) for shape in shapes), default=0)
    result = []
    for i in range(-ndim, 0):
        extents = {shape[i] for shape in shapes if len(shape) >= -i}
        known = extents - {None, 1}
        if len(known) > 1:
            listed = ", ".join(str(shape) for shape in shapes)
            raise ValueError(f"{function}: shapes {listed} could not be broadcast together")
        result.append(None if None in extents else next(iter(known), 1))
    return tuple(result)


def broadcast_shapes(*shapes: tuple[int | None, ...]) -> tuple[int | None, ...]:
    """Shape to which shapes broadcast together.

    Parameters
    ----------
    *shapes : tuple of int
        The shapes. None stands for an extent that is not known.

    Returns
    -------
    tuple of int
        The common shape, ``()`` for no argument.

    Raises
    ------
    TypeError
        If a shape holds something that is neither an integer nor None.
    ValueError
        If the shapes do not broadcast together, or an extent is negative.

    Notes
    -----
    An axis along which any extent is unknown is unknown in the result.

    Examples
    --------
    >>> import ascend_array_api as xp
    >>> xp.broadcast_shapes((5, 1), (3,))
    (5, 3)
    """
    name = "broadcast_shapes"
    checked: list[tuple[int | None, ...]] = []
    for shape in shapes:
        if not isinstance(shape, Sequence):
            raise TypeError(f"{name}: a shape is a tuple of integers, got {shape!r}")
        extents = tuple(n if n is None else as_index(name, "an extent", n) for n in shape)
        if any(n is not None and n < 0 for n in extents):
            raise ValueError(f"{name}: negative extent in shape {extents}")
        checked.append(extents)
    return _common_shape(name, checked)


def broadcast_to(x: Array, /, shape: tuple[int, ...]) -> Array:
    """View of an array in a larger shape.

    Parameters
    ----------
    x : Array
        The values, of any dtype.
    shape : tuple of int
        The shape. Counted from the last axis, each extent of `x` is equal to its own or 1.

    Returns
    -------
    Array
        A view that repeats elements without copying them. It is read-only if it does.

    Raises
    ------
    TypeError
        If `x` is not an array.
    ValueError
        If `x` does not broadcast to `shape`.
    """
    return _broadcast_to(x, shape)


def concat(arrays: tuple[Array, ...] | list[Array], /, *, axis: int | None = 0) -> Array:
    """Join arrays along an existing axis.

    Parameters
    ----------
    arrays : tuple or list of Array
        At least one array. The shapes are equal but for `axis`.
    axis : int or None, optional
        The axis. None flattens the arrays first. Default: 0.

    Returns
    -------
    Array
        The joined values, of the dtype to which the arrays promote.

    Raises
    ------
    TypeError
        If an element of `arrays` is not an array, or the dtypes do not promote to one.
    ValueError
        If there is no array, the shapes do not fit, or `axis` is out of bounds.
    """
    return _concat(arrays, axis)


def expand_dims(x: Array, /, axis: int | tuple[int, ...]) -> Array:
    """View of an array with new axes of length 1.

    Parameters
    ----------
    x : Array
        The values, of any dtype.
    axis : int or tuple of int
        Where the new axes stand in the result, counted from the end when negative.

    Returns
    -------
    Array
        A view with the new axes.

    Raises
    ------
    TypeError
        If `x` is not an array.
    IndexError
        If an axis is out of bounds.
    ValueError
        If an axis is given twice, or there would be more than 64 dimensions.
    """
    return _expand_dims(x, axis)


def flip(x: Array, /, *, axis: Axes = None) -> Array:
    """View of an array with the order of elements reversed.

    Parameters
    ----------
    x : Array
        The values, of any dtype.
    axis : int or tuple of int, optional
        The axes to reverse. By default all of them.

    Returns
    -------
    Array
        A view with negated strides.

    Raises
    ------
    TypeError
        If `x` is not an array.
    ValueError
        If an axis is out of bounds or given twice.
    """
    return _flip(x, axis)


def moveaxis(
    x: Array,
    source: int | tuple[int, ...],
    destination: int | tuple[int, ...],
    /,
) -> Array:
    """View of an array with some axes in other places.

    Parameters
    ----------
    x : Array
        The values, of any dtype.
    source : int or tuple of int
        The axes to move.
    destination : int or tuple of int
        Where each of them stands in the result.

    Returns
    -------
    Array
        A view. The axes that are not moved keep their order.

    Raises
    ------
    TypeError
        If `x` is not an array.
    ValueError
        If an axis is out of bounds or given twice, or the numbers of axes differ.
    """
    require_array("moveaxis", x)
    origins = as_axes("moveaxis", source, x.ndim)
    targets = as_axes("moveaxis", destination, x.ndim)
    if len(origins) != len(targets):
        raise ValueError(
            f"moveaxis: {len(origins)} source axes for {len(targets)} destination axes"
        )
    order = [i for i in range(x.ndim) if i not in origins]
    for target, origin in sorted(zip(targets, origins, strict=True)):
        order.insert(target, origin)
    return _permute_dims(x, tuple(order))


def permute_dims(x: Array, /, axes: tuple[int, ...]) -> Array:
    """View of an array with its axes in another order.

    Parameters
    ----------
    x : Array
        The values, of any dtype.
    axes : tuple of int
        For each axis of the result the axis of `x`, counted from the end when negative; each axis
        just once.

    Returns
    -------
    Array
        A view.

    Raises
    ------
    TypeError
        If `x` is not an array.
    ValueError
        If `axes` is not a permutation of the axes of `x`.
    """
    return _permute_dims(x, axes)


def repeat(x: Array, repeats: int | Array, /, *, axis: int | None = None) -> Array:
    """Repeat each element of an array in place.

    Parameters
    ----------
    x : Array
        The values, of any dtype.
    repeats : int or Array
        How often each element stands in the result: one number for all, or a vector of integers,
        one for each place along `axis` or of length 1.
    axis : int, optional
        The axis. By default the flattened array is repeated.

    Returns
    -------
    Array
        The repeated elements, of the shape of `x` but for `axis`.

    Raises
    ------
    TypeError
        If `repeats` is not an integer or an array of integers.
    ValueError
        If a number is negative, their number does not fit, or `axis` is out of bounds.
    """
    return _repeat(x, repeats, axis)


def reshape(x: Array, /, shape: Shape, *, copy: bool | None = None) -> Array:
    """Array of the same elements in another shape.

    Parameters
    ----------
    x : Array
        The values, of any dtype, read in row-major order.
    shape : int or sequence of int
        The new shape. One extent may be -1: it follows from the others.
    copy : bool, optional
        True makes new memory, False makes a view or raises. By default the result is a view where
        the strides of `x` allow one.

    Returns
    -------
    Array
        The elements in the new shape.

    Raises
    ------
    TypeError
        If `x` is not an array.
    ValueError
        If the numbers of elements differ, or `copy` is False and no view exists.

    Examples
    --------
    >>> import ascend_array_api as xp
    >>> xp.reshape(xp.arange(6), (2, -1))
    Array([[0, 1, 2],
           [3, 4, 5]], dtype=int64, device=cpu)
    """
    return _reshape(x, shape, copy)


def roll(x: Array, /, shift: int | tuple[int, ...], *, axis: Axes = None) -> Array:
    """Shift elements along axes, around the end.

    Parameters
    ----------
    x : Array
        The values, of any dtype.
    shift : int or tuple of int
        By how many places, for each axis or for all; negative shifts go towards the front.
    axis : int or tuple of int, optional
        The axes. By default the flattened array is shifted.

    Returns
    -------
    Array
        The shifted values, in the shape of `x`.

    Raises
    ------
    TypeError
        If `x` is not an array, or `shift` or `axis` are not made of integers.
    ValueError
        If the numbers of shifts and axes differ, or an axis is out of bounds.
    """
    return _roll(x, shift, axis)


def squeeze(x: Array, /, axis: int | tuple[int, ...]) -> Array:
    """View of an array without some axes of length 1.

    Parameters
    ----------
    x : Array
        The values, of any dtype.
    axis : int or tuple of int
        The axes to drop.

    Returns
    -------
    Array
        A view without these axes.

    Raises
    ------
    TypeError
        If `x` is not an array.
    ValueError
        If an axis is not of length 1, out of bounds or given twice.
    """
    return _squeeze(x, axis)


def stack(arrays: tuple[Array, ...] | list[Array], /, *, axis: int = 0) -> Array:
    """Join arrays along a new axis.

    Parameters
    ----------
    arrays : tuple or list of Array
        At least one array, all of one shape.
    axis : int, optional
        Where the new axis stands in the result. Default: 0.

    Returns
    -------
    Array
        The joined values, of the dtype to which the arrays promote.

    Raises
    ------
    TypeError
        If an element of `arrays` is not an array, or the dtypes do not promote to one.
    ValueError
        If there is no array, the shapes differ, or `axis` is out of bounds.
    """
    return _stack(arrays, axis)


def tile(x: Array, repetitions: tuple[int, ...], /) -> Array:
    """Lay copies of an array side by side.

    Parameters
    ----------
    x : Array
        The values, of any dtype.
    repetitions : tuple of int
        The number of copies along each axis, counted from the last one. Where there are more
        numbers than axes, `x` gets axes of length 1 in front.

    Returns
    -------
    Array
        The tiled values.

    Raises
    ------
    TypeError
        If `x` is not an array, or `repetitions` is not made of integers.
    ValueError
        If a number is negative.
    """
    return _tile(x, repetitions)


def unstack(x: Array, /, *, axis: int = 0) -> tuple[Array, ...]:
    """Split an array along an axis into views without it.

    Parameters
    ----------
    x : Array
        The values, of any dtype, in at least one dimension.
    axis : int, optional
        The axis. Default: 0.

    Returns
    -------
    tuple of Array
        A view for each place along `axis`.

    Raises
    ------
    TypeError
        If `x` is not an array.
    ValueError
        If `axis` is out of bounds.

    Examples
    --------
    >>> import ascend_array_api as xp
    >>> x, y = xp.unstack(xp.asarray([[1, 2], [3, 4]]), axis=1)
    >>> y
    Array([2, 4], dtype=int64, device=cpu)
    """
    require_array("unstack", x)
    axis = as_axis("unstack", axis, x.ndim)
    before = (slice(None),) * axis
    return tuple(x[(*before, i)] for i in range(x.shape[axis]))
