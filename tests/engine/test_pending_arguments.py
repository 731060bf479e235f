"""The core tests once more, with arguments that are pending."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CORE = HERE.parent / "core"


@pytest.mark.parametrize(
    "name", ["test_views", "test_overlap", "test_indexing", "test_packed_bool", "test_open_values"]
)
def test_core(name, child_env):
    env = child_env | {"ASCEND_ARRAY_API_DEFER": "always"}
    env["PYTHONPATH"] = os.pathsep.join([str(HERE), env["PYTHONPATH"]])
    command = [sys.executable, "-m", "pytest", "-q", "-p", "pending_everywhere"]
    command += ["-p", "no:cacheprovider", str(CORE / f"{name}.py")]
    done = subprocess.run(command, env=env, capture_output=True, text=True, cwd=HERE.parent.parent)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]


@pytest.mark.parametrize(("size", "defer"), [(300_000, "auto"), (6000, "always")])
def test_every_call(size, defer, child_env):
    """One argument after the other is pending, and large enough for several threads."""
    env = child_env | {"ASCEND_ARRAY_API_DEFER": defer}
    command = [sys.executable, str(HERE / "pending_inputs.py"), str(size)]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
