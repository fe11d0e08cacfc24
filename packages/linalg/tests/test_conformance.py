"""The conformance kit on the ops of this part."""

from __future__ import annotations

import pytest

from byparts_conformance import (
    Case,
    cases_of,
    decomposition,
    f64_cases,
    gradient,
    kernel_check,
    round_trips,
    shape_rule,
    unknown_shapes,
)
from byparts_graph_ir import Backend, Op
from byparts_linalg.registry import OPS

every_op = pytest.mark.parametrize("op", OPS.values(), ids=lambda op: op.name)


@every_op
@pytest.mark.parametrize("check", [shape_rule, unknown_shapes, round_trips, decomposition])
def test_methods_agree(op: type[Op], check: object) -> None:
    assert callable(check)
    assert {check(case) for case in cases_of(op)} == {""}


@every_op
def test_gradients_are_those_of_central_differences(op: type[Op]) -> None:
    assert {gradient(case) for case in f64_cases(op)} == {""}


@every_op
def test_kernels_agree_with_the_meaning(op: type[Op], backend: Backend) -> None:
    outcomes = {kernel_check(backend, case, "plain") for case in _some(op)}

    assert outcomes == {"ok"}


def _some(op: type[Op]) -> list[Case]:
    """Cases of all columns but long ones; `byparts check` runs those."""
    return [case for case in cases_of(op) if case.column != "long"]
