"""What each technique is worth: the same work with and without it, and on NumPy.

Every run has a process of its own. The variants of a technique take turns, round after round, and
their results must agree. A time is the median of the rounds, a ratio the median of the rounds'
ratios of a variant to the run with the technique in the same round.
"""

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from harness import BASE, OURS, UNSET

ON = "on"
TOLERANCE = 1e-5


@dataclass(frozen=True)
class Variant:
    """One way to do the work: a library, environment variables, or the technique's own switch."""

    library: str = OURS
    env: Mapping[str, str] | None = None
    enabled: bool = False


@dataclass(frozen=True)
class Target:
    """How many times what a variant needs of `measure` the technique must save: at least."""

    measure: str
    variant: str
    least: float


@dataclass(frozen=True)
class Effect:
    """A technique: its work, its variants beside `ON`, and what it must be worth.

    The work gets the namespace and whether the technique is on, and returns its result and the
    measures that it takes of itself.
    """

    work: Callable[[Any, bool], tuple[float, dict[str, float]]]
    variants: Mapping[str, Variant]
    targets: tuple[Target, ...]


NUMPY = Variant(BASE)
WITHOUT_POOL = Variant(env={"ASCEND_ARRAY_API_POOL": "off"})


def _finish(xp: Any, *arrays: Any) -> None:
    if hasattr(xp, "runtime"):
        xp.runtime.evaluate(*arrays)


def _allocations(xp: Any) -> int:
    """Return how often memory was taken from the system."""
    return xp.runtime.MemoryPool().statistics().allocations if hasattr(xp, "runtime") else 0


def allocations(xp: Any, _enabled: bool) -> tuple[float, dict[str, float]]:
    """200 training steps of a 784-256-10 network on batches of 256."""
    rng = np.random.default_rng(0)

    def make(shape: tuple[int, ...], scale: float = 1.0) -> Any:
        return xp.asarray((rng.standard_normal(shape) * scale).astype(np.float32))

    weights = [make((784, 256), 0.05), make((256,), 0.0), make((256, 10), 0.1), make((10,), 0.0)]
    data = make((8, 256, 784))
    targets = xp.asarray(np.eye(10, dtype=np.float32)[rng.integers(0, 10, (8, 256))])
    loss = 0.0
    before = _allocations(xp)
    for step in range(200):
        x, target = data[step % 8, ...], targets[step % 8, ...]
        hidden = x @ weights[0] + weights[1]
        active = xp.where(hidden > 0.0, hidden, 0.0 * hidden)
        score = active @ weights[2] + weights[3]
        e = xp.exp(score - xp.max(score, axis=1, keepdims=True))
        likely = e / xp.sum(e, axis=1, keepdims=True)
        loss = -xp.mean(xp.sum(target * xp.log(likely + 1e-7), axis=1))
        slope = (likely - target) / 256.0
        back = xp.where(hidden > 0.0, slope @ weights[2].T, 0.0 * hidden)
        slopes = [x.T @ back, xp.sum(back, axis=0), active.T @ slope, xp.sum(slope, axis=0)]
        weights = [w - 0.1 * s for w, s in zip(weights, slopes, strict=True)]
        _finish(xp, *weights, loss)
    return float(loss), {"allocations": _allocations(xp) - before}


def arena(xp: Any, enabled: bool) -> tuple[float, dict[str, float]]:
    """500 iterations with six temporaries of 1 to 8 MiB, of other sizes each time."""
    rng = np.random.default_rng(0)
    source = xp.asarray(np.arange(1 << 20, dtype=np.float64) % 1000.0)
    sizes = rng.integers(1 << 17, 1 << 20, (500, 6)).tolist()
    total = 0.0
    before = _allocations(xp)
    with xp.runtime.arena("64MiB") if enabled else nullcontext():
        for row in sizes:
            temporaries = [source[:size] + float(k) for k, size in enumerate(row)]
            _finish(xp, *temporaries)
            total += sum(float(t[-1]) for t in temporaries)
            del temporaries
    return total, {"allocations": _allocations(xp) - before}


EFFECTS = {
    "allocations": Effect(
        allocations,
        {"off": WITHOUT_POOL, BASE: NUMPY},
        (Target("allocations", "off", 1 / 0.7),),
    ),
    "arena": Effect(
        arena,
        {"off": WITHOUT_POOL, "pool": Variant(), BASE: NUMPY},
        (
            Target("allocations", "off", 1 / 0.17),
            Target("seconds", "off", 1.4),
            Target("seconds", "pool", 0.97),  # no slower, to within what timings vary
        ),
    ),
}


def _child(name: str, library: str, enabled: bool) -> None:
    xp = importlib.import_module(library)
    start = time.perf_counter()
    result, measures = EFFECTS[name].work(xp, enabled)
    print(json.dumps({"result": result, "seconds": time.perf_counter() - start, **measures}))


def _run(name: str, variant: Variant) -> dict[str, float]:
    """Do the work once in a new process; return its measures."""
    env = {k: v for k, v in os.environ.items() if k not in UNSET} | dict(variant.env or {})
    command = [sys.executable, __file__, "--child", name, variant.library]
    command += ["--enabled"] if variant.enabled else []
    done = subprocess.run(command, env=env, text=True, stdout=subprocess.PIPE, check=True)
    return dict(json.loads(done.stdout))


def _measure(name: str, rounds: int) -> dict[str, Any]:
    """Run all variants of an effect; return measures, ratios and verdicts."""
    effect = EFFECTS[name]
    variants = {ON: Variant(enabled=True), **effect.variants}
    runs: list[dict[str, dict[str, float]]] = []
    for _ in range(rounds):
        runs.append({key: _run(name, variant) for key, variant in variants.items()})
        expected = runs[-1][BASE]["result"]
        for key, run in runs[-1].items():
            if abs(run["result"] - expected) > TOLERANCE * abs(expected):
                raise RuntimeError(f"{name}, {key}: result {run['result']}, expected {expected}")

    def median(of: Callable[[dict[str, dict[str, float]]], float]) -> float:
        return statistics.median(of(run) for run in runs)

    targets = []
    for target in effect.targets:
        m, v = target.measure, target.variant
        ratio = median(lambda run, m=m, v=v: run[v][m] / max(run[ON][m], 1e-9))
        targets.append(
            {"measure": m, "variant": v, "ratio": ratio, "least": target.least}
            | {"good": ratio >= target.least}
        )
    measures = {
        key: {m: median(lambda run, key=key, m=m: run[key][m]) for m in runs[0][key]}
        for key in variants
    }
    return {"work": effect.work.__doc__, "measures": measures, "targets": targets}


def _print(name: str, row: Mapping[str, Any]) -> None:
    print(f"{name}: {row['work']}")
    for key, measures in row["measures"].items():
        taken = f", {measures['allocations']:.0f} allocations" if key != BASE else ""
        print(f"    {key:8} {measures['seconds']:8.3f} s{taken}")
    for target in row["targets"]:
        verdict = "ok" if target["good"] else "BELOW"
        print(
            f"    {target['measure']}, {target['variant']} to on: {target['ratio']:.2f}x  "
            f"{verdict} (target {target['least']:.2f}x)"
        )
    print(flush=True)


def main() -> int:
    """Run the script."""
    parser = argparse.ArgumentParser(description="What each technique is worth")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="run the effects whose name contains this")
    parser.add_argument("--json", help="write the results to this file as well")
    parser.add_argument("--check", action="store_true", help="fail when a target is missed")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--enabled", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        _child(*args.child, args.enabled)
        return 0
    rows = {}
    for name in EFFECTS:
        if args.only in name:
            rows[name] = _measure(name, args.rounds)
            _print(name, rows[name])
    if args.json:
        Path(args.json).write_text(json.dumps(rows, indent=2))
    good = bool(rows) and all(t["good"] for row in rows.values() for t in row["targets"])
    return 0 if good or not args.check else 1


if __name__ == "__main__":
    sys.exit(main())
