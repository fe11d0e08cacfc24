"""Programs kept by content: the same graph on the same types is built once.

    executor = Executor(backends=("numpy",))
    (loss,) = executor(graph, x, labels, variables=(w,), updates=(w,))

A graph in which shapes depend on data runs in stages (`staged.py`).

The key is the content of the graph (its digest, not its identity), the types of the feeds, which
variables it reads and writes, and its budget.  So alternating between two fetch lists, or between
two batch sizes, hits the cache; a new shape is a new entry, for which a graph of named or open
dimensions is only placed and bound (`families.py`); the least recently used entry goes first.  Two
equal graphs share a program, whose errors show the lines of the first.

All programs share one arena, as large as the largest of them needs: buckets, train and evaluate.
They run one at a time; `arena="own"` gives each its own, so that several threads run several at
once.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Literal, Optional, Union

from byparts_graph_ir import Graph, GraphError, Space, TensorType, Types, specialize
from byparts_graph_ir.fork import make_lock
from byparts_graph_ir.model.frozen import Frozen, replace
from byparts_runtime.arrays.accept import with_type
from byparts_runtime.building.build import build_program
from byparts_runtime.building.discover import find_backends
from byparts_runtime.building.options import DEFAULTS, BuildOptions, with_changes
from byparts_runtime.building.signature import (
    Bound,
    VariablesArgument,
    bind_variables,
    feeds_first,
    known_variables,
)
from byparts_runtime.memory.arena import Arena
from byparts_runtime.memory.pickling import stays
from byparts_runtime.memory.variable import Variable
from byparts_runtime.run.program import Program
from byparts_runtime.run.staged import Staged, first_unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_runtime.run.families import Families

Limits = tuple[Optional[int], Optional[float]]  # budget_bytes, max_extra_cost
Key = tuple[bytes, Types, tuple[tuple[int, Variable], ...], tuple[Variable, ...], Limits]
SharingArgument = Union[Arena, Literal["shared", "own"]]


class Statistics(Frozen):
    """Counts of calls since the executor was made; a failed build counts as nothing."""

    hits: int = 0
    misses: int = 0
    evictions: int = 0


class Executor:
    """Builds programs when first needed and keeps the last `capacity` of them.  Thread-safe.

    Args:
        capacity: how many programs are kept.
        arena: "shared": one for all its programs; "own": one for each; or yours, for several
            executors.
        options: how to build, as for `build`; a call may give limits of its own.
        changes: options by name, as in `Executor(backends=("torch", "numpy"))`.

    Raises:
        GraphError: the capacity is below one; or `arena` is none of these.
    """

    def __init__(
        self,
        *,
        capacity: int = 64,
        arena: SharingArgument = "shared",
        options: BuildOptions = DEFAULTS,
        **changes: Any,
    ) -> None:
        if not isinstance(capacity, int) or capacity < 1:
            raise GraphError(f"executor: capacity is {capacity!r:.60}, and must be at least 1")
        options = with_changes(options, changes)
        self.backends, self.capacity = find_backends(options.backends), capacity
        auto = options.backends == "auto"  # each program then says why a backend is not used
        self.options = options if auto else with_changes(options, {"backends": self.backends})
        self.arena = _arena(arena, self.backends[0].space)
        self._programs: OrderedDict[Key, Union[Program, Staged]] = OrderedDict()
        self._families: Optional[Families] = None
        self._hits = self._misses = self._evictions = 0
        self._lock = make_lock()  # of the cache; never held while building
        self._building = make_lock()

    @property
    def statistics(self) -> Statistics:
        """Hits, misses and evictions so far."""
        with self._lock:
            return Statistics(self._hits, self._misses, self._evictions)

    def __call__(
        self,
        graph: Graph,
        *feeds: object,
        variables: VariablesArgument = (),
        updates: Sequence[Variable] = (),
        budget_bytes: Optional[int] = None,
        max_extra_cost: Optional[float] = None,
    ) -> tuple[Any, ...]:
        """Run a graph on these feeds; see `build` for the rest."""
        bound = bind_variables(graph, variables)
        typed = typed_feeds(graph, feeds, bound, self.backends[0].space)
        types = tuple(kind for _, kind in typed)
        limits = budget_bytes, max_extra_cost
        program = self._program(graph, types, bound, known_variables("updates", updates), limits)
        return program(*(value for value, _ in typed))

    def program(
        self,
        graph: Graph,
        types: Types = (),
        *,
        variables: VariablesArgument = (),
        updates: Sequence[Variable] = (),
        budget_bytes: Optional[int] = None,
        max_extra_cost: Optional[float] = None,
    ) -> Program:
        """The program for feeds of these types, built or kept.

        Raises:
            GraphError: shapes depend on data, so that there are several programs.
            GraphError, ShapeError, MissingRule: it cannot be built; nothing has changed.
        """
        bound, written = bind_variables(graph, variables), known_variables("updates", updates)
        program = self._program(graph, types, bound, written, (budget_bytes, max_extra_cost))
        if isinstance(program, Staged):
            node = program.node
            (v, *_) = [v for v in node.outputs if not v.type.static]
            raise GraphError(
                f"executor: {node.op.name} gives {v.type}, a shape that depends on data, so "
                "the graph runs in stages and is no single program; call the executor"
            )
        return program

    def _program(
        self,
        graph: Graph,
        types: Types,
        bound: Bound,
        updates: tuple[Variable, ...],
        limits: Limits,
    ) -> Union[Program, Staged]:
        if limits == (None, None):
            limits = self.options.budget_bytes, self.options.max_extra_cost
        key = (graph.digest, tuple(types), tuple(bound.items()), updates, limits)
        program = self._cached(key)
        if program is not None:
            return program
        with self._building:
            program = self._cached(key)  # another thread may have built it meanwhile
            if program is None:
                program = self._build(graph, key)
                self._keep(key, program)
            return program

    def prepare(
        self,
        graph: Graph,
        *,
        variables: VariablesArgument = (),
        updates: Sequence[Variable] = (),
    ) -> str:
        """Lower and compile a graph of named dimensions before its first call.

        Returns a sentence: for which sizes that was, or why each size will be built by itself.
        """
        bound = bind_variables(graph, variables)
        written = known_variables("updates", updates)
        first = feeds_first(graph, bound)
        with self._building:
            return self._families_now().prepare(first, bound, written, self.options)

    def __len__(self) -> int:
        return len(self._programs)

    def clear(self) -> None:
        """Forget all programs; statistics stay."""
        with self._lock:
            self._programs.clear()  # the arena frees its memory with the last program
            self._families = None

    __reduce__ = stays("send graphs, and make another Executor there")

    def _cached(self, key: Key) -> Union[Program, Staged, None]:
        with self._lock:
            program = self._programs.get(key)
            if program is not None:
                self._programs.move_to_end(key)
                self._hits += 1
            return program

    def _build(self, graph: Graph, key: Key) -> Union[Program, Staged]:
        _, types, bound, updates, (budget_bytes, max_extra_cost) = key
        static = feeds_first(graph, dict(bound))
        limited = replace(self.options, budget_bytes=budget_bytes, max_extra_cost=max_extra_cost)
        why = ""
        if types:
            if not all([v.type.static for v in static.inputs[: len(types)]]):
                families = self._families_now()
                shared = families.program(static, types, dict(bound), updates, limited, self.arena)
                if shared is not None:
                    return shared
                why = families.why
            static = specialize(static, (*types, *(v.type for _, v in bound)))
        last = first_unknown(static)
        if last is not None:
            limits = {"budget_bytes": budget_bytes, "max_extra_cost": max_extra_cost}
            written = tuple([v for _, v in bound])
            return Staged(self, static, last, written, updates, limits)
        if not why and len(static.inputs) > len(bound):
            families = self._families_now()
            shared = families.by_example(static, dict(bound), updates, limited, self.arena)
            if shared is not None:
                return shared
        inputs = static.inputs[len(static.inputs) - len(bound) :]
        variables = dict(zip(inputs, (v for _, v in bound), strict=True))
        program = build_program(static, variables, updates, self.arena, limited)
        program.why = why or program.why
        return program

    def _families_now(self) -> Families:
        if self._families is None:
            from byparts_runtime.run.families import Families  # many programs need none

            self._families = Families(self.capacity)
        return self._families

    def _keep(self, key: Key, program: Union[Program, Staged]) -> None:
        with self._lock:
            self._programs[key] = program
            self._misses += 1
            gone = len(self._programs) > self.capacity
            if gone:
                self._programs.popitem(last=False)
                self._evictions += 1
        arena = self.arena
        if gone and arena is not None:
            arena.trim(factor=2)  # worth binding the other programs again


def _arena(arena: SharingArgument, space: Space) -> Optional[Arena]:
    if isinstance(arena, Arena):
        return arena
    if not isinstance(arena, str) or arena not in ("shared", "own"):
        raise GraphError(f'arena={arena!r}: give "shared", "own" or an Arena')
    return Arena(space) if arena == "shared" else None


def typed_feeds(
    graph: Graph, feeds: Sequence[object], bound: Bound, space: Space
) -> list[tuple[object, TensorType]]:
    """The feeds with their types; numbers and lists become arrays."""
    inputs = [v for i, v in enumerate(graph.inputs) if i not in bound]
    if len(feeds) != len(inputs):
        names = ", ".join(f"{getattr(v, 'name', '') or i}: {v.type}" for i, v in enumerate(inputs))
        raise GraphError(f"the graph takes {len(inputs)} feeds ({names}), got {len(feeds)}")
    return [
        with_type(value, v.type, space, f"feed {getattr(v, 'name', '') or i!r}")
        for i, (value, v) in enumerate(zip(feeds, inputs, strict=True))
    ]
