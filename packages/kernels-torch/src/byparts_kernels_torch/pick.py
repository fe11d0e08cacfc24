"""Elements in another order along axes: copies, since torch has no negative strides.

One `index_select` for each axis, by indices made when the step is bound; `torch.flip` allocates,
and is no faster ([512, 512] reversed: 52 to 112 us).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import torch

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_torch.elementwise import nothing
from byparts_kernels_torch.table import Tensor
from byparts_kernels_torch.wide import in_turn
from byparts_kernels_torch.workspace import kept, scratch


def picked(x: Tensor, indices: Mapping[int, Sequence[int]], y: Tensor, workspace: Workspace) -> Run:
    """y = the elements of x whose indices along each axis are `indices[axis]`, in their order."""
    if y.numel() == 0:
        return nothing
    if not indices:
        return partial(y.copy_, x)
    steps: list[Run] = []
    if not x.is_contiguous():  # torch would copy it at each call
        x, strided = scratch(workspace, x.shape, x), x
        steps.append(partial(x.copy_, strided))
    for i, (axis, index) in enumerate(indices.items()):
        shape = list(x.shape)
        shape[axis] = len(index)
        to = y if i == len(indices) - 1 else scratch(workspace, shape, x)
        at = kept(workspace, (len(index),), x, torch.int64)
        at.copy_(torch.tensor(list(index), dtype=torch.int64))
        steps.append(partial(torch.index_select, x, axis, at, out=to))
        x = to
    return in_turn(steps)


def reversed_along(x: Tensor, axes: Sequence[int], y: Tensor, workspace: Workspace) -> Run:
    """y = x in reverse order along these axes."""
    long = [a % x.dim() for a in axes if x.shape[a] > 1]
    return picked(x, {a: range(x.shape[a])[::-1] for a in long}, y, workspace)
