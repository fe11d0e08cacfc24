"""A loop that a gradient repeats runs once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_graph_ir import Graph, Input, TensorType, Value, verify
from byparts_opset.evaluate import evaluate
from byparts_optimize import optimize, share


def given(name: str, *shape: int) -> Input:
    return Input(TensorType("f64", shape), None, name)


def loops(graph: Graph) -> int:
    return sum(node.op.name in ("scan", "while") for node in graph.nodes)


def scanned(h: Value, w: Value) -> Value:
    return ops.scan(lambda h, w: (ops.tanh(h * w), h * w), (h,), (), (w,), length=5)[1]


def looped(h: Value, w: Value) -> Value:
    return ops.while_loop(
        lambda h, w: ops.sum(h) > 0.1, lambda h, w: ops.tanh(h * w), (h,), (w,), max_rounds=9
    )[0]


@pytest.mark.parametrize("net", [scanned, looped])
def test_a_training_step_runs_the_loop_and_its_reverse(net: Any) -> None:
    """And nothing twice; the values are those of before."""
    h, w = given("h", 2), given("w", 2)
    loss = ops.sum(ops.sin(net(h, w)))
    graph = Graph.of((h, w), (loss, *gradients(loss, (h, w))))
    arrays = np.array([0.5, 0.75]), np.array([0.9, 0.8])

    shared, small = verify(share(graph)), verify(optimize(graph))

    assert (loops(graph), loops(shared), loops(small)) == (3, 2, 2)
    for made in (shared, small):
        for want, got in zip(evaluate(graph, *arrays), evaluate(made, *arrays), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-12)


def test_loops_that_differ_are_not_shared() -> None:
    """In what they compute, how often, or on what."""
    h, w = given("h", 2), given("w", 2)

    def rows(length: int, inputs: tuple[Value, Value], factor: float = 1.0) -> tuple[Value, ...]:
        (x, y) = inputs
        return ops.scan(lambda h, w: (h * w * factor, h), (x,), (), (y,), length=length)

    for other in (rows(4, (h, w)), rows(3, (w, h)), rows(3, (h, w), 2.0)):
        graph = Graph.of((h, w), (*rows(3, (h, w)), *other))
        assert share(graph) is graph


def test_the_longest_of_three_loops_computes_the_outputs_of_all() -> None:
    """As in the gradient of a gradient: the second covers the first, and the third the second."""
    h, w = given("h", 2), given("w", 2)

    def rows(*more: Value) -> tuple[Value, ...]:
        def body(h: Value, w: Value) -> tuple[Value, ...]:
            return (ops.tanh(h * w), *[(h, h * w)[i] for i in range(len(more))])

        return ops.scan(body, (h,), (), (w,), length=3)

    graph = Graph.of((h, w), (*rows(), *rows(h), *rows(h, w)))
    arrays = np.array([0.5, 0.75]), np.array([0.9, 0.8])
    small = verify(share(graph))

    assert (loops(graph), loops(small)) == (3, 1)
    for want, got in zip(evaluate(graph, *arrays), evaluate(small, *arrays), strict=True):
        np.testing.assert_array_equal(got, want)


def test_a_loop_that_prints_runs_as_often_as_it_is_written() -> None:
    """An effect is never dropped."""
    h = given("h")
    one = ops.scan(lambda h: ops.print_value(h + 1), (h,), length=2)
    two = ops.scan(lambda h: (ops.print_value(h + 1), h), (h,), length=2)
    graph = Graph.of((h,), (*one, *two))

    assert share(graph) is graph
