"""Whose requests for memory fail: fail_every(n), requests() since then, and what follows of it."""

import ctypes
import importlib
import os
import pathlib
import subprocess
import sys
import tempfile

import ascend_array_api as xp
from ascend_array_api import _core


class Pool:
    """Requests to the memory pool, whose errors say what was asked and what is held."""

    fail_every, requests = _core.fail_every, _core.requests_since
    leaks = False

    def means_memory(self, error):
        return isinstance(error, MemoryError) and str(error)


class New:
    """Requests of C++ code to `operator new`, those of other libraries included."""

    leaks = False

    def __init__(self):
        # nanobind ends the process where its table of objects cannot grow: it has grown before.
        del [xp.zeros(()) for _ in range(1000)][:]
        library = ctypes.CDLL(None)  # failing_new.cpp, which is preloaded
        self.fail_every, self.requests = library.fail_new_every, library.new_requests

    def means_memory(self, error):
        return isinstance(error, MemoryError)


class Python:
    """Requests of the interpreter: of each row, one fails; nobody counts them."""

    leaks = True  # the interpreter loses arguments where it has no memory for a frame
    #: what the standard library makes of a MemoryError
    TRANSLATED = ("can't allocate lock", "sub-views are not implemented", "Can't pickle")

    def __init__(self):
        self.hooks = importlib.import_module("_testcapi")

    def fail_every(self, n):
        if n:
            self.hooks.set_nomemory(n - 1, n)
        else:
            self.hooks.remove_mem_hooks()

    def requests(self):
        return 150

    def means_memory(self, error):
        return isinstance(error, MemoryError) or any(t in str(error) for t in self.TRANSLATED)


KINDS = {"pool": Pool, "new": New, "python": Python}


def restart_with_faults(kind):
    """Run this program again in an environment where faults are possible, if it is not yet."""
    if "ASCEND_ARRAY_API_FAULTS" in os.environ:
        return
    env = os.environ | {"ASCEND_ARRAY_API_FAULTS": "0"}
    with tempfile.TemporaryDirectory() as folder:
        if kind == "new":
            library = f"{folder}/failing_new.so"
            source = str(pathlib.Path(__file__).with_name("failing_new.cpp"))
            compiler = os.environ.get("CXX", "c++")
            subprocess.run([compiler, "-O1", "-fPIC", "-shared", source, "-o", library], check=True)
            env["LD_PRELOAD"] = library
        sys.exit(subprocess.run([sys.executable, *sys.argv], env=env).returncode)
