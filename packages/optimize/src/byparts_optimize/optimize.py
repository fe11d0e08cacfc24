"""The usual passes in the usual order, until nothing changes.

All of them look at one node with its inputs done, so they share one walk over the nodes: canonical
form, then folding, then algebra, then the equal node made before.  That is twice as fast as
walks of their own, and finds at once what they would find in turns.
"""

from __future__ import annotations

from byparts_graph_ir import Graph, Node, Rule, Value
from byparts_graph_ir.contract import checked
from byparts_optimize.canonical import canonical_rule
from byparts_optimize.fold import LIMIT_BYTES, fold_rule
from byparts_optimize.merge import merge_rule
from byparts_optimize.prune import prune
from byparts_optimize.share import share
from byparts_optimize.simplify import Sweep

_MOST_ROUNDS = 20


@checked
def optimize(graph: Graph, *, fast_math: bool = False, limit_bytes: int = LIMIT_BYTES) -> Graph:
    """The same program, smaller: canonical forms, constants folded, algebra, equal work done once.

    Needs nothing, does most on static types (`specialize` first); preserves what `simplify` does.
    Idempotent.  O(nodes) a round, two or three rounds in practice.
    """
    for _ in range(_MOST_ROUNDS):
        before, simpler = graph, Sweep(fast_math)
        steps = (canonical_rule, fold_rule(limit_bytes), simpler.rule, merge_rule())
        graph = prune(share(before.rewrite(_in_turn(steps))))
        if (graph.nodes, graph.outputs) == (before.nodes, before.outputs):
            break
    return graph


def _in_turn(steps: tuple[Rule, ...]) -> Rule:
    """Each rule on what the one before made of the node."""

    def rule(node: Node) -> tuple[Value, ...]:
        for step in steps:
            outputs = step(node)
            if outputs is None or outputs == node.outputs:
                continue
            maker = outputs[0].node if outputs else None
            if maker is None or maker.outputs != outputs:
                return outputs
            node = maker
        return node.outputs

    return rule
