"""Consumers mix kinds of numbers and index with NumPy arrays, which only relaxed mode accepts."""

import numpy as np
import pytest

import ascend_array_api as xp
from ascend_array_api import runtime


@pytest.fixture(autouse=True)
def relaxed():
    """Run each test in relaxed mode."""
    with runtime.strict(False):
        yield


@pytest.fixture
def same():
    """Compare an array of ours with what NumPy computes, dtype and shape included."""

    def compare(actual, expected, rtol=1e-13):
        assert type(actual) is runtime.Array
        actual, expected = np.asarray(actual), np.asarray(expected)
        assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
        np.testing.assert_allclose(actual, expected, rtol=rtol, atol=1e-14)

    return compare


@pytest.fixture
def table():
    """Return the same 20 rows of three columns as NumPy array and as array of ours."""
    values = np.random.default_rng(7).normal(size=(20, 3))
    return values, xp.asarray(values)
