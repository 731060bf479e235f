"""finfo, iinfo, isdtype, result_type, can_cast, astype and the inspection functions."""

import dataclasses

import numpy as np
import pytest

import ascend_array_api as xp
from ascend_array_api import dtypes, runtime

INTEGERS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
KINDS = {
    "bool": {"bool"},
    "signed integer": set(INTEGERS[:4]),
    "unsigned integer": set(INTEGERS[4:]),
    "integral": set(INTEGERS),
    "real floating": {"float32", "float64"},
    "complex floating": {"complex64", "complex128"},
    "numeric": {*INTEGERS, "float32", "float64", "complex64", "complex128"},
}
ALL = KINDS["bool"] | KINDS["numeric"]


@pytest.mark.parametrize("name", ["float16", "float32", "float64", "complex64", "complex128"])
def test_finfo(name):
    dtype = np.dtype(name)
    found, expected = xp.finfo(dtype), np.finfo(dtype)
    for attribute in ("eps", "max", "min", "smallest_normal"):
        value = getattr(found, attribute)
        assert type(value) is float
        assert value == float(getattr(expected, attribute))
    assert found.bits == expected.bits
    assert type(found.bits) is int
    assert found.dtype == expected.dtype
    assert xp.finfo(xp.zeros(2, dtype=dtype)) == found
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.eps = 1.0


def test_finfo_bfloat16():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    found, expected = xp.finfo(dtypes.bfloat16), ml_dtypes.finfo(ml_dtypes.bfloat16)
    for attribute in ("eps", "max", "min", "smallest_normal"):
        assert getattr(found, attribute) == float(getattr(expected, attribute))
    assert found.bits == 16


@pytest.mark.parametrize("name", INTEGERS)
def test_iinfo(name):
    found, expected = xp.iinfo(getattr(xp, name)), np.iinfo(name)
    assert (found.bits, found.max, found.min) == (expected.bits, expected.max, expected.min)
    assert type(found.max) is int
    assert found.dtype == np.dtype(name)
    assert xp.iinfo(xp.zeros(1, dtype=getattr(xp, name))) == found


@pytest.mark.parametrize("dtype", [xp.int64, xp.bool])
def test_finfo_refuses_other_kinds(dtype):
    with pytest.raises(TypeError, match=f"finfo.*floating-point.*{dtype}"):
        xp.finfo(dtype)


@pytest.mark.parametrize("dtype", [xp.float64, xp.bool, xp.complex64])
def test_iinfo_refuses_other_kinds(dtype):
    with pytest.raises(TypeError, match=f"iinfo.*integer.*{dtype}"):
        xp.iinfo(dtype)


@pytest.mark.parametrize("function", [xp.finfo, xp.iinfo])
@pytest.mark.parametrize("bad", ["float32", float, np.float32, None, 3])
def test_strict_mode_takes_dtypes_alone(function, bad):
    with pytest.raises(TypeError, match="expected a dtype"):
        function(bad)


def test_relaxed_mode_takes_names_and_types():
    with runtime.strict(False):
        assert xp.finfo("float32") == xp.finfo(xp.float32)
        assert xp.finfo(float).dtype == xp.float64
        assert xp.iinfo(np.int16) == xp.iinfo(xp.int16)
        assert xp.isdtype("uint8", "unsigned integer")
        for bad in (None, "nothing", "U5", object):
            with pytest.raises(TypeError):
                xp.finfo(bad)


def test_byte_swapped_dtypes_are_refused():
    with pytest.raises(TypeError, match="byte order"):
        xp.finfo(np.dtype(">f8" if np.little_endian else "<f8"))


@pytest.mark.parametrize("kind", KINDS)
def test_isdtype_kinds(kind):
    found = {name for name in ALL if xp.isdtype(getattr(xp, name), kind)}
    assert found == KINDS[kind]


def test_isdtype_tuples_and_dtypes():
    assert xp.isdtype(xp.int8, ("bool", "signed integer")) is True
    assert xp.isdtype(xp.int8, ("bool", "real floating")) is False
    assert xp.isdtype(xp.int8, (xp.float32, xp.int8)) is True
    assert xp.isdtype(xp.int64, xp.int64) is True
    assert xp.isdtype(xp.int64, xp.int32) is False
    assert xp.isdtype(np.dtype("longlong"), xp.int64)
    assert xp.isdtype(dtypes.float16, "real floating")
    assert not xp.isdtype(xp.int8, ())


@pytest.mark.parametrize("kind", ["integer", "floating", "", ("bool", "nothing")])
def test_isdtype_unknown_kind(kind):
    with pytest.raises(ValueError, match="isdtype: unknown kind"):
        xp.isdtype(xp.bool, kind)


@pytest.mark.parametrize("kind", [None, 3, ("bool", None)])
def test_isdtype_kind_of_wrong_type(kind):
    with pytest.raises(TypeError, match="isdtype"):
        xp.isdtype(xp.bool, kind)


def test_result_type_and_can_cast():
    assert xp.result_type(xp.int8, xp.uint8, xp.asarray(1, dtype=xp.int32)) == xp.int32
    assert xp.result_type(xp.float32, 1, 2.0) == xp.float32
    assert xp.result_type(xp.float32, 1j) == xp.complex64
    with pytest.raises(TypeError, match="result_type"):
        xp.result_type(xp.int8, xp.float32)
    assert xp.can_cast(xp.int8, xp.int16) is True
    assert xp.can_cast(xp.asarray(1.0), xp.float32) is False


class TestInspection:
    info = xp.__array_namespace_info__()

    def test_capabilities(self):
        assert self.info.capabilities() == {
            "boolean indexing": True,
            "data-dependent shapes": True,
            "max dimensions": 64,
        }

    def test_max_dimensions_is_true(self):
        assert xp.zeros((1,) * 64).ndim == 64
        with pytest.raises(ValueError, match="64"):
            xp.zeros((1,) * 65)

    def test_devices(self):
        assert "cpu" in self.info.devices()
        assert isinstance(self.info.devices(), tuple)
        assert self.info.default_device() == xp.zeros(1).device

    @pytest.mark.parametrize("device", [None, "cpu", runtime.Device("cpu")])
    def test_default_dtypes(self, device):
        assert self.info.default_dtypes(device=device) == {
            "real floating": xp.asarray(1.0).dtype,
            "complex floating": xp.asarray(1j).dtype,
            "integral": xp.asarray(1).dtype,
            "indexing": xp.argmax(xp.asarray([1])).dtype,
        }

    def test_dtypes(self):
        assert set(self.info.dtypes()) == ALL
        assert self.info.dtypes() == {name: getattr(xp, name) for name in ALL}

    @pytest.mark.parametrize("kind", KINDS)
    def test_dtypes_of_a_kind(self, kind):
        assert set(self.info.dtypes(kind=kind, device="cpu")) == KINDS[kind]
        assert set(self.info.dtypes(kind=(kind, "bool"))) == KINDS[kind] | {"bool"}

    def test_errors(self):
        with pytest.raises(ValueError, match="dtypes: unknown kind 'float'"):
            self.info.dtypes(kind="float")
        with pytest.raises(ValueError, match="unknown kind"):
            self.info.dtypes(kind=("bool", "float"))
        for ask in (self.info.dtypes, self.info.default_dtypes):
            with pytest.raises(ValueError, match="unknown device 'tpu'; available: 'cpu'"):
                ask(device="tpu")
