"""A product added to something: one `addmm`, with rows folded; right also over its first input."""

from __future__ import annotations

from functools import partial

import torch

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_torch.dense import dense
from byparts_kernels_torch.elementwise import nothing
from byparts_kernels_torch.ops import AddMatMul
from byparts_kernels_torch.table import Tensor, Tensors, allocates, kernels, same_memory
from byparts_kernels_torch.wide import in_turn
from byparts_kernels_torch.workspace import scratch

allocates[AddMatMul] = "of half types on the CPU: oneDNN packs an operand"


@kernels.on(AddMatMul, workspace=True)
@dense
def add_matmul(op: AddMatMul, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    (c, a, b), (y,) = inputs, outputs
    if y.numel() == 0:
        return nothing
    rows = a.t() if op.transpose_a else a.flatten(0, -2)
    whole = y.view(-1, y.shape[-1])
    added, steps = _rows(c, y, whole, workspace)
    right = b.t() if op.transpose_b else b
    if same_memory(added, whole):  # `addmm(out=)` would copy it over itself
        return partial(whole.addmm_, rows, right, alpha=op.scale)
    return in_turn([*steps, partial(torch.addmm, added, rows, right, alpha=op.scale, out=whole)])


def _rows(c: Tensor, y: Tensor, whole: Tensor, workspace: Workspace) -> tuple[Tensor, list[Run]]:
    """c as `addmm` broadcasts it, and how to fill it where only a copy says that."""
    if c.shape == y.shape:
        return c.view(whole.shape), []
    if c.dim() < 2 or y.dim() == 2:
        return c, []
    copy = scratch(workspace, y.shape, y)
    return copy.view(whole.shape), [partial(copy.copy_, c)]
