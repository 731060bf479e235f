"""Indexing: get and set by integers, slices, masks and integer arrays; take and take_along_axis."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .core import ALL, Kit, add, check
from .elementwise import promoted
from .layouts import WRITABLE, NDArray, laid
from .values import samples

CHAPTER = "indexing"

S = slice


def slices(n: int) -> Iterator[slice]:
    """Yield slices within the bounds that the standard specifies for an axis of size `n`."""
    for step in (None, 1, 2, 3, -1, -2, -5):
        back = step is not None and step < 0
        starts = [None, 0, 1, n // 2, n - 1, n, -n, -1]
        stops = [None, 0, n // 2, n - 1, -n, -1, *((-n - 1,) if back else (n,))]
        for i, j in itertools.product(starts, stops):
            ok_start = i is None or -n <= i <= n
            high = max(0, n - 1) if back else n
            ok_stop = j is None or (-n - 1 if back else -n) <= j <= high
            if ok_start and ok_stop:
                yield slice(i, j, step)


#: Keys of rank-3 arrays of shape (4, 5, 6).
KEYS: tuple[Any, ...] = (
    ...,
    (0, 0, 0),
    (-1, -5, 5),
    (1, ...),
    (..., 2),
    (1, ..., 2),
    (S(None), 2, S(None)),
    (S(1, 3), S(None, None, -1), S(0, 6, 2)),
    (S(None, None, -1),) * 3,
    (S(3, 0, -2), 4, S(5, None, -3)),
    (S(2, 2), S(None), S(None)),
    (..., S(1, 4)),
    (S(1, 2), S(1, 2), S(1, 2)),
    (..., -1, S(-3, None)),
    (2, S(None), 3),
)
NEW_AXES: tuple[Any, ...] = (
    (None, ...),
    (..., None),
    (0, None, S(None), None, 2),
    (S(1, 3), None, ..., S(0, 2)),
)
SHAPE = (4, 5, 6)


def _get(dtype: str) -> Callable[[Kit], None]:
    def body(k: Kit) -> None:
        x = samples(dtype, math.prod(SHAPE), k.rng).reshape(SHAPE)
        for layout, v in laid(x):
            y = k.to(v, layout)
            for key in (*KEYS, *NEW_AXES):
                k.same(k.get(y, key), v[key], f"x[{key}], x {dtype}{list(SHAPE)} {layout}")
        for n in (0, 1, 2, 7, 65):
            v = samples(dtype, n, k.rng)
            for layout in ("contiguous", "reversed", "strided"):
                w = k.to(v, layout)
                for s in slices(n):
                    k.same(k.get(w, s), v[s], f"x[{s}], x {dtype}[{n}] {layout}")
                for i in range(-n, n):
                    k.same(k.get(w, i), np.asarray(v[i]), f"x[{i}], x {dtype}[{n}] {layout}")
        zero = samples(dtype, 1, k.rng)[0]
        k.same(k.get(k.to(zero), ()), np.asarray(zero), f"x[()], x 0-d {dtype}")
        k.same(k.get(k.to(zero), ...), np.asarray(zero), f"x[...], x 0-d {dtype}")

    return body


def _values(dtype: str, shape: tuple[int, ...], k: Kit) -> NDArray:
    return samples(dtype, math.prod(shape), k.rng).reshape(shape)


def _set(dtype: str) -> Callable[[Kit], None]:
    def body(k: Kit) -> None:
        scalar = True if dtype == "bool" else 3
        for layout in WRITABLE:
            for key in KEYS:
                x = _values(dtype, SHAPE, k)
                inner = x[key].shape
                for value in (
                    _values(dtype, inner, k),
                    _values(dtype, inner[-1:], k),
                    _values(dtype, (), k),
                    scalar,
                ):
                    want, y = x.copy(), k.to(x, layout)
                    want[key] = value
                    k.put(y, key, value if value is scalar else k.to(value, "reversed"))
                    what = f"x[{key}] = {np.shape(value)}, x {dtype}{list(SHAPE)} {layout}"
                    k.same(y, want, what)
        for n in (1, 9, 65, 513):
            for s in (
                S(None),
                S(1, None),
                S(None, -1),
                S(None, None, 2),
                S(None, None, -1),
                S(n - 1, 0, -3),
            ):
                x = _values(dtype, (n,), k)
                want, y = x.copy(), k.to(x)
                value = _values(dtype, x[s].shape, k)
                want[s] = value
                k.put(y, s, k.to(value, "strided"))
                k.same(y, want, f"x[{s}] = value, x {dtype}[{n}]")
        zero = k.to(_values(dtype, (), k))
        k.put(zero, (), scalar)
        k.same(zero, np.asarray(scalar, dtype), f"x[()] = {scalar}, x 0-d {dtype}")
        y = k.to(_values(dtype, (3, 4), k))
        k.raises(
            lambda: k.put(y, ..., k.to(_values(dtype, (3,), k))),
            "x[...] = shape (3,), x of shape (3, 4)",
        )

    return body


def _mask(dtype: str) -> Callable[[Kit], None]:
    def body(k: Kit) -> None:
        scalar = True if dtype == "bool" else 3
        for shape, rank in (
            ((65,), 1),
            ((513,), 1),
            ((5, 13), 2),
            ((5, 13), 1),
            ((3, 4, 5), 2),
            ((3, 4, 5), 3),
            ((0, 3), 1),
            ((), 0),
            ((4,), 0),
        ):
            for layout in WRITABLE:
                x = _values(dtype, shape, k)
                m = (k.rng.random(math.prod(shape[:rank])) < 0.4).reshape(shape[:rank])
                what = f"x[mask], x {dtype}{list(shape)} {layout}, mask {list(m.shape)}"
                mask = k.to(m, "offset" if rank else "contiguous")
                k.same(k.get(k.to(x, layout), mask), x[m], what)
                want, y = x.copy(), k.to(x, layout)
                want[m] = scalar
                k.put(y, mask, scalar)
                k.same(y, want, what.replace("]", f"] = {scalar}", 1))
        for value in (True, False):
            x = _values(dtype, (70,), k)
            m = np.full(70, value)
            k.same(k.get(k.to(x), k.to(m)), x[m], f"x[all {value}], x {dtype}[70]")
        x = k.to(_values(dtype, (3, 4), k))
        k.raises(
            lambda: k.get(x, k.to(np.ones((3, 5), bool))), "mask (3, 5) of x (3, 4)", IndexError
        )
        k.raises(
            lambda: k.get(x, k.to(np.ones((3, 4, 1), bool))),
            "mask of rank 3 of x of rank 2",
            IndexError,
        )

    return body


def _int_arrays(dtype: str) -> Callable[[Kit], None]:
    def body(k: Kit) -> None:
        index = k.default("indexing")

        def i(values: Any) -> NDArray:
            return np.asarray(values, dtype=index)

        keys: tuple[tuple[tuple[int, ...], tuple[Any, ...]], ...] = (
            ((67,), (i([0, 66, -1, -67, 5, 5]),)),
            ((67,), (i([[1, 2], [3, -4]]),)),
            ((67,), (i([]),)),
            ((4, 5), (i([0, -1, 2]), i([1, 1, -5]))),
            ((4, 5), (i([[0], [3]]), i([1, 2, 4]))),
            ((4, 5), (2, i([0, 4]))),
            ((4, 5), (i([0, 3]), -1)),
            ((4, 5), (i(3), i(-2))),
            ((3, 4, 5), (i([[0], [2]]), i([1, 3]), 4)),
        )
        for shape, key in keys:
            x = _values(dtype, shape, k)
            for layout, v in laid(x):
                raw = tuple(p if isinstance(p, int) else k.to(p, "reversed") for p in key)
                got, what = (
                    k.get(k.to(v, layout), raw),
                    f"x[{key}], x {dtype}{list(shape)} {layout}",
                )
                k.same(got, np.asarray(v[key]), what)
        x = k.to(_values(dtype, (4, 5), k))
        k.raises(
            lambda: k.get(x, (k.to(i([0, 1])), k.to(i([0, 1, 2])))),
            "x[[0, 1], [0, 1, 2]] does not broadcast",
        )

    return body


#: Shapes and axes of take; an axis of None is allowed for one dimension.
TAKES: tuple[tuple[tuple[int, ...], int | None], ...] = (
    ((70,), 0),
    ((70,), None),
    ((4, 33), 0),
    ((4, 33), 1),
    ((3, 4, 5), 1),
    ((3, 4, 5), -1),
    ((2, 2, 1, 2, 6), -1),
)


def _take(dtype: str) -> Callable[[Kit], None]:
    def body(k: Kit) -> None:
        f, index = k.fn("take"), k.default("indexing")
        for shape, axis in TAKES:
            x = _values(dtype, shape, k)
            n = shape[0 if axis is None else axis]
            for m in (0, 1, 9, 65):
                at = k.rng.integers(0, n, m).astype(index)
                for layout, v in laid(x):
                    got = f(k.to(v, layout), k.to(at, "strided"), axis=axis)
                    what = f"take({dtype}{list(shape)} {layout}, [{m}], axis={axis})"
                    k.same(got, np.take(v, at, axis=axis), what)
        k.raises(lambda: f(k.to(x), k.to(at), axis=5), "take(5-d, axis=5)")

    return body


def _take_negative(k: Kit) -> None:
    x = _values("int16", (4, 33), k)
    at = np.array([-1, -33, 32, 0, -5], k.default("indexing"))
    got = k.fn("take")(k.to(x), k.to(at), axis=1)
    k.same(got, np.take(x, at, axis=1), "take with negative indices")


def _take_along(dtype: str) -> Callable[[Kit], None]:
    def body(k: Kit) -> None:
        f, index = k.fn("take_along_axis"), k.default("indexing")
        for shape, axis in TAKES:
            if axis is None:
                continue
            x, s = _values(dtype, shape, k), list(shape)
            s[axis] = 7
            at = k.rng.integers(-shape[axis], shape[axis], math.prod(s)).astype(index).reshape(s)
            for layout, v in laid(x):
                _, i = next(p for p in laid(at) if p[0] == layout)
                got = f(k.to(v, layout), k.to(i, layout), axis=axis)
                what = f"take_along_axis({dtype}{list(shape)} {layout}, axis={axis})"
                k.same(got, np.take_along_axis(v, i, axis), what)
        last = k.to(np.argsort(x, axis=-1).astype(index))
        k.same(f(k.to(x), last), np.sort(x, axis=-1), f"take_along_axis({dtype}, argsort)")

    return body


@check(CHAPTER, "__getitem__", "errors")
def _errors(k: Kit) -> None:
    x = k.to(np.zeros((2, 3), "int32"))
    k.raises(lambda: k.get(x, (0, 0, 0)), "three indices of rank 2", IndexError)
    k.raises(lambda: k.get(x, (..., ...)), "two ellipses", IndexError)
    k.raises(lambda: k.get(k.to(np.asarray(1, "int32")), 0), "an index of rank 0", IndexError)
    k.raises(lambda: k.get(x, np.s_[:, :, :]), "three slices of rank 2", IndexError)


@check(CHAPTER, "__setitem__", "promotion", since="2025.12")
def _set_promotes(k: Kit) -> None:
    for target, value in itertools.product(ALL, ALL):
        if promoted(target, value) != target or not k.has(target, value):
            continue
        x, v = np.zeros(5, target), samples(value, 3, k.rng, "mild")
        y = k.to(x)
        k.put(y, slice(1, 4), k.to(v))
        x[1:4] = v.astype(target)
        k.same(y, x, f"x[1:4] = {value}, x {target}")


for _dtype in ALL:
    add(CHAPTER, "__getitem__", _dtype, _get(_dtype))
    add(CHAPTER, "__setitem__", _dtype, _set(_dtype))
    add(CHAPTER, "__getitem__", f"mask-{_dtype}", _mask(_dtype))
    body = _int_arrays(_dtype)
    add(CHAPTER, "__getitem__", f"integer-arrays-{_dtype}", body, since="2024.12")
    add(CHAPTER, "take", _dtype, _take(_dtype))
    add(CHAPTER, "take_along_axis", _dtype, _take_along(_dtype))
add(CHAPTER, "take", "negative", _take_negative, since="2024.12")
