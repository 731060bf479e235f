"""The double itself, loaded into the test process."""

import cann_double
import pytest
from acl_program import Acl


@pytest.fixture(scope="session")
def loaded_acl():
    return Acl(cann_double.build("split"))


@pytest.fixture
def acl(loaded_acl):
    """Give the double; whatever the test did not expect is an error."""
    loaded_acl.control.forgive()
    loaded_acl.control.reset_counters()
    loaded_acl.control.set_seed(0)
    before = {kind: loaded_acl.control.live(kind) for kind in ("tensor", "executor", "stream")}
    yield loaded_acl
    loaded_acl.control.clear_faults()
    assert loaded_acl.control.violations() == []
    assert {kind: loaded_acl.control.live(kind) for kind in before} == before


@pytest.fixture
def violates(acl):
    """Give a check that the violations since the last one are of the rule named."""

    def check(*rules: str) -> None:
        found = acl.control.violations()
        acl.control.forgive()
        assert [text.split(":")[0] for text in found] == list(rules), found

    return check
