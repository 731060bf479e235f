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
    assert result.outcome == "passed", result.message


def test_every_function_of_the_standard_has_a_check() -> None:
    strict = importlib.import_module("array_api_strict")
    seen = {c.function for c in CHECKS}
    table = {
        # functions that another function's checks cover
        "zeros ones empty zeros_like ones_like empty_like full_like": "full",
        "tril triu": "eye",
        "take_along_axis": "take",
        "iinfo": "finfo",
        "stack": "concat",
        "vecdot outer cross diagonal trace": "tensordot",
        "matrix_norm": "vector_norm",
        "matrix_rank": "matrix_power",
        "ifftshift": "fftshift",
        "rfftfreq": "fftfreq",
    }
    covered = {n for names, by in table.items() if by in seen for n in names.split()} | seen
    names = set()
    for module in (strict, strict.linalg, strict.fft):
        names |= {n for n in module.__all__ if callable(getattr(module, n))}
    flags = {
        "set_array_api_strict_flags",
        "get_array_api_strict_flags",
        "reset_array_api_strict_flags",
    }
    other = {"ArrayAPIStrictFlags", "Device", "linalg", "fft"} | flags
    dtypes = set("bool int8 int16 int32 int64 uint8 uint16 uint32 uint64".split())
    dtypes |= set("float32 float64 complex64 complex128".split())
    assert names - covered - other - dtypes == set()
