"""Asks the tables of a backend whether it can run an op: nothing is compiled or run.

Most backends lack most ops.  To find that out by running each case of each op takes a minute, and
to ask takes a third of a second.  The answer holds but for kernels that refuse some types: these
are met when the cases are run.
"""

from __future__ import annotations

from collections.abc import Iterable

from byparts_conformance.cases import Case, typed_samples
from byparts_conformance.kernel import ABSENT, BODIES, OK, VIA
from byparts_conformance.meaning import graph_of
from byparts_graph_ir import Backend, Branches, Graph, Input, Op, ReversedLoop, Sample

Runs = list[tuple[Case, str]]  # a case, and the way to run it


def presence(backend: Backend, op: type[Op]) -> str:
    """`OK` if the backend has a kernel for the op, else `VIA`, `BODIES` or `ABSENT`.

    An op that some of its samples decompose is not absent, samples of no elements left out: what
    has no elements may be made of less.
    """
    samples = list(typed_samples(op))
    whole = [sample for sample in samples if all(t.size for t in sample.types)]
    ways = (way(backend, sample) for sample in whole or samples)
    return next((how for how in ways if how != ABSENT), ABSENT)


def way(backend: Backend, case: Case | Sample) -> str:
    """The way in which a backend runs an op on these types: `OK`, `VIA`, `BODIES`, `ABSENT`."""
    if backend.supports(case.op):
        return OK
    graph = graph_of(case)
    if case.op.decompose(*graph.inputs) is None:
        return BODIES if _has_all(backend, graph, bodies=True) else ABSENT
    return VIA if _has_all(backend, graph, bodies=False) else ABSENT


def few(backend: Backend, runs: Runs) -> Runs:
    """All runs of an op that the backend has a kernel for; of others one for each dtype and way.

    The ops that such an op is made of have rows of their own, in which all their cases are tried.
    """
    if all(backend.supports(case.op) for case, _ in runs):
        return runs
    first: dict[object, tuple[Case, str]] = {}
    for case, how in runs:
        dtypes = tuple(t.dtype for t in case.types)
        first.setdefault((how, dtypes, way(backend, case)), (case, how))
    return list(first.values())


def _has_all(backend: Backend, graph: Graph, bodies: bool) -> bool:
    """Whether the nodes of a graph, or what they are made of, have kernels.

    Args:
        backend: whose kernels.
        graph: of static types.
        bodies: whether a node may also run by its bodies, as the kit runs an op that has them.
    """
    for node in graph.nodes:
        if backend.supports(node.op):
            continue
        fresh = [Input(v.type, None, "", "") for v in node.inputs]
        simpler = node.op.decompose(*fresh)
        if simpler is not None:
            inside = [Graph.of(fresh, simpler)]
        else:
            inside = _bodies(node.op, fresh) if bodies else []
        if not inside or not all(_has_all(backend, body, bodies) for body in inside):
            return False
    return True


def _bodies(op: Op, inputs: Iterable[Input]) -> list[Graph]:
    control = op.control(*(v.type for v in inputs))
    if control is None:
        return []
    if isinstance(control, Branches):
        return list(control.bodies)
    back = [control.back] if isinstance(control, ReversedLoop) else []
    loop = control.loop if isinstance(control, ReversedLoop) else control
    return [body for body in (loop.cond, loop.body, *back) if body is not None]
