"""Meaning of a graph: every node by `Op.evaluate`, in order.

The oracle that passes, planners and backends are tested against: slow, obvious, and in no way
clever but that a value is let go after its last use.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from byparts_graph_ir import Graph, GraphError, TensorType, Value, add_note, compatible
from byparts_opset.dtypes import dtype_name

Array = NDArray[Any]


def evaluate(graph: Graph, *arrays: object) -> tuple[Array, ...]:
    """The outputs of `graph` on these inputs.  Iterative; O(nodes) beside the ops' own work.

    Raises:
        GraphError: the arrays are not one for each input, of its dtype and a shape that fits.
    """
    inputs = [np.asarray(a) for a in arrays]
    _check_inputs(graph, inputs)
    last = _last_uses(graph)
    known: dict[Value, Array] = dict(zip(graph.inputs, inputs, strict=True))
    for i, node in enumerate(graph.nodes):
        try:
            results = node.op.evaluate(*(known[v] for v in node.inputs))
        except Exception as error:
            add_note(error, f"evaluating {node.op.name}, created at {node.where}")
            raise
        known.update(zip(node.outputs, results, strict=True))
        for v in (*node.inputs, *node.outputs):
            if last[v] == i:
                known.pop(v, None)
    return tuple(known[v] for v in graph.outputs)


def _check_inputs(graph: Graph, arrays: list[Array]) -> None:
    if len(arrays) != len(graph.inputs):
        raise GraphError(f"evaluate: {len(arrays)} arrays for {len(graph.inputs)} inputs")
    for i, (v, a) in enumerate(zip(graph.inputs, arrays, strict=True)):
        given = TensorType(dtype_name(a.dtype), a.shape)
        if not compatible(v.type, given):
            raise GraphError(f"evaluate: array {i} is {given}, and the input is {v.type}")


def _last_uses(graph: Graph) -> dict[Value, int]:
    """Map each value to the last step that reads it; outputs to the number of steps."""
    last: dict[Value, int] = {}
    for i, node in enumerate(graph.nodes):
        for v in (*node.outputs, *node.inputs):
            last[v] = i
    return {**last, **dict.fromkeys(graph.outputs, len(graph.nodes))}
