"""Run the official Array API test suite on ascend_array_api.

The suite is looked for in ARRAY_API_TESTS_DIR (when set, nowhere else), in `suite/` beside this
file (the git submodule) and in the user's cache directory. Arguments that are not listed below go
to pytest.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODULE = "ascend_array_api"
STANDARD = "2025.12"
DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64", "complex64", "complex128"),
)


def candidates() -> list[Path]:
    """Return the places where a checkout of the suite may be, in order of preference."""
    named = os.environ.get("ARRAY_API_TESTS_DIR")
    if named:
        return [Path(named).expanduser().resolve()]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return [HERE / "suite", cache / "array-api-tests"]


def is_complete(directory: Path) -> bool:
    """Tell whether the suite and its own submodule, the standard's text, are there."""
    stubs = directory / "array-api" / "src" / "array_api_stubs"
    return (directory / "array_api_tests" / "__init__.py").is_file() and stubs.is_dir()


def missing(searched: list[Path]) -> int:
    """Say that there is no suite and how to get it; return the exit status."""
    required = os.environ.get("ASCEND_ARRAY_API_REQUIRE_SUITE") == "1"
    if os.environ.get("ARRAY_API_TESTS_DIR"):
        required = True
    print("The official Array API test suite is MISSING: none of its tests ran. Looked at:")
    for directory in searched:
        state = "not there" if not directory.is_dir() else "empty or without array-api submodule"
        print(f"  {directory} ({state})")
    print("Get it with: git submodule update --init --recursive array-api-tests/suite")
    if not required:
        print("(ASCEND_ARRAY_API_REQUIRE_SUITE=1 makes this an error.)")
    return 1 if required else 0


def commit_of(directory: Path) -> str:
    """Return the commit a checkout stands at, or "unknown"."""
    command = ["git", "-c", "safe.directory=*", "-C", str(directory), "rev-parse", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return "unknown"
    return done.stdout.strip() if done.returncode == 0 else "unknown"


def totals(report: Path) -> dict[str, int]:
    """Return the numbers of tests that passed, failed and were skipped, from a JUnit file."""
    if not report.is_file():
        return {"passed": 0, "failed": 0, "skipped": 0}
    suites = list(ElementTree.parse(report).getroot().iter("testsuite"))
    count = {k: sum(int(s.get(k, "0")) for s in suites) for k in ("tests", "failures", "errors")}
    skipped = sum(int(s.get("skipped", "0")) for s in suites)
    failed = count["failures"] + count["errors"]
    return {"passed": count["tests"] - failed - skipped, "failed": failed, "skipped": skipped}


def lacking(module: str, env: dict[str, str]) -> str:
    """Return the standard's dtypes that the default device lacks, with commas in between."""
    program = f"import {module} as xp; print(*xp.__array_namespace_info__().dtypes())"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=True)
    return ",".join(sorted(set(DTYPES) - set(done.stdout.split())))


def run(suite: Path, args: argparse.Namespace, pytest_args: list[str]) -> int:
    """Run the suite found at `suite`; return the exit status."""
    env = os.environ | {"ARRAY_API_TESTS_MODULE": args.module, "ARRAY_API_TESTS_VERSION": STANDARD}
    if args.relaxed:
        env["ASCEND_ARRAY_API_STRICT"] = "0"
    if args.device:
        env.setdefault("ASCEND_ARRAY_API_CPU_DEVICES", "1")
        env["ASCEND_ARRAY_API_DEVICE"] = args.device
        env.setdefault("ARRAY_API_TESTS_SKIP_DTYPES", lacking(args.module, env))
    device = env.get("ASCEND_ARRAY_API_DEVICE", "cpu")
    mode = "relaxed" if env.get("ASCEND_ARRAY_API_STRICT") == "0" else "strict"
    print(f"suite:    {suite}")
    print(f"commit:   {commit_of(suite)}, array-api {commit_of(suite / 'array-api')}")
    print(f"standard: {STANDARD}, module {args.module}, {mode}, {args.max_examples} examples")
    without = env.get("ARRAY_API_TESTS_SKIP_DTYPES")
    print(f"device:   {device}" + (f", without {without}" if without else ""))
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.xml"
        # The suite's directory may be read-only, or a submodule that should stay clean.
        env["HYPOTHESIS_STORAGE_DIRECTORY"] = str(Path(scratch) / "hypothesis")
        env["PYTHONDONTWRITEBYTECODE"] = "1"
        paths = [str(HERE), str(suite), env.get("PYTHONPATH", "")]
        env["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
        command = [
            *(sys.executable, "-m", "pytest", "array_api_tests", "-n", "auto", "-q"),
            *("-p", "no:cacheprovider", "-p", "suite_repairs", "--disable-deadline"),
            *("--max-examples", str(args.max_examples)),
            *("--xfails-file", str(HERE / "xfails.txt"), "--skips-file", os.devnull),
            *("--junitxml", str(report)),
            *pytest_args,
        ]
        sys.stdout.flush()
        status = subprocess.run(command, cwd=suite, env=env, check=False).returncode
        count = totals(report)
    print(f"official suite ({mode}):", ", ".join(f"{n} {what}" for what, n in count.items()))
    if status == 0 and count["passed"] == 0:
        print("error: no test of the official suite passed")
        return 1
    return status or int(count["failed"] > 0)


def main() -> int:
    """Find the suite and run it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--max-examples", type=int, default=100, help="default: 100")
    parser.add_argument("--relaxed", action="store_true", help="run in relaxed mode")
    parser.add_argument("--device", help="the default device of the run, for example cpu:1")
    parser.add_argument("--module", default=MODULE, help=f"namespace to test, default {MODULE}")
    args, pytest_args = parser.parse_known_args()
    searched = candidates()
    suite = next((directory for directory in searched if is_complete(directory)), None)
    return missing(searched) if suite is None else run(suite, args, pytest_args)


if __name__ == "__main__":
    sys.exit(main())
