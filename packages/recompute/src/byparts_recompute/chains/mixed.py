"""Gruslys' table for slots that hold hidden or internal states, whichever is better each time.

C(n, m) is the least number of forward runs for n steps with m slots; a hidden state takes one slot,
an internal state h.  If y steps are run before the first state that is held, the steps after it
have fewer slots, and the steps before it are solved last:

    C(n, m) = least of y + C(n - y, m - 1) + C(y, m) and y + C(n - y, m - h) + C(y - 1, m)

To try every y is O(steps^2 * slots).  But these sums are nearly convex in y: on all tables that we
have computed, C is less than one run above the largest convex function below it.  The least value
of that function is found by descent, and then only those y are tried at which the function is less
than the best sum so far.  So the result is exact, and takes O(steps * slots) in practice.
"""

from __future__ import annotations

from typing import NamedTuple

_ROUNDING = 1e-6  # runs are whole numbers, and errors of floats far smaller than this


class Choice(NamedTuple):
    """The fewest runs, and how: `first` steps run first, then a state in `held` slots is held.

    That is the internal state of the last of them; where `held` is 0, the hidden state after it.
    """

    runs: int
    first: int
    held: int


class Mixed:
    """The table, up to `steps` and `slots`."""

    def __init__(self, steps: int, slots: int, internal_slots: int) -> None:
        self.most = min(slots, internal_slots * (steps - 1) + 1)  # more slots save no run
        self.columns = [_Column()]
        for m in range(1, self.most + 1):
            column = _Column()
            options = [_Option(column, self.columns[m - 1], 0)] if m > 1 else []
            if m > internal_slots:
                options.append(_Option(column, self.columns[m - internal_slots], internal_slots))
            column.fill(steps, options)
            self.columns.append(column)

    def least(self, steps: int, slots: int) -> int:
        """The least number of forward runs."""
        return self.columns[min(slots, self.most)].runs[steps]

    def split(self, steps: int, slots: int) -> tuple[int, int]:
        """The steps to run first, and the slots of the internal state held then; 0: hidden."""
        _, first, held = self.columns[min(slots, self.most)].choices[steps]
        return first, held


class _Column:
    """C(n, m) of one m, by n.

    Attributes:
        choices: by n, the best choice.
        runs: by n, its runs.
        below: by n, the largest convex function that is nowhere above `runs`.
        corners: the n where `below` equals `runs`; between two of them it is straight.
    """

    def __init__(self) -> None:
        self.choices = [Choice(0, 0, 0), Choice(1, 1, 0)]
        self.runs = [0, 1]
        self.below = [0.0, 1.0]
        self.corners = [0, 1]

    def fill(self, steps: int, options: list[_Option]) -> None:
        """Compute the best choice for each number of steps."""
        for n in range(2, steps + 1):
            choice = Choice(n * (n + 1) // 2, n - 1, 0)  # run from the start each time
            for option in options:
                choice = option.better(n, choice)
            self._append(n, choice)

    def _append(self, n: int, choice: Choice) -> None:
        """Add C(n, m) and update `below`; O(1) where `runs` is convex so far."""
        corners = self.corners
        self.choices.append(choice)
        self.runs.append(choice.runs)
        self.below.append(float(choice.runs))
        while len(corners) > 1 and self._slope(*corners[-2:]) > self._slope(corners[-1], n):
            corners.pop()
        last, slope = corners[-1], self._slope(corners[-1], n)
        for k in range(last + 1, n):
            self.below[k] = self.runs[last] + slope * (k - last)
        corners.append(n)

    def _slope(self, start: int, end: int) -> float:
        return (self.runs[end] - self.runs[start]) / (end - start)


class _Option:
    """Hold a hidden state, or an internal one, after the first y steps.

    Attributes:
        column: for the steps before the state; known for all smaller n.
        later: for the steps after it, with fewer slots.
        held: as in `Choice`.
        near: the best y for n - 1, near which the search for n begins.
    """

    def __init__(self, column: _Column, later: _Column, held: int) -> None:
        self.column, self.later, self.held, self.near = column, later, held, 1

    def better(self, n: int, best: Choice) -> Choice:
        """The best choice of this option, or `best` where none has fewer runs."""
        runs, later, inside = self.column.runs, self.later.runs, int(self.held > 0)
        most = n - 1 + inside
        start, least = self._downhill(n, most)
        for ys in (range(start, most + 1), range(start - 1, 0, -1)):
            for y in ys:
                enough = best.runs - 1 + _ROUNDING  # a y with more than this cannot be better
                if least > enough or self._below(n, y) > enough:
                    break
                total = y + later[n - y] + runs[y - inside]
                if total < best.runs:
                    best = Choice(total, y, self.held)
        return best

    def _downhill(self, n: int, most: int) -> tuple[int, float]:
        """The y at which the sum of the two convex functions is least, and that sum."""
        y = min(self.near, most)
        least = self._below(n, y)
        while y < most and (there := self._below(n, y + 1)) <= least:
            y, least = y + 1, there
        while y > 1 and (there := self._below(n, y - 1)) < least:
            y, least = y - 1, there
        self.near = y
        return y, least

    def _below(self, n: int, y: int) -> float:
        return y + self.later.below[n - y] + self.column.below[y - (self.held > 0)]
