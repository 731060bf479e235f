"""Functions put together in Python, against NumPy, and their errors."""

import itertools
import math

import numpy as np
import pytest

import ascend_array_api as xp
from ascend_array_api import runtime
from ascend_array_api.testing import ulp_distance

RNG = np.random.default_rng(7)
INF = math.inf
EPS = {"float32": 1.2e-7, "float64": 2.3e-16, "complex64": 1.2e-7, "complex128": 2.3e-16}


def random(shape, dtype="float64"):
    values = RNG.standard_normal(shape)
    if dtype.startswith("complex"):
        values = values + 1j * RNG.standard_normal(shape)
    return values.astype(dtype)


def close(found, expected, dtype, factor=50.0):
    found = np.asarray(found)
    expected = np.asarray(expected)
    assert found.dtype == np.dtype(dtype)
    assert found.shape == expected.shape
    scale = np.max(np.abs(expected), initial=1.0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=factor * EPS[dtype_of(found)] * scale)


def dtype_of(values):
    return values.dtype.name


class TestCreation:
    @pytest.mark.parametrize("name", ["bool", "int8", "uint64", "float32", "complex128"])
    @pytest.mark.parametrize("shape", [(), 3, (2, 0), (2, 65)])
    def test_zeros_and_ones(self, name, shape):
        dtype = getattr(xp, name)
        for made, value in ((xp.zeros, 0), (xp.ones, 1)):
            np.testing.assert_array_equal(
                np.asarray(made(shape, dtype=dtype)), np.full(shape, value, name), strict=True
            )
        pattern = xp.empty(shape, dtype=dtype)
        for like, value in ((xp.zeros_like, 0), (xp.ones_like, 1)):
            np.testing.assert_array_equal(
                np.asarray(like(pattern)), np.full(shape, value, name), strict=True
            )
        assert xp.empty_like(pattern).shape == pattern.shape
        assert xp.empty_like(pattern, dtype=xp.int8).dtype == xp.int8
        assert xp.full_like(pattern, True, dtype=xp.bool).dtype == xp.bool

    def test_default_dtype(self):
        assert xp.zeros(1).dtype == xp.ones(1).dtype == xp.empty(1).dtype == xp.float64

    @pytest.mark.parametrize("like", [xp.zeros_like, xp.ones_like, xp.empty_like])
    def test_like_needs_an_array(self, like):
        with pytest.raises(TypeError, match=rf"{like.__name__}.*got numpy.ndarray"):
            like(np.zeros(2))

    @pytest.mark.parametrize("indexing", ["xy", "ij"])
    @pytest.mark.parametrize("lengths", [(), (3,), (2, 3), (2, 3, 4), (2, 0, 1, 3)])
    def test_meshgrid(self, indexing, lengths):
        vectors = [np.arange(n, dtype=f"int{2 ** (3 + i)}") for i, n in enumerate(lengths)]
        found = xp.meshgrid(*map(xp.asarray, vectors), indexing=indexing)
        expected = np.meshgrid(*vectors, indexing=indexing)
        assert isinstance(found, tuple)
        assert len(found) == len(expected)
        for f, e in zip(found, expected, strict=True):
            np.testing.assert_array_equal(np.asarray(f), e, strict=True)
            f[...] = 1

    def test_meshgrid_errors(self):
        with pytest.raises(ValueError, match="meshgrid: indexing"):
            xp.meshgrid(xp.arange(2), indexing="yx")
        with pytest.raises(ValueError, match=r"meshgrid.*\(2, 2\)"):
            xp.meshgrid(xp.zeros((2, 2)))
        with pytest.raises(TypeError, match="meshgrid"):
            xp.meshgrid([1, 2])


class TestManipulation:
    @pytest.mark.parametrize(
        ("shapes", "expected"),
        [
            ((), ()),
            (((),), ()),
            (((2, 1), (3,), ()), (2, 3)),
            (((0, 1), (1, 4)), (0, 4)),
            (((1,), (0,)), (0,)),
            (((None, 3), (3,)), (None, 3)),
            (((None,), (1,)), (None,)),
            (((None,), (4,)), (None,)),
            (((2, None), (None, 5)), (None, None)),
            (([2, 1], (np.int64(3),)), (2, 3)),
        ],
    )
    def test_broadcast_shapes(self, shapes, expected):
        assert xp.broadcast_shapes(*shapes) == expected

    def test_broadcast_shapes_errors(self):
        with pytest.raises(ValueError, match=r"broadcast_shapes.*\(2,\), \(3,\)"):
            xp.broadcast_shapes((2,), (3,))
        with pytest.raises(ValueError, match="broadcast_shapes"):
            xp.broadcast_shapes((2, None), (3, 1), (None,), (4, 1))
        with pytest.raises(ValueError, match="negative"):
            xp.broadcast_shapes((-1,))
        for bad in (3, None, "ab", (1.5,)):
            with pytest.raises(TypeError, match="broadcast_shapes"):
                xp.broadcast_shapes(bad)

    @pytest.mark.parametrize("shapes", list(itertools.product([(), (1,), (3,), (2, 1)], repeat=2)))
    def test_broadcast_shapes_as_numpy(self, shapes):
        assert xp.broadcast_shapes(*shapes) == np.broadcast_shapes(*shapes)

    def test_broadcast_arrays(self):
        a, b = xp.asarray([[1], [2]], dtype=xp.int8), xp.asarray([True, False, True])
        x, y = xp.broadcast_arrays(a, b)
        assert x.shape == y.shape == (2, 3)
        assert x.dtype == xp.int8
        assert y.dtype == xp.bool
        assert xp.broadcast_arrays() == ()
        with pytest.raises(ValueError, match="broadcast_arrays"):
            xp.broadcast_arrays(xp.zeros(2), xp.zeros(3))

    @pytest.mark.parametrize(
        ("source", "destination"),
        [(0, -1), (-1, 0), ((0, 1), (2, 3)), ((3, 0), (0, -1)), ((), ()), ((1, 2), (2, 1))],
    )
    def test_moveaxis(self, source, destination):
        n = random((2, 3, 4, 5))
        found = xp.moveaxis(xp.asarray(n), source, destination)
        np.testing.assert_array_equal(np.asarray(found), np.moveaxis(n, source, destination))

    def test_moveaxis_is_a_view(self):
        x = xp.zeros((2, 3))
        xp.moveaxis(x, 0, 1)[2, 1] = 5.0
        assert float(x[1, 2]) == 5.0

    @pytest.mark.parametrize(
        ("source", "destination"),
        [(4, 0), (0, -5), ((0, 0), (1, 2)), ((0, 1), (1, -3)), ((0,), (0, 1))],
    )
    def test_moveaxis_errors(self, source, destination):
        with pytest.raises(ValueError, match="moveaxis"):
            xp.moveaxis(xp.zeros((2, 3, 4, 5)), source, destination)

    @pytest.mark.parametrize("axis", [0, 1, -1])
    def test_unstack(self, axis):
        n = random((3, 4))
        parts = xp.unstack(xp.asarray(n), axis=axis)
        assert isinstance(parts, tuple)
        assert len(parts) == n.shape[axis]
        for i, part in enumerate(parts):
            np.testing.assert_array_equal(np.asarray(part), np.take(n, i, axis))

    def test_unstack_is_a_view(self):
        x = xp.zeros((2, 3))
        xp.unstack(x, axis=1)[2][0] = 1.0
        assert float(x[0, 2]) == 1.0

    def test_unstack_errors(self):
        for x in (xp.asarray(1.0), xp.zeros((2, 3))):
            with pytest.raises(IndexError, match="unstack: axis 2"):
                xp.unstack(x, axis=2)
        with pytest.raises(TypeError, match="unstack"):
            xp.unstack(xp.zeros(2), axis=0.5)

    @pytest.mark.parametrize("axis", [0, 1, -1])
    @pytest.mark.parametrize("n", [0, 1, 2, 3, 9])
    @pytest.mark.parametrize("name", ["int16", "uint8", "float32", "complex64"])
    def test_diff(self, axis, n, name):
        values = (10 * random((4, 5))).astype(np.int64).astype(name)
        found = np.asarray(xp.diff(xp.asarray(values), axis=axis, n=n))
        np.testing.assert_array_equal(found, np.diff(values, n, axis), strict=True)

    def test_diff_with_more_around(self):
        x, before, after = random((2, 3)), random((2, 1)), random((2, 2))
        found = xp.diff(xp.asarray(x), prepend=xp.asarray(before), append=xp.asarray(after))
        np.testing.assert_array_equal(
            np.asarray(found), np.diff(x, prepend=before, append=after), strict=True
        )

    def test_diff_errors(self):
        with pytest.raises(TypeError, match=r"diff.*bool"):
            xp.diff(xp.asarray([True, False]))
        with pytest.raises(ValueError, match="diff: n is not negative, got -1"):
            xp.diff(xp.zeros(3), n=-1)
        with pytest.raises(IndexError, match="diff: axis 1"):
            xp.diff(xp.zeros(3), axis=1)
        with pytest.raises(IndexError, match="diff"):
            xp.diff(xp.asarray(1.0))
        with pytest.raises(TypeError, match=r"diff.*list"):
            xp.diff([1, 2])


class TestLinearAlgebra:
    @pytest.mark.parametrize(
        ("left", "right", "axes"),
        [
            ((2, 3), (3, 4), 1),
            ((2, 3), (3, 4), 0),
            ((2, 3, 4), (3, 4, 5), 2),
            ((2, 3, 4), (4, 2, 5), ((0, 2), (1, 0))),
            ((2, 3), (3, 2), ((-1, 0), (0, -1))),
            ((3,), (3,), 1),
            ((), (), 0),
            ((2, 0), (0, 3), 1),
            ((0, 2), (2, 3), 1),
            ((2, 3), (2, 3), ((0,), (0,))),
        ],
    )
    @pytest.mark.parametrize("dtype", ["float64", "complex64", "int64"])
    def test_tensordot(self, left, right, axes, dtype):
        a = (4 * random(left)).astype(dtype)
        b = (4 * random(right)).astype(dtype)
        found = np.asarray(xp.tensordot(xp.asarray(a), xp.asarray(b), axes=axes))
        expected = np.tensordot(a, b, axes=axes)
        assert found.dtype == expected.dtype
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)

    @pytest.mark.parametrize(
        ("axes", "error"),
        [
            (3, ValueError),
            (-1, ValueError),
            (2, ValueError),
            (((0,), (0, 1)), ValueError),
            (((0, 0), (0, 0)), ValueError),
            (((5,), (0,)), ValueError),
            ("ab", TypeError),
            (1.5, TypeError),
            (((0,),), ValueError),
            (None, TypeError),
        ],
    )
    def test_tensordot_errors(self, axes, error):
        with pytest.raises(error, match="tensordot"):
            xp.tensordot(xp.zeros((2, 3)), xp.zeros((4, 5)), axes=axes)

    def test_matrix_transpose(self):
        x = xp.zeros((2, 3, 4))
        assert xp.matrix_transpose(x).shape == (2, 4, 3)
        with pytest.raises(ValueError, match="matrix_transpose"):
            xp.matrix_transpose(xp.zeros(3))

    @pytest.mark.parametrize("dtype", ["int32", "float32", "float64", "complex128"])
    @pytest.mark.parametrize(
        ("left", "right", "axis"),
        [
            ((3,), (3,), -1),
            ((4, 3), (3,), -1),
            ((2, 1, 3), (5, 3), -1),
            ((3, 4), (3, 1), -2),
            ((3, 4), (3, 4), 0),
            ((0, 3), (1, 3), -1),
        ],
    )
    def test_cross(self, dtype, left, right, axis):
        a, b = (5 * random(left)).astype(dtype), (5 * random(right)).astype(dtype)
        found = np.asarray(xp.linalg.cross(xp.asarray(a), xp.asarray(b), axis=axis))
        expected = np.cross(np.moveaxis(a, axis, -1), np.moveaxis(b, axis, -1))
        expected = np.moveaxis(expected, -1, axis)
        assert found.dtype == expected.dtype
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)

    def test_cross_errors(self):
        for shapes in (((2,), (2,)), ((3,), (4,)), ((1, 3), (1, 1))):
            with pytest.raises(ValueError, match="cross"):
                xp.linalg.cross(*map(xp.zeros, shapes))
        with pytest.raises(ValueError, match="cross"):
            xp.linalg.cross(xp.zeros((3, 3)), xp.zeros(3), axis=0)
        with pytest.raises(TypeError, match=r"cross.*bool"):
            xp.linalg.cross(xp.zeros(3, dtype=xp.bool), xp.zeros(3, dtype=xp.bool))

    @pytest.mark.parametrize("offset", [-9, -2, -1, 0, 1, 3, 9])
    def test_diagonal_and_trace(self, offset):
        n = random((2, 3, 4))
        x = xp.asarray(n)
        np.testing.assert_array_equal(
            np.asarray(xp.linalg.diagonal(x, offset=offset)), np.linalg.diagonal(n, offset=offset)
        )
        close(xp.linalg.trace(x, offset=offset), np.linalg.trace(n, offset=offset), "float64")

    def test_diagonal_is_a_view(self):
        x = xp.zeros((3, 3))
        xp.linalg.diagonal(x)[...] = 1.0
        assert bool(xp.all(x == xp.eye(3)))

    def test_trace_dtypes(self):
        x = xp.asarray([[100, 0], [0, 100]], dtype=xp.int8)
        assert xp.linalg.trace(x).dtype == xp.int64
        assert int(xp.linalg.trace(x)) == 200
        assert xp.linalg.trace(x, dtype=xp.int16).dtype == xp.int16
        assert xp.linalg.trace(xp.astype(x, xp.uint8)).dtype == xp.uint64
        with pytest.raises(TypeError, match=r"trace.*bool"):
            xp.linalg.trace(xp.zeros((2, 2), dtype=xp.bool))

    @pytest.mark.parametrize("function", [xp.linalg.diagonal, xp.linalg.trace])
    def test_rank_errors(self, function):
        with pytest.raises(ValueError, match=function.__name__):
            function(xp.zeros(3))

    @pytest.mark.parametrize("n", [-3, -1, 0, 1, 2, 3, 6, 11])
    @pytest.mark.parametrize("dtype", ["float64", "complex128"])
    def test_matrix_power(self, n, dtype):
        a = random((2, 4, 4), dtype) + 4 * np.eye(4)
        close(
            xp.linalg.matrix_power(xp.asarray(a), n),
            np.linalg.matrix_power(a, n),
            dtype,
            factor=1e4,
        )

    def test_matrix_power_of_integers(self):
        x = xp.asarray([[1, 1], [1, 0]])
        assert xp.linalg.matrix_power(x, 90).dtype == xp.int64
        assert int(xp.linalg.matrix_power(x, 90)[0, 1]) == 2880067194370816120
        with pytest.raises(TypeError, match=r"matrix_power.*int64"):
            xp.linalg.matrix_power(x, -1)

    def test_matrix_power_gives_new_memory(self):
        x = xp.eye(2)
        for n in (0, 1, 2):
            xp.linalg.matrix_power(x, n)[0, 0] = 5.0
        assert float(x[0, 0]) == 1.0

    def test_matrix_power_errors(self):
        with pytest.raises(ValueError, match=r"matrix_power.*square.*\(2, 3\)"):
            xp.linalg.matrix_power(xp.zeros((2, 3)), 2)
        with pytest.raises(TypeError, match="matrix_power: n"):
            xp.linalg.matrix_power(xp.eye(2), 1.5)
        with pytest.raises(ValueError):
            xp.linalg.matrix_power(xp.zeros((2, 2)), -1)

    def test_outer(self):
        a, b = random(3), random(4, "complex128")
        np.testing.assert_array_equal(
            np.asarray(xp.linalg.outer(xp.asarray(a), xp.asarray(b))), np.multiply.outer(a, b)
        )
        with pytest.raises(ValueError, match="outer"):
            xp.linalg.outer(xp.zeros((1, 2)), xp.zeros(2))
        with pytest.raises(TypeError, match=r"outer.*bool"):
            xp.linalg.outer(xp.zeros(2, dtype=xp.bool), xp.zeros(2, dtype=xp.bool))

    @pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
    @pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 4), (2, 3, 4), (0, 3), (3, 0)])
    def test_pinv(self, shape, dtype):
        a = random(shape, dtype)
        found = xp.linalg.pinv(xp.asarray(a))
        close(found, np.linalg.pinv(a), dtype, factor=500)

    def test_pinv_and_rank_with_a_tolerance(self):
        x = xp.stack([xp.eye(3), xp.eye(3) * xp.asarray([1.0, 1e-3, 1.0])])
        assert np.asarray(xp.linalg.matrix_rank(x)).tolist() == [3, 3]
        assert np.asarray(xp.linalg.matrix_rank(x, rtol=0.01)).tolist() == [3, 2]
        rtol = xp.asarray([2.0, 1e-5])
        assert np.asarray(xp.linalg.matrix_rank(x, rtol=rtol)).tolist() == [0, 3]
        found = np.asarray(xp.linalg.pinv(x, rtol=rtol))
        np.testing.assert_allclose(found[1], np.diag([1, 1e3, 1]), rtol=1e-12)
        assert not found[0].any()

    @pytest.mark.parametrize("shape", [(0, 0), (0, 3), (2, 3, 0), (0, 2, 2)])
    def test_matrix_rank_of_nothing(self, shape):
        found = xp.linalg.matrix_rank(xp.zeros(shape))
        assert found.shape == shape[:-2]
        assert found.dtype == xp.int64
        assert not bool(xp.any(found))

    @pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
    @pytest.mark.parametrize("ord", ["fro", None, "nuc", 1, -1, 2, -2, INF, -INF])
    @pytest.mark.parametrize("keepdims", [False, True])
    def test_matrix_norm(self, ord, keepdims, dtype):
        a = random((2, 3, 4), dtype)
        found = xp.linalg.matrix_norm(xp.asarray(a), ord=ord, keepdims=keepdims)
        expected = np.linalg.norm(a, ord, axis=(-2, -1), keepdims=keepdims)
        close(found, expected, a.real.dtype.name)

    def test_matrix_norm_of_nothing(self):
        for ord in ("fro", "nuc", 1, 2, INF):
            assert float(xp.linalg.matrix_norm(xp.zeros((0, 3)), ord=ord)) == 0.0
        for ord in (-1, -2, -INF):
            with pytest.raises(ValueError, match="matrix_norm"):
                xp.linalg.matrix_norm(xp.zeros((0, 0)), ord=ord)

    def test_matrix_norm_errors(self):
        for ord in ("other", 3, 0, math.nan):
            with pytest.raises(ValueError, match="matrix_norm: ord"):
                xp.linalg.matrix_norm(xp.eye(2), ord=ord)
        with pytest.raises(ValueError, match="matrix_norm"):
            xp.linalg.matrix_norm(xp.zeros(3))
        with pytest.raises(TypeError, match=r"matrix_norm.*int64"):
            xp.linalg.matrix_norm(xp.asarray([[1]]))

    @pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
    @pytest.mark.parametrize("ord", [2, 1, 0, INF, -INF, 3, -1, -2, 0.5, 2.5])
    @pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), (1,)])
    @pytest.mark.parametrize("keepdims", [False, True])
    def test_vector_norm(self, ord, axis, keepdims, dtype):
        a = random((2, 3, 4), dtype)
        found = xp.linalg.vector_norm(xp.asarray(a), ord=ord, axis=axis, keepdims=keepdims)
        expected = np.linalg.vector_norm(a, ord=ord, axis=axis, keepdims=keepdims)
        close(found, expected, a.real.dtype.name)

    @pytest.mark.parametrize("scale", [1e-320, 1e-300, 1e-160, 1.0, 1e160, 1e300])
    def test_norms_do_not_overflow(self, scale):
        x = xp.asarray([3.0, 4.0]) * scale
        expected = 5.0 * scale
        for norm in (
            xp.linalg.vector_norm(x),
            xp.linalg.matrix_norm(x[None, :]),
            xp.linalg.vector_norm(xp.astype(x, xp.complex128) * 1j, axis=0),
        ):
            assert float(norm) == pytest.approx(expected, rel=1e-3 if scale < 1e-310 else 1e-15)

    def test_norms_of_special_values(self):
        norm = xp.linalg.vector_norm
        x = xp.asarray([[1.0, INF], [INF, math.nan], [0.0, 0.0], [1e200, 1e200]])
        found = np.asarray(norm(x, axis=1))
        assert found[0] == INF
        assert math.isnan(found[1])
        assert found[2] == 0.0
        assert found[3] == pytest.approx(math.sqrt(2) * 1e200)
        for dtype in (xp.float32, xp.complex64):
            found = norm(xp.asarray([3e30, 4e30], dtype=dtype))
            assert found.dtype == xp.float32
            assert float(found) == pytest.approx(5e30, rel=1e-7)

    def test_vector_norm_of_nothing(self):
        for ord in (0, 1, 2, 3, INF):
            assert float(xp.linalg.vector_norm(xp.zeros(0), ord=ord)) == 0.0
        with pytest.raises(ValueError, match="vector_norm"):
            xp.linalg.vector_norm(xp.zeros(0), ord=-INF)

    def test_vector_norm_errors(self):
        for ord in ("fro", None, 1j):
            with pytest.raises(TypeError, match="vector_norm: ord"):
                xp.linalg.vector_norm(xp.zeros(2), ord=ord)
        with pytest.raises(ValueError, match="vector_norm: ord is nan"):
            xp.linalg.vector_norm(xp.zeros(2), ord=math.nan)
        with pytest.raises(ValueError, match="vector_norm: axis 1"):
            xp.linalg.vector_norm(xp.zeros(2), axis=1)
        with pytest.raises(ValueError, match=r"vector_norm.*twice"):
            xp.linalg.vector_norm(xp.zeros((2, 2)), axis=(0, -2))
        with pytest.raises(TypeError, match=r"vector_norm.*int64.*set_strict"):
            xp.linalg.vector_norm(xp.asarray([1, 2]))

    def test_relaxed_mode_takes_integers(self):
        with runtime.strict(False):
            assert float(xp.linalg.vector_norm(xp.asarray([3, 4]))) == 5.0
            assert float(xp.linalg.matrix_norm(xp.asarray([[3, 4]]))) == 5.0
            assert int(xp.linalg.matrix_rank(xp.asarray([[1, 2], [2, 4]]))) == 1


ONE = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
MANY = ["fftn", "ifftn", "rfftn", "irfftn"]
REAL_INPUT = {"rfft", "rfftn", "ihfft"}


def transform_input(name, shape, single):
    real = name in REAL_INPUT
    dtype = {(True, True): "float32", (True, False): "float64", (False, True): "complex64"}
    return random(shape, dtype.get((real, single), "complex128"))


class TestFFT:
    @pytest.mark.parametrize("name", ONE)
    @pytest.mark.parametrize("single", [True, False])
    @pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
    def test_one_axis(self, name, single, norm):
        a = transform_input(name, (3, 8), single)
        for n, axis in itertools.product([None, 1, 5, 6, 11], [0, -1]):
            found = getattr(xp.fft, name)(xp.asarray(a), n=n, axis=axis, norm=norm)
            expected = getattr(np.fft, name)(a, n=n, axis=axis, norm=norm)
            close(found, expected, expected.dtype)
            assert (
                expected.dtype.itemsize == a.dtype.itemsize or expected.dtype.kind != a.dtype.kind
            )

    @pytest.mark.parametrize("name", MANY)
    @pytest.mark.parametrize("single", [True, False])
    @pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
    def test_several_axes(self, name, single, norm):
        a = transform_input(name, (3, 4, 6), single)
        for s, axes in [
            (None, None),
            (None, (0, 2)),
            (None, (-1, 0)),
            ((5, 7), (1, 2)),
            ((2, 3, 4), (2, 1, 0)),
        ]:
            found = getattr(xp.fft, name)(xp.asarray(a), s=s, axes=axes, norm=norm)
            expected = getattr(np.fft, name)(a, s=s, axes=axes, norm=norm)
            close(found, expected, expected.dtype)

    def test_lengths_of_minus_one_keep_an_axis(self):
        x = xp.asarray(random((3, 4), "complex128"))
        for name in MANY:
            y = xp.real(x) if name in REAL_INPUT else x
            f = getattr(xp.fft, name)
            assert bool(xp.all(f(y, s=(-1, -1), axes=(0, 1)) == f(y))), name

    def test_views_and_round_trips(self):
        a = random((4, 9), "complex128")
        x = xp.asarray(a)[::-1, 1::2]
        close(xp.fft.ifft(xp.fft.fft(x)), a[::-1, 1::2], "complex128")
        y = xp.real(x)
        close(xp.fft.irfft(xp.fft.rfft(y, axis=0), axis=0), a.real[::-1, 1::2], "float64")

    def test_half_precision_is_computed_in_single(self):
        x = xp.asarray([1.0, 2.0, 3.0], dtype=xp.dtypes.float16)
        assert xp.fft.fft(x).dtype == xp.complex64
        assert xp.fft.irfft(x).dtype == xp.float32

    @pytest.mark.parametrize("name", ONE)
    def test_errors_of_one_axis(self, name):
        f = getattr(xp.fft, name)
        x = xp.zeros((2, 4), dtype=xp.float64 if name in REAL_INPUT else xp.complex128)
        for arguments, error in [
            ({"n": 0}, ValueError),
            ({"n": -1}, ValueError),
            ({"n": 1.5}, TypeError),
            ({"axis": 2}, ValueError),
            ({"norm": "other"}, ValueError),
            ({"norm": None}, ValueError),
        ]:
            with pytest.raises(error, match=name):
                f(x, **arguments)
        with pytest.raises(ValueError, match=name):
            f(x[:, :0])
        with pytest.raises(TypeError, match=rf"{name}.*int64"):
            f(xp.zeros(4, dtype=xp.int64))
        with pytest.raises(TypeError, match=name):
            f(np.zeros(4))

    @pytest.mark.parametrize("name", MANY)
    def test_errors_of_several_axes(self, name):
        f = getattr(xp.fft, name)
        x = xp.zeros((2, 4), dtype=xp.float64 if name in REAL_INPUT else xp.complex128)
        for arguments in [
            {"s": (2, 2)},
            {"s": (2,), "axes": (0, 1)},
            {"axes": (0, 0)},
            {"axes": (0, -2)},
            {"axes": (2,)},
            {"axes": ()},
            {"s": (0, 2), "axes": (0, 1)},
            {"s": (-2, 2), "axes": (0, 1)},
            {"norm": "other"},
        ]:
            with pytest.raises(ValueError, match=name):
                f(x, **arguments)

    @pytest.mark.parametrize("name", sorted(REAL_INPUT))
    def test_real_transforms_refuse_complex(self, name):
        with pytest.raises(TypeError, match=rf"{name}.*complex64"):
            getattr(xp.fft, name)(xp.zeros((2, 4), dtype=xp.complex64))

    @pytest.mark.parametrize("n", [1, 2, 3, 8, 9, 1000])
    @pytest.mark.parametrize("d", [1.0, 0.1, -3.0, 7])
    def test_frequencies_are_correctly_rounded(self, n, d):
        k = np.concatenate([np.arange((n + 1) // 2), np.arange(-(n // 2), 0)])
        np.testing.assert_array_equal(np.asarray(xp.fft.fftfreq(n, d=d)), k / (n * d))
        np.testing.assert_array_equal(
            np.asarray(xp.fft.rfftfreq(n, d=d)), np.arange(n // 2 + 1) / (n * d)
        )

    @pytest.mark.parametrize("function", [xp.fft.fftfreq, xp.fft.rfftfreq])
    def test_frequency_arguments(self, function):
        name = function.__name__
        assert function(4).dtype == xp.float64
        assert function(4, dtype=xp.float32, device="cpu").dtype == xp.float32
        for dtype in (xp.int64, xp.complex64, xp.bool, "float32"):
            with pytest.raises(TypeError, match=name):
                function(4, dtype=dtype)
        for n in (0, -1):
            with pytest.raises(ValueError, match=f"{name}: n"):
                function(n)
        with pytest.raises(TypeError, match=f"{name}: n"):
            function(2.5)
        with pytest.raises(ValueError, match=f"{name}: d"):
            function(4, d=0)

    @pytest.mark.parametrize("axes", [None, 0, 1, -1, (0, 1), (1,), [0]])
    @pytest.mark.parametrize("shape", [(4, 5), (1, 0)])
    def test_shifts(self, axes, shape):
        n = random(shape)
        x = xp.asarray(n)
        there = xp.fft.fftshift(x, axes=axes)
        np.testing.assert_array_equal(np.asarray(there), np.fft.fftshift(n, axes=axes))
        np.testing.assert_array_equal(np.asarray(xp.fft.ifftshift(there, axes=axes)), n)

    def test_shift_errors(self):
        with pytest.raises(ValueError, match="fftshift: axis 2"):
            xp.fft.fftshift(xp.zeros((2, 2)), axes=2)
        with pytest.raises(TypeError, match=r"ifftshift.*int64"):
            xp.fft.ifftshift(xp.asarray([1, 2]))


class TestUlpDistance:
    @pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
    def test_steps(self, dtype):
        one = np.asarray(1.0, dtype)
        ten = one
        for _ in range(10):
            ten = np.nextafter(ten, np.asarray(2.0, dtype))
        assert ulp_distance(one, ten) == ulp_distance(ten, one) == 10.0
        assert ulp_distance(one, one) == 0.0
        tiny = np.nextafter(np.asarray(0.0, dtype), one)
        assert ulp_distance(tiny, -tiny) == 2.0
        assert ulp_distance(np.asarray(-0.0, dtype), np.asarray(0.0, dtype)) == 0.0
        assert ulp_distance(np.finfo(dtype).max, np.asarray(np.inf, dtype)) == 1.0

    @pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "c16"])
    def test_byte_orders(self, dtype):
        a = np.asarray([1.0, 2.0], dtype)
        b = a + np.spacing(a.real)
        for left in "<>":
            for right in "<>":
                found = ulp_distance(a.astype(left + dtype), b.astype(right + dtype))
                assert found.tolist() == [1.0, 1.0]
        assert isinstance(ulp_distance(a[0], b[0]), np.ndarray)

    @pytest.mark.parametrize("dtype", [np.longdouble, np.clongdouble])
    def test_wider_dtypes_are_refused(self, dtype):
        with pytest.raises(TypeError, match="ulp_distance: no integer type holds the bits"):
            ulp_distance(dtype(1), dtype(1))

    def test_the_longest_way(self):
        assert ulp_distance(np.float32(-np.inf), np.float32(np.inf)) == 2.0 * 0x7F800000
        found = ulp_distance(np.float64(-np.inf), np.float64(np.inf))
        assert found == 2.0 * 0x7FF0000000000000

    def test_nan(self):
        a = np.asarray([np.nan, np.nan, 1.0])
        b = np.asarray([np.nan, 1.0, -np.nan])
        assert ulp_distance(a, b).tolist() == [0.0, INF, INF]

    def test_complex(self):
        a = xp.asarray([1 + 1j, 2 - 3j], dtype=xp.complex64)
        b = np.asarray(a).copy()
        b.imag[1] = np.nextafter(np.float32(-3), np.float32(0))
        assert ulp_distance(a, b).tolist() == [0.0, 1.0]
        assert ulp_distance(a[0], xp.asarray(a)).shape == (2,)

    def test_other_shapes(self):
        message = r"ulp_distance: the shapes \(3,\) and \(4,\) do not broadcast together"
        with pytest.raises(ValueError, match=message):
            ulp_distance(xp.ones(3), xp.ones(4))

    def test_our_arrays_in_any_layout(self):
        x = xp.reshape(xp.arange(6, dtype=xp.float64), (2, 3))
        assert ulp_distance(x.T, np.asarray(x).T).tolist() == [[0.0] * 2] * 3
        assert ulp_distance(x, x[:1, :]).shape == (2, 3)
        assert ulp_distance(x[:0, :], x[:0, :]).shape == (0, 3)
        assert ulp_distance(xp.asarray(1.0), xp.asarray(1.0)).shape == ()

    def test_bfloat16(self):
        ml_dtypes = pytest.importorskip("ml_dtypes")
        a = np.asarray([1.0, 256.0], ml_dtypes.bfloat16)
        b = np.asarray([1.0078125, 258.0], ml_dtypes.bfloat16)
        assert ulp_distance(a, b).tolist() == [1.0, 1.0]

    @pytest.mark.parametrize(
        ("a", "b"),
        [
            (np.float32(1), np.float64(1)),
            (np.float64(1), np.complex128(1)),
            (np.int64(1), np.int64(1)),
            (np.longdouble(1), np.longdouble(1)),
        ],
    )
    def test_errors(self, a, b):
        with pytest.raises(TypeError, match="ulp_distance"):
            ulp_distance(a, b)
        with pytest.raises(ValueError):
            ulp_distance(np.zeros(2), np.zeros(3))
