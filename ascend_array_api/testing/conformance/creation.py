"""Creation functions."""

from __future__ import annotations

import array as pyarray
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from .core import ALL, COMPLEX, FLOATING, INTEGRAL, NUMERIC, REAL, REAL_FLOATING, Kit, add, check
from .layouts import WRITABLE, laid
from .values import samples

CHAPTER = "creation"
SHAPES: tuple[Any, ...] = ((), 0, 5, (3,), (2, 3), (0, 4), (1,) * 8, (513,), (65, 3))


def _fill(dtype: str) -> Any:
    return {"b": True, "i": -7, "u": 200, "f": -2.5, "c": 1.5 - 2j}[np.dtype(dtype).kind]


def _filled(name: str, dtype: str) -> Callable[[Kit], None]:
    """Return the check of zeros, ones, full or empty."""

    def body(k: Kit) -> None:
        f, dt, value = k.fn(name), k.dtype(dtype), {"zeros": 0, "ones": 1}.get(name, _fill(dtype))
        args = (value,) if name == "full" else ()
        for shape in SHAPES:
            want, what = np.full(shape, value, dtype), f"{name}({shape}, {dtype})"
            got = f(shape, *args, dtype=dt)
            if name == "empty":
                k.shaped(got, want.shape, dtype, what)
            else:
                k.same(got, want, what)
        x = k.to(np.zeros(2, dtype))
        k.true(f((2,), *args, device=x.device).device == x.device, f"{name}(device=x.device)")

    return body


def _filled_like(name: str, dtype: str) -> Callable[[Kit], None]:
    """Return the check of zeros_like, ones_like, full_like or empty_like."""

    def body(k: Kit) -> None:
        f = k.fn(name)
        value = {"zeros_like": 0, "ones_like": 1}.get(name, _fill(dtype))
        args = (value,) if name == "full_like" else ()
        for shape in ((), (3, 5), (0, 2), (65,)):
            x = samples(dtype, math.prod(shape), k.rng).reshape(shape)
            for layout, v in laid(x):
                got, what = f(k.to(v, layout), *args), f"{name}({dtype}{list(shape)}, {layout})"
                if name == "empty_like":
                    k.shaped(got, shape, dtype, what)
                else:
                    k.same(got, np.full(shape, value, dtype), what)
                    other = f(k.to(v, layout), *(args and (1,)), dtype=k.dtype("int16"))
                    small = np.full(shape, 1 if args else value, "int16")
                    k.same(other, small, f"{what}, dtype=int16")

    return body


def _eye(dtype: str) -> Callable[[Kit], None]:
    def body(k: Kit) -> None:
        for n, m, shift in (
            (3, None, 0),
            (3, 5, 1),
            (5, 3, -2),
            (4, 4, 9),
            (4, 4, -9),
            (0, 3, 0),
            (65, 63, 2),
            (1, 1, 0),
        ):
            want = np.eye(n, m, k=shift, dtype=dtype)
            got = k.fn("eye")(n, m, k=shift, dtype=k.dtype(dtype))
            k.same(got, want, f"eye({n}, {m}, k={shift}, {dtype})")

    return body


def _triangle(name: str, dtype: str) -> Callable[[Kit], None]:
    """Return the check of tril or triu."""
    ref: Callable[..., Any] = getattr(np, name)

    def body(k: Kit) -> None:
        f = k.fn(name)
        for shape in ((3, 3), (4, 7), (7, 4), (2, 3, 65), (0, 3)):
            x = samples(dtype, math.prod(shape), k.rng).reshape(shape)
            for shift in (-9, -2, 0, 1, 70):
                for layout, v in laid(x):
                    what = f"{name}({dtype}{list(shape)} {layout}, k={shift})"
                    k.same(f(k.to(v, layout), k=shift), ref(v, k=shift), what)
            k.same(f(k.to(x)), ref(x), f"{name}({dtype}{list(shape)})")

    return body


def _arange(dtype: str) -> Callable[[Kit], None]:
    def body(k: Kit) -> None:
        f, dt = k.fn("arange"), k.dtype(dtype)
        rows: list[tuple[Any, ...]] = [
            (5,),
            (0,),
            (-3,),
            (2, 9),
            (2, 9, 3),
            (9, 2, -2),
            (9, 2),
            (0, 600),
            (5, 5),
        ]
        if dtype in REAL_FLOATING:
            rows += [
                (0.5, 4.5),
                (0.0, 1.0, 0.125),
                (1.0, -1.0, -0.25),
                (0.1, 9.7, 0.3),
                (-1.5, 200.0, 0.7),
            ]
        if dtype in ("int64", "uint64"):
            rows += [(2**53 + 1, 2**53 + 9, 3), (2**62, 2**62 + 3)]
        for row in rows:
            start, stop, step = (0, row[0], 1) if len(row) == 1 else (*row, 1)[:3]
            low = np.iinfo(dtype).min if dtype in INTEGRAL else -math.inf
            high = np.iinfo(dtype).max if dtype in INTEGRAL else math.inf
            if not (low <= min(start, stop) and max(start, stop) <= high) or (
                step < 0 and dtype.startswith("u")
            ):
                continue
            a, b, c = (Fraction(v) for v in (start, stop, step))
            n = max(0, math.ceil((b - a) / c))
            exact = [a + i * c for i in range(n)]
            got, what = f(*row, dtype=dt), f"arange{row} as {dtype}"
            if dtype in INTEGRAL:
                k.same(got, np.array([int(v) for v in exact], dtype).reshape(n), what)
                continue
            want = np.array(
                [np.longdouble(v.numerator) / np.longdouble(v.denominator) for v in exact],
                np.longdouble,
            )
            # start + i * step rounds twice in the working precision.
            scale = np.abs(np.longdouble(start)) + np.abs(want) + np.abs(np.longdouble(step))
            k.bounded(got, want, scale, 2.0, dtype, what)

    return body


def _linspace(dtype: str) -> Callable[[Kit], None]:
    def body(k: Kit) -> None:
        f, dt = k.fn("linspace"), k.dtype(dtype)
        rows: list[tuple[Any, Any, int]] = [
            (0, 1, 5),
            (0.0, 1.0, 50),
            (-3.5, 7.25, 7),
            (5, 5, 3),
            (1, 0, 9),
            (0, 1, 1),
            (0, 1, 0),
            (0.1, 0.7, 1025),
            (-1e30, 1e30, 11),
        ]
        if dtype in COMPLEX:
            rows += [(1j, 1 + 2j, 9), (0, 1j, 65)]
        for start, stop, n in rows:
            for endpoint in (True, False):
                wide = np.clongdouble if dtype in COMPLEX else np.longdouble
                gaps = n - 1 if endpoint else n
                a, b = wide(start), wide(stop)
                want = a + np.arange(n).astype(wide) * ((b - a) / max(gaps, 1))
                got, what = (
                    f(start, stop, n, dtype=dt, endpoint=endpoint),
                    f"linspace({start}, {stop}, {n}, {dtype}, endpoint={endpoint})",
                )
                k.bounded(
                    got,
                    want.astype(wide),
                    np.abs(a) + np.abs(b) + 0 * np.abs(want),
                    2.0,
                    dtype,
                    what,
                )
                ends = k.back(got)
                if n:
                    k.true(ends[0] == np.asarray(start, dtype), f"{what}: starts at {ends[:1]}")
                if endpoint and n > 1:
                    k.true(ends[-1] == np.asarray(stop, dtype), f"{what}: ends at {ends[-1:]}")

    return body


@check(CHAPTER, "arange", "defaults")
def _defaults(k: Kit) -> None:
    xp = k.xp
    for got, kind, what in (
        (xp.arange(3), "integral", "arange(3)"),
        (xp.arange(3.0), "real floating", "arange(3.0)"),
        (xp.arange(0, 3, 0.5), "real floating", "arange(0, 3, 0.5)"),
        (xp.linspace(0, 1, 3), "real floating", "linspace"),
        (xp.linspace(0, 1j, 3), "complex floating", "linspace(0, 1j, 3)"),
        (xp.zeros(3), "real floating", "zeros"),
        (xp.ones(3), "real floating", "ones"),
        (xp.empty(3), "real floating", "empty"),
        (xp.eye(3), "real floating", "eye"),
        (xp.full(3, 2), "integral", "full(3, 2)"),
        (xp.full(3, 2.0), "real floating", "full(3, 2.0)"),
        (xp.full(3, 2j), "complex floating", "full(3, 2j)"),
        (xp.asarray(1), "integral", "asarray(1)"),
        (xp.asarray([1.0, 2]), "real floating", "asarray([1.0, 2])"),
        (xp.asarray([1j, 2]), "complex floating", "asarray([1j, 2])"),
    ):
        k.true(
            got.dtype == k.dtype(k.default(kind)),
            f"{what}: dtype {got.dtype}, expected the default of {kind}",
        )
    k.true(xp.full(2, True).dtype == xp.bool, "full(2, True) must be bool")
    k.true(xp.asarray([True, False]).dtype == xp.bool, "asarray([True, False]) must be bool")


@check(CHAPTER, "asarray", "nested sequences")
def _nested(k: Kit) -> None:
    xp = k.xp
    integral, real, cplx = (
        k.default("integral"),
        k.default("real floating"),
        k.default("complex floating"),
    )
    for obj, want in (
        (5, np.asarray(5, integral)),
        (True, np.asarray(True)),
        ([], np.zeros(0, real)),
        ([[]], np.zeros((1, 0), real)),
        ([1, 2, 3], np.array([1, 2, 3], integral)),
        ([[1, 2], [3, 4.5]], np.array([[1, 2], [3, 4.5]], real)),
        (((1, 2), (3, 4)), np.array([[1, 2], [3, 4]], integral)),
        ([1, 2.5, 3j], np.array([1, 2.5, 3j], cplx)),
        ([[[True]], [[False]]], np.array([[[True]], [[False]]])),
        (
            [math.inf, -math.inf, math.nan, -0.0],
            np.array([math.inf, -math.inf, math.nan, -0.0], real),
        ),
        (list(range(1000)), np.arange(1000, dtype=integral)),
    ):
        if obj in ([], [[]]):
            k.shaped(xp.asarray(obj), want.shape, None, f"asarray({obj})")
        else:
            k.same(xp.asarray(obj), want, f"asarray({obj!r:.60})")
    for dtype in NUMERIC:
        k.same(
            xp.asarray([[1, 2], [3, 4]], dtype=k.dtype(dtype)),
            np.array([[1, 2], [3, 4]], dtype),
            f"asarray(ints, {dtype})",
        )
    k.same(
        xp.asarray([2**63 - 1, -(2**63)], dtype=k.dtype("int64")),
        np.array([2**63 - 1, -(2**63)], "int64"),
        "asarray(int64 extremes)",
    )
    k.same(
        xp.asarray([2**64 - 1], dtype=k.dtype("uint64")),
        np.array([2**64 - 1], "uint64"),
        "asarray(uint64 maximum)",
    )


@check(CHAPTER, "asarray", "copy")
def _copies(k: Kit) -> None:
    for dtype in ALL:
        base = samples(dtype, 70, k.rng)
        flipped = ~base if dtype == "bool" else base.copy()
        flipped[3] = not base[3] if dtype == "bool" else 5
        for layout in WRITABLE:
            x = k.to(base, layout)
            y = k.xp.asarray(x, copy=True)
            k.same(y, base, f"asarray({dtype} {layout}, copy=True)")
            y[3] = flipped[3].item()
            k.same(x, base, f"x after a write to asarray(x, copy=True), {dtype} {layout}")
            y = k.xp.asarray(x, copy=True)
            x[5] = flipped[3].item()
            k.same(y, base, f"asarray(x, copy=True) after a write to x, {dtype} {layout}")
            y = k.xp.asarray(k.to(base, layout))
            k.same(y, base, f"asarray({dtype} {layout})")
        x = k.to(base)
        y = k.xp.asarray(x, copy=False)
        y[3] = flipped[3].item()
        k.true(
            bool(k.back(x)[3] == flipped[3]), f"asarray(x, copy=False) must share memory, {dtype}"
        )
    a = pyarray.array("d", [1.0, 2.0, 3.0])
    k.same(k.xp.asarray(a), np.array([1.0, 2.0, 3.0]), "asarray(array.array)")
    k.same(k.xp.asarray(memoryview(a)), np.array([1.0, 2.0, 3.0]), "asarray(memoryview)")


@check(CHAPTER, "from_dlpack", "round trip")
def _dlpack(k: Kit) -> None:
    f = k.fn("from_dlpack")
    for dtype in ALL:
        for shape in ((), (70,), (3, 5), (0, 2)):
            x = samples(dtype, math.prod(shape), k.rng).reshape(shape)
            for layout, v in laid(x):
                y, what = k.to(v, layout), f"from_dlpack({dtype}{list(shape)} {layout}"
                k.same(f(y), v, what + ")")
                k.same(f(y, copy=True), v, what + ", copy=True)")


@check(CHAPTER, "meshgrid", "table")
def _meshgrid(k: Kit) -> None:
    f = k.fn("meshgrid")
    for dtype in ("bool", "int32", "float64", "complex64"):
        parts = [samples(dtype, n, k.rng) for n in (3, 4, 2)]
        for count in (1, 2, 3):
            for indexing in ("xy", "ij"):
                got = f(*(k.to(p, "reversed") for p in parts[:count]), indexing=indexing)
                what = f"meshgrid({count} of {dtype}, {indexing})"
                k.true(
                    isinstance(got, tuple) and len(got) == count,
                    f"{what}: must be a tuple of {count}",
                )
                for g, w in zip(got, np.meshgrid(*parts[:count], indexing=indexing), strict=True):
                    k.same(g, w, what)


for _dtype in ALL:
    for _name in ("zeros", "ones", "full", "empty"):
        add(CHAPTER, _name, _dtype, _filled(_name, _dtype))
        add(CHAPTER, f"{_name}_like", _dtype, _filled_like(f"{_name}_like", _dtype))
    add(CHAPTER, "eye", _dtype, _eye(_dtype))
    for _name in ("tril", "triu"):
        add(CHAPTER, _name, _dtype, _triangle(_name, _dtype))
for _dtype in REAL:
    add(CHAPTER, "arange", _dtype, _arange(_dtype))
for _dtype in FLOATING:
    add(CHAPTER, "linspace", _dtype, _linspace(_dtype))
