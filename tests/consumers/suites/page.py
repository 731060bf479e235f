"""Write docs/ecosystem.md: figures of the suites, their failures by kind, what works with what.

One command runs the suites that the results lack, and writes the page:

    python tests/consumers/suites/page.py --results build/consumers.json
"""

import argparse
import collections
import importlib.metadata
import json
import platform
import re
import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import run
import support

PAGE = Path(__file__).parents[3] / "docs/ecosystem.md"
SMALL = ("array_api_extra", "array_api_compat", "cubed")
# Suite, strict mode, deferral.
RUNS = [
    *((suite, strict, "auto") for strict in (False, True) for suite in run.SUITES),
    *((suite, False, defer) for defer in ("off", "always") for suite in SMALL),
]
# What a failure's message or test says: why it fails.
KINDS: Mapping[str, Sequence[tuple[str, str]]] = {
    "relaxed": [],
    "strict": [],
}

INTRODUCTION = """
# What works with what

This page is written by a command. It runs the tests that the libraries ship, with arrays of this
library, and the calls in the tables below:

```sh
pip install '.[test]' array-api-extra cubed einops xarray
python tests/consumers/suites/page.py --results build/consumers.json
```

`run.py` beside it runs single suites: `run.py sklearn --strict`, `run.py cubed --defer always`.
"""
SUITES = """
Of SciPy these are the tests that run on array libraries, but those marked slow and those of
five slow files; of scikit-learn the tests that run on array libraries, and the checks of every
estimator; of array-api-extra and array-api-compat what they ship. Cubed ships no tests for chunks
of other libraries: these are computations of ours.
"""
CALLS = """
Each call ran on NumPy's arrays and on ours with the same numbers, and the results agree. Where it
says "our arrays" the result is of this library; "NumPy's arrays" means that the consumer converts
what it does not know; numbers are Python's or NumPy's.
"""


def missing(results: Sequence[Mapping[str, Any]]) -> list[tuple[str, bool, str]]:
    """Return the runs that the results lack."""
    done = {(r["suite"], r["strict"], r["defer"]) for r in results}
    return [one for one in RUNS if one not in done]


def kind(mode: str, test: str, message: str) -> str:
    """Return why a test fails."""
    for pattern, reason in KINDS[mode]:
        if re.search(pattern, f"{test}\n{message}"):
            return reason
    return f"**not explained**: `{message.splitlines()[0][:100] if message else test}`"


def figures(results: Sequence[Mapping[str, Any]]) -> str:
    """Return the table of counts."""
    lines = [
        "| suite | mode | deferral | passed | failed | skipped |",
        "|---|---|---|---|---|---|",
    ]
    for r in sorted(results, key=lambda r: (list(run.SUITES).index(r["suite"]), r["strict"])):
        mode = "strict" if r["strict"] else "relaxed"
        lines.append(
            f"| {run.distribution(r['suite'])} {r['version']} | {mode} | {r['defer']} "
            f"| {r['passed']} | {r['failed']} | {r['skipped']} |"
        )
    return "\n".join(lines)


def failures(results: Sequence[Mapping[str, Any]], strict: bool) -> str:
    """Return the failures of one mode, counted by kind."""
    mode = "strict" if strict else "relaxed"
    lines = ["| suite | failures | why |", "|---|---|---|"]
    for r in results:
        if r["strict"] != strict or r["defer"] != "auto":
            continue
        counts = collections.Counter(kind(mode, t, m) for t, m in r["failures"].items())
        lines += [
            f"| {run.distribution(r['suite'])} | {n} | {why} |" for why, n in counts.most_common()
        ]
    return "\n".join(lines)


def answer(kind: str, why: str) -> str:
    """Return a cell of the table of calls."""
    return f"{kind}: {why}".replace("|", "\\|").replace("<", "&lt;") if why else kind


def calls() -> str:
    """Return the tables of calls."""
    parts = []
    made = {name: make() for name, make in support.GROUPS.items()}
    for group, found in support.table(made).items():
        parts += [f"### {group}", "| call | relaxed | strict |\n|---|---|---|"]
        rows = []
        for name, (relaxed, why, strict, why_strict) in found.items():
            same = (relaxed, why) == (strict, why_strict)
            second = "the same" if same else answer(strict, why_strict)
            rows.append(f"| `{name}` | {answer(relaxed, why)} | {second} |")
        parts[-1] += "\n" + "\n".join(rows)
    return "\n\n".join(parts)


def page(results: Sequence[Mapping[str, Any]]) -> str:
    """Return the whole page."""
    names = ("numpy", "scipy", "scikit-learn", "xarray", "einops", "cubed", "array-api-strict")
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)
    sections = [
        INTRODUCTION,
        f"Measured with Python {platform.python_version()}, {versions}.",
        "## The suites that the libraries ship",
        SUITES,
        figures(results),
        "## Why tests fail in relaxed mode",
        failures(results, strict=False),
        "## Why tests fail in strict mode",
        failures(results, strict=True),
        "## Calls",
        CALLS,
        calls(),
    ]
    return "\n\n".join(section.strip() for section in sections) + "\n"


def main() -> int:
    """Run the suites that the results lack, and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--results", type=Path, required=True, help="where results are kept")
    parser.add_argument("-n", type=int, default=2, help="processes (default: 2)")
    parser.add_argument("--partial", action="store_true", help="run nothing")
    parser.add_argument("--output", type=Path, default=PAGE)
    args = parser.parse_args()
    results = json.loads(args.results.read_text()) if args.results.exists() else []
    for suite, strict, defer in [] if args.partial else missing(results):
        print(f"{suite}, {'strict' if strict else 'relaxed'}, defer {defer}", file=sys.stderr)
        results.append(run.run(suite, args.n, strict, defer, []))
        args.results.write_text(json.dumps(results, indent=1))
    warnings.simplefilter("ignore")
    args.output.write_text(page(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
