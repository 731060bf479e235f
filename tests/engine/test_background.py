"""Loops that never ask for a value: they run in the background, in order, in bounded memory."""

import pytest


def test_a_loop_runs_without_being_asked(child):
    """The loop ends when its last results are recorded; nearly all have run by then."""
    child(
        """
        x = xp.asarray(np.ones(20_000))
        stream = runtime.Stream()
        with stream:
            for _ in range(5000):
                x = x * 0.5 + 1
        end = time.monotonic() + 60
        while not stream.done:
            assert time.monotonic() < end
            time.sleep(0.001)
        assert float(x[7]) == 2.0
        """
    )


@pytest.mark.parametrize("statement", ["x = x * 0.999 + 1", "x *= 0.999; x += 1"])
def test_memory_is_bounded_and_order_is_kept(child, defer, statement):
    child(
        f"""
        x = xp.asarray(np.zeros(10_000))
        def step(x):
            {statement}
            return x
        for i in range(3000):
            x = step(x)
        start, want = rss(), float(x[0])
        for i in range(30_000):
            x = step(x)
            want = want * 0.999 + 1
            if i % 500 == 0:
                assert rss() - start < 40 << 20, (i, rss() - start)
        assert float(x[9999]) == want
        """,
        DEFER=defer,
    )


def test_a_deep_chain_of_tiny_operations(child, defer):
    child(
        """
        x = xp.asarray(np.zeros(3))
        for _ in range(200_000):
            x = x + 1
        assert float(x[2]) == 200_000
        del x
        """,
        DEFER=defer,
    )


@pytest.mark.usefixtures("memory_limit")
def test_blocks_that_writers_move_off_are_freed_while_others_run(child):
    """Somebody is always inside a run, and memory is freed nevertheless."""
    child(
        """
        stop = False
        def busy():
            x = xp.asarray(np.ones(20_000))
            while not stop:
                x = xp.sin(x) + 1
        threads = [threading.Thread(target=busy) for _ in range(2)]
        for t in threads: t.start()
        x = xp.asarray(np.zeros(250_000))
        def step():
            y = xp.asarray(x, copy=True)
            x[...] = y + 1
        for _ in range(50): step()
        start = rss()
        for _ in range(300): step()
        grown = rss() - start
        stop = True
        for t in threads: t.join()
        assert grown < 300 << 20, grown
        assert float(x[3]) == 350
        """
    )


def test_streams_that_feed_each_other(child, defer):
    """A pipeline over three streams, without events: each result is read and overwritten."""
    child(
        """
        streams = [runtime.Stream() for _ in range(3)]
        n = 5000
        a = xp.asarray(np.zeros(n))
        b = xp.asarray(np.zeros(n))
        c = xp.asarray(np.zeros(n))
        va = vb = vc = 0.0
        for i in range(400):
            with streams[0]:
                a += c * 0.25 + 1
            with streams[1]:
                b[...] = a * 0.5 + b * 0.25
            with streams[2]:
                c[...] = xp.sqrt(a + b) + c * 0.5
            va += vc * 0.25 + 1
            vb = va * 0.5 + vb * 0.25
            vc = (va + vb) ** 0.5 + vc * 0.5
        for got, want in ((a, va), (b, vb), (c, vc)):
            np.testing.assert_allclose(np.asarray(got), want, rtol=1e-10)
        """,
        DEFER=defer,
    )


def test_a_reader_on_another_stream_comes_before_the_next_write(child, defer):
    child(
        """
        slow, fast = runtime.Stream(), runtime.Stream()
        x = xp.asarray(np.zeros(300_000))
        for i in range(30):
            with slow:
                y = xp.sin(xp.cos(x)) * 0 + x
            with fast:
                x += 1
            assert float(y[299_999]) == i
        """,
        DEFER=defer,
    )


@pytest.mark.technique("DEFER")
def test_recording_does_not_wait_for_another_stream(child):
    """What depends on another stream is recorded behind it; the call returns at once."""
    child(
        """
        stream = runtime.Stream()
        x = xp.asarray(np.linspace(0, 1, 4_000_000))
        runtime.synchronize()
        with stream:
            y = x
            for _ in range(40):
                y = xp.sin(y) + x
        begin = time.perf_counter()
        z = y * 2
        recorded = time.perf_counter() - begin
        value = float(z[1])
        read = time.perf_counter() - begin
        assert recorded < read / 4, (recorded, read)
        assert value == 2 * float(y[1])
        """
    )
