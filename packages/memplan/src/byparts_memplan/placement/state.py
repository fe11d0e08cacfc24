"""What a search knows while it fills an arena from below, and why, and how to take it back.

`low[b]` is the lowest offset that a waiting member can still have.  It rises when a neighbour is
placed under it, and each rise remembers the decisions it follows from, as bits of an integer: a
member cannot lie below a neighbour once it is known to be too high for that, so the reason is the
neighbour's decision and whatever had made it too high, mostly little.  The *floor* of a section is
the lowest of its waiting members.

A dead end is the set of decisions that cannot stand together, again as bits, or `FINE`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from operator import add

from byparts_memplan.placement.sections import Sections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Rise: TypeAlias = "tuple[int, int, Rise | None]"  # height, decisions, the rise before

FINE = -1
_STEEP = 2  # heights that differ so much more than there is to spare are looked at one by one


class State:
    """A half-filled arena, in the units and with the members of `Sections`.

    Attributes:
        low: of a waiting member, the lowest offset it can still have.
        rest: where it would rest on what is placed.
        offset, level: of a placed member, where, and by which decision; -1 while it waits.
        floor: of a section, the lowest `low` of those waiting.
        total: the sum of their sizes.
        waiting: who waits in a section; `None` where just the same as in a section before it.
        ready: those that would rest on the floor; `None` where that is to be found out again.
        trouble: how often a section led to a dead end; kept between runs.
        work: members looked at.
    """

    def __init__(self, problem: Sections) -> None:
        self.problem = problem
        self.trouble = [1.0] * len(problem.members)
        self.edges = [0] * len(problem.members)  # lives that begin or end right after a section
        for ranges in problem.where:
            for first, end in ranges:
                self.edges[end - 1] += 1
                if first:
                    self.edges[first - 1] += 1
        self.edges[-1:] = [-1]  # the last has no section after it
        self.work = 0

    def start(self, capacity_bytes: int) -> int:
        """Everything waits; a dead end here means that there is no placement at all."""
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
        self.waiting: list[list[int] | None] = list(p.members)
        self.ready: list[list[int] | None] = [None] * len(p.members)
        self.edge = list(self.edges)
        self.trail: list[tuple[list[Any], int, Any]] = []
        return 0 if min(self.limit, default=0) < 0 else self._settle(range(len(p.members)))

    def undo(self, mark: int) -> None:
        """Back to when the trail was so long."""
        trail = self.trail
        while len(trail) > mark:
            table, i, old = trail.pop()
            table[i] = old

    def place(self, b: int, at: int, level: int) -> int:
        """Let `b` lie there, by this decision; all waiting neighbours lie above."""
        p, low, rest, rises = self.problem, self.low, self.rest, self.rises
        offset, note, sizes, grid = self.offset, self.trail.append, p.size, p.grid
        first, end = self._take_out(b, at, level)
        begins, ends = p.begins, p.ends
        top, near = at + sizes[b], p.near[b]
        self.work += len(near)
        for c in near:
            if offset[c] >= 0 or rest[c] >= top:
                continue
            note((rest, c, rest[c]))
            rest[c] = here = top + -top % grid[c] if grid[c] > 1 else top
            if begins[c] < first:
                first = begins[c]
            if ends[c] > end:
                end = ends[c]
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
                    return self._dead(p.where[c][0][0], self.why([c], self.limit[c] + 1))
        return self._settle(range(first, end))  # all of them live together with b: no holes

    def _take_out(self, b: int, at: int, level: int) -> tuple[int, int]:
        """It no longer waits; returns where its sections begin and end."""
        p, waiting, total, edge, note = (
            self.problem, self.waiting, self.total, self.edge, self.trail.append,
        )  # fmt: skip
        note((self.offset, b, -1))
        self.offset[b], self.level[b] = at, level
        for first, end in p.where[b]:
            for s in range(first, end):
                some = waiting[s]
                if some is not None:
                    note((waiting, s, some))
                    note((total, s, total[s]))
                    total[s] -= p.size[b]
                    waiting[s] = some = some.copy()
                    some.remove(b)
            for s in (first - 1, end - 1):
                if s >= 0:
                    note((edge, s, edge[s]))
                    edge[s] -= 1
                    if not edge[s] and waiting[s + 1]:
                        note((waiting, s + 1, waiting[s + 1]))
                        waiting[s + 1] = None
        return p.begins[b], p.ends[b]

    def lift(self, s: int, floor: int, level: int) -> int:
        """By this decision nobody lies at the floor of `s`: they rest on others that still wait."""
        p, low, offset = self.problem, self.low, self.offset
        touched: set[int] = set()
        for b in [b for b in self.waiting[s] or () if low[b] == floor]:
            others = [c for c in p.near[b] if offset[c] < 0]
            self.work += len(p.near[b])
            height = min([low[c] + p.size[c] for c in others], default=self.limit[b] + 1)
            height = max(height, floor + 1)
            height += -height % p.grid[b]
            needed = min(height, self.limit[b] + 1)
            why = 1 << level | self.why([b], floor) | self._placed(b)
            for c in others:
                why |= self.why([c], needed - p.size[c])
            if height > self.limit[b]:
                return self._dead(p.where[b][0][0], why)
            self.trail.append((self.rises, b, self.rises[b]))
            self.rises[b] = (height, why, self.rises[b])
            self.trail.append((low, b, low[b]))
            low[b] = height
            touched.update(*[range(*life) for life in p.where[b]])
        return self._settle(sorted(touched))

    def why(self, some: Iterable[int], height: int) -> int:
        """Decisions from which it follows that these cannot lie below the height."""
        found, rises = 0, self.rises
        for b in some:
            rise = rises[b]
            while (earlier := rise[2]) and earlier[0] >= height:
                rise = earlier
            found |= rise[1]
        return found

    def nobody_on(self, s: int, floor: int, able: Iterable[int]) -> int:
        """Decisions from which it follows that only those `able` can lie at the floor of `s`."""
        p, able, found = self.problem, set(able), 0
        for b in self.waiting[s] or ():
            if b in able or self.low[b] > floor:
                found |= self.why([b], floor if b in able else floor + 1)
                continue
            found |= self.rises[b][1] | self._placed(b)  # nothing there that it could rest on
            for c in p.near[b]:
                if self.offset[c] < 0:
                    found |= self.why([c], floor - p.size[c] + 1)
        return found

    def _placed(self, b: int) -> int:
        """Decisions that placed neighbours of `b`."""
        found = 0
        for c in self.problem.near[b]:
            if self.offset[c] >= 0:
                found |= 1 << self.level[c]
        return found

    def _settle(self, touched: Iterable[int]) -> int:
        """Floors of these sections, and whether what waits still fits above them."""
        floor, total, waiting, ready = self.floor, self.total, self.waiting, self.ready
        room, note, low = self.room, self.trail.append, self.low.__getitem__
        for s in touched:
            some = waiting[s]
            if not some:
                continue
            self.work += len(some)
            note((ready, s, ready[s]))  # also where it is None: the search fills it in below here
            ready[s] = None
            heights = list(map(low, some))
            lowest = min(heights)
            if lowest != floor[s]:
                note((floor, s, floor[s]))
                floor[s] = lowest
            spare = room[s] - lowest - total[s]
            if spare < 0:
                return self._dead(s, self.why(some, room[s] - total[s] + 1))
            if max(heights) - lowest > _STEEP * spare:
                found = self._stack(s, some)
                if found != FINE:
                    return found
        return FINE

    def _stack(self, s: int, some: Sequence[int]) -> int:
        """Those of one section in the order of their lowest offsets: do they fit so?"""
        low, size = self.low.__getitem__, self.problem.size.__getitem__
        order = sorted(some, key=low, reverse=True)
        tops = list(map(add, map(low, order), accumulate(map(size, order))))
        top = max(tops)
        if top <= self.room[s]:
            return FINE
        upper = order[: tops.index(top) + 1]
        return self._dead(s, self.why(upper, self.room[s] - sum(map(size, upper)) + 1))

    def _dead(self, s: int, why: int) -> int:
        self.trouble[s] += 1
        return why
