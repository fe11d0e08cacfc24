"""Kernel of argmax: torch's own search, which takes the first of equals."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Union

import torch

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_torch.dense import dense
from byparts_kernels_torch.elementwise import nothing
from byparts_kernels_torch.table import Tensor, Tensors, kernels
from byparts_opset.argmax import ArgMax, ArgMin


@kernels.on(ArgMax, workspace=True)
@dense
def argmax(op: ArgMax, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    return _search(torch.argmax, op, inputs[0], outputs[0])


@kernels.on(ArgMin, workspace=True)
@dense
def argmin(op: ArgMin, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    return _search(torch.argmin, op, inputs[0], outputs[0])


def _search(f: Callable[..., Any], op: Union[ArgMax, ArgMin], x: Tensor, y: Tensor) -> Run:
    if y.numel() == 0:
        return nothing
    if op.axis is None:
        return partial(f, x.view(-1), 0, out=y.view(()))
    return partial(f, x, op.axis, op.keepdims, out=y)
