"""The rules of the Trace Event format, for files of complete events, flows and counters."""

import json

# What each kind of event must have beside "ph", "pid" and "tid".
REQUIRED = {
    "M": {"name", "args"},
    "X": {"name", "cat", "ts", "dur"},
    "s": {"name", "cat", "ts", "id"},
    "f": {"name", "cat", "ts", "id", "bp"},
    "C": {"name", "ts", "args"},
}
METADATA = {"process_name", "process_sort_index", "thread_name", "thread_sort_index"}
# Times are microseconds with three decimals.
SLACK = 0.0015


def _no_constants(text):
    raise AssertionError(f"{text} is not JSON")


def check(path):
    """Raise AssertionError where the file breaks a rule; return its events."""
    trace = json.loads(path.read_text(), parse_constant=_no_constants)
    events = trace["traceEvents"]
    assert isinstance(events, list)
    assert trace["displayTimeUnit"] in ("ms", "ns")
    named = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
    processes = {e["pid"] for e in events if e["name"] == "process_name"}
    for event in events:
        assert event["ph"] in REQUIRED, event
        assert REQUIRED[event["ph"]] <= event.keys(), event
        assert all(type(event[key]) is int for key in ("pid", "tid")), event
        assert event["pid"] in processes, event
        if event["ph"] == "M":
            assert event["name"] in METADATA, event
            key = "name" if event["name"].endswith("_name") else "sort_index"
            assert list(event["args"]) == [key], event
            continue
        assert event["ts"] >= 0, event
        if event["ph"] == "C":
            assert all(type(v) in (int, float) for v in event["args"].values()), event
        else:
            assert (event["pid"], event["tid"]) in named, event
    times = [e["ts"] for e in events if e["ph"] != "M"]
    assert times == sorted(times)
    rows = _rows_of_slices(events)
    _check_flows(events, rows)
    return events


def _rows_of_slices(events):
    """Slices of a row lie inside of each other or apart."""
    rows = {}
    for event in events:
        if event["ph"] == "X":
            assert event["dur"] >= 0, event
            rows.setdefault((event["pid"], event["tid"]), []).append(event)
    for row in rows.values():
        outer = []
        for event in sorted(row, key=lambda e: (e["ts"], -e["dur"])):
            while outer and outer[-1]["ts"] + outer[-1]["dur"] <= event["ts"] + SLACK:
                outer.pop()
            if outer:
                end = outer[-1]["ts"] + outer[-1]["dur"]
                assert event["ts"] + event["dur"] <= end + SLACK, (outer[-1], event)
            outer.append(event)
    return rows


def _check_flows(events, rows):
    """A flow has one start and one end, in this order, each inside of a slice of its row."""
    flows = {}
    for event in events:
        if event["ph"] in "sf":
            flows.setdefault(event["id"], []).append(event)
            slices = rows[event["pid"], event["tid"]]
            assert any(
                s["ts"] - SLACK <= event["ts"] <= s["ts"] + s["dur"] + SLACK for s in slices
            ), event
    for pair in flows.values():
        assert sorted(e["ph"] for e in pair) == ["f", "s"], pair
        start, end = sorted(pair, key=lambda e: e["ph"] == "f")
        assert start["ts"] <= end["ts"], pair
        assert start["name"] == end["name"], pair
        assert start["cat"] == end["cat"], pair
        assert end["bp"] == "e", pair
