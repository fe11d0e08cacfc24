"""Reductions: one call over several axes, into the output as it is."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf
from typing import Any, Union

import torch

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_torch.dense import dense
from byparts_kernels_torch.elementwise import filled, nothing, number
from byparts_kernels_torch.pick import reversed_along
from byparts_kernels_torch.table import Tensor, Tensors, kernels
from byparts_kernels_torch.wide import in_turn, widened
from byparts_kernels_torch.workspace import scratch
from byparts_opset.prod import Prod, ProdOfOthers
from byparts_opset.reduce import All, Any as AnyOp, LogSumExp, Max, Mean, Min, Sum

Reduction = Union[Sum, Mean, Max, Min, LogSumExp, All, AnyOp, Prod]


@kernels.on(Sum, workspace=True)
def sum(op: Sum, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    """Sum; half types over axes that are not neighbours are widened, or torch makes a copy."""
    axes = _axes(op, inputs[0])
    apart = len(axes) > 0 and axes[-1] - axes[0] >= len(axes)
    return (widened(_sum) if apart else _sum)(op, inputs, outputs, workspace)


@kernels.on(Max)
def max(op: Max, inputs: Tensors, outputs: Tensors) -> Run:
    return _reduced(torch.amax, op, inputs[0], outputs[0])


@kernels.on(Min)
def min(op: Min, inputs: Tensors, outputs: Tensors) -> Run:
    return _reduced(torch.amin, op, inputs[0], outputs[0])


@kernels.on(All)
def all(op: All, inputs: Tensors, outputs: Tensors) -> Run:
    return _reduced(torch.all, op, inputs[0], outputs[0])


@kernels.on(AnyOp)
def any(op: AnyOp, inputs: Tensors, outputs: Tensors) -> Run:
    return _reduced(torch.any, op, inputs[0], outputs[0])


@kernels.on(Mean, workspace=True)
@widened
def mean(op: Mean, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    """On a GPU one kernel; on the CPU torch's own mean divides in a second pass, and so do we."""
    (x,), (y,) = inputs, outputs
    if x.device.type != "cpu":
        return _reduced(torch.mean, op, x, y)
    size = number(x.numel() // y.numel() if y.numel() else 1, y)
    return in_turn([_reduced(torch.sum, op, x, y), partial(torch.div, y, size, out=y)])


@kernels.on(LogSumExp, workspace=True)
@widened
def logsumexp(op: LogSumExp, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    """torch's own allocates.  An infinite maximum counts as the greatest number: inf - inf is nan.

    exp(-inf + greatest) is 0 and exp(inf - greatest) is inf, which is what their sums should be.
    """
    (x,), (y,) = inputs, outputs
    axes = _axes(op, x)
    if x.numel() == 0:
        return filled(y, -inf)
    if not axes:
        return partial(y.copy_, x)
    top = scratch(workspace, [1 if i in axes else d for i, d in enumerate(x.shape)], x)
    work, greatest = scratch(workspace, x.shape, x), torch.finfo(x.dtype).max
    return in_turn(
        [
            partial(torch.amax, x, axes, True, out=top),
            partial(torch.clamp, top, -greatest, greatest, out=top),
            partial(torch.sub, x, top, out=work),
            partial(torch.exp, work, out=work),
            _reduced(torch.sum, op, work, y),
            partial(torch.log, y, out=y),
            partial(torch.add, y, top.view(y.shape), out=y),
        ]
    )


@kernels.on(Prod, workspace=True)
@widened
@dense
def prod(op: Prod, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    """torch takes one axis at a time, so the last goes first, into scratch memory."""
    (x,), (y,) = inputs, outputs
    axes = _axes(op, x)
    if len(axes) == x.dim():
        x, axes = x.view(-1), [0]
    steps: list[Run] = []
    for axis in reversed(axes):
        last = axis == axes[0]
        rest = [d for i, d in enumerate(x.shape) if i != axis]
        to = y.view(rest) if last else scratch(workspace, rest, x)
        steps.append(partial(torch.prod, x, axis, dtype=x.dtype, out=to))
        x = to
    return in_turn(steps) if steps else partial(y.copy_, x)


@kernels.on(ProdOfOthers, workspace=True)
@widened
def prod_of_others(
    op: ProdOfOthers, inputs: Tensors, outputs: Tensors, workspace: Workspace
) -> Run:
    """Running products of what stands before each element, times those of what stands behind."""
    (x,), (y,) = inputs, outputs
    if x.numel() == 0:
        return nothing
    backwards, products, behind = (scratch(workspace, x.shape, x) for _ in range(3))
    return in_turn(
        [
            *_before(x, op.axis, y),
            reversed_along(x, [op.axis], backwards, workspace),
            *_before(backwards, op.axis, products),
            reversed_along(products, [op.axis], behind, workspace),
            partial(torch.mul, y, behind, out=y),
        ]
    )


def _sum(op: Sum, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    return _reduced(torch.sum, op, inputs[0], outputs[0])


def _before(x: Tensor, axis: int, y: Tensor) -> list[Run]:
    """y[i] = the product of the x[j] with j < i."""
    rest = x.shape[axis] - 1
    to = y.narrow(axis, 1, rest)
    many = partial(torch.cumprod, x.narrow(axis, 0, rest), axis, dtype=x.dtype, out=to)
    return [partial(y.narrow(axis, 0, 1).fill_, 1), many if rest else nothing]


def _reduced(f: Callable[..., Any], op: Reduction, x: Tensor, y: Tensor) -> Run:
    axes = _axes(op, x)
    if y.numel() == 0:
        return nothing
    if y.numel() == x.numel():
        return partial(y.view(x.shape).copy_, x)
    return partial(f, x, axes, op.keepdims, out=y)


def _axes(op: Reduction, x: Tensor) -> list[int]:
    """Counted from the front, ascending."""
    return sorted(range(x.dim()) if op.axes is None else {a % x.dim() for a in op.axes})
