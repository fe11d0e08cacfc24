"""Removes a loop where another loop computes its outputs too.

The gradient of a loop needs the states between the rounds, so it repeats the loop with the states
as additional outputs.  A training step has both loops.  The op says whether the loop with more
outputs computes those of the other one (`Op.covers`); the other one is then removed.
"""

from __future__ import annotations

from byparts_graph_ir import Graph, Node, Op, Value, has_effect
from byparts_graph_ir.contract import checked


@checked
def share(graph: Graph) -> Graph:
    """Return the program without loops whose outputs another loop computes too.

    Preserves values to the bit, effects and their order.  The loop with more outputs moves to the
    place of the other one; this requires that its additional inputs are constants.  O(nodes) and
    one comparison for each pair of loops of one class.  Bodies are left as they are.
    """
    loops = [n for n in graph.nodes if type(n.op).covers is not Op.covers]
    covered = _covered([n for n in loops if not has_effect(n.op)])
    if not covered:
        return graph
    nodes = _moved(graph, covered)
    env: dict[Value, Value] = {v: v for v in graph.inputs}
    for old in nodes:
        if old in covered:
            longer, which = covered[old]
            outputs = [env[longer.outputs[i]] for i in which]
        else:
            inputs = tuple([env[v] for v in old.inputs])
            node = old if inputs == old.inputs else Node(old.op, inputs, old.where)
            outputs = list(node.outputs)
        env.update(zip(old.outputs, outputs, strict=True))
    return Graph.of(graph.inputs, [env[v] for v in graph.outputs], order=env.values())


Covered = dict[Node, tuple[Node, tuple[int, ...]]]


def _covered(loops: list[Node]) -> Covered:
    """Loop -> a later loop that covers it, and the outputs of the latter that are its own."""
    covered: Covered = {}
    for i, longer in enumerate(loops):
        for loop in loops[:i]:
            if loop in covered or longer in covered or type(loop.op) is not type(longer.op):
                continue
            which = longer.op.covers(longer.inputs, loop.op, loop.inputs)
            more = [v.node for v in longer.inputs if v not in loop.inputs]
            if which is not None and all(made and not made.inputs for made in more):
                for first, (by, own) in covered.items():
                    if by is loop:  # and so what the loop covers: it is removed itself
                        covered[first] = longer, tuple([which[i] for i in own])
                covered[loop] = longer, which
    return covered


def _moved(graph: Graph, covered: Covered) -> list[Node]:
    """Order the nodes so that each covering loop stands before the first loop that it covers."""
    nodes: dict[Node, None] = {}
    for node in graph.nodes:
        if node in covered:
            longer = covered[node][0]
            constants = [v.node for v in longer.inputs if v.node and not v.node.inputs]
            nodes.update(dict.fromkeys((*constants, longer)))
        nodes[node] = None
    return list(nodes)
