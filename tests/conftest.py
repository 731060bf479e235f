"""Settings that every test folder shares."""

import os

import pytest
from hypothesis import settings

# Timings of a shared machine say nothing about a test, so no deadline.
settings.register_profile("default", deadline=None)
settings.load_profile("default")

# SciPy reads this once, when it is first imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
# Devices beside `cpu`, for tests of devices; the package reads it when it is imported.
os.environ.setdefault("ASCEND_ARRAY_API_CPU_DEVICES", "1,1:no-float64")


def pytest_report_header() -> str:
    """Show what is tested: version, kernels, threads."""
    from ascend_array_api._info import collect

    facts = collect()
    shown = ("ascend_array_api", "kernels", "threads", "numpy")
    return ", ".join(f"{key} {facts[key]}" for key in shown)


@pytest.fixture
def child_env() -> dict[str, str]:
    """Return an environment for child processes in which they import the package tested here."""
    import ascend_array_api

    paths = [os.path.dirname(p) for p in ascend_array_api.__path__]
    # From Python 3.12 on, os.fork warns of threads, of which the core has some.
    quiet = ("ignore:This process:DeprecationWarning", os.environ.get("PYTHONWARNINGS", ""))
    return os.environ | {
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONWARNINGS": ",".join(filter(None, reversed(quiet))),
    }
