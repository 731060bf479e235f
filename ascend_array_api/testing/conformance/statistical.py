"""Reductions, scans and the utility functions: all, any, diff."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .core import (
    ALL,
    BOOL,
    COMPLEX,
    FLOATING,
    INTEGRAL,
    NUMERIC,
    REAL,
    REAL_FLOATING,
    SIGNED,
    SIZES,
    Kit,
    add,
    check,
)
from .layouts import LAYOUTS, NDArray, laid, repeated
from .values import samples

CHAPTER = "statistical"

Axis = int | tuple[int, ...] | None

#: Shapes and axes: every position of the reduced axes, long and short, rank 1 to 8, zero sizes.
CASES: tuple[tuple[tuple[int, ...], Axis], ...] = (
    ((67,), None),
    ((1,), 0),
    ((), None),
    ((5, 130), 0),
    ((5, 130), 1),
    ((130, 5), 0),
    ((130, 5), -1),
    ((9, 65), None),
    ((9, 65), (0, 1)),
    ((4, 70, 3), 1),
    ((4, 70, 3), (0, 2)),
    ((4, 70, 3), (-1, 1)),
    ((3, 5, 7), (0,)),
    ((2, 3, 2, 5, 3), (1, 3)),
    ((2, 1, 2, 1, 2, 1, 2, 9), (0, 7)),
    ((1025, 2), 0),
    ((2, 1025), -1),
    ((3, 0), 0),
    ((0, 3), 1),
)


def wide(dtype: str) -> Any:
    """Return the type in which references of `dtype` are computed."""
    if dtype in COMPLEX:
        return np.clongdouble
    return np.longdouble if dtype in REAL_FLOATING else object


def accumulated(k: Kit, dtype: str) -> str:
    """Return the dtype of a sum or product of `dtype`."""
    default = k.default("integral")
    if dtype not in INTEGRAL or np.iinfo(dtype).bits >= np.iinfo(default).bits:
        return dtype
    return default if dtype in SIGNED else "u" + default


def _terms(name: str, dtype: str, n: int, k: Kit) -> NDArray:
    """Return data whose sums or products neither overflow nor vanish."""
    if name in ("prod", "cumulative_prod"):
        if dtype in INTEGRAL:
            out = np.ones(n, dtype)
            out[k.rng.integers(0, n, min(n, 5))] = 3
            return out if dtype.startswith("u") else out * k.rng.choice([-1, 1], n).astype(dtype)
        out = np.exp2(k.rng.uniform(-0.5, 0.5, n))
        phase = (
            np.exp(1j * k.rng.uniform(0, 6, n)) if dtype in COMPLEX else k.rng.choice([-1, 1], n)
        )
        return np.asarray((out * phase).astype(dtype))
    if dtype in INTEGRAL:
        info = np.iinfo(dtype)
        if info.bits == 64:
            return k.rng.integers(info.min // 2**14, info.max // 2**14, n, dtype=dtype)
        return samples(dtype, n, k.rng)
    return samples(dtype, n, k.rng, "mild")


def _laid(name: str, x: NDArray) -> Iterator[tuple[str, NDArray]]:
    """Yield layouts with data for `name`; repeated factors are units, lest products overflow."""
    for layout, v in laid(x):
        yield layout, np.sign(v) if layout == "broadcast" and "prod" in name else v


def _keep(want: NDArray, shape: tuple[int, ...], axis: Axis) -> NDArray:
    """Return `want` with the reduced axes of `shape` put back with size one."""
    axes = range(len(shape)) if axis is None else (axis,) if isinstance(axis, int) else axis
    gone = {a % len(shape) for a in axes} if shape else set()
    return want.reshape([1 if i in gone else s for i, s in enumerate(shape)])


def _count(shape: tuple[int, ...], axis: Axis) -> int:
    axes = range(len(shape)) if axis is None else (axis,) if isinstance(axis, int) else axis
    return math.prod(shape[a] for a in axes)


def _axes(f: Callable[..., Any], a: NDArray, axis: Axis) -> NDArray:
    with np.errstate(all="ignore"):
        return np.asarray(f(a, axis=axis))


def _fold(name: str, dtype: str) -> Callable[[Kit], None]:
    """Return the check of sum or prod."""
    reduce: Callable[..., Any] = np.sum if name == "sum" else np.prod

    def compare(
        k: Kit, got: Any, x: NDArray, axis: Axis, what: str, keep: bool, layout: str = ""
    ) -> None:
        out = accumulated(k, dtype)
        want = _axes(reduce, x.astype(wide(dtype)), axis)
        n = _count(x.shape, axis)
        if dtype in INTEGRAL:
            want = want.astype(out)
            k.same(got, _keep(want, x.shape, axis) if keep else want, what)
            return
        if name == "sum":
            scale = _axes(np.sum, np.abs(x.astype(wide(dtype))), axis)
            ulps = k.limits.sum(n, layout)
        else:
            scale, ulps = np.abs(want), 2.0 + 4 * math.sqrt(n) * (3 if dtype in COMPLEX else 1)
        if keep:
            want, scale = _keep(want, x.shape, axis), _keep(np.asarray(scale), x.shape, axis)
        k.bounded(got, want, scale, ulps, out, what)

    def body(k: Kit) -> None:
        f = k.fn(name)
        for n in SIZES:
            x = _terms(name, dtype, n, k) if n else np.zeros(0, dtype)
            compare(k, f(k.to(x)), x, None, f"{name}({dtype}[{n}])", False)
        for i, (shape, axis) in enumerate(CASES):
            n = math.prod(shape)
            x = (_terms(name, dtype, n, k) if n else np.zeros(0, dtype)).reshape(shape)
            for layout, v in _laid(name, x):
                keep = bool(i % 2)
                got = f(k.to(v, layout), axis=axis, keepdims=keep)
                what = f"{name}({dtype}{list(shape)}, axis={axis}, keepdims={keep}, {layout})"
                compare(k, got, v, axis, what, keep, layout)
        x = _terms(name, dtype, 7, k)
        compare(k, f(k.to(x[3])), x[3], None, f"{name}({dtype} 0-d)", False)
        for bad in (1, -2, (0, 1)):
            k.raises(lambda bad=bad: f(k.to(x), axis=bad), f"{name}(1-d, axis={bad})")

    return body


def _fold_dtype(name: str) -> Callable[[Kit], None]:
    """Return the check of the dtype argument: values are cast first, then combined."""
    reduce: Callable[..., Any] = np.sum if name == "sum" else np.prod

    def body(k: Kit) -> None:
        f = k.fn(name)
        for dtype, to in (
            ("int8", "int16"),
            ("uint8", "uint32"),
            ("int32", "int64"),
            ("int8", "int8"),
            ("float32", "float64"),
            ("complex64", "complex128"),
            ("uint16", "int32"),
        ):
            x = np.array([100, 3, 2], dtype) if name == "sum" else np.array([50, 2, 1], dtype)
            got = f(k.to(x), dtype=k.dtype(to))
            want = reduce(x.astype(to), dtype=to)
            k.same(got, np.asarray(want, to), f"{name}({dtype}, dtype={to})")

    return body


def _large(name: str, dtype: str) -> Callable[[Kit], None]:
    """Return the check beyond the sizes at which libraries start threads or blocks."""

    def body(k: Kit) -> None:
        f = k.fn(name)
        for n in (2049, 70_001, 300_007):
            x = (k.rng.random(n) < 0.5) if dtype == "bool" else samples(dtype, n, k.rng, "mild")
            x[n - 3] = True if dtype == "bool" else 77
            if name in ("sum", "mean"):
                want = np.asarray(np.sum(x.astype(np.longdouble)))
                scale = np.sum(np.abs(x.astype(np.longdouble)))
                if name == "mean":
                    want, scale = want / n, scale / n
                if dtype in INTEGRAL:
                    k.same(f(k.to(x)), np.asarray(int(want), "int64"), f"{name}({dtype}[{n}])")
                else:
                    k.bounded(
                        f(k.to(x)), want, scale, k.limits.sum(n), dtype, f"{name}({dtype}[{n}])"
                    )
            elif name == "cumulative_sum":
                want = np.cumsum(x.astype(np.longdouble))
                scale = np.cumsum(np.abs(x.astype(np.longdouble)))
                k.bounded(f(k.to(x)), want, scale, 4 + math.sqrt(n), dtype, f"{name}({dtype}[{n}])")
            else:
                ref: Callable[..., Any] = getattr(np, name)
                out = dtype if name == "max" else k.default("indexing")
                k.same(f(k.to(x)), np.asarray(ref(x)).astype(out), f"{name}({dtype}[{n}])")

    return body


def _moments(name: str, dtype: str) -> Callable[[Kit], None]:
    """Return the check of mean, var or std against two passes in long double."""

    def reference(
        x: NDArray, axis: Axis, correction: float, ulps: float
    ) -> tuple[NDArray, NDArray]:
        w = x.astype(wide(dtype))
        n = _count(x.shape, axis)
        with np.errstate(all="ignore"):
            mean = np.asarray(np.sum(w, axis=axis, keepdims=True) / n)
            if name == "mean":
                size = np.asarray(np.sum(np.abs(w), axis=axis) / n)
                return np.asarray(np.sum(w, axis=axis) / n), size
            square = np.asarray(np.sum((w - mean) ** 2, axis=axis))
            free = n - correction
            var = square / np.longdouble(free) if free > 0 else np.full(square.shape, np.nan)
            # Rounding of the mean itself is seen where all values are alike.
            offset = np.sum(np.abs(mean), axis=axis)
            if name == "std":
                return np.sqrt(var), np.sqrt(var) + offset
            return var, var + ulps * np.finfo(dtype).eps * offset**2

    def body(k: Kit) -> None:
        f = k.fn(name)
        corrections = (0,) if name == "mean" else (0, 1, 0.5, 2)
        for n in SIZES:
            x = samples(dtype, n, k.rng, "mild") if n else np.zeros(0, dtype)
            ulps = 2 * k.limits.sum(n) + 8
            want, scale = reference(x, None, 0, ulps)
            k.bounded(f(k.to(x)), want, scale, ulps, dtype, f"{name}({dtype}[{n}])")
        for i, (shape, axis) in enumerate(CASES):
            x = samples(dtype, math.prod(shape), k.rng, "mild").reshape(shape)
            keep, c = bool(i % 2), corrections[i % len(corrections)]
            kw = {} if name == "mean" else {"correction": c}
            for layout, v in laid(x):
                ulps = 2 * k.limits.sum(_count(shape, axis), layout) + 8
                want, scale = reference(v, axis, c, ulps)
                if keep:
                    want, scale = _keep(want, shape, axis), _keep(scale, shape, axis)
                got = f(k.to(v, layout), axis=axis, keepdims=keep, **kw)
                what = f"{name}({dtype}{list(shape)}, axis={axis}, keepdims={keep}, {kw}, {layout})"
                k.bounded(got, want, scale, ulps, dtype, what)
        x = samples(dtype, 130, k.rng, "mild")
        x[70] = np.nan
        k.true(np.isnan(k.back(f(k.to(x)))), f"{name}({dtype} with a NaN) must be NaN")
        k.true(
            np.isnan(k.back(f(k.to(x), axis=0))), f"{name}({dtype} with a NaN, axis=0) must be NaN"
        )
        k.raises(lambda: f(k.to(x), axis=1), f"{name}(1-d, axis=1)")

    return body


def _extreme(name: str, dtype: str) -> Callable[[Kit], None]:
    """Return the check of max or min: NaN propagates wherever it stands."""
    ref: Callable[..., Any] = np.max if name == "max" else np.min

    def body(k: Kit) -> None:
        f = k.fn(name)
        for n in SIZES[1:]:
            x = samples(dtype, n, k.rng)
            x = np.where(np.isnan(x), np.asarray(1, dtype), x) if dtype in REAL_FLOATING else x
            k.same(f(k.to(x)), np.asarray(ref(x)), f"{name}({dtype}[{n}])", signs=False)
            if dtype in REAL_FLOATING:
                for at in {0, n // 2, n - 1}:
                    y = x.copy()
                    y[at] = np.nan
                    got = k.back(f(k.to(y)))
                    k.true(np.isnan(got), f"{name}({dtype}[{n}] with NaN at {at}): got {got!r}")
        for i, (shape, axis) in enumerate(CASES):
            if _count(shape, axis) == 0:
                continue
            x = samples(dtype, math.prod(shape), k.rng).reshape(shape)
            keep = bool(i % 2)
            for layout, v in laid(x):
                want = _axes(ref, v, axis)
                got = f(k.to(v, layout), axis=axis, keepdims=keep)
                what = f"{name}({dtype}{list(shape)}, axis={axis}, keepdims={keep}, {layout})"
                k.same(got, _keep(want, shape, axis) if keep else want, what, signs=False)
        k.raises(lambda: f(k.to(np.ones((2, 2), dtype)), axis=2), f"{name}(2-d, axis=2)")

    return body


def _truth(name: str, dtype: str) -> Callable[[Kit], None]:
    """Return the check of all, any or count_nonzero."""
    ref: Callable[..., Any] = getattr(np, name)

    def data(k: Kit, n: int, odd: int) -> NDArray:
        """Return mostly non-zero data (all), mostly zero (any), or half and half."""
        base = {"all": 1.0, "any": 0.0}.get(name)
        pick = k.rng.random(n) < (0.5 if base is None else base)
        x = np.where(pick, samples(dtype, n, k.rng), np.zeros((), dtype)).astype(dtype)
        if name == "all":
            x = np.where(x == 0, np.ones((), dtype), x)
            if odd % 3 and n:
                x[-1 if odd % 3 == 2 else (odd * 37) % n] = 0
        if name == "any" and odd % 3 and n:
            x[-1 if odd % 3 == 2 else (odd * 41) % n] = np.nan if dtype in FLOATING else 1
        return np.asarray(x)

    def body(k: Kit) -> None:
        f = k.fn(name)
        out = k.default("indexing") if name == "count_nonzero" else "bool"
        for n in SIZES:
            for odd in range(3):
                x = data(k, n, odd)
                k.same(f(k.to(x)), np.asarray(ref(x)).astype(out), f"{name}({dtype}[{n}])")
        for i, (shape, axis) in enumerate(CASES):
            for layout in LAYOUTS:
                x = data(k, math.prod(shape), i + len(layout)).reshape(shape)
                x = repeated(x) if layout == "broadcast" else x
                want, keep = _axes(ref, x, axis).astype(out), bool(i % 2)
                got = f(k.to(x, layout), axis=axis, keepdims=keep)
                what = f"{name}({dtype}{list(shape)}, axis={axis}, keepdims={keep}, {layout})"
                k.same(got, _keep(want, shape, axis) if keep else want, what)
        k.raises(lambda: f(k.to(np.ones((2, 2), dtype)), axis=-3), f"{name}(2-d, axis=-3)")

    return body


def _scan(name: str, dtype: str) -> Callable[[Kit], None]:
    """Return the check of a cumulative sum or product."""
    scan: Callable[..., Any] = np.cumsum if name == "cumulative_sum" else np.cumprod
    first = 0 if name == "cumulative_sum" else 1

    def body(k: Kit) -> None:
        f, out = k.fn(name), accumulated(k, dtype)

        def compare(got: Any, x: NDArray, axis: int, initial: bool, what: str) -> None:
            w = x.astype(wide(dtype))
            want = np.asarray(scan(w, axis=axis))
            scale = np.asarray(np.cumsum(np.abs(w), axis=axis) if first == 0 else np.abs(want))
            if initial:
                shape = list(x.shape)
                shape[axis] = 1
                head = np.full(shape, first, dtype=want.dtype)
                want = np.concatenate([head, want], axis=axis)
                scale = np.concatenate([np.ones(shape, scale.dtype), scale], axis=axis)
            if dtype in INTEGRAL:
                k.same(got, want.astype(out), what)
            else:
                n = x.shape[axis]
                k.bounded(got, want, scale, 4 + 4 * math.sqrt(n), out, what)

        for n in SIZES:
            x = _terms(name, dtype, n, k) if n else np.zeros(0, dtype)
            initial = bool(n % 2)
            compare(
                f(k.to(x), include_initial=initial),
                x,
                0,
                initial,
                f"{name}({dtype}[{n}], include_initial={initial})",
            )
        for shape, axis in (
            ((65,), 0),
            ((5, 70), 0),
            ((5, 70), 1),
            ((70, 5), -2),
            ((3, 4, 5), 1),
            ((3, 0, 2), 1),
            ((2, 2, 2, 2, 9), -1),
            ((2, 1, 2, 1, 2, 1, 2, 9), 4),
        ):
            n = math.prod(shape)
            x = (_terms(name, dtype, n, k) if n else np.zeros(0, dtype)).reshape(shape)
            for layout, v in _laid(name, x):
                initial = len(layout) % 2 == 0
                got = f(k.to(v, layout), axis=axis, include_initial=initial)
                compare(
                    got,
                    v,
                    axis,
                    initial,
                    f"{name}({dtype}{list(shape)}, {axis=}, include_initial={initial}, {layout})",
                )
        k.raises(lambda: f(k.to(np.ones((2, 2), dtype)), axis=2), f"{name}(2-d, axis=2)")

    return body


def _differences(x: NDArray, axis: int, n: int) -> NDArray:
    for _ in range(n):
        moved = np.moveaxis(x, axis, 0)
        x = np.moveaxis(moved[1:] - moved[:-1], 0, axis)
    return x


def _diff(dtype: str) -> Callable[[Kit], None]:
    def body(k: Kit) -> None:
        f = k.fn("diff")
        for shape in ((65,), (4, 9), (3, 4, 5), (2, 1)):
            x = samples(dtype, math.prod(shape), k.rng, "mild").reshape(shape)
            if dtype in INTEGRAL and dtype.startswith("u"):
                x = np.sort(x, axis=-1)
            for axis in range(-1, 1):
                if dtype.startswith("u") and axis != -1:
                    continue
                for n in (0, 1, 2):
                    if n > x.shape[axis] or (dtype.startswith("u") and n == 2):
                        continue
                    for layout, v in laid(x):
                        got = f(k.to(v, layout), axis=axis, n=n)
                        what = f"diff({dtype}{list(shape)}, axis={axis}, n={n}, {layout})"
                        k.same(got, _differences(v, axis, n), what)
        x = np.array([1, 3, 4], dtype)
        got = f(k.to(x), prepend=k.to(np.array([0, 1], dtype)), append=k.to(np.array([9], dtype)))
        k.same(got, np.array([1, 0, 2, 1, 5], dtype), f"diff({dtype}, prepend, append)")
        k.raises(lambda: f(k.to(np.ones((2, 2), dtype)), axis=2), "diff(2-d, axis=2)")

    return body


@check(CHAPTER, "count_nonzero", "exact-large")
def _count_bits(k: Kit) -> None:
    f = k.fn("count_nonzero")
    x = np.arange(100_003) % 3 == 0
    for start in (0, 1, 5, 63, 64, 65):
        got = f(k.get(k.to(x), slice(start, None)))
        k.same(
            got,
            np.asarray(np.count_nonzero(x[start:]), k.default("indexing")),
            f"count_nonzero(bool[{start}:])",
        )


def _register() -> None:
    for name in ("sum", "prod"):
        for dtype in NUMERIC:
            add(CHAPTER, name, dtype, _fold(name, dtype))
        add(CHAPTER, name, "dtype", _fold_dtype(name))
    for name in ("mean", "var", "std"):
        for dtype in FLOATING if name == "mean" else REAL_FLOATING:
            add(CHAPTER, name, dtype, _moments(name, dtype))
    for name in ("max", "min"):
        for dtype in REAL:
            add(CHAPTER, name, dtype, _extreme(name, dtype))
    for name in ("all", "any", "count_nonzero"):
        for dtype in ALL:
            add(
                "searching" if name == "count_nonzero" else "utility",
                name,
                dtype,
                _truth(name, dtype),
            )
    for name in ("cumulative_sum", "cumulative_prod"):
        for dtype in NUMERIC:
            add(CHAPTER, name, dtype, _scan(name, dtype))
    for dtype in NUMERIC:
        add("utility", "diff", dtype, _diff(dtype))
    large: tuple[tuple[str, tuple[str, ...]], ...] = (
        ("sum", ("int32", *REAL_FLOATING)),
        ("mean", REAL_FLOATING),
        ("cumulative_sum", REAL_FLOATING),
        ("max", ("int16", *REAL_FLOATING)),
        ("argmax", ("int16", *REAL_FLOATING)),
        ("count_nonzero", BOOL + REAL_FLOATING),
    )
    for name, some in large:
        for dtype in some:
            add(CHAPTER, name, f"large-{dtype}", _large(name, dtype))


_register()
