"""The tests in `on_double`, each file in a process that loads the protocol double of CANN."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent

FILES = sorted(path.name for path in (HERE / "on_double").glob("test_*.py"))
SEEDS = os.environ.get("CANN_DOUBLE_SEEDS", "0 1").split()


# Tests of the engine that run with the NPU as the default device as they are, and those of them
# that cannot, with the reason.
ENGINE = {
    "test_streams.py": {
        "test_fork_while_threads_record": "a child of fork cannot use an NPU",
        "test_a_reader_keeps_memory_that_a_writer_moves_off": "the host sorts float64, with a "
        "warning, and this test allows no output",
    },
    "test_prefetch.py": {},
}


def run(env, double, seed, *arguments):
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-n", "0"]
    done = subprocess.run(
        [*command, *map(str, arguments)],
        env=env | {"ASCEND_ARRAY_API_CANN_PATH": str(double), "CANN_DOUBLE_SEED": seed},
        capture_output=True,
        text=True,
        timeout=1200,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("file", FILES)
def test_file(child_env, double, file, seed):
    """Seeds are orders in which streams run: 0 is as late as is legal."""
    run(child_env, double, seed, HERE / "on_double" / file)


@pytest.mark.skipif(
    "asan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer has an allocator of its own"
)
def test_missing_host_memory(child_env, double, tmp_path):
    """Where C++ code gets none, no device memory is lost."""
    library = tmp_path / "failing_new.so"
    source = HERE.parent / "faults" / "failing_new.cpp"
    command = [os.environ.get("CXX", "c++"), "-O1", "-fPIC", "-shared", source, "-o", library]
    subprocess.run(command, check=True)
    env = child_env | {"LD_PRELOAD": str(library)}
    run(env, double, "0", HERE / "on_double" / "missing_memory.py")


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("file", ENGINE)
def test_engine(child_env, double, file, seed, tmp_path):
    """The same tests as on the CPU; a violation of the protocol is written to a file."""
    env = child_env | {"ASCEND_ARRAY_API_DEVICE": "npu:0", "CANN_DOUBLE_REPORT": str(tmp_path)}
    left_out = [f"not {name}" for name in ENGINE[file]]
    chosen = ["-k", " and ".join(left_out)] if left_out else []
    run(env, double, seed, "-W", "ignore", HERE.parent / "engine" / file, *chosen)
    assert [path.read_text() for path in tmp_path.iterdir()] == []


def test_verify_npu_writes_a_report(child_env, double, tmp_path):
    report = tmp_path / "report.json"
    command = [sys.executable, "-W", "ignore", "-m", "ascend_array_api", "verify-npu"]
    sizes = ["--samples", "300", "--megabytes", "1", "--matrix", "32", "--repeat", "1"]
    chosen = ["--only", "accuracy", "speed", "fallback", "--report", str(report)]
    env = child_env | {"ASCEND_ARRAY_API_CANN_PATH": str(double)}
    done = subprocess.run(
        [*command, *sizes, *chosen], env=env, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(report.read_text())
    assert found["wrong"] == []
    assert "Ascend910B3" in found["facts"]["cann"]
    assert len(found["accuracy"]["functions"]) >= 10
    assert all(row["max_ulp"] < 2 for row in found["accuracy"]["functions"].values())
    assert all(value > 0 for value in found["speed"].values())
    assert found["fallback"]["routes to the host"] == len(found["fallback"]["routes"]) > 100


def verify(env, double, tmp_path, *arguments):
    """Run verify-npu on the double; return its status, and its report."""
    report = tmp_path / "report.json"
    command = [sys.executable, "-W", "ignore", "-m", "ascend_array_api", "verify-npu"]
    done = subprocess.run(
        [*command, *arguments, "--report", str(report)],
        env=env | {"ASCEND_ARRAY_API_CANN_PATH": str(double)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    return done.returncode, json.loads(report.read_text())


def test_verify_npu_runs_the_kit(child_env, double, tmp_path):
    status, found = verify(child_env, double, tmp_path, "--only", "kit", "--select", "floor")
    assert status == 0, found
    assert found["kit"]["good"]
    assert any(re.match(r"all +[1-9]\d* +0 ", line) for line in found["kit"]["text"]), found


def test_verify_npu_runs_the_suite(child_env, double, tmp_path):
    chosen = ["--only", "suite", "--max-examples", "2", "--select", "dlpack"]
    status, found = verify(child_env, double, tmp_path, *chosen)
    if "MISSING" in "".join(found["suite"]["end"]):
        pytest.skip("the official suite is not here")
    assert status == 0, found
    # The other one that an NPU has to fail asks for copies at random.
    assert "test_dlpack_device" in found["suite"]["expected failures"]
    assert found["suite"]["unexpected"] == 0
    assert found["suite"]["passed"] > 0


def test_verify_npu_without_one_says_so(child_env, tmp_path):
    env = child_env | {"ASCEND_ARRAY_API_CANN_PATH": str(tmp_path)}
    command = [sys.executable, "-m", "ascend_array_api", "verify-npu"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "there is no device npu:0; CANN is not found" in done.stdout
    shown = subprocess.run([*command, "--help"], env=env, capture_output=True, text=True)
    assert shown.returncode == 0
    assert "--max-examples" in shown.stdout
