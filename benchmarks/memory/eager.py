"""Peak live bytes of PyTorch eager on the networks of this folder, the same definitions.

    python benchmarks/memory/eager.py resnet18,mobilenetv2 train

Walks the forward graph with functions of torch and lets go of each value after its last reader, as
well-written modules do; `backward` is autograd's.  Counted is what torch's allocator gives out
during the step: gradients and activations; weights and feeds are there before.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as f

sys.path.insert(0, str(Path(__file__).parent.parent))

import byparts_opset as ops
from byparts_graph_ir import Graph, TensorType
from live_bytes import requested
from memory.networks import NETWORKS, forward


def main() -> None:
    """Print bytes."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("networks", nargs="?", default=",".join(NETWORKS))
    parser.add_argument("mode", nargs="?", default="train", choices=("train", "infer"))
    given = parser.parse_args()
    torch.set_num_threads(1)
    for name in given.networks.split(","):
        print(f"{name:16} {given.mode:6} {eager(name, given.mode == 'train'):,}", flush=True)


def eager(name: str, training: bool, batch: int = 0, **sizes: int) -> int:
    """Peak bytes of one step (batch 8) or one inference (batch 1)."""
    graph, weights = forward(name, batch or (8 if training else 1), training, **sizes)
    inputs = [_drawn(v.type, training and k in weights) for k, v in enumerate(graph.inputs)]

    def step() -> None:
        with torch.set_grad_enabled(training):
            (result,) = run(graph, inputs)
            if training:
                result.backward()

    return requested(step)[1]


def run(graph: Graph, inputs: Sequence[Any]) -> list[Any]:
    """The outputs, each other value alive no longer than it is read."""
    values: dict[Any, Any] = dict(zip(graph.inputs, inputs, strict=True))
    last = {v: node for node in graph.nodes for v in node.inputs}
    kept = {*last, *graph.outputs}
    for node in graph.nodes:
        made = RULES[type(node.op)](node.op, *[values[v] for v in node.inputs])
        made = made if isinstance(made, (tuple, list)) else (made,)
        values.update((v, t) for v, t in zip(node.outputs, made, strict=True) if v in kept)
        del made
        for v in node.inputs:
            if last[v] is node and v not in graph.outputs:
                values.pop(v, None)
    return [values[v] for v in graph.outputs]


def _drawn(type: TensorType, learned: bool) -> Any:
    if type.dtype == "i64":
        return torch.zeros(type.dims, dtype=torch.int64)
    return torch.rand(type.dims).requires_grad_(learned)


def _loss(op: Any, logits: Any, labels: Any) -> Any:
    losses = f.cross_entropy(logits.flatten(0, -2), labels.flatten(), reduction="none")
    return losses.view(labels.shape), None


def _pool(op: Any, x: Any) -> Any:
    (top, bottom), (left, right) = op.padding if op.padding != "VALID" else ((0, 0), (0, 0))
    assert (top, left) == (bottom, right), "of our networks: the same on both sides"
    return f.max_pool2d(x, op.ksize, op.strides, (top, left))


def _padding(op: Any) -> tuple[int, int]:
    return (0, 0) if op.padding == "VALID" else (op.padding[0][0], op.padding[1][0])


RULES: dict[type, Callable[..., Any]] = {
    ops.Conv2d: lambda op, x, w: f.conv2d(x, w, None, op.strides, _padding(op), 1, op.groups),
    ops.Conv2dTranspose: lambda op, x, w: f.conv_transpose2d(x, w, None, op.strides),
    ops.BatchNorm: lambda op, x, g, b: (f.batch_norm(x, None, None, g, b, True), None, None),
    ops.BatchNormInference: lambda op, x, g, b, m, v: f.batch_norm(x, m, v, g, b),
    ops.LayerNorm: lambda op, x, g, b: (f.layer_norm(x, g.shape, g, b), None, None),
    ops.MaxPool: _pool,
    ops.AveragePool: lambda op, x: f.avg_pool2d(x, op.ksize, op.strides),
    ops.Relu: lambda op, x: f.relu(x),
    ops.Relu6: lambda op, x: f.relu6(x),  # keeps x, in place also
    ops.Gelu: lambda op, x: f.gelu(x),
    ops.Sigmoid: lambda op, x: torch.sigmoid(x),
    ops.Tanh: lambda op, x: torch.tanh(x),
    ops.Softmax: lambda op, x: torch.softmax(x, op.axis),
    ops.Add: lambda op, x, y: x + y,
    ops.Mul: lambda op, x, y: x * y,
    ops.MatMul: lambda op, x, y: x @ (y.mT if op.transpose_b else y),
    ops.Mean: lambda op, x: x.mean() if op.axes is None else x.mean(op.axes),
    ops.Gather: lambda op, x, i: f.embedding(i, x),
    ops.Concat: lambda op, *xs: torch.cat(xs, op.axis),
    ops.Split: lambda op, x: torch.split(x, op.sizes, op.axis),
    ops.Reshape: lambda op, x: x.reshape(op.shape),
    ops.Squeeze: lambda op, x: x.squeeze(op.axes),
    ops.ExpandDims: lambda op, x: _expanded(op.axes, x),
    ops.Flatten: lambda op, x: x.flatten(1),
    ops.Transpose: lambda op, x: x.permute(op.permutation),
    ops.Select: lambda op, c, x, y: torch.where(c, x, y),
    ops.Less: lambda op, x, y: x < y,
    ops.Range: lambda op: torch.arange(op.start, op.stop),
    ops.Fill: lambda op: torch.full(op.shape, op.value),
    ops.SparseSoftmaxCrossEntropy: _loss,
}


def _expanded(axes: Sequence[int], x: Any) -> Any:
    for axis in sorted(axes):
        x = x.unsqueeze(axis)
    return x


if __name__ == "__main__":
    main()
