"""Hostile input: a clear error or a right result, never a crash, a hang or a swallowed interrupt.

Deliberate cases first; a quick form of a random search last (test_no_crash.py throws more).
"""

import contextlib
import ctypes
import inspect
import pickle
import random

import numpy as np
import pytest

import ascend_array_api as xp
from ascend_array_api import runtime

X = xp.reshape(xp.arange(6.0), (2, 3))
V = xp.arange(4.0)
I = xp.arange(4)  # noqa: E741


class Stop(BaseException):
    """Like KeyboardInterrupt: nobody may swallow it."""


class Boom(Exception):
    pass


def raising(error, *methods):
    """Return an object whose methods raise."""

    def method(self, *args, **kwargs):
        raise error

    return type("Raising", (), dict.fromkeys(methods, method))()


#: what Python asks of an argument, and a call that asks it
ASKED = {
    "shape": (("__index__",), lambda o: xp.zeros(o)),
    "shape item": (("__index__",), lambda o: xp.zeros((2, o))),
    "shape length": (("__len__", "__getitem__"), lambda o: xp.zeros(o)),
    "axis": (("__index__",), lambda o: xp.sum(X, axis=o)),
    "axis in Python": (("__index__",), lambda o: xp.unstack(X, axis=o)),
    "key": (("__index__",), lambda o: X[o]),
    "key in a tuple": (("__index__",), lambda o: X[0, o]),
    "slice": (("__index__",), lambda o: X[o:]),
    "setitem key": (("__index__",), lambda o: X.__setitem__(o, 1.0)),
    "correction": (("__float__",), lambda o: xp.var(X, correction=o)),
    "array": (("__array__",), lambda o: xp.asarray(o)),
    "dlpack": (("__dlpack__", "__dlpack_device__"), lambda o: xp.from_dlpack(o)),
    "dlpack of asarray": (("__dlpack__", "__dlpack_device__"), lambda o: xp.asarray(o)),
    "sequence": (("__len__", "__getitem__"), lambda o: xp.asarray(o)),
    "nested sequence": (("__len__", "__getitem__"), lambda o: xp.asarray([o])),
    "any attribute": (("__getattr__",), lambda o: xp.asarray(o)),
    "any attribute of dlpack": (("__getattr__",), lambda o: xp.from_dlpack(o)),
    "repr": (("__repr__",), lambda o: xp.zeros(2, dtype=o)),
    "repr of a device": (("__repr__",), lambda o: xp.zeros(2, device=o)),
    "pickle": (("__index__",), lambda o: pickle.dumps(V, protocol=o)),
}


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("error", [Stop, KeyboardInterrupt, SystemExit, Boom])
def test_errors_of_arguments_are_not_swallowed(name, error):
    methods, call = ASKED[name]
    with pytest.raises(error):
        call(raising(error, *methods))


def test_names_that_refuse_to_be_compared():
    class Name(str):
        __hash__ = str.__hash__

        def __eq__(self, other):
            raise Boom

    for call in (
        lambda: xp.zeros(2, device=Name("cpu")),
        lambda: X.to_device(Name("cpu")),
        lambda: xp.searchsorted(V, V, side=Name("left")),
        lambda: xp.linalg.qr(X, mode=Name("reduced")),
        lambda: xp.meshgrid(V, indexing=Name("xy")),
        lambda: xp.isdtype(xp.int8, Name("bool")),
    ):
        with contextlib.suppress(Boom):  # or looked at as plain text, as it is
            call()


class Int(int):
    def __index__(self):
        raise Boom


class Float(float):
    def __float__(self):
        raise Boom


def test_subclasses_of_numbers_are_what_they_hold(check):
    check(xp.zeros(Int(2)), np.zeros(2))
    check(X[Int(1)], np.asarray([3.0, 4.0, 5.0]))
    check(xp.sum(X, axis=Int(0)), np.asarray([3.0, 5.0, 7.0]))
    check(V + Float(1.5), np.arange(4.0) + 1.5)
    check(xp.asarray([Int(2), Float(0.5)]), np.asarray([2.0, 0.5]))


class Endless:
    """A sequence that never stops, however long it says it is."""

    def __init__(self, length):
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, i):
        return 1


def test_sequences_end_where_they_say(check):
    check(xp.asarray(Endless(3)), np.asarray([1, 1, 1]))
    assert xp.zeros(Endless(3)).shape == (1, 1, 1)
    for call in (
        lambda: xp.asarray(Endless(2**62)),
        lambda: xp.zeros(Endless(2**62)),
        lambda: xp.asarray(range(2**62)),
    ):
        with pytest.raises(MemoryError):
            call()
    for length in (-1, 2**70):
        with pytest.raises((ValueError, OverflowError)):
            xp.asarray(Endless(length))


def test_keys_that_change_what_they_index(check):
    x = xp.arange(10.0)
    key = []

    class Emptying:
        def __index__(self):
            key.clear()
            x[:] = 0.0
            return 1

    key.append(Emptying())
    check(x[Emptying()], np.asarray(0.0))
    x = xp.arange(10.0)
    items = [0.0, Emptying()]
    with pytest.raises(TypeError):
        xp.asarray(items)


NESTED = []
NESTED.append(NESTED)
DEEP = 1.0
for _ in range(10_000):
    DEEP = [DEEP]


@pytest.mark.parametrize("obj", [NESTED, [1, NESTED], DEEP, (DEEP,)])
def test_depth_is_limited(obj):
    with pytest.raises(ValueError, match=r"asarray: .*(64 levels|ragged)"):
        xp.asarray(obj)


BAD_DTYPES = [
    np.dtype(">f8"),
    np.dtype("M8[s]"),
    np.dtype("S3"),
    np.dtype("V3"),
    np.dtype("O"),
    np.dtype("f8,i4"),
    np.dtype(("f8", (2,))),
    np.dtype("g"),
    np.dtype("G"),
    None.__class__,
    3,
    1.5,
    object(),
    [],
    xp,
    X,
]


@pytest.mark.parametrize("dtype", BAD_DTYPES, ids=range(len(BAD_DTYPES)))
@pytest.mark.parametrize("strict", [True, False])
def test_objects_that_are_no_dtype_of_ours(dtype, strict):
    with runtime.strict(strict):
        for name, call in {
            "zeros": lambda: xp.zeros(2, dtype=dtype),
            "astype": lambda: xp.astype(X, dtype),
            "sum": lambda: xp.sum(X, dtype=dtype),
            "asarray": lambda: xp.asarray([1], dtype=dtype),
            "iinfo": lambda: xp.iinfo(dtype),
            "can_cast": lambda: xp.can_cast(xp.int8, dtype),
        }.items():
            if name == "iinfo" and dtype is X:
                continue
            with pytest.raises(TypeError, match=name):
                call()


def test_dtypes_with_metadata_are_what_they_are():
    dtype = np.dtype("f8", metadata={"unit": "m"})
    assert xp.zeros(2, dtype=dtype).dtype is xp.float64
    assert xp.asarray(np.zeros(2, dtype)).dtype is xp.float64


# ---------------------------------------------------------------- memory


def test_views_that_reach_far():
    tiny = np.zeros(1)
    huge = np.lib.stride_tricks.as_strided(tiny, (2**30, 2**20), (0, 0))
    assert xp.asarray(huge, copy=False).shape == huge.shape
    with pytest.raises(MemoryError, match="asarray"):
        xp.asarray(huge)
    with pytest.raises(MemoryError):
        xp.asarray(huge, copy=False) + 1.0
    empty = np.lib.stride_tricks.as_strided(np.zeros(0), (0, 2**40), (2**40, -(2**40)))
    assert xp.asarray(empty).shape == (0, 2**40)


class Tensor(ctypes.Structure):
    """DLTensor and DLManagedTensor of DLPack 0.x."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    )


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
MEMORY = np.arange(64.0)


PRODUCERS = []  # they outlive what is made of their memory


class Producer:
    """Exports MEMORY, or what the fields say instead."""

    def __init__(self, shape, strides, /, **fields):
        PRODUCERS.append(self)
        self.shape = (ctypes.c_int64 * len(shape))(*shape)
        self.strides = None if strides is None else (ctypes.c_int64 * len(strides))(*strides)
        self.tensor = Tensor(
            MEMORY.ctypes.data, 1, 0, len(shape), 2, 64, 1, self.shape, self.strides, 0
        )
        for name, value in fields.items():
            setattr(self.tensor, name, value)

    def __dlpack_device__(self):
        return (self.tensor.device_type, self.tensor.device_id)

    def __dlpack__(self, **kwargs):
        return new_capsule(ctypes.addressof(self.tensor), b"dltensor", None)


REACH = 2**62
HOSTILE = {
    "device": Producer((2,), None, device_type=2),
    "dimensions": Producer((2,), None, ndim=-1),
    "many dimensions": Producer((2,), None, ndim=65),
    "no shape": Producer((2,), None, shape=None),
    "no data": Producer((2,), None, data=None),
    "negative extent": Producer((-2,), None),
    "huge shape": Producer((2**40, 2**40), None),
    "strides that overflow": Producer((3,), (REACH,)),
    "strides whose sum overflows": Producer((2, 2, 2, 2), (REACH, REACH, REACH, REACH)),
    "strides that reach far down": Producer((3,), (-REACH,)),
    "offset beyond all memory": Producer((2,), None, byte_offset=REACH),
    "code": Producer((2,), None, code=77),
    "bits": Producer((2,), None, bits=63),
    "lanes": Producer((2,), None, lanes=4),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("copy", [None, True, False])
def test_tensors_that_cannot_be(name, copy):
    with pytest.raises(BufferError, match="from_dlpack"):
        xp.from_dlpack(HOSTILE[name], copy=copy)


@pytest.mark.parametrize("copy", [None, True, False])
def test_tensors_of_every_layout(copy, check):
    m = MEMORY[:6].reshape(2, 3)
    check(xp.from_dlpack(Producer((2, 3), None), copy=copy), m)
    check(xp.from_dlpack(Producer((2, 3), (-3, -1), byte_offset=40), copy=copy), m[::-1, ::-1])
    check(xp.from_dlpack(Producer((3, 2), (1, 3)), copy=copy), m.T)
    check(xp.from_dlpack(Producer((0, 3), (REACH, REACH), data=None), copy=copy), m[:0])
    wide = xp.from_dlpack(Producer((2**20, 2**20), (0, 0)), copy=None if copy else copy)
    assert float(wide[-1, -1]) == 0.0


def test_unaligned_tensors_are_copied():
    odd = Producer((2,), None, byte_offset=3)
    raw = MEMORY.view(np.uint8)[3:19].copy().view(np.float64)
    np.testing.assert_array_equal(np.asarray(xp.from_dlpack(odd)), raw)
    with pytest.raises(BufferError, match="from_dlpack"):
        xp.from_dlpack(odd, copy=False)


# ---------------------------------------------------------------- pickles


def test_pickles_that_lie():
    rebuild, good = V.__reduce_ex__(4)
    version, dtype, _, device, data = good
    for bad, error in {
        (version + 1, dtype, (4,), device, data): ValueError,
        (version, "float65", (4,), device, data): ValueError,
        (version, ">f8", (4,), device, data): ValueError,
        (version, dtype, (5,), device, data): ValueError,
        (version, dtype, (-4,), device, data): ValueError,
        (version, dtype, (2, -2), device, data): ValueError,
        (version, dtype, (2**62, 2**62), device, data): ValueError,
        (version, dtype, (1,) * 63 + (4, 1), device, data): ValueError,
        (version, dtype, (4.0,), device, data): ValueError,
        (version, dtype, (True, 4), device, data): ValueError,
        (version, dtype, 4, device, data): ValueError,
        (version, dtype, (4,), "npu:0", data): ValueError,
        (version, dtype, (4,), 7, data): TypeError,
        (version, dtype, (4,), device, data[:-1]): ValueError,
        (version, dtype, (4,), device, "text"): TypeError,
        (version, None, (4,), device, data): ValueError,
        (None, dtype, (4,), device, data): ValueError,
    }.items():
        with pytest.raises(error, match="unpickling an array"):
            rebuild(*bad)


def test_a_pickle_from_a_missing_device_tells_the_way_out():
    rebuild, (version, dtype, shape, _, data) = V.__reduce_ex__(4)
    with pytest.raises(ValueError, match=r"npu:0.*to_device\('cpu'\)"):
        rebuild(version, dtype, shape, "npu:0", data)


# ---------------------------------------------------------------- a random search

ODD = [
    None, ..., True, False, 0, -1, 3, 2**40, -(2**63), 2**64, 2**70, -(2**70), 1.5, -0.0,
    float("nan"), float("inf"), 1j, 1e308, 2**2000, "text", "left", "cpu", b"bytes", (), (1,),
    (0, 1), (-1,), (2, 3), (3, 2**40), (1,) * 65, (0, 0), (2**62, 2**62), [], [0], [[1, 2], [3]],
    {}, {1}, object(), NESTED, Endless(3), Int(2), Float(0.5), slice(None), slice(2**70),
    slice("a"), (slice(None), 0), (..., None), np.float32(1), np.bool_(True), np.int8(-3),
    np.uint64(2**63), np.zeros(3), np.zeros((2, 3), bool), np.array(["a"]), np.array([None]),
    np.dtype(">f8"), np.dtype("M8[s]"), xp.float32, xp.int8, xp.bool, int, runtime.Array,
    runtime.Device("cpu"), range(3), memoryview(b"abcdefgh"), bytearray(8), len, "\ud800",
    HOSTILE["lanes"], xp.zeros(0), xp.zeros((0, 3)), xp.asarray(True), xp.asarray([1j, 2]), X, V, I,
    xp.broadcast_to(xp.asarray(1.0), (3, 4)), X[::-1, ::2], xp.asarray([True, False, True]),
]  # fmt: skip
FUNCTIONS = [
    getattr(module, name)
    for module in (xp, xp.linalg, xp.fft)
    for name in dir(module)
    if inspect.isfunction(getattr(module, name))
]
ORDERLY = (TypeError, ValueError, IndexError, OverflowError, MemoryError, BufferError, Boom)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("strict", [True, False])
def test_odd_arguments(function, strict):
    """Errors are of the expected classes and name the function."""
    rng = random.Random(function.__name__)
    parameters = inspect.signature(function).parameters.values()
    orderly = (*ORDERLY, AttributeError) if function is xp.from_dlpack else ORDERLY
    unclear = []
    for _ in range(60):
        args, kwargs = [], {}
        for p in parameters:
            if p.kind is p.VAR_POSITIONAL:
                args += rng.choices(ODD, k=rng.randrange(3))
            elif p.kind is p.KEYWORD_ONLY:
                if rng.random() < 0.4:
                    kwargs[p.name] = rng.choice(ODD)
            else:
                usual = rng.random() < 0.5 and p.name in ("x", "x1", "x2", "condition")
                args.append(rng.choice([X, V, I]) if usual else rng.choice(ODD))
        try:
            with runtime.strict(strict):
                result = function(*args, **kwargs)
        except Boom:
            continue
        except orderly as error:
            unclear += [(args, kwargs, error)] * (function.__name__ not in str(error))
            continue
        for array in result if isinstance(result, tuple) else (result,):
            if isinstance(array, runtime.Array) and array.size < 1000:
                repr(array)
    assert not unclear
