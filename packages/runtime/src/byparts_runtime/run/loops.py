"""Runs loops over bound bodies.

Between rounds there are only copies: slices into the body, rows out of it, and those new states
that the planner has not put over the old ones.  Python is between all of them, so Ctrl-C ends a
loop; memory does not grow with the rounds, but for the stack of a `ReversedLoop`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import accumulate, count
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
    """The condition of a loop, bound to memory: each call says whether there is another round.

    Attributes:
        once: runs to make before the first call; they compute what depends on invariants alone.
    """

    def __init__(self, body: BoundBody, once: Sequence[Run], copies: Copies) -> None:
        self.body, self.once, self.name = body, once, body.name
        self.is_true = copies.asked(body.outputs[0])

    def __call__(self) -> bool:
        """Run the body of the condition; returns the bool that it computes."""
        self.body()
        return self.is_true()


class Rounds:
    """The body of a loop, bound to memory, and the copies that its rounds need.

    Attributes:
        once: runs to make in the first round; they compute what depends on invariants alone.
        start: copies of the first states to where the body reads them, before the first round.
        before: what each round calls before the body.
        after: what each round calls after the body.
        moves: copies of those new states that the body does not write over the old ones, at the
            end of each round.
        cond: decides before each round whether there is one; `None`: the number is known.
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
            body: the compiled body; its first inputs and outputs are the states.
            copies: makes the copies within the memory space.
            first: where the states are before the first round; these bytes are not written.
            states: where the states are before and after each round.
            slots: where the body reads the inputs that follow the states: values of one round.
            invariants: where the inputs behind those are, which no round changes.
            spare: memory for the values `body.spare`.
            arena: where the arena of the body begins.
            persistent: where the persistent blocks of its kernels begin.
            results: memory for outputs, as for `Body.bind`.
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
        """Run the rounds; returns how many there were.

        Args:
            most: the largest number of rounds; `None`: as many as the condition wants.
            reverse: whether the first round has the last position along axis 0 of a sequence.
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
    """Bind a loop: the rule `Kernel.bind` of its op, behind the first six arguments.

    Args:
        loop: how the op runs its bodies.
        body: the compiled body.
        cond: the compiled condition, if the loop has one.
        types: of the inputs of the op.
        starts: offsets in the workspace, in bytes: of `body.slots`, then of the spare values of
            the body, then of those of the condition.
        parts: of the program.
        inputs: where the inputs of the op are.
        outputs: where its outputs are.
        workspace: where its workspace is.
        persistent: where its persistent block is.
    """
    copies, s, q = Copies(parts), loop.states, loop.states + loop.sequences
    arena, block = workspace or NOWHERE, persistent or NOWHERE
    with_slot, first_result = [i for i, _ in body.slots(s, q)], body.each.first_result
    counts = len(with_slot), len(body.spare)
    in_slots, of_body, of_cond = _divided([after(arena, at) for at in starts], counts)
    slots = dict(zip(with_slot, in_slots, strict=True))
    results = [slots.get(i, outputs[j]) for i, j in enumerate(body.each.results, first_result)]
    slices = [slots.get(i, inputs[i]) for i in range(s, q)]
    states, invariants = outputs[:s], inputs[q:]
    given = inputs[:s], states, slices, invariants
    rounds = Rounds(body, copies, *given, of_body, arena, block, results)
    if cond is not None:
        block = after(block, body.persistent_bytes)
        rounds.cond = _condition(cond, copies, states, invariants, of_cond, arena, block)
    sequences = [(inputs[i], slots[i], types[i]) for i in range(s, q) if i in slots]
    rounds.before = _before_round(rounds, copies, sequences)
    rounds.after = _after_round(rounds, copies, body, outputs[s:], loop.rounds)
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
    """Bind a loop and its reverse: the rule `Kernel.bind` of their op, behind seven arguments.

    Args:
        control: how the op runs its bodies.
        bodies: body, cond and back, compiled.
        types: of the inputs of the op.
        starts: offsets in the workspace, in bytes: of the states, of the kept states of one round,
            then of the spare values of each body.
        name: of the op.
        most_bytes: the largest size of the stack of kept states.
        parts: of the program.
        inputs: where the inputs of the op are.
        outputs: where its outputs are.
        workspace: where its workspace is.
        persistent: where its persistent block is.
    """
    copies, arena, block = Copies(parts), workspace or NOWHERE, persistent or NOWHERE
    body, cond, back = bodies
    s, first = control.loop.states, control.loop.states + len(outputs)
    invariants = inputs[first:]
    counts = s, len(control.kept), len(body.spare), len(cond.spare)
    states, slots, *spare = _divided([after(arena, at) for at in starts], counts)
    of_body, of_cond, of_back = [(own, arena) for own in spare]
    forward = Rounds(body, copies, inputs[:s], states, (), invariants, *of_body, block)
    block = after(block, body.persistent_bytes)
    forward.cond = _condition(cond, copies, states, invariants, *of_cond, block)
    block = after(block, cond.persistent_bytes)
    backward = Rounds(back, copies, inputs[s:first], outputs, slots, invariants, *of_back, block)
    if control.kept:
        kept = [types[i] for i in control.kept], [states[i] for i in control.kept], slots
        stack = Stack(name, parts.space, copies.look, copies.rows, *kept, most_bytes)
        forward.before, backward.before = [stack.push], [stack.pop]

    def run() -> None:
        backward.run(forward.run(control.loop.rounds), reverse=True)

    return BodiesRun(_bodies(forward, forward.cond, backward), run)


def _divided(places: Sequence[Bytes], counts: Sequence[int]) -> list[Sequence[Bytes]]:
    """The places cut into consecutive groups of these lengths, and one group of all others."""
    ends = list(accumulate(counts, initial=0))
    return [places[i:j] for i, j in zip(ends, (*ends[1:], len(places)), strict=True)]


def _condition(
    cond: LoopBody,
    copies: Copies,
    states: Sequence[Bytes],
    invariants: Sequence[Bytes],
    spare: Sequence[Bytes],
    arena: Bytes,
    persistent: Bytes,
) -> Condition:
    return Condition(*_bound(cond, copies, states, invariants, spare, arena, persistent), copies)


def _before_round(
    rounds: Rounds, copies: Copies, sequences: Iterable[tuple[Bytes, Bytes, TensorType]]
) -> list[AtRound]:
    """What a round does before its body: bind steps to its rows, and copy slices to their slots.

    Args:
        rounds: of the loop.
        copies: of the space.
        sequences: of those that are copied slice by slice: the array, its slot, its type.
    """
    takes: list[AtRound] = [
        partial(_take, copies.look(slot, _row(t)), copies.rows(sequence, t))
        for sequence, slot, t in sequences
    ]
    return [rounds.body.move, *takes] if rounds.body.moving else takes


def _after_round(
    rounds: Rounds,
    copies: Copies,
    body: LoopBody,
    stacks: Sequence[Bytes],
    count_of_rounds: Optional[int],
) -> list[AtRound]:
    """What a round does after its body: copy each row to its stack, unless kernels write there."""
    each, moving, s = body.each, dict(body.moving), body.states
    rows = zip(stacks, rounds.body.outputs[s:], each.types[s:], each.places[s:], strict=True)
    return [
        partial(_put, copies.rows(stack, _stacked(t, count_of_rounds)), copies.look(row, t))
        for stack, row, t, at in rows
        if at.root not in moving
    ]


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
    """Bind a body; returns it with the runs to make before the first round."""
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
    """The bound bodies of these loops and conditions, in the order of `NodeKernel.bodies`."""
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
