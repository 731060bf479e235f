"""pytest plugin: SciPy's tests with ascend_array_api as the only library of their fixture `xp`."""

import pytest
from scipy import conftest

import ascend_array_api

NAME = ascend_array_api.__name__
conftest.xp_known_backends.add(NAME)  # tests name the libraries that they skip


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc):
    """Give the fixture one parameter, in place of the libraries that SciPy found."""
    if "xp" in metafunc.fixturenames:
        ours = pytest.param(ascend_array_api, id=NAME, marks=pytest.mark.array_api_backends)
        metafunc.definition.add_marker(pytest.mark.parametrize("xp", [ours], indirect=True))
