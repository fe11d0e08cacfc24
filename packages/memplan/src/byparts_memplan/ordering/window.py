"""The best order of a window, tasks that follow each other in a sequence; the others stay.

What is alive between two tasks depends only on the set of those that are done, so the search is
over sets, not orders (as SERENITY, Ahn et al. 2020, https://arxiv.org/abs/2003.02369, which goes
level by level; we go best first, so that the first path to the end is the best and only sets that
some order reaches below it are looked at).  A task that fits under the level reached so far and
leaves no more alive than before is run at once: no order loses by that, which makes most windows
of real networks nearly free of choices.  Exponential at worst, so it gives up after an effort.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush
from typing import Optional

from byparts_graph_ir.model.frozen import Frozen
from byparts_memplan.ordering.tasks import Tasks, saved_bytes

Path = Optional[tuple["Path", int]]  # the last task, behind those before it


class WindowOrder(Frozen):
    """The answer of a search for an order of a window.

    Attributes:
        tasks: an order that stays below the ceiling; `None` if there is none, or not in time.
        bound_bytes: no order stays below this.
        looks: tasks that were looked at.
    """

    tasks: Optional[list[int]]
    bound_bytes: int
    looks: int


class Window:
    """Tasks that follow each other in a sequence, numbered by their place; sets are bits.

    A *lazy* task frees nothing and costs nothing but what it makes, such as a constant: no order
    loses by making that right before the first task that waits for it.

    Attributes:
        wanted: for each task, bits of those that must be done before it, but for the lazy ones.
        after: those that wait for it.
        lazy: bits of the lazy tasks.
        first: for each task, the lazy ones to be run before it.
        adds: bytes it makes, less those of inputs that it alone reads.
        dies: (bits of the other readers, bytes) of inputs that may die in the window.
        over: (bits of the other readers, storage) of inputs it may write over if they die.
        saves: bytes it saves where any of those dies, if it has one output to write over them.
        final: bytes alive after the window, less those before it.
        feeds, idle: idle feeds that are alive until its first task is done, and their bytes.
        whole: bits of all its tasks.
    """

    def __init__(
        self, tasks: Tasks, window: Sequence[int], last: Sequence[int], start: int, end: int
    ) -> None:
        """From `start` up to `end` of a sequence; `last` says by storage where that is read last.

        Idle feeds die as soon as any task is done: where there are some, none is lazy.
        """
        self.table, self.tasks = tasks, list(window)
        self.feeds = frozenset(() if start else tasks.idle_feeds)
        self.idle = sum([tasks.size[k] for k in self.feeds])
        self.whole = (1 << len(self.tasks)) - 1
        readers: dict[int, int] = {}
        for i, task in enumerate(window):
            for r in tasks.reads[task]:
                if last[r] < end and r not in tasks.kept:
                    readers[r] = readers.get(r, 0) | 1 << i
        self.spent = [tasks.spent[u] for u in window]
        self.adds = [tasks.kept_writes[u] for u in window]
        self.final = sum(self.adds) - sum([tasks.size[r] for r in readers]) - self.idle
        self.dies: list[list[tuple[int, int]]] = [[] for _ in window]
        self.over: list[list[tuple[int, int]]] = [[] for _ in window]
        self.saves = [0] * len(window)
        for i, task in enumerate(window):
            self._weigh(i, task, readers)
        self._connect()

    def _connect(self) -> None:
        """Find what waits for what, lazy tasks as parts of those that wait for them."""
        before, index = self.table.before, {task: i for i, task in enumerate(self.tasks)}
        self.lazy = 0
        self.wanted: list[int] = []
        self.first: list[list[int]] = []
        self.after: list[list[int]] = [[] for _ in self.tasks]
        for i, task in enumerate(self.tasks):
            earlier = [index[t] for t in before[task] if t in index]
            lazy = [j for j in earlier if self.lazy >> j & 1]
            first = sorted({*lazy, *[k for j in lazy for k in self.first[j]]})
            wanted = _bits(j for j in earlier if j not in lazy)
            for j in first:
                wanted |= self.wanted[j]
            if not (self.idle or self.dies[i]) and self.adds[i] == self.spent[i]:
                self.lazy |= 1 << i
            else:
                for j in _places(wanted):
                    self.after[j].append(i)
            self.first.append(first)
            self.wanted.append(wanted)

    def _weigh(self, i: int, task: int, readers: dict[int, int]) -> None:
        """Set what task `i` adds, which inputs may die in it, and what that saves."""
        tasks = self.table
        for r in tasks.reads[task]:
            others = readers.get(r, 0) & ~(1 << i)
            if others:
                self.dies[i].append((others, tasks.size[r]))
            elif r in readers:
                self.adds[i] -= tasks.size[r]
        over = tasks.over[task]
        inputs = {c for _, candidates in over for c in candidates if c in readers}
        self.over[i] = [(readers[c] & ~(1 << i), c) for c in sorted(inputs)]
        self.saves[i] = tasks.size[over[0][0]] if len(over) == 1 else 0

    def level(self, i: int, rest: int) -> int:
        """Bytes that task `i` needs beyond those alive before it, while `rest` is not done."""
        dying = [c for others, c in self.over[i] if not others & rest]
        if self.feeds and rest == self.whole:
            over = self.table.over[self.tasks[i]]
            dying += [c for _, candidates in over for c in candidates if c in self.feeds]
        if not dying:
            return self.spent[i]
        if self.saves[i]:
            return self.spent[i] - self.saves[i]
        return self.spent[i] - saved_bytes(self.table.over[self.tasks[i]], dying, self.table.size)

    def added(self, i: int, rest: int) -> int:
        """Bytes alive after task `i`, less those before it."""
        change = self.adds[i]
        for others, size in self.dies[i]:
            if not others & rest:
                change -= size
        return change

    def alive(self, live: int) -> tuple[list[int], list[int]]:
        """Bytes alive during each task and before it, in the order in which they stand."""
        during, before = [], []
        rest = self.whole
        for i in range(len(self.tasks)):
            before.append(live)
            during.append(live + self.level(i, rest))
            live += self.added(i, rest) - (0 if i else self.idle)
            rest ^= 1 << i
        return during, before


def best_order(window: Window, live: int, floor: int, ceiling: int, effort: int) -> WindowOrder:
    """The order with the lowest peak, if that is below `ceiling`; below `floor` all are as good.

    `live` bytes are alive before the window.  Gives up once it has looked at `effort` tasks.
    """
    return _BestFirst(window, ceiling, effort).run(live, max(floor, live, live + window.final))


class _BestFirst:
    """Best first; of equal levels the set with most done, so that it dives while it can.

    Attributes:
        reached: what is not done -> the lowest level to get there.
        closed: what is not done, of sets whose followers are known.
        open: heap of (level, tasks left, bytes alive, number, what is not done, ready tasks, path).
    """

    def __init__(self, window: Window, ceiling: int, effort: int) -> None:
        self.window, self.ceiling, self.effort = window, ceiling, effort
        self.looks = self.pushed = 0
        self.reached: dict[int, int] = {}
        self.closed: set[int] = set()
        self.open: list[tuple[int, int, int, int, int, int, Path]] = []

    def run(self, live: int, level: int) -> WindowOrder:
        window = self.window
        rest = window.whole
        if not rest & ~window.lazy and level < self.ceiling:
            return WindowOrder(window.tasks, level, 0)
        ready = _bits(i for i, bits in enumerate(window.wanted) if not bits) & ~window.lazy
        self._branch(level, live, rest, ready, None, window.idle)
        while self.open:
            level, _, live, _, rest, ready, path = heappop(self.open)
            if self.looks > self.effort:
                return WindowOrder(None, level, self.looks)
            if self.reached[rest] < level:
                continue
            live, rest, ready, path = self._run_free(level, live, rest, ready, path)
            if not rest & ~window.lazy:
                return WindowOrder(self._tasks(path), level, self.looks)
            if rest not in self.closed:
                self.closed.add(rest)
                self._branch(level, live, rest, ready, path)
        return WindowOrder(None, self.ceiling, self.looks)

    def _run_free(
        self, level: int, live: int, rest: int, ready: int, path: Path
    ) -> tuple[int, int, int, Path]:
        """Run what can only help, until there is a choice to make."""
        todo = ready
        while todo:
            bit = todo & -todo
            todo ^= bit
            i = bit.bit_length() - 1
            needs, then, after = self._run(i, live, rest)
            if then <= live and needs <= level:
                live, rest, path = then, after, (path, i)
                ready = todo = self._ready(ready ^ bit, rest, i)
        return live, rest, ready, path

    def _branch(
        self, level: int, live: int, rest: int, ready: int, path: Path, idle: int = 0
    ) -> None:
        """Open all sets that come next without reaching the ceiling."""
        for i in _places(ready):
            needs, then, after = self._run(i, live, rest)
            needs = max(needs, level)
            if needs < self.reached.get(after, self.ceiling):
                self.reached[after] = needs
                self.pushed += 1
                now_ready = self._ready(ready ^ 1 << i, after, i)
                key = (needs, after.bit_count(), then - idle, self.pushed)
                heappush(self.open, (*key, after, now_ready, (path, i)))

    def _run(self, i: int, live: int, rest: int) -> tuple[int, int, int]:
        """A task, behind the lazy ones it needs: what is alive in it and after it, and the rest."""
        window = self.window
        for j in window.first[i]:
            if rest >> j & 1:
                live += window.adds[j]
                rest ^= 1 << j
        self.looks += 1
        needs = live + window.level(i, rest)
        return needs, live + window.added(i, rest), rest ^ 1 << i

    def _ready(self, ready: int, rest: int, done: int) -> int:
        """The ready tasks, with those that waited for the one just done and for nothing else."""
        wanted = self.window.wanted
        return ready | _bits(j for j in self.window.after[done] if not wanted[j] & rest)

    def _tasks(self, path: Path) -> list[int]:
        """The path, lazy tasks before the first one that needs them, the others at the end."""
        places: list[int] = []
        while path is not None:
            path, i = path
            places.append(i)
        order: dict[int, None] = {}
        for i in reversed(places):
            order.update(dict.fromkeys((*self.window.first[i], i)))
        order.update(dict.fromkeys(range(len(self.window.tasks))))
        return [self.window.tasks[i] for i in order]


def _bits(places: Iterable[int]) -> int:
    bits = 0
    for i in places:
        bits |= 1 << i
    return bits


def _places(bits: int) -> Iterator[int]:
    while bits:
        bit = bits & -bits
        yield bit.bit_length() - 1
        bits ^= bit
