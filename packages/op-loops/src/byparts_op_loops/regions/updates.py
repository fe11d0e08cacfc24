"""Updates of weights by an optimizer: the graph of one weight, which is a region."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Union

import byparts_opset as ops
from byparts_graph_ir import Graph, Input, Refused, TensorType
from byparts_graph_ir.model.frozen import replace
from byparts_op_loops.regions.axes import CONSTANTS, taken

UPDATES = (ops.GradientDescent, ops.Momentum, ops.Adam)
Update = Union[ops.GradientDescent, ops.Momentum, ops.Adam]


def updates_of_each(op: Update, types: Sequence[TensorType]) -> list[Graph]:
    """For each weight that the op updates, its update as a graph of elementwise ops.

    Weight i is made of the inputs i, count + i, 2 * count + i, ... of the groups of the op (weight,
    gradient, state), and of the inputs that all weights share, which come last.

    Args:
        op: one of `UPDATES`, of `count` weights.
        types: of its inputs.

    Raises:
        Refused: a dtype that expressions do not have.
    """
    count, size = op.count, len(op.groups) * op.count
    return [_update_of_one(op, [*types[i:size:count], *types[size:]]) for i in range(count)]


def _update_of_one(op: Update, types: Sequence[TensorType]) -> Graph:
    inputs = tuple([Input(t) for t in types])
    graph = Graph.of(inputs, replace(op, count=1).decompose(*inputs) or ())
    for node in graph.nodes:
        (y,) = node.outputs
        number = (type(node.op) in CONSTANTS and y.type.size == 1) or not y.type.size
        if not number and not taken(node):
            raise Refused(f"{type(op).__name__} needs {node.op.name} on {y.type}")
    return graph
