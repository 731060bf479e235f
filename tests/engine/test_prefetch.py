"""prefetch: order, overlap, errors at their place, and a clean end."""

import gc
import threading
import time
from collections import OrderedDict, defaultdict
from typing import NamedTuple

import numpy as np
import pytest

import ascend_array_api as xp
from ascend_array_api import runtime


def batches(n, taken=None):
    for i in range(n):
        if taken is not None:
            taken.append(i)
        yield np.full((50, 100), float(i))


def loaders():
    return [t for t in threading.enumerate() if t.name == "ascend_array_api prefetch"]


@pytest.fixture(autouse=True)
def no_thread_stays():
    yield
    gc.collect()
    end = time.monotonic() + 20
    while loaders() and time.monotonic() < end:
        time.sleep(0.01)
    assert loaders() == []


@pytest.mark.parametrize("depth", [1, 2, 7, 100])
def test_every_batch_in_order(depth):
    sums = [float(xp.sum(x)) for x in runtime.prefetch(batches(40), depth=depth)]
    assert sums == [5000.0 * i for i in range(40)]


def test_arrays_anywhere_in_a_batch():
    class Pair(NamedTuple):
        image: object
        label: int

    source = [{"a": [np.ones(3), (np.zeros(2, np.int8), "name")], "b": Pair(xp.ones(2), 7)}]
    (batch,) = runtime.prefetch(source, device="cpu")
    assert isinstance(batch["a"][0], runtime.Array)
    assert batch["a"][1][0].dtype == xp.int8
    assert batch["a"][1][1] == "name"
    assert isinstance(batch["b"], Pair)
    assert batch["b"].label == 7
    assert isinstance(batch["b"].image, runtime.Array)


def test_containers_keep_their_type():
    class Point(tuple):
        def __new__(cls, x, y):
            return super().__new__(cls, (x, y))

    class Rows(list):
        pass

    counts = defaultdict(int, {"x": np.ones(3)})
    named = Point(np.ones(2), "a")
    named.unit = "mm"
    source = [
        named,
        counts,
        OrderedDict(b=np.ones(1), a=2),
        Rows([np.ones(1)]),
        time.gmtime(0),
    ]
    point, count, ordered, rows, moment = runtime.prefetch(source, device="cpu", depth=np.int64(2))
    assert isinstance(point, Point)
    assert (point[0].dtype, point[1], point.unit) == (xp.float64, "a", "mm")
    assert count["no key"] == 0
    assert isinstance(count["x"], runtime.Array)
    assert list(ordered) == ["b", "a"]
    assert isinstance(ordered, OrderedDict)
    assert isinstance(rows, Rows)
    assert isinstance(rows[0], runtime.Array)
    assert moment is source[-1]
    assert isinstance(counts["x"], np.ndarray)  # the source's own


@pytest.mark.parametrize("lib", [np, xp])
@pytest.mark.parametrize("device", [None, "cpu"])
def test_batches_are_snapshots(lib, device):
    def reused():
        room = lib.zeros(1000)
        for i in range(10):
            room[:] = i
            yield room

    got = [float(x[-1]) for x in runtime.prefetch(reused(), device=device)]
    assert got == list(range(10))


def test_every_reader_meets_the_end():
    reader = runtime.prefetch(batches(20))
    taken, errors = [], []

    def read():
        try:
            taken.extend(float(x[0, 0]) for x in reader)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert errors == []
    assert sorted(taken) == list(range(20))


def test_recorded_work_of_the_source_is_done_by_the_loader():
    def recorded():
        for i in range(3):
            yield xp.ones(100_000) * float(i)

    from ascend_array_api import _core

    reader = runtime.prefetch(recorded())
    time.sleep(0.3)
    x = next(reader)
    groups = _core.tape_counters()["groups"]
    assert float(x[5]) == 0.0
    reader.close()
    assert _core.tape_counters()["groups"] - groups <= 2


def test_loading_runs_beside_the_loop():
    def slow():
        for i in range(5):
            time.sleep(0.1)
            yield np.full(3, float(i))

    start = time.monotonic()
    for _ in runtime.prefetch(slow()):
        time.sleep(0.1)
    assert time.monotonic() - start < 0.85  # 1.0 one after the other


@pytest.mark.parametrize("depth", [1, 3])
def test_at_most_depth_batches_wait(depth):
    taken = []
    reader = runtime.prefetch(batches(20, taken), depth=depth)
    time.sleep(0.3)
    assert len(taken) == depth
    next(reader)
    time.sleep(0.3)
    assert len(taken) == depth + 1
    reader.close()


def test_errors_come_at_their_item():
    def broken():
        yield np.zeros(2)
        yield np.ones(2)
        raise OSError("disk")

    reader = runtime.prefetch(broken())
    assert float(next(reader)[0]) == 0.0
    assert float(next(reader)[0]) == 1.0
    with pytest.raises(OSError, match="disk"):
        next(reader)
    with pytest.raises(StopIteration):
        next(reader)


@pytest.mark.parametrize("kind", ["U4", "S4", "O", "M8[D]", "i4,f8"])
def test_arrays_of_other_dtypes_stay_numpys(kind):
    labels = np.asarray([2, 3]).astype(kind)
    before = labels.copy()
    with runtime.prefetch([{"x": np.zeros(2), "label": labels}], depth=1) as reader:
        batch = next(reader)
        labels[:] = labels[::-1].copy()  # the source may write to it again
        np.testing.assert_array_equal(batch["label"], before, strict=True)
        assert isinstance(batch["x"], runtime.Array)


@pytest.mark.parametrize("how", ["close", "with", "forget", "break"])
def test_the_source_stops_early(how):
    taken, closed = [], []

    def endless():
        try:
            while True:
                taken.append(1)
                yield np.zeros(10)
        finally:
            closed.append(True)

    if how == "with":
        with runtime.prefetch(endless()) as reader:
            next(reader)
    elif how == "break":
        for _ in runtime.prefetch(endless()):
            break
    else:
        reader = runtime.prefetch(endless())
        next(reader)
        if how == "close":
            reader.close()
            with pytest.raises(StopIteration):
                next(reader)
        del reader
    gc.collect()
    end = time.monotonic() + 20
    while not closed and time.monotonic() < end:
        time.sleep(0.01)
    assert closed == [True]
    assert len(taken) <= 4


def test_modes_hold_for_the_source():
    def mixed():
        yield xp.asarray([1, 2]) * 0.5

    with runtime.strict(False):
        reader = runtime.prefetch(mixed())
    assert float(next(reader)[1]) == 1.0
    with pytest.raises(TypeError):
        next(runtime.prefetch(mixed()))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"depth": 0}, ValueError, "at least 1"),
        ({"depth": 1.5}, TypeError, "depth must be an int"),
        ({"device": "tpu"}, ValueError, "prefetch"),
    ],
)
def test_bad_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        runtime.prefetch([], **arguments)
    with pytest.raises(TypeError, match="an iterable of batches is needed, got int"):
        runtime.prefetch(3)


def test_a_forked_child_is_told(child):
    code = """
    import warnings
    warnings.simplefilter("ignore")
    reader = runtime.prefetch(np.zeros(2) for _ in range(10))
    next(reader)
    time.sleep(0.3)
    pid = os.fork()
    if pid == 0:
        try:
            for _ in range(10):
                next(reader)
        except RuntimeError as error:
            os._exit(3 if "forked process" in str(error) else 4)
        os._exit(5)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    reader.close()
    """
    assert child(code) == "3\n"


def test_the_interpreter_ends_with_one_open(child):
    code = """
    def endless():
        while True:
            yield np.zeros(1000)
    reader = runtime.prefetch(endless())
    print(next(reader).shape)
    """
    assert child(code) == "(1000,)\n"
