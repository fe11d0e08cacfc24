"""Dependencies: the nodes that must run before a node, in any order of a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Optional

from byparts_graph_ir import Graph, Node, has_effect

Before = tuple[int, ...]


def dependencies(
    graph: Graph, number: Callable[[Node, Before], Optional[int]]
) -> dict[Node, Before]:
    """For each node, the numbers of the nodes that must run before it.

    `number(node, before)` gives the number of a node, or `None` for a node that does not count,
    such as a view: who reads such a node waits for what that node waits for.  Inputs that an op
    ignores must be there too.  An effect also waits for the effect before it.
    O(inputs of all nodes), but for views of views of several values.
    """
    needed: dict[Node, Before] = {}
    behind: dict[Node, Before] = {}  # what the readers of a node wait for
    effect: Optional[int] = None
    for node in graph.nodes:
        makers = [v.node for v in node.inputs if v.node is not None]
        before = tuple(dict.fromkeys([k for maker in makers for k in behind[maker]]))
        k = number(node, before)
        if k is not None and has_effect(node.op):
            if effect is not None and effect not in before:
                before = (*before, effect)
            effect = k
        needed[node] = before
        behind[node] = before if k is None else (k,)
    return needed
