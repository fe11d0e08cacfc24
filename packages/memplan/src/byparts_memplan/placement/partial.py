"""A half-filled arena: what exact search has decided, what follows from it, and a trail to undo it.

The arena fills from below.  `low[b]` is the lowest offset that the waiting member `b` can still
have.  It rises when a neighbour is placed under it, and each rise remembers the decisions that it
follows from, as bits of an integer: a member cannot lie below a neighbour once it is known to be
too high for that, so the reason is the neighbour's decision and whatever had made the member too
high, mostly little.  The *floor* of a section is the lowest `low` of its waiting members.

Every method that decides something returns a *conflict*: the set of decisions that cannot stand
together, again as bits, or `FINE`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from operator import add

from byparts_memplan.placement.sections import Sections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Rise: TypeAlias = "tuple[int, int, Rise | None]"  # offset, its reason, the rise before

FINE = -1


class PartialPlacement:
    """The placed members of `Sections`, and where the others can still lie, in its units.

    Attributes:
        low: by member, the lowest offset that it can still have.
        rest: by member, the offset at which it would rest on what is placed.
        offset, level: by member, its offset and the number of its decision; -1 while it waits.
        floor: by section, the lowest `low` of the waiting members.
        total: by section, the sum of the sizes of the waiting members.
        waiting: by section, the waiting members; `None` where they are those of the section before.
        ready: by section, the members that would rest on the floor; `None`: not known yet.
        trail: table, index, old entry of every change, to undo it, one after the other (there are
            hundreds of thousands); `None`, section, (position, member) for a member that was taken
            off the waiting ones.
        trouble: by section, how often it led to a conflict; kept from one run to the next.
        work: members looked at.
    """

    def __init__(self, problem: Sections) -> None:
        self.problem = problem
        self.forget_trouble()
        self.edges = [0] * len(problem.members)  # lives that begin or end right after a section
        for ranges in problem.where:
            for first, end in ranges:
                self.edges[end - 1] += 1
                if first:
                    self.edges[first - 1] += 1
        self.edges[-1:] = [-1]  # the last has no section after it
        self.work = 0

    def forget_trouble(self) -> None:
        """Treat all sections alike again."""
        self.trouble = [1.0] * len(self.problem.members)

    def start(self, capacity_bytes: int) -> int:
        """Let every member wait.  A conflict here (0) means that there is no placement at all."""
        p = self.problem
        self.room = [(capacity_bytes + pad) // p.unit for pad in p.pad]
        self.limit = [(capacity_bytes - p.buffers[i].size_bytes) // p.unit for i in p.index]
        if any(pinned > most for pinned, most in zip(p.pinned, self.limit, strict=True)):
            return 0
        self.limit = [most if at < 0 else at for at, most in zip(p.pinned, self.limit, strict=True)]
        self.low = [max(at, 0) for at in p.pinned]
        self.rest = list(self.low)
        self.offset = [-1] * len(p.index)
        self.level = [-1] * len(p.index)
        self.rises: list[Rise] = [(low, 0, None) for low in self.low]
        self.floor = [0] * len(p.members)
        self.total = list(p.total)
        self.waiting: list[list[int] | None] = list(map(list, p.members))
        self.ready: list[list[int] | None] = [None] * len(p.members)
        self.edge = list(self.edges)
        self.trail: list[Any] = []
        if min(self.limit, default=0) < 0:
            return 0
        return self._update_floors(range(len(p.members)))

    def undo(self, mark: int) -> None:
        """Undo changes until the trail has `mark` entries."""
        trail, waiting = self.trail, self.waiting
        while len(trail) > mark:
            old, i, table = trail.pop(), trail.pop(), trail.pop()
            if table is None:
                waiting[i].insert(*old)  # a list, as when it was noted
            else:
                table[i] = old

    def place(self, b: int, at: int, level: int) -> int:
        """Place member `b` at offset `at` by decision `level`: waiting neighbours lie above it."""
        p, low, rest, rises = self.problem, self.low, self.rest, self.rises
        offset, note, sizes, grid = self.offset, self.trail.extend, p.size, p.grid
        self._fix(b, at, level)
        begins, ends = p.begins, p.ends
        first, end, top, near = begins[b], ends[b], at + sizes[b], p.near[b]
        self.work += len(near)
        for c in near:
            if offset[c] >= 0 or rest[c] >= top:
                continue
            note((rest, c, rest[c]))
            rest[c] = here = top + -top % grid[c] if grid[c] > 1 else top
            first, end = min(first, begins[c]), max(end, ends[c])
            if low[c] < here:
                rise = before = rises[c]
                needed = at - sizes[c]  # above this it cannot lie below b
                while (earlier := rise[2]) and earlier[0] > needed:
                    rise = earlier
                note((rises, c, before))
                rises[c] = (here, rise[1] | 1 << level, before)
                note((low, c, low[c]))
                low[c] = here
                if here > self.limit[c]:
                    return self._conflict(p.begins[c], self.reason([c], self.limit[c] + 1))
        return self._update_floors(range(first, end))  # all live together with b: no holes

    def _fix(self, b: int, at: int, level: int) -> None:
        """Record the offset of member `b`, and take it off the waiting members of its sections."""
        waiting, total, edge, note = self.waiting, self.total, self.edge, self.trail.extend
        note((self.offset, b, -1))
        self.offset[b], self.level[b] = at, level
        for first, end in self.problem.where[b]:
            for s in range(first, end):
                some = waiting[s]
                if some is not None:
                    position = some.index(b)
                    note((None, s, (position, b)))  # a copy of each list would take 30 MB of some
                    note((total, s, total[s]))
                    total[s] -= self.problem.size[b]
                    del some[position]
            for s in (first - 1, end - 1):
                if s >= 0:
                    note((edge, s, edge[s]))
                    edge[s] -= 1
                    if not edge[s] and waiting[s + 1]:
                        note((waiting, s + 1, waiting[s + 1]))
                        waiting[s + 1] = None

    def leave_empty(self, s: int, floor: int, level: int) -> int:
        """Decide that no member lies at the floor of section `s`: they rest on waiting members."""
        p, low, offset = self.problem, self.low, self.offset
        touched: set[int] = set()
        for b in [b for b in self.waiting[s] or () if low[b] == floor]:
            others = [c for c in p.near[b] if offset[c] < 0]
            self.work += len(p.near[b])
            height = min([low[c] + p.size[c] for c in others], default=self.limit[b] + 1)
            height = max(height, floor + 1)
            height += -height % p.grid[b]
            needed = min(height, self.limit[b] + 1)
            reason = 1 << level | self.reason([b], floor) | self._placed_near(b)
            for c in others:
                reason |= self.reason([c], needed - p.size[c])
            if height > self.limit[b]:
                return self._conflict(p.begins[b], reason)
            self.trail.extend((self.rises, b, self.rises[b]))
            self.rises[b] = (height, reason, self.rises[b])
            self.trail.extend((low, b, low[b]))
            low[b] = height
            touched.update(*[range(*life) for life in p.where[b]])
        return self._update_floors(sorted(touched))

    def reason(self, some: Iterable[int], height: int) -> int:
        """Decisions from which it follows that these members cannot lie below the height."""
        decisions, rises = 0, self.rises
        for b in some:
            rise = rises[b]
            while (earlier := rise[2]) and earlier[0] >= height:
                rise = earlier
            decisions |= rise[1]
        return decisions

    def reason_for_only(self, able: Iterable[int], s: int, floor: int) -> int:
        """Decisions from which it follows that only those `able` can lie at the floor of `s`."""
        p, able, decisions = self.problem, set(able), 0
        for b in self.waiting[s] or ():
            if b in able or self.low[b] > floor:
                decisions |= self.reason([b], floor if b in able else floor + 1)
                continue
            decisions |= self.rises[b][1] | self._placed_near(b)  # it could rest on nothing there
            for c in p.near[b]:
                if self.offset[c] < 0:
                    decisions |= self.reason([c], floor - p.size[c] + 1)
        return decisions

    def _placed_near(self, b: int) -> int:
        """The decisions that placed neighbours of `b`."""
        decisions = 0
        for c in self.problem.near[b]:
            if self.offset[c] >= 0:
                decisions |= 1 << self.level[c]
        return decisions

    def _update_floors(self, touched: Iterable[int]) -> int:
        """Set the floors of these sections; check that the waiting members fit above them."""
        floor, total, waiting, ready = self.floor, self.total, self.waiting, self.ready
        room, note, low = self.room, self.trail.extend, self.low.__getitem__
        for s in touched:
            some = waiting[s]
            if not some:
                continue
            self.work += len(some)
            note((ready, s, ready[s]))  # also where it is None: the search sets it without a note
            ready[s] = None
            lows = list(map(low, some))
            lowest = min(lows)
            if lowest != floor[s]:
                note((floor, s, floor[s]))
                floor[s] = lowest
            spare = room[s] - lowest - total[s]
            if spare < 0:
                return self._conflict(s, self.reason(some, room[s] - total[s] + 1))
            if max(lows) - lowest > 2 * spare:  # else the check is slower than what it finds early
                conflict = self._check_stack(s, some)
                if conflict != FINE:
                    return conflict
        return FINE

    def _check_stack(self, s: int, some: Sequence[int]) -> int:
        """Check that these members of a section fit on top of each other, lowest `low` first."""
        low, size = self.low.__getitem__, self.problem.size.__getitem__
        order = sorted(some, key=low, reverse=True)
        tops = list(map(add, map(low, order), accumulate(map(size, order))))
        top = max(tops)
        if top <= self.room[s]:
            return FINE
        upper = order[: tops.index(top) + 1]
        return self._conflict(s, self.reason(upper, self.room[s] - sum(map(size, upper)) + 1))

    def _conflict(self, s: int, decisions: int) -> int:
        """Count the conflict as trouble of section `s`."""
        self.trouble[s] += 1
        return decisions
