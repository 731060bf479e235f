"""Arrow's C data interface: arrays to and from other libraries, without a copy."""

from __future__ import annotations

from typing import Any

from . import _core
from ._core import Array


class ArrowArray:
    """The elements of an array, for libraries that take objects with ``__arrow_c_array__``.

    `to_arrow` makes it. It can be handed over any number of times.
    """

    __slots__ = ("_snapshot",)
    _snapshot: Array

    def __init__(self) -> None:
        raise TypeError("ArrowArray: made by to_arrow only")

    def __arrow_c_schema__(self) -> object:
        """Return the type.

        Returns
        -------
        PyCapsule
            Named "arrow_schema".
        """
        return _core.arrow_schema(self._snapshot)

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """Return the type and the elements.

        Parameters
        ----------
        requested_schema : PyCapsule, optional
            Another type that the consumer would like. Arrow lets producers ignore it, as is done
            here: convert with `astype` before.

        Returns
        -------
        (PyCapsule, PyCapsule)
            Named "arrow_schema" and "arrow_array".
        """
        return self.__arrow_c_schema__(), _core.arrow_array(self._snapshot)

    def __len__(self) -> int:
        return self._snapshot.size

    def __repr__(self) -> str:
        return f"ArrowArray({self._snapshot.dtype.name}, {len(self)} elements)"


def to_arrow(x: Array, /, *, copy: bool | None = None) -> ArrowArray:
    """Hand an array to libraries of Apache Arrow, such as pyarrow, Polars, DuckDB and pandas.

    Parameters
    ----------
    x : Array
        An array of one dimension; of dtype bool, an integer dtype, float16, float32 or float64.
    copy : bool, optional
        True copies the elements, False raises where that is needed. By default they are shared
        where they lie side by side on the CPU, and no other library can write to them.

    Returns
    -------
    ArrowArray
        An object for the constructors of these libraries. What is written to `x` later does not
        show in it: the first write gives `x` memory of its own.

    Raises
    ------
    TypeError
        If `x` is no array, or Arrow has no such type.
    ValueError
        If `x` has not one dimension.
    BufferError
        If `copy` is False and a copy is needed.

    See Also
    --------
    from_arrow : The other way.

    Notes
    -----
    bool is packed in Arrow as it is here, so that it is shared, too, from any bit on. The layout is
    that of `Arrow's C data interface <https://arrow.apache.org/docs/format/CDataInterface.html>`_.

    Examples
    --------
    >>> import ascend_array_api as xp
    >>> from ascend_array_api import runtime
    >>> runtime.to_arrow(xp.arange(5) > 2)
    ArrowArray(bool, 5 elements)
    """
    snapshot = _core.arrow_snapshot(x, copy)
    result = object.__new__(ArrowArray)
    result._snapshot = snapshot
    return result


def from_arrow(obj: Any, /, *, copy: bool | None = None) -> Array:
    """Make an array of one of Apache Arrow's libraries.

    Parameters
    ----------
    obj : object
        An object with the method ``__arrow_c_array__``, without nulls: a ``pyarrow.Array``, for
        example. Its type is bool, an integer type, float16, float32 or float64.
    copy : bool, optional
        True copies the elements, False raises where that is needed. By default they are shared,
        unless they are not aligned for the CPU.

    Returns
    -------
    Array
        An array of one dimension on the device ``cpu``. It is read-only where it shares memory, for
        Arrow's memory never changes; ``asarray(x, copy=True)`` can be written.

    Raises
    ------
    TypeError
        If `obj` has no such method, or is of another type.
    ValueError
        If elements are null.
    BufferError
        If what the method returns is not valid, or `copy` is False and a copy is needed.

    See Also
    --------
    to_arrow : The other way.

    Notes
    -----
    An Arrow array that was made on the memory of a NumPy array without a copy takes part in Arrow's
    rule: nobody may write to that memory any more.

    Examples
    --------
    >>> import ascend_array_api as xp
    >>> from ascend_array_api import runtime
    >>> runtime.from_arrow(runtime.to_arrow(xp.asarray([1.5, 2.5])))
    Array([1.5, 2.5], dtype=float64, device=cpu)
    """
    export = getattr(obj, "__arrow_c_array__", None)
    if export is None:
        raise TypeError(
            f"from_arrow: {type(obj).__name__} has no method __arrow_c_array__; of data in several "
            "chunks take one, or combine them"
        )
    capsules = export()
    if not (isinstance(capsules, tuple) and len(capsules) == 2):
        raise TypeError(
            f"from_arrow: __arrow_c_array__ returned no pair: {type(capsules).__name__}"
        )
    return _core.from_arrow(*capsules, copy)
