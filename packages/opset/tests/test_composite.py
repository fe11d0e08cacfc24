"""Gradients of ops by what they are made of."""

import numpy as np
import pytest
from numeric import check_gradient, present, run

from byparts_graph_ir import Graph, GraphError, Input, Node, Op, TensorType, Types, Value
from byparts_opset import fill, gradient_by_decomposition, is_zero, softmax, zeros_like
from byparts_opset.dtypes import Array


class TwoWays(Op):
    """s = x * w + x, p = x * w * w: two outputs, shared parts, an input used three times."""

    def infer(self, x: TensorType, w: TensorType) -> Types:
        return (x, x)

    def evaluate(self, x: Array, w: Array) -> tuple[Array, ...]:
        return (x * w + x, x * w * w)

    def decompose(self, x: Value, w: Value) -> tuple[Value, ...]:
        xw = x * w
        return (xw + x, xw * w)

    def gradient(self, node: Node, *dys: Value) -> tuple[Value | None, ...]:
        return gradient_by_decomposition(node, *dys)


def test_gradients_add_over_uses_and_outputs() -> None:
    """Against central differences."""
    check_gradient(TwoWays(), np.array([1.0, 2, 3]), np.array([0.5, -1, 2]))


def test_the_sweep_stops_at_the_inputs() -> None:
    """What computed an input is not differentiated again: w = exp(x) is a leaf here."""
    x = Input(TensorType("f64", (2,)))
    w = softmax(x)
    node = TwoWays().outputs_of(x, w)[0].node
    assert node is not None
    dy = fill(1.0, "f64", (2,))
    dx, dw = gradient_by_decomposition(node, dy, zeros_like(dy))

    found = run(Graph.of([x], [present(dx), present(dw), w]), np.array([3.0, 5.0]))

    np.testing.assert_allclose(found[0], found[2] + 1)
    np.testing.assert_allclose(found[1], [3, 5])


def test_a_value_that_is_an_input_twice_has_its_gradient_once() -> None:
    """s = x * x + x: the first place has 2x + 1, the second nothing to add."""
    x = Input(TensorType("f64", (2,)))
    node = TwoWays().outputs_of(x, x)[0].node
    assert node is not None
    dx, again = gradient_by_decomposition(node, fill(1.0, "f64", (2,)), zeros_like(x))

    assert again is None
    assert run(Graph.of([x], [present(dx)]), np.array([3.0, 5.0]))[0].tolist() == [7, 11]


def test_zeros_are_recognised_however_they_were_made() -> None:
    """Also where the shape is not known yet."""
    x = Input(TensorType("f32", ("n", 3)))

    assert is_zero(zeros_like(x))
    assert is_zero(fill(0.0, "f32", (2,)))
    assert not is_zero(fill(1.0))
    assert not is_zero(x)


def test_a_primitive_op_has_no_gradient_by_decomposition() -> None:
    """It says which op, on what."""
    x = Input(TensorType("f32", (3,)))
    y = x * x
    assert y.node is not None

    with pytest.raises(GraphError, match=r"mul: no decomposition for \(f32\[3\], f32\[3\]\)"):
        gradient_by_decomposition(y.node, x)
