"""The steps of a build: lower -> compile -> schedule -> place -> load."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Optional

from byparts_graph_ir import BackendError, Graph, MissingRule, Types, specialize
from byparts_graph_ir.backend.progress import report
from byparts_graph_ir.fork import begin, end
from byparts_graph_ir.model.frozen import replace
from byparts_runtime.building.compile import compile_kernels
from byparts_runtime.building.discover import Parts, find_parts, without
from byparts_runtime.building.family import Family, family_of
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
            first = None if options.wait else _started(graph, variables, updates, arena, parts, options)
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

    `None` where there are none in its memory space, or they lack a kernel, or nothing would change;
    and with limits or `capture=True`, which the first kernels may not meet.
    """
    quick = tuple([b for b in parts.backends if not b.slow_to_build])
    if quick == parts.backends or not quick or quick[0].space.name != parts.space.name:
        return None
    if options.is_limited or options.capture is True:
        return None
    from byparts_runtime.run.change import Change, estimate, ready  # few programs change

    plain = replace(options, backends=quick)
    quick_parts = find_parts(plain)
    try:
        placed = _placed(graph, variables, updates, quick_parts, plain)
    except MissingRule:
        return None
    check_arena(arena, parts.space)
    loaded = with_constants(placed, quick_parts, plain)
    program = Program(loaded, arena)

    def make() -> Loaded:
        who = object()
        try:
            begin(who)
            again = _placed(graph, variables, updates, parts, options)
            return ready(with_constants(again, parts, options))
        finally:
            end(who)

    names = " and ".join([repr(b.name) for b in parts.backends if b.slow_to_build])
    program.change_at(Change(make, *estimate(loaded), names))
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
