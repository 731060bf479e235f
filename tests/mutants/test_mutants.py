"""The kit must find every planted fault, with a run of the function that has it."""

from __future__ import annotations

from typing import Any

import mutants
import pytest

import ascend_array_api as xp
from ascend_array_api.testing import conformance


def found(namespace: Any, select: str) -> bool:
    """Return whether a check fails; the correct namespace passes all (tests/conformance)."""
    results = conformance.iterate(namespace, select, limits=conformance.Limits(real=1.0))
    return any(r.outcome in ("failed", "remark") for r in results)


@pytest.mark.parametrize("name", mutants.MUTANTS)
def test_fault_is_found(name: str) -> None:
    namespace, select = mutants.MUTANTS[name]
    assert found(namespace, select), f"no check failed because: {name}"


@pytest.mark.parametrize("name", mutants.METHODS)
def test_fault_of_an_operator_is_found(name: str) -> None:
    method, value, select = mutants.METHODS[name]
    with mutants.patched(method, value):
        assert found(xp, select), f"no check failed because: {name}"


@pytest.mark.parametrize(("fault", "name", "select"), list(mutants.every()))
def test_fault_in_every_function_is_found(fault: str, name: str, select: str) -> None:
    assert found(mutants.spoiled(fault, name), select), f"{name} {fault} was not found"
