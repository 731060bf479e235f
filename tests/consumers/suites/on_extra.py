"""pytest plugin: array-api-extra's tests with ascend_array_api as the only backend."""

from types import SimpleNamespace

import pytest
from ours import NAME

# Its list of backends is an enumeration, which cannot be extended; tests ask a member for this.
BACKEND = SimpleNamespace(name=NAME, value=NAME, modname=NAME, like=lambda *others: False)


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc):
    """Give the fixture one parameter, in place of the members of the enumeration."""
    if "library" in metafunc.fixturenames:
        one = [pytest.param(BACKEND, id=NAME)]
        metafunc.definition.add_marker(pytest.mark.parametrize("library", one, indirect=True))


def pytest_collection_modifyitems(config, items):
    """Leave out the tests that use no backend."""
    others = [item for item in items if "library" not in item.fixturenames]
    items[:] = [item for item in items if "library" in item.fixturenames]
    config.hook.pytest_deselected(items=others)
