"""Runs a plan on symbolic memory: who wrote each byte last?  Slow and obvious: `plan`'s oracle.

Nothing here looks at lifetimes or buffers.  Memory is a list of pieces, each holding bytes of one
value; a node reads its inputs, which must find exactly their own bytes, overwrites its workspace,
and writes its outputs.  A view writes nothing: its bytes are those of its input.
What the plan says of buffers and bytes is compared with that afterwards (`check_record.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

from byparts_graph_ir import Graph, Node
from byparts_graph_ir.model.frozen import Frozen
from byparts_memplan.buffer import PlanError, check_kind
from byparts_memplan.check import check
from byparts_memplan.check_record import check_positions, check_record
from byparts_memplan.check_workspaces import check_workspaces, space_of, workspace_buffers
from byparts_memplan.kernel_facts import Facts, checked_facts, known_kernels
from byparts_memplan.plan import Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_memplan.kernel_facts import Kernels

Content = tuple[int, int]  # (value that was written, first byte of it); ~step: its workspace
Room = tuple[int | None, str]  # a memory: Location.root, Location.space


def check_plan(graph: Graph, plan: Plan, kernels: Kernels | None = None) -> None:
    """Raise PlanError unless every read of a run finds what it should, and each field is right.

    `kernels` are those that the plan was made with: what they ask for as a workspace, and what they
    do in place.  O(nodes x pieces of memory); the placement is checked on its own.
    """
    check_kind(graph, Graph)
    check_kind(plan, Plan)
    check_positions(graph, plan)
    facts = _facts(graph, kernels)
    sizes = [f.workspace_bytes for f in facts]
    homes = workspace_buffers(graph, plan, sizes)
    machine = _Machine(graph, plan, facts)
    machine.run()
    arenas = plan.arenas if len(plan.arenas) > 1 else plan.arena_bytes
    check(plan.placement.buffers, plan.placement.offsets, arenas)
    check_workspaces(graph, plan, sizes, homes)
    check_record(graph, plan, machine.used, facts)


def _facts(graph: Graph, kernels: Kernels | None) -> list[Facts]:
    """The facts of the kernel of each step; without kernels those of the op, and no workspace."""
    known_kernels(kernels)  # refuses what is no function
    if kernels is None:
        return [Facts(0, node.op.inplace) for node in graph.nodes]
    return [checked_facts(node, kernels(node)) for node in graph.nodes]


class _Piece(Frozen):
    """Bytes `[lower, upper)` of some memory, which hold `content`."""

    lower: int
    upper: int
    content: Content


class _Machine:
    """Symbolic memory, and a run of the plan on it.

    Attributes:
        memory: the pieces of each memory.
        content: by value id, the bytes that a reader of the value must find.
        used: by value id, the first and the last step that touch its bytes.
    """

    def __init__(self, graph: Graph, plan: Plan, facts: Sequence[Facts]) -> None:
        self.graph, self.plan, self.ids, self.facts = graph, plan, graph.ids, facts
        spaces = plan.arenas
        self.arenas = spaces if len(spaces) > 1 else {next(iter(spaces), ""): plan.arena_bytes}
        self.memory: dict[Room, list[_Piece]] = {}
        self.content: dict[int, Content] = {}  # by value id
        self.step = 0
        self.used: dict[int, tuple[int, int]] = {}  # by value id, the first and the last step

    def run(self) -> None:
        for k in range(len(self.graph.inputs)):
            self._write(k, "before step 0")
        for k in range(len(self.graph.inputs)):
            self._read(k, "before step 0")
        for step, node in enumerate(self.graph.nodes):
            self.step = step
            self._step(node, f"step {step} ({node.op.name})")
        self.step = len(self.graph.nodes)
        for v in self.graph.outputs:
            self._read(self.ids[v], "the caller, after the last step,")
        self._check_external()

    def _step(self, node: Node, who: str) -> None:
        for p, v in enumerate(node.inputs):
            if p not in node.op.ignores:
                self._read(self.ids[v], who)
        if self.facts[self.step].workspace_bytes:
            self._use_workspace(node, who)
        views = self._views(node)
        for o, v in enumerate(node.outputs):
            if o in views:
                self.content[self.ids[v]] = views[o]
            else:
                self._check_overwrite(node, o, who)
                self._write(self.ids[v], who)
        for o, v in enumerate(node.outputs):
            if o not in views:
                self._read(self.ids[v], f"{who}, right after it has written,")

    def _use_workspace(self, node: Node, who: str) -> None:
        """Overwrite the workspace, which may share no byte with inputs and outputs of its step."""
        size, lower = self.facts[self.step].workspace_bytes, self.plan.workspaces[self.step]
        upper, room = lower + size, (None, space_of(self.graph, self.plan, self.step))
        self._check_place(room, lower, upper, f"{who}: the workspace")
        touched = [v for p, v in enumerate(node.inputs) if p not in node.op.ignores]
        for kind, values in (("input", touched), ("output", node.outputs)):
            for v in map(self.ids.__getitem__, values):
                a, b = self._range(v)
                if self._room(v) == room and max(a, lower) < min(b, upper):
                    raise PlanError(
                        f"{who}: the workspace at [{lower}, {upper}) and its {kind} %{v} at "
                        f"[{a}, {b}) share bytes"
                    )
        self._put(room, lower, upper, (~self.step, 0))

    def _views(self, node: Node) -> dict[int, Content]:
        """Content that a reader finds in each output that lies where the op has a view."""
        views = {}
        for p, o, offset in node.op.views(*[v.type for v in node.inputs]):
            x, y = self.ids[node.inputs[p]], self.ids[node.outputs[o]]
            here, there = self.plan.locations[x], self.plan.locations[y]
            if self._room(x) == self._room(y) and there.offset == here.offset + offset:
                views[o] = (self.content[x][0], self.content[x][1] + offset)
        return views

    def _check_overwrite(self, node: Node, o: int, who: str) -> None:
        """Check that an output shares bytes with an input, and then all, where the kernel may."""
        y, inplace = self.ids[node.outputs[o]], self.facts[self.step].inplace
        for p, v in enumerate(node.inputs):
            x = self.ids[v]
            if p in node.op.ignores or not self._overlap(x, y):
                continue
            same = self.plan.locations[x] == self.plan.locations[y]
            if not (same and v.type == node.outputs[o].type and (p, o) in inplace):
                raise PlanError(f"{who} writes %{y} over its input %{x}, which it may not")

    def _overlap(self, x: int, y: int) -> bool:
        a, b = self.plan.locations[x], self.plan.locations[y]
        (_, a_end), (_, b_end) = self._range(x), self._range(y)
        return self._room(x) == self._room(y) and max(a.offset, b.offset) < min(a_end, b_end)

    def _range(self, v: int) -> tuple[int, int]:
        lower = self.plan.locations[v].offset
        return lower, lower + self.graph.values[v].type.size_bytes

    def _write(self, v: int, who: str) -> None:
        room = self._room(v)
        lower, upper = self._range(v)
        self._check_place(room, lower, upper, f"{who}: %{v}")
        self._check_allowed(v, room[0], who)
        self._use(v)
        self.content[v] = (v, 0)
        self._put(room, lower, upper, (v, 0))

    def _put(self, room: Room, lower: int, upper: int, content: Content) -> None:
        if lower < upper:
            rest = [piece for s in self.memory.get(room, ()) for piece in _cut(s, lower, upper)]
            self.memory[room] = [*rest, _Piece(lower, upper, content)]

    def _check_place(self, room: Room, lower: int, upper: int, what: str) -> None:
        """Check that bytes lie within their memory, and are aligned."""
        root, space = room
        if root is None and space not in self.arenas:
            raise PlanError(f"{what} is in {space!r}; arenas are of {list(self.arenas)}")
        end = self.arenas[space] if root is None else self.graph.inputs[root].type.size_bytes
        if lower < 0 or upper > end:
            name = _name(room)
            raise PlanError(f"{what} at [{lower}, {upper}) leaves {name} of {end} bytes")
        if lower % self.plan.alignment:
            raise PlanError(f"{what} at {lower} is not aligned to {self.plan.alignment} bytes")

    def _check_allowed(self, v: int, root: int | None, who: str) -> None:
        """Check that memory outside the arena holds its own input, or what was donated to it."""
        if v < len(self.graph.inputs):
            if root != (v if v in self.plan.external else None):
                raise PlanError(f"{who}: input {v} is not where it was given")
        elif root is not None and root not in dict(self.plan.donated):
            raise PlanError(f"{who} writes %{v} over input {root}, which is not donated")

    def _room(self, v: int) -> Room:
        return self.plan.locations[v].root, self.plan.locations[v].space

    def _use(self, v: int) -> None:
        self.used[v] = self.used.get(v, (self.step,))[0], self.step

    def _read(self, v: int, who: str) -> None:
        self._use(v)
        room = self._room(v)
        lower, upper = self._range(v)
        origin, first = self.content[v]
        self._use(origin)
        found_bytes = 0
        for s in self.memory.get(room, ()):
            a, b = max(s.lower, lower), min(s.upper, upper)
            if a >= b:
                continue
            if (s.content[0], s.content[1] + a - s.lower) != (origin, first + a - lower):
                raise PlanError(
                    f"{who} reads %{v}, but bytes [{a}, {b}) of {_name(room)} hold "
                    f"{_held(s.content[0])}"
                )
            found_bytes += b - a
        if found_bytes != upper - lower:
            missing = upper - lower - found_bytes
            raise PlanError(f"{who} reads %{v}, of which {missing} bytes were not written")

    def _check_external(self) -> None:
        donated = dict(self.plan.donated)
        for k in self.plan.external:
            v = self.ids[self.graph.outputs[donated[k]]] if k in donated else k
            if self.plan.locations[v].root != k:
                raise PlanError(f"output %{v} is said to lie in input {k}, but does not")
            self._read(v, "the caller, after the last step,")


def _name(room: Room) -> str:
    root, space = room
    return (
        f"input {root}" if root is not None else f"the arena of {space}" if space else "the arena"
    )


def _held(origin: int) -> str:
    return f"%{origin}" if origin >= 0 else f"the workspace of step {~origin}"


def _cut(s: _Piece, lower: int, upper: int) -> list[_Piece]:
    """The rest of a piece once `[lower, upper)` is overwritten."""
    pieces = []
    if s.lower < lower:
        pieces.append(_Piece(s.lower, min(s.upper, lower), s.content))
    if s.upper > upper:
        skip = max(upper - s.lower, 0)
        content = (s.content[0], s.content[1] + skip)
        pieces.append(_Piece(s.lower + skip, s.upper, content))
    return pieces
