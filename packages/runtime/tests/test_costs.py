"""What nodes cost: known by what they are, and reckoned where nobody measured."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from toy_backend import Add, add, build_by_hand, flat, given, graph_of, mul

from byparts_graph_ir import Graph, Node, TensorType
from byparts_runtime import Costs
from byparts_runtime.inspect.costs import costs_of, flops
from byparts_runtime.memory.plan import Separate, SeparateLocation
from byparts_runtime.run.step import Step


class Work(Add):
    """An addition that counts."""

    flops_each: int = 10

    def flops(self, x: TensorType, y: TensorType) -> int:
        return self.flops_each


def graph() -> Graph:
    """Two of one kind, one of another, and one that nobody runs."""
    x, y = given("x", 4), given("y", 8)
    a = Work()(Work()(x, x), x)
    return graph_of([x, y], flat(a), Work(20)(y, y))


def measured(*step_s: float) -> tuple[Costs, list[Node]]:
    nodes = list(graph().nodes)
    steps = [Step(n, "toy", lambda: None) for n in nodes if n.op != flat]
    return costs_of(nodes, steps, step_s), nodes


def test_nodes_of_one_kind_cost_the_same() -> None:
    """The mean of them; a view costs nothing."""
    cost, nodes = measured(1.0, 3.0, 5.0)

    assert [cost(n) for n in nodes] == [2.0, 2.0, 0.0, 5.0]
    assert repr(cost) == "Costs(3 kinds of nodes, 0.225 s a flop)"


def test_what_is_not_known_is_reckoned_from_its_flops() -> None:
    """9 s for 40 of them; other types are another kind."""
    cost, _ = measured(1.0, 3.0, 5.0)
    z = given("z", 3)

    assert cost(graph_of([z], Work(80)(z, z)).nodes[0]) == pytest.approx(18.0)
    assert cost(graph_of([z], Work()(z, z)).nodes[0]) == pytest.approx(2.25)


def test_without_flops_there_is_nothing_to_reckon_from() -> None:
    x = given("x", 4)
    (node,) = graph_of([x], add(x, x)).nodes

    assert flops(node) == 4.0
    assert costs_of([], [], [])(node) == 0.0


def test_a_program_measures_them() -> None:
    """Each step, and so each kind, took some time; the same for an equal graph made anew."""
    x = given("x", 4)
    made: Any = lambda: graph_of([x], mul(add(x, x), x))  # noqa: E731  (twice the same)
    cost = build_by_hand(made(), planner=own_bytes).costs(np.ones(4, np.float32), runs=3)

    first, second = (cost(n) for n in made().nodes)
    assert first > 0 and second > 0 and len(cost.known) == 2


def own_bytes(graph: Graph, *, external: Any, alignment: int, **_: Any) -> Separate:
    places = tuple(SeparateLocation(None, 64 * i) for i in range(len(graph.values)))
    return Separate(places, 64 * len(places))
