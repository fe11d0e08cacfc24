"""Programs kept by content: the same graph on the same types is built once.

    executor = Executor(backends=("numpy",))
    (loss,) = executor(graph, x, labels, variables=(w,), updates=(w,))

The key is the content of the graph (its digest, not its identity), the types of the feeds, which
variables it reads and writes, and its budget.  So alternating between two fetch lists, or between
two batch sizes, hits the cache; a new shape is a new entry, planned for that shape; the least
recently used entry goes first.  Two equal graphs share a program, whose errors show the lines of
the first.

All programs share one arena, as large as the largest of them needs: buckets, train and evaluate.
They take turns; `arena="own"` gives each its own, so that several threads run several at once.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import Any, Literal, Optional, Union

from byparts_graph_ir import Graph, GraphError, Space, TensorType, Types, specialize
from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_runtime.arena import Arena
from byparts_runtime.arrays import measured
from byparts_runtime.capture import CaptureArgument
from byparts_runtime.costs import Cost
from byparts_runtime.design import CommitArgument
from byparts_runtime.discover import (
    BackendsArgument,
    LegalizeArgument,
    OrderArgument,
    PassesArgument,
    PlannerArgument,
    RematerializeArgument,
    ResultsArgument,
    find_backends,
)
from byparts_runtime.program import Program, build
from byparts_runtime.variable import Variable

Limits = tuple[Optional[int], Optional[float]]  # budget_bytes, max_extra_cost
Key = tuple[bytes, Types, tuple[Variable, ...], tuple[Variable, ...], Limits]
SharingArgument = Union[Arena, Literal["shared", "own"]]


@dataclass(frozen=True)
class Statistics:
    """What happened so far; a failed build counts as nothing."""

    hits: int = 0
    misses: int = 0
    evictions: int = 0


class Executor:
    """Builds programs when first needed and keeps the last `capacity` of them.  Thread-safe.

    Args:
        backends: as for `build`, and so all that is not said here.
        capacity: how many programs are kept.
        budget_bytes: of each program, where a call gives no limit of its own.
        max_extra_cost: likewise.
        arena: "shared": one for all its programs; "own": one for each; or yours, for several
            executors.

    Raises:
        GraphError: the capacity is below one; or `arena` is none of these.
    """

    def __init__(
        self,
        *,
        backends: BackendsArgument = ("numpy",),
        capacity: int = 64,
        passes: PassesArgument = "auto",
        planner: PlannerArgument = "auto",
        legalize: LegalizeArgument = "auto",
        order: OrderArgument = "auto",
        alignment: int = 64,
        commit: CommitArgument = "auto",
        capture: CaptureArgument = "auto",
        results: ResultsArgument = "numpy",
        budget_bytes: Optional[int] = None,
        max_extra_cost: Optional[float] = None,
        costs: Optional[Cost] = None,
        rematerialize: RematerializeArgument = "auto",
        arena: SharingArgument = "shared",
    ) -> None:
        if capacity < 1:
            raise GraphError(f"executor: capacity is {capacity}, and must be at least 1")
        self.backends, self.capacity = find_backends(backends), capacity
        self.arena = _arena(arena, self.backends[0].space)
        self._limits = budget_bytes, max_extra_cost
        self._options: dict[str, Any] = {
            **{"passes": passes, "planner": planner, "legalize": legalize, "alignment": alignment},
            **{"order": order, "commit": commit, "capture": capture, "results": results},
            **{"costs": costs, "rematerialize": rematerialize, "arena": self.arena},
        }
        self._programs: OrderedDict[Key, Program] = OrderedDict()
        self._hits = self._misses = self._evictions = 0
        self._lock = Lock()  # of the cache; never held while building
        self._building = Lock()

    @property
    def statistics(self) -> Statistics:
        """Hits, misses and evictions so far."""
        with self._lock:
            return Statistics(self._hits, self._misses, self._evictions)

    def __call__(
        self,
        graph: Graph,
        *feeds: object,
        variables: Sequence[Variable] = (),
        updates: Sequence[Variable] = (),
        budget_bytes: Optional[int] = None,
        max_extra_cost: Optional[float] = None,
    ) -> tuple[Any, ...]:
        """Run a graph on these feeds; see `build` for the rest."""
        typed = _typed(graph, feeds, len(variables), self.backends[0].space)
        types = tuple(kind for _, kind in typed)
        program = self.program(
            graph,
            types,
            variables=variables,
            updates=updates,
            budget_bytes=budget_bytes,
            max_extra_cost=max_extra_cost,
        )
        return program(*(value for value, _ in typed))

    def program(
        self,
        graph: Graph,
        types: Types = (),
        *,
        variables: Sequence[Variable] = (),
        updates: Sequence[Variable] = (),
        budget_bytes: Optional[int] = None,
        max_extra_cost: Optional[float] = None,
    ) -> Program:
        """The program for feeds of these types, built or kept.

        Raises:
            GraphError, ShapeError, MissingRule: it cannot be built; nothing has changed.
        """
        given = budget_bytes, max_extra_cost
        limits = self._limits if given == (None, None) else given
        key = (graph.digest, tuple(types), tuple(variables), tuple(updates), limits)
        found = self._hit(key)
        if found is not None:
            return found
        with self._building:
            found = self._hit(key)  # another thread may have built it meanwhile
            if found is None:
                found = self._build(graph, key)
                self._keep(key, found)
            return found

    def __len__(self) -> int:
        return len(self._programs)

    def clear(self) -> None:
        """Forget all programs; statistics stay."""
        with self._lock:
            self._programs.clear()  # and with the last of them goes the memory of the arena

    def _hit(self, key: Key) -> Program | None:
        with self._lock:
            found = self._programs.get(key)
            if found is not None:
                self._programs.move_to_end(key)
                self._hits += 1
            return found

    def _build(self, graph: Graph, key: Key) -> Program:
        _, types, variables, updates, (budget_bytes, max_extra_cost) = key
        static = specialize(graph, (*types, *(v.type for v in variables))) if types else graph
        return build(
            static,
            backends=self.backends,
            variables=variables,
            updates=updates,
            budget_bytes=budget_bytes,
            max_extra_cost=max_extra_cost,
            **self._options,
        )

    def _keep(self, key: Key, program: Program) -> None:
        with self._lock:
            self._programs[key] = program
            self._misses += 1
            gone = len(self._programs) > self.capacity
            if gone:
                self._programs.popitem(last=False)
                self._evictions += 1
        arena = self.arena
        if gone and arena is not None and 2 * arena.needed_bytes < arena.size_bytes:
            arena.trim()  # the others are bound again, which much memory is worth


def _arena(arena: SharingArgument, space: Space) -> Optional[Arena]:
    if isinstance(arena, Arena):
        return arena
    if arena not in ("shared", "own"):
        raise GraphError(f'arena={arena!r}: give "shared", "own" or an Arena')
    return Arena(space) if arena == "shared" else None


def _typed(
    graph: Graph, feeds: Sequence[object], variables: int, space: Space
) -> list[tuple[object, TensorType]]:
    """The feeds with their types; what has none is an array now."""
    inputs = graph.inputs[: len(graph.inputs) - variables]
    if len(feeds) != len(inputs):
        names = ", ".join(f"{getattr(v, 'name', '') or i}: {v.type}" for i, v in enumerate(inputs))
        raise GraphError(f"the graph takes {len(inputs)} feeds ({names}), got {len(feeds)}")
    return [
        measured(value, v.type, space, f"feed {getattr(v, 'name', '') or i!r}")
        for i, (value, v) in enumerate(zip(feeds, inputs, strict=True))
    ]
