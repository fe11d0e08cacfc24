"""Bytes alive at each position of a schedule that changes: insert, remove, add to a range, maximum.

A position is named by its key, an integer; keys are ordered as time is.  Positions are kept in
blocks, each with its maximum and with the bytes that were added to all of its positions, so every
operation costs about the square root of the number of positions.  The list of a block is replaced,
never changed in place, so a copy of the list of blocks is a copy of the state.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

_SHORTEST_BLOCK = 16  # positions: for shorter blocks, a loop over all positions is as fast
_EMPTY = -(1 << 62)  # the maximum of a block without positions

State = tuple[list[int], list[list[int]], list[list[int]], list[int], list[int], list[int]]


class LiveBytes:
    """Bytes alive by key.

    Attributes:
        first: by block, the smallest key that belongs to it.
        keys, live: by block, its sorted keys, and their bytes less `added`.
        added: by block, bytes that all its positions have in addition to `live`.
        top: by block, the maximum of `live`.
        low: by block, a lower bound of `live`.
    """

    def __init__(self, keys: Sequence[int], live: Sequence[int]) -> None:
        """Keys are sorted; keys inserted later lie between the first and the last of these."""
        self._block_length = max(_SHORTEST_BLOCK, int(len(keys) ** 0.5 / 2))
        starts = range(0, len(keys), self._block_length)
        self.keys = [list(keys[i : i + self._block_length]) for i in starts]
        self.live = [list(live[i : i + self._block_length]) for i in starts]
        self.first = [block[0] for block in self.keys]
        self.added = [0] * len(self.keys)
        self.top = [max(block) for block in self.live]
        self.low = [min(block) for block in self.live]

    def peak(self) -> int:
        """The maximum."""
        return max(map(int.__add__, self.top, self.added))

    def peak_key(self) -> int:
        """The first key at which the maximum is reached."""
        peak = self.peak()
        for b, top in enumerate(self.top):
            if top + self.added[b] == peak and self.keys[b]:
                return self.keys[b][self.live[b].index(top)]
        raise AssertionError("there is at least one position")

    def excess(self, limit: int) -> int:
        """Bytes above the limit, summed over all positions."""
        excess = 0
        for b, (top, added) in enumerate(zip(self.top, self.added, strict=True)):
            room = limit - added
            if top > room:
                over = self.live[b]
                if self.low[b] < room:
                    self.low[b] = min(over)
                    over = [x for x in over if x > room]
                excess += sum(over) - room * len(over)
        return excess

    def keys_over(self, limit: int) -> list[int]:
        """The keys with more bytes than the limit, sorted."""
        keys: list[int] = []
        for b, top in enumerate(self.top):
            room = limit - self.added[b]
            if top > room:
                block = zip(self.keys[b], self.live[b], strict=True)
                keys += [key for key, x in block if x > room]
        return keys

    def following(self, key: int) -> tuple[int, int]:
        """The first key after `key`, and its bytes."""
        b = bisect_right(self.first, key) - 1
        i = bisect_right(self.keys[b], key)
        while i == len(self.keys[b]):
            b, i = b + 1, 0
        return self.keys[b][i], self.live[b][i] + self.added[b]

    def insert(self, key: int, size: int) -> None:
        """Add a position with so many bytes."""
        b = bisect_right(self.first, key) - 1
        keys, live = self.keys[b], self.live[b]
        i = bisect_left(keys, key)
        size -= self.added[b]
        self.keys[b] = keys = [*keys[:i], key, *keys[i:]]
        self.live[b] = [*live[:i], size, *live[i:]]
        self.top[b], self.low[b] = max(self.top[b], size), min(self.low[b], size)
        if len(keys) > 4 * self._block_length:
            self._split(b)

    def remove(self, key: int) -> None:
        """Remove the position at a key."""
        b = bisect_right(self.first, key) - 1
        keys, live = self.keys[b], self.live[b]
        i = bisect_left(keys, key)
        self.keys[b] = keys[:i] + keys[i + 1 :]
        self.live[b] = left = live[:i] + live[i + 1 :]
        if live[i] == self.top[b]:
            self.top[b] = max(left, default=_EMPTY)

    def add(self, after: int, until: int, size: int) -> None:
        """Add bytes to all positions in `(after, until]`."""
        added, starts = self.added, self.first
        first = max(0, bisect_right(starts, after) - 1)
        last = bisect_right(starts, until, first) - 1
        self._add_within(first, after, until, size)
        if first < last:
            for b in range(first + 1, last):
                added[b] += size
            self._add_within(last, after, until, size)

    def state(self) -> State:
        """The present state, for `restore`."""
        return self.first[:], self.keys[:], self.live[:], self.added[:], self.top[:], self.low[:]

    def restore(self, state: State) -> None:
        """Return to an earlier state.  A state is used once."""
        self.first, self.keys, self.live, self.added, self.top, self.low = state

    def _add_within(self, b: int, after: int, until: int, size: int) -> None:
        keys, live = self.keys[b], self.live[b]
        lower = bisect_right(keys, after)
        upper = bisect_right(keys, until, lower)
        if upper - lower == len(keys):
            self.added[b] += size
        elif lower < upper:
            changed = [x + size for x in live[lower:upper]]
            self.live[b] = live = [*live[:lower], *changed, *live[upper:]]
            self.top[b] = max(live)
            if size < 0:
                self.low[b] += size

    def _split(self, b: int) -> None:
        """Divide a block in two."""
        keys, live, middle = self.keys[b], self.live[b], len(self.keys[b]) // 2
        self.first.insert(b + 1, keys[middle])
        self.keys[b : b + 1] = keys[:middle], keys[middle:]
        self.live[b : b + 1] = live[:middle], live[middle:]
        self.added.insert(b + 1, self.added[b])
        self.top[b : b + 1] = max(live[:middle]), max(live[middle:])
        self.low[b : b + 1] = min(live[:middle]), min(live[middle:])
