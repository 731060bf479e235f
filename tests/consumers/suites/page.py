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
# Suite, strict mode, deferral.
RUNS = [
    *((suite, strict, "auto") for strict in (False, True) for suite in run.SUITES),
    *((suite, False, defer) for defer in ("off", "always") for suite in run.SUITES),
]
# What a failure's message or test says: why it fails.
KINDS: Sequence[tuple[str, str]] = [
    (r"test_xp_is_array_generics", "asks for a function `is_..._array` of the library"),
    (r"test_delegates", "has a list of the libraries that have the function themselves"),
    (r"test_rbfinterp.*no attribute 'view'|'view'", "SciPy calls the NumPy method `view`"),
    (r"no attribute '(sum|reshape|max|min|any|all|astype|copy)'", "calls methods that NumPy has"),
    (r"has no attribute 'float16'", "takes float16 from the namespace; it is in `dtypes`"),
    (r"has no attribute '(logspace|nansum)'", "calls a function that the standard does not have"),
    (r"does not support ufuncs", "gives our arrays to NumPy's functions"),
    (r"test_array_api_lazy", "expects errors of a lazy library, and nothing here is refused"),
    (r"test_input_validation.*Regex pattern", "compares the text of an error"),
    (r"TestXP_Mean::test_dtype", "expects a float32 sum to overflow, which ours does not"),
    (r"TestCumfreq|TestRelfreq", "a value on the edge of a bin: edges differ in their last bit"),
    (r"TestCumulativeSimpson", "differences of sums whose last bits differ: 2.2e-16"),
    (r"TestCheby2::test_basic", "the last bits: an error of 1.52e-13, accepted 1.5e-13"),
    (r"test_krandinit", "random numbers times singular vectors, whose sign is free"),
    (r"test_gh22601", "the sign of a zero decides between two angles of a complex logarithm"),
    (r"Index arrays for array_api_strict", "array_api_strict beside us refuses NumPy's indices"),
    # What strict mode refuses.
    (r"a Python float is no value of dtype", "makes integer arrays of floats"),
    (r"do not promote to|does not go with an array", "mixes kinds: integers with floats and such"),
    (r"is not a dtype of this library", "gives NumPy's or Python's types as dtypes"),
    (r"the truth of an array", "asks for the truth of an array that is no scalar"),
    (r"is no index", "indexes with lists, or with arrays of NumPy"),
    (r"dtype \w+ is not supported", "calls functions with dtypes that the standard excludes"),
    (
        r"or relax with|cannot be stored in",
        "relies on other things that the standard leaves open",
    ),
]

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


def not_run(results: Sequence[Mapping[str, Any]]) -> str:
    """Return a sentence about the runs that the results lack."""
    lacking = [
        f"{run.distribution(suite)} ({'strict' if strict else 'relaxed'}, {defer})"
        for suite, strict, defer in missing(results)
    ]
    return f"Not run for this page: {', '.join(lacking)}." if lacking else ""


def kind(test: str, message: str) -> str:
    """Return why a test fails."""
    for pattern, reason in KINDS:
        if re.search(pattern, f"{test}\n{message}", re.DOTALL):
            return reason
    return f"**not explained**: `{message.splitlines()[0][:100] if message else test}`"


def in_order(results: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the results suite by suite, relaxed mode first."""
    order = list(run.SUITES)
    return sorted(results, key=lambda r: (order.index(r["suite"]), r["strict"], r["defer"]))


def endings(results: Sequence[Mapping[str, Any]]) -> str:
    """Return a sentence about tests that ended their process, as those that hang are made to."""
    ended = [t for r in results for t, m in r["failures"].items() if "crashed while running" in m]
    if ended:
        return f"**Ended their process, or ran for five minutes**: {', '.join(sorted(ended))}."
    return "No test ended its process, and none ran for five minutes."


def deferral(results: Sequence[Mapping[str, Any]]) -> str:
    """Return sentences about the tests that fail in some deferrals only."""
    sentences = []
    for strict, mode in ((False, "relaxed"), (True, "strict")):
        failed = collections.defaultdict(list)
        for r in results:
            if r["strict"] == strict:
                failed[r["suite"]].append(set(r["failures"]))
        compared = [f for f in failed.values() if len(f) > 1]
        differ = sorted(set().union(*(set.union(*f) - set.intersection(*f) for f in compared)))
        if differ:
            names = ", ".join(f"`{t}`" for t in differ)
            sentences.append(f"In {mode} mode, these fail in some deferrals only: {names}.")
        elif compared:
            sentences.append(f"In {mode} mode, the same tests fail whatever the deferral.")
    return " ".join(sentences)


def figures(results: Sequence[Mapping[str, Any]]) -> str:
    """Return the table of counts."""
    lines = [
        "| suite | mode | deferral | passed | failed | skipped |",
        "|---|---|---|--:|--:|--:|",
    ]
    for r in in_order(results):
        mode = "strict" if r["strict"] else "relaxed"
        lines.append(
            f"| {run.distribution(r['suite'])} {r['version']} | {mode} | {r['defer']} "
            f"| {r['passed']} | {r['failed']} | {r['skipped']} |"
        )
    return "\n".join(lines)


def failures(results: Sequence[Mapping[str, Any]], strict: bool) -> str:
    """Return the failures of one mode, counted by kind."""
    lines = ["| suite | failures | why |", "|---|--:|---|"]
    for r in in_order(results):
        if r["strict"] != strict or r["defer"] != "auto":
            continue
        counts = collections.Counter(kind(t, m) for t, m in r["failures"].items())
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
        f"{endings(results)} {deferral(results)}",
        not_run(results),
        "## Why tests fail in relaxed mode",
        failures(results, strict=False),
        "## Why tests fail in strict mode",
        failures(results, strict=True),
        "## Calls",
        CALLS,
        calls(),
    ]
    return "\n\n".join(section.strip() for section in sections if section) + "\n"


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
