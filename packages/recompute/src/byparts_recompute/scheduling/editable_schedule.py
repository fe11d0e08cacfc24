"""A schedule with recomputation that can be changed step by step, and knows its true peak.

The base order runs each step once; the last step of all is the caller, who reads the outputs.
*Interval* k is the time between base steps k - 1 and k, and ends with base step k.  To compute step
s < k again in interval k is one integer, its key `k * n + s`; base step s has the key `s * n + s`.
So a schedule is the base order and a set of keys.  Every set is valid, because within an interval
the steps run in the base order, which has inputs before users.

A storage lives from each of its computations to the last reader before the next one.  Inserting or
removing a key changes some lifetimes, and `LiveBytes` follows: some tens of microseconds instead of
a new simulation.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Union

from byparts_memplan.steps import Steps
from byparts_recompute.scheduling.live_bytes import LiveBytes, State

Mark = tuple[int, State, float]
_SET, _INSERTED, _DELETED = 0, 1, 2  # what a change did to an entry of a list or table
_Change = tuple[int, Union[list[int], dict[int, int]], int, int]  # kind, where, index, old entry


class EditableSchedule:
    """The base order of some steps, and the keys of what is computed again.

    Attributes:
        n: steps, the caller's too; here numbered as they stand in the base order.
        keys: of what is computed again.
        cost: of all that is computed again.
        starts, ends: by storage, the keys of its computations, and of the last reader of each.
        readers: by storage, the keys of all steps that read it, sorted.
        live: bytes alive at each key.
        feed_bytes: bytes of the inputs, alive before all steps.
    """

    def __init__(self, steps: Steps, base: Sequence[int], keys: Iterable[int] = ()) -> None:
        """`base` is a permutation of the steps with inputs before users.  O(schedule)."""
        self.steps, self.base, size = steps, list(base), steps.size
        self.n, self.size, self.feeds = len(self.base) + 1, size, frozenset(steps.feeds)
        self.end = self.n * self.n - 1  # the key at which the caller reads
        self.reads = [tuple(r for r in steps.reads[s] if size[r]) for s in base]
        self.reads.append(tuple(sorted(k for k in steps.kept if size[k])))
        self.writes = [tuple(w for w in steps.writes[s] if size[w]) for s in base] + [()]
        self.over = [steps.over[s] for s in base] + [()]
        self.again = [steps.again[s] and bool(steps.writes[s]) for s in base] + [False]
        self.price = [steps.cost[s] for s in base] + [0.0]
        self.written = [sum(size[w] for w in written) for written in self.writes]
        self.writer = {w: s for s, written in enumerate(self.writes) for w in written}
        self.feed_bytes = sum(size[v] for v in self.feeds)
        self.keys: set[int] = {-1}  # differs from all sets of keys, so that the first one is loaded
        self.load(keys)

    def load(self, keys: Iterable[int]) -> None:
        """Replace the keys.  O(schedule), or O(keys log keys) where these are loaded already."""
        n, loaded = self.n, set(keys)
        self.cost = sum([self.price[k % n] for k in sorted(loaded)])
        if loaded == self.keys:
            return
        self.keys = loaded
        order = sorted([*loaded, *range(0, n * n, n + 1)])
        starts: dict[int, list[int]] = {f: [-1] for f in self.feeds}
        readers: dict[int, list[int]] = {f: [] for f in self.feeds}
        reads, writes = self.reads, self.writes
        for key in order:
            s = key % n
            for w in writes[s]:
                if w in starts:
                    starts[w].append(key)
                else:
                    starts[w], readers[w] = [key], []
            for r in reads[s]:
                readers[r].append(key)
        self.starts, self.readers = starts, readers
        self.ends = {v: self._ends(v) for v in starts}
        self.reused: dict[int, int] = {}  # by key, bytes of outputs written over inputs
        self._trail: list[_Change] = []
        self.live = self._simulated(order)

    def forget(self) -> None:
        """Drop the trail; earlier marks must not be used any more."""
        self._trail.clear()

    def _ends(self, v: int) -> list[int]:
        """For each computation of a storage, the key of its last reader."""
        starts, readers = self.starts[v], self.readers[v]
        if len(starts) == 1:  # most are computed once
            return [readers[-1] if readers else starts[0]]
        ends = []
        for start, until in zip(starts, [*starts[1:], self.end + 1], strict=True):
            j = bisect_left(readers, until)
            ends.append(self._last_before(readers, j, start))
        return ends

    def _last_before(self, readers: Sequence[int], j: int, start: int) -> int:
        """The last of the first `j` readers, if it comes after `start`; otherwise `start`."""
        return readers[j - 1] if j and readers[j - 1] > start else start

    def _simulated(self, order: list[int]) -> LiveBytes:
        """Bytes alive at each key of the order, computed from all lifetimes."""
        change: dict[int, int] = dict.fromkeys(order, 0)
        change[-1] = 0
        freed: dict[int, int] = {}  # by key, bytes that are not alive after it
        over, n, sizes = self.over, self.n, self.size
        for v, starts in self.starts.items():
            size = sizes[v]
            for start, end in zip(starts, self.ends[v], strict=True):
                change[start] += size
                freed[end] = freed.get(end, 0) + size
        level, live = change[-1], []
        freed_at_start = freed.get(-1, 0)  # inputs without readers live until the first step
        for key in order:
            level += change[key]
            reused = self._reusable(key) if over[key % n] else 0
            if reused:
                self.reused[key] = reused
            live.append(level - reused)
            level -= freed.get(key, 0) + freed_at_start
            freed_at_start = 0
        return LiveBytes(order, live)

    def peak_bytes(self) -> int:
        """The most that is alive at any position, or while the caller writes the inputs."""
        return max(self.live.peak(), self.feed_bytes)

    def sequence(self) -> list[int]:
        """The steps, in the numbers of `Steps`, as they run."""
        n = self.n
        order = sorted([*self.keys, *range(0, n * n, n + 1)])
        return [self.base[key % n] for key in order[:-1]]

    def insert(self, key: int) -> None:
        """Compute step `key % n` again in interval `key // n`."""
        s, trail, live = key % self.n, self._trail, self.live
        follower, level = live.following(key)
        level += self.reused.get(follower, 0)
        live.insert(key, level - self.written[follower % self.n])
        self.keys.add(key)
        self.cost += self.price[s]
        for x in self.reads[s]:
            readers, ends = self.readers[x], self.ends[x]
            j = bisect_left(readers, key)
            readers.insert(j, key)
            trail.append((_INSERTED, readers, j, 0))
            i = bisect_left(self.starts[x], key) - 1
            end = ends[i]
            if end < key:
                live.add(end, key, self.size[x])
                trail.append((_SET, ends, i, end))
                ends[i] = key
                self._update_reused(end)
        for w in self.writes[s]:
            self._insert_computation(w, key)
        self._update_reused(key)

    def _insert_computation(self, w: int, key: int) -> None:
        """Storage `w` is computed again at a key, so later readers do not need the old bytes."""
        starts, ends, readers = self.starts[w], self.ends[w], self.readers[w]
        i, j = bisect_left(starts, key), bisect_left(readers, key)
        end = ends[i - 1]
        starts.insert(i, key)
        ends.insert(i, max(end, key))
        self._trail += ((_INSERTED, starts, i, 0), (_INSERTED, ends, i, 0))
        if end < key:
            self.live.add(key - 1, key, self.size[w])
            return
        last = self._last_before(readers, j, starts[i - 1])
        self._trail.append((_SET, ends, i - 1, end))
        ends[i - 1] = last
        self.live.add(last, key - 1, -self.size[w])
        self._update_reused(last)

    def remove(self, key: int) -> None:
        """Do not compute a step again at a key: its readers read the computation before it."""
        s, trail = key % self.n, self._trail
        self.keys.discard(key)
        self.cost -= self.price[s]
        if key in self.reused:
            trail.append((_SET, self.reused, key, self.reused.pop(key)))
        self.live.remove(key)
        for w in self.writes[s]:
            starts, ends = self.starts[w], self.ends[w]
            i = bisect_left(starts, key)
            end = ends.pop(i)
            del starts[i]
            trail += ((_DELETED, ends, i, end), (_DELETED, starts, i, key))
            if end > key:
                last = ends[i - 1]
                trail.append((_SET, ends, i - 1, last))
                ends[i - 1] = end
                self.live.add(last, key, self.size[w])
                self._update_reused(last)
        for x in self.reads[s]:
            self._remove_reader(x, key)

    def _remove_reader(self, x: int, key: int) -> None:
        """Storage `x` is not read at a key any more."""
        readers, starts, ends = self.readers[x], self.starts[x], self.ends[x]
        j = bisect_left(readers, key)
        del readers[j]
        self._trail.append((_DELETED, readers, j, key))
        i = bisect_left(starts, key) - 1
        if ends[i] == key:
            last = self._last_before(readers, j, starts[i])
            self._trail.append((_SET, ends, i, key))
            ends[i] = last
            self.live.add(last, key, -self.size[x])
            self._update_reused(last)

    def mark(self) -> Mark:
        """A mark for `undo` to return to the present state.  O(blocks of `LiveBytes`)."""
        return len(self._trail), self.live.state(), self.cost

    def undo(self, mark: Mark) -> None:
        """Undo changes until the trail is as long as at the mark; the caller restores `keys`."""
        length, state, self.cost = mark
        self.live.restore(state)
        trail = self._trail
        while len(trail) > length:
            kind, where, i, old = trail.pop()
            if kind == _SET:
                where[i] = old
            elif kind == _INSERTED:
                del where[i]
            else:
                where.insert(i, old)  # type: ignore[union-attr]  # entries of `reused` are only set

    def is_read(self, key: int) -> bool:
        """Whether any step reads what is computed at a key."""
        for w in self.writes[key % self.n]:
            if self.ends[w][bisect_left(self.starts[w], key)] > key:
                return True
        return False

    def last_read(self, v: int, key: int) -> int:
        """The key at which the latest computation of storage `v` before a key is last read."""
        return self.ends[v][bisect_left(self.starts[v], key) - 1]

    def _update_reused(self, key: int) -> None:
        """Update which outputs are written over inputs at a key, after lifetimes changed."""
        if key < 0 or not self.over[key % self.n]:
            return
        new, old = self._reusable(key), self.reused.get(key, 0)
        if new != old:
            self._trail.append((_SET, self.reused, key, old))
            self.reused[key] = new
            self.live.add(key - 1, key, old - new)

    def _reusable(self, key: int) -> int:
        """Bytes of outputs that can be written over inputs whose last reader is at this key."""
        reused = 0
        taken: list[int] = []
        for w, candidates in self.over[key % self.n]:
            for c in candidates:
                if c not in taken and self.last_read(c, key) == key:
                    taken.append(c)
                    reused += self.size[w]
                    break
        return reused
