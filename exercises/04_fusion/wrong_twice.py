"""Each node makes a region with all that it reads.

Says: is in 2 regions
"""


def regions(graph, wants):
    return [
        [*{v.node: None for v in node.inputs if v.node and wants(v.node)}, node]
        for node in graph.nodes
        if wants(node)
    ]
