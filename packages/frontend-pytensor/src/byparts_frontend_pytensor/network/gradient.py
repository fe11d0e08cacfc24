"""Gradients against central differences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np


def differences(value: Any, loss: Callable[[], Any], h: float = 1e-4) -> Any:
    """Central differences of a loss by each element of an array, which is written in place."""
    numeric = np.zeros(value.shape)
    for i in np.ndindex(value.shape):
        before = value[i]
        value[i] = before + h
        above = loss()
        value[i] = before - h
        numeric[i] = (above - loss()) / (2 * h)
        value[i] = before
    return numeric


def gradient_generator(model: Any, input_tensors: Any, target_tensor: Any) -> Iterator[Any]:
    """(name, central differences, gradient) of each parameter; they have to be of float64."""
    graph = getattr(model, "graph", model)

    def loss() -> Any:
        graph.clear()
        model.forward(input_tensors)
        return model.loss(target_tensor)

    graph.parameter.clear_grads()
    loss()
    graph.backward()
    for name, tensor in graph.parameter.tensor_dict.items():
        yield name, differences(tensor.value, loss), tensor.grad
    graph.clear()


def numerical_gradient_check(
    model: Any, input_tensors: Any, target_tensor: Any
) -> dict[str, float]:
    """Print for each parameter whether its gradient is that of central differences.

    Returns:
        name -> the sum of the absolute differences, which match below 0.001.
    """
    checks = gradient_generator(model, input_tensors, target_tensor)
    return {name: _report(name, numeric, grad) for name, numeric, grad in checks}


def validate_variable_gradient(
    ops: Any, input_variables: Any, labels: Any, variable: Any, name: str = "variable"
) -> float:
    """Print and return the same for one input of a loss that has run `backward`."""

    def loss() -> Any:
        ops.forward(input_variables)
        return ops.loss(labels)

    return _report(name, differences(variable.value, loss), variable.grad)


def _report(name: str, numeric: Any, grad: Any) -> float:
    error = float(np.abs(numeric - grad).sum())
    wrong = f"{name}  NOT MATCH !\nAuto grad\n {grad}\nNumerical grad\n {numeric}"
    print(f"{name}  match" if error < 0.001 else wrong)
    return error
