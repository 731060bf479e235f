"""Files of graphs: what is in them, and that pictures can be read."""

import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import ascend_array_api as xp
from ascend_array_api import graph, runtime

SVG = "{http://www.w3.org/2000/svg}"


def pending():
    runtime.synchronize()
    rng = np.random.default_rng(0)
    x, w = xp.asarray(rng.random((300, 100))), xp.asarray(rng.random((100, 50)))
    h = xp.exp(x @ w - 1.0)
    p = h / xp.sum(h, axis=1, keepdims=True)
    q = xp.astype(xp.sqrt(x * x + x * x), xp.float32)
    r = xp.cumulative_sum(xp.where(x > 0.5, x, 0.0), axis=1)
    xp.sin(x)
    return p, q, r


def test_json(tmp_path):
    arrays = pending()
    for fused in (False, True):
        graph.dump(tmp_path / "g.json", fused=fused)
        document = json.loads((tmp_path / "g.json").read_text())
        assert (document["version"], document["fused"]) == (1, fused)
        (found,) = document["graphs"]
        nodes = found["nodes"]
        assert [node["op"] for node in nodes][:5] == ["matmul", "subtract", "exp", "sum", "divide"]
        assert nodes[0]["shape"] == [300, 50]
        assert nodes[3]["parameters"] == "axis=(1,)"
        assert [x["number"] for x in nodes[1]["inputs"]] == ["", "1"]
        assert [x["node"] for x in nodes[4]["inputs"]] == [2, 3]
        assert nodes[-1]["dropped"]
        assert ("groups" in found) is fused
    members = [n for group in found["groups"] for n in group["nodes"]]
    assert sorted(members) == [n for n in range(len(nodes)) if not nodes[n]["dropped"]]
    stored = {m["node"]: m["bytes"] for group in found["groups"] for m in group["written"]}
    held = [n for n, node in enumerate(nodes) if node["held"]]
    assert set(held) <= set(stored)
    assert stored[4] == 300 * 50 * 8
    assert len(arrays) == len(held) == 3


@pytest.mark.parametrize("fused", [False, True])
def test_svg_can_be_read(tmp_path, fused):
    arrays = pending()
    graph.dump(tmp_path / "g.svg", fused=fused)
    root = ElementTree.fromstring((tmp_path / "g.svg").read_text())
    width, height = float(root.get("width")), float(root.get("height"))
    background, *rects = [
        {key: float(rect.get(key, 0)) for key in ("x", "y", "width", "height")}
        for rect in root.iter(f"{SVG}rect")
    ]
    assert (background["width"], background["height"]) == (width, height)
    for k, a in enumerate(rects):
        assert a["x"] >= 0
        assert a["y"] >= 0
        assert a["x"] + a["width"] <= width
        assert a["y"] + a["height"] <= height
        for b in rects[:k]:
            apart = (
                a["x"] + a["width"] < b["x"]
                or b["x"] + b["width"] < a["x"]
                or a["y"] + a["height"] < b["y"]
                or b["y"] + b["height"] < a["y"]
            )
            assert apart, (a, b)
    texts = [text for text in root.iter(f"{SVG}text") if not text.get("stroke")]
    inside = 0
    for text in texts:
        x, y, end = float(text.get("x")), float(text.get("y")), 7.3 * len(text.text)
        inside += any(
            r["x"] < x and x + end <= r["x"] + r["width"] and r["y"] < y < r["y"] + r["height"]
            for r in rects
        )
    assert inside == len(texts) - 2  # the title and the legend
    words = " ".join(text.text for text in texts)
    for op in ("matmul", "exp", "cumulative_sum", "where", "sin"):
        assert op in words
    assert len(arrays) == 3


def test_dot(tmp_path):
    arrays = pending()
    graph.dump(tmp_path / "g.dot")
    text = (tmp_path / "g.dot").read_text()
    assert text.startswith("digraph")
    assert text.count("{") == text.count("}") == 2
    boxes = set(re.findall(r'^    "(\S+)" \[', text, re.MULTILINE))
    arrows = re.findall(r'^    "(\S+)" -> "(\S+)"', text, re.MULTILINE)
    assert arrows
    assert {end for arrow in arrows for end in arrow} <= boxes
    if shutil.which("dot"):
        subprocess.run(["dot", "-Tsvg", tmp_path / "g.dot"], check=True, capture_output=True)
    assert len(arrays) == 3


def test_a_long_program_and_a_wide_one(tmp_path):
    runtime.synchronize()
    x = xp.asarray(np.ones(10_000))
    y = x
    for _ in range(150):
        y = xp.sin(y) * 2.0
    wide = [x + float(k) for k in range(60)]
    for fused in (False, True):
        graph.dump(tmp_path / "g.svg", fused=fused)
        root = ElementTree.fromstring((tmp_path / "g.svg").read_text())
        assert float(root.get("width")) < 4000
    runtime.evaluate(y, *wide)


def test_wrong_files(tmp_path):
    with pytest.raises(ValueError, match=r"\*\.json, \*\.svg or \*\.dot"):
        graph.dump(tmp_path / "g.png")
    with pytest.raises(OSError):
        graph.dump(tmp_path / "no" / "g.svg")
    with pytest.raises(TypeError, match="dump: fused must be True or False, got object"):
        graph.dump(tmp_path / "g.json", fused=object())
    runtime.synchronize()
    graph.dump(tmp_path / "empty.svg")
    ElementTree.fromstring((tmp_path / "empty.svg").read_text())


# ---- each flush

WORK = """
x = xp.asarray(np.ones((400, 100)))
for k in range({times}):
    y = xp.exp(x - 1.0) * 2.0
    z = xp.sum(y, axis=0)
    xp.sin(x)
    del y
    assert float(z[0]) == 800.0
"""


def test_every_flush_is_dumped(child, tmp_path):
    folder = tmp_path / "made" / "of" / "it"
    child(WORK.format(times=3), ASCEND_DUMP_GRAPH="1", ASCEND_DUMP_GRAPH_PATH=str(folder))
    files = sorted(path.name for path in folder.iterdir())
    assert len(files) == 3 * 2 * 3
    assert {name.split("-", 2)[2] for name in files} == {
        f"0000{k}-{phase}.{suffix}"
        for k in (1, 2, 3)
        for phase in ("before", "after")
        for suffix in ("json", "dot", "svg")
    }
    before, after = (
        json.loads(next(folder.glob(f"*-00001-{phase}.json")).read_text())["graphs"][0]
        for phase in ("before", "after")
    )
    assert [node["op"] for node in before["nodes"]] == "subtract exp multiply sum sin".split()
    assert [node["shape"] for node in before["nodes"]][3] == [100]
    assert all(re.fullmatch(r"<string>:\d+", node["line"]) for node in before["nodes"])
    (group,) = after["groups"]
    assert group["nodes"] == [0, 1, 2, 3]
    assert group["end"] > group["begin"] > 0
    (memory,) = group["written"]
    assert (memory["node"], memory["bytes"], memory["in_place"]) == (3, 800, False)
    assert memory["block"] % 64 == 0
    assert memory["block"] > 0
    picture = next(folder.glob("*-00001-after.svg")).read_text()
    assert "took" in picture
    assert f"at {memory['block']:#x}" in picture


def test_a_folder_that_cannot_be_written_is_one_warning(child, tmp_path):
    (tmp_path / "file").write_text("")
    out = child(
        WORK.format(times=3) + "print('done')",
        errors="RuntimeWarning: ASCEND_DUMP_GRAPH: graphs cannot be written",
        ASCEND_DUMP_GRAPH="1",
        ASCEND_DUMP_GRAPH_PATH=str(tmp_path / "file" / "folder"),
    )
    assert out == "done\n"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_the_number_of_files_is_bounded(child, tmp_path):
    child(
        WORK.format(times=5),
        errors="RuntimeWarning: ASCEND_DUMP_GRAPH: no more than 14 files are written",
        ASCEND_DUMP_GRAPH="1",
        ASCEND_DUMP_GRAPH_PATH=str(tmp_path),
        ASCEND_DUMP_GRAPH_FILES="14",
    )
    assert len(list(tmp_path.iterdir())) == 12


def test_flushes_on_other_threads_are_dumped(child, tmp_path):
    child(
        """
        x = xp.asarray(np.zeros(20_000))
        def work():
            stream = runtime.Stream()
            for _ in range(5):
                with stream:
                    y = xp.exp(x) + 1.0
                assert float(y[0]) == 2.0
        threads = [threading.Thread(target=work) for _ in range(3)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        """,
        ASCEND_DUMP_GRAPH="1",
        ASCEND_DUMP_GRAPH_PATH=str(tmp_path),
    )
    names = {path.name for path in tmp_path.glob("*-after.json")}
    assert len(names) == 15


def test_names_of_rules_are_dumped(child, tmp_path):
    child(
        """
        @graph.fusion_rule
        def name_it(g):
            g.fuse(g.find("exp"), g.find("multiply"), name="Named")
        runtime.evaluate(xp.exp(xp.asarray(np.zeros(20_000))) * 2.0)
        """,
        ASCEND_DUMP_GRAPH="1",
        ASCEND_DUMP_GRAPH_PATH=str(tmp_path),
    )
    for path in tmp_path.glob("*-after.*"):
        assert "Named" in path.read_text()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ASCEND_DUMP_GRAPH": "yes"}, "ASCEND_DUMP_GRAPH is 0 or 1, got 'yes'"),
        ({"ASCEND_DUMP_GRAPH_FILES": "-3"}, "ASCEND_DUMP_GRAPH_FILES is a number of files"),
    ],
)
def test_wrong_settings(child, settings, message):
    child("", errors=message, status=1, **settings)


def test_off_by_default(child, tmp_path):
    child(f"os.chdir({str(tmp_path)!r})" + WORK.format(times=2), ASCEND_DUMP_GRAPH="0")
    assert list(tmp_path.iterdir()) == []
