"""A better order: fewer bytes alive, the same nodes, effects as they were."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from planned_ops import Add, Copy, Neg, Shout, given

from byparts_graph_ir import Fused, Graph, Op, TensorType, Types, Value, verify
from byparts_memplan import PlanError, order, peak_bytes, plan
from byparts_recompute import rematerialize


class Sum(Op):
    """A number of a vector."""

    def infer(self, x: TensorType) -> Types:
        return (TensorType(x.dtype, ()),)


def late_sums(count: int) -> Graph:
    """Copies of x, all made before the first of them is summed."""
    x = given(64)
    copies = [Copy()(x) for _ in range(count)]
    total = Sum()(copies[0])
    for c in copies[1:]:
        total = Add()(total, Sum()(c))
    return Graph.of([x], [total], order=[*copies, total])


def test_what_frees_runs_before_what_needs_more() -> None:
    """Each copy is summed before the next is made."""
    graph = late_sums(4)

    better = verify(order(graph, external={0}))

    assert peak_bytes(graph, {0}) == 4 * 256 + 4
    assert peak_bytes(better, {0}) == 256 + 2 * 4
    assert plan(better, external={0}, alignment=4).arena_bytes == 256 + 2 * 4
    assert set(better.nodes) == set(graph.nodes)


def test_a_good_order_is_left_alone() -> None:
    """Not even changed for one that is as good."""
    once = order(late_sums(4), external={0})

    assert order(once, external={0}) is once


def test_effects_keep_their_order() -> None:
    """Printing the small one first would free more, but it was written last."""
    x = given(64)
    copies = [Copy()(x) for _ in range(3)]
    shouts = [Shout()(c) for c in copies]
    sums = [Sum()(s) for s in shouts[::-1]]
    graph = Graph.of([x], sums, order=[*copies, *shouts, *sums])

    better = order(graph, external={0})

    assert [n for n in better.nodes if n.op == Shout()] == [s.node for s in shouts]
    assert peak_bytes(better, {0}) < peak_bytes(graph, {0})


def test_effects_in_bodies_keep_their_order() -> None:
    """The second could be done with before the first makes what stays; but the first was first."""
    x = given(64)
    loud, quiet = (Fused(Graph.of([y := given(64)], [op(y)])) for op in (Shout(), Copy()))
    peaks = []
    for op in (loud, quiet):
        first, second = op(Copy()(x)), op(Copy()(x))
        total = Sum()(second)
        graph = Graph.of([x], [first, total], order=[first, second, total])
        better = order(graph, external={0})
        peaks.append(peak_bytes(better, {0}))

        earlier = next(n for n in better.nodes if n.op == op)
        assert earlier is (first if op is loud else second).node
    assert peaks == [3 * 256, 2 * 256 + 4]


def test_effects_in_bodies_are_not_repeated() -> None:
    """The same chain without the effect is computed again."""
    counts = []
    for op in (Shout(), Neg()):
        body = Fused(Graph.of([y := given(64)], [op(y)]))
        kept: list[Value] = [given(64)]
        for _ in range(6):
            kept.append(body(kept[-1]))
        z = Copy()(kept[-1])
        for v in reversed(kept[1:]):
            z = Add()(Copy()(z), v)
        again = rematerialize(Graph.of(kept[:1], [z]), max_extra_cost=1.0, external={0})
        counts.append([n.op for n in again.nodes].count(body))

    assert counts[0] == 6 < counts[1]


@pytest.mark.parametrize("ask", [order, peak_bytes])
def test_an_input_that_is_not_there_is_named(ask: Callable[..., object]) -> None:
    with pytest.raises(PlanError, match=r"^external: there is no input -1; the graph has 1$"):
        ask(late_sums(2), external={-1})


def test_a_graph_without_nodes_is_left_alone() -> None:
    """With inputs that are outputs, or nothing at all."""
    x = given(3)
    for graph in (Graph((), (), ()), Graph((x,), (), (x, x)), Graph((x,), (), ())):
        assert order(graph) is graph
        assert peak_bytes(graph) == sum(v.type.size_bytes for v in graph.inputs)


def test_a_long_chain_takes_linear_time() -> None:
    """No recursion, and nothing is looked at again and again."""
    x: Value = given(2)
    values = [x]
    for _ in range(5000):
        values.append(Add()(values[-1], x))
    graph = Graph.of([values[0]], [values[-1]])

    assert order(graph) is graph
