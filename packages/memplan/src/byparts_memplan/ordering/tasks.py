"""A graph as a scheduler sees it: tasks, what must run before each, and the bytes each moves.

A task is a step (see `Steps`), or a *join*: a view that waits for more than the writer of its bytes
(a barrier) or looks at bytes of several; it moves none.  Other views are no tasks; they are put
back right before whoever reads them first, which is never worse.  What is alive between two tasks
depends only on which are done, and what a task adds while it runs is what it writes, less what it
writes over inputs that die there.
O(values + reads) to build, and to measure a sequence.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Optional

from byparts_graph_ir import Graph, Node
from byparts_memplan.dependencies import Before, dependencies
from byparts_memplan.share import match
from byparts_memplan.steps import Steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_memplan.kernel_facts import Kernels

Over = tuple[tuple[int, tuple[int, ...]], ...]  # (written storage, those it may be written over)


class Tasks:
    """Tables by task; storages are those of `Steps` that have bytes in the arena.

    Attributes:
        nodes: what runs; from `first_join` on, joins.
        graph_order: the tasks in the order of the graph.
        before, after: the tasks each waits for, and those that wait for it.
        free_views: views of inputs, which come first: there they never keep anything alive.
        idle: views whose bytes nobody reads, and the task that each follows.
        reads, writes: the storages.
        spent: bytes written, the workspace among them.
        kept_writes: bytes written that anybody needs afterwards.
        over: as in `Steps`, over what the task reads, and over idle feeds.
        readers: by storage, the tasks.
        feeds_bytes, kept_bytes: alive when the caller writes the inputs, and reads the outputs.
        start_bytes: alive before the first task.
        idle_feeds, idle_bytes: those that no task reads: still alive during the first task.
    """

    def __init__(
        self,
        graph: Graph,
        external: Collection[int] = frozenset(),
        kernels: Optional[Kernels] = None,
    ) -> None:
        steps = Steps(graph, external=external, kernels=kernels)
        self.graph, self.size, self.kept = graph, steps.size, steps.kept
        self.nodes = list(steps.nodes)
        self.first_join = len(self.nodes)
        waits = self._dependencies(steps)
        self.before = [waits[node] for node in self.nodes]
        tasks = set(self.nodes)
        views = [node for node in graph.nodes if node not in tasks]
        self.free_views = [node for node in views if not waits[node]]
        self.after: list[list[int]] = [[] for _ in self.nodes]
        for task, before in enumerate(self.before):
            for earlier in before:
                self.after[earlier].append(task)
        read = _read_nodes(self)
        self.idle = {v: waits[v][0] for v in views if waits[v] and v not in read}
        joins = self.nodes[self.first_join :]
        reads = [*steps.reads, *[self._roots(steps, n) for n in joins]]
        writes = [*steps.writes, *[() for _ in joins]]
        self.reads = [[r for r in row if self.size[r]] for row in reads]
        self.writes = [[w for w in row if self.size[w]] for row in writes]
        self.readers: list[list[int]] = [[] for _ in self.size]
        for task, row in enumerate(self.reads):
            for r in row:
                self.readers[r].append(task)
        self._weigh(steps.feeds)
        idle = frozenset(self.idle_feeds)
        over = [_reads_only(*row, idle) for row in zip(steps.over, steps.reads, strict=True)]
        self.over: list[Over] = [*over, *[() for _ in joins]]

    def _weigh(self, feeds: list[int]) -> None:
        """Set the bytes of every table."""
        size, needed = self.size, [r for r in range(len(self.size)) if self.readers[r]]
        wanted = {*needed, *self.kept}
        self.spent = [sum([size[w] for w in row]) for row in self.writes]
        self.kept_writes = [sum([size[w] for w in row if w in wanted]) for row in self.writes]
        self.feeds = feeds
        self.feeds_bytes = sum([size[k] for k in feeds])
        idle = [k for k in feeds if k not in wanted]
        self.idle_feeds = [] if self.free_views else idle
        self.idle_bytes = sum([size[k] for k in self.idle_feeds])
        self.start_bytes = self.feeds_bytes - sum([size[k] for k in idle]) + self.idle_bytes
        self.kept_bytes = sum([size[k] for k in self.kept])

    def _roots(self, steps: Steps, node: Node) -> tuple[int, ...]:
        """The storages whose bytes a view looks at."""
        ids, root = self.graph.ids, steps.values.root
        inputs = enumerate(node.inputs)
        return tuple({root[ids[v]]: 0 for p, v in inputs if p not in node.op.ignores})

    def levels(self, sequence: Sequence[int]) -> list[int]:
        """Bytes alive while each task of the sequence runs: reads and writes together."""
        return self.alive(sequence)[0]

    def alive(self, sequence: Sequence[int]) -> tuple[list[int], list[int]]:
        """Bytes alive while each task of the sequence runs, and before it."""
        size, live = self.size, self.start_bytes
        left = [len(tasks) for tasks in self.readers]
        for k in self.kept:
            left[k] += 1
        during: list[int] = []
        before: list[int] = []
        for task in sequence:
            dying = [] if before else [*self.idle_feeds]
            for r in self.reads[task]:
                left[r] -= 1
                if not left[r]:
                    dying.append(r)
            over = self.over[task]
            reused = saved_bytes(over, dying, size) if over and dying else 0
            before.append(live)
            during.append(live + self.spent[task] - reused)
            live += self.kept_writes[task] - sum([size[r] for r in dying])
        return during, before

    def peak_bytes(self, levels: Iterable[int]) -> int:
        """The most alive at any time, those included when the caller writes and reads."""
        return max(self.feeds_bytes, self.kept_bytes, *levels, 0)

    def graph_of(self, sequence: Sequence[int]) -> Graph:
        """All nodes, tasks in the order of the sequence."""
        return Graph(self.graph.inputs, tuple(_with_views(self, sequence)), self.graph.outputs)

    def _dependencies(self, steps: Steps) -> dict[Node, Before]:
        """The tasks that each node waits for; makes the joins, and lists the tasks as given."""
        numbers: dict[Node, int] = {node: t for t, node in enumerate(self.nodes)}
        self.graph_order: list[int] = []

        def number(node: Node, before: Before) -> Optional[int]:
            if node not in numbers:
                if not self._joins(steps, node, before, numbers):
                    return None
                numbers[node] = len(self.nodes)
                self.nodes.append(node)
            self.graph_order.append(numbers[node])
            return numbers[node]

        return dependencies(self.graph, number)

    def _joins(
        self, steps: Steps, node: Node, waits: Sequence[int], task: Mapping[Node, int]
    ) -> bool:
        """Whether a view waits for more than one writer, or looks at bytes of several."""
        ids, root = self.graph.ids, steps.values.root
        if len(waits) > 1 or (waits and (node.op.ignores or len(self._roots(steps, node)) > 1)):
            return True
        return any(v.node in task and root[ids[v]] != ids[v] for v in node.inputs)  # of a step's


def _reads_only(over: Over, reads: Collection[int], idle: Collection[int]) -> Over:
    """Leave out inputs that the step ignores: they may be dead already, and their bytes taken."""
    rows = [(w, tuple([c for c in able if c in reads or c in idle])) for w, able in over]
    return tuple([(w, candidates) for w, candidates in rows if candidates])


def saved_bytes(over: Over, dying: Collection[int], size: Sequence[int]) -> int:
    """The most that outputs save by lying in inputs that die, matched as `Sharing` does."""
    if len(over) == 1:
        output, candidates = over[0]
        return size[output] if any(c in dying for c in candidates) else 0
    able = {w: [c for c in candidates if c in dying] for w, candidates in over}
    return sum(size[w] for w in match(able, sorted(able, key=lambda w: -size[w])))


def _with_views(tasks: Tasks, sequence: Sequence[int]) -> list[Node]:
    """The tasks' nodes, each view right before its first reader; an idle one as soon as it can."""
    ordered: list[Node] = []
    done: set[Node] = set()

    def make(*nodes: Optional[Node]) -> None:
        todo = [n for n in reversed(nodes) if n is not None]
        while todo:  # chains of views may be longer than Python's stack
            node = todo[-1]
            missing = [v.node for v in node.inputs if v.node is not None and v.node not in done]
            if missing and node not in done:
                todo += missing
                continue
            todo.pop()
            if node not in done:
                done.add(node)
                ordered.append(node)

    make(*tasks.free_views)
    following: dict[int, list[Node]] = {}
    for node, task in tasks.idle.items():
        following.setdefault(task, []).append(node)
    for task in sequence:
        make(tasks.nodes[task], *following.get(task, ()))
    make(*dict.fromkeys(v.node for v in tasks.graph.outputs))
    return ordered


def _read_nodes(tasks: Tasks) -> set[Node]:
    """Nodes whose values a step, the caller, or a view that one of them reads, reads."""
    steps = set(tasks.nodes[: tasks.first_join])
    read = {v.node for v in tasks.graph.outputs}
    for node in reversed(tasks.graph.nodes):
        if node in steps or node in read:
            ignores = node.op.ignores
            read.update([v.node for p, v in enumerate(node.inputs) if p not in ignores])
    return {node for node in read if node is not None}
