"""Manipulation functions: exact, for every dtype and layout."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .core import ALL, LAYOUTS, Kit, NDArray, add, check, samples
from .elementwise import promoted

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
            want = row.want(x)
            for layout in LAYOUTS:
                got = row.call(f, k.to(x, layout))
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


def _joins(dtype: str) -> Callable[[Kit], None]:
    def body(k: Kit) -> None:
        concat, stack = k.fn("concat"), k.fn("stack")
        for i, (shape, axis) in enumerate(
            (
                ((65,), 0),
                ((3, 5), 0),
                ((3, 5), 1),
                ((3, 5), -1),
                ((2, 3, 4), 1),
                ((2, 0), 0),
                ((3, 5), None),
            )
        ):
            parts = []
            for m in (0, 1, 3):
                s = list(shape)
                if axis is not None:
                    s[axis] += m
                parts.append(samples(dtype, math.prod(s), k.rng).reshape(s))
            for j, layout in enumerate(LAYOUTS):
                other = list(LAYOUTS)[(i + j + 1) % len(LAYOUTS)]
                raw = [
                    k.to(p, lay)
                    for p, lay in zip(parts, (layout, other, "contiguous"), strict=True)
                ]
                k.same(
                    concat(raw, axis=axis),
                    np.concatenate(parts, axis=axis),
                    f"concat({dtype}{list(shape)}, axis={axis}, {layout})",
                )
                same = [k.to(parts[0], layout), k.to(parts[0], other)]
                at = 0 if axis is None else axis
                k.same(
                    stack(tuple(same), axis=at),
                    np.stack([parts[0]] * 2, axis=at),
                    f"stack({dtype}{list(shape)}, axis={at}, {layout})",
                )
        a, b = k.to(np.ones((2, 3), dtype)), k.to(np.ones((3, 2), dtype))
        k.raises(lambda: concat([a, b], axis=0), "concat of shapes (2, 3) and (3, 2)")
        k.raises(lambda: concat([a, a], axis=2), "concat(axis=2) of rank 2")

    return body


@check(CHAPTER, "concat", "promotion")
def _concat_promotes(k: Kit) -> None:
    for function in ("concat", "stack"):
        f = k.fn(function)
        for a in ALL:
            for b in ALL:
                joint = promoted(a, b)
                if joint is None:
                    continue
                x, y = samples(a, 9, k.rng, "mild"), samples(b, 9, k.rng, "mild")
                ref = np.concatenate if function == "concat" else np.stack
                k.same(
                    f([k.to(x), k.to(y)]),
                    ref([x.astype(joint), y.astype(joint)]),
                    f"{function}({a}, {b})",
                )


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
            want = np.repeat(x, counts, axis=axis)
            for layout in LAYOUTS:
                got = f(k.to(x, layout), k.to(np.array(counts, index)), axis=axis)
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
        got = f(k.to(x), k.to(y, "reversed"))
        k.true(isinstance(got, tuple) and len(got) == 2, "broadcast_arrays must return a tuple")
        for g, w in zip(got, np.broadcast_arrays(x, y), strict=True):
            k.same(g, w, f"broadcast_arrays({dtypes[0]}[3,1], {dtypes[1]}[5])")


@check(CHAPTER, "errors", "shapes and axes")
def _errors(k: Kit) -> None:
    x = k.to(np.zeros((2, 3), "float32"))
    xp = k.xp
    k.raises(lambda: xp.reshape(x, (4, 2)), "reshape((2, 3) -> (4, 2))")
    k.raises(lambda: xp.reshape(x, (-1, -1)), "reshape with two -1")
    k.raises(lambda: xp.squeeze(x, 0), "squeeze of an axis of size 2", ValueError)
    k.raises(lambda: xp.squeeze(x, 2), "squeeze of axis 2 of rank 2")
    k.raises(lambda: xp.expand_dims(x, 3), "expand_dims(rank 2, 3)", IndexError)
    k.raises(lambda: xp.expand_dims(x, -4), "expand_dims(rank 2, -4)", IndexError)
    k.raises(lambda: xp.expand_dims(x, (0, 0)), "expand_dims(rank 2, (0, 0))")
    k.raises(lambda: xp.permute_dims(x, (0, 2)), "permute_dims(rank 2, (0, 2))")
    k.raises(lambda: xp.permute_dims(x, (0, 0)), "permute_dims(rank 2, (0, 0))")
    k.raises(lambda: xp.flip(x, axis=2), "flip(rank 2, axis=2)")
    k.raises(lambda: xp.roll(x, 1, axis=2), "roll(rank 2, axis=2)")
    k.raises(lambda: xp.moveaxis(x, 0, 2), "moveaxis(rank 2, 0, 2)")
    k.raises(lambda: xp.broadcast_to(x, (3, 3)), "broadcast_to((2, 3) -> (3, 3))")
    k.raises(lambda: xp.broadcast_to(x, (3,)), "broadcast_to((2, 3) -> (3,))")
    k.raises(lambda: xp.unstack(x, axis=2), "unstack(rank 2, axis=2)")
    k.raises(
        lambda: xp.stack([x, xp.zeros((3, 2), dtype=xp.float32)]),
        "stack of shapes (2, 3) and (3, 2)",
    )


@check(CHAPTER, "reshape", "copy")
def _reshape_copy(k: Kit) -> None:
    x = k.to(np.arange(6, dtype="int32"))
    y = k.xp.reshape(x, (2, 3), copy=True)
    y[0, 0] = 77
    k.same(x, np.arange(6, dtype="int32"), "x after a write to reshape(x, copy=True)")
    turned = k.xp.permute_dims(k.xp.reshape(x, (2, 3)), (1, 0))
    try:
        z = k.xp.reshape(turned, (6,), copy=False)
    except ValueError:
        return
    k.same(z, np.arange(6, dtype="int32").reshape(2, 3).T.reshape(6), "reshape(x.T, copy=False)")


for _function in dict.fromkeys(row.function for row in ROWS):
    for _dtype in ALL:
        add(CHAPTER, _function, _dtype, table(_function, _dtype))
for _dtype in ALL:
    add(CHAPTER, "concat", _dtype, _joins(_dtype))
    add(CHAPTER, "repeat", f"counts-{_dtype}", _repeats(_dtype))
