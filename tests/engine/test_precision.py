"""precision: errors against float64, where it holds, and what it leaves alone."""

import threading
import warnings

import numpy as np
import pytest

import ascend_array_api as xp
from ascend_array_api import _core, runtime

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
