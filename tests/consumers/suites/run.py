"""Run the tests that SciPy, scikit-learn and others ship, with ascend_array_api as their arrays.

Each suite is the one of the installed package, unchanged; a pytest plugin (`on_*.py`) adds our
namespace to the libraries that it knows, and leaves out the tests of the others. A test that kills
its process, or that never ends, counts as failed.
"""

import argparse
import importlib.metadata
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Minutes of work in which the namespace plays little part.
SLOW_OF_SCIPY = {
    "stats/tests/test_resampling.py",
    "stats/tests/test_hypotests.py",
    "stats/tests/test_axis_nan_policy.py",
    "integrate/tests/test_cubature.py",
    "optimize/tests/test_optimize.py",
}
COMPAT = ("all", "array_namespace", "common", "copies_or_views", "isdtype")


def folder_of(package: str) -> Path:
    """Return the folder of an installed package, without importing it."""
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise ValueError(f"{package} is not installed")
    return Path(found.origin).parent


def distribution(package: str) -> str:
    """Return the name under which a package is installed."""
    return {"sklearn": "scikit-learn"}.get(package, package.replace("_", "-"))


def mentioning(package: str, *words: str) -> Iterator[Path]:
    """Yield a package's test files in which one of the words occurs."""
    for path in sorted(folder_of(package).rglob("test_*.py")):
        if any(word in path.read_text() for word in words):
            yield path


def tests_of_scipy() -> list[Path]:
    """Return the test files that use the fixture of array libraries."""
    slow = {folder_of("scipy") / name for name in SLOW_OF_SCIPY}
    return [path for path in mentioning("scipy", "xp)", "xp,", "xp:") if path not in slow]


def tests_of_sklearn() -> list[Path]:
    """Return the test files that run on array libraries, and the checks of every estimator."""
    words = ("yield_namespace", "yield_mixed_namespace", "check_array_api")
    helpers = {"utils/tests/test_estimator_checks.py"}
    root = folder_of("sklearn")
    files = [
        path for path in mentioning("sklearn", *words) if path not in {root / h for h in helpers}
    ]
    return sorted({*files, root / "tests/test_common.py"})


def tests_of_extra() -> list[Path]:
    """Return array-api-extra's own tests."""
    return sorted((folder_of("array_api_extra") / "tests/main").glob("test_*.py"))


def tests_of_compat() -> list[Path]:
    """Return array-api-compat's tests that concern every library."""
    return [folder_of("array_api_compat") / f"tests/test_{name}.py" for name in COMPAT]


def tests_of_cubed() -> list[Path]:
    """Return our own computations: Cubed's tests know no other library than NumPy."""
    folder_of("cubed")
    return [HERE / "computations_on_cubed.py"]


# The name: the plugin, the files, further arguments of pytest.
SUITES = {
    "scipy": ("on_scipy", tests_of_scipy, ["-m", "array_api_backends and not slow"]),
    "sklearn": ("on_sklearn", tests_of_sklearn, []),
    "array_api_extra": ("on_extra", tests_of_extra, ["-W", "error::DeprecationWarning"]),
    "array_api_compat": ("on_compat", tests_of_compat, []),
    "cubed": ("ours", tests_of_cubed, []),
}


def outcomes(report: Path) -> dict[str, object]:
    """Count what a report of pytest in JUnit's format says, and list its failures."""
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    failures = {}
    for case in ET.parse(report).getroot().iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        bad = case.find("failure") if case.find("failure") is not None else case.find("error")
        if bad is not None:
            counts["failed"] += 1
            failures[name] = f"{bad.get('message', '')}\n{(bad.text or '')[-2000:]}"
        elif case.find("skipped") is not None:
            counts["skipped"] += 1
        else:
            counts["passed"] += 1
    return {**counts, "failures": failures}


def run(suite: str, workers: int, strict: bool, defer: str, extra: list[str]) -> dict[str, object]:
    """Run one suite in processes of its own; return its counts and failures."""
    plugin, files, arguments = SUITES[suite]
    paths = files()
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",  # workers of pytest-xdist must collect in one order
        "SCIPY_ARRAY_API": "1",
        "CUBED_BACKEND_ARRAY_API_MODULE": "ascend_array_api",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "ASCEND_ARRAY_API_STRICT": str(int(strict)),
        "ASCEND_ARRAY_API_DEFER": defer,
    }
    root = HERE if suite == "cubed" else folder_of(suite).parent
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-c", os.devnull, f"--rootdir={root}"]
        command += ["-q", "--tb=short", "--no-header", "-p", "no:cacheprovider", "-p", plugin]
        command += ["-n", str(workers), "--timeout=300", "--timeout-method=thread"]
        command += [f"--junitxml={report}", *arguments, *extra, *map(str, paths)]
        start = time.perf_counter()
        done = subprocess.run(command, env=environment, cwd=folder, stdout=sys.stderr)
        if not report.exists():
            raise RuntimeError(f"{suite}: pytest ended with status {done.returncode}, no report")
        seconds = time.perf_counter() - start
        return {
            "suite": suite,
            "version": importlib.metadata.version(distribution(suite)),
            "strict": strict,
            "defer": defer,
            "seconds": round(seconds),
            **outcomes(report),
        }


def main() -> int:
    """Run what is asked for; print counts, and write the rest to a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suite", nargs="*", help=f"some of {', '.join(SUITES)} (default: all)")
    parser.add_argument("--strict", action="store_true", help="strict mode (default: relaxed)")
    parser.add_argument("--defer", choices=("auto", "off", "always"), default="auto")
    parser.add_argument("-n", type=int, default=2, help="processes (default: 2)")
    parser.add_argument(
        "--json", type=Path, help="add the results, with each failure, to this file"
    )
    args, extra = parser.parse_known_args()
    if unknown := set(args.suite) - set(SUITES):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; accepted: {', '.join(SUITES)}")
    failed = 0
    for suite in args.suite or SUITES:
        try:
            result = run(suite, args.n, args.strict, args.defer, extra)
        except (ValueError, RuntimeError) as error:
            print(f"{suite}: {error}", file=sys.stderr)
            return 2
        failed += int(str(result["failed"]))
        counts = ", ".join(f"{result[key]} {key}" for key in ("passed", "failed", "skipped"))
        mode = "strict" if args.strict else "relaxed"
        print(f"{suite} {result['version']}, {mode}, defer {args.defer}: {counts}", flush=True)
        if args.json:
            old = json.loads(args.json.read_text()) if args.json.exists() else []
            args.json.write_text(json.dumps([*old, result], indent=1))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
