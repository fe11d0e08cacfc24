"""A graph as a memory planner sees it: steps that read and write storages, and what each costs.

A storage is the bytes of a value that owns them; views are not steps, because they cost nothing and
are made again wherever they are needed.  A *sequence* is a list of steps in which each comes at
least once and may come again: to run a step again is to compute its storages anew, and who reads
them later reads the new ones.  `live_bytes` says what is alive at each position of a sequence, with
outputs written over inputs where that is allowed.  `replay.py` makes a sequence a graph.

The workspace of a step's kernel is a storage too: the step writes it, and nobody reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import accumulate
from operator import sub
from typing import Any, Optional

from byparts_graph_ir import Graph, Node, Op, has_effect
from byparts_graph_ir.model.cached_property import cached_property
from byparts_memplan.dependencies import dependencies
from byparts_memplan.kernel_facts import Facts, known_kernels
from byparts_memplan.lifetimes import Values, positions
from byparts_memplan.overwrite import overwrite_refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_memplan.kernel_facts import Kernels, Pairs

Cost = Callable[[Node], float]
Over = tuple[tuple[int, tuple[int, ...]], ...]  # (written storage, those it may be written over)


def flops(node: Node) -> float:
    """The cost of running a node, in floating point operations: the default `Cost`.

    The ops of `byparts-opset` count sums of products in full, and everything else as one operation
    for each element that it gives: as the published tables of such networks do.
    """
    return float(node.op.flops(*[v.type for v in node.inputs]))


class Steps:
    """Tables over a graph with static types.  Storages are named by the value id that owns them.

    Workspaces have the numbers after those of values.

    Attributes:
        nodes: for each step, the node; views are left out.
        size: bytes by storage; 0 for what lives outside the arena.
        reads, writes: for each step, the storages, each once.
        over: for each step, (written storage, storages it may be written over) where there are any.
        outside: positions of the inputs that do not live in the arena.
        feeds: storages of inputs that live in the arena, alive from the start.
        kept: storages of the graph's outputs, alive to the end.
        again: for each step, whether it may be run again.
        workspaces: storages that are workspaces, and the step of each.
        kernels: what was asked for the facts of kernels; `None`: the ops were.
    """

    def __init__(
        self,
        graph: Graph,
        *,
        external: Collection[int] = frozenset(),
        cost: Cost = flops,
        kernels: Optional[Kernels] = None,
    ) -> None:
        self.outside = outside = positions(graph, external)
        self.kernels = known = known_kernels(kernels)
        self.graph, self.values, self._cost = graph, Values(graph, kernels=known), cost
        values = self.values
        self.size = list(values.size)
        for k in outside:
            self.size[k] = 0
        self.feeds = [k for k in range(len(graph.inputs)) if self.size[k]]
        self.kept = frozenset(values.root[graph.ids[v]] for v in graph.outputs)
        self.steps = [s for s, n in enumerate(graph.nodes) if not self._is_view(s, n)]
        self.nodes = [graph.nodes[s] for s in self.steps]
        self.reads = [self._reads(s) for s in self.steps]
        self.writes = [self._writes(s) for s in self.steps]
        self.over = [self._over(s, outside) for s in self.steps]
        self.again = [self._again(s) for s in self.steps]
        self.workspaces = self._workspaces()
        self._keep_viewed()
        self._measured: tuple[tuple[int, ...], int] = (-1,), 0  # of which sequence, the peak

    def __reduce__(self) -> tuple[Any, ...]:
        values, facts = self.values, None  # functions may be local: what they said goes along
        if self.kernels is not None:
            facts = [*zip(values.workspace, values.inplace, values.alignment, strict=True)]
        return _again_from, (self.graph, self.outside, self.cost, facts)

    @cached_property
    def cost(self) -> list[float]:
        """The cost of each step; computed when it is first asked for."""
        return [self._cost(node) for node in self.nodes]

    @cached_property
    def writer(self) -> dict[int, int]:
        """The step that writes each storage; inputs have none."""
        return {w: s for s, written in enumerate(self.writes) for w in written}

    @cached_property
    def before(self) -> list[tuple[int, ...]]:
        """By step, those that must run before it; see `dependencies`."""
        numbers = {node: s for s, node in enumerate(self.nodes)}
        waits = dependencies(self.graph, lambda node, _: numbers.get(node))
        return [waits[node] for node in self.nodes]

    def live_bytes(self, sequence: Optional[Sequence[int]] = None) -> list[int]:
        """Bytes alive at each position of the sequence (default: each step once, in order).

        What a step reads and what it writes are alive together, but for outputs that are written
        over inputs that die there.  O(reads + writes of the sequence).
        """
        # What nobody reads is dead after the first node of the graph, which may be a view.
        unread_counts = sequence is not None or self.steps[:1] in ([], [0])
        sequence = range(len(self.nodes)) if sequence is None else sequence
        size, length, rows = self.size, len(sequence), self._rows
        change = [0] * (length + 2)  # what begins at each position, less what ended before it
        dies: dict[int, int] = dict.fromkeys(self.kept, length)  # storage -> its last reader
        reused = [0] * length
        for t in range(length - 1, -1, -1):
            writes, reads, over = rows[sequence[t]]
            for w in writes:
                change[t] += size[w]
                change[dies.pop(w, t) + 1] -= size[w]
            for r in reads:
                if r not in dies:
                    dies[r] = t
            if over:
                reused[t] = self._reused(over, t, dies)
        for k in self.feeds:
            if k in dies or unread_counts:
                change[0] += size[k]
                change[dies.get(k, 0) + 1] -= size[k]
        return list(map(sub, accumulate(change[:length]), reused))

    def peak_bytes(self, sequence: Optional[Sequence[int]] = None) -> int:
        """The most that is alive at any position, and when the caller writes and reads.

        The last answer is remembered: who searches among sequences asks again and again.
        """
        order = range(len(self.nodes)) if sequence is None else sequence
        key = tuple(order)
        if key != self._measured[0]:
            feeds, kept = set(self.feeds), self.kept
            ends = sum(self.size[k] for k in feeds), sum(self.size[k] for k in kept)
            self._measured = key, max(*ends, *self.live_bytes(order), 0)
        return self._measured[1]

    def total_cost(self, sequence: Optional[Sequence[int]] = None) -> float:
        """The cost of all steps of the sequence."""
        cost = self.cost
        return sum(cost) if sequence is None else sum([cost[s] for s in sequence])

    def _reused(self, over: Over, t: int, dies: dict[int, int]) -> int:
        """Bytes of outputs that can be written over inputs that die at position `t`."""
        if len(over) == 1:
            w, candidates = over[0]
            for c in candidates:
                if dies.get(c) == t:
                    return self.size[w]
            return 0
        taken: set[int] = set()
        saved = 0
        for w, candidates in over:
            free = [c for c in candidates if c not in taken and dies.get(c) == t]
            if free:
                taken.add(free[0])
                saved += self.size[w]
        return saved

    @cached_property
    def _rows(self) -> list[tuple[tuple[int, ...], tuple[int, ...], Over]]:
        """For each step, the storages with bytes that it writes and reads, and its `over`."""
        size = self.size
        return [
            (tuple([w for w in writes if size[w]]), tuple([r for r in reads if size[r]]), over)
            for writes, reads, over in zip(self.writes, self.reads, self.over, strict=True)
        ]

    def _is_view(self, step: int, node: Node) -> bool:
        if type(node.op).views is Op.views or has_effect(node.op) or not node.outputs:
            return False
        if self.values.workspace[step]:
            return False  # somebody has a kernel that does something
        first, root = self.values.first[step], self.values.root
        return all(root[first + o] != first + o for o in range(len(node.outputs)))

    def _reads(self, step: int) -> tuple[int, ...]:
        ignores, values = self.graph.nodes[step].op.ignores, self.values
        reads = enumerate(values.reads[step])
        return tuple(dict.fromkeys(values.root[v] for p, v in reads if p not in ignores))

    def _writes(self, step: int) -> tuple[int, ...]:
        first, root = self.values.first[step], self.values.root
        outputs = range(first, first + len(self.graph.nodes[step].outputs))
        return tuple(v for v in outputs if root[v] == v)

    def _workspaces(self) -> dict[int, int]:
        """Give each workspace a storage, which its step writes."""
        storages: dict[int, int] = {}
        for s, step in enumerate(self.steps):
            if self.values.workspace[step]:
                storages[len(self.size)] = s
                self.writes[s] = (*self.writes[s], len(self.size))
                self.size.append(self.values.workspace[step])
        return storages

    def _over(self, step: int, outside: frozenset[int]) -> Over:
        """Storages in the arena that outputs may be written over, where those die at the step."""
        values = self.values
        reads, first = values.reads[step], values.first[step]
        able: dict[int, dict[int, None]] = {}
        for p, o in values.inplace[step]:
            x, y = reads[p], first + o
            root = values.root[x]
            if values.size[y] and root not in outside and not overwrite_refusal(values, step, x, y):
                able.setdefault(y, {})[root] = None
        return tuple((y, tuple(roots)) for y, roots in able.items())

    def _keep_viewed(self) -> None:
        """Forbid to run a step again if its storage is viewed by a node that also computes."""
        root = self.values.root
        for step in self.steps:
            first = self.values.first[step]
            for v in range(first, first + len(self.graph.nodes[step].outputs)):
                if root[v] != v and root[v] in self.writer:
                    self.again[self.writer[root[v]]] = False

    def _again(self, step: int) -> bool:
        """Whether a step may run again: it has no effect and gives no view beside an output."""
        node = self.graph.nodes[step]
        whole = len(self._writes(step)) == len(node.outputs)
        return whole and bool(node.inputs) and not has_effect(node.op)


def _again_from(
    graph: Graph,
    outside: frozenset[int],
    cost: list[float],
    facts: Optional[list[tuple[int, Pairs, int]]],
) -> Steps:
    kernels: Optional[Kernels] = None
    if facts is not None:
        said = {node: Facts(*fact) for node, fact in zip(graph.nodes, facts, strict=True)}
        kernels = said.__getitem__
    steps = Steps(graph, external=outside, kernels=kernels)
    steps.cost = cost
    return steps
