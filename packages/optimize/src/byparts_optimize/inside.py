"""Applies a pass to the bodies of a node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from byparts_graph_ir import Graph, Node, Op, map_bodies
from byparts_graph_ir.model.frozen import field_names

GraphPass = Callable[[Graph], Graph]


def inside(node: Node, run: GraphPass) -> Node:
    """The node with `run` applied to each body of its op; itself if none changes."""
    op = map_bodies(node.op, run)
    return node if op is node.op else Node(op, node.inputs, node.where)


def attributes(op: Op) -> list[Any]:
    """The values of the op's fields."""
    return [getattr(op, name) for name in field_names(op.__class__)]
