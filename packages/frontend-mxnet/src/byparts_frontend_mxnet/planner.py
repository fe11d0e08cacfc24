"""The planner of programs: the installed one, with less effort, as users wait for many of them."""

from __future__ import annotations

from inspect import signature
from typing import Any

from byparts_graph_ir import Graph
from byparts_runtime.building.discover import find_planner

_SMALL_BYTES = 1 << 24  # all values together
_SMALL, _LARGE = 100_000, 4_000_000  # of the effort of a plan: about 25 ms, a second


def quick_planner(graph: Graph, **given: Any) -> Any:
    """A plan of the graph; a planner that takes an `effort` is given one by the size of the graph.

    An unrolled recurrence has thousands of values, and each bucket a program of its own: at full
    effort three quarters of the time before the first step go into some percent of the arena.
    """
    planner = find_planner("auto")
    if "effort" in signature(planner).parameters:
        total = sum([v.type.size_bytes for v in graph.values])
        given["effort"] = _SMALL if total < _SMALL_BYTES else _LARGE
    return planner(graph, **given)
