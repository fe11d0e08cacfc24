"""Memory, steps and commit: what one call of a program runs.

    steps -> copy the fetches out -> commit

Nothing else is on the hot path: `for run in runs: run()`.  Which step failed is asked of the loop's
own iterator, afterwards, so that knowing it costs nothing when none does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from operator import length_hint, setitem
from threading import RLock
from types import TracebackType
from typing import Any, Optional

import numpy as np

from byparts_graph_ir import Backend, Graph, Node, Space, TensorType, add_note
from byparts_graph_ir.backend import Run
from byparts_runtime.arrays import Array, reader, view
from byparts_runtime.bind import Bytes, aliased_nodes, bind, describe
from byparts_runtime.commit import Commit
from byparts_runtime.plan import Location, Planner, check_plan, separate
from byparts_runtime.variable import Variable


@dataclass(frozen=True)
class Design:
    """All that is decided before there is memory.

    The graph's inputs are `feeds` feeds, the variables, the constants; its outputs are `fetches`
    fetches and the updates.
    """

    graph: Graph
    feeds: int
    fetches: int
    variables: tuple[Variable, ...]
    updates: tuple[Variable, ...]
    constants: tuple[Bytes, ...]
    backends: tuple[Backend, ...]
    planner: Planner
    alignment: int

    @property
    def space(self) -> Space:
        """The one memory space of all backends."""
        return self.backends[0].space

    def outside(self, feeds: Sequence[Bytes] = ()) -> dict[int, Bytes]:
        """Input position -> bytes outside the arena; with `feeds`, those too."""
        found = dict(enumerate(feeds))
        found.update(enumerate((Bytes(v.memory, 0) for v in self.variables), self.feeds))
        found.update(enumerate(self.constants, self.feeds + len(self.variables)))
        return found


class Machine:
    """A design with its memory, bound.

    Args:
        design: what to run.
        feeds: the caller's memory to read the feeds from; by default they are in the arena.
    """

    def __init__(self, design: Design, feeds: Sequence[Bytes] = ()) -> None:
        self.design, graph = design, design.graph
        outside = design.outside(feeds)
        external = frozenset(outside)
        self.plan = design.planner(graph, external=external, alignment=design.alignment)
        check_plan(graph, self.plan, external)
        arena = design.space.allocate(self.plan.arena_bytes)
        self.places = tuple(_place(at, arena, outside) for at in self.plan.locations)
        self.aliased = aliased_nodes(graph, self.plan.locations)
        self.steps = bind(graph, self.places, self.aliased, design.backends)
        self.lock = lock_of((*design.variables, *design.updates))
        self.readers = tuple(self._reader(i) for i in range(design.fetches))
        staging, self.commit = self._commit()
        finish = () if design.space.name == "host" else (design.space.synchronize,)
        self.runs: tuple[Run, ...] = (*(s.run for s in self.steps), *staging, *finish)

    def __call__(self) -> tuple[Array, ...]:
        """Run every step, copy the fetches out, commit.  The caller holds the lock."""
        runs = iter(self.runs)
        try:
            with np.errstate(all="ignore"):  # inf and nan are values; entered once for all steps
                for run in runs:
                    run()
        except BaseException as error:
            self.blame(error, len(self.runs) - length_hint(runs) - 1)
            raise
        fetched = tuple([read() for read in self.readers])
        self.commit()
        return fetched

    def blame(self, error: BaseException, i: int) -> None:
        """Add to an error which step it comes from."""
        if 0 <= i < len(self.steps):
            step, count = self.steps[i], len(self.steps)
            where = f"in step {i + 1} of {count} on {step.backend!r}, {describe(step.node)}"
            add_note(error, where)
        if self.design.updates:
            add_note(error, "the variables are as they were before this run")

    def _reader(self, output: int) -> Callable[[], Array]:
        value = self.design.graph.outputs[output]
        place = self.places[self.design.graph.ids[value]]
        return reader(self.design.space, place.memory, place.offset, value.type)

    def _commit(self) -> tuple[tuple[Run, ...], Commit]:
        """The commit, and copies to make before it: of old values that become new ones (a swap)."""
        design, staging, sources, targets = self.design, [], [], []
        for value, variable in zip(
            design.graph.outputs[design.fetches :], design.updates, strict=True
        ):
            i = design.graph.ids[value]
            source = self._look(self.places[i], value.type)
            if self._of_updated(self.plan.locations[i].root):
                memory = design.space.allocate(value.type.size_bytes)
                staged = self._look(Bytes(memory, 0), value.type)
                staging.append(partial(setitem, staged, ..., source))
                source = staged
            sources.append(source)
            targets.append(self._look(Bytes(variable.memory, 0), variable.type))
        return tuple(staging), Commit(targets, sources)

    def _of_updated(self, root: Optional[int]) -> bool:
        """Whether these are bytes of a variable that the commit writes."""
        if root is None:
            return False
        memory = self.design.outside().get(root)
        return memory is not None and any(memory.memory is v.memory for v in self.design.updates)

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
    for step in bind(graph, places, frozenset(), backends):
        try:
            step.run()
        except Exception as error:
            add_note(error, f"in the constant {describe(step.node)}, on {step.backend!r}")
            raise
    backends[0].space.synchronize()
    return places


def lock_of(variables: Sequence[Variable]) -> Any:
    """What to hold while these are read and written: one lock, as a rule, that of their store."""
    locks = {id(v.lock): v.lock for v in variables}
    if not locks:
        return RLock()
    return next(iter(locks.values())) if len(locks) == 1 else _Locks(locks)


class _Locks:
    """Several locks, taken in one order everywhere, so that no two programs wait for each other."""

    def __init__(self, locks: Mapping[int, Any]) -> None:
        self._own = RLock()
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
