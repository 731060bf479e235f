"""Groups of entries that read and write parts of one memory."""

import numpy as np
import pytest

import ascend_array_api as xp

SIZES = [4097, 16_384, 20_000, 50_001]


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", ["int8", "float32", "float64", "complex128"])
def test_a_copy_of_one_half_while_the_other_is_written(n, dtype):
    """The written result waits in its register until the copy has been taken."""
    for _ in range(3):
        a = np.arange(2 * n).astype(dtype)
        x, z = xp.asarray(a), xp.asarray(np.ones(n, dtype=dtype))
        y = xp.asarray(np.zeros(n, dtype=dtype))
        y[...] = x[:n]
        x[n:] = z + z
        assert np.array_equal(np.array(y, copy=True), a[:n])
        assert np.array_equal(np.array(x, copy=True), np.concatenate([a[:n], np.full(n, 2, dtype)]))


@pytest.mark.parametrize("n", SIZES)
def test_halves_that_are_exchanged(n):
    a = np.arange(2.0 * n)
    x = xp.asarray(a)
    t = xp.asarray(x[:n], copy=True)
    x[:n] = x[n:]
    x[n:] = t
    assert np.array_equal(np.asarray(x), np.concatenate([a[n:], a[:n]]))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("bit", [0, 1, 63, 64, 511])
def test_neighbouring_bits(n, bit):
    a = np.random.default_rng(n).random(2 * n + bit) < 0.5
    x = xp.asarray(a)
    x[bit : n + bit] ^= x[n + bit :]
    x[n + bit :] = ~x[bit : n + bit]
    want = a.copy()
    want[bit : n + bit] ^= want[n + bit :]
    want[n + bit :] = ~want[bit : n + bit]
    assert np.array_equal(np.array(x, copy=True), want)


@pytest.mark.parametrize("n", [10, *SIZES])
@pytest.mark.parametrize("shift", [-1, 1, 3])
def test_two_imports_of_one_memory_overlap(n, shift):
    """Arrays that borrow parts of one NumPy array are as good as views of each other."""
    for inplace in (False, True):
        m = np.arange(float(n))
        low, high = m[: n - abs(shift)], m[abs(shift) :]
        if shift < 0:
            low, high = high, low
        x, y = xp.asarray(low, copy=False), xp.asarray(high, copy=False)
        want = (high + low) if inplace else low.copy()
        if inplace:
            y += x
        else:
            y[...] = x
        assert np.array_equal(high, want)


def test_an_export_that_comes_back_overlaps():
    x = xp.asarray(np.arange(9000.0))
    n = np.asarray(x)
    y = xp.asarray(n[1:], copy=False)
    want = np.arange(9000.0)
    want[1:] += want[:-1].copy()
    y += x[:-1]
    assert np.array_equal(np.asarray(x), want)
