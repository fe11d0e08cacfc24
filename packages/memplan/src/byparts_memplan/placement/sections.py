"""A placement problem as tables for exact search: who lives when, in steps that matter.

Time is cut into *sections*, the steps at which most are alive (maximal cliques of lives that
overlap); between them nothing new is born.  Bytes are counted in the largest unit that no tightly
packed placement can break, so that the search has few heights to think about.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from math import gcd

from byparts_memplan.buffer import Buffer

Lives = tuple[tuple[int, int], ...]


class Sections:
    """Tables by member (a buffer with bytes that lives; in order of birth) or by section.

    Attributes:
        index: member -> buffer.
        unit: bytes; heights and sizes are in units of it.
        size: of a member, with the padding that whoever lies on top of it must keep away.
        grid: a member's offset is a multiple of it; 1 is no restriction.
        pinned: the offset it must have, or -1.
        where: the half-open ranges of sections in which it lives; more than one where it has gaps.
        begins, ends: where the first of these begins and the last ends.
        near: those that it lives together with.
        group: equal for members that could be exchanged in any placement.
        members: those alive in a section, in order of birth.
        total: sum of their sizes.
        pad: bytes that the topmost of them need not pay; the largest padding of any.
        load: of a member, the largest total of its sections.
        gapped: whether any member has gaps.
    """

    def __init__(self, buffers: Sequence[Buffer]) -> None:
        self.buffers = buffers
        lives = [b.lives for b in buffers]
        real = [i for i, b in enumerate(buffers) if b.size_bytes and lives[i]]
        self.index = sorted(real, key=lambda i: (lives[i][0][0], -lives[i][-1][1]))
        ours = [buffers[i] for i in self.index]
        self.gapped = any(len(lives[i]) > 1 for i in self.index)
        self._measure(ours)
        self._find_sections([lives[i] for i in self.index])
        self.near = self._neighbours([lives[i] for i in self.index])
        self.total = [sum([self.size[b] for b in some]) for some in self.members]
        pads = [size * self.unit - b.size_bytes for size, b in zip(self.size, ours, strict=True)]
        self.pad = [max([pads[b] for b in some]) for some in self.members]
        self.load = [max([max(self.total[a:e]) for a, e in ranges]) for ranges in self.where]
        kinds: dict[tuple[object, ...], int] = {}
        self.group = [
            kinds.setdefault((b.size_bytes, self.grid[i], b.pinned, self.where[i]), len(kinds))
            for i, b in enumerate(ours)
        ]

    def _measure(self, ours: Sequence[Buffer]) -> None:
        """Set the unit, and sizes and offsets in it.

        In a tightly packed placement each member lies at 0, or aligned on top of another.
        """
        grain = gcd(*[b.alignment for b in ours]) if ours else 1
        sizes = [b.size_bytes + -b.size_bytes % grain for b in ours]
        unit = gcd(*sizes, *[b.pinned or 0 for b in ours]) or 1
        if any(unit % b.alignment for b in ours):
            unit = grain
        self.unit = unit
        self.size = [size // unit for size in sizes]
        self.grid = [b.alignment // gcd(unit, b.alignment) for b in ours]
        self.pinned = [-1 if b.pinned is None else b.pinned // unit for b in ours]

    def _find_sections(self, lives: Sequence[Lives]) -> None:
        """Find the sections, and in which of them each member lives."""
        events = [(born, 1, i) for i, some in enumerate(lives) for born, _ in some]
        events += [(dies, 0, i) for i, some in enumerate(lives) for _, dies in some]
        alive: set[int] = set()
        self.members: list[list[int]] = []
        first = [0] * len(lives)
        ranges: list[list[tuple[int, int]]] = [[] for _ in lives]
        grown = False
        for _, birth, i in sorted(events):
            if birth:
                alive.add(i)
                first[i] = len(self.members)
            else:
                if grown:
                    self.members.append(sorted(alive))
                alive.remove(i)
                ranges[i].append((first[i], len(self.members)))
            grown = bool(birth)
        self.where = [tuple(some) for some in ranges]
        self.begins = [some[0][0] for some in self.where]
        self.ends = [some[-1][1] for some in self.where]

    def _neighbours(self, lives: Sequence[Lives]) -> list[list[int]]:
        """For each member, those that it lives together with."""
        if self.gapped:
            met: list[set[int]] = [set() for _ in lives]
            for some in self.members:
                for i in some:
                    met[i].update(some)
            return [sorted(some - {i}) for i, some in enumerate(met)]
        births = [life[0][0] for life in lives]
        near: list[list[int]] = [[] for _ in lives]
        for i, life in enumerate(lives):
            later = range(i + 1, bisect_left(births, life[0][1]))
            near[i] += later
            for j in later:
                near[j].append(i)
        return near
