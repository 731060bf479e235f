"""Memory layouts: the same elements, reached through another view of a larger array.

Each layout is a function from the elements to the array that holds them and the expression of the
view, which is both executed and printed in the reproduction of a failure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

NDArray = npt.NDArray[Any]
Layout = Callable[[NDArray], tuple[NDArray, str]]


def _garbage(a: NDArray, shape: Sequence[int]) -> NDArray:
    """Return an array of values that must never reach a result."""
    kind = a.dtype.kind
    if kind in "fc":
        return np.full(shape, np.nan, a.dtype)
    if kind == "b":
        return np.asarray(np.arange(math.prod(shape)).reshape(shape) % 3 != 0)
    return np.full(shape, np.iinfo(a.dtype).max - 1, a.dtype)


def _key(slices: Iterable[slice]) -> str:
    parts = (
        ":".join("" if v is None else str(v) for v in (s.start, s.stop, s.step)) for s in slices
    )
    return f"x[{', '.join(parts)}]"


def _within(a: NDArray, shape: Sequence[int], key: tuple[slice, ...]) -> tuple[NDArray, str]:
    base = _garbage(a, shape)
    base[key] = a
    return base, _key(key)


def _contiguous(a: NDArray) -> tuple[NDArray, str]:
    return a, "x"


def _reversed(a: NDArray) -> tuple[NDArray, str]:
    if a.ndim == 0:
        return np.stack([_garbage(a, ()), a]), "x[-1, ...]"
    key = (slice(None, None, -1),) * a.ndim
    return a[key], _key(key)


def _strided(a: NDArray) -> tuple[NDArray, str]:
    if a.ndim == 0:
        return _offset(a)
    steps = [2 + (i % 2) for i in range(a.ndim)]
    key = tuple(slice(1, n * s + 1, s) for n, s in zip(a.shape, steps, strict=True))
    return _within(a, [n * s + 1 for n, s in zip(a.shape, steps, strict=True)], key)


def _transposed(a: NDArray) -> tuple[NDArray, str]:
    if a.ndim < 2:
        return _strided(a)
    axes = tuple(reversed(range(a.ndim)))
    return a.transpose(axes), f"xp.permute_dims(x, {axes})"


def _offset(a: NDArray) -> tuple[NDArray, str]:
    if a.ndim == 0:
        return np.stack([_garbage(a, ()), a, _garbage(a, ())]), "x[1, ...]"
    return _within(a, [n + 5 for n in a.shape], tuple(slice(3, 3 + n) for n in a.shape))


def _ladder(a: NDArray) -> tuple[NDArray, str]:
    """Negative strides and gaps on alternate axes."""
    if a.ndim == 0:
        return _offset(a)
    key = tuple(slice(1, 2 * n, 2) if i % 2 else slice(2 * n, 0, -2) for i, n in enumerate(a.shape))
    return _within(a, [2 * n + 1 for n in a.shape], key)


def _same_bits(a: NDArray, b: NDArray) -> bool:
    return a.tobytes() == b.tobytes()


def _broadcast(a: NDArray) -> tuple[NDArray, str]:
    """Strides of zero along every axis whose elements all repeat (see `repeated`)."""
    base = a
    for axis in range(a.ndim):
        first = base[(slice(None),) * axis + (slice(0, 1),)]
        if base.shape[axis] > 1 and _same_bits(base, np.broadcast_to(first, base.shape)):
            base = first
    return (a, "x") if base is a else (base, f"xp.broadcast_to(x, {a.shape})")


LAYOUTS: dict[str, Layout] = {
    "contiguous": _contiguous,
    "reversed": _reversed,
    "strided": _strided,
    "transposed": _transposed,
    "offset": _offset,
    "ladder": _ladder,
    "broadcast": _broadcast,
}


#: Layouts of which every element can be written.
WRITABLE = tuple(name for name in LAYOUTS if name != "broadcast")


def laid(a: NDArray) -> Iterator[tuple[str, NDArray]]:
    """Yield each layout with elements that it can hold: `a`, or for broadcast a repetition."""
    for name in LAYOUTS:
        yield name, repeated(a) if name == "broadcast" else a


def repeated(a: NDArray) -> NDArray:
    """Return `a` with its first axis of several elements filled by the first of them."""
    for axis, n in enumerate(a.shape):
        if n > 1:
            first = a[(slice(None),) * axis + (slice(0, 1),)]
            return np.array(np.broadcast_to(first, a.shape))
    return a
