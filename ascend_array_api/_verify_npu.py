"""The command `verify-npu`: what an NPU does, in one file to send back."""

import argparse
import functools
import json
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

# The tests of the suite that a device has to fail that the CPU cannot reach, and why.
EXPECTED_FAILURES = {
    "test_dunder_dlpack": "demands an export to the CPU without a copy",
    "test_dlpack_device": "demands a device of DLPack that the CPU can reach; an NPU is kDLExtDev",
}
_FUNCTIONS = "exp log sin cos tan tanh sinh sqrt log1p expm1 atan pow atan2 add divide".split()
_RUNNER = Path(__file__).parents[1] / "array-api-tests" / "run.py"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description = (
        "Try an NPU: versions, the official suite and the conformance kit, accuracy, bandwidth and "
        "matrix products beside NumPy, and what the host computed. Writes one report."
    )
    parser.add_argument("--device", default="npu:0", help="which one (default: npu:0)")
    parser.add_argument(
        "--report", type=Path, default=Path("npu-report.json"), help="default: npu-report.json"
    )
    parser.add_argument(
        "--max-examples", type=int, default=100, help="of each test of the suite (default: 100)"
    )
    parser.add_argument(
        "--select", metavar="NAME", help="of the suite and the kit only what tests this function"
    )
    parser.add_argument("--samples", type=int, default=100_000, help="inputs of each function")
    parser.add_argument("--megabytes", type=int, default=256, help="size of arrays that are timed")
    parser.add_argument("--matrix", type=int, default=4096, help="extent of timed matrices")
    parser.add_argument("--repeat", type=int, default=7, help="timed runs of each (default: 7)")
    parser.add_argument(
        "--only",
        nargs="+",
        choices=list(_SECTIONS),
        metavar="SECTION",
        help=f"of {', '.join(_SECTIONS)}",
    )


def run(args: argparse.Namespace) -> int:
    """Write the report; return 1 where something is wrong, 2 where there is no such device."""
    from ascend_array_api import _core, _info

    facts = _info.collect()
    if args.device not in facts["devices"] or not args.device.startswith("npu:"):
        print(f"verify-npu: there is no device {args.device}; CANN is {_core.cann_status()}")
        return 2
    report: dict[str, Any] = {"device": args.device, "facts": facts, "packages": _packages()}
    wrong = []
    for name, section in _SECTIONS.items():
        if args.only and name not in args.only:
            continue
        print(f"{name} ...", flush=True)
        try:
            report[name] = section(args)
        except Exception as error:  # whatever it is, the report tells
            report[name] = {"good": False, "error": f"{type(error).__name__}: {error}"}
        if not report[name].get("good", True):
            wrong.append(name)
        print(f"{name}: {_line(report[name])}", flush=True)
    report["wrong"] = wrong
    args.report.write_text(json.dumps(report, indent=1, default=str) + "\n", encoding="utf-8")
    verdict = f"wrong: {', '.join(wrong)}" if wrong else "all good"
    print(f"{verdict}; send this file back: {args.report}")
    return int(bool(wrong))


def _line(section: dict[str, Any]) -> str:
    """Return what a section found, in one line."""
    shown = {key: value for key, value in section.items() if not isinstance(value, list | dict)}
    return ", ".join(f"{key} {value}" for key, value in shown.items())


def _packages() -> dict[str, str | None]:
    from ascend_array_api._info import _version

    return {name: _version(name) for name in ("torch", "torch-npu", "ml_dtypes", "pytest")}


def _child(args: argparse.Namespace, *command: str) -> subprocess.CompletedProcess[str]:
    """Run Python with the NPU as the default device."""
    env = os.environ | {"ASCEND_ARRAY_API_DEVICE": args.device}
    return subprocess.run(
        [sys.executable, *command], env=env, capture_output=True, text=True, check=False
    )


def _suite(args: argparse.Namespace) -> dict[str, Any]:
    """Run the official suite, which a checkout of the project has beside it."""
    if not _RUNNER.is_file():
        return {"good": False, "error": "run this in a checkout of the project, with its suite"}
    chosen = ["-k", args.select] if args.select else []
    done = _child(args, str(_RUNNER), "--max-examples", str(args.max_examples), *chosen)
    counts = re.search(r"official suite \(\w+\): (\d+) passed, (\d+) failed", done.stdout)
    failed = sorted(set(re.findall(r"^FAILED \S*?::(\w+)", done.stdout, flags=re.MULTILINE)))
    unexpected = [name for name in failed if name not in EXPECTED_FAILURES]
    return {
        "good": counts is not None and not unexpected and int(counts[2]) <= len(failed),
        "passed": int(counts[1]) if counts else 0,
        "failed": int(counts[2]) if counts else 0,
        "unexpected": len(unexpected),
        "expected failures": {n: EXPECTED_FAILURES[n] for n in failed if n in EXPECTED_FAILURES},
        "unexpected failures": unexpected,
        "end": (done.stdout + done.stderr).splitlines()[-40:] if unexpected or not counts else [],
    }


def _kit(args: argparse.Namespace) -> dict[str, Any]:
    """Run the project's own conformance kit."""
    chosen = ["--select", args.select] if args.select else []
    done = _child(args, "-m", "ascend_array_api", "conformance", *chosen)
    lines = done.stdout.splitlines()
    return {
        "good": done.returncode == 0,
        "status": done.returncode,
        "text": lines[-200:] if done.returncode else lines[-20:],
        "errors": done.stderr.splitlines()[-20:] if done.returncode else [],
    }


def _accuracy(args: argparse.Namespace) -> dict[str, Any]:
    """Measure the error of functions, against NumPy in float64."""
    import ascend_array_api as xp
    from ascend_array_api.testing import verify
    from ascend_array_api.testing._accuracy import _REFERENCES

    def there(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*operands: Any) -> Any:
            moved = [x.to_device(args.device) for x in operands]
            return function(*moved).to_device("cpu")

        return call

    rows: dict[str, Any] = {}
    for name in _FUNCTIONS:
        function = there(getattr(xp, name))
        # Subnormal results are measured in the unit of the least normal number.
        tiny = float(np.finfo(np.float32).tiny)
        report = verify(
            function, xp.float32, args.samples, reference=_REFERENCES.get(name), smallest=tiny
        )
        rows[name] = report._asdict()
    worst = max(rows, key=lambda name: rows[name]["max_ulp"])
    return {"worst": worst, "max_ulp": rows[worst]["max_ulp"], "functions": rows}


def _median(work: Callable[[], Any], repeat: int) -> float:
    work()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def _speed(args: argparse.Namespace) -> dict[str, Any]:
    """Time copies, additions and matrix products, beside NumPy."""
    import ascend_array_api as xp
    from ascend_array_api import runtime

    def ran(x: Any) -> None:
        runtime.evaluate(x)
        runtime.synchronize()

    n = args.megabytes * (1 << 20) // 4
    a = np.ones(n, np.float32)
    x = xp.asarray(a, device=args.device)
    ran(x + 1)

    def upload() -> None:
        ran(xp.asarray(a, device=args.device)[:1] + 1)

    def download() -> None:
        np.asarray((x + 1).to_device("cpu"))

    gigabytes = a.nbytes / 1e9
    add = _median(lambda: ran(x + x), args.repeat)
    rows = {
        "upload GB/s": gigabytes / _median(upload, args.repeat),
        "addition and download GB/s": 2 * gigabytes / _median(download, args.repeat),
        "addition GB/s": 2 * gigabytes / add,
        "addition GB/s, NumPy": 2 * gigabytes / _median(lambda: a + a, args.repeat),
        "sum GB/s": gigabytes / _median(lambda: ran(xp.sum(x)), args.repeat),
        "sum GB/s, NumPy": gigabytes / _median(a.sum, args.repeat),
    }
    operations = 2 * args.matrix**3 / 1e9
    b = np.ones((args.matrix, args.matrix), np.float32)
    y = xp.asarray(b, device=args.device)
    z = xp.astype(y, xp.dtypes.float16)
    for name, product in {
        "matmul float32 GFLOP/s": lambda: ran(y @ y),
        "matmul float32 GFLOP/s, NumPy": lambda: b @ b,
        "matmul float16 GFLOP/s": lambda: ran(z @ z),
    }.items():
        rows[name] = operations / _median(product, args.repeat)
    return {key: round(value, 3) for key, value in rows.items()}


def _fallback(args: argparse.Namespace) -> dict[str, Any]:
    """List what the host computes for the device, by the tables and in this process."""
    from ascend_array_api import runtime

    on_host = [r for r in runtime.routing(device=args.device) if r.kind == "host"]
    return {
        "routes to the host": len(on_host),
        "routes": [f"{r.op} {r.dtype}: {r.reason}" for r in on_host],
        "in this process": [f._asdict() for f in runtime.fallbacks()],
        "statistics": runtime.Device(args.device).statistics(),
    }


_SECTIONS: dict[str, Callable[[argparse.Namespace], dict[str, Any]]] = {
    "accuracy": _accuracy,
    "speed": _speed,
    "kit": _kit,
    "suite": _suite,
    "fallback": _fallback,
}
