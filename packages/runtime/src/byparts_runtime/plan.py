"""What the runtime asks of a memory planner, and what it does without one.

A planner is `planner(graph, external=frozenset(...), alignment=64) -> Plan`.  `external` are the
positions of graph inputs whose bytes live outside the arena and must not be written: variables,
constants, a caller's own arrays.  Everything else goes into one arena.  Outputs of the graph keep
their bytes until the last step is done.  Only where a program is built with `commit="exchange"`,
the planner is also given `donate={input position: output position}`: it may place that output in
those bytes, which no node reads, or decline.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Optional, Protocol

from byparts_graph_ir import Graph, GraphError
from byparts_graph_ir.contract import checked
from byparts_graph_ir.lazy_dataclass import dataclass


class Location(Protocol):
    """Where the bytes of a value are."""

    @property
    def root(self) -> Optional[int]:
        """`None` for the arena, else the position of the external input whose bytes they are."""

    @property
    def offset(self) -> int:
        """In bytes, from the start of the arena or of that input."""


class Plan(Protocol):
    """Where every value is: `locations[i]` is that of `graph.values[i]`."""

    @property
    def locations(self) -> Sequence[Location]:
        """One for each value."""

    @property
    def arena_bytes(self) -> int:
        """Size of the arena."""


Planner = Callable[..., Plan]  # (graph, *, external, alignment, [donate])


@dataclass(frozen=True)
class Place:
    """A location."""

    root: Optional[int]
    offset: int


@dataclass(frozen=True)
class Separate:
    """A plan in which no two values share a byte."""

    locations: tuple[Place, ...]
    arena_bytes: int


@checked
def separate(
    graph: Graph,
    *,
    external: frozenset[int] = frozenset(),
    alignment: int = 64,
    donate: Optional[Mapping[int, int]] = None,
) -> Separate:
    """Each value after the other: what runs without a planner.  Donations are declined."""
    places, top = [], 0
    for i, value in enumerate(graph.values):
        if i in external:
            places.append(Place(i, 0))
            continue
        places.append(Place(None, top))
        top += -(-value.type.size_bytes // alignment) * alignment
    return Separate(tuple(places), top)


def check_plan(graph: Graph, plan: Plan, external: frozenset[int]) -> None:
    """Refuse a plan that would make the runtime touch bytes that are not its own.

    Whether values alive together overlap is the planner's to check (memplan has an oracle for it).

    Raises:
        GraphError: a location is missing, leaves its memory, or writes what is external.
    """
    if not (hasattr(plan, "locations") and hasattr(plan, "arena_bytes")):
        hint = "; does the planner lack a `return`?" if plan is None else ""
        raise GraphError(f"plan: {plan!r:.60} has no `locations` and no `arena_bytes`{hint}")
    if len(plan.locations) != len(graph.values):
        raise GraphError(f"plan: {len(plan.locations)} locations for {len(graph.values)} values")
    for i, (value, place) in enumerate(zip(graph.values, plan.locations, strict=True)):
        if place.root is not None and place.root not in external:
            raise GraphError(f"plan: value {i} is in input {place.root}, which is not external")
        if i in external and (place.root, place.offset) != (i, 0):
            raise GraphError(f"plan: external input {i} is placed at {place.root}+{place.offset}")
        room = plan.arena_bytes if place.root is None else graph.inputs[place.root].type.size_bytes
        if place.offset < 0 or place.offset + value.type.size_bytes > room:
            end = place.offset + value.type.size_bytes
            raise GraphError(f"plan: value {i} has bytes [{place.offset}, {end}) of only {room}")
