"""Which buffers are alive together, and the orders in which greedy planners take them.

Members stand in order of birth.  Then the neighbours of a member that are born during its life are
the members right after it, a slice; only those that were alive before it need a list.  A member
with gaps is not alive through all of its slice, so it has a list of all its neighbours instead.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from byparts_memplan.buffer import Buffer


class Crowd:
    """The buffers of one space that take place at all: they have bytes, and live for a step.

    Attributes:
        index: member -> buffer, in order of birth.
        lives: of each member, the intervals of steps in which it lives, gaps left out.
        until: members after `i` and before `until[i]` are alive together with it.
        pairs: about how many pairs are alive together, which is the work of one greedy order.
    """

    def __init__(self, buffers: Sequence[Buffer]) -> None:
        self.buffers = buffers
        lives = [tuple([life for life in b.lives if life[0] < life[1]]) for b in buffers]
        real = [i for i, b in enumerate(buffers) if b.size_bytes and lives[i]]
        self.index = sorted(real, key=lambda i: lives[i][0][0])
        self.members = [buffers[i] for i in self.index]
        self.lives = [lives[i] for i in self.index]
        births = [life[0][0] for life in self.lives]
        during = [bisect_left(births, life[-1][1]) for life in self.lives]
        self.pairs = sum(during) - sum(range(1, len(births) + 1))
        self.until = [
            end if len(life) == 1 else i + 1
            for i, (end, life) in enumerate(zip(during, self.lives, strict=True))
        ]

    @cached_property
    def before(self) -> list[list[int]]:
        """For each member, its neighbours that are not in the slice.  O(pairs) memory."""
        alive: list[int] = []
        found: list[list[int]] = []
        gapped: list[int] = []
        for i, life in enumerate(self.lives):
            born = life[0][0]
            alive = [j for j in alive if self.lives[j][-1][1] > born]
            found.append([j for j in alive if self._meet(j, i)] if gapped else alive)
            for j in gapped:
                if self._meet(j, i):
                    found[j].append(i)
            alive = [*alive, i]
            gapped = [j for j in gapped if self.lives[j][-1][1] > born]
            if len(life) > 1:
                found[i] = list(found[i])
                gapped.append(i)
        return found

    def _meet(self, i: int, j: int) -> bool:
        """Whether there is a step in which both live."""
        ours, theirs = self.lives[i], self.lives[j]
        return any(max(a[0], b[0]) < min(a[1], b[1]) for a in ours for b in theirs)

    def offsets(self, spans: Sequence[tuple[int, int] | None]) -> list[int]:
        """Offsets of all buffers, from the spans of the members."""
        offsets = [b.pinned or 0 for b in self.buffers]
        for i, span in zip(self.index, spans, strict=True):
            offsets[i] = span[0] if span else 0
        return offsets

    def orders(self) -> Iterator[tuple[str, list[int]]]:
        """(name, members), those first that most often reach the bound; pinned ones always lead."""
        size = [b.size_bytes for b in self.members]
        life = [sum([dies - born for born, dies in lives]) for lives in self.lives]
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
        steps = sorted({step for lives in self.lives for life in lives for step in life})
        change = [0] * len(steps)
        for b, lives in zip(self.members, self.lives, strict=True):
            for born, dies in lives:
                change[bisect_left(steps, born)] += b.size_bytes
                change[bisect_left(steps, dies)] -= b.size_bytes
        live = 0
        levels = [[live := live + c for c in change]]
        while (width := 2 ** len(levels)) <= len(steps):  # a sparse table for range maxima
            last = levels[-1]
            levels.append([max(p, q) for p, q in zip(last, last[width // 2 :], strict=False)])
        return [
            max(
                [
                    _largest(levels, bisect_left(steps, born), bisect_right(steps, dies - 1))
                    for born, dies in lives
                ]
            )
            for lives in self.lives
        ]


def _largest(levels: Sequence[Sequence[int]], lower: int, upper: int) -> int:
    level = (upper - lower).bit_length() - 1
    return max(levels[level][lower], levels[level][upper - (1 << level)])
