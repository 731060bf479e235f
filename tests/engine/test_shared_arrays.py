"""Arrays that several threads, streams and coroutines share."""

from pathlib import Path

import pytest

LONG = Path(__file__).parent / "random_threads.py"


def test_random_programs(child, defer):
    """The short form of random_threads.py."""
    child(
        f"""
        sys.path.insert(0, {str(LONG.parent)!r})
        import random_threads
        for seed in range(40):
            random_threads.check_round(seed)
        """,
        DEFER=defer,
    )


@pytest.mark.parametrize("size", [301, 60_001])
def test_writers_of_alternate_bits(child, defer, size):
    """Two threads write every other bit of the same words; no bit is lost."""
    child(
        f"""
        x = xp.asarray(np.zeros({size}, dtype=bool))
        def work(k):
            view = x[k::2]
            for i in range(100):
                view[...] = i % 2 == k
        threads = [threading.Thread(target=work, args=(k,)) for k in range(2)]
        for t in threads: t.start()
        for t in threads: t.join()
        want = np.zeros({size}, dtype=bool)
        want[1::2] = True
        assert np.array_equal(np.asarray(x), want)
        """,
        DEFER=defer,
    )


def test_copies_taken_while_others_write_directly(child, defer):
    """Whatever part of a write a copy has, no later write changes it."""
    child(
        """
        a = xp.asarray(np.zeros(200_000))
        done = threading.Event()
        def write_all():
            while not done.is_set():
                a[...] = 1.0
        def write_few():
            few = a[3:9]
            while not done.is_set():
                few += 1.0
        threads = [threading.Thread(target=f) for f in (write_all, write_few)]
        for t in threads: t.start()
        copies, end = 0, time.monotonic() + 4
        while copies < 4 or (copies < 200 and time.monotonic() < end):
            c = xp.asarray(a, copy=True)
            first = np.array(c, copy=True)
            time.sleep(0.0003)
            assert np.array_equal(np.array(c, copy=True), first)
            copies += 1
        done.set()
        for t in threads: t.join()
        """,
        DEFER=defer,
    )


@pytest.mark.parametrize("size", [300, 5000, 100_000])
def test_exports_from_two_threads(child, defer, size):
    """Both have the memory of the array, which a copy and recorded readers do not see change."""
    child(
        f"""
        size = {size}
        ways = [np.asarray, np.from_dlpack, lambda x: np.asarray(memoryview(x))]
        want = np.full(size, -1.0)
        want[1::2] = -2.0
        for i in range(30):
            x = xp.asarray(np.full(size, float(i))) + 1.0
            copied, doubled = xp.asarray(x, copy=True), x * 2.0
            barrier, exports = threading.Barrier(2), [None, None]
            def work(k):
                barrier.wait()
                exports[k] = ways[(i + k) % 3](x)
                exports[k][k::2] = -1.0 - k
            threads = [threading.Thread(target=work, args=(k,)) for k in range(2)]
            for t in threads: t.start()
            for t in threads: t.join()
            for got in [*exports, np.asarray(x)]:
                assert np.array_equal(got, want), i
            assert np.array_equal(np.asarray(copied), np.full(size, i + 1.0)), i
            assert np.array_equal(np.asarray(doubled), np.full(size, 2.0 * i + 2.0)), i
        """,
        DEFER=defer,
    )


@pytest.mark.parametrize("size", [300, 5000, 100_000])
def test_exports_while_others_record(child, defer, size):
    """Writes are ordered by a lock, exports by nothing: each shows every write, none is lost."""
    child(
        f"""
        total, count, wrong = xp.zeros({size}), [0], []
        lock, barrier = threading.Lock(), threading.Barrier(3)
        def add(total):
            barrier.wait()
            for _ in range(60):
                with lock:
                    total += 1.0
                    count[0] += 1
        def look():
            barrier.wait()
            for _ in range(60):
                seen = np.asarray(total)
                with lock:
                    if not np.all(seen == count[0]):
                        wrong.append((seen, count[0]))
                del seen
        threads = [threading.Thread(target=f, args=a) for f, a in
                   [(add, (total,)), (add, (total,)), (look, ())]]
        for t in threads: t.start()
        for t in threads: t.join()
        assert not wrong, wrong[0]
        assert np.all(np.asarray(total) == 120.0)
        """,
        DEFER=defer,
    )


@pytest.mark.parametrize("size", [900, 15_000, 300_000])
@pytest.mark.parametrize("streams", [False, True], ids=["threads", "streams"])
def test_parts_that_threads_record(child, defer, size, streams):
    """Threads record into parts of one array, read another, and between two steps the whole."""
    child(
        f"""
        import contextlib
        size, part = {size}, {size} // 3
        x, ones, wrong = xp.zeros(size), xp.ones(size), []
        barrier = threading.Barrier(3)
        def work(k):
            own = slice(k * part, (k + 1) * part)
            stream = runtime.Stream() if {streams} else contextlib.nullcontext()
            for i in range(25):
                with stream:
                    x[own] += ones[own] * (k + 1.0)
                barrier.wait()
                with stream:
                    total = float(xp.sum(x))
                if total != 6.0 * part * (i + 1):
                    wrong.append((k, i, total))
                barrier.wait()
        threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
        for t in threads: t.start()
        for t in threads: t.join()
        assert not wrong, wrong
        """,
        DEFER=defer,
    )


USES = {
    "export": "np.array(np.asarray(x))",
    "copy": "xp.asarray(x, copy=True)",
    "view": "x.T[3:]",
    "sum": "xp.sum(x, axis=1)",
    "sort": "xp.sort(x, axis=0)",
    "product": "x @ x",
    "mask": "x[x > 7.0]",
    "take": "xp.take(x, xp.asarray([299, 0]), axis=1)",
}


@pytest.mark.parametrize("name", USES)
def test_a_layout_is_turned_while_others_read(child, defer, name):
    """The hint "transposed" moves the elements of an array, or says that it cannot."""
    child(
        f"""
        import warnings
        warnings.simplefilter("ignore")
        values = np.arange(90_000.0).reshape(300, 300)
        def use(x):
            return {USES[name]}
        want = np.asarray(use(xp.asarray(values + 1.0)))
        for i in range(12):
            x = xp.asarray(values) + 1.0
            if i % 3:
                runtime.evaluate(x)
            y = xp.sin(x) + x if i % 3 == 2 else None
            barrier, wrong = threading.Barrier(3), []
            def read():
                barrier.wait()
                got = np.asarray(use(x))
                if not np.array_equal(got, want):
                    wrong.append(got)
            threads = [threading.Thread(target=read) for _ in range(2)]
            for t in threads: t.start()
            barrier.wait()
            runtime.set_hint(x, "transposed")
            for t in threads: t.join()
            assert not wrong, (i, wrong[0])
            assert np.array_equal(np.asarray(x), values + 1.0), i
            assert y is None or np.allclose(np.asarray(y), np.sin(values + 1) + values + 1)
        """,
        DEFER=defer,
    )


def test_coroutines_keep_their_own_stream(child, defer):
    child(
        """
        import asyncio
        default = runtime.current_stream()
        async def work(value):
            stream = runtime.Stream()
            with stream:
                x = xp.asarray(np.zeros(5000))
                for _ in range(20):
                    x += value
                    await asyncio.sleep(0)
                    assert runtime.current_stream() is stream
            assert runtime.current_stream() is default
            return float(x[4999])
        async def main():
            return await asyncio.gather(*(work(k) for k in range(5)))
        assert asyncio.run(main()) == [20.0 * k for k in range(5)]
        """,
        DEFER=defer,
    )


def test_fork_inside_a_stream(child, defer):
    """Parent and child go on in the stream, each with memory of its own."""
    child(
        """
        stream = runtime.Stream()
        with stream:
            x = xp.asarray(np.arange(50_000.0)) * 2
            pid = os.fork()
            good = runtime.current_stream() is stream
            x += 1 if pid else 5
            event = stream.record()
            good = good and float(x[10]) == (21.0 if pid else 25.0)
            event.synchronize()
        stream.synchronize()
        good = good and stream.done and event.done
        if pid == 0:
            os._exit(0 if good else 1)
        assert os.waitpid(pid, 0)[1] == 0
        assert good
        """,
        DEFER=defer,
    )


@pytest.mark.parametrize("daemon", [False, True])
def test_exit_with_pending_work_of_streams_and_threads(child, defer, daemon):
    child(
        f"""
        x = xp.asarray(np.ones(200_000))
        kept, ready = [], threading.Barrier(4)
        def work():
            for stream in [runtime.Stream() for _ in range(3)]:
                with stream:
                    kept.append((stream, xp.exp(x) + len(kept), stream.record()))
            ready.wait()
        for _ in range(3):
            threading.Thread(target=work, daemon={daemon}).start()
        ready.wait()
        """,
        DEFER=defer,
    )
