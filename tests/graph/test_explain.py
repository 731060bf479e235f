"""What explain says, and that it changes nothing."""

import io
import threading

import numpy as np
import pytest

import ascend_array_api as xp
from ascend_array_api import _core, graph, runtime


def explained(x):
    out = io.StringIO()
    graph.explain(x, file=out)
    return out.getvalue()


def test_the_whole_text():
    runtime.synchronize()
    x = xp.asarray(np.ones((100, 200)))
    y = xp.sqrt(x * x + x * x)
    z = xp.astype(y, xp.float32)
    del y
    xp.sin(x)
    lines = explained(z).splitlines()
    assert lines == [
        "before fusion: 5 of 6 recorded operations",
        "  a0  is there                  float64 (100, 200), 160 kB",
        "  %0  = multiply(a0, a0)        float64 (100, 200)",
        "  %1  = multiply(a0, a0)        float64 (100, 200)",
        "  %2  = add(%0, %1)             float64 (100, 200)",
        "  %3  = sqrt(%2)                float64 (100, 200)",
        "  %4  = astype(%3, to float32)  float32 (100, 200)",
        "",
        "after fusion",
        "  1. multiply+multiply+add+sqrt+1 more: %0 %1 %2 %3 %4",
        "     allocates 80 kB for %4 float32 (100, 200)",
        "     in registers: %0 %2 %3",
        "  merged: %1 multiply, computed already",
        "  dropped: %5 sin, nobody needs it",
        "",
        "allocated: 80 kB, never stored: 480 kB",
    ]
    assert np.array_equal(np.asarray(z), np.full((100, 200), np.sqrt(2.0), "float32"))


def test_it_says_what_is_allocated():
    runtime.synchronize()
    x = xp.asarray(np.ones(1_000_000))
    y = xp.exp(x) * 2.0
    text = explained(y)
    assert "allocated: 8 MB, never stored: 8 MB" in text
    before = runtime.MemoryPool().statistics().used
    runtime.evaluate(y)
    assert runtime.MemoryPool().statistics().used - before == pytest.approx(8_000_000, rel=0.01)


def test_writes_in_place_and_rows():
    runtime.synchronize()
    x = xp.asarray(np.ones((5000, 100)))
    x[:, :50] = xp.sin(x[:, 50:])
    e = xp.exp(x - xp.max(x, axis=1, keepdims=True))
    y = e / xp.sum(e, axis=1, keepdims=True)
    del e
    text = explained(y)
    assert "writes in place 2 MB" in text
    assert ", by blocks of rows: " in text
    assert "in rows in cache: " in text


def test_nothing_happens():
    runtime.synchronize()
    x = xp.asarray(np.ones(50_000))
    y = xp.exp(x) + 1.0
    counters = _core.tape_counters()
    used = runtime.MemoryPool().statistics().used
    first, second = explained(y), explained(y)
    assert first == second
    after = _core.tape_counters()
    assert (counters["groups"], counters["dead"]) == (after["groups"], after["dead"])
    assert runtime.MemoryPool().statistics().used - used < 400_000
    assert np.array_equal(np.asarray(y), np.exp(np.ones(50_000)) + 1.0) or float(y[0]) > 3.7


def test_an_array_that_is_there():
    x = xp.asarray(np.ones(3))
    assert explained(x) == "nothing is pending: the array is computed\n"
    y = xp.exp(xp.asarray(np.ones(50_000)))
    runtime.evaluate(y)
    assert explained(y) == "nothing is pending: the array is computed\n"
    with pytest.raises(TypeError, match=r"explain: x must be .* got ndarray"):
        graph.explain(np.ones(3))
    with pytest.raises(TypeError, match="explain: file must have a method write, got int"):
        graph.explain(x, file=5)
    runtime.reuse_buffer(x)
    with pytest.raises(RuntimeError, match=r"explain: .* given back by reuse_buffer"):
        graph.explain(x)


def test_what_other_streams_and_events_put_before():
    runtime.synchronize()
    x = xp.asarray(np.ones(50_000))
    y = xp.exp(x)
    event = runtime.Event()
    runtime.current_stream().record(event)
    z = xp.sin(y) + 1.0
    text = explained(z)
    runtime.synchronize()
    assert "sin" in text


def test_the_line_is_shown_where_lines_are_traced(child):
    out = child(
        """
        x = xp.asarray(np.ones(50_000))
        y = xp.exp(x)
        graph.explain(y)
        """,
        ASCEND_ARRAY_API_TRACE="1",
    )
    assert "exp(a0)" in out
    assert "<string>:" in out


def test_while_other_threads_record_and_run():
    x = xp.asarray(np.ones(20_000))
    shared = runtime.Stream()
    stop = threading.Event()
    wrong = []

    def work():
        while not stop.is_set():
            with shared:
                y = xp.exp(x * 0.0) + 1.0
            if float(y[3]) != 2.0:
                wrong.append(True)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(100):
        with shared:
            y = xp.sqrt(x) * 3.0
        text = explained(y)
        assert "sqrt" in text or "nothing is pending" in text
        if float(y[1]) != 3.0:
            wrong.append(True)
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong
