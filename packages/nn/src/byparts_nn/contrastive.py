"""Losses that pull what belongs together close, and push the rest apart."""

from __future__ import annotations

import byparts_opset as ops
from byparts_graph_ir import ArgumentError, ShapeError, Value
from byparts_nn.losses import on_values, reduced


@on_values
def info_nce(
    x: Value,
    y: Value,
    *,
    temperature: float = 0.07,
    symmetric: bool = True,
    reduction: str = "mean",
) -> Value:
    """Cross-entropy of finding row i of y for row i of x among all of y, by angles.

    van den Oord et al. 2018; `symmetric`, also the other way round, as CLIP (Radford et al. 2021).

    Args:
        x: [n, width].
        y: [n, width]; row i belongs to row i of x.
        temperature: divides the cosines.
        symmetric: the mean of both directions.
        reduction: of [n].
    """
    if temperature <= 0:
        raise ArgumentError(f"info_nce: the temperature is {temperature}, which is not above 0")
    if len(x.type.shape or ()) != 2 or x.type.shape != y.type.shape:
        raise ShapeError(f"info_nce: {x.type} beside {y.type}; both are [n, width]")
    x, y = _unit(x), _unit(y)
    cosines = ops.matmul(x, y, transpose_b=True) / temperature
    right = ops.sum(x * y, 1) / temperature
    losses = ops.logsumexp(cosines, 1) - right
    if symmetric:
        losses = (losses + ops.logsumexp(cosines, 0) - right) * 0.5
    return reduced(losses, reduction)


@on_values
def triplet(
    anchor: Value,
    positive: Value,
    negative: Value,
    *,
    margin: float = 1.0,
    reduction: str = "mean",
) -> Value:
    """max(0, |anchor - positive| - |anchor - negative| + margin) of rows [..., width]."""
    near, far = _distance(anchor, positive), _distance(anchor, negative)
    return reduced(ops.relu(near - far + margin), reduction)


def _distance(x: Value, y: Value) -> Value:
    # 1e-12: a root has no slope at 0, and equal rows would give gradients of nan.
    return ops.sqrt(ops.sum(ops.squared_difference(x, y), -1) + 1e-12)


def _unit(x: Value) -> Value:
    return x * ops.rsqrt(ops.maximum(ops.sum(ops.square(x), -1, keepdims=True), 1e-16))
