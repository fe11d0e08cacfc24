"""`Family`: a graph of named dimensions, lowered and compiled once, placed for each size.

    named graph -> lower -> compile          once: passes, regions and kernels know names alone
                -> sizes -> schedule -> place -> load      for each size: `Family.at`

What is decided by a number is decided at the size, or holds for a range of sizes and is checked:

- the shape rules run again on the numbers (`NamedGraph.at`), in the graph as it was given and in
  the one that runs; where a rule took it that a name is not 1, say, the family is not for that
  size, and the size gets a build of its own;
- a kernel for all sizes says what it needs at this one: workspace, what it may do in place;
- the order of the nodes is that of the first size of its range, a factor of two of the bytes of all
  values, as long as the kernels may compute in place what they could at that size.  Any order with
  inputs before users is right; which takes least memory depends on the sizes alone;
- a plan of a larger size serves a smaller one (`known_plans.py`); it is checked at each size.

Constants without a name are computed once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any, Optional
from warnings import warn

from byparts_graph_ir import Graph, GraphError, MissingRule, Node, ShapeError, Stage
from byparts_graph_ir.model.frozen import replace
from byparts_graph_ir.passes.sizes import NamedGraph, is_sized
from byparts_runtime.building.compile import Compiled, compile_kernels
from byparts_runtime.building.discover import Parts
from byparts_runtime.building.kernels import BodyCompiler, Kernels, NodeKernel, describe
from byparts_runtime.building.known_plans import KnownPlans
from byparts_runtime.building.load import computed
from byparts_runtime.building.lower import lower
from byparts_runtime.building.options import BuildOptions
from byparts_runtime.building.place import place
from byparts_runtime.building.schedule import Schedule, schedule
from byparts_runtime.building.signature import Signature
from byparts_runtime.memory.plan import Bytes
from byparts_runtime.run.loaded import Loaded

Sizes = Mapping[str, int]
Bodies = Callable[[str], BodyCompiler]


class NoFamily(GraphError):
    """A graph cannot be built for all sizes, or not for this one; the message says why."""


class Family:
    """A graph of named dimensions with a kernel for each node, for all sizes.

    Attributes:
        compiled: the graph on names, with its kernels.
        unshared: nodes whose backend compiles them again for each size, as text.
        growths: how often a size was the largest yet and an arena had to grow for it.
        change: `(sizes, what runs at them) -> Change`, where its programs change their kernels.
    """

    def __init__(
        self,
        original: Graph,
        compiled: Compiled,
        parts: Parts,
        options: BuildOptions,
        bodies: Bodies,
    ) -> None:
        self.compiled, self.options, self.bodies = compiled, options, bodies
        self.growths = 0
        self.change: Optional[Callable[[Sizes, Loaded], Any]] = None
        self._plans = KnownPlans(parts.planner)
        self.parts = replace(parts, planner=self._plans)
        kernels = compiled.kernels
        families = {n: kernels(n).family for n in (*compiled.constants, *compiled.graph.nodes)}
        self.unshared = tuple(
            [describe(n) for n, f in families.items() if f is not None and not f.shared]
        )
        self._original, self._graph = NamedGraph(original), NamedGraph(compiled.graph)
        nodes = compiled.constants
        constants = Graph((), nodes, tuple([v for n in nodes for v in n.outputs]))
        self._constant_graph = NamedGraph(constants)
        self._schedules: dict[int, tuple[Schedule, tuple[Any, ...], tuple[int, ...]]] = {}
        self._constants: dict[Node, tuple[Bytes, ...]] = {}

    def at(self, sizes: Sizes) -> Loaded:
        """Load the program for these sizes.

        Raises:
            NoFamily: what holds for the names does not hold for these numbers; or a backend
                refuses them.
        """
        start = perf_counter()
        try:
            compiled = self._compiled_at(sizes)
        except (ShapeError, MissingRule) as error:
            raise NoFamily(str(error)) from error
        text = ", ".join(f"{name} = {size}" for name, size in sorted(sizes.items()))
        stage = Stage("sizes", compiled.graph, perf_counter() - start, text)
        compiled = replace(compiled, stages=(*compiled.stages, stage))
        scheduled = self._scheduled(compiled)
        try:
            placed = place(scheduled, self.parts, self.options)
        except GraphError:  # say, a view begins elsewhere in its array than at the other size
            if not self._plans.reused:
                raise
            self._plans.forget()
            placed = place(scheduled, self.parts, self.options)
        return Loaded(placed, self.parts, self.options, self._constant_values(compiled))

    def _compiled_at(self, sizes: Sizes) -> Compiled:
        """The compiled graph with numbers in the place of names."""
        named = self.compiled
        self._original.check(sizes)  # what passes have dropped may not hold for this size
        graph, constants = self._graph.at(sizes), self._constant_graph.at(sizes)
        named.signature.check_updates(graph)
        kernels = Kernels(self.parts.backends, self.bodies)
        kernels.constants = frozenset(named.signature.constant_values(graph))
        shared: dict[int, NodeKernel] = {}  # by kernel for all sizes, of an op and its types
        olds = (*named.constants, *named.graph.nodes)
        for old, new in zip(olds, (*constants.nodes, *graph.nodes), strict=True):
            kernel = named.kernels(old)
            if kernel.family is not None:
                sized = shared.get(id(kernel))
                if sized is None:
                    sized = shared[id(kernel)] = kernel.at(new)
                kernels.use(new, sized)
            elif is_sized(old):
                kernels.use(new, kernel)
            elif kernels.space(new) != named.kernels.space(old):
                raise NoFamily(  # it has bodies, which are compiled for each size
                    f"{describe(new)} runs in {kernels.space(new)}, and copies were made for "
                    f"{named.kernels.space(old)}"
                )
        compiled = replace(named, graph=graph, constants=constants.nodes, kernels=kernels)
        return compiled

    def _scheduled(self, compiled: Compiled) -> Schedule:
        """The graph in the order of the first size of its range, if its kernels allow as much."""
        if self.options.is_limited:
            return schedule(compiled, self.parts, self.options)
        graph, facts = compiled.graph, _facts(compiled)
        scale = sum([v.type.size_bytes for v in graph.values]).bit_length()
        first, known, order = self._schedules.get(scale, (None, (), ()))
        if first is None or known != facts:
            first = schedule(compiled, self.parts, self.options)
            at = {node: i for i, node in enumerate(graph.nodes)}
            order = tuple([at[node] for node in first.graph.nodes])
            self._schedules[scale] = first, facts, order
            return first
        ordered = Graph(graph.inputs, tuple([graph.nodes[i] for i in order]), graph.outputs)
        kept = replace(first.stages[-1], graph=ordered, elapsed_s=0.0)
        stages = (*compiled.stages, *([kept] if kept.name == "order" else []))
        return Schedule(compiled, ordered, first.updates, first.donate, stages)

    def _constant_values(self, compiled: Compiled) -> tuple[Bytes, ...]:
        """The values of the constants; those that have no name are computed once."""
        named, nodes = self.compiled.constants, compiled.constants
        same = [n for n in named if is_sized(n)]
        if same and not self._constants:
            self._constants.update(self._computed(compiled, same))
        values = {
            **self._constants,
            **self._computed(compiled, [n for n in nodes if n not in same]),
        }
        return tuple([at for node in nodes for at in values[node]])

    def _computed(self, compiled: Compiled, nodes: Sequence[Node]) -> dict[Node, tuple[Bytes, ...]]:
        some = replace(compiled, constants=tuple(nodes))
        values = iter(computed(some, self.parts, self.options.alignment))
        return {node: tuple([next(values) for _ in node.outputs]) for node in nodes}


def family_of(
    graph: Graph, signature: Signature, parts: Parts, options: BuildOptions, bodies: Bodies
) -> Family:
    """Lower and compile a graph of named dimensions, for all sizes.

    Args:
        graph: with the feeds first.
        signature: the roles of its inputs and outputs.
        parts: the passes and the backends.
        options: how to build.
        bodies: makes the compiler of ops with bodies.

    Raises:
        NoFamily: a pass or a rule needs numbers, or gives shapes that no name determines.
    """
    try:
        lowered = lower(graph, signature, parts, named=True)
        compiled = compile_kernels(lowered, parts, bodies)
    except GraphError as error:
        raise NoFamily(f"{type(error).__name__}: {error}") from error
    except Exception as error:  # of a pass or a rule that knows numbers alone: any
        said = f"{type(error).__name__}: {error}"
        text = f"each size is built by itself, since with names there is a {said}"
        warn(text, RuntimeWarning, stacklevel=2)
        raise NoFamily(said) from error
    return Family(graph, compiled, parts, options, bodies)


def _facts(compiled: Compiled) -> tuple[Any, ...]:
    """Facts of the kernels that a schedule depends on."""
    kernels = map(compiled.kernels, compiled.graph.nodes)
    return tuple([(k.kernel.inplace, k.kernel.atomic) for k in kernels])


def unshared(family: Family) -> Optional[str]:
    """Text on what a new size compiles again; `None` where nothing is compiled."""
    if not family.unshared:
        return None
    more = f" and {len(family.unshared) - 1} more" if len(family.unshared) > 1 else ""
    return f"for each size anew {family.unshared[0]}{more}"
