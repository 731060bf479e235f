"""The command `bench`: a short table beside the libraries that are installed here.

Each library computes in a process of its own, which imports nothing else. The libraries take turns,
round after round, so that a slow moment of the machine meets all of them; a time is the median.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.metadata
import importlib.util
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ._array import as_numpy

OURS = "ascend_array_api"
# The name: the module of the namespace, and how to wait for a result.
LIBRARIES: Mapping[str, tuple[str, Callable[[Any, Any], Any]]] = {
    OURS: (OURS, lambda xp, result: xp.runtime.evaluate(result)),
    "numpy": ("numpy", lambda xp, result: result),
    "torch": ("torch", lambda xp, result: result),
    "jax": ("jax.numpy", lambda xp, result: result.block_until_ready()),
}
Work = Callable[[Any, Any, Any], Any]
# What is computed of the namespace and two square matrices of float32 in [0.5, 1.5).
WORKS: Mapping[str, Work] = {
    "add 8 elements": lambda xp, a, b: a[0, :8] + b[0, :8],
    "a * 2 + b": lambda xp, a, b: a * 2.0 + b,
    "exp(-a * a) * b + 1": lambda xp, a, b: xp.exp(-a * a) * b + 1.0,
    "sqrt of a sum of squares": lambda xp, a, b: xp.sqrt(xp.sum(a * a + b * b)),
    "(a > 1) & (b < 1), counted": lambda xp, a, b: xp.count_nonzero((a > 1.0) & (b < 1.0)),
    "standardise rows": lambda xp, a, b: (a - xp.mean(a, axis=1)[:, None]) / xp.sum(b),
    "transpose and add": lambda xp, a, b: a.T + b,
    "matrix product": lambda xp, a, b: a[:512, :512] @ b[:512, :512],
}
_SECONDS = 0.02  # one timing repeats its work for about this long
_TOLERANCE = 1e-3  # relative; sums of float32 differ in their order of additions


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "--size", type=int, default=2000, help="rows of the matrices (default: 2000)"
    )
    parser.add_argument("--rounds", type=int, default=5, help="timings of each (default: 5)")
    parser.add_argument(
        "--libraries", metavar="NAMES", help=f"some of {','.join(LIBRARIES)} (default: installed)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("-o", "--output", type=Path, help="save a picture (needs matplotlib)")


def _chosen(names: str | None) -> list[str]:
    """Return the libraries to compare, ours first."""
    wanted = list(LIBRARIES) if names is None else [OURS, *names.split(",")]
    if unknown := [name for name in wanted if name not in LIBRARIES]:
        raise ValueError(f"unknown library {unknown[0]!r}; accepted: {', '.join(LIBRARIES)}")
    installed = [name for name in LIBRARIES if importlib.util.find_spec(name)]
    if names is not None and (missing := [name for name in wanted if name not in installed]):
        raise ValueError(f"{missing[0]} is not installed")
    return [name for name in installed if name in wanted]


# ---- in the process of one library


def _serve(library: str, size: int) -> None:
    """Answer each line of the input, a work's name, with its seconds and its result's magnitude."""
    module, wait = LIBRARIES[library]
    xp = importlib.import_module(module)
    rng = np.random.default_rng(1)
    a, b = (xp.asarray(rng.random((size, size), dtype=np.float32) + 0.5) for _ in range(2))
    for line in sys.stdin:
        work = WORKS[line.strip()]
        result = work(xp, a, b)
        wait(xp, result)
        count, seconds = 1, 0.0
        while seconds < _SECONDS:
            start = time.perf_counter()
            for _ in range(count):
                wait(xp, work(xp, a, b))
            seconds = time.perf_counter() - start
            count, timed = count * 4, count
        total = float(np.sum(np.abs(as_numpy(result), dtype=np.float64)))
        print(json.dumps([seconds / timed, total]), flush=True)


# ---- in the process of the command


class _Child:
    """A process that times one library's works."""

    def __init__(self, library: str, size: int) -> None:
        self.library = library
        command = [sys.executable, "-m", f"{OURS}._bench", library, str(size)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def time(self, work: str) -> tuple[float, float]:
        """Return the seconds of a work, and the sum of its result's magnitudes."""
        assert self.process.stdin
        assert self.process.stdout
        try:
            self.process.stdin.write(work + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            raise RuntimeError(f"{self.library} failed, with exit status {self.process.wait()}")
        seconds, total = json.loads(answer)
        return seconds, total

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin
        with contextlib.suppress(BrokenPipeError):  # it may have failed before it read all
            self.process.stdin.close()
        self.process.wait()


def _measure(children: Sequence[_Child], rounds: int) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield each work with the median seconds of each library, once the results agree."""
    for number, work in enumerate(WORKS):
        timed: dict[str, list[float]] = {child.library: [] for child in children}
        for turn in range(rounds):
            for child in children:
                _progress(f"[{number + 1}/{len(WORKS)}] {work}, round {turn + 1}: {child.library}")
                seconds, total = child.time(work)
                timed[child.library].append(seconds)
                if child is children[0]:
                    expected = total
                elif abs(total - expected) > _TOLERANCE * abs(expected):
                    raise RuntimeError(f"{work}: {child.library} computes {total}, not {expected}")
        yield work, {library: statistics.median(t) for library, t in timed.items()}
    _progress("")


def _progress(text: str) -> None:
    """Show what is going on in the last line of a terminal."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def _table(libraries: Sequence[str], times: Mapping[str, Mapping[str, float]]) -> str:
    width = max(map(len, times))
    lines = [f"{'milliseconds':{width}}" + "".join(f"{name:>18}" for name in libraries)]
    for work, seconds in times.items():
        cells = (
            f"{seconds[name] * 1e3:10.4f} {seconds[OURS] / seconds[name]:6.2f}x"
            if name != OURS
            else f"{seconds[name] * 1e3:18.4f}"
            for name in libraries
        )
        lines.append(f"{work:{width}}" + "".join(cells))
    return "\n".join(lines) + f"\nx: our time as a part of theirs; below 1, {OURS} is faster"


def _draw(path: Path, libraries: Sequence[str], times: Mapping[str, Mapping[str, float]]) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 0.6 * len(times) + 1), layout="constrained")
    axes = figure.subplots()
    height = 0.8 / len(libraries)
    for i, name in enumerate(libraries):
        speeds = [seconds[OURS] / seconds[name] for seconds in times.values()]
        axes.barh([k + i * height for k in range(len(times))], speeds, height, label=name)
    axes.set_yticks([k + 0.4 - height / 2 for k in range(len(times))], list(times))
    axes.invert_yaxis()
    axes.set_xlabel(f"speed, {OURS} = 1 (longer is faster)")
    axes.legend()
    figure.savefig(path, dpi=120)


def run(args: argparse.Namespace) -> int:
    """Measure and show; return the exit status."""
    try:
        libraries = _chosen(args.libraries)
        if args.size < 8 or args.rounds < 1:
            raise ValueError("--size is at least 8, and --rounds at least 1")
        if args.output and not args.output.parent.is_dir():
            raise ValueError(f"-o {args.output}: there is no folder {args.output.parent}")
        if args.output and not importlib.util.find_spec("matplotlib"):
            raise ValueError("-o needs matplotlib, which is not installed")
    except ValueError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    children = [_Child(library, args.size) for library in libraries]
    try:
        times = dict(_measure(children, args.rounds))
    except RuntimeError as error:
        _progress("")
        print(f"bench: {error}", file=sys.stderr)
        return 1
    finally:
        for child in children:
            child.close()
    if args.json:
        versions = {name: importlib.metadata.version(name) for name in libraries if name != OURS}
        versions[OURS] = importlib.import_module(OURS).__version__
        print(json.dumps({"size": args.size, "versions": versions, "seconds": times}))
    else:
        print(_table(libraries, times))
    if args.output:
        _draw(args.output, libraries, times)
        print(f"picture: {args.output}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    _serve(sys.argv[1], int(sys.argv[2]))
