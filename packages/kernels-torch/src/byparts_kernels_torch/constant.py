"""Values a program carries, and ops that only pass their input on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Union

import numpy as np
import torch

from byparts_graph_ir.backend import Run
from byparts_kernels_torch.elementwise import filled
from byparts_kernels_torch.table import DTYPES, Tensor, allocates, kernels
from byparts_opset.constant import Constant, Eye, Fill, Range
from byparts_opset.dtypes import Array, dtype_name
from byparts_opset.identity import Identity, Print, StopGradient

allocates[Print] = "prints"


@kernels.on(Fill)
def fill(op: Fill, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> Run:
    return filled(outputs[0], op.value)


@kernels.on(Constant, Range, Eye)
def literal(
    op: Union[Constant, Range, Eye], inputs: Sequence[Tensor], outputs: Sequence[Tensor]
) -> Run:
    (y,) = outputs
    return partial(y.copy_, tensor_of(op.evaluate()[0]).to(y.device))


@kernels.on(Identity, StopGradient)
def identity(
    op: Union[Identity, StopGradient], inputs: Sequence[Tensor], outputs: Sequence[Tensor]
) -> Run:
    return partial(outputs[0].copy_, inputs[0])


@kernels.on(Print)
def print_tensor(op: Print, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> Run:
    return partial(_print, op.message, inputs[0], outputs[0])


def tensor_of(array: Array) -> Tensor:
    """The same elements as a tensor of the host."""
    dtype = DTYPES[dtype_name(array.dtype)]
    bits = array.view(np.int16) if dtype is torch.bfloat16 else array  # NumPy's bf16 is a stranger
    return torch.from_numpy(bits).view(dtype)


def _print(message: str, x: Tensor, y: Tensor) -> None:
    text = (x.float() if x.dtype is torch.bfloat16 else x).numpy(force=True)
    print(f"{message} {text}" if message else text)
    y.copy_(x)
