"""Every error code that has a name, wherever CANN can give it.

Each becomes an exception that names the function and the code, or the operation goes another way;
and the device works afterwards.
"""

import re
from pathlib import Path

import numpy as np
import pytest
from npu_arrays import back, on_npu

import ascend_array_api as xp
from ascend_array_api import runtime

ABI = (Path(__file__).parents[3] / "cpp/backend/cann/abi.h").read_text()
CODES = {int(code): name for name, code in re.findall(r"X\((ACL\w*ERR\w+), (\d+)\)", ABI)}
NO_MEMORY = {200000, 207001}
NOT_SUPPORTED = 161002
# After these the device is lost: `test_lost_device.py`.
LOST = {107022, 507054}


def test_the_list_is_complete():
    assert len(CODES) >= 30
    assert {100000, 207001, 507015, 161002, 561112} <= CODES.keys()


@pytest.fixture(autouse=True)
def afterwards(control):
    """Whatever happened: no fault is left, and the device computes."""
    yield
    control.clear_faults()
    runtime.set_fallback("warn")
    a = np.arange(3000, dtype=np.float32)
    x = on_npu(a)
    np.testing.assert_array_equal(back(x * 2 + x), a * 3)


def raises(code, called):
    error = MemoryError if code in NO_MEMORY else RuntimeError
    return pytest.raises(error, match=rf"{called} failed: {CODES[code]}, {code}")


def data():
    return on_npu(np.linspace(0, 1, 5000, dtype=np.float32))


# A function of its own for each place, so that what is remembered of one is not met by another.
PHASE_1, PHASE_2, WORK = (xp.exp, "aclnnExp"), (xp.sin, "aclnnSin"), (xp.tan, "aclnnTan")


@pytest.mark.parametrize("code", sorted(CODES))
def test_preparing_fails(control, code):
    function, called = PHASE_1
    x = data()
    control.fault(f"{called}GetWorkspaceSize={code}x9")
    runtime.set_fallback("silent")
    if code == NOT_SUPPORTED:
        np.testing.assert_allclose(back(xp.cosh(x)), np.cosh(back(x)), rtol=1e-6)
        return
    with raises(code, called):
        # Another length each time: what was prepared before is not asked again.
        back(function(x[: code % 4000 + 100]))


@pytest.mark.parametrize("code", sorted(CODES))
def test_starting_fails(control, code):
    function, called = PHASE_2
    x = data()
    control.fault(f"{called}={code}x9")
    with raises(code, called):
        back(function(x))
    control.clear_faults()
    np.testing.assert_allclose(back(function(x)), np.sin(back(x)), rtol=1e-6)


@pytest.mark.parametrize("code", sorted(set(CODES) - LOST))
def test_running_fails(control, code):
    function, called = WORK
    x = data()
    control.fault(f"{called}!={code}")
    y = function(x)
    with pytest.raises((RuntimeError, MemoryError), match=rf"{CODES[code]}, {code}"):
        back(y)
    np.testing.assert_allclose(back(function(x)), np.tan(back(x)), rtol=1e-6)


@pytest.mark.parametrize("called", ["aclrtMemcpyAsync", "aclrtSynchronizeStream"])
@pytest.mark.parametrize("code", sorted(CODES))
def test_moving_or_waiting_fails(control, code, called):
    x = xp.broadcast_to(on_npu(np.ones(1, np.float32)), (7000,)) + 1
    runtime.evaluate(x)
    control.fault(f"{called}={code}")
    with raises(code, called):
        back(x)
    control.clear_faults()
    np.testing.assert_array_equal(back(x), np.full(7000, 2))


@pytest.mark.parametrize("called", ["aclrtCreateEventExWithFlag", "aclrtRecordEvent"])
@pytest.mark.parametrize("code", sorted(CODES))
def test_events_fail(control, code, called):
    x = data()
    runtime.evaluate(x + 1)
    control.fault(f"{called}={code}x3")
    event = runtime.Event()
    caught = None
    try:
        event.record()
        event.synchronize()
    except (RuntimeError, MemoryError) as error:
        caught = str(error)
    assert caught is None or f"{called} failed: {CODES[code]}, {code}" in caught
    control.clear_faults()
    np.testing.assert_allclose(back(x + 1), back(x) + 1)


@pytest.mark.parametrize("called", ["aclrtMalloc", "aclrtMallocHost"])
@pytest.mark.parametrize("code", sorted(CODES))
def test_allocating_fails(control, code, called):
    for kind in range(2):
        runtime.MemoryPool(f"npu:{kind}").free_all_blocks()
    control.fault(f"{called}={code}x99")
    with pytest.raises((RuntimeError, MemoryError)) as caught:
        back(on_npu(np.ones(9 << 20, np.float32)) + 1)
    assert (caught.type is MemoryError) == (code in NO_MEMORY)
    assert f"{CODES[code]}, {code}" in str(caught.value) or "cannot allocate" in str(caught.value)
