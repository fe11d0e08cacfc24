"""Normalizations over a batch, an image, a group, a row."""

from __future__ import annotations

from typing import Any

import byparts_opset as ops
from byparts_frontend_onnx.node import OnnxNode, axis_in, rank_of, shape_of
from byparts_frontend_onnx.rules import rules
from byparts_frontend_onnx.standard.elementwise import number
from byparts_graph_ir import Value


def by_channel(x: Value, rank: int) -> Value:
    """Reshape a number for each channel, to meet arrays of a rank."""
    return ops.reshape(x, (-1, *(1,) * (rank - 2)))


@rules.on("BatchNormalization")
def batch_normalization(
    node: OnnxNode, x: Value, scale: Value, bias: Value, mean: Value, variance: Value
) -> Any:
    """By the statistics that are given, or those of the batch, which are then averaged in."""
    dtype, epsilon = x.type.dtype, node.get("epsilon")
    if not node.get("training_mode", 0) and not (node.version < 14 and node.wants(1)):
        s, b, m, v = (ops.cast(t, dtype) for t in (scale, bias, mean, variance))
        return ops.batch_norm_inference(x, s, b, m, v, 1, epsilon)
    axes = (0, *range(2, rank_of(x)))
    momentum = node.get("momentum")
    own_mean, own_variance = ops.mean(x, axes), ops.var(x, axes)
    s, b, m, v = (by_channel(t, rank_of(x)) for t in (scale, bias, own_mean, own_variance))
    y = s * (x - m) / ops.sqrt(v + epsilon) + b
    kept = 1 - momentum
    return y, mean * momentum + own_mean * kept, variance * momentum + own_variance * kept


@rules.on("InstanceNormalization")
def instance_normalization(node: OnnxNode, x: Value, scale: Value, bias: Value) -> Value:
    """Each image of each sample by its own mean and variance."""
    axes = tuple(range(2, rank_of(x)))
    y = standardized(x, axes, node.get("epsilon"))
    return by_channel(scale, rank_of(x)) * y + by_channel(bias, rank_of(x))


def standardized(x: Value, axes: Any, epsilon: float) -> Value:
    """x with mean 0 and variance 1 over axes."""
    centered = x - ops.mean(x, axes, True)
    return centered / ops.sqrt(ops.var(x, axes, 0, True) + epsilon)


@rules.on("LayerNormalization")
def layer_normalization(node: OnnxNode, x: Value, scale: Value, bias: Value | None = None) -> Any:
    """Rows with mean 0 and variance 1, scaled; also the mean and the inverse deviation."""
    axes = tuple(range(axis_in(node.get("axis", -1), rank_of(x)), rank_of(x)))
    dtype, epsilon = x.type.dtype, node.get("epsilon", 1e-5)
    same = shape_of(scale) == tuple(shape_of(x)[a] for a in axes)
    if same and bias is not None and shape_of(bias) == shape_of(scale) and not node.wants(1) \
            and dtype == scale.type.dtype:  # fmt: skip
        return ops.layer_norm(x, scale, bias, axes, epsilon)
    wide = ops.cast(x, "f32") if dtype in ("f16", "bf16") else x
    mean = ops.mean(wide, axes, True)
    inverse = ops.rsqrt(ops.mean(ops.square(wide - mean), axes, True) + epsilon)
    y = ops.cast((wide - mean) * inverse, dtype) * ops.cast(scale, dtype)
    return (y if bias is None else y + ops.cast(bias, dtype)), mean, inverse


@rules.on("RMSNormalization", "SimplifiedLayerNormalization")
def rms_normalization(node: OnnxNode, x: Value, scale: Value) -> Any:
    """Rows over the root of the mean of their squares, scaled."""
    axes = tuple(range(axis_in(node.get("axis", -1), rank_of(x)), rank_of(x)))
    dtype = x.type.dtype
    wide = ops.cast(x, "f32") if dtype in ("f16", "bf16") else x
    inverse = ops.rsqrt(ops.mean(ops.square(wide), axes, True) + node.get("epsilon", 1e-5))
    y = ops.cast(wide * inverse, dtype)
    return y * ops.cast(scale, dtype), inverse


@rules.on("GroupNormalization")
def group_normalization(node: OnnxNode, x: Value, scale: Value, bias: Value) -> Value:
    """Groups of channels by their own mean and variance."""
    groups, shape = node.get("num_groups"), shape_of(x)
    grouped: Any = (shape[0], groups, -1)
    y = standardized(ops.reshape(x, grouped), 2, node.get("epsilon"))
    if node.version < 21:  # a scale for each group
        y = y * ops.reshape(scale, (1, groups, 1)) + ops.reshape(bias, (1, groups, 1))
        return ops.reshape_like(y, x)
    rank = rank_of(x)
    return ops.reshape_like(y, x) * by_channel(scale, rank) + by_channel(bias, rank)


@rules.on("LRN")
def local_response_normalization(node: OnnxNode, x: Value) -> Value:
    """x over a power of the sum of squares of the channels around."""
    size, channels = node.get("size"), shape_of(x)[1]
    if not isinstance(channels, int):
        raise node.undetermined("the number of channels", channels)
    low = (size - 1) // 2
    around = [(0, 0), (low, size - 1 - low), *((0, 0),) * (rank_of(x) - 2)]
    squares = ops.pad(ops.square(x), around)
    parts = [ops.getitem(squares, (slice(None), slice(i, i + channels))) for i in range(size)]
    total = ops.add_n(parts) * (node.get("alpha") / size) + node.get("bias")
    return x / ops.pow(total, number(node.get("beta"), x))


@rules.on("Dropout", known=(1, 2))
def dropout(node: OnnxNode, x: Value, ratio: Any = None, training: Any = None) -> Any:
    """x itself, with a mask of ones; drawing is not imported."""
    if training is not None and bool(training) and not (ratio is not None and float(ratio) == 0):
        raise node.refuse("dropping elements at random, in training,")
    if not node.wants(1):
        return x
    return x, ops.cast(ops.ones_like(x), "bool" if node.version >= 10 else x.type.dtype)
