"""What the profiler records, what its tables say, and the trace that it writes."""

import inspect
import io
import json
import os
import re
import threading

import numpy as np
import pytest
import trace_format

import ascend_array_api as xp
from ascend_array_api import runtime
from ascend_array_api._profile import ProfileEvent, Recording, category_rows, operation_rows
from ascend_array_api.profiler import Profiler

DEFERRED = os.environ.get("ASCEND_ARRAY_API_DEFER", "auto") != "off"
FUSED = DEFERRED and os.environ.get("ASCEND_ARRAY_API_FUSION", "on") == "on"
N = 100_000


def events(profile, kind):
    return [e for e in profile._recording.events() if e.kind == kind]


def line_here():
    """The line of the caller, as the profiler writes it."""
    frame = inspect.currentframe().f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


@pytest.mark.skipif(not FUSED, reason="one operation at a time")
def test_a_fused_chain_is_one_work_with_its_bytes():
    x = xp.asarray(np.ones(N))
    with Profiler() as profile:
        y = xp.sqrt(x * x + 1.0)
        runtime.evaluate(y)
    (work,) = events(profile, "work")
    assert work.name == "multiply+add+sqrt"
    assert (work.category, work.elements) == ("compute", N)
    assert (work.read, work.written) == (8 * N, 8 * N)
    assert work.stream > 0
    recorded = events(profile, "record")
    assert [e.name for e in recorded] == ["multiply", "add", "sqrt"]
    assert [e.flow for e in events(profile, "begin")] == [e.flow for e in recorded]
    assert all(0 < e.end <= work.begin for e in recorded)
    (row,) = profile.operations()
    assert row.bytes == 16 * N
    assert row.rate == f"{16 * N / row.total / 1e9:.3g} GB/s"


@pytest.mark.skipif(not FUSED, reason="one operation at a time")
def test_what_stays_in_registers_and_what_is_broadcast_is_not_counted():
    x = xp.asarray(np.ones((300, 400)))
    row = xp.asarray(np.ones(400))
    with Profiler() as profile:
        total = xp.sum(xp.exp(x + row) * 2.0)
        runtime.evaluate(total)
    (work,) = events(profile, "work")
    assert work.name == "add+exp+multiply+sum"
    assert work.read == 8 * (300 * 400 + 400)
    assert work.written == 8


def test_lines_of_the_program():
    x = xp.asarray(np.ones(N))
    with Profiler() as profile:
        y, first = x + 1.0, line_here()
        z, second = xp.exp(y), line_here()
        runtime.evaluate(z)
    calls = {e.name: e.line for e in events(profile, "call")}
    assert calls["add"] == first
    assert calls["exp"] == second
    if DEFERRED:
        assert [e.line for e in events(profile, "record")] == [first, second]


@pytest.mark.skipif(not DEFERRED, reason="at the call it is counted in bytes")
@pytest.mark.parametrize(("dtype", "operations"), [("float32", 2), ("complex64", 8)])
def test_matrix_products_are_measured_in_operations(dtype, operations):
    a, b = xp.asarray(np.ones((70, 80), dtype)), xp.asarray(np.ones((80, 90), dtype))
    with Profiler() as profile:
        runtime.evaluate(a @ b)
    (row,) = profile.operations()
    assert row.name == "matmul"
    assert row.operations == operations * 70 * 80 * 90
    assert row.rate.endswith("GFLOP/s")


def test_categories_of_work_at_the_call():
    source = np.ones(N)
    with Profiler() as profile:
        x = xp.asarray(source)
        y = xp.sort(x)
        y[::2]
        xp.reshape(y, (2, -1))
    calls = {e.name: e for e in events(profile, "call")}
    assert calls["asarray"].category == "copy"
    assert calls["asarray"].written == 8 * N
    assert (calls["sort"].category, calls["sort"].elements) == ("compute", N)
    assert (calls["sort"].read, calls["sort"].written) == (8 * N, 8 * N)
    assert calls["getitem"].category == "host"
    assert calls["reshape"].category == "host"
    rows = {row.name: row.events for row in profile.categories()}
    assert list(rows) == ["compute", "copy", "wait", "fallback", "host"]
    assert rows["copy"] == 1


@pytest.mark.skipif(not FUSED, reason="nobody waits, or for more")
def test_waiting_is_what_is_left_of_a_wait():
    x = xp.asarray(np.ones(3_000_000))
    with Profiler() as profile:
        float(xp.sum(xp.exp(x)))
    (wait,) = events(profile, "wait")
    (work,) = events(profile, "work")
    assert wait.begin <= work.begin <= work.end <= wait.end
    rows = {row.name: row.total for row in profile.categories()}
    fuse = events(profile, "fuse")
    assert rows["compute"] == pytest.approx(work.duration / 1e9)
    inside = work.duration + sum(e.duration for e in fuse)
    assert rows["wait"] == pytest.approx((wait.duration - inside) / 1e9)


def _event(name, begin, end, kind="work", category="compute", **fields):
    values = dict.fromkeys(ProfileEvent._fields, 0) | {"line": None}
    values |= {"name": name, "kind": kind, "category": category, "begin": begin, "end": end}
    return tuple((values | fields).values())


def test_statistics_of_the_summary():
    times = [7, 1, 3, 20, 5, 9, 2, 2, 40, 11]
    starts = np.cumsum([0, *times[:-1]]) * 1000
    work = [_event("a", s, s + 1000 * t, read=500) for s, t in zip(starts, times, strict=True)]
    work.append(_event("b", 200_000, 300_000, operations=10**6))
    rows = operation_rows(Recording(0, [(1, "main", 0, work)]))
    assert [row.name for row in rows] == ["a", "b"] or rows[0].total >= rows[1].total
    row = {row.name: row for row in rows}["a"]
    assert row.calls == 10
    seconds = np.asarray(times) / 1e6
    assert row.total == pytest.approx(seconds.sum())
    assert (row.minimum, row.maximum) == pytest.approx((seconds.min(), seconds.max()))
    assert row.median == pytest.approx(np.median(seconds))
    assert row.percentile_95 == pytest.approx(np.percentile(seconds, 95))
    assert row.share == pytest.approx(0.5)
    assert row.bytes == 5000
    assert {r.name: r.rate for r in rows}["b"] == "10 GFLOP/s"


def test_times_inside_of_others_count_once():
    nested = [
        _event("wait", 0, 100, kind="wait", category="wait"),
        _event("fuse", 10, 20, kind="fuse", category="host"),
        _event("a", 20, 90),
        _event("x", 25, 25, kind="begin", category="host"),
        _event("sort", 100, 150, kind="call"),
        _event("load", 110, 120, kind="work", category="copy"),
    ]
    rows = {r.name: r.total * 1e9 for r in category_rows(Recording(0, [(1, "main", 0, nested)]))}
    expected = {"compute": 70 + 40, "copy": 10, "wait": 20, "fallback": 0, "host": 10}
    assert rows == pytest.approx(expected)


def test_summary_prints_all_columns():
    with Profiler() as profile:
        xp.sort(xp.asarray(np.ones(N)))
    out = io.StringIO()
    profile.summary(file=out)
    head, *body = out.getvalue().splitlines()
    assert head.split() == (
        "operation device calls total min median p95 max share bytes rate".split()
    )
    assert any(re.match(r"sort +cpu +1 .* 1\.6 MB +\S+ GB/s$", line) for line in body)
    assert any(line.startswith("fallback ") for line in body)
    assert "overwritten" not in out.getvalue()


def _busy(stream):
    x = xp.asarray(np.ones((200, 200)))
    with stream:
        y = xp.exp(x) + 1.0
    z = xp.sum(xp.maximum(x @ x, 0.0), axis=0)
    return float(y[0, 0]), float(z[0])


def test_the_trace_follows_the_format(tmp_path):
    with Profiler() as profile:
        thread = threading.Thread(target=_busy, args=(runtime.Stream(),))
        thread.start()
        _busy(runtime.Stream())
        thread.join()
        xp.sort(xp.asarray(np.ones(N)))
    path = tmp_path / "trace.json"
    profile.export_chrome_trace(path)
    found = trace_format.check(path)
    rows = {e["args"]["name"] for e in found if e["name"] == "thread_name"}
    assert "main" in rows
    assert sum(e["ph"] == "C" for e in found) > 0
    processes = {e["args"]["name"]: e["pid"] for e in found if e["name"] == "process_name"}
    if DEFERRED:
        assert set(processes) == {"host", "device cpu"}
        assert sum(row.startswith("stream ") for row in rows) >= 3
        recorded = [e for e in found if e["name"].startswith("record ")]
        starts = [e for e in found if e["ph"] == "s"]
        ends = [e for e in found if e["ph"] == "f"]
        assert len(starts) == len(ends) == len(recorded)
        assert {e["pid"] for e in starts} == {processes["host"]}
        assert {e["pid"] for e in ends} == {processes["device cpu"]}


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        ({"ph": "Q"}, "X"),
        ({"dur": -1.0}, "X"),
        ({"dur": 1e9}, "record"),
        ({"tid": 12345}, "X"),
        ({"id": -5}, "f"),
        ({"ts": 0.0}, "f"),
        ({"args": {"bytes": "many"}}, "C"),
    ],
)
@pytest.mark.skipif(not DEFERRED, reason="no flows")
def test_the_checker_finds_broken_files(tmp_path, change, broken):
    with Profiler() as profile:
        _busy(runtime.Stream())
        _busy(runtime.Stream())
    path = tmp_path / "trace.json"
    profile.export_chrome_trace(path)
    trace = json.loads(path.read_text())
    found = trace["traceEvents"]
    next(e for e in found if broken in (e["ph"], e["name"].split()[0])).update(change)
    path.write_text(json.dumps(trace))
    with pytest.raises(AssertionError):
        trace_format.check(path)


def test_a_full_ring_overwrites_its_oldest_events(tmp_path):
    x = xp.asarray(np.ones(5000))
    with Profiler(capacity=50) as profile:
        for _ in range(200):
            x = x + 1.0
    (thread,) = [t for t in profile._recording.threads if t.lost]
    assert len(thread.events) == 50
    assert thread.lost > 100
    path = tmp_path / "trace.json"
    profile.export_chrome_trace(path)
    trace_format.check(path)
    out = io.StringIO()
    profile.summary(file=out)
    assert f"{thread.lost} older events were overwritten" in out.getvalue()
    assert float(x[0]) == 201.0


def test_memory_in_use_is_what_the_pool_says():
    with Profiler() as profile:
        before = runtime.MemoryPool().statistics().used
        x = xp.zeros(1_000_000)
        runtime.evaluate(x)
        after = runtime.MemoryPool().statistics().used
        del x
    came = [e for e in events(profile, "memory") if e.written > 8_000_000]
    gone = [e for e in events(profile, "memory") if e.read > 8_000_000]
    assert len(came) == len(gone) == 1
    assert came[0].elements == pytest.approx(after, abs=64 * 1024)
    assert gone[0].elements == pytest.approx(before, abs=64 * 1024)


def test_outside_of_the_block_nothing_is_recorded():
    x = xp.asarray(np.ones(N))
    before = xp.exp(x)
    with Profiler() as profile:
        pass
    after = xp.sort(x)
    assert {e.name for e in profile._recording.events()} <= {"finish_all"}
    assert profile.operations() == ()
    assert float(before[0]) == pytest.approx(np.e)
    assert float(after[0]) == 1.0


def test_profilers_nest():
    x = xp.asarray(np.ones(N))
    with Profiler() as outer:
        xp.sort(x)
        with Profiler() as inner:
            xp.argsort(x)
        xp.unique_values(x)
    names = [{e.name for e in events(p, "call")} for p in (inner, outer)]
    assert "argsort" in names[0]
    assert "sort" not in names[0]
    assert {"sort", "argsort", "unique"} <= names[1]


def test_other_threads_are_seen_and_the_profiler_can_be_used_again():
    profile = Profiler()
    for size in (N, 2 * N):
        with profile:
            thread = threading.Thread(target=lambda n=size: xp.sort(xp.asarray(np.ones(n))))
            thread.start()
            thread.join()
        (call,) = [e for e in events(profile, "call") if e.name == "sort"]
        assert call.elements == size
        names = {t.name: t.number for t in profile._recording.threads}
        assert names["thread"] != threading.get_native_id()


def test_an_error_in_the_block_ends_it():
    x = xp.asarray(np.ones(N))
    profile = Profiler()

    def fail():
        with profile:
            xp.sort(x)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert [row.name for row in profile.operations()] == ["sort"]
    with Profiler() as other:
        pass
    assert other.operations() == ()


def test_a_profiler_inside_of_another_keeps_as_many_events_as_it_asks_for():
    x = xp.asarray(np.ones(N))

    def work(times):
        for _ in range(times):
            runtime.evaluate(x * 2.0)

    def names(profile):
        return sum(row.calls for row in profile.operations())

    with Profiler(capacity=5) as outer:
        work(50)
        with Profiler(capacity=10_000) as inner:
            work(50)
        with Profiler(capacity=1) as last:
            work(50)
    assert (names(inner), inner._recording.lost) == (50, 0)
    assert (names(last), last._recording.lost) == (50, 0)
    assert names(outer) >= 100
    assert outer._recording.lost > 0


def test_a_profiler_inside_of_another_counts_only_its_own_losses():
    x = xp.asarray(np.ones(N))

    def work(times):
        for _ in range(times):
            runtime.evaluate(x * 2.0)

    def count(profile):
        return profile._recording.lost + len(list(profile._recording.events()))

    with Profiler(capacity=5):
        work(400)
        with Profiler(capacity=10) as inner:
            work(40)
    with Profiler() as alone:
        work(40)
    assert (inner._recording.lost > 0, alone._recording.lost) == (True, 0)
    # Other threads may add a few.
    assert count(inner) == pytest.approx(count(alone), rel=0.5)


def test_wrong_use():
    profile = Profiler()
    for read in (profile.summary, profile.operations, profile.categories):
        with pytest.raises(RuntimeError, match="no `with` block of it has ended yet"):
            read()
    with pytest.raises(RuntimeError, match="no `with` block of it has ended yet"):
        profile.export_chrome_trace("never.json")
    with pytest.raises(RuntimeError, match="not running"):
        profile.__exit__(None, None, None)
    with profile, pytest.raises(RuntimeError, match="running already"):
        profile.__enter__()
    for wrong, error in ((0, ValueError), (-1, ValueError), (1.5, TypeError), (True, TypeError)):
        with pytest.raises(error, match="capacity"):
            Profiler(capacity=wrong)
    with pytest.raises(OSError):
        profile.export_chrome_trace("/nowhere/at/all.json")
    with pytest.raises(TypeError, match="summary: file must have a method write, got int"):
        profile.summary(file=42)


def test_results_are_the_same():
    x = xp.asarray(np.linspace(0.0, 1.0, N))

    def compute():
        y = xp.exp(x) * xp.sin(x)
        return np.asarray(y / xp.sum(y))

    plain = compute()
    with Profiler():
        assert np.array_equal(compute(), plain)


def test_a_forked_child_is_not_profiled():
    x = xp.asarray(np.ones(N))
    with Profiler() as profile:
        child = os.fork()
        if child == 0:
            same = float(xp.sum(x + 1.0)) == 2.0 * N
            with Profiler() as inner:
                xp.sort(x)
            os._exit(0 if same and "sort" in {r.name for r in inner.operations()} else 1)
        _, status = os.waitpid(child, 0)
        xp.sort(x)
    assert status == 0
    assert "sort" in {row.name for row in profile.operations()}


def test_starting_and_stopping_while_threads_work():
    stop = threading.Event()
    failed = []

    def work():
        x = xp.asarray(np.ones(6000))
        while not stop.is_set():
            if float(xp.sum(xp.exp(x * 0.0))) != 6000.0:
                failed.append(True)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(30):
        with Profiler(capacity=100) as profile:
            float(xp.sum(xp.ones(6000)))
        assert profile.operations()
    stop.set()
    for thread in threads:
        thread.join()
    assert not failed
