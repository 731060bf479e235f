"""The pool of an NPU: what it counts, keeps, gives back, and refuses."""

import numpy as np
import pytest
from npu_arrays import back, on_npu

import ascend_array_api as xp
from ascend_array_api import runtime

POOL = runtime.MemoryPool("npu:0")
N = 1 << 18
MIB = 1 << 20


def new(nbytes):
    return xp.empty(nbytes, dtype=xp.uint8, device="npu:0")


@pytest.fixture(autouse=True)
def empty():
    POOL.free_all_blocks()
    yield
    POOL.set_limit(size=0)


@pytest.mark.technique("POOL")
def test_memory_in_use_goes_up_and_down():
    before = POOL.used_bytes()
    x = on_npu(np.ones(N, np.float32))
    y = x + 1
    runtime.evaluate(y)
    # A block of up to 1 MiB more than was asked for is not cut.
    assert 8 * N <= POOL.used_bytes() - before <= 8 * N + 4 * N
    del x
    assert 4 * N <= POOL.used_bytes() - before < 8 * N
    del y
    assert POOL.used_bytes() == before
    assert POOL.free_bytes() >= 8 * N
    POOL.free_all_blocks()
    assert POOL.free_bytes() < 4 * N


@pytest.mark.technique("POOL")
def test_memory_is_used_again_without_asking_cann(control):
    x = on_npu(np.ones(N, np.float32))
    for _ in range(3):
        runtime.evaluate(x * 2)
    held, reused = control.counter("device_bytes"), POOL.statistics().reused
    for _ in range(20):
        runtime.evaluate(x * 2)
    assert control.counter("device_bytes") == held
    assert POOL.statistics().reused >= reused + 20


def test_what_is_given_back_while_work_is_queued_stays_right():
    a = np.arange(N, dtype=np.float32)
    x = on_npu(a)
    results = []
    for i in range(30):
        y = x + i
        z = y * 2
        del y
        results.append(z[:: N // 4])
        del z
    for i, result in enumerate(results):
        np.testing.assert_array_equal(back(result), ((a + np.float32(i)) * 2)[:: N // 4])


def test_a_limit_is_kept_and_its_error_says_what_is_held():
    x = on_npu(np.ones(N, np.float32))
    runtime.evaluate(x + 1)
    POOL.free_all_blocks()
    POOL.set_limit(size=POOL.used_bytes() + 24 * N)
    np.testing.assert_array_equal(back(x + 1)[:3], [2, 2, 2])
    with pytest.raises(MemoryError, match=r"npu:0: \d+ are in use and \d+ cached of"):
        [on_npu(np.ones(3 * N, np.float32)) for _ in range(3)]
    with pytest.raises(MemoryError, match="exceeds the memory that may be used"):
        on_npu(np.ones(16 * N, np.float32))
    POOL.set_limit(size=0)
    np.testing.assert_array_equal(back(on_npu(np.ones(4 * N, np.float32)) + 1)[-2:], [2, 2])


@pytest.mark.technique("POOL")
def test_a_lower_limit_gives_back_at_once_what_is_cached_beyond_it():
    keep = new(3 * MIB)
    for size in (5, 7, 9):
        new(size * MIB)
    free = POOL.free_bytes()
    POOL.set_limit(size=POOL.total_bytes())
    assert POOL.free_bytes() == free
    POOL.set_limit(size=POOL.total_bytes() - 1)
    assert 0 < POOL.free_bytes() < free
    assert POOL.total_bytes() <= POOL.statistics().limit
    POOL.set_limit(size=POOL.used_bytes())
    assert POOL.free_bytes() == 0
    assert keep.size == 3 * MIB


def test_free_memory_of_any_segment_serves_something_small():
    POOL.set_limit(size=POOL.used_bytes() + POOL.free_bytes() + 8 * MIB + 512)
    x = new(8 * MIB)
    del x
    keep = new(3 * MIB)  # in the same segment, of which no part can be given back
    a = np.arange(25, dtype=np.float32)
    small = on_npu(a)
    np.testing.assert_array_equal(back(small * 2), a * 2)
    assert keep.size == 3 * MIB


def test_a_segment_for_something_small_is_as_small_as_the_limit_wants():
    POOL.set_limit(size=POOL.used_bytes() + POOL.free_bytes() + MIB)
    a = np.arange(25, dtype=np.float32)
    np.testing.assert_array_equal(back(on_npu(a) * 2), a * 2)


@pytest.mark.technique("POOL")
def test_a_small_array_does_not_hold_a_large_segment():
    POOL.set_limit(size=POOL.used_bytes() + POOL.free_bytes() + 100 * MIB)
    x = new(63 * MIB)
    del x
    keep = new(MIB + 100_000)
    held = POOL.statistics().allocations
    assert new(63 * MIB).size + keep.size > 64 * MIB
    assert POOL.statistics().allocations == held
    assert new(90 * MIB).size == 90 * MIB


def test_devices_count_apart():
    other = runtime.MemoryPool("npu:1")
    before, used = other.used_bytes(), POOL.used_bytes()
    x = on_npu(np.ones(N, np.float32), device="npu:1")
    runtime.evaluate(x)
    assert other.used_bytes() - before >= 4 * N
    assert POOL.used_bytes() == used
