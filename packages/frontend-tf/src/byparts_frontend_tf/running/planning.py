"""The planner of a session's programs: the installed one, with less effort.

A session builds a program for each new shape and set of fetches while the user waits, so planning
is worth a fraction of a second and not more; small arenas are worth almost nothing.
"""

from __future__ import annotations

from inspect import signature
from typing import Any

from byparts_graph_ir import Graph
from byparts_runtime.building.discover import find_planner
from byparts_runtime.memory.plan import Planner

_SMALL_BYTES = 1 << 24  # all values together
_SMALL, _LARGE = 100_000, 4_000_000  # of the effort of `plan`: about 25 ms, a second


def quick_planner() -> Planner:
    """The installed planner; one that takes an `effort` is given one by the size of the graph."""
    planner = find_planner("auto")
    if "effort" not in signature(planner).parameters:
        return planner

    def plan(graph: Graph, **given: Any) -> Any:
        total = sum([v.type.size_bytes for v in graph.values])
        effort = _SMALL if total < _SMALL_BYTES else _LARGE
        return planner(graph, effort=effort, **given)

    return plan
