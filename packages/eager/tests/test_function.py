"""An op of one's own, eager and compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import byparts_eager as bp
import byparts_opset as ops
from byparts_graph_ir import ArgumentError


class Snake(bp.Function):
    def forward(self, x: Any) -> Any:
        return x + np.sin(self.a * x) ** 2 / self.a  # type: ignore[attr-defined]

    def backward(self, dy: Any, *arrays: Any) -> Any:
        x, _ = arrays
        return dy * (1 + np.sin(2 * self.a * x))  # type: ignore[attr-defined]


def test_it_has_the_gradient_that_it_says() -> None:
    snake, x = Snake(a=2.0), bp.Array(np.linspace(-1, 1, 5))
    gradient = bp.grad(lambda x: ops.sum(snake(x)))

    expected = 1 + np.sin(4 * x.numpy())
    np.testing.assert_allclose(gradient(x).numpy(), expected)
    np.testing.assert_allclose(bp.compile(gradient, backends=("numpy",))(x).numpy(), expected)


def test_two_instances_are_two_functions() -> None:
    x = bp.Array(np.array([0.5]))
    values = {a: bp.asarray(ops.sum(Snake(a=a)(x))).item() for a in (1.0, 2.0)}

    assert values == {a: pytest.approx(0.5 + np.sin(a * 0.5) ** 2 / a) for a in (1.0, 2.0)}


def test_too_few_gradients_are_refused() -> None:
    class Product(bp.Function):
        def forward(self, *arrays: Any) -> Any:
            return arrays[0] * arrays[1]

        def backward(self, dy: Any, *arrays: Any) -> Any:
            return dy

    with pytest.raises(ArgumentError, match=r"Product\.backward gave 1 gradients for 2 inputs"):
        bp.grad(lambda x: ops.sum(Product()(x, x)))(bp.asarray([1.0]))
