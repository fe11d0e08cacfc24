"""Backends and planner of programs: those of host memory, and a planner of less effort."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from inspect import signature
from typing import Any

from byparts_graph_ir import Backend, Graph
from byparts_graph_ir.errors import PartError
from byparts_graph_ir.parts.hub import parts
from byparts_runtime.building.discover import find_backends, find_planner

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


def usual_backends() -> Any:
    """Backends that programs get unless options say others: "auto", where that is host memory.

    Arrays of MXNet's programs are in host memory, whatever device they are labelled with; where
    the best backend computes on a GPU, programs take those of the host.
    """
    (best, *_) = find_backends("auto")
    return "auto" if best.space.name == "host" else _host_backends()


@cache
def _host_backends() -> tuple[Backend, ...]:
    """The backends of host memory that start, best first."""
    records = [r for _, r in parts.records("backends") if getattr(r, "space", "") == "host"]
    started: list[Backend] = []
    for record in sorted(records, key=lambda r: -getattr(r, "priority", 0)):
        with suppress(PartError):  # it needs what is not here, as a compiler
            started += find_backends((record.name,))
    return tuple(started)
