"""Random models of operations: gradients are central differences, and three modes agree."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from byparts_frontend_pytensor import Graph, LongTensor, Tensor
from byparts_frontend_pytensor.network.gradient import gradient_generator
from byparts_frontend_pytensor.network.modes import MODES, Step
from byparts_frontend_pytensor.network.operation import Operation

KINDS = ("Wave", "Relu", "Sigmoid", "Tanh", "Add", "Multiply", "HStack", "VStack")


class Wave(Operation):
    """An operation of one's own, in NumPy."""

    def forward(self, input_tensors: Any) -> Any:
        self.register(input_tensors)
        self.output_tensor = Tensor(input_tensors.value + np.sin(input_tensors.value) ** 2)
        return self.output_tensor

    def backward(self) -> None:
        x = self.input_tensors
        x.grad += self.output_tensor.grad * (1 + np.sin(2 * x.value))


class Model(Graph):
    """A model that draws the same operations at each `forward`; each is used as often as it is drawn."""

    def __init__(self, seed: int) -> None:
        super().__init__("random")
        self.seed, self.used = seed, {kind: self.get_operation(kind) for kind in KINDS}
        self.kind = ("SoftmaxLoss", "SquareLoss")[seed % 2]
        self.loss_op = self.get_operation(self.kind)

    def affine(self, x: Any, width: int) -> Any:
        rows = x.value.shape[1]
        return self.get_operation("Affine", [rows, width], f"{rows}_{width}").forward(x)

    def drawn(self, random: Random, tensors: list[Any]) -> Any:
        kind, x = random.choice([*KINDS, "Affine", "Affine"]), random.choice(tensors)
        if kind == "Affine":
            return self.affine(x, random.randint(2, 5))
        same = {"HStack": 0, "VStack": 1}.get(kind)
        shape = x.value.shape if same is None else x.value.shape[same]
        fitting = [
            t for t in tensors if (t.value.shape if same is None else t.value.shape[same]) == shape
        ]
        several = kind in ("Add", "Multiply", "HStack", "VStack")
        return self.used[kind].forward([x, random.choice(fitting)] if several else x)

    def forward(self, input_tensors: Any) -> Any:
        random, tensors = Random(self.seed), [input_tensors]
        for _ in range(random.randint(3, 8)):
            tensors.append(self.drawn(random, tensors))
        y = self.affine(tensors[-1], 3)
        self.rows = y.value.shape[0]
        return self.loss_op.forward(y)

    def loss(self, target_tensor: Any) -> Any:
        return self.loss_op.loss(target_tensor)


def made(seed: int) -> tuple[Model, Tensor, Any]:
    """A model with its parameters, an input, and a target of the rows that it gives."""
    np.random.seed(seed)
    model, x = Model(seed), Tensor(np.random.standard_normal((2, 3)))
    model.forward(x)
    model.clear()
    labels = LongTensor(np.arange(model.rows) % 3)
    squares = Tensor(np.random.standard_normal((model.rows, 3)))
    return model, x, labels if model.kind == "SoftmaxLoss" else squares


@pytest.mark.parametrize("seed", range(8))
def test_random_models(seed: int) -> None:
    """Eager gradients are differences; losses and gradients of the other modes are the same."""
    for name, numeric, grad in gradient_generator(*made(seed)):
        np.testing.assert_allclose(grad, numeric, rtol=1e-4, atol=1e-4, err_msg=name)
    results = []
    for mode in MODES:
        model, x, target = made(seed)
        loss = Step(model, mode)(x, target)
        results.append([loss, *[t.grad for t in model.parameter.tensor_dict.values()]])
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-10)
