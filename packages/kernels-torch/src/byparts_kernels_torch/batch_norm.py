"""Batch normalisation by torch's kernels.

The forward ones write into the output; that of the gradient has no `out=`: its results are copied.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod

import torch

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_torch.dense import dense
from byparts_kernels_torch.elementwise import number
from byparts_kernels_torch.table import Tensor, Tensors, allocates, kernels
from byparts_kernels_torch.wide import in_turn, widened
from byparts_kernels_torch.workspace import scratch
from byparts_opset.batch_norm import BatchNorm, BatchNormGradient, BatchNormInference

allocates[BatchNormGradient] = "torch's kernel has no out=: what it returns is copied"

allocates[BatchNorm] = allocates[BatchNormInference] = (
    "torch's kernel makes vectors of a number for each channel"
)

aten = torch.ops.aten


@kernels.on(BatchNorm, workspace=True)
@widened
@dense
def batch_norm(op: BatchNorm, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    """torch returns 1 / sqrt(variance + epsilon); the variance is computed from it.

    That is as exact as the op needs: what reads the variance adds epsilon to it again.
    """
    (x, gamma, beta), (y, mean, variance) = inputs, outputs
    x, y = (_channels_second(t, op.axis) for t in (x, y))
    how = (x, gamma, beta, None, None, True, 0.0, op.epsilon)
    into = {"out": y, "save_mean": mean, "save_invstd": variance}
    return in_turn(
        [
            partial(aten.native_batch_norm.out, *how, **into),
            partial(torch.pow, variance, number(-2, variance), out=variance),
            partial(variance.sub_, number(op.epsilon, variance)),
            partial(variance.clamp_min_, 0),
        ]
    )


@kernels.on(BatchNormGradient, workspace=True)
@widened
@dense
def batch_norm_gradient(
    op: BatchNormGradient, inputs: Tensors, outputs: Tensors, workspace: Workspace
) -> Run:
    (x, gamma, mean, variance, dy), (dx, dgamma, dbeta) = inputs, outputs
    x, dy, dx = (_channels_second(t, op.axis) for t in (x, dy, dx))
    scale = scratch(workspace, variance.shape, variance)
    how = (gamma, None, None, mean, scale, True, op.epsilon, (True, True, True))
    compute = partial(aten.native_batch_norm_backward.default, dy, x, *how)
    return in_turn(
        [
            partial(torch.add, variance, number(op.epsilon, variance), out=scale),
            scale.rsqrt_,
            partial(_copy_results, compute, (dx, dgamma, dbeta)),
        ]
    )


@kernels.on(BatchNormInference, workspace=True)
@widened
@dense
def batch_norm_inference(
    op: BatchNormInference, inputs: Tensors, outputs: Tensors, workspace: Workspace
) -> Run:
    (x, gamma, beta, mean, variance), (y,) = inputs, outputs
    x, y = (_channels_second(t, op.axis) for t in (x, y))
    how = (x, gamma, beta, mean, variance, False, 0.0, op.epsilon)
    unused = {"save_mean": gamma.new_empty(0), "save_invstd": gamma.new_empty(0)}
    return partial(aten.native_batch_norm.out, *how, out=y, **unused)


def _channels_second(x: Tensor, axis: int) -> Tensor:
    """A view of x in which `axis` is axis 1, as torch's kernels want the channels.

    It is [before, channels, after], of the products of the other dimensions; where the axis is the
    last one it is [1, channels, before, 1], which torch knows as images with the channels last.
    """
    axis %= x.dim()
    before, after = prod(x.shape[:axis]), prod(x.shape[axis + 1 :])
    if after == 1:
        return x.view(1, before, 1, x.shape[axis]).permute(0, 3, 1, 2)
    return x.view(before, x.shape[axis], after)


def _copy_results(compute: Callable[[], Sequence[Tensor]], into: Sequence[Tensor]) -> None:
    for to, result in zip(into, compute(), strict=True):
        to.copy_(result)
