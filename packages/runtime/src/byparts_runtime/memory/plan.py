"""The interface of a memory planner, and the plan that the runtime makes without one.

A planner is `planner(graph, external=frozenset(...), alignment=64, donate={...}, kernels=...)` and
returns a `Plan`.  `external` are the positions of graph inputs whose bytes live outside the arena
and must not be written: variables, constants, a caller's own arrays.  Everything else goes into one
arena.  Outputs of the graph keep their bytes until the last step is done.  `donate` maps positions
of external inputs to positions of outputs that may be written over them: the planner may do so, or
decline.  `kernels(node)` has the facts of a node's kernel: `workspace_bytes`, for which the plan
has room in `workspaces` while the node runs, `inplace`, pairs (input, output) that may be the same
bytes, and `alignment`: views that would begin at no multiple of it are values of their own.  Only
where a program is in several spaces, `space(value)` names that of a value: each has an arena of its
own (`Plan.arenas`, by name), and locations say in which they are (`space`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Optional, Protocol

from byparts_graph_ir import Graph, Node, Value
from byparts_graph_ir.contract import checked
from byparts_graph_ir.model.frozen import Frozen


class Location(Protocol):
    """The place of the bytes of a value."""

    @property
    def root(self) -> Optional[int]:
        """`None` for the arena, else the position of the external input whose bytes they are."""

    @property
    def offset(self) -> int:
        """In bytes, from the start of the arena or of that input."""

    @property
    def space(self) -> str:
        """The name of the space whose arena it is, where there are several."""


class Plan(Protocol):
    """The places of all values: `locations[i]` is that of `graph.values[i]`."""

    @property
    def locations(self) -> Sequence[Location]:
        """The location of each value."""

    @property
    def arena_bytes(self) -> int:
        """Size of the arena."""

    @property
    def workspaces(self) -> Sequence[int]:
        """For each node the offset of its workspace in the arena; 0 where it has none."""


Planner = Callable[..., Plan]  # (graph, *, external, alignment, donate, kernels)


class Bytes(Frozen):
    """An address: `offset` bytes into `memory`, which a space has allocated."""

    memory: Any
    offset: int


NOWHERE = Bytes(None, 0)  # of what has no bytes


def after(place: Bytes, offset: int) -> Bytes:
    """The place so many bytes behind another."""
    return Bytes(place.memory, place.offset + offset)


class SeparateLocation(Frozen):
    """The location of a value in a `Separate` plan."""

    root: Optional[int]
    offset: int
    space: str = ""


class Separate(Frozen):
    """A plan in which no two values share a byte.

    Attributes:
        space_bytes: pairs (space, bytes of its arena).
    """

    locations: tuple[SeparateLocation, ...]
    arena_bytes: int
    workspaces: tuple[int, ...] = ()
    space_bytes: tuple[tuple[str, int], ...] = ()

    @property
    def arenas(self) -> dict[str, int]:
        """The bytes to allocate in each space."""
        return dict(self.space_bytes)

    def report(self, graph: Optional[Graph] = None) -> str:
        """A sentence that says how large the plan is."""
        return f"arena of {self.arena_bytes:,} bytes, no two of {len(self.locations)} values in one"


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
    """A plan without sharing: each value after the other, then one workspace for all nodes.

    The planner where none is installed.  Donations are declined.
    """
    places, tops = [], dict[str, int]()
    for i, value in enumerate(graph.values):
        name = space(value)
        top = tops.get(name, 0)
        if i in external:
            places.append(SeparateLocation(i, 0, name))
            continue
        places.append(SeparateLocation(None, top, name))
        tops[name] = top + padded(value.type.size_bytes, alignment)
    needed = [workspace_bytes(kernels, node) for node in graph.nodes]
    names = [space_of_step(node, space) for node in graph.nodes]
    most: dict[str, int] = {}
    for name, size in zip(names, needed, strict=True):
        most[name] = max(most.get(name, 0), padded(size, alignment))
    starts = [tops.get(n, 0) if s else 0 for n, s in zip(names, needed, strict=True)]
    arenas = {name: tops.get(name, 0) + most.get(name, 0) for name in {**tops, **most}}
    return Separate(tuple(places), sum(arenas.values()), tuple(starts), tuple(arenas.items()))


def space_of_step(node: Node, space: Callable[[Value], str]) -> str:
    """The space of a node's workspace: that of its first output, or else of its first input."""
    touched = (*node.outputs, *node.inputs)
    return space(touched[0]) if touched else ""


def padded(size_bytes: int, alignment: int) -> int:
    """The next multiple of the alignment."""
    return -(-size_bytes // alignment) * alignment


def workspace_bytes(kernels: Optional[Callable[[Node], Any]], node: Node) -> int:
    """The workspace that the kernel of a node needs, in bytes."""
    size: int = 0 if kernels is None else kernels(node).workspace_bytes
    return size


def arena_bytes(plan: Any, space: Optional[str] = None) -> int:
    """The size of the arena of a space; without a space, of the only arena."""
    size: int = plan.arena_bytes if space is None else plan.arenas.get(space, 0)
    return size
