"""Bytes of an arena that are taken during some steps: intervals of bytes on a tree over time.

A node of the tree stands for a range of steps.  It keeps the union of all bytes that are taken in
any of its steps, and of those that one buffer takes in all of them; neighbours merge, so a stack of
thousands of buffers is one interval.  A life is O(log n) nodes, and the bytes taken during it are
their unions and those of the nodes above.  The lowest free offset is found by jumping over
intervals: O(log^2 n) for each buffer where the arena is packed well, however many are alive
together.  The tightest gap is found by looking at all intervals.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from byparts_memplan.buffer import Buffer
from byparts_memplan.neighbours import tightest_gap

Union = list[int]
"""Where intervals that neither overlap nor touch begin and end, in turn, in order."""


class Occupancy:
    """The bytes that placed buffers take, by steps.

    Attributes:
        members: the buffers, which all are in the tree's time.
        looked: how many unions and intervals were looked at to find the last offset.
    """

    def __init__(self, members: Sequence[Buffer]) -> None:
        self.members = members
        steps = sorted({step for b in members for life in b.lives for step in life})
        self.position = {step: k for k, step in enumerate(steps)}
        self.leaves = 1 << max(len(steps) - 1, 1).bit_length()
        nodes = range(2 * self.leaves)
        self.some: list[Union] = [[] for _ in nodes]  # of a node, what is taken in any of its steps
        self.every: list[Union] = [[] for _ in nodes]  # what one buffer takes in all of its steps
        # By member: the unions of the bytes taken during its life, and those that it is added to.
        self.unions: list[tuple[list[Union], list[Union]] | None] = [None] * len(members)
        self.looked = 0

    def clear(self) -> None:
        """Free all bytes."""
        for union in (*self.some, *self.every):
            union.clear()

    def take(self, i: int, tight: bool, pinned: int | None = None) -> int:
        """Take bytes for member `i`, where it is pinned, or in a free gap; returns its offset."""
        b = self.members[i]
        taken, added = self.unions[i] or self._find_unions(i)
        offset = pinned
        if offset is None:
            find = self._tightest if tight else self._lowest
            offset = find([union for union in taken if union], b.size_bytes, b.alignment)
        end = offset + b.size_bytes
        for union in added:
            first, last = bisect_left(union, offset), bisect_right(union, end)
            ends = [] if last & 1 else [end]  # an odd number of ends below: within an interval
            union[first:last] = ends if first & 1 else [offset, *ends]
        return offset

    def _lowest(self, unions: Sequence[Union], size: int, alignment: int) -> int:
        """The lowest aligned offset of so many bytes that are in none of the unions."""
        offset = self.looked = 0
        moved = True
        while moved:
            moved = False
            self.looked += len(unions)
            for union in unions:
                k = start = bisect_right(union, offset) | 1  # the end of the first one not below
                while k < len(union) and union[k - 1] < offset + size:
                    offset = union[k] + -union[k] % alignment
                    k += 2
                if k > start:
                    moved = True
                    self.looked += (k - start) // 2
        return offset

    def _tightest(self, unions: Sequence[Union], size: int, alignment: int) -> int:
        """An aligned offset in the gap between the unions that is filled best; the lowest such."""
        taken = sorted([i for u in unions for i in zip(u[::2], u[1::2], strict=True)])
        self.looked = len(taken)
        return tightest_gap(taken, size, alignment)

    def _find_unions(self, i: int) -> tuple[list[Union], list[Union]]:
        nodes = self._nodes(self.members[i])
        above: dict[int, None] = {}  # all nodes above those; none of those is among them
        for node in nodes:
            node >>= 1
            while node and node not in above:
                above[node] = None
                node >>= 1
        some, every = [self.some[node] for node in nodes], [self.every[node] for node in nodes]
        taken = [*some, *[self.every[node] for node in above]]
        unions = taken, [*every, *some, *[self.some[node] for node in above]]
        self.unions[i] = unions
        return unions

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
