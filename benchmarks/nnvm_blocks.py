"""Sharing of whole blocks, as NNVM planned memory in 2016: a baseline, and a planner to learn from.

`PlanMemory` (dmlc/nnvm, src/pass/plan_memory.cc) knows no offsets.  It walks the nodes in order and
keeps blocks: an output takes over the block of an input that only this node still needs, where the
op allows it; else a free block of nearly its size (up to `match_range` times larger, the smallest
such; else the largest that is smaller, but not by more than that factor, which then grows); else a
new one.  A block is free again when all who read it have run.  Memory is the sum of the blocks, so
a large block under a small value is wasted.

Changed: bytes are those of the dtype, padded to the alignment, where NNVM counted 4 for each
element; in place needs equal types; inputs that are not external have blocks from the start.  A
view of a whole value shares its block, other views are copies.  A workspace of a kernel has a block
while its step runs.  O(n log n) but for memory moves.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Collection, Mapping
from itertools import accumulate

from byparts_graph_ir import Graph
from byparts_graph_ir.model.frozen import Frozen
from byparts_memplan.buffer import Buffer, PlanError, is_integer, lower_bound
from byparts_memplan.lifetimes import Decision, Values, padded, positions
from byparts_memplan.placed import Placement
from byparts_memplan.plan import Location, Plan, labels_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_memplan.kernel_facts import Kernels


class Blocks(Frozen):
    """What NNVM would have allocated.

    Attributes:
        sizes: of each block, in bytes.
        homes: by value id (`graph.ids`), the block it lies in; -1 for what is outside, or empty.
    """

    sizes: tuple[int, ...]
    homes: tuple[int, ...]

    @property
    def total_bytes(self) -> int:
        """All blocks together."""
        return sum(self.sizes)


def blocks(
    graph: Graph,
    *,
    external: Collection[int] = frozenset(),
    match_range: int = 16,
    alignment: int = 64,
    kernels: Kernels | None = None,
) -> Blocks:
    """The blocks of a graph with static types; with a `match_range` of 0 none is used again.

    `kernels` are as in `plan`.  O(n log n) in values, but for memory moves.

    Raises:
        PlanError: a type is not static, or a number is out of range; what `kernels` gives lacks a
            fact.
    """
    outside = positions(graph, external)
    memory = _Memory(Values(graph, kernels=kernels), outside, match_range, alignment)
    memory.run()
    homes = [memory.block[tenancy] if tenancy >= 0 else -1 for tenancy in memory.home]
    return Blocks(tuple(memory.sizes), tuple(homes))


def plan_blocks(
    graph: Graph,
    *,
    external: Collection[int] = frozenset(),
    alignment: int = 64,
    donate: Mapping[int, int] | None = None,
    kernels: Kernels | None = None,
) -> Plan:
    """The same as a plan that runs: the blocks lie one above the other.  Donations are declined.

    Raises:
        PlanError: as `blocks`.
    """
    outside = positions(graph, external)
    values = Values(graph, kernels=kernels)
    memory = _Memory(values, outside, 16, alignment)
    memory.run()
    placement = _placement(memory)
    homes: list[list[int]] = [[] for _ in placement.buffers]
    locations = [Location(v, 0) for v in range(len(memory.home))]  # right for what is outside
    for v, tenancy in enumerate(memory.home):
        if tenancy >= 0:
            locations[v] = Location(None, placement.offsets[tenancy])
            homes[tenancy].append(v)
    residents = tuple([tuple(ids) for ids in homes])
    return Plan(
        locations=tuple(locations),
        placement=placement,
        residents=residents,
        labels=labels_of(values, residents),
        external=tuple(sorted(outside)),
        donated=(),
        decisions=tuple(memory.decisions),
        naive_bytes=sum(
            [padded(size, alignment) for v, size in enumerate(values.size) if v not in outside]
            + [padded(size, alignment) for size in values.workspace]
        ),
        alignment=alignment,
        workspaces=tuple(
            [
                placement.offsets[memory.workspace[step]] if size else 0
                for step, size in enumerate(values.workspace)
            ]
        ),
    )


def _placement(memory: _Memory) -> Placement:
    bases = [0, *accumulate(memory.sizes)]
    buffers = tuple(
        [
            Buffer(size, born, dies, memory.alignment)
            for size, born, dies in zip(memory.size, memory.born, memory.dies, strict=True)
        ]
    )
    offsets = tuple([bases[block] if block >= 0 else 0 for block in memory.block])
    how = f"in {len(memory.sizes)} blocks, as NNVM"
    return Placement(buffers, offsets, bases[-1], lower_bound(buffers), how)


class _Memory:
    """Who is in which block, and when: a *tenancy* is one stay in a block, of values that share it.

    Attributes:
        sizes: by block; they grow.
        home: by value id, its tenancy, -1 for external inputs.
        workspace: by step that has one, the tenancy of its workspace.
        block, size, born, dies, waiting: by tenancy; `waiting` counts the reads still to come.
        free: (size, age, block), sorted: a multimap, as NNVM has it.
    """

    def __init__(
        self, values: Values, outside: frozenset[int], match_range: int, alignment: int
    ) -> None:
        if not is_integer(match_range) or not is_integer(alignment):
            given = f"match_range is {match_range!r:.40} and alignment {alignment!r:.40}"
            raise PlanError(f"blocks: {given}; expected whole numbers")
        if match_range < 0 or alignment < 1:
            raise PlanError(f"blocks: match_range {match_range} or alignment {alignment} too small")
        self.values, self.outside = values, outside
        self.match_range, self.alignment = match_range, alignment
        self.sizes: list[int] = []
        self.home = [-1] * len(values.size)
        self.workspace: dict[int, int] = {}
        self.block: list[int] = []
        self.size: list[int] = []
        self.born: list[int] = []
        self.dies: list[int] = []
        self.waiting: list[int] = []
        self.free: list[tuple[int, int, int]] = []
        self.released = 0
        self.decisions: list[Decision] = []
        self.reads = self._count_reads()

    def run(self) -> None:
        """All steps, in order."""
        count = len(self.values.graph.inputs)
        self._request([k for k in range(count) if k not in self.outside], 0)
        unread = [t for t, waiting in enumerate(self.waiting) if not waiting]
        for step, node in enumerate(self.values.graph.nodes):
            first = self.values.first[step]
            outputs = range(first, first + len(node.outputs))
            self._share(step)
            self._request([v for v in outputs if self.home[v] < 0], step)
            scratch = self._request_workspace(step)
            for p, v in enumerate(self.values.reads[step]):
                if p not in node.op.ignores and self.home[v] >= 0:
                    self.waiting[self.home[v]] -= 1
                    self._release(self.home[v], step)
            for tenancy in (*scratch, *[self.home[v] for v in outputs], *unread):
                self._release(tenancy, step)
            unread = []

    def _count_reads(self) -> list[int]:
        """Of each value, by nodes and by the caller."""
        values = self.values
        reads = [0] * len(values.size)
        for node, read in zip(values.graph.nodes, values.reads, strict=True):
            for p, v in enumerate(read):
                reads[v] += p not in node.op.ignores
        for output in values.graph.outputs:
            reads[values.graph.ids[output]] += 1
        return reads

    def _share(self, step: int) -> None:
        """Outputs that take over blocks, pair by pair, the first that may."""
        node = self.values.graph.nodes[step]
        views = node.op.views(*[v.type for v in node.inputs])
        given: set[int] = set()  # positions of inputs
        decided: dict[tuple[str, int, int], str] = {}  # (kind, source, target) -> why not
        in_place = [("in place", p, o, 0) for p, o in self.values.inplace[step]]
        for kind, p, o, offset in (*[("view", *pair) for pair in views], *in_place):
            if p >= len(node.inputs) or o >= len(node.outputs):
                continue
            x, y = self.values.reads[step][p], self.values.first[step] + o
            reason = self._refusal(kind, x, y, offset)
            if p in given or p in node.op.ignores:
                reason = reason or ("its block is taken" if p in given else "the op ignores it")
            if decided.setdefault((kind, x, y), reason) and not reason:
                decided[kind, x, y] = reason  # through another input
            if not reason:
                given.add(p)
                self.home[y] = self.home[x]
                self.waiting[self.home[x]] += self.reads[y]
        self.decisions += [Decision(kind, step, x, y, why) for (kind, x, y), why in decided.items()]

    def _refusal(self, kind: str, x: int, y: int, offset: int) -> str:
        """Why `y` may not take over the block of `x`."""
        values, tenancy = self.values, self.home[x]
        if tenancy < 0:
            return "it lives outside the arena"
        if self.home[y] >= 0:
            return "it is in a block already"
        if not self.reads[y] or not values.size[y]:
            return "nobody reads a byte of it"
        if kind == "view":
            whole = not offset and values.size[x] == values.size[y]
            return "" if whole else "it is a part of a block"
        if values.types[x] != values.types[y]:
            return f"types differ: {values.types[x]} and {values.types[y]}"
        return "" if self.waiting[tenancy] == 1 else "others still read the block"

    def _request(self, ids: list[int], step: int) -> None:
        """A tenancy for each, the largest first."""
        size = self.values.size
        for v in sorted(ids, key=lambda v: (size[v], v), reverse=True):
            self.home[v] = self._begin(size[v], step, self.reads[v])

    def _request_workspace(self, step: int) -> list[int]:
        """A tenancy that nobody waits for, where the kernel needs one."""
        size = self.values.workspace[step]
        if not size:
            return []
        self.workspace[step] = self._begin(size, step, 0)
        return [self.workspace[step]]

    def _begin(self, size: int, step: int, reads: int) -> int:
        """A new tenancy."""
        needs = padded(size, self.alignment)
        self.block.append(self._block(needs) if needs else -1)
        self.size.append(needs)
        self.born.append(step)
        self.dies.append(len(self.values.graph.nodes) + 1)
        self.waiting.append(reads)
        return len(self.block) - 1

    def _block(self, size: int) -> int:
        free, r = self.free, self.match_range
        at = bisect_left(free, (size,)) if r else len(free)
        if at < len(free) and free[at][0] <= size * r:
            return free.pop(at)[2]
        if r and at and free[at - 1][0] >= size // r:
            block = free.pop(at - 1)[2]
            self.sizes[block] = size
            return block
        self.sizes.append(size)
        return len(self.sizes) - 1

    def _release(self, tenancy: int, step: int) -> None:
        """Give the block back, if nobody waits for what is in it."""
        if not self.waiting[tenancy] and self.dies[tenancy] > len(self.values.graph.nodes):
            self.dies[tenancy] = step + 1
            block = self.block[tenancy]
            if block >= 0:
                insort(self.free, (self.sizes[block], self.released, block))
                self.released += 1
