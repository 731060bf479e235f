"""Files of pending graphs: on demand, and of each flush."""

from __future__ import annotations

import itertools
import json
import os
import warnings
from pathlib import Path
from typing import Any

from . import _graph_rules
from ._graph_rules import GraphDict

FORMATS = (".json", ".dot", ".svg")
DEFAULT_FOLDER = "ascend_dump_graph"
DEFAULT_FILES = 1000
# Of a flush: JSON and SVG and DOT, before and after fusion.
_FILES_OF_A_FLUSH = 6

_numbers = itertools.count(1)
_failed: set[str] = set()


def document(graphs: list[GraphDict], fused: bool) -> dict[str, Any]:
    """Return what a JSON file holds."""
    shown = [{key: value for key, value in graph.items() if key != "targets"} for graph in graphs]
    if not fused:
        for graph in shown:
            del graph["groups"]
            graph["nodes"] = [
                {k: v for k, v in node.items() if k != "merged"} for node in graph["nodes"]
            ]
    return {"format": "ascend_array_api graph", "version": 1, "fused": fused, "graphs": shown}


def render(graphs: list[GraphDict], suffix: str, fused: bool) -> str:
    """Return the text of a file."""
    if suffix == ".json":
        return json.dumps(document(graphs, fused), indent=1)
    # Imported when used: it would slow down every import.
    from . import _graph_picture

    draw = _graph_picture.picture_after if fused else _graph_picture.picture_before
    pictures = [draw(graph, set(range(len(graph["nodes"])))) for graph in graphs]
    return (_graph_picture.to_svg if suffix == ".svg" else _graph_picture.to_dot)(pictures)


def dump_flush(graph: GraphDict) -> None:
    """Write the files of one flush; a failure is a warning."""
    folder = os.environ.get("ASCEND_DUMP_GRAPH_PATH") or DEFAULT_FOLDER
    number = next(_numbers)
    if number * _FILES_OF_A_FLUSH > _most_files():
        _warn_once(
            "bound",
            f"ASCEND_DUMP_GRAPH: no more than {_most_files()} files are written; "
            "ASCEND_DUMP_GRAPH_FILES sets another bound",
        )
        return
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        for fused, phase in ((False, "before"), (True, "after")):
            for suffix in FORMATS:
                path = Path(folder, f"graph-{os.getpid()}-{number:05}-{phase}{suffix}")
                path.write_text(render([graph], suffix, fused), encoding="utf-8")
    except OSError as error:
        _warn_once("write", f"ASCEND_DUMP_GRAPH: graphs cannot be written: {error}")


def _most_files() -> int:
    setting = os.environ.get("ASCEND_DUMP_GRAPH_FILES", "")
    return int(setting) if setting.isdecimal() else DEFAULT_FILES


def _warn_once(what: str, message: str) -> None:
    if what not in _failed:
        _failed.add(what)
        warnings.warn(message, RuntimeWarning, stacklevel=2)


def start() -> None:
    """Let the core call rules and dumps; dump each flush if the environment says so."""
    _graph_rules.start(dump_flush)
    setting = os.environ.get("ASCEND_DUMP_GRAPH")
    if setting not in (None, "0", "1"):
        raise ValueError(f"ASCEND_DUMP_GRAPH is 0 or 1, got {setting!r}")
    files = os.environ.get("ASCEND_DUMP_GRAPH_FILES")
    if files is not None and not files.isdecimal():
        raise ValueError(f"ASCEND_DUMP_GRAPH_FILES is a number of files, got {files!r}")
    if setting == "1":
        from . import _core

        _core.watch_caller()
        _core.trace_lines()
        _graph_rules.set_dumping(True)
