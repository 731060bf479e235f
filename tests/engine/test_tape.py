"""What is recorded, what is dropped, what runs, and how much memory that takes."""

import pytest


@pytest.mark.technique("DEFER", "FUSION")
def test_results_that_nobody_sees_are_not_computed(child):
    child(
        """
        x = xp.asarray(np.ones(20_000))
        before = _core.tape_counters()
        for _ in range(50):
            xp.exp(x) + 1
        runtime.synchronize()
        after = _core.tape_counters()
        assert after["recorded"] - before["recorded"] == 100
        assert after["dead"] - before["dead"] == 100, after
        assert after["groups"] == before["groups"], after
        """
    )


def test_a_dropped_result_that_others_need_is_computed(child):
    child(
        """
        x = xp.asarray(np.ones(20_000))
        y = x + 1
        z = y * 2
        del y
        w = z[::2]
        del z
        assert np.array_equal(np.asarray(w), np.full(10_000, 4.0))
        """
    )


@pytest.mark.technique("DEFER", "FUSION")
def test_a_chain_allocates_its_last_result_alone(child):
    child(
        """
        x = xp.asarray(np.ones(1_000_000))
        runtime.synchronize()
        used = _core.pool_stats("cpu")["used"]
        y = x
        for _ in range(10):
            y = y * 0.5 + 1
        assert _core.pool_stats("cpu")["used"] - used < 1_000_000
        float(y[0])
        taken = _core.pool_stats("cpu")["used"] - used
        assert 8_000_000 <= taken < 12_000_000, taken
        peak = _core.pool_stats("cpu")["peak"] - used
        assert peak < 12_000_000, peak
        """
    )


@pytest.mark.parametrize("fusion", ["on", "off"])
def test_a_long_chain_needs_few_arrays_at_once(child, fusion):
    """Results that only later entries read are freed while the tape runs."""
    child(
        """
        x = xp.asarray(np.ones(500_000))
        runtime.synchronize()
        used = _core.pool_stats("cpu")["used"]
        for _ in range(600):
            x = x * 0.5 + 1
        assert np.asarray(x)[7] == 2.0
        peak = _core.pool_stats("cpu")["peak"] - used
        assert peak < 8 * 4_000_000, peak
        """,
        FUSION=fusion,
    )


def test_a_deep_chain_evaluates_and_frees(child, defer):
    child(
        """
        x = xp.asarray(np.zeros(4097))
        for _ in range(300_000):
            x = x + 1
        assert float(x[4096]) == 300_000
        del x
        runtime.synchronize()
        """,
        DEFER=defer,
    )


def test_a_deep_chain_is_freed_without_evaluation(child):
    child(
        """
        x = xp.asarray(np.zeros(4097))
        for _ in range(100_400):
            x = x + 1
        del x
        gc.collect()
        """
    )


def test_many_pending_results_of_one_input(child, defer):
    child(
        """
        x = xp.asarray(np.arange(5000.0))
        results = [x + i for i in range(3000)]
        for i, y in enumerate(results):
            assert float(y[17]) == 17 + i
        """,
        DEFER=defer,
    )


def test_memory_is_flat_in_a_loop_without_reads(child, defer):
    child(
        """
        x = xp.asarray(np.ones(100_000))
        for i in range(1500):
            x = x * 0.999 + 1
        start = rss()
        for i in range(6000):
            x = x * 0.999 + 1
        assert rss() - start < 24 << 20, rss() - start
        """,
        DEFER=defer,
    )


@pytest.mark.usefixtures("memory_limit")
def test_memory_is_flat_with_in_place_writes_through_views(child, defer):
    child(
        """
        x = xp.asarray(np.ones((300, 300)))
        def step():
            x[1:, :] += x[:-1, :] * 0.5
            x[:, ::2] = 1
            m = x > 1
            x[...] = xp.where(m, x, 0.5)
        for i in range(300):
            step()
        start = rss()
        for i in range(1500):
            step()
        assert rss() - start < 24 << 20, rss() - start
        """,
        DEFER=defer,
    )


@pytest.mark.technique("DEFER", "FUSION")
def test_a_thousand_sizes_make_one_program(child):
    child(
        """
        before = _core.tape_counters()["programs"]
        for n in range(5000, 6000):
            x = xp.asarray(np.ones(n))
            y = xp.sqrt(x * x + x) * 2 - 1
            float(y[0])
        assert _core.tape_counters()["programs"] - before == 1
        """
    )


def test_owners_of_borrowed_memory_are_released(child, defer):
    """NumPy arrays that a tape keeps alive go when it has run, in whatever thread that was."""
    child(
        """
        import weakref
        class Memory(np.ndarray):
            pass
        gone = []
        def work():
            for i in range(40):
                n = np.ones(50_000).view(Memory)
                weakref.finalize(n, gone.append, i)
                x = xp.asarray(n, copy=False)
                y = x + i
                z = xp.exp(y) * x
                del n, x
                if i % 2:
                    float(z[3])
        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads: t.start()
        for t in threads: t.join()
        runtime.synchronize()
        for _ in range(100):
            gc.collect()
        assert len(gone) == 160, len(gone)
        """,
        DEFER=defer,
    )


def test_bytes_are_released_by_the_thread_that_runs_the_tape(child):
    child(
        """
        import mmap
        for i in range(50):
            data = np.arange(20_000.0).tobytes()
            x = xp.reshape(xp.asarray(memoryview(data).cast("d")), (-1,))
            y = x * 2
            del data, x
            t = threading.Thread(target=lambda: float(y[9]) == 18.0)
            t.start()
            t.join()
            assert float(y[10]) == 20.0
        """
    )
