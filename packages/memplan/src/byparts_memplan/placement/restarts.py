"""Runs of the exact search on one problem, each with other preferences.

The first few are those that most often do; then preferences are random mixtures of size, life and
crowd, and what was learned of hard sections stays, mostly.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import log
from random import Random

from byparts_memplan.effort import Effort
from byparts_memplan.placement.search import Preferences, Search
from byparts_memplan.placement.sections import Sections

_SHORT = 0.5  # dead ends of a run, for each member
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


class Restarts:
    """What was tried on a problem, and what worked."""

    def __init__(self, problem: Sections, random: Random) -> None:
        self.problem, self.random = problem, random
        self.search = Search(problem, random)
        self.runs = 0
        self.proven: Preferences | None = None  # what led to the last placement

    def run(
        self, capacity: int, effort: Effort, times: float = 1, again: bool = False
    ) -> bool | None:
        """Whether they fit; `None` after `times` the dead ends of a short run, or without effort.

        `again` is with the preferences that led to the last placement.
        """
        preferences = (again and self.proven) or self._preferences()
        fails = times * (_SHORT * len(self.problem.index) + 20)
        self.runs += 1
        found = self.search.run(capacity, preferences, int(fails), effort)
        if found:
            self.proven = preferences
        return found

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
