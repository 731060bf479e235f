"""Streams and events: order, time, polling, and memory that moves under a running reader."""

import time

import numpy as np
import pytest

import ascend_array_api as xp
from ascend_array_api import runtime


def chain(first, second):
    for _ in range(3):
        first = xp.maximum(first @ second, 0.0)
    return first


def test_two_streams_of_products():
    rng = np.random.default_rng(5)
    a, b = rng.random((120, 120)), rng.random((120, 120))
    x, y = xp.asarray(a), xp.asarray(b)
    streams = runtime.Stream(), runtime.Stream()
    with streams[0]:
        left = chain(x, y)
    with streams[1]:
        right = chain(y, x)
    for stream in streams:
        stream.synchronize()
        assert stream.done
    for got, p, q in ((left, a, b), (right, b, a)):
        want = p
        for _ in range(3):
            want = np.maximum(want @ q, 0.0)
        np.testing.assert_allclose(np.asarray(got.to_device("cpu")), want, rtol=1e-12)


def test_with_nests_and_restores():
    outer, inner = runtime.Stream(), runtime.Stream()
    assert runtime.current_stream() not in (outer, inner)
    with outer:
        with inner:
            assert runtime.current_stream() is inner
        assert runtime.current_stream() is outer
    assert runtime.current_stream() not in (outer, inner)


def test_a_stream_waits_for_an_event_of_another():
    first, second = runtime.Stream(), runtime.Stream()
    x = xp.zeros(100_000)
    with first:
        x += 1.0
        event = first.record()
    with second:
        second.wait_event(event)
        y = x * 2.0
        end = second.record()
    second.synchronize()
    assert event.done
    assert end.done
    assert float(y[7]) == 2.0
    assert event.elapsed_time(end) >= 0.0


@pytest.mark.parametrize("own", [True, False])
def test_polling_ends(own):
    stream = runtime.current_stream() if own else runtime.Stream()
    with stream if not own else runtime.Stream():
        kept = xp.ones(100_000) * 3.0
    idle = stream.record()
    limit = time.monotonic() + 30
    while not (idle.done and stream.done):
        assert time.monotonic() < limit
    assert float(kept[0]) == 3.0


def test_elapsed_time_needs_recorded_events():
    with pytest.raises(ValueError, match="recorded"):
        runtime.Event().elapsed_time(runtime.Event())


@pytest.mark.parametrize("function", ["sort", "take", "argmax", "cumulative_sum"])
def test_a_reader_keeps_memory_that_a_writer_moves_off(child, function):
    """One thread reads x without the interpreter's lock; another copies and writes it."""
    child(
        f"""
        x, index = xp.ones(2_000_000), xp.arange(0, 2_000_000, 3)
        call = (lambda: xp.take(x, index)) if {function!r} == "take" else (
            lambda: getattr(xp, {function!r})(x))
        end = time.monotonic() + 1.5

        def read():
            while time.monotonic() < end:
                call()

        def write():
            while time.monotonic() < end:
                y = xp.asarray(x, copy=True)
                x[0] = 1.0
                del y

        threads = [threading.Thread(target=f) for f in (read, write)]
        [t.start() for t in threads], [t.join() for t in threads]
        """,
        POOL="off",
    )


def test_fork_while_threads_record(child):
    child(
        """
        stop = False

        def record():
            x = xp.ones(5000)
            while not stop:
                x = x * 0.5 + 1.0

        threads = [threading.Thread(target=record) for _ in range(2)]
        [t.start() for t in threads]
        for _ in range(10):
            pid = os.fork()
            if pid == 0:
                os._exit(0 if float(xp.sum(xp.ones(5000) + 1.0)) == 10000.0 else 1)
            end = time.monotonic() + 30
            while (done := os.waitpid(pid, os.WNOHANG))[0] == 0 and time.monotonic() < end:
                time.sleep(0.001)
            assert done == (pid, 0), done
        stop = True
        [t.join() for t in threads]
        """
    )


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: runtime.Event().record(3), "record: expected a stream of type Stream, got int"),
        (lambda: runtime.Stream().record(3), "record: expected an event of type Event, got int"),
        (lambda: runtime.Stream().wait_event(3), "wait_event: expected an event of type Event"),
        (lambda: runtime.Event().elapsed_time(3), "elapsed_time: expected an event of type Event"),
    ],
)
def test_what_is_no_stream_or_event_is_a_type_error(call, expected):
    with pytest.raises(TypeError, match=f"^{expected}"):
        call()
