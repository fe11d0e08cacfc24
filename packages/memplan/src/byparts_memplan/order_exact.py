"""The best order of a stretch of tasks, all that comes before and after it left as it is.

What is alive between two tasks depends only on the set of those that are done, so the search is
over sets, not orders (as SERENITY, Ahn et al. 2020, https://arxiv.org/abs/2003.02369, which goes
level by level; we go best first, so that the first way to the end is the best and only sets that
some order reaches below it are looked at).  A task that fits under the level reached so far and
leaves no more alive than before is run at once: no order loses by that, which makes most stretches
of real networks nearly free of choices.  Exponential at worst, so it gives up after an effort.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from typing import Optional

from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_memplan.tasks import Tasks, saved_bytes

Path = Optional[tuple["Path", int]]  # the last task, behind those before it


@dataclass(frozen=True)
class Found:
    """What a search has to say of a stretch.

    Attributes:
        tasks: an order that stays below the ceiling; `None` if there is none, or not in time.
        bound_bytes: no order stays below this.
        looks: tasks that were looked at.
    """

    tasks: Optional[list[int]]
    bound_bytes: int
    looks: int


class Stretch:
    """Tasks that follow each other in a sequence, numbered by their place; sets are bits.

    Attributes:
        wanted: for each, bits of those in the stretch that it waits for.
        after: those that wait for it.
        adds: bytes it makes, less those of inputs that it alone reads.
        dies: (bits of the other readers, bytes) of inputs that may die in the stretch.
    """

    def __init__(self, tasks: Tasks, stretch: Sequence[int], last: Sequence[int], end: int) -> None:
        """`last` says by storage at which place of the sequence it is read last."""
        self.table, self.tasks = tasks, list(stretch)
        index = {task: i for i, task in enumerate(stretch)}
        self.wanted = [_bits(index[t] for t in tasks.before[u] if t in index) for u in stretch]
        self.after = [[index[t] for t in tasks.after[u] if t in index] for u in stretch]
        readers: dict[int, int] = {}
        for i, task in enumerate(stretch):
            for r in tasks.reads[task]:
                if last[r] < end and r not in tasks.kept:
                    readers[r] = readers.get(r, 0) | 1 << i
        self.spent = [tasks.spent[u] for u in stretch]
        self.adds = [tasks.made[u] for u in stretch]
        self.dies: list[list[tuple[int, int]]] = [[] for _ in stretch]
        self.over: list[list[tuple[int, int]]] = [[] for _ in stretch]
        for i, task in enumerate(stretch):
            self._reckon(i, task, readers)

    def _reckon(self, i: int, task: int, readers: dict[int, int]) -> None:
        tasks = self.table
        for r in tasks.reads[task]:
            others = readers.get(r, 0) & ~(1 << i)
            if others:
                self.dies[i].append((others, tasks.size[r]))
            elif r in readers:
                self.adds[i] -= tasks.size[r]
        inputs = {c for _, candidates in tasks.over[task] for c in candidates if c in readers}
        self.over[i] = [(readers[c] & ~(1 << i), c) for c in sorted(inputs)]

    def level(self, i: int, rest: int) -> int:
        """Bytes that task `i` needs beyond those alive before it, while `rest` is not done."""
        if not self.over[i]:
            return self.spent[i]
        dying = [c for others, c in self.over[i] if not others & rest]
        if not dying:
            return self.spent[i]
        return self.spent[i] - saved_bytes(self.table.over[self.tasks[i]], dying, self.table.size)

    def added(self, i: int, rest: int) -> int:
        """Bytes alive after task `i`, less those before it."""
        change = self.adds[i]
        for others, size in self.dies[i]:
            if not others & rest:
                change -= size
        return change


def best_order(
    stretch: Stretch, live: int, idle: int, floor: int, ceiling: int, effort: int
) -> Found:
    """The order with the lowest worst level, if that is below `ceiling`; below `floor` all are one.

    `live` bytes are alive before the stretch, `idle` of them only until its first task is done.
    Gives up once it has looked at `effort` tasks.
    """
    return _Search(stretch, ceiling, effort).run(live, idle, floor)


class _Search:
    """Best first; of equal levels the set with most done, so that it dives while it can."""

    def __init__(self, stretch: Stretch, ceiling: int, effort: int) -> None:
        self.stretch, self.ceiling, self.effort = stretch, ceiling, effort
        self.looks = 0
        self.reached: dict[int, int] = {}  # what is not done -> the lowest level to get there
        self.closed: set[int] = set()
        self.open: list[tuple[int, int, int, int, int, int, Path]] = []
        self.pushed = 0

    def run(self, live: int, idle: int, floor: int) -> Found:
        wanted = self.stretch.wanted
        rest = (1 << len(wanted)) - 1
        ready = _bits(i for i, bits in enumerate(wanted) if not bits)
        level = max(floor, live)
        self._branch(level, live, rest, ready, None, idle)
        while self.open:
            level, _, live, _, rest, ready, path = heappop(self.open)
            if self.looks > self.effort:
                return Found(None, level, self.looks)
            if self.reached[rest] < level:
                continue
            live, rest, ready, path = self._run_free(level, live, rest, ready, path)
            if not rest:
                return Found(self._tasks(path), level, self.looks)
            if rest not in self.closed:
                self.closed.add(rest)
                self._branch(level, live, rest, ready, path)
        return Found(None, self.ceiling, self.looks)

    def _run_free(
        self, level: int, live: int, rest: int, ready: int, path: Path
    ) -> tuple[int, int, int, Path]:
        """Run what can only help, until there is a choice to make."""
        stretch, todo = self.stretch, ready
        while todo:
            bit = todo & -todo
            todo ^= bit
            i = bit.bit_length() - 1
            self.looks += 1
            added = stretch.added(i, rest)
            if added <= 0 and live + stretch.level(i, rest) <= level:
                live += added
                rest ^= bit
                ready = todo = self._ready(ready ^ bit, rest, i)
                path = (path, i)
        return live, rest, ready, path

    def _branch(
        self, level: int, live: int, rest: int, ready: int, path: Path, idle: int = 0
    ) -> None:
        """Open all that can be next without reaching the ceiling."""
        stretch, left = self.stretch, rest.bit_count() - 1
        todo = ready
        while todo:
            bit = todo & -todo
            todo ^= bit
            i = bit.bit_length() - 1
            self.looks += 1
            needs, after = max(level, live + stretch.level(i, rest)), rest ^ bit
            if needs < self.reached.get(after, self.ceiling):
                self.reached[after] = needs
                self.pushed += 1
                then = live + stretch.added(i, rest) - idle
                ready_then = self._ready(ready ^ bit, after, i)
                entry = (needs, left, then, self.pushed, after, ready_then, (path, i))
                heappush(self.open, entry)

    def _ready(self, ready: int, rest: int, done: int) -> int:
        """With those that waited for the one just done, and for nothing else."""
        wanted = self.stretch.wanted
        return ready | _bits(j for j in self.stretch.after[done] if not wanted[j] & rest)

    def _tasks(self, path: Path) -> list[int]:
        found = []
        while path is not None:
            path, i = path
            found.append(self.stretch.tasks[i])
        return found[::-1]


def _bits(places: Iterable[int]) -> int:
    found = 0
    for i in places:
        found |= 1 << i
    return found
