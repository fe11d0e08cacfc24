"""Runs the bodies of an op, bound: one of some branches, or a loop.

What happens between rounds are copies: slices into the body, rows out of it, and those new states
that the planner has not put over the old ones.  Python is between all of them, so Ctrl-C is met;
memory does not grow with the rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import length_hint, setitem
from typing import TYPE_CHECKING, Any, Optional

from byparts_graph_ir import Loop, TensorType, Types, add_note
from byparts_graph_ir.kernel import Run
from byparts_runtime.arrays import view
from byparts_runtime.building.compile import describe
from byparts_runtime.building.discover import Parts
from byparts_runtime.memory.plan import Bytes
from byparts_runtime.run.capture import in_stretches
from byparts_runtime.run.step import Binder, Step, aliased_nodes

if TYPE_CHECKING:
    from byparts_runtime.building.bodies import Body

BOOL = TensorType("bool", ())


class BoundBody:
    """A body on memory.

    Args:
        body: what runs.
        given: the bytes of all its inputs.
        arena: where its arena begins.
        persistent: where the persistent blocks of its kernels begin.

    Attributes:
        outputs: where its outputs are.
    """

    def __init__(self, body: Body, given: Sequence[Bytes], arena: Bytes, persistent: Bytes) -> None:
        graph, plan = body.schedule.graph, body.plan
        roots = [arena if at.root is None else given[at.root] for at in plan.locations]
        places = [_after(base, at.offset) for base, at in zip(roots, plan.locations, strict=True)]
        starts = getattr(plan, "workspaces", ()) or [0] * len(graph.nodes)
        workspaces = [_after(arena, at) for at in starts]
        blocks = [_after(persistent, at) for at in body.persistent]
        binder = Binder(graph, places, body.schedule.compiled.kernels, workspaces, blocks)
        aliased = aliased_nodes(graph, plan.locations)
        self.name = body.name
        self.steps = binder.bound([node for node in graph.nodes if node not in aliased])
        self.runs, self.spans = in_stretches(body.capture, body.parts.backends, self.steps)
        self.outputs = [places[graph.ids[v]] for v in graph.outputs]

    def __call__(self) -> None:
        """Run it once."""
        runs = iter(self.runs)
        try:
            for run in runs:
                run()
        except BaseException as error:
            i = len(self.runs) - length_hint(runs) - 1
            if 0 <= i < len(self.runs):
                add_note(error, _told(self.steps, *self.spans[i]))
            raise


class BranchesRun:
    """One of two bodies, by a value; or the only one."""

    def __init__(
        self, choose: Callable[[], bool], bodies: Sequence[BoundBody], moves: Sequence[list[Run]]
    ) -> None:
        self.choose, self.bodies, self.moves = choose, tuple(bodies), tuple(moves)

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
        """As a kernel binds."""
        copies = _Copies(parts)
        block = persistent or _NOWHERE
        made, moves = [], []
        for body in bodies:
            bound = body.bind(inputs[len(bodies) - 1 :], outputs, workspace or _NOWHERE, block)
            block = _after(block, body.persistent_bytes)
            made.append(bound)
            moves.append(copies.between(bound.outputs, outputs, body.types))
        choose = copies.asked(inputs[0]) if len(bodies) > 1 else bool
        return cls(choose, made, moves)

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


class LoopRun:
    """A loop, bound.

    Attributes:
        start: copies the first states into place.
        body, ask: what a round runs, and what says whether there is one.
        slices: (place of a slice, sequence), rows: (stack, place of a row).
        moves: copies of new states over the old ones.
    """

    start: Sequence[Run]
    body: BoundBody
    cond: Optional[BoundBody]
    ask: Callable[[], bool]
    slices: Sequence[tuple[Any, Any]]
    rows: Sequence[tuple[Any, Any]]
    moves: Sequence[Run]

    def __init__(self, rounds: Optional[int], name: str, *, reverse: bool) -> None:
        self.rounds, self.name, self.reverse = rounds, name, reverse

    @classmethod
    def bound(
        cls,
        loop: Loop,
        body: Body,
        cond: Optional[Body],
        types: Types,
        starts: Sequence[int],
        name: str,
        parts: Parts,
        inputs: Sequence[Bytes],
        outputs: Sequence[Bytes],
        workspace: Optional[Bytes],
        persistent: Optional[Bytes],
    ) -> LoopRun:
        """As a kernel binds; `starts` are those of slices and of moved states in the workspace."""
        made, copies = cls(loop.rounds, name, reverse=loop.reverse), _Copies(parts)
        s, q = loop.states, loop.states + loop.sequences
        arena, block = workspace or _NOWHERE, persistent or _NOWHERE
        spare = [_after(arena, at) for at in starts]
        slots, spare = spare[: q - s], spare[q - s :]
        states, stacks = outputs[:s], outputs[s:]
        given = (*states, *slots, *inputs[q:])
        made.start = copies.between(inputs[:s], states, types[:s])
        made.body = body.bind(given, (), arena, block)
        if cond is not None:
            # A condition is asked of the states and the invariants: there are no slices yet.
            made.cond = cond.bind(given, (), arena, _after(block, body.persistent_bytes))
            made.ask = copies.asked(made.cond.outputs[0])
        else:
            made.cond = None
        slices = [TensorType(t.dtype, t.dims[1:]) for t in types[s:q]]
        look = copies.look
        made.slices = [
            (look(slot, kind), look(sequence, whole))
            for slot, kind, sequence, whole in zip(
                slots, slices, inputs[s:q], types[s:q], strict=True
            )
        ]
        made.rows = [
            (look(stack, _stacked(kind, loop.rounds)), look(row, kind))
            for stack, row, kind in zip(stacks, made.body.outputs[s:], body.types[s:], strict=True)
        ]
        new = list(made.body.outputs[:s])
        moved = body.moved(s)
        from_others = [new[k] for k in moved], spare, [types[k] for k in moved]
        for k, place in zip(moved, spare, strict=True):
            new[k] = place  # a swap: all old states are read before one is written
        made.moves = [*copies.between(*from_others), *copies.between(new, states, types[:s])]
        return made

    def __call__(self) -> None:
        """Run all rounds."""
        for copy in self.start:
            copy()
        k, rounds, cond, body, moves = 0, self.rounds, self.cond, self.body, self.moves
        name = body.name
        try:
            while k != rounds:
                k += 1
                if cond is not None:
                    name = cond.name
                    cond()
                    if not self.ask():
                        return
                    name = body.name
                self._round(k, rounds, body)
                for move in moves:
                    move()
        except BaseException as error:
            add_note(error, f"in {name}, round {k}")
            raise

    def _round(self, k: int, rounds: Optional[int], body: BoundBody) -> None:
        """Round k, counted from 1, with its slices and rows."""
        if not (self.slices or self.rows):
            body()
            return
        assert rounds is not None, "what has slices or rows has so many rounds"
        i = rounds - k if self.reverse else k - 1
        for slot, sequence in self.slices:
            slot[...] = sequence[i]
        body()
        for stack, row in self.rows:
            stack[i] = row


class _Copies:
    """Copies within the space of the program, and questions to it."""

    def __init__(self, parts: Parts) -> None:
        self.space, self._view = parts.space, parts.backends[0].view

    def look(self, place: Bytes, kind: TensorType) -> Any:
        """The array there."""
        see = view if self.space.name == "host" else self._view
        return see(place.memory, place.offset, kind)

    def between(
        self, sources: Sequence[Bytes], targets: Sequence[Bytes], types: Sequence[TensorType]
    ) -> list[Run]:
        """Copies of what is not in its place."""
        found = zip(sources, targets, types, strict=True)
        return [
            partial(setitem, self.look(target, kind), ..., self.look(source, kind))
            for source, target, kind in found
            if kind.size and not _same(source, target)
        ]

    def asked(self, place: Bytes) -> Callable[[], bool]:
        """What says whether the bool there is true."""
        if self.space.name == "host":
            return partial(bool, self.look(place, BOOL))
        return lambda: bool(bytes(self.space.read(place.memory, place.offset, 1))[0])


def _told(steps: Sequence[Step], first: int, last: int) -> str:
    """Which of the steps of a body failed, or among which it is."""
    step = steps[first]
    if last - first > 1:
        return f"in one of steps {first + 1} to {last} of {len(steps)} on {step.backend!r}"
    place = f"step {last} of {len(steps)}"
    return f"in {place} on {step.backend!r}, {describe(step.node)}"


_NOWHERE = Bytes(None, 0)


def _after(place: Bytes, offset: int) -> Bytes:
    return Bytes(place.memory, place.offset + offset)


def _same(a: Bytes, b: Bytes) -> bool:
    return a.memory is b.memory and a.offset == b.offset


def _stacked(kind: TensorType, rounds: Optional[int]) -> TensorType:
    return TensorType(kind.dtype, (rounds, *kind.dims))
