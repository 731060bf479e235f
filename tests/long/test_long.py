"""Short forms of the long runs; CONTRIBUTING.md has the commands."""

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.parametrize(
    "command",
    [
        "soak.py --seconds 4",
        "endless.py --part 0.01 loop chain tiny held",
        "programs.py --count 3 --first 12345",
    ],
)
def test_short(command, child_env):
    name, *arguments = command.split()
    command = [sys.executable, str(HERE / name), *arguments]
    done = subprocess.run(command, env=child_env, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
