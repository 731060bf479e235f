"""The protocol double of CANN, built once for all tests of NPUs."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "cann_double"))
import cann_double


@pytest.fixture(scope="session")
def double():
    """Return the folder with the double's libraries."""
    try:
        return cann_double.build()
    except RuntimeError as error:
        pytest.skip(str(error))
