"""Constants: what is computed now, what is not, and in which form."""

from __future__ import annotations

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import Graph, Input, TensorType, Value
from byparts_opset.evaluate import evaluate
from byparts_optimize import fold


def folded(y: Value, *inputs: Value) -> list[object]:
    return [n.op for n in fold(Graph.of(inputs, [y])).nodes]


def test_numbers_are_computed() -> None:
    """2 * 3 + 1 = 7."""
    assert folded(ops.fill(2) * 3 + 1) == [ops.Fill(7.0)]


def test_a_fill_of_any_size_is_computed_on_one_element() -> None:
    """Nothing of a million elements is made."""
    assert folded(ops.exp(ops.zeros((1000, 1000))) * 3) == [ops.Fill(3.0, "f32", (1000, 1000))]


def test_small_data_is_computed_whole() -> None:
    """A sum of literal data."""
    y = ops.sum(ops.constant(np.array([[1, 2, 3], [4, 5, 6]], np.int32)), 0)

    (op,) = folded(y)

    assert isinstance(op, ops.Constant)
    np.testing.assert_array_equal(op.evaluate()[0], [5, 7, 9])


def test_equal_elements_become_a_fill() -> None:
    """Also zeros, if they are all of one sign."""
    assert folded(ops.sum(ops.ones((3, 4)), 1)) == [ops.Fill(4.0, "f32", (3,))]
    mixed = ops.constant(np.array([0.0, -0.0], np.float32))
    (op,) = folded(-mixed)
    assert isinstance(op, ops.Constant)
    np.testing.assert_array_equal(np.signbit(op.evaluate()[0]), [True, False])


def test_the_sign_of_a_zero_is_kept() -> None:
    """-(0.0) is -0.0."""
    assert folded(-ops.fill(0.0)) == [ops.Fill(-0.0)]


def test_large_results_are_left() -> None:
    """A mebibyte that three numbers describe stays three numbers."""
    y = ops.cumsum(ops.ones((512, 512)), 0)

    assert [type(op) for op in folded(y)] == [ops.Fill, ops.CumSum]
    (small,) = fold(Graph.of([], [y]), limit_bytes=1 << 20).nodes
    assert isinstance(small.op, ops.Constant)


def test_literal_data_may_be_replaced_by_as_much() -> None:
    """A weight that is transposed once and for all costs nothing more."""
    w = ops.constant(np.arange(20_000, dtype=np.float64).reshape(100, 200))

    (op,) = folded(ops.transpose(w))

    assert isinstance(op, ops.Constant)
    assert op.shape == (200, 100)


def test_what_depends_on_an_input_is_left() -> None:
    """Only its constant part is computed."""
    x = Input(TensorType("f32", ()), None, "x")

    assert folded(x * (ops.fill(2) * 3), x) == [ops.Fill(6.0), ops.Mul()]


def test_effects_are_left() -> None:
    """What prints, prints when the program runs; what depends on it waits."""
    y = ops.print_value(ops.fill(2), "two") + 1

    assert [op.name for op in folded(y)] == ["fill", "print", "fill", "add"]  # type: ignore[attr-defined]


def test_several_outputs() -> None:
    """A split of a constant is two constants."""
    a, b = ops.split(ops.constant(np.arange(4, dtype=np.float32)), 2)

    graph = fold(Graph.of([], [a, b]))

    assert [n.op.name for n in graph.nodes] == ["constant", "constant"]
    np.testing.assert_array_equal(np.concatenate(evaluate(graph)), np.arange(4))


def test_lines_of_the_user_are_kept() -> None:
    """The constant is made where the first of it was written."""
    y = ops.fill(2) * 3
    assert y.node is not None

    (node,) = fold(Graph.of([], [y])).nodes

    assert node.where == y.node.where != ""
