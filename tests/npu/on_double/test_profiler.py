"""What the profiler shows of an NPU: rows of the device, copies, and what the host computed."""

import io
import json
import os
import time
import warnings

import numpy as np
import pytest
from npu_arrays import back, on_npu

import ascend_array_api as xp
from ascend_array_api import runtime
from ascend_array_api.profiler import Profiler

N = 100_000


@pytest.fixture
def profile():
    """Some work on the NPU, under the profiler."""
    runtime.set_fallback("silent")
    a = np.linspace(0, 1, N, dtype=np.float32)
    x = on_npu(a)
    with Profiler() as recorded:
        y = xp.sqrt(x * x + 1)
        runtime.evaluate(y)
        z = xp.hypot(x, y)
        runtime.evaluate(z)
        xp.unique_values(x[:100])
        xp.sort(x)
        got = back(y)
    np.testing.assert_allclose(got, np.sqrt(a * a + 1), rtol=1e-6)
    runtime.set_fallback("warn")
    return recorded


def rows(profile, category):
    return {row.name: row for row in profile.operations() if row.category == category}


@pytest.mark.technique("DEFER", "FUSION")
def test_work_is_the_devices(profile):
    compute = rows(profile, "compute")
    assert {"multiply+add+sqrt", "sort"} <= compute.keys()
    assert {row.device for row in compute.values()} == {"npu:0"}
    assert compute["multiply+add+sqrt"].bytes == 8 * N


def test_copies_are_rows_with_their_bytes(profile):
    copies = rows(profile, "copy")
    assert copies["upload"].device == copies["download"].device == "npu:0"
    assert copies["upload"].bytes >= 4 * N
    assert copies["download"].bytes >= 4 * N
    assert copies["download"].rate.endswith("GB/s")


def test_what_the_host_computed_is_a_category_of_its_own(profile):
    fallback = rows(profile, "fallback")
    assert fallback.keys() == {"hypot", "unique"}
    assert {row.device for row in fallback.values()} == {"npu:0"}
    totals = {row.name: row for row in profile.categories()}
    assert totals["fallback"].events == 2
    assert totals["copy"].total > 0


def test_the_trace_and_the_summary_have_the_device(profile, tmp_path):
    path = tmp_path / "trace.json"
    profile.export_chrome_trace(path)
    trace = json.loads(path.read_text())["traceEvents"]
    processes = {e["pid"]: e["args"]["name"] for e in trace if e["name"] == "process_name"}
    assert "device npu:0" in processes.values()
    shown = {(processes[e["pid"]], e["cat"]) for e in trace if e["ph"] == "X"}
    assert {("device npu:0", c) for c in ("compute", "copy", "fallback")} <= shown
    text = io.StringIO()
    profile.summary(file=text)
    assert "upload" in text.getvalue()
    assert "npu:0" in text.getvalue()


def test_memory_of_the_device_is_counted():
    with Profiler() as recorded:
        x = on_npu(np.ones(N, np.float32))
        runtime.evaluate(x + 1)
    used = [e for e in recorded._recording.events() if e.kind == "memory"]
    number = recorded._recording.devices.index("npu:0")
    assert any(e.device == number and e.written >= 4 * N for e in used)


def work(recorded):
    """Return the work of the device itself, in the order of time."""
    rows = [t for t in recorded._recording.threads if t.is_device]
    return sorted((e for t in rows for e in t.events if e.kind == "work"), key=lambda e: e.begin)


def test_the_times_are_the_devices():
    """The double runs work when somebody waits for it, which is when its clock has it begin."""
    x = on_npu(np.ones(N, np.float32)) + 1
    runtime.evaluate(x)
    runtime.synchronize()
    with Profiler() as recorded:
        y = xp.exp(x)
        runtime.evaluate(y)
        time.sleep(0.05)
        back(y * 2)
    (queued,) = [e for e in recorded._recording.events() if e.kind == "queue" and e.name == "exp"]
    exp, multiply, download = work(recorded)
    assert [exp.name, multiply.name, download.name] == ["exp", "multiply", "download"]
    assert exp.begin < exp.end <= multiply.begin < multiply.end <= download.begin < download.end
    assert recorded._recording.since <= exp.begin
    assert queued.category == "host"
    assert queued.bytes == 0
    assert exp.bytes == 8 * N
    if os.environ.get("CANN_DOUBLE_SEED", "0") == "0":
        assert exp.begin - queued.end >= 5e7


def test_uploads_lie_inside_of_the_work_that_asks_for_them():
    x = on_npu(np.ones(N, np.float32))
    with Profiler() as recorded:
        runtime.evaluate(xp.exp(x))
    exp, upload = work(recorded)
    assert (exp.name, upload.name) == ("exp", "upload")
    assert exp.begin <= upload.begin < upload.end <= exp.end


def test_work_of_a_stream_that_fails_has_the_hosts_times(control):
    x = on_npu(np.ones(N, np.float32))
    with Profiler() as recorded:
        control.fault("aclnnExp!=507015")
        with pytest.raises(RuntimeError, match="aclrt"):
            back(xp.exp(x))
        control.clear_faults()
        np.testing.assert_array_equal(back(x + 1), np.full(N, 2, np.float32))
    names = [e.name for e in work(recorded)]
    assert {"exp", "add"} <= set(names)
    assert all(e.duration >= 0 for e in work(recorded))


def test_an_event_has_the_time_of_the_device():
    x = on_npu(np.ones(N, np.float32)) + 1
    runtime.evaluate(x)
    runtime.synchronize()
    begin, end = runtime.Event(), runtime.Event()
    start = time.perf_counter()
    begin.record()
    time.sleep(0.05)
    runtime.evaluate(xp.exp(x))
    end.record()
    milliseconds = begin.elapsed_time(end)
    assert 0 < milliseconds <= (time.perf_counter() - start) * 1e3
    assert end.elapsed_time(begin) == -milliseconds
    if os.environ.get("CANN_DOUBLE_SEED", "0") == "0":
        assert milliseconds < 50  # nobody waited for the first one while the host slept


VALUES = np.random.default_rng(0).random(50_000, dtype=np.float32)


@pytest.mark.technique("DEFER", "FUSION")
def test_categories():
    with Profiler() as profile, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = on_npu(VALUES)
        back(xp.sqrt(x) * 2.0)
        back(xp.linalg.qr(xp.reshape(x, (250, 200))).R)
    rows = {(row.name, row.category): row for row in profile.operations()}
    assert rows["upload", "copy"].device == "npu:0"
    assert rows["upload", "copy"].bytes >= VALUES.nbytes
    assert rows["download", "copy"].bytes >= VALUES.nbytes
    assert rows["sqrt+multiply", "compute"].device == "npu:0"
    assert rows["qr", "fallback"].device == "npu:0"
    totals = {row.name: row for row in profile.categories()}
    assert totals["copy"].events >= 3
    assert totals["fallback"].events >= 1
    assert totals["fallback"].total > 0
    # Copies inside of a fallback count as copies alone.
    assert sum(row.share for row in profile.operations()) <= 1 + 1e-9
