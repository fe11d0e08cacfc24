"""Quantised operators of ONNX Runtime, computed in floats."""

from __future__ import annotations

from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_frontend_onnx.node import OnnxNode, axis_in, rank_of, shape_of
from byparts_frontend_onnx.rules import rules
from byparts_frontend_onnx.standard.contraction import product
from byparts_frontend_onnx.standard.quantize import (
    dequantize_linear,
    dynamic_quantize_linear,
    exact_product,
    held,
    less_zero,
    quantize_linear,
)
from byparts_frontend_onnx.standard.recurrent import recurrent
from byparts_graph_ir import Value

rules.on("com.microsoft:QuantizeLinear")(quantize_linear)
rules.on("com.microsoft:DequantizeLinear")(dequantize_linear)


def real(x: Value, scale: Value, zero: Value | None) -> Value:
    """(x - zero) * scale, in f32."""
    return ops.cast(less_zero(x, zero), "f32") * ops.reshape(scale, ())


def few_bits(y: Value, scale: Value, zero: Value | None = None) -> Value:
    """y in the integers of a scale and a zero point."""
    one, offset = ops.reshape(scale, ()), None if zero is None else ops.reshape(zero, ())
    steps = ops.round(y / one)
    if offset is not None:
        steps = steps + ops.cast(offset, "f32")
    return held(steps, "u8" if offset is None else offset.type.dtype)


@rules.on("com.microsoft:QLinearAdd", "com.microsoft:QLinearMul")
def qlinear_of_two(node: OnnxNode, *inputs: Value) -> Value:
    """The sum or the product of two quantised arrays; each has a scale and a zero point."""
    join = ops.add if node.proto.op_type == "QLinearAdd" else ops.mul
    return few_bits(join(real(*inputs[:3]), real(*inputs[3:6])), *inputs[6:])


@rules.on(
    *(f"com.microsoft:QLinear{name}"
      for name in ("Sigmoid", "LeakyRelu", "GlobalAveragePool", "Softmax")),
)  # fmt: skip
def qlinear_of_one(node: OnnxNode, *inputs: Value) -> Value:
    """A function of one quantised array, with its scale and its zero point."""
    y, name = real(*inputs[:3]), node.proto.op_type
    if name == "QLinearSigmoid":
        y = ops.sigmoid(y)
    elif name == "QLinearLeakyRelu":
        y = ops.leaky_relu(y, node.get("alpha", 0.01))
    elif name == "QLinearSoftmax":
        y = ops.softmax(y, axis_in(node.get("axis", -1), rank_of(y)))
    elif node.get("channels_last", 0):
        y = ops.mean(y, tuple(range(1, rank_of(y) - 1)), True)
    else:
        y = ops.mean(y, tuple(range(2, rank_of(y))), True)
    return few_bits(y, *inputs[3:])


@rules.on("com.microsoft:QLinearConcat")
def qlinear_concat(node: OnnxNode, y_scale: Value, y_zero: Value, *parts: Value) -> Value:
    """Quantised arrays behind each other, at one scale."""
    triples = [parts[i : i + 3] for i in range(0, len(parts), 3)]
    return few_bits(
        ops.concat([real(x, s, z) for x, s, z in triples], node.get("axis")), y_scale, y_zero
    )


@rules.on("com.microsoft:QGemm")
def qgemm(
    node: OnnxNode,
    a: Value,
    a_scale: Value,
    a_zero: Value,
    b: Value,
    b_scale: Value,
    b_zero: Value,
    c: Value | None = None,
    y_scale: Value | None = None,
    y_zero: Value | None = None,
) -> Value:
    """alpha * a @ b + c of integers; floats where no scale is said for the result."""
    turned = bool(node.get("transB", 0))
    x = ops.cast(less_zero(a, a_zero), "f64")
    w = ops.cast(less_zero(b, b_zero, 0 if turned else 1), "f64")
    total = ops.matmul(x, w, transpose_a=bool(node.get("transA", 0)), transpose_b=turned)
    total = total if c is None else total + ops.cast(c, "f64")
    y: Value = ops.cast(total, "f32") * (a_scale * b_scale) * node.get("alpha", 1.0)
    return y if y_scale is None else few_bits(y, y_scale, y_zero)


@rules.on("com.microsoft:MatMulIntegerToFloat")
def matmul_integer_to_float(
    node: OnnxNode,
    a: Value,
    b: Value,
    a_scale: Value,
    b_scale: Value,
    a_zero: Value | None = None,
    b_zero: Value | None = None,
    bias: Value | None = None,
) -> Value:
    """A product of integers, scaled."""
    total = exact_product(less_zero(a, a_zero), less_zero(b, b_zero, -1))
    y = ops.cast(total, "f32") * (a_scale * b_scale)
    return y if bias is None else y + bias


@rules.on("com.microsoft:DynamicQuantizeMatMul")
def dynamic_quantize_matmul(
    node: OnnxNode,
    a: Value,
    b: Value,
    b_scale: Value,
    b_zero: Value | None = None,
    bias: Value | None = None,
) -> Value:
    """A product with integers, of floats that are rounded to eight bits first."""
    steps, scale, zero = dynamic_quantize_linear(node, a)
    total = exact_product(less_zero(steps, zero), less_zero(b, b_zero, -1))
    y: Value = ops.cast(total, "f32") * (scale * b_scale)
    return y if bias is None else y + bias


@rules.on("com.microsoft:MatMulNBits", raw=True)
def matmul_few_bits(
    node: OnnxNode,
    a: Any,
    packed: Any,
    scales: Any,
    zeros: Any = None,
    order: Any = None,
    bias: Any = None,
) -> Value:
    """a: [..., K] times the transpose of a matrix [N, K] of 2, 4 or 8 bits in blocks along K."""
    rows, columns, bits = node.get("N"), node.get("K"), node.get("bits", 4)
    block = node.get("block_size")
    if not isinstance(packed, np.ndarray) or packed.dtype != np.uint8 or order is not None:
        raise node.refuse("a weight that is computed, or that has an order of groups,")
    blocks = -(-columns // block)
    steps = _unpacked(packed.reshape(rows, blocks, -1), bits)[:, :, :block]
    scale = ops.reshape(node.value(scales), (rows, blocks, 1))
    offset: Value = ops.fill(float(1 << (bits - 1)), scale.type.dtype)
    if isinstance(zeros, np.ndarray) and zeros.dtype == np.uint8:
        known = _unpacked(zeros.reshape(rows, -1), bits)[:, :blocks]
        offset = ops.reshape(ops.cast(node.value(known), scale.type.dtype), (rows, blocks, 1))
    elif zeros is not None:
        offset = ops.reshape(node.value(zeros), (rows, blocks, 1))
    w = (ops.cast(node.value(np.ascontiguousarray(steps)), scale.type.dtype) - offset) * scale
    w = ops.getitem(ops.reshape(w, (rows, blocks * block)), (slice(None), slice(0, columns)))
    x = node.value(a)
    y = product(x, ops.transpose(ops.cast(w, x.type.dtype), (1, 0)))
    return y if bias is None else y + node.value(bias)


def _unpacked(packed: np.ndarray, bits: int) -> np.ndarray:
    """Numbers of few bits along the last axis, the lowest bits first, as u8."""
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    parts = (packed[..., None] >> shifts) & np.uint8((1 << bits) - 1)
    return np.asarray(parts.reshape(*packed.shape[:-1], -1).astype(np.uint8))


@rules.on("com.microsoft:DynamicQuantizeLSTM")
def dynamic_quantize_lstm(
    node: OnnxNode,
    x: Value,
    w: Value,
    r: Value,
    bias: Value | None,
    lengths: Value | None,
    h: Value | None,
    c: Value | None,
    peep: Value | None,
    w_scale: Value,
    w_zero: Value,
    r_scale: Value,
    r_zero: Value,
) -> Any:
    """An LSTM whose weights are integers; its inputs are not rounded to eight bits."""
    node.walk.note(f"{node.op}: floats are not rounded to eight bits before the products")
    node.op = "LSTM"
    floats = [
        ops.transpose(_weight(v, s, z), (0, 2, 1))
        for v, s, z in ((w, w_scale, w_zero), (r, r_scale, r_zero))
    ]
    return recurrent(node, x, *floats, bias, lengths, h, c, peep)


def _weight(x: Value, scale: Value, zero: Value) -> Value:
    """[directions, width, 4 * hidden]; a scale for each direction, or also for each column."""
    more = (1, 1) if rank_of(scale) == 1 else (1,)
    shape: Any = (shape_of(scale)[0], *more, *shape_of(scale)[1:])
    steps = ops.cast(x, "i32") - ops.reshape(ops.cast(zero, "i32"), shape)
    return ops.cast(steps, "f32") * ops.reshape(scale, shape)
