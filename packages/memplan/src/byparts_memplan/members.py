"""The buffers of one space that must be placed, and the orders in which greedy placement goes."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence

from byparts_graph_ir.model.cached_property import cached_property
from byparts_memplan.buffer import Buffer
from byparts_memplan.neighbours import Neighbours
from byparts_memplan.occupancy import Occupancy
from byparts_memplan.tuning import FEW_PAIRS, MANY_PAIRS


class Members:
    """The buffers that have bytes and live for a step, called members, in order of birth.

    Attributes:
        index: member -> position among all buffers.
        members: the buffers themselves.
        pairs: about how many pairs are alive together.
    """

    def __init__(self, buffers: Sequence[Buffer]) -> None:
        self.buffers = buffers
        real = [i for i, b in enumerate(buffers) if b.size_bytes and b.lives]
        self.index = sorted(real, key=lambda i: buffers[i].lives[0][0])
        self.members = [buffers[i] for i in self.index]
        births = [b.lives[0][0] for b in self.members]
        during = [bisect_left(births, b.lives[-1][1]) for b in self.members]
        self.pairs = sum(during) - sum(range(1, len(births) + 1))

    @cached_property
    def occupancy(self) -> Neighbours | Occupancy:
        """The bytes that are taken, by the means that is quicker for this problem."""
        few = self.pairs <= FEW_PAIRS * len(self.members)
        if few and not any([b.gaps for b in self.members]):
            return Neighbours(self.members)
        return Occupancy(self.members)

    def offsets(self, member_offsets: Sequence[int]) -> tuple[int, ...]:
        """Offsets of all buffers, from those of the members."""
        offsets = [b.pinned or 0 for b in self.buffers]
        for i, offset in zip(self.index, member_offsets, strict=True):
            offsets[i] = offset
        return tuple(offsets)

    def orders(self) -> Iterator[tuple[str, list[int]]]:
        """Each order with its name; in each, pinned members come first."""
        size = [b.size_bytes for b in self.members]
        life = [sum([dies - born for born, dies in b.lives]) for b in self.members]
        area = [s * n for s, n in zip(size, life, strict=True)]
        free = [b.pinned is None for b in self.members]
        keys: dict[str, Callable[[int], tuple[int, ...]]] = {
            "size": lambda i: (-size[i], -life[i]),
            "lifetime": lambda i: (-life[i], -size[i]),
            "area": lambda i: (-area[i], -size[i]),
            "load, then size": lambda i: (-self.load[i], -size[i]),
            "load, then area": lambda i: (-self.load[i], -area[i], -life[i]),
            "load, then lifetime": lambda i: (-self.load[i], -life[i], -size[i]),
            "birth": lambda i: (self.members[i].born, -size[i]),
            "death": lambda i: (-self.members[i].dies, -size[i]),
        }
        first = "lifetime" if self.pairs > MANY_PAIRS else "size"
        for name in sorted(keys, key=lambda name: name != first):  # stable
            order = sorted(range(len(size)), key=keys[name])
            order.sort(key=free.__getitem__)  # stable
            yield name, order

    @cached_property
    def load(self) -> list[int]:
        """For each member, the bytes alive at the fullest step of its life.  O(n log n)."""
        steps = sorted({step for b in self.members for life in b.lives for step in life})
        change = [0] * len(steps)
        for b in self.members:
            for born, dies in b.lives:
                change[bisect_left(steps, born)] += b.size_bytes
                change[bisect_left(steps, dies)] -= b.size_bytes
        live = 0
        levels = [[live := live + c for c in change]]
        while (width := 2 ** len(levels)) <= len(steps):  # a sparse table for range maxima
            last = levels[-1]
            levels.append([max(p, q) for p, q in zip(last, last[width // 2 :], strict=False)])

        def most(born: int, dies: int) -> int:
            lower, upper = bisect_left(steps, born), bisect_right(steps, dies - 1)
            level = (upper - lower).bit_length() - 1
            return max(levels[level][lower], levels[level][upper - (1 << level)])

        return [max([most(born, dies) for born, dies in b.lives]) for b in self.members]
