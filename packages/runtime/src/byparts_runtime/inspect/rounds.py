"""Times the steps inside bodies: what a body does in a call, in a branch, or round after round.

While it is measured, a bound body runs step by step, each step on the clock.  Times are summed over
the rounds, so memory does not grow with them; the first rounds are also kept one by one, for a
trace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from statistics import median
from time import perf_counter

from byparts_graph_ir.backend.kernel import Run
from byparts_graph_ir.model.frozen import Frozen
from byparts_runtime.run.bodies import BoundBody, bodies_of
from byparts_runtime.run.step import Step

MOST_EVENTS = 10_000  # of rounds and steps in bodies that are kept one by one

Span = tuple[float, float]  # start and end of something, in seconds


def timed(finish: Run, part: Callable[[], object]) -> Span:
    """Run a part and wait for it."""
    start = perf_counter()
    part()
    finish()
    return start, perf_counter()


class BodyProfile(Frozen):
    """Medians over some runs of what one body of a step takes in a run, all rounds together.

    Attributes:
        name: "body of scan".
        rounds: how often the body ran.
        step_s: of each step of the body, in order, summed over the rounds.
        ops: of these steps.
        bodies: for each of these steps the profiles of its own bodies.
    """

    name: str
    rounds: int
    step_s: tuple[float, ...]
    ops: tuple[str, ...]
    bodies: tuple[tuple[BodyProfile, ...], ...]


class Round(Frozen):
    """A measured round of a body: its number, counted from 1, and when its steps ran."""

    number: int
    span: Span
    steps: tuple[Span, ...]


class MeasuredBody:
    """A bound body that runs on the clock until `restore`.

    Args:
        body: which.
        finish: waits until all that was asked of the space is done.
        room: how many rounds and steps may still be kept one by one, in its only item.

    Attributes:
        rounds: how often it ran.
        step_s: seconds of each step, summed over the rounds.
        kept: the first rounds.
        bodies: for each step its own bodies, measured.
    """

    def __init__(self, body: BoundBody, finish: Run, room: list[int]) -> None:
        self.body, self.rounds, self.step_s = body, 0, [0.0] * len(body.steps)
        self.kept: list[Round] = []
        self._finish, self._room = finish, room
        self.bodies = [[MeasuredBody(b, finish, room) for b in bodies_of(s)] for s in body.steps]
        self._plain = body.runs, body.spans
        body.runs, body.spans = (self._run_once,), ()

    def restore(self) -> None:
        """Let the body run without a clock again."""
        self.body.runs, self.body.spans = self._plain
        for inner in self.bodies:
            for measured in inner:
                measured.restore()

    def _run_once(self) -> None:
        self.rounds += 1
        number, spans, start = self.rounds, list[Span](), perf_counter()
        keep, at = self._room[0] > len(self.step_s), 0
        try:
            for at, step in enumerate(self.body.steps):
                span = timed(self._finish, step.run)
                self.step_s[at] += span[1] - span[0]
                if keep:
                    spans.append(span)
        except BaseException:
            self.body.spans = ((at, at + 1),)  # the body says which step failed
            raise
        if keep:
            self._room[0] -= 1 + len(spans)
            self.kept.append(Round(number, (start, perf_counter()), tuple(spans)))


Measured = list[list[MeasuredBody]]  # for each step its bodies


@contextmanager
def measuring(steps: Sequence[Step], finish: Run) -> Iterator[Measured]:
    """Within, the bodies of these steps run on the clock."""
    with_bodies = sum(1 for step in steps if bodies_of(step))
    measured: Measured = []
    try:
        for step in steps:
            room = [MOST_EVENTS // max(1, with_bodies)]
            measured.append([MeasuredBody(body, finish, room) for body in bodies_of(step)])
        yield measured
    finally:
        for bodies in measured:
            for body in bodies:
                body.restore()


def body_profiles(runs: Sequence[Measured]) -> tuple[tuple[BodyProfile, ...], ...]:
    """For each step the profiles of its bodies: medians over the runs."""
    return tuple(
        [
            tuple([_body_profile(same) for same in zip(*of_step, strict=True)])
            for of_step in zip(*runs, strict=True)
        ]
    )


def _body_profile(runs: Sequence[MeasuredBody]) -> BodyProfile:
    """The profile of one body, measured in several runs."""
    first = runs[0].body
    step_s = [median(times) for times in zip(*[run.step_s for run in runs], strict=True)]
    rounds = int(median([run.rounds for run in runs]))
    ops = tuple([step.node.op.name for step in first.steps])
    inner = body_profiles([run.bodies for run in runs])
    return BodyProfile(first.name, rounds, tuple(step_s), ops, inner)
