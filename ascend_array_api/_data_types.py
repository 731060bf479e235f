"""Data type functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _dtypes
from ._core import (
    Array,
    astype as _astype,
    can_cast as _can_cast,
    result_type as _result_type,
)
from ._types import DeviceLike, DType, Scalar

__all__ = ["astype", "can_cast", "finfo", "iinfo", "isdtype", "result_type"]


@dataclass(frozen=True, slots=True)
class FloatInfo:
    """Limits of a floating-point dtype, as `finfo` gives them.

    Attributes
    ----------
    bits : int
        Bits of one real component.
    eps : float
        Difference of 1 and the next larger value.
    max : float
        Largest finite value.
    min : float
        Smallest finite value, ``-max``.
    smallest_normal : float
        Smallest positive value of full precision.
    dtype : dtype
        The real floating-point dtype described.
    """

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


@dataclass(frozen=True, slots=True)
class IntegerInfo:
    """Limits of an integer dtype, as `iinfo` gives them.

    Attributes
    ----------
    bits : int
        Bits of one value.
    max : int
        Largest value.
    min : int
        Smallest value.
    dtype : dtype
        The dtype described.
    """

    bits: int
    max: int
    min: int
    dtype: DType


def astype(
    x: Array, dtype: DType, /, *, copy: bool = True, device: DeviceLike | None = None
) -> Array:
    """Convert an array to a dtype.

    Parameters
    ----------
    x : Array
        The values.
    dtype : dtype
        The dtype of the result.
    copy : bool, optional
        Whether the result has memory of its own even when `x` has this dtype already. With False
        `x` itself is returned then.
    device : Device or str, optional
        Where to put the result. By default it stays on the device of `x`.

    Returns
    -------
    Array
        The converted values, in the shape of `x`.

    Raises
    ------
    TypeError
        If `x` is not an array, `dtype` is not a supported dtype, or the conversion would drop
        imaginary parts; take `real` first where that is meant.
    ValueError
        If the device is unknown.

    Notes
    -----
    To bool: zeros give False, everything else True, ``nan`` included. To integers: fractions are
    cut off, values out of range give the nearest limit, and ``nan`` gives 0.
    """
    return _astype(x, dtype, copy, device)


def can_cast(from_: DType | Array, to: DType, /) -> bool:
    """Test whether the promotion rules lead from one dtype to another.

    Parameters
    ----------
    from_ : dtype or Array
        The dtype to convert, or an array of it.
    to : dtype
        The dtype to convert to.

    Returns
    -------
    bool
        True when the two promote to `to`.

    Raises
    ------
    TypeError
        If an argument is not a supported dtype.
    """
    return _can_cast(from_, to)


def _dtype_of(function: str, type: DType | Array) -> DType:
    return type.dtype if isinstance(type, Array) else _dtypes.as_dtype(function, type)


def finfo(type: DType | Array, /) -> FloatInfo:
    """Limits of a floating-point dtype.

    Parameters
    ----------
    type : dtype or Array
        A floating-point dtype or an array of it. A complex one stands for its components.

    Returns
    -------
    FloatInfo
        An object with the attributes ``bits``, ``eps``, ``max``, ``min``, ``smallest_normal``
        (Python numbers) and ``dtype``.

    Raises
    ------
    TypeError
        If the dtype is not floating-point.

    Notes
    -----
    With ``p`` bits of precision and the largest exponent ``e``, ``eps`` is ``2**(1 - p)``, ``max``
    is ``(2 - eps) * 2**e`` and ``smallest_normal`` is ``2**(1 - e)``.

    Examples
    --------
    >>> import ascend_array_api as xp
    >>> xp.finfo(xp.float64).eps
    2.220446049250313e-16
    """
    dtype = _dtypes.real_part(_dtype_of("finfo", type))
    layout = _dtypes.FLOAT_FORMATS.get(dtype.name)
    if layout is None:
        raise TypeError(f"finfo: expected a floating-point dtype, got {dtype}; see iinfo")
    eps = 2.0 ** (1 - layout.precision)
    largest = (2 - eps) * 2.0**layout.max_exponent
    return FloatInfo(
        bits=dtype.itemsize * 8,
        eps=eps,
        max=largest,
        min=-largest,
        smallest_normal=2.0 ** (1 - layout.max_exponent),
        dtype=dtype,
    )


def iinfo(type: DType | Array, /) -> IntegerInfo:
    """Limits of an integer dtype.

    Parameters
    ----------
    type : dtype or Array
        An integer dtype or an array of it.

    Returns
    -------
    IntegerInfo
        An object with the attributes ``bits``, ``max``, ``min`` (Python integers) and ``dtype``.

    Raises
    ------
    TypeError
        If the dtype is not an integer one.
    """
    dtype = _dtype_of("iinfo", type)
    if dtype.kind not in "iu":
        raise TypeError(f"iinfo: expected an integer dtype, got {dtype}; see finfo")
    bits = dtype.itemsize * 8
    lowest = -(2 ** (bits - 1)) if dtype.kind == "i" else 0
    return IntegerInfo(bits=bits, max=lowest + 2**bits - 1, min=lowest, dtype=dtype)


def _is_kind(dtype: DType, kind: object) -> bool:
    if isinstance(kind, str):
        characters = _dtypes.KINDS.get(kind)
        if characters is None:
            known = ", ".join(repr(name) for name in _dtypes.KINDS)
            raise ValueError(f"isdtype: unknown kind {kind!r}; known: {known}, a dtype, or a tuple")
        return _dtypes.kind_of(dtype) in characters
    if not isinstance(kind, np.dtype):
        raise TypeError(f"isdtype: a kind is a string, a dtype or a tuple of them, got {kind!r}")
    return dtype == kind


def isdtype(dtype: DType, kind: DType | str | tuple[DType | str, ...]) -> bool:
    """Test whether a dtype is of a kind.

    Parameters
    ----------
    dtype : dtype
        The dtype to test.
    kind : str or dtype or tuple of them
        "bool", "signed integer", "unsigned integer", "integral", "real floating",
        "complex floating", "numeric", or one dtype. A tuple stands for any of its members.

    Returns
    -------
    bool
        True when `dtype` is of the kind.

    Raises
    ------
    TypeError
        If `dtype` is not a dtype.
    ValueError
        If a kind is unknown.

    Examples
    --------
    >>> import ascend_array_api as xp
    >>> xp.isdtype(xp.int16, ("bool", "integral"))
    True
    """
    if not isinstance(dtype, np.dtype):
        dtype = _dtypes.as_dtype("isdtype", dtype)
    if isinstance(kind, tuple):
        # A list, so that an unknown kind is an error wherever it stands in the tuple.
        return any([_is_kind(dtype, k) for k in kind])
    return _is_kind(dtype, kind)


def result_type(*arrays_and_dtypes: Array | Scalar | bool | np.dtype[Any]) -> DType:
    """Dtype to which arrays, dtypes and scalars promote together.

    Parameters
    ----------
    *arrays_and_dtypes : Array or dtype or bool or int or float or complex
        At least one array or dtype. Python scalars take the dtype of the others within their kind.

    Returns
    -------
    dtype
        The promoted dtype.

    Raises
    ------
    TypeError
        If the arguments do not promote to one dtype.
    ValueError
        If there is neither an array nor a dtype; in relaxed mode Python scalars alone have the
        dtypes that `asarray` gives them.

    Examples
    --------
    >>> import ascend_array_api as xp
    >>> xp.result_type(xp.uint8, xp.int8)
    dtype('int16')
    >>> xp.result_type(xp.float32, 1j)
    dtype('complex64')
    """
    return _result_type(*arrays_and_dtypes)
