"""Replaces ops that a backend lacks by simpler ops, as `Op.decompose` says.

Repeated until nothing changes, because a decomposition may use ops that must be decomposed too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Optional

from byparts_graph_ir import Fused, Graph, GraphError, MissingRule, Node, Value, add_note
from byparts_graph_ir.contract import checked
from byparts_optimize.inside import inside
from byparts_optimize.merge import merge_rule

Supports = Callable[[Node], bool]

_MAX_LEVELS = 20  # no op decomposes so often; stops an op that decomposes into itself


@checked
def legalize(graph: Graph, supports: Supports) -> Graph:
    """Return the program with nodes for which `supports(node)` is true.

    Preserves values to float rounding, effects and their order.  Idempotent.  O(nodes) for each
    level of decomposition.  Equal constants become one.  Enters bodies, but not regions (`Fused`):
    the backend that compiles a region has chosen its nodes.

    Raises:
        MissingRule: an op is not supported and has no decomposition.
        GraphError: an op decomposes into itself.
    """
    for _ in range(_MAX_LEVELS):
        replaced: list[str] = []
        once = merge_rule()  # of constants, so that a backend sees which terms are equal

        def rule(node: Node) -> Optional[tuple[Value, ...]]:
            if not isinstance(node.op, Fused):
                node = inside(node, lambda g: legalize(g, supports))
            if supports(node):
                return node.outputs if node.inputs else once(node)  # noqa: B023
            replaced.append(node.op.name)  # noqa: B023  (called in this round of the loop only)
            return _decomposed(node)

        graph = graph.rewrite(rule)
        if not replaced:
            return graph
    raise GraphError(f"legalize: {replaced[0]} is still there after {_MAX_LEVELS} decompositions")


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
