"""A graph's memory plan: where every value lies, as plain numbers.

The graph's order is the schedule.  First values are made to share buffers (`share.py`), then the
buffers get offsets in one arena (`place.py`), workspaces of kernels among them.  Inputs named in
`external` live outside the arena, and so do all values that lie in their bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from byparts_graph_ir import Graph, Value
from byparts_graph_ir.model.frozen import Frozen
from byparts_memplan.buffer import Buffer, PlanError, is_integer
from byparts_memplan.lifetimes import (
    Decision,
    Values,
    describe,
    describe_workspace,
    padded,
    positions,
)
from byparts_memplan.place import place
from byparts_memplan.placed import Placement
from byparts_memplan.share import Sharing
from byparts_memplan.tuning import (
    MANY_BUFFERS,
    NEAR,
    NEAR_OF_MANY,
    ORDER_EFFORT,
    PLAN_EFFORT,
    PLAN_FIRST_EFFORT,
    PLAN_LAST_EFFORT,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_memplan.kernel_facts import Kernels


class Location(Frozen):
    """The place of a value: `offset` bytes into the arena (`root` is `None`) or input `root`.

    `space` is the memory whose arena it is; all is in one, "", unless the planner was told.
    """

    root: int | None
    offset: int
    space: str = ""


class Plan(Frozen):
    """Memory for one run of a graph.

    Attributes:
        locations: by value id (`graph.ids`).
        placement: the arena.  Step `i` is node `i`; one step more is the caller reading outputs.
            Sizes are padded to the alignment, so no two buffers share a cache line.
        residents: for each buffer, the ids of the values that live in it; none in a workspace.
        labels: for each buffer, what to call it.
        external: positions of the inputs that live outside the arena.
        donated: (input, output) positions: that output is written over that external input.
        decisions: every chance to share bytes, in order of steps within each kind.
        naive_bytes: with no sharing at all: every value but the external inputs (views and in-place
            results too) and every workspace in padded bytes of its own.
        alignment: of every buffer.
        workspaces: for each node, where the workspace of its kernel begins in the arena; 0 where it
            needs none.  The arena is that of the space of the node's first output.
    """

    locations: tuple[Location, ...]
    placement: Placement
    residents: tuple[tuple[int, ...], ...]
    labels: tuple[str, ...]
    external: tuple[int, ...]
    donated: tuple[tuple[int, int], ...]
    decisions: tuple[Decision, ...]
    naive_bytes: int
    alignment: int
    workspaces: tuple[int, ...]

    @property
    def workspace_bytes(self) -> dict[int, int]:
        """The padded bytes of the workspace of each step that has one."""
        homes = zip(self.placement.buffers, self.residents, strict=True)
        return {b.born: b.size_bytes for b, ids in homes if not ids}

    @property
    def arena_bytes(self) -> int:
        """The bytes to allocate, aligned to `alignment`; of several spaces, together."""
        return self.placement.arena_bytes

    @property
    def arenas(self) -> dict[str, int]:
        """The bytes to allocate in each space."""
        return self.placement.arenas

    @property
    def lower_bound_bytes(self) -> int:
        """No arena for these buffers can be smaller."""
        return self.placement.lower_bound_bytes

    def report(self, graph: Graph | None = None, *, width: int | None = None) -> str:
        """A report on what was planned, saved and refused, for people; more of it with the graph.

        No line is longer than `width`, by default the terminal's, and 100 at most.
        """
        from byparts_memplan.report import report  # only for who reads it

        return report(self, graph, width=width)

    def draw(self, width: int = 72, height: int = 16, *, colour: bool = False) -> str:
        """The arena as text, steps across and bytes up, with a legend."""
        from byparts_memplan.pictures.draw import draw  # draw.py needs placements first

        return draw(self.placement, width=width, height=height, labels=self.labels, colour=colour)

    def svg(self) -> str:
        """The arena as a picture, a tooltip on each buffer, a colour for each line of yours."""
        return self.placement.svg(self.labels)

    def _repr_svg_(self) -> str:
        """The picture, for notebooks."""
        return self.svg()


def plan(
    graph: Graph,
    *,
    external: Collection[int] = frozenset(),
    alignment: int = 64,
    donate: Mapping[int, int] | None = None,
    space: Callable[[Value], str] | None = None,
    kernels: Kernels | None = None,
    effort: float | None = None,
) -> Plan:
    """Memory for every value of a graph with static types, and for the workspace of every kernel.

    Inputs in `external` (positions) live elsewhere and are never written, unless `donate` maps them
    to the position of an output that may be written over them once the old value is dead.  Two
    external inputs must not overlap in memory.  All other inputs are copied into the arena before
    step 0 of each run, and may be overwritten.  A constant is a value like any other; a runtime
    that keeps constants between runs makes them external inputs.

    `space` names the memory that a value is in, where there are several: each has an arena of its
    own, and nothing is shared between two of them.

    `kernels(node)` gives an object with `workspace_bytes` and `inplace`, such as what a backend
    compiles.  A workspace is a buffer that is alive in its step alone; `inplace` are the pairs
    (input, output) that may be the same bytes.  Without `kernels` there are no workspaces, and ops
    say what is in place.

    `effort` bounds the work of placing, as that of `place`; by default it is more for what is far
    from its lower bound.

    O((values + reads) log values), and some seconds of `place` at most.

    Raises:
        PlanError: a type is not static; a position or a view does not exist, or is none; the
            alignment is no integer of 1 or more; what `kernels` gives lacks a fact.
    """
    if not is_integer(alignment) or alignment < 1:
        raise PlanError(f"alignment must be at least 1, a whole number, not {alignment!r:.60}")
    external = positions(graph, external)
    if not (donate is None or isinstance(donate, Mapping)):
        raise PlanError(f"donate is {donate!r:.60}; expected input -> output, such as {{0: 1}}")
    if not (space is None or callable(space)):
        raise PlanError(f"space is {space!r:.60}; expected a function from a Value to a name")
    values = Values(graph, space, kernels)
    sharing, placement = _placed(values, sorted(external), donate or {}, alignment, effort)
    residents = _residents(sharing)
    return Plan(
        locations=_locations(sharing, placement.offsets),
        placement=placement,
        residents=residents,
        labels=labels_of(values, residents),
        external=tuple(sorted(external)),
        donated=tuple(sorted(sharing.donated.items())),
        decisions=tuple(sharing.decisions),
        naive_bytes=sum(
            [padded(s, alignment) for v, s in enumerate(values.size) if v not in external]
            + [padded(s, alignment) for s in values.workspace]
        ),
        alignment=alignment,
        workspaces=_workspaces(values, placement.offsets[len(sharing.size) :]),
    )


def labels_of(values: Values, residents: Sequence[Sequence[int]]) -> tuple[str, ...]:
    """Labels of buffers: the first value of each, or a workspace where it has none.

    Workspaces are in order of steps.
    """
    scratch = iter(
        [describe_workspace(values, s) for s, size in enumerate(values.workspace) if size]
    )
    named = values.graph.values
    return tuple(
        [f"%{ids[0]} {describe(named[ids[0]])}" if ids else next(scratch) for ids in residents]
    )


def _placed(
    values: Values,
    external: Sequence[int],
    donate: Mapping[int, int],
    alignment: int,
    most: float | None = None,
) -> tuple[Sharing, Placement]:
    """Share all that may be shared; share less where the arena is not near its lower bound.

    Of many buffers, both ways get little effort before the first gets more.
    """
    sharing = Sharing(values, external, donate)
    buffers = _buffers(sharing, alignment)
    many = len(buffers) > MANY_BUFFERS
    near = NEAR_OF_MANY if many else NEAR
    usual = PLAN_FIRST_EFFORT if many else PLAN_EFFORT
    effort: float = usual if most is None else most
    tried = [(sharing, place(buffers, effort=effort))]

    def is_near() -> bool:
        placement = tried[-1][1]
        return placement.arena_bytes <= (1 + near) * placement.lower_bound_bytes

    in_place = any(d.taken and d.kind == "in place" for d in sharing.decisions)
    if not is_near() and in_place and len(tried[0][1].arenas) == 1:
        spare = _spare(tried[0][1], len(values.graph.nodes))
        less = Sharing(values, external, donate, spare)
        tried.append((less, place(_buffers(less, alignment), effort=effort)))
    if many and most is None and not is_near():
        effort = max(PLAN_LAST_EFFORT, ORDER_EFFORT * len(buffers))
        tried.append((sharing, place(buffers, effort=effort)))
    return min(tried, key=lambda pair: pair[1].arena_bytes)


def _spare(placement: Placement, steps: int) -> list[int]:
    """Bytes that could be alive at each step without more than the lower bound being so."""
    change = [0] * (steps + 2)
    for b in placement.buffers:
        change[b.born] += b.size_bytes
        change[b.dies] -= b.size_bytes
    live, bound = 0, placement.lower_bound_bytes
    return [bound - (live := live + c) for c in change]


def _buffers(sharing: Sharing, alignment: int) -> list[Buffer]:
    """The buffers of values, then the workspaces in order of steps."""
    rows = [*zip(sharing.size, sharing.born, sharing.last, sharing.space, strict=True)]
    for step, size in enumerate(sharing.values.workspace):
        if size:
            rows.append((size, step, step, _space_of(sharing.values, step)))
    return [
        Buffer(padded(size, alignment), born, last + 1, alignment, None, (), space)
        for size, born, last, space in rows
    ]


def _space_of(values: Values, step: int) -> str:
    """The space of a step: that of its first output, or else of its first input."""
    written = range(values.first[step], values.first[step] + len(values.graph.nodes[step].outputs))
    touched = [*written, *values.reads[step]]
    return values.space[values.root[touched[0]]] if touched else ""


def _workspaces(values: Values, offsets: Sequence[int]) -> tuple[int, ...]:
    """The offset of each step's workspace; `offsets` are of those that there are."""
    rest = iter(offsets)
    return tuple([next(rest) if size else 0 for size in values.workspace])


def _residents(sharing: Sharing) -> tuple[tuple[int, ...], ...]:
    """The ids of the values in each buffer; none in a workspace."""
    residents: list[list[int]] = [[] for _ in sharing.size]
    for v, root in enumerate(sharing.values.root):
        home = sharing.home[root]
        if home >= 0:
            residents[home].append(v)
    residents += [[] for size in sharing.values.workspace if size]
    return tuple([tuple(ids) for ids in residents])


def _locations(sharing: Sharing, offsets: Sequence[int]) -> tuple[Location, ...]:
    """The location of each value, by id."""
    values, locations = sharing.values, []
    for root, at in zip(values.root, values.at, strict=True):
        home, space = sharing.home[root], values.space[root]
        inside = home >= 0
        offset = offsets[home] + at if inside else at
        locations.append(Location(None if inside else ~home, offset, space))
    return tuple(locations)
