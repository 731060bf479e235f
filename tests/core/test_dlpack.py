"""DLPack capsules of both kinds, both ways, and the rules of packed bool."""

import ctypes
import gc
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import ascend_array_api as xp
from ascend_array_api import runtime

DTYPES = """int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64
complex128""".split()
CPU = (1, 0)


class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class DType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", Device),
        ("ndim", ctypes.c_int32),
        ("dtype", DType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


READ_ONLY, IS_COPIED = 1, 2

_name = ctypes.pythonapi.PyCapsule_GetName
_name.restype, _name.argtypes = ctypes.c_char_p, [ctypes.py_object]
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def name(capsule):
    return _name(capsule).decode()


def versioned(capsule):
    assert name(capsule) == "dltensor_versioned"
    out = Versioned.from_address(_pointer(capsule, b"dltensor_versioned"))
    out.owner = capsule
    return out


def plain(capsule):
    assert name(capsule) == "dltensor"
    out = Tensor.from_address(_pointer(capsule, b"dltensor"))
    out.owner = capsule
    return out


class Holder:
    """A producer that hands out one prepared capsule."""

    def __init__(self, capsule, device=CPU):
        self.capsule, self.device = capsule, device

    def __dlpack__(self, **kwargs):
        return self.capsule

    def __dlpack_device__(self):
        return self.device


def data(dtype, shape=(3, 5)):
    n = int(np.prod(shape))
    return (np.arange(n) % 3 == 0 if dtype == "bool" else np.arange(n)).astype(dtype).reshape(shape)


# ---------------------------------------------------------------- capsules


def test_version_decides_the_kind_of_capsule():
    x = xp.zeros((2, 3))
    for version in (None, (0, 8), (0, 0)):
        assert name(x.__dlpack__(max_version=version)) == "dltensor"
    assert name(x.__dlpack__()) == "dltensor"
    for version in ((1, 0), (1, 1), (2, 0), (99, 7)):
        v = versioned(x.__dlpack__(max_version=version))
        assert v.major == 1


def test_fields_of_the_tensor():
    x = xp.reshape(xp.arange(30, dtype=xp.int32), (5, 6))[1:, ::2]
    whole = versioned(x.__dlpack__(max_version=(1, 0)))
    for t in (plain(x.__dlpack__()), whole.tensor):
        assert (t.device.type, t.device.id) == CPU
        assert (t.dtype.code, t.dtype.bits, t.dtype.lanes) == (0, 32, 1)
        assert t.ndim == 2
        assert [t.shape[i] for i in range(2)] == [4, 3]
        assert [t.strides[i] for i in range(2)] == [6, 2]
        first = ctypes.c_int32.from_address(t.data + t.byte_offset)
        assert first.value == 6


@pytest.mark.parametrize(
    ("dtype", "code"), [("int8", 0), ("uint16", 1), ("float64", 2), ("complex64", 5), ("bool", 6)]
)
def test_dtype_codes(dtype, code):
    x = xp.asarray(data(dtype))
    t = plain(x.__dlpack__())
    assert (t.dtype.code, t.dtype.bits) == (code, np.dtype(dtype).itemsize * 8)


def test_flags():
    x = xp.zeros(4)
    assert versioned(x.__dlpack__(max_version=(1, 0))).flags == 0
    assert versioned(x.__dlpack__(max_version=(1, 0), copy=False)).flags == 0
    assert versioned(x.__dlpack__(max_version=(1, 0), copy=True)).flags & IS_COPIED
    y = xp.broadcast_to(x, (3, 4))
    assert versioned(y.__dlpack__(max_version=(1, 0))).flags & READ_ONLY


def test_read_only_arrays_have_no_unversioned_capsule():
    y = xp.broadcast_to(xp.zeros(4), (3, 4))
    try:
        capsule = y.__dlpack__()
    except BufferError:
        return
    # an unversioned capsule cannot say "read-only": only a copy may be handed out
    t = plain(capsule)
    assert t.strides[0] != 0


def test_unused_capsules_release_their_memory(used):
    runtime.synchronize()  # what other tests left
    gc.collect()
    before = used()
    for version in (None, (1, 0)):
        x = xp.zeros(100_000)
        capsule = x.__dlpack__(max_version=version)
        del x
        gc.collect()
        assert used() > before
        del capsule
        gc.collect()
        assert used() == before


def test_a_capsule_is_used_once():
    x = xp.zeros(3)
    capsule = x.__dlpack__(max_version=(1, 0))
    xp.from_dlpack(Holder(capsule))
    assert name(capsule) == "used_dltensor_versioned"
    with pytest.raises((ValueError, BufferError, TypeError)):
        xp.from_dlpack(Holder(capsule))


# ---------------------------------------------------------------- with NumPy


@pytest.mark.parametrize("dtype", [*DTYPES, "bool"])
def test_numpy_reads_us(dtype):
    a = data(dtype)
    for key in (np.s_[...], np.s_[::-1, ::2], np.s_[1], np.s_[1, 1], np.s_[:0]):
        n = np.from_dlpack(xp.asarray(a)[key])
        assert n.dtype == a.dtype
        np.testing.assert_array_equal(n, a[key])


@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_shares_our_memory(dtype):
    x = xp.asarray(data(dtype))
    n = np.from_dlpack(x)
    x[0, 1] = 77
    assert n[0, 1] == 77
    if n.flags.writeable:
        n[1, 1] = 66
        assert int(xp.real(x[1, 1])) == 66


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("copy", [None, False, True])
def test_we_read_numpy(dtype, copy, check):
    a = data(dtype)
    for key in (np.s_[...], np.s_[::-1, ::2], np.s_[1], np.s_[:0]):
        x = xp.from_dlpack(a[key], copy=copy)
        check(x, a[key])
    x = xp.from_dlpack(a, copy=copy)
    a[0, 0] = 55
    assert int(xp.real(x[0, 0])) == (0 if copy else 55)


def test_import_of_bool_bytes(check):
    a = data("bool")
    check(xp.from_dlpack(a), a)
    check(xp.from_dlpack(a, copy=True), a)
    with pytest.raises(BufferError):
        xp.from_dlpack(a, copy=False)


def test_read_only_import():
    a = np.zeros(4)
    a.flags.writeable = False
    x = xp.from_dlpack(a)
    with pytest.raises(ValueError, match="read-only"):
        x[0] = 1.0
    assert float(xp.from_dlpack(a, copy=True)[0]) == 0.0
    y = xp.from_dlpack(a, copy=True)
    y[0] = 1.0
    assert a[0] == 0.0


def test_shared_writes_go_both_ways():
    a = np.zeros(6)
    x = xp.from_dlpack(a)
    y = x + 1
    a[2] = 5.0
    x[3] = 7.0
    assert float(x[2]) == 5.0
    assert a[3] == 7.0
    assert float(y[2]) == 1.0


def test_the_producer_lives_as_long_as_needed():
    a = np.arange(100_000.0)
    x = xp.from_dlpack(a)[::-1]
    del a
    gc.collect()
    junk = [np.zeros(100_000) for _ in range(4)]
    assert float(x[0]) == 99_999.0
    del junk


# ---------------------------------------------------------------- ourselves


@pytest.mark.parametrize("dtype", [*DTYPES, "bool"])
@pytest.mark.parametrize("version", [None, (1, 0)])
@pytest.mark.parametrize("copy", [None, False, True])
def test_round_trip(dtype, version, copy, check):
    a = data(dtype, (8, 8))
    x = xp.asarray(a)
    y = xp.from_dlpack(Holder(x.__dlpack__(max_version=version, copy=copy)))
    check(y, a)
    check(xp.from_dlpack(x, copy=copy), a)


def test_round_trip_shares_unless_copied():
    for dtype in ("float64", "int8", "bool"):
        for copy, shares in ((False, True), (True, False)):
            x = xp.zeros(64, dtype=getattr(xp, dtype))
            y = xp.from_dlpack(x, copy=copy)
            x[1] = True if dtype == "bool" else 3
            assert bool(y[1] != xp.zeros((), dtype=getattr(xp, dtype))) is shares


# ---------------------------------------------------------------- packed bool


def test_bool_is_unpacked_unless_sharing_is_asked_for():
    a = data("bool", (40,))
    x = xp.asarray(a)
    for copy in (None, True):
        t = plain(x.__dlpack__(copy=copy))
        assert (t.dtype.code, t.dtype.bits) == (6, 8)
        memory = (ctypes.c_uint8 * 40).from_address(t.data + t.byte_offset)
        assert list(memory) == a.astype(int).tolist()


@pytest.mark.parametrize("version", [None, (1, 0), (1, 1)])
def test_copy_false_exports_bits_least_significant_first(version):
    a = data("bool", (40,))
    x = xp.asarray(a)
    capsule = x.__dlpack__(copy=False, max_version=version)
    t = plain(capsule) if version is None else versioned(capsule).tensor
    assert (t.dtype.code, t.dtype.bits, t.dtype.lanes) == (6, 1, 1)
    memory = (ctypes.c_uint8 * 5).from_address(t.data + t.byte_offset)
    assert bytes(memory) == np.packbits(a, bitorder="little").tobytes()


def test_which_bool_views_export_their_bits():
    x = xp.zeros(48, dtype=xp.bool)
    grid = xp.reshape(x, (2, 24))
    for view in (x, x[8:], x[16:32], x[40:], grid, grid[1:]):
        assert view.__dlpack__(copy=False) is not None
    for view in (x[1:9], x[::2], x[::-1], grid.T, x[8:13]):
        with pytest.raises(BufferError):
            view.__dlpack__(copy=False)
        assert view.__dlpack__(copy=None) is not None
        assert view.__dlpack__(copy=True) is not None


def test_import_of_bits_is_shared():
    x = xp.zeros(64, dtype=xp.bool)
    y = xp.from_dlpack(Holder(x.__dlpack__(copy=False, max_version=(1, 1))), copy=False)
    assert y.dtype == xp.bool
    y[3] = True
    assert bool(x[3])
    x[60] = True
    assert bool(y[60])


# ---------------------------------------------------------------- arguments and hostile producers


def test_device_arguments():
    x = xp.zeros(3)
    assert x.__dlpack_device__() == CPU
    assert x.__dlpack__(dl_device=CPU) is not None
    for bad in ((2, 0), (12, 0), (1, 5)):
        with pytest.raises(BufferError):
            x.__dlpack__(dl_device=bad)
    for bad in (1, "cpu", (1,), (1, 0, 0), ("a", 0), (1.5, 0)):
        with pytest.raises((TypeError, ValueError, BufferError)):
            x.__dlpack__(dl_device=bad)
    for bad in ("x", (1, "a")):
        with pytest.raises((TypeError, ValueError)):
            x.__dlpack__(max_version=bad)
    assert x.__dlpack__(stream=-1) is not None
    for bad in ("no", 0, 1, 2**100, -(2**100)):
        with pytest.raises(ValueError, match="stream must be None"):
            x.__dlpack__(stream=bad)


def test_objects_without_the_protocol():
    with pytest.raises(AttributeError, match="__dlpack__"):
        xp.from_dlpack([1, 2])
    for capsule in (None, 3, "x", object()):
        with pytest.raises((TypeError, ValueError, BufferError)):
            xp.from_dlpack(Holder(capsule))


HOSTILE = {
    "major version": lambda v: setattr(v, "major", 2),
    "lanes": lambda v: setattr(v.tensor.dtype, "lanes", 4),
    "7 bits": lambda v: setattr(v.tensor.dtype, "bits", 7),
    "unknown code": lambda v: setattr(v.tensor.dtype, "code", 99),
    "ndim -1": lambda v: setattr(v.tensor, "ndim", -1),
    "ndim 65": lambda v: setattr(v.tensor, "ndim", 65),
    "negative size": lambda v: v.tensor.shape.__setitem__(0, -3),
    "huge size": lambda v: v.tensor.shape.__setitem__(0, 2**62),
    "huge stride": lambda v: v.tensor.strides.__setitem__(0, 2**62),
    "low stride": lambda v: v.tensor.strides.__setitem__(0, -(2**62)),
    "huge bit": lambda v: v.tensor.strides.__setitem__(0, 2**57),
    "other device": lambda v: setattr(v.tensor.device, "type", 2),
    "no data": lambda v: setattr(v.tensor, "data", None),
}


@pytest.mark.parametrize("name_", HOSTILE)
def test_hostile_capsules_are_refused(name_):
    x = xp.reshape(xp.zeros(64), (8, 8))
    capsule = x.__dlpack__(max_version=(1, 0))
    v = versioned(capsule)
    kept = bytes(v)
    HOSTILE[name_](v)
    holder = Holder(capsule)
    try:
        with pytest.raises((BufferError, ValueError, TypeError, MemoryError, OverflowError)):
            xp.from_dlpack(holder)
    finally:  # a deleter may read the fields
        if name(capsule) == "dltensor_versioned":
            ctypes.memmove(ctypes.addressof(v), kept, len(kept))


def test_strides_may_be_absent(check):
    x = xp.reshape(xp.arange(12.0), (3, 4))
    capsule = x.__dlpack__(max_version=(1, 0))
    v = versioned(capsule)
    v.tensor.strides = ctypes.POINTER(ctypes.c_int64)()
    check(xp.from_dlpack(Holder(capsule)), np.arange(12.0).reshape(3, 4))


# ---------------------------------------------------------------- with PyTorch


class TestTorch:
    @pytest.fixture
    def torch(self):
        return pytest.importorskip("torch")

    @pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", "float32", "float64", "complex64"])
    def test_both_ways(self, torch, dtype, check):
        a = data(dtype)
        x = xp.asarray(a)
        t = torch.from_dlpack(x)
        assert torch.equal(t, torch.from_numpy(a))
        t[0, 0] = 9
        assert int(xp.real(x[0, 0])) == 9
        y = xp.from_dlpack(t)
        y[0, 1] = 8
        assert int(t[0, 1].real) == 8

    def test_bool(self, torch, check):
        a = data("bool")
        check(xp.from_dlpack(torch.from_numpy(a)), a)
        assert torch.equal(torch.from_dlpack(xp.asarray(a)), torch.from_numpy(a))


def test_a_bfloat16_tensor_loads_its_dtype(child_env):
    """The dtype comes from another package, which nobody may have imported yet."""
    pytest.importorskip("ml_dtypes")
    code = """
import ctypes, sys
sys.path.append(sys.argv[1])
import numpy as np
from target import Producer, Tensor
import ascend_array_api as xp
from ascend_array_api import runtime
memory = np.array([0x3F80, 0xC000, 0x4040], dtype=np.uint16)
tensor = Tensor(data=memory.ctypes.data, device_type=1, ndim=1, code=4, bits=16, lanes=1)
tensor.shape = (ctypes.c_int64 * 1)(3)
producer = Producer(tensor, memory, versioned=True)
x = xp.from_dlpack(producer)
assert str(x.dtype) == "bfloat16", x.dtype
assert [float(v) for v in x] == [1.0, -2.0, 3.0]
del x
assert producer.released()
"""
    fuzz = str(pathlib.Path(__file__).parents[1] / "fuzz")
    done = subprocess.run(
        [sys.executable, "-c", code, fuzz], env=child_env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
