"""Elements in another order along axes: what torch has no strides for, since none are negative.

One `index_select` for each axis, by indices made when the step is bound; `torch.flip` allocates,
and is no faster ([512, 512] turned round: 52 to 112 us).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import torch

from byparts_graph_ir.backend import Run
from byparts_kernels_torch.elementwise import nothing
from byparts_kernels_torch.scratch import empty
from byparts_kernels_torch.table import Tensor
from byparts_kernels_torch.wide import in_turn


def picked(x: Tensor, indices: Mapping[int, Sequence[int]], y: Tensor) -> Run:
    """y = x with, along each axis named, the elements of these indices."""
    if y.numel() == 0:
        return nothing
    if not indices:
        return partial(y.copy_, x)
    steps: list[Run] = []
    if not x.is_contiguous():  # torch would copy it at each call
        x, strided = empty(x.shape, x), x
        steps.append(partial(x.copy_, strided))
    for i, (axis, index) in enumerate(indices.items()):
        shape = list(x.shape)
        shape[axis] = len(index)
        to = y if i == len(indices) - 1 else empty(shape, x)
        at = torch.tensor(list(index), dtype=torch.int64, device=x.device)
        steps.append(partial(torch.index_select, x, axis, at, out=to))
        x = to
    return in_turn(steps)


def turned(x: Tensor, axes: Sequence[int], y: Tensor) -> Run:
    """y = x with these axes turned round."""
    long = [a % x.dim() for a in axes if x.shape[a] > 1]
    return picked(x, {a: range(x.shape[a])[::-1] for a in long}, y)
