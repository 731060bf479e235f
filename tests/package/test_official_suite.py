"""The runner of the official suite: where it looks, what it says, when it fails."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "array-api-tests"
CONFTEST = """
def pytest_addoption(parser):
    parser.addoption("--max-examples")
    parser.addoption("--disable-deadline", action="store_true")
    parser.addoption("--skips-file")
    parser.addoption("--xfails-file")
"""

TABLE = """
class Table(dict): ...
promotion_table = Table({("int8", "int16"): "int16"})
"""


@pytest.fixture
def env(tmp_path):
    # Neither settings of these tests nor pytest's own, which a run under xdist passes on.
    ours = ("ASCEND_", "ARRAY_API_", "PYTEST_")
    clean = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
    return clean | {"XDG_CACHE_HOME": str(tmp_path / "cache")}


@pytest.fixture
def runner(tmp_path):
    """Return a copy of the runner with no submodule beside it."""
    place = tmp_path / "checkout"
    place.mkdir()
    for name in ("run.py", "suite_repairs.py", "xfails.txt"):
        (place / name).write_bytes((FOLDER / name).read_bytes())
    return place / "run.py"


def _suite(place, test):
    """Make a directory that looks like a checkout of the suite and holds one test."""
    (place / "array_api_tests").mkdir(parents=True)
    (place / "array-api" / "src" / "array_api_stubs").mkdir(parents=True)
    (place / "conftest.py").write_text(CONFTEST)
    (place / "pytest.ini").write_text("[pytest]\n")
    (place / "array_api_tests" / "__init__.py").write_text("")
    (place / "array_api_tests" / "dtype_helpers.py").write_text(TABLE)
    (place / "array_api_tests" / "test_suite.py").write_text(f"import os\n{test}\n")
    return place


def _run(runner, env, *arguments):
    command = [sys.executable, str(runner), "-n", "0", *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)


def test_no_known_failures():
    lines = (FOLDER / "xfails.txt").read_text().splitlines()
    assert [line for line in lines if line.strip() and not line.startswith("#")] == []
    assert not list(FOLDER.glob("skips*"))


def test_without_a_suite_it_says_so(runner, env):
    done = _run(runner, env)
    assert done.returncode == 0
    assert "MISSING" in done.stdout
    assert str(Path(env["XDG_CACHE_HOME"]) / "array-api-tests") in done.stdout


@pytest.mark.parametrize(
    "settings", [{"ASCEND_ARRAY_API_REQUIRE_SUITE": "1"}, {"ARRAY_API_TESTS_DIR": "nowhere"}]
)
def test_without_a_suite_it_fails_where_one_is_asked_for(runner, env, settings):
    done = _run(runner, env | settings)
    assert done.returncode == 1
    assert "MISSING" in done.stdout


def test_a_suite_without_the_standard_is_not_taken(runner, env, tmp_path):
    (_suite(tmp_path / "suite", "") / "array-api" / "src" / "array_api_stubs").rmdir()
    done = _run(runner, env | {"ARRAY_API_TESTS_DIR": str(tmp_path / "suite")})
    assert done.returncode == 1
    assert "without array-api submodule" in done.stdout


def test_suite_in_each_place(runner, env, tmp_path):
    passing = "def test_it(): assert os.environ['ARRAY_API_TESTS_MODULE'] == 'ascend_array_api'"
    for place, settings in (
        (Path(env["XDG_CACHE_HOME"]) / "array-api-tests", {}),
        (runner.parent / "suite", {}),
        (tmp_path / "named", {"ARRAY_API_TESTS_DIR": str(tmp_path / "named")}),
    ):
        _suite(place, passing)
        done = _run(runner, env | settings)
        assert done.returncode == 0, done.stdout + done.stderr
        assert f"suite:    {place.resolve()}\n" in done.stdout
        assert "official suite (strict): 1 passed, 0 failed, 0 skipped" in done.stdout


def test_a_failure_is_a_failure(runner, env, tmp_path):
    suite = _suite(tmp_path / "suite", "def test_it(): assert False\ndef test_that(): pass")
    done = _run(runner, env | {"ARRAY_API_TESTS_DIR": str(suite)})
    assert done.returncode == 1
    assert "1 passed, 1 failed, 0 skipped" in done.stdout


def test_no_tests_are_a_failure(runner, env, tmp_path):
    suite = _suite(tmp_path / "suite", "import pytest\n@pytest.mark.skip\ndef test_it(): pass")
    done = _run(runner, env | {"ARRAY_API_TESTS_DIR": str(suite)})
    assert done.returncode == 1
    assert "no test of the official suite passed" in done.stdout


def test_relaxed_and_pytest_arguments_are_passed_on(runner, env, tmp_path):
    test = "def test_it(): assert os.environ['ASCEND_ARRAY_API_STRICT'] == '0'\ndef test_no(): 1/0"
    suite = _suite(tmp_path / "suite", test)
    done = _run(runner, env | {"ARRAY_API_TESTS_DIR": str(suite)}, "--relaxed", "-k", "test_it")
    assert done.returncode == 0, done.stdout
    assert "official suite (relaxed): 1 passed" in done.stdout


def test_dtypes_that_the_device_lacks_are_left_out(runner, env, tmp_path):
    test = """
def test_it():
    assert os.environ["ASCEND_ARRAY_API_DEVICE"] == "cpu:1"
    assert os.environ["ARRAY_API_TESTS_SKIP_DTYPES"] == "complex128,float64"
"""
    named = {"ARRAY_API_TESTS_DIR": str(_suite(tmp_path / "suite", test))}
    narrow = {"ASCEND_ARRAY_API_CPU_DEVICES": "1:no-float64"}
    done = _run(runner, env | named | narrow, "--device", "cpu:1")
    assert done.returncode == 0, done.stdout
    assert "device:   cpu:1, without complex128,float64" in done.stdout
    done = _run(runner, env | named, "--device", "cpu:1")
    assert "device:   cpu:1\n" in done.stdout
    assert done.returncode == 1


def test_repaired_table_has_no_result_that_equals_a_dtype(runner, env, tmp_path):
    test = """
import numpy as np
from array_api_tests.dtype_helpers import promotion_table as table
def test_it():
    assert None == np.dtype("float64")
    assert table.get(("int8", "float64")) != np.dtype("float64")
    assert table.get(("int8", "int16")) == "int16"
    assert table.get("no pair", None) is None
"""
    suite = _suite(tmp_path / "suite", test)
    done = _run(runner, env | {"ARRAY_API_TESTS_DIR": str(suite)})
    assert done.returncode == 0, done.stdout
