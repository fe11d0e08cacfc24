"""Gives each node the simplest form that its types allow, as its op says (`Op.canonical`).

When shapes are known, `broadcast_like`, `sum_like` and similar ops become ops with static
attributes, or disappear.
"""

from __future__ import annotations

from typing import Optional

from byparts_graph_ir import Graph, Node, Value
from byparts_graph_ir.contract import checked
from byparts_optimize.inside import inside


@checked
def canonical(graph: Graph) -> Graph:
    """Return the program with every op in its canonical form.

    Does most on static types.  Preserves values to the bit, effects and their order.
    O(nodes); enters subgraphs.
    """
    return graph.rewrite(canonical_rule)


def canonical_rule(node: Node) -> Optional[tuple[Value, ...]]:
    """The pass as a rule for `Graph.rewrite`."""
    node = inside(node, canonical)
    return node.op.canonical(node) or node.outputs
