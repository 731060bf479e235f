"""Arrow's C data interface, with structs made here, and with pyarrow where that is installed."""

import ctypes
import gc
import threading
from ctypes import POINTER, c_char_p, c_int64, c_void_p

import numpy as np
import pytest

import ascend_array_api as xp
from ascend_array_api import dtypes, runtime

FORMATS = {
    "bool": b"b",
    "int8": b"c",
    "uint8": b"C",
    "int16": b"s",
    "uint16": b"S",
    "int32": b"i",
    "uint32": b"I",
    "int64": b"l",
    "uint64": b"L",
    "float16": b"e",
    "float32": b"f",
    "float64": b"g",
}
RELEASE = ctypes.CFUNCTYPE(None, c_void_p)


class Schema(ctypes.Structure):
    _fields_ = [
        ("format", c_char_p),
        ("name", c_char_p),
        ("metadata", c_char_p),
        ("flags", c_int64),
        ("n_children", c_int64),
        ("children", c_void_p),
        ("dictionary", c_void_p),
        ("release", c_void_p),
        ("private_data", c_void_p),
    ]


class Column(ctypes.Structure):
    _fields_ = [
        ("length", c_int64),
        ("null_count", c_int64),
        ("offset", c_int64),
        ("n_buffers", c_int64),
        ("n_children", c_int64),
        ("buffers", POINTER(c_void_p)),
        ("children", c_void_p),
        ("dictionary", c_void_p),
        ("release", c_void_p),
        ("private_data", c_void_p),
    ]


python = ctypes.pythonapi
python.PyCapsule_New.restype = ctypes.py_object
python.PyCapsule_New.argtypes = [c_void_p, c_char_p, c_void_p]
python.PyCapsule_GetPointer.restype = c_void_p
python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, c_char_p]
NAMES = {Schema: b"arrow_schema", Column: b"arrow_array"}


PRODUCERS = []  # never freed: arrays may call back at any time


class Producer:
    """What a library of Arrow hands out, made of the bytes of NumPy arrays."""

    def __init__(self, dtype, values, length, offset=0, present=None, null_count=-1):
        self.values, self.present = values, present
        self.released = []
        PRODUCERS.append(self)
        self._release = RELEASE(self.release)
        release = ctypes.cast(self._release, c_void_p)
        addresses = [None if a is None else a.ctypes.data for a in (present, values)]
        self.buffers = (c_void_p * 2)(*addresses)
        self.schema = Schema(format=FORMATS.get(dtype, dtype), release=release)
        self.column = Column(
            length=length,
            null_count=null_count,
            offset=offset,
            n_buffers=2,
            buffers=self.buffers,
            release=release,
        )

    def release(self, address):
        self.released.append(threading.get_ident())
        Column.from_address(address).release = None

    def __arrow_c_array__(self, requested_schema=None):
        return tuple(
            python.PyCapsule_New(ctypes.addressof(s), NAMES[type(s)], None)
            for s in (self.schema, self.column)
        )


def content(kind, capsule):
    return kind.from_address(python.PyCapsule_GetPointer(capsule, NAMES[kind]))


def exported(arrow):
    """Return the struct that an export hands out, and what keeps it."""
    schema, column = arrow.__arrow_c_array__()
    return content(Schema, schema), content(Column, column), (schema, column)


def address(x):
    return np.asarray(x).ctypes.data


def sample(dtype, size=100):
    values = np.random.default_rng(2).integers(0, 100, size)
    return values % 3 == 0 if dtype == "bool" else values.astype(dtype)


def packed(values):
    return np.packbits(values, bitorder="little")


def ours(dtype):
    return dtypes.float16 if dtype == "float16" else getattr(xp, dtype)


@pytest.mark.parametrize("dtype", FORMATS)
class TestEveryDtype:
    def test_export(self, dtype):
        values = sample(dtype)
        schema, column, _kept = exported(runtime.to_arrow(xp.asarray(values)))
        assert schema.format == FORMATS[dtype]
        assert (column.length, column.null_count, column.offset) == (100, 0, 0)
        assert (column.n_buffers, column.n_children) == (2, 0)
        assert not column.buffers[0]
        size = 13 if dtype == "bool" else values.nbytes
        raw = np.frombuffer(ctypes.string_at(column.buffers[1], size), np.uint8)
        if dtype == "bool":
            got = np.unpackbits(raw, count=100, bitorder="little")
        else:
            got = raw.view(dtype)
        np.testing.assert_array_equal(got, values)

    @pytest.mark.parametrize("offset", [0, 1, 7, 8, 13])
    def test_import_at_an_offset(self, dtype, offset):
        values = sample(dtype)
        memory = packed(values) if dtype == "bool" else values
        x = runtime.from_arrow(Producer(dtype, memory, 80, offset), copy=False)
        assert (x.dtype, x.shape, x.device) == (ours(dtype), (80,), "cpu")
        np.testing.assert_array_equal(np.asarray(x), values[offset : offset + 80])
        if dtype != "bool":
            assert address(x) == values[offset:].ctypes.data

    def test_there_and_back_without_a_copy(self, dtype):
        x = xp.asarray(sample(dtype))
        there = runtime.to_arrow(x, copy=False)
        back = runtime.from_arrow(there, copy=False)
        np.testing.assert_array_equal(np.asarray(back), sample(dtype))
        again = exported(runtime.to_arrow(back, copy=False))[1].buffers[1]
        assert again == exported(there)[1].buffers[1]

    def test_nothing_in_it(self, dtype):
        x = xp.zeros(0, dtype=ours(dtype))
        back = runtime.from_arrow(runtime.to_arrow(x))
        assert (back.shape, back.dtype) == ((0,), ours(dtype))
        assert runtime.from_arrow(Producer(dtype, None, 0)).shape == (0,)


@pytest.mark.parametrize("start", [0, 1, 3, 8, 21])
@pytest.mark.parametrize("end", [99, 64, 30])
def test_views_of_bits_are_shared(start, end):
    values = sample("bool")
    x = xp.asarray(values)[start:end]
    _, column, _kept = exported(runtime.to_arrow(x, copy=False))
    assert (column.offset, column.length) == (start % 8, end - start)
    raw = ctypes.string_at(column.buffers[1], (start % 8 + end - start + 7) // 8)
    bits = np.unpackbits(np.frombuffer(raw, np.uint8), bitorder="little")
    np.testing.assert_array_equal(bits[start % 8 :][: end - start], values[start:end])
    np.testing.assert_array_equal(runtime.from_arrow(runtime.to_arrow(x)), values[start:end])


def test_export_shares_the_memory_of_the_array():
    x = xp.asarray(np.arange(1000.0))
    first = address(x)
    _, column, _kept = exported(runtime.to_arrow(x[10:20]))
    assert column.buffers[1] == first + 80


@pytest.mark.parametrize("dtype", ["bool", "float64"])
def test_what_is_exported_never_changes(dtype):
    x = xp.asarray(sample(dtype))
    arrow = runtime.to_arrow(x)
    _, column, _kept = exported(arrow)
    before = ctypes.string_at(column.buffers[1], 12)
    x[...] = xp.zeros_like(x)
    assert ctypes.string_at(column.buffers[1], 12) == before
    np.testing.assert_array_equal(np.asarray(runtime.from_arrow(arrow)), sample(dtype))
    assert not np.asarray(x).any()


def test_pending_results_are_computed():
    x = xp.ones(200_000) + 1.0
    np.testing.assert_array_equal(runtime.from_arrow(runtime.to_arrow(x)), np.full(200_000, 2.0))


@pytest.mark.parametrize("copy", [None, True])
def test_copies_where_needed(copy):
    x = xp.asarray(np.arange(10.0))
    backwards = runtime.to_arrow(x[::-1], copy=copy)
    np.testing.assert_array_equal(runtime.from_arrow(backwards), np.arange(10.0)[::-1])
    memory = np.arange(10.0)
    shared = xp.asarray(memory, copy=False)
    arrow = runtime.to_arrow(shared, copy=copy)
    memory[:] = 0
    np.testing.assert_array_equal(runtime.from_arrow(arrow), np.arange(10.0))


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: xp.zeros(10)[::2], "side by side"),
        (lambda: xp.zeros(10)[::-1], "side by side"),
        (lambda: xp.asarray(np.zeros(10), copy=False), "others can write"),
        (lambda: xp.zeros(10, device="cpu:1"), "another device"),
    ],
)
def test_refused_without_a_copy(make, why):
    x = make()
    with pytest.raises(BufferError, match=why):
        runtime.to_arrow(x, copy=False)
    assert len(runtime.to_arrow(x)) == x.size


@pytest.mark.parametrize(
    ("x", "error", "message"),
    [
        (xp.zeros((2, 3)), ValueError, r"shape \(2, 3\)"),
        (xp.asarray(1.0), ValueError, "1 dimension"),
        (xp.zeros(3, dtype=xp.complex64), TypeError, "complex64; accepted: bool"),
        (np.zeros(3), TypeError, "to_arrow: .*x"),
        ([1.0], TypeError, "to_arrow: .*x"),
    ],
)
def test_what_arrow_lacks(x, error, message):
    with pytest.raises(error, match=message):
        runtime.to_arrow(x)


def test_copy_is_a_bool():
    with pytest.raises(TypeError, match="copy"):
        runtime.to_arrow(xp.zeros(3), copy="yes")
    with pytest.raises(TypeError, match="copy"):
        runtime.from_arrow(runtime.to_arrow(xp.zeros(3)), copy="no")


def test_imported_is_read_only_unless_copied():
    arrow = runtime.to_arrow(xp.asarray([1.0, 2.0]))
    x = runtime.from_arrow(arrow)
    with pytest.raises(ValueError, match="read-only"):
        x[0] = 5.0
    for copied in (xp.asarray(x, copy=True), runtime.from_arrow(arrow, copy=True)):
        copied[0] = 5.0
        assert np.asarray(copied).tolist() == [5.0, 2.0]
    assert np.asarray(x).tolist() == [1.0, 2.0]


class TestNulls:
    PRESENT = np.ones(40, bool)
    PRESENT[[3, 17]] = False

    def producer(self, offset, length, null_count=-1):
        values = np.arange(40.0)
        return Producer("float64", values, length, offset, packed(self.PRESENT), null_count)

    @pytest.mark.parametrize(("offset", "length"), [(0, 40), (3, 1), (2, 20), (17, 23), (11, 7)])
    def test_are_refused_with_their_number(self, offset, length):
        missing = int(np.sum(~self.PRESENT[offset : offset + length]))
        with pytest.raises(ValueError, match=f"{missing} of {length} elements are null"):
            runtime.from_arrow(self.producer(offset, length))

    @pytest.mark.parametrize(("offset", "length"), [(0, 3), (4, 13), (18, 22), (8, 8), (4, 0)])
    def test_beside_the_elements_do_not_count(self, offset, length):
        x = runtime.from_arrow(self.producer(offset, length))
        np.testing.assert_array_equal(x, np.arange(40.0)[offset : offset + length])

    def test_counted_by_the_producer(self):
        assert runtime.from_arrow(self.producer(0, 40, null_count=0)).shape == (40,)
        with pytest.raises(ValueError, match="2 of 40"):
            runtime.from_arrow(self.producer(0, 40, null_count=2))


class TestRelease:
    def test_once_and_after_the_last_use(self):
        producer = Producer("float64", np.arange(9.0), 9)
        x = runtime.from_arrow(producer)
        assert not producer.column.release
        y = x[3:]
        del x
        gc.collect()
        assert not producer.released
        assert np.asarray(y).tolist() == [3, 4, 5, 6, 7, 8]
        del y
        gc.collect()
        assert len(producer.released) == 1

    @pytest.mark.parametrize("n", [9, 1_000_000])
    def test_after_a_copy(self, n):
        producer = Producer("float64", np.arange(float(n)), n)
        runtime.from_arrow(producer, copy=True)
        assert len(producer.released) == 1

    def test_a_pending_result_keeps_the_memory(self):
        producer = Producer("float64", np.arange(200_000.0), 200_000)
        y = runtime.from_arrow(producer) + 1.0
        assert float(y[-1]) == 200_000.0
        del y
        runtime.synchronize()
        gc.collect()
        assert len(producer.released) == 1

    def test_capsules_that_nobody_takes(self):
        pool = runtime.MemoryPool()
        x = xp.asarray(np.zeros(100_000))
        before = pool.used_bytes()
        capsules = [runtime.to_arrow(x + 1.0).__arrow_c_array__() for _ in range(3)]
        assert pool.used_bytes() >= before + 3 * 800_000
        del capsules
        gc.collect()
        assert pool.used_bytes() < before + 800_000

    def test_by_threads_without_the_interpreter(self):
        pool = runtime.MemoryPool()
        before = pool.used_bytes()

        def consume(column):
            # Calls through a function pointer run without the interpreter's lock.
            RELEASE(column.release)(ctypes.addressof(column))
            assert not column.release

        for _ in range(20):
            arrow = runtime.to_arrow(xp.ones(50_000))
            kept = [exported(arrow) for _ in range(4)]
            del arrow
            threads = [threading.Thread(target=consume, args=(k[1],)) for k in kept]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            del kept
        gc.collect()
        assert pool.used_bytes() < before + 400_000

    def test_imported_in_several_threads(self):
        producers = [Producer("int64", np.arange(50_000), 50_000) for _ in range(8)]
        sums = []

        def use(producer):
            sums.append(int(xp.sum(runtime.from_arrow(producer))))

        threads = [threading.Thread(target=use, args=(p,)) for p in producers]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        runtime.synchronize()
        gc.collect()
        assert sums == [sum(range(50_000))] * 8
        assert [len(p.released) for p in producers] == [1] * 8


def test_misaligned_memory_is_copied():
    raw = np.zeros(8 * 10 + 1, np.uint8)
    raw[1:] = np.arange(10.0).view(np.uint8)
    producer = Producer("float64", raw[1:], 10)
    with pytest.raises(BufferError, match="not aligned"):
        runtime.from_arrow(producer, copy=False)
    assert not producer.released
    np.testing.assert_array_equal(runtime.from_arrow(producer), np.arange(10.0))
    assert len(producer.released) == 1


class TestHostile:
    @pytest.mark.parametrize(
        ("fields", "message"),
        [
            ({"length": -1}, "length or offset"),
            ({"offset": -1}, "length or offset"),
            ({"length": 2**62, "offset": 2**62}, "length or offset"),
            ({"length": 2**62}, "length or offset"),
            ({"length": 1, "offset": 2**60}, "length or offset"),
            ({"n_buffers": 1}, "2 buffers"),
            ({"n_buffers": 3}, "2 buffers"),
            ({"n_buffers": 2**60}, "2 buffers"),
            ({"n_children": 1}, "no children"),
            ({"buffers": None}, "2 buffers"),
            ({"dictionary": 8}, "no children"),
            ({"null_count": 1}, "bitmap of nulls is missing"),
            ({"release": None}, "released already"),
        ],
    )
    def test_columns(self, fields, message):
        producer = Producer("float64", np.arange(5.0), 5)
        for field, value in fields.items():
            setattr(producer.column, field, value)
        with pytest.raises(BufferError, match=message):
            runtime.from_arrow(producer)
        assert not producer.released

    def test_no_values(self):
        with pytest.raises(BufferError, match="values are missing"):
            runtime.from_arrow(Producer("float64", None, 5))

    @pytest.mark.parametrize(
        ("form", "dictionary"),
        [(b"u", None), (b"n", None), (b"+s", None), (b"tsu:UTC", None), (b"", None), (b"l", 8)]
        + [(b"x" * 5000, None), (b"gg", None), (b"\xff\xfe", None)],
    )
    def test_types(self, form, dictionary):
        producer = Producer(form, np.arange(5.0), 5)
        producer.schema.dictionary = dictionary
        with pytest.raises(TypeError, match="from_arrow: Arrow type of format"):
            runtime.from_arrow(producer)
        assert not producer.released

    def test_no_format(self):
        producer = Producer("float64", np.arange(5.0), 5)
        producer.schema.format = None
        with pytest.raises(BufferError, match="no format"):
            runtime.from_arrow(producer)

    def test_the_same_capsule_twice(self):
        producer = Producer("float64", np.arange(5.0), 5)
        x = runtime.from_arrow(producer)
        with pytest.raises(BufferError, match="released already"):
            runtime.from_arrow(producer)
        assert float(xp.sum(x)) == 10.0

    @pytest.mark.parametrize("result", [None, 3, (), (1,), (1, 2), (None, None), [1, 2], (1, 2, 3)])
    def test_no_capsules(self, result):
        class Other:
            def __arrow_c_array__(self):
                return result

        with pytest.raises(TypeError, match="__arrow_c_array__ returned no"):
            runtime.from_arrow(Other())

    def test_capsules_in_the_wrong_order(self):
        schema, column = Producer("float64", np.arange(5.0), 5).__arrow_c_array__()

        class Swapped:
            def __arrow_c_array__(self):
                return column, schema

        with pytest.raises(TypeError, match="no capsule named arrow_schema"):
            runtime.from_arrow(Swapped())

    def test_no_method(self):
        for other in (None, [1.0], np.zeros(3), xp.zeros(3)):
            with pytest.raises(TypeError, match="has no method __arrow_c_array__"):
                runtime.from_arrow(other)

    def test_only_to_arrow_makes_exports(self):
        with pytest.raises(TypeError, match="made by to_arrow"):
            runtime.ArrowArray()
        with pytest.raises(AttributeError):
            object.__new__(runtime.ArrowArray).__arrow_c_array__()


class TestPyarrow:
    @pytest.fixture
    def pa(self):
        return pytest.importorskip("pyarrow")

    @pytest.mark.parametrize("dtype", FORMATS)
    def test_both_ways(self, pa, dtype):
        values = sample(dtype)
        there = pa.array(runtime.to_arrow(xp.asarray(values)))
        there.validate(full=True)
        np.testing.assert_array_equal(there.to_numpy(zero_copy_only=False), values)
        for arrow, wanted in [(there, values), (there[3:90], values[3:90])]:
            x = runtime.from_arrow(arrow, copy=False)
            assert x.dtype == ours(dtype)
            np.testing.assert_array_equal(np.asarray(x), wanted)

    def test_without_a_copy(self, pa):
        x = xp.asarray(np.arange(1000.0))
        first = address(x)
        there = pa.array(runtime.to_arrow(x))
        assert there.buffers()[1].address == first
        assert address(runtime.from_arrow(there)) == first

    def test_bits(self, pa):
        there = pa.array(runtime.to_arrow(xp.arange(77)[5:] % 3 == 0))
        assert there.to_pylist() == [i % 3 == 0 for i in range(5, 77)]

    def test_nulls_and_other_types(self, pa):
        with pytest.raises(ValueError, match="1 of 3 elements are null"):
            runtime.from_arrow(pa.array([1, None, 3]))
        for other in (pa.array(["a"]), pa.array([[1]]), pa.array([1, 2]).dictionary_encode()):
            with pytest.raises(TypeError, match="Arrow type of format"):
                runtime.from_arrow(other)
        with pytest.raises(TypeError, match="several chunks"):
            runtime.from_arrow(pa.chunked_array([[1], [2]]))
