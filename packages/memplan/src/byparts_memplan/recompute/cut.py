"""What to save across a moment of a schedule, and what to compute again after it: a minimum cut.

Everything that is read after the moment has to be saved there, for its bytes, or computed again,
for a price times its cost, and then so has everything that this reads.  The cheapest choice is a
minimum cut, found by maximum flow (Dinic 1970).  PyTorch's partitioner does the same between
forward and backward pass with all-or-nothing costs; here a price trades bytes for cost, and a sweep
over prices gives the best compromises.  It knows of one moment only: where the peak lies elsewhere,
others have to look after it (`repair.py`).
"""

from __future__ import annotations

from collections.abc import Collection

from byparts_memplan.recompute.schedule import Schedule

_SOURCE, _SINK = 0, 1


def cuts(schedule: Schedule, moment: int, most: int = 12) -> list[frozenset[int]]:
    """Different sets of steps to compute again after base step `moment`, from most to fewest.

    Bisects the logarithm of the price; each cut is one maximum flow, quick in practice.
    """
    problem = _Problem(schedule, moment)
    if not problem.ratios:
        return []
    lower, upper = problem.ratios[0] / 64, problem.ratios[-1] * 64
    known = {lower: problem.solve(lower), upper: problem.solve(upper)}
    todo = [(lower, upper)]
    for low, high in todo:  # grows while we walk it: breadth first
        if len(set(known.values())) >= most or len(known) > 2 * most:
            break
        if known[low] != known[high] and high / low > 1.01:
            middle = (low * high) ** 0.5
            known[middle] = problem.solve(middle)
            todo += [(low, middle), (middle, high)]
    found = dict.fromkeys(known[price] for price in sorted(known))
    return [steps for steps in found if steps]


def keys_of(schedule: Schedule, moment: int, steps: Collection[int]) -> list[int]:
    """Compute each of the steps again where it is first needed after a moment.  O(graph)."""
    n, writer = schedule.n, schedule.writer
    made: set[int] = set()
    keys: list[int] = []
    for stage in range(moment + 1, n):
        todo = [stage]
        while todo:
            for x in schedule.reads[todo.pop()]:
                w = writer.get(x, -1)
                if w in steps and w not in made and w < stage:
                    made.add(w)
                    keys.append(stage * n + w)
                    todo.append(w)
    return keys


class _Problem:
    """Storages that may have to be saved, and the steps that could compute them again."""

    def __init__(self, schedule: Schedule, moment: int) -> None:
        self.schedule = schedule
        n, border = schedule.n, moment * (schedule.n + 1)
        self.needed = [
            v
            for v, readers in schedule.readers.items()
            if readers and readers[-1] > border and schedule.starts[v][0] <= border
        ]
        self.storages = list(self.needed)
        self.steps: dict[int, None] = {}
        seen = set(self.needed)
        for v in self.storages:  # grows while we walk it
            w = schedule.writer.get(v)
            if w is None or not schedule.again[w] or w in self.steps:
                continue
            self.steps[w] = None
            new = [x for x in schedule.reads[w] if x not in seen]
            seen.update(new)
            self.storages += new
        least = max((schedule.size[v] for v in self.needed), default=0) // 1000
        self.ratios = sorted(
            schedule.size[v] / max(1e-9, schedule.price[schedule.writer[v]])
            for v in self.storages
            if schedule.size[v] > least and schedule.writer.get(v, -1) in self.steps
        )
        assert n > 0, "a schedule has steps"

    def solve(self, price: float) -> frozenset[int]:
        """The steps to compute again, at bytes for a unit of cost."""
        schedule = self.schedule
        names = {v: i for i, v in enumerate(self.storages, 2)}
        first = len(names) + 2
        steps = {s: first + i for i, s in enumerate(self.steps)}
        flow = _Flow(first + len(steps))
        for v in self.needed:
            flow.edge(_SOURCE, names[v], 1 << 62)
        for v in self.storages:
            w = schedule.writer.get(v, -1)
            flow.edge(names[v], steps.get(w, _SINK), schedule.size[v])
        for s, name in steps.items():
            flow.edge(name, _SINK, int(min(price * schedule.price[s], 1 << 60)) + 1)
            for x in schedule.reads[s]:
                flow.edge(name, names[x], 1 << 62)
        reached = flow.cut()
        return frozenset(s for s, name in steps.items() if name in reached)


class _Flow:
    """Dinic's algorithm; an edge and its reverse stand next to each other."""

    def __init__(self, count: int) -> None:
        self.edges: list[list[int]] = [[] for _ in range(count)]
        self.head: list[int] = []
        self.room: list[int] = []

    def edge(self, tail: int, head: int, capacity: int) -> None:
        for start, end, room in ((tail, head, capacity), (head, tail, 0)):
            self.edges[start].append(len(self.head))
            self.head.append(end)
            self.room.append(room)

    def cut(self) -> set[int]:
        """The source's side of a minimum cut."""
        while True:
            level = self._levels()
            if _SINK not in level:
                return set(level)
            self._block(level)

    def _levels(self) -> dict[int, int]:
        level, queue = {_SOURCE: 0}, [_SOURCE]
        for u in queue:
            for e in self.edges[u]:
                v = self.head[e]
                if self.room[e] > 0 and v not in level:
                    level[v] = level[u] + 1
                    queue.append(v)
        return level

    def _block(self, level: dict[int, int]) -> None:
        """A blocking flow: push along paths that rise a level at each edge."""
        at = dict.fromkeys(level, 0)
        path: list[int] = []
        u = _SOURCE
        while True:
            if u == _SINK:
                u = self._push(path)
                continue
            e = self._next(u, at, level)
            if e >= 0:
                path.append(e)
                u = self.head[e]
            elif path:
                level[u] = -1
                u = self.head[path.pop() ^ 1]
            else:
                return

    def _next(self, u: int, at: dict[int, int], level: dict[int, int]) -> int:
        edges = self.edges[u]
        for i in range(at[u], len(edges)):
            e = edges[i]
            if self.room[e] > 0 and level.get(self.head[e], -1) == level[u] + 1:
                at[u] = i
                return e
        at[u] = len(edges)
        return -1

    def _push(self, path: list[int]) -> int:
        """As much as fits; the path is cut back to before its first full edge."""
        much = min(self.room[e] for e in path)
        full = -1
        for i, e in enumerate(path):
            self.room[e] -= much
            self.room[e ^ 1] += much
            if full < 0 and not self.room[e]:
                full = i
        u = self.head[path[full] ^ 1]
        del path[full:]
        return u
