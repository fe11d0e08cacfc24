"""A placed graph with its memory: the kernels bound to the arena, ready to run.

The arena may move, when a program that needs more joins it; then all is bound again, at the next
call.  Compiled kernels and the plan stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from functools import partial
from operator import setitem
from typing import Any, Optional

from numpy import ndarray

from byparts_graph_ir import Node, Space, TensorType
from byparts_graph_ir.fork import begin, end
from byparts_graph_ir.kernel import Run
from byparts_runtime.arrays import carrier, fetcher, taken, view, writer
from byparts_runtime.building.context import contexts_of
from byparts_runtime.memory.arena import Arena, Block
from byparts_runtime.memory.plan import Bytes, Location, arena_bytes
from byparts_runtime.memory.variable import Variable, unknown
from byparts_runtime.run.capture import capture
from byparts_runtime.run.commit import Commit
from byparts_runtime.run.cycle import Cycle
from byparts_runtime.run.loaded import Loaded
from byparts_runtime.run.locks import lock_of
from byparts_runtime.run.results import Changing, Results
from byparts_runtime.run.step import Binder, Step, aliased_nodes

FeedWriter = tuple[Callable[[Any], object], Any, tuple[int, ...]]  # of arrays of dtype and shape


class Machine:
    """Runs a placed graph in an arena.

    Args:
        loaded: what to run.
        arena: the memory its values are in, maybe with other programs; by default its own.
        feeds: the caller's memory to read the feeds from; by default they are in the arena, and
            come in through `feed_writers`, one for each.

    Attributes:
        lock: of the variables; taken before that of the arena, and both are held while it runs.
        inside: whether this thread holds that of the arena, and so is within a run.
    """

    def __init__(
        self, loaded: Loaded, arena: Optional[Arena] = None, feeds: Sequence[Bytes] = ()
    ) -> None:
        self.loaded, self._feeds = loaded, tuple(feeds)
        self.shares = arena is not None
        self.arena = Arena(loaded.space) if arena is None else arena
        self.inside = self.arena.inside
        self._block: Optional[Block] = None
        self._elsewhere = {  # arenas of the other spaces, which no programs share
            name: space.allocate(arena_bytes(loaded.plan, name))
            for name, space in loaded.parts.spaces.items()
            if name != loaded.space.name
        }
        self._cycle: Optional[Cycle] = None
        self.feed_writers: tuple[FeedWriter, ...] = ()
        self.results: Optional[Results] = None
        self.written = loaded.placed.written
        self.aliased = aliased_nodes(loaded.graph, loaded.plan.locations)
        signature = loaded.signature
        variables = dict.fromkeys((*signature.variables, *signature.updates))
        self.variables: tuple[Variable, ...] = tuple(variables)
        self.lock = lock_of(self.variables) if self.variables else self.arena.lock
        self.arena.join(self)
        with self.lock, self.arena.lock:
            self.cycle()

    @property
    def needs_bytes(self) -> int:
        """Of its arena."""
        several = self.loaded.parts.several
        return arena_bytes(self.loaded.plan, self.loaded.space.name if several else None)

    def move(self, block: Optional[Block]) -> None:
        """Forget all that is bound to the memory so far; what is needed is bound again."""
        self._cycle = None  # first: a cycle without its feed writers would run on old feeds
        self.results = None
        self._block, self.feed_writers = block, ()

    def cycle(self) -> Cycle:
        """What a call runs.  The caller holds both locks."""
        if unknown:
            for variable in self.variables:
                variable.check_known()
        cycle = self._cycle
        if cycle is None:
            if self._block is None:  # the arena found no memory when it was last moved
                self.arena.settle(self)
            try:
                begin(self)
                places = self._places()
                cycle = self._bind(places)
            finally:
                end(self)
            self.feed_writers = self._feed_writers(places)
            self._cycle = cycle  # last: a fork may come at any line
        return cycle

    def run(self, feeds: Sequence[Any]) -> tuple[Any, ...]:
        """Bring the feeds in and run; the fetches.

        Raises:
            ShapeError: a feed is not of its type.
            Exception: what a kernel raised, with notes that say where; no variable has changed.
        """
        arena = self.arena
        if self.inside():
            arena.from_outside()
        with self.lock:
            if self.lock is arena.lock:
                return self._run(feeds)
            with arena.lock:
                return self._run(feeds)

    def _run(self, feeds: Sequence[Any]) -> tuple[Any, ...]:
        cycle = self._cycle
        if cycle is None or unknown:
            cycle = self.cycle()
        if self.results is not None:
            self.results.renew()
        if feeds or self.feed_writers:
            self.accept(feeds)
        return cycle()

    def accept(self, feeds: Sequence[Any]) -> None:
        """Copy the feeds into the arena.  The caller holds both locks, and there is a cycle.

        Raises:
            ShapeError: a feed is not of its type.
            GraphError: there are too many or too few.
        """
        writers = self.feed_writers
        if len(feeds) != len(writers):
            self.loaded.check_count(feeds)
        for i, (write, dtype, shape) in enumerate(writers):
            value = feeds[i]
            if value.__class__ is not ndarray or value.dtype != dtype or value.shape != shape:
                kind = self.loaded.graph.inputs[i].type
                value = taken(value, kind, self.loaded.space, f"feed {self.loaded.feed_name(i)}")
            write(value)

    def copied(self) -> tuple[Variable, ...]:
        """The updated variables that are not written in place."""
        pairs = zip(self._new_values(), self.loaded.signature.updates, strict=True)
        return tuple(v for i, v in pairs if i not in self.written)

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Whatever is run within, the variables are as before afterwards.  The lock is held."""
        kept = [(v, v.carried()) for v in self.variables] if self.written else []
        try:
            begin(self, [v for v, _ in kept])
            yield
        finally:
            try:
                for variable, value in kept:
                    variable.write(value)
            finally:
                end(self)

    def _feed_writers(self, places: Sequence[Bytes]) -> tuple[FeedWriter, ...]:
        inputs = self.loaded.graph.inputs[: self.loaded.signature.feeds]
        types = [v.type for v in inputs] if not self._feeds else []
        return tuple(map(self._feed_writer, places, types))

    def _feed_writer(self, place: Bytes, kind: TensorType) -> FeedWriter:
        write = writer(self.loaded.space, place.memory, place.offset, kind)
        return write, carrier(kind.dtype), kind.dims

    def _bind(self, places: Sequence[Bytes]) -> Cycle:
        loaded = self.loaded
        signature, parts = loaded.signature, loaded.parts
        with parts.context():
            self._clear_feeds(places)
            bound = self._bound(places)
            staging, plain = self._copies(places)
            writes = [self._updates(step) for step in bound]
            first = writes.index(True) if True in writes else len(bound)
            steps, updates = bound[:first], bound[first:]  # updates, and gradients computed late
            plain.runs = tuple(partial(step.run) for step in updates)
            wanted = loaded.options.capture
            made = capture(wanted, parts.backends, steps, staging, updates, plain)
            readers = tuple(self._reader(places, i) for i in range(signature.fetches))
        waits = tuple([space.synchronize for space in parts.spaces.values()])
        finish = partial(_call_all, waits) if parts.several else loaded.space.synchronize
        runs = (*made.runs, finish) if self._waits() else made.runs
        rest = (
            made.commit,
            contexts_of(parts.backends),
            updates,
            plain,
            finish,
            made.note,
            made.spans,
        )
        return Cycle(steps, tuple(staging), runs, readers, *rest, signature.updates)

    def _bound(self, places: Sequence[Bytes]) -> tuple[Step, ...]:
        placed, graph, plan = self.loaded.placed, self.loaded.graph, self.loaded.plan
        parts = self.loaded.parts
        kernels = placed.schedule.compiled.kernels
        spaces = [kernels(node).backend.space for node in graph.nodes]
        starts = getattr(plan, "workspaces", ()) or [0] * len(graph.nodes)
        workspaces = [Bytes(self._memory(s), at) for s, at in zip(spaces, starts, strict=True)]
        # Zeroed anew: what was prepared there may hold addresses of the arena as it was.
        size = placed.persistent_bytes
        memory = {n: s.allocate(size) if size else None for n, s in parts.spaces.items()}
        starts = placed.persistent
        persistent = [Bytes(memory[s.name], at) for s, at in zip(spaces, starts, strict=True)]
        binder = Binder(graph, places, kernels, workspaces, persistent)
        nodes = [node for node in graph.nodes if node not in self.aliased]
        if not placed.results:
            return binder.bound(nodes)
        touched = [node for node in nodes if self._touches_results(node)]
        changing = {node: Changing() for node in touched}
        types = {k: graph.inputs[k].type for k in placed.results}
        bind = partial(self._bound_to_results, binder, touched)
        self.results = Results(types, bind, tuple(changing.values()))
        others = iter(binder.bound([node for node in nodes if node not in changing]))
        names = {node: kernels(node).backend.name for node in touched}
        return tuple(
            Step(n, names[n], changing[n]) if n in changing else next(others) for n in nodes
        )

    def _bound_to_results(
        self, binder: Binder, nodes: Sequence[Node], results: Mapping[int, Bytes]
    ) -> list[Run]:
        """The kernels that write or read large fetches, for this memory of theirs."""
        for i, at in enumerate(self.loaded.plan.locations):
            if at.root is not None and at.root in results:
                base = results[at.root]
                binder.places[i] = Bytes(base.memory, base.offset + at.offset)
        binder.forget_views()  # of the memory before
        with self.loaded.parts.context():
            return [step.run for step in binder.bound(nodes)]

    def _touches_results(self, node: Node) -> bool:
        at, ids = self.loaded.plan.locations, self.loaded.graph.ids
        results = self.loaded.placed.results
        return any(at[ids[v]].root in results for v in (*node.inputs, *node.outputs))

    def _clear_feeds(self, places: Sequence[Bytes]) -> None:
        """Recording may run the steps: what another program left might be no index for theirs."""
        loaded = self.loaded
        records = loaded.options.capture is not False
        records = records and any(b.capture for b in loaded.parts.backends)
        if records and self.shares and not self._feeds:
            inputs = loaded.graph.inputs[: loaded.signature.feeds]
            for place, v in zip(places, inputs, strict=False):
                loaded.space.write(place.memory, place.offset, bytes(v.type.size_bytes))

    def _waits(self) -> bool:
        """Whether to ask the space if all went well before the variables get new values.

        Whoever reads a fetch has asked already.  Where fetches stay in the space nobody has, and
        nobody need, if a failure there is met by the commit as well.
        """
        space, signature = self.loaded.space, self.loaded.signature
        if self.loaded.parts.several:
            return True
        if space.name == "host":
            return False
        if self.loaded.parts.results is None:
            return not signature.fetches
        return bool(signature.updates) and not space.sticky

    def _updates(self, step: Step) -> bool:
        """Whether the step writes a variable, and so belongs to the commit."""
        ids = self.loaded.graph.ids
        return any(ids[v] in self.written for v in step.node.outputs)

    def _places(self) -> tuple[Bytes, ...]:
        outside, parts = self._outside(), self.loaded.parts
        if not parts.several:
            memory = self._memory(parts.space)
            return tuple(_place(at, memory, outside) for at in self.loaded.plan.locations)
        return tuple(
            _place(at, self._memory(parts.spaces[at.space]), outside)
            for at in self.loaded.plan.locations
        )

    def _memory(self, space: Space) -> Any:
        """The arena in a space."""
        assert self._block is not None, "a cycle is bound when there is memory"
        return self._elsewhere.get(space.name, self._block.memory)

    def _outside(self) -> dict[int, Bytes]:
        """Input position -> bytes outside the arena."""
        signature = self.loaded.signature
        found = dict(enumerate(self._feeds))
        values = [Bytes(v.memory, 0) for v in signature.variables]
        found.update(enumerate(values, signature.feeds))
        found.update(enumerate(self.loaded.constants, signature.first_constant))
        used = {at.root for at in self.loaded.plan.locations}
        inputs = self.loaded.graph.inputs
        for k in range(signature.inputs, len(inputs)):  # of large fetches
            fixed = k in used and k not in self.loaded.placed.results
            memory = self.loaded.space.allocate(inputs[k].type.size_bytes) if fixed else None
            found[k] = Bytes(memory, 0)
        return found

    def _reader(self, places: Sequence[Bytes], output: int) -> Callable[[], Any]:
        loaded, value = self.loaded, self.loaded.graph.outputs[output]
        for slot, j in loaded.placed.results.items():
            if j == output and self.results is not None:
                return self.results.reader(slot)
        place = places[loaded.graph.ids[value]]
        return fetcher(loaded.parts.results, loaded.space, place.memory, place.offset, value.type)

    def _copies(self, places: Sequence[Bytes]) -> tuple[list[Run], Commit]:
        """Copies over the old values; before that, of old values that become new ones (a swap)."""
        loaded = self.loaded
        old_values = {id(v.memory) for v in loaded.signature.updates}
        staging: list[Run] = []
        sources, targets = [], []
        for i, variable in zip(self._new_values(), loaded.signature.updates, strict=True):
            if i in self.written:
                continue
            memory, space = variable.memory, variable.space
            kind, place = loaded.graph.values[i].type, places[i]
            source = self._look(place, kind, space)
            if id(place.memory) in old_values:
                staged = self._look(Bytes(space.allocate(kind.size_bytes), 0), kind, space)
                staging.append(partial(setitem, staged, ..., source))
                source = staged
            sources.append(source)
            targets.append(self._look(Bytes(memory, 0), kind, space))
        copy = None if loaded.space.name == "host" else loaded.parts.backends[0].copy
        counters = [v.counter for v in loaded.signature.updates]
        return staging, Commit(targets, sources, (), counters, copy or deepcopy)

    def _new_values(self) -> list[int]:
        graph = self.loaded.graph
        return [graph.ids[v] for v in self.loaded.signature.new_values(graph)]

    def _look(self, place: Bytes, kind: TensorType, space: Space) -> Any:
        backends = self.loaded.parts.backends
        here = next(b for b in backends if b.space.name == space.name)
        look = view if space.name == "host" else here.view
        return look(place.memory, place.offset, kind)


def _call_all(runs: Sequence[Run]) -> None:
    """One after the other."""
    for run in runs:
        run()


def _place(at: Location, arena: Any, outside: Mapping[int, Bytes]) -> Bytes:
    if at.root is None:
        return Bytes(arena, at.offset)
    base = outside[at.root]
    return Bytes(base.memory, base.offset + at.offset)
