"""What the runtime asks of a memory planner, and what it does without one.

A planner is `planner(graph, external=frozenset(...), alignment=64, donate={...}, kernels=...)` and
returns a `Plan`.  `external` are the positions of graph inputs whose bytes live outside the arena
and must not be written: variables, constants, a caller's own arrays.  Everything else goes into one
arena.  Outputs of the graph keep their bytes until the last step is done.  `donate` maps positions
of external inputs to positions of outputs that may be written over them: the planner may do so, or
decline.  `kernels(node)` has the facts of a node's kernel: `workspace_bytes`, for which the plan
has room in `workspaces` while the node runs, and `inplace`, pairs (input, output) that may be the
same bytes.  Only where a program is in several spaces, `space(value)` names that of a value: each
has an arena of its own (`Plan.arenas`, by name), and locations say in which they are (`space`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Optional, Protocol

from byparts_graph_ir import Graph, GraphError, Node, Value
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

    @property
    def space(self) -> str:
        """Whose arena it is, where there are several."""


class Plan(Protocol):
    """Where every value is: `locations[i]` is that of `graph.values[i]`."""

    @property
    def locations(self) -> Sequence[Location]:
        """One for each value."""

    @property
    def arena_bytes(self) -> int:
        """Size of the arena."""

    @property
    def workspaces(self) -> Sequence[int]:
        """For each node the offset of its workspace in the arena; 0 where it has none."""


Planner = Callable[..., Plan]  # (graph, *, external, alignment, donate, kernels)


@dataclass(frozen=True)
class Bytes:
    """Where something stands: `offset` into `memory`."""

    memory: Any
    offset: int


@dataclass(frozen=True)
class Place:
    """A location."""

    root: Optional[int]
    offset: int
    space: str = ""


@dataclass(frozen=True)
class Separate:
    """A plan in which no two values share a byte."""

    locations: tuple[Place, ...]
    arena_bytes: int
    workspaces: tuple[int, ...] = ()
    arenas: Mapping[str, int] = MappingProxyType({})


@checked
def separate(
    graph: Graph,
    *,
    external: frozenset[int] = frozenset(),
    alignment: int = 64,
    donate: Optional[Mapping[int, int]] = None,
    kernels: Optional[Callable[[Node], Any]] = None,
    space: Callable[[Value], str] = lambda value: "",
) -> Separate:
    """Each value after the other, then one workspace for all nodes: what runs without a planner.

    Donations are declined.
    """
    places, tops = [], dict[str, int]()
    for i, value in enumerate(graph.values):
        name = space(value)
        top = tops.get(name, 0)
        if i in external:
            places.append(Place(i, 0, name))
            continue
        places.append(Place(None, top, name))
        tops[name] = top + padded(value.type.size_bytes, alignment)
    needed = [workspace_bytes(kernels, node) for node in graph.nodes]
    names = [space_of_step(node, space) for node in graph.nodes]
    most: dict[str, int] = {}
    for name, size in zip(names, needed, strict=True):
        most[name] = max(most.get(name, 0), padded(size, alignment))
    starts = [tops.get(n, 0) if s else 0 for n, s in zip(names, needed, strict=True)]
    arenas = {name: tops.get(name, 0) + most.get(name, 0) for name in {**tops, **most}}
    return Separate(tuple(places), sum(arenas.values()), tuple(starts), arenas)


def space_of_step(node: Node, space: Callable[[Value], str]) -> str:
    """Where the workspace of a node is: in the space of its first output, or else input."""
    touched = (*node.outputs, *node.inputs)
    return space(touched[0]) if touched else ""


def padded(size_bytes: int, alignment: int) -> int:
    """The next multiple of the alignment."""
    return -(-size_bytes // alignment) * alignment


def workspace_bytes(kernels: Optional[Callable[[Node], Any]], node: Node) -> int:
    """What the kernel of a node asks for."""
    size: int = 0 if kernels is None else kernels(node).workspace_bytes
    return size


class WithWorkspace:
    """A plan of a planner that knows of no workspaces, with one for all nodes behind its arena."""

    def __init__(self, plan: Plan, sizes: Sequence[int], alignment: int) -> None:
        top = -(-plan.arena_bytes // alignment) * alignment
        self.plan, self.locations = plan, plan.locations
        self.workspaces = tuple([top if size else 0 for size in sizes])
        self.arena_bytes = top + -(-max(sizes) // alignment) * alignment

    def __getattr__(self, name: str) -> Any:
        return getattr(self.plan, name)


def check_plan(
    graph: Graph,
    plan: Plan,
    external: frozenset[int],
    kernels: Optional[Callable[[Node], Any]] = None,
    space: Optional[Callable[[Value], str]] = None,
) -> None:
    """Refuse a plan that would make the runtime touch bytes that are not its own.

    Whether values alive together overlap is the planner's to check (memplan has an oracle for it).

    Raises:
        GraphError: a location or a workspace is missing, leaves its memory, or writes what is
            external.
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
        if space is not None and getattr(place, "space", None) != space(value):
            where = getattr(place, "space", "no space")
            raise GraphError(f"plan: value {i} is in {space(value)}, and placed in {where}")
        room = arena_bytes(plan, None if space is None else space(value))
        room = room if place.root is None else graph.inputs[place.root].type.size_bytes
        if place.offset < 0 or place.offset + value.type.size_bytes > room:
            end = place.offset + value.type.size_bytes
            raise GraphError(f"plan: value {i} has bytes [{place.offset}, {end}) of only {room}")
    _check_workspaces(graph, plan, kernels, space)


def arena_bytes(plan: Any, space: Optional[str] = None) -> int:
    """The size of the arena, or of that of a space."""
    size: int = plan.arena_bytes if space is None else plan.arenas.get(space, 0)
    return size


def _check_workspaces(
    graph: Graph,
    plan: Plan,
    kernels: Optional[Callable[[Node], Any]],
    space: Optional[Callable[[Value], str]],
) -> None:
    needed = [workspace_bytes(kernels, node) for node in graph.nodes]
    if not any(needed):
        return
    starts = getattr(plan, "workspaces", ())
    if len(starts) != len(needed):
        raise GraphError(
            f"plan: {len(starts)} workspaces for {len(needed)} nodes, of which "
            f"{sum(map(bool, needed))} need one; the planner must take `kernels` into account"
        )
    for i, (size, start) in enumerate(zip(needed, starts, strict=True)):
        name = None if space is None else space_of_step(graph.nodes[i], space)
        room = arena_bytes(plan, name)
        if size and not 0 <= start <= room - size:
            raise GraphError(
                f"plan: the workspace of node {i} ({graph.nodes[i].op.name}) has bytes "
                f"[{start}, {start + size}) of an arena of {room}"
            )
