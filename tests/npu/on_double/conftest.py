"""These tests need the protocol double of CANN; `test_on_double.py` runs them with it."""

import os
import sys
from pathlib import Path

import pytest

FOLDER = os.environ.get("ASCEND_ARRAY_API_CANN_PATH", "")
if not FOLDER:
    collect_ignore_glob = ["test_*.py"]
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2] / "cann_double")]


@pytest.fixture(scope="session")
def control():
    """What the double counts and can be told."""
    from cann_double import Control

    return Control(Path(FOLDER))


@pytest.fixture(autouse=True)
def lawful(control, request):
    """No test may violate the protocol, or leave a descriptor behind."""
    from ascend_array_api import runtime

    control.forgive()
    yield
    control.clear_faults()
    for number in range(2):
        runtime.MemoryPool(f"npu:{number}").free_all_blocks()
    assert control.violations() == []
    kinds = ["tensor", "scalar", "int array", "tensor list"]
    # What becomes of the executor of a launch that is refused, CANN does not say.
    if "test_failures" not in str(request.path):
        kinds.append("executor")
    assert {kind: control.live(kind) for kind in kinds} == dict.fromkeys(kinds, 0)
