"""Softmax, and what brings numbers to mean 0 and variance 1: by batch, layer, group."""

from __future__ import annotations

from collections.abc import Sequence

import byparts_opset as ops
from byparts_frontend_torch.aten.axes import axis_of, rank_of
from byparts_frontend_torch.aten.reshape import view
from byparts_frontend_torch.errors import UnsupportedOp
from byparts_frontend_torch.rules import rules
from byparts_frontend_torch.symbols import Expression, Size
from byparts_graph_ir import Value


@rules.on("aten._softmax.default")
def softmax(x: Value, dim: int, half_to_float: bool = False) -> Value:
    x = ops.cast(x, "f32") if half_to_float else x
    return ops.softmax(x, axis_of(x, dim))


@rules.on("aten._log_softmax.default")
def log_softmax(x: Value, dim: int, half_to_float: bool = False) -> Value:
    x = ops.cast(x, "f32") if half_to_float else x
    return ops.log_softmax(x, axis_of(x, dim))


@rules.on("aten.native_layer_norm.default")
def layer_norm(
    x: Value, shape: Sequence[Size], weight: Value | None, bias: Value | None, eps: float
) -> tuple[Value, Value, Value]:
    """y, mean, 1 / deviation."""
    sizes = [s for s in shape if isinstance(s, int)]
    if len(sizes) != len(shape):
        raise UnsupportedOp(f"over {shape}: export the normalised sizes as numbers")
    dtype = x.type.dtype
    gamma = ops.ones(sizes, dtype) if weight is None else weight
    beta = ops.zeros(sizes, dtype) if bias is None else bias
    y, mean, variance = ops.LayerNorm(len(sizes), float(eps)).outputs_of(x, gamma, beta)
    return y, mean, ops.rsqrt(variance + float(eps))


@rules.on("aten._native_batch_norm_legit_no_training.default")
def batch_norm_inference(
    x: Value,
    weight: Value | None,
    bias: Value | None,
    mean: Value,
    variance: Value,
    momentum: float,
    eps: float,
) -> tuple[Value, None, None]:
    gamma, beta = _affine(weight, bias, mean)
    return ops.batch_norm_inference(x, gamma, beta, mean, variance, 1, float(eps)), None, None


@rules.on("aten._native_batch_norm_legit_functional.default")
def batch_norm_training(
    x: Value,
    weight: Value | None,
    bias: Value | None,
    running_mean: Value,
    running_variance: Value,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Value, Value, Value, Value, Value]:
    """y, mean, 1 / deviation, and the running statistics after this batch."""
    gamma, beta = _affine(weight, bias, running_mean)
    if not training:
        y = ops.batch_norm_inference(x, gamma, beta, running_mean, running_variance, 1, float(eps))
        deviation = ops.rsqrt(running_variance + float(eps))
        return y, running_mean, deviation, running_mean, running_variance
    y, mean, variance = ops.batch_norm(x, gamma, beta, 1, float(eps))
    n = ops.count_like(x) / ops.count_like(gamma)
    unbiased = variance * (n / (n - 1.0))  # torch keeps the unbiased one, and uses the other
    return (
        y,
        mean,
        ops.rsqrt(variance + float(eps)),
        ops.moving_average(running_mean, mean, 1 - momentum),
        ops.moving_average(running_variance, unbiased, 1 - momentum),
    )


@rules.on("aten._native_batch_norm_legit.no_stats")
def batch_norm_alone(
    x: Value,
    weight: Value | None,
    bias: Value | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Value, Value, Value]:
    """By the statistics of the batch, which are not kept."""
    gamma, beta = _affine(weight, bias, _channels(x))
    y, mean, variance = ops.batch_norm(x, gamma, beta, 1, float(eps))
    return y, mean, ops.rsqrt(variance + float(eps))


@rules.on("aten.native_group_norm.default")
def group_norm(
    x: Value,
    weight: Value | None,
    bias: Value | None,
    n: Size,
    channels: int,
    pixels: Size,
    groups: int,
    eps: float,
) -> tuple[Value, Value, Value]:
    """y, mean and 1 / deviation of each group of channels."""
    shape = x.type.shape or ()
    sizes: list[Size] = [Expression("?") if d is None else d for d in shape]
    rows = view(x, [n, groups, Expression("the rest")])
    mean = ops.mean(rows, 2, keepdims=True)
    centred = rows - mean
    deviation = ops.rsqrt(ops.mean(ops.square(centred), 2, keepdims=True) + float(eps))
    y = view(centred * deviation, sizes)
    behind = tuple(range(1, rank_of(x) - 1))
    for parameter, join in ((weight, ops.mul), (bias, ops.add)):
        if parameter is not None:
            y = join(y, ops.expand_dims(parameter, behind) if behind else parameter)
    return y, ops.squeeze(mean, 2), ops.squeeze(deviation, 2)


def _affine(weight: Value | None, bias: Value | None, like: Value) -> tuple[Value, Value]:
    gamma = ops.ones_like(like) if weight is None else weight
    return gamma, ops.zeros_like(like) if bias is None else bias


def _channels(x: Value) -> Value:
    """Something of the shape of the channels of x."""
    d = (x.type.shape or ())[1]
    if not isinstance(d, int):
        raise UnsupportedOp(f"{d} channels in {x.type}: export it with a fixed number")
    return ops.zeros((d,), x.type.dtype)
