"""`python -m ascend_array_api`: info and demo."""

import json
import subprocess
import sys

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
