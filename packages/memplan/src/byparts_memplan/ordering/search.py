"""Takes the peak of an order down, where it stands, until no order is better or effort is spent.

At the worst task a minimum cut says how little could be alive, and what would have to be done
before (`bound.py`); if that is no less, the order is optimal.  Otherwise the sequence is
split there, and then the tasks around it are put in their best order, in ever longer stretches
(`exact.py`), up to the waists on both sides.  A waist is a task that all others come before
or after; whatever lies between two of them can be ordered by itself.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from heapq import nlargest

from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_memplan.ordering.bound import Bound, bound
from byparts_memplan.ordering.exact import Found, Stretch, best_order
from byparts_memplan.ordering.list_schedule import deep, eager, frugal, late
from byparts_memplan.ordering.tasks import Tasks

PATIENCE = 2000  # looks at a stretch, at first
MODESTY = 20  # of what might be possible, this part is enough at a time
LONGEST = 512  # tasks on each side of the worst one
PROVED_AT_ONCE = 4  # tasks: often the worst one can be helped, and the next one cannot


@dataclass(frozen=True)
class Ordered:
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
    """The best order that is found; the given one if none is better."""
    line = _Line(tasks, effort)
    line.prove()
    for start in (_eager, late, frugal, deep):
        if not line.proved and line.try_other(start(tasks)):
            line.prove()
    while not line.proved and line.effort > 0:
        if not line.split() and not line.reorder():
            break
        line.prove()
    return Ordered(line.sequence, line.peak, line.bound)


def _eager(tasks: Tasks) -> list[int]:
    return eager(tasks, tasks.given, max(tasks.levels(tasks.given)))


class _Line:
    """The best sequence so far.

    Attributes:
        during, before: bytes alive while each task runs, and before it.
        last: by storage, the place of its last reader.
        ends: places of the waists, and those before the first and after the last.
        cuts: what is known of single tasks.
        effort: what is left.
    """

    def __init__(self, tasks: Tasks, effort: int) -> None:
        self.tasks, self.effort = tasks, effort
        self.bound = max(tasks.feeds_bytes, tasks.kept_bytes)
        self.ends = [-1, *waists(tasks), len(tasks.given)]
        self.cuts: dict[int, Bound] = {}
        self.sequence: list[int] = []
        self.during: list[int] = []
        self.before: list[int] = []
        self._take(list(tasks.given), *tasks.alive(tasks.given))

    @property
    def proved(self) -> bool:
        """Whether no order has a lower peak."""
        return self.peak <= self.bound

    def try_other(self, sequence: list[int]) -> bool:
        """Take it if its peak is lower, or as high at fewer places."""
        during, before = self.tasks.alive(sequence)
        peak = self.tasks.peak_bytes(during)
        if (peak, during.count(peak)) >= (self.peak, self.during.count(self.peak)):
            return False
        self._take(sequence, during, before)
        return True

    def prove(self) -> None:
        """Raise the bound to what must be alive at the worst tasks; the bound of one is lasting."""
        if self.proved:
            return
        worst = nlargest(PROVED_AT_ONCE, range(len(self.during)), key=self.during.__getitem__)
        for i, place in enumerate(worst):
            task = self.sequence[place]
            if task not in self.cuts and self.effort > 0:
                cut = bound(self.tasks, task, self.effort // (32 if i else 4))
                self.cuts[task] = cut
                self.effort -= cut.looks // 4
                self.bound = max(self.bound, cut.level_bytes)

    def split(self) -> bool:
        """Before the worst task, do what the cut says and nothing else."""
        task = self.sequence[self._worst()]
        if task not in self.cuts:
            return False
        first = self.cuts[task].first
        rest = [t for t in self.sequence if t not in first and t != task]
        return self.try_other([*[t for t in self.sequence if t in first], task, *rest])

    def reorder(self) -> bool:
        """Better order a stretch around the worst task, a longer one while there is none.

        Long stretches are sometimes easier than short ones: all are tried with little patience
        before any is tried with more.
        """
        worst = self._worst()
        lower, upper = self._between_waists(worst)
        shortest, patience = 8, PATIENCE
        while self.effort > 0 and shortest <= LONGEST and lower < upper:
            width = shortest
            while width <= LONGEST and self.effort > 0:
                start, end = max(lower, worst - width), min(upper, worst + width + 1)
                found = self._best_order(start, end, patience)
                if found.tasks is not None:
                    self._put(start, end, found.tasks)
                    return True
                hopeless, whole = found.bound_bytes >= self.peak, (start, end) == (lower, upper)
                if hopeless and whole:
                    self.bound = self.peak
                    return False
                width *= 2
                shortest = width if hopeless else shortest
                if whole:
                    break
            patience *= 4
        return False

    def _best_order(self, start: int, end: int, patience: int) -> Found:
        """Of a stretch, at least a little better.

        Who asks for the best at once makes the search look at all that is too good to be true.
        """
        stretch = self._stretch(start, end)
        floor = self.peak - max(1, (self.peak - self.bound) // MODESTY)
        each = 1 + (end - start) // 256  # looks are at sets, which take longer when they are large
        effort = min(self.effort, patience) // each
        found = best_order(stretch, self.before[start], floor, self.peak, effort)
        self.effort -= found.looks * each + end - start
        return found

    def _stretch(self, start: int, end: int) -> Stretch:
        return Stretch(self.tasks, self.sequence[start:end], self.last, start, end)

    def _put(self, start: int, end: int, tasks: list[int]) -> None:
        """In place of a stretch; reckons only there."""
        self.sequence = [*self.sequence[:start], *tasks, *self.sequence[end:]]
        self._find_last(start, end)
        alive = self._stretch(start, end).alive(self.before[start])
        self.during[start:end], self.before[start:end] = alive
        self.peak = self.tasks.peak_bytes(self.during)

    def _take(self, sequence: list[int], during: list[int], before: list[int]) -> None:
        self.sequence, self.during, self.before = sequence, during, before
        self.peak = self.tasks.peak_bytes(self.during)
        self.last = [-1] * len(self.tasks.size)
        self._find_last(0, len(sequence))
        self.effort -= len(sequence) // 2

    def _find_last(self, start: int, end: int) -> None:
        """Of what nobody reads after the stretch."""
        for place in range(start, end):
            for r in self.tasks.reads[self.sequence[place]]:
                if self.last[r] < end:
                    self.last[r] = place

    def _worst(self) -> int:
        return self.during.index(max(self.during))

    def _between_waists(self, place: int) -> tuple[int, int]:
        """The stretch around a place that is no waist, half-open."""
        k = bisect_right(self.ends, place)
        return self.ends[k - 1] + 1, self.ends[k]


def waists(tasks: Tasks) -> list[int]:
    """Places, the same in every order, of the tasks that all others come before or after.

    All that came earlier does, if the task waits for every one that nobody has waited for yet; the
    same backwards.  O(tasks + edges).
    """
    count = len(tasks.given)
    forwards = _gathering(tasks.given, tasks.before)
    backwards = _gathering(tasks.given[::-1], tasks.after)
    return [i for i in range(count) if forwards[i] and backwards[count - 1 - i]]


def _gathering(sequence: Sequence[int], before: Sequence[Sequence[int]]) -> list[bool]:
    """By place, whether all earlier tasks come before the one there."""
    loose: set[int] = set()  # nobody waits for them yet
    found = []
    for task in sequence:
        loose.difference_update(before[task])
        found.append(not loose)
        loose.add(task)
    return found
