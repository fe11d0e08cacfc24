"""Binds a program to memory: steps (`bound.py`), feeds, fetches and the commit, as one cycle."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from functools import partial
from operator import setitem
from typing import Any, Optional

from byparts_graph_ir import Node, Space, TensorType, Value
from byparts_graph_ir.backend.kernel import Run, is_of_ctypes
from byparts_runtime.arrays.access import fetcher, view, writer
from byparts_runtime.arrays.dtypes import carrier
from byparts_runtime.building.context import contexts_of
from byparts_runtime.building.discover import Parts
from byparts_runtime.memory.arena import Arena
from byparts_runtime.memory.plan import Bytes
from byparts_runtime.run.bound import Bound, persistent_memory
from byparts_runtime.run.capture import capture
from byparts_runtime.run.commit import Commit
from byparts_runtime.run.cycle import Cycle
from byparts_runtime.run.loaded import Loaded
from byparts_runtime.run.results import Changing, Results
from byparts_runtime.run.step import Step, run_all

FeedWriter = tuple[Callable[[Any], object], Any, tuple[int, ...]]  # of arrays of dtype and shape


class Binding:
    """The graph of a program, bound to memory, with what a call does around its steps.

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
        self._loaded, self._feeds = loaded, feeds
        self._arena, self._shares, self._written = arena, shares, loaded.placed.written
        self.results: Optional[Results] = None
        arenas = {name: Bytes(block, 0) for name, block in memory.items()}
        self._persistent = persistent_memory(loaded.placed, loaded.parts.spaces)
        self._bound = Bound(loaded.placed, self._inputs(), arenas, self._persistent)
        self.cycle = self._cycle()
        self.feed_writers = self._feed_writers()

    def _inputs(self) -> dict[int, Bytes]:
        """Position of each input outside the arena -> its bytes."""
        loaded, signature = self._loaded, self._loaded.signature
        variables = [Bytes(v.memory, 0) for v in signature.variables]
        inputs = dict(enumerate(self._feeds))
        inputs.update(enumerate((*variables, *loaded.constants), signature.feeds))
        used = {at.root for at in loaded.plan.locations}
        for k in loaded.placed.offered:
            fixed = k in used and k not in loaded.placed.results
            size_bytes = loaded.graph.inputs[k].type.size_bytes
            inputs[k] = Bytes(loaded.space.allocate(size_bytes) if fixed else None, 0)
        return inputs

    def _feed_writers(self) -> tuple[FeedWriter, ...]:
        inputs = self._loaded.graph.inputs[: self._loaded.signature.feeds]
        return () if self._feeds else tuple(map(self._feed_writer, inputs))

    def _feed_writer(self, feed: Value) -> FeedWriter:
        place, kind = self._bound.place(feed), feed.type
        write = writer(self._loaded.space, place.memory, place.offset, kind)
        return write, carrier(kind.dtype), kind.dims

    def _cycle(self) -> Cycle:
        loaded = self._loaded
        signature, parts = loaded.signature, loaded.parts
        with parts.context():
            self._clear_feeds()
            bound = self._steps()
            staging, plain = self._copies()
            writes = [self._updates(step) for step in bound]
            first = writes.index(True) if True in writes else len(bound)
            steps, updates = bound[:first], bound[first:]  # `updates` has late gradients, too
            plain.runs = tuple(partial(step.run) for step in updates)
            wanted = loaded.options.capture
            captured = capture(wanted, parts.backends, steps, staging, updates, plain)
            readers = tuple(self._reader(i) for i in range(signature.fetches))
        waits = parts.waits
        finish = partial(run_all, waits) if len(waits) != 1 else waits[0]
        around = contexts_of(parts.backends)
        called = *captured.runs[: len(captured.spans)], *captured.commit.runs
        return Cycle(
            steps=steps,
            staging=tuple(staging),
            runs=(*captured.runs, finish) if self._waits() else captured.runs,
            readers=readers,
            commit=captured.commit,
            around=around,
            updates=updates,
            plain=plain,
            finish=finish,
            note=captured.note,
            spans=captured.spans,
            written=signature.updates,
            silent=around is None and all(map(is_of_ctypes, called)),
            persistent=self._persistent,
        )

    def _steps(self) -> tuple[Step, ...]:
        """The steps; those that touch large fetches are bound to the memory of each call."""
        results = self._loaded.placed.results
        if not results:
            return self._bound.steps()
        changing = {node: Changing() for node in self._bound.touching(results)}
        types = {k: self._loaded.graph.inputs[k].type for k in results}
        bind = partial(_bound_to_results, self._loaded.parts, self._bound, tuple(changing))
        self.results = Results(types, bind, tuple(changing.values()), self._arena.results)
        return self._bound.steps(changing)

    def _clear_feeds(self) -> None:
        """Zero the feeds before recording, which may run the steps.

        Bytes that another program left in a shared arena could be indices out of range.
        """
        loaded = self._loaded
        records = loaded.options.capture is not False
        records = records and any(b.capture for b in loaded.parts.backends)
        if records and self._shares and not self._feeds:
            for feed in loaded.graph.inputs[: loaded.signature.feeds]:
                place = self._bound.place(feed)
                loaded.space.write(place.memory, place.offset, bytes(feed.type.size_bytes))

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

    def _reader(self, output: int) -> Callable[[], Any]:
        loaded, value = self._loaded, self._loaded.graph.outputs[output]
        for slot, j in loaded.placed.results.items():
            if j == output and self.results is not None:
                return self.results.reader(slot)
        place = self._bound.place(value)
        return fetcher(loaded.parts.results, loaded.space, place.memory, place.offset, value.type)

    def _copies(self) -> tuple[list[Run], Commit]:
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
            kind, place = loaded.graph.values[i].type, self._bound.places[i]
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


def _bound_to_results(
    parts: Parts, bound: Bound, nodes: Sequence[Node], results: Mapping[int, Bytes]
) -> list[Run]:
    """Bind the kernels that write or read large fetches to this memory of the fetches."""
    bound.move(results)
    with parts.context():
        return [bound.run(node) for node in nodes]
