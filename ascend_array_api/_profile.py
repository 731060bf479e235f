"""What a profiler recorded, and the tables of its summary."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TextIO

from . import _core


class ProfileEvent(NamedTuple):
    """One event, as the core wrote it; times in nanoseconds."""

    kind: str
    category: str
    name: str
    line: str | None
    begin: int
    end: int
    stream: int
    device: int
    flow: int
    elements: int
    read: int
    written: int
    operations: int
    precision: str

    @property
    def bytes(self) -> int:
        """Bytes of arrays that were read or written."""
        return self.read + self.written

    @property
    def duration(self) -> int:
        """Nanoseconds."""
        return self.end - self.begin


class Thread(NamedTuple):
    """A thread of the process, or a device that keeps its own time, and its events."""

    number: int
    name: str
    lost: int
    events: list[ProfileEvent]

    @property
    def is_device(self) -> bool:
        """Whether it is no thread."""
        return self.number < 0


class Recording:
    """Everything that was recorded between two times."""

    def __init__(
        self, since: int, threads: Sequence[tuple[int, str, int, list[tuple[Any, ...]]]]
    ) -> None:
        self.since = since
        self.threads = [
            Thread(number, name, lost, [ProfileEvent._make(event) for event in events])
            for number, name, lost, events in threads
        ]
        self.devices = [name for name, *_ in _core.device_table()]

    def events(self) -> Iterator[ProfileEvent]:
        """Go through the events of all threads."""
        for thread in self.threads:
            yield from thread.events

    @property
    def elapsed(self) -> int:
        """Nanoseconds from the start to the end of the last event."""
        return max((event.end for event in self.events()), default=self.since) - self.since

    @property
    def lost(self) -> int:
        """Events that were overwritten."""
        return sum(thread.lost for thread in self.threads)


class OperationRow(NamedTuple):
    """What one operation did; times in seconds.

    Attributes
    ----------
    name : str
        The functions that ran together, such as "multiply+add+sum".
    device : str
        Where.
    category : {"compute", "copy", "fallback"}
        What kind of work it was.
    calls : int
        How often it ran.
    total : float
        The time of its runs, in seconds.
    minimum : float
        The shortest of them, in seconds.
    median : float
        The one in the middle, in seconds.
    percentile_95 : float
        The time that 95 % of them stayed within, in seconds.
    maximum : float
        The longest of them, in seconds.
    share : float
        Its part of the time of all operations, from 0 to 1.
    bytes : int
        Bytes of arrays that were read from memory or written to it.
    operations : int
        Floating-point operations of matrix products.
    """

    name: str
    device: str
    category: str
    calls: int
    total: float
    minimum: float
    median: float
    percentile_95: float
    maximum: float
    share: float
    bytes: int
    operations: int

    @property
    def rate(self) -> str:
        """What was achieved, in GFLOP/s for matrix products and in GB/s for the rest."""
        if not self.total or not (self.operations or self.bytes):
            return ""
        if self.operations:
            return f"{self.operations / self.total / 1e9:.3g} GFLOP/s"
        return f"{self.bytes / self.total / 1e9:.3g} GB/s"


class CategoryRow(NamedTuple):
    """Where time went; in seconds.

    Attributes
    ----------
    name : {"compute", "copy", "wait", "fallback", "host"}
        The category.
    events : int
        How many events it had.
    total : float
        Time of all threads, in seconds.
    share : float
        Its part of the elapsed time; with several threads the sum may exceed 1.
    """

    name: str
    events: int
    total: float
    share: float


CATEGORIES = ("compute", "copy", "wait", "fallback", "host")
# What ran, as opposed to what led to it.
_WORK = {"compute", "copy", "fallback"}
# Events that are moments or lie in others' time.
_MOMENTS = {"begin", "memory"}


def _median(times: Sequence[int]) -> float:
    """Return the median of sorted times; the module `statistics` would slow down every import."""
    return (times[(len(times) - 1) // 2] + times[len(times) // 2]) / 2


def _percentile_95(times: Sequence[int]) -> float:
    """Return the 95th percentile of sorted times, interpolated as NumPy does."""
    at = 0.95 * (len(times) - 1)
    low = int(at)
    high = min(low + 1, len(times) - 1)
    return times[low] + (at - low) * (times[high] - times[low])


def operation_rows(recording: Recording) -> tuple[OperationRow, ...]:
    """Return what ran by name, device and category, the longest first."""
    runs: dict[tuple[str, int, str], list[tuple[ProfileEvent, int]]] = {}
    for thread in recording.threads:
        for event, time in _own_times(thread.events):
            if event.category in _WORK:
                key = (event.name, event.device, event.category)
                runs.setdefault(key, []).append((event, time))
    everything = sum(time for timed in runs.values() for _, time in timed) or 1
    rows = []
    for (name, device, category), timed in runs.items():
        times = sorted(time for _, time in timed)
        rows.append(
            OperationRow(
                name=name,
                device=recording.devices[device],
                category=category,
                calls=len(times),
                total=sum(times) / 1e9,
                minimum=times[0] / 1e9,
                median=_median(times) / 1e9,
                percentile_95=_percentile_95(times) / 1e9,
                maximum=times[-1] / 1e9,
                share=sum(times) / everything,
                bytes=sum(event.bytes for event, _ in timed),
                operations=sum(event.operations for event, _ in timed),
            )
        )
    return tuple(sorted(rows, key=lambda row: -row.total))


def _own_times(events: Sequence[ProfileEvent]) -> Iterator[tuple[ProfileEvent, int]]:
    """Go through the events of a thread with their times less those of events inside of them."""
    slices = [event for event in events if event.kind not in _MOMENTS]
    slices.sort(key=lambda event: (event.begin, -event.end))
    open_ones: list[tuple[ProfileEvent, list[int]]] = []
    for event in slices:
        while open_ones and open_ones[-1][0].end <= event.begin:
            outer, inside = open_ones.pop()
            yield outer, outer.duration - sum(inside)
        if open_ones:
            open_ones[-1][1].append(event.duration)
        open_ones.append((event, []))
    for outer, inside in open_ones:
        yield outer, outer.duration - sum(inside)


def category_rows(recording: Recording) -> tuple[CategoryRow, ...]:
    """Return where the time of all threads went."""
    totals = dict.fromkeys(CATEGORIES, 0)
    counts = dict.fromkeys(CATEGORIES, 0)
    for thread in recording.threads:
        for event, time in _own_times(thread.events):
            totals[event.category] += time
            counts[event.category] += 1
    elapsed = recording.elapsed or 1
    return tuple(
        CategoryRow(name, counts[name], totals[name] / 1e9, totals[name] / elapsed)
        for name in CATEGORIES
    )


# ---- printing

_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def format_time(seconds: float) -> str:
    """Write a time with three digits and its unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def format_bytes(size: float) -> str:
    """Write a number of bytes with three digits and its unit."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size:.0f} B"


def format_xml(text: str) -> str:
    """Write text as XML, with U+FFFD for what XML cannot hold."""
    # Imported when used: it would slow down every import.
    from html import escape

    return escape(_NOT_XML.sub("\ufffd", text))


def format_table(lines: Sequence[Sequence[str]], left: int = 1) -> str:
    """Align columns: the first `left` ones to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if k < left else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def print_summary(recording: Recording, file: TextIO | None) -> None:
    """Print the tables by operation and by category."""
    titles = ["operation", "device", "calls", "total", "min", "median", "p95", "max", "share"]
    lines = [[*titles, "bytes", "rate"]]
    for row in operation_rows(recording):
        times = (row.total, row.minimum, row.median, row.percentile_95, row.maximum)
        lines.append(
            [
                row.name,
                row.device,
                str(row.calls),
                *map(format_time, times),
                f"{row.share:.1%}",
                format_bytes(row.bytes),
                row.rate,
            ]
        )
    print(format_table(lines, left=2), file=file)
    lines = [["category", "events", "total", "of elapsed"]]
    for group in category_rows(recording):
        lines.append(
            [group.name, str(group.events), format_time(group.total), f"{group.share:.1%}"]
        )
    print(f"\n{format_table(lines)}", file=file)
    threads = sum(
        any(e.kind not in _MOMENTS for e in t.events) for t in recording.threads if not t.is_device
    )
    print(f"\nelapsed {format_time(recording.elapsed / 1e9)}, threads {threads}", file=file)
    if recording.lost:
        print(
            f"{recording.lost} older events were overwritten: Profiler(capacity=...) keeps more",
            file=file,
        )
