"""Views are metadata: they alias their base, in any layout, of any rank."""

import itertools
import math

import numpy as np
import pytest

import ascend_array_api as xp
from ascend_array_api import runtime

DTYPES = """bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64
complex128""".split()

#: How to take a view of a (4, 6, 5) array, on either library.
VIEWS = {
    "slice": lambda m, x: x[1:3, ::2, 2:],
    "integer": lambda m, x: x[2],
    "negative": lambda m, x: x[::-1, :, ::-2],
    "new axis": lambda m, x: x[:, None, 1:, :, None],
    "ellipsis": lambda m, x: x[..., 3],
    "0-d": lambda m, x: x[1, 2, 3, ...],
    "permuted": lambda m, x: m.permute_dims(x, (2, 0, 1)),
    "mT": lambda m, x: x.mT,
    "T": lambda m, x: x[1].T,
    "matrix_transpose": lambda m, x: m.matrix_transpose(x),
    "expand_dims": lambda m, x: m.expand_dims(x, axis=(0, 2)),
    "moveaxis": lambda m, x: m.moveaxis(x, 0, 2),
    "squeeze": lambda m, x: m.squeeze(x[:, 1:2], 1),
    "reshape": lambda m, x: m.reshape(x, (8, 15)),
    "reshape, split": lambda m, x: m.reshape(x[:, ::2], (2, 2, 3, 5)),
    "view of view": lambda m, x: m.permute_dims(x[1:, ::-1], (1, 2, 0))[::2, 1:, ::-1],
    "empty": lambda m, x: x[2:2],
}


def base(dtype, shape=(4, 6, 5)):
    n = math.prod(shape)
    values = np.arange(n)
    return (values % 3 == 0 if dtype == "bool" else values).astype(dtype).reshape(shape)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", VIEWS)
def test_view_aliases_and_writes_through(name, dtype, check):
    a = base(dtype)
    x = xp.asarray(a)
    v, w = VIEWS[name](xp, x), VIEWS[name](np, a)
    check(v, w)
    value = True if dtype == "bool" else 99
    v[...] = value
    w[...] = value
    check(x, a)
    x[...] = False if dtype == "bool" else 1
    a[...] = False if dtype == "bool" else 1
    check(v, w)


@pytest.mark.parametrize("name", VIEWS)
def test_view_of_large_array_allocates_nothing(name, used):
    x = xp.zeros((4, 6, 50_000))
    runtime.evaluate(x)
    before = used()
    v = VIEWS[name](xp, x) if name not in ("reshape", "reshape, split") else x[1:]
    assert used() == before
    del v


def test_operators_in_place_write_through_views(check):
    a = np.arange(24.0).reshape(4, 6)
    x = xp.asarray(a)
    y = x[::-1, 1::2]
    b = a[::-1, 1::2]
    z = y
    y += 10
    b += 10
    assert z is y
    y *= xp.asarray([1.0, 2.0, 3.0])
    b *= np.array([1.0, 2.0, 3.0])
    check(x, a)


def test_real_and_imag_are_views(check):
    x = xp.asarray([1 + 2j, 3 + 4j, 5 + 6j])
    re, im = xp.real(x), xp.imag(x)
    re[1] = 30.0
    im[::2] = 0.0
    check(x, np.array([1 + 0j, 30 + 4j, 5 + 0j]))
    check(xp.real(x[::-1]), np.array([5.0, 30.0, 1.0]))


def test_broadcast_views_are_read_only():
    x = xp.asarray([1.0, 2.0, 3.0])
    y = xp.broadcast_to(x, (4, 3))
    for write in (
        lambda: y.__setitem__((0, 0), 1.0),
        lambda: y.__setitem__(..., 1.0),
        lambda: y.__iadd__(1.0),
        lambda: y[1:].__setitem__((0, 0), 1.0),
    ):
        with pytest.raises(ValueError, match=r"broadcast|read-only|overlap"):
            write()
    with pytest.raises(ValueError, match=r"broadcast|read-only|overlap"):
        xp.broadcast_arrays(x, xp.zeros((2, 3)))[0][0, 0] = 5.0
    assert float(x[0]) == 1.0


def test_broadcast_view_sees_writes_to_its_base(check):
    x = xp.asarray([1, 2, 3])
    y = xp.broadcast_to(x, (2, 3))
    x[1] = 7
    check(y, np.array([[1, 7, 3], [1, 7, 3]]))


@pytest.mark.parametrize("dtype", ["bool", "int16", "float64", "complex64"])
def test_zero_strides_in_arithmetic(dtype, check):
    a = base(dtype, (1, 33))
    x = xp.broadcast_to(xp.asarray(a), (70, 33))
    w = np.broadcast_to(a, (70, 33))
    check(xp.equal(x, x), w == w)
    check(xp.concat([x, x[::-1]], axis=0), np.concatenate([w, w]))
    check(xp.where(x == x, x, x), w)
    check(xp.reshape(x.T, (-1,)), w.T.reshape(-1))


# ---------------------------------------------------------------- slices as Python has them


def test_slices_clip_as_lists_do(check):
    bounds = [None, 0, 1, 3, 4, 5, 99, -1, -4, -5, -99, 2**62, -(2**62), 2**70, -(2**70)]
    steps = [None, 1, 2, 5, 2**62, 2**70, -1, -3, -(2**62)]
    for n in (0, 1, 4):
        a = np.arange(n)
        x = xp.asarray(a)
        for start, stop, step in itertools.product(bounds, bounds, steps):
            s = slice(start, stop, step)
            want = np.array(list(range(n))[s], dtype=np.int64)
            check(x[s], want)


def test_zero_step_raises():
    with pytest.raises(ValueError, match="step"):
        xp.arange(3)[::0]


# ---------------------------------------------------------------- rank, 0-d, zero size


def test_ranks_up_to_64(check):
    assert xp.__array_namespace_info__().capabilities()["max dimensions"] == 64
    for rank in (5, 8, 9, 16, 31, 32, 33, 63, 64):
        shape = tuple(2 if i in (1, rank - 2) else 1 for i in range(rank))
        a = np.arange(4)
        x = xp.reshape(xp.asarray(a), shape)
        w = a.reshape(shape)
        assert x.ndim == rank
        check(x + x.mT if shape[-1] == shape[-2] else x + x, w + w)
        check(xp.permute_dims(x, tuple(reversed(range(rank)))), w.T)
        check(xp.flip(x), np.flip(w))
        check(x[(0,) * rank], w[(0,) * rank])
        check(x[(slice(None, None, -1),) * rank], w[(slice(None, None, -1),) * rank])
        check(xp.sum(x, axis=tuple(range(0, rank, 2))), w.sum(axis=tuple(range(0, rank, 2))))
        y = xp.zeros(shape)
        y[...] = 3.0
        check(y, np.full(shape, 3.0))


def test_more_than_64_dimensions_raise():
    x = xp.zeros((1,) * 64)
    for call in (
        lambda: xp.zeros((1,) * 65),
        lambda: xp.expand_dims(x, axis=0),
        lambda: x[None],
        lambda: xp.reshape(x, (1,) * 65),
        lambda: xp.broadcast_to(x, (1,) * 65),
        lambda: xp.stack([x, x]),
        lambda: xp.meshgrid(*[xp.zeros(1)] * 65),
        lambda: xp.tile(x, (1,) * 65),
        lambda: xp.linalg.outer(x, x),
        lambda: xp.tensordot(x, x, axes=0),
    ):
        with pytest.raises((ValueError, IndexError, TypeError)):
            call()


UNARY_ON_ALL = ["positive", "abs", "square", "sign", "negative", "round"]


@pytest.mark.parametrize("name", UNARY_ON_ALL)
@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (0, 5)])
def test_zero_dimensional_and_empty_arrays(name, shape, check):
    a = np.zeros(shape) + 2.5
    x = xp.zeros(shape) + 2.5
    assert x.shape == shape
    ref = {"round": np.round}.get(name) or getattr(np, name)
    check(getattr(xp, name)(x), ref(a))
    check(x + 1, np.asarray(a + 1))
    check(xp.reshape(x, (-1, 1)) if x.size else xp.reshape(x, (0, 1)), a.reshape(a.size, 1))


def test_operations_on_empty_arrays(check):
    x = xp.zeros((0, 3))
    check(xp.sum(x, axis=0), np.zeros(3))
    check(xp.sum(x), np.asarray(0.0))
    check(xp.prod(x, axis=0), np.ones(3))
    check(xp.any(x == 0), np.asarray(False))
    check(xp.all(x != 0), np.asarray(True))
    check(xp.sort(x, axis=0), np.zeros((0, 3)))
    check(xp.concat([x, x]), np.zeros((0, 3)))
    check(xp.matmul(xp.zeros((2, 0)), xp.zeros((0, 3))), np.zeros((2, 3)))
    check(x[x == 1.0], np.zeros(0))
    for name in ("max", "min", "argmax", "argmin"):
        with pytest.raises(ValueError, match=name):
            getattr(xp, name)(x, axis=0)
    with pytest.raises(IndexError):
        x[0, 0]
    x[...] = 5.0
    check(x, np.zeros((0, 3)))
