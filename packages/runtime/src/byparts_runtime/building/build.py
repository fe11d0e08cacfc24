"""The steps of a build: lower -> compile -> schedule -> place -> load."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Optional

from byparts_graph_ir import BackendError, Graph, Types, specialize
from byparts_graph_ir.backend.progress import report
from byparts_graph_ir.fork import begin, end
from byparts_runtime.building.compile import compile_kernels
from byparts_runtime.building.discover import Parts, find_parts, without
from byparts_runtime.building.family import Family, family_of
from byparts_runtime.building.kernels import BodyCompiler
from byparts_runtime.building.load import load
from byparts_runtime.building.lower import lower
from byparts_runtime.building.options import BuildOptions
from byparts_runtime.building.place import place
from byparts_runtime.building.progress import shown
from byparts_runtime.building.schedule import schedule
from byparts_runtime.building.signature import VariablesArgument, signature_of
from byparts_runtime.memory.arena import Arena
from byparts_runtime.memory.variable import Variable
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
            while True:
                try:
                    return _built(graph, variables, updates, arena, parts, options)
                except BackendError as error:
                    parts = without(parts, error, options)
    finally:
        end(who)


def _built(
    graph: Graph,
    variables: VariablesArgument,
    updates: Sequence[Variable],
    arena: Optional[Arena],
    parts: Parts,
    options: BuildOptions,
) -> Program:
    """The five steps, with these parts."""
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
    return load(placed, parts, options, arena)


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
            return family_of(named, roles, parts, options, bodies_for(parts, options))
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
