"""Sorting, and searching what is sorted: torch's own."""

from __future__ import annotations

from functools import partial
from typing import Union

import torch

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_torch.dense import dense
from byparts_kernels_torch.elementwise import nothing
from byparts_kernels_torch.table import Tensors, allocates, kernels
from byparts_kernels_torch.wide import widened
from byparts_kernels_torch.workspace import scratch
from byparts_opset.order import ArgSort, SearchSorted, Sort

allocates[Sort] = allocates[ArgSort] = "torch's sort makes its indices anew"


@kernels.on(Sort, ArgSort, workspace=True)
def sort(op: Union[Sort, ArgSort], inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    (x,), (y,) = inputs, outputs
    if y.numel() == 0:
        return nothing
    if isinstance(op, Sort):
        pair = y, scratch(workspace, x.shape, x, torch.int64)
    else:
        pair = scratch(workspace, x.shape, x), y
    return partial(torch.sort, x, stable=True, dim=op.axis, descending=op.descending, out=pair)


@kernels.on(SearchSorted, workspace=True)
@widened
@dense
def searchsorted(op: SearchSorted, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    (row, x), (y,) = inputs, outputs
    return partial(torch.searchsorted, row, x, right=op.right, out=y)
