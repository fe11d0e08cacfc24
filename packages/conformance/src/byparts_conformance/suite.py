"""The tests of the kit; `byparts check NAME` runs them, and so may your own test run.

One test for each op and column, made by `plugin.py` from what is installed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from byparts_conformance import kernel, meaning
from byparts_conformance.cases import (
    Case,
    cases_of,
    composed_cases,
    f64_cases,
    typed_cases,
    usual_cases,
)
from byparts_conformance.habits import HABITS, Ops
from byparts_conformance.plugin import Record
from byparts_graph_ir import Backend, Op


def test_op_brings_samples(op: type[Op]) -> None:
    """An op without samples would be tried on nothing."""
    assert cases_of(op), f"{op.__name__} has no samples; write `samples`"


def test_shape_rule(op: type[Op]) -> None:
    """What `infer` promises is what `evaluate` gives."""
    _expect(typed_cases(op), meaning.shape_rule)


def test_unknown_shapes(op: type[Op]) -> None:
    """With unknown shapes the rule says less, and nothing untrue."""
    _expect(usual_cases(op), meaning.unknown_shapes)


def test_round_trips(op: type[Op]) -> None:
    """Text and JSON give the op back."""
    _expect(usual_cases(op), meaning.round_trips)


def test_decomposition(op: type[Op]) -> None:
    """The simpler form computes the same."""
    _expect(composed_cases(op), meaning.decomposition)


def test_gradient(op: type[Op]) -> None:
    """The gradient agrees with central differences in f64."""
    _expect(f64_cases(op), meaning.gradient)


def test_kernel(op: type[Op], backend: Backend, column: str, record: Record) -> None:
    """The kernel gives the answer of `evaluate`."""
    runs = kernel.runs_of(cases_of(op), column)
    if not runs:
        record("")
        return
    record("FAIL")
    said = [(how, kernel.check(backend, case, how)) for case, how in runs]
    # Of a decomposed op only what is plain is tried: that is no gap in the column "long".
    outcomes = {o for how, o in said if how in ("plain", column) or o != kernel.ABSENT}
    record(kernel.cell(outcomes))


def test_also(backend: Backend, habit: str, ops: Ops, said: Callable[[str], None]) -> None:
    """What a backend must keep to beside right answers."""
    said("FAIL")
    with kernel.within(backend):
        wrong = HABITS[habit](backend, ops)
    said(wrong or "ok")
    assert not wrong, wrong


def _expect(cases: Iterable[Case], check: Callable[[Case], str]) -> None:
    """The kit's own assert: what is wrong, case by case."""
    wrong = [f"{case}: {said}" for case in cases if (said := check(case))]
    assert not wrong, "\n".join(wrong)
