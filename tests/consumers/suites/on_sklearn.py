"""pytest plugin: scikit-learn's tests with ascend_array_api in place of its list of libraries."""

from functools import partial

import pytest
from ours import NAME, keep_ours
from sklearn.utils import _array_api

STRICT = "array_api_strict"


def namespaces(include_numpy_namespaces=True):
    """Yield NumPy and ours."""
    return iter(["numpy", NAME] if include_numpy_namespaces else [NAME])


def combinations(include_numpy_namespaces=True):
    """Yield libraries, devices and dtypes."""
    if include_numpy_namespaces:
        yield "numpy", None, None
    yield NAME, None, "float64"
    yield NAME, None, "float32"


def mixed():
    """Yield what one argument comes from, what another does, and a name of that."""
    pair = _array_api.NamespaceAndDevice
    ours, numpy = pair(NAME, None), pair("numpy", None)
    yield numpy, ours, f"numpy to {NAME}"
    yield ours, numpy, f"{NAME} to numpy"
    yield pair(STRICT, "CPU_DEVICE"), ours, f"{STRICT} to {NAME}"


# Before any test file takes the functions from the module.
_array_api.yield_namespaces = namespaces
_array_api.yield_namespace_device_dtype_combinations = combinations
_array_api.yield_mixed_namespace_input_permutations = mixed

from sklearn.utils import estimator_checks  # noqa: E402

checks = estimator_checks._yield_array_api_checks


def checks_of_ours(estimator, only_numpy=False):
    """Yield an estimator's checks, those that name array_api_strict with our name in its place."""
    for check in checks(estimator, only_numpy):
        named = check.keywords.get("array_namespace")
        yield partial(check, array_namespace=NAME) if named == STRICT else check


estimator_checks._yield_array_api_checks = checks_of_ours


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Leave out the tests of other libraries."""
    keep_ours(config, items)
