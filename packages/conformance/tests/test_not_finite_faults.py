"""Backends that lose a nan: whether programs whose inputs hold nan and infinities tell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from faulty import with_fault

import byparts_opset as ops
from byparts_conformance.programs import campaign
from byparts_graph_ir import Op


def _put(number: float) -> Any:
    """What writes the number over each nan of floats that NumPy knows."""

    def spoil(outputs: Any) -> None:
        for y in outputs:
            if y.dtype.kind == "f":
                y[np.isnan(y)] = number

    return spoil


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("number", [0.0, np.inf])
@pytest.mark.parametrize(
    "kinds",
    [(ops.Add, ops.Sub, ops.Mul), (ops.Maximum, ops.Minimum), (ops.Exp, ops.Tanh)],
    ids=lambda kinds: kinds[0].__name__,
)
def test_a_nan_that_becomes_a_number_is_found(kinds: tuple[type[Op], ...], number: float) -> None:
    """Within fifty programs."""
    wrong = with_fault(kinds, _put(number))
    options: dict[str, Any] = {"batch": 10, "not_finite": True, "shrink": False, "most_failures": 1}
    report = campaign((wrong,), 50, theme="chains", **options)

    assert report.failures and "instead of" in report.failures[0].said


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("op", [ops.Sum, ops.Max])
def test_a_sum_that_leaves_nan_out_is_found(op: type[Op]) -> None:
    """Within eighty programs."""
    wrong = with_fault((op,), _put(0.0))
    options: dict[str, Any] = {"batch": 10, "not_finite": True, "shrink": False, "most_failures": 1}

    assert campaign((wrong,), 80, **options).failures


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_without_the_fault_they_are_right() -> None:
    report = campaign((with_fault((ops.Add,), len),), 50, theme="chains", not_finite=True)

    assert not report.failures, str(report)
