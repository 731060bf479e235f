"""argmax, argmin, nonzero, where (searchsorted is with sorting)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np

from .core import ALL, REAL, REAL_FLOATING, SHAPES, SIZES, Kit, add, check
from .elementwise import promoted
from .layouts import NDArray, laid
from .values import samples

CHAPTER = "searching"


def _tied(dtype: str, n: int, k: Kit) -> NDArray:
    """Return values of which several share the maximum and the minimum; no NaN."""
    x = samples(dtype, n, k.rng)
    if dtype in REAL_FLOATING:
        x = np.where(np.isnan(x), np.zeros((), dtype), x)
    if n > 3:
        at = k.rng.integers(0, n, 6)
        x[at[:3]], x[at[3:]] = x.max(), x.min()
    return np.asarray(x)


def _first(x: NDArray, largest: bool) -> int:
    """Return the first index of the extreme value."""
    best = 0
    for i, v in enumerate(x.tolist()):
        if (v > x[best]) if largest else (v < x[best]):
            best = i
    return best


def _firsts(x: NDArray, axis: int | None, largest: bool, keep: bool) -> NDArray:
    """Return the first indices of the extremes along an axis."""
    if axis is None:
        return np.asarray(_first(x.reshape(-1), largest)).reshape((1,) * x.ndim if keep else ())
    want = np.apply_along_axis(_first, axis, x, largest) if x.size else np.zeros((0,))
    return np.expand_dims(want, axis) if keep else want


def _arg(name: str, dtype: str) -> Callable[[Kit], None]:
    largest = name == "argmax"

    def body(k: Kit) -> None:
        f, out = k.fn(name), k.default("indexing")
        for n in SIZES[1:]:
            x = _tied(dtype, n, k)
            k.same(f(k.to(x)), np.asarray(_first(x, largest), out), f"{name}({dtype}[{n}])")
        for shape, axis in (
            ((5, 70), 0),
            ((5, 70), 1),
            ((70, 5), -2),
            ((3, 9, 4), 1),
            ((2, 3, 2, 33), -1),
            ((4, 6), None),
            ((0, 3), 1),
            ((2, 1, 2, 1, 2, 1, 2, 9), -1),
        ):
            x = _tied(dtype, math.prod(shape), k).reshape(shape)
            for layout, v in laid(x):
                keep = len(layout) % 2 == 0
                got = f(k.to(v, layout), axis=axis, keepdims=keep)
                what = f"{name}({dtype}{list(shape)}, axis={axis}, keepdims={keep}, {layout})"
                k.same(got, _firsts(v, axis, largest, keep).astype(out), what)
        k.raises(lambda: f(k.to(np.ones((2, 2), dtype)), axis=2), f"{name}(2-d, axis=2)")

    return body


def _nonzero(dtype: str) -> Callable[[Kit], None]:
    def body(k: Kit) -> None:
        f, out = k.fn("nonzero"), k.default("indexing")
        for shape in (*((n,) for n in SIZES), *k.shapes(SHAPES[1:])):
            n = math.prod(shape)
            x = np.where(k.rng.random(n) < 0.4, samples(dtype, n, k.rng), np.zeros((), dtype))
            x = x.astype(dtype).reshape(shape)
            for layout, v in laid(x):
                got = f(k.to(v, layout))
                what = f"nonzero({dtype}{list(shape)}, {layout})"
                k.true(
                    isinstance(got, tuple) and len(got) == len(shape),
                    f"{what}: a tuple of {len(shape)} arrays",
                )
                for g, w in zip(got, np.nonzero(v), strict=True):
                    k.same(g, w.astype(out), what)
        k.raises(lambda: f(k.to(np.ones((), dtype))), "nonzero(0-d)")

    return body


def _where(dtype: str) -> Callable[[Kit], None]:
    def body(k: Kit) -> None:
        f = k.fn("where")
        for shape in (*((n,) for n in SIZES), *k.shapes(SHAPES)):
            n = math.prod(shape)
            c = (k.rng.random(n) < 0.5).reshape(shape)
            a, b = (samples(dtype, n, k.rng).reshape(shape) for _ in range(2))
            for (layout, v), (other, m) in zip(
                laid(a), [*laid(c)][2:] + [*laid(c)][:2], strict=True
            ):
                got = f(k.to(m, other), k.to(v, layout), k.to(b))
                k.same(got, np.where(m, v, b), f"where({dtype}{list(shape)}, {other}, {layout})")
        c = np.array([[True], [False], [True]])
        a, b = samples(dtype, 5, k.rng), samples(dtype, 1, k.rng)
        k.same(
            f(k.to(c), k.to(a), k.to(b)), np.where(c, a, b), f"where([3,1], {dtype}[5], {dtype}[1])"
        )
        scalar = True if dtype == "bool" else 2
        s = np.asarray(scalar, dtype)
        k.same(f(k.to(c), k.to(a), scalar), np.where(c, a, s), f"where(cond, {dtype}, {scalar})")
        k.same(f(k.to(c), scalar, k.to(a)), np.where(c, s, a), f"where(cond, {scalar}, {dtype})")
        k.raises(
            lambda: f(k.to(np.ones(3, bool)), k.to(np.ones(4, dtype)), k.to(np.ones(3, dtype))),
            "where of shapes (3,), (4,), (3,)",
        )

    return body


@check(CHAPTER, "where", "promotion")
def _where_promotes(k: Kit) -> None:
    f = k.fn("where")
    c = np.array([True, False, True])
    for a, b in itertools.product(ALL, ALL):
        joint = promoted(a, b)
        if joint is None or not k.has(a, b, joint):
            continue
        x, y = samples(a, 3, k.rng, "mild"), samples(b, 3, k.rng, "mild")
        k.same(
            f(k.to(c), k.to(x), k.to(y)),
            np.where(c, x.astype(joint), y.astype(joint)),
            f"where(cond, {a}, {b})",
        )


for _dtype in REAL:
    add(CHAPTER, "argmax", _dtype, _arg("argmax", _dtype))
    add(CHAPTER, "argmin", _dtype, _arg("argmin", _dtype))
for _dtype in ALL:
    add(CHAPTER, "nonzero", _dtype, _nonzero(_dtype))
    add(CHAPTER, "where", _dtype, _where(_dtype))
