"""verify finds planted errors, where they are and as large as they are."""

import math
import subprocess
import sys

import numpy as np
import pytest

import ascend_array_api as xp
from ascend_array_api.testing import _accuracy, verify

LONG = np.finfo(np.longdouble).nmant > 60
DTYPES = [
    np.float16,
    np.float32,
    pytest.param(np.float64, marks=pytest.mark.skipif(not LONG, reason="no wider dtype")),
]


@pytest.mark.parametrize("dtype", DTYPES)
def test_square_roots_are_rounded_once(dtype):
    report = verify(xp.sqrt, dtype, 50_000)
    assert 0.49 < report.max_ulp <= 0.501
    assert 0.05 < report.mean_ulp < 0.3
    assert report.inputs == 50_000
    x = report.worst_input[0]
    assert report.expected == pytest.approx(math.sqrt(x), rel=1e-3)


@pytest.mark.parametrize("dtype", DTYPES[1:])
def test_a_step_too_far(dtype):
    def off(x):
        return xp.nextafter(xp.sqrt(x), xp.asarray(np.asarray(np.inf, dtype)))

    values = np.linspace(1, 100, 5000)
    assert 1.0 < verify(off, dtype, values, reference=np.sqrt).max_ulp <= 1.5
    # The square root of -0.0 is -0.0, and none is its neighbour.
    assert verify(off, dtype, 20_000, reference=np.sqrt).max_ulp > 1.0


def test_the_size_of_an_error():
    x = np.asarray([1.0, 1.5, 3.0, 1e-40], np.float32)

    def off(x):
        return x * np.float32(1 + 2**-20)

    report = verify(off, xp.float32, x[:3], reference=lambda x: x)
    assert report.max_ulp == 12.0
    assert report.worst_input == (1.5,)
    assert report.mean_ulp == pytest.approx((8 + 12 + 12) / 3)
    # Of subnormal numbers all units are the same.
    least = verify(lambda x: x * 2.0, xp.float32, x[3:], reference=lambda x: x)
    assert least.max_ulp == pytest.approx(float(x[3]) / 2.0**-149)


@pytest.mark.parametrize(
    ("value", "result"),
    [(4.0, np.nan), (np.nan, 0.0), (0.0, -0.0), (-0.0, 0.0)],
)
def test_special_values(value, result):
    def planted(x):
        hit = (
            xp.isnan(x) if np.isnan(value) else (x == value) & (xp.signbit(x) == np.signbit(value))
        )
        return xp.where(hit, np.float32(result), x)

    x = np.asarray([1.0, 4.0, np.nan, 0.0, -0.0, np.inf], np.float32)
    report = verify(planted, xp.float32, x, reference=lambda x: x)
    assert report.max_ulp == math.inf
    np.testing.assert_equal(report.worst_input[0], value)
    assert verify(xp.positive, xp.float32, x, reference=lambda x: x).max_ulp == 0.0


def test_infinity_is_the_neighbour_of_the_largest():
    def overflows(x):
        return xp.where(x == 65504.0, np.float16(np.inf), x)

    report = verify(overflows, np.float16, np.asarray([65504.0]), reference=lambda x: x)
    assert report.max_ulp == 1.0


def test_every_value():
    report = verify(xp.exp, np.float16, "exhaustive")
    assert report.inputs == 65536
    assert 0.49 < report.max_ulp <= 0.51

    def planted(x):
        return xp.where(x == 0.333251953125, x * 1.5, x)

    found = verify(planted, np.float16, "exhaustive", reference=lambda x: x)
    assert found.worst_input == (0.333251953125,)


def test_two_operands():
    report = verify(xp.hypot, xp.float32, 20_000)
    assert len(report.worst_input) == 2
    assert 0.4 < report.max_ulp <= 1.0
    given = verify(xp.atan2, xp.float32, (np.asarray([1.0, 2.0]), np.asarray([3.0, -1.0])))
    assert given.inputs == 2


def test_other_inputs_with_another_seed():
    worst = {verify(xp.exp, xp.float32, 1000, seed=seed).worst_input for seed in (0, 0, 1)}
    assert len(worst) == 2


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((xp.exp, xp.int32), TypeError, "dtype int32 is not supported"),
        ((xp.exp, xp.float64, "exhaustive"), ValueError, "at most 32 bits"),
        ((xp.hypot, np.float16, "exhaustive"), ValueError, "one operand"),
        ((xp.exp, xp.float32, "all"), ValueError, "'exhaustive', a count or arrays, got 'all'"),
        ((xp.exp, xp.float32, 0), ValueError, "at least 1"),
        ((xp.exp, xp.float32, []), ValueError, "no samples"),
        ((xp.hypot, xp.float32, [1.0]), ValueError, "2 arrays"),
        ((xp.isnan, xp.float32, 10), TypeError, "must return float32 for each element, got bool"),
        ((lambda x: x, xp.float32), TypeError, "pass a reference"),
        ((5, xp.float32), TypeError, "verify: a function is needed, got int"),
    ],
)
def test_bad_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        verify(*arguments)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"reference": 5}, TypeError, "verify: reference must be a function, got int"),
        ({"seed": "a"}, TypeError, "verify: seed must be an int, got str"),
        ({"seed": -1}, ValueError, "verify: seed must not be negative, got -1"),
        ({"smallest": "a"}, TypeError, "verify: smallest must be a number, got str"),
        ({"smallest": float("nan")}, ValueError, "verify: smallest must be a number from 0 on"),
    ],
)
def test_bad_options(options, error, message):
    with pytest.raises(error, match=message):
        verify(xp.exp, xp.float32, 10, **options)


def test_the_command(child_env):
    def run(*arguments):
        command = [sys.executable, "-m", "ascend_array_api", "accuracy", *arguments]
        return subprocess.run(command, env=child_env, capture_output=True, text=True, timeout=120)

    done = run("exp", "hypot", "--dtypes", "float32", "--samples", "3000")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line.split()[:2] for line in done.stdout.splitlines()[1:]] == [
        ["exp", "float32"],
        ["hypot", "float32"],
    ]
    unknown = run("sine")
    assert unknown.returncode == 2
    assert "sinh" in unknown.stderr


def test_a_broken_promise_is_told(monkeypatch, capsys):
    import argparse

    monkeypatch.setitem(_accuracy.PROMISES, "exp", (0.1, 0.0))
    parser = argparse.ArgumentParser()
    _accuracy.configure(parser)
    assert _accuracy.run(parser.parse_args(["exp", "--dtypes", "float32", "--samples", "500"])) == 1
    assert "ABOVE 0.1" in capsys.readouterr().out
