"""Python ints beyond 64 bits: beside floating-point arrays they are numbers like others."""

import numpy as np
import pytest

import ascend_array_api as xp

BIG = [2**63, 2**64 - 1, 2**64, 2**64 + 1, -(2**63) - 1, 10**20, -(10**30), 2**1023]


@pytest.mark.parametrize("n", BIG)
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_with_floating_point_arrays(n, dtype):
    x = xp.asarray([1.0, -3.0], dtype=getattr(xp, dtype))
    assert np.asarray(x * n).tolist() == [float(n), -3 * float(n)]
    assert np.asarray(n - x).tolist() == [float(n) - 1, float(n) + 3]
    assert np.asarray(xp.full(2, n, dtype=x.dtype)).tolist() == [float(n)] * 2
    assert np.asarray(xp.full_like(x, n)).tolist() == [float(n)] * 2
    assert np.asarray(xp.asarray(n, dtype=x.dtype)) == float(n)
    x[0] = n
    assert np.asarray(x).tolist() == [float(n), -3]


@pytest.mark.parametrize("n", BIG)
def test_with_real_arrays(n):
    x = xp.asarray([1.0, -3.0])
    assert np.asarray(x < n).tolist() == [n > 0] * 2
    assert np.asarray(xp.where(x > 0, x, n)).tolist() == [1.0, float(n)]
    assert np.asarray(xp.clip(x, -abs(n), abs(n))).tolist() == [1.0, -3.0]
    assert np.asarray(xp.asarray([1.5, n])).tolist() == [1.5, float(n)]
    assert np.asarray(xp.linspace(0, n, 3)).tolist() == [0, n / 2, float(n)]
    assert np.asarray(xp.linspace(-n, n, 3)).tolist() == [-float(n), 0, float(n)]


def test_float32_takes_the_nearest_number_or_infinity():
    x = xp.asarray([1.0], dtype=xp.float32)
    assert float((x * 10**20)[0]) == float(np.float32(1e20))
    assert float((x * -(10**39))[0]) == -np.inf


@pytest.mark.parametrize(
    "call",
    [
        lambda n: xp.asarray([1.0]) * n,
        lambda n: xp.asarray([1.0]) < n,
        lambda n: xp.linspace(0, n, 3),
        lambda n: xp.arange(0.0, n, n),
        lambda n: xp.full(2, n, dtype=xp.float64),
        lambda n: xp.asarray([1.5, n]),
    ],
)
@pytest.mark.parametrize("n", [10**400, -(10**400)])
def test_beyond_float64_is_an_overflow(call, n):
    with pytest.raises(OverflowError, match=r"^\w+: the Python int is beyond the range of float64"):
        call(n)


@pytest.mark.parametrize("call", [lambda n: xp.asarray(n), lambda n: xp.asarray([1, n])])
def test_alone_they_have_no_dtype(call):
    with pytest.raises(OverflowError, match=r"^asarray: "):
        call(10**20)


def test_integer_arrays_refuse_them():
    with pytest.raises(OverflowError, match=r"^add: .* out of range for dtype int64"):
        xp.asarray([1]) + 2**64


def test_arange_of_floats():
    assert np.asarray(xp.arange(0.0, 10**20, 5e19)).tolist() == [0, 5e19]
    assert np.asarray(xp.arange(-(10**20), 5e18, 5e19)).tolist() == [-1e20, -5e19, 0]
    assert xp.arange(10**20, 10**20 + 5.0).shape == (0,)
    for low in (2**64, 2**66, -(2**100)):
        wide = xp.arange(low, low + 5000, dtype=xp.float64)
        assert np.asarray(wide).tolist() == [float(low + i) for i in range(5000)]
    assert xp.arange(2**1000, 2**1000 + 1.0).shape == (0,)
    exact = xp.arange(-(2**62), 2**63 + 2**62, 2**62, dtype=xp.float64)
    assert np.asarray(exact).tolist() == [-(2.0**62), 0.0, 2.0**62, 2.0**63]


def test_arange_reaches_the_ends_of_the_integers():
    top, bottom = 2**64, -(2**63)
    assert np.asarray(xp.arange(top - 2, top)).tolist() == [top - 2, top - 1]
    assert np.asarray(xp.arange(top - 1, top, dtype=xp.uint64)).tolist() == [top - 1]
    assert np.asarray(xp.arange(2**63 - 1, 2**63, dtype=xp.int64)).tolist() == [2**63 - 1]
    down = xp.arange(bottom + 1, bottom - 1, -1, dtype=xp.int64)
    assert np.asarray(down).tolist() == [bottom + 1, bottom]
    for start, stop in ((top - 1, top + 1), (-1, top), (bottom - 1, bottom)):
        with pytest.raises((OverflowError, MemoryError), match=r"^arange: "):
            xp.arange(start, stop)
    with pytest.raises(MemoryError, match=r"^arange: 1e\+20 elements"):
        xp.arange(10**20)
    with pytest.raises(OverflowError, match=r"^arange: stop is about 1e\+40, out of range for"):
        xp.arange(10**40)


def test_an_int_with_operators_of_its_own_is_its_value():
    class Odd(int):
        def __rshift__(self, other):
            return "nonsense"

    assert np.asarray(xp.arange(2**64 - 1, Odd(2**64))).tolist() == [2**64 - 1]


@pytest.mark.parametrize("size", [3, 5000])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "float32", "float64", "complex64"])
def test_where_never_takes_a_condition_that_is_not_bool(dtype, size):
    x = xp.full(size, 2, dtype=getattr(xp, dtype))
    for pair in ((x, x), (x, 1), (1, x), (x, x[0])):
        with pytest.raises(TypeError, match=r"^where: the condition must be bool"):
            xp.where(x, *pair)
    with pytest.raises(TypeError, match=r"^where: the condition must be bool"):
        xp.where(x[0], x[0], x[1])
