"""Manipulation functions: exact, for every dtype and layout."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .core import ALL, Failure, Kit, add, check
from .elementwise import promoted
from .layouts import LAYOUTS, WRITABLE, NDArray, laid, repeated
from .values import samples

CHAPTER = "manipulation"


@dataclass(frozen=True)
class Row:
    """One call: the shape of its input, its arguments, the same on NumPy."""

    function: str
    shape: tuple[int, ...]
    call: Callable[[Any, Any], Any]
    want: Callable[[NDArray], Any]


def _row(function: str, shape: tuple[int, ...], want: Any, *args: Any, **kw: Any) -> Row:
    return Row(function, shape, lambda f, x: f(x, *args, **kw), want)


def _rows() -> list[Row]:
    rows: list[Row] = []
    for shape in ((), (1,), (65,), (3, 5), (2, 3, 4), (0, 3), (2, 1, 3, 1, 2, 2)):
        n = math.prod(shape)
        for new in ((n,), (1, n), (n, 1, 1), (-1,) if n else (0,), shape[::-1], (*shape, 1)):
            rows.append(_row("reshape", shape, lambda x, new=new: x.reshape(new), new))
            rows.append(_row("reshape", shape, lambda x, new=new: x.reshape(new), new, copy=True))
        big = (2, *shape)
        rows.append(_row("broadcast_to", shape, lambda x, big=big: np.broadcast_to(x, big), big))
        rows.append(_row("flip", shape, lambda x: np.flip(x)))
        rows.append(_row("roll", shape, lambda x: np.roll(x, 3), 3))
        rows.append(_row("roll", shape, lambda x: np.roll(x, -70), -70))
        rows.append(_row("repeat", shape, lambda x: np.repeat(x, 3), 3))
        rows.append(_row("repeat", shape, lambda x: np.repeat(x, 0), 0))
        reps = (2,) * max(1, len(shape))
        rows.append(_row("tile", shape, lambda x, reps=reps: np.tile(x, reps), reps))
        rows.append(
            _row("tile", shape, lambda x, reps=reps: np.tile(x, (3, 1, *reps)), (3, 1, *reps))
        )
        rows.append(_row("tile", shape, lambda x: np.tile(x, (3,)), (3,)))
        for axis in range(-len(shape) - 1, len(shape) + 1):
            rows.append(
                _row("expand_dims", shape, lambda x, axis=axis: np.expand_dims(x, axis), axis)
            )
        both = (0, len(shape) + 1)
        rows.append(_row("expand_dims", shape, lambda x, both=both: np.expand_dims(x, both), both))
        for axis in range(-len(shape), len(shape)):
            rows.append(_row("flip", shape, lambda x, axis=axis: np.flip(x, axis), axis=axis))
            rows.append(_row("roll", shape, lambda x, axis=axis: np.roll(x, 2, axis), 2, axis=axis))
            rows.append(
                _row("roll", shape, lambda x, axis=axis: np.roll(x, -4, axis), -4, axis=axis)
            )
            rows.append(
                _row("repeat", shape, lambda x, axis=axis: np.repeat(x, 2, axis), 2, axis=axis)
            )
            rows.append(
                _row(
                    "unstack", shape, lambda x, axis=axis: tuple(np.moveaxis(x, axis, 0)), axis=axis
                )
            )
            if shape[axis] == 1:
                rows.append(_row("squeeze", shape, lambda x, axis=axis: np.squeeze(x, axis), axis))
        if len(shape) >= 2:
            axes = tuple(reversed(range(len(shape))))
            turn = (*range(1, len(shape)), 0)
            back = tuple(a - len(shape) for a in turn)
            for p in (axes, turn, back):
                rows.append(_row("permute_dims", shape, lambda x, p=p: np.transpose(x, p), p))
            rows.append(_row("moveaxis", shape, lambda x: np.moveaxis(x, 0, -1), 0, -1))
            rows.append(
                _row(
                    "moveaxis", shape, lambda x: np.moveaxis(x, (0, -1), (-1, 0)), (0, -1), (-1, 0)
                )
            )
            rows.append(_row("flip", shape, lambda x: np.flip(x, (0, -1)), axis=(0, -1)))
            rows.append(
                _row("roll", shape, lambda x: np.roll(x, (1, -2), (0, 1)), (1, -2), axis=(0, 1))
            )
            rows.append(_row("matrix_transpose", shape, lambda x: np.swapaxes(x, -1, -2)))
    six = (2, 1, 3, 1, 2, 2)
    rows.append(_row("squeeze", six, lambda x: np.squeeze(x, (1, -3)), (1, -3)))
    return rows


ROWS = _rows()


def table(function: str, dtype: str) -> Callable[[Kit], None]:
    """Return the check of all rows of a function."""

    def body(k: Kit) -> None:
        f = k.fn(function)
        for row in ROWS:
            if row.function != function:
                continue
            x = samples(dtype, math.prod(row.shape), k.rng).reshape(row.shape)
            for layout, v in laid(x):
                want = row.want(v)
                got = row.call(f, k.to(v, layout))
                what = f"{function}({dtype}{list(row.shape)}, {layout})"
                if isinstance(want, tuple):
                    k.true(
                        isinstance(got, tuple) and len(got) == len(want),
                        f"{what}: must be a tuple of {len(want)}",
                    )
                    for g, w in zip(got, want, strict=True):
                        k.same(g, w, what)
                else:
                    k.same(got, np.asarray(want), what)

    return body


def _joins(name: str, dtype: str) -> Callable[[Kit], None]:
    """Return the check of concat or stack."""
    joins = name == "concat"
    ref: Callable[..., Any] = np.concatenate if joins else np.stack

    def body(k: Kit) -> None:
        f = k.fn(name)
        cases: tuple[tuple[tuple[int, ...], int | None], ...] = (
            ((65,), 0),
            ((3, 5), 0),
            ((3, 5), 1),
            ((3, 5), -1),
            ((2, 3, 4), 1),
            ((2, 0), 0),
            ((2, 1, 2, 1, 2, 3), 3),
            ((3, 5), None if joins else 2),
        )
        for i, (shape, axis) in enumerate(cases):
            sizes = [list(shape) for _ in range(3)]
            for n, size in zip((0, 1, 3), sizes, strict=True):
                if joins and axis is not None:
                    size[axis] += n
            parts = [samples(dtype, math.prod(s), k.rng).reshape(s) for s in sizes]
            for j, layout in enumerate(LAYOUTS):
                other = list(LAYOUTS)[(i + j + 1) % len(LAYOUTS)]
                lays = (layout, other, "contiguous")
                some = [repeated(p) if "broadcast" in lays else p for p in parts]
                raw = [k.to(p, lay) for p, lay in zip(some, lays, strict=True)]
                got = f(raw if j % 2 else tuple(raw), axis=axis)
                k.same(got, ref(some, axis=axis), f"{name}({dtype}{list(shape)}, {axis=}, {lays})")
        a = k.to(np.ones((2, 3), dtype))
        k.raises(lambda: f([a, a], axis=2 if joins else 3), f"{name} of rank 2: axis too large")

    return body


def _joins_promote(name: str) -> Callable[[Kit], None]:
    ref: Callable[..., Any] = np.concatenate if name == "concat" else np.stack

    def body(k: Kit) -> None:
        for a, b in itertools.product(ALL, ALL):
            joint = promoted(a, b)
            if joint is None or not k.has(a, b, joint):
                continue
            x, y = samples(a, 9, k.rng, "mild"), samples(b, 9, k.rng, "mild")
            got = k.fn(name)([k.to(x), k.to(y)])
            k.same(got, ref([x.astype(joint), y.astype(joint)]), f"{name}({a}, {b})")

    return body


def _repeats(dtype: str) -> Callable[[Kit], None]:
    def body(k: Kit) -> None:
        f = k.fn("repeat")
        index = k.default("indexing")
        x = samples(dtype, 20, k.rng).reshape(4, 5)
        for axis, counts in (
            (0, [0, 2, 1, 3]),
            (1, [1, 0, 0, 4, 2]),
            (None, list(range(20))),
            (-2, [3]),
        ):
            for layout, v in laid(x):
                want = np.repeat(v, counts, axis=axis)
                got = f(k.to(v, layout), k.to(np.array(counts, index)), axis=axis)
                k.same(got, want, f"repeat({dtype}[4,5], {counts}, axis={axis}, {layout})")

    return body


@check(CHAPTER, "broadcast_shapes", "table")
def _broadcast_shapes(k: Kit) -> None:
    f = k.fn("broadcast_shapes")
    for shapes in (
        (),
        ((),),
        ((3,),),
        ((1,), (3,)),
        ((2, 1), (3,)),
        ((0,), (1,)),
        ((4, 1, 3), (5, 1), (1,)),
        ((1,) * 8, (2, 3)),
    ):
        got = f(*shapes)
        k.true(
            type(got) is tuple and got == np.broadcast_shapes(*shapes),
            f"broadcast_shapes{shapes}: got {got!r}",
        )


@check(CHAPTER, "broadcast_shapes", "errors", "advice")
def _broadcast_shapes_errors(k: Kit) -> None:
    f = k.fn("broadcast_shapes")
    for shapes in (((2,), (3,)), ((0,), (2,)), ((2, 3), (2,))):
        k.raises(lambda shapes=shapes: f(*shapes), f"broadcast_shapes{shapes}", ValueError)


@check(CHAPTER, "broadcast_arrays", "table")
def _broadcast_arrays(k: Kit) -> None:
    f = k.fn("broadcast_arrays")
    for dtypes in (
        ("bool", "bool"),
        ("float32", "float64"),
        ("int8", "float32"),
        ("bool", "int64"),
    ):
        x, y = samples(dtypes[0], 3, k.rng).reshape(3, 1), samples(dtypes[1], 5, k.rng)
        for layout in WRITABLE:
            got = f(k.to(x, layout), k.to(y, layout))
            k.true(isinstance(got, tuple) and len(got) == 2, "broadcast_arrays must return a tuple")
            for g, w in zip(got, np.broadcast_arrays(x, y), strict=True):
                k.same(g, w, f"broadcast_arrays({dtypes[0]}[3,1], {dtypes[1]}[5], {layout})")


#: Calls on an array of shape (2, 3) that must raise, or should, or that users expect to raise.
ERRORS: tuple[
    tuple[str, str, tuple[Any, ...], dict[str, Any], tuple[type[Exception], ...]], ...
] = (
    ("reshape", "extra", ((4, 2),), {}, ()),
    ("reshape", "standard", ((-1, -1),), {}, ()),
    ("squeeze", "advice", (0,), {}, (ValueError,)),
    ("squeeze", "standard", (2,), {}, ()),
    ("expand_dims", "standard", (3,), {}, ()),
    ("expand_dims", "standard", (-4,), {}, ()),
    ("expand_dims", "advice", (3,), {}, (IndexError,)),
    ("expand_dims", "standard", ((0, 0),), {}, ()),
    ("permute_dims", "standard", ((0, 2),), {}, ()),
    ("permute_dims", "standard", ((0, 0),), {}, ()),
    ("flip", "standard", (), {"axis": 2}, ()),
    ("roll", "standard", (1,), {"axis": 2}, ()),
    ("moveaxis", "standard", (0, 2), {}, ()),
    ("broadcast_to", "standard", ((3, 3),), {}, ()),
    ("broadcast_to", "standard", ((3,),), {}, ()),
    ("repeat", "standard", (2,), {"axis": 2}, ()),
    ("unstack", "standard", (), {"axis": 2}, ()),
)


def _error(
    name: str, args: tuple[Any, ...], kw: dict[str, Any], types: tuple[type[Exception], ...]
) -> Callable[[Kit], None]:
    def body(k: Kit) -> None:
        x = k.to(np.zeros((2, 3), "float32"))
        shown = ", ".join([*map(str, args), *(f"{n}={v}" for n, v in kw.items())])
        k.raises(lambda: k.fn(name)(x, *args, **kw), f"{name}(x of shape (2, 3), {shown})", *types)

    return body


@check(CHAPTER, "reshape", "copy")
def _reshape_copy(k: Kit) -> None:
    f = k.fn("reshape")
    x = k.to(np.arange(6, dtype="int32"))
    y = f(x, (2, 3), copy=True)
    y[0, 0] = 77
    k.same(x, np.arange(6, dtype="int32"), "x after a write to reshape(x, copy=True)")
    k.same(
        f(x, (3, 2), copy=False), np.arange(6, dtype="int32").reshape(3, 2), "reshape(copy=False)"
    )


@check(CHAPTER, "reshape", "copy-error", "advice")
def _reshape_copy_error(k: Kit) -> None:
    x = k.fn("permute_dims")(k.to(np.arange(6, dtype="int32").reshape(2, 3)), (1, 0))
    try:
        got = k.fn("reshape")(x, (6,), copy=False)
    except ValueError:
        return
    except Exception as e:
        raise Failure(f"reshape(x.T, copy=False): {type(e).__name__}, not ValueError: {e}") from e
    k.same(got, np.arange(6, dtype="int32").reshape(2, 3).T.reshape(6), "reshape(x.T, copy=False)")


for _function in dict.fromkeys(row.function for row in ROWS):
    for _dtype in ALL:
        add(CHAPTER, _function, _dtype, table(_function, _dtype))
for _dtype in ALL:
    for _function in ("concat", "stack"):
        add(CHAPTER, _function, _dtype, _joins(_function, _dtype))
    add(CHAPTER, "repeat", f"counts-{_dtype}", _repeats(_dtype))
for _function in ("concat", "stack"):
    add(CHAPTER, _function, "promotion", _joins_promote(_function))
for _i, (_function, _group, _args, _kw, _types) in enumerate(ERRORS):
    add(CHAPTER, _function, f"error-{_i}", _error(_function, _args, _kw, _types), _group)
