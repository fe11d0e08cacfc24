"""Steps: bound nodes, each a callable of no arguments; and the nodes that need none.

A node whose outputs already *are* bytes of its inputs (the op says so, the plan placed them so)
needs no step.
"""

from __future__ import annotations

from collections.abc import Sequence

from byparts_graph_ir import Graph, Node, has_effect
from byparts_graph_ir.backend.kernel import Run
from byparts_graph_ir.model.frozen import Frozen
from byparts_runtime.memory.plan import Location


class Step(Frozen):
    """A bound node.

    Attributes:
        backend: the name of the backend that compiled the kernel of the node.
        run: runs the kernel on the bytes to which it is bound.
    """

    node: Node
    backend: str
    run: Run


def run_all(runs: Sequence[Run]) -> None:
    """Call some runs, one after the other."""
    for run in runs:
        run()


def aliased_nodes(graph: Graph, locations: Sequence[Location]) -> frozenset[Node]:
    """Nodes all of whose outputs the plan placed on the input bytes they equal."""
    return frozenset(n for n in graph.nodes if n.outputs and _is_alias(n, graph, locations))


def _is_alias(node: Node, graph: Graph, locations: Sequence[Location]) -> bool:
    if has_effect(node.op):
        return False
    same = set()
    for i, o, shift in node.op.views(*[v.type for v in node.inputs]):
        source = locations[graph.ids[node.inputs[i]]]
        target = locations[graph.ids[node.outputs[o]]]
        if source.root == target.root and source.offset + shift == target.offset:
            same.add(o)
    return len(same) == len(node.outputs)
