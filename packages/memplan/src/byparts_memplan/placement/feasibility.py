"""Whether buffers fit: restarts of the exact search, on the problem and on smaller ones like it.

Nearly all runs that find a placement do so with few conflicts, and the others hardly ever.  So runs
are short.  Part of the work goes into problems with buffers merged (`merge.py`), where a run is
quicker and finds more, but proves nothing.  Once one of these was placed, in a larger capacity,
most that follow are like it: some of its merges are kept, and the rest drawn anew.  Now and then a
run of the problem itself is longer, ever more, so that in the end one is complete.
"""

from __future__ import annotations

from random import Random

from byparts_memplan.buffer import Buffer
from byparts_memplan.effort import Effort
from byparts_memplan.placement.merge import Parts, merge
from byparts_memplan.placement.restarts import Restarts
from byparts_memplan.placement.sections import Sections
from byparts_memplan.tuning import (
    LONG_RUN_EVERY,
    MERGED_ANEW,
    MERGED_KEPT,
    MERGED_LIKE_LAST,
    MERGED_RUNS,
    MERGED_SHARE,
    MERGES,
)

Merged = tuple[Restarts, "list[Parts]"]


class Feasibility:
    """The question whether buffers of one space fit, for several capacities in turn.

    Attributes:
        runs: of the search, so far.
        member_offsets: where the last run that found a placement has the members of `problem`.
    """

    def __init__(self, buffers: tuple[Buffer, ...], seed: int = 0) -> None:
        self.problem = Sections(buffers)
        self.random = Random(seed)
        self.whole = Restarts(self.problem, self.random)
        self.runs = 0
        self.times = 4.0  # the length of the next long run, in short ones
        self.merged: Merged | None = None  # in which the last placement was found
        self.member_offsets: list[int] = []
        self.spent = [0.0, 0.0]  # effort on the problem, and on merged ones
        few = merge(self.problem, Random(seed), 1, 1)[0]
        self.mergeable = len(few) < len(self.problem.index)

    def decide(self, capacity: int, effort: Effort) -> bool | None:
        """Whether the buffers fit; `None` when the effort is spent."""
        answer = self._run_as_before(capacity, effort)
        spent = self.spent
        while answer is None and not effort.over:
            before = effort.spent
            if self.mergeable and spent[1] <= MERGED_SHARE * spent[0]:
                effort.spend(10 * (len(self.problem.index) + 1))  # what merging takes
                merged = self._merge()
                for _ in range(MERGED_RUNS):
                    answer = answer or self._run_merged(merged, capacity, effort)
                spent[1] += effort.spent - before
            else:
                answer = self._run_whole(capacity, effort)
                spent[0] += effort.spent - before
        return answer

    def offsets(self) -> tuple[int, ...]:
        """Offsets of all buffers, after `decide` has said yes."""
        offsets = [b.pinned or 0 for b in self.problem.buffers]
        for i, offset in zip(self.problem.index, self.member_offsets, strict=True):
            offsets[i] = offset
        return tuple(offsets)

    def _run_as_before(self, capacity: int, effort: Effort) -> bool | None:
        """Search in the way in which the last placement was found."""
        if self.merged is not None:
            answer = self._run_merged(self.merged, capacity, effort, again=True)
            for _ in range(MERGED_RUNS):
                answer = answer or self._run_merged(self.merged, capacity, effort)
            return answer
        return self._run_whole(capacity, effort, again=True) if self.member_offsets else None

    def _run_whole(self, capacity: int, effort: Effort, again: bool = False) -> bool | None:
        self.runs += 1
        times = 1.0
        if self.whole.runs % LONG_RUN_EVERY == LONG_RUN_EVERY - 1:
            times, self.times = self.times, 1.5 * self.times
        answer = self.whole.run(capacity, effort, times, again)
        if answer:
            self.merged, self.member_offsets = None, self.whole.search.offsets
        return answer

    def _merge(self) -> Merged:
        """A problem with buffers merged, drawn at random."""
        pick, chance = self.random.choice, self.random.random
        if self.merged is not None and chance() < MERGED_LIKE_LAST:
            kept = [some for some in self.merged[1] if len(some) > 1 and chance() < MERGED_KEPT]
            buffers, parts = merge(self.problem, self.random, MERGED_ANEW, MERGED_ANEW, kept=kept)
        else:
            buffers, parts = merge(self.problem, self.random, *pick(MERGES))
        return Restarts(Sections(buffers), self.random), parts

    def _run_merged(
        self, merged: Merged, capacity: int, effort: Effort, again: bool = False
    ) -> bool | None:
        """Whether merged buffers fit; `None` if not, because others may."""
        self.runs += 1
        restarts, parts = merged
        if not restarts.run(capacity, effort, again=again):
            return None
        self.merged, self.member_offsets = merged, [0] * len(self.problem.index)
        for whole, at in zip(restarts.problem.index, restarts.search.offsets, strict=True):
            for i, above in parts[whole]:
                self.member_offsets[i] = at + above
        return True
