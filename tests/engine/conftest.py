"""A child process with its own settings, whose end is part of what is tested."""

import os
import subprocess
import sys
import textwrap

import pytest

SANITIZER = any(name in os.environ.get("LD_PRELOAD", "") for name in ("asan", "tsan"))
#: how much more time a child gets where a sanitizer slows it down
PATIENCE = 10 if SANITIZER else 1
PREAMBLE = f"""
import faulthandler, gc, os, resource, sys, threading, time
import numpy as np
import ascend_array_api as xp
from ascend_array_api import _core, runtime

def rss():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()

faulthandler.dump_traceback_later({100 * PATIENCE})
"""


@pytest.fixture
def child(child_env):
    """Return a function that runs code in a new process and returns what it printed."""

    def run(code, timeout=150, **settings):
        env = dict(child_env)
        env.update({f"ASCEND_ARRAY_API_{name}": value for name, value in settings.items()})
        done = subprocess.run(
            [sys.executable, "-c", PREAMBLE + textwrap.dedent(code)],
            env=env,
            capture_output=True,
            text=True,
            timeout=timeout * PATIENCE,
        )
        assert done.returncode == 0, f"status {done.returncode}\n{done.stderr[-3000:]}"
        assert done.stderr == "", done.stderr[-3000:]
        return done.stdout

    return run


@pytest.fixture(params=["auto", "always", "off"])
def defer(request):
    """Return each mode of deferral."""
    return request.param


@pytest.fixture
def memory_limit():
    """Skip a test of how much memory is taken or missing where the sanitizer decides that."""
    if SANITIZER:
        pytest.skip("the sanitizer has an allocator of its own")
