"""A backend's kernels against `evaluate`: apart, from strided inputs, and in place.

A kernel is tried as programs run it (`trial.py`).  Strided arrays no program has; they are given to
bound rules alone, through `Backend.bind`.  What a backend lacks is run through the op's
decomposition, as legalize would; what has neither is absent, which is no failure: the table says
"-".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from byparts_conformance.bodies import Interpreter
from byparts_conformance.cases import Case
from byparts_conformance.desk import Desk, arrays_of
from byparts_conformance.judge import Judge
from byparts_conformance.meaning import graph_of
from byparts_conformance.trial import Pairs, Trial
from byparts_conformance.values import random_bits
from byparts_graph_ir import ArgumentError, Backend, Graph, GraphError, MissingRule, Node, Value
from byparts_graph_ir.contract import checked
from byparts_graph_ir.kernel import Kernel, in_c

OK, VIA, ABSENT = "ok", "via decompose", "-"
BODIES = "via bodies"  # the op says how they run, and the backend has what is in them
WAYS = ("plain", "strided", "in place")  # to run a case
SOME = "some"  # of the cases of a column, as a rule of the dtypes, are right, the others absent
NOTHING = ""  # there was nothing to try


class Mismatch(AssertionError):
    """A kernel gave another answer than `evaluate`, or used memory that is not its own."""


@checked
def check(backend: Backend, case: Case, how: str) -> str:
    """`OK`, `VIA`, `BODIES`, `ABSENT`, or `NOTHING` where the kernel does not run this way.

    Args:
        backend: whose kernels.
        case: what to run.
        how: "plain"; "strided"; or "in place": each pair of `Kernel.inplace`, and all at once.

    Raises:
        Mismatch: the answer is wrong, or memory was misused; says which.
        Exception: whatever the kernel raised.
    """
    if how not in WAYS:
        raise ArgumentError(f"check: how is {how!r}; it is one of {', '.join(WAYS)}")
    try:
        if backend.supports(case.op):
            return {"plain": _apart, "strided": _strided, "in place": _in_place}[how](backend, case)
    except MissingRule:
        pass  # it refuses these types
    if how == "plain":
        return _through_decomposition(backend, case)
    return _absent_in_place(case) if how == "in place" else ABSENT


@contextmanager
def within(backend: Backend) -> Iterator[None]:
    """As the runtime binds and runs: silent, since inf and nan are values, and as it wants it."""
    with np.errstate(all="ignore"), (backend.around or nullcontext)():
        yield


def cell(outcomes: set[str]) -> str:
    """One word for several cases: what all of them are, or that it depends on the dtype."""
    tried = outcomes - {NOTHING}
    if ABSENT in tried and len(tried) > 1:
        return SOME
    return min(tried, key=(ABSENT, VIA, BODIES, OK).index, default=NOTHING)


def runs_of(cases: Sequence[Case], column: str) -> list[tuple[Case, str]]:
    """What a column of the table tries: cases, and how each is run.

    Long arrays are also read with strides and written over; where only some of the ways are
    possible, e.g. a backend decomposes the op, those are tried that are.
    """
    if column in ("strided", "in place"):
        runs = [(c, column) for c in cases if c.column not in ("edges", "long")]
    else:
        ways = WAYS if column == "long" else ("plain",)
        runs = [(c, how) for c in cases if c.column == column for how in ways]
    return [(c, how) for c, how in runs if applies(c, how)]


def applies(case: Case, how: str) -> bool:
    """Whether there may be anything to try."""
    if how == "in place":
        return bool(case.types)
    return how == "plain" or any(t.size > 1 for t in case.types)


def _apart(backend: Backend, case: Case) -> str:
    """All arrays apart.  Usual cases, and those of many values, also on others and bound twice."""
    judge = _judge(case)
    with within(backend):
        trial = Trial(Desk(backend), case.op, case.types)
        trial.run(judge.arrays)
        trial.again()  # a step runs many times over the same memory
    _expect(case, "", trial, judge)
    if case.column in ("edges", "long") and case.values != "combinations":
        return OK
    other = _of_other_values(case) or judge
    with within(backend):
        beside = Trial(trial.desk, case.op, case.types, beside=trial)
        trial.run(other.arrays)
        beside.run(judge.arrays)
    _expect(case, "run again on other values", trial, other)
    _expect(case, "bound a second time, beside the first", beside, judge)
    _try_constants(backend, case, judge)
    _expect_atomic(case, trial)
    return OK


def _try_constants(backend: Backend, case: Case, judge: Judge) -> None:
    """Each input in turn may be known when the kernel is bound; bound rules cannot tell."""
    read = [i for i in range(len(case.types)) if i not in case.op.ignores]
    for i in read if backend.kernels.compiled(case.op) else ():
        with within(backend):
            constants = {i: judge.arrays[i]}
            trial = Trial(Desk(backend), case.op, case.types, constants=constants)
            trial.run(judge.arrays)
            trial.again()
        _expect(case, f"with input {i} a constant", trial, judge)


def _in_place(backend: Backend, case: Case) -> str:
    with within(backend):
        kernel = backend.compile(case.op, case.types)
    tried = list(_alternatives(kernel, case))
    if not tried:
        return _absent_in_place(case)
    judge = _judge(case)
    for pairs in tried:
        with within(backend):
            trial = Trial(Desk(backend), case.op, case.types, pairs)
            trial.run(judge.arrays)
        _expect(case, "in place", trial, judge)
        if case.column != "long":
            with within(backend):
                trial.run(judge.arrays)
            _expect(case, "in place, run again", trial, judge)
            _expect_atomic(case, trial)
    return OK


def _absent_in_place(case: Case) -> str:
    possible = any(case.types[i] == case.outputs[o] for i, o in case.op.inplace)
    return ABSENT if possible else NOTHING


def _alternatives(kernel: Kernel, case: Case) -> Iterator[Pairs]:
    """Each pair alone, and as many as go together."""
    together: dict[int, int] = {}  # output -> input
    for i, o in kernel.inplace:
        known = i < len(case.types) and o < len(case.outputs)
        if not known or case.types[i].size_bytes != case.outputs[o].size_bytes:
            raise Mismatch(
                f"{case}: the kernel says that input {i} and output {o} may be the same bytes, and "
                f"it has {len(case.types)} inputs and {len(case.outputs)} outputs, whose types are "
                f"({', '.join(map(str, case.types))}) and ({', '.join(map(str, case.outputs))})"
            )
        yield ((i, o),)
        if o not in together and i not in together.values():
            together[o] = i
    if len(together) > 1:
        yield tuple((i, o) for o, i in together.items())


def _strided(backend: Backend, case: Case) -> str:
    if backend.kernels.compiled(case.op):
        return ABSENT  # programs give contiguous arrays, and compiled kernels count on it
    desk, judge = Desk(backend), _judge(case)
    inputs = [desk.strided(a, t) for a, t in zip(judge.arrays, case.types, strict=True)]
    outputs = arrays_of(desk, case.outputs)
    with within(backend):
        run = backend.bind(graph_of(case).nodes[0], inputs, outputs)
        run()
        run()
    for o, (array, t) in enumerate(zip(outputs, case.outputs, strict=True)):
        wrong = judge.wrong(o, desk.fetch(array, t)) or desk.overrun(array)
        if wrong:
            raise Mismatch(f"{case} strided: output {o} {wrong}")
    return OK


def _expect(case: Case, how: str, trial: Trial, judge: Judge) -> None:
    """Right outputs, and no other memory written."""
    said = f"{case} {how}".rstrip()
    for o in range(len(trial.outputs)):
        if wrong := judge.wrong(o, trial.output(o)):
            raise Mismatch(f"{said}: output {o} {wrong}")
    if wrong := trial.misuse(judge.arrays):
        raise Mismatch(f"{said}: {wrong}")


def _expect_atomic(case: Case, trial: Trial) -> None:
    """What may update variables is one call of C, and raises for no values whatever.

    It is so where each output is in place that may be.
    """
    outputs = {o for _, o in trial.pairs}
    if not trial.kernel.atomic or outputs != {o for _, o in trial.kernel.inplace}:
        return
    if not in_c(trial.step):
        raise Mismatch(
            f"{case}: the kernel says `atomic`, and its run is {trial.step!r:.80}: a Ctrl-C can "
            "stop it half-way; give a partial of one function of C, or atomic=False"
        )
    rng = np.random.default_rng(0)
    values = [random_bits(rng, t.dtype, t.size).reshape(t.dims) for t in trial.types]
    try:
        with within(trial.desk.backend):
            trial.run(values)
            trial.desk.backend.space.synchronize()
    except Exception as error:
        raise Mismatch(
            f"{case}: the kernel says `atomic`, and raised {type(error).__name__} for some values: "
            f"{error}"
        ) from error


_latest: list[Judge] = []  # the case of a column is tried in several ways, one after the other


def _judge(case: Case) -> Judge:
    if not _latest or _latest[0].case is not case:
        _latest[:] = [Judge(case, case.arrays())]
    return _latest[0]


def _of_other_values(case: Case) -> Judge | None:
    """`None` where the op refuses them."""
    try:
        return Judge(case, case.arrays(1))
    except GraphError:
        return None


def _through_decomposition(backend: Backend, case: Case) -> str:
    graph = graph_of(case)
    if case.op.decompose(*graph.inputs) is None:
        return _through_bodies(backend, case)
    simple = _decomposed(graph, backend)
    desk, judge = Desk(backend), _judge(case)
    known: dict[Value, Any] = {
        v: desk.place(a, v.type) for v, a in zip(graph.inputs, judge.arrays, strict=True)
    }
    for node in simple.nodes:
        outputs = arrays_of(desk, [v.type for v in node.outputs])
        known.update(zip(node.outputs, outputs, strict=True))
        try:
            with within(backend):
                kernel = backend.compile(node.op, [v.type for v in node.inputs])
                blocks = desk.block(kernel.workspace_bytes), desk.block(kernel.persistent_bytes)
                kernel.bind([known[v] for v in node.inputs], outputs, *blocks)()
        except MissingRule:
            return ABSENT
    for o, v in enumerate(simple.outputs):
        if wrong := judge.wrong(o, desk.fetch(known[v], v.type)):
            raise Mismatch(f"{case} decomposed: output {o} {wrong}")
    return VIA


def _through_bodies(backend: Backend, case: Case) -> str:
    if case.op.control(*case.types) is None:
        return ABSENT
    desk, judge, graph = Desk(backend), _judge(case), graph_of(case)
    placed = [desk.place(a, t) for a, t in zip(judge.arrays, case.types, strict=True)]
    try:
        with within(backend):
            results = Interpreter(desk).run(graph, placed)
    except MissingRule:
        return ABSENT
    for o, (array, v) in enumerate(zip(results, graph.outputs, strict=True)):
        if wrong := judge.wrong(o, desk.fetch(array, v.type)):
            raise Mismatch(f"{case} by its bodies: output {o} {wrong}")
    return BODIES


def _decomposed(graph: Graph, backend: Backend) -> Graph:
    """Decompose what the backend lacks, until nothing changes."""

    def rule(node: Node) -> tuple[Value, ...] | None:
        return None if backend.supports(node.op) else node.op.decompose(*node.inputs)

    while True:
        simpler = graph.rewrite(rule)
        if simpler == graph:
            return graph
        graph = simpler
