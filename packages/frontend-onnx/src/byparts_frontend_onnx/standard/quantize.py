"""Numbers of few bits: integers with a scale and a zero point, computed in floats or in i32."""

from __future__ import annotations

from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_frontend_onnx.node import OnnxNode, axis_in, rank_of, shape_of
from byparts_frontend_onnx.rules import rules
from byparts_frontend_onnx.standard.contraction import convolved, product
from byparts_frontend_onnx.standard.elementwise import is_float, limits
from byparts_frontend_onnx.tensors import dtype_of
from byparts_graph_ir import INTEGERS, Value

_NOTE = "quantised operators are computed in floats, or in i32 where they add up"


def _aligned(node: OnnxNode, x: Value, s: Value, axis: int, block: int) -> Value:
    """A scale or a zero point, in a shape that meets x."""
    if rank_of(s) == 0 or shape_of(s) == (1,):
        return ops.reshape(s, ())
    axis = axis_in(axis, rank_of(x))
    if not block:
        return ops.reshape(s, tuple(-1 if i == axis else 1 for i in range(rank_of(x))))
    node.limited(node.dims(x)[axis])
    places = np.arange(node.dims(x)[axis]) // block
    return ops.gather(s, ops.constant(places.astype(np.int64)), axis)


@rules.on("QuantizeLinear")
def quantize_linear(node: OnnxNode, x: Value, scale: Value, zero: Value | None = None) -> Value:
    """round(x / scale) + zero, held in the range of its integers."""
    node.walk.note(_NOTE)
    said = node.get("output_dtype", 0)
    dtype = zero.type.dtype if zero is not None else dtype_of(said) if said else "u8"
    if dtype not in INTEGERS:
        raise node.refuse(f"quantising to {dtype}")
    axis, block = node.get("axis", 1), node.get("block_size", 0)
    x = x if is_float(x) else ops.cast(x, "f32")
    steps = ops.round(x / _aligned(node, x, ops.cast(scale, x.type.dtype), axis, block))
    steps = ops.cast(steps, "f32")
    if zero is not None:
        steps = steps + _aligned(node, x, ops.cast(zero, "f32"), axis, block)
    return held(steps, dtype)


def held(x: Value, dtype: str) -> Value:
    """Whole numbers as integers of a dtype, those out of its range at its ends."""
    low, high = limits(dtype)
    return ops.cast(ops.clip(x, float(low), float(high)), dtype)


@rules.on("DequantizeLinear")
def dequantize_linear(node: OnnxNode, x: Value, scale: Value, zero: Value | None = None) -> Value:
    """(x - zero) * scale."""
    node.walk.note(_NOTE)
    axis, block = node.get("axis", 1), node.get("block_size", 0)
    steps = ops.cast(x, "i32")
    if zero is not None:
        steps = steps - _aligned(node, x, ops.cast(zero, "i32"), axis, block)
    y = ops.cast(steps, scale.type.dtype) * _aligned(node, x, scale, axis, block)
    said = node.get("output_dtype", 0)
    return ops.cast(y, dtype_of(said)) if said else y


@rules.on("DynamicQuantizeLinear")
def dynamic_quantize_linear(node: OnnxNode, x: Value) -> tuple[Value, Value, Value]:
    """u8, by a scale and a zero point for the range of x with 0 in it."""
    node.walk.note(_NOTE)
    nothing = ops.fill(0.0, "f32")
    high, low = ops.maximum(ops.max(x), nothing), ops.minimum(ops.min(x), nothing)
    scale = (high - low) / 255.0
    step = ops.where(ops.equal(scale, nothing), ops.fill(1.0, "f32"), scale)
    zero = ops.round(ops.clip(-low / step, 0.0, 255.0))
    return held(ops.round(x / step) + zero, "u8"), scale, ops.cast(zero, "u8")


def less_zero(x: Value, zero: Value | None, axis: int | None = None) -> Value:
    """x - zero as i32; the zero point may be one for each place of an axis."""
    x = ops.cast(x, "i32")
    if zero is None:
        return x
    zero = ops.cast(zero, "i32")
    if shape_of(zero) == (1,):
        zero = ops.reshape(zero, ())
    elif rank_of(zero) == 1 and axis is not None:
        place = axis_in(axis, rank_of(x))
        zero = ops.reshape(zero, tuple(-1 if i == place else 1 for i in range(rank_of(x))))
    return x - zero


@rules.on("MatMulInteger")
def matmul_integer(
    node: OnnxNode, a: Value, b: Value, a_zero: Value | None = None, b_zero: Value | None = None
) -> Value:
    """(a - a_zero) @ (b - b_zero), in i32."""
    return exact_product(less_zero(a, a_zero, -2), less_zero(b, b_zero, -1))


def exact_product(a: Value, b: Value) -> Value:
    """a @ b of integers: in f64, which has a fast product, and all sums of 16-bit products."""
    return ops.cast(product(ops.cast(a, "f64"), ops.cast(b, "f64")), "i32")


def _one(x: Value, dtype: str, shape: Any = ()) -> Value:
    """A scale, or one for each row or channel."""
    x = ops.cast(x, dtype)
    single = rank_of(x) == 0 or shape_of(x) == (1,)
    return ops.reshape(x, () if single else shape) if rank_of(x) <= 1 else x


@rules.on("QLinearMatMul")
def qlinear_matmul(node: OnnxNode, *inputs: Value) -> Value:
    """A product of quantised matrices, quantised again."""
    node.walk.note(_NOTE)
    a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero = inputs
    total = exact_product(less_zero(a, a_zero, -2), less_zero(b, b_zero, -1))
    factor = _one(a_scale, "f32", (-1, 1)) * _one(b_scale, "f32", (-1,)) / _one(y_scale, "f32")
    steps = ops.round(ops.cast(total, "f32") * factor) + _one(y_zero, "f32")
    return held(steps, y_zero.type.dtype)


@rules.on("ConvInteger")
def conv_integer(
    node: OnnxNode, x: Value, w: Value, x_zero: Value | None = None, w_zero: Value | None = None
) -> Value:
    """A convolution of integers, in i32."""
    pair = ops.cast(less_zero(x, x_zero), "f64"), ops.cast(less_zero(w, w_zero, 0), "f64")
    return ops.cast(convolved(node, *pair), "i32")


@rules.on("QLinearConv")
def qlinear_conv(node: OnnxNode, *inputs: Value) -> Value:
    """A convolution of quantised images, quantised again."""
    node.walk.note(_NOTE)
    x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, *rest = inputs
    bias = rest[0] if rest else None
    pair = ops.cast(less_zero(x, x_zero), "f64"), ops.cast(less_zero(w, w_zero, 0), "f64")
    channels = (-1, *(1,) * (rank_of(w) - 2))
    total = convolved(node, *pair)
    if bias is not None:
        total = total + ops.reshape(ops.cast(bias, "f64"), channels)
    factor = _one(x_scale, "f64") * _one(w_scale, "f64", channels) / _one(y_scale, "f64")
    return held(ops.round(total * factor) + _one(y_zero, "f64"), y_zero.type.dtype)
