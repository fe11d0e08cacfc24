"""Which steps must have run before a step first runs, in any order of a graph.

More than what it reads: what it takes and ignores has to be there, and so has what a view is given
besides the bytes that it looks at.
"""

from __future__ import annotations

from itertools import pairwise

from byparts_graph_ir import Node, has_effect
from byparts_memplan.steps import Steps


def steps_before(steps: Steps) -> list[tuple[int, ...]]:
    """By step, those whose values it takes, through views too; of effects, the one before as well.

    O(inputs of all nodes), views of views of several values aside.
    """
    made: dict[Node, tuple[int, ...]] = {node: (s,) for s, node in enumerate(steps.nodes)}
    found: list[tuple[int, ...]] = [()] * len(steps.nodes)
    for node in steps.graph.nodes:
        taken = tuple(dict.fromkeys([w for v in node.inputs if v.node for w in made[v.node]]))
        if node in made:
            found[made[node][0]] = taken
        else:
            made[node] = taken
    for s, t in pairwise([s for s, node in enumerate(steps.nodes) if has_effect(node.op)]):
        found[t] = (*found[t], s)
    return found
