"""Operations that run as one instruction give the bits that they give one by one."""

import itertools
import operator

import numpy as np
import pytest

import ascend_array_api as xp
from ascend_array_api import runtime

OPS = [operator.add, operator.sub, operator.mul]
SPECIAL = [0.0, -0.0, 1.0, -1.5, 3.0e38, -3.0e38, 1.0e-38, 1.0e-45, np.inf, -np.inf]


def bits(array):
    """Return the bits of an array, with one NaN for all."""
    a = np.asarray(array)
    return np.where(np.isnan(a), np.nan, a).view(f"uint{a.itemsize * 8}")


def values(dtype, seed):
    """Return special values and random ones, of a length that no vector divides."""
    rng = np.random.default_rng(seed)
    raw = np.concatenate([rng.permutation(SPECIAL), rng.standard_normal(6007)])
    with np.errstate(all="ignore"):
        return raw.astype(dtype)


@pytest.mark.parametrize("exchanged", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "complex64"])
def test_pairs(dtype, exchanged):
    """Each pair of operations, each operand an array, a row, one element or a Python scalar."""
    full = [xp.asarray(values(dtype, seed)) for seed in range(3)]
    scalar = 3 if dtype == "int32" else 2.5
    kinds = [lambda x: x, lambda x: x[5:6], lambda x: scalar]
    for first, second in itertools.product(OPS, OPS):
        for a, b, c in itertools.product(kinds, kinds, kinds):
            x, y, z = a(full[0]), b(full[1]), c(full[2])
            if not (isinstance(x, runtime.Array) or isinstance(y, runtime.Array)):
                continue
            inner = first(x, y)
            fused = second(z, inner) if exchanged else second(inner, z)
            step = first(x, y)
            runtime.evaluate(step)
            alone = second(z, step) if exchanged else second(step, z)
            runtime.evaluate(alone)
            np.testing.assert_array_equal(np.asarray(fused), np.asarray(alone))
            if dtype.startswith("float"):
                np.testing.assert_array_equal(bits(fused), bits(alone))


def test_results_that_are_needed_stay():
    a, b = (xp.asarray(values("float64", seed)) for seed in range(2))
    product = a * b
    total = product + 1.0
    twice = product + product
    chain = ((a * 2.0 - b) * a + b) * 0.5 - a
    x, y = np.asarray(a), np.asarray(b)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(np.asarray(product), x * y)
        np.testing.assert_array_equal(np.asarray(total), x * y + 1.0)
        np.testing.assert_array_equal(np.asarray(twice), x * y + x * y)
        np.testing.assert_array_equal(np.asarray(chain), ((x * 2.0 - y) * x + y) * 0.5 - x)


def test_in_place():
    a, b = values("float32", 0), values("float32", 1)
    x, y = xp.asarray(a), xp.asarray(b)
    with np.errstate(all="ignore"):
        for _ in range(3):
            z = x * y
            x += z
            x *= 0.5
            x -= y * x
            a += a * b
            a *= np.float32(0.5)
            a -= b * a
    np.testing.assert_array_equal(np.asarray(x), a)
