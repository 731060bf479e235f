"""Errors of CANN: each is an exception that says what failed, and the device works afterwards."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from npu_arrays import back, on_npu

import ascend_array_api as xp
from ascend_array_api import runtime


def works():
    a = np.arange(1000, dtype=np.float32)
    x = on_npu(a)
    np.testing.assert_array_equal(back(x * 2 + x), a * 3)


CODES = {
    100000: "ACL_ERROR_INVALID_PARAM",
    107000: "ACL_ERROR_RT_PARAM_INVALID",
    107003: "ACL_ERROR_RT_STREAM_CONTEXT",
    207000: "ACL_ERROR_RT_FEATURE_NOT_SUPPORT",
    207005: "ACL_ERROR_RT_RESOURCE_ALLOC_FAIL",
    361001: "ACLNN_ERR_RUNTIME_ERROR",
    561003: "ACLNN_ERR_INNER_FIND_KERNEL_ERROR",
    561107: "ACLNN_ERR_INNER_OPP_PATH_NOT_FOUND",
    123456: "error 123456",
}


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("called", ["aclnnExpGetWorkspaceSize", "aclnnExp"])
def test_a_refused_operation_is_named(control, called, code):
    x = on_npu(np.ones(5000, np.float32))
    control.fault(f"{called}={code}x9")
    with pytest.raises(
        RuntimeError, match=rf"exp: aclnnExp failed: {CODES[code]}|aclnnExp.*{code}"
    ):
        back(xp.exp(x))
    control.clear_faults()
    works()


@pytest.mark.parametrize("code", [507015, 507018, 507035])
def test_an_operation_that_fails_while_it_runs(control, code):
    x = on_npu(np.ones(5000, np.float32))
    control.fault(f"aclnnExp!={code}")
    with pytest.raises(RuntimeError, match=str(code)):
        back(xp.exp(x))
    works()


@pytest.mark.parametrize("code", [507046, 107000])
def test_waiting_that_fails(control, code):
    x = on_npu(np.ones(5000, np.float32)) + 1
    control.fault(f"aclrtSynchronizeStream={code}")
    with pytest.raises(RuntimeError, match=rf"aclrtSynchronizeStream.*{code}"):
        back(x)
    works()


def test_what_the_operation_does_not_support_runs_on_the_host(control):
    a = np.linspace(0, 1, 5000, dtype=np.float32)
    x = on_npu(a)
    control.fault("aclnnExpGetWorkspaceSize=161002")
    np.testing.assert_allclose(back(xp.exp(x)), np.exp(a), rtol=1e-6)
    works()


@pytest.mark.parametrize(
    ("called", "n"), [("aclrtMemcpyAsync", 300_000), ("aclrtMallocHost", 700_000)]
)
def test_a_refused_transfer_is_an_error(control, called, n):
    x = xp.broadcast_to(on_npu(np.ones(1, np.float32)), (n,)) + 1
    runtime.evaluate(x)
    control.fault(f"{called}=107000")
    with pytest.raises(RuntimeError, match=f"{called}.*107000"):
        back(x)
    assert back(x)[0] == 2
    works()


def test_little_memory_is_taken_from_what_is_cached(control):
    x = on_npu(np.ones(1 << 20, np.float32))
    runtime.evaluate(x + 1)
    control.fault("aclrtMalloc=207001")
    works()
    big = on_npu(np.ones(3 << 20, np.float32))
    assert back(big + 1)[-1] == 2


def test_no_memory_is_a_memory_error(control):
    with pytest.raises(MemoryError, match="exceeds the memory"):
        xp.empty((1 << 44,), dtype=xp.float32, device="npu:0")
    control.fault("aclrtMalloc=207001x100")
    with pytest.raises(MemoryError, match="npu:0"):
        back(on_npu(np.ones(9 << 20, np.float32)) + 1)
    control.clear_faults()
    works()


def test_threads_share_a_device():
    errors = []

    def work(number):
        try:
            a = np.full(3000, number, np.float32)
            x = on_npu(a)
            for _ in range(20):
                x = x + 1
            np.testing.assert_array_equal(back(x), a + 20)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_a_child_of_fork_says_what_to_do():
    x = on_npu([1.0, 2.0])
    back(x + 1)
    code = (
        "import os, sys, numpy as np, ascend_array_api as xp\n"
        "x = xp.asarray(np.ones(3), device='npu:0') + 1\n"
        "x.to_device('cpu')\n"
        "if os.fork() == 0:\n"
        "    try:\n"
        "        (x + 1).to_device('cpu')\n"
        "    except RuntimeError as error:\n"
        "        os._exit(0 if 'spawn' in str(error) else 2)\n"
        "    os._exit(3)\n"
        "sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr


def test_the_process_ends_with_work_pending():
    code = (
        "import numpy as np, ascend_array_api as xp\n"
        "x = xp.asarray(np.ones(30000), device='npu:0')\n"
        "for _ in range(50): x = x + 1\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
