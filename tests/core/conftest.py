"""Helpers of the core tests."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ascend_array_api as xp
from ascend_array_api import runtime


def _check(got: Any, want: Any) -> None:
    """Compare dtype, shape and bits of values (NaN equals NaN) without sharing memory."""
    want = np.asarray(want)
    assert isinstance(got, runtime.Array)
    assert got.shape == want.shape
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(np.array(got, copy=True), want)


@pytest.fixture
def check() -> Callable[[Any, Any], None]:
    return _check


@pytest.fixture
def relaxed() -> Any:
    with runtime.strict(False):
        yield xp


@pytest.fixture
def used() -> Callable[[], int]:
    """Return a function that tells how many bytes arrays hold now."""
    pool = runtime.MemoryPool("cpu")
    return lambda: pool.statistics().used
