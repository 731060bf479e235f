"""precision: errors against float64, where it holds, and what it leaves alone."""

import math
import threading
import warnings
from fractions import Fraction

import numpy as np
import pytest

import ascend_array_api as xp
from ascend_array_api import _core, runtime
from ascend_array_api.profiler import Profiler

needs_mixed = pytest.mark.skipif(_core.mixed_unit() is None, reason="no unit for bfloat16")
RNG = np.random.default_rng(11)

SHAPES = [
    ((512, 1024), (1024, 256)),
    ((33, 100), (100, 65)),
    ((16, 512), (512, 16)),
    ((64, 64), (64, 64)),
    ((70, 2000), (2000, 1100)),
    ((3, 4, 64, 64), (3, 4, 64, 96)),
    ((4, 128, 96), (96, 50)),
    ((5, 1, 40, 65), (6, 65, 72)),
]


def factors(left, right):
    return (RNG.standard_normal(shape).astype(np.float32) for shape in (left, right))


def rounded(x):
    """The nearest bfloat16, ties to even, as float64."""
    bits = x.view(np.uint32).astype(np.uint64)
    return (((bits + 0x7FFF + (bits >> 16 & 1)) >> 16) << 16).astype(np.uint32).view(np.float32)


def product64(a, b):
    return a.astype(np.float64) @ b.astype(np.float64)


def turned(x):
    """The same values in the other order of memory."""
    return xp.asarray(np.ascontiguousarray(np.swapaxes(x, -1, -2))).mT


@needs_mixed
class TestMixed:
    @pytest.mark.parametrize(("left", "right"), SHAPES)
    @pytest.mark.parametrize("layout", ["plain", "left turned", "right turned", "strided"])
    def test_error(self, left, right, layout):
        a, b = factors(left, right)
        x = turned(a) if layout == "left turned" else xp.asarray(a)
        y = turned(b) if layout == "right turned" else xp.asarray(b)
        if layout == "strided":
            x, y = xp.asarray(np.repeat(a, 2, -1))[..., ::2], xp.asarray(b[..., ::-1])[..., ::-1]
        with runtime.precision("mixed"):
            result = np.asarray(x @ y).astype(np.float64)
        scale = product64(np.abs(a), np.abs(b))
        k = left[-1]
        # Of the sums alone: the factors are what the documentation says they are.
        sums = np.abs(result - product64(rounded(a), rounded(b))) / scale
        assert np.max(sums) <= 2.0**-24 * k
        error = np.abs(result - product64(a, b))
        assert np.max(error / scale) <= 2.0**-6.9
        assert np.sqrt(np.mean(error**2)) <= 2.0**-8 * np.sqrt(k)
        # It is not float32 by another name.
        assert np.max(error / scale) > 2.0**-20

    @pytest.mark.parametrize("n", [64, 100])
    def test_work_behind_the_product(self, n):
        a, b = factors((200, 300), (300, n))
        x, y, row = xp.asarray(a), xp.asarray(b), xp.asarray(b[0, :])
        with runtime.precision("mixed"):
            plain = x @ y
            fused = xp.maximum(x @ y + row, 0.0)
        assert xp.all(fused == xp.maximum(plain + row, 0.0))

    def test_bits_do_not_depend_on_threads_or_neighbours(self):
        a, b = factors((300, 500), (500, 400))
        x, y = xp.asarray(a), xp.asarray(b)
        threads = runtime.get_num_threads()
        try:
            with runtime.precision("mixed"):
                whole = x @ y
                runtime.evaluate(whole)
                runtime.set_num_threads(1)
                assert xp.all(x @ y == whole)
                assert xp.all(x[40:90, :] @ y[:, 33:99] == whole[40:90, 33:99])
        finally:
            runtime.set_num_threads(threads)

    def test_packed_factors(self):
        a, b = factors((64, 256), (256, 128))
        x, y = xp.asarray(a), xp.asarray(b)
        weight = runtime.set_hint(xp.asarray(b), "conv_weight")
        for _ in range(2):
            with runtime.precision("mixed"):
                assert xp.all(x @ weight == x @ y)
            assert xp.all(x @ weight == x @ y)
        weight[0, 0] = 100.0
        y[0, 0] = 100.0
        with runtime.precision("mixed"):
            assert xp.all(x @ weight == x @ y)

    def test_special_values(self):
        a, b = factors((64, 64), (64, 64))
        a[0, 3], a[1, 4], a[2, 5] = np.nan, np.inf, -np.inf
        with runtime.precision("mixed"):
            result = np.asarray(xp.asarray(a) @ xp.asarray(b))
        assert np.all(np.isnan(result[0]))
        assert np.all(result[1] == np.sign(b[4]) * np.inf)
        assert np.all(result[2] == -np.sign(b[5]) * np.inf)
        assert np.all(np.isfinite(result[3:]))

    @pytest.mark.parametrize("dtype", [np.float64, np.complex64, np.float16, np.int32])
    def test_other_dtypes_are_left_alone(self, dtype):
        a = xp.asarray((RNG.standard_normal((64, 64)) * 8).astype(dtype))
        plain = a @ a
        with runtime.precision("mixed"):
            assert xp.all(a @ a == plain)

    def test_small_products_and_sums_are_left_alone(self):
        a, b = (xp.asarray(x) for x in factors((8, 4000), (4000, 8)))
        with runtime.precision("mixed"):
            mixed = [a @ b, a @ b[:, 0], xp.sum(a, axis=1), xp.vecdot(a, a)]
        plain = [a @ b, a @ b[:, 0], xp.sum(a, axis=1), xp.vecdot(a, a)]
        for x, y in zip(mixed, plain, strict=True):
            assert xp.all(x == y)

    def test_it_is_taken_when_the_product_is_called(self):
        a = xp.asarray(next(factors((128, 128), (1, 1))))
        with runtime.precision("mixed"):
            inside = a @ a
        outside = a @ a
        with runtime.precision("mixed"):
            assert not xp.all(inside == outside)
            assert xp.all(inside == a @ a)


class TestHigh:
    @pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.float16])
    def test_rounded_once(self, dtype):
        a = RNG.standard_normal((50, 3000)).astype(dtype)
        b = RNG.standard_normal((3000, 40)).astype(dtype)
        wide = np.complex128 if np.dtype(dtype).kind == "c" else np.float64
        exact = a.astype(wide) @ b.astype(wide)
        with runtime.precision("high"):
            result = xp.asarray(a) @ xp.asarray(b)
        assert result.dtype == dtype
        ulp = np.finfo(dtype).eps / 2
        parts = (
            [(np.real, exact), (np.imag, exact)] if wide is np.complex128 else [(np.real, exact)]
        )
        for part, values in parts:
            error = np.abs(part(np.asarray(result).astype(wide)) - part(values))
            assert np.all(error <= ulp * np.abs(part(values)) * 1.0001 + 1e-9)

    def test_cancellation(self):
        x = xp.asarray(np.asarray([1e8, 1.0, -1e8] * 20, np.float32))
        ones = xp.ones(60, dtype=xp.float32)
        with runtime.precision("high"):
            assert float(xp.vecdot(x, ones)) == 20.0
            assert float((x[None, :] @ ones[:, None])[0, 0]) == 20.0
            assert float(xp.tensordot(x, ones, axes=1)) == 20.0


def exact_sum(values):
    return sum(map(Fraction, values.tolist()), Fraction(0))


def units(got, exact):
    """Return an error in units in the last place of the exact value."""
    return float(abs(Fraction(float(got)) - exact) / Fraction(math.ulp(float(exact))))


def spread(n, decades):
    """Numbers of many sizes, in random order."""
    return RNG.standard_normal(n) * 10.0 ** RNG.integers(-decades, decades + 1, n)


SERIES = {
    "normal": RNG.standard_normal(100_001),
    "of many sizes": spread(30_000, 30),
    "large": RNG.standard_normal(1001) * 1e305,
    "small": RNG.standard_normal(1000) * 1e-320,
    "about one value": 1e9 + RNG.standard_normal(50_000),
    "two": np.asarray([1.0, 1e-17]),
    # Its mean is rounded twice, by 1.38 units together.
    "rounded twice": np.asarray([1.0, 1.013362257748753e-16, 3.610445276081009e-13] + 62 * [0.0]),
}


class TestHighOfFloat64:
    """Compensated sums, against rational arithmetic."""

    @pytest.mark.parametrize("series", SERIES)
    def test_sum_and_mean(self, series):
        values = SERIES[series]
        x = xp.asarray(values)
        exact = exact_sum(values)
        with runtime.precision("high"):
            total, mean = xp.sum(x), xp.mean(x)
        assert float(total) == float(exact) == math.fsum(values)
        assert units(mean, exact / len(values)) <= 1.5

    @pytest.mark.parametrize("series", ["normal", "of many sizes", "about one value", "two"])
    @pytest.mark.parametrize("correction", [0, 1])
    def test_variance(self, series, correction):
        values = SERIES[series][:5001]
        mean = exact_sum(values) / len(values)
        exact = sum((Fraction(v) - mean) ** 2 for v in values.tolist())
        exact /= len(values) - correction
        with runtime.precision("high"):
            got = xp.var(xp.asarray(values), correction=correction)
            root = xp.std(xp.asarray(values), correction=correction)
        assert units(got, exact) <= 2
        assert float(root) == pytest.approx(math.sqrt(exact), rel=4e-16)

    def test_what_cancels(self):
        """The bound that the documentation gives, where the sum is 40 digits below the terms."""
        half = spread(5000, 10)
        values = np.concatenate([half, -half, [1e-25]])
        RNG.shuffle(values)
        with runtime.precision("high"):
            got = float(xp.sum(xp.asarray(values)))
        bound = 2.0**-150 * len(values) ** 3 * np.max(np.abs(values))
        assert abs(got - 1e-25) <= bound + 1e-41
        # By chance one order of the terms may cancel without it.
        rng = np.random.default_rng(0)
        orders = [xp.asarray(rng.permutation(values)) for _ in range(8)]
        assert max(abs(float(xp.sum(x)) - 1e-25) for x in orders) > 1e-10

    @pytest.mark.parametrize("axis", [0, 1, (0, 2), None])
    def test_axes(self, axis):
        values = spread(13 * 700 * 11, 12).reshape(13, 700, 11)
        x = xp.asarray(values)
        axes = tuple(range(3)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        rows = np.moveaxis(values, axes, range(len(axes)))
        rest = rows.shape[len(axes) :]
        rows = rows.reshape(-1, math.prod(rest))
        expected = [math.fsum(rows[:, j]) for j in range(rows.shape[1])]
        with runtime.precision("high"):
            got = xp.sum(x, axis=axis)
            kept = xp.sum(x, axis=axis, keepdims=True)
            turned_round = xp.sum(xp.flip(x), axis=axis)
        assert np.asarray(got).ravel().tolist() == expected
        assert np.asarray(kept).shape == np.sum(values, axis=axis, keepdims=True).shape
        assert np.asarray(kept).ravel().tolist() == expected
        assert np.asarray(turned_round).ravel().tolist() == (
            np.flip(np.asarray(expected).reshape(rest)).ravel().tolist()
        )

    def test_products(self):
        a, b = (spread(30 * 400, 8).reshape(30, 400) for _ in range(2))
        exact = [
            [sum(Fraction(p) * Fraction(q) for p, q in zip(r, s, strict=True)) for s in b.tolist()]
            for r in a.tolist()[:4]
        ]
        x, y = xp.asarray(a), xp.asarray(b)
        with runtime.precision("high"):
            dots, matrix = np.asarray(xp.vecdot(x, y)), np.asarray(x @ y.T)
            vector, stack = np.asarray(x @ y[3, :]), np.asarray(xp.stack([x, y]) @ y.T)
        assert max(units(dots[i], exact[i][i]) for i in range(4)) <= 0.51
        assert max(units(matrix[i, j], exact[i][j]) for i in range(4) for j in range(30)) <= 0.51
        assert vector.tobytes() == matrix[:, 3].tobytes()
        assert stack[0].tobytes() == matrix.tobytes()
        assert max(units(np.asarray(x @ y.T)[i, i], exact[i][i]) for i in range(4)) > 1

    @pytest.mark.parametrize(
        "values",
        [[], [-0.0, -0.0], [0.0, -0.0], [np.inf, 1.0], [-np.inf, 1.0], [np.inf, -np.inf], [np.nan]],
    )
    def test_special_values(self, values):
        x = xp.asarray(values, dtype=xp.float64)
        plain = [repr(float(f(x))) for f in (xp.sum, xp.mean, xp.var)]
        with runtime.precision("high"):
            assert [repr(float(f(x))) for f in (xp.sum, xp.mean, xp.var)] == plain
            assert repr(float(xp.vecdot(x, x))) == repr(float(xp.sum(x * x)))

    def test_long_dot(self):
        """The interpreter's lock is not held while it computes."""
        values = RNG.standard_normal(100_000)
        x = xp.asarray(values)
        exact = sum(Fraction(v) ** 2 for v in values.tolist())
        with runtime.precision("high"):
            for _ in range(20):
                assert units(xp.vecdot(x, x), exact) <= 0.51

    def test_dtype_argument(self):
        values = spread(5000, 15).astype(np.float32)
        with runtime.precision("high"):
            got = xp.sum(xp.asarray(values), dtype=xp.float64)
        assert float(got) == math.fsum(values.astype(np.float64))

    def test_products_that_are_too_large_say_so(self):
        x = xp.ones((200, 200))
        with (
            runtime.precision("high"),
            pytest.warns(RuntimeWarning, match="matmul: precision 'hig"),
        ):
            product = x @ x
        assert float(product[0, 0]) == 200.0

    def test_it_is_seen(self):
        x = xp.asarray(SERIES["normal"])
        with Profiler() as profile:
            float(xp.sum(x))
            with runtime.precision("high"):
                float(xp.sum(x))
                precise = runtime.routing("sum", xp.float64)[0]
        seen = [e.precision for e in profile._recording.events() if e.name == "sum"]
        assert seen.count("high") >= 1
        assert "default" in seen
        assert precise.kind == "compensated"
        assert runtime.routing("sum", xp.float64)[0].kind == "native"


class TestBlocks:
    def test_they_nest(self):
        assert runtime.get_precision() == "default"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with runtime.precision("high"):
                with runtime.precision("mixed"):
                    assert runtime.get_precision() == "mixed"
                    with runtime.precision("default"):
                        assert runtime.get_precision() == "default"
                assert runtime.get_precision() == "high"
        assert runtime.get_precision() == "default"

    def test_other_threads_have_their_own(self):
        seen = []
        with runtime.precision("high"):
            thread = threading.Thread(target=lambda: seen.append(runtime.get_precision()))
            thread.start()
            thread.join()
        assert seen == ["default"]

    def test_unknown_names(self):
        with pytest.raises(ValueError, match="'default', 'mixed', 'high'"):
            runtime.precision("bf16")
        with pytest.raises(TypeError, match="must be a str"):
            runtime.precision(16)

    def test_left_without_having_been_entered(self):
        with pytest.raises(RuntimeError, match="precision: it is left without having been entered"):
            runtime.precision("high").__exit__(None, None, None)
        assert runtime.get_precision() == "default"

    def test_no_effect_is_said(self, child):
        code = """
        import warnings
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with runtime.precision("mixed"):
                pass
        unit = _core.mixed_unit()
        assert (unit is None) == (len(caught) == 1), (unit, caught)
        x = xp.asarray(np.ones((64, 64), np.float32))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with runtime.precision("mixed"):
                print(float((x @ x)[0, 0]))
        """
        assert child(code) == "64.0\n"
