"""Rows shorter than a vector register, padded to one.

torch takes the rest of a row that is no whole vector one element at a time, and calls a function
for each: the softmax of [100, 10] costs 26 us, and that of [128, 16] costs 3.  So short rows are
copied into rows of one vector, whose border no step writes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import torch

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_torch.table import Tensor
from byparts_kernels_torch.wide import in_turn
from byparts_kernels_torch.workspace import kept, scratch

VECTOR_BYTES = 64


def short(x: Tensor, axis: int = -1) -> bool:
    """Whether rows along the axis are short, contiguous and on a CPU."""
    last = x.dim() > 0 and axis in (-1, x.dim() - 1)
    wide = x.dtype in (torch.float32, torch.float64) and x.device.type == "cpu"
    return last and wide and 2 < x.shape[-1] < VECTOR_BYTES // x.element_size()


def padded(x: Tensor, border: float, workspace: Workspace) -> tuple[Tensor, Tensor]:
    """Rows of one vector, and the view of them that has the shape of x; the border is filled."""
    whole = kept(workspace, (*x.shape[:-1], VECTOR_BYTES // x.element_size()), x)
    return whole.fill_(border), whole[..., : x.shape[-1]]


def in_lanes(
    compute: Callable[[Sequence[Tensor], Tensor], Run],
    inputs: Sequence[Tensor],
    borders: Sequence[float],
    y: Tensor,
    workspace: Workspace,
) -> Run:
    """The step, on padded copies."""
    pairs = [padded(x, border, workspace) for x, border in zip(inputs, borders, strict=True)]
    room = scratch(workspace, pairs[0][0].shape, y)
    return in_turn(
        [
            *(partial(part.copy_, x) for (_, part), x in zip(pairs, inputs, strict=True)),
            compute([whole for whole, _ in pairs], room),
            partial(y.copy_, room[..., : y.shape[-1]]),
        ]
    )
