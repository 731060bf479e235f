"""The benchmark harness: it runs, refuses wrong results, and fails above a target."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


def _load(name):
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


harness = _load("harness")


def _run(env, script, *arguments):
    command = [sys.executable, str(script), *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize(
    ("script", "only"), [("call_overhead", "x[3, 5:9]"), ("single_ops", "floor_divide int32")]
)
def test_scripts_compare_us_with_numpy(child_env, tmp_path, script, only):
    out = tmp_path / "out.json"
    arguments = ("--peers", "ascend_array_api", "--only", only, "--json", str(out))
    done = _run(child_env, FOLDER / f"{script}.py", *arguments)
    assert done.returncode == 0, done.stderr
    row = json.loads(out.read_text())["cases"][only]
    assert row["errors"] == {}
    assert set(row["seconds"]) == {"numpy", "ascend_array_api"}


def test_effects_are_measured_and_checked(child_env, tmp_path):
    out = tmp_path / "out.json"
    arguments = ("--only", "allocations", "--rounds", "1", "--json", str(out), "--check")
    done = _run(child_env, FOLDER / "effects.py", *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    row = json.loads(out.read_text())["allocations"]
    assert set(row["measures"]) == {"on", "off", "numpy"}
    assert [target["good"] for target in row["targets"]] == [True]


def _script(tmp_path, statement, target):
    source = f"""
import sys
sys.path.insert(0, {str(FOLDER)!r})
from harness import Case, main
def cases():
    return [Case("it", "x = xp.asarray(np.ones(9))", {statement!r}, {target})]
sys.exit(main("title", {{}}, cases))
"""
    (tmp_path / "script.py").write_text(source)
    return tmp_path / "script.py"


WRONG = "x + (1.0 if 'ascend' in xp.__name__ else 2.0)"


@pytest.mark.parametrize(
    ("statement", "target", "status", "message"),
    [
        ("x + 1.0", 1e6, 0, "ok"),
        ("x + 1.0", 1e-6, 1, "ABOVE"),
        (WRONG, 1e6, 1, "wrong result"),
        ("xp.no_such_function(x) if 'ascend' in xp.__name__ else x", 1e6, 1, "AttributeError"),
    ],
)
def test_check(child_env, tmp_path, statement, target, status, message):
    script = _script(tmp_path, statement, target)
    done = _run(child_env, script, "--peers", "ascend_array_api", "--check")
    assert done.returncode == status, done.stdout + done.stderr
    assert message in done.stdout


def test_no_case_chosen_is_a_failure(child_env):
    done = _run(child_env, FOLDER / "call_overhead.py", "--only", "nothing", "--check")
    assert done.returncode == 1


def test_differences():
    one = np.ones(3)
    assert harness._difference(one, one) is None
    assert harness._difference(one[:2], one)
    assert harness._difference(one + 1e-3, one)
    assert harness._difference(one * np.nan, one)
    assert harness._difference(one.astype(int), one.astype(int) + 1)
