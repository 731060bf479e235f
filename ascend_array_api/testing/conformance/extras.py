"""What users of NumPy-like libraries expect beyond the standard: views that alias, in-place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .core import ALL, NUMERIC, REAL_FLOATING, Kit, add, check
from .layouts import LAYOUTS, NDArray
from .values import samples

CHAPTER = "extras"

VIEWS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[NDArray], NDArray]]] = {
    "slice": (lambda xp, x: x[1:, ::2], lambda a: a[1:, ::2]),
    "reversed": (lambda xp, x: x[::-1, ::-1], lambda a: a[::-1, ::-1]),
    "row": (lambda xp, x: x[2, :], lambda a: a[2, :]),
    "new axis": (lambda xp, x: x[None, :, 1:], lambda a: a[None, :, 1:]),
    "T": (lambda xp, x: x.T, lambda a: a.T),
    "mT": (lambda xp, x: x.mT, lambda a: a.T),
    "permute_dims": (lambda xp, x: xp.permute_dims(x, (1, 0)), lambda a: a.T),
    "expand_dims": (lambda xp, x: xp.expand_dims(x, axis=1), lambda a: a[:, None]),
    "reshape": (lambda xp, x: xp.reshape(x, (-1,)), lambda a: a.reshape(-1)),
    "squeeze": (lambda xp, x: xp.squeeze(x[1:2, :], 0), lambda a: a[1]),
    "moveaxis": (lambda xp, x: xp.moveaxis(x, 0, 1), lambda a: a.T),
}


def _alias(name: str, dtype: str) -> Callable[[Kit], None]:
    def body(k: Kit) -> None:
        of, ref = VIEWS[name]
        a = samples(dtype, 7 * 11, k.rng).reshape(7, 11)
        x = k.to(a)
        v, w = of(k.xp, x), ref(a)
        k.same(v, w, f"{name} of {dtype}")
        value = True if dtype == "bool" else 3
        v[...] = value
        w[...] = value
        k.same(x, a, f"x after a write through its view by {name}, {dtype}")

    return body


@check(CHAPTER, "overlap", "shifted writes", "extra")
def _overlap(k: Kit) -> None:
    for dtype in ALL:
        for n in (2, 9, 65, 600, 5000):
            a = samples(dtype, n, k.rng)
            for to, of in (
                (np.s_[1:], np.s_[:-1]),
                (np.s_[:-1], np.s_[1:]),
                (np.s_[::-1], np.s_[:]),
            ):
                x, want = k.to(a), a.copy()
                want[to] = a[of]
                x[to] = x[of]
                k.same(x, want, f"x[{to}] = x[{of}], {dtype}[{n}]")
    for dtype in NUMERIC:
        a = samples(dtype, 81, k.rng, "mild").reshape(9, 9)
        x = k.to(a)
        x += x.T
        k.same(x, a + a.T, f"x += x.T, {dtype}", signs=False)


@check(CHAPTER, "in-place", "through views", "extra")
def _in_place(k: Kit) -> None:
    for dtype in NUMERIC:
        a = samples(dtype, 60, k.rng, "mild").reshape(6, 10)
        for layout in LAYOUTS:
            x = k.to(a, layout)
            alias = x
            part = x[1:5, ::-2]
            part += k.xp.ones((4, 5), dtype=k.dtype(dtype))
            want = a.copy()
            want[1:5, ::-2] += np.ones((4, 5), dtype)
            k.same(x, want, f"x after += on x[1:5, ::-2], {dtype} {layout}")
            k.true(alias is x, "x is still x")


@check(CHAPTER, "statistics", "float32 accumulation", "extra")
def _accumulation(k: Kit) -> None:
    n = 1 << 20
    x = (k.rng.random(n) + 1000).astype("float32")
    w = x.astype(np.longdouble)
    for name, want in (
        ("mean", np.mean(w)),
        ("var", np.var(w)),
        ("std", np.std(w)),
        ("sum", np.sum(w)),
    ):
        k.near(
            k.fn(name)(k.to(x)),
            np.asarray(want),
            "float32",
            16.0,
            f"{name}(float32[{n}], all near 1000)",
        )


@check(CHAPTER, "isin", "nan", "extra")
def _isin_nan(k: Kit) -> None:
    for dtype in REAL_FLOATING:
        x = np.array([np.nan, 1, -0.0], dtype)
        got = k.fn("isin")(k.to(x), k.to(np.array([np.nan, 0.0], dtype)))
        k.same(got, np.array([False, False, True]), f"isin({dtype} with NaN)")


for _name in VIEWS:
    for _dtype in ALL:
        add(CHAPTER, _name, _dtype, _alias(_name, _dtype), "extra")
