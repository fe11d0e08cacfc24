"""What the device can compute: for each op the command, written when a program is built."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import byparts_opset as ops
from acme_byparts_npu.ops import Delay, MulAdd
from acme_byparts_npu.space import Tensor, command
from byparts_graph_ir import KernelRule, MissingRule, Op, Table
from byparts_graph_ir.backend.kernel import Run

kernels: Table[KernelRule] = Table("kernel")

Tensors = Sequence[Tensor]

ELEMENTWISE: dict[type[Op], str] = {
    ops.Add: "add",
    ops.Sub: "subtract",
    ops.Mul: "multiply",
    ops.Neg: "negative",
    ops.Tanh: "tanh",
    ops.Exp: "exp",
    ops.Log: "log",
    ops.Sqrt: "sqrt",
    ops.Square: "square",
    ops.Abs: "abs",
    ops.Maximum: "maximum",
    ops.Minimum: "minimum",
    ops.Greater: "greater",
    ops.Less: "less",
    ops.Equal: "equal",
    ops.BroadcastTo: "copy",
    ops.Identity: "copy",
    ops.Reshape: "reshape",
    ops.ExpandDims: "reshape",
    ops.Squeeze: "reshape",
    MulAdd: "mul_add",
}


def run(name: str, inputs: Tensors, outputs: Tensors, **parameters: Any) -> Run:
    """Send the command, whenever it is called."""
    space = outputs[0].space
    return partial(space.send, *command(name, inputs, outputs, **parameters))


def elementwise(op: Op, inputs: Tensors, outputs: Tensors) -> Run:
    return run(ELEMENTWISE[type(op)], inputs, outputs)


kernels.on(*ELEMENTWISE)(elementwise)


@kernels.on(ops.Div)
def divide(op: ops.Div, inputs: Tensors, outputs: Tensors) -> Run:
    if outputs[0].dtype != "float32":
        raise MissingRule("the npu divides f32 only")
    return run("divide", inputs, outputs)


@kernels.on(ops.MatMul)
def matmul(op: ops.MatMul, inputs: Tensors, outputs: Tensors) -> Run:
    return run("matmul", inputs, outputs, transpose=[op.transpose_a, op.transpose_b])


@kernels.on(ops.Sum)
def reduce_sum(op: ops.Sum, inputs: Tensors, outputs: Tensors) -> Run:
    return run("reduce_sum", inputs, outputs, axes=_axes(op.axes, inputs[0]))


@kernels.on(ops.Mean)
def mean(op: ops.Mean, inputs: Tensors, outputs: Tensors) -> Run:
    axes = _axes(op.axes, inputs[0])
    count = 1
    for axis in axes:
        count *= inputs[0].shape[axis]
    if not count:
        raise MissingRule("the npu has no mean of nothing")
    return run("reduce_sum", inputs, outputs, axes=axes, factor=1 / count)


@kernels.on(ops.Transpose)
def transpose(op: ops.Transpose, inputs: Tensors, outputs: Tensors) -> Run:
    rank = len(inputs[0].shape)
    order = op.permutation or tuple(reversed(range(rank)))
    return run("copy", inputs, outputs, order=[axis % rank for axis in order])


@kernels.on(ops.Fill)
def fill(op: ops.Fill, inputs: Tensors, outputs: Tensors) -> Run:
    return run("fill", inputs, outputs, value=op.value)


@kernels.on(Delay)
def delay(op: Delay, inputs: Tensors, outputs: Tensors) -> Run:
    return run("delay", inputs, outputs, seconds=op.seconds)


def _axes(axes: tuple[int, ...] | None, x: Tensor) -> list[int]:
    rank = len(x.shape)
    return list(range(rank)) if axes is None else [axis % rank for axis in axes]
