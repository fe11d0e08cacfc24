"""A graph as a picture: each node below what it reads, inputs just above what reads them.

Layers are longest paths from the inputs; within a layer a node stands near the mean place of what
it reads (one sweep of the barycentre heuristic of Sugiyama et al. 1981, enough for graphs a person
looks at).  A tooltip on each box has its whole line of text.
"""

from __future__ import annotations

from html import escape
from math import inf

from byparts_graph_ir.graph import Graph, Input, Node, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import TypeAlias

WIDTH, HEIGHT, GAP_X, GAP_Y, MARGIN = 150, 38, 22, 34, 16
INPUT, NODE, OUTPUT = "#e8e4d8", "#d8e4f0", "#f0d8d0"

Box: TypeAlias = "Value | Node"  # an input, or a node with all its outputs
Places = dict[Box, tuple[float, float]]


def svg(graph: Graph) -> str:
    """The picture, as SVG text.  Same bytes every run.  O(nodes log nodes)."""
    places = _places(graph)
    right = max((x for x, _ in places.values()), default=0) + WIDTH + MARGIN
    bottom = max((y for _, y in places.values()), default=0) + HEIGHT + MARGIN
    outputs = {v.node or v for v in graph.outputs}
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{right:.0f}" height="{bottom:.0f}" '
        f'font-family="sans-serif" font-size="11">',
        '<g stroke="#999" fill="none">',
        *(_edge(places, v, node) for node in graph.nodes for v in node.inputs),
        "</g>",
        *(_box(graph, box, place, box in outputs) for box, place in places.items()),
        "</svg>",
    ]
    return "\n".join(lines)


def _places(graph: Graph) -> Places:
    places: Places = {}
    for row, layer in enumerate(_layers(graph)):
        layer.sort(key=lambda box: _centre(places, box))
        for column, box in enumerate(layer):
            x = MARGIN + column * (WIDTH + GAP_X)
            places[box] = (x, MARGIN + row * (HEIGHT + GAP_Y))
    return places


def _layers(graph: Graph) -> list[list[Box]]:
    depth: dict[Box, int] = dict.fromkeys(graph.inputs, 0)
    first: dict[Box, int] = {}  # depth of the highest node that reads it
    for node in graph.nodes:
        above = [_maker(v) for v in node.inputs]
        depth[node] = 1 + max((depth[box] for box in above), default=-1)
        for box in above:
            first[box] = min(depth[node], first.get(box, depth[node]))
    layers: list[list[Box]] = [[] for _ in range(1 + max(depth.values(), default=-1))]
    for box in depth:
        source = not (isinstance(box, Node) and box.inputs)
        layers[max(0, first.get(box, 0) - 1) if source else depth[box]].append(box)
    return layers


def _centre(places: Mapping[Box, tuple[float, float]], box: Box) -> float:
    """Mean place of what a node reads; inputs and constants stand to the right of the nodes."""
    above = [places[_maker(v)][0] for v in box.inputs] if isinstance(box, Node) else []
    return sum(above) / len(above) if above else inf


def _maker(v: Value) -> Box:
    return v if v.node is None else v.node


def _edge(places: Mapping[Box, tuple[float, float]], v: Value, node: Node) -> str:
    (x1, y1), (x2, y2) = places[_maker(v)], places[node]
    x1, y1, x2 = x1 + WIDTH / 2, y1 + HEIGHT, x2 + WIDTH / 2
    down, up = y1 + GAP_Y / 2, y2 - GAP_Y / 2
    curve = f"C{x1:.0f} {down:.0f} {x2:.0f} {up:.0f} {x2:.0f} {y2:.0f}"
    return f'<path d="M{x1:.0f} {y1:.0f}{curve}"/>'


def _box(graph: Graph, box: Box, place: tuple[float, float], output: bool) -> str:
    x, y = place
    values: Iterable[Value] = box.outputs if isinstance(box, Node) else (box,)
    ids = ", ".join(f"%{graph.ids[v]}" for v in values)
    name = box.op.name if isinstance(box, Node) else (box.name if isinstance(box, Input) else "")
    types = ", ".join(str(v.type) for v in values)
    where = box.where if isinstance(box, (Node, Input)) else ""
    colour = OUTPUT if output else NODE if isinstance(box, Node) else INPUT
    at = f'<text x="{x + WIDTH / 2:.0f}" text-anchor="middle" y='
    tip = f"{box.op if isinstance(box, Node) else name} -> {types}\n{where}"
    return (
        f'<g><title>{escape(tip.strip())}</title><rect x="{x:.0f}" y="{y:.0f}" width="{WIDTH}" '
        f'height="{HEIGHT}" rx="4" fill="{colour}" stroke="#777"/>'
        f'{at}"{y + 15:.0f}">{_cut(f"{ids} {name}")}</text>'
        f'{at}"{y + 30:.0f}" fill="#555">{_cut(types)}</text></g>'
    )


def _cut(text: str) -> str:
    return escape(text if len(text) <= 22 else f"{text[:21]}…")
