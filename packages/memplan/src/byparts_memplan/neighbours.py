"""Bytes of an arena that are taken during some steps, where few buffers are alive together.

Members stand in order of birth: those born during the life of a member are a slice right after it,
and only those that were alive before it need a list.  Each look for a gap sorts them all.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from byparts_memplan.buffer import Buffer

Span = tuple[int, int]


class Neighbours:
    """The bytes that placed buffers take, by buffer.

    Attributes:
        members: the buffers, none of them with gaps, in order of birth.
        looked: how many neighbours were looked at to find the last offset.
    """

    def __init__(self, members: Sequence[Buffer]) -> None:
        self.members = members
        births, deaths = [b.born for b in members], [b.dies for b in members]
        self.until = [bisect_left(births, dies) for dies in deaths]
        self.before: list[list[int]] = []  # by member, those that are alive when it is born
        alive: list[int] = []
        for i, born in enumerate(births):
            alive = [j for j in alive if deaths[j] > born]
            self.before.append(alive)
            alive = [*alive, i]
        self.clear()

    def clear(self) -> None:
        """Free all bytes."""
        self.looked = 0
        self.spans: list[Span | None] = [None] * len(self.members)

    def take(self, i: int, tight: bool, pinned: int | None = None) -> int:
        """Take bytes for member `i`, where it is pinned, or in a free gap; returns its offset."""
        b, spans, offset = self.members[i], self.spans, pinned
        if offset is None:
            near = list(filter(None, spans[i + 1 : self.until[i]]))
            near += filter(None, map(spans.__getitem__, self.before[i]))
            near.sort()
            self.looked = len(near)
            find = tightest_gap if tight else lowest_gap
            offset = find(near, b.size_bytes, b.alignment)
        spans[i] = (offset, offset + b.size_bytes)
        return offset


def lowest_gap(taken: Sequence[Span], size: int, alignment: int) -> int:
    """The lowest aligned offset of so many bytes between these spans, which are sorted."""
    offset = 0
    for lower, upper in taken:
        if lower - offset >= size:
            return offset
        if upper > offset:
            offset = upper + -upper % alignment
    return offset


def tightest_gap(taken: Sequence[Span], size: int, alignment: int) -> int:
    """An aligned offset in the gap between these spans, sorted, that is filled best; the lowest."""
    end, best, best_gap = 0, -1, 0
    for lower, upper in taken:
        if lower - end >= size:
            offset = end + -end % alignment
            gap = lower - offset
            if gap >= size and (best < 0 or gap < best_gap):
                best, best_gap = offset, gap
        if upper > end:
            end = upper
    return best if best >= 0 else end + -end % alignment
