"""Of small graphs the whole trade-off is known: more of one never needs more of the other."""

from __future__ import annotations

from math import inf
from random import Random

import pytest
from planned_ops import Add, Cast, Copy, given
from random_graphs import there_and_back

from byparts_graph_ir import Graph
from byparts_memplan import peak_bytes
from byparts_memplan.steps import Steps
from byparts_recompute import recomputation, tradeoff
from byparts_recompute.scheduling.whole_tradeoff import reordered


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_answers_are_read_off_one_trade_off(seed: int) -> None:
    """At each of its points, and just below: what is asked for is the point that allows it."""
    graph = there_and_back(Random(seed), 7)
    points = tradeoff(graph, external={0}, effort=0.1)
    for (peak, extra), (_, more) in zip(points, [*points[1:], points[-1]], strict=True):
        cheapest = recomputation(graph, peak, external={0}, effort=0.1)
        smallest = recomputation(graph, max_extra_cost=extra, external={0}, effort=0.1)
        between = (extra + more) / 2 if more > extra else extra
        same = recomputation(graph, max_extra_cost=between, external={0}, effort=0.1)

        assert cheapest.peak_bytes == peak
        assert cheapest.extra_cost == pytest.approx(extra)
        assert smallest.peak_bytes == same.peak_bytes == peak


def test_any_budget_costs_no_less_than_a_larger_one() -> None:
    """Every budget from the smallest peak to the plain one, a few bytes apart."""
    graph = there_and_back(Random(5), 6)
    low = recomputation(graph, max_extra_cost=inf, external={0}, effort=0.1).peak_bytes
    budgets = range(low, peak_bytes(graph, {0}) + 64, 64)
    made = [recomputation(graph, b, external={0}, effort=0.1).extra_cost for b in budgets]

    assert made == sorted(made, reverse=True)
    assert made[0] > made[-1] == 0


def test_first_runs_move() -> None:
    """Two large values that need not be alive together, in an order that has them so."""
    x = given(64)
    large = [Cast("f64")(Copy()(x)) for _ in range(2)]
    small = [Cast("f32")(v) for v in large]
    graph = Graph.of([x], [Add()(*small)], order=[*large, *small])
    steps = Steps(graph, external={0})
    plain = range(len(steps.nodes))
    better = reordered(steps, plain)

    assert sorted(better) == [*plain]
    assert steps.peak_bytes(better) < steps.peak_bytes(plain)
