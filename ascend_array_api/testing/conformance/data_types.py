"""Data type functions, promotion, scalars, conversion, and the inspection functions."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .core import (
    ALL,
    BOOL,
    COMPLEX,
    FLOATING,
    INTEGRAL,
    NUMERIC,
    REAL_FLOATING,
    SHAPES,
    SIGNED,
    UNSIGNED,
    Kit,
    add,
    check,
)
from .elementwise import promoted
from .layouts import WRITABLE, NDArray, laid
from .values import non_finite, samples

CHAPTER = "dtypes"

KINDS: dict[str, tuple[str, ...]] = {
    "bool": BOOL,
    "signed integer": SIGNED,
    "unsigned integer": UNSIGNED,
    "integral": INTEGRAL,
    "real floating": REAL_FLOATING,
    "complex floating": COMPLEX,
    "numeric": NUMERIC,
}


def _convertible(x: NDArray, to: str) -> NDArray:
    """Return the elements of `x` whose conversion to `to` the standard specifies."""
    if to in COMPLEX or to == "bool" or x.dtype == bool:
        return x
    if np.iscomplexobj(x):
        return x[:0]
    if to in INTEGRAL:
        info = np.iinfo(to)
        keep = [math.isfinite(v) and info.min <= math.trunc(v) <= info.max for v in x.tolist()]
        return np.asarray(x[np.array(keep, bool)])
    return x


def _cast(x: NDArray, to: str) -> NDArray:
    """Convert exactly, truncating towards zero, rounding to nearest."""
    if to in INTEGRAL and x.dtype.kind in "fiu":
        whole = np.array([math.trunc(v) for v in x.reshape(-1).tolist()], dtype=object)
        return whole.astype(to).reshape(x.shape)
    with np.errstate(all="ignore"):
        return x.astype(to)


def _astype(dtype: str) -> Callable[[Kit], None]:
    def body(k: Kit) -> None:
        f = k.fn("astype")
        for to in ALL:
            if dtype in COMPLEX and to not in COMPLEX:
                if to == "bool":
                    few = np.array([0, 1j, 2], dtype)
                    k.same(f(k.to(few), k.dtype(to)), few != 0, f"astype({dtype}[3], bool)")
                    x = samples(dtype, 600, k.rng)
                    x = np.concatenate([x, non_finite(dtype)])
                    k.same(f(k.to(x), k.dtype(to)), x != 0, f"astype({dtype}, bool)")
                continue
            x = _convertible(samples(dtype, 600, k.rng), to)
            for layout, v in laid(x):
                got = f(k.to(v, layout), k.dtype(to))
                k.same(got, _cast(v, to), f"astype({dtype}[{x.size}] {layout}, {to})")
            for shape in k.shapes(SHAPES):
                v = np.resize(x, shape)
                got = f(k.to(v, "ladder"), k.dtype(to))
                k.same(got, _cast(v, to), f"astype({dtype}{list(shape)}, {to})")
        x = samples(dtype, 65, k.rng)
        value = (not x[1]) if dtype == "bool" else 5
        for layout in WRITABLE:
            y = k.to(x, layout)
            z = f(y, k.dtype(dtype), copy=True)
            z[1] = value
            k.same(y, x, f"x after a write to astype(x, {dtype}, copy=True), {layout}")
        y = k.to(x)
        k.true(
            f(y, k.dtype(dtype), copy=False) is y,
            f"astype(x, {dtype}, copy=False) of that dtype must be x",
        )

    return body


@check(CHAPTER, "result_type", "tables")
def _result_type(k: Kit) -> None:
    f = k.fn("result_type")
    for a, b in itertools.product(ALL, ALL):
        joint = promoted(a, b)
        if joint is None or not k.has(a, b, joint):
            continue
        for x, y in (
            (k.dtype(a), k.dtype(b)),
            (k.to(np.zeros(2, a)), k.dtype(b)),
            (k.to(np.ones((), a)), k.to(np.zeros(3, b))),
        ):
            got = f(x, y)
            k.true(got == k.dtype(joint), f"result_type({a}, {b}): got {got}, expected {joint}")
    for dtypes in (
        ("int8", "uint8", "int32"),
        ("uint8", "int16", "uint8"),
        ("float32", "complex64", "float64"),
    ):
        joint = np.result_type(*(np.dtype(d) for d in dtypes)).name
        for order in itertools.permutations(dtypes):
            got = f(*(k.dtype(d) for d in order))
            k.true(got == k.dtype(joint), f"result_type{order}: got {got}, expected {joint}")
    for dtype, scalar, want in (
        ("int8", 1, "int8"),
        ("float32", 1, "float32"),
        ("float32", 2.5, "float32"),
        ("complex64", 2.5, "complex64"),
        ("float32", 1j, "complex64"),
        ("float64", 1j, "complex128"),
        ("bool", True, "bool"),
        ("uint64", 3, "uint64"),
    ):
        got = f(k.dtype(dtype), scalar)
        k.true(
            got == k.dtype(want), f"result_type({dtype}, {scalar!r}): got {got}, expected {want}"
        )


@check(CHAPTER, "can_cast", "tables")
def _can_cast(k: Kit) -> None:
    f = k.fn("can_cast")
    for a, b in itertools.product(ALL, ALL):
        joint = promoted(a, b)
        if joint is None or not k.has(a, b, joint):
            continue
        want = joint == b
        for x in (k.dtype(a), k.to(np.zeros(2, a))):
            k.true(bool(f(x, k.dtype(b))) is want, f"can_cast({a}, {b}) must be {want}")


@check(CHAPTER, "isdtype", "tables")
def _isdtype(k: Kit) -> None:
    f = k.fn("isdtype")
    for dtype in ALL:
        for kind, members in KINDS.items():
            got = f(k.dtype(dtype), kind)
            k.true(got is (dtype in members), f"isdtype({dtype}, {kind!r}): got {got!r}")
        for other in ALL:
            k.true(
                f(k.dtype(dtype), k.dtype(other)) is (dtype == other), f"isdtype({dtype}, {other})"
            )
        got = f(k.dtype(dtype), ("bool", k.dtype("float32"), "unsigned integer"))
        k.true(got is (dtype in ("bool", "float32", *UNSIGNED)), f"isdtype({dtype}, tuple)")


@check(CHAPTER, "isdtype", "errors", "extra")
def _isdtype_errors(k: Kit) -> None:
    f = k.fn("isdtype")
    k.raises(lambda: f(k.dtype("int8"), "no such kind"), "isdtype of an unknown kind")


@check(CHAPTER, "astype", "complex to real", "advice")
def _complex_to_real(k: Kit) -> None:
    for dtype, to in (("complex128", "float64"), ("complex64", "float32"), ("complex64", "int8")):
        x = k.to(np.ones(3, dtype))
        k.raises(lambda x=x, to=to: k.fn("astype")(x, k.dtype(to)), f"astype({dtype}, {to})")


@check(CHAPTER, "finfo", "values")
def _finfo(k: Kit) -> None:
    for dtype in FLOATING:
        want = np.finfo(dtype)
        for arg in (k.dtype(dtype), k.to(np.zeros(2, dtype))):
            got = k.fn("finfo")(arg)
            for field in ("eps", "max", "min", "smallest_normal"):
                v = getattr(got, field)
                k.true(
                    isinstance(v, float) and v == float(getattr(want, field)),
                    f"finfo({dtype}).{field}: {v!r} of {type(v).__name__}",
                )
            k.true(got.bits == want.bits, f"finfo({dtype}).bits: {got.bits}")
            part = {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)
            k.true(got.dtype == k.dtype(part), f"finfo({dtype}).dtype: {got.dtype}")


@check(CHAPTER, "iinfo", "values")
def _iinfo(k: Kit) -> None:
    for dtype in INTEGRAL:
        info = np.iinfo(dtype)
        for arg in (k.dtype(dtype), k.to(np.zeros(2, dtype))):
            got = k.fn("iinfo")(arg)
            found = (got.bits, got.min, got.max)
            k.true(found == (info.bits, info.min, info.max), f"iinfo({dtype}): {found}")
            k.true({type(v) for v in found} == {int}, f"iinfo({dtype}): not Python integers")
            k.true(got.dtype == k.dtype(dtype), f"iinfo({dtype}).dtype: {got.dtype}")


@check(CHAPTER, "__array_namespace_info__", "contents")
def _info(k: Kit) -> None:
    info = k.xp.__array_namespace_info__()
    caps = info.capabilities()
    for key in ("boolean indexing", "data-dependent shapes"):
        k.true(type(caps[key]) is bool, f"capabilities()[{key!r}] must be a bool")
    limit = caps["max dimensions"]
    k.true(limit is None or (isinstance(limit, int) and limit >= 4), f"max dimensions: {limit!r}")
    defaults = info.default_dtypes()
    k.true(
        set(defaults) == {"real floating", "complex floating", "integral", "indexing"},
        f"default_dtypes(): {set(defaults)}",
    )
    every = info.dtypes()
    k.true(set(every) <= set(ALL), f"dtypes(): {set(every) - set(ALL)} are not in the standard")
    for kind, members in KINDS.items():
        got = info.dtypes(kind=kind)
        k.true(set(got) == set(members) & set(every), f"dtypes(kind={kind!r}): {set(got)}")
        k.true(
            all(v == k.dtype(n) for n, v in got.items()), f"dtypes(kind={kind!r}): wrong objects"
        )
    got = info.dtypes(kind=("bool", "unsigned integer"))
    k.true(set(got) == set(BOOL + UNSIGNED) & set(every), f"dtypes(kind=tuple): {set(got)}")


@check(CHAPTER, "__array_namespace_info__", "devices", since="2025.12")
def _devices(k: Kit) -> None:
    devices = k.xp.__array_namespace_info__().devices()
    k.true(isinstance(devices, tuple), f"devices() must be a tuple, not a {type(devices).__name__}")
    default = k.xp.__array_namespace_info__().default_device()
    k.true(default is None or default in devices, f"{default} is not among devices()")


@check(CHAPTER, "constants", "values")
def _constants(k: Kit) -> None:
    for name, want in (("e", math.e), ("pi", math.pi), ("inf", math.inf)):
        k.true(getattr(k.xp, name) == want, f"xp.{name}")
    k.true(math.isnan(k.xp.nan), "xp.nan")
    k.true(k.xp.newaxis is None, "xp.newaxis must be None")


def _conversion(dtype: str) -> Callable[[Kit], None]:
    """Return the check of bool(), int(), float(), complex() and index() of 0-d arrays."""

    def body(k: Kit) -> None:
        for v in samples(dtype, 200, k.rng):
            x = k.to(v)
            k.true(bool(x) is bool(v), f"bool({dtype} {v!r})")
            calls: list[tuple[str, Callable[[Any], Any], Any]] = [("complex", complex, v)]
            if dtype not in COMPLEX:
                calls.append(("float", float, v))
                if np.isfinite(v):
                    calls.append(("int", int, v))
            for name, call, arg in calls:
                got, want = call(x), call(arg)
                same = got == want or (got != got and want != want)
                k.true(
                    type(got) is type(want) and same,
                    f"{name}({dtype} {v!r}): got {got!r}, expected {want!r}",
                )
            if dtype in INTEGRAL:
                k.true(operator.index(x) == int(v), f"index({dtype} {v!r})")
            elif dtype != "bool":
                k.raises(lambda x=x: operator.index(x), f"index({dtype} 0-d)", TypeError)
        if dtype in REAL_FLOATING:
            k.raises(
                lambda: int(k.to(np.asarray(np.inf, dtype))), f"int({dtype} inf)", OverflowError
            )
            k.raises(lambda: int(k.to(np.asarray(np.nan, dtype))), f"int({dtype} nan)", ValueError)
        if dtype in COMPLEX:
            for call in (int, float):
                k.raises(
                    lambda call=call: call(k.to(v)), f"{call.__name__}({dtype} 0-d)", TypeError
                )

    return body


@check(CHAPTER, "__array_namespace__", "versions")
def _namespace(k: Kit) -> None:
    x = k.xp.asarray(1)
    version = k.xp.__array_api_version__
    k.true(x.__array_namespace__() is not None, "__array_namespace__()")
    k.true(
        x.__array_namespace__(api_version=version).__array_api_version__ == version,
        "__array_namespace__(api_version=own)",
    )


@check(CHAPTER, "__array_namespace__", "errors", "advice")
def _no_such_version(k: Kit) -> None:
    x = k.xp.asarray(1)
    k.raises(lambda: x.__array_namespace__(api_version="1999.01"), "__array_namespace__('1999.01')")


@check(CHAPTER, "__bool__", "errors", "extra")
def _conversion_errors(k: Kit) -> None:
    for call in (bool, int, float, complex, operator.index):
        x = k.to(np.ones(2, "int64"))
        k.raises(lambda call=call, x=x: call(x), f"{call.__name__}(array of two elements)")


@check(CHAPTER, "__dlpack__", "methods", since="2023.12")
def _dlpack(k: Kit) -> None:
    for dtype in k.xp.__array_namespace_info__().dtypes():
        x = k.to(samples(dtype, 12, k.rng).reshape(3, 4))
        kind, number = x.__dlpack_device__()
        k.true(int(kind) > 0 and number == int(number), f"__dlpack_device__(): {kind}, {number}")
        for kw in ({}, {"max_version": (1, 0)}, {"max_version": (1, 0), "copy": True}):
            name = type(x.__dlpack__(**kw)).__name__
            k.true("Capsule" in name, f"__dlpack__({dtype}, {kw}): a {name}, not a PyCapsule")


@check(CHAPTER, "__iter__", "one dimension")
def _iteration(k: Kit) -> None:
    v = samples("float64", 9, k.rng)
    parts = list(k.to(v))
    k.true(len(parts) == 9, f"list(x) has {len(parts)} parts, not 9")
    for got, want in zip(parts, v, strict=True):
        k.same(got, np.asarray(want), "an element of list(x)")


@check(CHAPTER, "attributes", "values")
def _attributes(k: Kit) -> None:
    for dtype in ALL:
        for shape in ((), (3,), (2, 3), (2, 0, 4), (2, 3, 4)):
            v = samples(dtype, math.prod(shape), k.rng).reshape(shape)
            x = k.to(v)
            k.true(type(x.shape) is tuple and x.shape == shape, f"shape {x.shape!r}")
            k.true(
                x.ndim == len(shape) and x.size == v.size,
                f"ndim {x.ndim}, size {x.size} of {shape}",
            )
            k.true(x.dtype == k.dtype(dtype), f"dtype of {dtype}")
            k.true(x.to_device(x.device).device == x.device, "to_device(x.device)")
            k.same(x.to_device(x.device), v, "x.to_device(x.device)")
            if len(shape) == 2:
                k.same(x.T, v.T, f"x.T of {dtype}{list(shape)}")
            if len(shape) >= 2:
                k.same(x.mT, np.swapaxes(v, -1, -2), f"x.mT of {dtype}{list(shape)}")


for _dtype in ALL:
    add(CHAPTER, "astype", _dtype, _astype(_dtype))
    add(CHAPTER, "__float__", _dtype, _conversion(_dtype))
