"""A trace as a picture: rows of slices along time, arrows between them, counters below."""

from __future__ import annotations

import argparse
import json
import os
import reprlib
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ._profile import format_bytes, format_time, format_xml

_WIDTH, _LEFT, _RIGHT, _MARGIN = 1200, 170, 24, 22
_SLICE, _ROW_GAP, _GRAPH, _AXIS = 18, 12, 54, 30
_LETTER = 6.1  # width of a letter, in pixels
# Slices that are narrower are drawn together with their neighbours.
_NARROW = 0.6
_MOST_ARROWS = 400
_COLORS = {
    "compute": "#4f8fc0",
    "copy": "#e0a13c",
    "wait": "#c9ced4",
    "fallback": "#cf5c4f",
    "host": "#8fbf9f",
}
_OTHER = "#b8a4c9"


@dataclass
class Row:
    """A thread or a stream, with its slices at their depths."""

    title: str
    slices: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    top: float = 0.0

    @property
    def depth(self) -> int:
        """How deep slices are nested."""
        return 1 + max((depth for depth, _ in self.slices), default=0)


class Trace:
    """The parts of a trace file that are drawn."""

    def __init__(self, events: Sequence[dict[str, Any]]) -> None:
        names: dict[tuple[str, int | str, int | str], Any] = {}
        for event in events:
            if event.get("ph") == "M":
                for value in event.get("args", {}).values():
                    names[event["name"], event["pid"], event.get("tid", 0)] = value
        slices = [event for event in events if event.get("ph") == "X"]
        self.arrows = [event for event in events if event.get("ph") in ("s", "f")]
        self.counters: dict[str, list[tuple[float, float]]] = {}
        for event in events:
            if event.get("ph") == "C":
                points = self.counters.setdefault(event["name"], [])
                points.append((event["ts"], sum(event["args"].values())))
        self.begin = min((event["ts"] for event in slices), default=0.0)
        self.end = max((event["ts"] + event["dur"] for event in slices), default=1.0)
        self.span = max(self.end - self.begin, 1e-3)  # at least a nanosecond
        self.rows: dict[tuple[int | str, int | str], Row] = {}

        def order(key: tuple[int | str, int | str]) -> list[tuple[bool, Any]]:
            pid, tid = key
            process = names.get(("process_sort_index", pid, 0), pid)
            thread = names.get(("thread_sort_index", pid, tid), tid)
            # Other programs name some of them: these come last.
            return [(isinstance(part, str), part) for part in (process, pid, thread, tid)]

        for key in sorted({(event["pid"], event["tid"]) for event in slices}, key=order):
            process = names.get(("process_name", key[0], 0), f"process {key[0]}")
            thread = names.get(("thread_name", *key), str(key[1]))
            self.rows[key] = Row(f"{process}: {thread}")
        for key, row in self.rows.items():
            _nest(row, [e for e in slices if (e["pid"], e["tid"]) == key])


def _nest(row: Row, slices: list[dict[str, Any]]) -> None:
    """Put slices inside of others one deeper."""
    ends: list[float] = []
    for event in sorted(slices, key=lambda e: (e["ts"], -e["dur"])):
        while ends and ends[-1] <= event["ts"] + 1e-6:
            ends.pop()
        row.slices.append((len(ends), event))
        ends.append(event["ts"] + event["dur"])


class Drawing:
    """A trace, drawn as SVG."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.parts: list[str] = []
        self.scale = (_WIDTH - _LEFT - _RIGHT) / trace.span

    def x(self, time: float) -> float:
        """Return the place of a time."""
        return _LEFT + (min(max(time, self.trace.begin), self.trace.end) - self.trace.begin) * (
            self.scale
        )

    def text(self, x: float, y: float, text: str, **style: str | float) -> None:
        """Write text."""
        more = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in style.items())
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}"{more}>{format_xml(text)}</text>')

    def draw(self, title: str) -> str:
        """Return the picture."""
        self.text(_MARGIN, 22, title, font_size=14, font_weight="bold")
        self._legend()
        top = 62.0 + _AXIS
        for row in self.trace.rows.values():
            row.top = top
            top += row.depth * _SLICE + _ROW_GAP
        bottom = top + len(self.trace.counters) * (_GRAPH + _ROW_GAP)
        self._axis(62.0 + _AXIS - 10, bottom)
        for row in self.trace.rows.values():
            self._row(row)
        self._arrows()
        for name, points in self.trace.counters.items():
            self._counter(name, points, top)
            top += _GRAPH + _ROW_GAP
        height = bottom + _MARGIN
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height:.0f}" '
            f'viewBox="0 0 {_WIDTH} {height:.0f}" font-family="sans-serif" font-size="11" '
            f'fill="#22303c">\n<rect width="{_WIDTH}" height="{height:.0f}" fill="#ffffff"/>'
        )
        return "\n".join([head, *self.parts, "</svg>\n"])

    def _legend(self) -> None:
        present = {event.get("cat") for row in self.trace.rows.values() for _, event in row.slices}
        x = float(_MARGIN)
        for name, color in _COLORS.items():
            if name in present:
                self.parts.append(
                    f'<rect x="{x:.0f}" y="36" width="12" height="12" fill="{color}"/>'
                )
                self.text(x + 17, 46, name)
                x += 40 + len(name) * _LETTER

    def _axis(self, top: float, bottom: float) -> None:
        step = _round_step(self.trace.span / 8)
        time = 0.0
        while time <= self.trace.span:
            x = self.x(self.trace.begin + time)
            self.parts.append(
                f'<line x1="{x:.1f}" y1="{top:.1f}" x2="{x:.1f}" y2="{bottom:.1f}" '
                'stroke="#e6eaee"/>'
            )
            label = format_time(time / 1e6) if time else "0"
            self.text(x, top - 4, label, text_anchor="middle", fill="#66727d")
            time += step

    def _row(self, row: Row) -> None:
        name = row.title if len(row.title) < 26 else row.title[:24] + "…"
        self.text(_MARGIN, row.top + 13, name)
        for depth, event, count in _together(row.slices, self.scale):
            x = self.x(event["ts"])
            width = max(event["dur"] * self.scale, 0.5)
            y = row.top + depth * _SLICE
            color = _COLORS.get(event.get("cat", ""), _OTHER)
            facts = [event["name"] if count == 1 else f"{count} short slices"]
            facts.append(format_time(event["dur"] / 1e6))
            if count == 1:
                facts += [f"{key}: {value}" for key, value in event.get("args", {}).items()]
            self.parts.append(
                f'<rect x="{x:.2f}" y="{y:.1f}" width="{width:.2f}" height="{_SLICE - 2}" '
                f'fill="{color}"><title>{format_xml(", ".join(facts))}</title></rect>'
            )
            letters = int((width - 6) / _LETTER)
            if count == 1 and letters >= 3:
                label = event["name"]
                label = label if len(label) <= letters else label[: letters - 1] + "…"
                self.text(x + 3, y + 12, label, font_size=10)

    def _arrows(self) -> None:
        starts = {event["id"]: event for event in self.trace.arrows if event["ph"] == "s"}
        ends = [e for e in self.trace.arrows if e["ph"] == "f" and e["id"] in starts]
        pairs = [(starts[e["id"]], e) for e in ends]
        every = -(-len(pairs) // _MOST_ARROWS) or 1
        for start, end in pairs[::every]:
            above = self.trace.rows.get((start["pid"], start["tid"]))
            below = self.trace.rows.get((end["pid"], end["tid"]))
            if above is None or below is None:
                continue
            depth = max(
                (d for d, e in above.slices if e["ts"] <= start["ts"] <= e["ts"] + e["dur"]),
                default=0,
            )
            x1, y1 = self.x(start["ts"]), above.top + (depth + 1) * _SLICE - 2
            x2, y2 = self.x(end["ts"]), below.top
            bend = (y1 + y2) / 2
            self.parts.append(
                f'<path d="M{x1:.1f} {y1:.1f} C{x1:.1f} {bend:.1f} {x2:.1f} {bend:.1f} '
                f'{x2:.1f} {y2:.1f}" fill="none" stroke="#7a5a9a" stroke-opacity="0.45"/>'
            )

    def _counter(self, name: str, points: list[tuple[float, float]], top: float) -> None:
        points = sorted(points)
        highest = max((value for _, value in points), default=0.0) or 1.0
        base = top + _GRAPH

        def y(value: float) -> float:
            return base - value / highest * (_GRAPH - 14)

        path = f"M{self.x(points[0][0]):.1f} {base:.1f}"
        last = points[0][1]
        for time, value in points:
            path += f" L{self.x(time):.1f} {y(last):.1f} L{self.x(time):.1f} {y(value):.1f}"
            last = value
        path += f" L{self.x(self.trace.end):.1f} {y(last):.1f} L{self.x(self.trace.end):.1f} {base}"
        self.parts.append(f'<path d="{path} z" fill="#dcd3e6" stroke="#8d78a5"/>')
        self.text(_MARGIN, top + 13, name)
        self.text(_MARGIN, top + 28, f"most {format_bytes(highest)}", fill="#66727d")


def _together(
    slices: list[tuple[int, dict[str, Any]]], scale: float
) -> Iterator[tuple[int, dict[str, Any], int]]:
    """Join narrow slices of one depth and category that lie side by side; count them."""
    open_ones: dict[int, tuple[dict[str, Any], int]] = {}
    for depth, event in slices:
        narrow = event["dur"] * scale < _NARROW
        if depth in open_ones:
            joined, count = open_ones[depth]
            gap = (event["ts"] - joined["ts"] - joined["dur"]) * scale
            if narrow and gap < _NARROW and joined.get("cat") == event.get("cat"):
                end = event["ts"] + event["dur"]
                open_ones[depth] = (joined | {"dur": end - joined["ts"]}, count + 1)
                continue
            yield depth, *open_ones.pop(depth)
        if narrow:
            open_ones[depth] = (event, 1)
        else:
            yield depth, event, 1
    for depth, (event, count) in open_ones.items():
        yield depth, event, count


def _round_step(step: float) -> float:
    """Return the next of 1, 2, 5 times a power of ten."""
    size = 1.0
    while size > step:
        size /= 10
    while size * 10 <= step:
        size *= 10
    return next(size * k for k in (1, 2, 5, 10) if size * k >= step)


def draw(events: Sequence[dict[str, Any]], title: str) -> str:
    """Draw the events of a trace as SVG."""
    return Drawing(Trace(events)).draw(title)


def load(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Return the events of a trace file; raise ValueError where it is not one."""
    try:
        trace = json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{os.fspath(path)} is not a trace: {error}") from None
    events = trace.get("traceEvents") if isinstance(trace, dict) else trace
    if not isinstance(events, list) or not all(isinstance(e, dict) for e in events):
        raise ValueError(f"{os.fspath(path)} is not a trace: it has no list of events")
    for event in events:
        if fault := _fault(event):
            raise ValueError(f"{os.fspath(path)} is not a trace: {fault}")
    return events


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and abs(value) < 2**53  # nor infinite, nor NaN


# What the fields that are drawn hold, and which of them events of each phase need.
_FIELDS: dict[str, Callable[[Any], bool]] = {
    "ph": lambda value: isinstance(value, str),
    "name": lambda value: isinstance(value, str),
    "cat": lambda value: isinstance(value, str),
    "id": lambda value: isinstance(value, int | str),
    "pid": lambda value: isinstance(value, int | str),
    "tid": lambda value: isinstance(value, int | str),
    "ts": _is_number,
    "dur": lambda value: _is_number(value) and value >= 0,
    "args": lambda value: isinstance(value, dict),
}
_NEEDED = {
    "X": ("name", "ts", "dur", "pid", "tid"),
    "C": ("name", "ts", "args"),
    "M": ("name", "pid"),
    "s": ("id", "ts", "pid", "tid"),
    "f": ("id", "ts", "pid", "tid"),
}


def _fault(event: dict[str, Any]) -> str | None:
    """Return what is wrong with an event, if something is."""
    phase = event.get("ph", "")
    if isinstance(phase, str) and phase not in _NEEDED:
        return None
    for key, accepts in _FIELDS.items():
        if key in event and not accepts(event[key]):
            return f"an event has {reprlib.repr(event[key])} as its {key!r}"
    for key in _NEEDED[phase]:
        if key not in event:
            return f"an event has no {key!r}"
    counts = phase == "C" or (phase == "M" and event["name"].endswith("sort_index"))
    if counts and not all(map(_is_number, event.get("args", {}).values())):
        return f"an event {event['name']!r} has other 'args' than numbers"
    return None


# ---- the command


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument("file", help="a trace that Profiler.export_chrome_trace wrote")
    parser.add_argument("-o", "--output", required=True, help="the SVG file to write")
    parser.add_argument("--title", help="above the picture (default: the name of the file)")


def run(args: argparse.Namespace) -> int:
    """Draw a file; return the exit status."""
    if Path(args.output).suffix.lower() != ".svg":
        print(f"trace: the picture is written as *.svg, got {args.output!r}", file=sys.stderr)
        return 2
    try:
        events = load(args.file)
    except ValueError as error:
        print(f"trace: {error}", file=sys.stderr)
        return 2
    picture = draw(events, args.title or Path(args.file).name)
    Path(args.output).write_text(picture, encoding="utf-8")
    return 0
