"""Softmax, and what brings numbers to mean 0 and variance 1: by batch, layer, group."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import byparts_opset as ops
from byparts_frontend_torch.aten.axes import axis_of, rank_of, with_axis
from byparts_frontend_torch.aten.reshape import view
from byparts_frontend_torch.errors import UnsupportedOp
from byparts_frontend_torch.rules import rules
from byparts_frontend_torch.symbols import Expression, Size
from byparts_graph_ir import Value


@rules.on("aten._softmax.default")
def softmax(x: Value, dim: int, half_to_float: bool = False) -> Value:
    x = ops.cast(x, "f32") if half_to_float else x
    return ops.reshape_like(ops.softmax(with_axis(x), axis_of(x, dim)), x)


@rules.on("aten._safe_softmax.default")
def safe_softmax(x: Value, dim: int, dtype: str | None = None) -> Value:
    """Softmax, but 0 in rows of nothing but -inf, where the softmax and its gradient are nan."""
    x = x if dtype is None else ops.cast(x, dtype)
    row, axis = with_axis(x), axis_of(x, dim)
    dead = ops.equal(ops.max(row, axis, keepdims=True), -inf)
    y = ops.where(dead, 0, ops.softmax(ops.where(dead, 0, row), axis))
    return ops.reshape_like(y, x)


@rules.on("aten._log_softmax.default")
def log_softmax(x: Value, dim: int, half_to_float: bool = False) -> Value:
    x = ops.cast(x, "f32") if half_to_float else x
    return ops.reshape_like(ops.log_softmax(with_axis(x), axis_of(x, dim)), x)


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
    x, gamma, beta = _in_one_dtype(x, gamma, beta)
    y, mean, variance = ops.LayerNorm(len(sizes), float(eps)).outputs_of(x, gamma, beta)
    deviation = ops.rsqrt(variance + float(eps))
    return ops.cast(y, dtype), ops.cast(mean, dtype), ops.cast(deviation, dtype)


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
    dtype, (gamma, beta) = x.type.dtype, _affine(weight, bias, mean)
    x, gamma, beta, mean, variance = _in_one_dtype(x, gamma, beta, mean, variance)
    y = ops.batch_norm_inference(x, gamma, beta, mean, variance, 1, float(eps))
    return ops.cast(y, dtype), None, None


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
        given = (x, weight, bias, running_mean, running_variance, momentum, eps)
        y = batch_norm_inference(*given)[0]
        deviation = ops.rsqrt(running_variance + float(eps))
        return y, running_mean, deviation, running_mean, running_variance
    dtype, (x, gamma, beta) = x.type.dtype, _in_one_dtype(x, gamma, beta)
    y, mean, variance = ops.batch_norm(x, gamma, beta, 1, float(eps))
    n = ops.count_like(_wide(x)) / ops.count_like(_wide(gamma))
    unbiased = variance * (n / (n - 1.0))  # torch keeps the unbiased one, and uses the other
    return (
        ops.cast(y, dtype),
        ops.cast(mean, dtype),
        ops.cast(ops.rsqrt(variance + float(eps)), dtype),
        ops.moving_average(_wide(running_mean), mean, 1 - momentum),
        ops.moving_average(_wide(running_variance), unbiased, 1 - momentum),
    )


@rules.on("aten._batch_norm_with_update_functional.default")
def batch_norm_with_update(
    x: Value, weight: Value | None, bias: Value | None, mean: Value, variance: Value,
    momentum: float, eps: float,
) -> tuple[Value | None, ...]:  # fmt: skip
    """Batch norm in training; the fourth result is a store for kernels of torch."""
    given = (x, weight, bias, mean, variance, True, momentum, eps)
    y, batch_mean, deviation, *running = batch_norm_training(*given)
    return (y, batch_mean, deviation, ops.zeros((0,), "u8"), *running)


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
    dtype, (x, gamma, beta) = x.type.dtype, _in_one_dtype(x, gamma, beta)
    y, mean, variance = ops.batch_norm(x, gamma, beta, 1, float(eps))
    deviation = ops.rsqrt(variance + float(eps))
    return ops.cast(y, dtype), ops.cast(mean, dtype), ops.cast(deviation, dtype)


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
    size = channels // groups * pixels if isinstance(pixels, int) else Expression("the rest")
    rows = view(x, [n, groups, size])
    rows = _wide(rows)
    mean = ops.mean(rows, 2, keepdims=True)
    centred = rows - mean
    deviation = ops.rsqrt(ops.mean(ops.square(centred), 2, keepdims=True) + float(eps))
    y = view(centred * deviation, sizes)
    behind = tuple(range(1, rank_of(x) - 1))
    for parameter, join in ((weight, ops.mul), (bias, ops.add)):
        if parameter is not None:
            parameter = _wide(parameter)
            y = join(y, ops.expand_dims(parameter, behind) if behind else parameter)
    mean, deviation = (ops.cast(ops.squeeze(v, 2), x.type.dtype) for v in (mean, deviation))
    return ops.cast(y, x.type.dtype), mean, deviation


def _in_one_dtype(*values: Value) -> tuple[Value, ...]:
    """In f32 where they differ: half types, with parameters that are not."""
    same = len({v.type.dtype for v in values}) == 1
    return values if same else tuple(ops.cast(v, "f32") for v in values)


def _wide(x: Value) -> Value:
    """In f32 if x is of a half type: squares and their sums leave those."""
    return ops.cast(x, "f32") if x.type.dtype in ("f16", "bf16") else x


def _affine(weight: Value | None, bias: Value | None, like: Value) -> tuple[Value, Value]:
    gamma = ops.ones_like(like) if weight is None else weight
    return gamma, ops.zeros_like(like) if bias is None else bias


def _channels(x: Value) -> Value:
    """Something of the shape of the channels of x."""
    d = (x.type.shape or ())[1]
    if not isinstance(d, int):
        raise UnsupportedOp(f"{d} channels in {x.type}: export it with a fixed number")
    return ops.zeros((d,), x.type.dtype)
