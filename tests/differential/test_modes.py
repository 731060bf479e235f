"""Random programs of one seed read the same bytes in every mode of execution."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("random_programs.py")
EXAMPLES = int(os.environ.get("ASCEND_ARRAY_API_EXAMPLES", "100"))
MODES = [
    {"DEFER": "off"},
    {"DEFER": "always"},
    {"DEFER": "auto", "FUSION": "off"},
    {"DEFER": "always", "FUSION": "off"},
    {"DEFER": "auto", "POOL": "off"},
    {"DEFER": "auto", "NUM_THREADS": "1"},
    {"DEFER": "auto", "NUM_THREADS": "5"},
    {"MODE": "predictive", "NUM_THREADS": "3"},
    {"MODE": "predictive", "DEFER": "always"},
    {"MODE": "predictive", "DEFER": "always", "FUSION": "off"},
]
#: the environment variables that a mode consists of
SETTINGS = [
    f"ASCEND_ARRAY_API_{name}" for name in ("DEFER", "FUSION", "POOL", "NUM_THREADS", "MODE")
]


def hashes(child_env, **settings):
    env = {name: value for name, value in child_env.items() if name not in SETTINGS}
    env.update({f"ASCEND_ARRAY_API_{name}": value for name, value in settings.items()})
    command = [sys.executable, str(SCRIPT), "0", str(EXAMPLES)]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def reference():
    return {}


@pytest.mark.parametrize("mode", MODES, ids=lambda m: "-".join(m.values()))
def test_same_bytes(mode, child_env, reference):
    if not reference:
        reference["auto"] = hashes(child_env)
    got = hashes(child_env, **mode)
    assert len(got) == EXAMPLES
    assert [line for line in got if line not in reference["auto"]] == []
