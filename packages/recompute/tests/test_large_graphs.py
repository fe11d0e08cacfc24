"""The quicker searches of large graphs, here also run on small ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from random import Random
from unittest.mock import patch

import pytest
from hypothesis import given as over, settings
from hypothesis.strategies import floats, integers
from planned_ops import Add, Copy, given
from random_graphs import there_and_back

from byparts_graph_ir import Graph, Value, verify
from byparts_memplan import peak_bytes
from byparts_recompute import BudgetError, recomputation, strategies, tradeoff

NAMES = sorted({*strategies()} - {"exact"})
SIZES = pytest.mark.parametrize("size", ["coarse", "large"])
GRAPHS = over(seed=integers(0, 10**6), depth=integers(1, 12), part=floats(0, 1))


@contextmanager
def taken_for(size: str) -> Iterator[None]:
    """Graphs of any number of steps."""
    tuning, never = "byparts_recompute.tuning", 10**6
    with (
        patch(f"{tuning}.SMALL_STEPS", 0),
        patch(f"{tuning}.BISECTED_STEPS", 0),
        patch(f"{tuning}.LARGE_STEPS", 0 if size == "large" else never),
    ):
        yield


@SIZES
@pytest.mark.parametrize("strategy", NAMES)
@GRAPHS
@settings(max_examples=30)
def test_a_budget_is_met_or_refused(
    strategy: str, size: str, seed: int, depth: int, part: float
) -> None:
    """And what the refusal says can be had is had."""
    graph = there_and_back(Random(seed), depth)
    budget = int(peak_bytes(graph) * part)
    with taken_for(size):
        try:
            made = recomputation(graph, budget, strategy=strategy, effort=0.01)
        except BudgetError as error:
            made = error.recomputation
            assert made.peak_bytes > budget

    assert made.floor_bytes <= made.peak_bytes <= made.plain_peak_bytes
    assert peak_bytes(verify(made.graph())) <= made.peak_bytes


@SIZES
@pytest.mark.parametrize("strategy", NAMES)
@GRAPHS
@settings(max_examples=30)
def test_a_limit_of_cost_is_kept(
    strategy: str, size: str, seed: int, depth: int, part: float
) -> None:
    graph = there_and_back(Random(seed), depth)
    with taken_for(size):
        made = recomputation(graph, max_extra_cost=part, strategy=strategy, effort=0.01)

    assert made.extra_cost <= part + 1e-9
    assert peak_bytes(verify(made.graph())) <= made.peak_bytes <= made.plain_peak_bytes


@SIZES
@GRAPHS
@settings(max_examples=30)
def test_a_trade_off_goes_down(size: str, seed: int, depth: int, part: float) -> None:
    graph = there_and_back(Random(seed), depth)
    with taken_for(size):
        points = tradeoff(graph, points=1 + int(4 * part), effort=0.01)

    assert points[0][0] <= peak_bytes(graph)
    assert all(a > b and c < d for (a, c), (b, d) in pairwise(points))


def test_greedy_from_the_plain_order_of_a_large_graph() -> None:
    """Where nothing else is known to begin with."""
    x = given(8)
    kept: list[Value] = [x]
    for _ in range(1001):
        kept.append(Copy()(kept[-1]))
    y = kept[-1]
    for v in reversed(kept):
        y = Add()(Copy()(y), v)
    graph = Graph.of([x], [y])
    budget = peak_bytes(graph) // 2

    made = recomputation(graph, budget, strategy="greedy", effort=0)
    assert len(graph.nodes) > 3000 and made.peak_bytes <= budget
    assert peak_bytes(verify(made.graph())) <= budget
