"""One run of a program, bound to memory: steps, then fetches, then the commit.

Nothing else is on the hot path: `for run in runs: run()`.  Which step failed is asked of the loop's
own iterator, afterwards, so that knowing it costs nothing when none does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from operator import length_hint
from typing import Any

import numpy as np

from byparts_graph_ir import Backend, add_note
from byparts_graph_ir.backend import Run
from byparts_graph_ir.fork import begin, end
from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_runtime.bind import Step, describe
from byparts_runtime.commit import Commit
from byparts_runtime.variable import Variable


@dataclass(frozen=True)
class Cycle:
    """What a call does.

    Attributes:
        steps: the nodes, bound.
        staging: copies of old values that become new ones (a swap), made before the commit.
        runs: what is called before the fetches: the above, or their replay, and `finish`.
        readers: each gives a copy of one fetch.
        commit: makes the new values the variables' values.
        around: the context of a run.
        updates: steps that run within the commit.
        plain: the commit as it is without a replay.
        finish: waits until all that was asked for is done.
        note: why the steps are replayed, or not; may be empty.
        replayed: whether `runs` begin with one run in the place of the steps.
        written: the variables that get new values.
    """

    steps: tuple[Step, ...]
    staging: tuple[Run, ...]
    runs: tuple[Run, ...]
    readers: tuple[Callable[[], Any], ...]
    commit: Commit
    around: Callable[[], AbstractContextManager[object]]
    updates: tuple[Step, ...]
    plain: Commit
    finish: Run
    note: str = ""
    replayed: bool = False
    written: Sequence[Variable] = ()

    @property
    def all_steps(self) -> tuple[Step, ...]:
        """In the order in which they run."""
        return (*self.steps, *self.updates)

    def __call__(self) -> tuple[Any, ...]:
        """Run.  The caller holds the lock."""
        try:
            begin(self)
            with self.around():
                return self._run()
        finally:
            end(self)

    def _run(self) -> tuple[Any, ...]:
        runs = iter(self.runs)
        try:
            for run in runs:
                run()
        except BaseException as error:
            self._blame_run(error, len(self.runs) - length_hint(runs) - 1)
            raise
        try:
            fetched = tuple([read() for read in self.readers])
        except BaseException as error:  # of another space, where failures are told late
            self.blame(error, -1)
            raise
        if self.written:
            begin(self, self.written)
        self.commit()
        return fetched

    def _blame_run(self, error: BaseException, i: int) -> None:
        if self.replayed:
            how = "build(..., capture=False) shows in which"
            add_note(error, f"in the replay of {len(self.steps)} steps; {how}")
        self.blame(error, -1 if self.replayed else i)

    def blame(self, error: BaseException, i: int) -> None:
        """Add to an error which step it comes from."""
        if 0 <= i < len(self.steps):
            step, count = self.steps[i], len(self.steps)
            add_note(
                error, f"in step {i + 1} of {count} on {step.backend!r}, {describe(step.node)}"
            )
        if self.plain.targets or self.updates:
            add_note(error, "the variables are as they were before this run")


def around(backends: Sequence[Backend]) -> Callable[[], AbstractContextManager[object]]:
    """The context of a run: silent, since inf and nan are values, and as each backend wants it."""
    silent = partial(np.errstate, all="ignore")
    wanted = tuple(b.around for b in backends if b.around is not None)
    return partial(_Nested, (silent, *wanted)) if wanted else silent


class _Nested:
    """Contexts inside each other; a tenth of the time of an ExitStack."""

    __slots__ = ("entered", "makers")

    def __init__(self, makers: Sequence[Callable[[], AbstractContextManager[object]]]) -> None:
        self.makers = makers
        self.entered: list[AbstractContextManager[object]] = []

    def __enter__(self) -> None:
        for make in self.makers:
            context = make()
            context.__enter__()
            self.entered.append(context)

    def __exit__(self, *raised: Any) -> None:
        while self.entered:
            self.entered.pop().__exit__(*raised)


def runs_of(steps: Sequence[Step], *more: Sequence[Run]) -> tuple[Run, ...]:
    """The steps' calls, then the others."""
    return (*(step.run for step in steps), *(run for runs in more for run in runs))
