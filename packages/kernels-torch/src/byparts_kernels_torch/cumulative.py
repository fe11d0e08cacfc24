"""Running sums: one accumulation; between two reversed copies where it starts at the end."""

from __future__ import annotations

from functools import partial

import torch

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_torch.elementwise import nothing
from byparts_kernels_torch.pick import reversed_along
from byparts_kernels_torch.table import Tensor, Tensors, kernels
from byparts_kernels_torch.wide import in_turn
from byparts_kernels_torch.workspace import scratch
from byparts_opset.cumulative import CumSum


@kernels.on(CumSum, workspace=True)
def cumsum(op: CumSum, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    (x,), (y,) = inputs, outputs
    if y.numel() == 0:
        return nothing
    if not op.reverse:
        return _sums(op, x, y)
    backwards, sums = (scratch(workspace, x.shape, x) for _ in range(2))
    return in_turn(
        [
            reversed_along(x, [op.axis], backwards, workspace),
            _sums(op, backwards, sums),
            reversed_along(sums, [op.axis], y, workspace),
        ]
    )


def _sums(op: CumSum, x: Tensor, y: Tensor) -> Run:
    if not op.exclusive:
        return partial(torch.cumsum, x, op.axis, dtype=x.dtype, out=y)
    first, rest = y.narrow(op.axis, 0, 1), x.shape[op.axis] - 1
    before, to = x.narrow(op.axis, 0, rest), y.narrow(op.axis, 1, rest)
    sums = partial(torch.cumsum, before, op.axis, dtype=x.dtype, out=to)
    return in_turn([first.zero_, sums if rest else nothing])
