"""Arrays on their way between devices: copies, memory, DLPack, pickle, settings."""

import copy
import os
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import ascend_array_api as xp
from ascend_array_api import runtime

LARGE = 1 << 18  # more than what is computed at the call, or with the interpreter's lock


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    import ascend_array_api

    paths = [os.path.dirname(p) for p in ascend_array_api.__path__]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(paths)} | environment
    return subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("n", [0, 3, 1000, LARGE])
@pytest.mark.parametrize("dtype", [xp.bool, xp.int16, xp.float32, xp.complex64])
def test_a_move_is_a_copy(n: int, dtype: Any) -> None:
    x = xp.astype(xp.arange(n) % 3, dtype)
    for view in (x, x[1:], x[::-2]):
        y = view.to_device("cpu:1")
        assert y.device == "cpu:1"
        assert y.dtype == dtype
        before = np.array(view)
        np.testing.assert_array_equal(np.asarray(y), before)
        y[...] = xp.ones((), dtype=dtype, device="cpu:1")
        np.testing.assert_array_equal(np.asarray(view), before)
        assert view.to_device("cpu") is view
        np.testing.assert_array_equal(np.asarray(y.to_device("cpu:2")), np.asarray(y))


def test_what_is_recorded_runs_before_a_move() -> None:
    x = xp.arange(float(LARGE)) * 2 + 1
    y = (x.to_device("cpu:1") - 1) / 2
    assert xp.all(y.to_device("cpu") == xp.arange(float(LARGE)))


@pytest.mark.parametrize("source", [np.arange(LARGE) / 3, [0.5] * LARGE, memoryview(b"x" * LARGE)])
def test_foreign_memory_comes_to_the_device(source: Any) -> None:
    x = xp.asarray(source, device="cpu:1")
    assert x.device == "cpu:1"
    np.testing.assert_array_equal(np.asarray(x), np.asarray(source))
    with pytest.raises(ValueError, match=r"copy=False is not possible"):
        xp.asarray(source, device="cpu:1", copy=False)


def test_sequences_of_arrays_stay_where_these_are() -> None:
    a, b = xp.asarray([1.0, 2.0], device="cpu:1")
    assert xp.asarray([a, b]).device == "cpu:1"
    assert xp.asarray([a, 2.0], device="cpu:2", dtype=xp.float32).device == "cpu:2"
    with pytest.raises(ValueError, match=r"asarray: the arrays are on the devices cpu:1 and cpu"):
        xp.asarray([a, b.to_device("cpu")])


def test_copy_false_cannot_move() -> None:
    x = xp.ones(3)
    with pytest.raises(ValueError, match="the device changes"):
        xp.asarray(x, device="cpu:1", copy=False)
    with pytest.raises(BufferError, match="the device changes"):
        xp.from_dlpack(x, device="cpu:1", copy=False)
    assert xp.from_dlpack(x, device="cpu:1").device == "cpu:1"
    assert xp.from_dlpack(np.ones(3), device="cpu:1").device == "cpu:1"
    assert xp.from_dlpack(np.ones(LARGE), device="cpu:1", copy=True).device == "cpu:1"
    assert xp.astype(x, xp.float32, device="cpu:2").device == "cpu:2"


def test_memory_is_counted_apart() -> None:
    def used() -> list[int]:
        return [runtime.MemoryPool(d).used_bytes() for d in ("cpu", "cpu:1", "cpu:2")]

    runtime.synchronize()
    before = used()
    x = xp.zeros(LARGE, device="cpu:1")
    runtime.evaluate(x)
    here, there, other = (n - b for n, b in zip(used(), before, strict=True))
    assert 8 * LARGE <= there <= 8 * LARGE + 4096
    assert here < 4096
    assert other == 0
    y = xp.exp(x + 1)
    runtime.evaluate(y)
    assert used()[1] - before[1] >= 16 * LARGE
    assert used()[0] - before[0] < LARGE
    del x, y
    assert used()[1] == before[1]


def test_a_limit_is_that_of_one_device() -> None:
    code = (
        "import ascend_array_api as xp\n"
        "from ascend_array_api.runtime import MemoryPool, evaluate\n"
        "MemoryPool('cpu:1').set_limit('1MiB')\n"
        "print(MemoryPool('cpu').get_limit(), xp.zeros(1 << 18).device)\n"
        "held = []\n"
        "for n in (1 << 18, 1 << 15, 1 << 16, 1 << 16):\n"
        "    try:\n"
        "        x = xp.zeros(n, device='cpu:1')\n"
        "        evaluate(x)\n"
        "        held.append(x)\n"
        "    except MemoryError as e: print(e)\n"
        "print(len(held))"
    )
    lines = run(code).stdout.splitlines()
    assert lines[0] == "0 cpu"
    assert lines[1].startswith("zeros: an array of shape (262144,) and dtype float64 exceeds")
    assert "cannot allocate 524288 bytes on cpu:1: " in lines[2]
    assert "of 1048576" in lines[2]
    assert lines[-1] == "2"


def test_dlpack_of_the_memory_of_the_host() -> None:
    x = xp.arange(5, device="cpu:1")
    assert x.__dlpack_device__() == (1, 0)
    view = np.from_dlpack(x)
    x[0] = 7
    assert view[0] == 7
    assert np.asarray(x)[0] == 7


def test_copies_and_pickles_come_back_to_their_device() -> None:
    x = xp.arange(5, device="cpu:1")
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        y = pickle.loads(pickle.dumps(x, protocol))
        assert y.device == "cpu:1"
        assert xp.all(x == y)
    assert copy.deepcopy(x).device == "cpu:1"
    assert pickle.loads(pickle.dumps(x.device)) is x.device


def test_a_pickle_of_a_missing_device_says_what_to_do() -> None:
    data = pickle.dumps(xp.arange(5, device="cpu:1"))
    code = f"import pickle\ntry: pickle.loads({data!r})\nexcept ValueError as e: print(e)"
    told = run(code, ASCEND_ARRAY_API_CPU_DEVICES="").stdout
    assert "unknown device 'cpu:1'; available: 'cpu'" in told
    assert "to_device('cpu') before pickling" in told


def test_the_default_device_is_a_setting() -> None:
    code = (
        "import ascend_array_api as xp, numpy as np\n"
        "i = xp.__array_namespace_info__()\n"
        "print(i.default_device(), i.devices()[0], xp.ones(3).device, xp.asarray([1.0]).dtype,\n"
        "      xp.asarray(np.ones(3, 'f4')).device, i.default_dtypes()['complex floating'],\n"
        "      xp.from_dlpack(np.ones(3)).device, xp.random.default_rng(1).random(2).device,\n"
        "      'float64' in i.dtypes())"
    )
    environment = {"ASCEND_ARRAY_API_CPU_DEVICES": "2:no-float64"}
    shown = run(code, ASCEND_ARRAY_API_DEVICE="cpu:2", **environment)
    expected = "cpu:2 cpu:2 cpu:2 float32 cpu:2 complex64 cpu cpu:2 False"
    assert shown.stdout.split() == expected.split(), shown.stderr


@pytest.mark.parametrize(
    ("variable", "value", "told"),
    [
        ("ASCEND_ARRAY_API_CPU_DEVICES", "two", "'two' is no list of further CPU devices"),
        ("ASCEND_ARRAY_API_CPU_DEVICES", "2:no-int8", "accepted: their number, as '2'"),
        ("ASCEND_ARRAY_API_CPU_DEVICES", "-1", "'-1' is no list"),
        ("ASCEND_ARRAY_API_CPU_DEVICES", "1,,1", "'1,,1' is no list"),
        ("ASCEND_ARRAY_API_CPU_DEVICES", "20,20", "at most 31 in all"),
        ("ASCEND_ARRAY_API_DEVICE", "cpu:9", "unknown device 'cpu:9'; available: 'cpu', 'cpu:1'"),
    ],
)
def test_settings_that_are_none(variable: str, value: str, told: str) -> None:
    done = run("import ascend_array_api", **{variable: value})
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith(f"ValueError: {variable}: ")
    assert told in last


def test_the_namespace_tells_its_devices() -> None:
    info = xp.__array_namespace_info__()
    assert [str(d) for d in info.devices()[:3]] == ["cpu", "cpu:1", "cpu:2"]
    assert "float64" in info.dtypes(device="cpu:1")
    assert not {"float64", "complex128"} & set(info.dtypes(device="cpu:2"))
    assert set(info.dtypes(device="cpu:2", kind="complex floating")) == {"complex64"}
    assert info.default_dtypes(device="cpu:2") == {
        "real floating": xp.float32,
        "complex floating": xp.complex64,
        "integral": xp.int64,
        "indexing": xp.int64,
    }
    with pytest.raises(ValueError, match="unknown device 'cpu:9'; available: 'cpu', 'cpu:1'"):
        xp.ones(3, device="cpu:9")


def test_relaxed_results_have_a_dtype_of_the_device() -> None:
    n = xp.asarray([1, 2, 3], device="cpu:2")
    with runtime.strict(False):
        for x in (n / n, n + 0.5, xp.sqrt(n), xp.mean(n), xp.std(n), xp.fft.fft(n)):
            assert x.device == "cpu:2"
            assert x.dtype in (xp.float32, xp.complex64)
    with pytest.raises(TypeError, match="sum: the device cpu:2 has no dtype float64"):
        xp.sum(n, dtype=xp.float64)
    with pytest.raises(TypeError, match="astype: the device cpu:2 has no dtype float64"):
        xp.astype(n, xp.float64)
    with pytest.raises(TypeError, match="to_device: the device cpu:2 has no dtype float64"):
        xp.ones(3).to_device("cpu:2")
    with pytest.raises(TypeError, match="asarray: the device cpu:2 has no dtype float64"):
        xp.asarray(np.ones(3), device="cpu:2")


DRAWS: list[tuple[str, tuple[Any, ...]]] = [
    ("random", ()),
    ("uniform", (1.0, 2.0)),
    ("standard_normal", ()),
    ("normal", (1.0, 2.0)),
    ("exponential", (2.0,)),
    ("gamma", (2.0, 3.0)),
    ("beta", (2.0, 3.0)),
    ("integers", (0, 100)),
    ("binomial", (10, 0.5)),
    ("poisson", (5.0,)),
]


@pytest.mark.parametrize(("name", "parameters"), DRAWS)
def test_random_numbers_are_the_same_everywhere(name: str, parameters: tuple[Any, ...]) -> None:
    def draw(device: str | None, *given: Any) -> Any:
        rng = xp.random.default_rng(5)
        return getattr(rng, name)(*given, size=1000, device=device)

    here, there, narrow = (draw(d, *parameters) for d in ("cpu", "cpu:1", "cpu:2"))
    assert (here.device, there.device, narrow.device) == ("cpu", "cpu:1", "cpu:2")
    np.testing.assert_array_equal(np.asarray(here), np.asarray(there))
    assert narrow.dtype != xp.float64
    if name not in ("integers", "binomial", "poisson", "gamma", "beta"):
        return
    np.testing.assert_allclose(np.asarray(narrow), np.asarray(here), rtol=1e-6)


@pytest.mark.parametrize(("name", "parameters"), [d for d in DRAWS if d[1] and d[0] != "integers"])
def test_parameters_of_a_draw_say_where(name: str, parameters: tuple[Any, ...]) -> None:
    rng = xp.random.default_rng(5)
    arrays = [xp.asarray(p, device="cpu:1") for p in parameters]
    assert getattr(rng, name)(*arrays).device == "cpu:1"
    with pytest.raises(ValueError, match=rf"{name}: the arrays are on the devices cpu and cpu:1"):
        getattr(rng, name)(*arrays, device="cpu")


def test_shuffles_and_choices_stay() -> None:
    rng = xp.random.default_rng(5)
    for device in ("cpu:1", "cpu:2"):
        x = xp.arange(10, device=device)
        p = xp.full(10, 0.1, dtype=xp.float32, device=device)
        p = xp.astype(p, xp.float32)
        rng.shuffle(x)
        assert rng.permutation(x).device == device
        for drawn in (rng.choice(x, 5), rng.choice(x, 5, replace=False)):
            assert drawn.device == device
        if device == "cpu:1":
            q = xp.full(10, 0.1, device=device)
            assert rng.choice(x, 5, p=q).device == device
            assert rng.choice(10, 5, p=q).device == device
            assert rng.choice(x, 5, replace=False, p=q).device == device


def test_a_child_of_fork_has_the_memory_of_every_device() -> None:
    code = (
        "import os, ascend_array_api as xp\n"
        "x = xp.ones(1 << 18, device='cpu:1') + 1\n"
        "pid = os.fork()\n"
        "total = float(xp.sum(x * 2))\n"
        "if pid == 0: os._exit(0 if total == 4.0 * (1 << 18) else 1)\n"
        "print(os.waitpid(pid, 0)[1], total == 4.0 * (1 << 18))"
    )
    assert run(code).stdout.split() == ["0", "True"]
