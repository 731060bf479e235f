"""What the NPU computes itself, for every dtype of the routing table, against the CPU.

The double's arithmetic is its own, so that this compares two implementations.
"""

import itertools
import warnings

import numpy as np
import pytest
from npu_arrays import back, on_npu

import ascend_array_api as xp
from ascend_array_api import _elementwise, runtime

NPU = [r for r in runtime.routing(device="npu:0") if r.kind in ("native", "wider")]
SPECIAL = {
    "f": [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1.5, 3.75, 100.25, np.inf, -np.inf, np.nan],
    "c": [0, 1, -1, 2.5 - 1j, -3 + 4j, 1j],
    "i": [0, 1, -1, 2, 7, -100, 127, -128],
    "u": [0, 1, 2, 3, 100, 127, 128, 255],
    "b": [False, True],
}
ULP = {"float16": 1, "bfloat16": 1, "float32": 2, "float64": 8, "complex64": 2, "complex128": 8}


def values(dtype):
    """Special values and extremes of a dtype."""
    dtype = np.dtype(dtype)
    kind = "f" if dtype.name == "bfloat16" else dtype.kind
    found = np.asarray(SPECIAL[kind])
    if kind in "iu":
        info = np.iinfo(dtype)
        found = np.asarray([*found, info.min, info.max, info.max - 1], dtype=object)
        found = found[(found >= info.min) & (found <= info.max)]
    return found.astype(dtype)


def packed_bytes(array):
    """Return the bytes of an array on the device, where bool takes a bit."""
    return -(-array.size // 8) if array.dtype == bool else array.nbytes


def close(got, expected, what):
    assert got.dtype == expected.dtype, what
    if got.dtype.kind in "biu":
        np.testing.assert_array_equal(got, expected, err_msg=what)
        return
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    eps = 2.0**-7 if got.dtype.name == "bfloat16" else np.finfo(got.dtype).eps
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(
            got.astype(wide), expected.astype(wide), rtol=ULP[got.dtype.name] * eps, err_msg=what
        )


def arity(op):
    function = getattr(xp, op)
    return {"clip": 3, "where": 3}.get(op) or function.__code__.co_posonlyargcount


ELEMENTWISE = sorted({r.op for r in NPU if hasattr(_elementwise, r.op) or r.op == "where"})


@pytest.mark.parametrize("op", ELEMENTWISE)
def test_elementwise(op, control):
    for route in [r for r in NPU if r.op == op]:
        v = values(route.dtype)
        n = arity(op)
        grid = [
            np.asarray(c, dtype=route.dtype)
            for c in zip(*itertools.product(v, repeat=min(n, 2)), strict=True)
        ]
        if n == 3:
            grid = (
                [grid[0] > 0, *grid]
                if op == "where"
                else [grid[0], np.minimum(*grid), np.maximum(*grid)]
            )
        if op == "clip":
            grid = [
                g[~(np.isnan(grid[1]) | np.isnan(grid[2]))] if g.dtype.kind == "f" else g
                for g in grid
            ]
        if op == "pow" and route.dtype.kind in "fc":
            keep = np.isfinite(grid[1])
            grid = [g[keep] for g in grid]
        arrays = [on_npu(g) for g in grid]
        control.reset_counters()
        got = back(getattr(xp, op)(*arrays))
        assert control.counter("bytes_d2h") == packed_bytes(got), route
        expected = np.asarray(getattr(xp, op)(*(xp.asarray(g, device="cpu") for g in grid)))
        close(got, expected, f"{op} {route.dtype}")


@pytest.mark.parametrize(
    "op",
    "add subtract multiply divide equal not_equal less less_equal greater greater_equal pow "
    "maximum".split(),
)
def test_numbers_on_either_side(op):
    dtypes = "float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16".split()
    for dtype in dtypes:
        if op in ("divide", "pow") and dtype[0] in "iu":
            continue
        a = np.asarray([1, 2, 3, 50], dtype=dtype)
        f = getattr(xp, op)
        close(
            back(f(on_npu(a), 2)),
            np.asarray(f(xp.asarray(a, device="cpu"), 2)),
            f"{op} {dtype} right",
        )
        close(
            back(f(2, on_npu(a))),
            np.asarray(f(2, xp.asarray(a, device="cpu"))),
            f"{op} {dtype} left",
        )


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_parts_of_complex_numbers_do_not_mix_in_sums(control, dtype):
    special = [0.0, -0.0, 1.0, np.inf, -np.inf, np.nan]
    values = np.asarray([complex(r, i) for r in special for i in special], dtype)
    a, b = np.repeat(values, values.size), np.tile(values, values.size)
    x, y = on_npu(a), on_npu(b)
    control.reset_counters()
    got = back(x + y), back(x - y), back(x + 2), back(x[::2] - y[::2])
    assert control.counter("launches.aclnnAdd") + control.counter("launches.aclnnSub") == 4
    with np.errstate(all="ignore"):
        expected = a + b, a - b, a + values.dtype.type(2), (a - b)[::2]
    for each, right in zip(got, expected, strict=True):
        np.testing.assert_array_equal(each.real, right.real)
        np.testing.assert_array_equal(each.imag, right.imag)


REDUCTIONS = "sum prod mean var std min max all any count_nonzero".split()


@pytest.mark.parametrize("op", REDUCTIONS)
def test_reductions(op, control):
    random = np.random.default_rng(1)
    for route in [r for r in NPU if r.op == op]:
        a = random.integers(0, 4, (3, 4, 5)).astype(route.dtype)
        f = getattr(xp, op)
        for axis, keepdims in itertools.product([None, 0, -1, (0, 2), (1,)], [False, True]):
            x = on_npu(a)
            xs = xp.permute_dims(x, (2, 0, 1))[:, ::-1, :]
            control.reset_counters()
            got = back(f(xs, axis=axis, keepdims=keepdims))
            assert control.counter("bytes_d2h") == packed_bytes(got), route
            expected = np.asarray(
                f(
                    xp.permute_dims(xp.asarray(a, device="cpu"), (2, 0, 1))[:, ::-1, :],
                    axis=axis,
                    keepdims=keepdims,
                )
            )
            close(got, expected, f"{op} {route.dtype} {axis}")


@pytest.mark.parametrize("op", ["cumulative_sum", "cumulative_prod"])
def test_running_sums(op, control):
    for route in [r for r in NPU if r.op == op]:
        a = (np.arange(24).reshape(2, 3, 4) % 3 + 1).astype(route.dtype)
        for axis, initial in itertools.product([0, 1, 2], [False, True]):
            f = getattr(xp, op)
            got = back(f(on_npu(a), axis=axis, include_initial=initial))
            expected = np.asarray(
                f(xp.asarray(a, device="cpu"), axis=axis, include_initial=initial)
            )
            close(got, expected, f"{op} {route.dtype} {axis} {initial}")


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize(
    "shapes",
    [
        ((3, 4), (4, 5)),
        ((4,), (4,)),
        ((2, 3, 4), (4, 5)),
        ((2, 1, 3, 4), (5, 4, 2)),
        ((4,), (4, 3)),
    ],
)
def test_products(dtype, shapes):
    random = np.random.default_rng(2)
    a, b = (random.integers(-3, 4, s).astype(dtype) for s in shapes)
    got = back(on_npu(a) @ on_npu(b))
    expected = np.asarray(xp.asarray(a, device="cpu") @ xp.asarray(b, device="cpu"))
    close(got, expected, "matmul")
    if a.ndim == b.ndim == 2:
        close(back(on_npu(b).T @ on_npu(a).T), expected.T, "transposed")


def test_precision_chooses_how_products_are_computed(control):
    a = np.random.default_rng(0).random((40, 50), dtype=np.float32)
    x = on_npu(a)
    exact = a.astype(np.float64) @ a.astype(np.float64).T
    for name in ("default", "mixed"):
        control.reset_counters()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the CPU, which may have no unit for it
            with runtime.precision(name):
                y = x @ x.T
        error = np.max(np.abs(back(y) - exact) / exact)
        assert control.counter("launches.aclnnMatmul") == 1
        assert (1e-5 < error < 2**-9) if name == "mixed" else error < 1e-6
    runtime.set_fallback("silent")
    with runtime.precision("high"):
        y = x @ x.T
    np.testing.assert_array_equal(back(y), exact.astype(np.float32))
    assert control.counter("launches.aclnnMatmul") == 1
    runtime.set_fallback("warn")


CONVERTIBLE = [r.dtype for r in runtime.routing("add", device="npu:0")]


def test_conversions():
    for a, b in itertools.product(CONVERTIBLE, repeat=2):
        if (a.kind == "c" and b.kind != "c") or "bfloat16" in (a.name, b.name):
            continue
        v = np.asarray([0, 1, 2, 3, 100]).astype(a)
        close(back(xp.astype(on_npu(v), b)), v.astype(b), f"{a} to {b}")


REAL = [d for d in CONVERTIBLE if d.kind in "iuf"]
BEYOND = [0.5, 1.9, 128, 129, 255, 256, 300, 2047, 2048, 40000, 65536, 2**31 - 1, 2**31, 2**32]
BEYOND += [2**40, 2**63 - 1, 2**63, 2**64, 1e30, np.inf, np.nan]


@pytest.mark.parametrize("a", REAL, ids=str)
def test_conversions_of_extremes_are_those_of_the_cpu(a):
    """Integers wrap; what floats beyond a range of integers become is not documented."""
    if a.kind == "f":
        with np.errstate(over="ignore"):
            v = np.asarray(BEYOND + [-x for x in BEYOND], np.float64).astype(a)
    else:
        info = np.iinfo(a)
        fit = {
            x for b in BEYOND if b < 1e20 for x in (int(b), -int(b)) if info.min <= x <= info.max
        }
        v = np.asarray(sorted(fit | {info.min, info.max}), a)
    for b in REAL:
        fits = v
        if a.kind == "f" and b.kind in "iu":
            info = np.iinfo(b)
            whole = np.trunc(v.astype(np.float64))
            fits = v[(whole >= float(info.min)) & (whole < float(info.max) + (info.bits < 64))]
            assert fits.size > 3
        for layout in (slice(None), slice(None, None, -2)):
            expected = np.asarray(xp.astype(xp.asarray(fits[layout], device="cpu"), b))
            got = back(xp.astype(on_npu(fits)[layout], b))
            np.testing.assert_array_equal(got, expected, err_msg=f"{a} to {b}")
