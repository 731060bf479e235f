"""Methods of arrays written in Python: export, pickle, copies, text."""

import copy
import pickle
import pickletools
import re

import numpy as np
import pytest

import ascend_array_api as xp
from ascend_array_api import dtypes, runtime

NAMES = """bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64
complex128""".split()


def sample(name, shape=(3, 5)):
    values = np.arange(np.prod(shape, dtype=int)).reshape(shape) % 7 % 3
    return values.astype(name)


class TestNumPyExport:
    @pytest.mark.parametrize("name", NAMES)
    def test_values_and_dtype(self, name):
        expected = sample(name)
        found = np.asarray(xp.asarray(expected))
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)

    def test_memory_is_shared(self):
        x = xp.zeros((2, 3))
        n = np.asarray(x)
        n[0, 1] = 5.0
        assert float(x[0, 1]) == 5.0
        x[1, 2] = 7.0
        assert n[1, 2] == 7.0

    def test_a_written_export_never_changes_results(self):
        x = xp.asarray([1.0, 2.0, 3.0])
        n = np.asarray(x)
        y = x + 1
        n[0] = 9.0
        assert float(y[0]) == 2.0
        assert float(x[0]) == 9.0

    def test_copies(self):
        x = xp.zeros(3)
        n = np.array(x, copy=True)
        n[0] = 1.0
        assert float(x[0]) == 0.0
        np.asarray(x, copy=False)[2] = 3.0
        assert float(x[2]) == 3.0
        n = x.__array__(copy=True)
        n[0] = 1.0
        assert float(x[0]) == 0.0

    def test_dtype(self):
        x = xp.asarray([1.5, 2.5])
        assert np.asarray(x, dtype=np.float32).dtype == np.float32
        assert np.asarray(x, dtype=np.int64).tolist() == [1, 2]
        shared = np.asarray(x, dtype=np.float64)
        shared[0] = 0.0
        assert float(x[0]) == 0.0

    @pytest.mark.parametrize(
        ("x", "dtype"), [(xp.asarray([1.0]), np.float32), (xp.asarray([True]), None)]
    )
    def test_copy_false_refuses(self, x, dtype):
        with pytest.raises(ValueError, match=r"__array__.*copy=False"):
            x.__array__(dtype, copy=False)

    def test_bool_is_unpacked(self):
        x = xp.asarray([True, False, True] * 5)
        n = np.asarray(x)
        assert n.dtype == np.bool_
        assert n.tolist() == [True, False, True] * 5
        n[0] = False
        assert bool(x[0])

    def test_views(self):
        x = xp.reshape(xp.arange(12), (3, 4))
        np.testing.assert_array_equal(
            np.asarray(x.T[::-1, 1:]), np.arange(12).reshape(3, 4).T[::-1, 1:]
        )
        b = xp.asarray(sample("bool", (5, 13)))
        np.testing.assert_array_equal(np.asarray(b[::2, 3:11]), sample("bool", (5, 13))[::2, 3:11])

    def test_repeated_elements_are_read_only(self):
        n = np.asarray(xp.broadcast_to(xp.asarray([1.0]), (4,)))
        assert n.tolist() == [1.0] * 4
        assert not n.flags.writeable

    def test_ufuncs_leave_operators_to_us(self):
        assert xp.runtime.Array.__array_ufunc__ is None
        assert isinstance(np.float64(2.0) * xp.asarray([1.0]), runtime.Array)


class TestPickle:
    @pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
    @pytest.mark.parametrize("name", NAMES)
    def test_round_trip(self, name, protocol):
        for shape in [(), (0,), (2, 0, 3), (1,), (3, 5), (64,), (65,)]:
            expected = sample(name, shape)
            x = pickle.loads(pickle.dumps(xp.asarray(expected), protocol))
            assert x.dtype == expected.dtype
            assert x.shape == shape
            assert x.device == "cpu"
            np.testing.assert_array_equal(np.asarray(x), expected)

    def test_bfloat16(self):
        pytest.importorskip("ml_dtypes")
        x = pickle.loads(pickle.dumps(xp.ones(3, dtype=dtypes.bfloat16)))
        assert x.dtype == dtypes.bfloat16
        assert float(xp.sum(xp.astype(x, xp.float32))) == 3.0

    def test_the_copy_is_writable_and_apart(self):
        x = xp.asarray([1.0, 2.0])
        y = pickle.loads(pickle.dumps(x))
        y[0] = 9.0
        assert float(x[0]) == 1.0

    def test_a_view_stores_its_elements_only(self):
        x = xp.reshape(xp.arange(100_000, dtype=xp.float64), (100, 1000))
        view = x[::-3, 5:9].T
        data = pickle.dumps(view)
        assert len(data) < 34 * 4 * 8 + 300
        np.testing.assert_array_equal(np.asarray(pickle.loads(data)), np.asarray(view))

    def test_bool_stays_packed(self):
        assert len(pickle.dumps(xp.ones(80_000, dtype=xp.bool))) < 10_300

    def test_out_of_band(self):
        x = xp.arange(1000, dtype=xp.float64)
        buffers = []
        data = pickle.dumps(x, 5, buffer_callback=buffers.append)
        assert len(data) < 300
        assert len(buffers) == 1
        y = pickle.loads(data, buffers=buffers)
        x[0] = 5.0
        assert float(y[0]) == 0.0
        assert float(y[999]) == 999.0

    def rebuild(self, **changes):
        function, arguments = xp.ones((2, 3)).__reduce_ex__(2)
        names = ("version", "dtype_name", "shape", "device", "data")
        return function(**dict(zip(names, arguments, strict=True)) | changes)

    def test_what_is_loaded_is_checked(self):
        assert self.rebuild().shape == (2, 3)
        for changes, message in [
            ({"version": 2}, "layout 2"),
            ({"dtype_name": "float128"}, "unknown dtype"),
            ({"shape": (2, 4)}, "48 bytes for shape"),
            ({"shape": (2, -3)}, "bad shape"),
            ({"shape": (2.0, 3)}, "bad shape"),
            ({"data": b"123"}, "3 bytes"),
            ({"device": "npu:0"}, "unknown device 'npu:0'.*to_device"),
        ]:
            with pytest.raises(ValueError, match=message):
                self.rebuild(**changes)

    def test_the_pickle_names_no_private_class(self):
        text = pickletools.genops(pickle.dumps(xp.ones(1), 2))
        names = [arg for op, arg, _ in text if op.name == "GLOBAL"]
        assert names[0] == "ascend_array_api._array _rebuild"
        assert pickle.loads(pickle.dumps(runtime.Array)) is runtime.Array


class TestCopies:
    @pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
    @pytest.mark.parametrize("name", ["bool", "float64"])
    def test_apart(self, duplicate, name):
        x = xp.asarray(sample(name, (2, 9)))
        y = duplicate(x)
        assert y is not x
        assert bool(xp.all(x == y))
        y[...] = xp.ones_like(y)
        y[0, 0] = y[0, 1]
        assert bool(xp.all(y == 1 if name == "float64" else y))
        np.testing.assert_array_equal(np.asarray(x), sample(name, (2, 9)))

    def test_in_containers(self):
        x = xp.asarray([1.0])
        y = copy.deepcopy({"a": x, "b": x})
        assert y["a"] is y["b"]
        assert y["a"] is not x


class TestText:
    @pytest.mark.parametrize(
        ("x", "text"),
        [
            (xp.asarray([[1.0, 2.5]]), "Array([[1. , 2.5]], dtype=float64, device=cpu)"),
            (xp.asarray(3), "Array(3, dtype=int64, device=cpu)"),
            (xp.asarray(float("nan")), "Array(nan, dtype=float64, device=cpu)"),
            (xp.asarray([True, False]), "Array([ True, False], dtype=bool, device=cpu)"),
            (xp.zeros(0), "Array([], dtype=float64, device=cpu)"),
            (xp.zeros((2, 0)), "Array([], shape=(2, 0), dtype=float64, device=cpu)"),
            (xp.asarray([1 - 2j]), "Array([1.-2.j], dtype=complex128, device=cpu)"),
        ],
    )
    def test_repr(self, x, text):
        assert repr(x) == text

    def test_several_lines_are_aligned(self):
        lines = repr(xp.zeros((3, 2))).split("\n")
        assert lines[0] == "Array([[0., 0.],"
        assert lines[1] == "       [0., 0.],"
        assert lines[2] == "       [0., 0.]], dtype=float64, device=cpu)"
        for line in repr(xp.arange(200) * 100_000).split("\n"):
            assert len(line) <= 75

    @pytest.mark.parametrize("name", NAMES)
    @pytest.mark.parametrize("shape", [(1001,), (8, 8, 20), (1, 2000), (2, 3, 300), (40, 1, 40)])
    def test_summaries_read_as_numpys(self, name, shape):
        n = np.arange(np.prod(shape)).reshape(shape)
        n = (n % 3 == 0) if name == "bool" else (n % 100).astype(name)
        text = re.sub(r"\s+", "", repr(xp.asarray(n)))
        expected = re.sub(r"\s+", "", np.array2string(n, separator=","))
        assert text == f"Array({expected},shape={shape},dtype={name},device=cpu)".replace(" ", "")
        assert re.sub(r"\s+", "", str(xp.asarray(n))) == re.sub(r"\s+", "", str(n))

    def test_print_options_of_numpy_hold(self):
        x = xp.asarray([1.0, 2.0, 3.0, 4.0, 5.0]) / 3
        with np.printoptions(precision=2, threshold=4, edgeitems=1):
            assert repr(x) == "Array([0.33, ..., 1.67], shape=(5,), dtype=float64, device=cpu)"
            assert str(x) == "[0.33 ... 1.67]"
        with np.printoptions(threshold=4, edgeitems=0):
            assert str(x) == str(np.asarray(x))

    def test_a_large_array_costs_little(self):
        x = xp.broadcast_to(xp.asarray([True]), (2**20, 2**20))
        assert repr(x).endswith("shape=(1048576, 1048576), dtype=bool, device=cpu)")
        assert str(xp.zeros((1,) * 64)).count("[") == 64

    def test_bfloat16(self):
        pytest.importorskip("ml_dtypes")
        x = xp.asarray([1.5, 2.0], dtype=dtypes.bfloat16)
        assert repr(x) == "Array([1.5, 2. ], dtype=bfloat16, device=cpu)"
        assert f"{x[0]:.2f}" == "1.50"

    @pytest.mark.parametrize("x", [xp.asarray(1.5), xp.asarray([1, 2]), xp.zeros((0, 2))])
    def test_str(self, x):
        assert str(x) == str(np.asarray(x)) == f"{x}"

    def test_format(self):
        assert f"{xp.asarray(1.25):.1f}" == "1.2"
        assert f"{xp.asarray(7, dtype=xp.int8):04d}" == "0007"
        assert f"{xp.asarray(1 + 2j):.1f}" == "1.0+2.0j"
        assert f"{xp.asarray(True):d}" == "1"
        assert f"{xp.asarray(2.5, dtype=xp.float32):8.2f}" == "    2.50"
        assert f"{xp.asarray([1.0])}" == "[1.]"
        with pytest.raises(TypeError, match=r"__format__.*'\.2f'.*\(1,\)"):
            f"{xp.asarray([1.0]):.2f}"
        with pytest.raises(ValueError):
            f"{xp.asarray(1.0):d}"


class TestNamespaceAndDevice:
    @pytest.mark.parametrize(
        "version", [None, "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"]
    )
    def test_versions(self, version):
        assert xp.asarray(1).__array_namespace__(api_version=version) is xp

    @pytest.mark.parametrize("version", ["2020.12", "2026.12", "", 2025.12, "draft"])
    def test_unknown_versions(self, version):
        with pytest.raises(ValueError, match="__array_namespace__"):
            xp.asarray(1).__array_namespace__(api_version=version)

    def test_to_device(self):
        x = xp.asarray([1.0])
        assert x.to_device("cpu") is x
        assert x.to_device(x.device) is x
        with pytest.raises(ValueError, match="to_device: unknown device 'gpu'; available: 'cpu'"):
            x.to_device("gpu")
        with pytest.raises(ValueError, match="no streams"):
            x.to_device("cpu", stream=1)
        for bad in (None, 3):
            with pytest.raises(TypeError, match="to_device"):
                x.to_device(bad)

    def test_dlpack_device(self):
        assert xp.asarray(1).__dlpack_device__() == (1, 0)

    def test_unhashable(self):
        assert runtime.Array.__hash__ is None
        with pytest.raises(TypeError):
            hash(xp.asarray(1))

    def test_complex(self):
        assert complex(xp.asarray(1 + 2j)) == 1 + 2j
        assert complex(xp.asarray(3)) == 3
        with pytest.raises(TypeError):
            complex(xp.asarray([1j]))

    def test_methods_say_where_they_belong(self):
        assert runtime.Array.to_device.__qualname__ == "Array.to_device"
        assert runtime.Array.__module__ == "ascend_array_api.runtime"
