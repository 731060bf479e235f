"""Writes whose source and destination overlap give the result of reading everything first."""

import numpy as np
import pytest

import ascend_array_api as xp

DTYPES = ["bool", "int8", "int64", "float32", "float64", "complex128"]
SIZES = [2, 3, 8, 17, 64, 65, 130, 513, 1025, 5000, 70_000]


def data(dtype, shape):
    rng = np.random.default_rng(5)
    if dtype == "bool":
        return rng.random(shape) < 0.5
    return rng.integers(0, 100, shape).astype(dtype)


ONE_D = [
    (np.s_[1:], np.s_[:-1]),
    (np.s_[:-1], np.s_[1:]),
    (np.s_[::-1], np.s_[:]),
    (np.s_[:], np.s_[::-1]),
    (np.s_[1:], np.s_[-1:0:-1]),
    (np.s_[:-1], np.s_[-2::-1]),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
def test_shifted_and_reversed(dtype, n, check):
    for to, of in ONE_D:
        a = data(dtype, n)
        x = xp.asarray(a)
        want = a.copy()
        want[to] = a[of]
        x[to] = x[of]
        check(x, want)


@pytest.mark.parametrize("shift", [1, 2, 3, 5, 7, 8, 9, 31, 63, 64, 65])
def test_bool_at_odd_bit_offsets(shift, check):
    for n in (shift + 1, 70, 200, 1000, 5000):
        if n <= shift:
            continue
        a = data("bool", n)
        for to, of in ((np.s_[shift:], np.s_[: n - shift]), (np.s_[: n - shift], np.s_[shift:])):
            x, want = xp.asarray(a), a.copy()
            want[to] = a[of]
            x[to] = x[of]
            check(x, want)
            x, want = xp.asarray(a), a.copy()
            want[to] = ~a[of]
            x[to] = ~x[of]
            check(x, want)
            x, want = xp.asarray(a), a.copy()
            want[to] ^= a[of]
            y = x[to]
            y ^= x[of]
            check(x, want)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [2, 9, 33, 130, 300])
def test_transposed(dtype, n, check):
    a = data(dtype, (n, n))
    x = xp.asarray(a)
    x[...] = x.T
    check(x, a.T)
    x = xp.asarray(a)
    if dtype == "bool":
        x ^= x.T
        check(x, a ^ a.T)
    else:
        x += x.T
        check(x, a + a.T)
        x = xp.asarray(a)
        x -= x[::-1, ::-1]
        check(x, a - a[::-1, ::-1])


@pytest.mark.parametrize("dtype", ["int16", "float64"])
def test_in_place_operators_with_shifted_operands(dtype, check):
    for n in (5, 70, 600, 5000, 50_000):
        a = data(dtype, n)
        x = xp.asarray(a)
        y = x[1:]
        y += x[:-1]
        want = a.copy()
        want[1:] = a[1:] + a[:-1]
        check(x, want)
        x = xp.asarray(a)
        y = x[:-1]
        y *= x[1:]
        want = a.copy()
        want[:-1] = a[:-1] * a[1:]
        check(x, want)
        x = xp.asarray(a)
        x += x[::-1]
        check(x, a + a[::-1])
        x = xp.asarray(a)
        x -= x[n // 2]
        check(x, a - a[n // 2])


def test_strided_and_interleaved(check):
    a = np.arange(100.0)
    for to, of in (
        (np.s_[::2], np.s_[1::2]),
        (np.s_[::2], np.s_[:50]),
        (np.s_[:50], np.s_[::2]),
        (np.s_[98::-2], np.s_[25:75]),
        (np.s_[50:], np.s_[::-2]),
    ):
        x, want = xp.asarray(a), a.copy()
        want[to] = a[of]
        x[to] = x[of]
        check(x, want)


def test_broadcast_source_from_the_same_memory(check):
    a = np.arange(30.0).reshape(5, 6)
    x = xp.asarray(a)
    x[...] = x[2]
    check(x, np.broadcast_to(a[2], (5, 6)))
    x = xp.asarray(a)
    x += x[2]
    check(x, a + a[2])
    x = xp.asarray(a)
    x *= x[:, 3:4]
    check(x, a * a[:, 3:4])


def test_masked_and_indexed_writes_from_the_same_memory(check):
    a = np.arange(10)
    m = a % 2 == 0
    x = xp.asarray(a)
    x[xp.asarray(m)] = x[:5]
    want = a.copy()
    want[m] = a[:5]
    check(x, want)
    x, want = xp.asarray(a), a.copy()
    i = np.array([9, 0, 4])
    x[xp.asarray(i)] = x[:3]
    want[i] = a[:3]
    check(x, want)
    x = xp.asarray(a)
    x[x[::-1]] = x  # the index is the array itself
    want = a.copy()
    want[a[::-1]] = a
    check(x, want)


def test_mask_is_the_array_itself(check):
    a = data("bool", 131)
    x = xp.asarray(a)
    x[x] = False
    check(x, np.zeros(131, bool))
    x = xp.asarray(a)
    y = x[1:]
    x[:-1][y] = False
    want = a.copy()
    want[:-1][a[1:]] = False
    check(x, want)


def test_real_and_imaginary_parts(check):
    a = np.array([1 + 2j, 3 + 4j, 5 + 6j])
    x = xp.asarray(a)
    xp.real(x)[...] = xp.imag(x)
    check(x, np.array([2 + 2j, 4 + 4j, 6 + 6j]))
    x = xp.asarray(a)
    xp.imag(x)[1:] = xp.real(x)[:-1]
    check(x, np.array([1 + 2j, 3 + 1j, 5 + 3j]))


def test_random_overlaps(check):
    rng = np.random.default_rng(11)

    def key(n, m):
        """Return a slice of length m within n."""
        step = int(rng.integers(1, 4)) * int(rng.choice([-1, 1]))
        reach = (m - 1) * abs(step) + 1
        if reach > n:
            return None
        low = int(rng.integers(0, n - reach + 1))
        if step > 0:
            return slice(low, low + reach, step)
        return slice(low + reach - 1, low - 1 if low else None, step)

    done = 0
    while done < 400:
        dtype = DTYPES[done % len(DTYPES)]
        n = int(rng.integers(2, 200))
        m = int(rng.integers(1, n + 1))
        to, of = key(n, m), key(n, m)
        if to is None or of is None:
            continue
        done += 1
        a = data(dtype, n)
        x, want = xp.asarray(a), a.copy()
        want[to] = a[of]
        x[to] = x[of]
        check(x, want)
