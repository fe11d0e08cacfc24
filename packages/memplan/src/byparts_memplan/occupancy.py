"""Which bytes of an arena are taken during which steps: intervals of bytes on a tree over time.

A node of the tree stands for a range of steps.  It keeps the union of all bytes that are taken in
any of its steps, and of those that one buffer takes in all of them; neighbours merge, so a stack of
thousands of buffers is one interval.  A life is O(log n) nodes, and the bytes taken during it are
their unions and those of the nodes above.  The lowest free offset is found by jumping over
intervals: O(log^2 n) for each buffer where the arena is packed well, however many are alive
together.  The tightest gap is found by looking at all intervals.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from byparts_memplan.buffer import Buffer


class _Union:
    """Intervals that neither overlap nor touch, in order."""

    __slots__ = ("lower", "upper")

    def __init__(self) -> None:
        self.lower: list[int] = []
        self.upper: list[int] = []

    def add(self, lower: int, upper: int) -> None:
        first = bisect_left(self.upper, lower)  # those from here up to `last` touch it
        last = bisect_right(self.lower, upper)
        if first < last:
            lower, upper = min(lower, self.lower[first]), max(upper, self.upper[last - 1])
        self.lower[first:last] = [lower]
        self.upper[first:last] = [upper]


class Occupancy:
    """The bytes that placed buffers take, by steps.

    Attributes:
        looked: how many unions and intervals were looked at to find the last offset.
    """

    def __init__(self, buffers: Iterable[Buffer]) -> None:
        """For buffers that live during some of these buffers' lives; nothing is taken yet."""
        steps = sorted({step for b in buffers for life in b.lives for step in life})
        self.position = {step: k for k, step in enumerate(steps)}
        self.leaves = 1 << max(len(steps) - 1, 1).bit_length()
        self.some: dict[int, _Union] = {}  # of a node, what is taken in any of its steps
        self.every: dict[int, _Union] = {}  # what one buffer takes in all of its steps
        self.looked = 0

    def take(self, b: Buffer, tight: bool, pinned: int | None = None) -> int:
        """Take bytes for a buffer, where it is pinned, or in a free gap; returns its offset."""
        nodes = self._nodes(b)
        above = _above(nodes)
        offset = pinned
        if offset is None:
            unions = [self.some[node] for node in nodes if node in self.some]
            unions += [self.every[node] for node in above if node in self.every]
            find = self._tightest if tight else self._lowest
            offset = find(unions, b.size_bytes, b.alignment)
        end = offset + b.size_bytes
        for node in nodes:
            self.every.setdefault(node, _Union()).add(offset, end)
            self.some.setdefault(node, _Union()).add(offset, end)
        for node in above:
            self.some.setdefault(node, _Union()).add(offset, end)
        return offset

    def _lowest(self, unions: Sequence[_Union], size: int, alignment: int) -> int:
        """The lowest aligned offset of so many bytes that are in none of the unions."""
        offset = self.looked = 0
        moved = True
        while moved:
            moved = False
            self.looked += len(unions)
            for union in unions:
                lower, upper = union.lower, union.upper
                k = start = bisect_right(upper, offset)
                while k < len(upper) and lower[k] < offset + size:
                    offset = upper[k] + -upper[k] % alignment
                    k += 1
                if k > start:
                    moved = True
                    self.looked += k - start
        return offset

    def _tightest(self, unions: Sequence[_Union], size: int, alignment: int) -> int:
        """An aligned offset in the gap between the unions that is filled best; the lowest such."""
        taken = sorted([i for u in unions for i in zip(u.lower, u.upper, strict=True)])
        self.looked = len(taken)
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

    def _nodes(self, b: Buffer) -> list[int]:
        """The fewest nodes whose ranges make up the lives of a buffer."""
        nodes = []
        for born, dies in b.lives:
            first, end = self.position[born] + self.leaves, self.position[dies] + self.leaves
            while first < end:
                if first & 1:
                    nodes.append(first)
                    first += 1
                if end & 1:
                    end -= 1
                    nodes.append(end)
                first >>= 1
                end >>= 1
        return nodes


def _above(nodes: Sequence[int]) -> list[int]:
    """All nodes above those; none of those is among them."""
    above: dict[int, None] = {}
    for node in nodes:
        node >>= 1
        while node and node not in above:
            above[node] = None
            node >>= 1
    return list(above)
