"""Copies are deferred; memory from outside is a snapshot or shared; exports stay in step."""

import array as pyarray
import contextlib
import ctypes
import gc
import mmap

import numpy as np
import pytest

import ascend_array_api as xp
from ascend_array_api import runtime

BIG = 1_000_000
BYTES = BIG * 8
ROUNDED = BYTES + BYTES // 16  # the pool rounds sizes up

COPIES = {
    "asarray": lambda x: xp.asarray(x, copy=True),
    "astype": lambda x: xp.astype(x, x.dtype),
    "reshape": lambda x: xp.reshape(x, (1000, 1000), copy=True),
}


@pytest.mark.parametrize("name", COPIES)
@pytest.mark.parametrize("write_to", ["copy", "source"])
def test_copies_allocate_when_one_side_is_written(name, write_to, used, check):
    x = xp.arange(BIG, dtype=xp.float64)
    before = used()
    y = COPIES[name](x)
    assert used() - before < BYTES // 100
    target = y if write_to == "copy" else x
    target[0, ...] = -1.0
    assert BYTES <= used() - before <= ROUNDED
    other = x if write_to == "copy" else y
    flat = xp.reshape(other, (-1,))
    assert float(flat[0]) == 0.0
    assert float(flat[-1]) == BIG - 1
    target[1, ...] = -2.0
    assert used() - before <= ROUNDED


def test_chains_of_copies_share_until_written(used):
    x = xp.zeros(BIG)
    runtime.evaluate(x)
    before = used()
    copies = [xp.asarray(x, copy=True) for _ in range(20)]
    copies += [xp.asarray(c, copy=True) for c in copies]
    assert used() - before < BYTES // 100
    copies[3][0] = 1.0
    assert float(x[0]) == 0.0
    assert [float(c[0]) for c in copies] == [0.0] * 3 + [1.0] + [0.0] * 36
    assert used() - before <= ROUNDED


def test_all_aliases_move_together(check):
    x = xp.arange(BIG, dtype=xp.float64)
    view = x[::2]
    y = xp.asarray(x, copy=True)
    x[4] = -1.0  # the whole storage leaves the shared block
    assert float(view[2]) == -1.0
    view[3] = -2.0
    assert float(x[6]) == -2.0
    assert [float(y[i]) for i in (4, 6)] == [4.0, 6.0]
    other = y[::-1]
    other[0] = 5.0
    assert float(y[-1]) == 5.0
    assert float(x[-1]) == BIG - 1


def test_a_deferred_copy_keeps_the_values_of_its_moment(check):
    x = xp.zeros(BIG)
    a = xp.asarray(x, copy=True)
    x += 1
    b = xp.asarray(x, copy=True)
    x += 1
    c = xp.asarray(x, copy=True)
    del x
    assert [float(v[-1]) for v in (a, b, c)] == [0.0, 1.0, 2.0]


def test_copies_of_small_views_do_not_keep_the_base(used):
    x = xp.zeros(BIG)
    runtime.evaluate(x)
    before = used() - BYTES
    y = xp.asarray(x[:10], copy=True)
    del x
    gc.collect()
    assert used() - before < 65536
    assert float(y[0]) == 0.0


def test_copy_of_every_layout_is_independent(check):
    a = np.arange(60.0).reshape(6, 10)
    for key in (np.s_[...], np.s_[::-1], np.s_[:, ::3], np.s_[2], np.s_[1:2, 4:]):
        for make in (lambda v: xp.asarray(v, copy=True), lambda v: xp.astype(v, v.dtype)):
            x = xp.asarray(a)
            y = make(x[key])
            check(y, a[key])
            y[...] = -1.0
            check(x, a)
            y = make(x[key])
            x[...] = -2.0
            check(y, a[key])


def test_astype_without_copy_is_the_array_itself():
    x = xp.zeros(3)
    assert xp.astype(x, xp.float64, copy=False) is x
    assert xp.asarray(x, copy=False)[:].shape == (3,)


# ---------------------------------------------------------------- NumPy arrays come in


def test_asarray_of_numpy_is_a_snapshot(check):
    for n in (3, 100_000):
        a = np.arange(n, dtype=float)
        x = xp.asarray(a)
        y = x + 1
        a[0] = 99.0
        assert float(x[0]) == 0.0
        assert float(y[0]) == 1.0
        x[1] = 77.0
        assert a[1] == 1.0


def test_a_read_only_numpy_view_is_copied_too():
    a = np.zeros(5)
    view = a.view()
    view.flags.writeable = False
    x = xp.asarray(view)
    a[0] = 1.0
    assert float(x[0]) == 0.0


def test_copy_false_shares_with_numpy():
    a = np.zeros(5)
    x = xp.asarray(a, copy=False)
    a[1] = 2.0
    assert float(x[1]) == 2.0
    x[3] = 4.0
    assert a[3] == 4.0
    x += 1
    assert a.tolist() == [1.0, 3.0, 1.0, 5.0, 1.0]


def test_results_never_change_with_shared_memory():
    """A change by the other owner shows in the array, never in what was computed before."""
    for n in (4, 100_000):
        a = np.zeros(n)
        x = xp.asarray(a, copy=False)
        y, z, s = x + 1, xp.asarray(x, copy=True), xp.any(x == 9)
        v = x[::-1]
        w = v * 2
        a[0] = 9.0
        assert float(y[0]) == 1.0
        assert float(z[0]) == 0.0
        assert bool(s) is False
        assert float(w[-1]) == 0.0
        assert float(x[0]) == 9.0
        assert float(v[-1]) == 9.0


def test_copy_false_where_a_copy_is_needed_raises():
    for obj in ([1, 2], np.zeros(3, bool), np.zeros(3, ">f8"), 5):
        with pytest.raises((ValueError, BufferError)):
            xp.asarray(obj, copy=False)
    with pytest.raises((ValueError, BufferError)):
        xp.asarray(np.zeros(3), dtype=xp.float32, copy=False)


def test_numpy_arrays_of_every_kind(check):
    for a in (
        np.arange(12).reshape(3, 4).T,
        np.arange(12)[::-2],
        np.broadcast_to(np.arange(3.0), (4, 3)),
        np.zeros((0, 3), np.int8),
        np.asarray(3.5),
        np.float32(2.5),
        np.int8(-3),
        np.bool_(True),
        np.complex64(1 + 2j),
        np.arange(3, dtype=">i4"),
        np.arange(9.0).astype(">f8")[::2],
        np.zeros(2, dtype=np.longlong),
        np.zeros(2, dtype=np.ulonglong),
        np.array([True, False] * 40)[1::3],
        np.float64(1) * np.arange(4, dtype=np.float16),
    ):
        want = np.asarray(a)
        want = want.astype(want.dtype.newbyteorder("="))
        x = xp.asarray(a)
        assert x.dtype == want.dtype
        np.testing.assert_array_equal(np.array(x, copy=True), want)


@pytest.mark.parametrize(
    "obj",
    [
        np.array(["a", "b"]),
        np.array([object()]),
        np.array(["2020-01-01"], dtype="M8[D]"),
        np.array([(1, 2)], dtype=[("a", int), ("b", int)]),
        np.zeros(2, np.longdouble),
        "text",
        ["a", "b"],
        None,
        object(),
        {1, 2},
        {"a": 1},
        [[1, 2], [3]],
        [1, None],
        [xp.zeros(2), [1]],
    ],
)
def test_what_is_not_an_array_is_refused(obj):
    with pytest.raises((TypeError, ValueError)):
        xp.asarray(obj)


# ---------------------------------------------------------------- exports


def test_the_rule_of_exports():
    for n in (3, 100_000):
        x = xp.zeros(n)
        a = np.asarray(x)
        y = x + 1
        a[0] = 9.0
        assert float(y[0]) == 1.0
        assert float(x[0]) == 9.0
        x[1] = 5.0
        assert a[1] == 5.0
        x += 1
        assert a[:2].tolist() == [10.0, 6.0]


def test_export_leaves_a_shared_block_first():
    x = xp.zeros(BIG)
    y = xp.asarray(x, copy=True)
    a = np.asarray(x)
    a[0] = 1.0
    assert float(x[0]) == 1.0
    assert float(y[0]) == 0.0
    b = np.asarray(y)
    b[1] = 2.0
    assert float(x[1]) == 0.0


def test_copies_of_exported_memory_are_physical():
    x = xp.zeros(BIG)
    a = np.asarray(x)
    y = xp.asarray(x, copy=True)
    a[0] = 1.0
    assert float(y[0]) == 0.0


def test_export_outlives_the_array():
    a = np.asarray(xp.arange(100_000))
    gc.collect()
    others = [xp.zeros(100_000, dtype=xp.int64) for _ in range(5)]
    assert a[99_999] == 99_999
    del others


def test_import_outlives_the_numpy_name():
    a = np.arange(100_000.0)
    x = xp.asarray(a, copy=False)
    del a
    gc.collect()
    junk = [np.zeros(100_000) for _ in range(5)]
    assert float(x[-1]) == 99_999.0
    del junk


def test_sharing_ends_with_its_consumer(used):
    x = xp.zeros(BIG)
    a = np.asarray(x)
    del a
    gc.collect()
    before = used()
    y = xp.asarray(x, copy=True)
    assert used() - before < BYTES // 100
    y[0] = 1.0
    assert float(x[0]) == 0.0


def test_views_are_exported_with_strides():
    x = xp.reshape(xp.arange(12.0), (3, 4))
    a = np.asarray(x.T[::-1])
    assert a.shape == (4, 3)
    a[0, 0] = 99.0
    assert float(x[0, 3]) == 99.0


def test_broadcast_views_are_exported_read_only():
    a = np.asarray(xp.broadcast_to(xp.zeros(3), (4, 3)))
    assert a.shape == (4, 3)
    assert not a.flags.writeable


# ---------------------------------------------------------------- the buffer protocol


def test_buffers(check):
    check(xp.asarray(pyarray.array("d", [1.0, 2.0])), np.array([1.0, 2.0]))
    check(xp.asarray(pyarray.array("h", [1, -2])), np.array([1, -2], np.int16))
    check(xp.asarray(memoryview(pyarray.array("f", [1, 2, 3]))[::2]), np.array([1, 3], np.float32))
    check(xp.asarray(bytearray(b"\x01\xff")), np.array([1, 255], np.uint8))
    check(
        xp.asarray(memoryview(b"abcdef").cast("B", (2, 3))),
        np.frombuffer(b"abcdef", "u1").reshape(2, 3),
    )
    check(xp.asarray(memoryview(np.arange(6.0).reshape(2, 3).T)), np.arange(6.0).reshape(2, 3).T)


class Request(ctypes.Structure):
    """A Py_buffer."""

    _fields_ = [
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.py_object),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("rest", ctypes.c_void_p * 5),
    ]


@pytest.mark.parametrize(
    ("flags", "rows", "columns", "neither"),
    [
        (0x00, True, False, False),  # PyBUF_SIMPLE
        (0x18, True, True, True),  # PyBUF_STRIDES
        (0x38, True, False, False),  # PyBUF_C_CONTIGUOUS
        (0x58, False, True, False),  # PyBUF_F_CONTIGUOUS
        (0x98, True, True, False),  # PyBUF_ANY_CONTIGUOUS
    ],
)
def test_buffers_have_the_order_asked_for(flags, rows, columns, neither):
    x = xp.zeros((3, 4))
    for array, granted in ((x, rows), (x.T, columns), (x[:, ::2], neither)):
        request = Request()
        arguments = ctypes.py_object(array), ctypes.byref(request), flags
        if granted:
            assert ctypes.pythonapi.PyObject_GetBuffer(*arguments) == 0
            ctypes.pythonapi.PyBuffer_Release(ctypes.byref(request))
        else:
            with pytest.raises(BufferError):
                ctypes.pythonapi.PyObject_GetBuffer(*arguments)


@pytest.mark.parametrize("rest", [slice(None), "array"])
def test_copies_taken_while_a_key_is_read(rest):
    """Python code of the key runs before the write."""
    x, copies = xp.zeros((3, 4)), []

    class Index:
        def __index__(self):
            copies.append(xp.asarray(x, copy=True))
            return 1

    x[Index(), xp.asarray([0, 2]) if rest == "array" else rest] = 5.0
    assert len(copies) >= 1
    assert not any(np.any(np.asarray(copy)) for copy in copies)
    assert float(x[1, 2]) == 5.0


def test_sequences_that_change_while_they_are_read():
    inner = [1.5, 2.5]

    class Changing:
        def __len__(self):
            return 2

        def __getitem__(self, i):
            inner.clear()
            return [3.5, 4.5][i]

    x = xp.asarray([inner, Changing()])
    assert np.asarray(x).tolist() == [[1.5, 2.5], [3.5, 4.5]]


def test_a_mutable_buffer_is_copied_or_shared_on_request():
    b = pyarray.array("d", [0.0] * 4)
    x, y = xp.asarray(b), xp.asarray(b, copy=False)
    b[0] = 1.0
    assert float(x[0]) == 0.0
    assert float(y[0]) == 1.0
    y[1] = 2.0
    assert b[1] == 2.0


def test_bytes_are_borrowed_and_never_written(used):
    data = bytes(1_000_000)
    before = used()
    x = xp.asarray(data)
    assert used() - before < 65536
    assert x.dtype == xp.uint8
    with contextlib.suppress(ValueError):
        x[0] = 1
    assert data[0] == 0


def test_memory_map(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(np.arange(1000.0).tobytes())
    with open(path, "rb") as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as m:
        x = xp.asarray(memoryview(m).cast("d"))
        assert float(x[-1]) == 999.0
        y = x + 1
        assert float(y[-1]) == 1000.0
        del x
        gc.collect()
    m2 = np.memmap(path, dtype="float64", mode="r")
    assert float(xp.asarray(m2)[5]) == 5.0


@pytest.fixture
def mapped(tmp_path):
    path = tmp_path / "numbers"
    path.write_bytes(np.arange(100_000.0).tobytes())
    return path


def test_read_only_maps_are_borrowed_by_what_they_are(mapped, used):
    whole = np.memmap(mapped, dtype="float64", mode="r")
    whole.mode = "r+"  # an attribute that anybody can set
    with open(mapped, "rb") as f:
        m = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)
    for source in (whole, whole[10:], whole.view(np.ndarray), np.frombuffer(m), memoryview(m)):
        before = used()
        x = xp.asarray(source)
        assert used() - before < 1000
        with pytest.raises(ValueError, match="read-only"):
            x[0] = 1


def test_maps_that_can_be_written_are_copied(mapped):
    for mode in ("r+", "c"):
        source = np.memmap(mapped, dtype="float64", mode=mode)
        source.mode = "r"
        read_only = source.view()
        read_only.flags.writeable = False
        for alias in (source, read_only):
            x = xp.asarray(alias)
            source[3] += 1
            assert float(x[3]) == float(source[3]) - 1

    class Memmap(np.ndarray):
        """Has the name and the attributes of a read-only map, and memory that can be written."""

        mode = "r"
        base = b""

    Memmap.__name__ = "memmap"
    numbers = np.arange(5.0)
    x = xp.asarray(numbers.view(Memmap))
    numbers[0] = 9
    assert float(x[0]) == 0.0


@pytest.mark.parametrize("copy", [None, False])
def test_a_borrowed_map_cannot_be_closed(mapped, copy):
    source = np.memmap(mapped, dtype="float64", mode="r")
    m = source.base
    x = xp.asarray(source, copy=copy)
    del source
    with pytest.raises(BufferError):
        m.close()
    assert float(x[-1]) == 99_999.0
    del x
    gc.collect()
    m.close()


def test_memory_of_bytes_is_borrowed_through_views(used):
    data = np.arange(100_000.0).tobytes()
    before = used()
    x = xp.asarray(np.frombuffer(data)[5:])
    assert used() - before < 1000
    assert float(x[0]) == 5.0


# ---------------------------------------------------------------- nested sequences


def test_nested_sequences(check):
    check(xp.asarray([[1, 2], [3, 4]]), np.array([[1, 2], [3, 4]]))
    check(xp.asarray(((True,), (False,))), np.array([[True], [False]]))
    check(xp.asarray([1, 2.5]), np.array([1, 2.5]))
    check(xp.asarray([1, 2j]), np.array([1, 2j]))
    check(xp.asarray([np.float64(1.5), np.int64(2)]), np.array([1.5, 2]))
    check(xp.asarray(range(5)), np.arange(5))
    check(xp.asarray([], dtype=xp.int8), np.array([], np.int8))
    check(xp.asarray([[], []]), np.zeros((2, 0)))
    check(xp.asarray([2**63 - 1, -(2**63)]), np.array([2**63 - 1, -(2**63)]))
    with pytest.raises(OverflowError):
        xp.asarray([2**64])
    with pytest.raises(OverflowError):
        xp.asarray([300], dtype=xp.int8)
    with pytest.raises(OverflowError):
        xp.asarray([-1], dtype=xp.uint64)


def test_sequences_that_contain_themselves_or_are_deep():
    loop = []
    loop.append(loop)
    with pytest.raises((ValueError, RecursionError, TypeError)):
        xp.asarray(loop)
    deep = 1
    for _ in range(65):
        deep = [deep]
    with pytest.raises(ValueError):
        xp.asarray(deep)
