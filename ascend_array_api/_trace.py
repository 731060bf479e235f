"""Events of a profiler in the Trace Event format of Chromium and Perfetto."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from . import _core
from ._profile import ProfileEvent, Recording

# Processes of the trace: the host, and behind it one for each device.
_HOST = 1
_FIRST_DEVICE = 2
# Rows of a device: its streams, and behind them what threads did for those.
_BY_HOST = 1 << 16

_TraceEvent = dict[str, Any]


def write_trace(recording: Recording, path: str | os.PathLike[str]) -> None:
    """Write a recording as a file."""
    slices = [*_slices(recording), *_flows(recording), *_memory(recording)]
    slices.sort(key=lambda event: event["ts"])
    trace = {
        "traceEvents": [*_names(recording), *slices],
        "displayTimeUnit": "ns",
        "otherData": {"ascend_array_api": _core.__version__, "lost_events": recording.lost},
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(trace, file, separators=(",", ":"))


def _names(recording: Recording) -> Iterator[_TraceEvent]:
    """Name processes and rows, and order them."""

    def name(what: str, pid: int, tid: int, **args: Any) -> _TraceEvent:
        return {"ph": "M", "name": what, "pid": pid, "tid": tid, "args": args}

    yield name("process_name", _HOST, 0, name="host")
    yield name("process_sort_index", _HOST, 0, sort_index=0)
    threads = [thread for thread in recording.threads if not thread.is_device]
    for order, thread in enumerate(sorted(threads, key=lambda t: t.name != "main")):
        title = thread.name if thread.name == "main" else f"{thread.name} {thread.number}"
        yield name("thread_name", _HOST, thread.number, name=title)
        yield name("thread_sort_index", _HOST, thread.number, sort_index=order)
    rows = {_row(e) for e in recording.events() if e.kind == "work"}
    for device in sorted({device for device, _ in rows}):
        pid = _FIRST_DEVICE + device
        yield name("process_name", pid, 0, name=f"device {recording.devices[device]}")
        yield name("process_sort_index", pid, 0, sort_index=1 + device)
    for device, row in sorted(rows):
        title = f"stream {row % _BY_HOST}" + (", by the host" if row >= _BY_HOST else "")
        yield name("thread_name", _FIRST_DEVICE + device, row, name=title)


def _row(event: ProfileEvent) -> tuple[int, int]:
    """Return the device of work, and its row there."""
    return event.device, event.stream + (_BY_HOST if event.category == "fallback" else 0)


def _place(event: ProfileEvent, thread: int) -> dict[str, int]:
    """Return the row of an event: a stream for what ran on a device, else a thread."""
    if event.kind in ("work", "begin"):
        device, row = _row(event)
        return {"pid": _FIRST_DEVICE + device, "tid": row}
    return {"pid": _HOST, "tid": thread}


def _microseconds(nanoseconds: int) -> float:
    return nanoseconds / 1000


def _facts(event: ProfileEvent, thread: int) -> dict[str, Any]:
    """Return what is shown of a slice when it is selected."""
    facts: dict[str, Any] = {"line": event.line} if event.line else {}
    facts |= {"thread": thread} if event.kind == "work" and thread > 0 else {}
    facts |= {"stream": event.stream} if event.kind in ("record", "wait") else {}
    facts |= {"precision": event.precision} if event.precision != "default" else {}
    facts |= {"elements": event.elements} if event.elements else {}
    facts |= {"bytes read": event.read, "bytes written": event.written} if event.bytes else {}
    seconds = event.duration / 1e9
    if seconds and event.operations:
        facts["GFLOP/s"] = round(event.operations / seconds / 1e9, 3)
    elif seconds and event.bytes:
        facts["GB/s"] = round(event.bytes / seconds / 1e9, 3)
    return facts


def _slices(recording: Recording) -> Iterator[_TraceEvent]:
    for thread in recording.threads:
        for event in thread.events:
            if event.kind in ("begin", "memory"):
                continue
            told = event.kind in ("record", "queue")
            name = f"{event.kind} {event.name}" if told else event.name
            yield {
                "ph": "X",
                "name": name,
                "cat": event.category,
                **_place(event, thread.number),
                "ts": _microseconds(event.begin - recording.since),
                "dur": _microseconds(event.duration),
                "args": _facts(event, thread.number),
            }


def _flows(recording: Recording) -> Iterator[_TraceEvent]:
    """Arrows from calls to the work that became of them."""
    ends = {
        kind: {e.flow: (e, t.number) for t in recording.threads for e in t.events if e.kind == kind}
        for kind in ("record", "begin")
    }
    for flow in ends["record"].keys() & ends["begin"].keys():
        for phase, kind in (("s", "record"), ("f", "begin")):
            event, thread = ends[kind][flow]
            yield {
                "ph": phase,
                "name": ends["record"][flow][0].name,
                "cat": "recorded",
                "id": flow,
                **({"bp": "e"} if phase == "f" else {}),
                **_place(event, thread),
                "ts": _microseconds(event.begin - recording.since),
            }


def _memory(recording: Recording) -> Iterator[_TraceEvent]:
    """Bytes in use, at each time at which they change."""
    for event in recording.events():
        if event.kind == "memory":
            yield {
                "ph": "C",
                "name": f"memory in use on {recording.devices[event.device]}",
                "pid": _HOST,
                "tid": 0,
                "ts": _microseconds(event.begin - recording.since),
                "args": {"bytes": event.elements},
            }
