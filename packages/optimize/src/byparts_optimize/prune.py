"""Removes unread outputs of calls, branches and loops, and their computation in the bodies.

`Graph.of` drops a node whose outputs nobody reads; of a node with several outputs, of which some
are read, only the op knows what the others cost (`Op.narrow`): rows that a loop stacks, a sum that
it carries from round to round.  Gradients of loops give such outputs, one for each input.
"""

from __future__ import annotations

from byparts_graph_ir import Graph, Node, Op, Value, has_effect, subgraphs
from byparts_graph_ir.contract import checked
from byparts_optimize.inside import inside

Narrow = tuple[Op, tuple[int, ...], tuple[int, ...]]


@checked
def prune(graph: Graph) -> Graph:
    """Return the program without outputs of calls, branches and loops that no node reads.

    Preserves values to the bit, effects and their order.  Idempotent.  O(nodes) a
    round, of which there are two or three; enters bodies.
    """
    if not any(subgraphs(node.op) for node in graph.nodes):
        return graph
    while (less := _pruned(graph)) != graph:  # a smaller body may read less of what it is given
        graph = less
    return less


def _pruned(graph: Graph) -> Graph:
    """The program without unread outputs, and without what is unread in bodies as they were."""
    narrow = _narrowed(graph)
    env: dict[Value, Value] = {v: v for v in graph.inputs}
    order: list[Value] = []
    for old in graph.nodes:
        if old not in narrow:
            continue
        op, taken, given = narrow[old]
        inputs = tuple([env[old.inputs[i]] for i in taken])
        same = op is old.op and inputs == old.inputs
        node = inside(old if same else Node(op, inputs, old.where), prune)
        env.update(zip([old.outputs[i] for i in given], node.outputs, strict=True))
        order.extend(node.outputs)
    return Graph.of(graph.inputs, [env[v] for v in graph.outputs], order=order)


def _narrowed(graph: Graph) -> dict[Node, Narrow]:
    """For each node that is read: its op with fewer outputs, the inputs and outputs it keeps."""
    read = set(graph.outputs)
    narrow: dict[Node, Narrow] = {}
    for node in reversed(graph.nodes):
        wanted = tuple([i for i, v in enumerate(node.outputs) if v in read])
        if not (wanted or has_effect(node.op)):
            continue
        every = node.op, tuple(range(len(node.inputs))), tuple(range(len(node.outputs)))
        less = node.op.narrow(wanted) if subgraphs(node.op) else None
        if less is not None and (len(less[1]), len(less[2])) == (len(every[1]), len(every[2])):
            less = None  # nothing is removed
        narrow[node] = less or every
        read.update(node.inputs[i] for i in narrow[node][1])
    return narrow
