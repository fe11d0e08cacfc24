"""Changes of a schedule that belong together, with what they cost; a group of them can be undone.

To free a value between two of its readers is to compute it again before the second one.  What that
computation reads may be freed by then: it is computed again too, or kept alive until then.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from random import Random

from byparts_graph_ir.model.frozen import Frozen
from byparts_recompute import tuning
from byparts_recompute.scheduling.editable_schedule import EditableSchedule, Mark as ScheduleMark

Mark = tuple[int, ScheduleMark, float]


class Gap(Frozen):
    """A storage that may be freed between the keys `since` and `reader`, both exclusive."""

    storage: int
    writer: int
    since: int
    reader: int


class Moves:
    """A schedule that is changed by moves, and a log of them.

    Attributes:
        schedule: what is changed.
        work: changes so far, in units of about 20 microseconds: what effort is counted in.
        cost: of all that is computed again, with a little for each byte (`TIE`).
        total: cost of all steps once.
        weight: by step, its cost with a little for each byte that it writes.
        large: (storage, writer) of all that is large enough to be worth freeing.
    """

    def __init__(self, schedule: EditableSchedule, keys: Iterable[int] = ()) -> None:
        self.schedule, self._log, self.work = schedule, list[int](), 0
        self.total = sum(schedule.price) or 1.0
        bytes_in_all = sum(schedule.written) or 1
        pairs = zip(schedule.price, schedule.written, strict=True)
        self.weight = [c + tuning.TIE * self.total * w / bytes_in_all for c, w in pairs]
        least, roots = tuning.LONGEST_CLOSURE
        self._most_steps = max(least, int(roots * schedule.n**0.5))
        self._unit = 1 + schedule.n // 1500  # changes of a longer schedule take longer
        self.load(keys)
        smallest = schedule.live.peak() // tuning.SMALLEST_GAP
        able = [
            (v, w)
            for v, w in schedule.writer.items()
            if schedule.size[v] and schedule.again[w] and v not in schedule.steps.workspaces
        ]
        self.large = [(v, w) for v, w in able if schedule.size[v] > smallest]

    def load(self, keys: Iterable[int]) -> None:
        """Replace all that is computed again by these keys."""
        self.schedule.load(keys)
        n = self.schedule.n
        self.cost = sum(self.weight[key % n] for key in sorted(self.schedule.keys))
        self.forget()
        self.work += (len(self.schedule.keys) + n) // 8

    def insert(self, key: int) -> None:
        """Compute a step again, at this key."""
        self.schedule.insert(key)
        self.cost += self.weight[key % self.schedule.n]
        self._log.append(key)
        self.work += self._unit

    def remove(self, key: int) -> None:
        """Do not compute a step again at this key."""
        self.schedule.remove(key)
        self.cost -= self.weight[key % self.schedule.n]
        self._log.append(~key)
        self.work += self._unit

    def mark(self) -> Mark:
        """A mark for `undo` to return to the present state.  A mark is used once."""
        return len(self._log), self.schedule.mark(), self.cost

    def undo(self, mark: Mark) -> None:
        """Undo all changes since the mark.  O(changes)."""
        length, schedule_mark, self.cost = mark
        keys, log = self.schedule.keys, self._log
        while len(log) > length:
            key = log.pop()
            if key >= 0:
                keys.discard(key)
            else:
                keys.add(~key)
        self.schedule.undo(schedule_mark)

    def forget(self) -> None:
        """Drop the log; earlier marks must not be used any more."""
        self._log.clear()
        self.schedule.forget()

    def recompute(self, step: int, interval: int, chance: float, random: Random) -> bool:
        """Compute a step again in an interval, and with it what it reads that is freed by then.

        A freed input is computed again with probability `chance`, otherwise kept alive until then.
        Returns False, with only part of it done, where too many steps would be needed.
        """
        schedule, n = self.schedule, self.schedule.n
        todo, count = [step], 0
        while todo:
            s = todo.pop()
            key = interval * n + s
            if key in schedule.keys:
                continue
            count += 1
            if count > self._most_steps:
                return False
            for x in schedule.reads[s] if chance else ():
                w = schedule.writer.get(x)
                if w is None or not schedule.again[w]:
                    continue
                freed = schedule.last_read(x, key) < interval * n
                if freed and (chance == 1 or random.random() < chance):
                    todo.append(w)
            self.insert(key)
        return True

    def cancel(self, key: int) -> None:
        """Do not compute a step again at a key, nor what was computed again only for it."""
        schedule, n = self.schedule, self.schedule.n
        self.remove(key)
        todo = [key]
        while todo:
            key = todo.pop()
            for x in schedule.reads[key % n]:
                starts = schedule.starts[x]
                start = starts[bisect_left(starts, key) - 1]
                if start in schedule.keys and not schedule.is_read(start):
                    self.remove(start)
                    todo.append(start)

    def gaps(self, key: int) -> Iterator[Gap]:
        """The gaps at a key: large storages that are alive and not touched there.

        Also those that an output of the step could be written over, if only they were not read
        again later.
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

    def estimate(self, step: int, interval: int) -> float:
        """The weight of computing a step again in an interval, with what it reads that is freed.

        Looks at a limited number of steps, so it may be too small.
        """
        schedule, n = self.schedule, self.schedule.n
        weight, seen, todo = 0.0, {step}, [step]
        while todo and len(seen) < tuning.ESTIMATED_STEPS:
            s = todo.pop()
            weight += self.weight[s]
            for x in schedule.reads[s]:
                w = schedule.writer.get(x)
                if w is None or w in seen or not schedule.again[w]:
                    continue
                if schedule.last_read(x, interval * n + s) < interval * n:
                    seen.add(w)
                    todo.append(w)
        return weight
