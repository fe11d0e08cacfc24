"""Order and recomputation count the workspace of each step where it runs."""

from __future__ import annotations

import pickle

import pytest
from planned_ops import Add, Cast, Copy, Full, add, copy, given
from random_graphs import there_and_back
from random_kernels import Kernels, random_kernels, said

from byparts_graph_ir import Graph, Kernel, Node, Value, verify
from byparts_memplan import check_plan, order, peak_bytes, plan
from byparts_memplan.steps import Steps
from byparts_recompute import BudgetError, recomputation, rematerialize, strategies, tradeoff
from byparts_recompute.chains.forward_part import forward_steps
from byparts_recompute.chains.step_chain import StepChain

BYTES = 4 * 64


def hungry(bytes_: int, kind: type) -> Kernels:
    """Kernels of which those of one op have a workspace."""
    return lambda node: said(bytes_ if isinstance(node.op, kind) else 0, *node.op.inplace)


def hourglass(depth: int) -> Graph:
    """A chain of copies, read again in reverse."""
    kept: list[Value] = [given(64)]
    for _ in range(depth):
        kept.append(Copy()(kept[-1]))
    y = Copy()(kept[-1])
    for v in reversed(kept[1:]):
        y = Add()(Copy()(y), v)
    return Graph.of([kept[0]], [y])


def test_an_order_runs_what_needs_a_workspace_while_little_is_alive() -> None:
    """The copy before the large value is made; without its workspace, there is no reason."""
    x, kernels = given(64), hungry(512, Copy)
    large, small = Full((256,))(), copy(x)
    graph = Graph.of((x,), (large, small), order=(large, small))
    better = order(graph, external={0}, kernels=kernels)

    assert order(graph, external={0}) is graph
    assert peak_bytes(graph, {0}, kernels=kernels) == (256 + 64) * 4 + 512
    assert peak_bytes(better, {0}, kernels=kernels) == (256 + 64) * 4
    assert better.nodes[0].op == Copy()


def test_a_constant_with_a_workspace_is_not_free_to_wait() -> None:
    """What is made right before it is read may take a workspace where most is alive."""
    x, kernels = given(64), hungry(4 * BYTES, Full)
    y, constant = copy(x), Full((64,))()
    z = add(copy(y), y)
    graph = Graph.of((x,), (add(z, constant), y), order=(y, z, constant))
    better = verify(order(graph, external={0}, kernels=kernels))

    assert order(graph, external={0}) is graph
    assert peak_bytes(graph, {0}, kernels=kernels) == 7 * BYTES
    assert peak_bytes(better, {0}, kernels=kernels) == 5 * BYTES
    assert isinstance(better.nodes[0].op, Full)


def test_a_budget_counts_workspaces() -> None:
    """What fits without them does not with them, and more is computed again, or refused."""
    graph, kernels = hourglass(8), hungry(BYTES, Add)
    budget = 4 * BYTES
    plain = recomputation(graph, budget, external={0})
    made = recomputation(graph, budget, external={0}, kernels=kernels)
    after = verify(made.graph())

    assert made.extra_cost > plain.extra_cost
    assert peak_bytes(plain.graph(), {0}, kernels=kernels) > budget
    assert peak_bytes(after, {0}, kernels=kernels) <= made.peak_bytes <= budget
    check_plan(after, plan(after, external={0}, kernels=kernels), kernels)


def test_a_workspace_larger_than_the_budget_is_named() -> None:
    with pytest.raises(BudgetError, match=r"\n  5.00 KiB: workspace of %\d+ add") as caught:
        rematerialize(hourglass(4), 4 * BYTES, external={0}, kernels=hungry(20 * BYTES, Add))

    assert caught.value.recomputation.floor_bytes > 20 * BYTES


@pytest.mark.parametrize("strategy", sorted({*strategies()} - {"exact"}))
@pytest.mark.parametrize("seed", range(3))
def test_each_strategy_keeps_its_promise(strategy: str, seed: int) -> None:
    """The peak of the result with workspaces, where `kernels` is asked about each new node."""
    graph = hourglass(10)
    kernels = random_kernels(seed, 8)
    made = recomputation(
        graph, max_extra_cost=0.5, external={0}, strategy=strategy, effort=0.1, kernels=kernels
    )

    assert peak_bytes(verify(made.graph()), {0}, kernels=kernels) <= made.peak_bytes
    assert made.peak_bytes <= made.plain_peak_bytes == peak_bytes(graph, {0}, kernels=kernels)


def test_a_large_graph_is_brought_down_with_workspaces() -> None:
    """More steps than those whose whole trade-off is searched."""
    from random import Random

    graph, kernels = there_and_back(Random(3), 60), random_kernels(7, 8)
    budget = int(0.6 * peak_bytes(graph, kernels=kernels))
    made = recomputation(graph, budget, effort=0.1, kernels=kernels)

    assert len(graph.nodes) > 100
    assert peak_bytes(verify(made.graph()), kernels=kernels) <= made.peak_bytes <= budget


def test_nodes_that_are_computed_again_are_asked_for() -> None:
    """They are others than those of the graph; each is asked once in a question."""
    asked: list[Node] = []
    kernels = hungry(BYTES, Add)

    def counted(node: Node) -> Kernel:
        asked.append(node)
        return kernels(node)

    graph = hourglass(8)
    after = rematerialize(graph, 6 * BYTES, external={0}, kernels=counted)
    again = [n for n in after.nodes if n not in graph.nodes]

    assert len(asked) == len(set(asked))
    assert again
    asked.clear()
    peak_bytes(after, {0}, kernels=counted)
    assert set(again) <= set(asked)


def test_a_tradeoff_with_workspaces_is_above_one_without() -> None:
    graph = hourglass(6)
    with_, without = (
        tradeoff(graph, external={0}, points=3, effort=0.1, kernels=kernels)
        for kernels in (hungry(BYTES, Copy), None)
    )

    assert with_[0][0] > without[0][0]
    assert with_[-1][0] > without[-1][0]


def test_stages_of_a_chain_hold_their_workspaces() -> None:
    """In addition to their results, forward and backward."""
    graph = hourglass(6)

    def extra(kernels: Kernels | None) -> tuple[int, int]:
        steps = Steps(graph, external={0}, kernels=kernels)
        chain = StepChain(steps, forward_steps(steps), 6).chain
        stages = chain.stages[2:-1]
        return (
            min(s.forward_extra_bytes for s in stages),
            min(s.backward_extra_bytes for s in stages),
        )

    ahead, back = extra(hungry(7 * BYTES, Copy))

    assert ahead == 7 * BYTES
    assert back >= extra(None)[1] + 6 * BYTES


def test_steps_with_kernels_are_pickled_with_what_they_said() -> None:
    """The function itself may be local."""
    graph = Graph.of((x := given(64),), (Cast("f16")(copy(x)),))
    made = recomputation(graph, max_extra_cost=0.0, kernels=hungry(64, Copy))
    back = pickle.loads(pickle.dumps(made))

    assert back.steps.live_bytes() == made.steps.live_bytes()
    assert back.peak_bytes == made.peak_bytes == 2 * BYTES + 64
    assert back.graph() == made.graph()
