"""Runs loops over bound bodies.

Between rounds there are only copies: slices into the body, rows out of it, and those new states
that the planner has not put over the old ones.  Python is between all of them, so Ctrl-C ends a
loop; memory does not grow with the rounds, but for the stack of a `ReversedLoop`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, Optional, Union

from byparts_graph_ir import Loop, ReversedLoop, TensorType, Types, add_note
from byparts_graph_ir.backend.kernel import Run
from byparts_runtime.building.discover import Parts
from byparts_runtime.memory.plan import Bytes
from byparts_runtime.run.bodies import NOWHERE, BodiesRun, BoundBody, Copies, after
from byparts_runtime.run.stack import Stack

if TYPE_CHECKING:
    from byparts_runtime.building.loops import LoopBody

AtRound = Callable[[int], object]  # takes the position of the round along axis 0 of a sequence


class Condition:
    """A bound body that says whether there is another round.

    Attributes:
        once: as of `Rounds`.
    """

    def __init__(self, body: BoundBody, once: Sequence[Run], copies: Copies) -> None:
        self.body, self.once, self.name = body, once, body.name
        self.is_true = copies.asked(body.outputs[0])

    def __call__(self) -> bool:
        """Run it; its answer."""
        self.body()
        return self.is_true()


class Rounds:
    """A body that changes states round after round, on memory.

    Attributes:
        once: computes what depends on invariants alone, in the first round.
        start: copies the first states to where the body reads them.
        before: called before the body in each round.
        after: likewise after it.
        moves: copies the new states that the body has not written over the old ones.
        cond: asked before each round.
    """

    def __init__(
        self,
        body: LoopBody,
        copies: Copies,
        first: Sequence[Bytes],
        states: Sequence[Bytes],
        slots: Sequence[Bytes],
        invariants: Sequence[Bytes],
        spare: Sequence[Bytes],
        arena: Bytes,
        persistent: Bytes,
        results: Sequence[Bytes] = (),
    ) -> None:
        """Bind a body.

        Args:
            body: its first inputs and outputs are the states.
            copies: of the space.
            first: where the first states are; these bytes are not written.
            states: where the states are from then on.
            slots: where the values are that other inputs of the body have in this round.
            invariants: the inputs behind them.
            spare: memory for `body.spare`.
            arena: memory of the body.
            persistent: memory of its kernels.
            results: memory for outputs, as `Body.bind`.
        """
        s = len(states)
        types = body.each.types[:s]
        given = (*states, *slots)
        memory = arena, persistent
        self.body, self.once = _bound(body, copies, given, invariants, spare, *memory, results)
        self.start = copies.between(first, states, types)
        self.before: Sequence[AtRound] = ()
        self.after: Sequence[AtRound] = ()
        self.cond: Optional[Condition] = None
        new, moved = list(self.body.outputs[:s]), body.each.moved(s)
        spare = spare[len(spare) - len(moved) :]
        sources, kinds = [new[k] for k in moved], [types[k] for k in moved]
        for k, place in zip(moved, spare, strict=True):
            new[k] = place  # a swap: all old states are read before one is written
        self.moves = [
            *copies.between(sources, spare, kinds),
            *copies.between(new, states, types),
        ]

    def run(self, most: Optional[int], *, reverse: bool = False) -> int:
        """Run at most so many rounds; how many there were.

        With `reverse`, the first round stands at the last position along axis 0.
        """
        for copy in self.start:
            copy()
        cond, body, moves, before, after = self.cond, self.body, self.moves, self.before, self.after
        k, name = 0, body.name
        try:
            for k in count(1) if most is None else range(1, most + 1):
                if cond is not None:
                    name = cond.name
                    if k == 1:
                        _run_all(cond.once)
                    if not cond():
                        return k - 1
                    name = body.name
                if k == 1:  # not if there is no round: it might fail
                    _run_all(self.once)
                at = most - k if reverse and most is not None else k - 1
                for call in before:
                    call(at)
                body()
                for call in after:
                    call(at)
                for move in moves:
                    move()
        except BaseException as error:
            add_note(error, f"in {name}, round {k}")
            raise
        return k


def loop_run(
    loop: Loop,
    body: LoopBody,
    cond: Optional[LoopBody],
    types: Types,
    starts: Sequence[int],
    parts: Parts,
    inputs: Sequence[Bytes],
    outputs: Sequence[Bytes],
    workspace: Optional[Bytes],
    persistent: Optional[Bytes],
) -> Run:
    """Bind a loop, as a kernel binds.

    Args:
        loop: how its bodies run.
        body: compiled.
        cond: likewise.
        types: of the inputs of the op.
        starts: where in the workspace `body.slots`, then the spare values of body and cond are.
        parts: of the program.
        inputs: as `Kernel.bind`, like the next three.
        outputs: of the op.
        workspace: of the op.
        persistent: of the op.
    """
    copies, s, q = Copies(parts), loop.states, loop.states + loop.sequences
    arena, block = workspace or NOWHERE, persistent or NOWHERE
    spare = [after(arena, at) for at in starts]
    found = body.slots(s, q)
    slots, spare = dict(zip([i for i, _ in found], spare)), spare[len(found) :]  # noqa: B905
    states, stacks = outputs[:s], outputs[s:]
    own, spare = spare[: len(body.spare)], spare[len(body.spare) :]
    slices = [slots.get(i, inputs[i]) for i in range(s, q)]
    written = {body.each.first_result + k: j for k, j in enumerate(body.each.results)}
    results = [slots.get(i, outputs[j]) for i, j in written.items()]
    given = inputs[:s], states, slices, inputs[q:]
    rounds = Rounds(body, copies, *given, own, arena, block, results)
    if cond is not None:
        block = after(block, body.persistent_bytes)
        bound = _bound(cond, copies, states, inputs[q:], spare, arena, block)
        rounds.cond = Condition(*bound, copies)
    look = copies.look
    rounds.before = [
        partial(_take, look(slots[i], _row(types[i])), copies.rows(inputs[i], types[i]))
        for i in range(s, q)
        if i in slots
    ]
    moving = dict(body.moving)
    if moving:
        rounds.before = [rounds.body.move, *rounds.before]
    rounds.after = [
        partial(_put, copies.rows(stack, _stacked(t, loop.rounds)), look(row, t))
        for stack, row, t, at in zip(
            stacks, rounds.body.outputs[s:], body.each.types[s:], body.each.places[s:], strict=True
        )
        if at.root not in moving  # else the kernels write there
    ]
    bodies = _bodies(rounds) if rounds.cond is None else _bodies(rounds, rounds.cond)
    return BodiesRun(bodies, partial(rounds.run, loop.rounds, reverse=loop.reverse))


def reversed_loop_run(
    control: ReversedLoop,
    bodies: Sequence[LoopBody],
    types: Types,
    starts: Sequence[int],
    name: str,
    most_bytes: int,
    parts: Parts,
    inputs: Sequence[Bytes],
    outputs: Sequence[Bytes],
    workspace: Optional[Bytes],
    persistent: Optional[Bytes],
) -> Run:
    """Bind a loop and its reverse, as a kernel binds.

    Args:
        control: how its bodies run.
        bodies: body, cond and back, compiled.
        types: of the inputs of the op.
        starts: where in the workspace the states, the kept states of a round, then the spare values
            of the bodies are.
        name: of the op.
        most_bytes: that the stack may take.
        parts: of the program.
        inputs: as `Kernel.bind`, like the next three.
        outputs: of the op.
        workspace: of the op.
        persistent: of the op.
    """
    copies, arena, block = Copies(parts), workspace or NOWHERE, persistent or NOWHERE
    body, cond, back = bodies
    s, first = control.loop.states, control.loop.states + len(outputs)
    invariants, places = inputs[first:], [after(arena, at) for at in starts]
    states, places = places[:s], places[s:]
    slots, places = places[: len(control.kept)], places[len(control.kept) :]
    own, places = places[: len(body.spare)], places[len(body.spare) :]
    forward = Rounds(body, copies, inputs[:s], states, (), invariants, own, arena, block)
    own, places = places[: len(cond.spare)], places[len(cond.spare) :]
    block = after(block, body.persistent_bytes)
    bound = _bound(cond, copies, states, invariants, own, arena, block)
    forward.cond = Condition(*bound, copies)
    block = after(block, cond.persistent_bytes)
    start = inputs[s:first]
    backward = Rounds(back, copies, start, outputs, slots, invariants, places, arena, block)
    if control.kept:
        kinds = [types[i] for i in control.kept]
        sources = [states[i] for i in control.kept]
        stack = Stack(
            name, parts.space, copies.look, copies.rows, kinds, sources, slots, most_bytes
        )
        forward.before, backward.before = [stack.push], [stack.pop]

    def run() -> None:
        backward.run(forward.run(control.loop.rounds), reverse=True)

    return BodiesRun(_bodies(forward, forward.cond, backward), run)


def _bound(
    body: LoopBody,
    copies: Copies,
    given: Sequence[Bytes],
    invariants: Sequence[Bytes],
    spare: Sequence[Bytes],
    arena: Bytes,
    persistent: Bytes,
    results: Sequence[Bytes] = (),
) -> tuple[BoundBody, Sequence[Run]]:
    """The body of each round, and what is run before the first round."""
    once, each = body.once, body.each
    if once is None:
        return each.bind((*given, *invariants), results, arena, persistent, body.moving), ()
    values = spare[: len(once.types)]
    block = after(persistent, each.persistent_bytes)
    first = once.bind(invariants, values, arena, block)
    moves = copies.between(first.outputs, values, once.types)
    given = (*given, *invariants, *values)
    return each.bind(given, results, arena, persistent, body.moving), (first, *moves)


def _bodies(*of: Union[Rounds, Condition]) -> list[BoundBody]:
    """The bound bodies, in the order of `NodeKernel.bodies`."""
    runs = [run for each in of for run in (*each.once, each.body)]
    return [run for run in runs if isinstance(run, BoundBody)]


def _run_all(runs: Sequence[Run]) -> None:
    for run in runs:
        run()


def _take(slot: Any, sequence: Any, i: int) -> None:
    slot[...] = sequence[i]


def _put(stack: Any, row: Any, i: int) -> None:
    stack[i] = row


def _row(t: TensorType) -> TensorType:
    return TensorType(t.dtype, t.dims[1:])


def _stacked(t: TensorType, rounds: Optional[int]) -> TensorType:
    return TensorType(t.dtype, (rounds, *t.dims))
