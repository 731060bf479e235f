"""Command line: ``python -m ascend_array_api.testing.conformance --module array_api_strict``."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections import Counter

from .core import iterate


def main(argv: list[str] | None = None) -> int:
    """Run the kit, print each failure and a table by chapter; return 1 if anything failed."""
    parser = argparse.ArgumentParser(prog="conformance", description=__doc__)
    parser.add_argument("--module", default="ascend_array_api", help="namespace to test")
    parser.add_argument("--select", action="append", help="pattern of ids or a function's name")
    parser.add_argument("--no-extras", action="store_true", help="only what the standard says")
    args = parser.parse_args(argv)
    xp = importlib.import_module(args.module)
    table: Counter[tuple[str, str]] = Counter()
    for r in iterate(xp, args.select, extras=not args.no_extras):
        table[r.check.chapter, r.outcome] += 1
        if r.outcome == "failed":
            print(f"FAILED {r.check.id} [{r.check.group}]\n    {r.message}")
    chapters = list(dict.fromkeys(chapter for chapter, _ in table))
    print(f"{'chapter':<16}{'passed':>8}{'failed':>8}{'skipped':>8}")
    for chapter in chapters:
        row = "".join(f"{table[chapter, o]:>8}" for o in ("passed", "failed", "skipped"))
        print(f"{chapter:<16}{row}")
    return 1 if any(o == "failed" and n for (_, o), n in table.items()) else 0


if __name__ == "__main__":
    sys.exit(main())
