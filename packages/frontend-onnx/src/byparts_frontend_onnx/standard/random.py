"""Random numbers: drawn from a seed, alike in every call and different at every node."""

from __future__ import annotations

from typing import Any

import byparts_opset as ops
from byparts_frontend_onnx.node import OnnxNode
from byparts_frontend_onnx.rules import rules
from byparts_frontend_onnx.tensors import dtype_of
from byparts_graph_ir import Value

_APART = 1 << 40  # numbers between the counters of two nodes


@rules.on("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike")
def drawn(node: OnnxNode, like: Value | None = None) -> Value:
    """Numbers in the shape of an input, or in one that the node says."""
    walk, said = node.walk, node.get("dtype")
    if walk.seed is None:
        raise node.refuse("drawing random numbers without from_onnx(..., seed=0)")
    dtype = dtype_of(said) if said is not None or like is None else like.type.dtype
    shape: Any = node.get("shape") if like is None else like
    walk.note("random numbers are drawn from the seed, and are the same in every call")
    counter = walk.drawn * _APART
    walk.drawn += 1
    if "Normal" in node.op:
        mean, scale = node.get("mean"), node.get("scale")
        return ops.random_normal(walk.seed, counter, shape, mean, scale, dtype)
    return ops.random_uniform(walk.seed, counter, shape, node.get("low"), node.get("high"), dtype)
