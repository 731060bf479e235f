"""A child process with its own settings, and rules that are removed again."""

import os
import subprocess
import sys
import textwrap

import pytest

from ascend_array_api import _graph_rules

PREAMBLE = """
import faulthandler, io, os, signal, sys, threading, time, warnings
import numpy as np
import ascend_array_api as xp
from ascend_array_api import _core, graph, runtime

faulthandler.dump_traceback_later(100)
"""
FUSED = (
    os.environ.get("ASCEND_ARRAY_API_DEFER", "auto") != "off"
    and os.environ.get("ASCEND_ARRAY_API_FUSION", "on") == "on"
)


def pytest_collection_modifyitems(items):
    """Without fusion nothing is pending, or nothing runs together."""
    for item in items:
        if "/tests/graph/" in str(item.path) and not FUSED:
            item.add_marker(pytest.mark.skip(reason="operations run one by one"))


@pytest.fixture(autouse=True)
def no_rules_left():
    """Take away what a test left behind."""
    yield
    for rule in _graph_rules._rules:
        _graph_rules.discard(rule)


@pytest.fixture
def child(child_env):
    """Return a function that runs code in a new process and returns what it printed."""

    def run(code, timeout=150, errors="", status=0, options=(), **settings):
        done = subprocess.run(
            [sys.executable, *options, "-c", PREAMBLE + textwrap.dedent(code)],
            env=child_env | settings,
            capture_output=True,
            text=True,
            timeout=timeout,
        )
        assert done.returncode == status, f"status {done.returncode}\n{done.stderr[-3000:]}"
        assert (done.stderr == "") if not errors else (errors in done.stderr), done.stderr[-3000:]
        return done.stdout

    return run
