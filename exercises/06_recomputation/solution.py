"""Exercise 6, solved: stretches of sqrt(n) layers, each computed again behind a barrier."""

from math import isqrt

from byparts_graph_ir import Node, OptimizationBarrier, producers


def checkpoint(graph, layers):
    forward = set(producers([layers[-1]]))
    kept = {*layers[:: isqrt(len(layers))], layers[-1]}
    done = {}

    def again(v, dy):
        if v.node not in forward:
            return v  # an input
        if v in kept and v not in done:
            done[v] = OptimizationBarrier()(v, dy)
        if v not in done:
            new = Node(v.node.op, tuple(again(x, dy) for x in v.node.inputs))
            done.update(zip(v.node.outputs, new.outputs, strict=True))
        return done[v]

    def rule(node):
        dys = [v for v in node.inputs if v.node and v.node not in forward]
        if node in forward or not dys:
            return None
        inputs = [v if v in kept else again(v, dys[0]) for v in node.inputs]
        return Node(node.op, tuple(inputs)).outputs

    return graph.rewrite(rule)
