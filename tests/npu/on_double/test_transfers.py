"""What moves between the host and the NPU, counted by the double."""

import gc
import os
import pickle

import numpy as np
import pytest
from npu_arrays import back, on_npu

import ascend_array_api as xp
from ascend_array_api import runtime, testing


@pytest.fixture(autouse=True)
def from_zero(control):
    control.reset_counters()


def moved(control):
    return control.counter("bytes_h2d"), control.counter("bytes_d2h")


def test_nine_operations_move_each_input_and_the_result_once(control):
    a, b, c = np.random.default_rng(0).random((3, 512, 512), dtype=np.float32)
    x, y, z = map(on_npu, (a, b, c))
    result = ((x + y) * z - x) / (y + 1.5)
    result = xp.sqrt(xp.abs(result)) + x * z
    got = back(result)
    up, down = moved(control)
    assert down == a.nbytes
    assert 3 * a.nbytes <= up <= 3 * a.nbytes + 4096
    # A round trip for each operation: three arrays for each of seven of two operands, two for two.
    round_trips = (7 * 3 + 2 * 2) * a.nbytes
    assert 1 - (up + down) / round_trips >= 0.8
    expected = np.sqrt(np.abs(((a + b) * c - a) / (b + np.float32(1.5)))) + a * c
    np.testing.assert_allclose(got, expected, rtol=1e-6)


@pytest.mark.skipif(os.environ.get("CANN_DOUBLE_SEED", "0") != "0", reason="takes a minute")
def test_nine_operations_move_a_ninth_of_what_nine_round_trips_do(control):
    n = 4096
    a = np.random.default_rng(0).random((n, n), dtype=np.float32)
    x = on_npu(a)
    y = -abs(x)
    for number in (1.5, 0.5, 2.0):
        y = (y + number) * number
    y = y - 1
    got = back(y)
    # Nine round trips would move eighteen arrays: this is 88.9 % less.
    assert moved(control) == (a.nbytes, a.nbytes)
    expected = -np.abs(a)
    for number in (1.5, 0.5, 2.0):
        expected = (expected + np.float32(number)) * np.float32(number)
    np.testing.assert_array_equal(got, expected - 1)


def test_an_array_that_is_never_used_never_moves(control):
    on_npu(np.ones(100_000, np.float32))
    runtime.synchronize()
    assert moved(control) == (0, 0)


def test_an_array_that_is_used_often_moves_once(control):
    a = np.arange(50_000, dtype=np.float32)
    x = on_npu(a)
    for i in range(10):
        np.testing.assert_array_equal(back(x + i), a + np.float32(i))
    up, down = moved(control)
    assert a.nbytes <= up <= a.nbytes + 4096
    assert down == 10 * a.nbytes


def test_an_unchanged_array_is_read_once(control):
    a = np.arange(50_000, dtype=np.float32)
    y = on_npu(a) * 2
    for _ in range(3):
        np.testing.assert_array_equal(back(y), a * 2)
    assert moved(control)[1] == a.nbytes
    y += 1
    np.testing.assert_array_equal(back(y), a * 2 + 1)
    assert moved(control)[1] == 2 * a.nbytes


def test_what_the_host_gave_is_read_from_the_host(control):
    a = np.arange(50_000, dtype=np.float32)
    np.testing.assert_array_equal(back(on_npu(a)), a)
    assert moved(control) == (0, 0)


def test_a_snapshot_is_taken_at_the_call(control):
    a = np.arange(1000, dtype=np.float32)
    x = on_npu(a)
    a[:] = -1
    np.testing.assert_array_equal(back(x + 0), np.arange(1000))


def test_a_part_of_an_array_is_written_in_place(control):
    a = np.arange(10_000, dtype=np.float32)
    x = on_npu(a)
    x[10:20] = 5
    a[10:20] = 5
    np.testing.assert_array_equal(back(x), a)
    assert moved(control)[0] <= a.nbytes + 4096


def test_two_devices_do_not_mix():
    x, y = on_npu([1.0, 2.0]), on_npu([3.0, 4.0], device="npu:1")
    with pytest.raises(ValueError, match=r"npu:0 and npu:1"):
        x + y
    np.testing.assert_array_equal(back(x.to_device("npu:1") + y), [4.0, 6.0])


@pytest.mark.parametrize(
    "read",
    [np.asarray, np.array, lambda x: np.asarray([x, x]), lambda x: np.where([True, False], x, 0)],
    ids=["asarray", "array", "list", "where"],
)
@pytest.mark.parametrize("dtype", ["float32", "bool", "complex64"])
def test_numpy_is_refused_and_told_the_way(control, read, dtype):
    x = on_npu(np.ones(2, dtype)) & True if dtype == "bool" else on_npu(np.ones(2, dtype)) + 1
    with pytest.raises(TypeError, match=r'__array__: .*npu:0.*to_device\("cpu"\)'):
        read(x)
    assert moved(control)[1] == 0
    assert np.asarray(x.to_device("cpu")).dtype == dtype


@pytest.mark.parametrize("options", [{"copy": False}, {"copy": True}, {"dtype": np.float64}])
def test_numpy_is_refused_whatever_it_asks_for(options):
    with pytest.raises(TypeError, match="to_device"):
        on_npu(np.ones(2, np.float32)).__array__(**options)


def test_a_buffer_is_refused_and_told_the_way():
    with pytest.raises(BufferError, match=r'buffer: .*npu:0.*to_device\("cpu"\)'):
        memoryview(on_npu(np.ones(2, np.float32)))


def test_numbers_text_pickles_and_dlpack_copy():
    a = np.asarray([1.5, 2.0], np.float32)
    x = on_npu(a) + 1
    assert (float(x[0]), int(x[1]), bool(x[0]), f"{x[0]:.2f}") == (2.5, 3, True, "2.50")
    assert "2.5" in repr(x)
    again = pickle.loads(pickle.dumps(x))
    assert again.device == "npu:0"
    np.testing.assert_array_equal(back(again), a + 1)
    there = x.__dlpack__(dl_device=(1, 0), max_version=(1, 0))
    assert "dltensor_versioned" in repr(there)
    np.testing.assert_array_equal(xp.from_dlpack(x, device="cpu"), a + 1)
    with pytest.raises(BufferError, match="the device changes"):
        x.__dlpack__(dl_device=(1, 0), copy=False)


def test_tools_of_this_library_take_arrays_of_an_npu():
    a = np.asarray([1.0, 2.0], np.float32)
    above = np.nextafter(a, np.float32(9))
    assert testing.ulp_distance(on_npu(a), on_npu(above)).tolist() == [1, 1]
    report = testing.verify(
        lambda x: x.to_device("npu:0") + 0, "float32", 10, reference=lambda x: x
    )
    assert report.max_ulp == 0


# ---- memory of others that nobody writes to

N = 1 << 19


@pytest.fixture
def mapped(tmp_path):
    """A read-only map of a file with 2 MiB of float32."""
    np.arange(N, dtype=np.float32).tofile(tmp_path / "numbers")
    return np.memmap(tmp_path / "numbers", np.float32, "r")


def test_a_read_only_map_is_not_copied_on_the_host(control, mapped):
    runtime.MemoryPool("npu:0").free_all_blocks()
    pinned = control.counter("pinned_bytes")
    x = xp.asarray(mapped, device="npu:0")
    assert control.counter("registered_bytes") == mapped.nbytes
    assert moved(control) == (0, 0)
    total = xp.sum(x)
    y = xp.asarray(mapped, device="npu:0") + x
    assert control.counter("registrations") == 1
    np.testing.assert_array_equal(back(x), mapped)
    assert float(total) == pytest.approx(N * (N - 1) / 2, rel=1e-6)
    assert moved(control)[0] <= 2 * mapped.nbytes + 4096
    assert control.counter("pinned_bytes") - pinned < 1 << 20
    np.testing.assert_array_equal(back(y), mapped * 2)
    x[0] = 7
    del y
    np.testing.assert_array_equal(back(x)[:2], [7, 1])
    assert mapped[0] == 0
    del x, total
    runtime.MemoryPool("npu:0").free_all_blocks()
    assert control.counter("registered_bytes") == 0


def test_bytes_stay_locked_until_their_copy_has_run(control):
    a = np.arange(N, dtype=np.float32)
    x = xp.asarray(memoryview(a.tobytes()).cast("f"), device="npu:0")
    y = x + 1
    runtime.evaluate(y)
    del x
    gc.collect()
    np.testing.assert_array_equal(back(y), a + 1)
    runtime.MemoryPool("npu:0").free_all_blocks()
    assert (control.counter("registrations"), control.counter("registered_bytes")) == (1, 0)


@pytest.mark.parametrize("kind", ["small", "writable", "refused", "overlapping"])
def test_what_is_not_locked_is_copied(control, mapped, kind):
    if kind == "refused":
        control.fault("aclrtHostRegister=207000")
    source = {"small": mapped[:1000], "writable": mapped.copy()}.get(kind, mapped)
    first = xp.asarray(mapped[: N // 2 + 9], device="npu:0") if kind == "overlapping" else None
    np.testing.assert_array_equal(back(xp.asarray(source, device="npu:0") + 1), source + 1)
    assert control.counter("registrations") == (first is not None)


def test_two_devices_share_a_lock(control, mapped):
    x, y = (xp.asarray(mapped, device=f"npu:{n}") for n in range(2))
    np.testing.assert_array_equal(back(x + 1), mapped + 1)
    del x
    runtime.MemoryPool("npu:0").free_all_blocks()
    np.testing.assert_array_equal(back(y + 2), mapped + 2)
    assert control.counter("registrations") == 1
    del y
    runtime.MemoryPool("npu:1").free_all_blocks()
    assert control.counter("registered_bytes") == 0
