"""`python -m ascend_array_api`: info, demo, bench, and what every command does with bad input."""

import importlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest


def _run(env, *arguments):
    command = [sys.executable, "-m", "ascend_array_api", *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)


def test_info_json_is_one_object_with_the_facts(child_env):
    done = _run(child_env | {"ASCEND_ARRAY_API_STRICT": "0"}, "info", "--json")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["array_api"] == "2025.12"
    assert facts["kernels"] in {"v2", "v3", "v4", "neon"}
    assert facts["threads"] >= 1
    assert "cpu" in facts["devices"]
    assert facts["environment"]["ASCEND_ARRAY_API_STRICT"] == "0"


def test_info_text_shows_the_same_keys(child_env):
    facts = json.loads(_run(child_env, "info", "--json").stdout)
    lines = _run(child_env, "info").stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(facts)


def test_demo_agrees_with_numpy(child_env):
    pytest.importorskip("sklearn")
    done = _run(child_env, "demo", "--repeat", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("largest difference") == 3
    assert done.stdout.count(" ms") == 6
    assert done.stdout.rstrip().endswith("yes")


@pytest.mark.parametrize("arguments", [(), ("fly",), ("demo", "--repeat", "0")])
def test_bad_arguments_end_with_status_2(child_env, arguments):
    done = _run(child_env, *arguments)
    assert done.returncode == 2
    assert done.stderr


BAD = {
    "trace no-such-file.json -o x.svg": (2, "trace: [Errno 2] No such file or directory"),
    "trace no-such-file.json -o x.png": (2, "trace: the picture is written as *.svg, got 'x.png'"),
    "trace no-such-file.json": (2, "the following arguments are required: -o/--output"),
    "conformance --module no_such_module": (2, "conformance: No module named 'no_such_module'"),
    "conformance --module ..": (2, "conformance: no module can be named '..'"),
    "conformance --select no_such_name": (2, "conformance: no check matches"),
    "conformance --list --select no_such_name": (2, "conformance: no check matches"),
    "accuracy no_such_name": (2, "accuracy: unknown no_such_name"),
    "accuracy sin --samples 0": (2, "accuracy: --samples is at least 1"),
    "bench --size 8 -o no-such-folder/x.png": (2, "there is no folder no-such-folder"),
    "conformance --select add --report no-such-folder/x.html": (2, "conformance: [Errno 2]"),
}


@pytest.mark.parametrize("line", BAD)
def test_bad_input_ends_with_a_sentence(child_env, line):
    status, sentence = BAD[line]
    done = _run(child_env, *line.split())
    assert (done.returncode, "Traceback" in done.stderr) == (status, False), done.stderr
    assert sentence in done.stderr


@pytest.mark.parametrize(
    "name", ["demo", "info", "bench", "conformance", "accuracy", "trace", "verify-npu"]
)
def test_help_explains_every_argument(child_env, name):
    done = _run(child_env, name, "--help")
    assert done.returncode == 0
    options = done.stdout.split("options:")[1]
    for line in options.splitlines():
        if line.startswith("  -") and len(line.split("  ")) < 3:
            following = options.split(line, 1)[1].splitlines()[1]
            assert following.startswith("                "), line
    assert name in _run(child_env, "--help").stdout


def test_version(child_env):
    import ascend_array_api

    assert _run(child_env, "--version").stdout.split()[1] == ascend_array_api.__version__


def test_the_installed_command_is_the_module(child_env):
    import tomllib

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    module, _, function = project["scripts"]["ascend-array-api"].partition(":")
    assert callable(getattr(importlib.import_module(module), function))


class TestBench:
    SMALL = ("bench", "--size", "64", "--rounds", "1", "--libraries", "numpy")

    def test_json_has_a_time_of_each(self, child_env):
        done = _run(child_env, *self.SMALL, "--json")
        assert done.returncode == 0, done.stderr
        answer = json.loads(done.stdout)
        assert set(answer["versions"]) == {"ascend_array_api", "numpy"}
        assert len(answer["seconds"]) >= 8
        for seconds in answer["seconds"].values():
            assert set(seconds) == {"ascend_array_api", "numpy"}
            assert all(0 < s < 10 for s in seconds.values())

    def test_table_and_picture(self, child_env, tmp_path):
        pytest.importorskip("matplotlib")
        picture = tmp_path / "bench.png"
        done = _run(child_env, *self.SMALL, "-o", str(picture))
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        assert lines[0].split() == ["milliseconds", "ascend_array_api", "numpy"]
        assert all(line.endswith("x") for line in lines[1:-1])
        assert picture.read_bytes().startswith(b"\x89PNG")

    def test_results_that_differ_are_an_error(self, child_env, tmp_path):
        (tmp_path / "torch.py").write_text("from numpy import *\ndef exp(x): return x\n")
        env = child_env | {"PYTHONPATH": f"{tmp_path}:{child_env['PYTHONPATH']}"}
        done = _run(env, "bench", "--size", "64", "--rounds", "1", "--libraries", "torch")
        assert done.returncode == 1
        assert "exp(-a * a) * b + 1: torch computes" in done.stderr

    def test_a_library_that_fails_is_an_error(self, child_env, tmp_path):
        (tmp_path / "torch.py").write_text("raise RuntimeError('broken')\n")
        env = child_env | {"PYTHONPATH": f"{tmp_path}:{child_env['PYTHONPATH']}"}
        done = _run(env, "bench", "--size", "64", "--rounds", "1", "--libraries", "torch")
        assert done.returncode == 1
        assert "torch failed, with exit status 1" in done.stderr

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("--libraries", "matlab"), "unknown library 'matlab'; accepted: ascend_array_api"),
            (("--size", "7"), "--size is at least 8"),
            (("--rounds", "0"), "--rounds at least 1"),
        ],
    )
    def test_bad_arguments(self, child_env, arguments, message):
        done = _run(child_env, "bench", *arguments)
        assert done.returncode == 2
        assert message in done.stderr


def test_a_reader_may_leave_early(child_env):
    command = [sys.executable, "-m", "ascend_array_api", "conformance", "--list"]
    read, write = os.pipe()
    os.close(read)  # nobody reads at all
    try:
        done = subprocess.run(command, env=child_env, stdout=write, stderr=subprocess.PIPE)
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, b"")
