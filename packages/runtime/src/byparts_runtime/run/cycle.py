"""A run of a program, bound to memory: steps, then fetches, then the commit.

Nothing else is on the hot path: `for run in runs: run()`.  Which step failed is asked of the loop's
own iterator, afterwards, so that knowing it costs nothing when none does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import length_hint
from typing import Any, Optional

from byparts_graph_ir import add_note
from byparts_graph_ir.backend.kernel import Run
from byparts_graph_ir.fork import begin, end
from byparts_graph_ir.model.frozen import Frozen
from byparts_runtime.building.context import Context, restore, silence
from byparts_runtime.building.kernels import describe
from byparts_runtime.memory.variable import Variable
from byparts_runtime.run.commit import Commit
from byparts_runtime.run.step import Step


class Cycle(Frozen):
    """The parts of a call of a program, in the order in which they run.

    Attributes:
        steps: the nodes, bound.
        staging: copies of old values that become new ones (a swap), made before the commit.
        runs: what is called before the fetches: the above, or their replay, and `finish`.
        readers: each gives a copy of one fetch.
        commit: makes the new values the variables' values.
        around: the context of a run; `None` where silence is enough.
        silent: whether nothing that runs could warn: all is generated code.
        updates: steps that run within the commit.
        plain: the commit as it is without a replay.
        finish: waits until all that was asked for is done.
        note: why the steps are replayed, or not; may be empty.
        spans: for each of the first `runs` the steps that it is: from, to (half-open).
        written: the variables that get new values.
        persistent: the memory that kernels keep, by space; a kernel may know its address alone.
    """

    steps: tuple[Step, ...]
    staging: tuple[Run, ...]
    runs: tuple[Run, ...]
    readers: tuple[Callable[[], Any], ...]
    commit: Commit
    around: Optional[Context]
    updates: tuple[Step, ...]
    plain: Commit
    finish: Run
    note: str = ""
    spans: Sequence[tuple[int, int]] = ()
    written: Sequence[Variable] = ()
    silent: bool = False
    persistent: Optional[Mapping[str, Any]] = None

    @property
    def all_steps(self) -> tuple[Step, ...]:
        """In the order in which they run."""
        return (*self.steps, *self.updates)

    def __call__(self) -> tuple[Any, ...]:
        """Run.  The caller holds the lock."""
        try:
            begin(self)
            if self.silent:
                return self._run()
            if self.around is not None:
                with self.around():
                    return self._run()
            before = silence()
            try:
                return self._run()
            finally:
                restore(before)
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
        start, end = self.spans[i] if i < len(self.spans) else (0, 0)
        if end - start > 1:
            how = "build(..., capture=False) shows in which"
            add_note(error, f"in the replay of {end - start} steps; {how}")
        self.blame(error, start if end - start == 1 else -1)

    def blame(self, error: BaseException, i: int) -> None:
        """Note on an error that it comes from step `i`; -1: told late, it may say of which."""
        if i < 0:
            run = getattr(error, "of_run", None)  # see `Space`
            i = next((k for k, step in enumerate(self.steps) if step.run is run), -1)
        if 0 <= i < len(self.steps):
            step, count = self.steps[i], len(self.steps)
            add_note(
                error, f"in step {i + 1} of {count} on {step.backend!r}, {describe(step.node)}"
            )
        if self.plain.targets or self.updates:
            add_note(error, "the variables are as they were before this run")
