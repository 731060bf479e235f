"""Our conformance kit on our namespace, one test for each check.

``ASCEND_ARRAY_API_CONFORMANCE_MODULE`` names another namespace to run it on.
"""

import importlib
import os

import pytest

from ascend_array_api.testing import conformance

MODULE = os.environ.get("ASCEND_ARRAY_API_CONFORMANCE_MODULE", "ascend_array_api")
OURS = MODULE == "ascend_array_api"
LIMITS = conformance.Limits(real=1.0, complex=4.0, pairwise=True) if OURS else conformance.Limits()
CHECKS = conformance.checks()


@pytest.mark.parametrize("check", CHECKS, ids=[c.id for c in CHECKS])
def test_conforms(check: conformance.Check) -> None:
    result = conformance.run_check(importlib.import_module(MODULE), check, LIMITS)
    if result.outcome == "skipped":
        assert not OURS, f"nothing of the standard is optional here: {result.message}"
        pytest.skip(result.message)
    assert result.outcome == "passed", f"{result.message}\n{result.reproduction}"
