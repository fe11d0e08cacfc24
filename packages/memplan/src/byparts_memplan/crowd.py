"""Which buffers are alive together, and the orders in which greedy planners take them.

Members stand in order of birth.  Then the neighbours of a member that are born during its life are
the members right after it, a slice; only those that were alive before it need a list.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from byparts_memplan.buffer import Buffer


class Crowd:
    """The buffers that take place at all: they have bytes, and live for a step at least."""

    def __init__(self, buffers: Sequence[Buffer]) -> None:
        self.buffers = buffers
        real = [i for i, b in enumerate(buffers) if b.size_bytes and b.born < b.dies]
        self.index = sorted(real, key=lambda i: buffers[i].born)  # member -> buffer
        self.members = [buffers[i] for i in self.index]
        births = [b.born for b in self.members]
        self.until = [bisect_left(births, b.dies) for b in self.members]  # end of the slice
        self.pairs = sum(self.until) - sum(range(1, len(births) + 1))

    @cached_property
    def before(self) -> list[list[int]]:
        """For each member, those alive when it is born, and born no later.  O(pairs) memory."""
        alive: list[int] = []
        found = []
        for i, b in enumerate(self.members):
            alive = [j for j in alive if self.members[j].dies > b.born]
            found.append(alive)
            alive = [*alive, i]
        return found

    def offsets(self, spans: Sequence[tuple[int, int] | None]) -> list[int]:
        """Offsets of all buffers, from the spans of the members."""
        offsets = [b.pinned or 0 for b in self.buffers]
        for i, span in zip(self.index, spans, strict=True):
            offsets[i] = span[0] if span else 0
        return offsets

    def orders(self) -> Iterator[tuple[str, list[int]]]:
        """(name, members), those first that most often reach the bound; pinned ones always lead."""
        size = [b.size_bytes for b in self.members]
        life = [b.dies - b.born for b in self.members]
        area = [s * n for s, n in zip(size, life, strict=True)]
        keys: tuple[tuple[str, Callable[[int], tuple[int, ...]]], ...] = (
            ("size", lambda i: (-size[i], -life[i])),
            ("area", lambda i: (-area[i], -size[i])),
            ("lifetime", lambda i: (-life[i], -size[i])),
            ("crowd, then size", lambda i: (-self.load[i], -size[i])),
            ("crowd, then area", lambda i: (-self.load[i], -area[i], -life[i])),
            ("crowd, then lifetime", lambda i: (-self.load[i], -life[i], -size[i])),
            ("birth", lambda i: (self.members[i].born, -size[i])),
            ("death", lambda i: (-self.members[i].dies, -size[i])),
        )
        for name, key in keys:
            order = sorted(range(len(size)), key=key)
            order.sort(key=lambda i: self.members[i].pinned is None)  # stable
            yield name, order

    @cached_property
    def load(self) -> list[int]:
        """For each member, the bytes alive at the fullest step of its life.  O(n log n)."""
        steps = sorted({t for b in self.members for t in (b.born, b.dies)})
        change = [0] * len(steps)
        for b in self.members:
            change[bisect_left(steps, b.born)] += b.size_bytes
            change[bisect_left(steps, b.dies)] -= b.size_bytes
        live = 0
        levels = [[live := live + c for c in change]]
        while (width := 2 ** len(levels)) <= len(steps):  # a sparse table for range maxima
            last = levels[-1]
            levels.append([max(p, q) for p, q in zip(last, last[width // 2 :], strict=False)])
        return [
            _largest(levels, bisect_left(steps, b.born), bisect_right(steps, b.dies - 1))
            for b in self.members
        ]


def _largest(levels: Sequence[Sequence[int]], lower: int, upper: int) -> int:
    level = (upper - lower).bit_length() - 1
    return max(levels[level][lower], levels[level][upper - (1 << level)])
