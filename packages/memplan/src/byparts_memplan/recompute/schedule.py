"""A schedule with recomputation that can be changed step by step, and knows its true peak.

The base order runs each step once; the last step of all is the caller, who reads the outputs.
*Stage* k is what happens between base steps k - 1 and k, and ends with base step k.  To compute
step s < k again in stage k is one integer, its key `k * n + s`, so a schedule is the base and a set
of keys: every set is valid, because within a stage recomputations run in the base's order, which
has inputs before users.  A storage lives from each of its computations to the last reader before
the next one.  Putting a key in or out changes some lifetimes, and `Curve` follows: some tens of
microseconds instead of a new simulation.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Union

from byparts_memplan.recompute.curve import Curve, State
from byparts_memplan.steps import Steps

Mark = tuple[int, State, float]
_PUT, _IN, _OUT = 0, 1, 2  # kinds of changes: replaced, put in, taken out
_Change = tuple[int, Union[list[int], dict[int, int]], int, int]


class Schedule:
    """The base order of some steps, and the keys of what is computed again.

    Attributes:
        n: steps, the caller's too; here numbered as they stand in the base.
        keys: of what is computed again.
        cost: of the schedule, recomputation alone.
        starts, ends: by storage, the keys of its computations and of the last reader of each.
        least: bytes that are alive before all steps.
        readers: by storage, the keys of all that read it, sorted.
    """

    def __init__(self, steps: Steps, base: Sequence[int], keys: Iterable[int] = ()) -> None:
        """`base` is a permutation of the steps with inputs before users.  O(schedule)."""
        self.steps, self.base, size = steps, list(base), steps.size
        self.n, self.size, self.feeds = len(self.base) + 1, size, frozenset(steps.feeds)
        self.end = self.n * self.n - 1  # when the caller reads
        self.reads = [tuple(r for r in steps.reads[s] if size[r]) for s in base]
        self.reads.append(tuple(sorted(k for k in steps.kept if size[k])))
        self.writes = [tuple(w for w in steps.writes[s] if size[w]) for s in base] + [()]
        self.over = [steps.over[s] for s in base] + [()]
        self.again = [steps.again[s] and bool(steps.writes[s]) for s in base] + [False]
        self.price = [steps.cost[s] for s in base] + [0.0]
        self.written = [sum(size[w] for w in written) for written in self.writes]
        self.writer = {w: s for s, written in enumerate(self.writes) for w in written}
        self.least = sum(size[v] for v in self.feeds)
        self.keys: set[int] = {-1}  # nothing is loaded yet
        self.load(keys)

    def load(self, keys: Iterable[int]) -> None:
        """Start from these keys.  O(schedule); O(keys log keys) where they are loaded already."""
        n, given = self.n, set(keys)
        self.cost = sum([self.price[k % n] for k in sorted(given)])
        if given == self.keys:
            return
        self.keys = given
        order = sorted([*given, *range(0, n * n, n + 1)])
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
        self.reused: dict[int, int] = {}
        self._trail: list[_Change] = []
        self._draw(order)

    def forget(self) -> None:
        """What was before is not come back to."""
        self._trail.clear()

    def _ends(self, v: int) -> list[int]:
        starts, readers = self.starts[v], self.readers[v]
        if len(starts) == 1:  # most are computed once
            return [readers[-1] if readers else starts[0]]
        found = []
        for i, start in enumerate(starts):
            until = starts[i + 1] if i + 1 < len(starts) else self.end + 1
            j = bisect_left(readers, until)
            found.append(readers[j - 1] if j and readers[j - 1] > start else start)
        return found

    def _draw(self, order: list[int]) -> None:
        change: dict[int, int] = dict.fromkeys(order, 0)
        change[-1] = 0
        after: dict[int, int] = {}
        over, n, sizes = self.over, self.n, self.size
        for v, starts in self.starts.items():
            size = sizes[v]
            for start, end in zip(starts, self.ends[v], strict=True):
                change[start] += size
                after[end] = after.get(end, 0) + size
        level, live = change[-1], []
        first_free = after.get(-1, 0)
        for key in order:
            level += change[key]
            reused = self._reusable(key) if over[key % n] else 0
            if reused:
                self.reused[key] = reused
            live.append(level - reused)
            level -= after.get(key, 0) + first_free
            first_free = 0
        self.curve = Curve(order, live)

    def peak_bytes(self) -> int:
        """The most that is alive at any position, or when the caller writes."""
        return max(self.curve.peak(), self.least)

    def sequence(self) -> list[int]:
        """The steps, in the numbers of `Steps`, as they run."""
        n = self.n
        order = sorted([*self.keys, *range(0, n * n, n + 1)])
        return [self.base[key % n] for key in order[:-1]]

    def insert(self, key: int) -> None:
        """Compute a step again."""
        s, trail, curve = key % self.n, self._trail, self.curve
        follower, level = curve.following(key)
        level += self.reused.get(follower, 0)
        curve.insert(key, level - self.written[follower % self.n])
        self.keys.add(key)
        self.cost += self.price[s]
        for x in self.reads[s]:
            readers, ends = self.readers[x], self.ends[x]
            j = bisect_left(readers, key)
            readers.insert(j, key)
            trail.append((_IN, readers, j, 0))
            i = bisect_left(self.starts[x], key) - 1
            end = ends[i]
            if end < key:
                curve.add(end, key, self.size[x])
                trail.append((_PUT, ends, i, end))
                ends[i] = key
                self._again_reused(end)
        for w in self.writes[s]:
            self._split(w, key)
        self._again_reused(key)

    def _split(self, w: int, key: int) -> None:
        """A storage is written anew: who reads it later does not need the old bytes."""
        starts, ends, readers = self.starts[w], self.ends[w], self.readers[w]
        i, j = bisect_left(starts, key), bisect_left(readers, key)
        end = ends[i - 1]
        starts.insert(i, key)
        ends.insert(i, max(end, key))
        self._trail += ((_IN, starts, i, 0), (_IN, ends, i, 0))
        if end < key:
            self.curve.add(key - 1, key, self.size[w])
            return
        last = readers[j - 1] if j and readers[j - 1] > starts[i - 1] else starts[i - 1]
        self._trail.append((_PUT, ends, i - 1, end))
        ends[i - 1] = last
        self.curve.add(last, key - 1, -self.size[w])
        self._again_reused(last)

    def remove(self, key: int) -> None:
        """Do not compute a step again: its readers read what was computed before."""
        s, trail = key % self.n, self._trail
        self.keys.discard(key)
        self.cost -= self.price[s]
        if key in self.reused:
            trail.append((_PUT, self.reused, key, self.reused.pop(key)))
        self.curve.remove(key)
        for w in self.writes[s]:
            starts, ends = self.starts[w], self.ends[w]
            i = bisect_left(starts, key)
            end = ends.pop(i)
            del starts[i]
            trail += ((_OUT, ends, i, end), (_OUT, starts, i, key))
            if end > key:
                last = ends[i - 1]
                trail.append((_PUT, ends, i - 1, last))
                ends[i - 1] = end
                self.curve.add(last, key, self.size[w])
                self._again_reused(last)
        for x in self.reads[s]:
            self._unread(x, key)

    def _unread(self, x: int, key: int) -> None:
        """Nobody reads a storage at a key any more."""
        readers, starts, ends = self.readers[x], self.starts[x], self.ends[x]
        j = bisect_left(readers, key)
        del readers[j]
        self._trail.append((_OUT, readers, j, key))
        i = bisect_left(starts, key) - 1
        if ends[i] == key:
            last = readers[j - 1] if j and readers[j - 1] > starts[i] else starts[i]
            self._trail.append((_PUT, ends, i, key))
            ends[i] = last
            self.curve.add(last, key, -self.size[x])
            self._again_reused(last)

    def mark(self) -> Mark:
        """What `back` needs to come back to this, but for the keys.  O(blocks of the curve)."""
        return len(self._trail), self.curve.state(), self.cost

    def back(self, mark: Mark) -> None:
        """As it was then; the caller puts the keys right.  O(changes since)."""
        length, state, self.cost = mark
        self.curve.restore(state)
        trail = self._trail
        while len(trail) > length:
            kind, where, i, old = trail.pop()
            if kind == _PUT:
                where[i] = old
            elif kind == _IN:
                del where[i]
            else:
                where.insert(i, old)  # type: ignore[union-attr]  # `reused` is only put to

    def needed(self, key: int) -> bool:
        """Whether anyone reads what is computed at a key."""
        for w in self.writes[key % self.n]:
            if self.ends[w][bisect_left(self.starts[w], key)] > key:
                return True
        return False

    def alive(self, v: int, key: int) -> int:
        """Where the computation of `v` before a key is last needed."""
        return self.ends[v][bisect_left(self.starts[v], key) - 1]

    def _again_reused(self, key: int) -> None:
        """What can be written in place at a position, after lifetimes changed."""
        if key < 0 or not self.over[key % self.n]:
            return
        new, old = self._reusable(key), self.reused.get(key, 0)
        if new != old:
            self._trail.append((_PUT, self.reused, key, old))
            self.reused[key] = new
            self.curve.add(key - 1, key, old - new)

    def _reusable(self, key: int) -> int:
        found = 0
        taken: list[int] = []
        for w, candidates in self.over[key % self.n]:
            for c in candidates:
                if c not in taken and self.alive(c, key) == key:
                    taken.append(c)
                    found += self.size[w]
                    break
        return found
