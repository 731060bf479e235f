"""What the profiler shows of an NPU: rows of the device, copies, and what the host computed."""

import io
import json
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


VALUES = np.random.default_rng(0).random(50_000, dtype=np.float32)


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
