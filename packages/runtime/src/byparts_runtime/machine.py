"""A design with its arena, and the cycles bound to it.

A cycle is bound to addresses, and an exchange changes which of a variable's two memories is its
value.  So there is one cycle for each pattern of sides, bound when it is first met: one as long as
nothing is exchanged, two for a training loop.  Where programs that share variables exchange them
independently, patterns could go on for ever; beyond `_MOST_CYCLES` a variable that stands on the
wrong side is copied to the other instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from functools import partial
from operator import itemgetter, ne, setitem
from types import TracebackType
from typing import Any, Optional

from byparts_graph_ir import Backend, Graph, Node, TensorType, add_note
from byparts_graph_ir.backend import Run
from byparts_graph_ir.fork import begin, end, make_lock
from byparts_runtime.arena import Arena, Block
from byparts_runtime.arrays import carrier, fetcher, view, writer
from byparts_runtime.bind import Bytes, Step, aliased_nodes, bind, describe
from byparts_runtime.capture import capture
from byparts_runtime.commit import Commit
from byparts_runtime.cycle import Cycle, around, runs_of
from byparts_runtime.design import Design
from byparts_runtime.plan import Location, Plan, separate
from byparts_runtime.variable import Variable

_MOST_CYCLES = 4

_present = itemgetter(0)

Door = tuple[Callable[[Any], object], Any, tuple[int, ...]]  # writes an array of dtype and shape


class Machine:
    """Runs a design.

    Args:
        design: what to run.
        plan: where its values are.
        arena: the memory they are in, maybe with other programs; by default its own.
        feeds: the caller's memory to read the feeds from; by default they are in the arena, and
            come in through `doors`, one for each.

    Attributes:
        lock: of the variables; taken before that of the arena, and both are held while it runs.
        inside: whether this thread holds that of the arena, and so is within a run.
    """

    def __init__(
        self,
        design: Design,
        plan: Plan,
        arena: Optional[Arena] = None,
        feeds: Sequence[Bytes] = (),
    ) -> None:
        self.design, self.plan, self._feeds = design, plan, tuple(feeds)
        self.shares = arena is not None
        self.arena = Arena(design.space) if arena is None else arena
        self.inside = self.arena.inside
        self._block: Optional[Block] = None
        self._written = self._in_place()
        self.aliased = aliased_nodes(design.graph, self.plan.locations)
        variables = dict.fromkeys((*design.variables, *design.updates))
        self.variables: tuple[Variable, ...] = tuple(variables)
        self.lock = lock_of(self.variables) if self.variables else self.arena.lock
        self._sides = tuple(v.side for v in self.variables)
        self._cycles: dict[bytes, Cycle] = {}
        self.doors: tuple[Door, ...] = ()
        self.arena.join(self)
        with self.lock, self.arena.lock:
            self.cycle()

    @property
    def needs_bytes(self) -> int:
        """Of its arena."""
        return self.plan.arena_bytes

    def move(self, block: Optional[Block]) -> None:
        """Forget all that is bound to the memory so far; what is needed is bound again."""
        self._cycles.clear()  # first: a cycle without its doors would run on old feeds
        self._block, self.doors = block, ()

    def cycle(self) -> Cycle:
        """The one for the variables' present sides.  The caller holds both locks."""
        key = bytes(map(_present, self._sides))
        found = self._cycles.get(key)
        if found is None:
            if len(self._cycles) >= _MOST_CYCLES:
                return self._turn(key)
            if self._block is None:  # the arena found no memory when it was last moved
                self.arena.settle(self)
            try:
                begin(self)
                found = self._bind()
            finally:
                end(self)
            self.doors = self._doors()
            self._cycles[key] = found  # last: a fork may come at any line
        return found

    def _doors(self) -> tuple[Door, ...]:
        inputs, places = self.design.graph.inputs[: self.design.feeds], self._places()
        types = [v.type for v in inputs] if not self._feeds else []
        return tuple(map(self._door, places, types))

    def _door(self, place: Bytes, kind: TensorType) -> Door:
        write = writer(self.design.space, place.memory, place.offset, kind)
        return write, carrier(kind.dtype), kind.dims

    def _turn(self, key: bytes) -> Cycle:
        """Move variables until some cycle fits, as few as possible."""
        near = min(self._cycles, key=lambda known: sum(map(ne, known, key)))
        for variable, side in zip(self.variables, near, strict=True):
            if variable.side[0] != side:
                variable.turn()
        return self._cycles[near]

    def _bind(self) -> Cycle:
        design, places, context = self.design, self._places(), around(self.design.backends)
        settle = self._exchange if design.commit == "exchange" else self._copy
        with context():
            self._clear_feeds(places)
            bound = self._bound(places)
            staging, plain = settle(places)
            writes = [self._updates(step.node) for step in bound]
            first = writes.index(True) if True in writes else len(bound)
            steps, updates = bound[:first], bound[first:]  # updates, and gradients computed late
            plain.runs = runs_of(updates)
            body = runs_of(steps, staging)
            made = capture(design.capture, design.backends, (*steps, *updates), body, plain)
            readers = tuple(self._reader(places, i) for i in range(design.fetches))
        finish = design.space.synchronize
        runs = (*made.runs, finish) if self._waits() else made.runs
        rest = (made.commit, context, updates, plain, finish, made.note, made.replayed)
        return Cycle(steps, tuple(staging), runs, readers, *rest, design.updates)

    def _bound(self, places: Sequence[Bytes]) -> tuple[Step, ...]:
        design = self.design
        with ExitStack() as contexts:
            for backend in design.backends:
                if backend.binding is not None:
                    contexts.enter_context(backend.binding())
            return bind(design.graph, places, self.aliased, design.backends)

    def _clear_feeds(self, places: Sequence[Bytes]) -> None:
        """Recording may run the steps: what another program left might be no index for theirs."""
        design = self.design
        records = design.capture is not False and any(b.capture for b in design.backends)
        if records and self.shares and not self._feeds:
            for place, v in zip(places, design.graph.inputs[: design.feeds], strict=False):
                design.space.write(place.memory, place.offset, bytes(v.type.size_bytes))

    def _waits(self) -> bool:
        """Whether to ask the space if all went well before the variables get new values.

        Whoever reads a fetch has asked already.  Where fetches stay in the space nobody has, and
        nobody need, if a failure there is met by the commit as well.
        """
        design = self.design
        if design.space.name == "host":
            return False
        if design.results is None:
            return not design.fetches
        return bool(design.updates) and not getattr(design.space, "sticky", False)

    def copied(self) -> tuple[Variable, ...]:
        """The updated variables that are not written in place."""
        pairs = zip(self._new_values(), self.design.updates, strict=True)
        return tuple(v for i, v in pairs if i not in self._written)

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Whatever is run within, the variables are as before afterwards.  The lock is held."""
        kept = [(v, v.carried()) for v in self.variables] if self._written else []
        try:
            begin(self, [v for v, _ in kept])
            yield
        finally:
            try:
                for variable, value in kept:
                    variable.write(value)
            finally:
                end(self)

    def _updates(self, node: Node) -> bool:
        """Whether the node writes a variable, and so belongs to the commit."""
        ids = self.design.graph.ids
        return any(ids[v] in self._written for v in node.outputs)

    def _places(self) -> tuple[Bytes, ...]:
        assert self._block is not None, "a cycle is bound when there is memory"
        outside, memory = self.design.outside(self._feeds), self._block.memory
        return tuple(_place(at, memory, outside) for at in self.plan.locations)

    def _reader(self, places: Sequence[Bytes], output: int) -> Callable[[], Any]:
        value = self.design.graph.outputs[output]
        place = places[self.design.graph.ids[value]]
        design = self.design
        return fetcher(design.results, design.space, place.memory, place.offset, value.type)

    def _copy(self, places: Sequence[Bytes]) -> tuple[list[Run], Commit]:
        """Copies over the old values; before that, of old values that become new ones (a swap)."""
        design = self.design
        memories = [v.memory(v.side[0]) for v in design.updates]
        old_values = set(map(id, memories))
        staging: list[Run] = []
        sources, targets = [], []
        for i, memory in zip(self._new_values(), memories, strict=True):
            if i in self._written:
                continue
            kind, place = design.graph.values[i].type, places[i]
            source = self._look(place, kind)
            if id(place.memory) in old_values:
                staged = self._look(Bytes(design.space.allocate(kind.size_bytes), 0), kind)
                staging.append(partial(setitem, staged, ..., source))
                source = staged
            sources.append(source)
            targets.append(self._look(Bytes(memory, 0), kind))
        copy = None if design.space.name == "host" else design.backends[0].copy
        return staging, Commit(targets, ..., sources, duplicate=copy or deepcopy)

    def _in_place(self) -> frozenset[int]:
        """Values that the plan has put over variables."""
        graph, at = self.design.graph, self.plan.locations
        offered = {graph.ids[graph.outputs[j]]: k for k, j in self.design.in_place}
        return frozenset(v for v, k in offered.items() if at[v].root == k)

    def _exchange(self, places: Sequence[Bytes]) -> tuple[list[Run], Commit]:
        """The change of sides; before that, copies of what the plan could not compute in place."""
        design = self.design
        staging: list[Run] = []
        for i, variable in zip(self._new_values(), design.updates, strict=True):
            kind, second = design.graph.values[i].type, variable.memory(1 - variable.side[0])
            if places[i].memory is not second:
                target = self._look(Bytes(second, 0), kind)
                staging.append(partial(setitem, target, ..., self._look(places[i], kind)))
        sides = [v.side for v in design.updates]
        return staging, Commit(sides, 0, [1 - side[0] for side in sides])

    def _new_values(self) -> list[int]:
        graph = self.design.graph
        return [graph.ids[v] for v in graph.outputs[self.design.fetches :]]

    def _look(self, place: Bytes, kind: TensorType) -> Any:
        look = view if self.design.space.name == "host" else self.design.backends[0].view
        return look(place.memory, place.offset, kind)


def compute_constants(
    nodes: Sequence[Node], backends: Sequence[Backend], alignment: int
) -> tuple[Bytes, ...]:
    """Run nodes without inputs once; their outputs, each in memory of its own."""
    if not nodes:
        return ()
    graph = Graph((), tuple(nodes), tuple(v for n in nodes for v in n.outputs))
    plan = separate(graph, alignment=alignment)
    memory = backends[0].space.allocate(plan.arena_bytes)
    places = tuple(Bytes(memory, at.offset) for at in plan.locations)
    with around(backends)():
        for step in bind(graph, places, frozenset(), backends):
            try:
                step.run()
            except Exception as error:
                add_note(error, f"in the constant {describe(step.node)}, on {step.backend!r}")
                raise
    backends[0].space.synchronize()
    return places


def lock_of(variables: Sequence[Variable]) -> Any:
    """What to hold while these, one at least, are used: one lock as a rule, that of their store."""
    locks = {id(v.lock): v.lock for v in variables}
    return next(iter(locks.values())) if len(locks) == 1 else _Locks(locks)


class _Locks:
    """Several locks, taken in one order everywhere, so that no two programs wait for each other."""

    def __init__(self, locks: Mapping[int, Any]) -> None:
        self._own = make_lock()
        self._locks = (self._own, *(locks[key] for key in sorted(locks)))
        self._held: list[ExitStack] = []

    def __enter__(self) -> None:
        with ExitStack() as stack:
            for lock in self._locks:
                stack.enter_context(lock)
            self._held.append(stack.pop_all())

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self._held.pop().close()


def _place(at: Location, arena: Any, outside: Mapping[int, Bytes]) -> Bytes:
    if at.root is None:
        return Bytes(arena, at.offset)
    base = outside[at.root]
    return Bytes(base.memory, base.offset + at.offset)
