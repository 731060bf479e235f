"""Each rule of the protocol: a program that breaks it is caught, a correct one is not."""

import ctypes
import gc
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import cann_double
import numpy as np
import pytest
from acl_program import ON_DEVICE, SYNC, TIME_LINE, TO_DEVICE, TO_HOST, Refused


def pointer(address):
    return ctypes.c_void_p(address)


def refused(code):
    """Expect an error with the code."""
    return pytest.raises(Refused, match=f": {code}: ")


def free(acl, *addresses):
    for address in addresses:
        acl.call("aclrtFree", pointer(address))


def child(source, folder, **environment):
    """Run a program in a process of its own."""
    paths = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(source), str(folder)],
        env=os.environ | {"PYTHONPATH": paths} | environment,
        capture_output=True,
        text=True,
        timeout=120,
    )


PREFACE = """
    import ctypes, sys
    from pathlib import Path
    from acl_program import Acl, Refused
    import numpy as np
"""


def correct_program(acl, stream=None):
    """Add two arrays with copies on a stream, as a correct program would."""
    a = np.arange(6, dtype=np.float32)
    out = np.empty_like(a)
    pinned = acl.new("aclrtMallocHost", ctypes.c_size_t(a.nbytes))
    one = acl.scalar(1, "float32")
    with acl.tensors(a, a) as (x, y):
        size, executor = acl.plan("aclnnAdd", x.handle, y.handle, one, y.handle)
        workspace = acl.malloc(size) if size else None
        acl.launch("aclnnAdd", size, executor, workspace, stream)
        acl.copy_async(pinned.value, y.address, a.nbytes, TO_HOST, stream)
        acl.synchronize(stream)
        ctypes.memmove(out.ctypes.data, pinned, a.nbytes)
        if workspace:
            free(acl, workspace)
    acl.call("aclDestroyScalar", one)
    acl.call("aclrtFreeHost", pinned)
    np.testing.assert_array_equal(out, a + a)


@pytest.mark.parametrize("seed", range(20))
def test_a_correct_program_passes(acl, seed):
    acl.control.set_seed(seed)
    correct_program(acl)
    assert acl.control.counter("bytes_h2d") == 48
    assert acl.control.counter("bytes_d2h") == 24
    assert acl.control.counter("launches.aclnnAdd") == 1
    assert acl.control.counter("device_bytes") == 0
    assert acl.control.counter("device_bytes_peak") >= 2 * 24


# Memory


def test_the_host_cannot_touch_device_memory():
    done = child(
        PREFACE
        + """
    acl = Acl(Path(sys.argv[1]))
    print("before", flush=True)
    ctypes.string_at(acl.malloc(64), 1)
    print("after")
    """,
        cann_double.build(),
    )
    assert done.stdout == "before\n"
    assert done.returncode == -signal.SIGSEGV


def test_memory_is_poisoned_and_aligned_to_64_only(acl):
    blocks = [acl.malloc(100) for _ in range(20)]
    assert all(block % 64 == 0 for block in blocks)
    assert any(block % 128 != 0 for block in blocks)
    assert (acl.download(blocks[0], (100,), np.uint8) == 0xFF).all()
    free(acl, *blocks)


def test_malloc_of_nothing(acl, violates):
    with refused(100000):
        acl.malloc(0)
    violates("empty-malloc")


def test_double_free(acl, violates):
    block = acl.malloc(64)
    free(acl, block)
    with refused(107000):
        free(acl, block)
    violates("double-free")


def test_free_of_what_is_no_block(acl, violates):
    block = acl.malloc(64)
    with refused(107000):
        free(acl, block + 32)
    violates("foreign-memory")
    free(acl, block)


def test_use_after_free(acl, violates):
    block = acl.malloc(64)
    free(acl, block)
    with refused(107000):
        acl.download(block, (64,), np.uint8)
    violates("use-after-free")


def test_copies_stay_within_blocks(acl, violates):
    block = acl.malloc(64)
    with refused(107000):
        acl.upload(block, np.zeros(65, np.uint8))
    violates("out-of-bounds")
    host = np.zeros(64, np.uint8)
    with refused(107000):  # more bytes than the destination is said to have
        acl.call(
            "aclrtMemcpy",
            pointer(block),
            ctypes.c_size_t(32),
            pointer(host.ctypes.data),
            ctypes.c_size_t(64),
            TO_DEVICE,
        )
    violates("out-of-bounds")
    with refused(107000):
        acl.copy(block, host.ctypes.data, 0, TO_DEVICE)
    violates("empty-copy")
    free(acl, block)


def test_directions_of_copies(acl, violates):
    host = np.zeros(64, np.uint8)
    block, other = acl.malloc(64), acl.malloc(128)
    with refused(107000):
        acl.copy(block, host.ctypes.data, 64, TO_HOST)
    with refused(107000):
        acl.copy(host.ctypes.data, host.ctypes.data, 64, TO_DEVICE)
    violates("not-device-memory", "not-device-memory")
    with refused(107000):
        acl.copy(other + 8, block, 64, ON_DEVICE)
    violates("unaligned")
    acl.copy(other + 64, block, 64, ON_DEVICE)
    free(acl, block, other)


def test_memory_of_another_device(acl, violates):
    acl.call("aclrtSetDevice", 1)
    elsewhere = acl.malloc(64)
    acl.call("aclrtSetDevice", 0)
    here = acl.malloc(64)
    with refused(107000):
        acl.copy(here, elsewhere, 64, ON_DEVICE)
    violates("no-peer-access")
    acl.call("aclrtSetDevice", 1)
    free(acl, elsewhere)
    acl.call("aclrtResetDevice", 1)
    acl.call("aclrtSetDevice", 0)
    free(acl, here)


def test_out_of_memory_is_an_error_and_no_violation(acl):
    acl.control.set_memory(1 << 20)
    with refused(207001):
        acl.malloc(1 << 20)
    acl.control.set_memory(64 << 30)
    free(acl, acl.malloc(1 << 20))


# Streams and events


def test_work_waits_for_the_last_moment(acl):
    pinned = acl.new("aclrtMallocHost", ctypes.c_size_t(64))
    ctypes.memset(pinned, 1, 64)
    block = acl.malloc(64)
    acl.copy_async(block, pinned.value, 64, TO_DEVICE)
    ctypes.memset(pinned, 2, 64)  # too early: the copy has not run
    acl.synchronize()
    assert (acl.download(block, (64,), np.uint8) == 2).all()
    acl.call("aclrtFreeHost", pinned)
    free(acl, block)


def test_reading_before_the_stream_is_done(acl, violates):
    block = acl.malloc(64)
    acl.call(
        "aclrtMemsetAsync", pointer(block), ctypes.c_size_t(64), 0, ctypes.c_size_t(64), acl.stream
    )
    acl.download(block, (64,), np.uint8)
    violates("race")
    acl.synchronize()
    assert (acl.download(block, (64,), np.uint8) == 0).all()
    free(acl, block)


def test_freeing_before_the_stream_is_done(acl, violates):
    block = acl.malloc(64)
    acl.call(
        "aclrtMemsetAsync", pointer(block), ctypes.c_size_t(64), 0, ctypes.c_size_t(64), acl.stream
    )
    free(acl, block)
    violates("race")
    acl.synchronize()


def test_freeing_pinned_memory_before_the_copy_is_done(acl, violates):
    pinned = acl.new("aclrtMallocHost", ctypes.c_size_t(64))
    block = acl.malloc(64)
    acl.copy_async(block, pinned.value, 64, TO_DEVICE)
    acl.call("aclrtFreeHost", pinned)
    violates("race")
    free(acl, block)


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_streams_need_events_between_them(acl, violates, ordered, seed):
    acl.control.set_seed(seed)
    other = acl.new("aclrtCreateStream")
    event = acl.new("aclrtCreateEventExWithFlag", ctypes.c_uint32(SYNC))
    block = acl.malloc(64)

    def memset(value, stream):
        sizes = ctypes.c_size_t(64), value, ctypes.c_size_t(64)
        acl.call("aclrtMemsetAsync", pointer(block), *sizes, stream)

    memset(1, acl.stream)
    if ordered:
        acl.call("aclrtRecordEvent", event, acl.stream)
        acl.call("aclrtStreamWaitEvent", other, event)
    memset(2, other)
    acl.synchronize(other)
    acl.synchronize()
    if ordered:
        assert (acl.download(block, (64,), np.uint8) == 2).all()
    else:
        violates("race")
    free(acl, block)
    acl.call("aclrtDestroyEvent", event)
    acl.call("aclrtDestroyStream", other)


def test_queries_make_progress(acl):
    event = acl.new("aclrtCreateEventExWithFlag", ctypes.c_uint32(SYNC))
    status = ctypes.c_int()
    acl.call("aclrtRecordEvent", event, acl.stream)
    seen = []
    while not seen or seen[-1] == 0:
        acl.call("aclrtQueryEventStatus", event, ctypes.byref(status))
        seen.append(status.value)
    assert seen[0] == 0
    assert len(seen) < 10
    acl.call("aclrtDestroyEvent", event)


def test_destroying_what_is_in_use(acl, violates):
    other = acl.new("aclrtCreateStream")
    event = acl.new("aclrtCreateEventExWithFlag", ctypes.c_uint32(SYNC))
    acl.call("aclrtRecordEvent", event, other)
    acl.call("aclrtDestroyEvent", event)
    violates("unfinished")
    acl.call("aclrtDestroyStream", other)
    violates("unfinished")


def test_handles_are_not_used_after_destruction(acl, violates):
    other = acl.new("aclrtCreateStream")
    acl.call("aclrtDestroyStream", other)
    with refused(107000):
        acl.call("aclrtDestroyStream", other)
    with refused(107000):
        acl.synchronize(other)
    violates("use-after-destroy", "use-after-destroy")
    event = acl.new("aclrtCreateEventExWithFlag", ctypes.c_uint32(SYNC))
    with refused(107000):
        acl.synchronize(event)
    violates("foreign-handle")
    acl.call("aclrtDestroyEvent", event)


def test_events_have_flags(acl, violates):
    timed = acl.new("aclrtCreateEventExWithFlag", ctypes.c_uint32(TIME_LINE))
    plain = acl.new("aclrtCreateEventExWithFlag", ctypes.c_uint32(SYNC))
    for event in (timed, plain):
        acl.call("aclrtRecordEvent", event, acl.stream)
    with refused(107000):
        acl.call("aclrtStreamWaitEvent", acl.stream, timed)
    elapsed = ctypes.c_float()
    acl.synchronize()
    with refused(107000):
        acl.call("aclrtEventElapsedTime", ctypes.byref(elapsed), timed, plain)
    violates("event-flag", "event-flag")
    for event in (timed, plain):
        acl.call("aclrtDestroyEvent", event)


def test_elapsed_time(acl):
    start, end = (
        acl.new("aclrtCreateEventExWithFlag", ctypes.c_uint32(TIME_LINE)) for _ in range(2)
    )
    acl.call("aclrtRecordEvent", start, acl.stream)
    correct_program(acl)
    acl.call("aclrtRecordEvent", end, acl.stream)
    acl.synchronize()
    elapsed = ctypes.c_float()
    acl.call("aclrtEventElapsedTime", ctypes.byref(elapsed), start, end)
    assert elapsed.value > 0
    for event in (start, end):
        acl.call("aclrtDestroyEvent", event)


def test_waiting_for_an_event_that_was_never_recorded(acl, violates):
    event = acl.new("aclrtCreateEventExWithFlag", ctypes.c_uint32(SYNC))
    acl.call("aclrtStreamWaitEvent", acl.stream, event)
    violates("unrecorded")
    acl.call("aclrtDestroyEvent", event)


def test_streams_belong_to_a_context(acl, violates):
    acl.call("aclrtSetDevice", 1)
    with refused(107003):
        acl.synchronize()
    violates("wrong-context")
    acl.call("aclrtResetDevice", 1)
    acl.call("aclrtSetDevice", 0)


def test_threads_have_no_device_at_first(acl, violates):
    import threading

    codes = []
    thread = threading.Thread(
        target=lambda: codes.append(acl.function("aclrtSynchronizeStream")(acl.stream))
    )
    thread.start()
    thread.join()
    assert codes == [107002]
    violates("no-context")


# Descriptors and operations


@pytest.fixture
def pair(acl):
    with acl.tensors(np.arange(8, dtype=np.float32), np.zeros(8, np.float32)) as tensors:
        yield tensors
        gc.collect()


def test_descriptors_are_destroyed_once(acl, pair, violates):
    extra = pair[0].view((2,), (1,))
    acl.call("aclDestroyTensor", extra)
    with refused(161001):
        acl.call("aclDestroyTensor", extra)
    violates("double-destroy")


@pytest.mark.parametrize(
    ("rule", "shape", "strides", "offset"),
    [
        ("negative-stride", (8,), (-1,), 7),
        ("negative", (8,), (1,), -1),
        ("out-of-bounds", (8,), (1,), 1),
        ("out-of-bounds", (3, 3), (3, 1), 0),
        ("rank", (1,) * 9, (1,) * 9, 0),
    ],
)
def test_views(acl, pair, violates, rule, shape, strides, offset):
    view = pair[0].view(shape, strides, offset)
    with refused(161002):
        acl.plan("aclnnAbs", view, pair[1].handle)
    violates(rule)
    acl.call("aclDestroyTensor", view)


def run_abs(acl, source, target):
    acl.run("aclnnAbs", source, target)


def test_tensors_are_aligned_to_32_bytes(acl, pair, violates):
    inner = acl.tensor(pair[0].address + 4, (4,), np.float32)
    half = pair[1].view((4,), (1,))
    size, executor = acl.plan("aclnnAbs", inner, half)
    workspace = acl.malloc(size) if size else None
    with refused(161002):
        acl.launch("aclnnAbs", size, executor, workspace)
    violates("unaligned")
    acl.call("aclSetAclOpExecutorRepeatable", executor)
    acl.call("aclDestroyAclOpExecutor", executor)
    for handle in (inner, half):
        acl.call("aclDestroyTensor", handle)
    if workspace:
        free(acl, workspace)


def failing_launch(acl, name, *arguments, code=161002, **changes):
    """Run both phases; phase 2 is refused, and the executor is cleaned away."""
    size, executor = acl.plan(name, *arguments)
    workspace = acl.malloc(size) if size else None
    given = {"size": size, "executor": executor, "workspace": workspace} | changes
    with refused(code):
        acl.launch(name, given["size"], given["executor"], given["workspace"])
    acl.call("aclSetAclOpExecutorRepeatable", executor)
    acl.call("aclDestroyAclOpExecutor", executor)
    if workspace:
        free(acl, workspace)


def test_storage_lies_in_one_block(acl, pair, violates):
    longer = acl.tensor(pair[0].address, (4096,), np.float32)
    other = acl.tensor(pair[1].address, (4096,), np.float32)
    failing_launch(acl, "aclnnAbs", longer, other, code=361001)
    violates("out-of-bounds")
    for handle in (longer, other):
        acl.call("aclDestroyTensor", handle)


def test_outputs_do_not_overlap(acl, pair, violates):
    source = pair[0]
    low, high = source.view((7,), (1,)), source.view((7,), (1,), 1)
    failing_launch(acl, "aclnnAbs", low, high)
    violates("overlap")
    repeated = source.view((4,), (0,))
    four = pair[1].view((4,), (1,))
    failing_launch(acl, "aclnnAbs", four, repeated)
    violates("overlap")
    run_abs(acl, repeated, four)  # as an input it is fine
    even, odd = source.view((4,), (2,)), source.view((4,), (2,), 1)
    run_abs(acl, even, odd)  # interleaved, but apart
    np.testing.assert_array_equal(source.get(), [0, 0, 2, 2, 4, 4, 6, 6])
    for handle in (low, high, repeated, four, even, odd):
        acl.call("aclDestroyTensor", handle)


def test_blocks_keep_their_padding(acl, violates):
    block = acl.malloc(256)
    acl.upload(block, np.ones(64, np.float32))
    for distance, rules in ((32, ["padding"]), (64, []), (96, [])):
        a = acl.tensor(block, (8,), np.float32)
        b = acl.tensor(block + distance, (8,), np.float32)
        run_abs(acl, a, b)
        violates(*rules)
        for handle in (a, b):
            acl.call("aclDestroyTensor", handle)
    free(acl, block)


def test_the_workspace_is_what_phase_1_asked_for(acl, pair, violates):
    x, y = pair
    spare = acl.malloc(64)
    wants_none = wants_some = False
    while not (wants_none and wants_some):
        size, executor = acl.plan("aclnnAbs", x.handle, y.handle)
        if size == 0:
            wants_none = True
            with refused(161002):
                acl.launch("aclnnAbs", 32, executor, spare)
            violates("workspace")
            acl.launch("aclnnAbs", 0, executor)
        else:
            wants_some = True
            with refused(161002):
                acl.launch("aclnnAbs", size, executor, None)
            violates("not-device-memory", "workspace")
            small = acl.malloc(size - 32)
            with refused(161002):
                acl.launch("aclnnAbs", size, executor, small)
            violates("out-of-bounds", "workspace")
            workspace = acl.malloc(size)
            acl.launch("aclnnAbs", size, executor, workspace)
            acl.synchronize()
            free(acl, small, workspace)
    acl.synchronize()
    free(acl, spare)


def test_executors_are_used_once(acl, pair, violates):
    x, y = pair
    size, executor = acl.plan("aclnnAbs", x.handle, y.handle)
    workspace = acl.malloc(size) if size else None
    acl.launch("aclnnAbs", size, executor, workspace)
    with refused(161001):
        acl.launch("aclnnAbs", size, executor, workspace)
    violates("use-after-destroy")
    acl.synchronize()
    if workspace:
        free(acl, workspace)


def test_executors_belong_to_an_operation(acl, pair, violates):
    x, y = pair
    size, executor = acl.plan("aclnnAbs", x.handle, y.handle)
    with refused(161002):
        acl.launch("aclnnExp", size, executor)
    violates("wrong-executor")
    workspace = acl.malloc(size) if size else None
    acl.launch("aclnnAbs", size, executor, workspace)
    acl.synchronize()
    if workspace:
        free(acl, workspace)


def test_descriptors_live_until_phase_2(acl, pair, violates):
    view = pair[0].view((8,), (1,))
    size, executor = acl.plan("aclnnAbs", view, pair[1].handle)
    acl.call("aclDestroyTensor", view)
    with refused(161002):
        acl.launch("aclnnAbs", size, executor)
    violates("use-after-destroy")
    acl.call("aclSetAclOpExecutorRepeatable", executor)
    acl.call("aclDestroyAclOpExecutor", executor)


def test_repeatable_executors(acl, pair, violates):
    x, y = pair
    with acl.tensors(-np.ones(8, np.float32)) as (z,):
        size, executor = acl.plan("aclnnAbs", x.handle, y.handle)
        workspace = acl.malloc(size) if size else None
        set_input = ("aclSetInputTensorAddr", executor, ctypes.c_size_t(0), x.handle)
        with refused(161002):
            acl.call(*set_input, pointer(z.address))
        violates("not-repeatable")
        acl.call("aclSetAclOpExecutorRepeatable", executor)
        acl.launch("aclnnAbs", size, executor, workspace)
        acl.synchronize()
        np.testing.assert_array_equal(y.get(), np.arange(8))
        acl.call(*set_input, pointer(z.address))
        acl.launch("aclnnAbs", size, executor, workspace)
        acl.synchronize()
        np.testing.assert_array_equal(y.get(), np.ones(8))
        with refused(161002):
            acl.call("aclSetInputTensorAddr", executor, ctypes.c_size_t(1), y.handle, None)
        violates("bad-index")
        acl.call("aclDestroyAclOpExecutor", executor)
        if workspace:
            free(acl, workspace)


def test_repeatable_executors_do_not_write_what_they_read(acl, pair, violates):
    x, y = pair
    size, executor = acl.plan("aclnnAbs", x.handle, y.handle)
    workspace = acl.malloc(size) if size else None
    acl.call("aclSetAclOpExecutorRepeatable", executor)
    acl.call("aclSetTensorAddr", executor, ctypes.c_size_t(1), y.handle, pointer(x.address))
    acl.launch("aclnnAbs", size, executor, workspace)
    acl.synchronize()
    violates("not-repeatable")
    acl.call("aclDestroyAclOpExecutor", executor)
    if workspace:
        free(acl, workspace)


def test_executors_are_made_repeatable_at_once_and_destroyed_when_idle(acl, pair, violates):
    x, y = pair
    size, executor = acl.plan("aclnnAbs", x.handle, y.handle)
    workspace = acl.malloc(size) if size else None
    acl.call("aclSetAclOpExecutorRepeatable", executor)
    acl.launch("aclnnAbs", size, executor, workspace)
    with refused(161002):
        acl.call("aclSetAclOpExecutorRepeatable", executor)
    violates("not-repeatable")
    acl.call("aclDestroyAclOpExecutor", executor)
    violates("in-use")
    acl.synchronize()
    if workspace:
        free(acl, workspace)


def test_some_operations_run_once_under_some_seeds(acl, pair):
    x, y = pair
    outcomes = set()
    for seed in range(20):
        acl.control.set_seed(seed)
        size, executor = acl.plan("aclnnAbs", x.handle, y.handle)
        workspace = acl.malloc(size) if size else None
        code = acl.call("aclSetAclOpExecutorRepeatable", executor, accept=(0, 161002))
        outcomes.add(code)
        acl.launch("aclnnAbs", size, executor, workspace)
        acl.synchronize()
        if code == 0:
            acl.call("aclDestroyAclOpExecutor", executor)
        if workspace:
            free(acl, workspace)
    acl.control.set_seed(0)
    assert outcomes == {0, 161002}


def test_dtypes_that_an_operation_lacks_are_refused(acl):
    with acl.tensors(np.zeros(3, np.uint16), np.zeros(3, np.uint16)) as (x, y), refused(161002):
        acl.plan("aclnnMul", x.handle, y.handle, y.handle)


def test_shapes_are_checked(acl, pair):
    short = pair[1].view((4,), (1,))
    with refused(161002):
        acl.plan("aclnnAbs", pair[0].handle, short)
    acl.call("aclDestroyTensor", short)


def test_null_arguments(acl, pair, violates):
    with refused(161001):
        acl.plan("aclnnAbs", None, pair[1].handle)
    violates("null")


def test_bytes_that_are_no_bool(acl, violates):
    with acl.tensors(np.zeros(4, bool), np.zeros(4, bool)) as (x, y):
        acl.upload(x.address, np.array([0, 1, 2, 1], np.uint8))
        acl.run("aclnnLogicalNot", x.handle, y.handle)
        violates("bad-bool")


def test_a_cast_of_strided_bool_is_not_supported(acl, violates):
    with acl.tensors(np.zeros(8, bool), np.zeros(4, np.float32)) as (x, y):
        view = x.view((4,), (2,))
        with refused(161002):
            acl.plan("aclnnCast", view, 0, y.handle)
        violates("constraint")
        acl.call("aclDestroyTensor", view)


# Faults, ends, settings


@pytest.mark.parametrize("code", [207001, 507015, 107022, 507899])
def test_injected_faults(acl, code):
    acl.control.fault(f"aclrtMalloc={code}@1x2")
    first = acl.malloc(64)
    for _ in range(2):
        with refused(code):
            acl.malloc(64)
    free(acl, first, acl.malloc(64))


@pytest.mark.parametrize("name", ["aclnnAbsGetWorkspaceSize", "aclnnAbs"])
def test_faults_of_the_phases(acl, pair, name):
    acl.control.fault(f"{name}=561003")
    with refused(561003):
        run_abs(acl, pair[0].handle, pair[1].handle)


def test_work_that_fails_on_the_device(acl, pair):
    stream = acl.new("aclrtCreateStream")
    acl.control.fault("aclnnAbs!=507015")
    size, executor = acl.plan("aclnnAbs", pair[0].handle, pair[1].handle)
    workspace = acl.malloc(size) if size else None
    acl.launch("aclnnAbs", size, executor, workspace, stream)
    for _ in range(2):  # the stream keeps the error
        with refused(507015):
            acl.synchronize(stream)
    acl.call("aclrtDestroyStream", stream)
    assert np.isnan(pair[1].get()).all()
    if workspace:
        free(acl, workspace)
    correct_program(acl)


def test_a_lost_device():
    done = child(
        PREFACE
        + """
    acl = Acl(Path(sys.argv[1]))
    acl.control.fault("aclrtMemsetAsync!=507054")
    block = ctypes.c_void_p(acl.malloc(64))
    acl.call("aclrtMemsetAsync", block, ctypes.c_size_t(64), 0, ctypes.c_size_t(64), acl.stream)
    for call in (acl.synchronize, lambda: acl.malloc(64)):
        try:
            call()
        except Refused as refused:
            print(refused.code)
    """,
        cann_double.build(),
    )
    assert done.stdout.split() == ["507054", "507054"], done.stderr


def test_error_messages_are_read_once(acl):
    message = acl.function("aclGetRecentErrMsg")
    acl.control.set_memory(64)
    with refused(207001) as caught:
        acl.malloc(64)
    assert "aclrtMalloc: 64 bytes of 64" in str(caught.value)
    assert message() is None
    acl.control.set_memory(64 << 30)


LEAKS = {
    "device memory": ("acl.malloc(64)", "leak: aclFinalize: 64 bytes of device memory"),
    "a stream": ("", "leak: aclFinalize: 1 of stream"),
    "a scalar": ("acl.scalar(1, 'int32')", "leak: aclFinalize: 1 of scalar"),
}


@pytest.mark.parametrize("what", LEAKS)
def test_leaks_are_found_at_the_end(what):
    statement, expected = LEAKS[what]
    done = child(
        PREFACE
        + f"""
    acl = Acl(Path(sys.argv[1]))
    {statement}
    acl.call("aclFinalize")
    print(*acl.control.violations(), sep="\\n")
    """,
        cann_double.build(),
    )
    assert any(line.startswith(expected) for line in done.stdout.splitlines()), done.stdout


def test_an_end_without_leaks():
    done = child(
        PREFACE
        + """
    acl = Acl(Path(sys.argv[1]))
    acl.call("aclrtDestroyStream", acl.stream)
    acl.call("aclrtResetDevice", 0)
    acl.call("aclFinalize")
    print(acl.control.violations())
    print(acl.function("aclrtMalloc")(None, 1, 0))
    print(acl.control.violations())
    """,
        cann_double.build(),
    )
    assert done.stdout.splitlines() == [
        "[]",
        "100001",
        "['uninitialized: aclrtMalloc: called before aclInit']",
    ]


def test_other_users_are_not_finalized():
    done = child(
        PREFACE
        + """
    from cann_double import Control
    Control(Path(sys.argv[1])).other_user()
    acl = Acl(Path(sys.argv[1]))
    acl.call("aclFinalize")
    print(acl.control.violations()[0])
    """,
        cann_double.build(),
    )
    assert done.stdout.startswith("shared: aclFinalize"), done.stderr


def test_the_report_survives_a_crash(tmp_path):
    done = child(
        PREFACE
        + """
    acl = Acl(Path(sys.argv[1]))
    acl.function("aclrtMalloc")(None, 0, 0)
    ctypes.string_at(0)
    """,
        cann_double.build(),
        CANN_DOUBLE_REPORT=str(tmp_path),
    )
    assert done.returncode == -signal.SIGSEGV
    (report,) = tmp_path.iterdir()
    assert report.read_text().startswith("empty-malloc: aclrtMalloc")


def test_descriptors_alive_at_exit_are_reported(tmp_path):
    done = child(
        PREFACE
        + """
    acl = Acl(Path(sys.argv[1]))
    acl.scalar(1, "int32")
    """,
        cann_double.build(),
        CANN_DOUBLE_REPORT=str(tmp_path),
    )
    assert done.returncode == 0, done.stderr
    (report,) = tmp_path.iterdir()
    assert report.read_text() == "leak: : 1 of scalar at exit\n"


SETTINGS = {
    "no device": ({"CANN_DOUBLE_DEVICES": "0"}, "aclrtSetDevice: 207004"),
    "a stub": ({"CANN_DOUBLE_STUB": "1"}, "aclInit: 100039"),
    "a fault": ({"CANN_DOUBLE_FAULTS": "aclrtSetDevice=507899"}, "aclrtSetDevice: 507899"),
}


@pytest.mark.parametrize("what", SETTINGS)
def test_settings_by_environment(what):
    environment, expected = SETTINGS[what]
    done = child(
        PREFACE
        + """
    try:
        acl = Acl(Path(sys.argv[1]))
    except Refused as refused:
        print(refused)
    """,
        cann_double.build(),
        **environment,
    )
    assert expected in done.stdout, done.stderr


@pytest.mark.parametrize("family", ["split", "classic"])
def test_families(family):
    folder = cann_double.build(family)
    names = {path.name for path in folder.iterdir()}
    runtime, operations = {
        "split": ("libacl_rt.so", {"libopapi_math.so", "libopapi_nn.so"}),
        "classic": ("libascendcl.so", {"libopapi.so"}),
    }[family]
    assert names == {runtime, "libnnopbase.so"} | operations
    done = child(
        PREFACE
        + """
    acl = Acl(Path(sys.argv[1]))
    with acl.tensors(-np.ones(3, np.float32), np.zeros(3, np.float32)) as (x, y):
        acl.run("aclnnAbs", x.handle, y.handle)
        print(y.get())
    print(acl.control.violations())
    """,
        folder,
    )
    assert done.stdout == "[1. 1. 1.]\n[]\n", done.stderr
