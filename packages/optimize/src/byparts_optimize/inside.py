"""How a pass enters the graphs inside an op: explicitly, by asking for it here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from byparts_graph_ir import Graph, Node, Op, nested, subgraphs
from byparts_graph_ir.lazy_dataclass import field_names, replace

GraphPass = Callable[[Graph], Graph]


def inside(node: Node, run: GraphPass) -> Node:
    """The node with `run` applied to every graph among its op's fields; itself if none changes.

    `run` is expected to enter the graphs inside those in turn: depth costs stack here, because a
    program nested a thousand loops deep is one that nobody writes.
    """
    if not holds_graphs(node.op):
        return node
    old = {name: getattr(node.op, name) for name in field_names(type(node.op))}
    new = {name: _apply(value, run) for name, value in old.items()}
    changed = any(new[name] != value for name, value in old.items())
    return Node(replace(node.op, **new), node.inputs, node.where) if changed else node


def effectful(op: Op) -> bool:
    """Whether the op, or one in a graph inside it, has an effect."""
    if op.effect or not holds_graphs(op):
        return op.effect
    return any(n.op.effect for g in subgraphs(op) for inner in nested(g) for n in inner.nodes)


def holds_graphs(op: Op) -> bool:
    """Whether a field of the op is a graph; quick, because every pass asks it of every node."""
    for v in attributes(op):
        if isinstance(v, Graph) or (v.__class__ is tuple and v and not isinstance(v[0], int)):
            return bool(subgraphs(op))
    return False


def attributes(op: Op) -> list[Any]:
    """The values of the op's fields."""
    return [getattr(op, name) for name in field_names(op.__class__)]


def _apply(value: Any, run: GraphPass) -> Any:
    if isinstance(value, tuple):
        return tuple(_apply(v, run) for v in value)
    return run(value) if isinstance(value, Graph) else value
