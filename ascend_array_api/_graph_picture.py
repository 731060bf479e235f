"""Pending graphs as pictures: boxes in layers, as SVG or in the language of Graphviz."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

from ._graph_rules import GraphDict
from ._graph_text import call_text, groups_of, registers, result_bytes, type_text
from ._profile import format_bytes, format_time, format_xml

# Sizes in pixels; letters are those of a monospaced font.
_LETTER, _LINE, _PAD, _GAP, _LAYER_GAP, _MARGIN = 7.3, 17, 9, 26, 46, 24
# A layer becomes several where its boxes need more.
_WIDEST = 1500
_SWEEPS = 8

_FILLS = {
    "array": ("#eef3f8", "#7a94ad"),
    "operation": ("#ffffff", "#39536b"),
    "group": ("#fdf6e6", "#b3812a"),
    "dropped": ("#f3f3f3", "#9a9a9a"),
}
_HELD = "#1b7a4b"


@dataclass
class Box:
    """A box of lines of text; the first is its title."""

    key: str
    kind: str
    lines: list[str]
    held: bool = False  # somebody can see a result of it
    layer: int = 0
    x: float = 0.0  # of its centre
    width: float = field(init=False)
    height: float = field(init=False)

    def __post_init__(self) -> None:
        self.width = max(map(len, self.lines), default=0) * _LETTER + 2 * _PAD
        self.height = len(self.lines) * _LINE + 2 * _PAD - 4


@dataclass
class Picture:
    """Boxes, and arrows between them from above to below."""

    title: str
    boxes: dict[str, Box] = field(default_factory=dict)
    arrows: dict[tuple[str, str], str] = field(default_factory=dict)  # with their labels

    def add(self, box: Box) -> None:
        """Add a box, unless it is there."""
        self.boxes.setdefault(box.key, box)

    def connect(self, start: str, end: str, label: str = "") -> None:
        """Add an arrow, unless it is there or would lead from a box to itself."""
        if start != end:
            self.arrows.setdefault((start, end), label)


# ---- what is drawn


def _add_array(picture: Picture, graph: GraphDict, operand: dict[str, Any]) -> str:
    key = f"a{operand['array']}"
    size = format_bytes(graph["arrays"][operand["array"]]["bytes"])
    picture.add(Box(key, "array", [key, f"{type_text(operand)}, {size}"]))
    return key


def picture_before(graph: GraphDict, shown: set[int]) -> Picture:
    """Draw each recorded operation as a box."""
    picture = Picture(f"stream {graph['stream']}, before fusion: {len(shown)} operations")
    for number in sorted(shown):
        node = graph["nodes"][number]
        lines = [f"%{number} {node['op']}"]
        numbers = [x["number"] for x in node["inputs"] if x["number"]]
        if numbers or node["parameters"]:
            lines.append(", ".join(filter(None, [*numbers, node["parameters"]])))
        lines.append(type_text(node))
        if node["dropped"]:
            lines.append("nobody needs it")
        kind = "dropped" if node["dropped"] else "operation"
        picture.add(Box(f"n{number}", kind, lines, node["held"] and not node["dropped"]))
    for number in sorted(shown):
        for operand in graph["nodes"][number]["inputs"]:
            if operand["node"] in shown:
                picture.connect(f"n{operand['node']}", f"n{number}")
            elif operand["array"] >= 0:
                picture.connect(_add_array(picture, graph, operand), f"n{number}")
    return picture


def picture_after(graph: GraphDict, shown: set[int]) -> Picture:
    """Draw each group as a box that lists what it computes and stores."""
    nodes, groups = graph["nodes"], groups_of(graph, shown)
    count = "1 group" if len(groups) == 1 else f"{len(groups)} groups"
    picture = Picture(f"stream {graph['stream']}, after fusion: {count}")
    home = {n: f"g{k}" for k, group in enumerate(groups) for n in group["nodes"]}
    for k, group in enumerate(groups):
        lines = [f"{k + 1}. {group['name']}" + (", by rows" if group["by_rows"] else "")]
        lines += [
            f"%{n} = {call_text(nodes[n])}" + ("  merged" if nodes[n]["merged"] else "")
            for n in group["nodes"]
        ]
        for memory in group["written"]:
            verb = "writes in place" if memory["in_place"] else "stores"
            block = f" at {memory['block']:#x}" if memory["block"] else ""
            lines.append(f"{verb} %{memory['node']}, {format_bytes(memory['bytes'])}{block}")
        unstored = sum(result_bytes(nodes[n]) for n in registers(group, nodes))
        if unstored:
            lines.append(f"never stored: {format_bytes(unstored)}")
        if group["end"]:
            lines.append(f"took {format_time((group['end'] - group['begin']) / 1e9)}")
        held = any(nodes[memory["node"]]["held"] for memory in group["written"])
        picture.add(Box(f"g{k}", "group", lines, held))
    for k, group in enumerate(groups):
        for number in group["nodes"]:
            for operand in nodes[number]["inputs"]:
                if operand["node"] in home:
                    source = operand["node"]
                    label = f"%{source} {type_text(nodes[source])}"
                    picture.connect(home[source], f"g{k}", label)
                elif operand["array"] >= 0:
                    picture.connect(_add_array(picture, graph, operand), f"g{k}")
    dropped = [n for n in sorted(shown) if nodes[n]["dropped"]]
    if dropped:
        lines = ["dropped, as nobody needs it", *(f"%{n} = {call_text(nodes[n])}" for n in dropped)]
        picture.add(Box("dropped", "dropped", lines))
    return picture


# ---- layers


def _layers(picture: Picture) -> list[list[Box]]:
    """Put each box below those that lead to it, and arrays right above whoever reads them."""
    works = {key: box for key, box in picture.boxes.items() if box.kind != "array"}
    after: dict[str, list[str]] = {key: [] for key in works}
    open_arrows = dict.fromkeys(works, 0)
    for start, end in picture.arrows:
        if start in works:
            after[start].append(end)
            open_arrows[end] += 1
    ready = [key for key, count in open_arrows.items() if count == 0]
    while ready:
        key = ready.pop()
        for end in after[key]:
            works[end].layer = max(works[end].layer, works[key].layer + 1)
            open_arrows[end] -= 1
            if open_arrows[end] == 0:
                ready.append(end)
    layers: dict[int, list[Box]] = {}
    for box in works.values():
        layers.setdefault(box.layer, []).append(box)
    rows: list[list[Box]] = [[]]  # the first one is for arrays
    for number in sorted(layers):
        rows.append([])
        width = 0.0
        for box in layers[number]:
            if rows[-1] and width + box.width > _WIDEST:
                rows.append([])
                width = 0.0
            rows[-1].append(box)
            width += box.width + _GAP
    for number, row in enumerate(rows):
        for box in row:
            box.layer = number
    _spread_arrays(picture, rows)
    return [row for row in rows if row]


def _spread_arrays(picture: Picture, rows: list[list[Box]]) -> None:
    """Draw an array once above each layer in which it is read; in full above the first."""
    arrays = {key: picture.boxes.pop(key) for key in list(picture.boxes) if key[0] == "a"}
    readers = sorted(
        (picture.boxes[end].layer, start, end) for start, end in picture.arrows if start in arrays
    )
    drawn: set[str] = set()
    for layer, start, end in readers:
        del picture.arrows[start, end]
        key = f"{start}.{layer}"
        if key not in picture.boxes:
            lines = arrays[start].lines[:1] if start in drawn else arrays[start].lines
            drawn.add(start)
            picture.add(Box(key, "array", lines, layer=layer - 1))
            rows[layer - 1].append(picture.boxes[key])
        picture.connect(key, end)
    if not rows[0]:
        for box in picture.boxes.values():
            box.layer -= 1


def _with_bends(picture: Picture, rows: list[list[Box]]) -> dict[tuple[str, str], list[Box]]:
    """Let arrows over several layers take a place in each of them; return their ways."""
    ways: dict[tuple[str, str], list[Box]] = {}
    for start, end in picture.arrows:
        first, last = picture.boxes[start], picture.boxes[end]
        bends = []
        for layer in range(first.layer + 1, last.layer):
            bend = Box(f"{start}-{end}-{layer}", "bend", [], layer=layer)
            rows[layer].append(bend)
            bends.append(bend)
        ways[start, end] = [first, *bends, last]
    return ways


def _place(rows: list[list[Box]], ways: dict[tuple[str, str], list[Box]]) -> None:
    """Choose the order in each layer, and places near what a box is connected with."""
    near: dict[str, list[Box]] = {}
    for way in ways.values():
        for upper, lower in itertools.pairwise(way):
            near.setdefault(lower.key, []).append(upper)
            near.setdefault(upper.key, []).append(lower)
    for row in rows:
        _pack(row, {})
    for sweep in range(2 * _SWEEPS):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            side = -1 if sweep % 2 == 0 else 1
            wish = {}
            for box in row:
                others = near.get(box.key, [])
                beside = [b for b in others if (b.layer - box.layer) * side > 0] or others
                wish[box.key] = sum(b.x for b in beside) / len(beside) if beside else box.x
            row.sort(key=lambda box: wish[box.key])
            _pack(row, wish)


def _pack(row: list[Box], wish: dict[str, float]) -> None:
    """Put boxes side by side in their order, as near to their wishes as their widths allow."""
    offsets: list[float] = []
    at = 0.0
    # Runs of boxes that touch, as means of what their left ends would have to be, and lengths.
    runs: list[tuple[float, int]] = []
    for box in row:
        offsets.append(at + box.width / 2)
        at += box.width + _GAP
        runs.append((wish.get(box.key, 0.0) - offsets[-1] if wish else 0.0, 1))
        while len(runs) > 1 and runs[-2][0] >= runs[-1][0]:
            (first, m), (second, n) = runs[-2:]
            runs[-2:] = [((first * m + second * n) / (m + n), m + n)]
    starts = [start for start, count in runs for _ in range(count)]
    for box, start, offset in zip(row, starts, offsets, strict=True):
        box.x = start + offset


# ---- SVG


def to_svg(pictures: list[Picture]) -> str:
    """Draw pictures below each other."""
    body: list[str] = []
    top, widest = float(_MARGIN), 0.0
    for picture in pictures:
        top, width = _draw(picture, top, body)
        widest = max(widest, width)
    size = f'width="{widest:.0f}" height="{top:.0f}" viewBox="0 0 {widest:.0f} {top:.0f}"'
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="monospace" font-size="12">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="#6a7a88"/></marker>'
        "</defs>",
        f'<rect width="{widest:.0f}" height="{top:.0f}" fill="#ffffff"/>',
    ]
    return "\n".join([*head, *body, "</svg>\n"])


def _draw(picture: Picture, top: float, body: list[str]) -> tuple[float, float]:
    """Draw a picture; return where the next one starts, and the width."""
    rows = _layers(picture)
    ways = _with_bends(picture, rows)
    _place(rows, ways)
    boxes = [box for row in rows for box in row]
    left = min((box.x - box.width / 2 for box in boxes), default=0.0) - _MARGIN
    for box in boxes:
        box.x -= left
    width = max((box.x + box.width / 2 for box in boxes), default=0.0) + _MARGIN
    body.append(
        f'<text x="{_MARGIN}" y="{top + 8:.0f}" font-size="14" font-weight="bold" '
        f'fill="#22303c">{format_xml(picture.title)}</text>'
    )
    if any(box.held for box in boxes):
        body.append(
            f'<text x="{_MARGIN}" y="{top + 24:.0f}" fill="{_HELD}">'
            "green: the program holds a result of it</text>"
        )
        top += 16
    tops: list[float] = []
    heights = [max((box.height for box in row), default=0.0) for row in rows]
    at = top + 26
    for height in heights:
        tops.append(at)
        at += height + _LAYER_GAP
    for (start, end), way in ways.items():
        _draw_arrow(way, tops, heights, picture.arrows[start, end], body)
    for box in picture.boxes.values():
        _draw_box(box, tops[box.layer], body)
    return at - _LAYER_GAP + 2 * _MARGIN, max(width, len(picture.title) * 8.6 + 2 * _MARGIN)


def _draw_arrow(
    way: list[Box], tops: list[float], heights: list[float], label: str, body: list[str]
) -> None:
    start = way[0]
    x, y = start.x, tops[start.layer] + start.height
    path = f"M{x:.1f} {y:.1f}"
    # Below a short box the line goes down to the end of its layer first.
    for box in way[1:]:
        floor = tops[box.layer - 1] + heights[box.layer - 1]
        if y < floor:
            path += f" L{x:.1f} {floor:.1f}"
            y = floor
        below = tops[box.layer] - 3
        middle = (y + below) / 2
        path += f" C{x:.1f} {middle:.1f} {box.x:.1f} {middle:.1f} {box.x:.1f} {below:.1f}"
        x, y = box.x, below
        if box.kind == "bend":
            y = tops[box.layer] + heights[box.layer]
            path += f" L{x:.1f} {y:.1f}"
    body.append(
        f'<path d="{path}" fill="none" stroke="#6a7a88" stroke-width="1.2" marker-end="url(#tip)"/>'
    )
    if label:
        body.append(
            f'<text x="{way[-1].x + 6:.1f}" y="{tops[way[-1].layer] - 9:.1f}" font-size="10.5" '
            f'fill="#44525e" stroke="#ffffff" stroke-width="3" paint-order="stroke">'
            f"{format_xml(label)}</text>"
        )


def _draw_box(box: Box, top: float, body: list[str]) -> None:
    fill, line = _FILLS[box.kind]
    stroke = f'stroke="{_HELD}" stroke-width="2.2"' if box.held else f'stroke="{line}"'
    dashes = ' stroke-dasharray="4 3"' if box.kind == "dropped" else ""
    left = box.x - box.width / 2
    body.append(
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" '
        f'rx="{12 if box.kind == "array" else 4}" fill="{fill}" {stroke}{dashes}/>'
    )
    for k, text in enumerate(box.lines):
        weight = ' font-weight="bold"' if k == 0 else ""
        body.append(
            f'<text x="{left + _PAD:.1f}" y="{top + _PAD + 8 + k * _LINE:.1f}"{weight} '
            f'fill="#22303c" xml:space="preserve">{format_xml(text)}</text>'
        )


# ---- Graphviz


def to_dot(pictures: list[Picture]) -> str:
    """Write pictures in the language of Graphviz."""

    def quoted(text: str) -> str:
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

    lines = ["digraph pending {", '  node [shape=box, style=filled, fontname="monospace"];']
    for place, picture in enumerate(pictures):
        lines += [f"  subgraph cluster_{place} {{", f"    label={quoted(picture.title)};"]
        for box in picture.boxes.values():
            label = "".join(
                line.replace("\\", "\\\\").replace('"', '\\"') + "\\l" for line in box.lines
            )
            color = _HELD if box.held else _FILLS[box.kind][1]
            shape = ", shape=ellipse" if box.kind == "array" else ""
            lines.append(
                f'    "{place}.{box.key}" [label="{label}", fillcolor="{_FILLS[box.kind][0]}", '
                f'color="{color}"{shape}];'
            )
        lines += [
            f'    "{place}.{start}" -> "{place}.{end}" [label={quoted(label)}];'
            for (start, end), label in picture.arrows.items()
        ]
        lines.append("  }")
    return "\n".join([*lines, "}\n"])
