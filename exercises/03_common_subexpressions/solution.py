"""Exercise 3, solved: a dict from op and inputs to the first outputs."""

from byparts_graph_ir import has_effect


def merge(graph):
    seen = {}

    def rule(node):
        if has_effect(node.op):
            return None
        return seen.setdefault((node.op, node.inputs), node.outputs)

    return graph.rewrite(rule)
