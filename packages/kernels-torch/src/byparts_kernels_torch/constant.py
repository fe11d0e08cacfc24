"""Values a program carries, and ops that only pass their input on."""

from __future__ import annotations

from functools import partial
from typing import Union

import numpy as np
import torch

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_torch.elementwise import filled, number
from byparts_kernels_torch.table import DTYPES, Tensor, Tensors, allocates, kernels
from byparts_kernels_torch.wide import in_turn
from byparts_kernels_torch.workspace import scratch
from byparts_opset.constant import Constant, Eye, Fill, Range
from byparts_opset.dtypes import Array, dtype_name
from byparts_opset.identity import Identity, Print, StopGradient

allocates[Print] = "prints"


@kernels.on(Fill)
def fill(op: Fill, inputs: Tensors, outputs: Tensors) -> Run:
    return filled(outputs[0], Fill(op.value, op.dtype).evaluate()[0].item())


@kernels.on(Constant)
def constant(op: Constant, inputs: Tensors, outputs: Tensors) -> Run:
    """The op's own bytes are read when the step runs, which a program does once."""
    return partial(_load, op, outputs[0])


@kernels.on(Range, workspace=True)
def range_(op: Range, inputs: Tensors, outputs: Tensors, workspace: Workspace) -> Run:
    """In f64 or i64, as `evaluate` does."""
    (y,) = outputs
    whole = not y.dtype.is_floating_point and isinstance(op.start + op.step, int)
    i = scratch(workspace, y.shape, y, torch.int64 if whole else torch.float64)
    return in_turn(
        [
            partial(torch.arange, y.numel(), out=i),
            partial(i.mul_, number(op.step, i)),
            partial(i.add_, number(op.start, i)),
            partial(y.copy_, i),
        ]
    )


@kernels.on(Eye)
def eye(op: Eye, inputs: Tensors, outputs: Tensors) -> Run:
    (y,) = outputs
    return in_turn([y.zero_, partial(y.diagonal().fill_, 1)])


@kernels.on(Identity, StopGradient)
def identity(op: Union[Identity, StopGradient], inputs: Tensors, outputs: Tensors) -> Run:
    return partial(outputs[0].copy_, inputs[0])


@kernels.on(Print)
def print_tensor(op: Print, inputs: Tensors, outputs: Tensors) -> Run:
    return partial(_print, op, inputs[0], outputs[0])


def tensor_of(array: Array) -> Tensor:
    """The same elements as a tensor of the host."""
    dtype = DTYPES[dtype_name(array.dtype)]
    bits = array.view(np.int16) if dtype is torch.bfloat16 else array  # NumPy's bf16 is a stranger
    return torch.from_numpy(bits).view(dtype)


def _load(op: Constant, y: Tensor) -> None:
    y.copy_(tensor_of(op.evaluate()[0]))


def _print(op: Print, x: Tensor, y: Tensor) -> None:
    print(op.line((x.float() if x.dtype is torch.bfloat16 else x).numpy(force=True)))
    y.copy_(x)
