"""Operations that were prepared once run again with other memory, where CANN allows it."""

import os

import numpy as np
import pytest
from npu_arrays import back, on_npu

import ascend_array_api as xp
from ascend_array_api import runtime

NPU = runtime.Device("npu:0")
HELD = 512  # executors, at most
# Under other seeds the double lets some operations run only once.
ALL_REPEAT = os.environ.get("CANN_DOUBLE_SEED", "0") == "0"


@pytest.fixture
def counted():
    before = NPU.statistics()
    return lambda: {name: n - before[name] for name, n in NPU.statistics().items()}


def test_a_loop_prepares_its_operations_once(counted, control):
    a = np.linspace(0, 9, 5000, dtype=np.float32)
    x = on_npu(a)
    results = []
    for _ in range(20):
        y = xp.exp(x) + x
        runtime.evaluate(y)
        results.append(y)
    for y in results:
        np.testing.assert_allclose(back(y), np.exp(a) + a, rtol=1e-6)
    made, reused = counted()["executors_made"], counted()["executors_reused"]
    assert made + reused == 40
    if ALL_REPEAT:
        assert made == 2
        assert control.counter("executors.repeatable") >= 2


def test_other_shapes_numbers_strides_and_dtypes_are_other_operations(counted):
    a = np.arange(600, dtype=np.float32).reshape(20, 30)
    x = on_npu(a)
    for _ in range(3):
        np.testing.assert_array_equal(back(x * 2), a * 2)
        np.testing.assert_array_equal(back(x * 3), a * 3)
        np.testing.assert_array_equal(back(x[:10] * 3), a[:10] * 3)
        np.testing.assert_array_equal(back(x[10:] * 3), a[10:] * 3)
        np.testing.assert_array_equal(back(x.T * 3), a.T * 3)
        np.testing.assert_array_equal(back(x[:, ::2] * 3), a[:, ::2] * 3)
        whole = back(xp.astype(x, xp.int32) * 3)
        np.testing.assert_array_equal(whole, a.astype(np.int32) * 3)


def test_what_replaces_its_operand_is_prepared_each_time(counted):
    a = np.arange(5000, dtype=np.float32)
    x = on_npu(a)
    for _ in range(6):
        x *= 2
        runtime.evaluate(x)
    np.testing.assert_array_equal(back(x), a * 64)
    np.testing.assert_array_equal(back(xp.multiply(x, x)), (a * 64) ** 2)


def test_what_runs_once_leaves_nothing_behind(control):
    x = on_npu(np.arange(5000, dtype=np.float32))
    runtime.evaluate(x + 1)
    runtime.MemoryPool("npu:0").free_all_blocks()
    x *= 2
    runtime.evaluate(x)
    assert [control.live(kind) for kind in ("executor", "tensor", "scalar")] == [0, 0, 0]


def test_few_are_kept_and_none_is_left(counted):
    for n in range(1, 700):
        back(on_npu(np.ones(n, np.float32)) + 1)
    assert NPU.statistics()["executors_held"] <= HELD
    runtime.MemoryPool("npu:0").free_all_blocks()
    assert NPU.statistics()["executors_held"] == 0
    np.testing.assert_array_equal(back(on_npu(np.ones(5, np.float32)) + 1), np.full(5, 2))


def test_executors_are_replaced_while_their_work_is_queued(counted, control):
    """Each is of use until the stream has run what it was launched for."""
    a = np.arange(HELD + 100, dtype=np.float32)
    x = on_npu(a)
    runtime.evaluate(x + 0)
    control.reset_counters()
    results = [x[:n] + 1 for n in range(1, HELD + 100)]
    runtime.evaluate(*results)
    assert control.counter("launches") >= len(results)
    assert control.counter("synchronizations") == 0  # so, by seed 0, nothing has run
    if ALL_REPEAT:
        assert counted()["executors_made"] >= len(results)
        assert NPU.statistics()["executors_held"] == HELD
    for n, y in enumerate(results, start=1):
        np.testing.assert_array_equal(back(y), a[:n] + 1)


def test_what_has_failed_is_prepared_anew(control, counted):
    x = on_npu(np.ones(5000, np.float32))
    back(xp.sin(x))
    control.fault("aclnnSin=361001x2")
    with pytest.raises(RuntimeError, match=r"aclnnSin failed: ACLNN_ERR_RUNTIME_ERROR"):
        back(xp.sin(x))
    control.clear_faults()
    np.testing.assert_allclose(back(xp.sin(x)), np.sin(np.ones(5000, np.float32)), rtol=1e-6)


def test_what_the_chip_refuses_is_not_tried_again(control):
    runtime.set_fallback("silent")
    x = on_npu(np.ones(5000, np.float32))
    control.fault("aclnnTanhGetWorkspaceSize=161002")
    expected = np.tanh(np.ones(5000, np.float32))
    np.testing.assert_allclose(back(xp.tanh(x)), expected, rtol=1e-6)
    control.reset_counters()
    np.testing.assert_allclose(back(xp.tanh(x)), expected, rtol=1e-6)
    assert control.counter("launches.aclnnTanh") == 0
    (route,) = runtime.routing("tanh", xp.float32, "npu:0")
    assert route.kind == "host"
    assert runtime.routing("sinh", xp.float32, "npu:0")[0].kind == "native"
    runtime.set_fallback("warn")
