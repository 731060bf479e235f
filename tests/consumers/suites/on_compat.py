"""pytest plugin: array-api-compat's tests with ascend_array_api among the libraries."""

import pytest
from array_api_compat.tests import _helpers
from ours import NAME, keep_ours

_helpers.all_libraries.append(NAME)


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc):
    """Add our name to the lists that decorators made of other lists."""
    for mark in metafunc.definition.iter_markers("parametrize"):
        values = mark.args[1]
        if isinstance(values, list) and "array_api_strict" in values and NAME not in values:
            values.append(NAME)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Leave out the tests of other libraries."""
    keep_ours(config, items)
