"""Pending graphs in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ._graph_rules import GraphDict
from ._profile import format_bytes, format_table, format_time


def value_text(operand: dict[str, Any]) -> str:
    """Name what an operation reads: %3, a0 or a number."""
    if operand["node"] >= 0:
        return f"%{operand['node']}"
    return operand["number"] or f"a{operand['array']}"


def call_text(node: dict[str, Any]) -> str:
    """Write an operation as a call: exp(%3)."""
    arguments = [value_text(operand) for operand in node["inputs"]]
    if node["parameters"]:
        arguments.append(node["parameters"])
    return f"{node['op']}({', '.join(arguments)})"


def type_text(thing: dict[str, Any]) -> str:
    """Write a dtype and a shape: float64 (3, 4)."""
    return f"{thing['dtype']} {tuple(thing['shape'])}"


def result_bytes(node: dict[str, Any]) -> int:
    """Return the bytes of a result, if it were stored."""
    bits = {"bool": 1}.get(node["dtype"]) or int("".join(filter(str.isdigit, node["dtype"])))
    size = 1
    for extent in node["shape"]:
        size *= extent
    return (size * bits + 7) // 8


def needed(graph: GraphDict) -> set[int]:
    """Return the operations that the graph's targets depend on."""
    found: set[int] = set()
    waiting = list(graph["targets"])
    while waiting:
        number = waiting.pop()
        if number not in found:
            found.add(number)
            waiting += [x["node"] for x in graph["nodes"][number]["inputs"] if x["node"] >= 0]
            # What was written there before may show through.
            if graph["nodes"][number]["in_place"]:
                waiting += [n for n in graph["targets"] if n < number]
    return found


def groups_of(graph: GraphDict, shown: set[int]) -> list[dict[str, Any]]:
    """Return the groups in which the operations run."""
    return [group for group in graph["groups"] if shown & set(group["nodes"])]


def registers(group: dict[str, Any], nodes: list[dict[str, Any]]) -> list[int]:
    """Return the operations of a group whose results are computed and never stored."""
    stored = {memory["node"] for memory in group["written"]}
    return [n for n in group["nodes"] if n not in stored and not nodes[n]["merged"]]


def explain_lines(graph: GraphDict, shown: set[int]) -> Iterator[str]:
    """Describe operations of a graph, before and after fusion."""
    nodes = graph["nodes"]
    yield f"before fusion: {len(shown)} of {len(nodes)} recorded operations"
    rows = []
    arrays: dict[int, str] = {}
    for number in sorted(shown):
        node = nodes[number]
        for operand in node["inputs"]:
            if operand["array"] >= 0:
                size = format_bytes(graph["arrays"][operand["array"]]["bytes"])
                arrays.setdefault(operand["array"], f"{type_text(operand)}, {size}")
        rows.append([f"%{number}", f"= {call_text(node)}", type_text(node), node["line"] or ""])
    inputs = [[f"a{array}", "is there", text, ""] for array, text in sorted(arrays.items())]
    yield from _indented(format_table([*inputs, *rows], left=4))
    yield ""
    yield "after fusion"
    allocated = stored = 0
    for place, group in enumerate(groups_of(graph, shown), start=1):
        yield from _group_lines(place, group, nodes)
        allocated += sum(m["bytes"] for m in group["written"] if not m["in_place"])
        stored += sum(result_bytes(nodes[n]) for n in registers(group, nodes))
    for word, reason in (("merged", "computed already"), ("dropped", "nobody needs it")):
        for number in sorted(n for n in range(len(nodes)) if nodes[n][word]):
            if word == "dropped" or number in shown:
                yield f"  {word}: %{number} {nodes[number]['op']}, {reason}"
    yield ""
    yield f"allocated: {format_bytes(allocated)}, never stored: {format_bytes(stored)}"


def _group_lines(place: int, group: dict[str, Any], nodes: list[dict[str, Any]]) -> Iterator[str]:
    how = ", by blocks of rows" if group["by_rows"] else ""
    members = " ".join(f"%{n}" for n in group["nodes"])
    took = f", took {format_time((group['end'] - group['begin']) / 1e9)}" if group["end"] else ""
    yield f"  {place}. {group['name']}{how}: {members}{took}"
    for memory in group["written"]:
        verb = "writes in place" if memory["in_place"] else "allocates"
        where = f"%{memory['node']} {type_text(nodes[memory['node']])}"
        yield f"     {verb} {format_bytes(memory['bytes'])} for {where}"
    if inside := registers(group, nodes):
        where = "rows in cache" if group["by_rows"] else "registers"
        yield f"     in {where}: {' '.join(f'%{n}' for n in inside)}"


def _indented(text: str) -> Iterator[str]:
    for line in text.splitlines():
        yield f"  {line}"
