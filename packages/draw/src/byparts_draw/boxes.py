"""The content of a picture of a graph: boxes, frames around them, and wires between them.

A node is a box with its name, its attributes and the types of its results.  Inputs and constants
are small boxes just above what reads them; one that is read in several places, such as a weight in
a layer, in the layer's gradient and in its update, is drawn in each: its wires would else cross the
whole picture.  So is any value whose readers are too far below.  A graph inside a node is drawn
inside its box.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from byparts_draw.scopes import grouped
from byparts_graph_ir.model.bodies import has_effect, subgraphs
from byparts_graph_ir.model.graph import Graph
from byparts_graph_ir.model.show import attributes_of, literal, names_of
from byparts_graph_ir.model.value import Node
from byparts_graph_ir.model.where import relative, working_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from byparts_draw.scopes import Group
    from byparts_graph_ir.model.value import Value

LINE, PAD = 14.0, 7.0  # height of a line of text; from a box's edge to its text
_WIDEST = 34  # letters of a line of attributes
_ATTRIBUTE_LINES, _TYPE_LINES = 3, 4
_DEEPEST, _LARGEST = 2, 200  # graphs in graphs that are drawn; nodes of one
_APART = 1  # readers of an input further down than this from the first have it drawn again
_WAYPOINTS = 2_000  # rows that all wires may pass together; else the longest wires are cut


@dataclass(eq=False)
class Box:
    """A node, an input or a constant."""

    kind: str  # "node", "input", "constant", or "value": a result drawn again
    lines: list[tuple[str, str]]  # words, and how: "name", "detail" or "mark"
    tip: str
    again: bool = False  # drawn before, elsewhere
    output: bool = False
    bodies: list[Sheet] = field(default_factory=list)
    tails: dict[Value, int] = field(default_factory=dict)  # which result a value is
    parent: Frame | None = None


@dataclass(eq=False)
class Frame:
    """A scope."""

    title: str
    members: list[Box | Frame] = field(default_factory=list)
    parent: Frame | None = None


@dataclass
class Sheet:
    """All of one graph: a frame without a title, and its wires."""

    root: Frame
    wires: list[tuple[Box, int, Box]]  # maker, which of its results, reader


def sheet(graph: Graph, depth: int = 0) -> Sheet:
    """The content of the picture of a graph.  O(nodes), and what graphs inside nodes take."""
    return _Sheet(graph, depth).made()


class _Sheet:
    def __init__(self, graph: Graph, depth: int) -> None:
        self.graph, self.names = graph, names_of(graph)
        self.outputs: dict[Value, list[int]] = {}
        for i, v in enumerate(graph.outputs):
            self.outputs.setdefault(v, []).append(i)
        self.inner = [node for node in graph.nodes if not self._is_source(node)]
        self.boxes = {node: self._node(node, depth) for node in self.inner}
        self.rows = _rows(self.inner)
        self.wires: list[tuple[Box, int, Box]] = []

    def made(self) -> Sheet:
        root = Frame("")
        self._place(grouped(self.inner), root)
        furthest = self._furthest()
        readers: dict[Value, list[Node]] = {v: [] for v in self.graph.inputs}
        for node in self.inner:
            for v in node.inputs:
                maker = None if v.node is None else self.boxes.get(v.node)
                if maker is not None and self.rows[node] - self.rows[v.node] <= furthest:  # type: ignore[index]  # `maker` is its box
                    self.wires.append((maker, maker.tails[v], self.boxes[node]))
                else:
                    readers.setdefault(v, []).append(node)
        for v, nodes in readers.items():
            self._beside(v, nodes, root)
        return Sheet(root, self.wires)

    def _is_source(self, node: Node) -> bool:
        outputs = any(v in self.outputs for v in node.outputs)
        return not (node.inputs or has_effect(node.op) or outputs or subgraphs(node.op))

    def _place(self, members: Sequence[Node | Group], frame: Frame) -> None:
        for member in members:
            if isinstance(member, Node):
                _put(self.boxes[member], frame)
            else:
                inner = Frame(member[0])
                _put(inner, frame)
                self._place(member[1], inner)

    def _beside(self, v: Value, nodes: Sequence[Node], root: Frame) -> None:
        """A small box for an input near each group of its readers; for a constant, near each."""
        if not nodes:
            _put(self._source(v, again=False), root)
        near: dict[Frame | None, tuple[int, Box]] = {}
        first = v.node is None or v.node not in self.boxes
        for node in sorted(nodes, key=self.rows.__getitem__):
            frame, row = self.boxes[node].parent, self.rows[node]
            if v.node is not None or frame not in near or row > near[frame][0] + _APART:
                box = self._source(v, again=not first)
                _put(box, frame or root)
                near[frame], first = (row, box), False
            self.wires.append((near[frame][1], 0, self.boxes[node]))

    def _furthest(self) -> int:
        """The number of rows that a wire may pass, so that there are not too many waypoints."""
        spans: dict[Value, int] = {}
        for node in self.inner:
            for v in node.inputs:
                if v.node in self.boxes:
                    spans[v] = max(spans.get(v, 0), self.rows[node] - self.rows[v.node])
        furthest = max(spans.values(), default=1)
        while furthest > 4 and sum(min(s, furthest) for s in spans.values()) > _WAYPOINTS:
            furthest //= 2
        return furthest

    def _node(self, node: Node, depth: int) -> Box:
        lines = [(node.op.name, "name"), *self._attributes(node)]
        box = Box("node", lines, _tip(node, self.names))
        for graph in subgraphs(node.op):
            if depth < _DEEPEST and len(graph.nodes) <= _LARGEST:
                box.bodies.append(sheet(graph, depth + 1))
            else:
                lines.append((f"{len(graph.nodes)} nodes inside", "detail"))
        self._results(box, node.outputs)
        return box

    def _results(self, box: Box, values: Sequence[Value]) -> None:
        box.tails = {v: i for i, v in enumerate(values)}
        shown = [(f"%{self.names[v]}: {v.type}", "detail") for v in values[:_TYPE_LINES]]
        box.lines += shown
        if len(values) > len(shown):
            box.lines.append((f"and {len(values) - len(shown)} more", "detail"))
        self._mark(box, values)

    def _mark(self, box: Box, values: Iterable[Value]) -> None:
        """Say which outputs of the graph they are."""
        numbers = [i for v in values for i in self.outputs.get(v, ())]
        if numbers:
            box.output = True
            several = ", ".join(map(str, numbers[:4])) + ", …" * (len(numbers) > 4)
            box.lines.append((f"output{'s' * (len(numbers) > 1)} {several}", "mark"))

    def _source(self, v: Value, *, again: bool) -> Box:
        if v.node is None:
            where = relative(getattr(v, "where", ""), working_folder())
            tip = f"%{self.names[v]}: {v.type}\n{where}".strip()
            box = Box("input", [(f"%{self.names[v]}", "name"), (str(v.type), "detail")], tip)
        elif v.node in self.boxes:  # a wire that was cut
            words = [(f"%{self.names[v]}", "name"), (str(v.type), "detail")]
            box = Box("value", words, self.boxes[v.node].tip)
        else:
            kind = (f"%{self.names[v]}: {v.type}", "detail")
            lines = [(v.node.op.name, "name"), *self._attributes(v.node)[:1], kind]
            box = Box("constant", lines, _tip(v.node, self.names))
        box.again = again
        if not again:
            self._mark(box, (v,) if v.node is None else ())
        return box

    def _attributes(self, node: Node) -> list[tuple[str, str]]:
        """Attributes that differ from their defaults, in short lines."""
        given = attributes_of(node.op, defaults=False)
        words = [f"{k}={_cut(_short(v), _WIDEST)}" for k, v in given.items() if not _graphs(v)]
        lines: list[str] = []
        for word in words:
            if lines and len(lines[-1]) + len(word) + 2 <= _WIDEST:
                lines[-1] += f", {word}"
            else:
                lines.append(word)
        if len(lines) > _ATTRIBUTE_LINES:
            lines[_ATTRIBUTE_LINES - 1 :] = ["…"]
        return [(line, "detail") for line in lines]


def _put(member: Box | Frame, frame: Frame) -> None:
    member.parent = frame
    frame.members.append(member)


def _rows(nodes: Sequence[Node]) -> dict[Node, int]:
    """The longest path to each node, of those that are not sources."""
    rows: dict[Node, int] = {}
    for node in nodes:
        above = [rows[v.node] for v in node.inputs if v.node in rows]
        rows[node] = 1 + max(above, default=-1)
    return rows


def _graphs(value: object) -> bool:
    return isinstance(value, Graph) or (
        isinstance(value, tuple) and any(isinstance(item, Graph) for item in value)
    )


def _short(value: object) -> str:
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    return f"{value:.6g}" if isinstance(value, float) else literal(value)


def _tip(node: Node, names: Mapping[Value, str]) -> str:
    """The line of the text, and where it comes from."""
    left = ", ".join(f"%{names[v]}: {v.type}" for v in node.outputs)
    given = [f"%{names[v]}" for v in node.inputs]
    for key, value in attributes_of(node.op, defaults=False).items():
        given.append(f"{key}={'…' if _graphs(value) else _cut(_short(value), 80)}")
    line = f"{left} = {node.op.name}({', '.join(given)})" if left else node.op.name
    return f"{_cut(line, 600)}\n{relative(node.where, working_folder())}".strip()


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
