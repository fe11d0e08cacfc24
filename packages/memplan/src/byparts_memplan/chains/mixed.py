"""Gruslys' table for slots that hold hidden or internal states, whichever is better each time.

C(n, m) are the least runs forward of n steps with m slots, of which an internal state takes h.  If
y steps are run before the first state that is held, what follows has fewer slots, and what was
passed over is done last:

    C(n, m) = least of y + C(n - y, m - 1) + C(y, m) and y + C(n - y, m - h) + C(y - 1, m)

To try every y is O(steps^2 * slots).  But these sums are convex in y, or nearly: the table lies
less than one run above the largest convex function below it, in all that we have seen.  There the
least is found downhill, and then only y are tried at which this function is less than the best so
far: exact in any case, and O(steps * slots) in practice.
"""

from __future__ import annotations

from typing import NamedTuple

_ROUNDING = 1e-6  # runs are whole numbers: what floats lose is far less than this


class Choice(NamedTuple):
    """The fewest runs: with `first` steps run first, the last of which takes `held` slots.

    `held` is 0 where the hidden state behind them is held.
    """

    runs: int
    first: int
    held: int


class Mixed:
    """The table, up to `steps` and `slots`."""

    def __init__(self, steps: int, slots: int, internal_slots: int) -> None:
        self.most = min(slots, internal_slots * (steps - 1) + 1)  # more help nobody
        self.columns = [_Column()]
        for m in range(1, self.most + 1):
            column = _Column()
            ways = [_Way(column, self.columns[m - 1], 0)] if m > 1 else []
            if m > internal_slots:
                ways.append(_Way(column, self.columns[m - internal_slots], internal_slots))
            column.fill(steps, ways)
            self.columns.append(column)

    def least(self, steps: int, slots: int) -> int:
        """Runs forward."""
        return self.columns[min(slots, self.most)].runs[steps]

    def split(self, steps: int, slots: int) -> tuple[int, int]:
        """How many steps to run first, and slots for the internal state of the last; 0: hidden."""
        _, first, held = self.columns[min(slots, self.most)].choices[steps]
        return first, held


class _Column:
    """C(n, m) of one m, by n.

    Attributes:
        choices: and what to do.
        runs: the same, the numbers alone.
        below: the largest convex function that is nowhere more.
        corners: the n where it is as much, and between which it is straight.
    """

    def __init__(self) -> None:
        self.choices = [Choice(0, 0, 0), Choice(1, 1, 0)]
        self.runs = [0, 1]
        self.below = [0.0, 1.0]
        self.corners = [0, 1]

    def fill(self, steps: int, ways: list[_Way]) -> None:
        """For each number of steps, the best of the ways."""
        for n in range(2, steps + 1):
            choice = Choice(n * (n + 1) // 2, n - 1, 0)  # always from the start
            for way in ways:
                choice = way.better(n, choice)
            self._append(n, choice)

    def _append(self, n: int, choice: Choice) -> None:
        """Mostly O(1): where all is convex so far, the function stays as it was."""
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


class _Way:
    """To hold a hidden state, or an internal one.

    Attributes:
        column: of what is passed over, in which all shorter ones are known.
        later: of what follows, with fewer slots.
        held: as in `Choice`.
        near: the y that was best for one step less; for one more it is close.
    """

    def __init__(self, column: _Column, later: _Column, held: int) -> None:
        self.column, self.later, self.held, self.near = column, later, held, 1

    def better(self, n: int, best: Choice) -> Choice:
        """Than `best`, if that is possible."""
        runs, later, inside = self.column.runs, self.later.runs, int(self.held > 0)
        most = n - 1 + inside
        start, least = self._downhill(n, most)
        for ys in (range(start, most + 1), range(start - 1, 0, -1)):
            for y in ys:
                enough = best.runs - 1 + _ROUNDING  # who has more below cannot be better
                if least > enough or self._below(n, y) > enough:
                    break
                found = y + later[n - y] + runs[y - inside]
                if found < best.runs:
                    best = Choice(found, y, self.held)
        return best

    def _downhill(self, n: int, most: int) -> tuple[int, float]:
        """Where the sum of the convex functions is least, and what it is there."""
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
