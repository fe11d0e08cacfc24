"""The rounds of a loop: from Python, or as instructions of a backend that has loops.

Between rounds there are only copies: slices into the body, rows out of it, and those new states
that the planner has not put over the old ones.  Memory does not grow with the rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, Optional

from byparts_graph_ir import Backend, TensorType, add_note
from byparts_graph_ir.backend.instruction import Add, Counter, Jump, Label, Move, Set
from byparts_graph_ir.backend.kernel import Run
from byparts_runtime.building.body import LoopBody
from byparts_runtime.memory.plan import Bytes, after
from byparts_runtime.run.bodies import BOOL, BoundBody, Copies
from byparts_runtime.run.lines import AtRound, Lines, lines_of, noted
from byparts_runtime.run.step import run_all

if TYPE_CHECKING:
    from byparts_graph_ir.backend.instruction import Line

COUNTER = TensorType("i64", ())


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

    def lines(self, backend: Backend, k: Counter, over: Label) -> Lines:
        """The same before round k, counted from 0; out, if there is no other round."""
        once, own = _once(self.once, backend, k), lines_of((self.body,), backend)
        if once is None or own is None:
            return None
        answer = self.body.outputs[0]
        test = backend.view(answer.memory, answer.offset, BOOL)
        return _in_round(self.name, k, [*once, *own, Jump(over, test, False)])


class Rounds:
    """The body of a loop, bound to memory, and the copies that its rounds need.

    Attributes:
        once: runs to make in the first round; they compute what depends on invariants alone.
        start: copies of the first states to where the body reads them, before the first round.
        before: what each round does before the body.
        after: what each round does after the body.
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
            results: memory for outputs, as for `BoundBody`.
        """
        s = len(states)
        types = body.each.types[:s]
        inputs = (*states, *slots)
        memory = arena, persistent
        self.body, self.once = bound(body, copies, inputs, invariants, spare, *memory, results)
        self.start = copies.between(first, states, types)
        self.before: Sequence[AtRound] = self.body.before
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
        cond, body, moves = self.cond, self.body, self.moves
        before, after = [each.run for each in self.before], [each.run for each in self.after]
        k, name = 0, body.name
        try:
            for k in count(1) if most is None else range(1, most + 1):
                if cond is not None:
                    name = cond.name
                    if k == 1:
                        run_all(cond.once)
                    if not cond():
                        return k - 1
                    name = body.name
                if k == 1:  # not if there is no round: it might fail
                    run_all(self.once)
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

    def lines(
        self, backend: Backend, k: Counter, most: Optional[Counter], *, reverse: bool = False
    ) -> Lines:
        """The same as instructions; k counts the rounds.  `None` where a step needs Python."""
        again, over = Label(), Label()
        start, once = lines_of(self.start, backend), _once(self.once, backend, k)
        cond = self.cond.lines(backend, k, over) if self.cond else ()
        body, moves = lines_of((self.body,), backend), lines_of(self.moves, backend)
        if start is None or once is None or cond is None or body is None or moves is None:
            return None
        lines: list[Line] = [*start, Set(k, 0)]
        reverse = reverse and most is not None
        at = Counter() if reverse else k
        if most is not None and reverse:
            lines += (_copy(backend, at, most), Add(at, -1))
        lines += [again, Jump(over, (k, most), False)] if most is not None else [again]
        inner = [*once, *[line for each in self.before for line in each.lines(backend, at)], *body]
        inner += [line for each in self.after for line in each.lines(backend, at)]
        back = [Add(at, -1)] if reverse else []
        lines += (*cond, *_in_round(self.body.name, k, inner), *moves, Add(k, 1), *back)
        return [*lines, Jump(again), over]


def _in_round(name: str, k: Counter, lines: Sequence[Line]) -> Sequence[Line]:
    """The instructions of round k of a body, counted from 0, with notes that name the round."""
    return noted(lines, lambda: f"in {name}, round {k.value + 1}")


def _once(runs: Sequence[Run], backend: Backend, k: Counter) -> Lines:
    """The instructions of these runs, which are made in the first round alone."""
    lines = lines_of(runs, backend)
    if not lines:
        return lines
    known = Label()
    return [Jump(known, (Counter(), k)), *lines, known]


def _copy(backend: Backend, target: Counter, source: Counter) -> Move:
    a, b = (backend.view(counter.memory, 0, COUNTER) for counter in (target, source))
    return Move(a, b, COUNTER.size_bytes)


def bound(
    body: LoopBody,
    copies: Copies,
    inputs: Sequence[Bytes],
    invariants: Sequence[Bytes],
    spare: Sequence[Bytes],
    arena: Bytes,
    persistent: Bytes,
    results: Sequence[Bytes] = (),
) -> tuple[BoundBody, Sequence[Run]]:
    """Bind a body; returns it with the runs to make before the first round."""
    once, each, moving = body.once, body.each, body.moving
    if once is None:
        return BoundBody(each, (*inputs, *invariants), results, arena, persistent, moving), ()
    values = spare[: len(once.types)]
    block = after(persistent, each.persistent_bytes)
    first = BoundBody(once, invariants, values, arena, block)
    moves = copies.between(first.outputs, values, once.types)
    inputs = (*inputs, *invariants, *values)
    return BoundBody(each, inputs, results, arena, persistent, moving), (first, *moves)
