"""Restarts of the exact search, each with other preferences, until one decides.

Nearly all runs that find a placement do so with few dead ends, and the rest get lost for ever.  So
runs are short, their preferences random mixtures of size, life and crowd, and what they learned of
hard sections stays.  Now and then a run is longer, ever more, so that in the end one is complete.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import log
from random import Random

from byparts_memplan.buffer import Buffer
from byparts_memplan.effort import Effort
from byparts_memplan.search import Preferences, Search
from byparts_memplan.sections import Sections

_SHORT = 0.5  # dead ends of a short run, for each member
_LONG = 8  # every so many runs there is a long one
_FRESH = (True, False, False)  # whether a run forgets what made trouble in those before it

# What the first runs prefer: weights of size, life and crowd; narrow valleys first; level tops.
_FIRST = (
    (0.5, 0.5, 3, False, False),
    (1, 0.5, 3, False, False),
    (0.5, 0.5, 3, False, True),
    (1, 1, 0, False, False),
    (0.5, 0.5, 3, True, True),
    (1, 0.5, 30, False, True),
)


class Fit:
    """The question whether buffers of one space fit, for several capacities in turn."""

    def __init__(self, buffers: tuple[Buffer, ...], seed: int = 0) -> None:
        self.problem = Sections(buffers)
        self.search = Search(self.problem, seed)
        self.random = Random(seed)
        self.runs = 0
        self.proven: Preferences | None = None  # what led to the last placement: tried first

    def decide(self, capacity: int, effort: Effort) -> bool | None:
        """Whether they fit; `None` when the effort is spent."""
        short = _SHORT * len(self.problem.index) + 20
        long = 4 * short
        preferences = self.proven
        while not effort.over:
            preferences = preferences or self._preferences()
            self.runs += 1
            fails = short
            if self.runs % _LONG == 0:
                fails, long = long, 1.5 * long
            found = self.search.run(capacity, preferences, int(fails), effort)
            if found:
                self.proven = preferences
            if found is not None:
                return found
            preferences = None
        return None

    def offsets(self) -> tuple[int, ...]:
        """Of all buffers, after `decide` has said yes."""
        p = self.problem
        offsets = [b.pinned or 0 for b in p.buffers]
        for i, offset in zip(p.index, self.search.offsets, strict=True):
            offsets[i] = offset
        return tuple(offsets)

    def _preferences(self) -> Preferences:
        """Of the first runs, then random mixtures; half of them heed what made trouble before."""
        if self.runs < len(_FIRST):
            by_size, by_life, by_load, spare, level = _FIRST[self.runs]
            self.search.forget()
            return Preferences(self._rank(by_size, by_life, by_load), 0, spare, level)
        pick = self.random.choice
        fresh = pick(_FRESH)
        if fresh:
            self.search.forget()
        rank = self._rank(
            pick((0, 0.5, 0.5, 1, 1)), pick((0.5, 1)), pick((0, 3, 30)), pick((0, 0.2))
        )
        return Preferences(
            rank, noise=pick((0, 0.03)), spare=pick((True, False)), level=pick((True, False))
        )

    def _rank(
        self, by_size: float, by_life: float, by_load: float, shake: float = 0
    ) -> Sequence[int]:
        """Positions of the members in the order of this mixture.

        Lives are measured by the trouble that their sections have made.
        """
        p, most = self.problem, max(self.problem.load, default=1)
        sums = [0.0, *accumulate(self.search.state.trouble)]
        key = [
            by_size * log(p.size[b])
            + by_life * log(sum([sums[end] - sums[first] for first, end in p.where[b]]))
            + by_load * p.load[b] / most
            + (shake and shake * self.random.random())
            for b in range(len(p.index))
        ]
        rank = [0] * len(key)
        for position, b in enumerate(sorted(range(len(key)), key=lambda b: -key[b])):
            rank[b] = position
        return rank
