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


#: What the switch of each technique says where it is used.
TECHNIQUES = {"DEFER": "auto", "FUSION": "on", "POOL": "on"}


def pytest_configure(config: pytest.Config) -> None:
    """Tell of the marker for tests of a technique itself, rather than of results."""
    config.addinivalue_line("markers", "technique(*switches): what it tests must be switched on")


def _techniques(request: pytest.FixtureRequest) -> dict[str, str]:
    marks = request.node.iter_markers("technique")
    return {f"ASCEND_ARRAY_API_{name}": TECHNIQUES[name] for mark in marks for name in mark.args}


@pytest.fixture(autouse=True)
def _switched_on(request: pytest.FixtureRequest) -> None:
    """Skip tests of a technique that is off here, unless processes of their own have it on."""
    needed = _techniques(request)
    off = [name for name, value in needed.items() if os.environ.get(name, value) == "off"]
    if off and "child_env" not in request.fixturenames:
        pytest.skip(f"{', '.join(off)} is off")


@pytest.fixture
def child_env(request: pytest.FixtureRequest) -> dict[str, str]:
    """Return an environment for child processes in which they import the package tested here."""
    import ascend_array_api

    paths = [os.path.dirname(p) for p in ascend_array_api.__path__]
    # From Python 3.12 on, os.fork warns of threads, of which the core has some.
    quiet = ("ignore:This process:DeprecationWarning", os.environ.get("PYTHONWARNINGS", ""))
    return os.environ | {
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONWARNINGS": ",".join(filter(None, reversed(quiet))),
        **_techniques(request),
    }
