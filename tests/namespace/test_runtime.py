"""Devices, strictness, threads and the memory pool."""

import asyncio
import copy
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import ascend_array_api as xp
from ascend_array_api import runtime
from ascend_array_api.runtime import Device


class TestDevice:
    def test_one_object_for_each(self):
        device = Device("cpu")
        assert device is Device("cpu") is Device(device) is xp.zeros(1).device
        assert pickle.loads(pickle.dumps(device)) is device
        assert copy.copy(device) is copy.deepcopy(device) is device

    def test_equality(self):
        device = Device("cpu")
        assert device == "cpu"
        assert "cpu" == device
        assert device != "npu:0"
        assert hash(device) == hash("cpu")
        assert {device: 1}["cpu"] == 1
        for other in (None, 3, object(), b"cpu", np.float64(1)):
            assert (device == other) is False
            assert (device != other) is True

    def test_text(self):
        assert str(Device("cpu")) == Device("cpu").name == "cpu"
        assert repr(Device("cpu")) == "Device('cpu')"

    @pytest.mark.parametrize("bad", ["gpu", "", "CPU", "cpu:0"])
    def test_unknown(self, bad):
        with pytest.raises(ValueError, match=f"Device: unknown device '{bad}'; available: 'cpu'"):
            Device(bad)

    def test_closed(self):
        for bad in (3, None):
            with pytest.raises(TypeError, match="Device or a string"):
                Device(bad)
        with pytest.raises(TypeError):
            type("Other", (Device,), {})
        with pytest.raises(AttributeError):
            Device("cpu").other = 1

    @pytest.mark.parametrize("function", [xp.zeros, xp.ones, xp.empty, xp.arange, xp.eye])
    def test_creation(self, function):
        assert function(2, device="cpu").device is Device("cpu")
        assert function(2, device=Device("cpu")).device is Device("cpu")
        with pytest.raises(ValueError, match=f"{function.__name__}: unknown device 'gpu'.*'cpu'"):
            function(2, device="gpu")


def mixes():
    try:
        return xp.asarray([1]) * 0.5
    except TypeError:
        return None


class TestStrictness:
    def test_default(self):
        assert runtime.get_strict() is True
        assert mixes() is None

    def test_block(self):
        with runtime.strict(False):
            assert runtime.get_strict() is False
            assert float(mixes()[0]) == 0.5
            with runtime.strict():
                assert runtime.get_strict() is True
                assert mixes() is None
            assert runtime.get_strict() is False
        assert runtime.get_strict() is True

    def test_block_ends_with_an_error(self):
        with pytest.raises(ZeroDivisionError), runtime.strict(False):
            raise ZeroDivisionError
        assert runtime.get_strict() is True

    def test_decorator(self):
        @runtime.strict(False)
        def relaxed():
            return mixes()

        assert relaxed() is not None
        assert relaxed() is not None
        assert mixes() is None

    def test_process_wide_setting(self):
        try:
            runtime.set_strict(False)
            assert runtime.get_strict() is False
            assert mixes() is not None
            with runtime.strict(True):
                assert mixes() is None
            seen = []
            thread = threading.Thread(target=lambda: seen.append(runtime.get_strict()))
            thread.start()
            thread.join()
            assert seen == [False]
        finally:
            runtime.set_strict(True)

    def test_block_does_not_reach_other_threads(self):
        seen = []
        with runtime.strict(False):
            thread = threading.Thread(target=lambda: seen.append(runtime.get_strict()))
            thread.start()
            thread.join()
        assert seen == [True]

    def test_block_belongs_to_its_task(self):
        async def relaxed(entered, leave):
            with runtime.strict(False):
                entered.set()
                await leave.wait()
                return runtime.get_strict()

        async def run():
            entered, leave = asyncio.Event(), asyncio.Event()
            task = asyncio.create_task(relaxed(entered, leave))
            await entered.wait()
            here = runtime.get_strict()
            leave.set()
            return here, await task

        assert asyncio.run(run()) == (True, False)

    @pytest.mark.parametrize(("value", "strict"), [("0", False), ("1", True)])
    def test_environment(self, value, strict, child_env):
        code = "from ascend_array_api import runtime; print(runtime.get_strict())"
        env = child_env | {"ASCEND_ARRAY_API_STRICT": value}
        done = subprocess.run(
            [sys.executable, "-c", code], env=env, check=True, capture_output=True, text=True
        )
        assert done.stdout.strip() == str(strict)

    @pytest.mark.parametrize(
        ("switch", "accepted"),
        [
            ("STRICT", "0 or 1"),
            ("DEFER", "auto or off or always"),
            ("FUSION", "on or off"),
            ("POOL", "on or off"),
        ],
    )
    def test_environment_with_a_bad_value(self, child_env, switch, accepted):
        env = child_env | {f"ASCEND_ARRAY_API_{switch}": "maybe"}
        done = subprocess.run(
            [sys.executable, "-c", "import ascend_array_api"],
            env=env,
            capture_output=True,
            text=True,
        )
        assert done.returncode != 0
        assert f"ASCEND_ARRAY_API_{switch} is {accepted}, got 'maybe'" in done.stderr


class TestThreads:
    def test_number(self):
        before = runtime.get_num_threads()
        assert before >= 1
        try:
            runtime.set_num_threads(1)
            assert runtime.get_num_threads() == 1
        finally:
            runtime.set_num_threads(before)
        assert runtime.get_num_threads() == before

    def test_errors(self):
        for bad in (0, -1):
            with pytest.raises(ValueError, match="set_num_threads"):
                runtime.set_num_threads(bad)
        with pytest.raises(TypeError, match="set_num_threads"):
            runtime.set_num_threads(1.5)


class TestMemoryPool:
    def test_use_is_counted(self):
        pool = runtime.MemoryPool()
        runtime.synchronize()  # what was recorded before gives its memory back
        before = pool.statistics()
        x = xp.zeros(1_000_000)
        runtime.evaluate(x)
        during = pool.statistics()
        assert during.used - before.used >= 8_000_000
        assert during.peak >= during.used
        assert during.allocations + during.reused > before.allocations + before.reused
        assert x.size == 1_000_000
        del x
        assert pool.statistics().used < during.used

    def test_a_bool_takes_a_bit(self):
        pool = runtime.MemoryPool("cpu")
        before = pool.statistics().used
        x = xp.zeros(8_000_000, dtype=xp.bool)
        runtime.evaluate(x)
        # Sizes are rounded up to a class, by an eighth at most.
        assert 1_000_000 <= pool.statistics().used - before <= 1_125_000
        assert x.size == 8_000_000

    def test_a_view_takes_nothing(self):
        x = xp.zeros((1000, 1000))
        pool = runtime.MemoryPool()
        before = pool.statistics()
        views = [x[::2, 1:], x.T, xp.reshape(x, (-1,)), xp.broadcast_to(x, (5, 1000, 1000))]
        assert len(views) == 4
        assert pool.statistics().used == before.used

    @pytest.mark.technique("POOL")
    def test_the_cache_is_emptied(self):
        pool = runtime.MemoryPool()
        x = xp.ones(500_000)
        del x
        before = pool.statistics().cached
        pool.free_all_blocks()
        assert before - pool.statistics().cached >= 4_000_000

    def test_unknown_device(self):
        with pytest.raises(ValueError, match="unknown device 'gpu'"):
            runtime.MemoryPool("gpu")
        assert repr(runtime.MemoryPool()) == "MemoryPool('cpu')"


def test_instruction_set():
    assert runtime.instruction_set() in ("v2", "v3", "v4", "neon")


def test_contents():
    assert sorted(runtime.__all__) == sorted(dir(runtime))
    for name in runtime.__all__:
        assert getattr(runtime, name).__doc__
