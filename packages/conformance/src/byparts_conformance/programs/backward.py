"""Makers of gradients of what has an op for them: loops, rows, pools, convolutions, attention.

`states.backward` takes any node, which nearly always is one of elements; here a node is chosen by
its kind.
"""

from __future__ import annotations

import byparts_opset as ops
from byparts_conformance.programs.growing import Growing, is_float
from byparts_graph_ir import Node

_LOOPS = (ops.While, ops.Scan)
_MOST_ELEMENTS = 5000


def of_loop(g: Growing) -> None:
    """The gradients of a loop: its rounds from the last to the first, on a stack."""
    _gradients(g, [node for node in _nodes(g) if isinstance(node.op, _LOOPS)])


def of_sums(g: Growing) -> None:
    """The gradients of a node that adds or chooses among many: a product, a pool, rows."""
    kinds = ("opaque", "contraction", "reduction")
    _gradients(g, [n for n in _nodes(g) if n.op.pattern in kinds and not isinstance(n.op, _LOOPS)])


def _nodes(g: Growing) -> list[Node]:
    """The nodes of the program with an output of floats, each once."""
    nodes = dict.fromkeys([v.node for v in g.known if v.node is not None and is_float(v)])
    return [n for n in nodes if sum(v.type.size for v in n.outputs) <= _MOST_ELEMENTS]


def _gradients(g: Growing, nodes: list[Node]) -> None:
    if not nodes:
        return
    node = g.any_of(nodes)
    g.evaluated(node.outputs)
    dys = [g.value_or(v, lambda x, v=v: x.type == v.type) for v in node.outputs]  # type: ignore[misc]
    g.add(lambda: [dx for dx in node.op.gradient(node, *dys) if dx is not None][:3])


MAKERS = (of_loop, *(of_sums,) * 2)
