"""Softmax, its logarithm, and the gradients of both: one call each, also over their input."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import torch

from byparts_graph_ir.backend import Run
from byparts_kernels_torch.table import Tensor, kernels
from byparts_opset.softmax import LogSoftmax, LogSoftmaxGradient, Softmax, SoftmaxGradient


@kernels.on(Softmax)
def softmax(op: Softmax, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> Run:
    (x,), (y,) = inputs, outputs
    return partial(torch._softmax, x, op.axis, False, out=y)


@kernels.on(LogSoftmax)
def log_softmax(op: LogSoftmax, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> Run:
    (x,), (y,) = inputs, outputs
    return partial(torch._log_softmax, x, op.axis, False, out=y)


@kernels.on(SoftmaxGradient)
def softmax_gradient(
    op: SoftmaxGradient, inputs: Sequence[Tensor], outputs: Sequence[Tensor]
) -> Run:
    (dy, y), (dx,) = inputs, outputs
    return partial(torch._softmax_backward_data, dy, y, op.axis, y.dtype, grad_input=dx)


@kernels.on(LogSoftmaxGradient)
def log_softmax_gradient(
    op: LogSoftmaxGradient, inputs: Sequence[Tensor], outputs: Sequence[Tensor]
) -> Run:
    (dy, y), (dx,) = inputs, outputs
    return partial(torch._log_softmax_backward_data, dy, y, op.axis, y.dtype, out=dx)
