"""y = c + scale * matmul(a, b) as one `addmm`; y may have the bytes of c.

The leading axes of a, and those of y, become the rows of one matrix.
"""

from __future__ import annotations

from functools import partial

import torch

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_torch.dense import dense
from byparts_kernels_torch.elementwise import nothing
from byparts_kernels_torch.table import Tensor, Tensors, allocates, kernels, same_memory
from byparts_kernels_torch.wide import in_turn
from byparts_kernels_torch.workspace import scratch
from byparts_opset.add_matmul import AddMatmul

allocates[AddMatmul] = "of half types on the CPU: oneDNN packs an operand"


@kernels.on(AddMatmul, workspace=True)
@dense
def add_matmul(op: AddMatmul, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    (c, a, b), (y,) = inputs, outputs
    if y.numel() == 0:
        return nothing
    rows = a.t() if op.transpose_a else a.flatten(0, -2)
    matrix = y.view(-1, y.shape[-1])
    addend, steps = _addend(c, y, matrix, workspace)
    right = b.t() if op.transpose_b else b
    if same_memory(addend, matrix):  # `addmm(out=)` would copy it over itself
        return partial(matrix.addmm_, rows, right, alpha=op.scale)
    return in_turn([*steps, partial(torch.addmm, addend, rows, right, alpha=op.scale, out=matrix)])


def _addend(c: Tensor, y: Tensor, matrix: Tensor, workspace: Workspace) -> tuple[Tensor, list[Run]]:
    """The tensor that `addmm` can broadcast to y as a matrix, and the runs that fill it.

    Args:
        c: the addend of the op; its shape broadcasts to that of y.
        y: the output, [..., n].
        matrix: the same elements, [rows, n].
        workspace: of the kernel; has room for c broadcast to y where `addmm` cannot do that.
    """
    if c.shape == y.shape:
        return c.view(matrix.shape), []
    if c.dim() < 2 or y.dim() == 2:
        return c, []
    copy = scratch(workspace, y.shape, y)
    return copy.view(matrix.shape), [partial(copy.copy_, c)]
