"""Products of matrices: one `mm` where the batch folds into rows, else one `bmm`.

Transposed operands are strided views, which BLAS reads where they stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod

import torch

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_torch.dense import dense
from byparts_kernels_torch.elementwise import filled, nothing
from byparts_kernels_torch.refuse import floats_only_on_gpu
from byparts_kernels_torch.table import Tensor, Tensors, allocates, kernels
from byparts_kernels_torch.wide import in_turn
from byparts_kernels_torch.workspace import scratch
from byparts_opset.matmul import MatMul

allocates[MatMul] = "of half types on the CPU: oneDNN packs an operand"


@kernels.on(MatMul, workspace=True)
@floats_only_on_gpu
@dense
def matmul(op: MatMul, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    (a, b), (y,) = inputs, outputs
    if y.numel() == 0:
        return nothing
    if a.numel() == 0:
        return filled(y, 0)
    left, right = a.mT if op.transpose_a else a, b.mT if op.transpose_b else b
    if prod(b.shape[:-2]) == 1 and (prod(a.shape[:-2]) == 1 or not op.transpose_a):
        rows = left.flatten(0, -2) if left.dim() > 2 and not op.transpose_a else _alone(left)
        return partial(torch.mm, rows, _alone(right), out=y.view(-1, y.shape[-1]))
    steps: list[Run] = []
    lead = y.shape[:-2]
    x, w = (_batch(operand, lead, steps, workspace) for operand in (left, right))
    return in_turn([*steps, partial(torch.bmm, x, w, out=y.view(-1, *y.shape[-2:]))])


def _alone(x: Tensor) -> Tensor:
    """The one matrix of a batch of one."""
    return x[(0,) * (x.dim() - 2)]


def _batch(x: Tensor, lead: Sequence[int], steps: list[Run], workspace: Workspace) -> Tensor:
    """x broadcast to these leading axes, as one axis.

    Where no stride says that, the step that repeats x into scratch memory is added to `steps`.
    """
    whole = x.expand(*lead, *x.shape[-2:])
    try:
        return whole.view(-1, *x.shape[-2:])
    except RuntimeError:  # torch's way to say that it would have to copy
        copy = scratch(workspace, whole.shape, x)
        steps.append(partial(copy.copy_, whole))
        return copy.view(-1, *x.shape[-2:])
