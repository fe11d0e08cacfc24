"""Gradients of activations as ops."""

from collections.abc import Callable

import numpy as np
import pytest
from numeric import call, check_gradient, present

from byparts_graph_ir import Input, Node, Op, ShapeError, TensorType, Value
from byparts_opset import (
    Gelu,
    GeluGradient,
    Relu,
    ReluGradient,
    Sigmoid,
    SigmoidGradient,
    Silu,
    SiluGradient,
    Tanh,
    TanhGradient,
    relu_gradient,
)

X = np.array([-3.0, -0.5, 0.25, 2.0])
DY = np.array([1.0, -2.0, 0.5, 3.0])
PAIRS: list[tuple[Op, Op, bool]] = [  # forward, backward, whether that reads the output
    (Relu(), ReluGradient(), True),
    (Sigmoid(), SigmoidGradient(), True),
    (Tanh(), TanhGradient(), True),
    (Silu(), SiluGradient(), False),
    (Gelu(), GeluGradient(), False),
    (Gelu(True), GeluGradient(True), False),
]
OPS = [backward for _, backward, _ in PAIRS]


@pytest.mark.parametrize(("forward", "backward", "of_output"), PAIRS, ids=str)
def test_values_are_those_of_differences(forward: Op, backward: Op, of_output: bool) -> None:
    """dy times the slope of the activation."""
    slope = (forward.evaluate(X + 1e-6)[0] - forward.evaluate(X - 1e-6)[0]) / 2e-6

    (dx,) = backward.evaluate(DY, forward.evaluate(X)[0] if of_output else X)

    np.testing.assert_allclose(dx, DY * slope, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(("forward", "backward", "of_output"), PAIRS, ids=str)
def test_the_gradient_of_an_activation_is_one_op(
    forward: Op, backward: Op, of_output: bool
) -> None:
    """Which keeps the output alive, not the input, where that is enough."""
    node = Node(forward, (Input(TensorType("f32", None)),))
    dy = Input(TensorType("f32", None))

    (dx,) = node.op.gradient(node, dy)

    made = present(present(dx).node)
    assert made.op == backward
    assert made.inputs == (dy, (node.outputs if of_output else node.inputs)[0])


@pytest.mark.parametrize("op", OPS, ids=str)
def test_decompositions_agree(op: Op) -> None:
    """What a backend without kernels runs."""
    decomposed: Callable[..., Value] = lambda *v: present(op.decompose(*v))[0]  # noqa: E731

    np.testing.assert_allclose(call(decomposed, DY, X), op.evaluate(DY, X)[0], rtol=1e-13)


@pytest.mark.parametrize("op", OPS, ids=str)
def test_second_order(op: Op) -> None:
    """On static, symbolic and unknown shapes."""
    check_gradient(op, DY, X, unranked=True, rtol=1e-4)


def test_nothing_passes_a_relu_that_is_off() -> None:
    """Not even an infinity; what is no number passes, as it does in the other direction."""
    dy, y = np.full(4, np.inf), np.array([0.0, -0.0, 1.0, np.nan])

    assert ReluGradient().evaluate(dy, y)[0].tolist() == [0, 0, np.inf, np.inf]


def test_far_out_every_slope_is_flat() -> None:
    """Where e^-x overflows and where x^2 does."""
    x = np.array([-1e4, 1e4], np.float32)

    for op in (SiluGradient(), GeluGradient(), GeluGradient(True)):
        np.testing.assert_array_equal(op.evaluate(np.ones_like(x), x)[0], [0, 1])


def test_a_dy_that_is_one_number_stays_one() -> None:
    """Operands broadcast, and each gets its gradient in its own shape."""
    x = X.reshape(2, 2)

    for op in OPS:
        check_gradient(op, np.array(1.5), x, unranked=True, rtol=1e-4)
        check_gradient(op, np.array([[1.0], [2.0]]), x, unranked=True, rtol=1e-4)
    with pytest.raises(ShapeError, match="relu_gradient: takes floats, got i32"):
        relu_gradient(*(Input(TensorType("i32", (2,))) for _ in range(2)))
