"""Runs a loop once where a longer one does the same and more.

The gradient of a loop needs its states between the rounds, and so repeats the loop with the states
as further outputs.  Where the loop itself is in the program too, as in every step of training, it
need not run: what it gives, the longer one gives (`Op.covers`).
"""

from __future__ import annotations

from byparts_graph_ir import Graph, Node, Op, Value, has_effect
from byparts_graph_ir.contract import checked


@checked
def share(graph: Graph) -> Graph:
    """The same program without loops that are parts of longer ones.

    Needs nothing; preserves values to the bit, effects and their order.  A longer loop takes the
    place of the shorter one, if all that it reads is there by then or is a constant.  O(nodes), and
    a comparison of each two loops on the same inputs; does not enter bodies.
    """
    loops = [n for n in graph.nodes if type(n.op).covers is not Op.covers]
    found = _covered([n for n in loops if not has_effect(n.op)])
    if not found:
        return graph
    nodes = _moved(graph, found)
    env: dict[Value, Value] = {v: v for v in graph.inputs}
    for old in nodes:
        if old in found:
            longer, which = found[old]
            outputs = [env[longer.outputs[i]] for i in which]
        else:
            inputs = tuple([env[v] for v in old.inputs])
            node = old if inputs == old.inputs else Node(old.op, inputs, old.where)
            outputs = list(node.outputs)
        env.update(zip(old.outputs, outputs, strict=True))
    return Graph.of(graph.inputs, [env[v] for v in graph.outputs], order=env.values())


Covered = dict[Node, tuple[Node, tuple[int, ...]]]


def _covered(loops: list[Node]) -> Covered:
    """Loop -> a later one that covers it, and which outputs of that are its own."""
    found: Covered = {}
    for i, longer in enumerate(loops):
        for loop in loops[:i]:
            if loop in found or longer in found or type(loop.op) is not type(longer.op):
                continue
            which = longer.op.covers(longer.inputs, loop.op, loop.inputs)
            more = [v.node for v in longer.inputs if v not in loop.inputs]
            if which is not None and all(made and not made.inputs for made in more):
                found[loop] = longer, which
    return found


def _moved(graph: Graph, found: Covered) -> list[Node]:
    """The nodes in an order in which each longer loop stands before the first that it covers."""
    nodes: dict[Node, None] = {}
    for node in graph.nodes:
        if node in found:
            longer = found[node][0]
            constants = [v.node for v in longer.inputs if v.node and not v.node.inputs]
            nodes.update(dict.fromkeys((*constants, longer)))
        nodes[node] = None
    return list(nodes)
