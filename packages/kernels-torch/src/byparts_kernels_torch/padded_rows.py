"""Copies of short rows that are padded to the width of a vector register.

torch computes what is left of a row after its last whole vector one element at a time, with a call
for each: the softmax of [100, 10] takes 26 us, that of [128, 16] takes 3.  So rows shorter than a
vector are copied into rows of one vector; the padding is filled once, when the step is bound.
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


def has_short_rows(x: Tensor, axis: int = -1) -> bool:
    """Whether the rows along `axis` are contiguous, on a CPU and shorter than a vector."""
    last = x.dim() > 0 and axis in (-1, x.dim() - 1)
    wide = x.dtype in (torch.float32, torch.float64) and x.device.type == "cpu"
    return last and wide and 2 < x.shape[-1] < VECTOR_BYTES // x.element_size()


def padded_rows(x: Tensor, border: float, workspace: Workspace) -> tuple[Tensor, Tensor]:
    """Kept memory [..., elements of a vector] filled with `border`, and its view of the shape of x.

    A step copies x into the view and computes on the whole rows.
    """
    whole = kept(workspace, (*x.shape[:-1], VECTOR_BYTES // x.element_size()), x)
    return whole.fill_(border), whole[..., : x.shape[-1]]


def on_padded_rows(
    compute: Callable[[Sequence[Tensor], Tensor], Run],
    inputs: Sequence[Tensor],
    borders: Sequence[float],
    y: Tensor,
    workspace: Workspace,
) -> Run:
    """Compute on padded copies of short rows.

    Args:
        compute: binds the step to padded inputs and a padded output.
        inputs: tensors of one shape [..., n].
        borders: for each input, the number that its padding is filled with.
        y: the output, [..., n].
        workspace: of the kernel.
    """
    pairs = [padded_rows(x, border, workspace) for x, border in zip(inputs, borders, strict=True)]
    padded_y = scratch(workspace, pairs[0][0].shape, y)
    return in_turn(
        [
            *(partial(part.copy_, x) for (_, part), x in zip(pairs, inputs, strict=True)),
            compute([whole for whole, _ in pairs], padded_y),
            partial(y.copy_, padded_y[..., : y.shape[-1]]),
        ]
    )
