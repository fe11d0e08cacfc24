"""A node is joined with its reader only if it has just one.

Says: could be one kernel
"""


def regions(graph, wants):
    readers = {}
    for node in graph.nodes:
        for v in node.inputs:
            readers.setdefault(v.node, set()).add(node)
    home = {}
    for node in filter(wants, graph.nodes):
        home[node] = [node]
        for v in node.inputs:
            if v.node in home and len(readers[v.node]) == 1 and home[v.node] is not home[node]:
                joint = home[v.node] + home[node]
                home.update(dict.fromkeys(joint, joint))
    return list({id(nodes): nodes for nodes in home.values()}.values())
