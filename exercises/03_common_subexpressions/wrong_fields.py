"""The kind of an op is compared, and not its fields.

Says: sums over another axis
"""

from byparts_graph_ir import has_effect


def merge(graph):
    seen = {}

    def rule(node):
        if not has_effect(node.op):
            return seen.setdefault((type(node.op), node.inputs), node.outputs)

    return graph.rewrite(rule)
