"""Sorting, searching and indexing on the NPU, against NumPy, and what goes to the host instead."""

import itertools
import warnings

import numpy as np
import pytest
from npu_arrays import back, on_npu

import ascend_array_api as xp
from ascend_array_api import runtime

FLOATS = ["float32", "float16"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8"]
SORTED = [*FLOATS, *INTEGERS]
MOVED = [*SORTED, "uint16", "uint64", "float64", "complex64", "bool"]


@pytest.fixture
def on_device(control):
    """Whatever the host computes is an error."""
    runtime.set_fallback("error")
    yield
    runtime.set_fallback("warn")


def numbers(shape, dtype, seed=0):
    """Few different values, so that there are many equal ones."""
    random = np.random.default_rng(seed)
    low = 0 if np.dtype(dtype).kind in "ub" else -3
    return random.integers(low, 4, shape).astype(dtype)


VIEWS = {
    "whole": lambda a: a,
    "backwards": lambda a: a[::-1, ::2],
    "transposed": lambda a: a.T,
    "one row": lambda a: a[1],
}


@pytest.mark.parametrize("dtype", SORTED)
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("descending", [False, True])
def test_sort_and_argsort(on_device, dtype, view, descending):
    a = numbers((6, 40), dtype)
    seen = VIEWS[view](a)
    for axis in range(-seen.ndim, seen.ndim):
        x = VIEWS[view](on_npu(a))
        keys = -seen.astype(np.int64) if descending else seen
        order = np.argsort(keys, axis=axis, stable=True)
        got = back(xp.argsort(x, axis=axis, descending=descending))
        assert got.dtype == np.int64
        np.testing.assert_array_equal(got, order)
        ordered = back(xp.sort(x, axis=axis, descending=descending))
        assert ordered.dtype == dtype
        np.testing.assert_array_equal(ordered, np.take_along_axis(seen, order, axis))


def test_sorting_with_nan_is_the_hosts():
    a = np.asarray([2, np.nan, -np.inf, np.inf, np.nan, -0.0, 0.0], np.float32)
    with pytest.warns(runtime.HostFallbackWarning, match="sort: npu:0"):
        np.testing.assert_array_equal(back(xp.sort(on_npu(a))), np.sort(a))
    np.testing.assert_array_equal(back(xp.argsort(on_npu(a))), np.argsort(a, stable=True))


@pytest.mark.parametrize("dtype", [*SORTED, "float64"])
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_the_first_extreme(on_device, dtype, view, name):
    a = numbers((6, 40), dtype, seed=1)
    seen, find = VIEWS[view](a), getattr(np, name)
    for axis, keepdims in itertools.product([None, *range(-seen.ndim, seen.ndim)], [False, True]):
        got = back(getattr(xp, name)(VIEWS[view](on_npu(a)), axis=axis, keepdims=keepdims))
        assert got.dtype == np.int64
        np.testing.assert_array_equal(got, find(seen, axis=axis, keepdims=keepdims))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_nan_is_the_extreme(on_device, dtype, name):
    values = [1, np.nan, np.inf, -np.inf, 0.0, -0.0]
    rows = np.asarray(list(itertools.permutations(values, 4)), dtype)
    got = back(getattr(xp, name)(on_npu(rows), axis=1))
    np.testing.assert_array_equal(got, getattr(np, name)(rows, axis=1))


@pytest.mark.parametrize("dtype", MOVED)
@pytest.mark.parametrize("view", VIEWS)
def test_take(on_device, dtype, view):
    a = numbers((6, 40), dtype)
    seen = VIEWS[view](a)
    for axis in range(seen.ndim):
        extent = seen.shape[axis]
        for at in ([0], [extent - 1, 0, 0, extent // 2], [-1, -extent, 1]):
            for index in ("int64", "int8"):
                x, indices = VIEWS[view](on_npu(a)), on_npu(np.asarray(at, index))
                got = back(xp.take(x, indices, axis=axis))
                assert got.dtype == dtype
                np.testing.assert_array_equal(got, np.take(seen, at, axis=axis))


@pytest.mark.parametrize("dtype", MOVED)
@pytest.mark.parametrize("shapes", [((6, 5), (6, 3)), ((1, 5), (4, 3)), ((4, 5), (1, 7))])
def test_take_along_axis(on_device, dtype, shapes):
    a = numbers(shapes[0], dtype)
    at = np.random.default_rng(2).integers(-5, 5, shapes[1])
    rows = max(shapes[0][0], shapes[1][0])
    expected = np.take_along_axis(np.broadcast_to(a, (rows, 5)), at, axis=1)
    np.testing.assert_array_equal(back(xp.take_along_axis(on_npu(a), on_npu(at), axis=1)), expected)
    got = xp.take_along_axis(on_npu(a).T, on_npu(at).T, axis=0)
    np.testing.assert_array_equal(back(got), expected.T)


@pytest.mark.parametrize("at", [[5], [0, -6], [2**40]])
def test_indices_out_of_bounds_raise_at_the_call(on_device, at):
    x, indices = on_npu(numbers((5, 5), "float32")), on_npu(np.asarray(at))
    worst = at[-1]
    message = rf": index {worst} is out of bounds for axis 1 with extent 5"
    with pytest.raises(IndexError, match="take" + message):
        xp.take(x, indices, axis=1)
    with pytest.raises(IndexError, match="take_along_axis" + message):
        xp.take_along_axis(x, xp.broadcast_to(indices, (5, len(at))), axis=1)


@pytest.mark.parametrize("dtype", MOVED)
@pytest.mark.parametrize("shape", [(5, 7), (7, 5), (2, 4, 4), (1, 1)])
@pytest.mark.parametrize("name", ["tril", "triu"])
def test_triangles(on_device, dtype, shape, name):
    a = numbers(shape, dtype) + np.ones((), dtype)
    for k in (-9, -2, 0, 1, 3, 9):
        np.testing.assert_array_equal(
            back(getattr(xp, name)(on_npu(a), k=k)), getattr(np, name)(a, k)
        )


@pytest.mark.parametrize("dtype", [*MOVED, "complex128"])
def test_joining_is_copying_on_the_device(on_device, control, dtype):
    a, b = numbers((3, 40), dtype), numbers((3, 40), dtype, seed=5)
    x, y = on_npu(a), on_npu(b)
    runtime.evaluate(x + x if dtype != "bool" else x | x, y + y if dtype != "bool" else y | y)
    control.reset_counters()
    for axis in (0, 1):
        np.testing.assert_array_equal(
            back(xp.concat([x, y], axis=axis)), np.concatenate([a, b], axis)
        )
        np.testing.assert_array_equal(back(xp.stack([x, y], axis=axis)), np.stack([a, b], axis))
    np.testing.assert_array_equal(back(xp.roll(x, 7, axis=1)), np.roll(a, 7, 1))
    np.testing.assert_array_equal(back(xp.flip(x)), np.flip(a))
    np.testing.assert_array_equal(back(xp.repeat(x, 3, axis=1)), np.repeat(a, 3, 1))
    np.testing.assert_array_equal(back(xp.tile(x, (2, 2))), np.tile(a, (2, 2)))
    np.testing.assert_array_equal(back(xp.where(on_npu(a != 0), x, y)), np.where(a != 0, a, b))


def test_every_route_to_the_host_has_a_reason():
    routes = runtime.routing(device="npu:0")
    on_host = [r for r in routes if r.kind == "host"]
    assert {r.op for r in on_host} >= {"hypot", "fft.fft", "linalg.eigh", "unique_all"}
    assert all(r.reason for r in on_host)
    assert not any(r.reason for r in routes if r.kind != "host")
    assert {r.op for r in routes if r.kind == "native"} >= {"sort", "argsort", "argmax", "argmin"}


def test_empty_results_are_quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = on_npu(np.ones((0, 3), np.float32))
        assert back(xp.sort(x)).shape == (0, 3)
        assert back(xp.take(x, on_npu(np.asarray([], np.int64)), axis=1)).shape == (0, 0)
        assert back(xp.tril(x)).shape == (0, 3)
