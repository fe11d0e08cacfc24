"""The table of kernels, how torch sees memory, and which kernels cannot avoid an allocation.

A rule gets tensors that are already placed and returns what computes into them:

    @kernels.on(Tanh)
    def tanh(op, inputs, outputs):
        (x,), (y,) = inputs, outputs
        return partial(torch.tanh, x, out=y)          # right also when y is x

The C functions of `torch` and `torch._C._nn` cost 0.5 us a call; an overload such as
`torch.ops.aten.tanh.out` is a Python object and costs 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import torch

from byparts_graph_ir import (
    ARRAY_DTYPES,
    SUB_BYTE,
    UNSIGNED,
    KernelRule,
    Op,
    Refused,
    Table,
    TensorType,
)

Tensor: TypeAlias = torch.Tensor
Tensors: TypeAlias = Sequence[Tensor]

kernels: Table[KernelRule] = Table("kernel")
allocates: dict[type[Op], str] = {}  # op -> why its kernel allocates, or copies, at each run

LACKS = UNSIGNED - {"u8"}  # torch has their names, and nearly no operators
DTYPES: dict[str, torch.dtype] = {
    ours: getattr(torch, theirs)
    for ours, theirs in ARRAY_DTYPES.items()
    if ours not in SUB_BYTE | LACKS
}
NAMES = {theirs: ours for ours, theirs in DTYPES.items()}


def view(memory: Any, offset: int, kind: TensorType) -> Tensor:
    """`memory` from `offset` on, as a contiguous tensor.

    Args:
        memory: a buffer of the host, a tensor of `u8` (memory of a GPU, a workspace), or memory of
            another backend on the same GPU, which gives itself through DLPack.
        offset: in bytes, a multiple of the dtype's size.
        kind: a static type.

    Raises:
        Refused: torch has no such dtype.
    """
    if kind.dtype not in DTYPES:
        signed = "i8" if kind.dtype in SUB_BYTE else "i64"
        raise Refused(f"torch computes no {kind.dtype}, got {kind}; cast it to {signed} first")
    dtype, dims, size = DTYPES[kind.dtype], kind.dims, kind.size
    flat: Tensor
    if isinstance(memory, torch.Tensor) or hasattr(memory, "__dlpack__"):
        flat = bytes_of(memory)[offset : offset + kind.size_bytes].view(dtype)
    elif size == 0:
        flat = torch.empty(0, dtype=dtype)  # torch refuses a buffer of no elements
    else:
        flat = torch.frombuffer(memory, dtype=dtype, count=size, offset=offset)
    return flat.view(dims)


def bytes_of(memory: Any) -> Tensor:
    """Memory of a GPU as a tensor of `u8`: torch's own, or another backend's, without a copy."""
    given: Tensor = memory if isinstance(memory, torch.Tensor) else torch.from_dlpack(memory)
    return given


def same_memory(x: Tensor, y: Tensor) -> bool:
    """Whether two tensors are in the same memory; tensors without elements always are.

    Tensors of torch's device "meta", which tests bind, all have the address 0.
    """
    return y.numel() == 0 or x is y or (x.data_ptr() == y.data_ptr() and not x.is_meta)
