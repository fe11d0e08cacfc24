"""Whether buffers fit: restarts of the exact search, on the problem and on smaller ones like it.

Nearly all runs that find a placement do so with few dead ends, and the rest get lost for ever.  So
runs are short.  Half of the work goes into problems with buffers merged (`merge.py`), where a run
is quicker and finds more, but proves nothing.  Once one of these was placed, in a larger capacity,
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

Merged = tuple[Restarts, "list[Parts]"]

_LONG = 8  # every so many runs there is a long one, at first of four times the length
_WORTH = 0.95  # of the members at most are left by merging, or there is none
_MERGE = 10  # work of merging, for each member
_SHARE = 2  # of the work goes into merged problems for one part of the problem's own
_SHARE_AGAIN = 8  # the same once a merged problem was placed
_TRIALS = 2  # runs of each merged problem
# What is merged: see `merge`.
_KINDS = (
    (1, 1, 1, 1),
    (1, 1, 1, 1),
    (1, 1, 3, 1),
    (1, 1, 8, 1),
    (1, 1, 1, 2),
    (0.7, 0.7, 1, 1),
    (0.3, 0.3, 1, 1),
    (0.5, 0.5, 3, 2),
)
_AGAIN = 0.8  # of merged problems are like the one that was placed last, if there is one
_KEPT = (0.5, 0.7, 0.9)  # of its merges; the others are undone
_ANEW = (0.3, 0.5, 0.7)  # chances of merging what is loose then


class Fit:
    """The question whether buffers of one space fit, for several capacities in turn."""

    def __init__(self, buffers: tuple[Buffer, ...], seed: int = 0) -> None:
        self.problem = Sections(buffers)
        self.random = Random(seed)
        self.whole = Restarts(self.problem, self.random)
        self.runs = 0
        self.times = 4.0
        self.merged: Merged | None = None  # with which the last placement was found
        self.found: list[int] = []
        self.spent = [0.0, 0.0]  # on the problem, and on merged ones
        few = merge(self.problem, Random(seed), 1, 1)[0]
        self.mergeable = len(few) <= _WORTH * len(self.problem.index)

    def decide(self, capacity: int, effort: Effort) -> bool | None:
        """Whether they fit; `None` when the effort is spent."""
        answer = self._run_again(capacity, effort)
        spent = self.spent
        while answer is None and not effort.over:
            before = effort.spent
            share = _SHARE if self.merged is None else _SHARE_AGAIN
            if self.mergeable and spent[1] <= share * spent[0]:
                effort.spend(_MERGE * (len(self.problem.index) + 1))
                merged = self._merge()
                for _ in range(_TRIALS):
                    answer = answer or self._run_merged(merged, capacity, effort)
                spent[1] += effort.spent - before
            else:
                answer = self._run_whole(capacity, effort)
                spent[0] += effort.spent - before
        return answer

    def offsets(self) -> tuple[int, ...]:
        """Of all buffers, after `decide` has said yes."""
        offsets = [b.pinned or 0 for b in self.problem.buffers]
        for i, offset in zip(self.problem.index, self.found, strict=True):
            offsets[i] = offset
        return tuple(offsets)

    def _run_again(self, capacity: int, effort: Effort) -> bool | None:
        """As the last placement was found."""
        if self.merged is not None:
            answer = self._run_merged(self.merged, capacity, effort, again=True)
            for _ in range(_TRIALS):
                answer = answer or self._run_merged(self.merged, capacity, effort)
            return answer
        return self._run_whole(capacity, effort, again=True) if self.found else None

    def _run_whole(self, capacity: int, effort: Effort, again: bool = False) -> bool | None:
        self.runs += 1
        times = 1.0
        if self.whole.runs % _LONG == _LONG - 1:
            times, self.times = self.times, 1.5 * self.times
        answer = self.whole.run(capacity, effort, times, again)
        if answer:
            self.merged, self.found = None, self.whole.search.offsets
        return answer

    def _merge(self) -> Merged:
        pick, chance = self.random.choice, self.random.random
        if self.merged is not None and chance() < _AGAIN:
            keep, anew = pick(_KEPT), pick(_ANEW)
            kept = [some for some in self.merged[1] if len(some) > 1 and chance() < keep]
            made, parts = merge(self.problem, self.random, anew, anew, kept=kept)
        else:
            made, parts = merge(self.problem, self.random, *pick(_KINDS))
        return Restarts(Sections(made), self.random), parts

    def _run_merged(
        self, merged: Merged, capacity: int, effort: Effort, again: bool = False
    ) -> bool | None:
        """Whether they fit; that merged ones do not is no answer."""
        self.runs += 1
        restarts, parts = merged
        if not restarts.run(capacity, effort, again=again):
            return None
        self.merged, self.found = merged, [0] * len(self.problem.index)
        for made, at in zip(restarts.problem.index, restarts.search.offsets, strict=True):
            for i, above in parts[made]:
                self.found[i] = at + above
        return True
