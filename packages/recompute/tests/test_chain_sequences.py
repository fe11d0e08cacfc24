"""Graphs as chains: their forward part, their stages, and sequences that always run."""

from __future__ import annotations

import pytest
from hypothesis import given as with_data, settings
from planned_ops import Add, Copy, Neg, given
from random_graphs import graphs

from byparts_graph_ir import Graph, Value, verify
from byparts_memplan import PlanError
from byparts_memplan.steps import Steps
from byparts_recompute import chain_sequences
from byparts_recompute.chains.chain import check_schedule
from byparts_recompute.chains.forward_part import by_depth, forward_steps
from byparts_recompute.chains.optimal import ChainTable, save_all
from byparts_recompute.chains.step_chain import StepChain
from byparts_recompute.needed_runs import without_unneeded_runs
from byparts_recompute.replay import replay

BYTES = 4 * 64


def there_and_back(length: int) -> Graph:
    """`length` copies forward; backward adds each of them, the last first."""
    x = given(64)
    values = [Copy()(x)]
    for _ in range(length - 1):
        values.append(Copy()(values[-1]))
    y = Neg()(values[-1])
    for v in reversed(values):
        y = Copy()(Add()(v, y))
    return Graph.of([x], [y])


def chain_of(length: int, most: int) -> StepChain:
    steps = Steps(there_and_back(length), external={0})
    return StepChain(steps, forward_steps(steps), most)


def test_the_forward_part_ends_where_most_bytes_cross() -> None:
    steps = Steps(there_and_back(9), external={0})

    assert forward_steps(steps) == list(range(10))


def test_backward_steps_belong_to_the_stage_they_read() -> None:
    """Cut into single copies: each stage gets the two steps that read what it reads."""
    chain = chain_of(9, 9)

    assert chain.forward[2:5] == [[2], [3], [4]]
    assert chain.backward[2:5] == [[24, 25], [22, 23], [20, 21]]
    assert chain.plain() == list(range(28))


def test_what_stages_hold_is_measured() -> None:
    stage = chain_of(9, 9).chain.stages[4]

    assert (stage.output_bytes, stage.saved_bytes, stage.dy_bytes) == (BYTES, BYTES, BYTES)
    assert not stage.kept_bytes


def test_the_model_is_never_below_the_truth_of_a_chain() -> None:
    """Every point of the table, as steps: at most its bytes, at most its cost."""
    chain = chain_of(20, 20)
    steps = chain.steps
    table = ChainTable(chain.chain, 10**6)
    for peak, extra in table.curve():
        schedule = table.schedule(peak)
        check_schedule(chain.chain, schedule)
        sequence = chain.sequence(schedule)
        assert steps.peak_bytes(sequence) <= peak
        assert steps.total_cost(sequence) - steps.total_cost() <= extra
    assert steps.peak_bytes(chain.plain()) <= save_all(chain.chain).peak_bytes


@pytest.mark.parametrize("strategy", ["chain", "sqrt", "recursive", "sequential", "recurrence"])
def test_every_strategy_takes_less(strategy: str) -> None:
    steps = Steps(there_and_back(30), external={0})
    peaks = [steps.peak_bytes(s) for s in chain_sequences(steps, strategies=[strategy])]

    assert min(peaks) < steps.peak_bytes() / 2


def test_a_budget_and_a_cost_are_met() -> None:
    steps = Steps(there_and_back(40), external={0})
    budget, cost = steps.peak_bytes() // 2, steps.total_cost()
    at_budget = [
        steps.total_cost(s)
        for s in chain_sequences(steps, budget_bytes=budget)
        if steps.peak_bytes(s) <= budget
    ]
    at_cost = [
        steps.peak_bytes(s)
        for s in chain_sequences(steps, max_extra_cost=0.2)
        if steps.total_cost(s) <= 1.2 * cost
    ]

    assert cost < min(at_budget) < 1.2 * cost
    assert min(at_cost) < budget


def test_what_nobody_reads_is_not_computed_again() -> None:
    """The second run of step 0 is for nobody; the third is for step 5."""
    steps = Steps(there_and_back(2), external={0})

    assert without_unneeded_runs(steps, [0, 1, 2, 0, 3, 4, 0, 5, 6]) == [0, 1, 2, 3, 4, 0, 5, 6]


def test_what_one_step_reads_comes_late() -> None:
    """Side inputs that the graph computes first come just before who adds them."""
    x = given(64)
    sides = [Neg()(x) for _ in range(3)]
    y: Value = Copy()(x)
    for side in sides:
        y = Add()(side, Copy()(y))
    steps = Steps(Graph.of([x], [y], order=sides), external={0})
    order = by_depth(steps, list(range(len(steps.nodes))))

    assert [steps.nodes[s].op.name for s in order] == ["copy", *["copy", "neg", "add"] * 3]


def test_a_name_nobody_knows_is_refused() -> None:
    with pytest.raises(PlanError, match="strategy 'best' is not one of chain, sqrt"):
        list(chain_sequences(Steps(there_and_back(3)), strategies=["best"]))


@settings(max_examples=200, deadline=None)
@with_data(graphs(12))
def test_sequences_of_any_graph_run(graph: Graph) -> None:
    """Also of graphs that are no training steps: each sequence is a graph that verifies."""
    steps = Steps(graph)
    effects = [n for n in graph.nodes if n.op.effect]
    for sequence in chain_sequences(steps):
        after = verify(replay(steps, sequence))
        assert [n.op for n in after.nodes if n.op.effect] == [n.op for n in effects]
        assert [s for s in sequence if steps.nodes[s] in effects] == sorted(
            s for s in sequence if steps.nodes[s] in effects
        )
