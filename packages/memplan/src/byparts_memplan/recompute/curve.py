"""Bytes alive at each position of a schedule that changes: insert, remove, add to a range, maximum.

A position is named by its key, an integer that says where it stands; keys are ordered as time is.
They are kept in blocks of equal spans of keys, each with what has been added to all of it and with
its maximum, so that every operation costs about the square root of the number of positions.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

_BLOCK = 16  # positions: below that, Python's own loops are as fast as looking after blocks

State = tuple[list[list[int]], list[list[int]], list[int], list[int]]


class Curve:
    """Bytes by key.

    Attributes:
        keys, live: by block, the sorted keys and their bytes without `added`.
        added: by block, bytes that all its positions have besides.
        top: by block, the maximum of `live`.
    """

    def __init__(self, keys: Sequence[int], live: Sequence[int], stride: int) -> None:
        """Keys `stage * stride + step`; there is a position at the end of each stage."""
        stages = max(1, stride)
        self.span = stride * max(1, min(stages, int(max(_BLOCK, stages**0.5))))
        count = stages * stride // self.span + 1
        self.keys: list[list[int]] = [[] for _ in range(count)]
        self.live: list[list[int]] = [[] for _ in range(count)]
        for key, size in zip(keys, live, strict=True):
            self.keys[key // self.span].append(key)
            self.live[key // self.span].append(size)
        self.added = [0] * count
        self.top = [max(block, default=0) for block in self.live]

    def peak(self) -> int:
        """The maximum."""
        return max(map(int.__add__, self.top, self.added))

    def worst(self) -> int:
        """The first key where the maximum is."""
        peak = self.peak()
        for b, top in enumerate(self.top):
            if top + self.added[b] == peak and self.keys[b]:
                return self.keys[b][self.live[b].index(top)]
        raise AssertionError("a curve has positions")

    def excess(self, limit: int) -> int:
        """By how much each position is over the limit, summed over all."""
        found = 0
        for b, top in enumerate(self.top):
            room = limit - self.added[b]
            if top > room:
                over = [x for x in self.live[b] if x > room]
                found += sum(over) - room * len(over)
        return found

    def over(self, limit: int) -> list[int]:
        """The keys that are over the limit."""
        found: list[int] = []
        for b, top in enumerate(self.top):
            room = limit - self.added[b]
            if top > room:
                block = zip(self.keys[b], self.live[b], strict=True)
                found += [key for key, x in block if x > room]
        return found

    def following(self, key: int) -> tuple[int, int]:
        """The first position after a key, and its bytes."""
        b = key // self.span
        i = bisect_right(self.keys[b], key)
        while i == len(self.keys[b]):
            b, i = b + 1, 0
        return self.keys[b][i], self.live[b][i] + self.added[b]

    def insert(self, key: int, size: int) -> None:
        """A new position."""
        b = key // self.span
        keys, live = self.keys[b], self.live[b]
        i = bisect_left(keys, key)
        size -= self.added[b]
        self.keys[b] = [*keys[:i], key, *keys[i:]]
        self.live[b] = [*live[:i], size, *live[i:]]
        if size > self.top[b]:
            self.top[b] = size

    def remove(self, key: int) -> None:
        """Take a position away."""
        b = key // self.span
        keys, live = self.keys[b], self.live[b]
        i = bisect_left(keys, key)
        self.keys[b] = keys[:i] + keys[i + 1 :]
        self.live[b] = left = live[:i] + live[i + 1 :]
        if live[i] == self.top[b]:
            self.top[b] = max(left, default=0)

    def add(self, after: int, until: int, size: int) -> None:
        """To all positions in `(after, until]`."""
        span, added = self.span, self.added
        first, last = max(0, after) // span, min(until // span, len(added) - 1)
        self._add_within(first, after, until, size)
        if first < last:
            for b in range(first + 1, last):
                added[b] += size
            self._add_within(last, after, until, size)

    def state(self) -> State:
        """What `restore` needs to come back to this; blocks are replaced, never changed."""
        return self.keys[:], self.live[:], self.added[:], self.top[:]

    def restore(self, state: State) -> None:
        """As it was then; a state is used once."""
        self.keys, self.live, self.added, self.top = state

    def _add_within(self, b: int, after: int, until: int, size: int) -> None:
        keys, live = self.keys[b], self.live[b]
        lower = bisect_right(keys, after)
        upper = bisect_right(keys, until, lower)
        if lower < upper:
            if upper - lower == len(keys):
                self.added[b] += size
                return
            changed = [x + size for x in live[lower:upper]]
            self.live[b] = live = [*live[:lower], *changed, *live[upper:]]
            self.top[b] = max(live)
