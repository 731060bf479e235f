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
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness import BASE, UNSET
from techniques import EFFECTS, SWITCHES, Effect, Variant

ON = "on"
TOLERANCE = 1e-5


def _child(effect: Effect, library: str, enabled: bool) -> None:
    xp = importlib.import_module(library)
    start = time.perf_counter()
    result, measures = effect.work(xp, enabled)
    print(json.dumps({"result": result, "seconds": time.perf_counter() - start, **measures}))


def _run(name: str, variant: Variant) -> dict[str, float]:
    """Do the work once in a new process; return its measures."""
    unset = {*UNSET, *SWITCHES}
    env = {k: v for k, v in os.environ.items() if k not in unset} | dict(variant.env or {})
    command = [sys.executable, sys.argv[0], "--child", name, variant.library]
    command += ["--enabled"] if variant.enabled else []
    done = subprocess.run(command, env=env, text=True, stdout=subprocess.PIPE, check=True)
    return dict(json.loads(done.stdout))


def _measure(name: str, effect: Effect, rounds: int) -> dict[str, Any]:
    """Run all variants of an effect; return measures, ratios and verdicts."""
    variants = {ON: Variant(enabled=True), **effect.variants}
    runs: list[dict[str, dict[str, float]]] = []
    for _ in range(rounds):
        # In the other order each time: a clock that slows down favours nobody.
        variants = dict(reversed(variants.items()))
        runs.append({key: _run(name, variant) for key, variant in variants.items()})
        expected = runs[-1][BASE if BASE in variants else ON]["result"]
        for key, run in runs[-1].items():
            if abs(run["result"] - expected) > TOLERANCE * abs(expected):
                raise RuntimeError(f"{name}, {key}: result {run['result']}, expected {expected}")

    def median(measure: str, key: str, base: str | None = None) -> float:
        return statistics.median(
            run[key][measure] / (max(run[base][measure], 1e-9) if base else 1.0) for run in runs
        )

    targets = []
    for target in effect.targets:
        ratio = median(target.measure, target.variant, ON)
        targets.append(
            {"measure": target.measure, "variant": target.variant, "ratio": ratio}
            | {"least": target.least, "good": ratio >= target.least}
        )
    measures = {key: {m: median(m, key) for m in runs[0][key]} for key in (ON, *effect.variants)}
    return {"work": effect.text, "measures": measures, "targets": targets}


def _print(name: str, row: Mapping[str, Any]) -> None:
    print(f"{name}: {row['work']}")
    for key, measures in row["measures"].items():
        shown = [f"{m} {value:.4g}" for m, value in measures.items() if m != "result"]
        print(f"    {key:8} {', '.join(shown)}")
    for target in row["targets"]:
        verdict = "ok" if target["good"] else "BELOW"
        print(
            f"    {target['measure']}, {target['variant']} to on: {target['ratio']:.2f}x  "
            f"{verdict} (target {target['least']:.2f}x)"
        )
    print(flush=True)


def main(title: str, effects: Mapping[str, Effect], rounds: int = 3) -> int:
    """Run a script that measures effects."""
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--only", default="", help="run the effects whose name contains this")
    parser.add_argument("--json", help="write the results to this file as well")
    parser.add_argument("--check", action="store_true", help="fail when a target is missed")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--enabled", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        name, library = args.child
        _child(effects[name], library, args.enabled)
        return 0
    rows = {}
    for name, effect in effects.items():
        if args.only in name:
            rows[name] = _measure(name, effect, args.rounds)
            _print(name, rows[name])
    if args.json:
        Path(args.json).write_text(json.dumps(rows, indent=2))
    good = bool(rows) and all(t["good"] for row in rows.values() for t in row["targets"])
    return 0 if good or not args.check else 1


if __name__ == "__main__":
    sys.exit(main("What each technique is worth", EFFECTS))
