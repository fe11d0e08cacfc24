"""Gives each node the simplest form that its types allow, as its op says (`Op.canonical`).

This is what turns `broadcast_like`, `sum_like` and the rest into static ops, or into nothing, once
shapes are known.
"""

from __future__ import annotations

from typing import Optional

from byparts_graph_ir import Graph, Node, Value
from byparts_graph_ir.contract import checked
from byparts_optimize.inside import inside


@checked
def canonical(graph: Graph) -> Graph:
    """The same program with every op in its canonical form.

    Needs nothing, does most on static types; preserves values to the bit, effects and their order.
    O(nodes); enters subgraphs.
    """
    return graph.rewrite(canonical_rule)


def canonical_rule(node: Node) -> Optional[tuple[Value, ...]]:
    """The pass, of one node."""
    node = inside(node, canonical)
    return node.op.canonical(node) or node.outputs
