"""The text of a graph: `str(graph)`.  `formats/text.py` has the grammar, and reads it back.

Inputs are called by their names where those are distinct, other values by number; defaults are not
printed; a comment at the end of a node's line is its `where`.  Same bytes every run.
"""

from __future__ import annotations

import re

from byparts_graph_ir.errors import GraphError
from byparts_graph_ir.model.bodies import nested, subgraphs
from byparts_graph_ir.model.body import is_graph
from byparts_graph_ir.model.frozen import field_defaults, field_names
from byparts_graph_ir.model.types import TensorType
from byparts_graph_ir.model.where import relative, working_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from byparts_graph_ir.model.graph import Graph
    from byparts_graph_ir.model.op import Op
    from byparts_graph_ir.model.value import Node, Value

DEEPEST = 64  # levels of tuples in an attribute, and of graphs inside graphs in a text
MOST_NODES = 1_000_000  # where a graph inside several nodes counts several times


def show(graph: Graph) -> str:
    """The text of a graph.  O(nodes).

    Raises:
        GraphError: graphs or tuples nested deeper than `DEEPEST`, where JSON is flat; or more than
            a million nodes, because a graph inside several nodes is printed several times.
    """
    check_size(graph)
    return _graph(graph, 0, working_folder())


def check_size(graph: Graph) -> None:
    """Refuse what is short only because a graph that is inside several nodes stands there once.

    Raises:
        GraphError: more than `MOST_NODES`, each counted as often as it would run.
    """
    inside = nested(graph)
    sizes: dict[int, int] = {}
    for inner in inside if len(inside) > 1 else ():
        bodies = [body for node in inner.nodes for body in subgraphs(node.op)]
        sizes[id(inner)] = len(inner.nodes) + sum([sizes[id(body)] for body in bodies])
    if sizes.get(id(graph), 0) > MOST_NODES:
        what = f"a graph of {sizes[id(graph)]} nodes, with those of the graphs inside it"
        raise GraphError(f"{what}, cannot be written; at most {MOST_NODES}")


def attributes_of(op: Op, *, defaults: bool) -> dict[str, Any]:
    """Field name -> value; without those at their default unless `defaults`."""
    attributes = {name: getattr(op, name) for name in field_names(type(op))}
    if not defaults:
        for name, default in field_defaults(type(op)).items():
            if default == attributes[name] and type(default) is type(attributes[name]):
                del attributes[name]
    return attributes


def _graph(graph: Graph, depth: int, folder: str) -> str:
    _check_depth(depth)
    names, indent = names_of(graph), "  " * depth
    params = ", ".join(f"%{names[v]}: {v.type}" for v in graph.inputs)
    lines = [f"({params}) {{"]
    lines += [f"{indent}  {_node(node, names, depth, folder)}" for node in graph.nodes]
    results = ", ".join(f"%{names[v]}" for v in graph.outputs)
    lines += [f"{indent}  return {results}".rstrip(), f"{indent}}}"]
    return "\n".join(lines)


def _node(node: Node, names: Mapping[Value, str], depth: int, folder: str) -> str:
    left = ", ".join(f"%{names[v]}: {v.type}" for v in node.outputs)
    arguments = [f"%{names[v]}" for v in node.inputs]
    for key, value in attributes_of(node.op, defaults=False).items():
        arguments.append(f"{key}={literal(value, depth + 1, folder)}")
    line = f"{left} = " if left else ""
    line += f"{node.op.name}({', '.join(arguments)})"
    return f"{line}  # {relative(node.where, folder)}" if node.where else line


def literal(value: object, depth: int = 0, folder: str = "") -> str:
    """An attribute as the text has it, `depth` levels deep; paths are relative to `folder`."""
    if is_graph(value):
        return _graph(value, depth, folder)
    if isinstance(value, TensorType):
        return str(value)
    if isinstance(value, tuple):
        _check_depth(depth)
        items = [literal(item, depth + 1, folder) for item in value]
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
    return repr(value)


def _check_depth(depth: int) -> None:
    if depth > DEEPEST:
        raise GraphError(f"graphs nested deeper than {DEEPEST} cannot be printed; use to_json")


def names_of(graph: Graph) -> dict[Value, str]:
    """The name of each value in the text of the graph, without the `%`."""
    names = {v: str(i) for v, i in graph.ids.items()}
    taken: set[str] = set()
    for v in graph.inputs:
        name = getattr(v, "name", "")
        if re.fullmatch(r"[A-Za-z_][\w./-]*", name) and name not in taken:
            names[v] = name
            taken.add(name)
    return names
