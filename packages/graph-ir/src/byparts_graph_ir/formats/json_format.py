"""A graph as JSON, with a format version: what is sent, stored and read by other programs.

    {"format": "byparts-graph", "version": 1, "graphs": [
       {"inputs": [{"name": "x", "type": "f32[n,784]"}, ...],
        "nodes": [{"op": "matmul", "inputs": [0, 1], "attributes": {..}, "where": "a.py:3"}, ...],
        "outputs": [2]}, ...]}

The last graph is the program; the others are those inside it, each after its own, referred to
by position, so that nesting costs no depth.  Values are numbered as in `Graph.ids`.  All attributes
are written, also defaults, so that a file keeps its meaning when a default changes.  What JSON has
no word for is an object of one key: {"tuple": [..]}, {"float": "nan"}, {"bytes": base64},
{"type": "f32[2]"}, {"graph": 0}.  Loading builds nodes and runs nothing.

What JSON leaves open is refused, with the way to it as in `graphs[0].nodes[3].inputs[1]`: keys that
stand twice, NaN and Infinity as words, numbers that no float holds or of thousands of digits.
"""

from __future__ import annotations

from math import isfinite

from byparts_graph_ir.errors import FormatError, GraphError, ShapeError
from byparts_graph_ir.formats.attributes import (
    MOST_DIGITS,
    Ops,
    installed_ops,
    make_node,
    make_op,
    shown,
)
from byparts_graph_ir.formats.strict_json import (
    Json,
    as_list,
    as_text,
    check_keys,
    fault,
    parsed,
    path,
)
from byparts_graph_ir.model.bodies import nested
from byparts_graph_ir.model.field_types import misfit
from byparts_graph_ir.model.graph import Graph
from byparts_graph_ir.model.show import DEEPEST, MOST_NODES, attributes_of, check_size
from byparts_graph_ir.model.types import Dimension, TensorType
from byparts_graph_ir.model.value import Input, Node, Value
from byparts_graph_ir.model.where import relative, working_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from byparts_graph_ir.formats.strict_json import Place

FORMAT, VERSION = "byparts-graph", 1


def to_json(graph: Graph) -> str:
    """The text.  Same bytes every run.  O(nodes).

    Raises:
        GraphError: an attribute has no JSON form, or is not of the type of the op's field; more
            than a million nodes, where a graph inside several nodes counts several times.
    """
    import json  # a program built in code needs none

    check_size(graph)
    hash(graph)  # digests every graph inside, innermost first, so that `fromkeys` need not recurse
    order = list(dict.fromkeys(nested(graph)))
    index = {g: i for i, g in enumerate(order)}
    folder = working_folder()
    graphs = [_dump_graph(g, index, folder) for g in order]
    return json.dumps({"format": FORMAT, "version": VERSION, "graphs": graphs}, allow_nan=False)


def from_json(text: str | bytes, ops: Ops | None = None) -> Graph:
    """The graph of a text.  `ops` maps names to op classes; by default those of installed parts.

    Raises:
        FormatError: not JSON, another format or version, unknown op or field, an attribute of
            another type than the op's field, or nodes that do not fit together; says where.
    """
    data = parsed(text)  # type: ignore[arg-type]  # bytes are refused there
    check_keys(data, ("format", "version", "graphs"), ())
    if (data["format"], data["version"], type(data["version"])) != (FORMAT, VERSION, int):
        version = f"{shown(data['format'])} version {shown(data['version'])}"
        raise FormatError(f"this reads {FORMAT!r} version {VERSION}, the file is {version}")
    ops = installed_ops() if ops is None else ops
    graphs: list[Graph] = []
    sizes: list[int] = []
    for i, item in enumerate(as_list(data["graphs"], ("graphs",))):
        loader = _Loader(graphs, sizes, ops, ("graphs", i))
        graphs.append(loader.graph(item))
        sizes.append(len(graphs[i].nodes) + loader.inside)
    if not graphs:
        raise FormatError("the file holds no graph")
    return graphs[-1]


def _dump_graph(graph: Graph, index: Mapping[Graph, int], folder: str) -> Json:
    ids = graph.ids
    nodes = []
    for n in graph.nodes:
        attributes = attributes_of(n.op, defaults=True)
        item: Json = {"op": n.op.name, "inputs": [ids[v] for v in n.inputs]}
        if wrong := misfit(type(n.op), attributes):
            field, expected = wrong
            value = shown(attributes[field])
            raise GraphError(f"{n.op.name}: {field} is {value}; a file needs {expected}")
        if attributes:
            item["attributes"] = {k: _dump(v, index, n) for k, v in attributes.items()}
        if n.where:
            item["where"] = relative(n.where, folder)
        nodes.append(item)
    inputs = [{"name": getattr(v, "name", ""), "type": str(v.type)} for v in graph.inputs]
    return {"inputs": inputs, "nodes": nodes, "outputs": [ids[v] for v in graph.outputs]}


def _dump(value: object, index: Mapping[Graph, int], node: Node) -> Json:
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else {"float": repr(value)}
    if isinstance(value, tuple):
        return {"tuple": [_dump(item, index, node) for item in value]}
    if isinstance(value, bytes):
        from base64 import b64encode  # rare, and not small

        return {"bytes": b64encode(value).decode()}
    if isinstance(value, TensorType):
        return {"type": str(value)}
    if isinstance(value, Graph):
        return {"graph": index[value]}
    raise GraphError(
        f"{node.op.name}: an attribute of type {type(value).__name__} has no JSON form"
    )


class _Loader:
    """Builds the graph at `place`; `made` are those it may refer to, `sizes` their nodes.

    A graph inside several nodes counts several times: whoever walks through a program walks there
    as often, and in a short file there may be two of a graph that is two of a graph, and so on.
    """

    def __init__(
        self, graphs: Sequence[Graph], sizes: Sequence[int], ops: Ops, place: Place
    ) -> None:
        self.graphs, self.sizes, self.ops, self.place = graphs, sizes, ops, place
        self.inside = 0  # nodes of the graphs inside its nodes

    def graph(self, data: Json) -> Graph:
        check_keys(data, ("inputs", "nodes", "outputs"), self.place)
        place = (*self.place, "inputs")
        listed = enumerate(as_list(data["inputs"], place))
        inputs = tuple([self.input(item, (*place, i)) for i, item in listed])
        values: list[Value] = list(inputs)
        nodes: list[Node] = []
        place = (*self.place, "nodes")
        for i, item in enumerate(as_list(data["nodes"], place)):
            nodes.append(self.node(item, values, (*place, i)))
            values.extend(nodes[-1].outputs)
        outputs = _pick(values, data["outputs"], (*self.place, "outputs"))
        return Graph(inputs, tuple(nodes), tuple(outputs))

    def input(self, data: Json, place: Place) -> Input:
        check_keys(data, ("name", "type"), place)
        kind = _type(data["type"], (*place, "type"))
        return Input(kind, None, as_text(data["name"], (*place, "name")), "")

    def node(self, data: Json, values: Sequence[Value], place: Place) -> Node:
        check_keys(data, ("op", "inputs"), place, optional=("attributes", "where"))
        fields = data.get("attributes", {})
        if not isinstance(fields, dict):
            raise fault((*place, "attributes"), "an object", fields)
        name, where = as_text(data["op"], (*place, "op")), data.get("where", "")
        attributes = {k: self.attribute(v, (*place, "attributes", k), 0) for k, v in fields.items()}
        inputs = _pick(values, data["inputs"], (*place, "inputs"))
        where = as_text(where, (*place, "where"))
        try:
            return make_node(make_op(name, attributes, self.ops), tuple(inputs), where)
        except FormatError as error:
            raise FormatError(f"{path(place)}: {error}") from error

    def attribute(self, data: Json, place: Place, depth: int) -> object:
        if data is None or isinstance(data, (bool, int, float, str)):
            return data
        kind, value = next(iter(data.items())) if isinstance(data, dict) and data else ("", None)
        if not isinstance(data, dict) or len(data) != 1 or depth > DEEPEST:
            raise fault(place, f"an attribute, tuples at most {DEEPEST} deep", data)
        inside = (*place, kind)
        if kind == "tuple":
            items = enumerate(as_list(value, inside))
            return tuple([self.attribute(item, (*inside, i), depth + 1) for i, item in items])
        if kind == "type":
            return _type(value, inside)
        if kind == "graph":
            graph: Graph = _pick(self.graphs, [value], inside)[0]
            self.inside += _pick(self.sizes, [value], inside)[0]
            if self.inside > MOST_NODES:
                what = f"graphs of {self.inside} nodes inside it; expected at most {MOST_NODES}"
                raise FormatError(f"{path(self.place)}: {what}")
            return graph
        if kind == "float" and value in ("inf", "-inf", "nan"):
            return float(value)
        if kind == "bytes":
            return _bytes(value, inside)
        raise fault(place, "an attribute", data)


def _type(data: Json, place: Place) -> TensorType:
    dtype, mark, rest = as_text(data, place).partition("[")
    try:
        if not mark or not rest.endswith("]"):
            raise ShapeError("no shape")
        if rest == "...]":
            return TensorType(dtype, None)
        words = rest[:-1].split(",") if rest != "]" else []
        if "(" in rest:
            from byparts_graph_ir.model.dimension import split  # few programs need the parser

            words = split(rest[:-1])
        return TensorType(dtype, tuple([_dimension(word) for word in words]))
    except ShapeError as error:
        raise FormatError(f"{path(place)}: {shown(data)} is no type: {error}") from error


def _dimension(word: str) -> Dimension:
    number = word.isascii() and word.isdigit() and len(word) <= MOST_DIGITS
    return None if word == "?" else int(word) if number else word


def _bytes(data: Json, place: Place) -> bytes:
    from base64 import b64decode  # as above

    try:
        return b64decode(as_text(data, place), validate=True)
    except ValueError as error:  # binascii.Error is one
        raise FormatError(f"{path(place)}: bytes are base64: {error}") from error


def _pick(items: Sequence[Any], ids: Json, place: Place) -> list[Any]:
    """The items with these numbers, each of which must have been made before."""
    picked = []
    for k, i in enumerate(as_list(ids, place)):
        if type(i) is not int or not 0 <= i < len(items):
            raise FormatError(
                f"{path((*place, k))}: {shown(i)} is none of the {len(items)} made before"
            )
        picked.append(items[i])
    return picked
