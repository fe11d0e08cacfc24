"""A product of elements added to something: one `addcmul`."""

from __future__ import annotations

from functools import partial

import torch

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_torch.ops import AddMul
from byparts_kernels_torch.table import Tensors, kernels
from byparts_kernels_torch.wide import widened


@kernels.on(AddMul, workspace=True)
@widened
def add_mul(op: AddMul, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    c, x, y = inputs
    return partial(torch.addcmul, c, x, y, value=op.scale, out=outputs[0])
