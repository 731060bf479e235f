"""`python -m ascend_array_api trace`: a trace as a picture."""

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import ascend_array_api as xp
from ascend_array_api import __main__, _timeline, runtime
from ascend_array_api.profiler import Profiler

SVG = "{http://www.w3.org/2000/svg}"
DEFERRED = os.environ.get("ASCEND_ARRAY_API_DEFER", "auto") != "off"


@pytest.fixture
def trace(tmp_path):
    x = xp.asarray(np.ones((400, 400)))
    stream = runtime.Stream()
    with Profiler() as profile:
        for _ in range(3):
            float(xp.sum(xp.maximum(x @ x, 0.0)))
        with stream:
            y = xp.exp(x) + 1.0
        xp.sort(xp.asarray(np.ones(200_000)))
        runtime.evaluate(y)
    profile.export_chrome_trace(tmp_path / "trace.json")
    return tmp_path / "trace.json"


def rects(root):
    keys = ("x", "y", "width", "height")
    found = [{k: float(r.get(k, 0)) for k in keys} for r in root.iter(f"{SVG}rect")]
    return found[0], found[1:]


def test_the_command_draws_every_row(trace, tmp_path, child_env):
    command = [sys.executable, "-m", "ascend_array_api", "trace", str(trace)]
    output = tmp_path / "out.svg"
    done = subprocess.run(
        [*command, "-o", str(output), "--title", "a <title>"],
        env=child_env,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    root = ElementTree.fromstring(output.read_text())
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert texts[0] == "a <title>"
    assert "host: main" in texts
    assert "memory in use on cpu" in texts
    assert "0" in texts
    background, others = rects(root)
    assert all(r["x"] >= 0 and r["x"] + r["width"] <= background["width"] for r in others)
    assert all(r["y"] + r["height"] <= background["height"] for r in others)
    if DEFERRED:
        assert sum(text.startswith("device cpu: stream ") for text in texts) == 2
        assert len(list(root.iter(f"{SVG}path"))) > 4


def test_slices_lie_where_their_times_say():
    events = [
        {"ph": "X", "name": "a", "cat": "compute", "pid": 1, "tid": 1, "ts": 0.0, "dur": 100.0},
        {"ph": "X", "name": "b", "cat": "copy", "pid": 1, "tid": 1, "ts": 50.0, "dur": 50.0},
        {"ph": "X", "name": "c", "cat": "wait", "pid": 1, "tid": 2, "ts": 25.0, "dur": 25.0},
    ]
    root = ElementTree.fromstring(_timeline.draw(events, "t"))
    _, found = rects(root)
    a, b, c = [r for r in found if r["width"] > 12]
    assert b["width"] == pytest.approx(a["width"] / 2, abs=0.02)
    assert b["x"] == pytest.approx(a["x"] + a["width"] / 2, abs=0.02)
    assert c["x"] == pytest.approx(a["x"] + a["width"] / 4, abs=0.02)
    assert b["y"] > a["y"]
    assert c["y"] > b["y"]


def test_many_short_slices_are_drawn_together():
    events = [
        {"ph": "X", "name": "s", "cat": "host", "pid": 1, "tid": 1, "ts": float(k), "dur": 0.9}
        for k in range(50_000)
    ]
    picture = _timeline.draw(events, "t")
    _, found = rects(ElementTree.fromstring(picture))
    assert len(found) < 2000
    assert "short slices" in picture


SLICE = {"ph": "X", "name": "a", "ts": 1, "dur": 2, "pid": 7, "tid": 8}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("not json", "is not a trace"),
        ('{"a": 1}', "has no list of events"),
        ("[1, 2]", "has no list of events"),
        ('[{"ph": "X", "name": "a"}]', "an event has no 'ts'"),
        *(
            (json.dumps([SLICE | {key: value}]), f"as its {key!r}")
            for key, value in [
                *[("ts", value) for value in ("1", [], None, float("nan"), 1e400, 1e308, 10**400)],
                *[("dur", value) for value in (-2, "x", float("inf"))],
                *[("name", 5), ("cat", []), ("ph", []), ("pid", 1.5), ("tid", None), ("args", 5)],
            ]
        ),
        ('[{"ph": "C", "name": "a", "ts": 1, "args": {"x": "y"}}]', "other 'args' than numbers"),
        ('[{"ph": "M", "name": "x_sort_index", "pid": 1, "args": {"x": []}}]', "other 'args'"),
        ('[{"ph": "s", "id": {}}]', "as its 'id'"),
        ("[" * 100_000, "is not a trace"),
    ],
)
def test_files_that_are_no_traces(tmp_path, capsys, text, message):
    (tmp_path / "bad.json").write_text(text)
    argv = ["trace", str(tmp_path / "bad.json"), "-o", str(tmp_path / "out.svg")]
    assert __main__.main(argv) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out.svg").exists()


def test_files_that_are_not_there(tmp_path, capsys, trace):
    assert __main__.main(["trace", str(tmp_path / "no.json"), "-o", "x.svg"]) == 2
    assert __main__.main(["trace", str(trace), "-o", str(tmp_path / "no" / "x.svg")]) == 2
    assert capsys.readouterr().err.count("trace: ") == 2
    with pytest.raises(SystemExit):
        __main__.main(["trace", str(trace)])


def test_traces_of_others_are_drawn(tmp_path):
    """A plain list of events without categories and flows, some with names in place of numbers."""
    named = SLICE | {"pid": "Spans", "tid": "all"}
    events = [named, SLICE, {"ph": "?"}, {"ph": "i", "name": "instant", "pid": None}]
    (tmp_path / "other.json").write_text(json.dumps(events))
    argv = ["trace", str(tmp_path / "other.json"), "-o", str(tmp_path / "out.svg")]
    assert __main__.main(argv) == 0
    picture = (tmp_path / "out.svg").read_text()
    assert 0 < picture.index("process 7: 8") < picture.index("process Spans: all")


@pytest.mark.parametrize(
    "events",
    [
        [SLICE | {"dur": 0}],
        [SLICE, {"ph": "f", "id": 3, "ts": 1, "pid": 7, "tid": 8}],
        [SLICE | {"name": "a\x01<\ud800", "args": {"line": "\0"}}],
        [SLICE | {"ts": -(2**53) + 1, "dur": 2**53 - 1}, SLICE],
    ],
    ids=["no time", "an arrow from nowhere", "what XML cannot hold", "long"],
)
def test_odd_traces_are_drawn(events):
    rects(ElementTree.fromstring(_timeline.draw(events, "odd\x02")))
