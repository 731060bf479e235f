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
