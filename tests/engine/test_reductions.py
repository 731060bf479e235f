"""Reductions and running sums that join the elementwise work in front of them."""

import functools
import os
import subprocess
import sys
from pathlib import Path

import pytest

CHILD = Path(__file__).with_name("reductions_child.py")


@functools.cache
def run(seed, **settings):
    env = dict(os.environ)
    env.update({f"ASCEND_ARRAY_API_{name}": value for name, value in settings.items()})
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(CHILD), str(seed)],
        env=env,
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.parametrize(
    "settings",
    [
        {"NUM_THREADS": "1"},
        {"NUM_THREADS": "2"},
        {"NUM_THREADS": "3"},
        {"NUM_THREADS": "8"},
        {"DEFER": "always"},
        {"DEFER": "off"},
        {"FUSION": "off"},
    ],
    ids=lambda settings: "-".join(next(iter(settings.items()))),
)
def test_the_same_bits_as_from_memory(settings):
    assert run(1, **settings) == run(1)


@pytest.mark.technique("DEFER", "FUSION")
def test_a_reduced_value_takes_no_memory(child):
    child(
        """
        x = xp.asarray(np.arange(1_000_000, dtype=np.float32) % 7 - 3)
        m = xp.reshape(x, (1000, 1000))
        runtime.synchronize()
        used = _core.pool_stats("cpu")["used"]
        def check(make, expected):
            before = _core.tape_counters()["groups"]
            result = make()
            runtime.synchronize()
            assert _core.tape_counters()["groups"] - before == 1
            assert np.array_equal(np.asarray(result), expected)
            peak = _core.pool_stats("cpu")["peak"] - used
            assert peak < 3_000_000, peak
        a = np.asarray(m).astype(np.float64)
        check(lambda: xp.sum(x * x), np.sum(a * a))
        check(lambda: xp.count_nonzero(x > 0), np.count_nonzero(a > 0))
        check(lambda: xp.max(xp.abs(m), axis=1), np.max(abs(a), axis=1))
        check(lambda: xp.sum(m * m + m, axis=0), np.sum(a * a + a, axis=0))
        check(lambda: xp.any(m > 2, axis=0), np.any(a > 2, axis=0))
        check(lambda: xp.mean(m * 2, axis=(0, 1)), np.mean(a * 2).astype(np.float32))
        """
    )


def test_sums_of_products_have_the_bits_of_the_product_and_its_sum(child, defer):
    child(
        """
        rng = np.random.default_rng(3)
        def same(multiply, stored, **axis):
            got = np.asarray(xp.sum(multiply(), **axis))  # nobody else holds the product
            want = np.asarray(xp.sum(xp.asarray(stored), **axis))
            assert got.dtype == want.dtype and np.array_equal(got, want), (stored.shape, axis)
        for dtype in ("float32", "float64", "int32", "complex64"):
            for n in [1, 2, 31, 32, 33, 511, 512, 513, 4095, 4096, 4097, 70_001, 300_003]:
                a = (rng.normal(size=n + 3) * 100).astype(dtype)
                b = (rng.normal(size=n + 3) * 100).astype(dtype)
                x, y = xp.asarray(a), xp.asarray(b)
                same(lambda: x * x, a * a)
                same(lambda: x[3:] * y[:n], a[3:] * b[:n])
                same(lambda: x[::-1] * y, a[::-1] * b)
                same(lambda: x[::2] * y[::2], a[::2] * b[::2])
                same(lambda: x * y[0], a * b[0])
                u, v, w, z = x[3:], y[3:], a[3:], b[3:]
                same(lambda: (u + v) * x[:n], (w + z) * a[:n])
                same(lambda: x[:n] * (u - v), a[:n] * (w - z))
                same(lambda: u * v * x[:n], w * z * a[:n])
                same(lambda: x * x * x, a * a * a)
                same(lambda: u * v + x[:n], w * z + a[:n])
            for shape in [(257, 1000), (1000, 257), (9, 70, 130), (3, 100_000)]:
                a = (rng.normal(size=shape) * 100).astype(dtype)
                b = (rng.normal(size=shape) * 100).astype(dtype)
                x, y = xp.asarray(a), xp.asarray(b)
                for axis in [None, *range(len(shape)), tuple(range(1, len(shape)))]:
                    same(lambda: x * y, a * b, axis=axis)
                    same(lambda: x[1:] * y[1:], a[1:] * b[1:], axis=axis)
                    same(lambda: x[:, 1:] * y[:, 1:], a[:, 1:] * b[:, 1:], axis=axis)
                    same(lambda: x * y[:1], a * b[:1], axis=axis)
                    same(lambda: x * y[..., :1], a * b[..., :1], axis=axis)
                    same(lambda: x * x[:, ::-1], a * a[:, ::-1], axis=axis)
                t = xp.permute_dims(x, tuple(range(len(shape)))[::-1])
                same(lambda: t * t, a.T * a.T, axis=0)
        x = xp.asarray(np.asarray([np.inf, -np.inf, 1e300, np.nan]))
        same(lambda: x[:1] * x[1:2], np.asarray([-np.inf]))
        same(lambda: x[2:3] * x[2:3], np.asarray([np.inf]))
        assert np.isnan(float(xp.sum(x * x)))
        """,
        DEFER=defer,
    )


@pytest.mark.technique("DEFER", "FUSION")
def test_one_pass_for_a_value_and_its_reductions(child):
    child(
        """
        x = xp.asarray(np.arange(100_000.0) % 11)
        runtime.synchronize()
        before = _core.tape_counters()["groups"]
        y = x * 2 + 1
        results = [xp.sum(y), xp.max(y), xp.sum(x), xp.mean(y)]
        runtime.synchronize()
        assert _core.tape_counters()["groups"] - before == 1
        a = np.arange(100_000.0) % 11
        assert np.array_equal(np.asarray(y), a * 2 + 1)
        assert [float(r) for r in results] == [
            np.sum(a * 2 + 1), np.max(a * 2 + 1), np.sum(a), np.mean(a * 2 + 1)
        ]
        """
    )


def test_a_write_behind_a_reduction_does_not_reach_it(child, defer):
    child(
        """
        a = np.arange(20_000.0)
        for reduce in (xp.sum, xp.var, lambda v: xp.cumulative_sum(v)[-1]):
            x = xp.asarray(a)
            y = x + 1
            expected = float(reduce(xp.asarray(np.asarray(y))))
            s = reduce(y)
            y += 5
            x *= 0
            t = reduce(y)
            del y
            assert float(s) == expected
            assert float(t) == float(reduce(xp.asarray(a + 6)))
        x = xp.asarray(np.asarray(3.0))
        s = xp.sum(x)
        s += 1
        assert (float(x), float(s)) == (3.0, 4.0)
        """,
        DEFER=defer,
    )


def test_results_of_one_element_of_every_dtype(child, defer):
    child(
        """
        big = xp.asarray(np.arange(90_000.0).reshape(300, 300))
        for shape in ((1, 1), (1,), ()):
            for compare in (lambda m: m > 0, lambda m: (m > 0) & (m < 1e9)):
                m = xp.reshape(xp.max(big, keepdims=True), shape)
                b = compare(m)
                n = xp.sum(m * 2 + 1)
                c = xp.astype(m, xp.int8)
                assert (float(n), xp.all(b), b.dtype) == (179_999.0, True, xp.bool)
                assert int(xp.reshape(c, ())) == 127
                assert float(xp.sum(m)) == 89_999.0
        """,
        DEFER=defer,
    )


def test_accuracy_of_a_fused_sum(child):
    child(
        """
        import math
        a = np.random.default_rng(0).standard_normal(300_001).astype(np.float32)
        x = xp.asarray(a)
        exact = math.fsum((a * a).astype(np.float64).tolist())
        got = float(xp.sum(x * x, dtype=xp.float64))
        assert abs(got - exact) < 2e-15 * exact
        """
    )


@pytest.mark.technique("DEFER", "FUSION")
def test_sizes_share_programs(child):
    child(
        """
        before = _core.tape_counters()["programs"]
        for n in range(5000, 6000):
            x = xp.asarray(np.ones(n))
            assert float(xp.sum(x * x + 1)) == 2 * n
        assert _core.tape_counters()["programs"] - before == 1
        """
    )


@pytest.mark.technique("DEFER", "FUSION")
def test_rows_stay_in_cache(child):
    """Values between reductions along rows are never stored as a whole."""
    child(
        """
        a = np.random.default_rng(0).standard_normal((2000, 1000)).astype(np.float32)
        x = xp.asarray(a)
        d = a.astype(np.float64)
        runtime.synchronize()
        used = _core.pool_stats("cpu")["used"]

        def softmax():
            e = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
            return e / xp.sum(e, axis=-1, keepdims=True)

        def standardise():
            return (x - xp.mean(x, axis=-1, keepdims=True)) / xp.std(x, axis=-1, keepdims=True)

        def rms():
            return x / xp.sqrt(xp.mean(x * x, axis=-1, keepdims=True) + 1e-5)

        exact = np.exp(d - d.max(-1, keepdims=True))
        expected = {
            softmax: exact / exact.sum(-1, keepdims=True),
            standardise: (d - d.mean(-1, keepdims=True)) / d.std(-1, keepdims=True),
            rms: d / np.sqrt((d * d).mean(-1, keepdims=True) + 1e-5),
        }
        for function, value in expected.items():
            before = _core.tape_counters()["groups"]
            y = function()
            runtime.synchronize()
            assert _core.tape_counters()["groups"] - before == 1
            assert np.allclose(np.asarray(y), value, rtol=2e-6, atol=1e-6)
            del y
            peak = _core.pool_stats("cpu")["peak"] - used
            assert 8_000_000 <= peak < 12_000_000, peak
        """,
        NUM_THREADS="2",
    )


def test_values_between_reductions_that_someone_holds(child):
    child(
        """
        a = np.random.default_rng(0).standard_normal((1500, 700))
        x = xp.asarray(a)
        m = xp.max(x, axis=-1, keepdims=True)
        e = xp.exp(x - m)
        low = e < 0.01
        s = xp.sum(e, axis=-1, keepdims=True)
        y = e / s
        e += 1
        exact = np.exp(a - a.max(-1, keepdims=True))
        assert np.array_equal(np.asarray(m), a.max(-1, keepdims=True))
        assert np.allclose(np.asarray(e), exact + 1, rtol=1e-14)
        assert np.array_equal(np.asarray(low), exact < 0.01)
        assert np.allclose(np.asarray(s), exact.sum(-1, keepdims=True), rtol=1e-14)
        assert np.allclose(np.asarray(y), exact / exact.sum(-1, keepdims=True), rtol=1e-14)
        """
    )


@pytest.mark.technique("DEFER", "FUSION")
def test_the_cache_of_programs_is_bounded(child):
    """Ever new computations: each is made once, and old ones are given up."""
    child(
        """
        x = xp.asarray(np.full(5000, 3.0))
        def compute(i):
            y, expected = x, 3.0
            for bit in range(11):
                if i >> bit & 1:
                    y, expected = y + 1, expected + 1
                else:
                    y, expected = y * 0.5, expected * 0.5
            assert float(y[4999]) == expected
        before = _core.tape_counters()["programs"]
        for i in range(2048):
            compute(i)
        assert _core.tape_counters()["programs"] - before == 2048
        for i in range(2040, 2048):
            compute(i)
        assert _core.tape_counters()["programs"] - before == 2048
        compute(0)
        assert _core.tape_counters()["programs"] - before == 2049
        """
    )


def test_casts_that_cancel(child):
    child(
        """
        rng = np.random.default_rng(0)
        for narrow, wide in [
            ("int8", "int64"), ("uint8", "int16"), ("float16", "float32"),
            ("float32", "float64"), ("bool", "bool"), ("complex64", "complex128"),
        ]:
            a = (rng.standard_normal(10_001) * 100).astype(narrow)
            x = xp.asarray(a)
            got = xp.astype(xp.astype(x, getattr(xp, wide, None) or x.dtype), x.dtype)
            assert np.array_equal(np.asarray(got), a)
        # a cast that rounds stays
        y = xp.asarray(rng.standard_normal(10_000))
        z = xp.astype(xp.astype(y, xp.float32), xp.float64)
        assert np.array_equal(np.asarray(z), np.asarray(y).astype(np.float32).astype(np.float64))
        n = xp.asarray(np.arange(10_000))
        m = xp.astype(xp.astype(n, xp.uint8), xp.int64)
        assert np.array_equal(np.asarray(m), np.asarray(xp.astype(n, xp.uint8)).astype(np.int64))
        """
    )


def test_chains_on_arrays_without_elements(child, defer):
    code = """
        import itertools, warnings

        warnings.simplefilter("ignore")
        names = ["sum", "prod", "mean", "var", "any", "cumulative_sum"]

        def reduced(space, name, x, axis):
            if name == "cumulative_sum":
                return space.cumulative_sum(x, axis=axis)
            return getattr(space, name)(x, axis=axis, keepdims=True)

        def chain(space, x, first, second, axis, other):
            y = x - reduced(space, first, x, axis)
            return reduced(space, second, y * y, other)

        runtime.set_strict(False)
        count = 0
        for shape in [(0,), (1, 0), (0, 1), (0, 4), (3, 0, 2), (0, 3, 2), (2, 3, 0)]:
            for first, second in itertools.product(names, repeat=2):
                for axis, other in itertools.product(range(len(shape)), repeat=2):
                    base = xp.ones(100_000) * 2.0
                    got = chain(xp, xp.reshape(base[:0], shape), first, second, axis, other)
                    want = chain(np, np.zeros(shape), first, second, axis, other)
                    np.testing.assert_array_equal(np.asarray(got), want)
                    count += 1
        print(count)
    """
    assert child(code, DEFER=defer) == "1440\n"
