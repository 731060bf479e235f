"""What we promise where the standard leaves values open."""

import numpy as np
import pytest

import ascend_array_api as xp
from ascend_array_api import dtypes

INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
SIZES = [1, 7, 64, 65, 1000]


def dt(name):
    return getattr(xp, name)


@pytest.mark.parametrize("to", INTS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_float_to_integer_saturates_and_nan_gives_zero(dtype, to, check):
    info = np.iinfo(to)
    values = [
        np.nan,
        np.inf,
        -np.inf,
        1e30,
        -1e30,
        1e10,
        -1e10,
        300.7,
        -300.7,
        2.0**31,
        -(2.0**31),
        2.0**63,
    ]
    values += [
        -(2.0**63),
        2.0**64,
        255.0,
        256.0,
        -0.5,
        -1.0,
        127.9,
        128.0,
        -128.0,
        -129.0,
        1.9,
        -1.9,
    ]
    a = np.array(values, dtype=dtype)

    def cast(v):
        if v != v:
            return 0
        if np.isinf(v):
            return info.max if v > 0 else info.min
        return min(max(int(v), info.min), info.max)

    want = [cast(float(v)) for v in a]
    for n in SIZES:
        check(
            xp.astype(xp.asarray(np.resize(a, n)), dt(to)), np.resize(np.array(want, dtype=to), n)
        )
        x = xp.asarray(np.resize(a, 2 * n))[::2]
        check(xp.astype(x, dt(to)), np.resize(np.array(want, dtype=to), 2 * n)[::2])


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_nan_to_bool_is_true(dtype, check):
    x = xp.asarray(np.array([np.nan, 0.0, -0.0, 1.0], dtype=dtype))
    check(xp.astype(x, xp.bool), np.array([True, False, False, True]))


@pytest.mark.parametrize("dtype", INTS)
def test_shifts_by_the_width_or_more(dtype, check):
    bits = np.iinfo(dtype).bits
    for n in SIZES:
        a = np.resize(np.array([1, np.iinfo(dtype).max, np.iinfo(dtype).min], dtype), n)
        x = xp.asarray(a)
        for shift in (bits, bits + 1, 100):
            s = xp.full(n, shift, dtype=dt(dtype))
            check(x << s, np.zeros(n, dtype))
            check(x >> s, np.where(a < 0, -1, 0).astype(dtype))
            check(x << shift, np.zeros(n, dtype))


@pytest.mark.parametrize("dtype", INTS)
def test_integer_division_by_zero_gives_zero(dtype, check):
    for n in SIZES:
        x = xp.asarray(np.resize(np.array([5, 0, 7], dtype), n))
        zero = xp.zeros(n, dtype=dt(dtype))
        check(x // zero, np.zeros(n, dtype))
        check(x // 0, np.zeros(n, dtype))
        check(x % zero, np.zeros(n, dtype))


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_smallest_integer_by_minus_one_wraps(dtype, check):
    low = np.iinfo(dtype).min
    for n in SIZES:
        x = xp.full(n, low, dtype=dt(dtype))
        m = xp.full(n, -1, dtype=dt(dtype))
        check(x // m, np.full(n, low, dtype))
        check(x // -1, np.full(n, low, dtype))
        check(x % m, np.zeros(n, dtype))
        check(-x, np.full(n, low, dtype))
        check(xp.abs(x), np.full(n, low, dtype))


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_negative_integer_powers_raise(dtype):
    x = xp.asarray([1, 2, 3], dtype=dt(dtype))
    for n in (-1, -5):
        with pytest.raises(ValueError, match="pow"):
            x**n
        with pytest.raises(ValueError, match="pow"):
            xp.pow(x, xp.asarray([1, n, 1], dtype=dt(dtype)))
        with pytest.raises(ValueError, match="pow"):
            x **= n
    big = xp.ones(10_000, dtype=dt(dtype))
    e = xp.ones(10_000, dtype=dt(dtype))
    e[9_999] = -1
    with pytest.raises(ValueError, match="pow"):
        big**e


@pytest.mark.parametrize("dtype", INTS)
def test_integer_powers_wrap(dtype, check):
    info = np.iinfo(dtype)
    span = 2**info.bits
    a = np.array([0, 1, 2, 3, info.max, info.min], dtype)
    for e in (0, 1, 2, 7, 63):
        if e > info.max:
            continue
        want = [(int(v) ** e - info.min) % span + info.min for v in a]
        check(xp.asarray(a) ** e, np.array(want, dtype))


def test_integers_are_exact_everywhere(check):
    big = 2**53 + 1
    x = xp.asarray([big, -big, 2**62])
    for got, want in (
        (x + 1, [big + 1, -big + 1, 2**62 + 1]),
        (xp.floor(x), [big, -big, 2**62]),
        (xp.round(x), [big, -big, 2**62]),
        (xp.sign(x) * x, [big, big, 2**62]),
        (xp.maximum(x, x - 1), [big, -big, 2**62]),
        (x // 1, [big, -big, 2**62]),
        (xp.clip(x, -big, big), [big, -big, big]),
        (xp.where(x > 0, x, x), [big, -big, 2**62]),
    ):
        check(got, np.array(want))
    check(xp.sum(x), np.asarray(2**62))
    check(xp.cumulative_sum(x), np.array([big, 0, 2**62]))
    check(xp.prod(xp.asarray([big, 3])), np.asarray(3 * big))
    check(xp.sort(x), np.array([-big, big, 2**62]))
    check(xp.asarray([big]) == xp.asarray([big - 1]), np.array([False]))
    u = xp.asarray([2**64 - 1, 2**63], dtype=xp.uint64)
    check(xp.max(u), np.asarray(2**64 - 1, np.uint64))
    check(u // 3, np.array([(2**64 - 1) // 3, 2**63 // 3], np.uint64))
    check(xp.linspace(0, 4, 5, dtype=xp.float64), np.arange(5.0))
    m = xp.asarray([[big, 1], [1, 1]])
    check(xp.matmul(m, xp.asarray([[1, 0], [0, 1]])), np.array([[big, 1], [1, 1]]))


def test_floor_divide_of_infinities(check):
    inf = np.inf
    a = np.array([inf, inf, -inf, -inf, 5.0, 5.0, -5.0, -5.0])
    b = np.array([2.0, -2.0, 2.0, -2.0, inf, -inf, inf, -inf])
    want = np.array([inf, -inf, -inf, inf, 0.0, -0.0, -0.0, 0.0])
    got = xp.floor_divide(xp.asarray(a), xp.asarray(b))
    check(got, want)
    assert np.array_equal(np.signbit(np.array(got, copy=True)), np.signbit(want))


def test_too_large_a_correction_gives_nan():
    x = xp.asarray([1.0, 2.0, 3.0])
    for c in (3, 4, 3.5):
        assert np.isnan(float(xp.var(x, correction=c)))
        assert np.isnan(float(xp.std(x, correction=c)))


def test_nan_sorts_last(check):
    x = xp.asarray([xp.nan, 1.0, -xp.inf, xp.nan, xp.inf])
    check(xp.sort(x), np.array([-np.inf, 1, np.inf, np.nan, np.nan]))
    check(xp.sort(x, descending=True), np.array([np.nan, np.nan, np.inf, 1, -np.inf]))
    check(xp.argsort(x), np.array([2, 1, 4, 0, 3]))
    check(xp.argsort(x, descending=True), np.array([0, 3, 4, 1, 2]))
    check(xp.searchsorted(xp.sort(x), xp.asarray([xp.nan, 5.0])), np.array([3, 2]))


def test_argmax_and_nan():
    x = xp.asarray([1.0, xp.nan, 3.0, xp.nan])
    assert int(xp.argmax(x)) == 1
    assert int(xp.argmin(x)) == 1


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
@pytest.mark.parametrize("towards", [np.inf, -np.inf, 1.0, -2.5, np.nan])
def test_nextafter_of_narrow_floats(name, towards):
    """Every value, against the list of all values in order."""
    dtype = getattr(dtypes, name, None)
    if dtype is None:
        pytest.skip("ml_dtypes is not installed")
    patterns = np.arange(1 << 16, dtype=np.uint16).view(dtype)
    with np.errstate(invalid="ignore"):
        wide = patterns.astype(np.float64)
        step = np.sign(towards if np.isinf(towards) else towards - wide)
    values = np.unique(wide[~np.isnan(wide)])
    y = xp.full(patterns.shape, towards, dtype=dtype)
    got = np.asarray(xp.nextafter(xp.asarray(patterns), y)).astype(np.float64)
    at = np.searchsorted(values, wide)
    step = np.where(np.isnan(wide) | np.isnan(towards) | (wide == towards), 0, step).astype(int)
    want = values[np.clip(at + step, 0, values.size - 1)]
    want[np.isnan(wide) | np.isnan(towards)] = np.nan
    np.testing.assert_array_equal(got, want)
