"""Orders of tasks made in one pass each: cheap, good on most networks, and where a search begins.

`frugal` takes, of the tasks that could run next, the one that adds least to what is alive (Goodman
and Hsu 1988, against register pressure).  `late` does the same from the end backwards, so that what
is large is made late.  `deep` finishes one branch before the next one, and begins with the branch
that needs the most beyond what it leaves (Sethi and Ullman 1970).  `eager` keeps an order, but runs
at once what frees as much as it makes, such as the gradient of a weight whose activation nobody
else waits for.  Ties go to the given order.  O((tasks + reads) log tasks) each, deterministic.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from typing import Optional

from byparts_memplan.ordering.tasks import Tasks, saved_bytes


def frugal(tasks: Tasks) -> list[int]:
    """Forwards, each time the task that adds least to what is alive after it."""
    return _schedule(_Live(tasks), tasks.before, tasks.after, tasks.graph_order)


def late(tasks: Tasks) -> list[int]:
    """From the end backwards, each time the task before which least is alive."""
    backwards = tasks.graph_order[::-1]
    return _schedule(_LiveBackwards(tasks), tasks.after, tasks.before, backwards)[::-1]


def eager(tasks: Tasks, sequence: Optional[Sequence[int]] = None) -> list[int]:
    """The sequence (default: as given), but what frees as much as it makes runs when it can.

    That never raises the level of what comes later.  The task itself may need more while it runs
    than it did later; if that would be more than the peak of the sequence, it stays where it was.
    """
    sequence = tasks.graph_order if sequence is None else sequence
    limit = max(tasks.levels(sequence), default=0)
    live, waits = _Live(tasks), [len(before) for before in tasks.before]
    done = [False] * len(waits)
    live_bytes = tasks.start_bytes
    ran: list[int] = []
    for planned in sequence:
        queue = [planned]
        for task in queue:  # grows while we walk it
            if done[task]:
                continue
            added = live.added(task)
            if task != planned and (added > 0 or live_bytes + live.level(task) > limit):
                continue
            done[task] = True
            live_bytes += added - (0 if ran else tasks.idle_bytes)
            ran.append(task)
            changed = live.run(task)
            for follower in tasks.after[task]:
                waits[follower] -= 1
            changed += tasks.after[task]
            queue += [t for t in dict.fromkeys(changed) if not waits[t] and not done[t]]
    return ran


def deep(tasks: Tasks) -> list[int]:
    """Depth first from the outputs, the branch that needs most beyond its result first."""
    rank = {task: i for i, task in enumerate(tasks.graph_order)}
    need = [0] * len(rank)  # bytes alive while a task and all that it waits for run, at most
    branches: list[list[int]] = [[] for _ in rank]  # the tasks that each waits for, the last first
    for task in tasks.graph_order:
        waits = sorted(tasks.before[task], key=lambda t: (tasks.kept_writes[t] - need[t], rank[t]))
        kept = 0
        for other in waits:
            need[task] = max(need[task], kept + need[other])
            kept += tasks.kept_writes[other]
        need[task] = max(need[task], kept + tasks.spent[task])
        branches[task] = waits[::-1]
    sequence: dict[int, None] = {}
    todo = [task for task in reversed(tasks.graph_order) if not tasks.after[task]]
    while todo:
        task = todo[-1]
        while branches[task] and branches[task][-1] in sequence:
            branches[task].pop()
        if branches[task]:
            todo.append(branches[task].pop())
        else:
            sequence[todo.pop()] = None
    return list(sequence)


def _schedule(
    live: _Live | _LiveBackwards,
    before: Sequence[Sequence[int]],
    after: Sequence[Sequence[int]],
    order: Sequence[int],
) -> list[int]:
    """Each time the task that adds least; `before` and `after` say what waits for what.

    A task whose cost has changed is queued again; its old entry stays in the queue, and is skipped.
    """
    rank = {task: i for i, task in enumerate(order)}
    waits = [len(earlier) for earlier in before]
    added = {task: live.added(task) for task in order if not waits[task]}
    queue = [(cost, rank[task], task) for task, cost in added.items()]
    heapify(queue)
    sequence = []
    while queue:
        cost, _, task = heappop(queue)
        if added.get(task) != cost:
            continue
        del added[task]
        sequence.append(task)
        changed = {t for t in live.run(task) if t in added}
        for follower in after[task]:
            waits[follower] -= 1
            if not waits[follower]:
                changed.add(follower)
        for other in changed:
            cost = live.added(other)
            if added.get(other) != cost:
                added[other] = cost
                heappush(queue, (cost, rank[other], other))
    return sequence


class _Live:
    """The storages that are still read, while tasks run one after the other.

    Attributes:
        left: by storage, the tasks that still read it.
    """

    def __init__(self, tasks: Tasks) -> None:
        self.tasks = tasks
        self.left = [set(readers) for readers in tasks.readers]

    def added(self, task: int) -> int:
        """Bytes alive after a task, less those before it."""
        return self.tasks.kept_writes[task] - sum([self.tasks.size[r] for r in self._dying(task)])

    def level(self, task: int) -> int:
        """Bytes that a task needs while it runs, beyond those alive before it."""
        tasks, over = self.tasks, self.tasks.over[task]
        reused = saved_bytes(over, self._dying(task), tasks.size) if over else 0
        return tasks.spent[task] - reused

    def run(self, task: int) -> list[int]:
        """Run a task.  Returns the tasks that are now the last reader of a storage."""
        last: list[int] = []
        for r in self.tasks.reads[task]:
            self.left[r].discard(task)
            if len(self.left[r]) == 1:
                last += self.left[r]
        return last

    def _dying(self, task: int) -> list[int]:
        kept, left = self.tasks.kept, self.left
        return [r for r in self.tasks.reads[task] if len(left[r]) == 1 and r not in kept]


class _LiveBackwards:
    """The storages that are alive, while tasks are taken from the end backwards."""

    def __init__(self, tasks: Tasks) -> None:
        self.tasks = tasks
        self.alive = [k in tasks.kept for k in range(len(tasks.size))]

    def added(self, task: int) -> int:
        """Bytes alive before a task, less those after it."""
        tasks = self.tasks
        revived = [tasks.size[r] for r in tasks.reads[task] if not self.alive[r]]
        return sum(revived) - tasks.kept_writes[task]

    def run(self, task: int) -> list[int]:
        """Take a task.  Returns the other readers of the storages that are alive from now on."""
        others: list[int] = []
        for r in self.tasks.reads[task]:
            if not self.alive[r]:
                self.alive[r] = True
                others += self.tasks.readers[r]
        return others
