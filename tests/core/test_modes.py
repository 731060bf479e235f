"""Strict mode refuses what the standard leaves undefined; relaxed mode does what NumPy 2 does."""

import contextvars
import itertools
import operator
import threading

import numpy as np
import pytest

import ascend_array_api as xp
from ascend_array_api import runtime

KINDS = {
    "bool": ["bool"],
    "int": ["int8", "uint64", "int64"],
    "float": ["float32", "float64"],
    "complex": ["complex64"],
}
MIXED = [
    (a, b)
    for (ka, da), (kb, db) in itertools.permutations(KINDS.items(), 2)
    for a in da
    for b in db
    if {ka, kb} != {"float", "complex"}
] + [("uint64", "int8"), ("int64", "uint64")]


def make(dtype):
    return xp.asarray(np.array([1, 0, 1]).astype(dtype))


@pytest.mark.parametrize(("a", "b"), MIXED)
def test_mixed_kinds(a, b, check):
    x, y = make(a), make(b)
    for f in (operator.add, xp.multiply, xp.maximum if "complex" not in a + b else xp.subtract):
        if f is xp.subtract and "bool" in (a, b) and "complex" not in a + b:
            continue
        with pytest.raises(TypeError) as e:
            f(x, y)
        text = str(e.value)
        assert a in text
        assert b in text
        assert "strict" in text  # how to relax
    with pytest.raises(TypeError):
        xp.result_type(x, y)
    with pytest.raises(TypeError):
        xp.concat([x, y])
    with pytest.raises(TypeError):
        xp.where(xp.asarray([True, False, True]), x, y)
    with runtime.strict(False):
        p, q = np.array([1, 0, 1]).astype(a), np.array([1, 0, 1]).astype(b)
        check(x + y, p + q)
        check(xp.concat([x, y]), np.concatenate([p, q]))
        assert xp.result_type(x, y) == np.result_type(p, q)


SCALARS = [
    ("bool", 1),
    ("bool", 1.5),
    ("int64", 1.5),
    ("int8", 1j),
    ("int64", True),
    ("float64", True),
    ("complex64", False),
]


@pytest.mark.parametrize(("dtype", "scalar"), SCALARS)
def test_scalars_of_another_kind(dtype, scalar):
    x = make(dtype)
    for call in (lambda: x + scalar, lambda: scalar * x, lambda: xp.equal(x, scalar)):
        with pytest.raises(TypeError) as e:
            call()
        assert dtype in str(e.value)


@pytest.mark.parametrize(
    ("dtype", "scalar"),
    [("int8", 128), ("int8", -129), ("uint8", -1), ("int64", 2**63), ("uint64", 2**64)],
)
def test_scalars_out_of_range(dtype, scalar):
    x = make(dtype)
    for call in (
        lambda: x + scalar,
        lambda: scalar - x,
        lambda: xp.full(2, scalar, dtype=getattr(xp, dtype)),
    ):
        with pytest.raises(OverflowError, match=dtype):
            call()


CATEGORIES = [
    ("sin", "int64"),
    ("sqrt", "bool"),
    ("add", "bool"),
    ("bitwise_and", "float32"),
    ("logical_and", "int8"),
    ("logical_not", "float64"),
    ("floor_divide", "complex64"),
    ("less", "complex128"),
    ("sum", "bool"),
    ("mean", "int64"),
    ("max", "complex64"),
    ("isnan", "bool"),
    ("bitwise_left_shift", "bool"),
    ("divide", "int32"),
    ("atan2", "int8"),
    ("sign", "bool"),
    ("sort", "complex64"),
    ("argmax", "complex64"),
    ("cumulative_sum", "bool"),
    ("prod", "bool"),
    ("var", "int16"),
    ("imag", "float64"),
    ("floor", "complex64"),
]
TWO = {
    "add",
    "bitwise_and",
    "logical_and",
    "floor_divide",
    "less",
    "bitwise_left_shift",
    "divide",
    "atan2",
}


@pytest.mark.parametrize(("name", "dtype"), CATEGORIES)
def test_wrong_categories(name, dtype):
    x = make(dtype)
    f = getattr(xp, name)
    with pytest.raises(TypeError) as e:
        f(x, x) if name in TWO else f(x)
    assert name in str(e.value)
    assert dtype in str(e.value)


def test_relaxed_mode_accepts_integers_for_floats(relaxed, check):
    i = xp.asarray([1, 4, 9])
    check(i / 2, np.array([0.5, 2.0, 4.5]))
    check(xp.sqrt(i), np.array([1.0, 2.0, 3.0]))
    check(xp.mean(i), np.asarray(14 / 3))
    check(i + 0.5, np.array([1.5, 4.5, 9.5]))
    check(i + xp.asarray([True, False, True]), np.array([2, 4, 10]))
    check(xp.sum(xp.asarray([True, True])), np.asarray(2))


def test_relaxed_mode_accepts_numpy_indices(relaxed, check):
    x = xp.arange(5)
    check(x[np.array([0, 4])], np.array([0, 4]))
    check(x[np.array([True, False, True, False, False])], np.array([0, 2]))
    x[np.array([1])] = 9
    check(x, np.array([0, 9, 2, 3, 4]))


def test_relaxed_mode_accepts_names_as_dtypes(relaxed, check):
    check(xp.zeros(2, dtype="float32"), np.zeros(2, np.float32))
    check(xp.astype(xp.zeros(2), int), np.zeros(2, np.int64))


@pytest.mark.parametrize("dtype", ["float64", "f8", int, float, bool, complex, "bool"])
def test_strict_mode_wants_dtype_objects(dtype):
    with pytest.raises(TypeError):
        xp.zeros(2, dtype=dtype)


def test_byte_swapped_dtypes_are_refused():
    for dtype in (np.dtype(">f8"), np.dtype(">i2")):
        with pytest.raises(TypeError):
            xp.zeros(2, dtype=dtype)
        with runtime.strict(False), pytest.raises(TypeError):
            xp.zeros(2, dtype=dtype)


def test_equivalent_dtype_objects_are_the_same():
    for d in (np.dtype("longlong"), np.dtype("int64"), np.dtype("q"), np.dtype("l")):
        assert xp.zeros(2, dtype=d).dtype == xp.int64
        assert (xp.zeros(2, dtype=d) + xp.zeros(2, dtype=xp.int64)).dtype == xp.int64


def test_in_both_modes(check):
    for mode in (True, False):
        with runtime.strict(mode):
            x = xp.asarray([1.0, 2.0])
            check(x + np.float64(1), np.array([2.0, 3.0]))
            check(xp.full_like(x, xp.asarray(3.0)), np.array([3.0, 3.0]))
            check(xp.full(2, xp.asarray(3.0)), np.array([3.0, 3.0]))
            m = xp.reshape(xp.arange(6.0), (2, 3))
            check(m[..., xp.asarray([True, False, True])], np.array([[0, 2.0], [3, 5]]))
            check(m[:, xp.asarray([2, 0])], np.array([[2, 0.0], [5, 3]]))
            assert len(m) == 2
            assert len(list(m)) == 2
            with pytest.raises(TypeError):
                x + np.array([1.0, 2.0])
            with pytest.raises(TypeError):
                x == np.array([1.0, 2.0])


def test_mode_is_a_context_variable():
    assert runtime.get_strict() is True
    with runtime.strict(False):
        assert runtime.get_strict() is False
        with runtime.strict(True):
            assert runtime.get_strict() is True
        assert runtime.get_strict() is False
        seen = []
        t = threading.Thread(target=lambda: seen.append(runtime.get_strict()))
        t.start()
        t.join()
        assert seen == [True]
        assert contextvars.copy_context().run(runtime.get_strict) is False
    assert runtime.get_strict() is True
    try:
        runtime.set_strict(False)
        assert runtime.get_strict() is False
        assert float(xp.asarray(1) + 0.5) == 1.5
    finally:
        runtime.set_strict(True)


def test_mode_is_restored_after_an_error():
    with pytest.raises(ZeroDivisionError), runtime.strict(False):
        1 / 0
    assert runtime.get_strict() is True


def test_in_place_operators_keep_the_dtype():
    for dtype, other in (
        ("int64", 0.5),
        ("float32", 1j),
        ("int8", xp.asarray([1, 1, 1], dtype=xp.int16)),
        ("float32", xp.asarray([1.0] * 3)),
    ):
        x = make(dtype)
        with pytest.raises(TypeError):
            x += other
        assert x.dtype == getattr(xp, dtype)
    with runtime.strict(False):
        x = make("int64")
        with pytest.raises(TypeError):
            x += 0.5
    x = make("float64")
    x += make("float32")
    assert x.dtype == xp.float64
    with pytest.raises(ValueError):
        x += xp.zeros((2, 3))
    with pytest.raises(TypeError):
        x /= np.array([1.0, 1.0, 1.0])
