"""The tests in `on_double`, each file in a process that loads the protocol double of CANN."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "cann_double"))
cann_double = pytest.importorskip("cann_double")

FILES = sorted(path.name for path in (HERE / "on_double").glob("test_*.py"))
SEEDS = os.environ.get("CANN_DOUBLE_SEEDS", "0 1").split()


@pytest.fixture(scope="session")
def double():
    try:
        return cann_double.build()
    except RuntimeError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("file", FILES)
def test_file(child_env, double, file, seed):
    """Seeds are orders in which streams run: 0 is as late as is legal."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-n", "0"]
    done = subprocess.run(
        [*command, str(HERE / "on_double" / file)],
        env=child_env | {"ASCEND_ARRAY_API_CANN_PATH": str(double), "CANN_DOUBLE_SEED": seed},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
