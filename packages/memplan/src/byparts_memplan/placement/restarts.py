"""Runs of the exact search on one problem, each with other preferences.

The first few are those that most often find a placement; then preferences are random mixtures of
size, life and load, and what was learned of sections that make trouble stays, mostly.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import log
from random import Random

from byparts_memplan.effort import Effort
from byparts_memplan.placement.branch_and_bound import BranchAndBound, Preferences
from byparts_memplan.placement.sections import Sections
from byparts_memplan.tuning import FIRST_RUNS, SHORT_RUN


class Restarts:
    """The search on a problem, and which preferences led to a placement.

    Attributes:
        runs: so far.
        proven: the preferences that led to the last placement.
    """

    def __init__(self, problem: Sections, random: Random) -> None:
        self.problem, self.random = problem, random
        self.search = BranchAndBound(problem, random)
        self.runs = 0
        self.proven: Preferences | None = None

    def run(
        self, capacity: int, effort: Effort, times: float = 1, again: bool = False
    ) -> bool | None:
        """Whether all fit; `None` after `times` the conflicts of a short run, or without effort.

        `again` runs with the preferences that led to the last placement.
        """
        preferences = (again and self.proven) or self._preferences()
        fails = times * (SHORT_RUN * len(self.problem.index) + 20)
        self.runs += 1
        fits = self.search.run(capacity, preferences, int(fails), effort)
        if fits:
            self.proven = preferences
        return fits

    def _preferences(self) -> Preferences:
        """Preferences of the first runs; then random mixtures, one in three without trouble."""
        if self.runs < len(FIRST_RUNS):
            by_size, by_life, by_load, spare, level = FIRST_RUNS[self.runs]
            self.search.state.forget_trouble()
            return Preferences(self._rank(by_size, by_life, by_load), 0, spare, level)
        pick = self.random.choice
        if pick((True, False, False)):
            self.search.state.forget_trouble()
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
