"""Softmax, its logarithm, and the gradients of both: one call each, also over their input.

Short rows are padded to a vector (`padded_rows.py`), with numbers that do not change the result:
-inf, and 0 for a gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import inf

import torch

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_torch.padded_rows import has_short_rows, on_padded_rows
from byparts_kernels_torch.table import Tensor, Tensors, kernels
from byparts_kernels_torch.wide import widened_on_cpu
from byparts_opset.softmax import LogSoftmax, LogSoftmaxGradient, Softmax, SoftmaxGradient


@kernels.on(Softmax, workspace=True)
def softmax(op: Softmax, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    def compute(x: Sequence[Tensor], y: Tensor) -> Run:
        return partial(torch._softmax, *x, op.axis, False, out=y)

    return _along(op.axis, compute, inputs, (-inf,), outputs[0], workspace)


@kernels.on(LogSoftmax, workspace=True)
@widened_on_cpu
def log_softmax(op: LogSoftmax, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    def compute(x: Sequence[Tensor], y: Tensor) -> Run:
        return partial(torch._log_softmax, *x, op.axis, False, out=y)

    return _along(op.axis, compute, inputs, (-inf,), outputs[0], workspace)


@kernels.on(SoftmaxGradient, workspace=True)
def softmax_gradient(
    op: SoftmaxGradient, inputs: Tensors, outputs: Tensors, workspace: Workspace
) -> Run:
    def compute(given: Sequence[Tensor], dx: Tensor) -> Run:
        backward = torch._softmax_backward_data
        return partial(backward, *given, op.axis, dx.dtype, grad_input=dx)

    return _along(op.axis, compute, inputs, (0, 0), outputs[0], workspace)


@kernels.on(LogSoftmaxGradient, workspace=True)
@widened_on_cpu
def log_softmax_gradient(
    op: LogSoftmaxGradient, inputs: Tensors, outputs: Tensors, workspace: Workspace
) -> Run:
    def compute(given: Sequence[Tensor], dx: Tensor) -> Run:
        return partial(torch._log_softmax_backward_data, *given, op.axis, dx.dtype, out=dx)

    return _along(op.axis, compute, inputs, (0, -inf), outputs[0], workspace)


def _along(
    axis: int,
    compute: Callable[[Sequence[Tensor], Tensor], Run],
    inputs: Sequence[Tensor],
    borders: Sequence[float],
    y: Tensor,
    workspace: Workspace,
) -> Run:
    if has_short_rows(y, axis):
        return on_padded_rows(compute, inputs, borders, y, workspace)
    return compute(inputs, y)
