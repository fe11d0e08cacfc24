"""A bound that no order can avoid: the least that is alive while one task runs.

When a task runs, what it waits for is done and what waits for it is not; the rest may be either.
What is alive is a cut between the two, so the least is a minimum cut: some order reaches it (unless
the task writes over an input, which we take to die there if nothing forbids it).  Where an order
needs no more at its worst task, it is proved optimal.  The cut also says what should be done before
the task, and what after.
"""

from __future__ import annotations

from collections.abc import Sequence

from byparts_graph_ir.model.frozen import Frozen
from byparts_memplan.ordering.max_flow import FOREVER, Network
from byparts_memplan.ordering.tasks import Tasks, saved_bytes


class Bound(Frozen):
    """A bound on the bytes that are alive while one task runs.

    Attributes:
        level_bytes: in no order is less alive while the task runs.
        first: the tasks to be done before it, for that little to be alive.
        looks: how many edges were looked at to find that out.
    """

    level_bytes: int
    first: frozenset[int]
    looks: int


def bound(tasks: Tasks, task: int, work: int = FOREVER) -> Bound:
    """The bound of one task, by a minimum cut; a lower one where that takes more than `work` edges.

    O(tasks + reads) where no task is free to come before or after, as usual at the peak of a step.
    """
    earlier, later = _reached(tasks.before, task), _reached(tasks.after, task)
    cut = _Cut(tasks, task, earlier, later)
    idle = (
        tasks.idle_feeds if len(later) + 1 == len(tasks.graph_order) else []
    )  # first in every order
    level = cut.forced_bytes + tasks.spent[task] - _reusable(tasks, task, later, idle)
    level += tasks.idle_bytes if idle else 0
    flow = cut.network.flow(work) if cut.index else 0
    if flow is None:
        return Bound(level, frozenset(earlier), cut.network.looks)
    side = cut.network.source_side()
    first = earlier | {t for t, i in cut.index.items() if side[i]}
    return Bound(level + flow, frozenset(first), cut.network.looks)


def _reached(edges: Sequence[Sequence[int]], start: int) -> set[int]:
    """All tasks that edges lead to from the start, which is not one of them."""
    reached: set[int] = set()
    todo = [start]
    while todo:
        for t in edges[todo.pop()]:
            if t not in reached:
                reached.add(t)
                todo.append(t)
    return reached


def _reusable(tasks: Tasks, task: int, later: set[int], idle: Sequence[int]) -> int:
    """Bytes that a task may write over inputs, where nothing forbids that these die there.

    Feeds that nobody reads die in the first task of any order: in this task, if they are `idle`.
    """
    over = tasks.over[task]
    dying = {
        c
        for _, candidates in over
        for c in candidates
        if c not in tasks.kept and later.isdisjoint(tasks.readers[c])
    }.difference(() if idle else tasks.idle_feeds)
    return saved_bytes(over, dying, tasks.size) if dying else 0


class _Cut:
    """The network whose cuts are the choices of what is done: those are on the source's side.

    A storage whose writer is done costs its bytes unless all its readers are done: an edge from
    the writer to a node of its own, from which edges that cannot be cut lead to the readers.

    Attributes:
        index: network node of each task that is free to come before or after.
        forced_bytes: of what is alive in any case.
    """

    def __init__(self, tasks: Tasks, task: int, earlier: set[int], later: set[int]) -> None:
        self.tasks, self.earlier = tasks, earlier
        fixed = {task, *earlier, *later}
        free = [t for t in tasks.graph_order if t not in fixed]
        self.index = {t: i for i, t in enumerate(free, start=2)}
        touched = {r for t in free for r in tasks.reads[t]}
        self.network = Network(2 + len(free) + len(touched), 0, 1)
        self.after_last = 2 + len(free)
        self.forced_bytes = 0
        for t in free:
            for waits in tasks.before[t]:
                if waits in self.index:
                    self.network.connect(self.index[t], self.index[waits], FOREVER)
        for k in tasks.feeds:
            self._storage(k, 0)
        for t in (*earlier, *free):
            for w in tasks.writes[t]:
                self._storage(w, self._node(t))

    def _node(self, task: int) -> int:
        return 0 if task in self.earlier else self.index.get(task, 1)

    def _storage(self, storage: int, writer: int) -> None:
        tasks, network = self.tasks, self.network
        size, readers = tasks.size[storage], {self._node(t) for t in tasks.readers[storage]}
        if storage in tasks.kept or 1 in readers:  # nothing frees it before the task
            if writer:
                network.connect(writer, 1, size)
            else:
                self.forced_bytes += size
            return
        readers.discard(0)
        if readers:
            network.connect(writer, self.after_last, size)
            for reader in sorted(readers):
                network.connect(self.after_last, reader, FOREVER)
            self.after_last += 1
