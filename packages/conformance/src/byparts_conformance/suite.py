"""The tests of the kit.  `byparts check NAME` runs them; you may also run them with pytest.

`plugin.py` makes one test for each op that the backend has and each column: these come first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from byparts_conformance import kernel, meaning
from byparts_conformance.backend_rules import BACKEND_RULES, Ops
from byparts_conformance.cases import (
    Case,
    cases_of,
    composed_cases,
    f64_cases,
    typed_cases,
    usual_cases,
)
from byparts_conformance.plugin import Record
from byparts_conformance.presence import few
from byparts_graph_ir import Backend, Op


def test_kernel(
    op: type[Op], backend: Backend, column: str, record: Record, everything: bool
) -> None:
    """The kernel gives the results of `evaluate`."""
    runs = kernel.runs_of(cases_of(op), column)
    if not everything:
        runs = few(backend, runs)
    if not runs:
        record("")
        return
    record("FAIL")
    # What is decomposed is run in the mode "plain" alone.
    tried = [case for case, how in runs if how == "plain" or backend.supports(case.op)]
    kernel.prepare(backend, tried)
    said = [(how, kernel.check(backend, case, how)) for case, how in runs]
    # A decomposed op is run in the mode "plain" only; that does not make "long" incomplete.
    outcomes = {o for how, o in said if how in ("plain", column) or o != kernel.ABSENT}
    record(kernel.cell(outcomes))


def test_kernel_absent(op: type[Op], backend: Backend, record: Record) -> None:
    """The backend has neither the op nor what it is made of (`presence.py`): no failure."""
    record(kernel.ABSENT)


def test_also(backend: Backend, rule: str, ops: Ops, said: Callable[[str], None]) -> None:
    """The backend keeps a rule of `backend_rules.py`."""
    said("FAIL")
    with kernel.within(backend):
        wrong = BACKEND_RULES[rule](backend, ops)
    said(wrong or "ok")
    assert not wrong, wrong


def test_op_brings_samples(op: type[Op]) -> None:
    """Each op has samples; without them the other tests would try nothing."""
    assert cases_of(op), f"{op.__name__} has no samples; write `samples`"


def test_shape_rule(op: type[Op]) -> None:
    """`evaluate` returns arrays of the types that `infer` gives."""
    _expect(typed_cases(op), meaning.shape_rule)


def test_unknown_shapes(op: type[Op]) -> None:
    """For inputs of unknown shape the shape rule gives types that hold for all shapes."""
    _expect(usual_cases(op), meaning.unknown_shapes)


def test_round_trips(op: type[Op]) -> None:
    """Text and JSON of the op load back to an equal op."""
    _expect(usual_cases(op), meaning.round_trips)


def test_decomposition(op: type[Op]) -> None:
    """The decomposition computes the same values."""
    _expect(composed_cases(op), meaning.decomposition)


def test_gradient(op: type[Op]) -> None:
    """The gradient agrees with central differences in f64."""
    _expect(f64_cases(op), meaning.gradient)


def _expect(cases: Iterable[Case], check: Callable[[Case], str]) -> None:
    """Fail with one line for each case in which `check` finds an error."""
    wrong = [f"{case}: {said}" for case in cases if (said := check(case))]
    assert not wrong, "\n".join(wrong)
