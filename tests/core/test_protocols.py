"""What Python and other libraries ask of an array object."""

import copy
import operator
import pickle
import weakref

import numpy as np
import pytest

import ascend_array_api as xp
from ascend_array_api import runtime

DTYPES = """bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64
complex128""".split()


def data(dtype, shape=(5, 7)):
    n = int(np.prod(shape))
    return (np.arange(n) % 3 == 0 if dtype == "bool" else np.arange(n)).astype(dtype).reshape(shape)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("key", [np.s_[...], np.s_[::-1, 1::2], np.s_[2], np.s_[1, 1], np.s_[:0]])
def test_pickle_and_copies(dtype, key, check):
    a = data(dtype)
    x = xp.asarray(a)[key]
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        check(pickle.loads(pickle.dumps(x, protocol)), a[key])
    for make in (copy.copy, copy.deepcopy):
        y = make(x)
        check(y, a[key])
        y[...] = True if dtype == "bool" else 1
        check(x, a[key])


def test_pickle_holds_the_elements_of_the_view_only():
    x = xp.zeros(1_000_000)
    assert len(pickle.dumps(x[:10])) < 1000
    assert len(pickle.dumps(xp.zeros(8_000_000, dtype=xp.bool))) < 1_010_000


def test_pickles_that_lie_are_refused():
    good = xp.asarray([1.0, 2.0, 3.0])
    reduced = good.__reduce_ex__(4)
    f, args = reduced[0], reduced[1]
    assert np.array_equal(np.array(f(*args), copy=True), [1, 2, 3])
    junk = [None, -1, 2**70, "x", b"", (), (2**62,), (-1,), 1.5, [1], object()]
    for at in range(len(args)):
        for value in junk:
            changed = tuple(value if i == at else a for i, a in enumerate(args))
            try:
                out = f(*changed)
            except (
                TypeError,
                ValueError,
                OverflowError,
                MemoryError,
                RuntimeError,
                pickle.UnpicklingError,
            ):
                continue
            assert isinstance(out, runtime.Array)  # harmless: that argument may be free


def test_length_and_iteration(check):
    x = xp.reshape(xp.arange(6), (3, 2))
    assert len(x) == 3
    rows = list(x)
    assert len(rows) == 3
    check(rows[1], np.array([2, 3]))
    rows[1][0] = 99
    assert int(x[1, 0]) == 99
    assert [int(v) for v in xp.arange(3)] == [0, 1, 2]
    assert list(xp.zeros((0, 3))) == []
    for call in (len, iter, list):
        with pytest.raises(TypeError):
            call(xp.asarray(1.0))
    a, b = xp.asarray([1, 2])
    assert (int(a), int(b)) == (1, 2)


def test_membership():
    assert xp.asarray(2) in [xp.asarray(2)]


def test_format():
    assert f"{xp.asarray(1.25):.1f}" == "1.2"
    assert f"{xp.asarray(255):x}" == "ff"
    assert f"{xp.asarray(3)}" == "3"
    assert f"{xp.asarray(1.5 + 2j):.1f}" == "1.5+2.0j"
    assert f"{xp.asarray([1, 2])}" == str(xp.asarray([1, 2]))
    with pytest.raises(TypeError):
        f"{xp.asarray([1.0, 2.0]):.1f}"


def test_repr():
    assert "float64" in repr(xp.zeros(2))
    assert "cpu" in repr(xp.zeros(2))
    for dtype in DTYPES:
        for shape in ((), (0,), (3, 0), (2, 2), (1,) * 9, (100, 100), (5000,)):
            text = repr(xp.asarray(np.zeros(shape, dtype)))
            assert dtype in text
            assert len(text) < 4000
    assert "nan" in repr(xp.asarray([xp.nan, -xp.inf]))


def test_unhashable():
    with pytest.raises(TypeError, match="hash"):
        hash(xp.zeros(1))
    with pytest.raises(TypeError):
        {xp.zeros(1): 1}


def test_weak_references():
    x = xp.zeros(3)
    r = weakref.ref(x)
    assert r() is x
    del x
    assert r() is None


def test_attributes_are_read_only():
    x = xp.zeros((2, 2))
    for name in ("shape", "dtype", "ndim", "size", "T", "mT", "device"):
        with pytest.raises((AttributeError, TypeError)):
            setattr(x, name, None)
    with pytest.raises(AttributeError):
        x.something = 1


def test_not_subclassable_and_not_constructible():
    with pytest.raises(TypeError):

        class Sub(runtime.Array):
            pass

    with pytest.raises(TypeError):
        runtime.Array()
    with pytest.raises(TypeError):
        runtime.Array.__new__(runtime.Array)
    with pytest.raises(TypeError):
        object.__new__(runtime.Array)


def test_none_is_never_equal():
    x = xp.zeros(3)
    assert (x == None) is False  # noqa: E711
    assert (x != None) is True  # noqa: E711
    assert (None == x) is False  # noqa: E711


def test_numpy_leaves_operators_to_us(check):
    x = xp.asarray([1.0, 2.0])
    assert runtime.Array.__array_ufunc__ is None
    check(np.float64(2) * x, np.array([2.0, 4.0]))
    check(x + np.float64(1), np.array([2.0, 3.0]))
    check(np.float32(1) - x, np.array([0.0, -1.0]))
    check(x > np.float64(1.5), np.array([False, True]))
    check(np.int64(2) * xp.asarray([1, 2], dtype=xp.int8), np.array([2, 4], np.int8))


BINARY = "add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift".split()
COMPARE = "eq ne lt le gt ge".split()


@pytest.mark.parametrize("name", BINARY + COMPARE)
def test_ndarray_operands_are_refused(name):
    f = getattr(operator, name)
    x = (
        xp.asarray([1, 2])
        if name in ("and_", "or_", "xor", "lshift", "rshift")
        else xp.asarray([1.0, 2.0])
    )
    a = (
        np.array([1, 2])
        if name in ("and_", "or_", "xor", "lshift", "rshift")
        else np.array([1.0, 2.0])
    )
    for args in ((x, a), (a, x)):
        with pytest.raises(TypeError, match=r"ndarray|numpy|NumPy"):
            f(*args)


class Foreign:
    """A type that knows how to deal with our arrays."""

    def __getattr__(self, name):
        raise AttributeError(name)

    def answer(self, other):
        return "foreign"


for _name in "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split():
    setattr(Foreign, f"__r{_name}__", Foreign.answer)
for _name in COMPARE:
    setattr(Foreign, f"__{_name}__", Foreign.answer)
Foreign.__hash__ = None


@pytest.mark.parametrize("name", BINARY + COMPARE)
def test_other_types_may_answer(name):
    x = xp.asarray([1, 2])
    assert getattr(operator, name)(x, Foreign()) == "foreign"


@pytest.mark.parametrize("name", [*BINARY, "lt", "le", "gt", "ge"])
@pytest.mark.parametrize("other", ["text", None, [1, 2], object(), {}])
def test_types_without_an_answer_are_type_errors(name, other):
    with pytest.raises(TypeError):
        getattr(operator, name)(xp.asarray([1, 2]), other)
    if (name, other) != ("mod", "text"):  # that is string formatting
        with pytest.raises(TypeError):
            getattr(operator, name)(other, xp.asarray([1, 2]))


def test_equality_with_foreign_objects():
    x = xp.asarray([1, 2])
    for other in ("text", object(), [1, 2], {}):
        assert (x == other) is False
        assert (x != other) is True


def test_namespace_of_an_array():
    x = xp.zeros(1)
    assert x.__array_namespace__() is xp
    for version in ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12", None):
        assert x.__array_namespace__(api_version=version) is xp
    for version in ("2020.01", "nonsense", ""):
        with pytest.raises(ValueError):
            x.__array_namespace__(api_version=version)


def test_conversion_to_python(check):
    assert float(xp.asarray(1.5)) == 1.5
    assert int(xp.asarray(-7.9)) == -7
    assert complex(xp.asarray(1 + 2j)) == 1 + 2j
    assert bool(xp.asarray(float("nan"))) is True
    assert operator.index(xp.asarray(5, dtype=xp.uint8)) == 5
    assert int(xp.asarray(2**63, dtype=xp.uint64)) == 2**63
    assert [10, 20, 30][xp.asarray(1)] == 20
    for call in (float, int, complex, bool, operator.index):
        with pytest.raises(TypeError):
            call(xp.zeros(2, dtype=xp.int64))
    for call in (float, int, operator.index):
        with pytest.raises(TypeError):
            call(xp.asarray(1j))
    with pytest.raises(TypeError):
        operator.index(xp.asarray(1.0))
    with pytest.raises(OverflowError):
        int(xp.asarray(xp.inf))
    with pytest.raises(ValueError):
        int(xp.asarray(xp.nan))


def test_devices():
    x = xp.zeros(2)
    assert x.device == "cpu"
    assert hash(x.device) == hash("cpu")
    assert pickle.loads(pickle.dumps(x.device)) == x.device
    assert x.to_device("cpu").device == x.device
    assert xp.zeros(2, device=x.device).device == x.device
    for bad in ("tpu", "npu:0", "", 3, None):
        if bad is None:
            continue
        with pytest.raises((ValueError, TypeError)):
            xp.zeros(2, device=bad)
        with pytest.raises((ValueError, TypeError)):
            x.to_device(bad)
