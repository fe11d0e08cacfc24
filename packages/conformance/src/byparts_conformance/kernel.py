"""Compares a backend's kernels with `evaluate`: on separate arrays, strided inputs, and in place.

A kernel is run as programs run it (`trial.py`).  Programs have no strided arrays; these are given
to bound rules only, through `Backend.bind`.  An op without a kernel is run through its
decomposition, as the pass legalize would do.  An op with neither is absent, which is not a failure:
the table shows "-".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

import numpy as np

from byparts_conformance.bodies import Interpreter
from byparts_conformance.cases import APART, Case
from byparts_conformance.meaning import graph_of
from byparts_conformance.reference import Reference
from byparts_conformance.trial import Pairs, Trial
from byparts_conformance.trial_memory import TrialMemory, arrays_of
from byparts_conformance.values import random_bits
from byparts_graph_ir import (
    ArgumentError,
    Backend,
    Graph,
    GraphError,
    MissingRule,
    Node,
    Op,
    Types,
    Value,
)
from byparts_graph_ir.backend.kernel import Kernel, in_c
from byparts_graph_ir.contract import checked

OK, VIA, ABSENT = "ok", "via decompose", "-"
BODIES = "via bodies"  # the op has bodies, and the backend has kernels for the nodes in them
MODES = ("plain", "strided", "in place")  # ways to run a case
SOME = "some"  # some cases of a column are right and the others absent, usually by dtype
NOTHING = ""  # no case could be run


class Mismatch(AssertionError):
    """A kernel's result differs from `evaluate`, or the kernel wrote memory of others."""


@checked
def check(backend: Backend, case: Case, how: str) -> str:
    """Run one case: `OK`, `VIA`, `BODIES`, `ABSENT`, or `NOTHING` if this mode does not apply.

    Args:
        backend: the backend whose kernel is tried.
        case: the op and its inputs.
        how: "plain"; "strided"; or "in place": each pair of `Kernel.inplace`, and all at once.

    Raises:
        Mismatch: a result is wrong, or memory outside the kernel's was written.
        Exception: any error that the kernel raised.
    """
    if how not in MODES:
        raise ArgumentError(f"check: how is {how!r}; it is one of {', '.join(MODES)}")
    with suppress(MissingRule):  # the backend refuses these types
        if backend.supports(case.op):
            return {"plain": _apart, "strided": _strided, "in place": _in_place}[how](backend, case)
    if how == "plain":
        with suppress(MissingRule):
            return _through_decomposition(backend, case)
        return ABSENT
    return _absent_in_place(case) if how == "in place" else ABSENT


def prepare(backend: Backend, cases: Iterable[Case]) -> None:
    """Compile the kernels of cases before one is bound: some backends then make all at once.

    Kernels without a rule that compiles are made as they are bound, in no time.
    """
    with within(backend):
        for case in cases:
            with suppress(MissingRule):
                for op, types in _compiled_for(backend, case):
                    if backend.kernels.compiled(op):
                        backend.compile(op, types)
                for constants in _each_constant(backend, case):
                    backend.compile(case.op, case.types, constants)


def _compiled_for(backend: Backend, case: Case) -> list[tuple[Op, Types]]:
    """The op of a case, or the ops of its decomposition; each with its types."""
    if backend.supports(case.op) or case.op.decompose(*graph_of(case).inputs) is None:
        return [(case.op, case.types)]
    nodes = _decomposed(graph_of(case), backend).nodes
    return [(node.op, tuple([v.type for v in node.inputs])) for node in nodes]


def _each_constant(backend: Backend, case: Case) -> list[frozenset[int]]:
    """The inputs that `_apart` makes constant, one at a time."""
    if _is_quick(case) or not backend.kernels.compiled(case.op):
        return []
    return [frozenset([i]) for i in range(len(case.types)) if i not in case.op.ignores]


def _is_quick(case: Case) -> bool:
    """Whether a case is run on one set of values alone."""
    return case.column in ("edges", "long") and case.values != "combinations"


@contextmanager
def within(backend: Backend) -> Iterator[None]:
    """Set the processor state as the runtime does: no floating point warnings, `backend.around`."""
    with np.errstate(all="ignore"), (backend.around or nullcontext)():
        yield


def cell(outcomes: set[str]) -> str:
    """The entry of the table for the outcomes of several cases."""
    tried = outcomes - {NOTHING}
    if ABSENT in tried and len(tried) > 1:
        return SOME
    return min(tried, key=(ABSENT, VIA, BODIES, OK).index, default=NOTHING)


def runs_of(cases: Sequence[Case], column: str) -> list[tuple[Case, str]]:
    """The cases that a column of the table runs, each with its mode.

    Cases of long arrays and of rare dtypes are run in all modes that apply.
    """
    if column in ("strided", "in place"):
        runs = [(c, column) for c in cases if c.column not in APART]
    else:
        modes = MODES if column in ("long", "rare") else ("plain",)
        runs = [(c, how) for c in cases if c.column == column for how in modes]
    return [(c, how) for c, how in runs if applies(c, how)]


def applies(case: Case, how: str) -> bool:
    """Whether a case can be run in this mode at all."""
    if how == "in place":
        return bool(case.types)
    return how == "plain" or any(t.size > 1 for t in case.types)


def _apart(backend: Backend, case: Case) -> str:
    """Run on separate arrays; most cases also on other values, and bound a second time."""
    reference = _reference(case)
    with within(backend):
        trial = Trial(TrialMemory(backend), case.op, case.types)
        trial.run(reference.arrays)
        trial.again()  # a step runs many times over the same memory
    _expect(case, "", trial, reference)
    if _is_quick(case):
        return OK
    other = _of_other_values(case) or reference
    with within(backend):
        beside = Trial(trial.memory, case.op, case.types, beside=trial)
        trial.run(other.arrays)
        beside.run(reference.arrays)
    _expect(case, "run again on other values", trial, other)
    _expect(case, "bound a second time, beside the first", beside, reference)
    _try_constants(backend, case, reference)
    _expect_atomic(case, trial)
    return OK


def _try_constants(backend: Backend, case: Case, reference: Reference) -> None:
    """Run with each input in turn as a constant.  Only compiled kernels know of constants."""
    for (i,) in _each_constant(backend, case):
        with within(backend):
            constants = {i: reference.arrays[i]}
            trial = Trial(TrialMemory(backend), case.op, case.types, constants=constants)
            trial.run(reference.arrays)
            trial.again()
        _expect(case, f"with input {i} a constant", trial, reference)


def _in_place(backend: Backend, case: Case) -> str:
    with within(backend):
        kernel = backend.compile(case.op, case.types)
    tried = list(_alternatives(kernel, case))
    if not tried:
        return _absent_in_place(case)
    reference = _reference(case)
    for pairs in tried:
        with within(backend):
            trial = Trial(TrialMemory(backend), case.op, case.types, pairs)
            trial.run(reference.arrays)
        _expect(case, "in place", trial, reference)
        if case.column != "long":
            with within(backend):
                trial.run(reference.arrays)
            _expect(case, "in place, run again", trial, reference)
            _expect_atomic(case, trial)
    return OK


def _absent_in_place(case: Case) -> str:
    possible = any(case.types[i] == case.outputs[o] for i, o in case.op.inplace)
    return ABSENT if possible else NOTHING


def _alternatives(kernel: Kernel, case: Case) -> Iterator[Pairs]:
    """Each (input, output) pair of `Kernel.inplace` alone, then as many pairs as fit together."""
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
        return ABSENT  # compiled kernels get contiguous arrays only
    memory, reference = TrialMemory(backend), _reference(case)
    inputs = [memory.strided(a, t) for a, t in zip(reference.arrays, case.types, strict=True)]
    outputs = arrays_of(memory, case.outputs)
    with within(backend):
        run = backend.bind(graph_of(case).nodes[0], inputs, outputs)
        run()
        run()
    for o, (array, t) in enumerate(zip(outputs, case.outputs, strict=True)):
        wrong = reference.wrong(o, memory.fetch(array, t)) or memory.overrun(array)
        if wrong:
            raise Mismatch(f"{case} strided: output {o} {wrong}")
    return OK


def _expect(case: Case, how: str, trial: Trial, reference: Reference) -> None:
    """Raise `Mismatch` unless all outputs are right and no other memory was written."""
    title = f"{case} {how}".rstrip()
    for o in range(len(trial.outputs)):
        if wrong := reference.wrong(o, trial.output(o)):
            raise Mismatch(f"{title}: output {o} {wrong}")
    if wrong := trial.misuse(reference.arrays):
        raise Mismatch(f"{title}: {wrong}")


def _expect_atomic(case: Case, trial: Trial) -> None:
    """Raise `Mismatch` unless a kernel that says `atomic` is one call of C that never raises.

    Only checked if every output that may be in place is in place, as for updates of variables.
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
        with within(trial.memory.backend):
            trial.run(values)
            trial.memory.backend.space.synchronize()
    except Exception as error:
        raise Mismatch(
            f"{case}: the kernel says `atomic`, and raised {type(error).__name__} for some values: "
            f"{error}"
        ) from error


# By the `id` of a case, which its reference keeps: a case is run in several modes, and by mutants.
_references: dict[tuple[int, int], Reference] = {}
_MOST_REFERENCES = 128


def _reference(case: Case, number: int = 0) -> Reference:
    """The reference for the inputs of a case; for others where a number is given.

    Raises:
        GraphError: the op refuses these values.
    """
    key = id(case), number
    reference = _references.pop(key, None) or Reference(case, case.arrays(number))
    _references[key] = reference  # the last that is forgotten
    if len(_references) > _MOST_REFERENCES:
        del _references[next(iter(_references))]
    return reference


def _of_other_values(case: Case) -> Reference | None:
    """The reference for other input values; `None` if the op refuses these values."""
    try:
        return _reference(case, 1)
    except GraphError:
        return None


def _through_decomposition(backend: Backend, case: Case) -> str:
    graph = graph_of(case)
    if case.op.decompose(*graph.inputs) is None:
        return _through_bodies(backend, case)
    simple = _decomposed(graph, backend)
    memory, reference = TrialMemory(backend), _reference(case)
    known: dict[Value, Any] = {
        v: memory.place(a, v.type) for v, a in zip(graph.inputs, reference.arrays, strict=True)
    }
    with within(backend):  # all before one is bound: some backends then make them at once
        kernels = [backend.compile(n.op, [v.type for v in n.inputs]) for n in simple.nodes]
    for node, kernel in zip(simple.nodes, kernels, strict=True):
        outputs = arrays_of(memory, [v.type for v in node.outputs])
        known.update(zip(node.outputs, outputs, strict=True))
        with within(backend):
            blocks = memory.block(kernel.workspace_bytes), memory.block(kernel.persistent_bytes)
            kernel.bind([known[v] for v in node.inputs], outputs, *blocks)()
    for o, v in enumerate(simple.outputs):
        if wrong := reference.wrong(o, memory.fetch(known[v], v.type)):
            raise Mismatch(f"{case} decomposed: output {o} {wrong}")
    return VIA


def _through_bodies(backend: Backend, case: Case) -> str:
    if case.op.control(*case.types) is None:
        return ABSENT
    memory, reference, graph = TrialMemory(backend), _reference(case), graph_of(case)
    placed = [memory.place(a, t) for a, t in zip(reference.arrays, case.types, strict=True)]
    with within(backend):
        results = Interpreter(memory).run(graph, placed)
    for o, (array, v) in enumerate(zip(results, graph.outputs, strict=True)):
        if wrong := reference.wrong(o, memory.fetch(array, v.type)):
            raise Mismatch(f"{case} by its bodies: output {o} {wrong}")
    return BODIES


def _decomposed(graph: Graph, backend: Backend) -> Graph:
    """Decompose the ops that the backend lacks, until nothing changes."""

    def rule(node: Node) -> tuple[Value, ...] | None:
        return None if backend.supports(node.op) else node.op.decompose(*node.inputs)

    while True:
        simpler = graph.rewrite(rule)
        if simpler.nodes == graph.nodes:  # untouched ones are shared
            return graph
        graph = simpler
