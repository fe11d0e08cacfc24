"""Changes of a schedule that belong together, what they cost, and taking them back.

To free a value between two of its readers is to compute it again before the second.  What that
reads may be gone by then: it is computed again too, or kept alive until then; both are moves.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from random import Random

from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_memplan.recompute.schedule import Mark as Before, Schedule

Mark = tuple[int, Before, float]
_TIE = 1e-5  # of the whole cost: for writing all bytes again, so that nothing is quite free


@dataclass(frozen=True)
class Gap:
    """A storage that may be freed between the keys `since` and `reader`, both exclusive."""

    storage: int
    writer: int
    since: int
    reader: int


class Moves:
    """A schedule with a log.

    Attributes:
        schedule: what is changed.
        work: changes so far, in units of about 20 microseconds: what effort is counted in.
        cost: of all that is computed again, with a little for each byte.
        total: of the plain schedule.
    """

    def __init__(self, schedule: Schedule, keys: Iterable[int] = ()) -> None:
        self.schedule, self._log, self.work = schedule, list[int](), 0
        self.total = sum(schedule.price) or 1.0
        bytes_in_all = sum(schedule.written) or 1
        pairs = zip(schedule.price, schedule.written, strict=True)
        self.weight = [c + _TIE * self.total * w / bytes_in_all for c, w in pairs]
        self._deep = max(80, int(4 * schedule.n**0.5))
        self._unit = 1 + schedule.n // 1500
        self.load(keys)
        least = schedule.curve.peak() // 5000
        able = [
            (v, w)
            for v, w in schedule.writer.items()
            if schedule.size[v] and schedule.again[w] and v not in schedule.steps.workspaces
        ]
        self.large = [(v, w) for v, w in able if schedule.size[v] > least]

    def load(self, keys: Iterable[int]) -> None:
        """Start from these keys."""
        self.schedule.load(keys)
        n = self.schedule.n
        self.cost = sum(self.weight[key % n] for key in sorted(self.schedule.keys))
        self.forget()
        self.work += (len(self.schedule.keys) + n) // 8

    def insert(self, key: int) -> None:
        """Compute a step again."""
        self.schedule.insert(key)
        self.cost += self.weight[key % self.schedule.n]
        self._log.append(key)
        self.work += self._unit

    def remove(self, key: int) -> None:
        """Do not compute it again."""
        self.schedule.remove(key)
        self.cost -= self.weight[key % self.schedule.n]
        self._log.append(~key)
        self.work += self._unit

    def mark(self) -> Mark:
        """What `undo` needs to come back to this."""
        return len(self._log), self.schedule.mark(), self.cost

    def undo(self, mark: Mark) -> None:
        """Take back all since then; a mark is used once.  O(changes)."""
        length, before, self.cost = mark
        keys, log = self.schedule.keys, self._log
        while len(log) > length:
            key = log.pop()
            if key >= 0:
                keys.discard(key)
            else:
                keys.add(~key)
        self.schedule.back(before)

    def forget(self) -> None:
        """No mark that was made is gone back to."""
        self._log.clear()
        self.schedule.forget()

    def free(self, step: int, stage: int, deep: float, random: Random) -> bool:
        """Compute a step again in a stage, and what it needs that is gone by then.

        `deep` is how probable it is that something gone is computed again rather than kept.  False
        where that is too long a tale; some of it has then been done.
        """
        schedule, n = self.schedule, self.schedule.n
        todo, made = [step], 0
        while todo:
            s = todo.pop()
            key = stage * n + s
            if key in schedule.keys:
                continue
            made += 1
            if made > self._deep:
                return False
            for x in schedule.reads[s] if deep else ():
                w = schedule.writer.get(x)
                gone = w is not None and schedule.again[w] and schedule.alive(x, key) < stage * n
                if w is not None and gone and (deep == 1 or random.random() < deep):
                    todo.append(w)
            self.insert(key)
        return True

    def keep(self, key: int) -> None:
        """Do not compute something again, nor what was computed again only for it."""
        schedule, n = self.schedule, self.schedule.n
        self.remove(key)
        todo = [key]
        while todo:
            key = todo.pop()
            for x in schedule.reads[key % n]:
                starts = schedule.starts[x]
                start = starts[bisect_left(starts, key) - 1]
                if start in schedule.keys and not schedule.needed(start):
                    self.remove(start)
                    todo.append(start)

    def gaps(self, key: int) -> Iterator[Gap]:
        """Those of large storages that are alive at a key and not touched there.

        Or read there for the last time but for the reader after the gap: freed, it may be written
        over.
        """
        schedule = self.schedule
        self.work += len(self.large) // 16
        over = {c for _, candidates in schedule.over[key % schedule.n] for c in candidates}
        for v, w in self.large:
            starts = schedule.starts[v]
            i = bisect_right(starts, key) - 1
            if i < 0 or not starts[i] < key < schedule.ends[v][i]:
                continue
            readers = schedule.readers[v]
            j = bisect_left(readers, key)
            if readers[j] != key:
                since = readers[j - 1] if j and readers[j - 1] > starts[i] else starts[i]
                yield Gap(v, w, since, readers[j])
            elif v in over:
                yield Gap(v, w, key - 1, readers[j + 1])

    def estimate(self, step: int, stage: int) -> float:
        """About what it costs to compute a step again in a stage with all that is gone by then."""
        schedule, n = self.schedule, self.schedule.n
        found, seen, todo = 0.0, {step}, [step]
        while todo and len(seen) < 40:
            s = todo.pop()
            found += self.weight[s]
            for x in schedule.reads[s]:
                w = schedule.writer.get(x)
                if w is None or w in seen or not schedule.again[w]:
                    continue
                if schedule.alive(x, stage * n + s) < stage * n:
                    seen.add(w)
                    todo.append(w)
        return found
