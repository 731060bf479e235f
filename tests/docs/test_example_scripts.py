"""The scripts in examples/: small forms run on us and on NumPy, and agree."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted(p.stem for p in (ROOT / "examples").glob("*.py") if p.stem != "common")


@pytest.mark.parametrize("library", ["ascend_array_api", "numpy"])
@pytest.mark.parametrize("script", SCRIPTS)
def test_small_form(child_env, script, library):
    if script == "logistic_regression":
        pytest.importorskip("scipy")
    command = [sys.executable, str(ROOT / "examples" / f"{script}.py"), "--small"]
    command += ["--library", library]
    done = subprocess.run(command, env=child_env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the results agree" in done.stdout


def test_differing_results_are_a_failure(child_env, tmp_path):
    wrong = "from numpy import *\ndef argmin(x, axis): return zeros(len(x), dtype=int)\n"
    (tmp_path / "wrong.py").write_text(wrong + "def asarray(x): return array(x).view(Other)\n")
    with (tmp_path / "wrong.py").open("a") as file:
        file.write("import sys\nclass Other(ndarray):\n")
        file.write("    def __array_namespace__(self): return sys.modules['wrong']\n")
    env = child_env | {"PYTHONPATH": f"{child_env['PYTHONPATH']}:{tmp_path}"}
    command = [sys.executable, str(ROOT / "examples/kmeans.py"), "--small", "--library", "wrong"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "THE RESULTS DIFFER" in done.stdout


def test_the_page_shows_every_script():
    page = (ROOT / "docs/guide/examples.md").read_text()
    assert sorted(set(re.findall(r"pictures/(\w+)\.png", page))) == SCRIPTS
    assert {f"{p.stem}" for p in (ROOT / "docs/pictures").glob("*.png")} == set(SCRIPTS)
