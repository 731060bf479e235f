"""No input crashes the interpreter: random junk at every public function and method.

Each test throws calls at the package in a child process, which must end normally. A call may
return or raise an orderly exception. ``ASCEND_ARRAY_API_FUZZ_CALLS`` sets the calls of a child.
"""

import os
import pathlib
import subprocess
import sys

import pytest

CHILD = pathlib.Path(__file__).with_name("fuzz_child.py")


@pytest.mark.parametrize("part", range(4))
def test_junk_arguments(part, child_env):
    calls = int(os.environ.get("ASCEND_ARRAY_API_FUZZ_CALLS", "4000"))
    env = child_env | {"ASCEND_ARRAY_API_STRICT": str(part % 2)}
    p = subprocess.run(
        [sys.executable, str(CHILD), str(part), str(calls)],
        env=env,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert p.returncode == 0, f"exit {p.returncode}\n{p.stdout[-1000:]}\n{p.stderr[-3000:]}"
    assert p.stdout.strip().endswith("END 0"), p.stdout[-2000:]


def test_exit_with_live_arrays_and_exports(child_env):
    code = """
import numpy as np
import ascend_array_api as xp
x = xp.zeros(100000)
n = np.asarray(x)
capsule = x.__dlpack__(max_version=(1, 0))
y = xp.from_dlpack(n)
z = xp.asarray(np.zeros(10), copy=False) + 1
import builtins
builtins.kept = [x, n, capsule, y, z, iter(x), x[::2]]
"""
    p = subprocess.run(
        [sys.executable, "-c", code], env=child_env, capture_output=True, text=True, timeout=60
    )
    assert p.returncode == 0, p.stderr
    assert p.stderr == ""
