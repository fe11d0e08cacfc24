"""A body bound to memory, and the run of a call or a branch; `loops.py` has those of loops.

Where all steps are one backend's that takes loops, what a run does is also a list of instructions
(`lines`), of which that backend makes one call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import length_hint
from typing import TYPE_CHECKING, Any, Optional

from byparts_graph_ir import Backend, Node, TensorType, add_note
from byparts_graph_ir.backend.instruction import Jump, Label
from byparts_graph_ir.backend.kernel import Run
from byparts_runtime.arrays.access import view
from byparts_runtime.building.body import Body
from byparts_runtime.building.discover import Parts
from byparts_runtime.building.kernels import describe
from byparts_runtime.memory.plan import NOWHERE, Bytes, after
from byparts_runtime.run.bound import Bound
from byparts_runtime.run.capture import in_stretches
from byparts_runtime.run.lines import (
    AtRound,
    CopyRun,
    Lines,
    lines_of,
    lines_of_step,
    noted,
    row_copy,
)
from byparts_runtime.run.moving import MovingStep, moves
from byparts_runtime.run.step import Step

if TYPE_CHECKING:
    from byparts_graph_ir.backend.instruction import Line

BOOL = TensorType("bool", ())
_MOST_ROWS = 4096  # that are kept as arrays, of some hundred bytes each


class BoundBody:
    """A body on memory.

    Args:
        body: what runs.
        inputs: the bytes of its inputs, but for constants and results.
        results: memory for the outputs that are offered some (`Body.offered`).
        arena: where its arena begins.
        persistent: where the persistent blocks of its kernels begin.
        moving: inputs whose place moves from row to row: pairs (position, bytes of a row).

    Attributes:
        outputs: where its outputs are, for row 0.
        before: to do before each round: bind the steps that touch moving inputs to its rows.
    """

    def __init__(
        self,
        body: Body,
        inputs: Sequence[Bytes],
        results: Sequence[Bytes],
        arena: Bytes,
        persistent: Bytes,
        moving: Sequence[tuple[int, int]] = (),
    ) -> None:
        loaded, space = body.loaded, body.loaded.space.name
        outside = dict(enumerate((*inputs, *loaded.constants, *results)))
        bound = Bound(loaded.placed, outside, {space: arena}, {space: persistent})
        rows = dict(moving)
        moving_steps = {node: _moving_step(node, bound, rows) for node in bound.touching(rows)}
        self.name, self.outputs = body.name, bound.outputs
        self.before = (moves(tuple(moving_steps.values())),) if moving_steps else ()
        self.steps = bound.steps(moving_steps)
        options, backends = loaded.options, loaded.parts.backends
        self.runs, self.spans = in_stretches(options.capture, backends, self.steps)

    def lines(self, backend: Backend) -> Lines:
        """The steps of the body as instructions; `None` where one of them is not the backend's."""
        lines: list[Line] = []
        for i, step in enumerate(self.steps):
            own = lines_of_step(step, backend)
            if own is None:
                return None
            lines += noted(own, partial(_told, self.steps, i, i + 1))
        return lines

    def __call__(self) -> None:
        """Run it once."""
        runs = iter(self.runs)
        try:
            for run in runs:
                run()
        except BaseException as error:
            i = len(self.runs) - length_hint(runs) - 1
            if 0 <= i < len(self.spans):
                add_note(error, _told(self.steps, *self.spans[i]))
            raise


def _moving_step(node: Node, bound: Bound, row_bytes: Mapping[int, int]) -> MovingStep:
    """The step of a node that touches moving inputs; `row_bytes` has the bytes of a row of each."""
    compiled = bound.kernel(node)
    inputs, outputs, workspace, persistent = bound.arguments(node)
    rows = [
        (side, k, bound.place(v), v.type, row_bytes[root])
        for side, values in enumerate((node.inputs, node.outputs))
        for k, v in enumerate(values)
        if (root := bound.root(v)) in row_bytes and root is not None
    ]
    arrays = inputs, outputs
    return MovingStep(compiled.kernel, compiled.backend, arrays, workspace, persistent, rows)


class BodiesRun:
    """The run of an op with bodies.

    Attributes:
        bodies: those that it runs, bound, in the order of `NodeKernel.bodies`.
        lines: gives what it does as instructions of a backend, if they all can be.
    """

    __slots__ = ("_run", "bodies", "lines")

    def __init__(
        self, bodies: Sequence[BoundBody], run: Run, lines: Callable[[Backend], Lines]
    ) -> None:
        self.bodies, self._run, self.lines = tuple(bodies), run, lines

    def __call__(self) -> None:
        self._run()


def bodies_of(step: Step) -> tuple[BoundBody, ...]:
    """The bodies that a step runs; none for most steps."""
    bodies: tuple[BoundBody, ...] = getattr(step.run, "bodies", ())
    return bodies


class BranchesRun:
    """The run of a branch, which chooses one of two bodies by a value, or of a call."""

    def __init__(
        self,
        choose: Callable[[], bool],
        bodies: Sequence[BoundBody],
        moves: Sequence[list[CopyRun]],
        answer: Bytes,
    ) -> None:
        self.choose, self.bodies, self.moves = choose, tuple(bodies), tuple(moves)
        self._answer = answer  # the bool that `choose` asks

    @classmethod
    def bound(
        cls,
        bodies: Sequence[Body],
        parts: Parts,
        inputs: Sequence[Bytes],
        outputs: Sequence[Bytes],
        workspace: Optional[Bytes],
        persistent: Optional[Bytes],
    ) -> BranchesRun:
        """Bind the bodies to addresses: `Kernel.bind`, behind the first two arguments."""
        copies = Copies(parts)
        shared, block = inputs[len(bodies) - 1 :], persistent or NOWHERE
        arena = workspace or copies.empty()
        runs, moves = [], []
        for body in bodies:
            bound = BoundBody(body, shared, outputs, arena, block)
            block = after(block, body.persistent_bytes)
            runs.append(bound)
            moves.append(copies.between(bound.outputs, outputs, body.types))
        choose = copies.asked(inputs[0]) if len(bodies) > 1 else bool
        return cls(choose, runs, moves, inputs[0] if len(bodies) > 1 else NOWHERE)

    def __call__(self) -> None:
        """Run the one that the condition chooses."""
        which = int(self.choose())
        body = self.bodies[which]
        try:
            body()
        except BaseException as error:
            add_note(error, f"in {body.name}")
            raise
        for move in self.moves[which]:
            move()

    def lines(self, backend: Backend) -> Lines:
        """The first body, if the condition does not hold; else the second."""
        parts = zip(self.bodies, self.moves, strict=True)
        lines = []
        for body, after_it in parts:
            own = lines_of((body, *after_it), backend)
            if own is None:
                return None
            lines.append(noted(own, f"in {body.name}".__str__))
        first, *second = lines
        if not second:
            return first
        yes, over = Label(), Label()
        test = backend.view(self._answer.memory, self._answer.offset, BOOL)
        return [Jump(yes, test), *first, Jump(over), yes, *second[0], over]


class Copies:
    """Copies within the space of the program, and questions to it."""

    def __init__(self, parts: Parts) -> None:
        self.space, self._view = parts.space, parts.backends[0].view

    def empty(self) -> Bytes:
        """The arena of a body whose values have no bytes: memory of the space, as all arenas."""
        return Bytes(self.space.untouched(0), 0)

    def look(self, place: Bytes, kind: TensorType) -> Any:
        """The array there."""
        see = view if self.space.name == "host" else self._view
        return see(place.memory, place.offset, kind)

    def between(
        self, sources: Sequence[Bytes], targets: Sequence[Bytes], types: Sequence[TensorType]
    ) -> list[CopyRun]:
        """Copies of what is not in its place."""
        copies = zip(sources, targets, types, strict=True)
        return [
            CopyRun.of(source, target, kind, (self.look(source, kind), self.look(target, kind)))
            for source, target, kind in copies
            if kind.size and not _same(source, target)
        ]

    def row(
        self, sequence: Bytes, kind: TensorType, slot: Bytes, row: TensorType, *, out: bool = False
    ) -> AtRound:
        """A copy of a row of a sequence of this type to a slot; or `out` of it, to a row."""
        arrays = self.look(slot, row), self.rows(sequence, kind)
        return row_copy(sequence, slot, row, out, arrays)

    def asked(self, place: Bytes) -> Callable[[], bool]:
        """A callable that says whether the bool there is true."""
        if self.space.name == "host":
            return partial(bool, self.look(place, BOOL))
        return partial(self._ask, place)

    def rows(self, place: Bytes, kind: TensorType) -> Any:
        """An object that gives and takes the rows along axis 0 of the array there, by index."""
        return self.look(place, kind) if self.space.name == "host" else _Rows(self, place, kind)

    def _ask(self, place: Bytes) -> bool:
        self.space.synchronize()
        return bool(bytes(self.space.read(place.memory, place.offset, 1))[0])


class _Rows:
    """Rows of an array in a space whose arrays need not know more than `x[...] = y`."""

    __slots__ = ("_copies", "_kind", "_known", "_place")

    def __init__(self, copies: Copies, place: Bytes, kind: TensorType) -> None:
        self._copies, self._place = copies, place
        self._kind = TensorType(kind.dtype, kind.dims[1:])
        self._known: dict[int, Any] = {}

    def __getitem__(self, i: int) -> Any:
        row = self._known.get(i)
        if row is None:
            row = self._copies.look(after(self._place, i * self._kind.size_bytes), self._kind)
            if len(self._known) < _MOST_ROWS:
                self._known[i] = row
        return row

    def __setitem__(self, i: int, row: Any) -> None:
        self[i][...] = row


def _told(steps: Sequence[Step], first: int, last: int) -> str:
    """A note that says which step of a body failed, or among which steps the failing one is."""
    step = steps[first]
    if last - first > 1:
        return f"in one of steps {first + 1} to {last} of {len(steps)} on {step.backend!r}"
    place = f"step {last} of {len(steps)}"
    return f"in {place} on {step.backend!r}, {describe(step.node)}"


def _same(a: Bytes, b: Bytes) -> bool:
    return a.memory is b.memory and a.offset == b.offset
