"""Less memory for more work: within the budget, at the least cost, refused with reasons."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given as over, settings
from hypothesis.strategies import sampled_from
from planned_ops import Add, Cast, Copy, Neg, Shout, given
from random_graphs import graphs_with_external, there_and_back
from random_kernels import Kernels, any_kernels, random_kernels

from byparts_graph_ir import Graph, Node, Value, verify
from byparts_memplan import check_plan, peak_bytes, plan
from byparts_memplan.steps import Steps
from byparts_recompute import BudgetError, recomputation, rematerialize, strategies, tradeoff

BYTES = 4 * 64


def hourglass(depth: int) -> Graph:
    """A chain of copies, read again in reverse: a training step without its weights."""
    x = given(64)
    kept: list[Value] = []
    y: Value = x
    for _ in range(depth):
        y = Copy()(y)
        kept.append(y)
    y = Copy()(y)
    for v in reversed(kept):
        y = Add()(Copy()(y), v)
    return Graph.of([x], [y])


def all_sequences(steps: Steps, more: int) -> Iterator[list[int]]:
    """The steps in the given order, and up to `more` of them again."""
    n, todo = len(steps.nodes), [list[int]()]
    while todo:
        sequence = todo.pop()
        done = set(sequence)
        if len(done) == n:
            yield sequence
        again = [s for s in done if steps.again[s]] if len(sequence) - len(done) < more else []
        todo += [[*sequence, s] for s in (*again, len(done)) if s < n]


@pytest.mark.parametrize("strategy", sorted({*strategies()} - {"exact"}))
def test_a_budget_is_met(strategy: str) -> None:
    """Of twelve values that wait for the way back, no more than half stay."""
    graph = hourglass(12)
    budget = 10 * BYTES
    after = verify(rematerialize(graph, budget, external={0}, strategy=strategy))

    assert peak_bytes(graph, {0}) == 14 * BYTES
    assert peak_bytes(after, {0}) <= budget
    check_plan(after, plan(after, external={0}))
    assert plan(after, external={0}).arena_bytes <= budget


def test_what_is_within_the_budget_stays_as_it_is() -> None:
    graph = hourglass(5)

    assert rematerialize(graph, peak_bytes(graph, {0}), external={0}) is graph
    assert rematerialize(Graph.of([given(2)], []), 100).nodes == ()


def test_the_limit_of_cost_is_kept_and_used() -> None:
    """A fifth more work; with none there is nothing to gain."""
    graph = hourglass(12)
    made = recomputation(graph, max_extra_cost=0.2, external={0})

    assert 0 < made.extra_cost <= 0.2
    assert made.peak_bytes < made.plain_peak_bytes == 14 * BYTES
    assert max(made.live_bytes) == made.peak_bytes == peak_bytes(made.graph(), {0})
    assert rematerialize(graph, max_extra_cost=0.0, external={0}) is graph


def test_the_same_arguments_give_the_same_graph() -> None:
    graph = hourglass(12)

    assert rematerialize(graph, 2000, external={0}) == rematerialize(graph, 2000, external={0})


def test_costs_decide_what_is_computed_again() -> None:
    """With the first half of the chain dear, only the second half is."""
    graph = hourglass(12)
    dear = set(graph.nodes[:6])
    made = recomputation(
        graph, 11 * BYTES, external={0}, cost=lambda node: 1000.0 if node in dear else 1.0
    )
    again = {s for s in made.sequence if made.sequence.count(s) > 1}

    assert again and not dear & {made.steps.nodes[s] for s in again}


def test_nothing_is_computed_again_for_nobody() -> None:
    """Taking any one recomputation out either breaks the budget or the schedule."""
    graph = hourglass(12)
    made = recomputation(graph, 9 * BYTES, external={0})
    for t, s in enumerate(made.sequence):
        if s in made.sequence[:t]:
            less = [*made.sequence[:t], *made.sequence[t + 1 :]]
            assert made.steps.peak_bytes(less) > 9 * BYTES


def test_effects_happen_once_and_in_order() -> None:
    """A print in the middle of what is computed again."""
    x = given(64)
    a = Copy()(x)
    shouts = [Node(Shout(), (a,)), Node(Shout(), (Copy()(a),))]
    y: Value = Copy()(Copy()(a))
    first, before = a.node, shouts[1].inputs[0].node
    assert first is not None and before is not None
    middle = Graph.of([x], [y]).nodes[1:]
    last = Node(Add(), (y, a))
    graph = Graph((x,), (first, shouts[0], *middle, before, shouts[1], last), ())
    graph = Graph.of([x], [graph.nodes[-1].outputs[0]], order=[v for v in graph.values])
    after = rematerialize(graph, max_extra_cost=1.0, external={0})

    assert [n.op for n in after.nodes if n.op.effect] == [Shout()] * 2


@settings(max_examples=100)
@over(graphs_with_external(), sampled_from([0.3, 0.6, 0.9]), any_kernels())
def test_what_is_promised_is_kept(
    case: tuple[Graph, frozenset[int]], part: float, kernels: Kernels | None
) -> None:
    """Of any graph: views, effects, barriers, several outputs, dead ends."""
    graph, external = case
    made = recomputation(graph, max_extra_cost=part, external=external, effort=0.1, kernels=kernels)
    after = verify(made.graph())

    assert made.extra_cost <= part + 1e-9
    assert made.floor_bytes <= made.peak_bytes
    assert (
        peak_bytes(after, external, kernels=kernels)
        <= made.peak_bytes
        <= Steps(graph, external=external, kernels=kernels).peak_bytes()
    )
    check_plan(after, plan(after, external=external, alignment=1, kernels=kernels), kernels)
    again = rematerialize(graph, made.peak_bytes, external=external, effort=0.1, kernels=kernels)
    assert peak_bytes(again, external, kernels=kernels) <= made.peak_bytes


def test_tiny_graphs_get_the_optimum() -> None:
    """Every budget that a sequence with up to two repetitions meets, at what it costs there.

    Of sequences in the given order; in another it may cost less.
    """
    random = Random(0)
    for i in range(60):
        kernels = random_kernels(i, 8) if i % 2 else None
        steps = Steps(tiny(random), external={0}, kernels=kernels)
        least: dict[int, float] = {}
        for sequence in all_sequences(steps, 2):
            peak = steps.peak_bytes(sequence)
            least[peak] = min(least.get(peak, 1e9), steps.total_cost(sequence))
        for budget in least:
            best = min(cost for peak, cost in least.items() if peak <= budget)
            made = recomputation(steps.graph, budget, external={0}, effort=0.2, kernels=kernels)

            assert steps.total_cost(made.sequence) <= best


def tiny(random: Random) -> Graph:
    """Six nodes: copies, sums, and values of other sizes."""
    x = given(64)
    values: list[Value] = [x]
    for _ in range(6):
        v = random.choice(values)
        alike = [u for u in values if u.type == v.type]
        kind = random.choice(["copy", "neg", "add", "add", "cast"])
        made = {"copy": Copy(), "neg": Neg(), "cast": Cast(random.choice(["f16", "f64"]))}
        values.append(Add()(v, random.choice(alike)) if kind == "add" else made[kind](v))
    return Graph.of([x], [values[-1], random.choice(values[1:])])


@settings(max_examples=50)
@over(graphs_with_external())
def test_more_work_never_needs_more_bytes(case: tuple[Graph, frozenset[int]]) -> None:
    """And more bytes never more work."""
    graph, external = case
    parts = (0.0, 0.1, 0.3, 0.9)
    made = [recomputation(graph, max_extra_cost=p, external=external, effort=0.1) for p in parts]
    peaks = [m.peak_bytes for m in made]
    again = [recomputation(graph, p, external=external, effort=0.1).extra_cost for p in peaks]

    assert peaks == sorted(peaks, reverse=True)
    assert again == sorted(again)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_more_work_never_needs_more_bytes_on_the_way_back(seed: int) -> None:
    """Of forward and backward passes with skips, at many limits."""
    graph = there_and_back(Random(seed), 9)
    parts = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 1.0)
    made = [recomputation(graph, max_extra_cost=p, external={0}, effort=0.1) for p in parts]
    peaks = [m.peak_bytes for m in made]

    assert peaks == sorted(peaks, reverse=True)
    assert peaks[0] > peaks[-1]


def test_a_trade_off_goes_down_as_it_gets_dearer() -> None:
    found = tradeoff(hourglass(12), external={0}, points=5, effort=0.2)
    peaks, costs = [p for p, _ in found], [c for _, c in found]

    assert found[0] == (14 * BYTES, 0.0)
    assert peaks == sorted(peaks, reverse=True) and costs == sorted(costs)
    assert len(found) > 4


def test_a_budget_that_cannot_be_met_says_what_is_in_the_way() -> None:
    """The best that was found comes with it; no schedule of these has less than three values."""
    with pytest.raises(BudgetError, match="no schedule within a budget of 500 bytes") as caught:
        rematerialize(hourglass(6), 500, external={0})

    error = caught.value
    assert peak_bytes(error.graph, {0}) == error.peak_bytes == 3 * BYTES
    for text in (r"smallest peak is 768", r"none can have less than \d+", r"256 B: copy f32\[64\]",
                 "test_rematerialize.py:", "try budget_bytes=768"):  # fmt: skip
        assert re.search(text, str(error)), text
