"""Gradients of activations: one pass each.  torch offers them only as overloads, 2 us a call."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from byparts_graph_ir import KernelRule, Op
from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_torch.elementwise import number
from byparts_kernels_torch.table import Tensor, Tensors, kernels
from byparts_kernels_torch.wide import in_turn
from byparts_kernels_torch.workspace import scratch
from byparts_opset.activation import ReluGradient, SigmoidGradient, TanhGradient
from byparts_opset.gelu import HALF_ROOT, ROOT_PI, GeluGradient, SiluGradient

aten = torch.ops.aten

SMALL = 2048  # elements


@kernels.on(ReluGradient)
def relu_gradient(op: ReluGradient, inputs: Tensors, outputs: Tensors) -> Run:
    (dy, y), (dx,) = inputs, outputs
    return partial(aten.threshold_backward.grad_input, dy, y, 0, grad_input=dx)


@kernels.on(GeluGradient, workspace=True)
def gelu_gradient(op: GeluGradient, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    (dx,) = outputs
    if not op.approximate and _small(dx):
        return _slope_times(inputs[0], inputs[1], dx, workspace)
    how = "tanh" if op.approximate else "none"
    # oneDNN, which computes it on a CPU, does not broadcast
    whole = [x if x.shape == dx.shape else scratch(workspace, dx.shape, dx) for x in inputs]
    repeat = [partial(w.copy_, x) for w, x in zip(whole, inputs, strict=True) if w is not x]
    run = partial(aten.gelu_backward.grad_input, *whole, approximate=how, grad_input=dx)
    return in_turn([*repeat, run])


def _small(dx: Tensor) -> bool:
    """Whether oneDNN's gelu costs more to set up, 19 us, than eight calls."""
    return dx.device.type == "cpu" and dx.dtype is torch.float32 and dx.numel() <= SMALL


def _slope_times(dy: Tensor, x: Tensor, dx: Tensor, workspace: Workspace) -> Run:
    """dx = dy (P + x P'), for P = (1 + erf(x / sqrt 2)) / 2."""
    share, density = (scratch(workspace, x.shape, x) for _ in range(2))
    root, half, peak = (number(n, x) for n in (HALF_ROOT, 0.5, HALF_ROOT / ROOT_PI))
    return in_turn(
        [
            partial(torch.mul, x, root, out=share),
            partial(torch.addcmul, number(0, x), share, share, value=-1, out=density),
            density.exp_,
            partial(density.mul_, x),
            share.erf_,
            partial(torch.addcmul, half, share, half, out=share),
            partial(share.addcmul_, density, peak),
            partial(torch.mul, dy, share, out=dx),
        ]
    )


def _rule(f: Callable[..., Any]) -> KernelRule:
    def rule(op: Op, inputs: Tensors, outputs: Tensors) -> Run:
        return partial(f, *inputs, grad_input=outputs[0])

    return rule


kernels.on(SigmoidGradient)(_rule(aten.sigmoid_backward.grad_input))
kernels.on(TanhGradient)(_rule(aten.tanh_backward.grad_input))
kernels.on(SiluGradient)(_rule(aten.silu_backward.grad_input))
