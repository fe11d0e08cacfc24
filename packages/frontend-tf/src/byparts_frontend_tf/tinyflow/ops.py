"""The functions of `tf.*`: TinyFlow's names and arguments over the standard ops.

Comparisons and argmax give floats, as they did there; whole reductions give 0-d values, which there
had shape (1,) and could not be printed with `%g`.  Every function takes a `name`, a label that
nothing depends on; an argument that a function does not have is an error (TinyFlow ignored it).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Optional, Union

import byparts_opset as ops
from byparts_autodiff import gradients as _gradients
from byparts_frontend_tf.tinyflow.pad import pad_axis
from byparts_frontend_tf.tinyflow.state import float32
from byparts_graph_ir import GraphError, Value
from byparts_graph_ir.contract import checked

Axes = Union[int, Sequence[int], None]
Number = Union[Value, float]


@checked
def zeros(shape: Iterable[int], dtype: str = float32, name: Optional[str] = None) -> Value:
    """0 in every element."""
    return ops.fill(0, dtype, tuple(shape))


@checked
def ones(shape: Iterable[int], dtype: str = float32, name: Optional[str] = None) -> Value:
    """1 in every element."""
    return ops.fill(1, dtype, tuple(shape))


def zeros_like(x: Value, name: Optional[str] = None) -> Value:
    """0 in the shape of x."""
    return ops.zeros_like(x)


def ones_like(x: Value, name: Optional[str] = None) -> Value:
    """1 in the shape of x."""
    return ops.ones_like(x)


def mul(x: Value, y: Number, name: Optional[str] = None) -> Value:
    """X * y, broadcasting."""
    return ops.mul(x, y)


def div(x: Value, y: Number, name: Optional[str] = None) -> Value:
    """X / y, broadcasting."""
    return ops.div(x, y)


def pow(x: Value, y: Number, name: Optional[str] = None) -> Value:
    """X to the power of y, broadcasting."""
    return ops.pow(x, y)


def exp(x: Value, name: Optional[str] = None) -> Value:
    """e^x."""
    return ops.exp(x)


def log(x: Value, name: Optional[str] = None) -> Value:
    """The natural logarithm."""
    return ops.log(x)


def sqrt(x: Value, name: Optional[str] = None) -> Value:
    """The square root."""
    return ops.sqrt(x)


def tanh(x: Value, name: Optional[str] = None) -> Value:
    """The hyperbolic tangent."""
    return ops.tanh(x)


def relu(x: Value, name: Optional[str] = None) -> Value:
    """max(x, 0)."""
    return ops.relu(x)


def softmax(x: Value, name: Optional[str] = None) -> Value:
    """Each row of x: [batch, classes] made positive with sum 1."""
    return ops.softmax(x, -1)


def matmul(x: Value, y: Value, name: Optional[str] = None) -> Value:
    """x: [m, k], y: [k, n] -> [m, n]."""
    return ops.matmul(x, y)


def equal(x: Value, y: Value, name: Optional[str] = None) -> Value:
    """1.0 where x == y, and 0.0 elsewhere."""
    return ops.cast(ops.equal(x, y), float32)


def argmax(x: Value, axis: int, name: Optional[str] = None) -> Value:
    """The place of the largest along an axis, as a float."""
    return ops.cast(ops.argmax(x, axis), float32)


def reduce_sum(x: Value, reduction_indices: Axes = None, name: Optional[str] = None) -> Value:
    """The sum over these axes, which go away; over all by default, giving a 0-d value."""
    return ops.sum(x, _axes(reduction_indices))


def reduce_mean(x: Value, reduction_indices: Axes = None, name: Optional[str] = None) -> Value:
    """The mean over these axes, which go away; over all by default, giving a 0-d value."""
    return ops.mean(x, _axes(reduction_indices))


@checked
def pad(x: Value, dim: int = 0, pad: int = 0, name: Optional[str] = None) -> Value:
    """Zeros along one axis: |pad| of them, before where it is negative, else behind."""
    return pad_axis(x, dim, max(0, -pad), max(0, pad))


def gradients(
    ys: Union[Value, Sequence[Value]],
    xs: Union[Value, Sequence[Value]],
    grad_ys: Union[Value, Sequence[Optional[Value]], None] = None,
) -> list[Value]:
    """The gradient of the sum of `ys` (weighted by `grad_ys`) for each of `xs`, always a list.

    Raises:
        GradientError: an op in between has no gradient, or an x that `ys` do not depend on.
    """
    return list(_gradients(ys, xs, grad_ys, unreachable="error"))


def _axes(given: Axes) -> Optional[tuple[int, ...]]:
    if given is None or isinstance(given, int):
        return None if given is None else (given,)
    axes: tuple[Any, ...] = tuple(given) if hasattr(given, "__iter__") else (given,)
    if not all(isinstance(a, int) for a in axes):
        raise GraphError(f"reduction_indices are integers, got {given!r}")
    return axes
