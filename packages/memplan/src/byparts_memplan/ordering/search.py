"""Lowers the peak of an order where it stands, until no order is better or the effort is spent.

At the worst task a minimum cut says how little could be alive, and what would have to be done
before (`bound.py`); if that is no less, the order is optimal.  Otherwise the sequence is split
there, and then the tasks around it are put in their best order, in ever longer windows
(`window.py`), up to the separators on both sides.  A *separator* is a task that each other task
comes before or after in every order; what lies between two of them can be ordered by itself.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from heapq import nlargest

from byparts_graph_ir.model.frozen import Frozen
from byparts_memplan.ordering.bound import Bound, bound
from byparts_memplan.ordering.list_schedule import deep, eager, frugal, late
from byparts_memplan.ordering.tasks import Tasks
from byparts_memplan.ordering.window import Window, WindowOrder, best_order
from byparts_memplan.tuning import (
    BOUNDED_TASKS,
    FIRST_LOOKS,
    LONGEST_WINDOW,
    PEAK_PART,
    SHORTEST_WINDOW,
)


class Ordered(Frozen):
    """A sequence of tasks.

    Attributes:
        peak_bytes: the most that is alive at any time.
        bound_bytes: no order has a lower peak.
    """

    sequence: list[int]
    peak_bytes: int
    bound_bytes: int

    @property
    def proved(self) -> bool:
        """Whether no order has a lower peak."""
        return self.peak_bytes <= self.bound_bytes


def search(tasks: Tasks, effort: int) -> Ordered:
    """The best order that is found within `effort` (tasks looked at); the given one if none is."""
    best = _BestSequence(tasks, effort)
    best.prove()
    for schedule in (eager, late, frugal, deep):
        if not best.proved and best.try_other(schedule(tasks)):
            best.prove()
    while not best.proved and best.effort > 0:
        if not best.split() and not best.reorder():
            break
        best.prove()
    return Ordered(best.sequence, best.peak, best.bound)


class _BestSequence:
    """The best sequence so far.

    Attributes:
        sequence: the tasks.
        peak, bound: the most that is alive at any time; no order has a lower peak than `bound`.
        during, before: bytes alive while each task runs, and before it.
        last: by storage, the place of its last reader.
        ends: places of the separators, and those before the first and after the last task.
        bounds: by task, what is known of the bytes alive while it runs.
        effort: what is left.
    """

    def __init__(self, tasks: Tasks, effort: int) -> None:
        self.tasks, self.effort = tasks, effort
        self.bound = max(tasks.feeds_bytes, tasks.kept_bytes)
        self.ends = [-1, *separators(tasks), len(tasks.graph_order)]
        self.bounds: dict[int, Bound] = {}
        self.sequence: list[int] = []
        self.during: list[int] = []
        self.before: list[int] = []
        self._take(list(tasks.graph_order), *tasks.alive(tasks.graph_order))

    @property
    def proved(self) -> bool:
        """Whether no order has a lower peak."""
        return self.peak <= self.bound

    def try_other(self, sequence: list[int]) -> bool:
        """Take another sequence if its peak is lower, or as high at fewer places."""
        during, before = self.tasks.alive(sequence)
        peak = self.tasks.peak_bytes(during)
        if (peak, during.count(peak)) >= (self.peak, self.during.count(self.peak)):
            return False
        self._take(sequence, during, before)
        return True

    def prove(self) -> None:
        """Raise the bound to what must be alive at the worst tasks, each looked at once."""
        if self.proved:
            return
        worst = nlargest(BOUNDED_TASKS, range(len(self.during)), key=self.during.__getitem__)
        for i, place in enumerate(worst):
            task = self.sequence[place]
            if task not in self.bounds and self.effort > 0:
                known = bound(self.tasks, task, self.effort // (32 if i else 4))
                self.bounds[task] = known
                self.effort -= known.looks // 4  # at edges, which are quicker than tasks
                self.bound = max(self.bound, known.level_bytes)

    def split(self) -> bool:
        """Before the worst task, do what its bound needs and nothing else, if that is better."""
        task = self.sequence[self._worst()]
        if task not in self.bounds:
            return False
        first = self.bounds[task].first
        rest = [t for t in self.sequence if t not in first and t != task]
        return self.try_other([*[t for t in self.sequence if t in first], task, *rest])

    def reorder(self) -> bool:
        """Find a better order of a window around the worst task, of a longer one if there is none.

        Long windows are sometimes easier than short ones: all are tried with few looks before any
        is tried with more.
        """
        worst = self._worst()
        lower, upper = self._between_separators(worst)
        shortest, looks = SHORTEST_WINDOW, FIRST_LOOKS
        while self.effort > 0 and shortest <= LONGEST_WINDOW and lower < upper:
            width, whole = shortest, False
            while not whole and width <= LONGEST_WINDOW and self.effort > 0:
                start, end = max(lower, worst - width), min(upper, worst + width + 1)
                answer = self._best_order(start, end, looks)
                if answer.tasks is not None:
                    self._put(start, end, answer.tasks)
                    return True
                hopeless, whole = answer.bound_bytes >= self.peak, (start, end) == (lower, upper)
                if hopeless and whole:
                    self.bound = self.peak
                    return False
                width *= 2
                shortest = width if hopeless else shortest
            looks *= 4
        return False

    def _best_order(self, start: int, end: int, looks: int) -> WindowOrder:
        """An order of a window that is at least a little better.

        To ask for the best at once makes the search look at all that is too good to be true.
        """
        window = self._window(start, end)
        floor = self.peak - max(1, (self.peak - self.bound) // PEAK_PART)
        each = 1 + (end - start) // 256  # looks are at sets, which take longer when they are large
        effort = min(self.effort, looks) // each
        answer = best_order(window, self.before[start], floor, self.peak, effort)
        self.effort -= answer.looks * each + end - start
        return answer

    def _window(self, start: int, end: int) -> Window:
        return Window(self.tasks, self.sequence[start:end], self.last, start, end)

    def _put(self, start: int, end: int, tasks: list[int]) -> None:
        """Put tasks in place of a window, and measure only there."""
        self.sequence = [*self.sequence[:start], *tasks, *self.sequence[end:]]
        self._find_last(start, end)
        alive = self._window(start, end).alive(self.before[start])
        self.during[start:end], self.before[start:end] = alive
        self.peak = self.tasks.peak_bytes(self.during)

    def _take(self, sequence: list[int], during: list[int], before: list[int]) -> None:
        """Make this the best sequence."""
        self.sequence, self.during, self.before = sequence, during, before
        self.peak = self.tasks.peak_bytes(self.during)
        self.last = [-1] * len(self.tasks.size)
        self._find_last(0, len(sequence))
        self.effort -= len(sequence) // 2

    def _find_last(self, start: int, end: int) -> None:
        """Find the last reader of each storage that is not read after the window."""
        for place in range(start, end):
            for r in self.tasks.reads[self.sequence[place]]:
                if self.last[r] < end:
                    self.last[r] = place

    def _worst(self) -> int:
        return self.during.index(max(self.during))

    def _between_separators(self, place: int) -> tuple[int, int]:
        """The places between the separators around a place, half-open; none at a separator."""
        k = bisect_right(self.ends, place)
        return self.ends[k - 1] + 1, self.ends[k]


def separators(tasks: Tasks) -> list[int]:
    """Places, the same in every order, of the tasks that all others come before or after.

    All earlier tasks come before one, if it waits for every task that nobody has waited for yet;
    the same backwards.  O(tasks + edges).
    """
    count = len(tasks.graph_order)
    forwards = _after_all(tasks.graph_order, tasks.before)
    backwards = _after_all(tasks.graph_order[::-1], tasks.after)
    return [i for i in range(count) if forwards[i] and backwards[count - 1 - i]]


def _after_all(sequence: Sequence[int], before: Sequence[Sequence[int]]) -> list[bool]:
    """By place, whether all earlier tasks come before the one there."""
    loose: set[int] = set()  # nobody waits for them yet
    waited = []
    for task in sequence:
        loose.difference_update(before[task])
        waited.append(not loose)
        loose.add(task)
    return waited
