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


def gradient_generator(
    model: Any, input_tensors: Any, target_tensor: Any
) -> Iterator[tuple[str, Any, Any]]:
    """(name, central differences, gradient) of each parameter of a model.

    The differences need parameters of float64, as they are by default.
    """
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
    errors = {}
    for name, numeric, grad in gradient_generator(model, input_tensors, target_tensor):
        errors[name] = float(np.abs(numeric - grad).sum())
        _report(name, errors[name], numeric, grad)
    return errors


def validate_variable_gradient(
    ops: Any, input_variables: Any, labels: Any, variable: Any, name: str = "variable"
) -> float:
    """The same for one input of a loss that has run `backward`."""

    def loss() -> Any:
        ops.forward(input_variables)
        return ops.loss(labels)

    numeric = differences(variable.value, loss)
    error = float(np.abs(numeric - variable.grad).sum())
    _report(name, error, numeric, variable.grad)
    return error


def _report(name: str, error: float, numeric: Any, grad: Any) -> None:
    if error < 0.001:
        print(name, " match")
    else:
        print(f"{name}  NOT MATCH !\nAuto grad\n {grad}\nNumerical grad\n {numeric}")
