"""The steps of a build: lower -> compile -> schedule -> place -> load."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Optional

from byparts_graph_ir import BackendError, Graph, MissingRule, Types, specialize
from byparts_graph_ir.backend.progress import report
from byparts_graph_ir.fork import begin, end
from byparts_graph_ir.passes.sizes import NamedGraph
from byparts_runtime.building import beside
from byparts_runtime.building.compile import compile_kernels
from byparts_runtime.building.discover import Parts, find_parts, without
from byparts_runtime.building.family import Family, Sizes, family_of
from byparts_runtime.building.kernels import BodyCompiler
from byparts_runtime.building.load import check_arena, load, with_constants
from byparts_runtime.building.lower import lower
from byparts_runtime.building.options import BuildOptions
from byparts_runtime.building.place import Placed, place
from byparts_runtime.building.progress import shown
from byparts_runtime.building.schedule import schedule
from byparts_runtime.building.signature import VariablesArgument, signature_of
from byparts_runtime.memory.arena import Arena
from byparts_runtime.memory.variable import Variable
from byparts_runtime.run.loaded import Loaded
from byparts_runtime.run.program import Program


def build_program(
    graph: Graph,
    variables: VariablesArgument,
    updates: Sequence[Variable],
    arena: Optional[Arena],
    options: BuildOptions,
) -> Program:
    """Make a program of a graph of numbers; as `run.build.build`, which has the words.

    A backend that fails (no compiler runs, a full disk) is left out, with a warning, where others
    are left.  A build that takes longer than a second says so on a terminal (`progress.py`).
    """
    who = object()
    try:
        begin(who)
        parts = find_parts(options)
        with shown():
            first = (
                None if options.wait else _started(graph, variables, updates, arena, parts, options)
            )
            if first is not None:
                return first
            while True:
                try:
                    placed = _placed(graph, variables, updates, parts, options)
                    return load(placed, parts, options, arena)
                except BackendError as error:
                    parts = without(parts, error, options)
    finally:
        end(who)


def _started(
    graph: Graph,
    variables: VariablesArgument,
    updates: Sequence[Variable],
    arena: Optional[Arena],
    parts: Parts,
    options: BuildOptions,
) -> Optional[Program]:
    """The program on the backends that need no compiler, which is to change to all of `parts`.

    `None` where it has to be built for all of them at once.
    """
    quick = beside.quick_parts(parts, options)
    if quick is None:
        return None
    check_arena(arena, parts.space)
    try:
        loaded = with_constants(_placed(graph, variables, updates, *quick), *quick)
    except MissingRule:
        return None

    def make() -> Loaded:
        placed = _placed(graph, variables, updates, parts, options)
        return with_constants(placed, parts, options)

    program = Program(loaded, arena)
    program.change_at(beside.change(make, loaded, parts))
    return program


def _placed(
    graph: Graph,
    variables: VariablesArgument,
    updates: Sequence[Variable],
    parts: Parts,
    options: BuildOptions,
) -> Placed:
    """The steps before `load`, with these parts."""
    graph, roles = signature_of(graph, variables, updates, parts.spaces)
    report(0, 5, "steps; lower")
    lowered = lower(graph, roles, parts)
    report(1, 5, "steps; compile")
    compiled = compile_kernels(lowered, parts, bodies_for(parts, options))
    report(2, 5, "steps; schedule")
    scheduled = schedule(compiled, parts, options)
    report(3, 5, "steps; place")
    placed = place(scheduled, parts, options)
    report(4, 5, "steps; load")
    return placed


def build_family(
    graph: Graph,
    types: Types,
    variables: Sequence[Variable],
    updates: Sequence[Variable],
    options: BuildOptions,
) -> Family:
    """Lower and compile a graph for all sizes of its named dimensions.

    Args:
        graph: its inputs are the feeds, then the old values of `variables`.
        types: of the feeds, with names.
        variables: the values of the last inputs, in order.
        updates: what the last outputs are written to, in order.
        options: how to build.

    Raises:
        NoFamily: it cannot be built for all sizes; says why.
    """
    who = object()
    try:
        begin(who)
        parts = find_parts(options)
        with shown():
            of_inputs = (*types, *[v.type for v in variables])
            named = specialize(graph, of_inputs, simplify=False)
            bound = dict(zip(named.inputs[len(types) :], variables, strict=True))
            named, roles = signature_of(named, bound, updates, parts.spaces)

            def alone(sizes: Sizes) -> Loaded:
                static = NamedGraph(named).at(sizes)
                inputs = dict(zip(static.inputs[len(types) :], variables, strict=True))
                placed = _placed(static, inputs, updates, parts, options)
                return with_constants(placed, parts, options)

            make = partial(family_of, named, roles, parts, options, bodies_for(parts, options))
            quick = None if options.wait else beside.quick_parts(parts, options)
            if quick is not None:
                family = family_of(named, roles, *quick, bodies_for(*quick))
                family.change = beside.SizesChange(make, alone, parts).at
                return family
            family = make()
            if beside.is_generated(family):
                family.change = beside.one_size(alone, parts)
            return family
    finally:
        end(who)


def bodies_for(parts: Parts, options: BuildOptions) -> Callable[[str], BodyCompiler]:
    """Make the compiler of ops with bodies for a memory space when such an op is first met."""
    known: dict[str, BodyCompiler] = {}

    def make(space: str) -> BodyCompiler:
        if space in known:
            return known[space]
        from byparts_runtime.building.bodies import Bodies  # not at the start of every program

        known[space] = Bodies(parts, options, space)
        return known[space]

    return make
