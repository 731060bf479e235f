"""Sentences of the design that no other file tests: dtypes, modes, ownership, the array class."""

import gc
import pickle
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import ascend_array_api as xp
from ascend_array_api import runtime
from ascend_array_api.profiler import Profiler

X = xp.asarray([1, 2, 3])
F32 = xp.asarray([1.0, 2.0, 3.0], dtype=xp.float32)

# np.dtype("float64") == None is True, so that only `is None` tells that no dtype was given.
WITH_DTYPE = {
    "arange": lambda d: xp.arange(3, dtype=d),
    "asarray": lambda d: xp.asarray([1, 2], dtype=d),
    "full": lambda d: xp.full(2, 1, dtype=d),
    "full_like": lambda d: xp.full_like(X, 1, dtype=d),
    "empty_like": lambda d: xp.empty_like(X, dtype=d),
    "ones_like": lambda d: xp.ones_like(X, dtype=d),
    "zeros_like": lambda d: xp.zeros_like(X, dtype=d),
    "linspace": lambda d: (
        xp.linspace(0j, 1.0, 3, dtype=d) if d is None else xp.linspace(0, 1, 3, dtype=d)
    ),
    "sum": lambda d: xp.sum(F32, dtype=d),
    "prod": lambda d: xp.prod(F32, dtype=d),
    "cumulative_sum": lambda d: xp.cumulative_sum(F32, dtype=d),
    "cumulative_prod": lambda d: xp.cumulative_prod(F32, dtype=d),
    "trace": lambda d: xp.linalg.trace(xp.eye(2, dtype=xp.float32), dtype=d),
}


@pytest.mark.parametrize("name", WITH_DTYPE)
def test_float64_is_not_taken_for_none(name):
    call = WITH_DTYPE[name]
    assert call(None).dtype != xp.float64
    assert call(xp.float64).dtype is xp.float64


def test_dtypes_are_the_same_objects_wherever_they_come_from():
    for other in (np.dtype("longlong"), np.dtype("q"), np.dtype("<i8"), np.dtype("=i8")):
        assert xp.zeros(2, dtype=other).dtype is xp.int64
        assert xp.asarray(np.zeros(2, other)).dtype is xp.int64
        assert xp.result_type(other, xp.int8) is xp.int64
        assert xp.isdtype(other, xp.int64)
    assert xp.asarray(np.arange(3, dtype=">f8")).dtype is xp.float64


OPERATORS = """abs add and eq floordiv ge gt invert le lshift lt matmul mod mul ne neg or pos pow
rshift sub truediv xor""".split()
ARITHMETIC = "add and floordiv lshift matmul mod mul or pow rshift sub truediv xor".split()
PROTOCOLS = """array array_namespace array_ufunc bool complex copy deepcopy delitem dlpack
dlpack_device float format getitem index int iter len reduce_ex repr setitem str""".split()


def test_the_class_has_what_the_standard_and_consumers_need_and_nothing_else():
    expected = {f"__{name}__" for name in OPERATORS + PROTOCOLS}
    expected |= {f"__{prefix}{name}__" for name in ARITHMETIC for prefix in "ri"}
    if sys.version_info >= (3, 12):  # the buffer protocol has names there
        expected |= {"__buffer__", "__release_buffer__"}
    own = set(dir(runtime.Array)) - set(dir(object))
    assert {name for name in own if name.startswith("__")} - {"__module__"} == expected - set(
        dir(object)
    )
    for name in expected:
        assert hasattr(runtime.Array, name), name


@pytest.mark.parametrize("strict", [True, False])
def test_numpy_scalars_are_weak_in_both_modes(strict):
    with runtime.strict(strict):
        for x, scalar in (
            (xp.asarray([1], dtype=xp.int8), np.int64(1)),
            (F32, np.float64(0.5)),
            (F32, np.int32(2)),
            (xp.asarray([1j], dtype=xp.complex64), np.complex128(1j)),
            (xp.asarray([True]), np.bool_(False)),
        ):
            assert (x == scalar).dtype is xp.bool
            assert xp.where(xp.asarray([True]), x, scalar).dtype is x.dtype
            if x.dtype != xp.bool:
                assert (x + scalar).dtype is (scalar + x).dtype is x.dtype


def test_the_mode_of_the_call_holds_when_work_runs_later(check):
    x = xp.arange(100_000)
    with runtime.strict(False):
        y = x / 2 + xp.sqrt(x)
    assert runtime.get_strict()
    n = np.arange(100_000)
    np.testing.assert_allclose(np.asarray(y), n / 2 + np.sqrt(n), rtol=1e-15)


def test_indices_out_of_bounds_raise_at_the_call_even_when_they_are_pending():
    indices = xp.arange(100_000) + 1
    with pytest.raises(IndexError, match="100000"):
        xp.zeros(100_000)[indices]
    with pytest.raises(IndexError, match=r"take: .*100000"):
        xp.take(xp.zeros(100_000), indices)


def test_owners_from_outside_are_released_by_python_threads():
    released = []

    class Owner(np.ndarray):
        pass

    results = []
    for _ in range(10):
        owner = np.frombuffer(bytes(800_000)).view(Owner)
        weakref.finalize(owner, lambda: released.append(threading.current_thread().name))
        results.append(xp.asarray(owner) + 1.0)
    del owner
    runtime.synchronize()
    assert all(float(x[-1]) == 1.0 for x in results)
    for _ in range(100):
        gc.collect()
    assert len(released) == 10


def test_pickles_do_not_keep_aliases():
    x = xp.zeros(4)
    whole, part = pickle.loads(pickle.dumps((x, x[:2])))
    part[0] = 1.0
    assert float(whole[0]) == 0.0


@pytest.mark.parametrize("dtype", [xp.bool, xp.int8, xp.float64], ids=str)
def test_threads_that_write_parts_of_one_array_lose_nothing(dtype):
    n, cut = 3_000_001, 1_500_003
    one = xp.ones((), dtype=dtype)
    for _ in range(30 if dtype is xp.bool else 10):
        x = xp.zeros(n, dtype=dtype)  # recorded; so are the writes, by threads that run at once
        for value in (one, xp.zeros_like(one)):
            threads = [
                threading.Thread(target=x.__setitem__, args=(key, value))
                for key in (slice(cut), slice(cut, None))
            ]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            assert bool(xp.all(x == value))


def test_devices_are_inherited():
    for x in (xp.zeros_like(X), xp.asarray(X), xp.from_dlpack(X), xp.asarray(np.zeros(2))):
        assert x.device is X.device
    assert xp.zeros(2).device == xp.__array_namespace_info__().default_device()


def test_relaxed_logic_is_numpys(check):
    a, b = np.asarray([0, 1, 2]), np.asarray([3, 0, 4])
    with pytest.raises(TypeError, match=r"logical_and: .*or relax with"):
        xp.logical_and(xp.asarray(a), xp.asarray(b))
    with runtime.strict(False):
        for name in ("logical_and", "logical_or", "logical_xor"):
            got = getattr(xp, name)(xp.asarray(a), xp.asarray(b))
            check(got, getattr(np, name)(a, b))
        check(xp.logical_not(xp.asarray([0.0, 1.5, np.nan])), np.asarray([True, False, False]))


def test_the_hint_to_relax_is_given_only_where_it_helps():
    for call in (
        lambda: xp.bitwise_and(F32, F32),
        lambda: xp.floor(xp.asarray([1j])),
        lambda: xp.linalg.inv(xp.zeros((2, 2), dtype=xp.dtypes.float16)),
        lambda: xp.var(xp.asarray([1j])),
    ):
        with pytest.raises(TypeError) as e:
            call()
        assert "relax" not in str(e.value)
        with runtime.strict(False), pytest.raises(TypeError):
            call()


def test_the_modes_are_set_by_bools():
    for bad in (None, "0", 1.5, []):
        with pytest.raises(TypeError, match="set_strict: enabled"):
            runtime.set_strict(bad)
        with pytest.raises(TypeError, match="strict: enabled"), runtime.strict(bad):
            pass


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: xp.sum(F32, keepdims=10**30), TypeError, "sum: keepdims must be True or False"),
        (lambda: xp.sort(F32, descending=-(2**70)), TypeError, "sort: descending must be True"),
        (lambda: xp.clip(xp.ones(3), min=xp.ones(2)), ValueError, "clip: "),
        (lambda: xp.clip(xp.ones(3), max=xp.ones(2)), ValueError, "clip: "),
        (lambda: xp.diff(None), TypeError, "diff: "),
        (lambda: Profiler().export_chrome_trace(1), TypeError, "export_chrome_trace: path must be"),
    ],
)
def test_errors_name_the_function(call, error, message):
    with pytest.raises(error, match=f"^{message}"):
        call()


@pytest.mark.parametrize("value", ["abc", "-3", "2.5", "", "0"])
def test_a_number_of_threads_that_is_none(child_env, value):
    env = child_env | {"ASCEND_ARRAY_API_NUM_THREADS": value}
    command = [sys.executable, "-c", "import ascend_array_api"]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert f"ASCEND_ARRAY_API_NUM_THREADS is a positive integer, got {value!r}" in done.stderr
