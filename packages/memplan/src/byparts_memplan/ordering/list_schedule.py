"""Orders of tasks made in one pass each: cheap, good on most networks, and where a search begins.

`frugal` takes, of the tasks that could run next, the one that adds least to what is alive (Goodman
and Hsu 1988, against register pressure).  `late` does the same from the end backwards, so that what
is large is made late.  `deep` finishes one branch before it begins the next, the one first that
needs the most beyond what it leaves (Sethi and Ullman 1970; on trees without sharing, of one size,
that is optimal).  `eager` keeps an order, but runs at once what frees as much as it makes, such as
the gradient of a weight whose activation nobody else waits for.  Ties go to the given order.
O((tasks + reads) log tasks) each, deterministic.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush

from byparts_memplan.ordering.tasks import Tasks, saved_bytes


def frugal(tasks: Tasks) -> list[int]:
    """Forwards; each time the task that adds least."""
    return _scheduled(tasks, _Forwards(tasks), tasks.before, tasks.after, tasks.given)


def late(tasks: Tasks) -> list[int]:
    """Backwards; each time the task before which least is alive."""
    backwards = tasks.given[::-1]
    return _scheduled(tasks, _Backwards(tasks), tasks.after, tasks.before, backwards)[::-1]


def eager(tasks: Tasks, sequence: Sequence[int], limit: int) -> list[int]:
    """The sequence, but what leaves no more alive than before it runs as soon as it can.

    That never raises the level of what comes later.  The task itself may need more while it runs
    than it did later; if that would be more than `limit`, it stays where it was.
    """
    forwards, waits = _Forwards(tasks), [len(earlier) for earlier in tasks.before]
    done = [False] * len(waits)
    live = tasks.start_bytes
    found: list[int] = []
    for planned in sequence:
        queue = [planned]
        for task in queue:  # grows while we walk it
            if done[task]:
                continue
            added = forwards.added(task)
            if task != planned and (added > 0 or live + forwards.level(task) > limit):
                continue
            done[task] = True
            live += added - (0 if found else tasks.idle_bytes)
            found.append(task)
            changed = forwards.run(task)
            for follower in tasks.after[task]:
                waits[follower] -= 1
            changed += tasks.after[task]
            queue += [t for t in dict.fromkeys(changed) if not waits[t] and not done[t]]
    return found


def deep(tasks: Tasks) -> list[int]:
    """Depth first from the outputs, the branch that needs most beyond its result first."""
    rank = {task: i for i, task in enumerate(tasks.given)}
    need = [0] * len(rank)
    children: list[list[int]] = [[] for _ in rank]
    for task in tasks.given:
        waits = tasks.before[task]
        children[task] = sorted(waits, key=lambda t: (tasks.made[t] - need[t], rank[t]))
        kept = 0
        for child in children[task]:
            need[task] = max(need[task], kept + need[child])
            kept += tasks.made[child]
        need[task] = max(need[task], kept + tasks.spent[task])
    return _postorder(children, [t for t in tasks.given if not tasks.after[t]])


def _postorder(children: Sequence[Sequence[int]], ends: Sequence[int]) -> list[int]:
    done = [False] * len(children)
    found = []
    todo = [(task, False) for task in reversed(ends)]
    while todo:
        task, ready = todo.pop()
        if done[task]:
            continue
        if ready:
            done[task] = True
            found.append(task)
        else:
            todo.append((task, True))
            todo += [(child, False) for child in reversed(children[task]) if not done[child]]
    return found


def _scheduled(
    tasks: Tasks,
    reckoning: _Forwards | _Backwards,
    before: Sequence[Sequence[int]],
    after: Sequence[Sequence[int]],
    given: Sequence[int],
) -> list[int]:
    """A task whose reckoning has changed is queued again; the old entry lies, and is passed."""
    rank = [0] * len(given)
    for i, task in enumerate(given):
        rank[task] = i
    waits = [len(earlier) for earlier in before]
    added = {task: reckoning.added(task) for task in given if not waits[task]}
    queue = [(cost, rank[task], task) for task, cost in added.items()]
    heapify(queue)
    found = []
    while queue:
        cost, _, task = heappop(queue)
        if added.get(task) != cost:
            continue
        del added[task]
        found.append(task)
        changed = {t for t in reckoning.run(task) if t in added}
        for follower in after[task]:
            waits[follower] -= 1
            if not waits[follower]:
                changed.add(follower)
        for other in changed:
            cost = reckoning.added(other)
            if added.get(other) != cost:
                added[other] = cost
                heappush(queue, (cost, rank[other], other))
    return found


class _Forwards:
    """What is alive after a task, less what was before it."""

    def __init__(self, tasks: Tasks) -> None:
        self.tasks = tasks
        self.left = [set(readers) for readers in tasks.readers]  # who still reads each storage

    def added(self, task: int) -> int:
        return self.tasks.made[task] - sum([self.tasks.size[r] for r in self._dying(task)])

    def level(self, task: int) -> int:
        """What it needs while it runs, beyond what is alive before it."""
        tasks, over = self.tasks, self.tasks.over[task]
        reused = saved_bytes(over, self._dying(task), tasks.size) if over else 0
        return tasks.spent[task] - reused

    def run(self, task: int) -> list[int]:
        """Strike it off the readers of what it reads; who is now the last reader of some."""
        last: list[int] = []
        for r in self.tasks.reads[task]:
            self.left[r].discard(task)
            if len(self.left[r]) == 1:
                last += self.left[r]
        return last

    def _dying(self, task: int) -> list[int]:
        kept, left = self.tasks.kept, self.left
        return [r for r in self.tasks.reads[task] if len(left[r]) == 1 and r not in kept]


class _Backwards:
    """What is alive before a task, less what is after it."""

    def __init__(self, tasks: Tasks) -> None:
        self.tasks = tasks
        self.alive = [k in tasks.kept for k in range(len(tasks.size))]

    def added(self, task: int) -> int:
        tasks = self.tasks
        revived = [tasks.size[r] for r in tasks.reads[task] if not self.alive[r]]
        return sum(revived) - tasks.made[task]

    def run(self, task: int) -> list[int]:
        """What it reads is alive now; who else reads that."""
        others: list[int] = []
        for r in self.tasks.reads[task]:
            if not self.alive[r]:
                self.alive[r] = True
                others += self.tasks.readers[r]
        return others
