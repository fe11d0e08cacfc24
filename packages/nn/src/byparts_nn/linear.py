"""Layers of matrix products, and lookups in a table."""

from __future__ import annotations

from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_eager import Cell
from byparts_graph_ir import GraphError, Value
from byparts_nn.initialize import Draw, Initializer, fans, lecun, normal
from byparts_nn.module import Module
from byparts_nn.parameter import Parameter


class Linear(Module):
    """y = x @ weight + bias, on the last axis of x.

    The weight is stored [in, out], as the product reads it; PyTorch stores it [out, in].

    Args:
        inputs: width of x; `None` is found when the layer is first called.
        outputs: width of y.
        bias: whether there is one.
        initializer: of the weight; that of the bias has the same bounds by default, ±1/sqrt(in).
    """

    def __init__(
        self,
        inputs: int | None,
        outputs: int,
        *,
        bias: bool = True,
        initializer: Initializer | None = None,
        dtype: str = "f32",
    ) -> None:
        self.weight: Any = Parameter((inputs, outputs), initializer or lecun(), dtype)
        draw = by_fan_of(self.cell("weight"))
        self.bias: Any = Parameter((outputs,), draw, dtype) if bias else None

    def __call__(self, x: Value) -> Value:
        """[..., in] -> [..., out]."""
        y, bias = ops.matmul(x, self.weight), self.bias
        return y if bias is None else y + bias


class by_fan_of:  # noqa: N801
    """Uniform in ±1 / sqrt(fan in of a weight): how PyTorch begins biases."""

    def __init__(self, weight: Cell) -> None:
        self.weight = weight

    def __call__(self, shape: tuple[int, ...], random: np.random.Generator) -> Draw:
        if self.weight.is_open:
            raise GraphError(
                f"a bias is drawn by the shape of its weight, {self.weight.type}, which nothing "
                "has told yet; call the model on data once, or init(model, *types)"
            )
        bound = max(fans(self.weight.type.dims)[0], 1) ** -0.5
        return random.uniform(-bound, bound, shape)


class Embedding(Module):
    """Rows of a table by their number.

    A gradient of the table is zero but for the rows that were asked for, each once for each time.
    `SGD` without momentum and decay changes these alone; optimizers with running means (Adam,
    momentum) move every row for as long as its mean is not zero.

    Args:
        rows: how many there are.
        width: of a row.
    """

    def __init__(
        self, rows: int, width: int, *, initializer: Initializer | None = None, dtype: str = "f32"
    ) -> None:
        self.weight: Any = Parameter((rows, width), initializer or normal(), dtype)

    def __call__(self, numbers: Value) -> Value:
        """Integers [...] -> [..., width]."""
        return ops.gather(self.weight, numbers)
