"""Time the same statements in several array libraries, side by side.

Each library lives in a process of its own, which imports nothing else. Every case is first run
once in each and the results compared with NumPy's; then the libraries take turns, round after
round, so that a slow moment of the machine meets all of them; a pause between them lets the threads
of the one before go to sleep. A time is the median of the rounds, a ratio the median of the rounds'
ratios to NumPy's time in the same round.
"""

import argparse
import importlib
import importlib.metadata
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import timeit
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

OURS = "ascend_array_api"
BASE = "numpy"
# Name on the command line: the package that must be installed, and the module to import as xp.
LIBRARIES = {
    OURS: (OURS, OURS),
    BASE: ("numpy", "numpy"),
    "numexpr": ("numexpr", "numpy"),
    "torch": ("torch", "array_api_compat.torch"),
    "jax": ("jax", "jax.numpy"),
    "jax.jit": ("jax", "jax.numpy"),
    "mlx": ("mlx", "mlx.core"),
    "array_api_strict": ("array_api_strict", "array_api_strict"),
}
# Settings of the surrounding machine that would tie a library's BLAS to another processor.
UNSET = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
MIN_ROUNDS = 7
# One timing repeats its statement until it takes about this long.
SECONDS_PER_TIMING = 0.02
# Threads of a library look for more work for a while, and would take a core from the next one:
# OpenBLAS for 2**28 clocks unless told otherwise, the others for a few milliseconds.
OPENBLAS_CLOCKS = "20"
SECONDS_BETWEEN = 0.02
# Results in floating point may differ by this much, relative to the largest element.
TOLERANCE = {"f2": 5e-3, "f4": 1e-4, "f8": 1e-10}


@dataclass(frozen=True)
class Case:
    """One line of a table: a statement over `xp` and what `setup` defines."""

    name: str
    setup: str
    statement: str
    target: float | None = None  # the largest ratio to NumPy's time that --check accepts
    # The statement in other libraries; in numexpr, which knows expressions alone, the expression.
    spelling: Mapping[str, str] = field(default_factory=dict)
    wait: bool = True  # wait for each result; without it only for the last (call overhead)


def _waiter(library: str, xp: Any) -> Callable[[Any], Any]:
    """Return a function that returns its argument when it has been computed."""
    if library == OURS:
        evaluate = xp.runtime.evaluate

        def wait(result: Any) -> Any:
            evaluate(result)
            return result

        return wait
    if library in ("jax", "jax.jit"):
        return lambda result: result.block_until_ready()
    if library == "mlx":

        def evaluated(result: Any) -> Any:
            xp.eval(result)
            return result

        return evaluated
    return lambda result: result


def _statement(library: str, case: Case, scope: dict[str, Any]) -> str:
    """Return what the library is to run; adds to `scope` what that needs."""
    if library == "numexpr":
        if library not in case.spelling:
            raise NotImplementedError("not an expression of numexpr")
        scope["numexpr"] = importlib.import_module("numexpr")
        return f"numexpr.evaluate({case.spelling[library]!r})"
    if library == "jax.jit":
        jax = importlib.import_module("jax")
        arrays = {name: x for name, x in scope.items() if isinstance(x, jax.Array)}
        statement = case.spelling.get("jax", case.statement)
        scope["compiled"] = jax.jit(eval(f"lambda {', '.join(arrays)}: {statement}", scope))
        return f"compiled({', '.join(arrays)})"
    return case.spelling.get(library, case.statement)


def _serve(library: str, cases: Sequence[Case]) -> None:
    """Be the process of one library: obey one JSON command a line until the input ends."""
    package, module = LIBRARIES[library]
    xp = importlib.import_module(module)
    version = xp.__version__ if library == OURS else importlib.metadata.version(package)
    print(json.dumps({"version": version}), flush=True)
    wait = _waiter(library, xp)
    timer, number = timeit.Timer("pass"), 1
    for line in sys.stdin:
        command = json.loads(line)
        if "case" not in command:
            timer.timeit(1)  # wakes caches and clocks from the pause
            print(json.dumps({"seconds": timer.timeit(number) / number}), flush=True)
            continue
        case = cases[command["case"]]
        scope: dict[str, Any] = {"xp": xp, "np": np, "wait": wait}
        try:
            exec(case.setup, scope)
            statement = _statement(library, case, scope)
            result = wait(eval(statement, scope))
            np.save(command["path"], np.asarray(result))
            timer = timeit.Timer(f"wait({statement})" if case.wait else statement, globals=scope)
            once = timer.timeit(1)
            once = min(once, timer.timeit(10) / 10) if once < SECONDS_PER_TIMING else once
            number = max(1, round(SECONDS_PER_TIMING / once))
            print(json.dumps({"ready": True}), flush=True)
        except Exception as error:
            print(json.dumps({"error": f"{type(error).__name__}: {error}"}), flush=True)


class _Peer:
    """A library in its own process."""

    def __init__(self, library: str, arguments: Sequence[str]) -> None:
        self._library = library
        env = {k: v for k, v in os.environ.items() if k not in UNSET}
        env |= {"JAX_ENABLE_X64": "1", "OPENBLAS_THREAD_TIMEOUT": OPENBLAS_CLOCKS}
        command = [sys.executable, sys.argv[0], *arguments, "--child", library]
        self._process = subprocess.Popen(
            command, env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.version = self._answer()["version"]

    def ask(self, **command: Any) -> dict[str, Any]:
        """Send one command and return the answer."""
        assert self._process.stdin
        print(json.dumps(command), file=self._process.stdin, flush=True)
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self._library}: process ended with {self._process.wait()}")
        return dict(json.loads(answer))

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def _difference(result: np.ndarray, expected: np.ndarray) -> str | None:
    """Say how a result differs from NumPy's, or return None when it does not."""
    if result.shape != expected.shape:
        return f"shape {result.shape}, expected {expected.shape}"
    if expected.dtype.kind not in "fc":
        return None if np.array_equal(result, expected) else "other values"
    scale = float(np.max(np.abs(expected), initial=0.0)) or 1.0
    error = float(np.max(np.abs(result - expected), initial=0.0)) / scale
    # A NaN in one of the two fails as well: it compares false.
    return None if error <= TOLERANCE[expected.real.dtype.str[1:]] else f"error {error:.1e}"


def _measure(peers: Mapping[str, _Peer], index: int, rounds: int) -> dict[str, Any]:
    """Check and time one case; return times, ratios and errors by library."""
    errors: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for library, peer in peers.items():
            path = Path(scratch) / f"{library}.npy"
            answer = peer.ask(case=index, path=str(path))
            if "error" in answer:
                errors[library] = answer["error"]
            elif library != BASE:
                problem = _difference(np.load(path), np.load(Path(scratch) / f"{BASE}.npy"))
                if problem:
                    errors[library] = f"wrong result: {problem}"
    runners = {library: peer for library, peer in peers.items() if library not in errors}
    seconds: dict[str, list[float]] = {library: [] for library in runners}
    for _ in range(rounds):
        for library, peer in runners.items():
            time.sleep(SECONDS_BETWEEN)
            seconds[library].append(peer.ask()["seconds"])
    ratios = {
        library: statistics.median(t / b for t, b in zip(times, seconds[BASE], strict=True))
        for library, times in seconds.items()
    }
    medians = {library: statistics.median(times) for library, times in seconds.items()}
    return {"seconds": medians, "ratio": ratios, "errors": errors}


def _format(seconds: float) -> str:
    unit, scale = ("ns", 1e9) if seconds < 1e-5 else ("us", 1e6) if seconds < 1e-2 else ("ms", 1e3)
    return f"{seconds * scale:.4g} {unit}"


def _row(case: Case, libraries: Sequence[str], row: Mapping[str, Any]) -> tuple[str, bool]:
    """Return a table row, and whether our time is within the target."""
    text = f"{case.name:28}"
    for library in libraries:
        if library in row["errors"]:
            text += f"{'-':>12}{'':8}"
            continue
        text += f"{_format(row['seconds'][library]):>12}"
        text += f"{row['ratio'][library]:>7.2f}x" if library != BASE else f"{'':8}"
    if OURS in row["errors"]:
        return f"{text}  FAILED {row['errors'][OURS]}", False
    if case.target is None or OURS not in row["ratio"]:
        return text, True
    good = row["ratio"][OURS] <= case.target
    return f"{text}  {'ok' if good else 'ABOVE'} (target {case.target:g}x)", good


def _print_summary(rows: Mapping[str, Mapping[str, Any]]) -> None:
    """Print the mean gain over NumPy, and the works at which some peer is faster than we are."""
    gains, behind = [], []
    for name, row in rows.items():
        others = {k: r for k, r in row["ratio"].items() if k != OURS}
        if OURS not in row["ratio"] or not others:
            continue
        gains.append(1 / row["ratio"][OURS])
        best = min(others, key=lambda k: others[k])
        if others[best] < row["ratio"][OURS]:
            behind.append(
                f"{name}: {best} takes {others[best] / row['ratio'][OURS]:.2f} of our time"
            )
    if gains:
        mean = statistics.geometric_mean(gains)
        print(f"\nGeometric mean: {mean:.2f} times NumPy's speed over {len(gains)} works.")
        print("\n".join(["Faster than we are:", *behind] if behind else ["No peer is faster."]))


def _default_peers() -> list[str]:
    # PyTorch and JAX take part where they are installed.
    found = [name for name, (package, _) in LIBRARIES.items() if importlib.util.find_spec(package)]
    return [BASE, *(name for name in found if name != BASE)]


def _run(title: str, cases: Sequence[Case], args: argparse.Namespace) -> int:
    libraries = [BASE, *(name for name in args.peers.split(",") if name and name != BASE)]
    chosen = [i for i, case in enumerate(cases) if args.only in case.name]
    peers = {name: _Peer(name, args.forward) for name in libraries}
    versions = [f"{name} {peer.version}" for name, peer in peers.items()]
    print(f"{title}\n{', '.join(versions)}; {os.cpu_count()} cores; {args.rounds} rounds\n")
    columns = [f"{name:>12}{'':8}" if name == BASE else f"{name:>20}" for name in libraries]
    print(f"{'':28}" + "".join(columns))
    rows, good = {}, bool(chosen)
    for index in chosen:
        rows[cases[index].name] = _measure(peers, index, args.rounds)
        text, within = _row(cases[index], libraries, rows[cases[index].name])
        good &= within
        print(text, flush=True)
    for peer in peers.values():
        peer.close()
    for name, row in rows.items():
        for library, error in row["errors"].items():
            print(f"{name}, {library}: {error}", file=sys.stderr)
    _print_summary(rows)
    if args.json:
        Path(args.json).write_text(json.dumps({"versions": versions, "cases": rows}, indent=2))
    return 0 if good or not args.check else 1


def main(title: str, options: Mapping[str, Any], make_cases: Callable[..., Sequence[Case]]) -> int:
    """Run a benchmark script.

    `options` are the script's own settings with their defaults: command-line options, and keyword
    arguments of `make_cases`.
    """
    parser = argparse.ArgumentParser(description=title)
    for name, default in options.items():
        parser.add_argument(f"--{name}", type=type(default), default=default)
    parser.add_argument("--peers", default=",".join(_default_peers()), help=", ".join(LIBRARIES))
    parser.add_argument("--rounds", type=int, default=MIN_ROUNDS)
    parser.add_argument("--only", default="", help="run the cases whose name contains this")
    parser.add_argument("--json", help="write the results to this file as well")
    parser.add_argument("--check", action="store_true", help="fail when a target is missed")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    args = parser.parse_args()
    cases = make_cases(**{name: getattr(args, name) for name in options})
    if args.child:
        _serve(args.child, cases)
        return 0
    unknown = set(args.peers.split(",")) - set(LIBRARIES)
    if unknown or args.rounds < MIN_ROUNDS:
        parser.error(f"unknown peers {sorted(unknown)}" if unknown else "too few rounds")
    args.forward = [f"--{name}={getattr(args, name)}" for name in options]
    return _run(title, cases, args)
