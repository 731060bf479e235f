"""What consumers write that the standard leaves open: NumPy's answers in relaxed mode only."""

import numpy as np
import pytest

import ascend_array_api as xp
from ascend_array_api import runtime


@pytest.mark.parametrize(
    "scalars",
    [(True,), (1,), (1.5,), (2j,), (True, 1), (1, 1.5), (1.5, 1), (1, 2j), (False, 1.0, 1j)],
)
def test_result_type_of_scalars_alone(scalars):
    assert xp.result_type(*scalars) == np.result_type(*scalars)
    with runtime.strict(True), pytest.raises(ValueError, match="or relax with"):
        xp.result_type(*scalars)


def test_result_type_of_nothing():
    with pytest.raises(ValueError, match="at least one"):
        xp.result_type()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint64", "int64"])
@pytest.mark.parametrize("ends", [(0, 10), (0.5, 7.25), (9, 2)])
@pytest.mark.parametrize("endpoint", [True, False])
def test_linspace_of_integers_rounds_down(same, dtype, ends, endpoint):
    wanted = np.linspace(*ends, 7, dtype=dtype, endpoint=endpoint)
    same(xp.linspace(*ends, 7, dtype=getattr(xp, dtype), endpoint=endpoint), wanted)


def test_linspace_rounds_negative_values_down():
    assert np.asarray(xp.linspace(-3, 3, 5, dtype=xp.int16)).tolist() == [-3, -2, 0, 1, 3]


def test_linspace_refuses_bool_and_in_strict_mode_integers():
    with pytest.raises(TypeError, match="linspace: dtype bool"):
        xp.linspace(0, 1, 2, dtype=xp.bool)
    with runtime.strict(True), pytest.raises(TypeError, match="linspace: dtype int8"):
        xp.linspace(0, 1, 2, dtype=xp.int8)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("arguments", [(4,), (-1, 3), (0.5, 3), (5, 0, -2)])
def test_arange_of_complex(same, dtype, arguments):
    same(
        xp.arange(*arguments, dtype=getattr(xp, dtype)), np.arange(*arguments).astype(dtype), rtol=0
    )
    with runtime.strict(True), pytest.raises(TypeError, match=f"arange: dtype {dtype}.*relax"):
        xp.arange(*arguments, dtype=getattr(xp, dtype))


@pytest.mark.parametrize("value", [True, False, 0, -2, 0.0, 0.5, 1j])
@pytest.mark.parametrize("shape", [(1,), (1, 1)])
def test_truth_of_one_element(value, shape):
    x = xp.full(shape, value)
    assert bool(x) is bool(value)
    with runtime.strict(True), pytest.raises(TypeError, match="use any or all, or relax with"):
        bool(x)


def test_truth_of_one_element_of_a_view():
    x = xp.asarray([True, False, True, False])
    assert [bool(x[i : i + 1]) for i in range(4)] == [True, False, True, False]


@pytest.mark.parametrize("shape", [(0,), (2,), (1, 3)])
def test_truth_of_other_shapes(shape):
    with pytest.raises(TypeError, match=r"use any or all$"):
        bool(xp.zeros(shape))


@pytest.mark.parametrize("move", [lambda x: xp.sum(x, axis=3), lambda x: xp.moveaxis(x, 3, 0)])
def test_axis_errors_read_as_consumers_expect(move):
    with pytest.raises(np.exceptions.AxisError, match="axis 3 is out of bounds for array of dim"):
        move(xp.zeros((2, 2)))


@pytest.mark.parametrize(
    "combine",
    [
        lambda x, y: x + y,
        lambda x, y: xp.broadcast_arrays(x, y),
        lambda x, y: xp.matmul(x[..., None, :], xp.zeros((3, 4, 1))),
    ],
)
def test_shape_errors_read_as_consumers_expect(combine):
    with pytest.raises(ValueError, match="could not be broadcast together"):
        combine(xp.zeros((2, 4)), xp.zeros((3, 4)))


@pytest.mark.parametrize("x", [[1, 2, 4], [1.0, 2.0, 4.5], [True, False, True]])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_mean_in_another_dtype(same, x, dtype):
    same(xp.mean(xp.asarray(x), dtype=getattr(xp, dtype)), np.mean(x, dtype=dtype), rtol=1e-7)


def test_mean_in_another_dtype_is_refused_in_strict_mode():
    with runtime.strict(True), pytest.raises(TypeError, match=r"mean: dtype .* or relax with"):
        xp.mean(xp.ones(3), dtype=xp.float64)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("index", [0, 2, -1])
def test_take_of_one_index_takes_the_axis_away(table, same, axis, index):
    values, x = table
    same(xp.take(x, index, axis=axis), np.take(values, index, axis=axis), rtol=0)
    with runtime.strict(True), pytest.raises(TypeError, match="take: indices"):
        xp.take(x, index, axis=axis)


def test_take_of_one_index_of_a_vector(same):
    same(xp.take(xp.arange(5), 3), np.take(np.arange(5), 3), rtol=0)
    with pytest.raises(IndexError, match="take"):
        xp.take(xp.arange(5), 5)
