"""The usual passes in the usual order, until nothing changes.

Each of these passes rewrites one node whose inputs are rewritten already, so one traversal of the
nodes applies all of them: canonical form, constant folding, algebra, then common subexpressions.
That is twice as fast as one traversal for each pass and needs fewer rounds.
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

_MAX_ROUNDS = 20


@checked
def optimize(graph: Graph, *, fast_math: bool = False, limit_bytes: int = LIMIT_BYTES) -> Graph:
    """Apply canonical forms, constant folding, algebra and common subexpression elimination.

    Does most on static types: `specialize` first.  Preserves what `simplify` preserves.
    Idempotent.  O(nodes) a round, two or three rounds in practice.
    """
    for _ in range(_MAX_ROUNDS):
        before, simpler = graph, Sweep(fast_math)
        steps = (canonical_rule, fold_rule(limit_bytes), simpler.rule, merge_rule())
        graph = prune(share(before.rewrite(_one_after_another(steps))))
        if (graph.nodes, graph.outputs) == (before.nodes, before.outputs):
            break
    return graph


def _one_after_another(steps: tuple[Rule, ...]) -> Rule:
    """A rule that applies each of `steps` to the result of the one before."""

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
