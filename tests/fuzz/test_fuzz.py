"""A short form of fuzzing; CONTRIBUTING.md has the commands of the long ones."""

import subprocess
import sys
from pathlib import Path

TARGET = Path(__file__).with_name("target.py")


def test_random_bytes(child_env):
    command = [sys.executable, str(TARGET), "--seconds", "3"]
    done = subprocess.run(command, env=child_env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]


def test_offset_from_a_null_pointer(child_env, tmp_path):
    """Undefined behaviour that libFuzzer found; a build with a sanitizer sees it."""
    found = tmp_path / "found"
    found.write_bytes(b"1=\x06\x06\x06XXX\x00\x00\x00\x03\x00\x00\x01\n\n")
    command = [sys.executable, str(TARGET), str(found)]
    done = subprocess.run(command, env=child_env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "runtime error" not in done.stderr
