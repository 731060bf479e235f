"""Memory that is missing somewhere: no crash, no leak, no wrong value, in any call."""

import inspect
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ascend_array_api as xp

HERE = Path(__file__).parent
COMPILER = os.environ.get("CXX", "c++")

pytestmark = pytest.mark.skipif(
    "asan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer has an allocator of its own"
)


def run(command, env):
    done = subprocess.run([sys.executable, *command], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def require(kind):
    if kind == "new" and not shutil.which(COMPILER):
        pytest.skip("no C++ compiler")
    if kind == "python" and sys.version_info >= (3, 13):
        pytest.skip("the interpreter itself ends where it has no memory for a generator")
    if kind == "python":
        pytest.importorskip("_testcapi")


SWEEPS = [
    ("pool", 6000, {}),
    ("pool", 24, {"DEFER": "always"}),
    ("pool", 6000, {"DEFER": "off"}),
    ("pool", 6000, {"FUSION": "off"}),
    ("pool", 200_000, {"NUM_THREADS": "4"}),
    ("new", 6000, {}),
    ("new", 24, {"DEFER": "always"}),
    ("new", 70_000, {"NUM_THREADS": "4"}),
    ("new", 6000, {"MODE": "predictive"}),
    ("python", 24, {}),
]


@pytest.mark.parametrize(("kind", "size", "mode"), SWEEPS)
def test_every_call(kind, size, mode, child_env):
    require(kind)
    env = child_env | {f"ASCEND_ARRAY_API_{name}": value for name, value in mode.items()}
    run([HERE / "allocations.py", "--of", kind, "--size", str(size), "--most", "12"], env)


def test_every_call_is_every_call(child_env):
    sys.path.insert(0, str(HERE))
    try:
        from everything import CALLS
    finally:
        sys.path.remove(str(HERE))
    called = {name.split()[0] for name in CALLS}
    for module, prefix in ((xp, ""), (xp.linalg, "linalg."), (xp.fft, "fft.")):
        for name in module.__dir__():
            if inspect.isfunction(getattr(module, name)):
                assert prefix + name in called


@pytest.mark.parametrize(("size", "defer"), [(24, "auto"), (6000, "auto"), (24, "always")])
def test_nothing_is_left(size, defer, child_env):
    env = child_env | {"ASCEND_ARRAY_API_DEFER": defer}
    run([HERE / "leaks.py", "--size", str(size), "--rounds", "10"], env)


@pytest.mark.parametrize("kind", ["pool", "new"])
def test_first_use(kind, child_env):
    """What is set up when something is used first can fail, and is set up the next time."""
    require(kind)
    run([HERE / "first_use.py", kind], child_env)


@pytest.mark.parametrize("kind", ["pool", "new"])
@pytest.mark.parametrize("fusion", ["on", "off"])
@pytest.mark.technique("DEFER")
def test_one_missing_allocation_is_made_good(kind, fusion, child_env):
    """Work that was recorded needs less memory the second time: entry by entry."""
    require(kind)
    run([HERE / "one_missing.py", kind], child_env | {"ASCEND_ARRAY_API_FUSION": fusion})


@pytest.mark.parametrize("n", [2, 5, 7, 31, 97])
def test_loops_that_run_by_a_plan(n, child_env):
    require("new")
    run([HERE / "loops.py", str(n)], child_env)
