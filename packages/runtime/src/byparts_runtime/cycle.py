"""One run of a program, bound to memory: steps, then fetches, then the commit.

Nothing else is on the hot path: `for run in runs: run()`.  Which step failed is asked of the loop's
own iterator, afterwards, so that knowing it costs nothing when none does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import length_hint

import numpy as np

from byparts_graph_ir import add_note
from byparts_graph_ir.backend import Run
from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_runtime.arrays import Array
from byparts_runtime.bind import Step, describe
from byparts_runtime.commit import Commit


@dataclass(frozen=True)
class Cycle:
    """What a call does.

    Attributes:
        steps: the nodes, bound.
        runs: what they call, then what else must be done before the fetches.
        readers: each gives a copy of one fetch.
        commit: makes the new values the variables' values.
    """

    steps: tuple[Step, ...]
    runs: tuple[Run, ...]
    readers: tuple[Callable[[], Array], ...]
    commit: Commit

    def __call__(self) -> tuple[Array, ...]:
        """Run.  The caller holds the lock."""
        runs = iter(self.runs)
        try:
            with np.errstate(all="ignore"):  # inf and nan are values; entered once for all steps
                for run in runs:
                    run()
        except BaseException as error:
            self.blame(error, len(self.runs) - length_hint(runs) - 1)
            raise
        fetched = tuple([read() for read in self.readers])
        self.commit()
        return fetched

    def blame(self, error: BaseException, i: int) -> None:
        """Add to an error which step it comes from."""
        if 0 <= i < len(self.steps):
            step, count = self.steps[i], len(self.steps)
            add_note(
                error, f"in step {i + 1} of {count} on {step.backend!r}, {describe(step.node)}"
            )
        if self.commit.targets:
            add_note(error, "the variables are as they were before this run")


def runs_of(steps: Sequence[Step], *more: Sequence[Run]) -> tuple[Run, ...]:
    """The steps' calls, then the others."""
    return (*(step.run for step in steps), *(run for runs in more for run in runs))
