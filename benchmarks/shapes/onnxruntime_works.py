"""The four GPT blocks as an ONNX graph with a dynamic axis, in ONNX Runtime."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from works import BLOCKS, HEADS, WIDTH, Arrays, weights


def make(work: str) -> Callable[[Arrays], Any]:
    """A call of the blocks, the only work that stands here."""
    assert work == "gpt", f"ONNX Runtime runs gpt alone, and this is {work}"
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        blocks().SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return lambda given: session.run(None, given)[0]


def blocks() -> Any:
    """The model: x: [1, n, WIDTH] -> y of the same shape; what is not after a row is masked."""
    constants: Arrays = {
        **weights("gpt"),
        "parted": np.array([1, -1, HEADS, WIDTH // HEADS]),
        "joined": np.array([1, -1, WIDTH]),
        "scale": np.float32((WIDTH // HEADS) ** -0.5),
        "low": np.array([-1e9], np.float32),
        "after": np.int64(1),
    }
    nodes: list[Any] = []

    def node(op: str, *given: str, **attributes: Any) -> str:
        nodes.append(helper.make_node(op, given, [f"node{len(nodes)}"], **attributes))
        return str(nodes[-1].output[0])

    n = node("Shape", "x", start=1, end=2)
    square = node("Expand", "low", node("Concat", n, n, axis=0))
    mask = node("Trilu", square, "after", upper=1)
    x = "x"
    for i in range(BLOCKS):
        h = node("LayerNormalization", x, f"g{i}", f"b{i}", axis=-1, epsilon=1e-5)
        parted = [node("Reshape", node("MatMul", h, f"{c}{i}"), "parted") for c in "qkv"]
        orders = ((0, 2, 1, 3), (0, 2, 3, 1), (0, 2, 1, 3))
        q, k, v = (node("Transpose", p, perm=o) for p, o in zip(parted, orders, strict=True))
        scores = node("Mul", node("MatMul", q, k), "scale")
        a = node("MatMul", node("Softmax", node("Add", scores, mask), axis=-1), v)
        a = node("Reshape", node("Transpose", a, perm=(0, 2, 1, 3)), "joined")
        x = node("Add", x, node("MatMul", a, f"o{i}"))
        h = node("LayerNormalization", x, f"gg{i}", f"bb{i}", axis=-1, epsilon=1e-5)
        u = node("Gelu", node("MatMul", h, f"u{i}"))
        x = node("Add", x, node("MatMul", u, f"d{i}"))
    ends = [helper.make_tensor_value_info(v, TensorProto.FLOAT, (1, "n", WIDTH)) for v in ("x", x)]
    stored = [numpy_helper.from_array(np.asarray(a), k) for k, a in constants.items()]
    graph = helper.make_graph(nodes, "blocks", ends[:1], ends[1:], stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
