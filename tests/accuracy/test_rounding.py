"""Square roots and quotients by a scalar are rounded as IEEE 754 demands, also in vectors."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import ascend_array_api as xp

FORMS = {np.float32: 24, np.float64: 53}
rng = np.random.default_rng(20)


def _bits(x: Any) -> NDArray[Any]:
    """Return the bits of a float array, those of one NaN for all of them."""
    x = np.asarray(x)
    return np.where(np.isnan(x), np.nan, x).astype(x.dtype).view(f"u{x.itemsize}")


def _any_bits(form: type, n: int) -> NDArray[Any]:
    size = np.dtype(form).itemsize
    return np.frombuffer(rng.bytes(n * size), form)


def _square_roots(value: int, bits: int) -> list[int]:
    """Return all m below 2**bits with m * m = value modulo 2**bits, for a value of 8 k + 1."""
    m = 1
    for digits in range(3, bits):  # m * m is right in this many digits
        if (m * m - value) >> digits & 1:
            m += 1 << (digits - 1)
    half = 1 << (bits - 1)
    return sorted({r % (2 * half) for r in (m, -m, m + half, half - m)})


def _hard_squares(precision: int) -> list[int]:
    """Return integers of `precision` bits with zeros behind, roots nearly between two floats."""
    found = []
    for difference in (d for k in range(0, 1000, 8) for d in (k + 7, -k - 1)):
        for zeros in (precision + 1, precision + 2):
            for m in _square_roots(-difference % (1 << zeros), zeros):
                x = m * m + difference
                if m >> precision == 1 and x.bit_length() == precision + zeros:
                    found.append(x)
    return found


@pytest.mark.parametrize("form", FORMS)
def test_roots_that_nearly_lie_between_two_floats(form: type) -> None:
    precision = FORMS[form]
    squares = _hard_squares(precision)
    assert len(squares) > 300
    x = np.asarray([math.ldexp(s, -2 * precision) for s in squares], form)
    for square, number, root in zip(squares, x, np.asarray(xp.sqrt(xp.asarray(x))), strict=True):
        exact, r = Fraction(square, 4**precision), Fraction(float(root))
        half = Fraction(float(np.spacing(root))) / 2
        assert Fraction(float(number)) == exact
        assert (r - half) ** 2 < exact < (r + half) ** 2


def test_roots_of_all_mantissas_of_float32() -> None:
    for exponent in (127, 128):
        x = (np.arange(1 << 23, dtype=np.uint32) | np.uint32(exponent << 23)).view(np.float32)
        assert np.array_equal(_bits(xp.sqrt(xp.asarray(x))), _bits(np.sqrt(x)))


@pytest.mark.parametrize("form", FORMS)
def test_roots_and_quotients_of_any_bits(form: type) -> None:
    special = np.asarray([0.0, -0.0, np.inf, -np.inf, np.nan, -1, np.finfo(form).tiny], form)
    with np.errstate(all="ignore"):
        for k in range(200):
            x = _any_bits(form, 2000) if k % 2 else rng.normal(0, 100, 2000).astype(form)
            if k % 4 == 0:
                x[rng.random(2000) < 0.02] = special[k // 4 % len(special)]
            start = k % 40  # vectors and what is left over lie elsewhere each time
            array = xp.asarray(x)[start:]
            assert np.array_equal(_bits(xp.sqrt(array)), _bits(np.sqrt(x[start:])))
            near = np.asarray(rng.normal() * 10.0 ** rng.integers(-5, 6), form)
            for divisor in (near, _any_bits(form, 1)[0], rng.choice(special)):
                quotient = np.asarray(array / xp.asarray(divisor))
                assert np.array_equal(_bits(quotient), _bits(x[start:] / divisor))


@pytest.mark.parametrize("form", FORMS)
def test_quotients_that_nearly_lie_between_two_floats(form: type) -> None:
    precision = FORMS[form]
    modulus = 1 << (precision + 1)
    for _ in range(200):
        divisor = int(rng.integers(1 << (precision - 1), 1 << precision)) | 1
        inverse = pow(divisor, -1, modulus)
        # m is between two floats, and m * divisor nearly a float with zeros behind it.
        middles = [k * inverse % modulus for k in range(-63, 64, 2)]
        numbers = [
            (m * divisor - k) // modulus for k, m in zip(range(-63, 64, 2), middles, strict=True)
        ]
        x = np.asarray([float(n) for n in numbers if 0 < n < 1 << precision], form)
        quotients = np.asarray(xp.asarray(x) / xp.asarray(np.asarray(divisor, form)))
        for number, q in zip(x, quotients, strict=True):
            half = Fraction(float(np.spacing(q))) / 2
            exact = Fraction(float(number)) / divisor
            assert abs(Fraction(float(q)) - exact) <= half
