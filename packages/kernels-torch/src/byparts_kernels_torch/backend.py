"""Torch on host memory: the views are real, the kernels are still to come.

A `torch.Tensor` here is a view of the arena, never memory of its own, so what another backend of
the host wrote is read without a copy.  Importing this module imports torch; `plugin.py` does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from byparts_graph_ir import Backend, MissingRule, Node, Table, TensorType
from byparts_graph_ir.backend import KernelRule, Run

kernels: Table[KernelRule] = Table("kernel")

DTYPES = {
    **{"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64},
    **{"i8": torch.int8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64},
    **{"u8": torch.uint8, "bool": torch.bool},
}


@dataclass(frozen=True)
class TorchBackend(Backend):
    """Says of what it lacks that it is on its way, and how to go on without."""

    def bind(
        self, node: Node, inputs: Sequence[torch.Tensor], outputs: Sequence[torch.Tensor]
    ) -> Run:
        """The step that computes `node`.

        Raises:
            MissingRule: no kernel yet.
        """
        try:
            return super().bind(node, inputs, outputs)
        except MissingRule as error:
            raise MissingRule(
                f"{error}; torch kernels come with a later version, "
                f"until then name a backend after it: backends=('torch', 'numpy')"
            ) from None


def make() -> TorchBackend:
    """The backend; its table is `kernels` of this module, so a rule added there is found."""
    return TorchBackend("torch", view, kernels)


def view(memory: memoryview, offset: int, kind: TensorType) -> torch.Tensor:
    """Bytes of the arena as a contiguous tensor; torch refuses a buffer of no elements."""
    dtype, dims, size = DTYPES[kind.dtype], kind.dims, kind.size
    if size == 0:
        return torch.empty(dims, dtype=dtype)
    return torch.frombuffer(memory, dtype=dtype, count=size, offset=offset).view(dims)
