"""Methods of the array class that are written in Python.

The class itself, its attributes, operators, indexing and conversions come from the core.
"""

from __future__ import annotations

import math
import pickle
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._core import Array
from ._device import dlpack_code, on_host, resolve_device
from ._dtypes import dtype_named, kind_of
from ._types import DeviceLike

_namespace: ModuleType = sys.modules[__name__.rpartition(".")[0]]
_API_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")
_PICKLE_VERSION = 1
_SCALAR_TYPES: dict[str, Callable[[Any], Any]] = {
    "b": bool,
    "i": int,
    "u": int,
    "f": float,
    "c": complex,
}
_DOC = """Array of one dtype, in any number of dimensions up to 64, on one device.

Arrays are made by the creation functions, such as `asarray` and `zeros`. Slices, transposes and
other views share memory with the array they are taken of: writing to one shows in the other.
Operators broadcast shapes and promote dtypes as the functions of the same meaning do.

Attributes
----------
shape : tuple of int
    Extents of the dimensions.
dtype : dtype
    Type of the elements, a ``numpy.dtype``.
device : Device
    Where the elements are.
ndim : int
    Number of dimensions.
size : int
    Number of elements.
T : Array
    View of a matrix with rows and columns exchanged.
mT : Array
    View with the last two dimensions exchanged.
"""


def __array_namespace__(self: Array, /, *, api_version: str | None = None) -> ModuleType:  # noqa: N807
    """Return the namespace of functions for this array.

    Parameters
    ----------
    api_version : str, optional
        A released version of the standard, such as "2025.12". Later versions include the earlier
        ones, so all of them give the same namespace.

    Returns
    -------
    module
        The package ``ascend_array_api``.

    Raises
    ------
    ValueError
        If no such version was released.
    """
    if api_version is not None and api_version not in _API_VERSIONS:
        raise ValueError(
            f"__array_namespace__: unknown version {api_version!r} of the array API standard; "
            f"supported: {', '.join(_API_VERSIONS)}"
        )
    return _namespace


def to_device(self: Array, device: DeviceLike, /, *, stream: Any = None) -> Array:
    """Move the array to a device.

    Parameters
    ----------
    device : Device or str
        Where to put it.
    stream : None
        The CPU devices have no streams.

    Returns
    -------
    Array
        The array itself when it is there already, else a copy.

    Raises
    ------
    ValueError
        If the device is unknown, or `stream` is given.
    TypeError
        If the device lacks the dtype.
    """
    target = resolve_device("to_device", device)
    if stream is not None:
        raise ValueError(f"to_device: {target} has no streams, got stream={stream!r}")
    return _core.to_device(self, target)


def __dlpack__(  # noqa: N807
    self: Array,
    /,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> object:
    """Export the array through DLPack.

    Parameters
    ----------
    stream : None
        The device ``cpu`` has no streams.
    max_version : (int, int), optional
        The highest DLPack version the consumer knows. From 1.0 on the capsule is versioned.
    dl_device : (int, int), optional
        The device type and number the consumer wants. By default that of the array.
    copy : bool, optional
        True exports a copy, False the memory itself. By default memory is shared but for bool,
        which is unpacked to bytes; ``copy=False`` exports bool with one bit an element.

    Returns
    -------
    PyCapsule
        The exported tensor.

    Raises
    ------
    BufferError
        If the device is not available, or `copy` is False and a copy is needed.
    """
    return _core.dlpack(self, stream, max_version, dl_device, copy)


def __dlpack_device__(self: Array, /) -> tuple[int, int]:  # noqa: N807
    """Return the DLPack device type and number, ``(1, 0)`` for the device ``cpu``.

    Returns
    -------
    (int, int)
        The device.
    """
    return dlpack_code(self.device)


def __array__(  # noqa: N807
    self: Array, dtype: npt.DTypeLike | None = None, copy: bool | None = None
) -> npt.NDArray[Any]:
    """Return the array as a NumPy array.

    Parameters
    ----------
    dtype : dtype, optional
        The dtype. By default that of the array.
    copy : bool, optional
        True makes a copy, False shares memory or raises. By default memory is shared where the
        dtype allows, so that what is written to one array shows in the other.

    Returns
    -------
    ndarray
        The values. They are always copied for bool, of which this library packs eight in a byte.

    Raises
    ------
    TypeError
        If the array is on a device whose memory is not the host's: ``x.to_device("cpu")`` copies.
    ValueError
        If `copy` is False and a copy is needed.
    """
    if not on_host(self.device):
        raise TypeError(
            f"__array__: the array is on {self.device}, where NumPy cannot reach it; copy it to "
            'the host with to_device("cpu")'
        )
    converts = dtype is not None and np.dtype(dtype) != self.dtype
    copies = converts or self.dtype == np.bool_
    if copy is False and copies:
        reason = f"conversion to {np.dtype(dtype)}" if converts else "unpacking bool"
        raise ValueError(f"__array__: {reason} needs a copy, which copy=False forbids")
    shared = copy is not True and not copies
    exported = _core.export_buffer(self)
    if converts:
        return exported.astype(dtype)
    return exported if shared or self.dtype == np.bool_ else exported.copy()


def as_numpy(x: Any) -> npt.NDArray[Any]:
    """Return an array of any library as a NumPy array; that of an NPU is copied."""
    return np.asarray(x.to_device("cpu") if isinstance(x, Array) else x)


def _rebuild(
    version: int,
    dtype_name: str,
    shape: tuple[int, ...],
    device: str,
    data: bytes | bytearray | memoryview,
) -> Array:
    """Make an array of what `__reduce_ex__` stored, after checking that it is whole."""
    if type(version) is not int or version != _PICKLE_VERSION:
        raise ValueError(
            f"unpickling an array: layout {version!r} is not known here, only {_PICKLE_VERSION}; "
            "it was written by another version of ascend_array_api"
        )
    dtype = dtype_named(dtype_name) if isinstance(dtype_name, str) else None
    if dtype is None:
        raise ValueError(f"unpickling an array: unknown dtype {dtype_name!r}")
    regular = isinstance(shape, tuple) and all(type(n) is int and n >= 0 for n in shape)
    if not regular or len(shape) > _core.max_dimensions:
        raise ValueError(f"unpickling an array: bad shape {shape!r}")
    try:
        target = resolve_device("unpickling an array", device)
    except ValueError as error:
        raise ValueError(f"{error}; move it with to_device('cpu') before pickling it") from None
    size = math.prod(shape)
    if not isinstance(data, bytes | bytearray | memoryview | pickle.PickleBuffer):
        raise TypeError(f"unpickling an array: {type(data).__name__} holds no elements")
    content = np.frombuffer(data, np.uint8)
    expected = -(-size // 8) if dtype == np.bool_ else size * dtype.itemsize
    if content.size != expected:
        raise ValueError(
            f"unpickling an array: {content.size} bytes for shape {shape} of {dtype}, which takes "
            f"{expected}"
        )
    if dtype == np.bool_:
        values = np.unpackbits(content, count=size, bitorder="little").view(np.bool_)
    else:
        values = content.view(dtype)
    return _core.asarray(values.reshape(shape), None, target, True)


def __reduce_ex__(self: Array, protocol: Any, /) -> tuple[Any, ...]:  # noqa: N807
    """Return how to rebuild the array: its elements in row-major order, bool packed.

    Parameters
    ----------
    protocol : int
        The pickle protocol. From 5 on the elements can travel outside the pickle.

    Returns
    -------
    tuple
        A function and its arguments.
    """
    values = np.ascontiguousarray(_core.export_buffer(self)).reshape(-1)
    if values.dtype == np.bool_:
        values = np.packbits(values, bitorder="little")
    raw = values.view(np.uint8)
    data = pickle.PickleBuffer(raw.data) if protocol >= 5 else raw.tobytes()
    return _rebuild, (_PICKLE_VERSION, self.dtype.name, self.shape, str(self.device), data)


def __complex__(self: Array, /) -> complex:  # noqa: N807
    """Return the only element of a 0-d array as a Python complex number."""
    return _core.to_complex(self)


def __copy__(self: Array) -> Array:  # noqa: N807
    """Return an array with memory of its own."""
    return _core.asarray(self, None, None, True)


def __deepcopy__(self: Array, memo: dict[int, Any], /) -> Array:  # noqa: N807
    """Return an array with memory of its own."""
    return _core.asarray(self, None, None, True)


def _visible(x: Array) -> tuple[npt.NDArray[Any], bool]:
    """Return the elements that are shown, as NumPy, and whether others are left out.

    Of an axis that is shortened one element more than the edges stays, where the ellipsis goes.
    """
    options = np.get_printoptions()
    edge = options["edgeitems"]
    summarised = x.size > options["threshold"]
    if summarised:
        longest_first = sorted(range(x.ndim), key=lambda i: -x.shape[i])
        for axis in longest_first:
            if x.shape[axis] > 2 * edge + 1:
                before = (slice(None),) * axis
                head = x[(*before, slice(edge + 1))]
                # NumPy shows the last element even when the edges have none.
                tail = x[(*before, slice(-max(edge, 1), None))]
                x = _core.concat((head, tail), axis)
    values = _core.export_buffer(x)
    if x.dtype.name == "bfloat16":
        values = values.astype(np.float32)
    return values, summarised


def _show(x: Array, separator: str, prefix: str) -> tuple[str, bool]:
    values, summarised = _visible(x)
    text = np.array2string(
        values,
        separator=separator,
        prefix=prefix,
        suffix=separator.rstrip(),
        threshold=0 if summarised else sys.maxsize,
    )
    return text, summarised


def __repr__(self: Array) -> str:  # noqa: N807
    """Return the values, the dtype and the device; of many values only the edges."""
    prefix = "Array("
    tail = f"dtype={self.dtype.name}, device={self.device})"
    try:
        text, summarised = _show(self, ", ", prefix)
    except Exception as error:  # the operation that should have made the values failed
        return f"{prefix}<{type(error).__name__}: {error}>, shape={self.shape}, {tail}"
    if summarised or (self.size == 0 and self.shape != (0,)):
        tail = f"shape={self.shape}, {tail}"
    head = f"{prefix}{text},"
    last_line = head.rpartition("\n")[2]
    fits = len(last_line) + 1 + len(tail) <= np.get_printoptions()["linewidth"]
    return head + (" " if fits else "\n" + " " * len(prefix)) + tail


def __str__(self: Array) -> str:  # noqa: N807
    """Return the values as NumPy prints them; of many only the edges."""
    try:
        return _show(self, " ", "")[0]
    except Exception as error:  # the operation that should have made the values failed
        return f"<{type(error).__name__}: {error}>"


def __format__(self: Array, spec: str, /) -> str:  # noqa: N807
    """Format the only element of a 0-d array, or any array with an empty specification.

    Parameters
    ----------
    spec : str
        A format specification for Python's bool, int, float or complex.

    Returns
    -------
    str
        The text.

    Raises
    ------
    TypeError
        If `spec` is not empty and the array has dimensions.
    """
    if not spec:
        return str(self)
    if self.ndim:
        raise TypeError(
            f"__format__: the specification {spec!r} needs a 0-d array, got shape {self.shape}"
        )
    return format(_SCALAR_TYPES[kind_of(self.dtype)](self), spec)


def _attach() -> None:
    for method in (
        __array__,
        __array_namespace__,
        __complex__,
        __copy__,
        __deepcopy__,
        __dlpack__,
        __dlpack_device__,
        __format__,
        __reduce_ex__,
        __repr__,
        __str__,
        to_device,
    ):
        method.__qualname__ = f"Array.{method.__name__}"
        setattr(Array, method.__name__, method)
    # NumPy's ufuncs leave operators with our arrays to us; equality is elementwise, so an array
    # cannot be a key.
    for name, value in {
        "__array_ufunc__": None,
        "__hash__": None,
        "__doc__": _DOC,
        "__module__": "ascend_array_api.runtime",
    }.items():
        setattr(Array, name, value)


_attach()
