"""Whatever is connected is joined, also around a node that is not wanted.

Says: leaves the region by matmul
"""


def regions(graph, wants):
    home = {}
    for node in filter(wants, graph.nodes):
        home[node] = [node]
        for v in node.inputs:
            if v.node in home and home[v.node] is not home[node]:
                joint = home[v.node] + home[node]
                home.update(dict.fromkeys(joint, joint))
    return list({id(nodes): nodes for nodes in home.values()}.values())
