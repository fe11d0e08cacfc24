"""Retention intervals have the schedules of Checkmate's stages: both come to the same cost."""

from __future__ import annotations

from math import inf

import pytest

import byparts_opset as ops
from byparts_graph_ir import Graph, Input, TensorType, Value
from byparts_recompute.scheduling.cp_sat import load_solver
from checkmate import checkmate, without_writing_over
from checkmate_stages import Stages

pytest.importorskip("ortools.sat.python.cp_model", reason="OR-tools: byparts-recompute[exact]")


def there_and_back(depth: int) -> Graph:
    """Each value is read again on the way back; they are wide and narrow."""
    x = Input(TensorType("f32", (16,)), None, "x")
    kept: list[Value] = [x]
    for k in range(depth):
        kept.append(ops.cast(ops.exp(kept[-1]), ("f64", "f32", "f16")[k % 3]))
    y = kept[-1]
    for v in reversed(kept[1:-1]):
        y = ops.exp(v) * ops.cast(y, v.type.dtype)
    return Graph.of([x], [y])


@pytest.mark.parametrize(("depth", "part"), [(4, 0.95), (5, 0.95), (5, 0.85), (5, 0.6)])
def test_both_programs_have_the_same_optimum(depth: int, part: float) -> None:
    steps = without_writing_over(there_and_back(depth), frozenset({0}))
    budget = int(part * steps.peak_bytes())
    found, bound = checkmate(steps, budget, effort=1.0)
    expected = Stages(load_solver(), steps, budget).least_extra_cost()
    whole = steps.total_cost()

    assert bound == pytest.approx(inf if expected is None else expected / whole)
    assert found == (None if expected is None else pytest.approx(bound))
