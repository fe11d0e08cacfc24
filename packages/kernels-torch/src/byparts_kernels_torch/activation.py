"""Activations: torch's own where it has one with `out=`."""

from __future__ import annotations

from functools import partial

import torch
from torch._C import _nn as nn  # the C functions; those of torch.nn.functional have no `out`

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_torch.elementwise import number, one_call
from byparts_kernels_torch.table import Tensors, kernels
from byparts_kernels_torch.wide import in_turn, widened
from byparts_kernels_torch.workspace import scratch
from byparts_opset.activation import (
    SELU_ALPHA,
    SELU_SCALE,
    Elu,
    LeakyRelu,
    Relu,
    Relu6,
    Selu,
    Sigmoid,
    Softplus,
    Softsign,
)
from byparts_opset.gelu import HALF_ROOT, Gelu, Silu

SMALL = 4096  # elements up to which oneDNN's gelu costs more to set up than four calls

one_call({Sigmoid: torch.sigmoid})


@kernels.on(Silu, workspace=True)
@widened
def silu(op: Silu, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    """y = x * h * h / (1 + e^-|x|), for h = e^(min(x, 0) / 2).

    torch's own divides by an infinity below -88, and e^x itself is subnormal there; h is not.
    """
    (x,), (y,) = inputs, outputs
    h, share = (scratch(workspace, y.shape, y) for _ in range(2))
    return in_turn(
        [
            partial(torch.clamp_max, x, 0, out=h),
            partial(torch.mul, h, number(0.5, y), out=h),
            partial(torch.exp, h, out=h),
            partial(torch.abs, x, out=share),
            partial(torch.neg, share, out=share),
            partial(torch.exp, share, out=share),
            partial(torch.add, share, number(1, y), out=share),
            partial(torch.mul, x, h, out=y),
            partial(torch.mul, y, h, out=y),
            partial(torch.div, y, share, out=y),
        ]
    )


@kernels.on(Relu)
def relu(op: Relu, inputs: Tensors, outputs: Tensors) -> Run:
    (x,), (y,) = inputs, outputs
    return partial(torch.clamp_min, x, 0, out=y)


@kernels.on(Relu6)
def relu6(op: Relu6, inputs: Tensors, outputs: Tensors) -> Run:
    (x,), (y,) = inputs, outputs
    return partial(torch.clamp, x, 0, 6, out=y)


@kernels.on(LeakyRelu)
def leaky_relu(op: LeakyRelu, inputs: Tensors, outputs: Tensors) -> Run:
    return partial(nn.leaky_relu, inputs[0], op.alpha, out=outputs[0])


@kernels.on(Elu)
def elu(op: Elu, inputs: Tensors, outputs: Tensors) -> Run:
    return partial(nn.elu, inputs[0], op.alpha, out=outputs[0])


@kernels.on(Selu)
def selu(op: Selu, inputs: Tensors, outputs: Tensors) -> Run:
    return partial(nn.elu, inputs[0], SELU_ALPHA, SELU_SCALE, out=outputs[0])


@kernels.on(Softplus)
def softplus(op: Softplus, inputs: Tensors, outputs: Tensors) -> Run:
    """y = x where x > 40: from there on log(1 + e^x) rounds to x in f64 too.

    torch's own threshold, 20, is too low for f64.
    """
    return partial(nn.softplus, inputs[0], 1, 40, out=outputs[0])


@kernels.on(Softsign, workspace=True)
@widened
def softsign(op: Softsign, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    (x,), (y,) = inputs, outputs
    below = scratch(workspace, y.shape, y)
    return in_turn(
        [
            partial(torch.abs, x, out=below),
            partial(torch.add, below, number(1, y), out=below),
            partial(torch.div, x, below, out=y),
        ]
    )


@kernels.on(Gelu, workspace=True)
def gelu(op: Gelu, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    (x,), (y,) = inputs, outputs
    if op.approximate:
        return partial(nn.gelu, x, approximate="tanh", out=y)
    if y.device.type != "cpu" or y.dtype is not torch.float32 or y.numel() > SMALL:
        return partial(nn.gelu, x, out=y)
    half, share = (scratch(workspace, y.shape, y) for _ in range(2))
    return in_turn(  # x / 2 + x / 2 * erf(x / sqrt 2)
        [
            partial(torch.mul, x, number(0.5, y), out=half),
            partial(torch.mul, x, number(HALF_ROOT, y), out=share),
            partial(torch.erf, share, out=share),
            partial(torch.addcmul, half, half, share, out=y),
        ]
    )
