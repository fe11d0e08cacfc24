"""A planner that takes an earlier plan for a graph that needs no more bytes anywhere.

The graphs of a family have the same nodes in the same order; in a smaller one each value and each
workspace fits where that of a larger one is.  So a plan of a larger size serves a smaller one, and
takes no more memory than the larger program did.  To place 80 values anew takes 2 ms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from byparts_graph_ir import Graph
from byparts_runtime.memory.plan import Plan, Planner

MOST_UNUSED = 2  # the values of a plan may be so many times as large as those that it is taken for
MOST_KEPT = 16  # plans of one order of nodes, by size

Key = tuple[Any, ...]


class KnownPlans:
    """A planner for graphs that differ in sizes alone.

    Args:
        planner: makes the plans that are not known yet.

    Attributes:
        reused: whether the last answer was an earlier plan.
    """

    def __init__(self, planner: Planner) -> None:
        self.planner, self.reused = planner, False
        self._plans: dict[Key, list[tuple[tuple[int, ...], Plan]]] = {}  # sizes in bytes, and plan

    def __call__(self, graph: Graph, **facts: Any) -> Plan:
        """The plan of an earlier size that was as large, or a new one."""
        key, sizes = _key(graph, facts), _sizes(graph, facts["kernels"])
        plans = self._plans.setdefault(key, [])
        known = next((plan for room, plan in plans if _fits(sizes, room)), None)
        self.reused = known is not None
        if known is not None:
            return known
        plan = self.planner(graph, **facts)
        # a smaller plan would be for a part of the sizes that this one is for
        plans[:] = [(sizes, plan), *[p for p in plans if not _fits(p[0], sizes)]][:MOST_KEPT]
        return plan

    def forget(self) -> None:
        """Make the next plans anew."""
        self._plans.clear()


def _sizes(graph: Graph, kernels: Callable[..., Any]) -> tuple[int, ...]:
    values = [v.type.size_bytes for v in graph.values]
    return (*values, *[kernels(node).workspace_bytes for node in graph.nodes])


def _fits(sizes: tuple[int, ...], room: tuple[int, ...]) -> bool:
    """Whether nothing is larger than its room, and the room not much larger than all together."""
    if sum(room) > MOST_UNUSED * sum(sizes):
        return False
    return all([size <= most for size, most in zip(sizes, room, strict=True)])


def _key(graph: Graph, facts: dict[str, Any]) -> Key:
    """Key of a plan beside sizes; the order of the nodes by the ids of what they read."""
    ids, inplace = graph.ids, [facts["kernels"](node).inplace for node in graph.nodes]
    reads = tuple([ids[v] for node in graph.nodes for v in node.inputs])
    outputs = tuple([ids[v] for v in graph.outputs])
    donate = tuple(sorted(facts["donate"].items()))
    return reads, outputs, donate, facts["external"], facts["alignment"], tuple(inplace)
