"""Arrays in the tasks of other processes: pickles with their bytes aside, Cubed and Dask."""

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ascend_array_api as xp

ROOT = Path(__file__).parents[2]
EXECUTORS = {
    "cubed:threads": ("cubed", "zarr"),
    "cubed:processes": ("cubed", "zarr"),
    "dask:threads": ("dask", "zarr"),
    "dask:processes-fork": ("dask", "zarr"),
    "dask:processes-spawn": ("dask", "zarr"),
    "dask:cluster": ("distributed", "zarr"),
}


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "complex128"])
def test_bytes_travel_beside_the_pickle(dtype):
    values = np.random.default_rng(1).integers(0, 2, 100_000).astype(dtype)
    buffers = []
    data = pickle.dumps(xp.asarray(values), protocol=5, buffer_callback=buffers.append)
    assert len(data) < 500
    expected = 12_500 if dtype == "bool" else values.nbytes
    assert [memory.raw().nbytes for memory in buffers] == [expected]
    back = pickle.loads(data, buffers=buffers)
    np.testing.assert_array_equal(np.asarray(back), values)


@pytest.mark.parametrize("received", [bytes, bytearray])
def test_what_arrives_is_an_array_of_its_own(received):
    buffers = []
    data = pickle.dumps(xp.ones(1000), protocol=5, buffer_callback=buffers.append)
    arrived = received(buffers[0].raw())
    x = pickle.loads(data, buffers=[arrived])
    x[0] = 7.0
    assert np.frombuffer(arrived)[0] == 1.0
    assert float(xp.sum(x)) == 1006.0


def test_bytes_of_a_row_major_array_are_not_copied():
    x = xp.asarray(np.arange(1000.0))
    buffers = []
    pickle.dumps(x, protocol=5, buffer_callback=buffers.append)
    sent = np.frombuffer(buffers[0].raw())
    assert sent.ctypes.data == np.asarray(x).ctypes.data


POOL = """
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import ascend_array_api as xp

def double(x):
    return x * 2.0, xp.sum(x)

if __name__ == "__main__":
    # Worker threads run and work is pending when the processes start.
    parts = [xp.ones((400, 400)) @ xp.ones((400, 400)) + float(i) for i in range(6)]
    with ProcessPoolExecutor(2, get_context(sys.argv[1])) as pool:
        for x, (doubled, total) in zip(parts, pool.map(double, parts)):
            assert bool(xp.all(doubled == x + x))
            assert float(total) == float(xp.sum(x))
    print("done")
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_pools_of_processes(child_env, tmp_path, method):
    script = tmp_path / "pool.py"
    script.write_text(POOL)
    command = [sys.executable, str(script), method]
    done = subprocess.run(command, env=child_env, capture_output=True, text=True, timeout=240)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


TASKS = """
import on_dask

import ascend_array_api as xp

pool = xp.runtime.MemoryPool()
rows = xp.ones((50_000, 8)) + xp.zeros((50_000, 1))
xp.runtime.evaluate(rows)
results = [on_dask.total(rows), on_dask.products(rows, xp.ones(8))]
del rows
print(pool.statistics().used)
"""


def test_tasks_hand_on_no_rows(child_env):
    for library in EXECUTORS["dask:threads"]:
        pytest.importorskip(library)
    env = child_env.copy()
    env["PYTHONPATH"] = f"{ROOT / 'examples/distributed'}:{env['PYTHONPATH']}"
    command = [sys.executable, "-c", TASKS]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 100_000  # the rows take 3.2 MB


@pytest.mark.parametrize("executor", EXECUTORS)
def test_small_form_of_the_example(child_env, executor):
    for library in EXECUTORS[executor]:
        pytest.importorskip(library)
    script = ROOT / "examples/distributed/pca.py"
    command = [sys.executable, str(script), executor, "--table", "16", "--limit", "1024"]
    done = subprocess.run(command, env=child_env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "they agree" in done.stdout


def test_an_unknown_executor_is_an_error(child_env):
    pytest.importorskip("zarr")
    command = [sys.executable, str(ROOT / "examples/distributed/pca.py"), "dask:moon"]
    done = subprocess.run(command, env=child_env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert "unknown: dask:moon; accepted: cubed:threads" in done.stderr
