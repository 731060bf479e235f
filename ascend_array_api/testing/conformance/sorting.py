"""sort, argsort, searchsorted and the set functions."""

from __future__ import annotations

import bisect
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from .core import ALL, FLOATING, INTEGRAL, REAL, REAL_FLOATING, SIZES, Kit, add, check
from .layouts import NDArray, laid
from .values import samples

CASES = (
    ((70,), -1),
    ((5, 33), 0),
    ((5, 33), 1),
    ((33, 5), -2),
    ((3, 9, 4), 1),
    ((2, 2, 2, 17), -1),
    ((0, 3), 1),
    ((3, 0), 1),
)


def _data(dtype: str, n: int, k: Kit, ties: bool) -> NDArray:
    """Return values without NaN and signed zeros, whose order the standard leaves open."""
    x = samples(dtype, n, k.rng)
    if ties:
        x = np.resize(x[: max(1, n // 5)], n)
        k.rng.shuffle(x)
    if dtype in REAL_FLOATING:
        x = np.where(np.isnan(x) | (x == 0), np.asarray(2.5, dtype), x)
    return np.asarray(x.astype(dtype))


def _order(x: NDArray, descending: bool) -> list[int]:
    """Return the stable order of a 1-d array by Python's own sort."""
    values = x.tolist()
    return sorted(range(len(values)), key=values.__getitem__, reverse=descending)


def _sort(name: str, dtype: str) -> Callable[[Kit], None]:
    def want(x: NDArray, axis: int, descending: bool, out: str) -> NDArray:
        def one(v: NDArray) -> NDArray:
            order = np.array(_order(v, descending), dtype=np.intp)
            return np.asarray(v[order] if name == "sort" else order)

        if x.size == 0:
            return np.zeros(x.shape, out)
        return np.apply_along_axis(one, axis, x).astype(out)

    def body(k: Kit) -> None:
        f = k.fn(name)
        out = dtype if name == "sort" else k.default("indexing")
        for n in SIZES:
            for ties in (False, True):
                x = _data(dtype, n, k, ties)
                for descending in (False, True):
                    what = (
                        f"{name}({dtype}[{n}], descending={descending}{', ties' if ties else ''})"
                    )
                    k.same(f(k.to(x), descending=descending), want(x, -1, descending, out), what)
        for shape, axis in CASES:
            x = _data(dtype, math.prod(shape), k, True).reshape(shape)
            for layout, v in laid(x):
                descending = len(layout) % 2 == 0
                got = f(k.to(v, layout), axis=axis, descending=descending)
                what = f"{name}({dtype}{list(shape)}, {axis=}, {descending=}, {layout})"
                k.same(got, want(v, axis, descending, out), what)
        x = _data(dtype, 300, k, True)
        for descending in (False, True):
            got = k.back(f(k.to(x), stable=False, descending=descending))
            got = got if name == "sort" else x[got]
            k.true(
                np.array_equal(got, x[_order(x, descending)]),
                f"{name}({dtype}, stable=False, descending={descending})",
            )
        y = k.to(x)
        f(y)
        k.same(y, x, f"the input of {name}({dtype}) afterwards")
        k.raises(lambda: f(k.to(np.ones((2, 2), dtype)), axis=2), f"{name}(2-d, axis=2)")

    return body


def _sorted_search(dtype: str) -> Callable[[Kit], None]:
    def body(k: Kit) -> None:
        f, out = k.fn("searchsorted"), k.default("indexing")
        for n in SIZES:
            x = np.sort(_data(dtype, n, k, n % 2 == 0))
            v = np.concatenate([_data(dtype, 40, k, False), x[:20], x[-3:]])[: 4 * (n + 8)]
            values = x.tolist()
            for side, find in (("left", bisect.bisect_left), ("right", bisect.bisect_right)):
                want = np.array([find(values, e) for e in v.tolist()], dtype=out)
                k.same(
                    f(k.to(x), k.to(v), side=side),
                    want,
                    f"searchsorted({dtype}[{n}], [{v.size}], side={side})",
                )
                k.same(
                    f(k.to(x, "reversed"), k.to(v, "strided"), side=side),
                    want,
                    f"searchsorted({dtype}[{n}] reversed, strided, side={side})",
                )
        x = np.sort(_data(dtype, 33, k, True))
        v = _data(dtype, 24, k, False).reshape(2, 3, 4)
        want = np.array([bisect.bisect_left(x.tolist(), e) for e in v.reshape(-1).tolist()], out)
        k.same(f(k.to(x), k.to(v)), want.reshape(2, 3, 4), f"searchsorted({dtype}[33], [2,3,4])")
        k.same(f(k.to(x), k.to(v[0, 0, 0])), want[0], f"searchsorted({dtype}[33], 0-d)")
        k.same(
            f(k.to(x), 3),
            np.asarray(bisect.bisect_left(x.tolist(), 3), out),
            f"searchsorted({dtype}[33], 3)",
        )
        mixed = _data(dtype, 33, k, True)
        order = np.array(_order(mixed, False), dtype=out)
        values = mixed[order].tolist()
        want = np.array([bisect.bisect_right(values, e) for e in v.reshape(-1).tolist()], out)
        got = f(k.to(mixed), k.to(v), side="right", sorter=k.to(order))
        k.same(got, want.reshape(v.shape), f"searchsorted({dtype}[33], [2,3,4], sorter)")

    return body


# ---------------------------------------------------------------- sets


def _set_data(dtype: str, n: int, k: Kit) -> NDArray:
    x = samples(dtype, n, k.rng)
    x = np.resize(x[: max(1, n // 3)], n)
    k.rng.shuffle(x)
    return np.asarray(x.astype(dtype))


def _key(v: Any) -> Any:
    """Return what identifies a value: NaNs are all distinct, zeros all alike."""
    return object() if v != v else v + 0


def _unique(name: str, dtype: str) -> Callable[[Kit], None]:
    fields = {
        "unique_all": ("values", "indices", "inverse_indices", "counts"),
        "unique_counts": ("values", "counts"),
        "unique_inverse": ("values", "inverse_indices"),
        "unique_values": (),
    }[name]

    def one(k: Kit, x: NDArray, layout: str) -> None:
        what = f"{name}({dtype}{list(x.shape)}, {layout})"
        result = k.fn(name)(k.to(x, layout))
        flat = x.reshape(-1).tolist()
        counts = Counter(_key(v) for v in flat)
        n, index = len(counts), k.default("indexing")
        part = {"values": result} if not fields else {}
        for i, field in enumerate(fields):
            k.true(getattr(result, field) is result[i], f"{what}: field {field} at {i}")
            part[field] = result[i]
        k.shaped(part["values"], (n,), dtype, f"{what}.values")
        values = k.back(part["values"])
        found = Counter(_key(v) for v in values.tolist() if v == v)
        k.true(
            found == Counter({v: 1 for v in counts if type(v) is not object}),
            f"{what}: wrong values {values!r}",
        )
        if "counts" in part:
            k.shaped(part["counts"], (n,), index, f"{what}.counts")
            for v, c in zip(values.tolist(), k.back(part["counts"]).tolist(), strict=True):
                k.true(c == (1 if v != v else counts[_key(v)]), f"{what}: count of {v!r} is {c}")
        if "indices" in part:
            k.shaped(part["indices"], (n,), index, f"{what}.indices")
            for v, i in zip(values.tolist(), k.back(part["indices"]).tolist(), strict=True):
                k.true(
                    0 <= i < len(flat) and (flat[i] == v or (v != v and flat[i] != flat[i])),
                    f"{what}: index of {v!r} is {i}",
                )
                k.true(
                    v != v or flat.index(v) == i, f"{what}: index of {v!r} is {i}, not its first"
                )
        if "inverse_indices" in part:
            k.shaped(part["inverse_indices"], x.shape, index, f"{what}.inverse_indices")
            back = values[k.back(part["inverse_indices"])]
            same = (back == x) | ((back != back) & (x != x))
            k.true(bool(np.all(same)), f"{what}: values[inverse_indices] is not x")

    def body(k: Kit) -> None:
        for n in SIZES[:-1]:
            one(k, _set_data(dtype, n, k), "contiguous")
        for shape in ((), (5, 13), (2, 3, 4), (0, 3)):
            for layout, v in laid(_set_data(dtype, math.prod(shape), k).reshape(shape)):
                one(k, v, layout)

    return body


def _isin(dtype: str) -> Callable[[Kit], None]:
    def body(k: Kit) -> None:
        f = k.fn("isin")
        for n in SIZES[:-1]:
            x, y = _set_data(dtype, n, k), _set_data(dtype, 40, k)[: n + 1]
            member = set(y.tolist())
            want = np.array([v in member for v in x.tolist()], dtype=bool)
            for invert in (False, True):
                what = f"isin({dtype}[{n}], invert={invert})"
                k.same(f(k.to(x), k.to(y), invert=invert), want ^ invert, what)
                k.same(
                    f(k.to(x, "reversed"), k.to(y, "strided"), invert=invert), want ^ invert, what
                )
        x = np.array([[1, 2, 3], [4, 5, 6]], dtype)
        k.same(
            f(k.to(x), k.to(np.array([[2], [6]], dtype))),
            np.isin(x, [2, 6]),
            f"isin({dtype}[2,3], [2,1])",
        )
        k.same(f(k.to(x), 4), x == 4, f"isin({dtype}[2,3], 4)")
        k.same(f(4, k.to(x)), np.asarray(True), f"isin(4, {dtype}[2,3])")

    return body


@check("sorting", "sort", "nan-order", "extra")
def _nan_last(k: Kit) -> None:
    for dtype in REAL_FLOATING:
        x = np.array([3, np.nan, -1, np.inf, np.nan, -np.inf, 0], dtype)
        up = np.array([-np.inf, -1, 0, 3, np.inf, np.nan, np.nan], dtype)
        k.same(k.fn("sort")(k.to(x)), up, f"sort({dtype} with NaN)")
        k.same(
            k.fn("sort")(k.to(x), descending=True), up[::-1], f"sort({dtype} with NaN, descending)"
        )
        order = np.array([5, 2, 6, 0, 3, 1, 4], k.default("indexing"))
        k.same(k.fn("argsort")(k.to(x)), order, f"argsort({dtype} with NaN)")
        down = np.array([1, 4, 3, 0, 6, 2, 5], k.default("indexing"))
        k.same(
            k.fn("argsort")(k.to(x), descending=True),
            down,
            f"argsort({dtype} with NaN, descending)",
        )
        n = np.array([5, 7], k.default("indexing"))
        k.same(
            k.fn("searchsorted")(k.to(up), k.to(np.array([np.nan], dtype))),
            n[:1],
            f"searchsorted({dtype}, NaN)",
        )
        k.same(
            k.fn("searchsorted")(k.to(up), k.to(np.array([np.nan], dtype)), side="right"),
            n[1:],
            f"searchsorted({dtype}, NaN, right)",
        )


for _dtype in REAL:
    add("sorting", "sort", _dtype, _sort("sort", _dtype))
    add("sorting", "argsort", _dtype, _sort("argsort", _dtype))
    add("searching", "searchsorted", _dtype, _sorted_search(_dtype))
for _name in ("unique_all", "unique_counts", "unique_inverse", "unique_values"):
    for _dtype in ALL:
        add("set", _name, _dtype, _unique(_name, _dtype))
for _dtype in INTEGRAL:
    add("set", "isin", _dtype, _isin(_dtype))
for _dtype in FLOATING:
    add("set", "isin", _dtype, _isin(_dtype), "extra")
