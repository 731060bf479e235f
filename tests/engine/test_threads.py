"""Threads that share pending arrays, streams that wait for each other."""

import pytest


def test_two_threads_read_each_others_pending_arrays(child, defer):
    child(
        """
        n, rounds = 20_000, 300
        boxes = [[None] * rounds, [None] * rounds]
        barrier = threading.Barrier(2)
        wrong = []
        def work(me):
            for i in range(rounds):
                x = xp.asarray(np.full(n, float(i)))
                boxes[me][i] = (x + me) * 2
                barrier.wait()
                other = boxes[1 - me][i]
                both = boxes[me][i] + other
                if float(both[n - 1]) != 4 * i + 2 or float(other[0]) != 2 * (i + 1 - me):
                    wrong.append((me, i))
        threads = [threading.Thread(target=work, args=(k,)) for k in range(2)]
        for t in threads: t.start()
        for t in threads: t.join()
        assert not wrong, wrong[:5]
        """,
        DEFER=defer,
    )


def test_many_readers_of_one_pending_array(child):
    child(
        """
        for i in range(60):
            x = xp.asarray(np.full(100_000, float(i)))
            y = xp.sqrt(x * x) + 1
            got = []
            threads = [
                threading.Thread(target=lambda k=k: got.append(float((y + k)[k]) - k))
                for k in range(6)
            ]
            for t in threads: t.start()
            for t in threads: t.join()
            assert got == [i + 1.0] * 6, got
        """
    )


def test_racing_writers_neither_crash_nor_hang(child, defer):
    """Which write comes last is open; the end of every loop is not."""
    child(
        """
        a = xp.asarray(np.ones(30_000))
        b = xp.asarray(np.ones(30_000))
        flags = xp.asarray(np.ones(30_001, dtype=bool))
        stop = time.monotonic() + 4
        def work(k):
            while time.monotonic() < stop:
                if k % 2:
                    a[...] = b * 0.5 + 0.5
                    b[::2] = a[::2]
                    flags[k:] &= flags[:-k]
                else:
                    b[...] = a * 0.5 + 0.5
                    a[1:] = a[:-1]
                    flags[...] = xp.logical_or(flags, True)
                c = xp.asarray(a, copy=True)
                c += 1
                float((a + b)[5])
                if k == 3:
                    np.asarray(b)[3]
        threads = [threading.Thread(target=work, args=(k,)) for k in range(5)]
        for t in threads: t.start()
        for t in threads: t.join()
        assert np.array_equal(np.asarray(a), np.ones(30_000))
        assert np.array_equal(np.asarray(b), np.ones(30_000))
        assert np.all(np.asarray(flags))
        """,
        DEFER=defer,
    )


def test_a_copy_stays_what_it_was_while_others_write(child):
    child(
        """
        a = xp.asarray(np.zeros(50_000))
        done = threading.Event()
        def write():
            while not done.is_set():
                a[...] = a + 1
        t = threading.Thread(target=write)
        t.start()
        for _ in range(300):
            c = xp.asarray(a, copy=True)
            first = np.array(c, copy=True)
            time.sleep(0.0005)
            assert np.array_equal(np.asarray(c), first)
        done.set()
        t.join()
        """
    )


def test_results_outlive_the_thread_that_recorded_them(child, defer):
    child(
        """
        results = []
        def work(i):
            x = xp.asarray(np.full(5000 + i, float(i)))
            results.append((i, x * 2 + 1))
        for i in range(100):
            t = threading.Thread(target=work, args=(i,))
            t.start()
            t.join()
        for i, y in results:
            assert np.array_equal(np.asarray(y), np.full(5000 + i, 2.0 * i + 1))
        """,
        DEFER=defer,
    )


@pytest.mark.technique("DEFER")
def test_other_threads_run_while_one_waits(child):
    child(
        """
        x = xp.asarray(np.random.default_rng(0).random(4_000_000))
        ticks = []
        stop = threading.Event()
        def tick():
            while not stop.is_set():
                ticks.append(time.perf_counter())
                time.sleep(0.001)
        t = threading.Thread(target=tick)
        t.start()
        y = x
        for _ in range(12):
            y = xp.tanh(xp.sin(y) + x)
        begin = time.perf_counter()
        float(y[0])
        end = time.perf_counter()
        stop.set()
        t.join()
        inside = [k for k in ticks if begin < k < end]
        assert len(inside) > (end - begin) * 50, (len(inside), end - begin)
        """
    )


def test_streams_that_wait_for_each_other(child, defer):
    """Each waits for an event of the other: no order of running them may hang."""
    child(
        """
        a = xp.asarray(np.ones(100_000))
        one, two = runtime.Stream(), runtime.Stream()
        def record():
            with one:
                x = a + 1
            with two:
                y = a + 2
            one.wait_event(two.record())
            with one:
                z = x * 3
            two.wait_event(one.record())
            with two:
                w = y * 3
            return x, y, z, w
        def check(results):
            assert [float(r[9]) for r in results] == [2, 3, 6, 9]
        results = record()
        one.synchronize()
        check(results)
        results = record()
        two.synchronize()
        check(results)
        for _ in range(100):
            results = record()
            threads = [threading.Thread(target=s.synchronize) for s in (one, two)]
            for t in threads: t.start()
            for t in threads: t.join()
            check(results)
        """,
        DEFER=defer,
    )
