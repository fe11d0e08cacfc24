"""The checker: it passes what is right, and names the worst element of what is not."""

from __future__ import annotations

import numpy as np
import pytest

from byparts_autodiff import GradientError, check_gradient
from byparts_graph_ir import Graph, Input, Node, Op, TensorType, Types, Value
from byparts_opset import cast, constant, exp, sin
from byparts_opset.evaluate import evaluate


class Sine(Op):
    """y = sin(x), with a gradient that is wrong wherever x is above 1."""

    def infer(self, x: TensorType) -> Types:
        return (x,)

    def evaluate(self, x: np.ndarray) -> tuple[np.ndarray, ...]:
        return (np.sin(x),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value, ...]:
        (x,) = node.inputs
        return (dy * Bent()(x),)


class Bent(Op):
    """cos(x), but 0 above 1."""

    def infer(self, x: TensorType) -> Types:
        return (x,)

    def evaluate(self, x: np.ndarray) -> tuple[np.ndarray, ...]:
        return (np.where(x > 1, 0, np.cos(x)),)


def test_passes_what_is_right() -> None:
    """Several inputs and outputs, one of them an integer."""

    def f(x: Value, b: Value, i: Value) -> tuple[Value, ...]:
        return exp(x * b), sin(x) + cast(i, "f64"), i

    check_gradient(f, np.ones((2, 3)), np.array([0.1, 0.2, 0.3]), np.arange(3, dtype=np.int32))


def test_names_the_worst_element() -> None:
    """With both numbers, the input, and how many are wrong."""
    says = (
        r"input 0 at \[1\] is 0, and central differences give 0.\d+.* 2 of its 3 elements are off"
    )

    with pytest.raises(GradientError, match=says):
        check_gradient(Sine(), np.array([0.5, 1.2, 1.4]))


def test_passes_where_the_wrong_rule_is_right() -> None:
    """It is the point that is checked."""
    check_gradient(Sine(), np.array([0.5, 0.9]))


def test_a_graph_of_f32_is_checked_in_f64() -> None:
    """Its constants and casts become f64 too, so the tolerance can be tight."""
    x = Input(TensorType("f32", ("n", 2)), None, "x")
    table = constant(np.array([[0.25, 3.0]], np.float32))
    graph = Graph.of([x], [exp(cast(x * table, "f16") * 0.5)])

    check_gradient(graph, np.array([[0.1, 0.2], [0.3, 0.4]], np.float32))

    (y,) = evaluate(graph, np.zeros((1, 2), np.float32))
    assert y.dtype == np.float16


def test_a_zero_by_zero_gradient_is_not_passed() -> None:
    """nan from the rule is the worst element there is."""
    with pytest.raises(GradientError, match=r"at \[0\] is nan"):
        check_gradient(lambda x: x / x * x, np.array([0.0, 1.0]), step=1e-3)


def test_there_has_to_be_something_to_check() -> None:
    """A check of nothing is not a pass."""
    with pytest.raises(GradientError, match="no floating point input, or no such output"):
        check_gradient(lambda i: i, np.arange(3))
