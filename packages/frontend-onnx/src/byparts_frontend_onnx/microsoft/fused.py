"""Activations, products and normalizations that ONNX Runtime fuses into one operator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import byparts_opset as ops
from byparts_frontend_onnx.node import OnnxNode, rank_of
from byparts_frontend_onnx.rules import rules
from byparts_frontend_onnx.standard.contraction import convolved, product, with_bias
from byparts_graph_ir import Value

_ACTIVATIONS: Mapping[str, Callable[[Value, Any], Value]] = {
    "": lambda x, a: x,
    "Relu": lambda x, a: ops.relu(x),
    "Tanh": lambda x, a: ops.tanh(x),
    "Sigmoid": lambda x, a: ops.sigmoid(x),
    "LeakyRelu": lambda x, a: ops.leaky_relu(x, a[0]),
    "Clip": lambda x, a: ops.clip(x, a[0], a[1]),
    "HardSigmoid": lambda x, a: ops.clip(x * a[0] + a[1], 0.0, 1.0),
}


@rules.on("com.microsoft:Gelu", "com.microsoft:BiasGelu", "com.microsoft:FastGelu")
def gelu(node: OnnxNode, x: Value, bias: Value | None = None) -> Value:
    """Gelu of x plus a bias; the fast one by tanh."""
    return ops.gelu(x if bias is None else x + bias, node.proto.op_type == "FastGelu")


@rules.on("com.microsoft:QuickGelu")
def quick_gelu(node: OnnxNode, x: Value) -> Value:
    """x * sigmoid(alpha * x)."""
    return x * ops.sigmoid(x * node.get("alpha", 1.702))


@rules.on("com.microsoft:FusedMatMul", "com.microsoft:TransposeMatMul")
def fused_matmul(node: OnnxNode, a: Value, b: Value) -> Value:
    """alpha * a @ b, each transposed if the node says so."""
    if node.get("transBatchA", 0) or node.get("transBatchB", 0):
        raise node.refuse("a transposed batch")
    turned = [
        _turned(v) if node.get(name, 0) and rank_of(v) > 1 else v
        for name, v in (("transA", a), ("transB", b))
    ]
    y = product(*turned)
    alpha = node.get("alpha", 1.0)
    return y if alpha == 1 else y * alpha


def _turned(x: Value) -> Value:
    rank = rank_of(x)
    return ops.transpose(x, (*range(rank - 2), rank - 1, rank - 2))


@rules.on("com.microsoft:FusedGemm")
def fused_gemm(node: OnnxNode, a: Value, b: Value, c: Value | None = None) -> Value:
    """An activation of alpha * a @ b + beta * c."""
    y = ops.matmul(a, b, transpose_a=bool(node.get("transA", 0)),
                   transpose_b=bool(node.get("transB", 0))) * node.get("alpha", 1.0)  # fmt: skip
    return _activated(node, y if c is None else y + c * node.get("beta", 1.0))


@rules.on("com.microsoft:FusedConv")
def fused_conv(
    node: OnnxNode, x: Value, w: Value, bias: Value | None = None, z: Value | None = None
) -> Value:
    """An activation of a convolution, plus another image."""
    y = with_bias(convolved(node, x, w), bias)
    return _activated(node, y if z is None else y + z)


def _activated(node: OnnxNode, x: Value) -> Value:
    name = node.get("activation", "")
    if name not in _ACTIVATIONS:
        raise node.refuse(f"the activation {name!r}")
    parameters = node.get("activation_params") or [node.get("activation_alpha", 0.01), 0.0]
    return _ACTIVATIONS[name](x, parameters)


@rules.on("com.microsoft:SkipLayerNormalization")
def skip_layer_normalization(
    node: OnnxNode,
    x: Value,
    skip: Value,
    gamma: Value,
    beta: Value | None = None,
    bias: Value | None = None,
) -> Any:
    """The layer normalization of a sum, and the sum."""
    total = _summed(x, skip, bias)
    beta = ops.zeros_like(gamma) if beta is None else beta
    y = ops.layer_norm(total, gamma, beta, -1, node.get("epsilon", 1e-12))
    return y, None, None, total


@rules.on("com.microsoft:SkipSimplifiedLayerNormalization")
def skip_rms_normalization(
    node: OnnxNode, x: Value, skip: Value, gamma: Value, bias: Value | None = None
) -> Any:
    """A sum over the root of the mean of its squares, scaled; and the sum."""
    total = _summed(x, skip, bias)
    wide = ops.cast(total, "f32")
    inverse = ops.rsqrt(ops.mean(ops.square(wide), -1, True) + node.get("epsilon", 1e-12))
    return ops.cast(wide * inverse, total.type.dtype) * gamma, None, None, total


def _summed(x: Value, skip: Value, bias: Value | None) -> Value:
    return x + skip if bias is None else x + skip + bias


@rules.on("com.microsoft:EmbedLayerNormalization")
def embed_layer_normalization(
    node: OnnxNode,
    ids: Value,
    segments: Value | None,
    words: Value,
    places: Value,
    kinds: Value | None,
    gamma: Value,
    beta: Value,
    mask: Value | None = None,
    positions: Value | None = None,
) -> Any:
    """The normalized sum of the embeddings of words, places and segments; lengths of the mask."""
    total = ops.gather(words, ids)
    if positions is None:
        ones = ops.ones_like(ops.cast(ids, "i64"))
        positions = ops.cumsum(ones, 1, exclusive=True)
    total = total + ops.gather(places, positions)
    if segments is not None and kinds is not None:
        total = total + ops.gather(kinds, segments)
    y = ops.layer_norm(total, gamma, beta, -1, node.get("epsilon", 1e-12))
    like = ops.zeros_like(ops.cast(ids, "i32")) if mask is None else mask
    return y, ops.sum(ops.cast(like, "i32"), 1), total
