"""Replaces what a backend lacks by what it has, as each op itself says how (`Op.decompose`).

To a fixpoint, because a decomposition may use an op that has to be decomposed in turn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Optional

from byparts_graph_ir import Fused, Graph, GraphError, MissingRule, Node, Value, add_note
from byparts_graph_ir.contract import checked
from byparts_optimize.inside import inside

Supports = Callable[[Node], bool]

_MOST_LEVELS = 20  # deeper than any op is composed; an op that decomposes into itself ends here


@checked
def legalize(graph: Graph, supports: Supports) -> Graph:
    """The same program in nodes for which `supports(node)` holds.

    Needs nothing; preserves values to float rounding, effects and their order; gives "legal".
    Idempotent.  O(nodes) for each level of composition; enters bodies, but not regions (`Fused`):
    whoever compiles a region asked for its nodes.

    Raises:
        MissingRule: an op that is not supported and is made of nothing simpler.
        GraphError: an op that decomposes into itself.
    """
    for _ in range(_MOST_LEVELS):
        replaced: list[str] = []

        def rule(node: Node) -> Optional[tuple[Value, ...]]:
            if not isinstance(node.op, Fused):
                node = inside(node, lambda g: legalize(g, supports))
            if supports(node):
                return node.outputs
            replaced.append(node.op.name)  # noqa: B023  (read in this turn of the loop alone)
            return _decomposed(node)

        graph = graph.rewrite(rule)
        if not replaced:
            return graph
    raise GraphError(f"legalize: {replaced[0]} is still there after {_MOST_LEVELS} decompositions")


def _decomposed(node: Node) -> tuple[Value, ...]:
    outputs = node.op.decompose(*node.inputs)
    if outputs is not None:
        return outputs
    types = ", ".join(str(v.type) for v in node.inputs)
    name = type(node.op).__name__
    error = MissingRule(
        f"no kernel for {name} on ({types}), and it does not decompose; "
        f"add one with @kernels.on({name})"
    )
    raise add_note(error, f"created at {node.where}") if node.where else error
