"""Recorded operations that have not run: to look at, and to say which shall run together.

Examples
--------
>>> import ascend_array_api as xp
>>> from ascend_array_api import graph
>>> @graph.fusion_rule
... def exp_dot(g):
...     dot = g.find("matmul")
...     if dot is not None and (e := dot.find_consumer("exp")) is not None:
...         g.fuse(dot, e, name="ExpMatMul")
>>> graph.remove_rule(exp_dot)
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

from . import _core, _graph_dump, _graph_rules, _graph_text
from ._checks import require_bool, require_writable
from ._core import Array
from ._graph_rules import FusionRule, FusionRuleWarning, Node, PendingGraph

__all__ = [
    "FusionRule",
    "FusionRuleWarning",
    "Node",
    "PendingGraph",
    "dump",
    "explain",
    "fusion_rule",
    "remove_rule",
]


def fusion_rule(function: Callable[[PendingGraph], object], /) -> FusionRule:
    """Let a function say which recorded operations run together.

    It is called with the pending graph when recorded operations are about to run, before built-in
    fusion and after the rules that were there already; once for each graph, that is each list of
    operations and dtypes with the shapes that rules have read. It may be called on any thread.

    Parameters
    ----------
    function : callable
        Takes a `PendingGraph` and calls its `fuse` and `keep`. What it returns is ignored. Inside,
        arrays that are not computed yet cannot be used.

    Returns
    -------
    FusionRule
        The rule, in force in the whole process until `remove_rule` or the end of a ``with`` block.

    Raises
    ------
    TypeError
        If `function` cannot be called, or is a generator or coroutine function, whose call would
        run nothing.

    Warns
    -----
    FusionRuleWarning
        Once for a rule that raises, and once for each fusion that it asks for but that cannot be
        done: a matrix product stands at the start of a group, a reduction at its end; shapes,
        memory and the order of the program must fit. The rule is ignored there; results are the
        same with and without rules.

    Notes
    -----
    With ``ASCEND_ARRAY_API_FUSION=off``, or where memory is short, rules are not asked.

    Examples
    --------
    >>> from ascend_array_api import graph
    >>> @graph.fusion_rule
    ... def keep_sums(g):
    ...     g.keep(*g.find_all("sum"))
    >>> with keep_sums:
    ...     pass  # in force to the end of the block
    """
    rule = FusionRule(function)
    _graph_rules.add(rule)
    return rule


def remove_rule(rule: FusionRule, /) -> None:
    """Take a rule away.

    Parameters
    ----------
    rule : FusionRule
        A rule in force.

    Raises
    ------
    TypeError
        If it is not a rule.
    ValueError
        If it is not in force.
    """
    if not isinstance(rule, FusionRule):
        raise TypeError(f"remove_rule: a fusion rule is needed, got {type(rule).__name__}")
    if not _graph_rules.discard(rule):
        raise ValueError(f"remove_rule: the rule {rule.name!r} is not in force")


def explain(x: Array, /, *, file: TextIO | None = None) -> None:
    """Print what is recorded for an array, before and after fusion.

    Nothing is computed. The text lists the operations with shapes and dtypes, the groups that they
    are going to be, what is allocated, and what is dropped or merged.

    Parameters
    ----------
    x : Array
        The array.
    file : file-like, optional
        Where to print. By default standard output.

    Raises
    ------
    TypeError
        If `x` is not an array, or `file` not one to write to.
    RuntimeError
        If `x` was given back by `reuse_buffer`.
    """
    if not isinstance(x, Array):
        raise TypeError(f"explain: x must be an ascend_array_api array, got {type(x).__name__}")
    require_writable("explain", file)
    graphs = _core.pending_graphs(x)
    last = max((k for k, graph in enumerate(graphs) if graph["targets"]), default=-1)
    if last < 0:
        print("nothing is pending: the array is computed", file=file)
        return
    parts = []
    for pending in graphs[: last + 1]:
        shown = _graph_text.needed(pending) if pending["targets"] else _alive(pending)
        parts.append("\n".join(_graph_text.explain_lines(pending, shown)))
    print("\n\n".join(parts), file=file)


def _alive(pending: _graph_rules.GraphDict) -> set[int]:
    return {n for n, node in enumerate(pending["nodes"]) if not node["dropped"]}


def dump(path: str | os.PathLike[str], /, *, fused: bool = True) -> None:
    """Write everything that is recorded, on all streams, as a file.

    Parameters
    ----------
    path : path-like
        The file to write; its suffix is ``.json``, ``.svg`` or ``.dot`` (for Graphviz).
    fused : bool, optional
        Whether to show the groups that the operations are going to be, or the operations alone.

    Raises
    ------
    TypeError
        If `path` is not a path, or `fused` not a bool.
    OSError
        If the file cannot be written.
    ValueError
        If the suffix is another one.

    Notes
    -----
    With ``ASCEND_DUMP_GRAPH=1`` each list of operations that runs is written, before and after
    fusion and in all three formats, into the folder ``ASCEND_DUMP_GRAPH_PATH``;
    ``ASCEND_DUMP_GRAPH_FILES`` bounds the number of files.
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"dump: path must be a str or os.PathLike, got {type(path).__name__}")
    require_bool("dump", "fused", fused)
    target = Path(path)
    if target.suffix not in _graph_dump.FORMATS:
        raise ValueError(f"dump: the file is named *.json, *.svg or *.dot, got {os.fspath(path)!r}")
    text = _graph_dump.render(_core.pending_graphs(None), target.suffix, fused)
    target.write_text(text, encoding="utf-8")


def __dir__() -> list[str]:
    return list(__all__)


_graph_dump.start()
