"""Host memory that is missing while device memory is taken; `test_on_double.py` preloads faults."""

import ctypes

import pytest

import ascend_array_api as xp
from ascend_array_api import runtime

POOL = runtime.MemoryPool("npu:0")
MIB = 1 << 20
OURS = ctypes.c_char_p(b"/_core.")


def new(nbytes):
    return xp.empty(nbytes, dtype=xp.uint8, device="npu:0")


@pytest.mark.parametrize("nbytes", [100, 3 * MIB])
def test_no_device_memory_is_lost(control, nbytes):
    library = ctypes.CDLL(None)  # failing_new.cpp
    library.fail_new_in(OURS)
    # nanobind ends the process where its table of objects cannot grow: it has grown before.
    del [new(1) for _ in range(1000)][:]
    keep = new(nbytes)
    POOL.free_all_blocks()
    before = control.counter("device_bytes"), POOL.used_bytes(), POOL.free_bytes()
    missed = 0
    for n in range(1, 60):
        library.fail_new_every(n)
        try:
            taken = [new(nbytes) for _ in range(3)]
        except MemoryError:
            missed += 1
        finally:
            library.fail_new_every(0)
        taken = None
        POOL.free_all_blocks()
        now = control.counter("device_bytes"), POOL.used_bytes(), POOL.free_bytes()
        assert now == before, f"request {n}"
    assert missed > 5
    assert taken is None
    assert keep.size == nbytes
