"""First fit for many buffers: taken bytes are kept as intervals, on a binary tree over time.

A node of the tree stands for a range of steps.  It keeps the union of all bytes that are taken in
any of its steps, and of those that one buffer takes in all of them; neighbours merge, so a stack of
thousands of buffers is one interval.  A life is O(log n) nodes, and the bytes taken during it are
their unions and those of the nodes above.  The lowest free offset is found by jumping over
intervals: O(log^2 n) for each buffer where the arena is packed well, whatever the number of its
neighbours, which is what the plain portfolio is quadratic in.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence

from byparts_memplan.crowd import Crowd
from byparts_memplan.effort import Effort

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_memplan.portfolio import Span, Spans

_ADD, _LOOK = 100, 1  # work of taking the bytes of one buffer, and of looking at what is taken


def tree_gaps(
    crowd: Crowd, order: Sequence[int], fixed: Mapping[int, int], arena: int, effort: Effort
) -> Spans | None:
    """Each member in the lowest gap, in this order; `None` once they take `arena` bytes."""
    steps = sorted({step for lives in crowd.lives for life in lives for step in life})
    position = {step: k for k, step in enumerate(steps)}
    taken = _Taken(len(steps))
    spans: Spans = [None] * len(crowd.members)
    for i in [*fixed, *[i for i in order if i not in fixed]]:
        b = crowd.members[i]
        nodes = taken.nodes([(position[born], position[dies]) for born, dies in crowd.lives[i]])
        above = taken.above(nodes)
        if (offset := fixed.get(i, -1)) < 0:
            offset = taken.lowest(nodes, above, b.size_bytes, b.alignment)
        end = offset + b.size_bytes
        if end >= arena or not effort.spend(_ADD + _LOOK * taken.looked):
            return None
        taken.add(nodes, above, offset, end)
        spans[i] = (offset, end)
    return spans


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


class _Taken:
    """Bytes that are taken, by time.

    Attributes:
        some: of a node, what is taken in any of its steps.
        every: of a node, what one buffer takes in all of its steps.
        looked: how many unions and intervals it took to find the last offset.
    """

    def __init__(self, steps: int) -> None:
        self.leaves = 1 << max(steps - 1, 1).bit_length()
        self.some: dict[int, _Union] = {}
        self.every: dict[int, _Union] = {}
        self.looked = 0

    def add(self, nodes: Sequence[int], above: Sequence[int], lower: int, upper: int) -> None:
        """Take these bytes during the steps of `nodes`."""
        for node in nodes:
            self.every.setdefault(node, _Union()).add(lower, upper)
            self.some.setdefault(node, _Union()).add(lower, upper)
        for node in above:
            self.some.setdefault(node, _Union()).add(lower, upper)

    def lowest(self, nodes: Sequence[int], above: Sequence[int], size: int, alignment: int) -> int:
        """The lowest aligned offset at which so many bytes are free during the steps of `nodes`."""
        unions = [self.some[node] for node in nodes if node in self.some]
        unions += [self.every[node] for node in above if node in self.every]
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

    def nodes(self, lives: Sequence[Span]) -> list[int]:
        """The fewest nodes whose ranges make up these lives."""
        found = []
        for born, dies in lives:
            first, end = born + self.leaves, dies + self.leaves
            while first < end:
                if first & 1:
                    found.append(first)
                    first += 1
                if end & 1:
                    end -= 1
                    found.append(end)
                first >>= 1
                end >>= 1
        return found

    def above(self, nodes: Sequence[int]) -> list[int]:
        """All nodes above those; none of those is among them."""
        found: dict[int, None] = {}
        for node in nodes:
            node >>= 1
            while node and node not in found:
                found[node] = None
                node >>= 1
        return list(found)
