"""Reports of a run: a table by chapter and each finding, as text and as a page of HTML."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from string import Template

from .core import ALL, Result

OUTCOMES = ("passed", "failed", "remark", "skipped")
_DTYPE = re.compile(rf"-?\b({'|'.join(ALL)})$")


@dataclass(frozen=True)
class Run:
    """What was run: the namespace, its version, that of the standard, and the kit's groups."""

    module: str
    release: str
    version: str
    groups: Sequence[str]

    @property
    def title(self) -> str:
        """Return the namespace and its version."""
        return f"{self.module} {self.release}".strip()


def table(results: Iterable[Result], key: str = "chapter") -> dict[str, Counter[str]]:
    """Count the outcomes by chapter or by function, in the order in which they came."""
    rows: dict[str, Counter[str]] = {}
    for r in results:
        rows.setdefault(getattr(r.check, key), Counter())[r.outcome] += 1
    return rows


def findings(results: Iterable[Result], outcome: str) -> list[list[Result]]:
    """Return the results of one outcome, checks that differ in the dtype only together."""
    alike: dict[tuple[str, str, str], list[Result]] = {}
    for r in results:
        if r.outcome == outcome:
            aspect = _DTYPE.sub("", r.check.name)
            alike.setdefault((r.check.chapter, r.check.function, aspect), []).append(r)
    return list(alike.values())


def text(run: Run, results: Sequence[Result], seconds: float) -> str:
    """Return the report for a terminal."""
    lines: list[str] = []
    for outcome in ("remark", "failed"):
        for some in findings(results, outcome):
            first = some[0]
            more = f"  (and {len(some) - 1} more dtypes)" if len(some) > 1 else ""
            lines += [f"{outcome.upper()} {first.check.id}{more}", f"    {first.message}"]
            lines += [f"    {first.reproduction}", ""]
    lines.append(f"{'chapter':<16}" + "".join(f"{o:>9}" for o in OUTCOMES))
    rows = table(results)
    for name, row in (*rows.items(), ("all", sum(rows.values(), Counter()))):
        lines.append(f"{name:<16}" + "".join(f"{row[o]:>9}" for o in OUTCOMES))
    lines.append(f"{run.title}, standard {run.version}, {seconds:.0f} s")
    return "\n".join(lines)


def html(run: Run, results: Sequence[Result], seconds: float) -> str:
    """Return the report as one page of HTML that needs no other file."""
    count = Counter(r.outcome for r in results)
    failed = count["failed"]
    verdict = "no fault found" if not failed else f"{failed} of {len(results)} checks failed"
    return _PAGE.substitute(
        title=escape(run.title),
        verdict=verdict,
        state="bad" if failed else "good",
        about=f"Array API standard {run.version} · {len(results)} checks in {seconds:.0f} s · "
        + f"groups: {', '.join(run.groups)}",
        rows="\n".join(_row(name, row) for name, row in table(results).items()),
        total=_row("all", count),
        failed=_section(
            "Failed", "What the standard requires and the namespace does not do.", results, "failed"
        ),
        remarks=_section(
            "Remarks",
            "Recommendations (“should”), and values which a note lets libraries replace: "
            "deviations that the standard allows.",
            results,
            "remark",
        ),
        skipped=_section("Skipped", "What the namespace does not have.", results, "skipped"),
        functions=_functions(results),
    )


def _row(name: str, row: Counter[str]) -> str:
    total = sum(row.values())
    cells = "".join(f'<td class="{o if row[o] else "none"}">{row[o] or "·"}</td>' for o in OUTCOMES)
    bar = "".join(f'<i class="{o}" style="flex:{row[o]}"></i>' for o in OUTCOMES if row[o])
    bar = f'<td><div class="bar">{bar}</div></td>'
    return f"<tr><th>{escape(name)}</th>{cells}<td>{total}</td>{bar}</tr>"


def _section(title: str, what: str, results: Sequence[Result], outcome: str) -> str:
    groups = findings(results, outcome)
    if not groups:
        return ""
    parts = "\n".join(_finding(some, outcome) for some in groups)
    return f"<h2>{title}</h2><p>{what}</p>{parts}"


def _finding(some: list[Result], outcome: str) -> str:
    first = some[0]
    others = ", ".join(r.check.name for r in some[1:])
    more = f"<p>Also: {escape(others)}</p>" if others else ""
    repeat = f"<pre>{escape(first.reproduction)}</pre>" if first.reproduction else ""
    return (
        f'<details class="{outcome}"{" open" if outcome == "failed" else ""}><summary>'
        f"<b>{escape(first.check.function)}</b> <code>{escape(first.check.id)}</code></summary>"
        f"<p>{escape(first.message)}</p>{repeat}{more}</details>"
    )


def _functions(results: Sequence[Result]) -> str:
    chips = []
    for name, row in table(results, "function").items():
        worst = next(o for o in ("failed", "remark", "passed", "skipped") if row[o])
        told = ", ".join(f"{row[o]} {o}" for o in OUTCOMES if row[o])
        chips.append(f'<span class="{worst}" title="{told}">{escape(name)}</span>')
    return "\n".join(chips)


_PAGE = Template("""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Conformance of $title</title>
<style>
:root {
  color-scheme: light dark;
  --ink: light-dark(#1c2733, #dfe6ee); --paper: light-dark(#fff, #12181f);
  --soft: light-dark(#f2f5f8, #1b242e); --line: light-dark(#d5dde5, #2e3b48);
  --dim: light-dark(#5b6b7b, #93a3b3);
  --passed: light-dark(#2e8b57, #4fbf85); --failed: light-dark(#c0392b, #ff7b6b);
  --remark: light-dark(#b7791f, #e0b155); --skipped: light-dark(#8a97a5, #6d7a88);
}
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 64rem; color: var(--ink);
  background: var(--paper); font: 16px/1.5 system-ui, sans-serif; }
h1 { margin: 0; font-size: 1.7rem; }
h2 { margin: 2.5rem 0 .25rem; font-size: 1.25rem; }
p { margin: .35rem 0; overflow-wrap: anywhere; }
h1 + p, h2 + p { color: var(--dim); }
.verdict { display: inline-block; margin: 1rem 0; padding: .35rem .9rem; border-radius: .5rem;
  border: 2px solid; font-weight: 600; }
.good { color: var(--passed); } .bad { color: var(--failed); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .7rem; text-align: right; border-bottom: 1px solid var(--line); }
th:first-child { text-align: left; font-weight: 500; }
thead th { color: var(--dim); font-size: .85rem; }
tfoot th, tfoot td { font-weight: 700; border-bottom: 0; }
td.failed { color: var(--failed); font-weight: 700; }
td.remark { color: var(--remark); font-weight: 600; }
td.none, td.skipped { color: var(--skipped); }
.bar { display: flex; width: 9rem; gap: 2px; }
.bar i { height: .6rem; min-width: 3px; border-radius: 2px; }
.bar .passed { background: var(--passed); } .bar .failed { background: var(--failed); }
.bar .remark { background: var(--remark); } .bar .skipped { background: var(--skipped); }
details { margin: .6rem 0; padding: .5rem .9rem; background: var(--soft);
  border-left: 4px solid var(--skipped); border-radius: .3rem; }
details.failed { border-color: var(--failed); } details.remark { border-color: var(--remark); }
summary { cursor: pointer; }
code, pre { font: .85rem/1.5 ui-monospace, monospace; }
summary code { color: var(--dim); margin-left: .5rem; overflow-wrap: anywhere; }
pre { margin: .5rem 0; padding: .5rem .7rem; border: 1px solid var(--line); border-radius: .3rem;
  background: var(--paper); white-space: pre-wrap; overflow-wrap: anywhere; }
.chips span { display: inline-block; margin: .15rem .1rem; padding: .05rem .5rem;
  border-radius: .3rem; background: var(--soft); border: 1px solid var(--line);
  font: .85rem/1.6 ui-monospace, monospace; }
.chips .failed { color: var(--failed); border-color: currentColor; font-weight: 700; }
.chips .remark { color: var(--remark); border-color: currentColor; }
.chips .skipped { color: var(--skipped); }
</style>
<h1>Conformance of $title</h1>
<p>$about</p>
<div class="verdict $state">$verdict</div>
<div class="scroll"><table>
<thead><tr><th>chapter</th><th>passed</th><th>failed</th><th>remarks</th><th>skipped</th>
<th>checks</th><th></th></tr></thead>
<tbody>$rows</tbody>
<tfoot>$total</tfoot>
</table></div>
$failed
$remarks
$skipped
<h2>Functions</h2>
<p>Red: a check failed. Amber: a recommendation is not followed. Point at a name for the counts.</p>
<div class="chips">$functions</div>
</html>
""")
