"""Computes equal expressions once (common subexpression elimination).

Two nodes are one if their ops and their inputs are equal and neither has an effect.  Sound because
graphs are pure: a random draw reads its key as a value, so equal draws *are* equal.
"""

from __future__ import annotations

from typing import Optional

from byparts_graph_ir import Graph, Node, Op, Rule, Value, has_effect
from byparts_graph_ir.contract import checked
from byparts_optimize.inside import attributes, inside

Outputs = tuple[Value, ...]


@checked
def merge(graph: Graph) -> Graph:
    """Return the program with equal pure expressions computed once.

    Preserves values to the bit, effects and their order, and the first of the equal
    nodes with its `where`.  Idempotent.  O(nodes); enters subgraphs.
    """
    return graph.rewrite(merge_rule())


def merge_rule() -> Rule:
    """A fresh rule for `Graph.rewrite`; it remembers the nodes of one graph."""
    seen: dict[object, Outputs] = {}

    def rule(node: Node) -> Optional[Outputs]:
        node = inside(node, merge)
        if has_effect(node.op):
            return node.outputs
        return seen.setdefault((node.op, _exactly(node.op), node.inputs), node.outputs)

    return rule


def _exactly(op: Op) -> tuple[str, ...]:
    """Tell apart fields that Python calls equal: 0.0 and -0.0; 1, True and 1.0."""
    return tuple([repr(v) for v in attributes(op) if isinstance(v, (int, float, tuple))])
