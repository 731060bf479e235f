"""The command ``python -m ascend_array_api conformance``."""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import report
from .core import GROUPS, VERSIONS, Result, checks, run_check


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("--module", default="ascend_array_api", help="namespace to test")
    parser.add_argument(
        "--version",
        choices=list(VERSIONS),
        help="version of the standard (default: the one that the namespace names)",
    )
    parser.add_argument(
        "--select",
        action="append",
        metavar="PATTERN",
        help="a function's name or a pattern of ids; may be given several times",
    )
    parser.add_argument(
        "--no-advice", action="store_true", help="leave out what the standard only recommends"
    )
    parser.add_argument(
        "--no-extras", action="store_true", help="leave out what goes beyond the standard"
    )
    parser.add_argument("--report", type=Path, metavar="FILE", help="write a page of HTML as well")
    parser.add_argument("--list", action="store_true", help="list the checks and end")


def run(args: argparse.Namespace) -> int:
    """Run the kit; return 1 if a check failed, 2 if the arguments name nothing."""
    dropped = {"advice": args.no_advice, "extra": args.no_extras}
    groups = [g for g in GROUPS if not dropped.get(g)]
    if not args.module or args.module.startswith("."):
        raise ImportError(f"no module can be named {args.module!r}")
    xp = importlib.import_module(args.module)
    version = args.version or getattr(xp, "__array_api_version__", None) or max(VERSIONS)
    chosen = checks(args.select, groups, version)
    if not chosen:
        print(f"conformance: no check matches {args.select}", file=sys.stderr)
        return 2
    if args.list:
        print("\n".join(f"{c.id}  [{c.group}, {c.since}]" for c in chosen))
        return 0
    start = time.perf_counter()
    results = list(_run_all(xp, chosen))
    run_of = report.Run(args.module, str(getattr(xp, "__version__", "")), version, groups)
    seconds = time.perf_counter() - start
    print(report.text(run_of, results, seconds))
    if args.report is not None:
        args.report.write_text(report.html(run_of, results, seconds), encoding="utf-8")
        print(f"report: {args.report}")
    return int(any(r.outcome == "failed" for r in results))


def _run_all(xp: Any, chosen: Sequence[Any]) -> list[Result]:
    """Run the checks; show where it is, on a terminal in one line that changes."""
    results: list[Result] = []
    live = sys.stderr.isatty()
    failed = 0
    for i, check in enumerate(chosen):
        if live:
            line = f"[{i + 1}/{len(chosen)}] {failed} failed  {check.id}"
            print(f"\r\033[K{line[:100]}", end="", file=sys.stderr, flush=True)
        elif i % 200 == 0:
            line = f"[{i}/{len(chosen)}] {failed} failed, {check.chapter}"
            print(line, file=sys.stderr, flush=True)
        results.append(run_check(xp, check))
        failed += results[-1].outcome == "failed"
    if live:
        print("\r\033[K", end="", file=sys.stderr, flush=True)
    return results


def main(argv: Sequence[str] | None = None) -> int:
    """Run from the command line; return the exit status."""
    parser = argparse.ArgumentParser(prog="conformance", description=__doc__)
    configure(parser)
    return run(parser.parse_args(argv))
