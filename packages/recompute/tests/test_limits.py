"""What cannot be meant is refused with its value; what can is answered, however odd."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import pytest
from planned_ops import Add, Copy, Full, Neg, Reshape, Shout, given

from byparts_graph_ir import Graph, Input, Node, TensorType, Value
from byparts_memplan import PlanError, peak_bytes
from byparts_recompute import BudgetError, recomputation, rematerialize, strategies, tradeoff

BYTES = 4 * 64
ALONE = [s for s in strategies() if s != "exact"]  # which needs a solver: see test_exact.py


def hourglass(depth: int = 6) -> Graph:
    """A chain of copies, read again in reverse: a training step without its weights."""
    x = given(64)
    kept: list[Value] = []
    y: Value = x
    for _ in range(depth):
        y = Copy()(y)
        kept.append(y)
    for v in reversed(kept):
        y = Add()(Copy()(y), v)
    return Graph.of([x], [y])


def fails(node: Node) -> float:
    raise LookupError("no profile")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "budget_bytes=None, max_extra_cost=None: give one of them"),
        ({"budget_bytes": 9, "max_extra_cost": 0.1}, "give one of them"),
        ({"budget_bytes": -1}, "budget_bytes is -1; expected an integer, 0 or more"),
        ({"budget_bytes": -1.0}, "budget_bytes is -1.0; expected an integer, 0 or more"),
        ({"budget_bytes": 2.5}, "budget_bytes is 2.5; expected an integer, 0 or more"),
        ({"budget_bytes": nan}, "budget_bytes is nan; expected an integer, 0 or more"),
        ({"budget_bytes": inf}, "budget_bytes is inf; expected an integer, 0 or more"),
        ({"budget_bytes": "1KiB"}, "budget_bytes is '1KiB'; expected an integer, 0 or more"),
        ({"max_extra_cost": -0.1}, "max_extra_cost is -0.1; it is a fraction"),
        ({"max_extra_cost": -inf}, "max_extra_cost is -inf; it is a fraction"),
        ({"max_extra_cost": nan}, "max_extra_cost is nan; it is a fraction"),
        ({"max_extra_cost": "1%"}, "max_extra_cost is '1%'; it is a fraction"),
        ({"budget_bytes": 9, "strategy": "magic"}, "no strategy 'magic'; there are auto, "),
        ({"budget_bytes": 9, "effort": -1.0}, "effort is -1.0"),
        ({"budget_bytes": 9, "effort": nan}, "effort is nan"),
        ({"budget_bytes": 9, "effort": inf}, "effort is inf"),
        ({"budget_bytes": 9, "external": {7}}, "there is no input 7; the graph has 1"),
        ({"budget_bytes": 9, "external": {-1}}, "there is no input -1; the graph has 1"),
    ],
)
def test_bad_limits_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(PlanError, match=message):
        rematerialize(hourglass(3), **arguments)


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        (lambda node: nan, r"the cost of copy f32\[64\] \(test_limits.py:\d+\) is nan"),
        (lambda node: -1, r"the cost of copy .* is -1; it is 0 or more, and finite"),
        (lambda node: inf, "the cost of copy .* is inf"),
        (lambda node: None, "the cost of copy .* is None"),
        (lambda node: "dear", "the cost of copy .* is dear"),
        (lambda node: 10**400, "the cost of copy .* is 1000"),
        (fails, "the cost of copy .* cannot be told: LookupError: no profile"),
        (lambda node: 1e308, "the costs of 9 nodes sum to inf; .*give them in another unit"),
        (lambda node: 5e-324, "the costs of 9 nodes sum to 4.*e-323; .*in another unit"),
    ],
)
def test_costs_that_cannot_be_reckoned_with_are_refused(cost: Any, message: str) -> None:
    for limit in ({"budget_bytes": 9}, {"max_extra_cost": 0.5}):
        with pytest.raises(PlanError, match=message):
            rematerialize(hourglass(3), cost=cost, **limit)


def test_a_cost_that_failed_keeps_its_cause() -> None:
    with pytest.raises(PlanError, match="no profile") as caught:
        rematerialize(hourglass(3), 9, cost=fails)

    assert isinstance(caught.value.__cause__, LookupError)


def test_what_costs_nothing_is_computed_again_without_end() -> None:
    """The smallest peak there is, for no extra work."""
    made = recomputation(hourglass(), max_extra_cost=0.0, external={0}, cost=lambda node: 0)

    assert made.extra_cost == 0.0
    assert made.peak_bytes == 3 * BYTES == made.floor_bytes + BYTES


def test_without_a_limit_of_cost_the_peak_is_the_smallest() -> None:
    graph = hourglass()
    limited = recomputation(graph, max_extra_cost=100.0, external={0})
    free = recomputation(graph, max_extra_cost=inf, external={0})

    assert free.peak_bytes == limited.peak_bytes == 3 * BYTES
    assert free.extra_cost == recomputation(graph, 3 * BYTES, external={0}).extra_cost


def test_a_budget_may_be_any_whole_number() -> None:
    """A float that is whole as well; and one beyond all machines is enough."""
    graph = hourglass()
    budget = 5 * BYTES

    assert rematerialize(graph, float(budget), external={0}) == rematerialize(  # type: ignore[arg-type]  # on purpose
        graph, budget, external={0}
    )
    assert rematerialize(graph, 10**30, external={0}) is graph


@pytest.mark.parametrize("strategy", ALONE)
@pytest.mark.parametrize("budget", [0, 1, 2 * BYTES - 1])
def test_less_than_any_step_touches_is_refused(strategy: str, budget: int) -> None:
    with pytest.raises(BudgetError, match=f"none can have less than {2 * BYTES}") as caught:
        rematerialize(hourglass(), budget, external={0}, strategy=strategy)

    error = caught.value
    assert peak_bytes(error.graph, {0}) <= error.peak_bytes >= 3 * BYTES


X = given(64)
ODD: dict[str, tuple[Graph, int]] = {  # graphs in which nothing can be gained, and their peaks
    "empty": (Graph((), (), ()), 0),
    "an input alone": (Graph((X,), (), (X,)), BYTES),
    "an input that nobody reads": (Graph((X,), (), ()), BYTES),
    "effects alone": (Graph((X,), tuple(Node(Shout(), (X,), "") for _ in range(3)), ()), 2 * BYTES),
    "views alone": (Graph.of([X], [Reshape((8, 8))(Reshape((4, 16))(X))]), BYTES),
    "forward alone": (Graph.of([X], [Copy()(Copy()(Copy()(X)))]), 2 * BYTES),
    "no inputs": (Graph.of([], [Full((64,))()]), BYTES),
    "no bytes": (Graph.of([z := given(0)], [Add()(Copy()(z), z)]), 0),
    "outputs twice": (Graph.of([X], [y := Neg()(Copy()(X)), y, X]), 2 * BYTES),
}


@pytest.mark.parametrize("strategy", ALONE)
@pytest.mark.parametrize("name", ODD)
def test_graphs_that_have_nothing_to_recompute_stay_as_they_are(name: str, strategy: str) -> None:
    """Or are refused, with the floor, where the budget is below it."""
    graph, peak = ODD[name]

    assert rematerialize(graph, max_extra_cost=0.5, strategy=strategy) == graph
    assert rematerialize(graph, peak, strategy=strategy) is graph
    if peak:
        with pytest.raises(BudgetError, match=f"the smallest peak is {peak}, with 0.0% more work"):
            rematerialize(graph, peak - 1, strategy=strategy)


@pytest.mark.parametrize("name", ODD)
def test_the_trade_off_of_an_odd_graph_is_one_point(name: str) -> None:
    graph, peak = ODD[name]

    assert tradeoff(graph) == [(peak, 0.0)]


def test_a_refusal_says_what_the_caller_holds() -> None:
    """There is no step to blame: the inputs themselves are too large."""
    with pytest.raises(BudgetError, match="where the caller writes the inputs:\n  256 B: x f32"):
        rematerialize(Graph((X,), (), (X,)), 5)


@pytest.mark.parametrize("limit", [{"budget_bytes": 10}, {"max_extra_cost": 0.1}])
def test_types_have_to_be_static(limit: dict[str, Any]) -> None:
    x = Input(TensorType("f32", ("n",)), None, "x")

    with pytest.raises(PlanError, match="has no size yet; specialize the graph first"):
        rematerialize(Graph.of([x], [Copy()(x)]), **limit)
