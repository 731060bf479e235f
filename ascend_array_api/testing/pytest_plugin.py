"""Pytest plugin: portability checks while tests run.

``pytest -p ascend_array_api.testing.pytest_plugin --xp-portability=jax`` turns the checks on for
every test; the value is a profile or settings as in ``ASCEND_ARRAY_API_PORTABILITY``.

A test with the argument ``xp_device`` runs once for each device of the process: with
``ASCEND_ARRAY_API_CPU_DEVICES=1,1:no-float64`` in the environment for ``cpu``, ``cpu:1`` and
``cpu:2``.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import pytest

import ascend_array_api

from . import _portability


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    group = parser.getgroup("ascend_array_api")
    group.addoption(
        "--xp-portability",
        metavar="PROFILE",
        help="portability checks of ascend_array_api: a profile, or check=level,...",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that asks for a device on all of them."""
    if "xp_device" in metafunc.fixturenames:
        devices = ascend_array_api.__array_namespace_info__().devices()
        metafunc.parametrize("xp_device", devices, ids=str)


@pytest.fixture(autouse=True)
def _portability_checks(request: pytest.FixtureRequest) -> Iterator[None]:
    chosen = request.config.getoption("--xp-portability")
    if chosen is None:
        yield
        return
    with _portability.using(_portability.from_text(chosen)):
        yield


@pytest.fixture
def xp() -> ModuleType:
    """Return the namespace `ascend_array_api`, watched if ``--xp-portability`` is given."""
    return ascend_array_api
