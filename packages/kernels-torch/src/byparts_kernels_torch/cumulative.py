"""Running sums and products: one accumulation; between two reversed copies from the end.

What is linear in the element before takes a call for each slice.
"""

from __future__ import annotations

from functools import partial
from typing import Union

import torch

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_torch.elementwise import filled, nothing
from byparts_kernels_torch.pick import reversed_along
from byparts_kernels_torch.table import Tensor, Tensors, kernels
from byparts_kernels_torch.wide import in_turn, widened
from byparts_kernels_torch.workspace import scratch
from byparts_opset.cumulative import CumProd, CumSum, LinearRecurrence

Running = Union[CumSum, CumProd]


@kernels.on(CumSum, CumProd, workspace=True)
def running(op: Running, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    (x,), (y,) = inputs, outputs
    if y.numel() == 0:
        return nothing
    if not op.reverse:
        return _accumulated(op, x, y)
    backwards, sums = (scratch(workspace, x.shape, x) for _ in range(2))
    return in_turn(
        [
            reversed_along(x, [op.axis], backwards, workspace),
            _accumulated(op, backwards, sums),
            reversed_along(sums, [op.axis], y, workspace),
        ]
    )


def _accumulated(op: Running, x: Tensor, y: Tensor) -> Run:
    f, unit = (torch.cumprod, 1) if isinstance(op, CumProd) else (torch.cumsum, 0)
    if not op.exclusive:
        return partial(f, x, op.axis, dtype=x.dtype, out=y)
    first, rest = y.narrow(op.axis, 0, 1), x.shape[op.axis] - 1
    before, to = x.narrow(op.axis, 0, rest), y.narrow(op.axis, 1, rest)
    return in_turn(
        [
            filled(first, unit),
            partial(f, before, op.axis, dtype=x.dtype, out=to) if rest else nothing,
        ]
    )


@kernels.on(LinearRecurrence, workspace=True)
@widened
def linear_recurrence(
    op: LinearRecurrence, inputs: Tensors, outputs: Tensors, workspace: Workspace
) -> Run:
    (a, b), (y,) = inputs, outputs
    if y.numel() == 0:
        return nothing
    step = -1 if op.reverse else 1
    slopes, steps, ys = (t.unbind(op.axis)[::step] for t in (a, b, y))
    zero = scratch(workspace, ys[0].shape, y)
    here = (ys[0], *ys[1:]) if op.exclusive else (zero, *ys)
    made = ys[1:] if op.exclusive else ys
    return partial(_recur, list(zip(here, slopes, steps, made, strict=False)), here[0])


def _recur(rounds: list[tuple[Tensor, ...]], first: Tensor) -> None:
    first.zero_()
    for before, a, b, y in rounds:
        torch.addcmul(b, a, before, out=y)
