"""A short form of fuzzing; CONTRIBUTING.md has the commands of the long ones."""

import subprocess
import sys
from pathlib import Path

TARGET = Path(__file__).with_name("target.py")


def test_random_bytes(child_env):
    command = [sys.executable, str(TARGET), "--seconds", "3"]
    done = subprocess.run(command, env=child_env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
