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
"""

from __future__ import annotations

from math import isfinite

from byparts_graph_ir.attributes import Ops, attributes_of, installed_ops, make_node, make_op
from byparts_graph_ir.errors import FormatError, GraphError, ShapeError
from byparts_graph_ir.graph import Graph, Input, Node, Value, nested
from byparts_graph_ir.types import Dimension, TensorType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, TypeAlias

FORMAT, VERSION = "byparts-graph", 1

Json: TypeAlias = "Any"  # what json.loads gives: checked here, field by field


def to_json(graph: Graph) -> str:
    """The text.  Same bytes every run.  O(nodes).

    Raises:
        GraphError: an attribute is of a kind that has no JSON form.
    """
    import json  # a program built in code needs none

    hash(graph)  # digests every graph inside, innermost first, so that `fromkeys` need not recurse
    order = list(dict.fromkeys(nested(graph)))
    index = {g: i for i, g in enumerate(order)}
    graphs = [_dump_graph(g, index) for g in order]
    return json.dumps({"format": FORMAT, "version": VERSION, "graphs": graphs}, allow_nan=False)


def from_json(text: str, ops: Ops | None = None) -> Graph:
    """The graph of a text.  `ops` maps names to op classes; by default those of installed parts.

    Raises:
        FormatError: not JSON, another format or version, unknown op or field, or nodes that do not
            fit together; says where.
    """
    import json  # as above

    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"not a JSON text: {error}") from error
    _keys(data, ("format", "version", "graphs"), "the file")
    if data["format"] != FORMAT or data["version"] != VERSION:
        found = f"{data['format']!r} version {data['version']!r}"
        raise FormatError(f"this reads {FORMAT!r} version {VERSION}, the file is {found}")
    ops = installed_ops() if ops is None else ops
    made: list[Graph] = []
    for i, item in enumerate(_list(data["graphs"], "graphs")):
        made.append(_Loader(made, ops, f"graph {i}").graph(item))
    if not made:
        raise FormatError("the file holds no graph")
    return made[-1]


def _dump_graph(graph: Graph, index: Mapping[Graph, int]) -> Json:
    ids = graph.ids
    nodes = []
    for n in graph.nodes:
        attributes = attributes_of(n.op, defaults=True)
        item: Json = {"op": n.op.name, "inputs": [ids[v] for v in n.inputs]}
        if attributes:
            item["attributes"] = {k: _dump(v, index, n) for k, v in attributes.items()}
        if n.where:
            item["where"] = n.where
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
    """Builds one graph; `made` are those it may refer to."""

    def __init__(self, made: Sequence[Graph], ops: Ops, place: str) -> None:
        self.made, self.ops, self.place = made, ops, place

    def graph(self, data: Json) -> Graph:
        _keys(data, ("inputs", "nodes", "outputs"), self.place)
        inputs = tuple(self.input(item) for item in _list(data["inputs"], f"{self.place}: inputs"))
        values: list[Value] = list(inputs)
        nodes: list[Node] = []
        for i, item in enumerate(_list(data["nodes"], f"{self.place}: nodes")):
            try:
                nodes.append(self.node(item, values))
            except FormatError as error:
                raise FormatError(f"{self.place}, node {i}: {error}") from error
            values.extend(nodes[-1].outputs)
        outputs = tuple(_pick(values, data["outputs"], f"{self.place}: outputs"))
        return Graph(inputs, tuple(nodes), outputs)

    def input(self, data: Json) -> Input:
        _keys(data, ("name", "type"), f"{self.place}: an input")
        return Input(_type(data["type"]), None, _text(data["name"], "name"), "")

    def node(self, data: Json, values: Sequence[Value]) -> Node:
        _keys(data, ("op", "inputs"), "a node", optional=("attributes", "where"))
        attributes = data.get("attributes", {})
        if not isinstance(attributes, dict):
            raise FormatError(f"attributes are an object, found {_brief(attributes)}")
        loaded = {k: self.attribute(v) for k, v in attributes.items()}
        op = make_op(_text(data["op"], "op"), loaded, self.ops)
        inputs = tuple(_pick(values, data["inputs"], "inputs"))
        return make_node(op, inputs, _text(data.get("where", ""), "where"))

    def attribute(self, data: Json) -> object:
        if not isinstance(data, (dict, list)):
            return data
        if isinstance(data, list) or len(data) != 1:
            raise FormatError(f"an attribute cannot be {_brief(data)}")
        ((kind, value),) = data.items()
        if kind == "tuple":
            return tuple(self.attribute(item) for item in _list(value, "tuple"))
        if kind == "type":
            return _type(value)
        if kind == "graph":
            return next(iter(_pick(self.made, [value], "graph")))
        if kind == "float" and value in ("inf", "-inf", "nan"):
            return float(value)
        if kind == "bytes":
            return _bytes(value)
        raise FormatError(f"an attribute cannot be {_brief(data)}")


def _type(data: Json) -> TensorType:
    dtype, mark, rest = _text(data, "type").partition("[")
    try:
        if not mark or not rest.endswith("]"):
            raise ShapeError("no shape")
        if rest == "...]":
            return TensorType(dtype, None)
        words = rest[:-1].split(",") if rest != "]" else []
        return TensorType(dtype, tuple(_dimension(word) for word in words))
    except ShapeError as error:
        raise FormatError(f"{_brief(data)} is no type: {error}") from error


def _dimension(word: str) -> Dimension:
    return None if word == "?" else int(word) if word.isdecimal() else word


def _bytes(data: Json) -> bytes:
    from base64 import b64decode  # as above

    try:
        return b64decode(_text(data, "bytes"), validate=True)
    except ValueError as error:  # binascii.Error is one
        raise FormatError(f"bytes are base64: {error}") from error


def _pick(items: Sequence[Any], ids: Json, what: str) -> list[Any]:
    """The items with these numbers, each of which must have been made before."""
    found = []
    for i in _list(ids, what):
        if type(i) is not int or not 0 <= i < len(items):
            raise FormatError(f"{what}: {_brief(i)} is none of the {len(items)} made before")
        found.append(items[i])
    return found


def _keys(data: Json, required: Sequence[str], what: str, optional: Sequence[str] = ()) -> None:
    if not isinstance(data, dict):
        raise FormatError(f"{what} is an object, found {_brief(data)}")
    missing = [k for k in required if k not in data]
    unknown = [k for k in data if k not in required and k not in optional]
    if missing or unknown:
        wrong = f"lacks {missing[0]!r}" if missing else f"has the unknown field {unknown[0]!r}"
        raise FormatError(f"{what} {wrong}")


def _list(data: Json, what: str) -> list[Json]:
    if not isinstance(data, list):
        raise FormatError(f"{what} is a list, found {_brief(data)}")
    return data


def _text(data: Json, what: str) -> str:
    if not isinstance(data, str):
        raise FormatError(f"{what} is a text, found {_brief(data)}")
    return data


def _brief(data: Json) -> str:
    text = repr(data)
    return text if len(text) <= 60 else f"{text[:57]}..."
