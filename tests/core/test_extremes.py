"""argmax and argmin along every axis of every layout, beside NumPy: short and long lines."""

import numpy as np
import pytest

import ascend_array_api as xp

SHAPES = [(1,), (65,), (1000,), (3, 5), (300, 8), (300, 64), (40, 300), (1000, 17), (5, 16, 33)]
DTYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
DTYPES += ["float32", "float64", "float16"]


def _values(rng, dtype, shape, kind):
    """Return few distinct values with NaN or signed zeros, or the whole range with its ends."""
    if dtype.startswith("float"):
        x = rng.integers(-3, 4, shape).astype(dtype)
        if kind == "special":
            x[rng.random(shape) < 0.5] *= -0.0
            x[rng.random(shape) < 0.05] = np.nan
        return x
    ends = np.iinfo(dtype)
    x = rng.integers(ends.min, ends.max, shape, dtype=dtype, endpoint=True)
    if kind == "special":
        x[rng.random(shape) < 0.3] = ends.min
        x[rng.random(shape) < 0.3] = ends.max
    return x


def _layouts(a):
    yield a, xp.asarray(a)
    if a.ndim > 1:
        order = (a.ndim - 1, *range(1, a.ndim - 1), 0)
        yield a.transpose(order), xp.permute_dims(xp.asarray(a), order)
        yield a[..., ::-1], xp.asarray(a)[..., ::-1]
        yield a[::2], xp.asarray(a)[::2, ...]


@pytest.mark.parametrize("kind", ["usual", "special"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_positions_of_extremes(dtype, kind):
    rng = np.random.default_rng(7)
    for shape in SHAPES:
        for expected, x in _layouts(_values(rng, dtype, shape, kind)):
            for axis in (None, *range(x.ndim)):
                for name in ("argmax", "argmin"):
                    got = np.asarray(getattr(xp, name)(x, axis=axis))
                    want = getattr(np, name)(expected, axis=axis)
                    assert np.array_equal(got, want), (shape, x.shape, axis, name)


def _rows(rng, dtype, n):
    """Return layouts of 133 rows of n: adjacent, in wider rows, evenly and unevenly spaced."""
    wide = _values(rng, dtype, (7, 19, n + 3), "special")
    if dtype.startswith("float"):
        wide[rng.random(wide.shape) < 0.1] = np.nan
        wide[0] = np.where(rng.random(wide[0].shape) < 0.3, np.nan, np.inf)
        wide[1] = np.where(rng.random(wide[1].shape) < 0.3, -np.inf, 0.0)
    x = xp.asarray(wide)
    adjacent = np.ascontiguousarray(wide[..., :n]).reshape(133, n)
    yield adjacent, xp.asarray(adjacent)
    yield wide[..., 2 : n + 2], x[..., 2 : n + 2]
    yield wide[::-2, ::-1, 1 : n + 1], x[::-2, ::-1, 1 : n + 1]
    same = np.broadcast_to(wide[2, 3, :n], (37, n))
    yield same, xp.broadcast_to(x[2, 3, :n], (37, n))


@pytest.mark.parametrize("dtype", DTYPES)
def test_short_rows_of_every_length(dtype):
    rng = np.random.default_rng(11)
    for n in (*range(1, 42), 63, 64, 65):
        for expected, x in _rows(rng, dtype, n):
            for name in ("argmax", "argmin"):
                got = np.asarray(getattr(xp, name)(x, axis=-1))
                want = getattr(np, name)(expected, axis=-1)
                assert np.array_equal(got, want), (n, x.shape, name)
