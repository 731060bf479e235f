"""A short form of whole_namespace.py, in two modes of execution."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("whole_namespace.py")


@pytest.mark.parametrize("defer", ["auto", "always"])
def test_random_calls(defer, child_env):
    env = child_env | {"ASCEND_ARRAY_API_DEFER": defer}
    command = [sys.executable, str(SCRIPT), "--operations", "1500"]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
