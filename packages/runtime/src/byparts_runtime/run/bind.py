"""Binds a placed graph to memory: kernels, copies and readers, at addresses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from functools import partial
from operator import setitem
from typing import Any, Optional

from byparts_graph_ir import Node, Space, TensorType
from byparts_graph_ir.backend.kernel import Run, is_of_ctypes
from byparts_runtime.arrays.access import fetcher, view, writer
from byparts_runtime.arrays.dtypes import carrier
from byparts_runtime.building.context import contexts_of
from byparts_runtime.memory.arena import Arena
from byparts_runtime.memory.plan import Bytes, Location
from byparts_runtime.run.capture import capture
from byparts_runtime.run.commit import Commit
from byparts_runtime.run.cycle import Cycle
from byparts_runtime.run.loaded import Loaded
from byparts_runtime.run.results import Changing, Results
from byparts_runtime.run.step import Binder, Step, aliased_nodes

FeedWriter = tuple[Callable[[Any], object], Any, tuple[int, ...]]  # of arrays of dtype and shape


class Binding:
    """A placed graph, bound.

    Args:
        loaded: what to bind.
        memory: name of a space -> the memory of the arena there.
        feeds: the caller's memory that the feeds are read from; empty: they are in the arena.
        arena: keeps memory for large fetches.
        shares: whether other programs use the arena, too.

    Attributes:
        cycle: what a call runs.
        feed_writers: copy the feeds into the arena, one for each.
        results: the memory of large fetches, if there are any.
    """

    def __init__(
        self,
        loaded: Loaded,
        memory: Mapping[str, Any],
        feeds: Sequence[Bytes],
        arena: Arena,
        shares: bool,
    ) -> None:
        self._loaded, self._memory, self._feeds = loaded, memory, feeds
        self._arena, self._shares, self._written = arena, shares, loaded.placed.written
        self._aliased = aliased_nodes(loaded.graph, loaded.plan.locations)
        self.results: Optional[Results] = None
        places = self._places()
        self.cycle = self._cycle(places)
        self.feed_writers = self._feed_writers(places)

    def _feed_writers(self, places: Sequence[Bytes]) -> tuple[FeedWriter, ...]:
        inputs = self._loaded.graph.inputs[: self._loaded.signature.feeds]
        types = [v.type for v in inputs] if not self._feeds else []
        return tuple(map(self._feed_writer, places, types))

    def _feed_writer(self, place: Bytes, kind: TensorType) -> FeedWriter:
        write = writer(self._loaded.space, place.memory, place.offset, kind)
        return write, carrier(kind.dtype), kind.dims

    def _cycle(self, places: Sequence[Bytes]) -> Cycle:
        loaded = self._loaded
        signature, parts = loaded.signature, loaded.parts
        with parts.context():
            self._clear_feeds(places)
            bound = self._bound(places)
            staging, plain = self._copies(places)
            writes = [self._updates(step) for step in bound]
            first = writes.index(True) if True in writes else len(bound)
            steps, updates = bound[:first], bound[first:]  # `updates` has late gradients, too
            plain.runs = tuple(partial(step.run) for step in updates)
            wanted = loaded.options.capture
            made = capture(wanted, parts.backends, steps, staging, updates, plain)
            readers = tuple(self._reader(places, i) for i in range(signature.fetches))
        waits = parts.waits
        finish = partial(_call_all, waits) if len(waits) != 1 else waits[0]
        runs = (*made.runs, finish) if self._waits() else made.runs
        around = contexts_of(parts.backends)
        called = *made.runs[: len(made.spans)], *made.commit.runs
        silent = around is None and all(map(is_of_ctypes, called))
        rest = (
            made.commit,
            around,
            updates,
            plain,
            finish,
            made.note,
            made.spans,
            signature.updates,
        )
        return Cycle(steps, tuple(staging), runs, readers, *rest, silent, self._persistent)

    def _bound(self, places: Sequence[Bytes]) -> tuple[Step, ...]:
        placed, graph, plan = self._loaded.placed, self._loaded.graph, self._loaded.plan
        parts = self._loaded.parts
        kernels = placed.schedule.compiled.kernels
        spaces = [kernels(node).backend.space for node in graph.nodes]
        starts = getattr(plan, "workspaces", ()) or [0] * len(graph.nodes)
        workspaces = [Bytes(self._memory[s.name], at) for s, at in zip(spaces, starts, strict=True)]
        # Zeroed anew: what was prepared there may hold addresses of the arena as it was.
        size = placed.persistent_bytes
        memory = {n: s.allocate(size) if size else None for n, s in parts.spaces.items()}
        self._persistent, starts = memory, placed.persistent
        persistent = [Bytes(memory[s.name], at) for s, at in zip(spaces, starts, strict=True)]
        value_spaces = [at.space for at in plan.locations] if parts.several else None
        binder = Binder(graph, places, kernels, workspaces, persistent, value_spaces)
        nodes = [node for node in graph.nodes if node not in self._aliased]
        if not placed.results:
            return binder.bound(nodes)
        touched = [node for node in nodes if self._touches_results(node)]
        changing = {node: Changing() for node in touched}
        types = {k: graph.inputs[k].type for k in placed.results}
        bind = partial(_bound_to_results, self._loaded, binder, touched)
        self.results = Results(types, bind, tuple(changing.values()), self._arena.results)
        others = iter(binder.bound([node for node in nodes if node not in changing]))
        names = {node: kernels(node).backend.name for node in touched}
        return tuple(
            Step(n, names[n], changing[n]) if n in changing else next(others) for n in nodes
        )

    def _touches_results(self, node: Node) -> bool:
        at, ids = self._loaded.plan.locations, self._loaded.graph.ids
        results = self._loaded.placed.results
        return any(at[ids[v]].root in results for v in (*node.inputs, *node.outputs))

    def _clear_feeds(self, places: Sequence[Bytes]) -> None:
        """Zero the feeds before recording, which may run the steps.

        Bytes that another program left in a shared arena could be indices out of range.
        """
        loaded = self._loaded
        records = loaded.options.capture is not False
        records = records and any(b.capture for b in loaded.parts.backends)
        if records and self._shares and not self._feeds:
            inputs = loaded.graph.inputs[: loaded.signature.feeds]
            for place, v in zip(places, inputs, strict=False):
                loaded.space.write(place.memory, place.offset, bytes(v.type.size_bytes))

    def _waits(self) -> bool:
        """Whether a run waits for the space before the commit, so that failures come before it.

        Reading a fetch waits already.  Fetches that stay in the space do not wait, and need not
        if a failure there makes the commit fail, too (`Space.sticky`).
        """
        space, signature = self._loaded.space, self._loaded.signature
        if self._loaded.parts.several or len(self._loaded.parts.waits) > 1:
            return True
        if space.name == "host":
            return False
        if self._loaded.parts.results is None:
            return not signature.fetches
        return bool(signature.updates) and not space.sticky

    def _updates(self, step: Step) -> bool:
        """Whether the step writes a variable."""
        ids = self._loaded.graph.ids
        return any(ids[v] in self._written for v in step.node.outputs)

    def _places(self) -> tuple[Bytes, ...]:
        outside, first = self._outside(), self._loaded.space.name
        several = self._loaded.parts.several
        return tuple(
            _place(at, self._memory[at.space if several else first], outside)
            for at in self._loaded.plan.locations
        )

    def _outside(self) -> dict[int, Bytes]:
        """Input position -> bytes outside the arena."""
        signature = self._loaded.signature
        outside = dict(enumerate(self._feeds))
        values = [Bytes(v.memory, 0) for v in signature.variables]
        outside.update(enumerate(values, signature.feeds))
        outside.update(enumerate(self._loaded.constants, signature.first_constant))
        used = {at.root for at in self._loaded.plan.locations}
        inputs = self._loaded.graph.inputs
        for k in range(signature.inputs, len(inputs)):  # of large fetches
            fixed = k in used and k not in self._loaded.placed.results
            memory = self._loaded.space.allocate(inputs[k].type.size_bytes) if fixed else None
            outside[k] = Bytes(memory, 0)
        return outside

    def _reader(self, places: Sequence[Bytes], output: int) -> Callable[[], Any]:
        loaded, value = self._loaded, self._loaded.graph.outputs[output]
        for slot, j in loaded.placed.results.items():
            if j == output and self.results is not None:
                return self.results.reader(slot)
        place = places[loaded.graph.ids[value]]
        return fetcher(loaded.parts.results, loaded.space, place.memory, place.offset, value.type)

    def _copies(self, places: Sequence[Bytes]) -> tuple[list[Run], Commit]:
        """Copies to make before the commit, and the commit with its copies over the old values.

        The first are of old values that become new values of other variables, as in a swap.
        """
        loaded = self._loaded
        old_values = {id(v.memory) for v in loaded.signature.updates}
        staging: list[Run] = []
        sources, targets = [], []
        for i, variable in zip(loaded.new_value_ids, loaded.signature.updates, strict=True):
            if i in self._written:
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

    def _look(self, place: Bytes, kind: TensorType, space: Space) -> Any:
        backends = self._loaded.parts.backends
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


def _bound_to_results(
    loaded: Loaded, binder: Binder, nodes: Sequence[Node], results: Mapping[int, Bytes]
) -> list[Run]:
    """The kernels that write or read large fetches, bound to this memory of the fetches."""
    for i, at in enumerate(loaded.plan.locations):
        if at.root is not None and at.root in results:
            base = results[at.root]
            binder.places[i] = Bytes(base.memory, base.offset + at.offset)
    binder.forget_views()  # of the memory before
    with loaded.parts.context():
        return [step.run for step in binder.bound(nodes)]
