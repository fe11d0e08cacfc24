"""Takes out of a program what depends on nothing, so that it is computed once and not at each run.

Graphs are pure: a node without inputs gives the same at every run.  Its outputs become inputs of
the program, behind those it has, in memory of their own.
"""

from __future__ import annotations

from byparts_graph_ir import Graph, Input, Node, Value, has_effect


def hoist(graph: Graph) -> tuple[Graph, tuple[Node, ...]]:
    """The program without its constant nodes, whose outputs are now inputs; and those nodes.

    Needs nothing; preserves meaning and order.  O(nodes).
    """
    constants = tuple(n for n in graph.nodes if not n.inputs and not has_effect(n.op))
    if not constants:
        return graph, ()
    env: dict[Value, Value] = {v: v for v in graph.inputs}
    for node in constants:
        for v in node.outputs:
            env[v] = Input(v.type, None, node.op.name, node.where)
    inputs = (*graph.inputs, *(env[v] for n in constants for v in n.outputs))
    kept = set(constants)
    for old in graph.nodes:
        if old in kept:
            continue
        given = tuple([env[v] for v in old.inputs])
        node = old if given == old.inputs else Node(old.op, given, old.where)
        env.update(zip(old.outputs, node.outputs, strict=True))
    return Graph.of(inputs, [env[v] for v in graph.outputs], order=env.values()), constants
