"""A product of elements added to something: one `addcmul`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import torch

from byparts_graph_ir.backend import Run
from byparts_kernels_torch.ops import AddMul
from byparts_kernels_torch.table import Tensor, kernels
from byparts_kernels_torch.wide import widened


@kernels.on(AddMul)
@widened
def add_mul(op: AddMul, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> Run:
    c, x, y = inputs
    return partial(torch.addcmul, c, x, y, value=op.scale, out=outputs[0])
