"""Binds loops: their bodies, and what a round does before and after its body (`rounds.py`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Optional, Union

from byparts_graph_ir import Backend, Loop, ReversedLoop, TensorType, Types
from byparts_graph_ir.backend.instruction import Counter
from byparts_graph_ir.backend.kernel import Run
from byparts_graph_ir.model.frozen import Frozen
from byparts_runtime.building.body import LoopBody
from byparts_runtime.building.discover import Parts
from byparts_runtime.memory.plan import NOWHERE, Bytes, after
from byparts_runtime.run.bodies import BodiesRun, BoundBody, Copies
from byparts_runtime.run.lines import AtRound, Lines
from byparts_runtime.run.rounds import Condition, Rounds, bound
from byparts_runtime.run.stack import Stack, StackLines

if TYPE_CHECKING:
    from byparts_graph_ir.backend.instruction import Line

Places = Sequence[Bytes]
Block = Optional[Bytes]  # `None`: without a byte


class CompiledLoop(Frozen):
    """A compiled loop, before it has memory.

    Attributes:
        loop: how the op runs its bodies.
        body: the compiled body.
        cond: the compiled condition, if the loop has one.
        types: of the inputs of the op.
        starts: offsets in the workspace, in bytes: of `body.slots`, then of the spare values of
            the body, then of those of the condition.
        parts: of the program.
    """

    loop: Loop
    body: LoopBody
    cond: Optional[LoopBody]
    types: Types
    starts: tuple[int, ...]
    parts: Parts

    def bind(self, inputs: Places, outputs: Places, workspace: Block, persistent: Block) -> Run:
        """Bind the loop: `Kernel.bind` of its op."""
        loop, body, copies = self.loop, self.body, Copies(self.parts)
        s, q = loop.states, loop.states + loop.sequences
        arena, block = workspace or copies.empty(), persistent or NOWHERE
        with_slot = [i for i, _ in body.slots(s, q)]
        places = [after(arena, at) for at in self.starts]
        in_slots, of_body, of_cond = _divided(places, (len(with_slot), len(body.spare)))
        slots = dict(zip(with_slot, in_slots, strict=True))
        results = [slots.get(i, outputs[j]) for i, j in body.each.offered.items()]
        slices = [slots.get(i, inputs[i]) for i in range(s, q)]
        states, invariants = outputs[:s], inputs[q:]
        values = inputs[:s], states, slices, invariants
        rounds = Rounds(body, copies, *values, of_body, arena, block, results)
        if self.cond is not None:
            where = states, invariants, of_cond, arena, after(block, body.persistent_bytes)
            rounds.cond = Condition(*bound(self.cond, copies, *where), copies)
        sequences = [(inputs[i], slots[i], self.types[i]) for i in range(s, q) if i in slots]
        rounds.before = _before_round(rounds, copies, sequences)
        rounds.after = _after_round(rounds, copies, body, outputs[s:], loop.rounds)
        return self._run(rounds)

    def _run(self, rounds: Rounds) -> BodiesRun:
        most, reverse = self.loop.rounds, self.loop.reverse
        bodies = _bodies(rounds) if rounds.cond is None else _bodies(rounds, rounds.cond)

        def lines(backend: Backend) -> Lines:
            last = None if most is None else Counter(most)
            return rounds.lines(backend, Counter(), last, reverse=reverse)

        return BodiesRun(bodies, partial(rounds.run, most, reverse=reverse), lines)


class CompiledReversedLoop(Frozen):
    """A compiled loop and its reverse, before they have memory.

    Attributes:
        control: how the op runs its bodies.
        bodies: body, cond and back, compiled.
        types: of the inputs of the op.
        starts: offsets in the workspace, in bytes: of the states, of the kept states of one round,
            then of the spare values of each body.
        name: of the op.
        most_bytes: the largest size of the stack of kept states.
        parts: of the program.
    """

    control: ReversedLoop
    bodies: tuple[LoopBody, LoopBody, LoopBody]
    types: Types
    starts: tuple[int, ...]
    name: str
    most_bytes: int
    parts: Parts

    def bind(self, inputs: Places, outputs: Places, workspace: Block, persistent: Block) -> Run:
        """Bind both loops: `Kernel.bind` of their op."""
        control, copies, block = self.control, Copies(self.parts), persistent or NOWHERE
        arena = workspace or copies.empty()
        body, cond, back = self.bodies
        s, first = control.loop.states, control.loop.states + len(outputs)
        invariants = inputs[first:]
        counts = s, len(control.kept), len(body.spare), len(cond.spare)
        states, slots, *spare = _divided([after(arena, at) for at in self.starts], counts)
        of_body, of_cond, of_back = [(own, arena) for own in spare]
        forward = Rounds(body, copies, inputs[:s], states, (), invariants, *of_body, block)
        block = after(block, body.persistent_bytes)
        forward.cond = Condition(*bound(cond, copies, states, invariants, *of_cond, block), copies)
        block = after(block, cond.persistent_bytes)
        carried = inputs[s:first], outputs
        backward = Rounds(back, copies, *carried, slots, invariants, *of_back, block)
        stack = self._stack(copies, states, slots) if control.kept else None
        return self._run(forward, forward.cond, backward, stack)

    def _stack(self, copies: Copies, states: Places, slots: Places) -> Stack:
        """The stack that keeps states of each round, and brings them back to the slots."""
        kept = self.control.kept
        types, sources = [self.types[i] for i in kept], [states[i] for i in kept]
        known = self.name, self.parts.space, copies.look, copies.rows
        return Stack(*known, types, sources, slots, self.most_bytes)

    def _run(
        self, forward: Rounds, cond: Condition, backward: Rounds, stack: Optional[Stack]
    ) -> BodiesRun:
        most: Optional[int] = self.control.loop.rounds
        start: Sequence[Line] = ()
        if stack is not None:
            kept = StackLines(stack)
            forward.before = [AtRound(stack.push, kept.push)]
            backward.before = [AtRound(stack.pop, kept.pop)]
            start = kept.start()

        def run() -> None:
            backward.run(forward.run(most), reverse=True)

        def lines(backend: Backend) -> Lines:
            k = Counter()
            there = forward.lines(backend, k, None if most is None else Counter(most))
            back = backward.lines(backend, Counter(), k, reverse=True)
            return None if there is None or back is None else [*start, *there, *back]

        return BodiesRun(_bodies(forward, cond, backward), run, lines)


def _divided(places: Places, counts: Sequence[int]) -> list[Places]:
    """The places cut into consecutive groups of these lengths, and one group of all others."""
    ends = list(accumulate(counts, initial=0))
    return [places[i:j] for i, j in zip(ends, (*ends[1:], len(places)), strict=True)]


def _before_round(
    rounds: Rounds, copies: Copies, sequences: Iterable[tuple[Bytes, Bytes, TensorType]]
) -> list[AtRound]:
    """Work of a round before its body: bind steps to its rows, and copy slices to their slots.

    Args:
        rounds: of the loop.
        copies: of the space.
        sequences: of those that are copied slice by slice: the array, its slot, its type.
    """
    takes = [copies.row(sequence, t, slot, row_type(t)) for sequence, slot, t in sequences]
    return [*rounds.body.before, *takes]


def _after_round(
    rounds: Rounds,
    copies: Copies,
    body: LoopBody,
    stacks: Places,
    count_of_rounds: Optional[int],
) -> list[AtRound]:
    """Work of a round after its body: copy each row to its stack, unless kernels write there."""
    each, moving, s = body.each, dict(body.moving), body.states
    rows = zip(stacks, rounds.body.outputs[s:], each.types[s:], each.places[s:], strict=True)
    return [
        copies.row(stack, _stacked(t, count_of_rounds), row, t, out=True)
        for stack, row, t, at in rows
        if at.root not in moving
    ]


def _bodies(*of: Union[Rounds, Condition]) -> list[BoundBody]:
    """The bound bodies of these loops and conditions, in the order of `NodeKernel.bodies`."""
    runs = [run for each in of for run in (*each.once, each.body)]
    return [run for run in runs if isinstance(run, BoundBody)]


def row_type(t: TensorType) -> TensorType:
    """The type of one slice along axis 0."""
    return TensorType(t.dtype, t.dims[1:])


def _stacked(t: TensorType, rounds: Optional[int]) -> TensorType:
    return TensorType(t.dtype, (rounds, *t.dims))
