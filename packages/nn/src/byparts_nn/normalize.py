"""Layers that give what they normalise mean 0 and variance 1, then a scale and a shift.

`weight` and `bias` are scale and shift, named as in PyTorch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_eager import Cell, training
from byparts_graph_ir import GraphError, ShapeError, TensorType, Value
from byparts_nn.initialize import Draw, ones
from byparts_nn.module import Module
from byparts_nn.parameter import Parameter, size
from byparts_opset.half import widened


class BatchNorm(Module):
    """Normalise each channel, the axis 1 of x, over the others: images, rows or volumes.

    In training by the batch's own statistics, which running ones follow; else by the running ones.

    Args:
        channels: how many; `None` is found when the layer is first called.
        momentum: how far a running statistic goes towards the batch's.
    """

    def __init__(
        self,
        channels: int | None = None,
        *,
        momentum: float = 0.1,
        epsilon: float = 1e-5,
        dtype: str = "f32",
    ) -> None:
        self.weight: Any = Parameter((channels,), ones, dtype)
        self.bias: Any = Parameter((channels,), dtype=dtype)
        kind = TensorType("f64" if dtype == "f64" else "f32", (channels,))
        self.running_mean: Any = Cell(kind)
        self.running_var: Any = Cell(kind, initializer=_ones)
        self.momentum, self.epsilon = momentum, epsilon

    def __call__(self, x: Value) -> Value:
        """In the shape of x: [n, channels, ...]."""
        if not training():
            mean, variance = self.running_mean, self.running_var
            return ops.batch_norm_inference(
                x, self.weight, self.bias, mean, variance, epsilon=self.epsilon
            )
        y, mean, variance = ops.batch_norm(x, self.weight, self.bias, epsilon=self.epsilon)
        keep = 1 - self.momentum
        # The variance of the batch is over n; the running one, of all there is, over n - 1.
        count = _count(x, mean.type.dtype)
        unbiased = variance * (count / ops.maximum(count - 1, 1))
        self.running_mean = ops.moving_average(self.running_mean, mean, keep)
        self.running_var = ops.moving_average(self.running_var, unbiased, keep)
        return y


def _ones(shape: tuple[int, ...]) -> Draw:
    return np.ones(shape)


def _count(x: Value, dtype: str) -> Value:
    """Number of elements of a channel."""
    shape = x.type.shape or ()
    others = [d for axis, d in enumerate(shape) if axis != 1 and isinstance(d, int)]
    if len(others) == len(shape) - 1:
        return ops.fill(math.prod(others), dtype)
    axes = [axis for axis in range(len(shape)) if axis != 1]
    return ops.cast(ops.count_like(x, axes), dtype)


class LayerNorm(Module):
    """Normalise over the last axes.

    Args:
        shape: the sizes of these axes: a number for the last, or several; `None` in them is found
            when the layer is first called.
    """

    def __init__(
        self,
        shape: int | Sequence[int | None] | None = None,
        *,
        epsilon: float = 1e-5,
        dtype: str = "f32",
    ) -> None:
        sizes = tuple(shape) if isinstance(shape, Sequence) else (shape,)
        self.weight: Any = Parameter(sizes, ones, dtype)
        self.bias: Any = Parameter(sizes, dtype=dtype)
        self.axes, self.epsilon = tuple(range(-len(sizes), 0)), epsilon

    def __call__(self, x: Value) -> Value:
        """In the shape of x."""
        return ops.layer_norm(x, self.weight, self.bias, self.axes, self.epsilon)


class RMSNorm(Module):
    """Divide by the root of the mean square over the last axis (Zhang and Sennrich 2019)."""

    def __init__(
        self, width: int | None = None, *, epsilon: float = 1e-6, dtype: str = "f32"
    ) -> None:
        self.weight: Any = Parameter((width,), ones, dtype)
        self.epsilon = epsilon

    def __call__(self, x: Value) -> Value:
        """In the shape of x."""
        size(self.cell("weight"), (x.type.shape or ())[-1:])
        wide = widened(x)  # squares of 256 are too great for f16
        square = ops.mean(ops.square(wide), -1, keepdims=True)
        y: Value = ops.cast(wide * ops.rsqrt(square + self.epsilon), x.type.dtype) * self.weight
        return y


class GroupNorm(Module):
    """Normalise each example over groups of channels, the axis 1, and the axes after it.

    Args:
        groups: how many; it divides the number of channels.
        channels: how many; `None` is found when the layer is first called.
    """

    def __init__(
        self,
        groups: int,
        channels: int | None = None,
        *,
        epsilon: float = 1e-5,
        dtype: str = "f32",
    ) -> None:
        if groups < 1 or (channels or 0) % groups:
            raise GraphError(f"GroupNorm: {channels} channels cannot be {groups} equal groups")
        self.weight: Any = Parameter((channels,), ones, dtype)
        self.bias: Any = Parameter((channels,), dtype=dtype)
        self.groups, self.epsilon = groups, epsilon

    def __call__(self, x: Value) -> Value:
        """In the shape of x: [n, channels, ...]."""
        channels = _channels("GroupNorm", x)
        if channels % self.groups:
            raise ShapeError(
                f"GroupNorm: x is {x.type}, and {self.groups} groups divide no {channels}"
            )
        n = (x.type.shape or ())[0]
        size(self.cell("weight"), (channels,))
        size(self.cell("bias"), (channels,))
        rows = ops.reshape(x, (-1 if n is None else n, self.groups, -1))
        y = ops.reshape_like(_standard(rows, (2,), self.epsilon), x)
        return _by_channel(self.weight, x) * y + _by_channel(self.bias, x)


class InstanceNorm(Module):
    """Normalise each channel of each example over the axes after it.

    Args:
        channels: how many; `None` is found when the layer is first called.
        affine: whether there are a weight and a bias.
    """

    def __init__(
        self,
        channels: int | None = None,
        *,
        affine: bool = False,
        epsilon: float = 1e-5,
        dtype: str = "f32",
    ) -> None:
        self.affine, self.epsilon = affine, epsilon
        if affine:
            self.weight: Any = Parameter((channels,), ones, dtype)
            self.bias: Any = Parameter((channels,), dtype=dtype)

    def __call__(self, x: Value) -> Value:
        """In the shape of x: [n, channels, ...]."""
        channels = _channels("InstanceNorm", x)
        y = _standard(x, tuple(range(2, len(x.type.shape or ()))), self.epsilon)
        if not self.affine:
            return y
        size(self.cell("weight"), (channels,))
        size(self.cell("bias"), (channels,))
        return _by_channel(self.weight, x) * y + _by_channel(self.bias, x)


def _standard(x: Value, axes: tuple[int, ...], epsilon: float) -> Value:
    """x with mean 0 and variance 1 over these axes."""
    middle = widened(x) - ops.mean(widened(x), axes, keepdims=True)
    scale = ops.rsqrt(ops.mean(ops.square(middle), axes, keepdims=True) + epsilon)
    return ops.cast(middle * scale, x.type.dtype)


def _channels(name: str, x: Value) -> int:
    shape = x.type.shape or ()
    if len(shape) < 3 or not isinstance(shape[1], int):
        raise ShapeError(f"{name}: x is {x.type}; it takes [n, channels, ...]")
    return shape[1]


def _by_channel(v: Value, x: Value) -> Value:
    """[channels] -> [channels, 1, 1], which broadcasts against x."""
    return ops.expand_dims(v, tuple(range(1, len(x.type.shape or ()) - 1)))
