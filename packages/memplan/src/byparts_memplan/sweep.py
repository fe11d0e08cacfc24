"""Places buffers as a heap would: step by step, each in the tightest hole that is free just then.

The cheapest planner, O(n log n): the first candidate of `place`, and the only one for problems too
large for the others.  It runs forwards and backwards in time, because a placement is valid either
way, and keeps the better; stacks, such as what a forward pass saves for its backward, come out
perfect.  Gaps are left empty.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence

from byparts_memplan.buffer import Buffer


def sweep(buffers: Sequence[Buffer]) -> list[int]:
    """A valid offset for each buffer.  Those that may move lie above all pinned ones."""
    real = [i for i, b in enumerate(buffers) if b.size_bytes and b.born < b.dies]
    free = [(i, buffers[i]) for i in real if buffers[i].pinned is None]
    ground = max((b.pinned + b.size_bytes for b in buffers if b.pinned is not None), default=0)
    forwards = _online(buffers, [(b.born, b.dies, i) for i, b in free], ground)
    backwards = _online(buffers, [(-b.dies, -b.born, i) for i, b in free], ground)
    best = min(forwards, backwards, key=lambda offsets: _top(buffers, offsets))
    return [best.get(i, b.pinned or 0) for i, b in enumerate(buffers)]


def _online(
    buffers: Sequence[Buffer], lives: Sequence[tuple[int, int, int]], ground: int
) -> dict[int, int]:
    """Offsets by buffer, all at or above `ground`; `lives` are (born, dies, buffer)."""
    heap = _Heap(ground)
    offsets: dict[int, int] = {}
    leaving = sorted(lives, key=lambda life: life[1])
    freed = 0
    for born, _, i in sorted(lives, key=lambda life: (life[0], -buffers[life[2]].size_bytes)):
        while leaving[freed][1] <= born:
            dead = leaving[freed][2]
            heap.free(offsets[dead], buffers[dead].size_bytes)
            freed += 1
        offsets[i] = heap.allocate(buffers[i].size_bytes, buffers[i].alignment)
    return offsets


def _top(buffers: Sequence[Buffer], offsets: dict[int, int]) -> int:
    return max((offset + buffers[i].size_bytes for i, offset in offsets.items()), default=0)


class _Heap:
    """Bytes from `top` upwards are free, and so are the holes below it, which never touch."""

    def __init__(self, top: int) -> None:
        self.top = top
        self.ends: dict[int, int] = {}  # of holes, by where they start
        self.starts: dict[int, int] = {}  # by where they end
        self.sizes: list[tuple[int, int]] = []  # (size, start), sorted

    def allocate(self, size: int, alignment: int) -> int:
        """Allocate bytes in the tightest hole that fits, or at the top.  Returns their offset."""
        for k in range(bisect_left(self.sizes, (size, 0)), len(self.sizes)):
            start = self.sizes[k][1]
            offset, end = start + -start % alignment, self.ends[start]
            if offset + size <= end:
                self._remove(start)
                self._add(start, offset)
                self._add(offset + size, end)
                return offset
        start = self.starts.get(self.top, self.top)  # the hole under the top grows
        offset = start + -start % alignment
        if start < self.top:
            self._remove(start)
        self._add(start, offset)
        self.top = offset + size
        return offset

    def free(self, offset: int, size: int) -> None:
        """Free bytes, and merge them with the holes beside them."""
        start, end = self.starts.get(offset, offset), offset + size
        if start < offset:
            self._remove(start)
        if end in self.ends:
            following = end
            end = self.ends[following]
            self._remove(following)
        if end == self.top:
            self.top = start
        else:
            self._add(start, end)

    def _add(self, start: int, end: int) -> None:
        if start < end:
            self.ends[start], self.starts[end] = end, start
            insort(self.sizes, (end - start, start))

    def _remove(self, start: int) -> None:
        end = self.ends.pop(start)
        del self.starts[end]
        del self.sizes[bisect_left(self.sizes, (end - start, start))]
