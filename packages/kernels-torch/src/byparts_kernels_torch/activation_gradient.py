"""Gradients of activations: one pass each.  torch offers them only as overloads, 2 us a call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch

from byparts_graph_ir import KernelRule, Op
from byparts_graph_ir.backend import Run
from byparts_kernels_torch.table import Tensor, kernels
from byparts_opset.activation_gradient import (
    GeluGradient,
    ReluGradient,
    SigmoidGradient,
    SiluGradient,
    TanhGradient,
)

aten = torch.ops.aten


@kernels.on(ReluGradient)
def relu_gradient(op: ReluGradient, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> Run:
    (dy, y), (dx,) = inputs, outputs
    return partial(aten.threshold_backward.grad_input, dy, y, 0, grad_input=dx)


@kernels.on(GeluGradient)
def gelu_gradient(op: GeluGradient, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> Run:
    (dy, x), (dx,) = inputs, outputs
    how = "tanh" if op.approximate else "none"
    return partial(aten.gelu_backward.grad_input, dy, x, approximate=how, grad_input=dx)


def _rule(f: Callable[..., Any]) -> KernelRule:
    def rule(op: Op, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> Run:
        return partial(f, *inputs, grad_input=outputs[0])

    return rule


kernels.on(SigmoidGradient)(_rule(aten.sigmoid_backward.grad_input))
kernels.on(TanhGradient)(_rule(aten.tanh_backward.grad_input))
kernels.on(SiluGradient)(_rule(aten.silu_backward.grad_input))
