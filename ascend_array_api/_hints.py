"""What a program says of its arrays: that one is finished, and how one will be used."""

from __future__ import annotations

import warnings
from typing import Literal, TypeAlias

from . import _core
from ._core import Array

Hint: TypeAlias = Literal[
    "temporary", "sequential_access", "reduce_output", "transposed", "conv_weight"
]


def reuse_buffer(x: Array, /) -> None:
    """Declare an array finished, so that its memory serves other arrays at once.

    What was recorded before still reads the array; then its memory goes back to the pool, whatever
    variables still name it. A value that was recorded and that only `x` asked for is not stored at
    all.

    Parameters
    ----------
    x : Array
        The array. It, its views and everything that shares its memory are finished with it.

    Raises
    ------
    TypeError
        If `x` is not an array.
    ValueError
        If another owner shares the memory: it was exported (`numpy.asarray` without a copy, a
        buffer, DLPack) and the consumer has not let go, or it was imported without a copy.
    RuntimeError
        If `x` is finished already. Every later use of `x` or of an array that shares its memory
        raises it, too.

    Notes
    -----
    A deferred copy (``asarray(x, copy=True)``) is not `x`: it keeps its values. On a Python without
    the interpreter's lock the array is finished as well, but its memory goes back with the last
    variable that names it; a RuntimeWarning says so.

    Examples
    --------
    >>> import ascend_array_api as xp
    >>> from ascend_array_api import runtime
    >>> x = xp.ones(1000)
    >>> y = x + 1
    >>> runtime.reuse_buffer(x)
    >>> y[0]
    Array(2., dtype=float64, device=cpu)
    >>> x
    Array(<RuntimeError: __array__: the memory of the array was given back by reuse_buffer; \
it, its views and what shares its memory cannot be used any more>, shape=(1000,), \
dtype=float64, device=cpu)
    """
    if not _core.reuse_buffer(x):
        warnings.warn(
            "reuse_buffer: this Python has no global interpreter lock, so that other threads may "
            "be reading x; its memory goes back when the last variable that names it is gone",
            RuntimeWarning,
            stacklevel=2,
        )


def set_hint(x: Array, hint: Hint, /) -> Array:
    """Say how an array will be used. Values never depend on it.

    Parameters
    ----------
    x : Array
        The array. Views share hints, since they belong to the memory.
    hint : str
        One of

        ``"temporary"``
            `x` is read by one more operation at most. Where that is recorded, and its result has
            the shape and dtype of `x`, the result takes the memory of `x`, unless other arrays
            share it. After that `x` cannot be read: RuntimeError.
        ``"sequential_access"``
            `x` is large and written or read in order, once: its results are written past the
            caches, and its elements fetched ahead, from 64 KiB on rather than from the size of
            the last cache.
        ``"reduce_output"``
            `x` goes into a reduction: both run as one program even where a variance has to
            compute elements twice that are costly, so that `x` is not stored unless someone
            holds it.
        ``"transposed"``
            `x` is read again and again with its last two axes exchanged, as in ``x.T @ y`` and
            ``x.T + y``: it is laid out that way in memory, where it is computed or, if it has
            been, now. That takes longer than one such reading saves. For arrays whose memory no
            other array shares.
        ``"conv_weight"``
            `x` is the second factor of many products. It is packed for them once; a write to it
            drops the packed copy. The copy takes about as much memory as `x`.

    Returns
    -------
    Array
        `x` itself.

    Raises
    ------
    TypeError
        If `x` is not an array or `hint` not a string.
    ValueError
        If the hint is unknown, or needs a matrix and `x` has less than 2 dimensions.
    RuntimeError
        If `x` was given back by `reuse_buffer`.

    Warns
    -----
    RuntimeWarning
        Where the hint can have no effect; then it is not kept.

    See Also
    --------
    get_hints : The hints of an array.

    Examples
    --------
    >>> import ascend_array_api as xp
    >>> from ascend_array_api import runtime
    >>> weight = runtime.set_hint(xp.ones((256, 256)), "conv_weight")
    >>> runtime.get_hints(weight)
    ('conv_weight',)
    """
    reason = _core.set_hint(x, hint)
    if reason is not None:
        warnings.warn(f"set_hint: {hint!r} has no effect: {reason}", RuntimeWarning, stacklevel=2)
    return x


def get_hints(x: Array, /) -> tuple[str, ...]:
    """Return the hints of an array.

    Parameters
    ----------
    x : Array
        The array.

    Returns
    -------
    tuple of str
        Every hint that was set on the array or on one that shares its memory.

    Raises
    ------
    TypeError
        If `x` is not an array.
    """
    return tuple(_core.get_hints(x))
